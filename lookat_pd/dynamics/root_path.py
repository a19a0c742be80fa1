"""Motion of the frame of the root joints: a smooth curve through samples, with its accelerations."""

from dataclasses import dataclass

import numpy as np

from .. import rotation
from ..rotation import Array
from .body import RootMotion
from .splines import Spline

_STEP = 1e-4
"""Half the time [s] over which rotations are differentiated."""


@dataclass(frozen=True)
class RootPath:
    """Position and quaternion as one curve of seven numbers."""

    curve: Spline

    @classmethod
    def through(cls, start: float, dt: float, positions: Array, rotations: Array) -> "RootPath":
        """Positions (f, 3) and rotations (f, 4), dt apart from `start` on."""
        values = np.concatenate((positions, rotation.align_hemisphere(rotations)), axis=1)
        return cls(Spline.through(start, dt, values))

    def at(self, t: Array) -> tuple[Array, Array]:
        """Positions (m, 3) and rotations (m, 4) at times (m,)."""
        values, _ = self.curve.at(t)
        return values[:, :3], rotation.normalize(values[:, 3:])

    def motion(self, t: Array) -> RootMotion:
        """The arguments of inverse dynamics at times (m,)."""
        # The frame is at rest outside the samples: differences across the ends would be an instant stop.
        first, last = self.curve.start, self.curve.start + self.curve.dt * (len(self.curve.values) - 1)
        inside = np.clip(t, first + _STEP, last - _STEP)
        before, now, after = (self.at(inside + shift)[1] for shift in (-_STEP, 0.0, _STEP))
        first = rotation.log(rotation.multiply(now, rotation.inverse(before)))
        second = rotation.log(rotation.multiply(after, rotation.inverse(now)))
        linear = self.curve.at(t)[1][:, :3]
        return RootMotion(now, linear, (first + second) / (2.0 * _STEP), (second - first) / _STEP**2)
