"""Followed offsets over a timeline: goals in pieces between events, and the release to exactly nothing.

Coordinates are deviations from rest: a rotation vector ("geodesic") or the four quaternion components less identity
("component"). Either way rest is zero, the controller is linear, and a piece of motion is one recurrence.
"""

from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np

from .. import checks, rotation
from ..curves import CATMULL_ROM, beyond, cubic_step
from ..errors import InvalidArgument
from ..rotation import Array
from .integrators import INTEGRATORS, check_integrator, make_step, step_limit
from .recurrences import filtered, recurrence, undriven
from .second_order import CLAMPED_STEP, Step, apply, check_tuning, free_decay, stable_substeps, substeps

_CHUNK = 240
"""Steps of a release that are looked at together for the first calm one."""
_INSTANT = 1e-9
"""Times closer than this [s] are one instant."""


@dataclass(frozen=True)
class Tuning:
    """How a look-at moves. Times in seconds, angles in radians.

    Release: when every bone of a look-at that is off is nearer than release_angle and slower than release_speed
    [rad/s], the rest fades to exactly zero within release_time.
    """

    settle_time: float = 0.6
    """Nominal time in which the aiming bone settles."""
    damping_ratio: float = 1.0
    integrator: str = "exact"
    method: str = "geodesic"
    max_speed: float = 0.0
    """Bound on each bone's angular speed [rad/s], 0 for none. feed_forward in [0, 1]."""
    feed_forward: float = 0.0
    release_angle: float = np.radians(0.5)
    release_speed: float = np.radians(2.0)
    release_time: float = 0.2

    def __post_init__(self) -> None:
        check_tuning(self.settle_time, self.damping_ratio)
        check_integrator(self.integrator)
        checks.check_method(self.method, ("geodesic", "component"))
        for name in ("settle_time", "damping_ratio", "max_speed", "release_angle", "release_speed", "release_time"):
            called = "speed limit" if name == "max_speed" else name.replace("_", " ")
            object.__setattr__(self, name, checks.number(called, getattr(self, name), 0.0))
        object.__setattr__(self, "feed_forward", checks.fraction("feed-forward", self.feed_forward))
        if not (self.release_angle > 0.0 and self.release_speed > 0.0):
            raise InvalidArgument(
                "The release angle and the release speed must be above 0, and the release time 0 or more."
            )

    @property
    def is_exact(self) -> bool:
        """Whether a step of any length is right."""
        return INTEGRATORS[self.integrator].is_exact

    @property
    def width(self) -> int:
        """How many coordinates a rotation has."""
        return 3 if self.method == "geodesic" else 4

    @property
    def radians(self) -> float:
        """Rotation angle per unit of deviation near rest: quaternion components move by half the angle."""
        return 1.0 if self.method == "geodesic" else 2.0

    def radians_per_unit(self, deviations: Array) -> Array:
        """The most that rotations at `deviations` (..., width) turn per unit of movement, (..., 1).

        Between rotations, components run inside the unit sphere, where they turn faster.
        """
        if self.method == "geodesic":
            return np.ones_like(deviations[..., :1])
        return 2.0 / np.clip(np.linalg.norm(deviations + rotation.IDENTITY, axis=-1, keepdims=True), 0.01, 1.0)

    def encode(self, vectors: Array) -> Array:
        """Rotation vectors (..., 3) to deviations (..., width)."""
        return vectors if self.method == "geodesic" else rotation.exp(vectors) - rotation.IDENTITY

    def decode(self, deviations: Array) -> Array:
        """Deviations (..., width) to quaternions (..., 4); zero gives identity exactly."""
        if self.method == "geodesic":
            return rotation.exp(deviations)
        return rotation.normalize(deviations + rotation.IDENTITY)


def cubic_coefficients(goals: Array, dt: float) -> Array:
    """Goals (n, ...) sampled every dt seconds to smooth polynomials (n - 1, ..., 4), one an interval.

    Interpolating with slopes (Catmull-Rom) rather than straight lines is what makes 24 samples a second give the
    motion that 120 give.
    """
    if len(goals) < 3:
        slope = np.diff(goals, axis=0) / dt
        return np.stack((goals[:-1], slope, np.zeros_like(slope), np.zeros_like(slope)), axis=-1)
    slopes = np.empty_like(goals)
    slopes[1:-1] = (goals[2:] - goals[:-2]) / (2.0 * dt)
    slopes[0] = (4.0 * goals[1] - 3.0 * goals[0] - goals[2]) / (2.0 * dt)
    slopes[-1] = (3.0 * goals[-1] - 4.0 * goals[-2] + goals[-3]) / (2.0 * dt)
    rise, a, b = np.diff(goals, axis=0), slopes[:-1] * dt, slopes[1:] * dt
    return np.stack((goals[:-1], slopes[:-1], (3 * rise - 2 * a - b) / dt**2, (a + b - 2 * rise) / dt**3), axis=-1)


