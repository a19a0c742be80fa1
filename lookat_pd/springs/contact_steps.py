"""Steps of chains with contacts, for a few of which these are linear in the swings."""

from math import sqrt
from operator import mul

import numpy as np

from ..rotation import Array
from .colliders import TRUE
from .cones import Ends
from .contacts import Contacts

_FEW = 2
"""Most contacts that are solved as plain numbers."""
_BACK = 0.01
"""Part by which a bone that something has pushed beyond its cone goes back in a step."""


def through(contacts: Contacts, transition: Array, driven: Array, state: Array) -> list[Array]:
    """The states (c, 2 s, 2) before and after each step, from the first one on: swings, then rates.

    transition: (c, 2 s, 2 s) what a step makes of a state. driven: (n, c, 2 s, 2) what each adds.
    """
    begun = contacts.ends is not None or contacts.gaps.min(initial=1.0) <= 0.0
    states = [state] if begun else _until_touching(contacts, transition, driven, state)
    free = len(states) - 1
    if free < len(driven):
        steps = (_StepsOfMany if contacts.several else _StepsOfOne)(contacts, transition, driven, state, free)
        for n in range(len(driven) - free):
            states.append(steps.after(n, states[-1]))
    return states


def _until_touching(contacts: Contacts, transition: Array, driven: Array, state: Array) -> list[Array]:
    """The states (c, 2 s, 2) before something touches."""
    c, states = contacts, [state]
    fall = np.add.reduce(c.drift * c.normals, axis=1)
    gaps = c.gaps - c.opened(state)
    for added in driven:
        after = transition @ states[-1]
        after += added
        gaps = gaps + fall
        if TRUE in (gaps + c.opened(after) < 0.0).tobytes():
            break
        states.append(after)
    return states


