"""Amounts of controls that give a wanted pose, on rigs of which only the evaluated pose is known.

Each frame is a least-squares problem of its own: n amounts of controls change m numbers of the pose. How much each
amount changes is measured once; from then on it is corrected by what each step has done (Broyden, *A class of methods
for solving nonlinear simultaneous equations*, 1965). Several solutions are told apart by weights: the amounts of
preferred controls change most.
"""

import numpy as np

from ..rotation import Array

_REGULAR = 1e-6
"""Part of the largest response below which a combination of amounts does not count."""
_SHORTER, _LONGER = 0.4, 2.0
"""Factors of the longest step after one that made the error larger, and after others."""
_NOTHING = 1e-12


class ControlFit:
    """F frames side by side.

    jacobian: (F, m, n) or (m, n) change of the pose by each amount. weights: (n,) preference of each amount; 0 keeps
    it. longest: step of any amount.
    """

    def __init__(self, jacobian: Array, weights: Array, longest: float, frames: int) -> None:
        shape = (frames, *jacobian.shape[-2:])
        self._weights = np.asarray(weights, dtype=float)
        self._jacobian = np.broadcast_to(jacobian, shape) * self._weights
        self._most, self._longest = longest, np.full(frames, longest)

    def step(self, residual: Array) -> Array:
        """The change of the amounts (F, n) that leaves least of what is missing, `residual` (F, m)."""
        transposed = np.swapaxes(self._jacobian, -1, -2)
        normal = transposed @ self._jacobian
        largest = np.maximum(np.trace(normal, axis1=-2, axis2=-1), _NOTHING)
        normal += (_REGULAR * largest)[:, None, None] * np.eye(normal.shape[-1])
        amounts = np.linalg.solve(normal, (transposed @ residual[..., None]))[..., 0] * self._weights
        size = np.abs(amounts).max(axis=-1, initial=0.0)
        return amounts * np.minimum(1.0, self._longest / np.maximum(size, _NOTHING))[:, None]

    def learn(self, amounts: Array, change: Array) -> None:
        """Take in that a step (F, n) has changed the pose by (F, m)."""
        scaled = np.divide(amounts, self._weights, out=np.zeros_like(amounts), where=self._weights > 0.0)
        missing = change - (self._jacobian @ scaled[..., None])[..., 0]
        size = np.sum(scaled * scaled, axis=-1)
        self._jacobian = self._jacobian + np.where(
            (size > _NOTHING)[:, None, None],
            missing[..., None] * scaled[:, None, :] / np.maximum(size, _NOTHING)[:, None, None],
            0.0,
        )

    def judge(self, better: Array) -> None:
        """Shorten the steps of the frames that a step did not make better (F,), and lengthen those of others."""
        factor = np.where(better, _LONGER, _SHORTER)
        self._longest = np.minimum(self._longest * factor, self._most)
