"""Joints with limited torque: which accelerations remain of those that the law requires.

The torques are those within the limits whose accelerations are nearest to the required ones in kinetic energy (Gauss's
principle of least constraint): the limit is a projection in the metric of the mass matrix. Clipping each torque
separately would fling light bones that depend on heavy neighbours.

The missing accelerations m minimize 1/2 m M m - needed m + sum of limit |m_j|, a group lasso (Yuan, Lin 2006): at a
joint that is too weak the torque has the size of the limit and the direction of what is missing, and elsewhere nothing
is missing. It is found by Newton's method: the second derivative of limit |m_j| is a rotor of the inertia limit / |m_j|
about the axes across m_j, and a joint that is strong enough is locked.
"""

import numpy as np
from numpy.typing import NDArray

from ..rotation import Array
from .engine import UNMOVED, Engine

_ROUNDS = 8
"""Largest number of Newton's steps; then the torques are clipped."""
_ACCURACY = 0.002
"""Fraction of a limit by which the torque of a weak joint may exceed it before it is clipped."""
_LEAST = 0.3
"""Smallest factor by which Newton's step shortens what is missing."""
_UNLIMITED = 1e30
_NOTHING = 1e-30


class Muscles:
    """limit: (m, 1) or (m, 3) [N m] of the engine's joints; driven, passive: (m,), those with limits, and those without
    torque; the other ones are strong enough. free: (m, 3), degrees of freedom; the torques of the others come from the
    bearing of a hinge."""

    def __init__(
        self,
        engine: Engine,
        limit: Array,
        driven: NDArray[np.bool_],
        passive: NDArray[np.bool_],
        free: NDArray[np.bool_],
    ) -> None:
        self._engine = engine
        # Joints have one limit for three axes, or each of their axes has its own.
        axes = 3 if limit.shape[1] == 1 else 1
        self._extra = len(engine.w) - 3 * len(driven)
        self._limit = np.where(driven[:, None] & np.isfinite(limit), limit, _UNLIMITED).reshape(-1, 1)
        engine.place()
        own = np.diagonal(engine.mass_matrix())
        big = UNMOVED * float(own.sum())
        self._powerless = self._limit == 0.0
        self._rigid = np.where(np.repeat(passive, 3 // axes)[:, None] | self._powerless, 0.0, big)
        self._fixed = np.where(np.append(np.zeros(self._extra, dtype=bool), free.ravel()), 0.0, big)
        self._free = free.reshape(-1, axes).astype(float)
        self._inertia = own[self._extra :].reshape(-1, axes).mean(axis=1, keepdims=True)
        self._places = engine.blocks(self._extra, axes)
        self._rows, self._columns = np.tril_indices(axes)
        self._even = np.eye(axes)[self._rows, self._columns]
        self._sum = np.ones((axes, 1))
        self._most, self._all_free = (1.0 + _ACCURACY) * self._limit, bool(np.all(free))
        self._back = -_ACCURACY * self._limit / self._inertia
        self._missed, self._any_weak = np.zeros(self._free.shape), False
        self._none = np.zeros(len(driven), dtype=bool)

    def weakened(self, wanted: Array, needed: Array, extra: Array | None) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Accelerations (nv,), torques (nv,) and which joints (m,) are too weak.

        needed: the torques for the required accelerations. extra: (nv,), additional diagonal of the mass matrix.
        """
        engine, limit, most, missed = self._engine, self._limit, self._most, self._missed
        if not self._any_weak:
            acting = self._acting(needed) * self._free
            size = self._sizes(acting)
            if not (size > limit).any():
                return wanted, needed, self._none
            missed = self._guess(acting, size)
        diagonal = self._fixed if extra is None else self._fixed + extra
        left = _ROUNDS
        while True:
            left -= 1
            # Nothing is missing at joints that are strong enough: these are locked.
            length = np.maximum(self._sizes(missed), _NOTHING)
            toward = missed / length
            rotor, push = np.minimum(limit / length, self._rigid), limit * toward
            across = self._even - toward.take(self._rows, 1) * toward.take(self._columns, 1)
            engine.factor_blocks(diagonal, self._places, rotor * across)
            back = engine.solve(self._less(needed, push)[None])[0]
            held = self._acting(back)
            free = held if self._all_free else held * self._free
            along = (free * toward) @ self._sum
            push += rotor * (free - along * toward)
            size = self._sizes(push)
            wrong = (size > most) | (along < self._back)
            if not left or not wrong.any():
                break
            shorter = along > _LEAST * length
            fresh = wrong & (length == _NOTHING)
            missed = np.where(shorter, free, _LEAST * missed) * (along >= 0.0)
            if fresh.any():
                missed = np.where(fresh, self._guess(push, size), missed)
        weak = (along > 0.0) | self._powerless
        self._missed = np.where(along > _LEAST * length, free, missed) * weak
        self._any_weak = bool(weak.any())
        push *= np.minimum(1.0, limit / np.maximum(size, _NOTHING))
        if not self._all_free:
            # The bearings of hinges have no limit.
            push += self._rigid * (held - free) * ~weak
        torques = self._fixed * back
        torques[self._extra :] += push.ravel()
        return wanted - back, torques, weak.reshape(len(self._none), -1).any(axis=1)

    def _less(self, torques: Array, push: Array) -> Array:
        """Torques (nv,) less what weak joints apply, (g, a)."""
        if not self._extra:
            return torques - push.ravel()
        rest = torques.copy()
        rest[self._extra :] -= push.ravel()
        return rest

    def _acting(self, values: Array) -> Array:
        """Values (nv,) at what has limits, (g, a)."""
        return values[self._extra :].reshape(self._free.shape)

    def _sizes(self, values: Array) -> Array:
        """Lengths (g, 1) of vectors (g, a)."""
        return np.sqrt((values * values) @ self._sum)

    def _guess(self, torques: Array, size: Array) -> Array:
        """What is missing (g, a) where torques of this size (g, 1) are beyond their limits."""
        excess = np.maximum(size - self._limit, 0.0)
        return torques * (excess / (np.maximum(size, _NOTHING) * self._inertia))
