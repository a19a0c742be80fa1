"""Joints that are too weak for the law, and nothing else disturbs them: few long steps of high order."""

from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..curves import smooth_step
from ..rotation import Array
from .body import Body
from .engine import Engine
from .law import Motion
from .multistep import Grid, Multistep, too_fast
from .muscles import Muscles
from .root_path import RootPath
from .samples import Deviation, LimitedSamples
from .simulation import Disturbances
from .variable_steps import Steps, derivatives

_OVER = 1e-9
"""Fraction of a torque limit by which rounding may exceed it."""
_DIVERGED = 1e8
"""Sum of squares of all velocities [rad^2/s^2] of a motion that has no meaning."""
_FEWEST = 4
"""Number of steps in which a correction's torques show."""
_ROUNDS = 4
"""How often joints are taken out of the correction because their torques do not suffice for it."""


class _TooFast(Exception):
    """A joint moves so fast that its speed has to be limited."""


class WeakSimulation(Multistep):
    """The motion of a body through the keys of a motion if its torques are limited."""

    # Joints become too weak, or strong enough again, at any time, and there long steps are not accurate.
    order, part, relaxed, longest, accuracy = 3, 0.18, np.inf, 1.0 / 60.0, 0.05

    def __init__(self, body: Body, motion: Motion, gravity: Array, given: Disturbances, root: RootPath | None) -> None:
        engine = Engine(body, gravity, moving_root=root is not None)
        super().__init__(body, motion, gravity, engine, root)
        assert given.torque_limit is not None
        self._limit, self._free, order = given.torque_limit, given.free, engine.order
        self._found: list[tuple[Array, NDArray[np.bool_]]] = []
        roots = np.argmax(body.ancestors, axis=1)
        self._together = roots[:, None] == roots
        pose = motion.at(motion.times[:1])[0][0]
        engine.q[-len(order) :] = pose[order]
        driven = np.isfinite(self._limit).any(axis=1)
        self._muscles = Muscles(
            engine, self._limit[order], driven[order], np.zeros(len(order), dtype=bool), given.free[order]
        )

    def run(self, last: float) -> Generator[float, None, LimitedSamples | None]:
        """The intervals between all keys, and one after the last key up to `last` [s]; None if a joint moves so fast
        that its speed has to be limited. Yields the completed fraction."""
        start = self._motion.times[0]
        parts: list[LimitedSamples] = []
        place, speed = None, np.zeros(3 * len(self._order) + self._extra)
        for interval in self._intervals(last):
            part = self._undisturbed(interval) if place is None else None
            if part is None:
                try:
                    part, place, speed = self._disturbed(interval, place, speed)
                except _TooFast:
                    return None
            parts.append(part)
            yield float((part.times[-1] - start) / (last - start))
        return LimitedSamples.joined(parts)

    def _undisturbed(self, interval: int) -> LimitedSamples | None:
        """The interval if its torques suffice for the law."""
        grid = self._plan(interval).grid
        still = np.zeros(grid.accelerations.shape[1])
        self._start(grid, self._frequency(interval), grid.coordinates[0], still)
        if np.any(self._found[0][1]):
            return None
        nothing = np.zeros(grid.joints[1].shape)
        still = Deviation(rotation.identity(*nothing.shape[:2]), nothing, nothing)
        torques = self._torques(grid, still)
        if np.any(self._exceeded(torques)):
            return None
        left = np.linalg.norm(self._motion.left[interval], axis=-1)
        return LimitedSamples.of_interval(grid.times, still.relative, torques, left, still.spins)

    def _disturbed(self, interval: int, place: Array | None, speed: Array) -> tuple[LimitedSamples, Array, Array]:
        """The interval from a state on, coordinates (nq,) and the velocity (nv,) of the deviation, and that at its
        end."""
        grid, places, gaps = self._solved(interval, place, speed)
        apart, w, spin = self._turned(grid, places, gaps)
        if too_fast(w, spin):
            raise _TooFast
        own = w - rotation.rotate(rotation.inverse(apart), spin)
        torques, weak = np.empty(own.shape), np.empty(own.shape[:2], dtype=bool)
        torques[:, self._order] = np.stack([each[0] for each in self._found])[:, self._extra :].reshape(own.shape)
        weak[:, self._order] = np.stack([each[1] for each in self._found])
        left = np.zeros(len(self._order))
        end, speed = places[-1], gaps[-1]
        if interval < len(self._motion.times) - 1:
            left = rotation.angle(apart[-1])
            reached = self._corrected(grid, Deviation(apart, own, derivatives(own, grid.times)), torques, weak)
            if reached is not None:
                (apart, own, _), torques = reached
                end, speed = end.copy(), speed.copy()
                q = rotation.normalize(rotation.multiply(grid.joints[0][-1], apart[-1]))
                end[-q.size :] = q[self._order].ravel()
                w = rotation.rotate(rotation.inverse(apart[-1]), spin[-1]) + own[-1]
                speed[self._extra :] = (w - spin[-1])[self._order].ravel()
        return LimitedSamples.of_interval(grid.times, apart, torques, left, own), end, speed

    def _start(self, grid: Grid, frequency: Array, place: Array, speed: Array) -> Array:
        self._found = []
        law = grid.accelerations[0]
        pull = frequency * (frequency * self._engine.between(place, grid.coordinates[0]) - 2.0 * speed)
        return self._weakened(place, grid.velocities[0] + speed, law + pull) - law

    def _prepare(self, grid: Grid, steps: Steps, frequency: Array) -> None:
        slopes, ends = steps.slopes[:, None], steps.ends[:, None]
        self._slopes, self._strength = steps.slopes.tolist(), slopes * frequency**2
        self._part = 1.0 / (1.0 + slopes * frequency * (2.0 + frequency * ends))
        # Differences of the law's velocities: a joint too weak to follow has the errors of its own motion alone.
        self._spins = grid.velocities
        law = np.concatenate((grid.accelerations[:1], self._spins))
        before = [weights[1] @ law[first : step + 1] for step, (first, weights, _, _) in enumerate(steps.formulas, 1)]
        self._rising = self._spins[1:] - np.stack(before)
        self._rising[:, : self._extra] = slopes * grid.accelerations[1:, : self._extra]

    def _gap(self, step: int, near: Array, distance: Array, past: Array, ahead: Array) -> Array:
        row, slope = step - 1, self._slopes[step - 1]
        before = past - self._rising[row]
        wanted = (past + self._strength[row] * distance) * self._part[row] - before
        gap = before + slope * self._weakened(near, ahead + self._spins[step], wanted / slope)
        if not gap @ gap < _DIVERGED:
            raise _TooFast
        return gap

    def _weakened(self, place: Array, velocity: Array, wanted: Array) -> Array:
        """The accelerations (nv,) in a state, with those that the law requires."""
        engine = self._engine
        engine.put(place, velocity)
        engine.place()
        accelerations, torques, weak = self._muscles.weakened(wanted, engine.inverse(wanted), None)
        self._found.append((torques, weak))
        return accelerations

    def _corrected(
        self, grid: Grid, deviation: Deviation, torques: Array, weak: NDArray[np.bool_]
    ) -> tuple[Deviation, Array] | None:
        """The interval led to its key by a quintic, from where the torques suffice again, and its torques, if they
        suffice for that too."""
        error = rotation.log(deviation.relative[-1])
        since = np.where(weak.any(axis=0), len(weak) - np.argmax(weak[::-1], axis=0), 0)
        weak_at_end = since > len(weak) - 1 - _FEWEST
        # The quintic accelerates to both sides: a weak joint of the same tree would need more than its limit for one.
        reached = np.any(error, axis=-1) & ~(self._together @ weak_at_end)
        if not np.any(reached):
            return None
        begin = grid.times[np.minimum(since, len(weak) - 2)][:, None]
        length = grid.times[-1] - begin
        share = np.clip((grid.times[:, None, None] - begin) / length, 0.0, 1.0)
        bends = [-part * error / length**order for order, part in enumerate(smooth_step(share))]
        # Only the changes of the torques are those of derivatives of the samples.
        rest = torques - self._torques(grid, deviation)
        for _ in range(_ROUNDS):
            led = deviation.turned(*(bend * reached[:, None] for bend in bends))
            needed = rest + self._torques(grid, led)
            over = self._exceeded(needed)
            if not np.any(over):
                return led, needed
            if not np.any(reached & over):
                return None
            reached &= ~over
            if not np.any(reached):
                return None
        return None

    def _exceeded(self, torques: Array) -> NDArray[np.bool_]:
        """The joints (n,) whose limits torques (s, n, 3) exceed."""
        acting = torques * self._free
        size = np.linalg.norm(acting, axis=-1, keepdims=True) if self._limit.shape[1] == 1 else np.abs(acting)
        return np.any(size > self._limit * (1.0 + _OVER), axis=(0, 2))
