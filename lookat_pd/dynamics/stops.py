"""Stops: joints stop at the end of their range, with an impulse on the bones above and below."""

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..ik import Limits
from ..rotation import Array
from .engine import Engine
from .hinges import HingedLimits

_OUTSIDE = 1e-9


class Stops:
    """The limits of a body's joints as stops without bounce. The engine has `extra` velocities before the joints'."""

    def __init__(
        self,
        limits: Limits | HingedLimits,
        engine: Engine,
        extra: int,
        fixed: NDArray[np.bool_] | None = None,
        driven: NDArray[np.bool_] | None = None,
    ) -> None:
        """fixed, driven: (nv,), degrees of freedom that no impulse moves, and those that stops of others do not."""
        self._limits, self._engine, self._extra = limits, engine, extra
        self._fixed, self._driven = fixed, driven
        self._count = len(engine.order)

    def hold(self, extra: Array) -> bool:
        """Return each joint that has left its range, and remove its outward velocity by an impulse; whether there are
        such joints.

        extra: as for the engine's `factor`.
        """
        engine = self._engine
        pose = engine.q[-self._count :]
        allowed = self._allowed(pose)
        back = rotation.log(rotation.multiply(rotation.inverse(pose), allowed))
        size = np.linalg.norm(back, axis=-1)
        hit = np.flatnonzero(size > _OUTSIDE)
        if not len(hit):
            return False
        hard = self._fixed
        if self._driven is not None and not np.any(self._driven[self._extra :].reshape(-1, 3)[hit]):
            # What hangs loosely does not move driven joints.
            hard = self._driven if hard is None else self._driven | hard
        engine.place()
        masses, potential = engine.energy()
        energy = potential + 0.5 * engine.w @ masses @ engine.w
        pose[:] = allowed
        inward = back[hit] / size[hit, None]
        pushes = np.zeros((len(hit), len(engine.w)))
        for row, joint in enumerate(hit):
            first = self._extra + 3 * joint
            pushes[row, first : first + 3] = inward[row]
        engine.place()
        self._push(pushes, extra, hard)
        self._lose(energy, hard)
        return True

    def _push(self, pushes: Array, extra: Array, hard: NDArray[np.bool_] | None) -> None:
        """Remove the velocity against these directions (k, nv)."""
        engine = self._engine
        engine.factor(extra, hard)
        outward = -pushes @ engine.w
        pushes, outward = pushes[outward > 0.0], outward[outward > 0.0]
        while len(pushes):
            accelerations = engine.solve(pushes)
            impulses = np.linalg.lstsq(accelerations @ pushes.T, outward, rcond=None)[0]
            if impulses.min() >= 0.0:
                engine.w += impulses @ accelerations
                return
            # A stop can push but not pull: a joint that others push away leaves it freely.
            keep = np.arange(len(pushes)) != np.argmin(impulses)
            pushes, outward = pushes[keep], outward[keep]

    def _lose(self, energy: float, hard: NDArray[np.bool_] | None) -> None:
        """Slow the joints down where the return into the range has raised the energy above `energy` [J].

        hard: (nv,), degrees of freedom that keep their velocity.
        """
        engine = self._engine
        masses, potential = engine.energy()
        slowed = engine.w if hard is None else np.where(hard, 0.0, engine.w)
        kept = engine.w - slowed
        # The kinetic energy is quadratic in the factor of the velocities.
        a, b = 0.5 * slowed @ masses @ slowed, kept @ masses @ slowed
        rest = potential + 0.5 * kept @ masses @ kept - energy
        if a + b + rest <= 0.0 or a <= 0.0:
            return
        factor = (np.sqrt(max(b * b - 4.0 * a * rest, 0.0)) - b) / (2.0 * a)
        engine.w[:] = kept + np.clip(factor, 0.0, 1.0) * slowed

    def _allowed(self, q: Array) -> Array:
        """The nearest allowed pose (n, 4) to one in the order of the engine."""
        order, pose = self._engine.order, np.empty(q.shape)
        pose[order] = q
        return self._limits.clamp(pose)[order]
