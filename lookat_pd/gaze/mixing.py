"""Several targets as one by their weights, and targets that are let go beyond a limit and come back within it."""

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import InvalidArgument
from ..rotation import Array

BACK = 0.9
"""Part of a limit within which a target that was let go comes back: at the limit itself it would flicker."""
_NEAREST = 1e-6


def mixed(targets: ArrayLike, weights: ArrayLike, viewer: ArrayLike) -> tuple[Array, Array]:
    """The point (F, 3) between targets (n, F, 3) by weights (n, F) >= 0, and whether any weight is above 0 (F,).

    viewer: (F, 3) from where it is seen. Its direction from there is that of the weighted sum of the directions to the
    targets. Of two targets the point is on the line between them, so that from anywhere its direction is on the arc
    between theirs. Raises InvalidArgument.
    """
    places = checks.animated("target", targets)
    parts = checks.like("weights", weights, *places.shape[:2])
    if np.any(parts < 0.0):
        raise InvalidArgument("The weights of targets must be 0 or more.")
    away = np.linalg.norm(places - checks.like("viewer", viewer, *places.shape[1:]), axis=-1)
    # The weight of a direction is that of a point at the same distance as all others.
    parts = parts / np.maximum(away, _NEAREST)
    total = parts.sum(axis=0)
    there = total > 0.0
    point = np.sum(parts[..., None] * places, axis=0) / np.where(there, total, 1.0)[:, None]
    return np.where(there[:, None], point, places[0]), there


def lasting(hidden: Array, dt: float, seconds: float = 0.2) -> Array:
    """Where (F,) something is hidden, or seen again, for longer than some seconds: gaps and posts do not count."""
    need, result = max(round(seconds / dt), 1), np.empty(len(hidden), dtype=bool)
    state, since = bool(hidden[0]), 0
    for k, now in enumerate(hidden.tolist()):
        since = since + 1 if now != state else 0
        if since >= need:
            state, since = now, 0
        result[k] = state
    return result


def let_go(measure: Array, limit: float, looked_at: Array) -> Array:
    """Where (F,) a target is let go: from beyond the limit until it is back within nine tenths of it.

    measure: (F,) what must not exceed the limit, which is above 0. looked_at: (F,) index of the target; one that was
    not looked at before is judged by the limit alone.
    """
    result = np.zeros(len(measure), dtype=bool)
    gone, before = False, None
    for k, (value, target) in enumerate(zip(measure.tolist(), looked_at.tolist(), strict=True)):
        gone = value > (BACK * limit if gone and target == before else limit)
        result[k], before = gone, target
    return result
