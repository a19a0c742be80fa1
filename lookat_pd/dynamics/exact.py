"""Joints that follow the law exactly, because nothing disturbs them."""

from dataclasses import dataclass

import numpy as np

from .. import rotation
from ..ik import Limits
from ..rotation import Array
from .body import Body
from .hinges import Hinges
from .keyed_motion import KeyedMotion
from .root_path import RootPath
from .simulation import Disturbances

_WITHIN = 1e-4
"""Angle [rad] beyond the limits of a joint that counts as within."""
_BEFORE = 2e-9
"""Time [s] before a key at which the motion is still that before the key."""
_OFTEN = 1.0 / 240.0
"""Longest time [s] between two of them."""
_FEW = 10
"""Of so many times one is enough to find out in most cases that torques do not suffice."""


@dataclass(frozen=True)
class Interpolation:
    """What `interpolate` found: F frames, n joints, k keys."""

    times: Array
    """(F,) times [s]."""
    rotations: Array
    """(F, n, 4) local rotations."""
    torques: Array
    """(F, n, 3) [N m], each in the frame of its bone; at a key the value after it; at passive joints those of spring
    and damper."""
    missed: Array
    """(k,) [rad], largest error of any joint at each key, except passive ones."""
    missed_joints: Array
    """(k, n) [rad], error of each joint."""
    residuals: Array
    """(k, n) [rad], angle between law and key before the correction."""


def has_closed_form(given: Disturbances) -> bool:
    """Whether the motion is that of the law, as far as that keeps the limits of joints and torques."""
    return given.reference is None and not (np.any(given.passive) or np.any(given.damping))


@dataclass(frozen=True)
class Plan:
    """The motion to find: of a body through keys (k, n, 4), clamped to `allowed`, at `frames` (F,) [s]."""

    body: Body
    joints: Hinges
    keys: Array
    allowed: Array
    motion: KeyedMotion
    frames: Array
    gravity: Array
    root: RootPath | None
    given: Disturbances
    limits: Limits | None

    def undisturbed(self) -> Interpolation | None:
        """The motion of the law; None if it leaves the limits of the joints or the torques do not suffice."""
        times = self._times()
        if self.given.torque_limit is not None:
            few = np.sort(times)[::_FEW]
            if self.given.exceeds(self.joints.vectors(self._torques(few, *self.motion.at(few)))):
                return None
        rotations, w, dw = self.motion.at(times)
        return self._found(rotations, self._torques(times, rotations, w, dw))

    def _times(self) -> Array:
        """The frames, followed by the times at which torques are compared with their limits."""
        if self.given.torque_limit is None:
            return self.frames
        times = [self.frames, self.motion.times[1:] - _BEFORE]
        if len(self.frames) > 1 and self.frames[1] - self.frames[0] > _OFTEN:
            times.append(np.arange(self.frames[0], self.frames[-1], _OFTEN))
        return np.concatenate(times)

    def _torques(self, times: Array, rotations: Array, w: Array, dw: Array) -> Array:
        root = None if self.root is None else self.root.motion(times)
        return self.body.inverse(rotations, w, dw, self.gravity, root=root)

    def _found(self, rotations: Array, torques: Array) -> Interpolation | None:
        if self.given.exceeds(self.joints.vectors(torques)):
            return None
        count, k = len(self.frames), len(self.keys)
        rotations, torques = rotations[:count], torques[:count]
        if self.limits is not None and self.limits.excess(rotations).max(initial=0.0) >= _WITHIN:
            return None
        left, missed = np.zeros((2, k, len(self.body)))
        left[1:] = np.linalg.norm(self.motion.left[:-1], axis=-1)
        if self.limits is not None:
            missed = rotation.distance(self.keys, self.allowed)
        return Interpolation(self.frames, rotations, torques, missed.max(axis=1), missed, left)
