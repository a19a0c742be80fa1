"""Contacts of chains of bones with colliders over a few steps, for which they are linear in the swings.

c chains have s bones each; p of these are near a collider. The forces of all contacts of a chain are found together, so
that what touches with its tip lifts the bones on which it hangs, too. What goes in is pushed out, and stops without
bouncing; friction takes away no more of the slip than the contact's force allows. The ends of cones are seen anew in
each step: a bone that is pulled hard against a narrow one swings along its end, and would be thrown about otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from ..rotation import Array

_TRUE = b"\x01"
"""What is among the bytes of truth values of which one is true."""
_EVERY_WAY = np.eye(3)
_SOFT = 1e-6
"""Part by which contacts that act alike are softened, so that their forces are known."""
_CLOSED = 1e-9
"""Part of the largest gap up to which one is closed."""
GIVES = np.array([0.1, 0.5])
"""Parts of what swings, and rates, yield to a torque in a step by which ends of cones do, and contacts while a bone is
at its end. Where a collider pushes a bone beyond its cone, the forces of both would be huge, and tear the chain to and
fro; and several bones at their ends would throw each other about."""
_ROUNDS = 4
"""Most times that it is seen what else is touched by what is pushed out."""


@dataclass(frozen=True)
class Ends:
    """q bones that may come to the ends of their cones."""

    chains: Array
    """(q,) that of each."""
    sees: Array
    """(2 q, 2 s) how each is swung from what it hangs on, both parts of that, by the swings of its chain."""
    limits: Array
    """(q,) [rad]"""
    softness: Array
    """(q, k) by how much their ends yield, see `Contacts`."""


class Contacts:
    """p contacts that may come to be, over some steps."""

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
        ends: Ends | None = None,
    ) -> None:
        """chains: (p,) that of each. gaps: (p,) distances from touching [m]. normals: (p, 3) out of the colliders.
        moves: (p, 2 s, 3) how the point that touches moves with the swings of its chain. drift: (p, 3) how it moves
        away from the collider in a step by itself [m]. friction: (p,). yields: (k, c, s, s) by how much swings, and
        rates, of chains yield to torques. softness: (p, k) by how much contacts themselves yield."""
        self.chains, self.gaps, self.friction, self.dt, self.ends = chains, gaps, friction, dt, ends
        self._normals, self._moves, self._drift = normals, moves, drift
        self._count, self._several, self._every = len(moves), yields.shape[1] > 1, yields.shape[1]
        levels = len(yields)
        self._yields_of, self._yields = yields, yields[:, chains] if self._several else yields
        self._pushed = (moves @ normals[..., None])[..., 0]
        """(p, 2 s) how gaps change with the swings of their chains."""
        self._weighed = (self._yields @ self._pushed.reshape(self._count, yields.shape[-1], 2)).reshape(
            levels, *self._pushed.shape
        )
        """(k, p, 2 s) how swings, and rates, of chains change by forces."""
        self._mass = self._weighed @ self._pushed.T
        if self._several:
            self._mass *= chains[:, None] == chains
        diagonal = self._mass.reshape(levels, -1)[:, :: self._count + 1]
        diagonal *= 1.0 + _SOFT
        diagonal += softness.T + 1e-30
        self._solved: dict[bytes, Array] = {}

    def through(self, transition: Array, driven: Array, state: Array) -> list[Array]:
        """The states (c, 2 s, 2) before and after each step, from the first one on: swings, then rates.

        transition: (c, 2 s, 2 s) what a step makes of a state. driven: (n, c, 2 s, 2) what each adds.
        """
        steps = (_StepsOfMany if self._several else _StepsOfOne)(self, transition, driven, state)
        states = [state]
        for n in range(len(driven)):
            states.append(steps.after(n, states[-1]))
        return states

    def forces(self, gaps: Array, active: Array) -> Array:
        """(k, p) pushes that close gaps (k, p) below 0 where active; none pulls."""
        return _pushes(gaps, active, self._inverse)

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

    def weighed(self, ends: Ends) -> Array:
        """(k, 2 q, 2 s) how swings, and rates, of chains change by what acts on the ends of cones."""
        yields = self._yields_of[:, ends.chains.repeat(2)] if self._several else self._yields_of
        return (yields @ ends.sees.reshape(len(ends.sees), -1, 2)).reshape(len(yields), *ends.sees.shape)

    def push_out(self, lift: float) -> Array:
        """(2 c s,) changes of swings that bring all out of the colliders, by `lift` [m] more than that."""
        active = self.gaps < 0.0
        for _ in range(_ROUNDS):
            forces = self.forces((self.gaps - lift)[None], active)[0]
            # What is pushed out of one collider may be pushed into another, or out of its cone.
            left = forces @ self._mass[0] + self.gaps < -lift
            if not np.any(left & ~active):
                break
            active = active | left
        return self._swings(forces)

    def carried(self, move: Array) -> Array:
        """A change of swings (2 c s,) by which nothing goes in: what touches is in balance, and nothing pulls."""
        if self._several:
            gaps = self.gaps + np.add.reduce(self._pushed * move.reshape(self._every, -1)[self.chains], axis=1)
        else:
            gaps = self.gaps + self._pushed @ move
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
        return move + self._swings(forces)

    def _swings(self, forces: Array) -> Array:
        """(2 c s,) how swings change by forces (p,)."""
        if not self._several:
            return forces @ self._weighed[0]
        result = np.zeros((self._every, self._pushed.shape[1]))
        np.add.at(result, self.chains, forces[:, None] * self._weighed[0])
        return result.ravel()


class _Steps:
    """Steps with contacts. What is seen of a state are gaps and slips, then their rates: (2, r)."""

    def __init__(self, contacts: Contacts, transition: Array, driven: Array, state: Array) -> None:
        c = self.contacts = contacts
        self.count, self.slips = c._count, bool(c.friction.any())
        self.single: dict[int, tuple] = {}
        self.crossed: Array | None = None
        self.response: Array | None = None
        self.limits = [] if c.ends is None else c.ends.limits.tolist()
        fall = np.add.reduce(c._drift * c._normals, axis=1)
        carried, sees, pushes = [fall], [c._pushed], [c._weighed]
        if self.slips:
            own, slips, drags = self._slipping(fall)
            carried.append(own)
            sees.append(slips)
            pushes.append(drags)
        self.slipping = slice(c._count, sum(map(len, sees)))
        if c.ends is not None:
            carried.append(np.zeros(len(c.ends.sees)))
            sees.append(c.ends.sees)
            pushes.append(c.weighed(c.ends))
        self.sees, self.pushes = np.concatenate(sees), np.concatenate(pushes, axis=1)
        """(r, 2 s) what is seen of the swings of a chain, or of their rates, and (2, r, 2 s) how these change by what
        acts there."""
        self.rows, moved = len(self.sees), np.concatenate(carried)
        begun = np.empty((len(driven), 2, self.rows))
        begun[:] = moved, moved / c.dt
        self._set(transition, driven)
        here = c.gaps - self._seen(state)[: self.count]
        begun[:, 0, : self.count] = here + np.arange(1.0, len(driven) + 1.0)[:, None] * fall
        self._begin(driven, begun)

    def _set(self, transition: Array, driven: Array) -> None:
        raise NotImplementedError

    def _begin(self, driven: Array, begun: Array) -> None:
        """begun: (n, 2, r) what is seen after each step by itself."""
        raise NotImplementedError

    def _seen(self, state: Array) -> Array:
        """(r,) what is seen of its swings."""
        raise NotImplementedError

    def _moved(self, step: int, state: Array) -> tuple[Array, Array]:
        """The state after a step, if nothing touches, and what is seen of it, (2 r,)."""
        raise NotImplementedError

    def _push(self, state: Array, found: Array) -> None:
        """Change a state by what acts (2, r)."""
        raise NotImplementedError

    def _slipping(self, fall: Array) -> tuple[Array, Array, Array]:
        """How points slip in a step by themselves (3 p,), with the swings of their chains (3 p, 2 s), and how swings
        and rates change by what holds them (2, 3 p, 2 s)."""
        # A slip leaves the distance as it is: to be pushed out is none, and friction pushes nothing in.
        c, count = self.contacts, self.count
        across = _EVERY_WAY - c._normals[:, :, None] * c._normals[:, None]
        slips = c._moves @ across
        heavy = (c._yields @ slips.reshape(count, -1, 6)).reshape(2, *slips.shape)
        masses = c._mass.reshape(2, -1)[:, :: count + 1]
        shared = (c._weighed[:, :, None] @ slips)[:, :, 0] / masses[..., None]
        heavy -= c._weighed[..., None] * shared[:, :, None]
        slips -= c._pushed[..., None] * shared[0][:, None]
        carried = (across @ c._drift[..., None])[..., 0] - shared[0] * fall[:, None]
        sizes = np.sqrt(np.maximum(np.add.reduce(heavy * slips, axis=(2, 3)), 1e-30))
        together = np.add.reduce(sizes[:, None] * (c.chains[:, None] == c.chains), axis=2)
        self.slide = 1.0 / (sizes * together)
        width = slips.shape[1]
        drags = heavy.transpose(0, 1, 3, 2).reshape(2, -1, width)
        return carried.ravel(), slips.transpose(0, 2, 1).reshape(-1, width), np.negative(drags)

    def after(self, step: int, state: Array) -> Array:
        """The state after this of the steps."""
        result, found = self._moved(step, state)
        seen = found.tolist()
        touching = [n for n in range(self.count) if seen[n] < 0.0]
        beyond = self._beyond(seen)
        if not (touching or beyond):
            return result
        last = self._seen(state)[self.slipping] if self.slips else None
        if len(touching) == 1 and not beyond:
            self._stop(result, touching[0], seen, last)
            return result
        found = found.reshape(2, -1)
        if beyond:
            self._hold(found, beyond, last)
        else:
            gaps, c = found[:, : self.count], self.contacts
            forces = c.forces(np.minimum(gaps, 0.0), gaps[0] < 0.0)
            if last is not None:
                self._drag(found, forces, last)
                # What holds one back may push another in.
                gaps += (found[:, None, self.slipping] @ self._crossed()[..., : self.count])[:, 0]
                forces = c.forces(np.minimum(gaps, 0.0), gaps[0] < 0.0)
            gaps[:] = forces
            found[:, self.slipping.stop :] = 0.0
        self._push(result, found)
        return result

    def _drag(self, found: Array, forces: Array, last: Array) -> None:
        """Replace the slips of what is seen (2, r) by what holds them back, where these forces (2, p) act."""
        slips = found[:, self.slipping]
        slips[0] -= last
        slips = slips.reshape(2, self.count, 3)
        slips *= self.slide[..., None]
        size = np.sqrt(np.add.reduce(slips * slips, axis=2))
        size += 1e-30
        np.divide(self.contacts.friction * forces, size, out=size)
        slips *= np.minimum(size, 1.0, out=size)[..., None]

    def _beyond(self, seen: list[float]) -> list[int]:
        """The bones that are beyond their cones."""
        ends, first = self.contacts.ends, self.slipping.stop
        if ends is None:
            return []
        parts = zip(seen[first : self.rows : 2], seen[first + 1 : self.rows : 2], self.limits, strict=True)
        return [n for n, (x, y, limit) in enumerate(parts) if x * x + y * y > limit * limit]

    def _hold(self, found: Array, beyond: list[int], last: Array | None) -> None:
        """Replace what is seen (2, r) by what acts there, with bones at the ends of their cones as these are now."""
        c, count, first = self.contacts, self.count, self.slipping.stop
        assert c.ends is not None, "some are beyond"
        rows = np.concatenate((np.arange(count), *(first + 2 * n + np.arange(2) for n in beyond)))
        bends = found[:, rows[count:]].reshape(2, -1, 2)
        angles = np.sqrt((bends[0] ** 2).sum(axis=-1))
        outward = bends[0] / angles[:, None]
        # Each end by both parts of its swing.
        ends = np.zeros((count + len(beyond), len(rows)))
        ends[np.arange(count), np.arange(count)] = 1.0
        own = count + np.arange(len(beyond))
        ends[own, count + 2 * np.arange(len(beyond))], ends[own, count + 2 * np.arange(len(beyond)) + 1] = -outward.T
        gaps = found[:, rows] @ ends.T
        gaps[0, count:] += c.ends.limits[beyond]
        mass = ends @ self._response()[:, rows[:, None], rows] @ ends.T
        mass[:, own, own] *= 1.0 + _SOFT
        mass[:, own, own] += c.ends.softness[beyond].T
        mass[:, :count, :count] = c._mass
        gives = np.arange(count)
        mass[:, gives, gives] *= 1.0 + GIVES[: len(mass), None]

        def inverse(active: Array) -> Array:
            return _inverse_of(mass, np.flatnonzero(active))

        forces = _pushes(np.minimum(gaps, 0.0), gaps[0] < 0.0, inverse)
        if last is not None:
            self._drag(found, forces[:, :count], last)
            gaps += (found[:, None, self.slipping] @ self._crossed()[..., rows] @ ends.T)[:, 0]
            forces = _pushes(np.minimum(gaps, 0.0), gaps[0] < 0.0, inverse)
        found[:, first:] = 0.0
        found[:, rows] = forces @ ends

    def _response(self) -> Array:
        """(2, r, r) how what is seen changes by what acts there."""
        response = self.response
        if response is None:
            response = self.pushes @ self.sees.T
            if self.contacts._several:
                of = self._of_rows()
                response *= of[:, None] == of
            self.response = response
        return response

    def _of_rows(self) -> Array:
        """(r,) the chain of each."""
        chains, ends = self.contacts.chains, self.contacts.ends
        slips = np.repeat(chains, (self.slipping.stop - self.count) // max(self.count, 1))
        return np.concatenate((chains, slips, np.repeat(ends.chains, 2) if ends is not None else chains[:0]))

    def _crossed(self) -> Array:
        """(2, 3 p, r) how what holds points back changes what is seen."""
        crossed = self.crossed
        if crossed is None:
            crossed = self.pushes[:, self.slipping] @ self.sees.T
            if self.contacts._several:
                of = self._of_rows()
                crossed *= of[self.slipping, None] == of
            self.crossed = crossed
        return crossed

    def _stop(self, state: Array, one: int, seen: list[float], last: Array | None) -> None:
        """Change a state by the only contact that touches, without arrays that are so small."""
        if one not in self.single:
            c, first = self.contacts, self.count + 3 * one
            rows = [one, *range(first, first + 3)] if self.slips else [one]
            slide = self.slide[:, one].tolist() if self.slips else (0.0, 0.0)
            self.single[one] = c._mass[:, one, one].tolist(), slide, float(c.friction[one]), self.pushes[:, rows]
        masses, slide, friction, pushes = self.single[one]
        found = []
        for level in (0, 1):
            begin = level * self.rows
            force = max(-seen[begin + one], 0.0) / masses[level]
            found.append([force])
            if last is not None:
                first = begin + self.count + 3 * one
                x, y, z = seen[first : first + 3]
                if level == 0:
                    before = last[3 * one : 3 * one + 3].tolist()
                    x, y, z = x - before[0], y - before[1], z - before[2]
                size = slide[level] * sqrt(x * x + y * y + z * z) + 1e-30
                kept = slide[level] * min(1.0, friction * force / size)
                found[level] += kept * x, kept * y, kept * z
        state = state.reshape(-1, 2, pushes.shape[2])
        state[self.contacts.chains[one]] += (np.array(found)[:, None] @ pushes)[:, 0]


class _StepsOfOne(_Steps):
    """Those of one chain: what a step makes of a state, and what is seen of that, is one matrix."""

    def _set(self, transition: Array, driven: Array) -> None:
        self.shape = driven.shape[1:]
        self.width = driven[0].size
        # Both parts of each swing go the same way.
        whole = np.zeros((*transition.shape[1:], 2, 2))
        whole[..., 0, 0] = whole[..., 1, 1] = transition[0]
        self.step = whole.swapaxes(1, 2).reshape(self.width, -1)

    def _begin(self, driven: Array, begun: Array) -> None:
        count, half = len(driven), self.width // 2
        self.step = np.concatenate((self.step, (self.sees @ self.step.reshape(2, half, -1)).reshape(-1, self.width)))
        seen = driven.reshape(count, 2, half) @ self.sees.T + begun
        self.added = np.concatenate((driven.reshape(count, -1), seen.reshape(count, -1)), axis=1)

    def _seen(self, state: Array) -> Array:
        return self.sees @ state.reshape(2, -1)[0]

    def _moved(self, step: int, state: Array) -> tuple[Array, Array]:
        whole = self.step @ state.ravel()
        whole += self.added[step]
        return whole[: self.width].reshape(self.shape), whole[self.width :]

    def _push(self, state: Array, found: Array) -> None:
        state.reshape(2, -1)[:] += (found[:, None] @ self.pushes)[:, 0]


class _StepsOfMany(_Steps):
    """Those of several chains, most of which do not see each other's contacts."""

    def _set(self, transition: Array, driven: Array) -> None:
        self.transition, self.of_rows = transition, self._of_rows()
        size = self.sees.shape[1]
        self.spread = np.zeros((2, self.rows, len(transition), size))
        self.spread[:, np.arange(self.rows), self.of_rows] = self.pushes
        self.spread = self.spread.reshape(2, self.rows, -1)
        self.apart = len(transition), 2, size

    def _begin(self, driven: Array, begun: Array) -> None:
        self.driven, self.begun = driven, begun

    def _seen(self, state: Array) -> Array:
        return np.add.reduce(self.sees * state.reshape(self.apart)[self.of_rows, 0], axis=1)

    def _moved(self, step: int, state: Array) -> tuple[Array, Array]:
        result = self.transition @ state
        result += self.driven[step]
        seen = np.add.reduce(self.sees[:, None] * result.reshape(self.apart)[self.of_rows], axis=2)
        return result, (seen.T + self.begun[step]).ravel()

    def _push(self, state: Array, found: Array) -> None:
        change = (found[:, None] @ self.spread)[:, 0].reshape(2, *self.apart[::2])
        state.reshape(self.apart)[:] += change.swapaxes(0, 1)