class ContactSteps:
    """Steps with contacts. What is seen of a state are gaps and slips, then their rates: (2, r)."""

    def __init__(self, contacts: Contacts, transition: Array, driven: Array, state: Array, free: int) -> None:
        """state: the one to which the contacts belong, after which so many steps were free."""
        c = self.contacts = contacts
        self.count, self.slips = c.count, bool(c.friction.any())
        self.few: dict[tuple[int, ...], _Few] = {}
        self.most = 1 if c.several else _FEW
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
        begun = np.empty((len(driven) - free, 2, self.rows))
        begun[:] = moved, moved / c.dt
        self._set(transition, driven)
        begun[:, 0, : self.count] = np.arange(free + 1.0, len(driven) + 1.0)[:, None] * fall
        begun[:, 0, : self.count] += c.gaps - c.opened(state)
        self._begin(driven[free:], begun)

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

    def _last(self, state: Array) -> Array:
        """(3 p,) slips, as seen of the swings of the state before the step."""
        return self._seen(state)[self.slipping]

    def _slipping(self, fall: Array) -> tuple[Array, Array, Array]:
        """How points slip in a step by themselves (3 p,), with the swings of their chains (3 p, 2 s), and how swings
        and rates change by what holds them (2, 3 p, 2 s)."""
        # A slip leaves the distance as it is: to be pushed out is none, and friction pushes nothing in.
        c, count = self.contacts, self.count
        slips = c.moves - c.pushed[..., None] * c.normals[:, None]
        heavy = (c.yields @ slips.reshape(count, -1, 6)).reshape(2, *slips.shape)
        masses = c.mass.reshape(2, -1)[:, :: count + 1]
        shared = (c.weighed[:, :, None] @ slips)[:, :, 0] / masses[..., None]
        heavy -= c.weighed[..., None] * shared[:, :, None]
        slips -= c.pushed[..., None] * shared[0][:, None]
        carried = c.drift - fall[:, None] * (c.normals + shared[0])
        sizes = np.sqrt(np.maximum(np.add.reduce((heavy * slips).reshape(2, count, -1), axis=2), 1e-30))
        if c.several:
            together = np.add.reduce(sizes[:, None] * (c.chains[:, None] == c.chains), axis=2)
        else:
            together = np.add.reduce(sizes, axis=1, keepdims=True)
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
        last = self._last(state) if self.slips else None
        if beyond:
            self._hold(result, found.reshape(2, -1), last, beyond.left(state[:, : beyond.limits.shape[1]], _BACK))
        elif len(touching) > self.most or not self._stopped(result, touching, seen, last):
            found = found.reshape(2, -1)
            gaps, c = found[:, : self.count], self.contacts
            forces = c.forces(np.minimum(gaps, 0.0), gaps[0] < 0.0)
            if last is not None:
                self._drag(found, forces, last)
                # What holds one back may push another in.
                gaps += (found[:, None, self.slipping] @ self.crossed_gaps())[:, 0]
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
            gaps += (found[:, None, self.slipping] @ self.crossed_gaps())[:, 0]
            forces, torques = both.solved(gaps, halves[0], ends.bends @ halves, left)
            found[:, self.slipping] = 0.0
        gaps[:] = forces
        self._push(state, found)
        halves += both.change(torques)

    def _of_rows(self) -> Array:
        """(r,) the chain of each."""
        chains = self.contacts.chains
        return np.concatenate((chains, np.repeat(chains, (self.slipping.stop - self.count) // max(self.count, 1))))

    def crossed_gaps(self) -> Array:
        """(2, 3 p, p) how what holds points back changes gaps."""
        crossed = self.crossed
        if crossed is None:
            crossed = self.pushes[:, self.slipping] @ self.contacts.pushed.T
            if self.contacts.several:
                crossed *= self._of_rows()[self.slipping, None] == self.contacts.chains
            self.crossed = crossed
        return crossed

    def _stopped(self, state: Array, touching: list[int], seen: list[float], last: Array | None) -> bool:
        """Change a state by the few contacts that touch, without arrays, which are slow where they are so small.

        False, and nothing changes, if what holds these back pushes others in.
        """
        few = self.few.get(tuple(touching))
        if few is None:
            few = self.few[tuple(touching)] = _Few(self, touching)
        found = few.alone(seen, last) if len(touching) == 1 else few.together(seen, last)
        if found is None:
            return False
        own = state[self.contacts.chains[touching[0]]].reshape(-1)
        own += np.array(found).dot(few.pushes)
        return True


class _Few:
    """What some contacts that touch do, as plain numbers: swings, and rates."""

    def __init__(self, steps: ContactSteps, touching: list[int]) -> None:
        contacts, count = steps.contacts, steps.count
        rows = list(touching)
        if steps.slips:
            rows += [count + 3 * n + part for n in touching for part in range(3)]
            self.slide = [[level[n] for n in touching] for level in steps.slide.tolist()]
        self.touching, self.count, self.rows = touching, count, steps.rows
        friction = contacts.friction.tolist()
        self.friction = [friction[n] for n in touching]
        width = steps.pushes.shape[2]
        self.pushes = np.zeros((2, len(rows), 2, width))
        self.pushes[0, :, 0], self.pushes[1, :, 1] = steps.pushes[:, rows]
        self.pushes = self.pushes.reshape(2 * len(rows), 2 * width)
        """How a state changes by what acts on swings, then on rates."""
        self._masses = [[[level[n][m] for m in touching] for n in touching] for level in contacts.mass.tolist()]
        if len(touching) > 1 and steps.slips:
            slips = [row - count for row in rows[len(touching) :]]
            self.crossed = steps.crossed_gaps()[:, slips].swapaxes(1, 2).tolist()
            """By levels, how the gaps of all contacts change with what holds these back."""
            self.others = [n for n in range(count) if n not in touching]

    def alone(self, seen: list[float], last: Array | None) -> list[float]:
        """What acts at the only one, on swings, then on rates: see `ContactSteps`."""
        (n,) = self.touching
        found = []
        for level, ((mass,),) in enumerate(self._masses):
            begin = level * self.rows
            force = max(-seen[begin + n] / mass, 0.0)
            found.append(force)
            if last is not None:
                begin += self.count + 3 * n
                x, y, z = seen[begin : begin + 3]
                if level == 0:
                    before = last[3 * n : 3 * n + 3].tolist()
                    x, y, z = x - before[0], y - before[1], z - before[2]
                kept = min(self.slide[level][0], self.friction[0] * force / (sqrt(x * x + y * y + z * z) + 1e-30))
                found += kept * x, kept * y, kept * z
        return found

    def together(self, seen: list[float], last: Array | None) -> list[float] | None:
        """The same at several; none if what holds these back pushes others in."""
        levels, touching = (seen[: self.rows], seen[self.rows :]), self.touching
        forces = self.forces([[min(level[n], 0.0) for n in touching] for level in levels])
        if last is None:
            return forces[0] + forces[1]
        before, drags = last.tolist(), ([], [])
        for k in (0, 1):
            for n, slide, friction, force in zip(touching, self.slide[k], self.friction, forces[k], strict=True):
                x, y, z = levels[k][self.count + 3 * n : self.count + 3 * n + 3]
                if k == 0:
                    x, y, z = x - before[3 * n], y - before[3 * n + 1], z - before[3 * n + 2]
                kept = min(slide, friction * force / (sqrt(x * x + y * y + z * z) + 1e-30))
                drags[k].extend((kept * x, kept * y, kept * z))
        # What holds one back may push another in.
        for n in self.others:
            if levels[0][n] + sum(map(mul, self.crossed[0][n], drags[0])) < 0.0:
                return None
        gaps = [
            [min(levels[k][n] + sum(map(mul, self.crossed[k][n], drags[k])), 0.0) for n in touching] for k in (0, 1)
        ]
        forces = self.forces(gaps)
        return forces[0] + drags[0] + forces[1] + drags[1]

    def forces(self, gaps: list[list[float]]) -> list[list[float]]:
        """Pushes that close gaps below 0, by levels; none pulls."""
        first, second = gaps[0][0] < 0.0, gaps[0][1] < 0.0
        if first and second:
            found = [_both(gap, mass) for gap, mass in zip(gaps, self._masses, strict=True)]
            first, second = found[0][0] >= 0.0, found[0][1] >= 0.0
            if (first and second) or not (first or second):
                return [[max(one, 0.0), max(other, 0.0)] for one, other in found]
        if first:
            return [[max(-gap[0] / mass[0][0], 0.0), 0.0] for gap, mass in zip(gaps, self._masses, strict=True)]
        return [
            [0.0, max(-gap[1] / mass[1][1], 0.0) if second else 0.0]
            for gap, mass in zip(gaps, self._masses, strict=True)
        ]


def _both(gaps: list[float], masses: list[list[float]]) -> tuple[float, float]:
    """Forces that close two gaps."""
    (a, b), (c, d) = masses
    first, second = gaps
    whole = a * d - b * c
    return (b * second - d * first) / whole, (c * first - a * second) / whole


class _StepsOfOne(ContactSteps):
    """Those of one chain: what a step makes of a state, and what is seen of that, is one matrix."""

    def _set(self, transition: Array, driven: Array) -> None:
        self.shape = driven.shape[1:]
        self.width, self.transition = driven[0].size, transition[0]

    def _begin(self, driven: Array, begun: Array) -> None:
        count, half = len(driven), self.width // 2
        own, seen = self.ends = self.width, self.width + 2 * self.rows
        slips = self.slipping.stop - self.count
        step, self.added = np.zeros((seen + slips, own)), np.zeros((count, seen + slips))
        # Both parts of each swing go the same way.
        step[:own:2, ::2] = step[1:own:2, 1::2] = self.transition
        np.matmul(self.sees, step[:own].reshape(2, half, own), out=step[own:seen].reshape(2, self.rows, own))
        step[seen:, :half] = self.sees[self.slipping]
        self.step = step
        self.added[:, :own] = driven.reshape(count, -1)
        np.add(driven.reshape(count, 2, half) @ self.sees.T, begun, out=begun)
        self.added[:, own:seen] = begun.reshape(count, -1)

    def _seen(self, state: Array) -> Array:
        return self.sees @ state.reshape(2, -1)[0]

    def _moved(self, step: int, state: Array) -> tuple[Array, Array]:
        whole = self.step.dot(state.ravel())
        whole += self.added[step]
        own, seen = self.ends
        self.before = whole[seen:]
        return whole[:own].reshape(self.shape), whole[own:seen]

    def _last(self, state: Array) -> Array:
        return self.before

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
