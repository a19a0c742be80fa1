"""Reaching with the least change of torque, by minimizing it: Gauss-Newton on splines of the joint angles.

A joint may rotate only about the axes used on the minimum-jerk path. With all three axes the optimum would twist the
arm about its length, where it has almost no inertia: cheaper, but not how people reach.
"""

from collections.abc import Generator, Sequence

import numpy as np

from .. import rotation
from ..rotation import Array
from . import law
from .arm import Arm
from .obstacles import Clearance
from .paths import drift
from .smoothing import fitted

_DEGREE = 5
_SPANS = 8
"""Number of polynomial segments of the curve of a joint."""
_NUDGE = 1e-6
"""Step [rad] of the finite differences."""
_MINOR = 0.1
"""Rotations about an axis that are smaller than this fraction of those about another axis are not changed."""
_CONVERGED, _RECENT = 5e-4, 4
"""The search ends when so many iterations together gain less than this fraction of the cost."""
_WALL = 30.0
"""Weight of a radian beyond the limits of a joint, relative to all changes of torque."""
_HARD = 3.0
"""Weight of a depth of one length of the arm within an obstacle, relative to a radian beyond a limit."""
_FRAMES = 4000
"""Number of poses that are processed at once."""


def optimized(
    arm: Arm,
    motion: Array,
    h: float,
    fixed: list[tuple[int, Array]],
    passes: int,
    clearance: Clearance | None = None,
    kept: Sequence[int] = (),
) -> Generator[tuple[Array, float], bool | None, None]:
    """Motion (N + 1, a, 4) and cost of each iteration; arguments as for `smoothing.smoothed`.

    clearance: from obstacles that the arm goes around. kept: samples whose poses are kept. The motion must have the
    velocities of the arm at its ends; where the arm moves afterwards, the last pose is to be kept.
    """
    basis = _basis(len(motion))
    problem = _Problem(arm, h, basis, fixed, motion, clearance, kept)
    numbers = problem.restored(problem.first)
    cost, damping = problem.cost(numbers), 1e-6
    yield problem.allowed(numbers)
    recent = [cost]
    for _ in range(passes - 1):
        values, slopes = problem.linear(numbers)
        places, constraints = problem.constraints(numbers)
        for _ in range(8):
            step = _step(values, slopes, places, constraints, damping)
            tried = problem.restored(numbers + step.reshape(numbers.shape))
            gained = cost - problem.cost(tried)
            if gained > 0.0:
                break
            damping *= 10.0
        else:
            return
        damping = max(0.1 * damping, 1e-12)
        numbers, cost = tried, cost - gained
        yield problem.allowed(numbers)
        recent = [*recent[-_RECENT:], cost]
        if len(recent) > _RECENT and recent[0] - cost < _CONVERGED * cost:
            return


