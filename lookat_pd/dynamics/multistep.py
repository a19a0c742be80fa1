"""Joints that one thing alone disturbs, torques for another body or limited ones: few long steps of high order.

What is solved for is the deviation from the law's undisturbed motion, which is smooth between two keys: its velocity by
implicit backward differences of third order, in which the mass matrices are those of a pose extrapolated from the steps
before, and its rotations by the Adams-Moulton formula of the same order. The first step after a key, where the
acceleration of the law jumps, is that of the implicit Euler method, extrapolated from the step and its halves (Hairer,
Wanner, Solving Ordinary Differential Equations II, 1996). The frames are sampled from the cubics between the steps.
"""

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..rotation import Array
from .body import Body
from .engine import Engine
from .law import Motion, late_slope, rates, smooth_step, turning
from .reference import Reference
from .root_path import RootPath
from .simulation import Disturbances

_LONGEST, _SHORTEST = 1.0 / 60.0, 1.0 / 480.0
"""Longest step [s], and the shortest if the motion is as smooth as expected."""
_PART = 0.18
"""Step as a fraction of the time in which the error of the law decays."""
_FASTEST = 25.0
"""Speed [rad/s] of a joint above which it is not that of the law."""
_NO_TIME = 1e-9
"""Length [s] of an interval that is rounding."""


class _Formula(NamedTuple):
    """A step of length 1: `past`, weights of the velocities before it, the latest first; `slope`, that of the
    acceleration at its end; `ahead`, the velocity at its end extrapolated; `path`, weights of the velocities before it
    in the distance, and `end`, that of the velocity at its end."""

    past: Array
    slope: float
    ahead: Array
    path: Array
    end: float


_EULER = _Formula(np.array([1.0]), 1.0, np.array([1.0]), np.array([0.0]), 1.0)
_SECOND = _Formula(np.array([4.0, -1.0]) / 3.0, 2.0 / 3.0, np.array([2.0, -1.0]), np.array([0.5, 0.0]), 0.5)
_THIRD = _Formula(
    np.array([18.0, -9.0, 2.0]) / 11.0,
    6.0 / 11.0,
    np.array([3.0, -3.0, 1.0]),
    np.array([8.0, -1.0, 0.0]) / 12.0,
    5.0 / 12.0,
)


@dataclass(frozen=True)
class SmoothStretch:
    """The motion between two keys: at times (s + 1,) the rotations (s + 1, n, 4) from the law's motion, their angular
    velocities and the torques (s + 1, n, 3); the remaining angle (n,) at the key before the correction."""

    times: Array
    relative: Array
    spins: Array
    torques: Array
    left: Array

    def at(self, t: Array) -> tuple[Array, Array]:
        """Rotations (m, n, 4) from the law's motion, and torques (m, n, 3), at times (m,)."""
        h = float(self.times[1] - self.times[0])
        place = np.clip((t - self.times[0]) / h, 0.0, len(self.times) - 1.0)
        low = np.minimum((place + 1e-9).astype(int), len(self.times) - 2)
        part = np.clip(place - low, 0.0, 1.0)[:, None, None]
        slow = rotation.multiply(self.relative, _pure(0.5 * self.spins))
        begin, end = self.relative[low], self.relative[low + 1]
        # Cubics of nearby quaternions of one sign are rotations up to their length.
        sign = np.where(rotation.dot(begin, end) < 0.0, -1.0, 1.0)[..., None]
        relative = rotation.normalize(_cubic(begin, sign * end, slow[low], sign * slow[low + 1], part, h))
        return relative, self._torques_at(low, part, h)

    def _torques_at(self, low: NDArray[np.int_], part: Array, h: float) -> Array:
        """Torques (m, n, 3) at fractions (m, 1, 1) of the steps of h seconds with these numbers (m,)."""
        rising = slopes(self.torques, h)
        return _cubic(self.torques[low], self.torques[low + 1], rising[low], rising[low + 1], part, h)


