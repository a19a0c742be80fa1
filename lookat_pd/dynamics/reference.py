"""The law with the inertia of another body: its torques move the true one."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..rotation import Array
from .body import Body
from .engine import Engine


class Reference:
    """Joints that apply the torques for the body `reference` to `body`.

    driven: (n, 3), the degrees of freedom with such torques. A step solves (T + B firm) gap = B ahead - T behind with
    the mass matrices T of the true body and B of the reference. If all joints have the same factor, the matrix is
    symmetric and has the zeros of a mass matrix, and the engine factorizes it as one.
    """

    def __init__(self, body: Body, reference: Body, driven: NDArray[np.bool_], *, moving_root: bool) -> None:
        # Neither moves nor falls: only their mass matrices are used.
        self.true = true = Engine(body, np.zeros(3), moving_root=moving_root)
        self._other = Engine(reference, np.zeros(3), moving_root=moving_root)
        extra = np.zeros(6 * moving_root, dtype=bool)
        self._driven = np.concatenate((extra, driven[true.order].ravel()))
        self._where, self._all = np.flatnonzero(self._driven), bool(np.all(self._driven))

    def factors(self, firm: Array) -> Sequence[Array | float]:
        """The factors (s, nv) of steps as `gap` takes them: numbers if those of all driven degrees of freedom are
        alike."""
        values = firm[:, self._where]
        if values.size and values.min() > 0.0 and np.all(np.ptp(values, axis=1) <= 1e-12 * values[:, 0]):
            return values[:, 0].tolist()
        return list(firm)

    def gap(self, coordinates: Array, ahead: Array, behind: Array, firm: Array | float) -> Array:
        """The change of velocity (nv,) at MuJoCo's coordinates (nq,), 0 where nothing is driven. firm: factors of the
        reference's mass matrix, of `factors`."""
        true, other = self.true, self._other
        true.place_at(coordinates)
        other.place_at(coordinates)
        if not isinstance(firm, float):
            return self._by_matrix(ahead, behind, np.asarray(firm)[self._where])
        wanted = ahead / firm
        both = wanted + behind
        if self._all:
            return wanted - other.solve_with(true, firm, both, None)
        both[~self._driven] = 0.0
        result = wanted - other.solve_with(true, firm, both, ~self._driven)
        result[~self._driven] = 0.0
        return result

    def _by_matrix(self, ahead: Array, behind: Array, firm: Array) -> Array:
        rows = np.ix_(self._where, self._where)
        true, reference = (engine.mass_matrix()[rows] for engine in (self.true, self._other))
        right = reference @ ahead[self._where] - true @ behind[self._where]
        result = np.zeros(len(ahead))
        result[self._where] = np.linalg.solve(true + reference * firm, right)
        return result
