"""Chains among colliders: where their bones are, what is near, what may touch within some steps, and how bones come
out of what they are in.

What is near is listed for some looks at the geometry; at each of these, contacts are linear in the swings.
"""

import numpy as np

from .. import rotation
from ..rotation import Array
from .chain_places import ChainPlace, DrivenChains, NearPairs, SeenPairs, Surroundings
from .colliders import nearest
from .cones import GIVES, Cones
from .contacts import Contacts
from .swing import Animated
from .tuning import SpringTuning

LISTED = 6
"""Spans, from one look at the geometry to the next at most, after which it is listed anew what is near."""
_ROOM = 0.02
"""Angle [rad] by which a whole chain may swing more, until the geometry is seen anew, than its rates say."""
BESIDE = 0.1
"""Angle [rad] by which a bone that is pushed out of a collider may come into another one."""
_SHORT = 0.2
"""Part of a bone from its joint on within which contacts are soft."""
_PUSHES = 8
"""Most times that bones are pushed out of colliders at a look."""
_BETTER = 0.8
"""Part of the depth that is left after a push that was of use."""
_STUCK = 0.01
"""The depth in radii from which on what is not pushed out at a look only goes no deeper."""
_LEFT = 0.98
"""Part of all depths of a chain that is left at most after a push that is kept."""
MOST_TURN = 0.4
"""Largest angle [rad] by which a bone is pushed out at once."""
_LIFT, _DEEP = 5e-4, 2e-3
"""How far bones are pushed out, and the depth that is left, in radii."""
_BEYOND = 2e-4
"""Angle [rad] by which bones that touch nothing may be beyond their cones."""
_TOUCHES = 0.02
"""Distance in radii within which something touches, so that steps alone bring bones back into their cones."""