def _pure(vectors: Array) -> Array:
    """Quaternions (..., 4) of these vectors (..., 3) and no scalar."""
    return np.concatenate((np.zeros((*vectors.shape[:-1], 1)), vectors), axis=-1)


def _cubic(begin: Array, end: Array, slow: Array, fast: Array, part: Array, h: float) -> Array:
    """Values (m, ...) at fractions (m, 1, 1) of steps of length h with these values and slopes at their ends."""
    rest = 1.0 - part
    return begin + part * part * (3.0 - 2.0 * part) * (end - begin) + part * rest * h * (rest * slow - part * fast)


class Deviation(NamedTuple):
    """Rotations (s, n, 4) from the law's motion, their angular velocities and accelerations (s, n, 3)."""

    relative: Array
    spins: Array
    rises: Array

    def turned(self, turn: Array, turning_at: Array, rising: Array) -> "Deviation":
        """The deviation followed by rotation vectors (s, n, 3) with these two derivatives."""
        after = rotation.exp(turn)
        back = rotation.inverse(after)
        spin, rise = turning(turn, turning_at, rising)
        before = rotation.rotate(back, self.spins)
        rise += rotation.rotate(back, self.rises) + rotation.cross(before, spin)
        return Deviation(rotation.multiply(self.relative, after), before + spin, rise)


def slopes(values: Array, h: float) -> Array:
    """Derivatives of samples (s, ...) h apart, of fourth order if they are five or more."""
    if len(values) < 5:
        return np.gradient(values, h, axis=0) if len(values) > 1 else np.zeros_like(values)
    result = np.empty_like(values)
    result[2:-2] = (values[:-4] - values[4:] + 8.0 * (values[3:-1] - values[1:-3])) / 12.0
    for at, weights in ((0, (-25.0, 48.0, -36.0, 16.0, -3.0)), (1, (-3.0, -10.0, 18.0, -6.0, 1.0))):
        factors = np.array(weights) / 12.0
        result[at] = np.tensordot(factors, values[:5], 1)
        result[-1 - at] = -np.tensordot(factors, values[:-6:-1], 1)
    return result / h


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

    def rows(self, rows: slice | list[int] | NDArray[np.int_]) -> "Grid":
        pose, w, dw = self.joints
        own = pose[rows], w[rows], dw[rows]
        return Grid(self.times[rows], self.coordinates[rows], self.velocities[rows], self.accelerations[rows], own)


