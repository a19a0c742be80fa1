"""Joints that one thing alone disturbs, torques for another body or limited ones: few long steps of high order.

What is solved for is the deviation from the law's undisturbed motion, which is smooth between two keys. Its velocity
follows by implicit backward differences of fifth order over steps of different lengths, in which the mass matrices are
those of a pose extrapolated from the steps before, and its rotations by the Adams-Moulton formula of the same order.
After a key, where the acceleration of the law jumps, the steps are short; they grow as the law's motion decays. The
frames are sampled from the cubics between the steps.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .. import rotation
from ..rotation import Array
from .body import Body
from .engine import Engine
from .law import Motion
from .root_path import RootPath
from .samples import Deviation
from .variable_steps import Steps, graded, steps

_SHORTEST = 1.0 / 960.0
"""Shortest step [s] of those that only a fast law requires."""
_FASTEST = 25.0
"""Speed [rad/s] of a joint above which it is not that of the law."""
_NO_TIME = 1e-9
"""Length [s] of an interval that is rounding."""
_TRIALS = 4
"""How often an interval is solved at most, each time with shorter steps."""
_TOLERATED = 1.5
"""Times the accuracy above which an interval is solved again."""
_NO_ERROR = 1e-9
"""Error [rad] that is rounding."""
_TOGETHER = 8
"""Intervals whose law is computed at once: each call on small arrays takes longer than its arithmetic."""


def too_fast(w: Array, spin: Array) -> bool:
    """Whether velocities (s, n, 3) have to be limited, those of the law being `spin` (s, n, 3)."""
    fastest = np.maximum(_FASTEST, 2.0 * np.sqrt(rotation.dot(spin, spin).max(axis=1)))
    return not np.all(rotation.dot(w, w) <= (fastest * fastest)[:, None])


class Grid(NamedTuple):
    """The law at the ends of steps: times (s,), coordinates (s, nq), velocities and accelerations (s, nv), of which a
    root has no linear velocity, which acts on nothing; poses, velocities and accelerations of the joints in the order
    of the body."""

    times: Array
    coordinates: Array
    velocities: Array
    accelerations: Array
    joints: tuple[Array, Array, Array]

    def rows(self, rows: slice | list[int]) -> "Grid":
        pose, w, dw = self.joints
        own = pose[rows], w[rows], dw[rows]
        return Grid(self.times[rows], self.coordinates[rows], self.velocities[rows], self.accelerations[rows], own)

    @classmethod
    def joined(cls, grids: Sequence["Grid"]) -> "Grid":
        """One after the other."""
        *values, joints = zip(*grids, strict=True)
        pose, w, dw = (np.concatenate(parts) for parts in zip(*joints, strict=True))
        return cls(*(np.concatenate(parts) for parts in values), joints=(pose, w, dw))


class StepPlan(NamedTuple):
    """The steps of an interval, the law at their ends, and the rotation vectors (s, nv) from each of these to the next
    one, the last of which has no meaning."""

    steps: Steps
    grid: Grid
    turns: Array


class Multistep(ABC):
    """Steps of the deviation of a body from a motion; an engine has its mass matrices. Subclasses solve for the
    velocity at the end of a step.

    order: of the formulas. part: length of the steps after the first few, in times in which the error of the law
    decays; relaxed: times of decay in which they grow by the factor e; longest: of all [s]. accuracy: estimated error
    [rad] of a step for which they are made shorter. scale: factor of all lengths.
    """

    order, part, relaxed, longest, accuracy = 5, 0.16, 4.0, 1.0 / 40.0, 0.0002
    scale = 1.0

    def __init__(self, body: Body, motion: Motion, gravity: Array, engine: Engine, root: RootPath | None) -> None:
        self._body, self._motion, self._gravity, self._root = body, motion, gravity, root
        self._extra = 0 if root is None else 6
        self._engine, self._order = engine, engine.order
        self._lengths, self._scale = np.zeros(0), self.scale
        self._planned: dict[int, StepPlan] = {}
        self._planned_scale = self.scale

    @abstractmethod
    def _prepare(self, grid: Grid, steps: Steps, frequency: Array) -> None:
        """Start the steps of an interval, in which the law has the rates (nv,)."""

    @abstractmethod
    def _start(self, grid: Grid, frequency: Array, place: Array, speed: Array) -> Array:
        """The acceleration (nv,) of the deviation at the start of an interval, where it is at coordinates (nq,) and has
        a velocity (nv,)."""

    @abstractmethod
    def _gap(self, step: int, near: Array, distance: Array, past: Array, ahead: Array) -> Array:
        """The velocity (nv,) of the deviation at the end of a step, from 1 on.

        near: (nq,), the coordinates there if the velocity is as extrapolated, `ahead` (nv,). distance: (nv,), from the
        coordinates that they would be at rest to the law's. past: (nv,), the velocity without acceleration.
        """

    def _intervals(self, last: float) -> list[int]:
        """The intervals that begin before `last` [s]."""
        self._lengths = np.diff(np.append(self._motion.times, last))
        self._planned.clear()
        return np.flatnonzero(self._lengths > _NO_TIME).tolist()

    def _plan(self, interval: int) -> StepPlan:
        """The steps of an interval, and the law at their ends."""
        lasting = self._scale == self._planned_scale
        if not lasting or interval not in self._planned:
            # Those after this one have the same steps unless they turn out to be too long.
            self._planned, self._planned_scale = self._plans(interval, _TOGETHER if lasting else 1), self._scale
        return self._planned[interval]

    def _plans(self, first: int, most: int) -> dict[int, StepPlan]:
        """The plans of so many intervals from one on."""
        chosen = first + np.flatnonzero(self._lengths[first : first + most] > _NO_TIME)
        plans = [self._steps(interval) for interval in chosen.tolist()]
        counts = [len(plan.times) for plan in plans]
        grid = self._grid(np.concatenate([plan.times for plan in plans]), np.repeat(chosen, counts))
        turns, ends = self._turns(grid.coordinates), np.cumsum(counts).tolist()
        found = {}
        for interval, plan, count, end in zip(chosen.tolist(), plans, counts, ends, strict=True):
            rows = slice(end - count, end)
            found[interval] = StepPlan(plan, grid.rows(rows), turns[rows])
        return found

    def _steps(self, interval: int) -> Steps:
        length, rate = float(self._lengths[interval]), float(self._motion.frequency[interval].max())
        longest, shortest = self._scale * self.longest * rate, self.scale * _SHORTEST * rate
        # Intervals that differ by rounding share their formulas.
        given = (float(f"{value:.9g}") for value in (rate * length, self._scale * self.part, longest, shortest))
        ends = graded(*given, relaxed=self.relaxed)
        return steps(ends, float(self._motion.times[interval]), length, order=self.order)

    def _solved(self, interval: int, begin: Array | None, speed: Array) -> tuple[Grid, Array, Array]:
        """The law at the ends of steps that are short enough, and the coordinates (s + 1, nq) and velocities of the
        deviation (s + 1, nv) there, of an interval that begins with these coordinates (nq,), those of the law by
        default, and this velocity (nv,)."""
        for left in reversed(range(_TRIALS)):
            plan = self._plan(interval)
            grid = plan.grid
            places, gaps, error = self._solve(interval, plan, grid.coordinates[0] if begin is None else begin, speed)
            better = 0.9 * (self.accuracy / max(error, _NO_ERROR)) ** 0.25
            if error <= _TOLERATED * self.accuracy or not left:
                break
            self._scale *= max(better, 0.4)
        self._scale = min(self._scale * min(max(better, 0.7), 1.4), self.scale)
        return grid, places, gaps

    def _solve(self, interval: int, plan: StepPlan, begin: Array, speed: Array) -> tuple[Array, Array, float]:
        """As `_solved` for given steps, with the largest change of an angle [rad] from what was extrapolated."""
        grid, turns, formulas = plan.grid, plan.turns, plan.steps.formulas
        moved, between, law = self._engine.moved, self._engine.between, grid.coordinates
        frequency = self._frequency(interval)
        # The acceleration at the start is before the velocities.
        places, rows = np.empty(law.shape), np.empty((len(law) + 1, len(speed)))
        gaps, places[0] = rows[1:], begin
        rows[0], rows[1] = self._start(grid, frequency, begin, speed), speed
        self._prepare(grid, plan.steps, frequency)
        # From where a velocity that was extrapolated leads to where the one that was found does.
        changes = np.empty((len(formulas), len(speed)))
        ends = np.repeat(plan.steps.ends[:, None], len(speed), axis=1)
        formula = ahead, past, path = np.empty((3, len(speed)))
        for step, (first, weights, _, _) in enumerate(formulas, 1):
            np.dot(weights, rows[first : step + 1], formula)
            near, change, end = places[step], changes[step - 1], ends[step - 1]
            near[:] = places[step - 1]
            distance = end * ahead
            path += turns[step - 1]
            path += distance
            moved(near, path)
            distance += between(near, law[step])
            gaps[step] = gap = self._gap(step, near, distance, past, ahead)
            np.subtract(gap, ahead, change)
            change *= end
            moved(near, change)
        return places, gaps, float(np.abs(changes).max())

    def _turns(self, coordinates: Array) -> Array:
        """The rotation vectors (s, nv) from each of these coordinates (s, nq) to the next ones, and to the first."""
        flat, after = self._extra // 2, np.roll(coordinates, -1, axis=0)
        q, there = (values[:, flat:].reshape(len(values), -1, 4) for values in (coordinates, after))
        turns = rotation.log(rotation.multiply(rotation.inverse(q), there)).reshape(len(q), -1)
        return np.concatenate(((after - coordinates)[:, :flat], turns), axis=1)

    def _frequency(self, interval: int) -> Array:
        """Rates (nv,) of the law in an interval."""
        return np.concatenate((np.ones(self._extra), np.repeat(self._motion.frequency[interval][self._order], 3)))

    def _grid(self, times: Array, intervals: Array) -> Grid:
        joints = self._motion.at(times, intervals)
        q, w, dw = (values[:, self._order] for values in joints)
        position, velocities, accelerations = None, w.reshape(len(times), -1), dw.reshape(len(times), -1)
        if self._root is not None:
            position, turn = self._root.at(times)
            root, back = self._root.motion(times), rotation.inverse(turn)
            spin, spun = rotation.rotate(back, root.turn), rotation.rotate(back, root.turn_acceleration)
            velocities = np.concatenate((np.zeros(spin.shape), spin, velocities), axis=1)
            accelerations = np.concatenate((root.acceleration, spun, accelerations), axis=1)
            q = np.concatenate((turn[:, None], q), axis=1)
        coordinates = np.ascontiguousarray(self._engine.coordinates(q, position))
        return Grid(times, coordinates, velocities, np.ascontiguousarray(accelerations), joints)

    def _turned(self, grid: Grid, places: Array, gaps: Array) -> tuple[Array, Array, Array]:
        """The rotations (s, n, 4) from the law's motion, the velocities (s, n, 3), and the law's own."""
        own, spin, _ = grid.joints
        poses, w = np.empty_like(own), np.empty_like(spin)
        poses[:, self._order] = places[:, -4 * len(self._order) :].reshape(own.shape)
        w[:, self._order] = gaps[:, self._extra :].reshape(spin.shape)
        return rotation.multiply(rotation.inverse(own), poses), w + spin, spin

    def _torques(self, grid: Grid, deviation: Deviation) -> Array:
        """The torques (s, n, 3) for a deviation from the law's motion."""
        own, spin, change = grid.joints
        back = rotation.inverse(deviation.relative)
        seen = rotation.rotate(back, spin)
        w, dw = seen + deviation.spins, rotation.rotate(back, change) + rotation.cross(seen, deviation.spins)
        dw += deviation.rises
        root = None if self._root is None else self._root.motion(grid.times)
        return self._body.inverse(rotation.multiply(own, deviation.relative), w, dw, self._gravity, root=root)