def _with_ends(goals: Array) -> Array:
    """Goals (n, b, width), n > 1, as (b, width, n + 2): beyond either end the sample that gives the slope there."""
    result = np.empty((*goals.shape[1:], len(goals) + 2))
    result[..., 1:-1] = goals.transpose(1, 2, 0)
    result[..., 0], result[..., -1] = beyond(goals), beyond(goals[::-1])
    return result


def _moved(coefficients: Array, time: float) -> Array:
    """The same cubics with their origin moved to `time`."""
    c0, c1, c2, c3 = np.moveaxis(coefficients, -1, 0)
    value = c0 + time * (c1 + time * (c2 + time * c3))
    return np.stack((value, c1 + time * (2 * c2 + 3 * time * c3), c2 + 3 * time * c3, c3), axis=-1)


@lru_cache(maxsize=64)
def _cached_step(
    length: float, settle_times: tuple[float, ...], damping_ratio: float, integrator: str, feed_forward: float
) -> Step:
    """A step of b bones, (b, 1, 2, 2) and (b, 1, 2, 4), or 8 with the goals' velocities that are fed forward.

    Bones are solved again and again with the same tuning.
    """
    count = 1
    if not INTEGRATORS[integrator].is_exact:
        count = stable_substeps(length, min(step_limit(s, damping_ratio, integrator) for s in settle_times))
    plain, *ahead = (
        make_step(
            length,
            np.array(settle_times)[:, None],
            damping_ratio,
            integrator,
            degree=3,
            feed_forward=share,
            count=count,
        )
        for share in sorted({0.0, feed_forward})
    )
    if not ahead:
        return plain
    return Step(plain.transition, np.concatenate((plain.response, ahead[0].response - plain.response), axis=-1))


@lru_cache(maxsize=16)
def _decay(settle_times: tuple[float, ...], damping_ratio: float, first: int) -> Array:
    """Free motion of b bones over _CHUNK steps of CLAMPED_STEP from number `first` on: (b, 2, 2 _CHUNK).

    A state (width, 2) is multiplied with it from the left; the coordinates stand before the steps.
    """
    omega = 2.0 * np.pi / np.array(settle_times)[:, None]
    decay = free_decay(CLAMPED_STEP * (first + np.arange(_CHUNK)), omega, damping_ratio)
    return decay.transpose(0, 3, 2, 1).reshape(len(settle_times), 2, -1)


