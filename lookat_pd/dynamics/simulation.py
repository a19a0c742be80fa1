"""The simulation of a body that follows a course by the law, under what disturbs it.

What is integrated is the deviation from the course, so that without disturbance the body follows it up to rounding, for
any step. The stages of a step are implicit in feedback, friction and springs, with one Newton step from the expected
accelerations: no gain or ratio of masses makes them unstable (Stable PD: Tan, Liu, Turk 2011). The steps do not depend
on the frame rate, and all keys are at steps.
"""

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..ik import Limits
from ..rotation import Array
from .body import Body
from .course import SMOOTH, IntervalMotion
from .engine import Engine
from .hinges import HingedLimits
from .keyed_motion import KeyedMotion
from .root_path import RootPath
from .stops import Stops

_FASTEST_LOOSE = 100.0
"""Largest speed [rad/s] of a passive joint."""
_OVER = 1e-9
"""Fraction of a torque limit by which rounding may exceed it."""
_SLOW = 400.0
"""Square of a speed [rad/s] below which no joint needs to be slowed down."""
_SUM = np.ones(3)
_OFTEN = 50
"""Steps after which the completed fraction is told."""


@dataclass(frozen=True)
class Disturbances:
    """Disturbances of n joints."""

    torque_limit: Array | None
    """(n, 1) or (n, 3) [N m], or None."""
    passive: NDArray[np.bool_]
    """(n,), joints without actuation."""
    damping: Array
    """(n,) [N m s/rad], friction."""
    stiffness: Array
    """(n,) [N m/rad], springs of passive joints towards the pose of the law."""
    limits: Limits | HingedLimits | None
    """Limits of the joints, at which they stop."""
    reference: Body | None
    """The body whose inertia the law assumes, None for the true one."""
    free: NDArray[np.bool_]
    """(n, 3), degrees of freedom; hinges have X alone."""

    def exceeds(self, torques: Array) -> bool:
        """Whether torques (s, n, 3) of driven joints are beyond their limits."""
        limit, acting = self.torque_limit, torques * self.free
        if limit is None:
            return False
        size = np.linalg.norm(acting, axis=-1, keepdims=True) if limit.shape[1] == 1 else np.abs(acting)
        return bool(np.any((size > limit * (1.0 + _OVER))[:, ~self.passive]))


class State(NamedTuple):
    """Coordinates (nq,) and velocities (nv,) of the engine."""

    coordinates: Array
    velocities: Array


class EngineMotion(NamedTuple):
    """A course of s steps of `h` seconds in the order of the engine. Passive joints have none but their springs'."""

    h: float
    coordinates: Array
    """(m s + 1, nq)."""
    velocities: Array
    """(m s + 1, nv)."""
    accelerations: Array
    """(m s + 1, nv)."""
    turns: Array
    """(s, m, nv), rotation vectors from the start of each step to its stages."""
    fastest: Array
    """(s,) [rad/s], speed of the fastest joint at the ends of the steps."""


