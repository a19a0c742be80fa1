"""The motion of a body through the keys of a motion if its torques are those for another one."""

from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..curves import late_slope, smooth_step
from ..rotation import Array
from .body import Body
from .law import Motion, rates
from .multistep import Grid, Multistep, too_fast
from .reference import Reference
from .root_path import RootPath
from .samples import Deviation, SmoothSamples
from .simulation import Disturbances
from .variable_steps import Steps, derivatives


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

    def run(self, last: float) -> Generator[float, None, SmoothSamples | None]:
        """The intervals between all keys, and one after the last key up to `last` [s]; None if a joint moves so fast
        that its speed has to be limited. Yields the completed fraction."""
        start = self._motion.times[0]
        speed = np.zeros(3 * len(self._order) + self._extra)
        found = []
        for interval in self._intervals(last):
            grid, places, gaps = self._solved(interval, None, speed)
            found.append((grid, places, gaps))
            if interval < len(self._motion.times) - 1:
                speed = self._speed(grid.rows([-1]), places[-1], gaps[-1])
            yield float((grid.times[-1] - start) / (last - start))
        grids, *parts = zip(*found, strict=True)
        places, gaps = (np.concatenate(part) for part in parts)
        return self._samples(Grid.joined(grids), np.array([len(grid.times) for grid in grids]), places, gaps)

    def _prepare(self, grid: Grid, steps: Steps, frequency: Array) -> None:
        slopes, ends = steps.slopes[:, None], steps.ends[:, None]
        firm = slopes * frequency * (2.0 + frequency * ends)
        self._rising = slopes * grid.accelerations[1:]
        # What the accelerations of the law and the distance to it ask for.
        self._rise, self._pull = self._rising / firm, slopes * frequency**2 / firm
        self._firm = self._reference.factors(firm)

    def _start(self, grid: Grid, frequency: Array, place: Array, speed: Array) -> Array:
        rising = grid.accelerations[0]
        pull = frequency * (frequency * self._engine.between(place, grid.coordinates[0]) - 2.0 * speed)
        return self._reference.difference(place, rising + pull, rising)

    def _gap(self, step: int, near: Array, distance: Array, past: Array, ahead: Array) -> Array:
        row = step - 1
        wanted = self._pull[row] * distance
        wanted += self._rise[row]
        return self._reference.gap(near, wanted, self._rising[row] - past, self._firm[row])

    def _speed(self, grid: Grid, place: Array, gap: Array) -> Array:
        """The velocity (nv,) of the deviation at a key, of which the grid is, after its correction."""
        speed = np.zeros(len(gap))
        if not self._keeps_speed:
            apart, w, spin = self._turned(grid, place[None], gap[None])
            speed[self._extra :] = (rotation.rotate(apart, w) - spin)[0, self._order].ravel()
        return speed

    def _samples(self, grid: Grid, counts: NDArray[np.int_], places: Array, gaps: Array) -> SmoothSamples | None:
        """The intervals with so many rows of the grid, corrected and with their torques; None if joints are too
        fast."""
        apart, w, spin = self._turned(grid, places, gaps)
        if too_fast(w, spin):
            return None
        lasts = np.cumsum(counts) - 1
        firsts = lasts + 1 - counts
        own = w - rotation.rotate(rotation.inverse(apart), spin)
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
        found = Deviation(apart, own, derivatives(own, grid.times, lasts)).turned(*bends)
        left = np.linalg.norm(error, axis=-1)
        return SmoothSamples(grid.times, found.relative, self._torques(grid, found), left, lasts, found.spins)
