"""Contacts of chains of bones with colliders over a few steps, for which they are linear in the swings.

c chains have s bones each; p of these are near a collider. The forces of all contacts of a chain are found together, so
that what touches with its tip lifts the bones on which it hangs, too. What goes in is pushed out, and stops without
bouncing; friction takes away no more of the slip than the contact's force allows.
"""

from math import sqrt

import numpy as np

from ..rotation import Array

_TOUCHING = b"\x01"
"""What is among the bytes of truth values of which one is true."""
_EVERY_WAY = np.eye(3)
_SOFT = 1e-6
"""Part by which contacts that act alike are softened, so that their forces are known."""
_CLOSED = 1e-9
"""Part of the largest gap up to which one is closed."""
_ROUNDS = 4
"""Most times that it is seen what else is touched by what is pushed out."""


class Contacts:
    """p contacts that may come to be, over some steps.

    A state here is the swings of all c s bones, each in two parts, then their rates: (2, 2 c s).
    """

    def __init__(
        self,
        chains: Array,
        gaps: Array,
        normals: Array,
        moves: Array,
        drift: Array,
        friction: Array,
        softness: Array,
        yields: Array,
        dt: float,
    ) -> None:
        """chains: (p,) that of each. gaps: (p,) distances from touching [m]. normals: (p, 3) out of the colliders.
        moves: (p, 2 s, 3) how the point that touches moves with the swings of its chain. drift: (p, 3) how it moves
        away from the collider in a step by itself [m]. friction: (p,). yields: (k, c, s, s) by how much swings, and
        rates, of chains yield to torques. softness: (p, k) by how much contacts themselves yield."""
        self.chains, self.gaps, self.friction = chains, gaps, friction
        self._count, size = moves.shape[:2]
        count, self._several, levels = self._count, yields.shape[1] > 1, len(yields)
        every = yields.shape[1]
        yields = yields[:, chains] if self._several else yields
        pushed = (moves @ normals[..., None])[..., 0]
        fall = np.add.reduce(drift * normals, axis=1)
        weighed = (yields @ pushed.reshape(count, -1, 2)).reshape(levels, count, size)
        self._mass = weighed @ pushed.T
        if self._several:
            self._mass *= chains[:, None] == chains
        diagonal = self._mass.reshape(levels, -1)[:, :: count + 1]
        diagonal *= 1.0 + _SOFT
        diagonal += softness.T + 1e-30
        self._solved: dict[bytes, Array] = {}
        self._single: dict[int, tuple] = {}
        # By the bones of all chains.
        self._place = np.arange(count)[:, None], chains[:, None] * size + np.arange(size)
        self._whole = size * every
        self._sees, self._pushes = self._spread(pushed[None])[0].T, self._spread(weighed)
        own = [fall]
        self._slips = bool(friction.any())
        if self._slips:
            # A slip leaves the distance as it is: to be pushed out is none, and friction pushes nothing in.
            across = _EVERY_WAY - normals[:, :, None] * normals[:, None]
            slips = moves @ across
            heavy = (yields @ slips.reshape(count, -1, 6)).reshape(levels, *moves.shape)
            masses = self._mass.reshape(levels, -1)[:, :: count + 1]
            shared = (weighed[:, :, None] @ slips)[:, :, 0] / masses[..., None]
            heavy -= weighed[..., None] * shared[:, :, None]
            slips = slips - pushed[..., None] * shared[0][:, None]
            own.append(((across @ drift[..., None])[..., 0] - shared[0] * fall[:, None]).reshape(-1))
            sizes = np.sqrt(np.maximum(np.add.reduce(heavy * slips, axis=(2, 3)), 1e-30))
            every_one = np.add.reduce(sizes[:, None] * (chains[:, None] == chains), axis=2)
            self._slide = 1.0 / (sizes * every_one)[..., None]
            slips = self._spread(slips[None])[0].transpose(1, 0, 2).reshape(self._whole, -1)
            drags = self._spread(heavy).transpose(0, 1, 3, 2).reshape(levels, -1, self._whole)
            self._slides = np.ascontiguousarray(slips)
            self._sees = np.concatenate((self._sees, slips), axis=1)
            self._pushes = np.concatenate((self._pushes, -drags), axis=1)
        carried = np.concatenate(own)
        self._carried = np.array((carried, carried / dt))
        self._begun = self._carried[None]
        self._last = np.zeros(0)

    def _spread(self, values: Array) -> Array:
        """Values (k, p, 2 s, ...) for the bones of a chain as those for all, (k, p, 2 c s, ...)."""
        if not self._several:
            return values
        result = np.zeros((*values.shape[:2], self._whole, *values.shape[3:]))
        result[:, *self._place] = values
        return result

    def begin(self, free: Array, steps: int) -> int:
        """How many of some steps are taken before anything touches. free: (k + 1, 2, 2 c s) the states after the first
        k of them without contacts."""
        count, begin, carried = self._count, len(free) - 1, self._carried
        self._begun = np.empty((steps, *carried.shape))
        self._begun[:] = carried
        seen = free[:, 0] @ self._sees[:, :count]
        self._begun[:, 0, :count] = self.gaps - seen[0] + np.arange(1.0, steps + 1.0)[:, None] * carried[0, :count]
        if begin:
            touches = (seen[1:] + self._begun[:begin, 0, :count] < 0.0).any(axis=1)
            begin = int(touches.argmax()) if touches.any() else begin
        if self._slips:
            self._last = free[begin, 0] @ self._slides
        return begin

    def stop(self, step: int, state: Array) -> bool:
        """Change a state, as it is after this of the steps, by the contacts; whether there is any."""
        count = self._count
        seen = state @ self._sees
        slid = seen[0, count:].copy() if self._slips else self._last
        seen += self._begun[step]
        gaps = seen[:, :count]
        active = (gaps[0] < 0.0).tobytes()
        touching = active.count(_TOUCHING)
        if touching == 0:
            self._last = slid
            return False
        if touching == 1:
            change = self._stopped(active.index(_TOUCHING), seen)
            state += change
            if self._slips:
                slid += change[0] @ self._slides
                self._last = slid
            return True
        forces = self._forces(np.minimum(gaps, 0.0), gaps[0] < 0.0)
        if not self._slips:
            state += (forces[:, None] @ self._pushes)[:, 0]
            return True
        slips = seen[:, count:]
        slips[0] -= self._last
        slips = slips.reshape(2, count, 3)
        slips *= self._slide
        size = np.sqrt(np.add.reduce(slips * slips, axis=2))
        size += 1e-30
        np.divide(self.friction * forces, size, out=size)
        slips *= np.minimum(size, 1.0, out=size)[..., None]
        gaps[:] = forces
        change = (seen[:, None] @ self._pushes)[:, 0]
        state += change
        slid += change[0] @ self._slides
        self._last = slid
        return True

    def _stopped(self, one: int, seen: Array) -> Array:
        """(2, 2 c s) what the only contact that touches changes, without arrays that are so small."""
        if one not in self._single:
            rows = [one]
            if self._slips:
                rows += range(self._count + 3 * one, self._count + 3 * one + 3)
            slide = self._slide[:, one, 0].tolist() if self._slips else (0.0, 0.0)
            masses = self._mass[:, one, one].tolist()
            self._single[one] = masses, slide, float(self.friction[one]), self._pushes[:, rows], rows
        masses, slide, friction, pushes, rows = self._single[one]
        parts = seen[:, rows].tolist()
        if self._slips:
            first = 3 * one
            for n, last in enumerate(self._last[first : first + 3].tolist()):
                parts[0][n + 1] -= last
        for level in (0, 1):
            gap, *slips = parts[level]
            force = max(-gap, 0.0) / masses[level]
            if slips:
                x, y, z = slips
                size = slide[level] * sqrt(x * x + y * y + z * z) + 1e-30
                kept = slide[level] * min(1.0, friction * force / size)
                parts[level] = [force, kept * x, kept * y, kept * z]
            else:
                parts[level] = [force]
        return (np.array(parts)[:, None] @ pushes)[:, 0]

    def _forces(self, gaps: Array, active: Array) -> Array:
        """(k, p) pushes that close gaps (k, p) below 0 where active; none pulls."""
        gaps = gaps[:, None]
        found = (gaps @ self._inverse(active))[:, 0]
        pulls = found[0] < 0.0
        if _TOUCHING in pulls.tobytes():
            rest = active & ~pulls
            if rest.any():
                found = (gaps @ self._inverse(rest))[:, 0]
        return np.maximum(found, 0.0, out=found)

    def _inverse(self, active: Array) -> Array:
        """(k, p, p) minus the inverse of the active rows of the masses, 0 elsewhere."""
        key = active.tobytes()
        found = self._solved.get(key)
        if found is None:
            rows = np.flatnonzero(active)
            found = np.zeros(self._mass.shape)
            if len(rows) == 1:
                found[:, rows, rows] = -1.0 / self._mass[:, rows, rows]
            else:
                found[:, rows[:, None], rows] = -_inverted(self._mass, self.chains, rows)
            self._solved[key] = found
        return found

    def push_out(self, lift: float) -> Array:
        """(2 c s,) changes of swings that bring all out of the colliders, by `lift` [m] more than that."""
        active = self.gaps < 0.0
        for _ in range(_ROUNDS):
            forces = self._forces((self.gaps - lift)[None], active)[0]
            # What is pushed out of one collider may be pushed into another, or out of its cone.
            left = forces @ self._mass[0] + self.gaps < -lift
            if not np.any(left & ~active):
                break
            active = active | left
        return forces @ self._pushes[0, : self._count]

    def carried(self, move: Array) -> Array:
        """A change of swings (2 c s,) by which nothing goes in: what touches is in balance, and nothing pulls."""
        gaps = self.gaps + move @ self._sees[:, : self._count]
        active, forces = gaps < 0.0, np.zeros(self._count)
        for _ in range(4 * self._count + 4):
            forces = gaps @ self._inverse(active)[0]
            wrong = np.where(active, forces, 0.0)
            if wrong.min() >= 0.0:
                wrong = np.where(active, 0.0, forces @ self._mass[0] + gaps)
                if wrong.min() >= -_CLOSED * np.abs(gaps).max():
                    break
            worst = np.zeros(int(self.chains.max()) + 1)
            np.minimum.at(worst, self.chains, wrong)
            # One at a time of each chain, or they take turns.
            active = active ^ ((wrong < 0.0) & (wrong == worst[self.chains]))
        return move + forces @ self._pushes[0, : self._count]


def _inverted(mass: Array, chains: Array, rows: Array) -> Array:
    """The inverses of the rows' parts of matrices (k, p, p) that have nothing between chains."""
    if len(rows) <= 24:
        return np.linalg.inv(mass[:, rows[:, None], rows])
    result = np.zeros((len(mass), len(rows), len(rows)))
    for chain in np.unique(chains[rows]):
        own = np.flatnonzero(chains[rows] == chain)
        result[:, own[:, None], own] = np.linalg.inv(mass[:, rows[own][:, None], rows[own]])
    return result