class Follower:
    """The controllers of b bones: their state over pieces of the timeline.

    settle_times: (b,) [s]. dt: seconds between samples. A state is (b, width, 2): deviation and its rate.
    """

    def __init__(self, tuning: Tuning, settle_times: Array, dt: float) -> None:
        self.tuning, self.dt = tuning, dt
        self.settle_times = np.asarray(settle_times, dtype=float)
        self._full = self._step(dt) if not tuning.max_speed else None

    def part(self, bones: slice) -> "Follower":
        """The controllers of some of the bones."""
        some = copy(self)
        some.settle_times = self.settle_times[bones]
        if self._full is not None:
            some._full = Step(self._full.transition[bones], self._full.response[bones])
        return some

    @property
    def lag(self) -> Array:
        """(b,) how far behind [s] a steadily moving goal the bones follow."""
        t = self.tuning
        return (1.0 - t.feed_forward) * t.damping_ratio * self.settle_times / np.pi

    @property
    def rest(self) -> Array:
        return np.zeros((len(self.settle_times), self.tuning.width, 2))

    def _step(self, length: float) -> Step:
        t = self.tuning
        return _cached_step(length, tuple(self.settle_times.tolist()), t.damping_ratio, t.integrator, t.feed_forward)

    def _drive(self, coefficients: Array) -> Array:
        """What drives a step, of goals given as cubics (..., b, width, 4): they, and what is fed forward of them.

        A goal that leaps, because the target passes a pole or the head itself, is fed forward no faster than by a
        radian in 1 / omega, so that it does not ask for more than a jump of the goal does.
        """
        if not self.tuning.feed_forward:
            return coefficients
        _, begin, c2, c3 = np.moveaxis(coefficients, -1, 0)
        middle, end = (begin + t * (2.0 * c2 + 3.0 * t * c3) for t in (0.5 * self.dt, self.dt))
        speed = self.tuning.radians * np.linalg.norm((begin, middle, end), axis=-1).max(axis=0)
        bound = 2.0 * np.pi / self.settle_times
        share = np.minimum(1.0, bound / np.maximum(speed, 1e-300))[..., None, None]
        return np.concatenate((coefficients, share * coefficients), axis=-1)

    def _advance(self, state: Array, coefficients: Array, length: float, carried: tuple[Array, Array]) -> Array:
        """State (b, width, 2) after `length` seconds of goals given as cubics (b, width, 4).

        carried: states (b, width, 2) at the start and at the end, as for `run`.
        """
        if length < _INSTANT:
            return state
        if self._full is not None:
            step = self._full if abs(length - self.dt) < _INSTANT else self._step(length)
            return step(state, self._drive(coefficients))
        count = substeps(length, CLAMPED_STEP)
        h = length / count
        step = self._step(h)
        for n in range(count):
            moved = step(state, self._drive(_moved(coefficients, n * h)))
            along = carried[0] + (n + 1) / count * (carried[1] - carried[0])
            bound = self.tuning.max_speed / self.tuning.radians_per_unit(state[..., 0] + along[..., 0])
            free = moved[..., 1] + along[..., 1]
            speed = np.linalg.norm(free, axis=-1, keepdims=True)
            rate = free * np.minimum(1.0, bound / np.maximum(speed, 1e-300)) - along[..., 1]
            value = np.where(speed > bound, state[..., 0] + h * rate, moved[..., 0])
            state = np.stack((value, rate), axis=-1)
        return state

    def _run_clamped(self, goals: Array, state: Array, first: int, carried: Array) -> Array:
        """As `_run_free`, with the speed clamped; carried: as for `run`."""
        coefficients = cubic_coefficients(goals, self.dt)[first:]
        count = substeps(self.dt, CLAMPED_STEP)
        h = self.dt / count
        step = self._step(h)
        # All that depends on the goals alone is reckoned at once; only the clamp needs one step after another.
        fine = np.stack([_moved(coefficients, n * h) for n in range(count)], axis=1)
        inputs = apply(step.response, self._drive(fine))
        xx, xv, vx, vv = (step.transition[..., i, j] for i in (0, 1) for j in (0, 1))
        x, v = state[..., 0], state[..., 1]
        states = [state]
        for k, inside in enumerate(inputs, first):
            for n, from_goal in enumerate(inside, 1):
                along = carried[k] + n / count * (carried[k + 1] - carried[k])
                bound = self.tuning.max_speed / self.tuning.radians_per_unit(x + along[..., 0])
                free = vx * x + vv * v + from_goal[..., 1] + along[..., 1]
                speed = np.sqrt(np.einsum("...i,...i->...", free, free))[..., None]
                if (speed > bound).any():
                    rate = free * np.minimum(1.0, bound / np.maximum(speed, 1e-300)) - along[..., 1]
                    x = np.where(speed > bound, x + h * rate, xx * x + xv * v + from_goal[..., 0])
                    v = rate
                else:
                    x, v = xx * x + xv * v + from_goal[..., 0], free - along[..., 1]
            states.append(np.stack((x, v), axis=-1))
        return np.stack(states)

    def run(
        self, goals: Array, start: float, end: float, state: Array, carried: Array | None = None
    ) -> tuple[Array, Array]:
        """Follow goals (n, b, width), the first sample being time 0, from `state` at `start` (in the first interval).

        carried: (n, b, width, 2) what is to be added to the result; the speed limit is one of both together.

        Returns the states at the n samples (n, b, width, 2), of which those before `start` only repeat `state`, and
        the state at `end` (in the last interval, or at its end).
        """
        if len(goals) == 1:
            return state[None].copy(), state
        if carried is None:
            carried = np.broadcast_to(np.zeros_like(state), (len(goals), *state.shape))
        if start < _INSTANT and self._full is not None:
            states = self._run_free(goals, state, 0)
        else:
            first = cubic_coefficients(goals[:3], self.dt)[0]
            begun = self._advance(state, _moved(first, start), self.dt - start, (carried[0], carried[1]))
            free = self._full is not None
            run = self._run_free(goals, begun, 1) if free else self._run_clamped(goals, begun, 1, carried)
            states = np.concatenate((state[None], run))
        last = len(goals) - 2
        if self.dt * (last + 1) - end < _INSTANT:
            return states, states[-1]
        begin = start if last == 0 else self.dt * last
        base = state if last == 0 else states[last]
        piece = _moved(cubic_coefficients(goals[-3:], self.dt)[-1], begin - self.dt * last)
        return states, self._advance(base, piece, end - begin, (carried[last], carried[last + 1]))

    def _run_free(self, goals: Array, state: Array, first: int) -> Array:
        """States (n - first, b, width, 2) at goals (n, b, width), from `state` at number `first` on, without clamps."""
        assert self._full is not None
        if not goals.any():
            return undriven(self._full.transition[:, 0], len(goals) - 1 - first, state)
        if self.tuning.feed_forward:
            coefficients = self._drive(cubic_coefficients(goals, self.dt)[first:])
            return recurrence(self._full.transition, apply(self._full.response, coefficients), state)
        taps = (self._full.response / self.dt ** np.arange(4))[:, 0] @ CATMULL_ROM
        return filtered(self._full.transition[:, 0], taps, _with_ends(goals)[..., first:], state)

    def release(self, samples: int, start: float, end: float, state: Array) -> tuple[Array, Array]:
        """As `run` with the goal at rest: once everything is settled, the remainder fades to exactly zero."""
        if not np.any(state):
            return np.zeros((samples, *state.shape)), state
        states, last = self.run(np.zeros((samples, *state.shape[:-1])), start, end, state)
        settled = self._settled_at(states, start, end, state)
        faded = self._faded(last[None], np.array([end]), settled)[0]
        times = self.dt * np.arange(samples)
        fading = slice(int(np.searchsorted(times, settled)), None)
        states[fading] = self._faded(states[fading], times[fading], settled)
        return states, faded

    def _settled_at(self, states: Array, start: float, end: float, state: Array) -> float:
        """When the free motion is first within the release thresholds; infinite if not before `end`."""
        if self._full is not None and self.tuning.is_exact:
            return self._calm_from(start, end, state)
        later = self.dt * np.arange(len(states)) >= start - _INSTANT
        calm = np.flatnonzero(self._is_calm(states.transpose(1, 3, 2, 0)) & later)
        if not len(calm):
            return np.inf
        first = self.dt * calm[0]
        if not self.tuning.is_exact or calm[0] == 0 or not later[calm[0] - 1]:
            return first
        # So near to calm nothing is clamped any more: the frame rate must not decide when the fade begins.
        return min(self._calm_from(first - self.dt, first, states[calm[0] - 1]), first)

    def _calm_from(self, start: float, end: float, state: Array) -> float:
        """When the unclamped motion from `state` at `start` is calm, to 1/240 s; infinite if not by `end`."""
        settle_times = tuple(self.settle_times.tolist())
        for first in range(0, ceil((end - start) / CLAMPED_STEP) + 1, _CHUNK):
            decay = _decay(settle_times, self.tuning.damping_ratio, first)
            calm = np.flatnonzero(self._is_calm((state @ decay).reshape(*state.shape, _CHUNK).swapaxes(1, 2)))
            if len(calm):
                return float(start + CLAMPED_STEP * (first + calm[0]))
        return np.inf

    def _is_calm(self, states: Array) -> Array:
        """Of states (b, 2, width, n), coordinates before the components of a rotation: (n,)."""
        t = self.tuning
        size, speed = t.radians * np.sqrt(np.einsum("bcwn,bcwn->bcn", states, states).max(axis=0))
        slow = min(t.release_speed, 0.5 * t.max_speed) if t.max_speed else t.release_speed
        return (size < t.release_angle) & (speed < slow)

    def _faded(self, states: Array, times: Array, settled: float) -> Array:
        """`states` blended into rest from `settled` on; the weight starts and ends level: velocity is continuous."""
        duration = self._fade_time()
        left = np.clip(1.0 - (times - settled) / duration, 0.0, 1.0)[:, None, None]
        weight, falling = cubic_step(left), 6.0 * left * (1.0 - left) / duration
        x, v = states[..., 0], states[..., 1]
        result = np.empty_like(states)
        result[..., 0], result[..., 1] = weight * x, weight * v - falling * x
        return result

    def _fade_time(self) -> float:
        """The release time, or longer where fading a release angle in it would take more than half the speed limit."""
        t = self.tuning
        return max(t.release_time, 3.0 * t.release_angle / t.max_speed if t.max_speed else 0.0, 1e-12)
