"""The law with the inertia of another body: its torques move the true one."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..rotation import Array
from .body import Body
from .engine import Engine


class Reference:
    """Joints that apply the torques for the body `reference` to `body`, whose engine is `engine`.

    driven: (nv,), the degrees of freedom with such torques. The step solves (T + B firm) gap = B ahead - T behind with
    the mass matrices T of the true body and B of the reference. If all joints have the same frequency and both bodies
    the same joints, T + B firm is itself the mass matrix of a body, and the engine solves it without a matrix.
    """

    def __init__(
        self, body: Body, reference: Body, engine: Engine, gravity: Array, driven: NDArray[np.bool_], extra: int
    ) -> None:
        self._body, self._reference, self._true = body, reference, engine
        self._other = Engine(reference, gravity, moving_root=extra > 0)
        self._driven, self._where, self._all = driven, np.flatnonzero(driven), bool(np.all(driven))
        self._same = np.array_equal(np.asarray(body.offsets), np.asarray(reference.offsets))
        self._firm: float | None = None
        self._none = np.zeros(len(driven))

    def begin(self, firm: Array) -> None:
        """Start an interval with these factors (nv,) of the reference's mass matrix."""
        values = firm[self._where]
        alike = self._same and len(values) > 0 and np.ptp(values) <= 1e-12 * values[0]
        self._firm = float(values[0]) if alike else None
        shown = self._reference if self._firm is None else _joined(self._body, self._reference, self._firm)
        self._other.weigh(shown)

    def gap(self, ahead: Array, behind: Array, firm: Array) -> Array:
        """The change of velocity (nv,), 0 where nothing is driven; `firm` as for `begin`."""
        true, other = self._true, self._other
        other.data.qpos[:] = true.data.qpos
        other.place()
        if self._firm is None:
            return self._by_matrix(ahead, behind, firm)
        wanted = ahead / self._firm
        both = wanted + behind
        if not self._all:
            both[~self._driven] = 0.0
        other.factor(self._none, None if self._all else ~self._driven)
        result = wanted - other.solve((true.inverse(both) - true.inverse(self._none))[None])[0]
        if not self._all:
            result[~self._driven] = 0.0
        return result

    def _by_matrix(self, ahead: Array, behind: Array, firm: Array) -> Array:
        self._true.factor(self._none)
        rows = np.ix_(self._where, self._where)
        true, reference = (engine.mass_matrix()[rows] for engine in (self._true, self._other))
        right = reference @ ahead[self._where] - true @ behind[self._where]
        result = np.zeros(len(ahead))
        result[self._where] = np.linalg.solve(true + reference * firm[self._where], right)
        return result


def _joined(body: Body, other: Body, factor: float) -> Body:
    """The body of which each bone is that of one body and, with its masses times `factor`, that of another one."""
    masses, more = np.asarray(body.masses), factor * np.asarray(other.masses)
    total = masses + more
    centers = (masses[:, None] * np.asarray(body.centers) + more[:, None] * np.asarray(other.centers)) / total[:, None]
    inertias = np.asarray(body.inertias) + factor * np.asarray(other.inertias)
    for mass, own in ((masses, body.centers), (more, other.centers)):
        arm = np.asarray(own) - centers
        square = np.sum(arm * arm, axis=1)[:, None, None] * np.eye(3)
        inertias = inertias + mass[:, None, None] * (square - arm[:, :, None] * arm[:, None, :])
    return replace(body, masses=total, centers=centers, inertias=inertias, names=None)
