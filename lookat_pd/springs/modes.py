"""Chains of bones as coupled pendulums: their modes, each of which swings by itself.

Where each bone is solved on the result of its parent, as in VRM and in engines, nothing pulls the parent back, and
every link of a long chain multiplies the swing: a tail of six bones at the animator's 0.6 s lashes about by more than
180° when its animal turns. Here bones act on each other as those of a body do. A bone has a mass in proportion to its
length at its tip, and a torsion spring towards the animation in proportion to what hangs on it. The slowest mode of a
chain whose bones have one settle time has that settle time; a chain of one bone is a plain damped pendulum.

Coordinates are the swings of the bones from their animated directions in the space of the chain's base, so the chain is
one linear system, M z'' + C z' + K z = Q, as if it were stretched out.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..rotation import Array
from .tuning import SpringTuning


@dataclass(frozen=True)
class Bodies:
    """n bones that have a length, each after the one that it hangs on."""

    parents: Array
    """(n,) -1 for those that hang on the animation."""
    roots: Array
    """(n,) the first of each chain."""
    lengths: Array
    """(n,) [m]"""
    beyond: Array
    """(n, n) 1 where a bone, of the columns, is another one or hangs on it, else 0."""

    @classmethod
    def made(cls, parents: Array, lengths: Array) -> "Bodies":
        count = len(parents)
        roots, beyond = np.arange(count), np.eye(count)
        for bone in np.flatnonzero(parents >= 0):
            roots[bone] = roots[parents[bone]]
        for bone in np.flatnonzero(parents >= 0)[::-1]:
            beyond[parents[bone]] += beyond[bone]
        return cls(parents, roots, lengths, beyond)

    @property
    def hanging(self) -> Array:
        """(n,) the masses of each and of those that hang on it; a mass is a length."""
        return self.beyond @ self.lengths

    def chains(self) -> list[Array]:
        """Bones (c, s) of the chains of each size."""
        _, first, sizes = np.unique(self.roots, return_index=True, return_counts=True)
        by_size = {}
        for root, size in zip(self.roots[first].tolist(), sizes.tolist(), strict=True):
            by_size.setdefault(size, []).append(np.flatnonzero(self.roots == root))
        return [np.array(rows) for rows in by_size.values()]


@dataclass(frozen=True)
class _Chains:
    """The modes of c chains of s bones."""

    rows: Array
    """(c, s) bones."""
    shapes: Array
    """(c, s, s) modes, by columns."""
    parts: Array
    """(c, s, s) inverse of the shapes, transposed."""
    stiffness: Array
    """(c, s) squared angular frequencies."""
    damping: Array
    """(c, s) [1/s]"""


class Modes:
    """The modes of all chains. One has a number of a bone of its chain."""

    def __init__(self, bodies: Bodies, tuning: SpringTuning, held: Array) -> None:
        """held: (n,) what holds each bone besides its spring, a torque by the angle."""
        self._chains = [_modes(bodies, tuning, held, rows) for rows in bodies.chains()]
        count = len(bodies.parents)
        self.stiffness, self.damping = np.empty(count), np.empty(count)
        for chains in self._chains:
            self.stiffness[chains.rows], self.damping[chains.rows] = chains.stiffness, chains.damping

    def one_size(self) -> tuple[Array, Array]:
        """The modes (c, s, s) by columns, and their inverse, where all chains have s bones."""
        (chains,) = self._chains
        return chains.shapes, np.swapaxes(chains.parts, 1, 2)

    def by_size(self) -> list[tuple[Array, Array]]:
        """Bones (c, s) of the chains of each size, with their modes (c, s, s) by columns."""
        return [(chains.rows, chains.shapes) for chains in self._chains]

    def of(self, torques: Array) -> Array:
        """Torques (..., n) on bones as what drives the modes (..., n)."""
        return self._mapped(torques, lambda chains: chains.shapes)

    def swings(self, amounts: Array) -> Array:
        """Amounts (..., n) of modes as swings (..., n) of bones."""
        return self._mapped(amounts, lambda chains: np.swapaxes(chains.shapes, 1, 2))

    def amounts(self, swings: Array) -> Array:
        """Swings (..., n) of bones as amounts (..., n) of modes."""
        return self._mapped(swings, lambda chains: chains.parts)

    def _mapped(self, values: Array, matrices: Callable[[_Chains], Array]) -> Array:
        result = np.empty_like(values)
        for chains in self._chains:
            some = values[..., chains.rows]
            result[..., chains.rows] = (some[..., None, :] @ matrices(chains))[..., 0, :]
        return result


def springs(bodies: Bodies) -> Array:
    """(n,) stiffness of each bone's spring at 1 rad/s, before it is made that of its chain."""
    ends = np.zeros(len(bodies.parents))
    for bone, parent in enumerate(bodies.parents):
        ends[bone] = bodies.lengths[bone] + (ends[parent] if parent >= 0 else 0.0)
    starts = ends - bodies.lengths
    # The first moment about the joint of what hangs on it: a chain bends evenly then.
    return (bodies.beyond * (ends[None] - starts[:, None]) * bodies.lengths[None]).sum(axis=1)


def _modes(bodies: Bodies, tuning: SpringTuning, held: Array, rows: Array) -> _Chains:
    count, size = rows.shape
    own, lengths = bodies.beyond[rows[:, :, None], rows[:, None]], bodies.lengths[rows]
    mass = lengths[:, :, None] * lengths[:, None] * np.einsum("cik,ck,cjk->cij", own, lengths, own)
    moment = springs(bodies)[rows]
    bends = np.tile(np.eye(size), (count, 1, 1))
    first = np.concatenate((rows, np.full((count, 1), -1)), axis=1)
    for chain, bone in zip(*np.nonzero(bodies.parents[rows] >= 0), strict=True):
        above = int(np.flatnonzero(first[chain] == bodies.parents[rows[chain, bone]])[0])
        bends[chain, bone, above] = -1.0
    factor = np.linalg.inv(np.linalg.cholesky(mass))

    def solved(stiffness: Array) -> tuple[Array, Array]:
        whole = np.swapaxes(bends, 1, 2) @ (stiffness[..., None] * bends)
        whole[:, np.arange(size), np.arange(size)] += held[rows] if stiffness is not moment else 0.0
        values, vectors = np.linalg.eigh(factor @ whole @ np.swapaxes(factor, 1, 2))
        return values, np.swapaxes(factor, 1, 2) @ vectors

    slowest = solved(moment)[0][:, :1]
    own_springs = moment / slowest * tuning.omega[rows] ** 2
    values, shapes = solved(own_springs)
    bent = own_springs[..., None] * (bends @ shapes) ** 2
    ratio = (bent * tuning.damping_ratio[rows][..., None]).sum(axis=1) / np.maximum(bent.sum(axis=1), 1e-300)
    # Damping is that of the springs alone: what holds a pendulum up does not damp it.
    pull = np.sqrt(np.maximum(bent.sum(axis=1), 1e-300))
    moved = np.swapaxes(own, 1, 2) @ (lengths[..., None] * shapes)
    air = (lengths[..., None] * tuning.drag[rows][..., None] * moved**2).sum(axis=1)
    parts = np.swapaxes(np.linalg.inv(shapes), 1, 2)
    return _Chains(rows, shapes, parts, np.maximum(values, 1e-12), 2.0 * ratio * pull + air)
