"""What the solvers are given, as arrays and numbers; whatever cannot be worked with is refused in one sentence.

All numbers come in here. They are finite and within LARGEST, so that nothing that is computed from them overflows; what
they ask for fits into `memory_limit`, and is refused before it is allocated.
"""

from collections.abc import Container, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from . import rotation
from .errors import InvalidArgument
from .message import Message, shown
from .rotation import Array

LARGEST = 1e30
"""No number may be beyond this; Blender's own end at 3e38."""
SHORTEST_STEP, LONGEST_STEP = 1e-9, 1e9
"""Range of the time [s] between samples."""
LATEST = 1e9
"""Largest time [s], of either sign: thirty years."""
memory_limit = 4e9
"""Bytes that one call may take."""


def array(name: str, values: ArrayLike, *tail: int | None, most: float = LARGEST) -> Array:
    """Finite numbers of shape (..., *tail), none beyond `most`; None in the tail stands for any size."""
    result = numbers(name, values)
    given = result.shape[max(result.ndim - len(tail), 0) :]
    if given != tail and (len(given) < len(tail) or any(map(_differ, given, tail))):
        raise shape_error(name, ("...", *("n" if size is None else str(size) for size in tail)), result.shape)
    # One comparison refuses infinite numbers and those that are none, too.
    if (np.abs(result) <= most).all():
        return result
    if not np.all(np.isfinite(result)):
        raise InvalidArgument(
            "The {name} must be finite numbers; one of them is infinite or not a number.", name=Message(name)
        )
    raise InvalidArgument(
        "The {name} must be numbers up to {largest:g}; one of them is larger.", name=Message(name), largest=most
    )


def _differ(size: int, wanted: int | None) -> bool:
    return wanted is not None and size != wanted


def numbers(name: str, values: ArrayLike) -> Array:
    """An array of numbers, of whatever size."""
    if type(values) is np.ndarray and values.dtype == float:
        return values
    try:
        with np.errstate(over="ignore"):
            return np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument("The {name} must be an array of numbers.", name=Message(name)) from None


def shape_error(name: str, wanted: Sequence[object], shape: Sequence[int]) -> InvalidArgument:
    """The error about an array of another shape."""
    return InvalidArgument(
        "The shape of the {name} must be ({shape}), not {result_shape}.",
        name=Message(name),
        shape=", ".join(map(str, wanted)),
        result_shape=tuple(shape),
    )


def animated(name: str, values: ArrayLike) -> Array:
    """Numbers that were sampled from an animation, of whatever size."""
    result = numbers(name, values)
    if not np.all(np.abs(result) <= LARGEST):
        raise InvalidArgument("The {name} has a value that is not finite; fix its animation.", name=Message(name))
    return result


def check_lengths(name: str, quaternions: Array) -> None:
    """Raise InvalidArgument where a quaternion (..., 4) has no length to speak of."""
    if np.any(np.all(np.abs(quaternions) < 1e-6, axis=-1)):
        raise InvalidArgument("A quaternion of the {name} has length 0; use unit quaternions.", name=Message(name))


def exactly(name: str, values: ArrayLike, *shape: int) -> Array:
    """Finite numbers of just this shape."""
    result = array(name, values)
    if result.shape != shape:
        raise shape_error(name, shape, result.shape)
    return result


def like(name: str, values: ArrayLike, *shape: int) -> Array:
    """Finite numbers that broadcast to this shape, broadcast."""
    result = array(name, values)
    try:
        return np.broadcast_to(result, shape)
    except ValueError:
        raise shape_error(name, shape, result.shape) from None


def quaternions(name: str, values: ArrayLike, *tail: int | None) -> Array:
    """Unit quaternions (..., *tail, 4) from quaternions of any length but zero."""
    result = array(name, values, *tail, 4)
    length = rotation.length(result)
    if not (length > 1e-5).all():
        check_lengths(name, result)
    return result / length[..., None]


def check_order(parents: Sequence[int], names: Sequence[str] | None = None) -> None:
    """Raise InvalidArgument where a joint is listed before its parent. names: of the joints, instead of numbers."""
    for joint, parent in enumerate(parents):
        if not -1 <= parent < joint:
            raise InvalidArgument(
                "Joint {joint} is listed before its parent {parent}; list parents first.",
                joint=joint if names is None else names[joint],
                parent=parent,
            )


def check_method(method: object, known: Iterable[str]) -> None:
    """Raise InvalidArgument for a method that is not known."""
    words = tuple(known)
    if not is_one_of(method, words):
        raise InvalidArgument(
            "Method {method!r} is unknown; use one of {methods}.", method=shown(method), methods=", ".join(words)
        )


def repeated(names: Sequence[str]) -> int | None:
    """The number of the first name that is among those before it; None if all differ."""
    return next((n for n, name in enumerate(names) if name in names[:n]), None)


def is_one_of(value: object, known: Container[str]) -> bool:
    """Whether a value is a word that is known."""
    return isinstance(value, str) and value in known


def number(name: str, value: float, least: float = -LARGEST, most: float = LARGEST) -> float:
    """One number within a range."""
    if type(value) is float and least <= value <= most:
        return value
    checked = numbers(name, value)
    if checked.ndim or not least <= checked <= most:
        raise InvalidArgument(
            "The {name} must be a number from {least:g} to {most:g}, not {value}.",
            name=Message(name),
            least=least,
            most=most,
            value=shown(value),
        )
    return float(checked)


def fraction(name: str, value: float) -> float:
    """A number from 0 to 1."""
    checked = numbers(name, value)
    if checked.ndim or not 0.0 <= checked <= 1.0:
        raise InvalidArgument(
            "The {name} must be between 0 and 1, not {value}.", name=Message(name), value=shown(value)
        )
    return float(checked)


def whole(name: str, value: int, least: int, most: int) -> int:
    """One whole number within a range."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not least <= value <= most:
        raise InvalidArgument(
            "The {name} must be a whole number from {least} to {most}, not {value}.",
            name=Message(name),
            least=least,
            most=most,
            value=shown(value),
        )
    return int(value)


def time_step(dt: float) -> float:
    """The time [s] from one sample to the next."""
    step = numbers("time step", dt)
    if step.ndim or not step > 0.0:
        raise InvalidArgument("The time step must be longer than 0 seconds, not {dt}.", dt=shown(dt))
    return number("time step", dt, SHORTEST_STEP, LONGEST_STEP)


def check_memory(numbers_needed: float) -> None:
    """Raise InvalidArgument where so many numbers of double precision are more than `memory_limit`."""
    if not 8.0 * numbers_needed <= memory_limit:
        raise InvalidArgument(
            "This would take {needed:.3g} GB of memory, and {limit:.3g} GB are allowed; choose fewer frames.",
            needed=8e-9 * numbers_needed,
            limit=1e-9 * memory_limit,
        )
