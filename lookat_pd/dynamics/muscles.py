"""Joints whose torque is limited: what becomes of the accelerations that the law wants.

Of all torques within the limits those are taken that miss the wanted accelerations least, measured by the kinetic
energy (Gauss's principle of least constraint): the limit is a clip in the metric of the mass matrix. A clip of each
joint's torque by itself would throw light bones about that heavy ones beside them no longer carry along.

At the optimum the acceleration that a weak joint lacks lies along its torque, as if it were held by a rotor: the
torques are those of M a + h = tau, tau = rotor (wanted - a), and the rotor's inertia is sought that makes the torque as
large as the limit.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..rotation import Array
from .engine import Engine

_ROUNDS = 4
"""Estimates of the rotors; what is then left to the limit is clipped."""
_MORE_ROUNDS = 2
"""... where those of the step before are known."""

_UNLIMITED = 1e30


class Muscles:
    """limit: (m, 1) or (m, 3) [N m] of the engine's joints; driven: (m,), those that have muscles."""

    def __init__(self, engine: Engine, limit: Array, driven: NDArray[np.bool_]) -> None:
        self._engine, self._driven = engine, driven[:, None]
        self._limit = np.where(self._driven & np.isfinite(limit), limit, _UNLIMITED)
        self._extra = len(engine.w) - 3 * len(driven)
        self._rotors, self._weak = np.ones(self._limit.shape), np.zeros(self._limit.shape, dtype=bool)
        engine.place()
        own = np.diagonal(engine.mass_matrix())[self._extra :].reshape(-1, 3)
        self._inertia = own.mean(axis=1, keepdims=True) if limit.shape[1] == 1 else own

    def weakened(
        self, wanted: Array, needed: Array, extra: Array, passive: Array, ask: Callable[[Array], Array]
    ) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Accelerations (nv,), torques (nv,) and the joints (m,) that are too weak.

        needed: the torques for the accelerations wanted; `ask` tells those for others. extra: what is on the diagonal
        of the mass matrix besides. passive: (nv,), degrees that have no torque.
        """
        engine, limit = self._engine, self._limit
        need = size = self._sizes(needed)
        weak = size > limit
        if not weak.any():
            self._weak = weak
            return wanted, needed, np.any(weak, axis=-1)
        rotors, known = self._rotors, self._weak
        given = np.zeros(weak.shape, dtype=bool)
        at, acting = passive, needed
        for _ in range(_MORE_ROUNDS if np.all(known[weak]) else _ROUNDS):
            fresh = weak & ~given & ~known
            rotors = np.where(fresh, self._inertia * limit / np.maximum(size - limit, 1e-6 * limit), rotors)
            given = weak
            rotor = self._degrees(np.where(weak, rotors, 0.0))
            at = self._degrees(weak).astype(bool)
            engine.factor(extra + rotor, ~(at | passive))
            change = engine.solve(np.where(at, -needed, 0.0)[None])[0]
            acting = -rotor * change
            found = ask(wanted + change)
            made, size = self._sizes(acting), self._sizes(found)
            # Of a joint alone, torque = need rotor / (rotor + inertia), whatever that is.
            need = np.maximum(need, 1.000001 * np.maximum(limit, made))
            guess = rotors * (need / np.maximum(made, 1e-30) - 1.0) * limit / (need - limit)
            guess = np.clip(guess, 1e-3 * rotors, 1e3 * rotors)
            rotors = np.where(weak, np.clip(guess, 1e-9 * self._inertia, 1e6 * self._inertia), rotors)
            weak = weak | (size > limit) & ~given
        self._rotors, self._weak = rotors, weak
        torques = self._clipped(np.where(at, acting, needed))
        for _ in range(2):
            engine.factor(extra, ~(at | passive))
            change = engine.solve(np.where(at, torques - needed, 0.0)[None])[0]
            found = ask(wanted + change)
            torques = np.where(at, torques, found)
            over = self._degrees(self._sizes(torques) > limit * (1.0 + 1e-12)).astype(bool)
            if not np.any(over):
                break
            torques, at = self._clipped(torques), at | over
        torques = self._clipped(torques)
        return wanted + change, torques, np.any(at[self._extra :].reshape(-1, 3), axis=-1)

    def _sizes(self, torques: Array) -> Array:
        """What of torques (nv,) is limited, (m, 1) or (m, 3)."""
        parts = torques[self._extra :].reshape(-1, 3)
        return np.sqrt(np.einsum("ji,ji->j", parts, parts))[:, None] if self._limit.shape[1] == 1 else np.abs(parts)

    def _clipped(self, torques: Array) -> Array:
        part = np.minimum(1.0, self._limit / np.maximum(self._sizes(torques), 1e-30))
        return np.concatenate((torques[: self._extra], torques[self._extra :] * self._wide(part)))

    def _wide(self, values: Array) -> Array:
        return np.repeat(values, 3) if values.shape[1] == 1 else values.ravel()

    def _degrees(self, values: Array) -> Array:
        """Values (m, 1) or (m, 3) of joints as (nv,), 0 for the root."""
        return np.concatenate((np.zeros(self._extra), self._wide(values)))
