"""How near effectors have come to their targets in a bake, of one chain or of a body."""

from abc import abstractmethod

import numpy as np

from ...lookat_pd.rotation import Array

_NOTICED = 1e-5
"""Distance [m] by which a soft reach leaves an effector before its target, from which on that is said."""


class Reached:
    """What a result of a bake says about that. Arrays are of frames, the last axis."""

    softened: Array
    in_reach: Array

    @property
    @abstractmethod
    def distances(self) -> Array:
        """From the targets, in the world."""

    @property
    def unmeant(self) -> Array:
        """The distances with the target in reach, but for what a soft reach leaves."""
        return np.maximum(self.distances - self.softened, 0.0)[self.in_reach]

    @property
    def median_error(self) -> float:
        """The median of these; nan if there are none."""
        return float(np.median(self.unmeant)) if self.in_reach.any() else np.nan

    @property
    def largest_error(self) -> float:
        """The largest one; nan if there are none."""
        return float(self.unmeant.max()) if self.in_reach.any() else np.nan

    @property
    def soft_frames(self) -> int:
        """The number of frames at which a soft reach leaves an effector before a target in reach."""
        noticed = (self.softened > _NOTICED) & self.in_reach
        return int(np.count_nonzero(noticed.reshape(-1, noticed.shape[-1]).any(axis=0)))

    @property
    def largest_softened(self) -> float:
        """The largest distance at these."""
        return float(self.softened[self.in_reach].max(initial=0.0))
