"""Reaching with the least change of torque, by minimizing it: Gauss-Newton on splines of the joint angles."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from .. import rotation
from ..rotation import Array
from . import effort
from .arm import Arm
from .derivatives import differentiated
from .obstacles import Clearance
from .paths import drift
from .reach_axes import joint_axes
from .rotation_rates import spinning
from .smoothing import fitted

_DEGREE = 5
_SPANS = 8
"""Number of polynomial segments of the curve of a joint."""
_NUDGE = 1e-6
"""Step [rad] of the finite differences."""
_CONVERGED, _RECENT = 5e-4, 4
"""The search ends when so many iterations together gain less than this fraction of the cost, by default."""
_DAMPING = 1e-2
"""Damping of the first step: the fraction by which the diagonal of the system is increased."""
_MORE_DAMPING, _MOST_TRIES = 5.0, 8
"""Factor of the damping after a step that gains nothing, and how many are tried."""
_FIXED = 1e-8
"""Distance from the fixed positions that counts as none, as a fraction of the arm's length."""
_WALL = 30.0
"""Weight of a radian beyond the limits of a joint, relative to all changes of torque."""
_PROBED, _KEPT = 1.0, 1e-9
"""Angle [rad] by which joints turn to see whether a lock holds, and what it may be off."""
_HARD = 3.0
"""Weight of a depth of one length of the arm within an obstacle, relative to a radian beyond a limit."""


@dataclass(frozen=True)
class ApproachLine:
    """Lines along which k hands come to their goals: from sample `first` on through places (N + 1, 3 k), in directions
    (k, 3)."""

    first: int
    places: Array
    directions: Array

    def beside(self, points: Array) -> Array:
        """How far (..., N + 1, 3 k) points are beside the lines."""
        away = (points - self.places).reshape(*points.shape[:-1], -1, 3)
        away = away - rotation.dot(away, self.directions)[..., None] * self.directions
        away[..., : self.first, :, :] = 0.0
        return away.reshape(points.shape)


def optimized(
    arm: Arm,
    motion: Array,
    h: float,
    fixed: list[tuple[int, Array]],
    passes: int,
    clearance: Clearance | None = None,
    kept: Sequence[int] = (),
    line: ApproachLine | None = None,
    stops: Sequence[tuple[int, int]] = (),
    spans: int = _SPANS,
    converged: float = _CONVERGED,
) -> Generator[tuple[Array, float], bool | None, None]:
    """Motion (N + 1, a, 4) and cost of each iteration, which never rises as long as obstacles and line are kept;
    arguments as for `smoothing.smoothed`.

    clearance: from obstacles that the arm goes around. kept: samples whose poses are kept. The motion must have the
    velocities of the arm at its ends; the last pose must be kept if the arm moves afterwards or has an orientation.
    line: on which the hand arrives. stops: samples and numbers of moving joints that keep the speed that they have in
    the motion there. spans: number of polynomial segments. converged: fraction of the cost that the last iterations
    must gain for the search to go on.
    """
    basis = _basis(len(motion), spans)
    problem = _Problem(arm, h, basis, fixed, motion, clearance, kept, line, stops)
    numbers = problem.restored(problem.first)
    cost, damping = problem.cost(numbers), _DAMPING
    best = problem.allowed(numbers)
    yield best
    recent = [cost]
    for _ in range(passes - 1):
        values, slopes = problem.linear(numbers)
        places, constraints = problem.constraints(numbers)
        tries = 0
        while tries < _MOST_TRIES:
            step = _step(values, slopes, places, constraints, damping)
            tried = problem.restored(_moved(numbers, step))
            gained = cost - problem.cost(tried)
            if gained > 0.0:
                # The sum that is minimized differs a little from the integral that is the cost.
                allowed = problem.allowed(tried)
                if allowed[1] < best[1] or not (problem.is_kept(numbers) and problem.is_kept(tried)):
                    break
                if gained < converged * cost:
                    return
            tries, damping = tries + 1, _MORE_DAMPING * damping
        else:
            return
        predicted = cost - 0.5 * float(np.sum((values + slopes @ step) ** 2))
        damping = max(_damping_factor(gained / max(predicted, 1e-300), tries) * damping, 1e-12)
        numbers, cost = tried, cost - gained
        if clearance is not None or line is not None or not allowed[1] > best[1]:
            best = allowed
        yield best
        recent = [*recent[-_RECENT:], cost]
        if len(recent) > _RECENT and recent[0] - cost < converged * cost:
            return


def _damping_factor(gain: float, tries: int) -> float:
    """The factor of the damping after a step that gained this fraction of what the linear problem predicted, after
    steps that gained nothing."""
    if gain > 0.75 and tries == 0:
        return 0.1
    if gain > 0.5:
        return 0.3
    return 1.0 if gain > 0.2 else 3.0


