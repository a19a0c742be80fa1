"""The motion with limited torques: the body follows the motion without limits as far as its torques allow."""

from collections.abc import Generator

import numpy as np

from .. import rotation
from ..curves import smooth_step
from ..rotation import Array
from .body import Body
from .course import IntervalMotion
from .keyed_motion import KeyedMotion
from .muscles import Muscles
from .root_path import RootPath
from .simulation import Disturbances, Simulation, State

_ROUNDS = 3
"""How often an interval is simulated at most, each time with the aim that the last one missed."""
_NEAR, _FAR = 0.1, 0.4
"""Angles [rad] up to which the aim makes up for what is missed, and from which on a joint misses its key."""
_LOST = 0.8
"""Angle [rad] of a joint that misses its key, from which on those above and below it do not aim at theirs either."""
_HIT = 1e-6
"""Angle [rad] within which a key is hit."""


class Limited(Simulation):
    """The motion of a body that follows courses with limited torques."""

    # Over a step, stages of 23 rad/s are at most 25.
    longest, fastest = 1.0 / 144.0, 23.0

    def __init__(
        self, body: Body, motion: KeyedMotion, gravity: Array, given: Disturbances, root: RootPath | None
    ) -> None:
        super().__init__(body, motion, gravity, given, root)
        assert given.torque_limit is not None
        self._limit, order = given.torque_limit[self.order], self.order
        pose = motion.at(motion.times[:1])[0][0]
        self.engine.q[-len(order) :] = pose[order]
        limited = np.isfinite(self._limit).any(axis=1) & ~given.passive[order]
        self._muscles = Muscles(self.engine, self._limit, limited, given.passive[order], given.free[order])
        self._pushes, self._applied = np.zeros((1, len(self.driven))), np.zeros((1, len(self.driven)))
        self._any_drag = False
        self._in_line = (body.ancestors + body.ancestors.T) > 0.0

    def _interval(
        self, interval: int, course: IntervalMotion, state: State | None
    ) -> Generator[float, None, tuple[tuple[IntervalMotion, Array, Array], State | None]]:
        if state is None and not self.any_passive:
            torques = self._torques(course, course.poses[course.ends])
            if not self.given.exceeds(torques):
                # While the torques suffice, nothing needs to be simulated.
                return (course, torques, np.zeros(len(self.order))), None
        track, left = self._tracked(interval, course), list[Array]()
        begin = self._begun(course) if state is None else state
        is_key = interval < len(self.motion.times) - 1
        profile, aim = self._profile(course), np.zeros(len(self.driven))
        while True:
            self._pushes, self._applied = profile * aim, np.empty(track.velocities.shape)
            states = yield from self._told(self._through(track, begin), course)
            made = self._course(course, states)
            error = rotation.log(rotation.multiply(rotation.inverse(course.poses[-1]), made.poses[-1]))
            error[self.given.passive] = 0.0
            off = np.linalg.norm(error, axis=-1)
            left.append(off)
            missed = error * self._near(off)[:, None]
            if not is_key or len(left) == _ROUNDS or np.linalg.norm(missed, axis=-1).max() < _HIT:
                break
            aim = aim + self.of_joints(missed, 0.0)
        end = State(states[0][-1], states[1][-1])
        return (made, self._with_springs(made, course, self._applied), left[0] * is_key), end

    def _near(self, off: Array) -> Array:
        """The part (n,) of what is missed, angles (n,), that the aim makes up for."""
        farthest = np.where(self._in_line, off, 0.0).max(axis=1)
        own, line = (off - _NEAR) / (_FAR - _NEAR), (farthest - _FAR) / (_LOST - _FAR)
        return (1.0 - smooth_step(own)[0]) * (1.0 - smooth_step(line)[0])

    def _profile(self, course: IntervalMotion) -> Array:
        """The accelerations (m s + 1, nv) with which the law makes up for a unit along a quintic."""
        long = course.times[-1] - course.times[0]
        part, slope, bend = (each[:, None] for each in smooth_step((course.times - course.times[0]) / long))
        return bend / long**2 + 2.0 * self.frequency * slope / long + self.frequency**2 * part

    def _with_springs(self, made: IntervalMotion, course: IntervalMotion, applied: Array) -> Array:
        torques = np.empty(made.spins[made.ends].shape)
        torques[:, self.order] = applied[made.ends, self.extra :].reshape(torques.shape)
        if self.any_passive:
            passive = self.given.passive
            torques[:, passive] = self._springs(
                made.poses[made.ends], made.spins[made.ends], course.poses[course.ends]
            )[:, passive]
        return torques

    def _prepare(self, s: float) -> None:
        super()._prepare(s)
        self._any_drag = bool(np.any(self.drag))

    def _rise(self, at: int, q: Array, gap: Array, rise: Array, s: float) -> Array:
        track, engine = self.track, self.engine
        distance = engine.between(q, track.coordinates[at])
        asked = self.frequency * (self.frequency * distance - 2.0 * gap) - self._pushes[at] * self.driven
        w, law = gap + track.velocities[at], track.accelerations[at]
        engine.put(q, w)
        engine.place()
        change = rise + (asked - rise * self.driven) / (1.0 + self.firm)
        if self.any_passive:
            change = change + self._hanging(at, w, law + change, distance)
        needed = engine.inverse(law + change)
        if self._any_drag:
            more = s * (change - rise)
            needed += self.damping * (w + more) - self.stiffness * (distance - s * more)
        weakened, self._applied[at], _ = self._muscles.weakened(
            law + change, needed, self.drag if self._any_drag else None
        )
        return (weakened - law) * self.free
