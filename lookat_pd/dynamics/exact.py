"""Driven joints that follow the law exactly, because nothing disturbs them; only passive joints are simulated."""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..ik import Limits
from ..rotation import Array
from .body import Body
from .hinges import Hinges
from .law import Motion
from .loose import LooseSimulation
from .loose_model import Loose
from .root_path import RootPath
from .simulation import SUBSTEP, Disturbances

_WITHIN = 1e-4
"""Angle [rad] beyond the limits of a joint that counts as within."""
_BEFORE = 2e-9
"""Time [s] before a key at which the motion is still that before the key."""
_FEW = 10
"""Of so many times one is enough to find out in most cases that torques do not suffice."""
_RANGE_STEPS, _HALVINGS = 180, 40
"""In how many steps the range of a hinge is sought on each side, and how often the last one is halved."""


@dataclass(frozen=True)
class Interpolation:
    """What `interpolate` found: F frames, n joints, k keys.

    times: (F,) [s]. rotations: (F, n, 4) local. torques: (F, n, 3) [N m], each in the frame of its bone; at a key the
    value after it; at passive joints those of spring and damper. missed: (k,) [rad], largest error of any joint at each
    key, except passive ones. missed_joints: (k, n) [rad], error of each joint. residuals: (k, n) [rad], angle between
    law and key before the correction.
    """

    times: Array
    rotations: Array
    torques: Array
    missed: Array
    missed_joints: Array
    residuals: Array


def has_closed_form(given: Disturbances) -> bool:
    """Whether the motion is that of the law, as far as that keeps the limits of joints and torques."""
    return given.reference is None and not (np.any(given.passive) or np.any(given.damping))


def only_loose(given: Disturbances) -> bool:
    """Whether the driven joints follow the law, unless their torques do not suffice, and others are passive."""
    undisturbed = given.reference is None and not np.any(given.damping[~given.passive])
    return bool(np.any(given.passive)) and undisturbed


def only_reference(given: Disturbances) -> bool:
    """Whether nothing but the inertia of another body disturbs the motion."""
    others = np.any(given.passive) or np.any(given.damping) or given.torque_limit is not None
    return given.reference is not None and given.limits is None and not others


def only_weak(given: Disturbances) -> bool:
    """Whether nothing but torques that do not suffice disturb the motion."""
    return given.torque_limit is not None and given.limits is None and has_closed_form(given)