class Multistep(ABC):
    """Steps of the deviation of a body from a motion; an engine has its mass matrices. Subclasses solve for the
    velocity at the end of a step.

    halved: whether the first two steps of an interval are halved.
    """

    halved = False

    def __init__(self, body: Body, motion: Motion, gravity: Array, engine: Engine, root: RootPath | None) -> None:
        self._body, self._motion, self._gravity, self._root = body, motion, gravity, root
        self._extra = 0 if root is None else 6
        self._engine, self._order = engine, engine.order

    @abstractmethod
    def _prepare(self, grid: Grid, past: Array, slope: float, firm: Array, strength: Array) -> None:
        """Start steps between the rows of a grid. A velocity is that of the rows before it with the weights `past`, the
        latest first, and `slope` times the acceleration. Feedback then resists a velocity by the factors `firm` (nv,),
        and the distance to the law's motion adds `strength` (nv,) times itself to it."""

    @abstractmethod
    def _gap(self, row: int, near: Array, distance: Array, past: Array, ahead: Array) -> Array:
        """The velocity (nv,) of the deviation in a row of the grid.

        near: (nq,), the coordinates there if the velocity is as extrapolated, `ahead` (nv,). distance: (nv,), from the
        coordinates that they would be at rest to the law's. past: (nv,), the velocity without acceleration.
        """

    def _steps(self, last: float) -> tuple[list[int], list[Array]]:
        """The intervals, and for each of them the times of the ends of its steps, and some between the first ones."""
        keys = np.append(self._motion.times, last)
        intervals, times = [], []
        for interval, length in enumerate(np.diff(keys)):
            if length > _NO_TIME:
                h = np.clip(_PART / self._motion.frequency[interval].max(), _SHORTEST, _LONGEST)
                steps = max(2 if self.halved else 1, int(np.ceil(length / h - 1e-9)))
                early = ([1, 1, 2], [0.25, 0.5, 1.5]) if self.halved else ([1], [0.5])
                intervals.append(interval)
                times.append(keys[interval] + length * np.insert(np.arange(steps + 1.0), *early) / steps)
        return intervals, times

    def _ends(self, grid: Grid) -> NDArray[np.int_]:
        """The rows of the ends of steps in an interval."""
        return np.delete(np.arange(len(grid.times)), [1, 2, 4] if self.halved else [1])

    def _solve(self, interval: int, grid: Grid, begin: Array, speed: Array) -> tuple[Array, Array]:
        """Coordinates (s, nq) and velocities of the deviation (s, nv) at the ends of the steps of an interval, which
        begins with these coordinates (nq,) and this velocity (nv,)."""
        frequency = self._frequency(interval)
        coarse, slow = self._euler(grid.rows([0, 2]), frequency, begin, speed)
        fine, fast = self._euler(grid.rows([0, 1, 2]), frequency, begin, speed)
        places, gaps = np.empty(grid.coordinates.shape), np.empty(grid.accelerations.shape)
        # The second row is half of the first step.
        places[:2], gaps[:2] = begin, speed
        self._engine.moved(fine, self._engine.between(coarse, fine))
        places[2], gaps[2] = fine, 2.0 * fast - slow
        count = 6 if self.halved else len(grid.times)
        even, rows = slice(1, count), [0, *range(2, count)]
        self._stepped(_SECOND, grid.rows(rows[:3]), frequency, places[even], gaps[even], 1)
        self._stepped(_THIRD, grid.rows(rows), frequency, places[even], gaps[even], 2)
        ends = self._ends(grid)
        places, gaps = places[ends], gaps[ends]
        if self.halved:
            self._stepped(_THIRD, grid.rows(ends), frequency, places, gaps, 2)
        return places, gaps

    def _euler(self, grid: Grid, frequency: Array, begin: Array, speed: Array) -> tuple[Array, Array]:
        """Coordinates (nq,) and velocity (nv,) of the deviation at the end of a few steps of the implicit Euler
        method."""
        places, gaps = np.empty(grid.coordinates.shape), np.empty(grid.accelerations.shape)
        places[0], gaps[0] = begin, speed
        self._stepped(_EULER, grid, frequency, places, gaps, 0)
        return places[-1], gaps[-1]

    def _stepped(self, formula: _Formula, grid: Grid, frequency: Array, places: Array, gaps: Array, first: int) -> None:
        """Write coordinates (s + 1, nq) and velocities of the deviation (s + 1, nv) after the step `first`."""
        steps, h, count = len(grid.times) - 1, float(grid.times[-1] - grid.times[-2]), len(formula.past)
        if first >= steps:
            return
        engine, law = self._engine, grid.coordinates
        slope, end = h * formula.slope, h * formula.end
        weights = np.stack((formula.ahead, formula.past, h * formula.path))[:, ::-1].copy()
        self._prepare(grid, formula.past, slope, slope * frequency * (2.0 + frequency * end), slope * frequency**2)
        for step in range(first, steps):
            ahead, past, path = weights @ gaps[step + 1 - count : step + 1]
            path += engine.between(law[step], law[step + 1])
            near, place, distance = places[step].copy(), places[step + 1], end * ahead
            engine.moved(near, path + distance)
            distance += engine.between(near, law[step + 1])
            gaps[step + 1] = gap = self._gap(step + 1, near, distance, past, ahead)
            place[:] = places[step]
            path += end * gap
            engine.moved(place, path)

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