def _step(values: Array, slopes: Array, places: Array, constraints: Array, damping: float) -> Array:
    """The x with the least squares of values + slopes x, subject to constraints x = places."""
    square, slope = slopes.T @ slopes, slopes.T @ values
    square[np.diag_indices(len(square))] *= 1.0 + damping
    square[np.diag_indices(len(square))] += 1e-12 * np.trace(square) / len(square)
    scale = 1.0 / np.sqrt(np.diagonal(square))
    solution = (
        np.linalg.solve(square * scale[:, None] * scale, np.column_stack((-slope * scale, (constraints * scale).T)))
        * scale[:, None]
    )
    free, pulls = solution[:, 0], solution[:, 1:]
    return free + pulls @ np.linalg.lstsq(constraints @ pulls, places - constraints @ free, rcond=1e-10)[0]


class _Problem:
    """The cost of joint rotations from the start, as coefficients (b, d) of the basis (N + 1, b) for d joint axes."""

    def __init__(
        self,
        arm: Arm,
        h: float,
        basis: Array,
        fixed: list[tuple[int, Array]],
        motion: Array,
        clearance: Clearance | None,
        kept: Sequence[int],
        line: ApproachLine | None,
        stops: Sequence[tuple[int, int]],
    ) -> None:
        self._clearance, self._line = clearance, line
        self._arm, self._h, self._basis, self._fixed = arm, h, basis, fixed
        turns = rotation.log(rotation.multiply(rotation.inverse(arm.rest), motion))
        outside = np.stack([rotation.log_rate(-turns[end], arm.outside[end]) for end in (0, -1)])
        course = drift(outside, len(motion) - 1, h)
        self._axes = joint_axes(arm, turns - course)
        self._which = np.argmax(np.abs(self._axes), axis=1) // 3
        self._own = self._axes.reshape(len(self._axes), -1, 3)[np.arange(len(self._axes)), self._which]
        still = np.zeros((1, basis.shape[1]))
        padded = np.concatenate((still, basis[:1], basis, basis[-1:], still))
        self._windows = np.stack([padded[i : i + len(basis) + 1] for i in range(4)], axis=1)
        passed = [item for item in fixed if item[0] not in kept]
        self._samples = np.array([sample for sample, _ in passed], dtype=int)
        self._places = np.array([place for _, place in passed])
        self._is_fixed = np.isfinite(self._places).ravel()
        course, flat = course.reshape(len(motion), -1), (turns - course).reshape(len(motion), -1)
        self._fixed_turns = course + flat - flat @ self._axes.T @ self._axes
        count, wanted = len(self._axes), flat @ self._axes.T
        self._rows, self._wanted = np.zeros((0, count * basis.shape[1])), np.zeros(0)
        for sample in kept:
            self._keep(np.eye(count), basis[sample], wanted[sample])
        for sample, joint in stops:
            own = np.eye(count)[self._which == joint]
            self._keep(own, basis[sample + 1] - basis[sample - 1], own @ (wanted[sample + 1] - wanted[sample - 1]))
        self._wall = _WALL * np.sqrt(effort.cost(arm, motion, h) if clearance is None else clearance.scale)
        self.first = np.linalg.lstsq(basis, flat @ self._axes.T, rcond=None)[0]
        self._is_bound = arm.limits is not None and not (arm.are_only_locked and self._keeps_locks(motion))
        self._is_free = not self._is_bound and clearance is None and line is None

    def _keeps_locks(self, motion: Array) -> bool:
        """Whether locked angles keep their values in the motion (N + 1, a, 4) and whatever joints turn about their
        axes, as hinges do."""
        axes = self._axes.reshape(len(self._axes), -1, 3)
        tried = np.concatenate((motion, self._posed(_PROBED * axes), self._posed(-_PROBED * axes)))
        return bool(rotation.distance(self._arm.clamped(tried), tried).max(initial=0.0) < _KEPT)

    def _keep(self, axes: Array, row: Array, wanted: Array) -> None:
        """Keep values (c,) of axes (c, d) that are coefficients times a row (b,)."""
        self._rows = np.concatenate((self._rows, np.kron(axes, row)))
        self._wanted = np.concatenate((self._wanted, wanted))

    def _turns(self, numbers: Array, samples: Array | slice) -> Array:
        """Rotation vectors (..., s, a, 3) from the start."""
        turns = self._basis[samples] @ numbers @ self._axes + self._fixed_turns[samples]
        return turns.reshape(*turns.shape[:-1], len(self._arm.joints), 3)

    def _posed(self, turns: Array) -> Array:
        return rotation.multiply(self._arm.rest, rotation.exp(turns))

    def _turned(self, numbers: Array, samples: Array | slice) -> Array:
        return self._posed(self._turns(numbers, samples))

    def motion(self, numbers: Array) -> Array:
        """The motion (..., N + 1, a, 4) for coefficients (..., b, d)."""
        return self._turned(numbers, slice(None))

    def changes(self, numbers: Array) -> Array:
        """Residuals (..., r): the changes of torque, and what is beyond limits or within obstacles."""
        motion = self.motion(numbers)
        changes = effort.changes(self._arm, motion, self._h)
        changes = changes.reshape(*changes.shape[:-2], -1)
        beyond = self._beyond(motion)
        return np.concatenate((changes, beyond.reshape(*beyond.shape[:-2], -1)), axis=-1)

    def _beyond(self, motion: Array) -> Array:
        """Residuals (..., N + 1, e): the joint angles beyond their limits, and the depth within obstacles."""
        found = [np.zeros((*motion.shape[:-2], 0))]
        if self._arm.limits is not None and not self._arm.are_only_locked:
            found.append(self._wall * self._arm.limits.excess(self._arm.whole(motion)))
        if self._clearance is not None:
            found.append(_HARD * self._wall / self._arm.length * self._clearance.depths(motion))
        if self._line is not None:
            found.append(_HARD * self._wall / self._arm.length * self._line.beside(self._arm.points(motion)))
        return np.concatenate(found, axis=-1)

    def is_kept(self, numbers: Array) -> bool:
        """Whether nothing is beyond a limit or within an obstacle."""
        return self._is_free or not np.any(self._beyond(self.motion(numbers)))

    def allowed(self, numbers: Array) -> tuple[Array, float]:
        """The motion (N + 1, a, 4) within the limits, and its cost, infinite if it misses a fixed position."""
        arm, motion = self._arm, self.motion(numbers)
        if self._is_bound:
            motion = arm.clamped(motion)
        if self._is_bound and self._fixed:
            motion, off = arm.follow(motion, fitted(arm.points(motion), self._fixed))
            if off > arm.near:
                return motion, np.inf
        return motion, effort.cost(arm, motion, self._h, rough=not self._is_free)

    def cost(self, numbers: Array) -> float:
        return 0.5 * float(np.sum(self.changes(numbers) ** 2))

    def linear(self, numbers: Array) -> tuple[Array, Array]:
        """The residuals (r,) and their Jacobian (r, d b)."""
        count, turns = numbers.shape[1], self._turns(numbers, slice(None))
        motion = self._posed(turns)
        values, jacobian = self._changes(turns, motion)
        if not self._is_free:
            # Each axis of a joint is nudged at all samples at once.
            nudged = self._posed(turns + _NUDGE * self._axes.reshape(count, 1, *turns.shape[1:]))
            beyond = self._beyond(motion)
            steps = np.moveaxis(self._beyond(nudged) - beyond, 0, -1) / _NUDGE
            values = np.concatenate((values, beyond.ravel()))
            steps = steps[..., None] * self._basis[:, None, None]
            jacobian = np.concatenate((jacobian, steps.reshape(-1, numbers.size)))
        return values, jacobian

    def _changes(self, turns: Array, motion: Array) -> tuple[Array, Array]:
        """The changes of torque (c,) in a motion (N + 1, a, 4), as of the arm, and their Jacobian (c, d b).

        The torques at a sample depend on the poses there and at its two neighbors alone.
        """
        arm, h, joints = self._arm, self._h, np.array(self._arm.joints)
        speeds, still = arm.speeds(motion, h), np.zeros((1, len(joints), 3))
        w = np.concatenate((arm.outside[:1], 0.5 * (speeds[:-1] + speeds[1:]), arm.outside[1:]))
        dw = np.concatenate((still, np.diff(speeds, axis=0) / h, still))
        poses = np.concatenate((motion[:1], motion, motion[-1:]))
        derivatives = differentiated(arm.body, joints, arm.whole(poses), w, dw, arm.gravity)
        torques, by_velocity = derivatives.torques, derivatives.by_velocity
        torques[:, joints] += arm.damping[joints, None] * w
        degrees = (3 * joints[:, None] + np.arange(3)).ravel()
        by_velocity[:, degrees, np.arange(degrees.size)] += np.repeat(arm.damping[joints], 3)
        # How the joints rotate, and how the speed of a step changes with the poses at its begin and end.
        tangents, steps = self._tangents(turns), h * speeds[1:-1, self._which]
        begun, ended = -rotation.log_rate(steps, tangents[:-1]) / h, rotation.log_rate(-steps, tangents[1:]) / h
        both = np.concatenate((self._wide(begun), self._wide(ended)), axis=-1)
        half, full = 0.5 * by_velocity[1:-1], derivatives.by_acceleration[1:-1] / h
        ahead, behind = (half + full)[:-1] @ both, (half - full)[1:] @ both
        here: Array = derivatives.by_pose @ self._wide(np.concatenate((tangents[:1], tangents, tangents[-1:])))
        d = here.shape[-1]
        here[1:-2] += ahead[..., :d]
        here[2:-1] += behind[..., d:]
        after, before = np.zeros(here.shape), np.zeros(here.shape)
        after[1:-2], before[2:-1] = ahead[..., d:], behind[..., :d]
        # Factors of the basis at the sample before a change, at its begin and end, and at the sample after it.
        factors = np.stack((-before[:-1], before[1:] - here[:-1], here[1:] - after[:-1], after[1:]), axis=-1)
        factors *= effort.scales(arm, len(factors), h)[..., None, None]
        jacobian = factors.reshape(len(factors), -1, 4) @ self._windows
        changes = effort.differences(arm, torques[[0, -1, *range(1, len(torques) - 1)]], h)
        return changes.ravel(), jacobian.reshape(changes.size, -1)

    def _wide(self, parts: Array) -> Array:
        """Vectors (s, d, 3) of the joint of each axis as columns (s, 3 a, d) of all joints."""
        result = np.zeros((len(parts), self._axes.shape[1], parts.shape[1]))
        columns = np.arange(parts.shape[1])
        for axis in range(3):
            result[:, 3 * self._which + axis, columns] = parts[..., axis]
        return result

    def constraints(self, numbers: Array) -> tuple[Array, Array]:
        """The errors (c,) at the fixed positions and of what is kept, and the Jacobian (c, d b) of these."""
        kept = self._wanted - self._rows @ numbers.T.ravel()
        if not len(self._samples):
            return kept, self._rows
        turns = self._turns(numbers, self._samples)
        place, slopes = self._arm.place(self._posed(turns))
        slopes = slopes.reshape(*slopes.shape[:-1], turns.shape[1], 3)[:, :, self._which]
        rates = np.einsum("fidc,fdc->fid", slopes, self._tangents(turns))
        jacobian = rates[..., None] * self._basis[self._samples][:, None, None]
        errors = np.concatenate(((self._places - place).ravel()[self._is_fixed], kept))
        return errors, np.concatenate((jacobian.reshape(-1, numbers.size)[self._is_fixed], self._rows))

    def _tangents(self, turns: Array) -> Array:
        """How the joints rotate (s, d, 3), each in its own frame, if rotation vectors (s, a, 3) change along each
        axis, which is one of a single joint."""
        return spinning(turns[:, self._which], self._own)

    def restored(self, numbers: Array) -> Array:
        """The nearest coefficients for which the hand passes the fixed positions."""
        for _ in range(20):
            residual, jacobian = self.constraints(numbers)
            if np.abs(residual).max() < _FIXED * self._arm.length:
                break
            numbers = _moved(numbers, np.linalg.lstsq(jacobian, residual, rcond=1e-8)[0])
        return numbers