def _pushes(gaps: Array, active: Array, inverse: Callable[[Array], Array]) -> Array:
    """(k, p) pushes that close gaps (k, p) below 0 where active; none pulls. inverse: see `Contacts._inverse`."""
    gaps = gaps[:, None]
    found = (gaps @ inverse(active))[:, 0]
    pulls = found[0] < 0.0
    if _TRUE in pulls.tobytes():
        rest = active & ~pulls
        if rest.any():
            found = (gaps @ inverse(rest))[:, 0]
    return np.maximum(found, 0.0, out=found)


def _inverse_of(mass: Array, rows: Array) -> Array:
    """Minus the inverses of the rows' parts of matrices (k, p, p), 0 elsewhere."""
    found = np.zeros(mass.shape)
    found[:, rows[:, None], rows] = -np.linalg.inv(mass[:, rows[:, None], rows])
    return found


def _inverted(mass: Array, chains: Array, rows: Array) -> Array:
    """The inverses of the rows' parts of matrices (k, p, p) that have nothing between chains."""
    if len(rows) <= 24:
        return np.linalg.inv(mass[:, rows[:, None], rows])
    result = np.zeros((len(mass), len(rows), len(rows)))
    for chain in np.unique(chains[rows]):
        own = np.flatnonzero(chains[rows] == chain)
        result[:, own[:, None], own] = np.linalg.inv(mass[:, rows[own][:, None], rows[own]])
    return result
