"""What chains and bodies are given, besides what all solvers are: see `lookat_pd.checks`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..checks import array, check_order, exactly, fraction, is_one_of, number, numbers, quaternions, shown, whole
from ..errors import InvalidArgument
from ..rotation import Array
from .limits import Limits
from .posture import Posture

__all__ = [
    "array",
    "base",
    "bounds",
    "effectors",
    "exactly",
    "fraction",
    "is_one_of",
    "leading",
    "number",
    "numbers",
    "parents",
    "quaternions",
    "same_joints",
    "shown",
    "whole",
]
"""What `ik` asks for, with what it shares with all solvers."""
MOST_ITERATIONS = 100_000


def base(values: ArrayLike | None) -> tuple[Array, Array]:
    """Position (..., 3) and rotation (..., 4) of a base."""
    if values is None:
        return np.zeros(3), rotation.IDENTITY
    width = (0, *numbers("base", values).shape)[-1]
    if width == 3:
        return array("base", values, 3), rotation.IDENTITY
    if width == 4:
        return np.zeros(3), quaternions("base", values)
    if width != 7:
        raise InvalidArgument(
            "The base must be a position, a rotation, or both: 3, 4 or 7 numbers, not {width}.", width=width
        )
    both = array("base", values, 7)
    return both[..., :3], quaternions("base", both[..., 3:])


def bounds(iterations: int, tolerance: float) -> tuple[int, float]:
    """The number of iterations and the tolerance."""
    iterations = whole("number of iterations", iterations, 0, MOST_ITERATIONS)
    return iterations, number("tolerance", tolerance, 0.0)


def leading(**shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The batch of all leading axes, broadcast."""
    if not any(shapes.values()):
        return ()
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise InvalidArgument(
            "The batch shapes do not match: {shapes}; use the same leading axes for all.", shapes=listed
        ) from None


def same_joints(limits: Limits | Posture | None, n: int) -> None:
    """Limits or a posture must be those of n joints."""
    if limits is not None and len(limits) != n:
        raise InvalidArgument(
            "The limits are for {limits} joints, but the chain has {count}; set limits for each joint.",
            limits=len(limits),
            count=n,
        )


def parents(values: Sequence[int], n: int) -> list[int]:
    """The parents of n joints, each before its children."""
    numbers("parents", values)
    indices = np.asarray(values)
    if indices.shape != (n,) or not np.issubdtype(indices.dtype, np.integer):
        raise InvalidArgument("The parents must be {count} whole numbers, one for each joint, -1 for a root.", count=n)
    check_order(indices.tolist())
    return indices.tolist()


def check_effector(joint: Any, n: int) -> None:
    """An effector must be one of n joints."""
    if not isinstance(joint, int | np.integer) or not 0 <= joint < n:
        raise InvalidArgument(
            "There is no joint {joint} to be an effector; joints are 0 to {last}.", joint=joint, last=n - 1
        )


def effectors(values: Sequence[Any], n: int) -> None:
    """Effectors must belong to joints that exist."""
    if not len(values):
        raise InvalidArgument("There is no effector; name at least one joint and its target.")
    for effector in values:
        check_effector(effector.joint, n)
