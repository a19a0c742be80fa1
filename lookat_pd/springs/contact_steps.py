"""Steps of chains with contacts, for a few of which these are linear in the swings."""

from math import sqrt

import numpy as np

from ..rotation import Array
from .cones import Ends
from .contacts import Contacts

_EVERY_WAY = np.eye(3)
_BACK = 0.01
"""Part by which a bone that something has pushed beyond its cone goes back in a step."""


def through(contacts: Contacts, transition: Array, driven: Array, state: Array) -> list[Array]:
    """The states (c, 2 s, 2) before and after each step, from the first one on: swings, then rates.

    transition: (c, 2 s, 2 s) what a step makes of a state. driven: (n, c, 2 s, 2) what each adds.
    """
    steps = (_StepsOfMany if contacts.several else _StepsOfOne)(contacts, transition, driven, state)
    states = [state]
    for n in range(len(driven)):
        states.append(steps.after(n, states[-1]))
    return states


class ContactSteps:
    """Steps with contacts. What is seen of a state are gaps and slips, then their rates: (2, r)."""

    def __init__(self, contacts: Contacts, transition: Array, driven: Array, state: Array) -> None:
        c = self.contacts = contacts
        self.count, self.slips = c.count, bool(c.friction.any())
        self.single: dict[int, tuple] = {}
        self.crossed: Array | None = None
        self.squares = None if c.ends is None else c.ends.limits**2
        fall = np.add.reduce(c.drift * c.normals, axis=1)
        carried, sees, pushes = [fall], [c.pushed], [c.weighed]
        if self.slips:
            own, slips, drags = self._slipping(fall)
            carried.append(own)
            sees.append(slips)
            pushes.append(drags)
        self.slipping = slice(c.count, sum(map(len, sees)))
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
        across = _EVERY_WAY - c.normals[:, :, None] * c.normals[:, None]
        slips = c.moves @ across
        heavy = (c.yields @ slips.reshape(count, -1, 6)).reshape(2, *slips.shape)
        masses = c.mass.reshape(2, -1)[:, :: count + 1]
        shared = (c.weighed[:, :, None] @ slips)[:, :, 0] / masses[..., None]
        heavy -= c.weighed[..., None] * shared[:, :, None]
        slips -= c.pushed[..., None] * shared[0][:, None]
        carried = (across @ c.drift[..., None])[..., 0] - shared[0] * fall[:, None]
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
        beyond = self._beyond(result)
        if not (touching or beyond):
            return result
        last = self._seen(state)[self.slipping] if self.slips else None
        if beyond:
            self._hold(result, found.reshape(2, -1), last, beyond.left(state[:, : beyond.limits.shape[1]], _BACK))
        elif len(touching) == 1:
            self._stop(result, touching[0], seen, last)
        else:
            found = found.reshape(2, -1)
            gaps, c = found[:, : self.count], self.contacts
            forces = c.forces(np.minimum(gaps, 0.0), gaps[0] < 0.0)
            if last is not None:
                self._drag(found, forces, last)
                # What holds one back may push another in.
                gaps += (found[:, None, self.slipping] @ self._crossed())[:, 0]
                forces = c.forces(np.minimum(gaps, 0.0), gaps[0] < 0.0)
            gaps[:] = forces
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

    def _beyond(self, state: Array) -> Ends | None:
        """The ends of cones, if a bone is beyond one."""
        ends = self.contacts.ends
        if ends is None:
            return None
        bends = ends.bends @ state[:, : ends.limits.shape[1]]
        bends *= bends
        return ends if (bends[..., 0] + bends[..., 1] > self.squares).any() else None

    def _hold(self, state: Array, found: Array, last: Array | None, left: Array) -> None:
        """Change a state by all that acts where bones are beyond their cones, from what is seen of it (2, r). left:
        see `Ends.left`."""
        both, ends = self.contacts.with_ends, self.contacts.ends
        assert ends is not None, "some are beyond"
        gaps, halves = found[:, : self.count], state.reshape(len(state), 2, -1, 2).swapaxes(0, 1)
        forces, torques = both.solved(gaps, halves[0], ends.bends @ halves, left)
        if last is not None:
            self._drag(found, forces, last)
            drags = found.copy()
            drags[:, : self.count] = 0.0
            self._push(state, drags)
            # What holds one back may push another in.
            gaps += (found[:, None, self.slipping] @ self._crossed())[:, 0]
            forces, torques = both.solved(gaps, halves[0], ends.bends @ halves, left)
            found[:, self.slipping] = 0.0
        gaps[:] = forces
        self._push(state, found)
        halves += both.change(torques)

    def _of_rows(self) -> Array:
        """(r,) the chain of each."""
        chains = self.contacts.chains
        return np.concatenate((chains, np.repeat(chains, (self.slipping.stop - self.count) // max(self.count, 1))))

    def _crossed(self) -> Array:
        """(2, 3 p, p) how what holds points back changes gaps."""
        crossed = self.crossed
        if crossed is None:
            crossed = self.pushes[:, self.slipping] @ self.contacts.pushed.T
            if self.contacts.several:
                crossed *= self._of_rows()[self.slipping, None] == self.contacts.chains
            self.crossed = crossed
        return crossed

    def _stop(self, state: Array, one: int, seen: list[float], last: Array | None) -> None:
        """Change a state by the only contact that touches, without arrays that are so small."""
        if one not in self.single:
            c, first = self.contacts, self.count + 3 * one
            rows = [one, *range(first, first + 3)] if self.slips else [one]
            slide = self.slide[:, one].tolist() if self.slips else (0.0, 0.0)
            self.single[one] = c.mass[:, one, one].tolist(), slide, float(c.friction[one]), self.pushes[:, rows]
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


class _StepsOfOne(ContactSteps):
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


class _StepsOfMany(ContactSteps):
    """Those of several chains, most of which do not see each other's contacts."""

    def _set(self, transition: Array, driven: Array) -> None:
        self.transition, self.of_rows = transition, self._of_rows()
        size = self.sees.shape[1]
        self.spread = np.zeros((2, self.rows, len(transition), size))
        self.spread[:, np.arange(self.rows), self.of_rows] = self.pushes
        self.spread = self.spread.reshape(2, self.rows, len(transition) * size)
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