class Touching:
    """The bones of c chains of s bones among colliders. A state (c, 2 s, 2) has swings, then rates."""

    def __init__(
        self,
        a: Animated,
        tuning: SpringTuning,
        scene: Surroundings,
        yields: Array,
        dt: float,
        parts: int,
        span: int,
    ) -> None:
        """yields: (2, c, s, s) by how much swings and rates yield to torques that act during a step of dt [s]. parts,
        span: steps from one sample, and at most from one look at the geometry, to the next."""
        self.scene, self.yields, self.dt, self.parts, self.span = scene, yields, dt, parts, span
        self.chains, self.size = yields.shape[1:3]
        self.lengths = a.bodies.lengths.reshape(self.chains, self.size)
        rows = np.arange(len(a.bodies.lengths)).reshape(self.chains, self.size)
        beyond = a.bodies.beyond[rows[:, :, None], rows[:, None]]
        self.to_tips = np.swapaxes(beyond, 1, 2) * self.lengths[:, None]
        """(c, s, s) tips from directions."""
        parents = a.bodies.parents
        self.above = np.where(parents >= 0, parents % self.size, 0).reshape(self.chains, self.size)
        """(c, s) the bones on which others of the chain hang; 0 for the first, which hang on none."""
        nothing = np.zeros(0, dtype=int)
        self.none = self._listed(nothing, nothing, nothing)
        apart, moves = np.zeros((0, 3)), np.zeros((0, 2 * self.size, 3))
        self.nothing = nothing, apart[:, 0], apart, moves, apart, apart[:, 0], apart[:, :1]
        """No contacts, as `Contacts` has them."""
        limits, hangs = tuning.limit.reshape(self.above.shape), (parents >= 0).reshape(self.above.shape)
        self.cones = Cones(limits, self.above, hangs) if (limits < np.pi).any() else None
        self.end_softness = GIVES[:, None, None] * np.diagonal(self.yields, axis1=2, axis2=3)
        """(2, c, s) by how much ends of cones yield in a step."""

    def touches(self, inputs: DrivenChains, state: Array) -> bool:
        """Whether chains are in colliders or beyond their cones at the first sample."""
        if self.cones is not None and self.cones.excess(state).max() > 0.0:
            return True
        pairs = self.near(inputs, 0, state)
        return len(pairs) > 0 and bool((self.seen(inputs, 0, state, pairs).gaps < 0.0).any())

    def _placed(self, inputs: DrivenChains, k: int, state: Array) -> ChainPlace:
        """Where the bones are."""
        z = state[:, : self.size]
        angle = np.maximum(np.hypot(z[..., 0], z[..., 1]), 1e-9)[..., None]
        sine = np.sin(angle)
        return self._at(inputs, k, z / angle, np.cos(angle), sine, sine / angle)

    def _at(self, inputs: DrivenChains, k: int, unit: Array, cosine: Array, sine: Array, slope: Array) -> ChainPlace:
        """Where bones are with swings of these directions, and with these cosines and sines."""
        own, across = inputs.own[k], inputs.across[k]
        outward = (unit[..., None, :] @ across)[..., 0, :]
        place = ChainPlace(own * cosine + outward * sine, unit, cosine, sine, slope, outward)
        place.tips = inputs.roots[k][:, None] + self.to_tips @ place.directions
        if inputs.offsets is not None:
            axes = np.concatenate((place.carried(own, across), place.directions[..., None, :]), axis=-2)
            axes = np.take_along_axis(axes, self.above[..., None, None], axis=1)
            apart = (inputs.offsets[k][..., None, :] @ axes)[..., 0, :]
            place.tips += (self.to_tips != 0.0) @ apart
        place.joints = place.tips - self.lengths[..., None] * place.directions
        return place

    def near(self, inputs: DrivenChains, k: int, state: Array) -> NearPairs:
        """Bones and colliders that may touch before they are listed anew."""
        place = self._placed(inputs, k, state)
        later = min(k + LISTED * self.span, len(inputs.own) - 1)
        here = self._at(inputs, later, place.unit, place.cosine, place.sine, place.slope)
        solids, borders = self.scene.solids, self.scene.borders
        shape = self.chains, self.size, len(solids)
        rates = state[:, self.size :]
        speed = self.to_tips @ np.hypot(rates[..., 0], rates[..., 1])[..., None]
        margin = LISTED * self.span * self.dt * (speed[..., 0] + self.lengths)
        margin += 2.0 * rotation.length(here.tips - place.tips) + 0.3 * self.lengths
        margin = margin[..., None]
        if inputs.move:
            moved = rotation.length(inputs.begins[later] - inputs.begins[k])
            moved += rotation.length(inputs.ends[later] - inputs.ends[k])
            margin = margin + (moved if len(moved) == 1 else moved.reshape(shape))
        begins, ends = (self._of_bones(values[k], shape) for values in (inputs.begins, inputs.ends))
        at_tip = borders.at_tip.reshape(shape)
        found = nearest(place.joints[:, :, None], place.tips[:, :, None], begins, ends, solids.is_plane, at_tip)
        near = (found.distance - borders.reach.reshape(shape) < margin) & ~borders.left.reshape(shape)
        return self._listed(*np.nonzero(near))

    def _listed(self, chain: Array, bone: Array, solid: Array) -> NearPairs:
        row, borders = chain * self.size + bone, self.scene.borders
        reach, lengths = borders.reach[row, solid], self.lengths.ravel()[row]
        at_tip, is_plane, to_tips = (
            borders.at_tip[row, solid],
            self.scene.solids.is_plane[solid],
            self.to_tips[chain, bone],
        )
        return NearPairs(
            chain,
            bone,
            solid,
            row if len(self.scene.begins[0]) > 1 else 0 * row,
            reach,
            np.where(reach > 0.0, reach, lengths),
            lengths,
            at_tip,
            is_plane,
            self.scene.solids.friction[solid],
            to_tips,
            to_tips * (np.arange(self.size) == bone[:, None]),
            bool(((bone == 0) & ~is_plane & ~at_tip).any()),
        )

    def _of_bones(self, values: Array, shape: tuple[int, int, int]) -> Array:
        return values[None] if len(values) == 1 else values.reshape(*shape, 3)

    def seen(self, inputs: DrivenChains, k: int, state: Array, pairs: NearPairs) -> SeenPairs:
        """The geometry of pairs."""
        place = self._placed(inputs, k, state)
        begins, ends = pairs.solids_of(inputs.begins[k]), pairs.solids_of(inputs.ends[k])
        joints, tips = pairs.bones_of(place.joints), pairs.bones_of(place.tips)
        at_tip = pairs.at_tip
        # The joint of a first bone is where the animation has it, be it inside a collider.
        found = nearest(joints, tips, begins, ends, pairs.is_plane, at_tip)
        gaps = found.distance - pairs.reach
        if pairs.may_root and gaps.min() < 0.0:
            firsts = np.flatnonzero((pairs.bone == 0) & ~pairs.is_plane & ~at_tip & (gaps < 0.0))
            if len(firsts):
                all_of = joints[firsts], joints[firsts], begins[firsts], ends[firsts]
                own = nearest(*all_of, pairs.is_plane[firsts], np.ones(len(firsts), dtype=bool))
                at_tip = at_tip.copy()
                at_tip[firsts] = own.distance < pairs.reach[firsts]
                found = nearest(joints, tips, begins, ends, pairs.is_plane, at_tip)
                gaps = found.distance - pairs.reach
        return SeenPairs(pairs, place, found.along, found.across, found.normal, gaps, begins, ends)

    def pushed_out(
        self, inputs: DrivenChains, k: int, state: Array, pairs: NearPairs
    ) -> tuple[Array, SeenPairs | None]:
        """The state with all bones out of colliders and within their cones, and what is near."""
        if not len(pairs):
            inside = self.cones is None or self.cones.excess(state).max() < _BEYOND
            return (state if inside else self.cones.within(state)), None
        known, before = self.seen(inputs, k, state, pairs), np.inf
        most = _PUSHES if k % self.span == 0 or k % self.parts == 0 else 1
        last = state, known
        for push in range(most + 1):
            deepest = -float((known.gaps / pairs.radii).min())
            if deepest > _DEEP and push:
                state, known = self._better(inputs, k, last, (state, known))
            # What is held inside by its joint does not come out.
            if deepest < _DEEP or push == most or deepest > _BETTER * before:
                break
            last = state, known
            before, state = deepest, state.copy()
            touching = self.contacts(inputs, k, 0, state, known, self.yields[:1])
            assert touching is not None, "something is too deep"
            change = touching.push_out(_LIFT * float(pairs.radii.min()), state[:, : self.size])
            change *= min(1.0, MOST_TURN / max(float(np.abs(change).max()), 1e-12))
            state[:, : self.size] += change.reshape(self.chains, self.size, 2)
            known = self.seen(inputs, k, state, pairs)
        return (state, known) if self.cones is None else self._within_cones(inputs, k, state, known, self.cones)

    def _better(
        self, inputs: DrivenChains, k: int, before: tuple[Array, SeenPairs], after: tuple[Array, SeenPairs]
    ) -> tuple[Array, SeenPairs]:
        """The state after a push, with chains that it did not bring further out as before."""
        first, second = (seen.inside(self.chains, _DEEP) for _, seen in (before, after))
        worse = second > _LEFT * first
        if not worse.any():
            return after
        if worse.all():
            return before
        state = np.where(worse[:, None, None], before[0], after[0])
        return state, self.seen(inputs, k, state, after[1].pairs)

    def _within_cones(
        self, inputs: DrivenChains, k: int, state: Array, known: SeenPairs, cones: Cones
    ) -> tuple[Array, SeenPairs]:
        """The state with the chains within their cones that are not in a collider then, and what is near."""
        beyond = (cones.excess(state).max(axis=1) > _BEYOND) & (known.nearest(self.chains) > _TOUCHES)
        if not beyond.any():
            return state, known
        trial = np.where(beyond[:, None, None], cones.within(state), state)
        seen = self.seen(inputs, k, trial, known.pairs)
        stays = beyond & (seen.nearest(self.chains) < -_DEEP)
        if not stays.any():
            return trial, seen
        if stays.all():
            return state, known
        state = np.where(stays[:, None, None], state, trial)
        return state, self.seen(inputs, k, state, known.pairs)

    def contacts(
        self,
        inputs: DrivenChains,
        k: int,
        count: int,
        state: Array,
        known: SeenPairs | None,
        yields: Array | None = None,
        beside: float = BESIDE,
    ) -> Contacts | None:
        """What may touch within some steps; with no step what bones may be pushed into, by this angle. yields: see
        `Contacts`; those of a step if None."""
        if known is None and self.cones is None:
            return None
        yields = self.yields if yields is None else yields
        rates = np.hypot(state[:, self.size :, 0], state[:, self.size :, 1])
        swung = _ROOM + 1.5 * count * self.dt * rates if count else np.full(rates.shape, beside)
        rows = None if known is None else self._solid_rows(inputs, k, count, swung, known, yields)
        ends = None
        if self.cones is not None:
            ends = self.cones.ends(state, swung, self.cones.respond(yields), self.end_softness[: len(yields)])
        if rows is None and ends is None:
            return None
        chain, gaps, normals, moves, drift, friction, softness = rows or self.nothing
        return Contacts(chain, gaps, normals, moves, drift, friction, softness, yields, self.dt, ends)

    def _solid_rows(
        self, inputs: DrivenChains, k: int, count: int, swung: Array, known: SeenPairs, yields: Array
    ) -> tuple[Array, ...] | None:
        """What may touch colliders, as `Contacts` has it. swung: (c, s) angles by which bones may swing."""
        pairs = known.pairs
        weights = pairs.to_tips - (1.0 - known.along)[:, None] * pairs.own
        drift = self._drift(inputs, k, count, known, weights)
        room = known.gaps + np.minimum(count * np.add.reduce(drift * known.normals, axis=1), 0.0)
        if self.chains > 1:
            reached = np.add.reduce(pairs.to_tips * swung[pairs.chain], axis=1)
        else:
            reached = pairs.to_tips.dot(swung[0])
        near = (room < reached).nonzero()[0]
        if not len(near):
            known.apart = float((known.gaps / (reached + known.gaps - room)).min())
            return None
        chain, bone, along = pairs.chain[near], pairs.bone[near], known.along[near]
        # What touches next to a joint hardly turns the bone; that is left to the one that ends there.
        short = np.maximum(_SHORT - along, 0.0) * pairs.lengths[near]
        softness = (self.yields[: len(yields), chain, bone, bone] * short**2).T
        turned = known.place.turned(inputs.own[k], inputs.across[k])
        moves = weights[near][..., None, None] * (turned[chain] if self.chains > 1 else turned)
        moves = moves.reshape(len(chain), -1, 3)
        gaps = known.gaps[near]
        if count:
            # What was not pushed out cannot come out, and would only be thrown about.
            gaps = np.where(gaps < -_STUCK * pairs.radii[near], 0.0, gaps)
        return chain, gaps, known.normals[near], moves, drift[near], pairs.friction[near], softness

    def _drift(self, inputs: DrivenChains, k: int, count: int, known: SeenPairs, weights: Array) -> Array:
        """(p, 3) how the points that are nearest move away from the colliders in a step, without the swing [m].

        weights: (p, s) of directions for these points.
        """
        here, pairs, later = known.place, known.pairs, k + count
        if not count:
            return np.zeros(known.normals.shape)
        if inputs.offsets is None:
            turned = here.later(inputs.own[later], inputs.across[later]) - here.directions
            moved = inputs.roots[later] - inputs.roots[k]
            if self.chains == 1:
                point = weights.dot(turned[0]) + moved
            else:
                point = (weights[:, None] @ turned[pairs.chain])[:, 0] + moved[pairs.chain]
        else:
            there = self._at(inputs, later, here.unit, here.cosine, here.sine, here.slope)
            first, last = pairs.bones_of(there.joints - here.joints), pairs.bones_of(there.tips - here.tips)
            point = first + known.along[:, None] * (last - first)
        if inputs.move:
            first = pairs.solids_of(inputs.begins[later]) - known.begins
            last = pairs.solids_of(inputs.ends[later]) - known.ends
            point = point - first - known.across[:, None] * (last - first)
        return point / count
