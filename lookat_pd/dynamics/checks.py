"""What the public calls are given, as arrays; whatever cannot be worked with is refused in one sentence."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..errors import InvalidArgument
from ..ik.checks import array
from ..message import Message
from ..rotation import Array

_UNIT = 1e-3
"""By how much the length of a quaternion may be off 1 before it is taken for a mistake."""


def exactly(name: str, values: ArrayLike, *shape: int) -> Array:
    """Finite numbers of just this shape."""
    result = array(name, values, *shape)
    if result.ndim != len(shape):
        raise InvalidArgument(
            "The shape of the {name} must be {shape}, not {result_shape}.",
            name=Message(name),
            shape=shape,
            result_shape=result.shape,
        )
    return result


def quaternions(name: str, values: ArrayLike, *tail: int) -> Array:
    """Quaternions (..., *tail, 4) that are near enough to unit length, made so."""
    result = array(name, values, *tail, 4)
    if np.any(np.abs(np.linalg.norm(result, axis=-1) - 1.0) > _UNIT):
        raise InvalidArgument(
            "The {name} must be unit quaternions, w first; divide each by its length.", name=Message(name)
        )
    return rotation.normalize(result)


def positive(name: str, value: float, unit: str) -> float:
    """A finite number above 0."""
    if not (np.ndim(value) == 0 and np.isfinite(value) and value > 0.0):
        raise InvalidArgument(
            "The {name} must be above 0 {unit}, not {value}.", name=Message(name), unit=unit, value=value
        )
    return float(value)


def not_negative(name: str, values: ArrayLike | None, n: int, called: Sequence[str]) -> Array:
    """Numbers (n,), 0 or more, from one for all joints or one for each; 0 from None."""
    result = _each(name, 0.0 if values is None else values, n)
    wrong = ~(np.isfinite(result) & (result >= 0.0))
    if np.any(wrong):
        joint = int(np.argmax(wrong))
        raise InvalidArgument(
            "The {name} of joint {joint} must be 0 or more, not {result:g}.",
            name=Message(name),
            joint=called[joint],
            result=result[joint],
        )
    return result


def _each(name: str, values: ArrayLike, n: int) -> Array:
    result = np.asarray(values, dtype=float)
    if result.shape not in ((), (n,)):
        raise InvalidArgument(
            "The {name} must be one number or {count}, one for each joint, not {shape}.",
            name=Message(name),
            count=n,
            shape=result.shape,
        )
    return np.broadcast_to(result, (n,)).copy()


def residuals(values: ArrayLike, n: int, called: Sequence[str]) -> Array:
    """Residuals (n,), above 0 and below 1."""
    result = _each("residual", values, n)
    wrong = ~((result > 0.0) & (result < 1.0))
    if np.any(wrong):
        joint = int(np.argmax(wrong))
        raise InvalidArgument(
            "The residual of joint {joint} must be between 0 and 1, not {residual:g}; 0.001 is a good value.",
            joint=called[joint],
            residual=result[joint],
        )
    return result


def torque_limits(values: ArrayLike | None, n: int, called: Sequence[str]) -> Array | None:
    """Limits (n, 1) of the torques' lengths, or (n, 3) of their parts about each axis, infinite where there is none."""
    if values is None:
        return None
    result = np.asarray(values, dtype=float)
    if result.shape not in ((), (n,), (n, 3)):
        raise InvalidArgument(
            "The torque limit must be one number, {count} or ({count}, 3), not {shape}.", count=n, shape=result.shape
        )
    result = np.broadcast_to(result, (n,))[:, None] if result.ndim < 2 else result
    wrong = ~(result > 0.0)
    if np.any(wrong):
        joint = int(np.argmax(wrong.any(axis=1)))
        raise InvalidArgument(
            "The torque limit of joint {joint} must be above 0 N m; make the joint passive to have no torque.",
            joint=called[joint],
        )
    return None if np.all(np.isinf(result)) else result.copy()


def gravity(values: ArrayLike) -> Array:
    return exactly("gravity", values, 3)
