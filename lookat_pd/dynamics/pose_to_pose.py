"""Motion between keyed poses with the least change of torque.

The cost is that of `reaches`, over all joints, with the keys as constraints instead of a goal of the hand. Source: Uno,
Kawato, Suzuki, Formation and control of optimal trajectory in human multijoint arm movement, 1989; poses as
constraints after Satoh, Mitake, Hasegawa.
"""

from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..checks import check_memory, time_step, whole
from ..curves import early_slope, late_slope, smooth_step
from ..errors import InvalidArgument
from ..ik import Limits
from ..ik.joint_checks import same_joints
from ..progress import drained
from ..rotation import Array
from . import body_checks, effort
from .arm import Arm
from .body import Body
from .exact import Interpolation
from .interpolation import key_velocities
from .key_checks import keys_in_order
from .optimal import optimized
from .reaches import strengths

_WEAKEST = 1e-6
"""Smallest inertia of a joint that counts, as a fraction of the largest."""
_STEPS = 12
"""Steps between two keys at least."""
_SPANS = 4
"""Polynomial segments between two keys."""
_MOST = 300
"""Number of coefficients that are sought at once, if that is enough for `_FEWEST` intervals."""
_FEWEST = 2
_MOST_PASSES = 100_000
_FAR = 2.6
"""Angle [rad] from the first pose of a part up to which rotation vectors are used."""
_NUMBERS = 4000
"""For each joint at each step the search holds at most so many numbers at a time."""
_CONVERGED = 2e-4
"""Fraction of the cost that iterations must gain: near the optimum of a motion between poses its path changes much more
than its cost."""
_STILL = 1e-9
"""Speed [rad/s] below which a joint is at rest."""
_NOTHING = 1e-7
"""Angle [rad] that no joint leaves if the body holds."""
_OFF_GRID = 1e-4
"""Fraction of a frame by which a key may be beside it."""


@dataclass(frozen=True)
class WholeBody(Arm):
    """A body of which all joints move."""

    @cached_property
    def joints(self) -> list[int]:
        return list(range(len(self.body)))

    @property
    def swings(self) -> bool:
        return False

    @cached_property
    def length(self) -> float:
        return 1.0


def connecting(
    body: Body,
    keys: ArrayLike,
    key_times: ArrayLike,
    dt: float,
    *,
    kinds: ArrayLike | None = None,
    gravity: ArrayLike = (0.0, 0.0, 0.0),
    damping: ArrayLike = 0.0,
    limits: Limits | None = None,
    strength: ArrayLike | None = None,
    passes: int = 30,
) -> Generator[float, None, Interpolation]:
    """The motion through keys (k, n, 4) at key_times (k,) [s] with the least half integral of |rate of torque|^2.

    The times are multiples of dt [s] after the first one. It is at rest at the first and last key, passes the others at
    the speeds that cost least, and hits all of them. kinds: as for `key_velocities`; joints are at rest at keys of the
    kind "stop", and all are where every joint turns around or holds. gravity: (3,) [m/s^2]. damping: (n,) or one number
    [N m s/rad]. limits: of the joints; keys are clamped to them. strength: (n,), the torque that
    counts as 1; None for the square roots of what the joints move, the metric of kinetic energy: with equal strengths
    light joints whip to spare the heavy ones. passes: largest number of iterations for each part;
    long sequences are solved in parts of several keys that overlap.

    Yields the completed fraction. `connect` takes the same arguments and returns the Interpolation directly. Raises
    InvalidArgument.
    """
    n = len(body)
    dt, gravity = time_step(body_checks.positive("time between frames", dt, "s")), body_checks.gravity(gravity)
    asked, times = keys_in_order(keys, key_times, n)
    same_joints(limits, n)
    given = asked if limits is None else limits.clamp(asked)
    passes = whole("number of passes", passes, 1, _MOST_PASSES)
    friction = body_checks.not_negative("damping", damping, n, body.called)
    strong = _relative(body, given[0]) if strength is None else strengths(strength, body)
    samples = _frames_of(times, dt)
    finer = int(np.ceil(_STEPS / np.diff(samples).min()))
    at = samples.astype(int) * finer
    check_memory(_NUMBERS * n * (float(at[-1]) + 1.0))
    speeds = key_velocities(given, times, kinds)
    speeds[[0, -1]] = 0.0
    rests = np.linalg.norm(speeds, axis=-1) < _STILL
    work = _Work(body, given, at, speeds, rests, dt / finer, gravity, friction, strong, limits, passes)
    poses, torques = yield from work.through_parts()
    chosen = slice(None, None, finer)
    missed = rotation.distance(asked, poses[at])
    count = len(poses[chosen])
    return Interpolation(
        times[0] + dt * np.arange(count),
        poses[chosen],
        torques[chosen],
        missed.max(axis=1),
        missed,
        np.zeros(missed.shape),
    )


connect = drained("connect", connecting)


