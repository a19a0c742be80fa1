"""Joints with limited torque: which accelerations remain of those that the law requires.

The torques are those within the limits whose accelerations are nearest to the required ones in kinetic energy (Gauss's
principle of least constraint): the limit is a projection in the metric of the mass matrix. Clipping each torque
separately would fling light bones that depend on heavy neighbours.

At the optimum the missing acceleration of a weak joint is parallel to its torque, as if a rotor held it: the torques
are those of M a + h = tau, tau = rotor (wanted - a), where the inertia of the rotor is such that the torque equals the
limit.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..rotation import Array
from .engine import Engine

_ROUNDS = 4
"""Iterations for the rotors; the remaining excess is clipped."""
_MORE_ROUNDS = 2
"""Iterations if those of the previous step are known."""
_UNLIMITED = 1e30
_SUM = np.ones(3)


class Muscles:
    """limit: (m, 1) or (m, 3) [N m] of the engine's joints; driven: (m,), those with actuation. free: (m, 3), degrees
    of freedom; the torques of the others come from the bearing of a hinge."""

    def __init__(self, engine: Engine, limit: Array, driven: NDArray[np.bool_], free: NDArray[np.bool_]) -> None:
        self._engine, self._driven, self._free = engine, driven[:, None], free
        self._limit = np.where(self._driven & np.isfinite(limit), limit, _UNLIMITED)
        self._extra = len(engine.w) - 3 * len(driven)
        self._rotors, self._weak = np.ones(self._limit.shape), np.zeros(self._limit.shape, dtype=bool)
        engine.place()
        own = np.diagonal(engine.mass_matrix())[self._extra :].reshape(-1, 3)
        mean = np.sum(own * free, axis=1, keepdims=True) / free.sum(axis=1, keepdims=True)
        self._inertia = mean if limit.shape[1] == 1 else own
        self._least, self._most = 1e-9 * self._inertia, 1e6 * self._inertia
        self._all_free = bool(np.all(free))
        self._over, self._everyone = 1.000001 * self._limit, np.ones(len(driven), dtype=bool)

    def weakened(
        self, wanted: Array, needed: Array, extra: Array, passive: Array, ask: Callable[[Array], Array]
    ) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Accelerations (nv,), torques (nv,) and which joints (m,) are too weak.

        needed: the torques for the required accelerations; `ask` computes those for others. extra: additional diagonal
        of the mass matrix. passive: (nv,), degrees of freedom without torque.
        """
        engine, limit = self._engine, self._limit
        size = self._sizes(needed)
        weak = size > limit
        if not weak.any():
            self._weak = weak
            return wanted, needed, np.any(weak, axis=-1)
        rotors, known = self._rotors, self._weak
        fresh = weak & ~known
        # What was too weak a step ago probably is again; otherwise its rotor grows until it locks the joint.
        weak = weak | known & (rotors < self._most)
        any_fresh = bool(fresh.any())
        need = np.maximum(size, self._over)
        all_weak, everywhere, at, locked = False, False, passive, None
        for _ in range(_ROUNDS if any_fresh else _MORE_ROUNDS):
            if any_fresh:
                guess = self._inertia * limit / np.maximum(size - limit, 1e-6 * limit)
                rotors = np.where(fresh, guess, rotors)
            if not all_weak:
                all_weak = bool(weak.all())
                at = self._acting(weak).astype(bool)
                everywhere = bool(at.all())
                locked = None if everywhere else ~(at | passive)
                asked = needed if everywhere else np.where(at, needed, 0.0)
            rotor = self._acting(rotors if all_weak else np.where(weak, rotors, 0.0))
            engine.factor(extra + rotor, locked)
            back = engine.solve(asked[None])[0]
            acting = rotor * back
            need, guess = self._better(rotors, acting, need)
            rotors = guess if all_weak else np.where(weak, guess, rotors)
            if not all_weak:
                size = self._sizes(ask(wanted - back))
                fresh = (size > limit) & ~weak
                any_fresh = bool(fresh.any())
                weak = weak | fresh
        self._rotors, self._weak = rotors, weak
        if everywhere:
            torques = self._clipped(acting)
            engine.factor(extra)
            change = engine.solve((torques - needed)[None])[0]
            return wanted + change, torques, self._everyone
        torques = self._clipped(np.where(at, acting, needed))
        for _ in range(2):
            engine.factor(extra, ~(at | passive))
            change = engine.solve(np.where(at, torques - needed, 0.0)[None])[0]
            torques = np.where(at, torques, ask(wanted + change))
            over = self._acting(self._sizes(torques) > limit * (1.0 + 1e-12)).astype(bool)
            if not np.any(over):
                break
            torques, at = self._clipped(torques), at | over
        torques = self._clipped(torques)
        return wanted + change, torques, np.any(at[self._extra :].reshape(-1, 3), axis=-1)

    def _better(self, rotors: Array, torques: Array, need: Array) -> tuple[Array, Array]:
        """What is needed, at least as much as the torques (nv,) and above the limits, and rotors with which the torques
        come nearer to their limits."""
        limit, made = self._limit, self._sizes(torques)
        need = np.maximum(need, 1.000001 * made)
        # For a single joint, torque = need rotor / (rotor + inertia).
        factor = need / np.maximum(made, 1e-30)
        factor -= 1.0
        factor *= limit
        factor /= need - limit
        np.minimum(np.maximum(factor, 1e-3, out=factor), 1e3, out=factor)
        factor *= rotors
        return need, np.minimum(np.maximum(factor, self._least, out=factor), self._most, out=factor)

    def _sizes(self, torques: Array) -> Array:
        """The limited quantity of torques (nv,), (m, 1) or (m, 3)."""
        parts = torques[self._extra :].reshape(-1, 3)
        if not self._all_free:
            parts = parts * self._free
        return np.sqrt((parts * parts) @ _SUM)[:, None] if self._limit.shape[1] == 1 else np.abs(parts)

    def _clipped(self, torques: Array) -> Array:
        part = np.minimum(1.0, self._limit / np.maximum(self._sizes(torques), 1e-30))
        if self._all_free and not self._extra:
            return torques * self._wide(part)
        part = np.where(self._free, part, 1.0)
        return np.concatenate((torques[: self._extra], torques[self._extra :] * part.ravel()))

    def _wide(self, values: Array) -> Array:
        return np.repeat(values, 3) if values.shape[1] == 1 else values.ravel()

    def _acting(self, values: Array) -> Array:
        """Values (m, 1) or (m, 3) of joints at their degrees of freedom (nv,), 0 elsewhere."""
        acting = self._wide(values if self._all_free else np.where(self._free, values, 0.0))
        return np.concatenate((np.zeros(self._extra), acting)) if self._extra else acting
