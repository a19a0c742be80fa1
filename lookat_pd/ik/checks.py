"""What the public calls are given, as arrays; whatever cannot be worked with is refused in one sentence."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..errors import InvalidArgument
from ..message import Message
from ..rotation import Array
from .limits import Limits


def array(name: str, values: ArrayLike, *tail: int | None) -> Array:
    """Finite numbers of shape (..., *tail); None in the tail stands for any size."""
    try:
        result = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InvalidArgument("The {name} must be an array of numbers.", name=Message(name)) from None
    fits = result.ndim >= len(tail) and all(
        want is None or have == want for have, want in zip(result.shape[result.ndim - len(tail) :], tail, strict=True)
    )
    if not fits:
        shape = ", ".join(("...", *("n" if size is None else str(size) for size in tail)))
        raise InvalidArgument(
            "The shape of the {name} must be ({shape}), not {result_shape}.",
            name=Message(name),
            shape=shape,
            result_shape=result.shape,
        )
    if not np.all(np.isfinite(result)):
        raise InvalidArgument(
            "The {name} must be finite numbers; one of them is infinite or not a number.", name=Message(name)
        )
    return result


def quaternions(name: str, values: ArrayLike, *tail: int | None) -> Array:
    """Unit quaternions (..., *tail, 4) from quaternions of any length but zero."""
    result = array(name, values, *tail, 4)
    if np.any(np.all(np.abs(result) < 1e-6, axis=-1)):
        raise InvalidArgument("A quaternion of the {name} has length 0; use unit quaternions.", name=Message(name))
    return rotation.normalize(result)


def base(values: ArrayLike | None) -> tuple[Array, Array]:
    """Position (..., 3) and rotation (..., 4) of a base."""
    if values is None:
        return np.zeros(3), rotation.IDENTITY
    width = np.shape(values)[-1] if np.ndim(values) else 0
    if width == 3:
        return array("base", values, 3), rotation.IDENTITY
    if width == 4:
        return np.zeros(3), quaternions("base", values)
    if width != 7:
        raise InvalidArgument(
            "The base must be a position, a rotation, or both: 3, 4 or 7 numbers, not {width}.", width=width
        )
    whole = array("base", values, 7)
    return whole[..., :3], quaternions("base", whole[..., 3:])


def fraction(name: str, value: float) -> float:
    """A number from 0 to 1."""
    if not 0.0 <= value <= 1.0:
        raise InvalidArgument("The {name} must be between 0 and 1, not {value}.", name=Message(name), value=value)
    return float(value)


def bounds(iterations: int, tolerance: float) -> tuple[int, float]:
    """The number of iterations and the tolerance."""
    if not (isinstance(iterations, int | np.integer) and iterations >= 0):
        raise InvalidArgument(
            "The number of iterations must be a whole number, 0 or more, not {iterations}.", iterations=iterations
        )
    if not (np.isfinite(tolerance) and tolerance >= 0.0):
        raise InvalidArgument("The tolerance must be 0 or more, not {tolerance}.", tolerance=tolerance)
    return int(iterations), float(tolerance)


def leading(**shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The batch that all leading axes make together."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise InvalidArgument(
            "The batch shapes do not match: {shapes}; use the same leading axes for all.", shapes=listed
        ) from None


def same_joints(limits: Limits | None, n: int) -> None:
    """Limits must be those of n joints."""
    if limits is not None and len(limits) != n:
        raise InvalidArgument(
            "The limits are for {limits} joints, but the chain has {count}; set limits for each joint.",
            limits=len(limits),
            count=n,
        )


def parents(values: Sequence[int], n: int) -> list[int]:
    """The parents of n joints, each before its children."""
    found = np.asarray(values)
    if found.shape != (n,) or not np.issubdtype(found.dtype, np.integer):
        raise InvalidArgument("The parents must be {count} whole numbers, one for each joint, -1 for a root.", count=n)
    for joint, parent in enumerate(found.tolist()):
        if not -1 <= parent < joint:
            raise InvalidArgument(
                "Joint {joint} is listed before its parent {parent}; list parents first.", joint=joint, parent=parent
            )
    return found.tolist()


def effectors(values: Sequence[Any], n: int) -> None:
    """Effectors must belong to joints that exist."""
    if not len(values):
        raise InvalidArgument("There is no effector; name at least one joint and its target.")
    for effector in values:
        if not 0 <= effector.joint < n:
            raise InvalidArgument(
                "There is no joint {joint} to be an effector; joints are 0 to {last}.", joint=effector.joint, last=n - 1
            )
