"""Passive joints behind driven ones that move by the law exactly: the engine steps them by itself.

Only the passive joints and what is behind them are in its model. The method is the fourth-order Runge-Kutta method,
with steps short enough for springs, friction and speeds. Where friction or springs are so stiff that this would take
many steps, they are implicit in the step, and the results are extrapolated.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..rotation import Array
from .body import Body
from .extrapolation import Extrapolation
from .law import Motion
from .loose_model import Guide, Loose, LooseModel
from .root_path import RootPath

LONGEST, SHORTEST = 1.0 / 120.0, 1.0 / 960.0
"""Longest and shortest step [s]."""
IMPLICIT = 1.0 / 120.0
"""Longest of the steps [s] with implicit friction and springs."""
_AT_STOPS = 1.0 / 240.0
"""Longest step [s] if a joint has stops."""
_STIFF = 1.0
"""Largest product of the step with the fastest rate of springs and friction."""
_TURN = 0.2
"""Largest rotation [rad] of a joint in one step."""
_NO_TIME = 1e-9
"""Length [s] of an interval that is rounding."""


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
        begin = self._model.begin(self._spin, self._guided(self._motion.times[:1], 0))
        h, rate = self._longest, self._model.rate()
        while h * rate > _STIFF and h >= SHORTEST:
            h *= 0.5
        found = None
        if h >= SHORTEST:
            found = yield from self._through(begin, h, last, self._explicit)
        for careful in (False, True):
            if found is None:
                step = self._extrapolated(careful=careful)
                found = yield from self._through(begin, IMPLICIT, last, step)
        return found

    def _through(
        self,
        begin: Array,
        longest: float,
        last: float,
        stepped: Callable[[int, Array, Array], tuple[Array, Array] | None],
    ) -> Generator[float, None, Swing | None]:
        """The motion from a state on in steps of `longest` seconds, or shorter where the motion is fast."""
        times = np.append(self._motion.times, last)
        grid, states = [times[:1]], [begin[None]]
        for interval in range(len(times) - 1):
            length = times[interval + 1] - times[interval]
            if length <= _NO_TIME:
                continue
            steps = max(1, int(np.ceil(length / longest - 1e-9)))
            found = stepped(interval, times[interval] + length / steps * np.arange(steps + 1), states[-1][-1])
            if found is None:
                return None
            grid.append(found[0])
            states.append(found[1])
            yield float((times[interval + 1] - times[0]) / (last - times[0]))
        found = np.concatenate(states)
        return Swing(np.concatenate(grid), *self._model.joints(found))

    def _explicit(self, interval: int, times: Array, begin: Array) -> tuple[Array, Array] | None:
        """Times (s,) and states (s, 1 + nq + nv) after `begin` of steps between `times`, or shorter ones; None if they
        would be too short."""
        model, h = self._model, float(times[1] - times[0])
        if h < SHORTEST:
            return None
        guide = self._guided(times, interval)
        ends = tuple(_at_ends(means) for means in guide.rates(h))
        torques = model.torques(tuple(v[:-1] for v in ends), tuple(v[1:] for v in ends), h)
        springs = None
        if self._springs_move(interval):
            springs, pulls = model.pulls(self._springs(0.5 * (times[:-1] + times[1:]), interval))
            torques += pulls
        model.explicit(h)
        found = model.stepped(model.drive(begin, guide, ends, 0), torques, springs)
        if model.diverged(found) or model.fastest(found) * h > _TURN:
            half = np.interp(np.arange(2 * len(times) - 1) / 2.0, np.arange(len(times)), times)
            return self._explicit(interval, half, begin)
        return times[1:], found

    def _extrapolated(self, *, careful: bool) -> Callable[[int, Array, Array], tuple[Array, Array] | None]:
        def steps(interval: int, times: Array, begin: Array) -> tuple[Array, Array] | None:
            guided = partial(self._guided, interval=interval)
            springs = partial(self._springs, interval=interval) if self._springs_move(interval) else None
            return Extrapolation(self._model, times, guided, springs, shortest=SHORTEST, careful=careful).run(begin)

        return steps

    def _guided(self, times: Array, interval: int) -> Guide:
        """What is driven at times (s,) in an interval."""
        poses = self._guide.poses(times, np.full(len(times), interval))
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
        return Guide(
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


def _at_ends(middle: Array) -> Array:
    """Values (s + 1, ...) at the ends of steps from those (s, ...) in their middle."""
    if len(middle) == 1:
        return np.concatenate((middle, middle))
    inner = 0.5 * (middle[:-1] + middle[1:])
    return np.concatenate((1.5 * middle[:1] - 0.5 * middle[1:2], inner, 1.5 * middle[-1:] - 0.5 * middle[-2:-1]))
