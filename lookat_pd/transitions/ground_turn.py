"""How a clip in place turns, from its feet: a turning speed that changes smoothly.

In the world a planted foot stays on one place through each stance. The turning speed is a cubic spline with a knot for
each step, fitted together with a constant velocity so that the places of all stances scatter least (Gauss-Newton, with
the weights of Cauchy). How smooth it is follows from generalized cross-validation (P. Craven, G. Wahba, "Smoothing
Noisy Data with Spline Functions", 1979): a walk that turns evenly gets one turning speed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..curves import runs
from ..rotation import Array
from .ground_speed import Soles, ground_speed

_KNOTS = 0.3
"""Time [s] between two knots of the turning speed."""
_MOST = 150
"""Knots; in clips longer than so many times the distance above it is longer."""
_SPREAD = 0.003
"""Deviation [sizes] from its place from which on a sample of a stance counts less."""
_DOWN = 0.5
"""Weight by height from which on a point is on the ground, also if another one is lower."""
_ROUNDS = 12
_STIFFNESS = np.logspace(-7.0, 3.0, 31)
"""Weights of the changes of the turning speed that are compared [sizes per rad/s]²."""
_FREE = 1.05
"""Factor of the smallest cross-validation up to which a smoother turning speed is taken."""


def ground_turn(feet: ArrayLike, dt: float, size: float) -> tuple[Array, Array]:
    """Velocity (2,) [length/s] of the body over the ground, and its turning speed (F,) [rad/s] about the origin.

    Arguments, frame and errors as for `ground_speed`.
    """
    velocity, turn = ground_speed(feet, dt, size, turns=True)
    soles = Soles.of(feet, dt, size)
    stances = _Stances.of(soles)
    count = len(soles.feet)
    if stances is None:
        return velocity, np.full(count, turn)
    basis = _splines(count, max(_KNOTS / dt, 2.0, count / _MOST))
    fit = _Fit(stances, basis, dt, size)
    motion = np.concatenate((velocity, np.full(basis.shape[1], turn)))
    for round_ in range(_ROUNDS):
        motion = fit.improved(motion, max(1.0, 50.0 * 0.6**round_))
    return motion[:2], basis @ motion[2:]


@dataclass(frozen=True)
class _Stances:
    """Samples of feet on the ground."""

    rows: Array
    """(n,) frames."""
    places: Array
    """(n, 2)."""
    share: Array
    """(n,) weights by height."""
    number: Array
    """Number (n,) of the stance."""

    @classmethod
    def of(cls, soles: Soles) -> "_Stances | None":
        """None without any."""
        rows, points, number = [], [], []
        for point in range(soles.feet.shape[1]):
            # Of two feet on the ground, both count.
            down = soles.is_low & ((soles.lowest == point) | (soles.share[:, point] > _DOWN))
            for first, last in runs(down):
                if last > first:
                    frames = np.arange(first, last + 1)
                    rows.append(frames)
                    points.append(np.full(len(frames), point))
                    number.append(np.full(len(frames), len(number)))
        if not rows:
            return None
        at, point = np.concatenate(rows), np.concatenate(points)
        return cls(at, soles.feet[at, point, :2], soles.share[at, point], np.concatenate(number))

    def centered(self, values: Array, weights: Array) -> Array:
        """Values (n, ...) without their weighted mean over each stance."""
        first = np.flatnonzero(np.diff(self.number, prepend=-1))
        flat = values.reshape(len(values), -1)
        means = np.add.reduceat(weights[:, None] * flat, first)
        means /= np.maximum(np.add.reduceat(weights, first), 1e-12)[:, None]
        return (flat - means[self.number]).reshape(values.shape)


@dataclass(frozen=True)
class _Fit:
    """The fit of velocity and turning speeds (2 + K,) to stances."""

    stances: _Stances
    basis: Array
    """(F, K)."""
    dt: float
    size: float

    def improved(self, motion: Array, spread: float) -> Array:
        """One step of the fit. spread: by which samples count less, in `_SPREAD`."""
        residual, slope = self._linear(motion)
        share = self.stances.share
        off = np.linalg.norm(self.stances.centered(residual, share), axis=-1) / (spread * _SPREAD * self.size)
        weights = share / (1.0 + off**2)
        root = np.sqrt(weights)[:, None]
        wanted = -(root * self.stances.centered(residual, weights)).reshape(-1) / self.size
        rows = (root[..., None] * self.stances.centered(slope, weights)).reshape(-1, slope.shape[-1]) / self.size
        # Solved for the whole and not for the step, because the whole is to be smooth.
        return _smoothest(rows, wanted + rows @ motion)

    def _linear(self, motion: Array) -> tuple[Array, Array]:
        """Places of the samples in the world (n, 2), and their derivatives (n, 2, 2 + K)."""
        rows, places, dt = self.stances.rows, self.stances.places, self.dt
        turned = _integral(self.basis, dt)
        angle = turned @ motion[2:]
        cos, sin = np.cos(angle), np.sin(angle)
        frame = np.stack((np.stack((cos, -sin), axis=-1), np.stack((sin, cos), axis=-1)), axis=-2)
        velocity = frame @ motion[:2]
        quarter = np.array([[0.0, -1.0], [1.0, 0.0]])
        path = _integral(velocity, dt)
        moved = _integral(frame.reshape(len(frame), -1), dt).reshape(frame.shape)
        swept = (velocity @ quarter.T)[:, :, None] * turned[:, None, :]
        swept = _integral(swept.reshape(len(swept), -1), dt).reshape(swept.shape)
        here = np.einsum("nij,nj->ni", frame[rows], places)
        around = (here @ quarter.T)[:, :, None] * turned[rows][:, None, :]
        return path[rows] + here, np.concatenate((moved[rows], swept[rows] + around), axis=-1)


def _smoothest(rows: Array, wanted: Array) -> Array:
    """The solution of rows @ x = wanted, of which all but the first two numbers change smoothly."""
    count = rows.shape[1]
    change = np.zeros((count - 3, count))
    change[:, 2:-1] -= np.eye(count - 3)
    change[:, 3:] += np.eye(count - 3)
    normal, penalty = rows.T @ rows, change.T @ change
    least = float(_STIFFNESS[0])
    tiny = 1e-12 * max(float(np.trace(normal)), 1e-12) * np.eye(count)
    # In these coordinates both matrices are diagonal, and each stiffness costs nothing.
    back = np.linalg.inv(np.linalg.cholesky(normal + least * penalty + tiny)).T
    stiff, turned = np.linalg.eigh(back.T @ penalty @ back)
    axes = back @ turned
    right = axes.T @ (rows.T @ wanted)
    stiff = np.maximum(stiff, 0.0)
    solved = right / (1.0 + np.outer(_STIFFNESS - least, stiff))
    known = 1.0 - least * stiff
    freedom = np.sum(known / (1.0 + np.outer(_STIFFNESS - least, stiff)), axis=1)
    left = float(wanted @ wanted) - 2.0 * solved @ right + np.sum(solved**2 * known, axis=1)
    score = (np.maximum(left, 0.0) + 1e-12) / np.maximum(len(wanted) - freedom, 1.0) ** 2
    good = np.flatnonzero(score <= _FREE * score.min())
    return axes @ solved[good[-1]]


def _integral(values: Array, dt: float) -> Array:
    """The integral (F, n) from the first row on, by trapezoids."""
    return np.concatenate((np.zeros((1, values.shape[1])), np.cumsum(0.5 * dt * (values[1:] + values[:-1]), axis=0)))


def _splines(count: int, spacing: float) -> Array:
    """Cubic B-splines (count, K) with a distance of about so many rows between knots; together they are 1."""
    spans = max(round((count - 1) / spacing), 1)
    at = np.arange(count) / (count - 1) * spans
    first = np.minimum(at.astype(int), spans - 1)
    t = at - first
    parts = (1 - t) ** 3 / 6, (3 * t**3 - 6 * t**2 + 4) / 6, (-3 * t**3 + 3 * t**2 + 3 * t + 1) / 6, t**3 / 6
    basis = np.zeros((count, spans + 3))
    for n, part in enumerate(parts):
        basis[np.arange(count), first + n] = part
    return basis