class ReferenceSimulation(Multistep):
    """The motion of a body through the keys of a motion if its torques are those for another one."""

    def __init__(
        self,
        body: Body,
        motion: Motion,
        gravity: Array,
        given: Disturbances,
        root: RootPath | None,
        *,
        keeps_speed: bool,
    ) -> None:
        """keeps_speed: whether the joints pass their keys at the speed of the motion."""
        assert given.reference is not None
        self._reference = Reference(body, given.reference, given.free, moving_root=root is not None)
        super().__init__(body, motion, gravity, self._reference.true, root)
        self._keeps_speed = keeps_speed

    def run(self, last: float) -> Generator[float, None, list[SmoothStretch] | None]:
        """The intervals between all keys, and one after the last key up to `last` [s]; None if a joint moves so fast
        that its speed has to be limited. Yields the completed fraction."""
        intervals, times = self._steps(last)
        whole = self._grid(np.concatenate(times), np.repeat(intervals, [len(part) for part in times]))
        speed, begin = np.zeros(whole.accelerations.shape[1]), 0
        rows, found = [], []
        for interval, part in zip(intervals, times, strict=True):
            grid = whole.rows(slice(begin, begin + len(part)))
            places, gaps = self._solve(interval, grid, grid.coordinates[0], speed)
            rows.append(begin + self._ends(grid))
            found.append((places, gaps))
            begin += len(part)
            if interval < len(self._motion.times) - 1:
                speed = self._speed(grid.rows([-1]), places[-1], gaps[-1])
            yield float((part[-1] - times[0][0]) / (last - times[0][0]))
        places, gaps = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return self._courses(whole.rows(np.concatenate(rows)), np.array([len(each) for each in rows]), places, gaps)

    def _prepare(self, grid: Grid, past: Array, slope: float, firm: Array, strength: Array) -> None:
        self._rising, self._firm, self._strength = slope * grid.accelerations, firm, strength
        self._reference.begin(firm)

    def _gap(self, row: int, near: Array, distance: Array, past: Array, ahead: Array) -> Array:
        push = self._rising[row]
        distance *= self._strength
        distance += push
        return self._reference.gap(near, distance, push - past, self._firm)

    def _speed(self, grid: Grid, place: Array, gap: Array) -> Array:
        """The velocity (nv,) of the deviation at a key, of which the grid is, after its correction."""
        speed = np.zeros(len(gap))
        if not self._keeps_speed:
            apart, w, spin = self._turned(grid, place[None], gap[None])
            speed[self._extra :] = (rotation.rotate(apart, w) - spin)[0, self._order].ravel()
        return speed

    def _courses(self, grid: Grid, counts: NDArray[np.int_], places: Array, gaps: Array) -> list[SmoothStretch] | None:
        """The intervals with so many rows of the grid, corrected and with their torques; None if joints are too
        fast."""
        apart, w, spin = self._turned(grid, places, gaps)
        if too_fast(w, spin):
            return None
        lasts = np.cumsum(counts) - 1
        firsts = lasts + 1 - counts
        own = w - rotation.rotate(rotation.inverse(apart), spin)
        rises = [
            slopes(own[first : end + 1], float(grid.times[first + 1] - grid.times[first]))
            for first, end in zip(firsts, lasts, strict=True)
        ]
        error, length = rotation.log(apart[lasts]), grid.times[lasts] - grid.times[firsts]
        rate = rates(error, own[lasts]) * self._keeps_speed
        # After the last key nothing is corrected.
        is_key = (np.arange(len(counts)) < len(self._motion.times) - 1)[:, None, None]
        error, rate = error * is_key, rate * is_key
        which = np.repeat(np.arange(len(counts)), counts)
        long = length[which][:, None, None]
        share = (grid.times - grid.times[firsts][which])[:, None, None] / long
        error_of, rate_of = error[which] / long, rate[which]
        bends = (
            -(long * part * error_of + long * late * rate_of) / long**order
            for order, (part, late) in enumerate(zip(smooth_step(share), late_slope(share), strict=True))
        )
        found = Deviation(apart, own, np.concatenate(rises)).turned(*bends)
        torques = self._torques(grid, found)
        pieces = (np.split(values, firsts[1:]) for values in (grid.times, found.relative, found.spins, torques))
        return [SmoothStretch(*parts) for parts in zip(*pieces, np.linalg.norm(error, axis=-1), strict=True)]