def _frames_of(times: Array, dt: float) -> Array:
    """The whole frames (k,) of keys, from the first one. Raises InvalidArgument."""
    frames = (times - times[0]) / dt
    samples = np.round(frames)
    if np.any(np.abs(frames - samples) > _OFF_GRID) or np.any(np.diff(samples) < 1.0):
        raise InvalidArgument(
            "The keys must be on different frames for the least change of torque; snap them to frames."
        )
    return samples


@dataclass(frozen=True)
class _Work:
    """Keys between which motions are searched."""

    body: Body
    keys: Array
    """(k, n, 4) at samples `at` (k,), h seconds apart."""
    at: Array
    speeds: Array
    """(k, n, 3) speeds at the keys in a first motion."""
    rests: Array
    """(k, n), which of the speeds are zero."""
    h: float
    gravity: Array
    damping: Array
    strength: Array
    limits: Limits | None
    passes: int

    def through_parts(self) -> Generator[float, None, tuple[Array, Array]]:
        """Poses (N + 1, n, 4) and torques (N + 1, n, 3) through all keys, part after part; yields the completed
        fraction."""
        at, n = self.at, len(self.body)
        poses, torques = np.empty((at[-1] + 1, n, 4)), np.empty((at[-1] + 1, n, 3))
        first, moving = 0, np.zeros((n, 3))
        while first < len(self.keys) - 1:
            last, until = self.part(first)
            motion, forces = self.solved(first, last, moving)
            shown = at[until] - at[first]
            taken = slice(at[first], at[until] + 1)
            poses[taken], torques[taken] = motion[: shown + 1], forces[: shown + 1]
            moving = np.zeros((n, 3)) if until == last else self.speed(motion, shown)
            first = until
            yield first / (len(self.keys) - 1)
        return poses, torques

    def part(self, first: int) -> tuple[int, int]:
        """The last key of the part that begins at a key, and the last one of which the solution is used."""
        end = first + 1 + int(np.argmax(self.rests[first + 1 :].all(axis=1)))
        most = max(_FEWEST, _MOST // (3 * _SPANS * len(self.body)))
        last = min(end, first + most)
        away = rotation.distance(self.keys[first], self.keys[first + 1 : last + 1]).max(axis=1)
        near = int(np.argmax(away > _FAR)) if np.any(away > _FAR) else len(away)
        last = first + max(near, 1)
        return last, last if last == end else first + max((last - first) // 2, 1)

    def solved(self, first: int, last: int, moving: Array) -> tuple[Array, Array]:
        """Poses (N + 1, n, 4) and torques (N + 1, n, 3) from one key to another, with velocities (n, 3) at the first
        one."""
        arm = WholeBody(
            self.body,
            self.keys[first],
            0,
            np.zeros(3),
            self.gravity,
            self.damping,
            1.0 / self.strength,
            self.limits,
            before=moving if np.any(moving) else None,
        )
        speeds = self.speeds[first : last + 1].copy()
        speeds[0], speeds[-1] = moving, 0.0
        begun = arm.clamped(self._first(first, last, speeds))
        kept = (self.at[first + 1 : last + 1] - self.at[first]).tolist()
        stops = [
            (int(self.at[key] - self.at[first]), int(joint))
            for key in range(first + 1, last)
            for joint in np.flatnonzero(self.rests[key])
        ]
        best, least = begun, effort.cost(arm, begun, self.h)
        if rotation.distance(begun, begun[0]).max() > _NOTHING:
            spans = max(2 * _SPANS, _SPANS * (last - first))
            work = optimized(
                arm, begun, self.h, [], self.passes, kept=kept, stops=stops, spans=spans, converged=_CONVERGED
            )
            for motion, cost in work:
                if cost < least:
                    best, least = motion, cost
        return best, effort.torques(arm, best, self.h)

    def _first(self, first: int, last: int, speeds: Array) -> Array:
        """A motion (N + 1, n, 4) through keys with velocities (m, n, 3): polynomials of fifth degree."""
        parts = [self.keys[first][None]]
        for key in range(first, last):
            steps = int(self.at[key + 1] - self.at[key])
            span, x = steps * self.h, (np.arange(1, steps + 1) / steps)[:, None, None]
            end = rotation.log(rotation.multiply(rotation.inverse(self.keys[key]), self.keys[key + 1]))
            begin, arrive = span * speeds[key - first], span * rotation.log_rate(-end, speeds[key + 1 - first])
            turns = smooth_step(x)[0] * end + early_slope(x) * begin + late_slope(x)[0] * arrive
            parts.append(rotation.multiply(self.keys[key], rotation.exp(turns)))
        return np.concatenate(parts)

    def speed(self, motion: Array, sample: int) -> Array:
        """The velocities (n, 3) at a sample within a motion."""
        back = rotation.inverse(motion[sample])
        ahead, behind = (rotation.log(rotation.multiply(back, motion[sample + step])) for step in (1, -1))
        return (ahead - behind) / (2.0 * self.h)


def _relative(body: Body, pose: Array) -> Array:
    """The square roots (n,) of the inertias of the joints in a pose (n, 4), relative to the largest."""
    inertia = np.diagonal(body.mass_matrix(pose)).reshape(-1, 3).max(axis=1)
    return np.sqrt(np.maximum(inertia / inertia.max(), _WEAKEST))
