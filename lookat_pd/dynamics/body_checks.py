"""Arguments of the public functions as arrays; invalid ones raise an error of one sentence."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..checks import LARGEST, array, exactly, numbers, shown
from ..errors import InvalidArgument
from ..message import Message
from ..rotation import Array

_UNIT = 1e-3
"""Largest deviation of the length of a quaternion from 1."""
LEAST_TORQUE = 1e-12


def quaternions(name: str, values: ArrayLike, *tail: int) -> Array:
    """Quaternions (..., *tail, 4) of nearly unit length, normalized."""
    result = array(name, values, *tail, 4)
    if np.any(np.abs(np.linalg.norm(result, axis=-1) - 1.0) > _UNIT):
        raise InvalidArgument(
            "The {name} must be unit quaternions, w first; divide each by its length.", name=Message(name)
        )
    return rotation.normalize(result)


def positive(name: str, value: float, unit: str) -> float:
    """A finite number above 0."""
    number = numbers(name, value)
    if number.ndim or not 0.0 < number <= LARGEST:
        raise InvalidArgument(
            "The {name} must be above 0 {unit}, not {value}.", name=Message(name), unit=unit, value=shown(value)
        )
    return float(number)


def not_negative(name: str, values: ArrayLike | None, n: int, called: Sequence[str]) -> Array:
    """Numbers (n,), 0 or more, from one for all joints or one for each; None stands for 0."""
    result = _each(name, 0.0 if values is None else values, n)
    wrong = ~((result >= 0.0) & (result <= LARGEST))
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
    result = numbers(name, values)
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
    """Limits (n, 1) of the torques' lengths, or (n, 3) of their components, infinite if there is no limit."""
    if values is None:
        return None
    result = numbers("torque limit", values)
    if result.shape not in ((), (n,), (n, 3)):
        raise InvalidArgument(
            "The torque limit must be one number, {count} or ({count}, 3), not {shape}.", count=n, shape=result.shape
        )
    result = np.broadcast_to(result, (n,))[:, None] if result.ndim < 2 else result
    wrong = ~(result >= LEAST_TORQUE)
    if np.any(wrong):
        joint = int(np.argmax(wrong.any(axis=1)))
        raise InvalidArgument(
            "The torque limit of joint {joint} must be above 0 N m; make the joint passive to have no torque.",
            joint=called[joint],
        )
    return None if np.all(np.isinf(result)) else result.copy()


def gravity(values: ArrayLike) -> Array:
    return exactly("gravity", values, 3)