class Simulation(ABC):
    """The simulation of a body that follows courses through the intervals between keys."""

    longest = 1.0 / 250.0
    """Longest step [s] of the courses."""
    fastest = 60.0
    """Largest speed [rad/s] of a driven joint at a stage, or twice that of its course."""
    stages = SMOOTH
    """The stages of these steps."""

    def __init__(
        self, body: Body, motion: KeyedMotion, gravity: Array, given: Disturbances, root: RootPath | None
    ) -> None:
        self.body, self.motion, self.gravity, self.given, self.root = body, motion, gravity, given, root
        self.engine = engine = Engine(body, gravity, moving_root=root is not None)
        self.order, self.extra = engine.order, 0 if root is None else 6
        free = np.concatenate((np.zeros(self.extra, dtype=bool), given.free[self.order].ravel()))
        self.passive = self.of_joints(given.passive, False) & free
        self.driven, self.free = ~self.passive & free, free
        self.damping = self.of_joints(given.damping, 0.0) * free
        self.stiffness = self.of_joints(np.where(given.passive, given.stiffness, 0.0), 0.0) * free
        self.any_passive = bool(np.any(self.passive))
        self.stops = None if given.limits is None else Stops(given.limits, engine, self.extra, ~free, self.driven)
        self.most = np.where(given.passive[self.order], _FASTEST_LOOSE, self.fastest)
        self.until, self.told, nothing = 0.0, 0.0, np.zeros(len(free))
        self.frequency = self.firm = self.drag = nothing
        empty = nothing[None]
        self.track = EngineMotion(0.0, empty, empty, empty, empty[None], nothing)

    def of_joints(self, values: Any, base: Any) -> Array:
        """Values (n,) or (n, 3) of joints as values (nv,) of degrees of freedom, those of the root being `base`."""
        values = np.asarray(values)[self.order]
        return np.concatenate((np.full(self.extra, base), np.repeat(values, 3) if values.ndim == 1 else values.ravel()))

    def run(
        self, courses: Sequence[IntervalMotion]
    ) -> Generator[float, None, list[tuple[IntervalMotion, Array, Array]]]:
        """For each course, one for each interval between keys and one after the last key: the motion, the torques
        (s + 1, n, 3) at the ends of its steps, and the angles (n,) that are left at the end before the correction.
        Yields the completed fraction."""
        first, self.until = courses[0].times[0], courses[-1].times[-1]
        parts, state = [], None
        for interval, course in enumerate(courses):
            part, state = yield from self._interval(interval, course, state)
            parts.append(part)
            yield float((course.times[-1] - first) / (self.until - first))
        return parts

    @abstractmethod
    def _interval(
        self, interval: int, course: IntervalMotion, state: State | None
    ) -> Generator[float, None, tuple[tuple[IntervalMotion, Array, Array], State | None]]:
        """The motion, torques and angles of one interval, and the state at its end, None for that of the course."""

    @abstractmethod
    def _rise(self, at: int, q: Array, gap: Array, rise: Array, s: float) -> Array:
        """Accelerations (nv,) of the deviation from sample `at` of the track, at coordinates (nq,).

        gap: (nv,), velocity of the deviation if its accelerations are as expected, `rise` (nv,), for the last s
        seconds.
        """

    def _tracked(self, interval: int, course: IntervalMotion) -> EngineMotion:
        """A course as a track, from where feedback of this interval's frequency leads to it."""
        h, parts = course.h, len(self.stages.weights)
        q, w, dw = (values[:, self.order] for values in (course.poses, course.spins, course.rises))
        position, velocities, accelerations = None, w.reshape(len(w), -1), dw.reshape(len(w), -1)
        if self.root is not None:
            position, turn = self.root.at(course.times)
            root, back = self.root.motion(course.times), rotation.inverse(turn)
            assert root.turn is not None and root.acceleration is not None and root.turn_acceleration is not None
            spin, spun = rotation.rotate(back, root.turn), rotation.rotate(back, root.turn_acceleration)
            # The linear velocity of the root acts on nothing.
            velocities = np.concatenate((np.zeros(spin.shape), spin, velocities), axis=1)
            accelerations = np.concatenate((root.acceleration, spun, accelerations), axis=1)
            q = np.concatenate((turn[:, None], q), axis=1)
        coordinates = np.ascontiguousarray(self.engine.coordinates(q, position))
        turns = self._turns(q, position, parts)
        velocities[:, self.passive] = accelerations[:, self.passive] = 0.0
        turns[..., self.passive] = 0.0
        fastest = np.sqrt(rotation.dot(w, w).max(axis=1))[parts::parts]
        frequency = self.of_joints(self.motion.frequency[interval], 1.0)
        self.frequency = frequency * self.driven
        return EngineMotion(h, coordinates, velocities, np.ascontiguousarray(accelerations), turns, fastest)

    def _turns(self, q: Array, position: Array | None, parts: int) -> Array:
        """Rotation vectors (s, m, nv) from the starts of steps to their stages, through quaternions (m s + 1, j, 4) and
        positions (m s + 1, 3)."""
        steps = len(q) // parts
        begins, stages = q[:-1:parts, None], q[1:].reshape(steps, parts, *q.shape[1:])
        turns = rotation.log(rotation.multiply(rotation.inverse(begins), stages)).reshape(steps, parts, -1)
        if position is None:
            return turns
        moves = position[1:].reshape(steps, parts, 3) - position[:-1:parts, None]
        return np.concatenate((moves, turns), axis=2)

    def _begun(self, course: IntervalMotion) -> State:
        """The state at the start of a course."""
        q, position = course.poses[:1, self.order], None
        if self.root is not None:
            position, turn = self.root.at(course.times[:1])
            q = np.concatenate((turn[:, None], q), axis=1)
        return State(self.engine.coordinates(q, position)[0].copy(), self.of_joints(course.spins[0], 0.0))

    def _through(self, track: EngineMotion, state: State) -> Generator[int, None, tuple[Array, Array, Array]]:
        """Coordinates (m s + 1, nq), velocities and accelerations (m s + 1, nv) from a state on; yields the number of
        the step now and then."""
        self.track, moved, s = track, self.engine.moved, self.stages.implicit * track.h
        weights, count = track.h * self.stages.weights, len(self.stages.weights)
        places, gaps = np.empty(track.coordinates.shape), np.empty(track.velocities.shape)
        rises = np.empty_like(gaps)
        places[0], gaps[0] = state.coordinates, state.velocities - track.velocities[0]
        gaps[0, : self.extra] = 0.0
        q, gap, at = places[0], gaps[0], 0
        self._prepare(0.0)
        most = _FASTEST_LOOSE / track.h
        rise = rises[0] = np.clip(self._rise(0, q, gap, np.zeros(len(gap)), 0.0), -most, most)
        before = rise
        self._prepare(s)
        for step, turns in enumerate(track.turns):
            first = count * step
            for stage, turn in enumerate(turns):
                at = first + stage + 1
                known = slice(first, at)
                parts = weights[stage, : stage + 1]
                path, begun = turn + parts @ gaps[known], gap + parts @ rises[known]
                expected = rise + self.stages.ahead[stage] * (rise - before)
                ahead = begun + s * expected
                self._slow(step, at, ahead)
                places[at] = q
                moved(places[at], path + s * ahead)
                before, rise = rise, self._rise(at, places[at], ahead, expected, s)
                gaps[at], places[at] = begun + s * rise, q
                if self._slow(step, at, gaps[at]):
                    rise = (gaps[at] - begun) / s
                rises[at] = rise
                moved(places[at], path + s * gaps[at])
            q, gap = self._stopped(at, places[at], gaps[at])
            if step % _OFTEN == _OFTEN - 1:
                yield step
        return places, gaps + track.velocities, rises + track.accelerations

    def _told(
        self, steps: Generator[int, None, tuple[Array, Array, Array]], course: IntervalMotion
    ) -> Generator[float, None, tuple[Array, Array, Array]]:
        """Steps through a course, which yield the completed fraction."""
        first, last = self.motion.times[0], self.until
        while True:
            try:
                step = next(steps)
            except StopIteration as end:
                return end.value
            # An interval may be simulated again.
            self.told = max(self.told, float((course.times[len(self.stages.weights) * step] - first) / (last - first)))
            yield self.told

    def _prepare(self, s: float) -> None:
        """Before an interval with stages of s seconds."""
        strong = s * self.frequency
        self.firm = strong * (strong + 2.0)
        self.drag = s * self.damping + s * s * self.stiffness

    def _stopped(self, at: int, place: Array, gap: Array) -> tuple[Array, Array]:
        """The end of a step, a sample of the track, changed in place to be within the stops."""
        if self.stops is not None:
            spin = self.track.velocities[at]
            self.engine.put(place, gap + spin)
            if self.stops.hold(self.drag):
                place[:], gap[:] = self.engine.data.qpos, self.engine.w - spin
                gap[: self.extra] = 0.0
        return place, gap

    def _slow(self, step: int, at: int, gap: Array) -> bool:
        """Limit the speed of the joints, of which the deviation from a sample of the track is changed in place; whether
        some were too fast. Light bones next to weak heavy ones could otherwise reach any speed."""
        whole = gap + self.track.velocities[at]
        if whole @ whole <= _SLOW:
            return False
        speeds = whole[self.extra :].reshape(-1, 3)
        square = (speeds * speeds) @ _SUM
        if not square.max() > _SLOW:
            return False
        most = np.maximum(self.most, 2.0 * self.track.fastest[step])
        factor = np.minimum(1.0, most / np.sqrt(np.maximum(square, _SLOW)))
        gap[self.extra :] -= ((1.0 - factor)[:, None] * speeds).ravel()
        return bool(factor.min() < 1.0)

    def _hanging(self, at: int, w: Array, acceleration: Array, distance: Array) -> Array:
        """The change (nv,) of accelerations with which passive joints move by themselves, at the state of the engine;
        distance: (nv,), to the poses of the springs."""
        engine = self.engine
        torque = engine.inverse(acceleration) + self.damping * w - self.stiffness * distance
        engine.factor(self.drag, ~self.passive)
        return engine.solve(np.where(self.passive, -torque, 0.0)[None])[0] * self.passive

    def _course(self, course: IntervalMotion, found: tuple[Array, Array, Array]) -> IntervalMotion:
        """What `_through` found, at the times of a course."""
        places, w, dw = found
        poses, spins, rises = np.empty_like(course.poses), np.empty_like(course.spins), np.empty_like(course.rises)
        poses[:, self.order] = places[:, -4 * len(self.order) :].reshape(poses.shape)
        spins[:, self.order] = w[:, self.extra :].reshape(spins.shape)
        rises[:, self.order] = dw[:, self.extra :].reshape(rises.shape)
        return IntervalMotion(course.times, poses, spins, rises, course.stages)

    def _torques(self, course: IntervalMotion, keyed: Array) -> Array:
        """The torques (s + 1, n, 3) at the ends of the steps of a course; keyed: (s + 1, n, 4), poses of springs."""
        given, poses, w = self.given, course.poses[course.ends], course.spins[course.ends]
        root = None if self.root is None else self.root.motion(course.times[course.ends])
        found = self.body.inverse(poses, w, course.rises[course.ends], self.gravity, root=root)
        found += given.damping[:, None] * w
        if self.any_passive:
            found[:, given.passive] = self._springs(poses, w, keyed)[:, given.passive]
        return found

    def _springs(self, poses: Array, w: Array, keyed: Array) -> Array:
        """The torques (s, n, 3) of springs and friction."""
        there = rotation.log(rotation.multiply(rotation.inverse(poses), keyed))
        return (self.given.stiffness[:, None] * there - self.given.damping[:, None] * w) * self.given.free
