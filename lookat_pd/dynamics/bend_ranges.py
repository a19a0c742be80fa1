"""How far hinges of a body bend: an elbow neither opens beyond straight nor folds into its own arm.

Poses that were keyed beyond a range extend it. Between the keyed poses and the end of a range a bend approaches the end
softly.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .. import rotation
from ..ik import Posture
from ..rotation import Array

_SOFT = float(np.radians(12.0))
"""Angle [rad] before the end of a range from which on a bend is slowed down."""
_SPARE = 1e-9


@dataclass(frozen=True)
class BendRanges:
    """The bends of n joints, those of hinges with a range."""

    posture: Posture
    before: Array
    """(n, 3), the bone before each joint, in the frame of the parent."""
    after: Array
    """(n, 3), the bone of each joint, in its own frame."""
    low: Array
    high: Array
    """(n,) [rad], smallest and largest bends."""
    first: Array
    last: Array
    """(n,) [rad], smallest and largest bends that are left as they are."""

    @classmethod
    def of(cls, posture: Posture, before: Array, after: Array, keys: Array) -> "BendRanges | None":
        """The ranges of a posture, extended to the keys (k, n, 4); None if no joint has one."""
        kind = posture.as_bent(np.broadcast_to(after, (len(keys), *after.shape)), keys, before)
        bends = kind.bend(before, after, keys)
        low = np.where(kind.is_hinge, np.minimum(np.asarray(kind.minimum), bends.min(axis=0)), -np.inf)
        high = np.where(kind.is_hinge, np.maximum(np.asarray(kind.maximum), bends.max(axis=0)), np.inf)
        if not np.any(kind.is_hinge):
            return None
        low, high = (np.where(kind.is_hinge, ends, 0.0) for ends in (low, high))
        first, last = np.minimum(bends.min(axis=0), low + _SOFT), np.maximum(bends.max(axis=0), high - _SOFT)
        return cls(kind, before, after, low, high, first, last)

    def clamp(self, rotations: Array) -> Array:
        """The nearest rotations (..., n, 4) within the ranges."""
        return self._bent(rotations, lambda bends: np.clip(bends, self.low, self.high))

    def soften(self, rotations: Array) -> Array:
        """Rotations (..., n, 4) within the ranges, of which bends come softly to their ends."""
        return self._bent(rotations, self._softened)

    def _softened(self, bends: Array) -> Array:
        above, below = np.maximum(bends - self.last, 0.0), np.maximum(self.first - bends, 0.0)
        more, less = np.maximum(self.high - self.last, _SPARE), np.maximum(self.first - self.low, _SPARE)
        kept = np.clip(bends, self.first, self.last)
        return kept + more * np.tanh(above / more) - less * np.tanh(below / less)

    def _bent(self, rotations: Array, allowed: Callable[[Array], Array]) -> Array:
        bends = np.where(self.posture.is_hinge, self.posture.bend(self.before, self.after, rotations), 0.0)
        change = np.where(self.posture.is_hinge, allowed(bends) - bends, 0.0)
        turn = rotation.exp(change[..., None] * np.asarray(self.posture.hinges))
        return np.where(np.abs(change)[..., None] > 0.0, rotation.multiply(rotations, turn), rotations)
