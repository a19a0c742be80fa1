"""The law with the inertia of another body: its torques move the true one."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..rotation import Array
from .body import Body, principal
from .engine import Engine

_KEPT = 16
"""For how many factors the joined bodies are kept."""


class Reference:
    """Joints that apply the torques for the body `reference` to `body`.

    driven: (n, 3), the degrees of freedom with such torques. The step solves (T + B firm) gap = B ahead - T behind with
    the mass matrices T of the true body and B of the reference. If all joints have the same frequency and both bodies
    the same joints, T + B firm is itself the mass matrix of a body, and the engine solves it without a matrix.
    """

    def __init__(self, body: Body, reference: Body, driven: NDArray[np.bool_], *, moving_root: bool) -> None:
        # Neither moves nor falls, so that its inverse dynamics are the product with the mass matrix.
        self.true = true = Engine(body, np.zeros(3), moving_root=moving_root)
        true.place()
        self._other = true.copied()
        self._bones, self._own = _Bones.of(body), _Bones.of(reference)
        extra = np.zeros(6 * moving_root, dtype=bool)
        self._driven = np.concatenate((extra, driven[true.order].ravel()))
        self._where, self._all = np.flatnonzero(self._driven), bool(np.all(self._driven))
        self._same = np.array_equal(np.asarray(body.offsets), np.asarray(reference.offsets))
        self._joined: dict[float, tuple[Array, ...]] = {}
        self._firm: float | None = None
        self._shown: float | None = None
        self._none = np.zeros(len(self._driven))
        if not self._same:
            self._other = Engine(reference, np.zeros(3), moving_root=moving_root)

    def begin(self, firm: Array) -> None:
        """Start steps with these factors (nv,) of the reference's mass matrix."""
        values = firm[self._where]
        alike = self._same and len(values) > 0 and np.ptp(values) <= 1e-12 * values[0]
        self._firm = float(values[0]) if alike else None
        # Without a factor the other engine is the reference itself. Steps of one length differ by rounding.
        wanted = float(f"{self._firm or 0.0:.12g}")
        if wanted == self._shown or not self._same:
            return
        if wanted not in self._joined:
            if len(self._joined) >= _KEPT:
                self._joined.clear()
            bones = _joined(self._bones, self._own, wanted) if wanted else self._own
            self._joined[wanted] = bones.masses, bones.centers, *principal(bones.inertias)
        self._other.weigh(*self._joined[wanted])
        self._shown = wanted

    def gap(self, coordinates: Array, ahead: Array, behind: Array, firm: Array) -> Array:
        """The change of velocity (nv,) at MuJoCo's coordinates (nq,), 0 where nothing is driven; `firm` as for
        `begin`."""
        true, other = self.true, self._other
        true.data.qpos[:] = other.data.qpos[:] = coordinates
        true.place_still()
        other.place_still()
        if self._firm is None:
            return self._by_matrix(ahead, behind, firm)
        wanted = ahead / self._firm
        both = wanted + behind
        if self._all:
            other.factor_own()
            return wanted - other.solve(true.inverse(both)[None])[0]
        both[~self._driven] = 0.0
        other.factor(self._none, ~self._driven)
        result = wanted - other.solve(true.inverse(both)[None])[0]
        result[~self._driven] = 0.0
        return result

    def _by_matrix(self, ahead: Array, behind: Array, firm: Array) -> Array:
        self.true.factor(self._none)
        self._other.factor(self._none)
        rows = np.ix_(self._where, self._where)
        true, reference = (engine.mass_matrix()[rows] for engine in (self.true, self._other))
        right = reference @ ahead[self._where] - true @ behind[self._where]
        result = np.zeros(len(ahead))
        result[self._where] = np.linalg.solve(true + reference * firm[self._where], right)
        return result


class _Bones(NamedTuple):
    """Masses (n,), centers (n, 3) and inertias (n, 3, 3) of bones, as of a body."""

    masses: Array
    centers: Array
    inertias: Array

    @classmethod
    def of(cls, body: Body) -> "_Bones":
        return cls(np.asarray(body.masses), np.asarray(body.centers), np.asarray(body.inertias))


def _joined(bones: _Bones, others: _Bones, factor: float) -> _Bones:
    """Bones each of which is that of one body and, with its masses times `factor`, that of another one."""
    more = factor * others.masses
    total = bones.masses + more
    centers = (bones.masses[:, None] * bones.centers + more[:, None] * others.centers) / total[:, None]
    inertias = bones.inertias + factor * others.inertias
    for mass, own in ((bones.masses, bones.centers), (more, others.centers)):
        arm = own - centers
        square = np.sum(arm * arm, axis=1)[:, None, None] * np.eye(3)
        inertias = inertias + mass[:, None, None] * (square - arm[:, :, None] * arm[:, None, :])
    return _Bones(total, centers, inertias)