def _step(values: Array, slopes: Array, places: Array, constraints: Array, damping: float) -> Array:
    """The x with the least squares of values + slopes x, subject to constraints x = places."""
    square, slope = slopes.T @ slopes, slopes.T @ values
    square[np.diag_indices(len(square))] *= 1.0 + damping
    square[np.diag_indices(len(square))] += 1e-12 * np.trace(square) / len(square)
    scale = 1.0 / np.sqrt(np.diagonal(square))
    found = (
        np.linalg.solve(square * scale[:, None] * scale, np.column_stack((-slope * scale, (constraints * scale).T)))
        * scale[:, None]
    )
    free, pulls = found[:, 0], found[:, 1:]
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
    ) -> None:
        self._clearance, self._kept = clearance, list(kept)
        self._arm, self._h, self._basis, self._fixed = arm, h, basis, fixed
        turns = rotation.log(rotation.multiply(rotation.inverse(arm.rest), motion))
        outside = np.stack([law.rates(turns[end], arm.outside[end]) for end in (0, -1)])
        course = drift(outside, len(motion) - 1, h)
        self._axes = _axes(turns - course)
        course, flat = course.reshape(len(motion), -1), (turns - course).reshape(len(motion), -1)
        self._fixed_turns = course + flat - flat @ self._axes.T @ self._axes
        self._wall = _WALL * np.sqrt(arm.cost(motion, h) if clearance is None else clearance.scale)
        self._wanted = flat[self._kept] @ self._axes.T
        self.first = np.linalg.lstsq(basis, flat @ self._axes.T, rcond=None)[0]

    def _turns(self, numbers: Array, samples: Array | slice) -> Array:
        """Rotation vectors (..., s, a, 3) from the start."""
        turns = self._basis[samples] @ numbers @ self._axes + self._fixed_turns[samples]
        return turns.reshape(*turns.shape[:-1], -1, 3)

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
        found = self._arm.changes(motion, self._h)
        found = found.reshape(*found.shape[:-2], -1)
        beyond = self._beyond(motion)
        return np.concatenate((found, beyond.reshape(*beyond.shape[:-2], -1)), axis=-1)

    def _beyond(self, motion: Array) -> Array:
        """Residuals (..., N + 1, e): the joint angles beyond their limits, and the depth within obstacles."""
        found = [np.zeros((*motion.shape[:-2], 0))]
        if self._arm.limits is not None:
            found.append(self._wall * self._arm.limits.excess(self._arm.whole(motion)))
        if self._clearance is not None:
            found.append(_HARD * self._wall / self._arm.length * self._clearance.depths(motion))
        return np.concatenate(found, axis=-1)

    def allowed(self, numbers: Array) -> tuple[Array, float]:
        """The motion (N + 1, a, 4) within the limits, and its cost, infinite if it misses a fixed position."""
        arm, motion = self._arm, self.motion(numbers)
        if arm.limits is not None:
            motion = arm.clamped(motion)
            motion, off = arm.follow(motion, fitted(arm.points(motion), self._fixed))
            if off > arm.near:
                return motion, np.inf
        return motion, arm.cost(motion, self._h)

    def cost(self, numbers: Array) -> float:
        return 0.5 * float(np.sum(self.changes(numbers) ** 2))

    def linear(self, numbers: Array) -> tuple[Array, Array]:
        """The residuals (r,) and their Jacobian (r, b d).

        The torques at a sample depend on the poses there and at its two neighbors alone: each axis of a joint is nudged
        at all samples at once.
        """
        arm, count = self._arm, numbers.shape[1]
        turns = self._turns(numbers, slice(None))
        motion = self._posed(turns)
        nudged = self._posed(turns + _NUDGE * self._axes.reshape(count, 1, *turns.shape[1:]))
        torques, slopes = self._torques(motion, nudged)
        values, jacobian = arm.differences(torques, self._h), arm.differences(slopes, self._h)
        values, jacobian = values.ravel(), jacobian.reshape(numbers.size, -1)
        beyond = self._beyond(motion)
        if beyond.size:
            steps = (self._beyond(nudged) - beyond) / _NUDGE
            values = np.concatenate((values, beyond.ravel()))
            steps = self._basis.T[:, None, :, None] * steps
            jacobian = np.concatenate((jacobian, steps.reshape(numbers.size, -1)), axis=1)
        return values, jacobian.T

    def _torques(self, motion: Array, nudged: Array) -> tuple[Array, Array]:
        """The torques (N + 3, n, 3) before, after and during a motion (N + 1, a, 4), as for `Arm.differences`.

        Also their derivatives (b, d, N + 3, n, 3) by the coefficients.

        nudged: (d, N + 1, a, 4), the poses rotated about each axis.
        """
        arm, h, joints = self._arm, self._h, self._arm.joints
        speeds = arm.speeds(motion, h)
        w, dw = 0.5 * (speeds[:-1] + speeds[1:]), np.diff(speeds, axis=0) / h
        ends, still = motion[[0, -1]], np.zeros((2, *w.shape[1:]))
        poses = np.concatenate((ends, motion))
        w, dw = np.concatenate((arm.outside, w)), np.concatenate((still, dw))
        torques = arm.inverse(poses, w, dw)
        by_pose = self._rates(torques, np.concatenate((nudged[:, [0, -1]], nudged), axis=1), w, dw)
        spins = w + _NUDGE * np.eye(w[0].size).reshape(-1, 1, *w.shape[1:])
        by_speed = self._rates(torques, poses, spins, dw).reshape(len(spins), len(poses), -1)[:, 2:]
        n = len(arm.body)
        mass = arm.body.mass_matrix(arm.whole(motion)).reshape(len(motion), 3 * n, n, 3)[:, :, joints]
        mass = mass.reshape(*mass.shape[:2], -1)
        # How the velocity of a step changes with the pose at its start and with that at its end.
        start, end = np.zeros((2, *nudged.shape[:-1], 3))
        begun, ended = motion[:-1], motion[1:]
        made = speeds[1:-1]
        start[:, :-1] = (_between(nudged[:, :-1], ended) / h - made) / _NUDGE
        end[:, 1:] = (_between(begun, nudged[:, 1:]) / h - made) / _NUDGE
        start, end = (part.reshape(*part.shape[:2], -1) for part in (start, end))
        basis = self._basis
        by_pose = by_pose.reshape(*by_pose.shape[:2], -1)
        slopes = np.einsum("sb,dsi->bdsi", np.concatenate((basis[[0, -1]], basis)), by_pose)
        during = slopes[:, :, 2:]

        def add(spin: Array, change: Array, samples: slice, shown: Array) -> None:
            made = np.einsum("csi,dsc->dsi", by_speed[:, samples], spin) + np.einsum(
                "sic,dsc->dsi", mass[samples], change / h
            )
            during[:, :, samples] += np.einsum("sb,dsi->bdsi", shown, made)

        add(0.5 * (start + end), start - end, slice(None), basis)
        add(0.5 * start[:, :-1], -start[:, :-1], slice(1, None), basis[:-1])
        add(0.5 * end[:, 1:], end[:, 1:], slice(None, -1), basis[1:])
        return torques, slopes.reshape(*slopes.shape[:3], n, 3)

    def _rates(self, torques: Array, poses: Array, w: Array, dw: Array) -> Array:
        """The changes of torques (S, n, 3) for nudged poses or velocities (c, S, a, ...), divided by the nudge."""
        shape = np.broadcast_shapes(poses.shape[:-1], w.shape[:-1])
        poses, w = np.broadcast_to(poses, (*shape, 4)), np.broadcast_to(w, (*shape, 3))
        size = max(1, _FRAMES // len(torques))
        parts = [slice(begin, begin + size) for begin in range(0, len(poses), size)]
        found = [self._arm.inverse(poses[part], w[part], np.broadcast_to(dw, w[part].shape)) for part in parts]
        return (np.concatenate(found) - torques) / _NUDGE

    def constraints(self, numbers: Array) -> tuple[Array, Array]:
        """The errors (c,) at the fixed positions and the kept poses, and the Jacobian (c, b d) of these."""
        kept = self._wanted - self._basis[self._kept] @ numbers
        turned = np.einsum("kb,de->kebd", self._basis[self._kept], np.eye(numbers.shape[1]))
        turned = turned.reshape(kept.size, numbers.size)
        if not self._fixed:
            return kept.ravel(), turned
        samples = np.array([sample for sample, _ in self._fixed])
        turns, count = self._turns(numbers, samples), numbers.shape[1]
        nudges = _NUDGE * self._axes.reshape(count, 1, *turns.shape[1:])

        def places(tried: Array) -> Array:
            return self._arm.points(self._posed(tried))

        rates = (places(turns + nudges) - places(turns - nudges)) / (2.0 * _NUDGE)
        jacobian = self._basis[samples].T[:, None, :, None] * rates
        residual = np.stack([place for _, place in self._fixed]) - places(turns)
        jacobian = jacobian.reshape(numbers.size, -1).T
        return np.concatenate((residual.ravel(), kept.ravel())), np.concatenate((jacobian, turned))

    def restored(self, numbers: Array) -> Array:
        """The nearest coefficients for which the hand passes the fixed positions."""
        for _ in range(20):
            residual, jacobian = self.constraints(numbers)
            if np.abs(residual).max() < 1e-10 * self._arm.length:
                break
            numbers = numbers + np.linalg.lstsq(jacobian, residual, rcond=1e-8)[0].reshape(numbers.shape)
        return numbers


def _between(begin: Array, end: Array) -> Array:
    """Rotation vectors from poses to others."""
    return rotation.log(rotation.multiply(rotation.inverse(begin), end))


def _axes(turns: Array) -> Array:
    """The joint axes (d, 3 a) used by rotation vectors (N + 1, a, 3)."""
    rows = []
    for joint in range(turns.shape[1]):
        _, sizes, axes = np.linalg.svd(turns[:, joint], full_matrices=False)
        for axis in axes[sizes > max(_MINOR * sizes[0], 1e-9)]:
            rows.append(np.zeros(turns.shape[1:]))
            rows[-1][joint] = axis
    return np.array(rows).reshape(len(rows), -1)


def _basis(samples: int) -> Array:
    """B-splines (samples, b) that start at 0 and at rest, and end at rest.

    Their second derivatives are free: the cost of the torque's jump from rest keeps them low.
    """
    knots = np.concatenate((np.zeros(_DEGREE), np.linspace(0.0, 1.0, _SPANS + 1), np.ones(_DEGREE)))
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
