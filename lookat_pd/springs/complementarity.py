"""Pushes that close what is open the wrong way, of which none pulls: linear complementarity problems, many at once.

Source: block pivoting as a guess, then Murty's single pivots: Júdice, Pires, Comput. Oper. Res. 21 (5), 1994.
"""

import numpy as np

from ..rotation import Array

_AT_ONCE, _ROUNDS = 2, 12
"""Rounds in which all that is wrong is changed at once, and most rounds in all."""
_CLOSED = 1e-9
"""Part of the largest gap up to which one is closed."""


def pushes(masses: Array, gaps: Array, active: Array, among: Array) -> tuple[Array, Array]:
    """Pushes (..., n) by which no gap (..., n) is below 0 that changes by masses (..., n, n) times them, and which of
    them push; where one does, the gap is closed.

    active: (..., n) those from which it begins. among: (..., n) those that may push.
    """
    closed = -_CLOSED * np.abs(gaps).max(axis=-1, keepdims=True, initial=0.0, where=among) - 1e-15
    every = np.arange(gaps.shape[-1])
    found = np.zeros(gaps.shape)
    for n in range(_ROUNDS):
        whole = masses * (active[..., None] & active[..., None, :])
        whole[..., every, every] += ~active
        found = np.linalg.solve(whole, np.where(active, -gaps, 0.0)[..., None])[..., 0]
        wrong = np.where(active, found, 0.0)
        pulls = wrong < 0.0
        if pulls.any():
            if n >= _AT_ONCE:
                pulls &= wrong == wrong.min(axis=-1, keepdims=True)
            active = active & ~pulls
            continue
        idle = among & ~active
        if not idle.any():
            break
        left = np.where(idle, (masses @ found[..., None])[..., 0] + gaps, 0.0)
        opened = left < closed
        if not opened.any():
            break
        if n >= _AT_ONCE:
            opened &= left == left.min(axis=-1, keepdims=True)
        active = active | opened
    return np.maximum(found, 0.0), active
