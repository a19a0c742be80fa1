"""Joints that come to the end of their range stop there, and what they carry and what carries them feels it."""

import numpy as np

from .. import rotation
from ..ik import Limits
from ..rotation import Array
from .engine import Engine

_OUTSIDE = 1e-9


class Stops:
    """The limits of a body's joints as stops without bounce. The engine has `extra` velocities before the joints'."""

    def __init__(self, limits: Limits, engine: Engine, extra: int) -> None:
        self._limits, self._engine, self._extra = limits, engine, extra
        self._count = len(engine.order)

    def advance(self, h: float) -> None:
        """Move the engine on by h seconds; an impulse at each joint that would leave its range changes velocities."""
        engine = self._engine
        before = engine.q[-self._count :].copy()
        speeds = engine.w[self._extra :].reshape(-1, 3)
        ahead = rotation.multiply(before, rotation.exp(h * speeds))
        back = rotation.log(rotation.multiply(rotation.inverse(ahead), self._allowed(ahead)))
        size = np.linalg.norm(back, axis=-1)
        hit = np.flatnonzero(size > _OUTSIDE)
        if len(hit):
            inward = back[hit] / size[hit, None]
            pushes = np.zeros((len(hit), len(engine.w)))
            for row, joint in enumerate(hit):
                pushes[row, self._extra + 3 * joint : self._extra + 3 * joint + 3] = inward[row]
            answers = engine.solve(pushes)
            outward = -np.sum(speeds[hit] * inward, axis=-1)
            impulses = np.linalg.lstsq(answers @ pushes.T, outward, rcond=None)[0]
            engine.w += np.maximum(impulses, 0.0) @ answers
        engine.advance(h)
        if len(hit):
            engine.q[-self._count :] = self._allowed(engine.q[-self._count :])

    def _allowed(self, q: Array) -> Array:
        """The allowed pose (n, 4) near one in the engine's order."""
        order, pose = self._engine.order, np.empty(q.shape)
        pose[order] = q
        return self._limits.clamp(pose)[order]
