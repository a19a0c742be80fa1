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
        self._where = np.flatnonzero(self._driven)
        self._locked = None if np.all(self._driven) else ~self._driven

    def factors(self, firm: Array) -> Sequence[Array | float]:
        """The factors (s, nv) of steps as `gap` takes them: numbers if those of all driven degrees of freedom are
        alike."""
        values = firm[:, self._where]
        if values.size and values.min() > 0.0 and np.all(np.ptp(values, axis=1) <= 1e-12 * values[:, 0]):
            return values[:, 0].tolist()
        return list(firm)

    def gap(self, coordinates: Array, wanted: Array, behind: Array, firm: Array | float) -> Array:
        """The change of velocity (nv,) at MuJoCo's coordinates (nq,), 0 where nothing is driven.

        wanted: (nv,), what it would be for very firm feedback, ahead / firm. firm: factors of the reference's mass
        matrix, of `factors`.
        """
        self._place(coordinates)
        if isinstance(firm, np.ndarray):
            return self._by_matrix(wanted, behind, firm)
        both = self._driving(wanted + behind)
        return self._driving(wanted - self._other.solve_with(self.true, firm, both, self._locked))

    def difference(self, coordinates: Array, ahead: Array, behind: Array) -> Array:
        """By how much the accelerations (nv,) under the torques that cause `ahead` (nv,) in the reference exceed
        `behind` (nv,) at MuJoCo's coordinates (nq,); 0 where nothing is driven."""
        self._place(coordinates)
        return self._driving(self.true.moved_by(self._other, self._driving(ahead), self._locked) - behind)

    def _driving(self, values: Array) -> Array:
        """Values (nv,), changed to 0 where nothing is driven."""
        if self._locked is not None:
            values[self._locked] = 0.0
        return values

    def _place(self, coordinates: Array) -> None:
        self.true.place_at(coordinates)
        self._other.place_at(coordinates)

    def _by_matrix(self, wanted: Array, behind: Array, firm: Array) -> Array:
        where = self._where
        true, reference = (engine.mass_matrix()[np.ix_(where, where)] for engine in (self.true, self._other))
        reference *= firm[where]
        result = np.zeros(len(wanted))
        result[where] = np.linalg.solve(true + reference, reference @ wanted[where] - true @ behind[where])
        return result