def _moved(numbers: Array, step: Array) -> Array:
    """Coefficients (b, d) after a step (d b,)."""
    return numbers + step.reshape(numbers.T.shape).T


def _basis(samples: int, spans: int = _SPANS) -> Array:
    """B-splines (samples, b) that start at 0 and at rest, and end at rest.

    Their second derivatives are free: the cost of the torque's jump from rest keeps them low.
    """
    knots = np.concatenate((np.zeros(_DEGREE), np.linspace(0.0, 1.0, spans + 1), np.ones(_DEGREE)))
    x = np.linspace(0.0, 1.0, samples)[:, None]
    inside = (x >= knots[:-1]) & ((x < knots[1:]) | ((x >= 1.0) & (knots[1:] >= 1.0) & (knots[:-1] < 1.0)))
    values = inside.astype(float)
    for degree in range(1, _DEGREE + 1):
        left, right = knots[: -degree - 1], knots[degree + 1 :]
        rise = np.maximum(knots[degree:-1] - left, 1e-300)
        fall = np.maximum(right - knots[1:-degree], 1e-300)
        up = np.where(knots[degree:-1] > left, (x - left) / rise, 0.0)
        down = np.where(right > knots[1:-degree], (right - x) / fall, 0.0)
        values = up * values[:, :-1] + down * values[:, 1:]
    return np.concatenate((values[:, 3:-3], values[:, -3:].sum(axis=1, keepdims=True)), axis=1)
