"""Limbs that a blend swings out beyond their reach: a knee becomes nearly straight gradually, and bends again.

What leads the end of a limb, the control of its inverse kinematics, knows nothing of the length of the limb. Where it
goes on with its velocity the limb snaps straight, stays so, and snaps back. Instead the bend of the joint goes with the
least acceleration from what it is before to what it is after, and is never less than a smallest one.
"""

import numpy as np
from numpy.typing import NDArray

from ..rotation import Array

LEAST = np.radians(10.0)
"""Bend [rad] up to which a joint swings out. With it a limb has 0.996 of its length, and looks straight."""
_PASSES = 60


def bend_of(distance: Array, upper: Array | float, lower: Array | float) -> Array:
    """The bend (...) [rad] of a joint between two bones of these lengths whose ends are at a distance (...), 0 where
    they are straight."""
    cosine = (distance**2 - upper**2 - lower**2) / np.maximum(2.0 * upper * lower, 1e-300)
    return np.arccos(np.clip(cosine, -1.0, 1.0))


def distance_of(bend: Array, upper: Array | float, lower: Array | float) -> Array:
    """The distance (...) at which the bend of the joint is that."""
    return np.sqrt(np.maximum(upper**2 + lower**2 + 2.0 * upper * lower * np.cos(bend), 0.0))


def least_bends(before: float, destination: Array) -> Array:
    """The smallest bends (F,) [rad] of a joint in F frames after a cut, from the last one before it and those of the
    destination: LEAST, or what the clips have themselves."""
    share = np.clip((np.arange(len(destination)) + 1.0) / max(len(destination), 1), 0.0, 1.0)
    begins = min(before, LEAST)
    return np.minimum(begins + share * (LEAST - begins), np.minimum(destination, LEAST))


def eased(bends: Array, least: Array, free: NDArray[np.bool_]) -> Array:
    """The bends (F,) with the least change of velocity that are at least so large (F,), where they are free (F,).

    The others stay, so that the joint goes on and arrives with its velocity.
    """
    which = np.flatnonzero(free)
    if not len(which) or len(bends) < 3:
        return bends.copy()
    change = np.diff(np.eye(len(bends)), 2, axis=0)
    normal, fixed = change.T @ change, np.where(free, 0.0, bends)
    matrix, wanted, lowest = normal[np.ix_(which, which)], -(normal @ fixed)[which], least[which]
    matrix = matrix + 1e-9 * np.eye(len(which))
    pinned = np.zeros(len(which), dtype=bool)
    values = lowest
    # A primal-dual active set: what is below its bound is pinned, what would rise from there is let go.
    for _ in range(_PASSES):
        system, right = np.where(pinned[:, None], np.eye(len(which)), matrix), np.where(pinned, lowest, wanted)
        values = np.linalg.solve(system, right)
        pressed = matrix @ values - wanted
        now = pressed - (values - lowest) > 1e-12
        if np.array_equal(now, pinned):
            break
        pinned = now
    result = bends.copy()
    result[which] = np.maximum(values, lowest)
    return result