@dataclass(frozen=True)
class Plan:
    """The motion to find: of a body through keys (k, n, 4), clamped to `allowed`, at `frames` (F,) [s]."""

    body: Body
    joints: Hinges
    keys: Array
    allowed: Array
    motion: Motion
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
            if self._too_weak(self._torques(few, *self.motion.at(few))):
                return None
        rotations, w, dw = self.motion.at(times)
        torques = self._torques(times, rotations, w, dw)
        return self._found(rotations, torques)

    def with_loose(self, motion: Motion, last: float) -> Generator[float, None, Interpolation | None]:
        """With passive joints that swing. motion: in the frames of the hinges. None as for `undisturbed`, or if a
        passive joint other than a hinge has limits, or is too stiff for the engine's own steps."""
        given, passive = self.given, self.given.passive
        limited = np.zeros(len(passive), dtype=bool)
        if given.limits is not None:
            limited = np.array([joint is not None for joint in given.limits.joints])
        hinges = self.joints.is_hinge
        if np.any(limited & passive & ~hinges):
            return None
        ranges = np.tile([-np.inf, np.inf], (len(passive), 1))
        start = motion.at(motion.times[:1])[0][0]
        for joint in np.flatnonzero(limited & passive).tolist():
            ranges[joint] = self._range(start, joint)
        loose = Loose(passive, given.damping, given.stiffness, hinges, ranges)
        body = self.joints.body(self.body)
        swing = yield from LooseSimulation(body, motion, self.gravity, loose, self.root).run(last)
        if swing is None:
            return None
        times = self._times()
        own, others = np.flatnonzero(passive), np.flatnonzero(~passive)
        rotations = np.empty((len(times), len(passive), 4))
        w, dw = np.empty((2, len(times), len(passive), 3))
        rotations[:, others], w[:, others], dw[:, others] = motion.of(others).at(times)
        rotations[:, own], w[:, own], dw[:, own] = swing.at(times, own)
        spring = -given.damping[own, None] * w[:, own]
        if np.any(given.stiffness[own]):
            keyed = motion.of(own).poses(times)
            there = rotation.log(rotation.multiply(rotation.inverse(rotations[:, own]), keyed))
            spring += given.stiffness[own, None] * there
        rotations, w, dw = (
            self.joints.of_bones(rotations),
            *(self.joints.vectors_of_bones(values) for values in (w, dw)),
        )
        torques = self._torques(times, rotations, w, dw)
        held = self.joints.vectors(torques)
        held[:, own] = spring
        rotations = rotation.normalize(rotations)
        if self.limits is not None:
            rotations[:, own] = self.limits.clamp(rotations)[:, own]
        return self._found(rotations, self.joints.vectors_of_bones(held))

    def _times(self) -> Array:
        """The frames, followed by the times at which torques are compared with their limits."""
        if self.given.torque_limit is None:
            return self.frames
        times = [self.frames, self.motion.times[1:] - _BEFORE]
        if len(self.frames) > 1 and self.frames[1] - self.frames[0] > SUBSTEP:
            times.append(np.arange(self.frames[0], self.frames[-1], SUBSTEP))
        return np.concatenate(times)

    def _torques(self, times: Array, rotations: Array, w: Array, dw: Array) -> Array:
        root = None if self.root is None else self.root.motion(times)
        return self.body.inverse(rotations, w, dw, self.gravity, root=root)

    def _found(self, rotations: Array, torques: Array) -> Interpolation | None:
        driven = ~self.given.passive
        if self._too_weak(torques):
            return None
        count, k = len(self.frames), len(self.keys)
        rotations, torques = rotations[:count], torques[:count]
        if self.limits is not None and self.limits.excess(rotations)[:, driven].max(initial=0.0) >= _WITHIN:
            return None
        left, missed = np.zeros((2, k, len(driven)))
        left[1:] = np.linalg.norm(self.motion.left[:-1], axis=-1)
        if self.limits is not None:
            missed = rotation.distance(self.keys, self.allowed) * driven
        left[:, ~driven] = 0.0
        return Interpolation(self.frames, rotations, torques, missed.max(axis=1), missed, left)

    def _too_weak(self, torques: Array) -> bool:
        """Whether torques (s, n, 3) exceed the limits of driven joints."""
        limit = self.given.torque_limit
        if limit is None:
            return False
        acting = self.joints.vectors(torques) * self.given.free
        size = np.linalg.norm(acting, axis=-1, keepdims=True) if limit.shape[1] == 1 else np.abs(acting)
        return bool(np.any((size > limit)[:, ~self.given.passive]))

    def _range(self, start: Array, joint: int) -> tuple[float, float]:
        """The angles [rad] from a pose (n, 4) between which a hinge is within its limits."""
        assert self.given.limits is not None
        limits = self.given.limits

        def outside(angles: Array) -> NDArray[np.bool_]:
            poses = np.tile(start, (len(angles), 1, 1))
            turn = angles[:, None] * np.array([1.0, 0.0, 0.0])
            poses[:, joint] = rotation.multiply(start[joint], rotation.exp(turn))
            return rotation.distance(poses, limits.clamp(poses))[:, joint] > 1e-7

        ends = []
        for sign in (-1.0, 1.0):
            angles = sign * np.linspace(0.0, np.pi, _RANGE_STEPS + 1)[1:]
            beyond = outside(angles)
            if not np.any(beyond):
                ends.append(sign * np.inf)
                continue
            high = float(angles[int(np.argmax(beyond))])
            low = high - sign * np.pi / _RANGE_STEPS
            for _ in range(_HALVINGS):
                middle = 0.5 * (low + high)
                low, high = (low, middle) if outside(np.array([middle]))[0] else (middle, high)
            ends.append(low)
        return ends[0], ends[1]
