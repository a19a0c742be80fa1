"""Reaching with the least change of torque, by minimizing it: Gauss-Newton on splines of the joints' turns.

A joint turns about the axes about which it turns on the minimum-jerk path. Were it given all three, an arm would be
spun about its length, where it has next to no inertia: cheaper indeed, but nobody reaches like that.
"""

from collections.abc import Generator

import numpy as np

from .. import rotation
from ..rotation import Array
from .arm import Arm
from .smoothing import fitted

_DEGREE = 5
_SPANS = 8
"""Polynomials that a joint's curve is made of."""
_NUDGE = 1e-6
"""Turn [rad] over which changes are differenced."""
_MINOR = 0.1
"""Turns about an axis that are smaller than this part of the joint's turns about another stay what they are."""
_CONVERGED = 1e-6
_WALL = 30.0
"""What a radian beyond a joint's limits counts, as part of all changes of torque."""
_FRAMES = 4000
"""Poses that are worked on at once."""


def optimized(
    arm: Arm, motion: Array, h: float, fixed: list[tuple[int, Array]], passes: int
) -> Generator[tuple[Array, float], bool | None, None]:
    """Motion (N + 1, a, 4) and cost of each iteration; arguments as for `smoothing.smoothed`."""
    basis = _basis(len(motion))
    problem = _Problem(arm, h, basis, fixed, motion)
    numbers = problem.restored(problem.first)
    cost, damping = problem.cost(numbers), 1e-6
    yield problem.allowed(numbers)
    for _ in range(passes - 1):
        values, slopes = problem.linear(numbers)
        places, answers = problem.constraints(numbers)
        for _ in range(8):
            step = _step(values, slopes, places, answers, damping)
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
        if gained < _CONVERGED * cost:
            return


def _step(values: Array, slopes: Array, places: Array, answers: Array, damping: float) -> Array:
    """The least squares of values + slopes x, with answers x = places."""
    square, slope = slopes.T @ slopes, slopes.T @ values
    square[np.diag_indices(len(square))] *= 1.0 + damping
    square[np.diag_indices(len(square))] += 1e-12 * np.trace(square) / len(square)
    scale = 1.0 / np.sqrt(np.diagonal(square))
    found = (
        np.linalg.solve(square * scale[:, None] * scale, np.column_stack((-slope * scale, (answers * scale).T)))
        * scale[:, None]
    )
    free, pulls = found[:, 0], found[:, 1:]
    return free + pulls @ np.linalg.lstsq(answers @ pulls, places - answers @ free, rcond=1e-10)[0]


class _Problem:
    """The cost of joints' turns from the start, given as numbers (b, d) of the basis (N + 1, b) and d axes of
    joints."""

    def __init__(self, arm: Arm, h: float, basis: Array, fixed: list[tuple[int, Array]], motion: Array) -> None:
        self._arm, self._h, self._basis, self._fixed = arm, h, basis, fixed
        turns = rotation.log(rotation.multiply(rotation.inverse(arm.rest), motion))
        self._axes = _axes(turns)
        flat = turns.reshape(len(motion), -1)
        self._fixed_turns = flat - flat @ self._axes.T @ self._axes
        self._wall = _WALL * np.sqrt(arm.cost(motion, h))
        self.first = np.linalg.lstsq(basis, flat @ self._axes.T, rcond=None)[0]

    def _turned(self, numbers: Array, samples: Array | slice) -> Array:
        turns = self._basis[samples] @ numbers @ self._axes + self._fixed_turns[samples]
        return rotation.multiply(self._arm.rest, rotation.exp(turns.reshape(*turns.shape[:-1], -1, 3)))

    def motion(self, numbers: Array) -> Array:
        """(..., N + 1, a, 4) from numbers (..., b, d)."""
        return self._turned(numbers, slice(None))

    def changes(self, numbers: Array) -> Array:
        """(..., r), the changes of torque, and what of the joints' turns is beyond their limits."""
        motion = self.motion(numbers)
        found = self._arm.changes(motion, self._h)
        found = found.reshape(*found.shape[:-2], -1)
        if self._arm.limits is None:
            return found
        excess = self._arm.limits.excess(self._arm.whole(motion))
        return np.concatenate((found, self._wall * excess.reshape(*excess.shape[:-2], -1)), axis=-1)

    def allowed(self, numbers: Array) -> tuple[Array, float]:
        """The motion (N + 1, a, 4) within the limits, and its cost, infinite where it misses what it shall hit."""
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
        """The changes (r,) and how they answer (r, b 3 a) to the numbers."""
        count = numbers.size
        nudges = _NUDGE * np.eye(count).reshape(count, *numbers.shape)
        values, slopes = self.changes(numbers), []
        size = max(1, _FRAMES // len(self._basis))
        for begin in range(0, count, size):
            part = nudges[begin : begin + size]
            slopes.append((self.changes(numbers + part) - values) / _NUDGE)
        return values, np.concatenate(slopes).T

    def constraints(self, numbers: Array) -> tuple[Array, Array]:
        """How far the fixed places are away (3 f,), and how the hand there answers (3 f, b 3 a) to the numbers."""
        samples = np.array([sample for sample, _ in self._fixed])
        nudges = _NUDGE * np.eye(numbers.size).reshape(numbers.size, *numbers.shape)

        def places(tried: Array) -> Array:
            return self._arm.points(self._turned(tried, samples))

        answers = (places(numbers + nudges) - places(numbers - nudges)) / (2.0 * _NUDGE)
        apart = np.stack([place for _, place in self._fixed]) - places(numbers)
        return apart.ravel(), answers.reshape(numbers.size, -1).T

    def restored(self, numbers: Array) -> Array:
        """The numbers nearby with which the hand passes where it shall."""
        for _ in range(20):
            apart, answers = self.constraints(numbers)
            if np.abs(apart).max() < 1e-10 * self._arm.length:
                break
            numbers = numbers + np.linalg.lstsq(answers, apart, rcond=1e-8)[0].reshape(numbers.shape)
        return numbers


def _axes(turns: Array) -> Array:
    """The axes (d, 3 a), each of one joint, about which rotation vectors (N + 1, a, 3) turn."""
    rows = []
    for joint in range(turns.shape[1]):
        _, sizes, axes = np.linalg.svd(turns[:, joint], full_matrices=False)
        for axis in axes[sizes > max(_MINOR * sizes[0], 1e-9)]:
            rows.append(np.zeros(turns.shape[1:]))
            rows[-1][joint] = axis
    return np.array(rows).reshape(len(rows), -1)


def _basis(samples: int) -> Array:
    """B-splines (samples, b) that begin at 0 and at rest, and end at rest.

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
