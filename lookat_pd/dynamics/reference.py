"""Joints that apply the torques for another body, against friction that the law does not make up for."""

import numpy as np
from numpy.typing import NDArray

from ..rotation import Array
from .body import Body
from .engine import Engine


class Burden:
    """What torques for the body `reference`, and friction, make of accelerations that the law asks for.

    With the mass matrices T of the true body and B of the reference, T a = B a_law - friction. The matrix of a stage,
    T + B firm + drag, is made symmetric if joints differ in firmness; it then has the zeros of a mass matrix, and the
    engine factorizes it as one.
    """

    def __init__(self, engine: Engine, reference: Body | None, driven: NDArray[np.bool_], *, moving_root: bool) -> None:
        """driven: (nv,), the degrees of freedom with such torques; the others are as if they were locked."""
        self._true, self._driven = engine, driven
        # It neither moves nor falls: only its mass matrix is used.
        self._other = None if reference is None else Engine(reference, np.zeros(3), moving_root=moving_root)
        self._scale: Array | float = 1.0

    def prepare(self, firm: Array) -> None:
        """Before stages with this implicit feedback (nv,)."""
        root = np.sqrt(firm)
        self._scale = self._true.products(root)

    def change(self, q: Array, asked: Array, rise: Array, law: Array, friction: Array, drag: Array) -> Array:
        """The change of the accelerations `rise` (nv,) of the deviation from the law, whose own are `law` (nv,), at
        coordinates (nq,) at which the engine is placed. asked: (nv,), those that the law's feedback asks for.
        friction: (nv,), torques. drag: (nv,), diagonal that is added to the mass matrix."""
        true, other, driven = self._true, self._other, self._driven
        if other is None:
            torques, masses = true.multiplied(np.where(driven, asked - rise, 0.0)), true.entries
        else:
            other.place_at(q)
            torques = other.multiplied(np.where(driven, law + asked, 0.0))
            torques -= true.multiplied(np.where(driven, law + rise, 0.0))
            masses = other.entries
        torques = np.where(driven, torques - friction, 0.0)
        true.factor_sum(self._scale * masses, drag, ~driven)
        return true.solve(torques[None])[0] * driven
