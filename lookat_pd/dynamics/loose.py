"""Passive joints behind driven ones that move by the law exactly: the engine steps them by itself.

Only the passive joints and what is behind them are in its model. The method is the fourth-order Runge-Kutta method,
with steps short enough for springs, friction and speeds. Where friction or springs are so stiff that this would take
many steps, they are implicit in the step, and the results are extrapolated.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..rotation import Array
from . import extrapolation
from .body import Body
from .extrapolation import Extrapolation, Springs
from .guide import Guide, StepGrid
from .law import Motion
from .loose_model import Loose, LooseModel
from .root_path import RootPath

LONGEST, SHORTEST = 1.0 / 120.0, 1.0 / 960.0
"""Longest and shortest step [s]."""
_AT_STOPS = 1.0 / 240.0
"""Longest step [s] if a joint has stops."""
_STIFF = 1.0
"""Largest product of the step with the fastest rate of springs and friction."""
_TURN = 0.2
"""Largest rotation [rad] of a joint in one step."""
_SAMPLES = 4
"""Samples of what is driven in each of the longest extrapolated steps."""
_LONG = 10.0
"""Time [s] for which the steps are prepared together."""
_NO_ANGLE = 1e-9
"""Angle [rad] by which joints move that is rounding."""
_NO_TIME = 1e-9
"""Length [s] of an interval that is rounding."""

_Steps = Callable[[int, Array, Springs | None], tuple[Array, Array] | None]
"""Times (s,) and states (s, 1 + nq + nv) after one in an interval, with springs, which are None if they do not move;
None if the motion is too fast."""


@dataclass(frozen=True)
class Swing:
    """Poses (s + 1, n, 4) and velocities (s + 1, n, 3) of the passive joints at times (s + 1,)."""

    times: Array
    poses: Array
    velocities: Array

    def at(self, t: Array, joints: NDArray[np.int_]) -> tuple[Array, Array, Array]:
        """Poses (m, j, 4), velocities and accelerations (m, j, 3) of these joints at times (m,)."""
        low = np.clip(np.searchsorted(self.times, t + 1e-9, side="right") - 1, 0, len(self.times) - 2)
        span = (self.times[low + 1] - self.times[low])[:, None, None]
        part = np.clip((t - self.times[low])[:, None, None] / span, 0.0, 1.0)
        begin, end = self.poses[low][:, joints], self.poses[low + 1][:, joints]
        slow, fast = self.velocities[low][:, joints], self.velocities[low + 1][:, joints]
        turn = rotation.log(rotation.multiply(rotation.inverse(begin), end))
        rest = 1.0 - part
        bent = part * part * (3.0 - 2.0 * part) * turn + part * rest * span * (rest * slow - part * fast)
        return rotation.multiply(begin, rotation.exp(bent)), rest * slow + part * fast, (fast - slow) / span


class LooseSimulation:
    """The passive joints of a body whose other joints follow a motion."""

    def __init__(self, body: Body, motion: Motion, gravity: Array, given: Loose, root: RootPath | None) -> None:
        self._body, self._motion, self._root = body, motion, root
        self._start, self._spin, _ = (values[0] for values in motion.at(motion.times[:1]))
        self._model = model = LooseModel(body, self._start, gravity, given, moving_root=root is not None)
        self._longest = _AT_STOPS if model.limited else LONGEST
        self._sprung = given.passive & (given.stiffness > 0.0)
        guiding = [joint for carrier in model.carriers if carrier >= 0 for joint in body.chain(carrier)]
        self._guiding = np.array(sorted({*guiding, *model.driven.tolist()}), dtype=int)
        self._guide = motion.of(self._guiding)

    def run(self, last: float) -> Generator[float, None, Swing | None]:
        """The motion up to `last` [s]; None if it needs steps that are too short."""
        begin = self._model.begin(self._spin, self._first())
        h, rate, found = self._longest, self._model.rate(), None
        while h * rate > _STIFF and h >= SHORTEST:
            h *= 0.5
        # A rotor's torque is constant in a step: where something moves, explicit steps are of second order alone.
        if h >= SHORTEST and (self._model.limited or self._is_still()):
            found = yield from self._through(begin, last, lambda grid, guide: partial(self._explicit, guide, h))
        for careful in (False, True):
            if found is None:
                found = yield from self._through(begin, last, partial(self._extrapolated, careful=careful))
        return found

    def _is_still(self) -> bool:
        """Whether nothing that is driven moves."""
        moving = np.concatenate((self._guide.error, self._guide.speed, self._guide.course))
        return self._root is None and float(np.abs(moving).max(initial=0.0)) < _NO_ANGLE

    def _through(
        self, begin: Array, last: float, prepared: Callable[[StepGrid, Guide], _Steps]
    ) -> Generator[float, None, Swing | None]:
        """The motion from a state on."""
        first = self._motion.times[0]
        times, states = [self._motion.times[:1]], [begin[None]]
        for intervals, grid in self._grids(last):
            stepped = prepared(grid, self._guided(intervals, grid))
            for row, interval in enumerate(intervals):
                springs = partial(self._springs, interval=interval) if self._springs_move(interval) else None
                found = stepped(row, states[-1][-1], springs)
                if found is None:
                    return None
                times.append(found[0])
                states.append(found[1])
                yield float((found[0][-1] - first) / (last - first))
        return Swing(np.concatenate(times), *self._model.joints(np.concatenate(states)))

    def _grids(self, last: float) -> Iterator[tuple[NDArray[np.int_], StepGrid]]:
        """Numbers (k,) of intervals up to `last` [s] and the longest steps in them, in portions that fit into memory;
        long intervals are several."""
        times = np.append(self._motion.times, last)
        lengths = np.diff(times)
        chosen = np.flatnonzero(lengths > _NO_TIME)
        pieces = np.ceil(lengths[chosen] / _LONG).astype(int)
        parts = StepGrid(times[chosen], lengths[chosen] / pieces, pieces)
        number, begins = parts.begun()
        length = parts.lengths[number]
        counts = np.maximum(np.ceil(length / extrapolation.LONGEST - 1e-9).astype(int), extrapolation.FEWEST)
        portion = np.cumsum(length) // _LONG
        for rows in (np.flatnonzero(portion == one) for one in np.unique(portion)):
            yield chosen[number[rows]], StepGrid(begins[rows], length[rows] / counts[rows], counts[rows])

    def _explicit(
        self, guide: Guide, longest: float, row: int, begin: Array, springs: Springs | None
    ) -> tuple[Array, Array] | None:
        """Times (s,) and states (s, 1 + nq + nv) after `begin` in an interval, in steps of `longest` seconds or shorter
        ones; None if they would be too short."""
        length = float(guide.grid.lengths[row] * guide.grid.counts[row])
        steps = max(1, int(np.ceil(length / longest - 1e-9)))
        times = guide.grid.begins[row] + length / steps * np.arange(steps + 1)
        return self._shortened(guide, row, times, begin, springs)

    def _shortened(
        self, guide: Guide, row: int, times: Array, begin: Array, springs: Springs | None
    ) -> tuple[Array, Array] | None:
        """As `_explicit`, in steps between times (s + 1,), or shorter ones where the motion is fast."""
        model, h = self._model, float(times[1] - times[0])
        if h < SHORTEST:
            return None
        coordinates, speeds = guide.at(np.full(len(times), row), times)
        held = None if springs is None else springs(0.5 * (times[:-1] + times[1:]))
        model.explicit(h)
        driven = begin.copy()
        model.drive(driven, coordinates[0], speeds[0])
        found = model.stepped(driven, model.torques(speeds, h), held)
        if model.diverged(found) or model.fastest(found) * h > _TURN:
            half = np.interp(np.arange(2 * len(times) - 1) / 2.0, np.arange(len(times)), times)
            return self._shortened(guide, row, half, begin, springs)
        return times[1:], found

    def _extrapolated(self, grid: StepGrid, guide: Guide, *, careful: bool) -> _Steps:
        return Extrapolation(self._model, grid, guide, careful=careful).run

    def _first(self) -> Array:
        """The coordinates of what is driven at first."""
        times = self._motion.times[:1]
        places, turns = self._driven(times, np.zeros(1, dtype=int))
        return np.concatenate((places.ravel(), turns.ravel()))

    def _guided(self, intervals: NDArray[np.int_], grid: StepGrid) -> Guide:
        """What is driven in these intervals."""
        samples = grid.divided(_SAMPLES)
        interval, times = samples.samples()
        return Guide.through(samples, *self._driven(times, intervals[interval]))

    def _driven(self, times: Array, intervals: NDArray[np.int_]) -> tuple[Array, Array]:
        """Places (s, b, 3) of bases, and rotations (s, b + d, 4) of bases and driven joints, at times (s,)."""
        poses = self._guide.poses(times, intervals)
        place, turn = np.zeros((len(times), 3)), np.tile(rotation.IDENTITY, (len(times), 1))
        if self._root is not None:
            place, turn = self._root.at(times)
        places, turns = [], []
        for carrier in self._model.carriers:
            chain = self._body.chain(carrier) if carrier >= 0 else []
            turned = rotation.accumulate(turn, poses[:, np.searchsorted(self._guiding, chain)])
            moved = rotation.rotate(turned[:, :-1], np.asarray(self._body.offsets)[chain])
            places.append(place + moved.sum(axis=1))
            turns.append(turned[:, -1])
        turns += [poses[:, index] for index in np.searchsorted(self._guiding, self._model.driven)]
        return (
            np.stack(places, axis=1) if places else np.zeros((len(times), 0, 3)),
            np.stack(turns, axis=1) if turns else np.zeros((len(times), 0, 4)),
        )

    def _springs_move(self, interval: int) -> bool:
        """Whether springs return to a moving pose in an interval; sets the pose otherwise."""
        if not np.any(self._sprung):
            return False
        start = self._motion.times[interval]
        ends = start + np.array([0.0, 0.4, 1.0]) * min(self._motion.lengths[interval], 1.0)
        poses = self._motion.poses(ends, np.full(3, interval))[:, self._sprung]
        moves = bool(np.any(rotation.distance(poses[0], poses[1:]) > 1e-9))
        if not moves:
            self._model.set_springs(self._springs(ends[:1], interval)[0])
        return moves

    def _springs(self, times: Array, interval: int) -> Array:
        """Coordinates (s, nq) to which springs return at times (s,) in an interval."""
        return self._model.spring_poses(self._motion.poses(times, np.full(len(times), interval)))
