"""Chains that may touch colliders, in steps of 1/240 s: the equation of `swing` with contacts.

All chains of one size are stepped together. Between two looks at the geometry, which are nearer to each other the
faster anything swings, contacts are linear in the swings and what is not linear in the equation stays the same. When it
is looked is counted from the first sample in seconds, so that it is the same at all frame rates. There is no
randomness, and no step depends on where playback begins.
"""

from dataclasses import replace
from math import ceil

import numpy as np

from .. import rotation
from ..pd.second_order import CLAMPED_STEP
from ..rotation import Array
from . import contact_steps, splines, swing
from .chain_places import ChainPlace, DrivenChains, NearPairs, SeenPairs, Surroundings
from .colliders import nearest
from .cones import GIVES, Cones
from .contacts import Contacts
from .pushes import WIDEST
from .rests import at_rest
from .rolling import Rolling
from .swing import Animated, Drive
from .tuning import SpringTuning
from .widest import FASTEST, Widest, yields

_SPAN = 1.0 / 24.0
"""Most seconds from one look at the geometry to the next."""
_LISTED = 6
"""Such times after which it is seen anew what is near."""
_TURN = 0.2
"""Angle [rad] by which a bone may swing before the geometry is seen anew."""
_ROOM = 0.02
"""Angle [rad] by which a whole chain may swing more, until the geometry is seen anew, than its rates say."""
_BESIDE = 0.1
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
_MOST_TURN = 0.4
"""Largest angle [rad] by which a bone is pushed out at once."""
_LIFT, _DEEP = 5e-4, 2e-3
"""How far bones are pushed out, and the depth that is left, in radii."""
_BEYOND = 2e-4
"""Angle [rad] by which bones that touch nothing may be beyond their cones."""
_TOUCHES = 0.02
"""Distance in radii within which something touches, so that steps alone bring bones back into their cones."""
_SETTLING, _SETTLE_TIMES, _LONGEST = 1.5, 2.5, 6.0
"""Seconds in which bones come to rest on colliders before the first frame: at least, in settle times, and at most."""
_MOST_ROUNDS, _LIES, _NEARLY = 120, 1e-7, 1e-4
"""Rounds in which it is found how bones lie on colliders, the change [rad] of the last one, and the one from which on
they lie there."""
_LESS, _MORE, _PARTS = 0.6, 1.2, (0.05, 6.0)
"""What the part of a change that is made is multiplied with after a change back, and after one onward, and within what
it stays."""
_MOVED = 0.4
"""Angle [rad] by which all bones of a chain move in such rounds before it is seen anew what is near."""
_LEAST = 1e-3
"""Least part of what a free body yields to a torque, for stiff modes."""
_REST, _CALM = 3e-3, 0.9
"""The rate [rad/s] that is rest, and what is left of the rates after each look at the geometry until then."""
_ALONE = 0.5
"""Part of the times in which it can touch nothing for which a chain is not looked at."""
_SURELY = 0.7 * min(WIDEST, FASTEST)
"""The part of a swing, or of a rate, below which none is too wide or too fast."""
_MOST_LOOKS = 200
"""How often the geometry is seen until they count as being at rest."""
_MOST_CYCLES = 24
"""Cycles after which a motion that is to repeat itself is left as it is."""
_RETURNED = 1e-8
"""Change [rad] from one cycle to the next below which it has returned."""


def solve(
    animated: Animated, tuning: SpringTuning, scene: Surroundings, start: tuple[int, Array, Array] | None
) -> Array:
    """Swings (S, m) in their own frames of bones of chains that all have the same number, chain by chain.

    start: a sample with swings and rates (m,) in the bones' frames, before which nothing touches.
    """
    parts = max(1, ceil(animated.step / CLAMPED_STEP - 1e-9))
    run = _Run(animated, tuning, scene, parts)
    if start is None:
        first, state = 0, run.at_rest()
    else:
        first, z, rate = start
        phase = run.inputs.drive.phase[first * parts]
        state = run.state(z * phase, rate * phase)
    found, state = run.through(run.inputs, state, first * parts)
    if animated.cycle is not None:
        turned = run.inputs.drive.phase[-1].conj()
        for _ in range(_MOST_CYCLES):
            z, rate = run.complex(state)
            again, state = run.through(run.inputs, run.state(z * turned, rate * turned), 0)
            change, found = float(np.abs(again - found).max(initial=0.0)), again
            if change < _RETURNED:
                break
    return found * run.inputs.drive.phase[::parts].conj()


class _Run:
    """Chains on their way among colliders. A state (c, 2 s, 2) has swings, then rates."""

    def __init__(self, a: Animated, tuning: SpringTuning, scene: Surroundings, parts: int) -> None:
        self.scene, self.parts, self.dt = scene, parts, a.step / parts
        self.span = max(1, round(_SPAN / self.dt))
        """Most steps from one look at the geometry to the next."""
        fine = replace(a, turns=splines.refined_turns(a.turns, parts, a.cycle), step=self.dt)
        drive, self.still = swing.drive(a, tuning)
        drive = drive.between(fine, parts)
        self.system = swing.ModeSystem(fine, tuning, drive)
        shapes, back = self.system.modes.one_size()
        self.chains, self.size = shapes.shape[:2]
        nothing = np.zeros(0, dtype=int)
        self.lengths = a.bodies.lengths.reshape(self.chains, self.size)
        self.transition = _blocks(shapes, back, self.system.transition)
        """(c, 2 s, 2 s) what a step makes of a state."""
        taps = self.system.taps
        power = np.broadcast_to(np.eye(2 * self.size), self.transition.shape)
        self.held_over_span = power.copy()
        for _ in range(self.span - 1):
            power = self.transition @ power
            self.held_over_span += power
        self.over_span = self.transition @ power
        """(c, 2 s, 2 s) what such a span makes of a state, and of what each of its steps adds."""
        self.takes = [_column(shapes, taps[:, :, n]) for n in range(2)]
        self.takes_held = self.takes[0] + self.takes[1]
        self.yields = self._yields(shapes, taps)
        stiffness = self.system.modes.stiffness.reshape(self.chains, 1, self.size)
        self.compliance = ((shapes / stiffness) @ np.swapaxes(shapes, 1, 2))[None]
        """(1, c, s, s) by how much springs yield to torques in the end."""
        rows = np.arange(len(a.bodies.lengths)).reshape(self.chains, self.size)
        self.widest = Widest([(rows, self.yields)])
        beyond = a.bodies.beyond[rows[:, :, None], rows[:, None]]
        self.to_tips = np.swapaxes(beyond, 1, 2) * self.lengths[:, None]
        """(c, s, s) tips from directions."""
        parents = a.bodies.parents
        self.above = np.where(parents >= 0, parents % self.size, 0).reshape(self.chains, self.size)
        """(c, s) the bones on which others of the chain hang; 0 for the first, which hang on none."""
        hangs = (parents >= 0).reshape(self.chains, self.size)
        self.none = self._listed(nothing, nothing, nothing)
        apart, moves = np.zeros((0, 3)), np.zeros((0, 2 * self.size, 3))
        self.nothing = nothing, apart[:, 0], apart, moves, apart, apart[:, 0], apart[:, :1]
        """No contacts, as `Contacts` has them."""
        limits = tuning.limit.reshape(self.chains, self.size)
        self.cones = Cones(limits, self.above, hangs) if (limits < np.pi).any() else None
        self.end_softness = GIVES[:, None, None] * np.diagonal(self.yields, axis1=2, axis2=3)
        """(2, c, s) by how much ends of cones yield in a step."""
        self.settling = min(max(_SETTLING, _SETTLE_TIMES * float(tuning.settle_time.max())), _LONGEST)
        self.inputs = self._inputs(a, fine.turns, drive)

    def _yields(self, shapes: Array, taps: Array) -> Array:
        """(2, c, s, s) by how much swings and rates yield to torques that act during a step. With these a chain that
        lies on something in balance stays as it is."""
        response = taps.sum(axis=2).reshape(self.chains, self.size, 2)
        # A stiff mode may swing back within a step, but must not pull at what it lies on.
        return yields(shapes, np.maximum(response, [_LEAST * self.dt**2, _LEAST * self.dt]))

    def _inputs(self, a: Animated, turns: Array, drive: Drive) -> DrivenChains:
        shape = len(turns), self.chains, self.size
        first, second, own = (rotation.rotate(turns, a.axes[:, n]) for n in range(3))
        real, imaginary = np.real(drive.phase)[..., None], np.imag(drive.phase)[..., None]
        across = np.stack((first * real - second * imaginary, first * imaginary + second * real), axis=-2)
        whole = _pairs(drive.whole.reshape(shape))
        driven = _mapped(self.takes[0], whole[:-1]) + _mapped(self.takes[1], whole[1:])
        spans = self._over_spans(driven)
        begins, ends = (self._refined(values) for values in (self.scene.begins, self.scene.ends))
        return DrivenChains(
            driven,
            spans,
            drive,
            self._places(a, slice(None, None, self.size)),
            own.reshape(*shape, 3),
            across.reshape(*shape, 2, 3),
            begins,
            ends,
            any(not _is_still(values) for values in (self.scene.begins, self.scene.ends)),
            self._offsets(a, own, across),
        )

    def _places(self, a: Animated, bones: slice | Array) -> Array:
        """Joints of bones (S, k, 3) at fine samples."""
        places, cycle = a.places[:, bones], a.cycle
        if cycle is not None:
            cycle = splines.Cycle(cycle.turn[bones], cycle.shift[bones])
        return splines.refined(places, self.parts, splines.padded(places, cycle))

    def _over_spans(self, driven: Array) -> Array:
        """What steps (S - 1, c, 2 s, 2) add by the end of each whole span."""
        whole = len(driven) // self.span
        steps = driven[: whole * self.span].reshape(whole, self.span, *driven.shape[1:])
        result = steps[:, 0]
        for n in range(1, self.span):
            result = _mapped(self.transition, result) + steps[:, n]
        return result

    def _offsets(self, a: Animated, own: Array, across: Array) -> Array | None:
        """See `DrivenChains.offsets`."""
        below = np.flatnonzero(a.bodies.parents >= 0)
        above, lengths = a.bodies.parents[below], a.bodies.lengths
        ends = a.places[:, above] + own[:: self.parts, above] * lengths[above][:, None]
        if np.abs(a.places[:, below] - ends).max(initial=0.0) <= 1e-4 * lengths.max():
            return None
        places = self._places(a, np.arange(len(lengths)))
        apart = places[:, below] - places[:, above] - own[:, above] * lengths[above][:, None]
        seen = np.zeros(own.shape)
        axes = np.concatenate((across, own[..., None, :]), axis=-2)[:, above]
        seen[:, below] = (axes @ apart[..., None])[..., 0]
        return seen.reshape(len(own), self.chains, self.size, 3)

    def _refined(self, values: Array) -> Array:
        if _is_still(values):
            return np.broadcast_to(values[:1], ((len(values) - 1) * self.parts + 1, *values.shape[1:]))
        return splines.refined(values, self.parts, splines.padded(values))

    def state(self, z: Array, rate: Array) -> Array:
        shape = self.chains, self.size
        return np.concatenate((_pairs(z.reshape(shape)), _pairs(rate.reshape(shape))), axis=1)

    def complex(self, state: Array) -> tuple[Array, Array]:
        """Swings and rates (m,)."""
        whole = np.ascontiguousarray(state).view(complex)
        return whole[:, : self.size].ravel(), whole[:, self.size :].ravel()

    def at_rest(self) -> Array:
        """The state at rest under gravity and wind, on the colliders."""
        z = self.system.modes.swings(at_rest(self.system.modes, self.system.hold, self.still))
        state = self.state(z, np.zeros_like(z))
        if not self._touches(state):
            return state
        lying, lies = self._lying(state)
        if self.cones is not None:
            state = self.cones.within(state)
        # Steps do not hold stiff modes that swing for long exactly in balance: the rest is what steps come to.
        return self._settling(np.where(lies[:, None, None], lying, state))

    def _lying(self, state: Array) -> tuple[Array, Array]:
        """The state of chains that lie on the colliders in balance, by Newton's method, and for which (c,) that came
        to an end."""
        drive, part, last = self._still(1).row(0), np.ones(self.chains), np.zeros((self.chains, self.size, 2))
        most, pairs, moved = part, self.none, np.inf
        for _ in range(_MOST_ROUNDS):
            z = self.complex(state)[0]
            free = self.system.modes.swings(self.system.settled(drive.at(z, 0.0 * z) + self.system.hold * z))
            move = _pairs((free - z).reshape(self.chains, self.size)).ravel()
            if moved > _MOVED:
                pairs, moved = self._near(self.inputs, 0, state), 0.0
            known = self._seen(self.inputs, 0, state, pairs) if len(pairs) else None
            touching = self._contacts(self.inputs, 0, 0, state, known, self.compliance, np.pi)
            if touching is not None:
                move = touching.carried(move, state[:, : self.size])
            move = move.reshape(self.chains, self.size, 2)
            most = np.abs(move).max(axis=(1, 2))
            # Where gravity is much stronger than the springs, whole changes swing to and fro.
            back = (move * last).sum(axis=(1, 2)) < 0.0
            part, last, state = np.clip(np.where(back, _LESS, _MORE) * part, *_PARTS), move, state.copy()
            made = np.minimum(part, _MOST_TURN / np.maximum(most, 1e-12))
            state[:, : self.size] += move * made[:, None, None]
            moved += self.size * float((most * made).max())
            if (most < _LIES).all():
                break
        widest = np.hypot(state[:, : self.size, 0], state[:, : self.size, 1]).max(axis=1)
        return state, (most < _NEARLY) & (widest < WIDEST)

    def _settling(self, state: Array) -> Array:
        """The state in which chains come to rest on the colliders."""
        samples = ceil(self.settling / self.dt / self.span) * self.span + 1
        driven = self.takes_held @ _pairs(self.still[0].reshape(self.chains, self.size))
        spans = self._over_spans(np.broadcast_to(driven, (self.span, *driven.shape)))
        inputs = self.inputs.at_first(samples, self._still(samples), driven[None], spans)
        return self.through(inputs, state, 0, calm=True)[1]

    def _still(self, samples: int) -> Drive:
        """Gravity and wind alone, as at the first sample."""
        (across, along), here = self.still, self.inputs.drive

        def still(values: Array) -> Array:
            return np.broadcast_to(values, (samples, len(values)))

        return Drive(
            still(across), still(across), still(along), still(here.phase[0]), here.alone, still(0.0 * here.spin[0])
        )

    def _touches(self, state: Array) -> bool:
        if self.cones is not None and self.cones.excess(state).max() > 0.0:
            return True
        pairs = self._near(self.inputs, 0, state)
        return len(pairs) > 0 and bool((self._seen(self.inputs, 0, state, pairs).gaps < 0.0).any())

    def through(self, inputs: DrivenChains, state: Array, first: int, *, calm: bool = False) -> tuple[Array, Array]:
        """Swings (S, m) at frames, and the last state, from the one at a fine sample. calm: until it is at rest."""
        last, listed, most, looks = len(inputs.own) - 1, -1, 0.0, 0
        seen = np.zeros((last // self.parts + 1, self.chains, self.size, 2))
        k, pairs, alone, rolling = first, self.none, first, Rolling(self.span)
        while True:
            fastest = float(np.abs(state[:, self.size :]).max())
            if listed < 0 or k >= listed + _LISTED * self.span or fastest > most:
                pairs, listed, most, alone = self._near(inputs, k, state), k, 1.5 * fastest + 1.0, k
            near = self.none if k < alone else pairs
            before = state
            state, known = self._pushed_out(inputs, k, state, near)
            if known is None and np.abs(state - before).max() > _BESIDE:
                # Put back into its cone from far, it may be in a collider there.
                pairs, listed, alone = self._near(inputs, k, state), k, k
                state, known = self._pushed_out(inputs, k, state, pairs)
            if k % self.parts == 0:
                seen[k // self.parts] = state[:, : self.size]
            if k == last:
                return seen.view(complex).reshape(len(seen), -1), state
            if known is not None:
                rolling.see(known)
            count = min(self.span - k % self.span, last - k, rolling.most)
            count = int(min(count, max(1.0, _TURN / (self.dt * max(fastest, 1e-9)))))
            passed = list(range(self.parts - k % self.parts, count, self.parts))
            before = state
            state, between = self._advanced(inputs, k, count, state, known, passed)
            for n, one in zip(passed, between, strict=True):
                seen[(k + n) // self.parts] = self._pushed_out(inputs, k + n, one, near)[0][:, : self.size]
            k += count
            if known is not None:
                alone = k + count * int(_ALONE * known.apart)
            if calm:
                moved = float(np.abs(state[:, : self.size] - before[:, : self.size]).max())
                state[:, self.size :] *= _CALM
                looks += 1
                if looks == _MOST_LOOKS or (moved < _REST * count * self.dt and k > self.span):
                    state[:, self.size :] = 0.0
                    return seen.view(complex).reshape(len(seen), -1), state

    def _advanced(
        self, inputs: DrivenChains, k: int, count: int, state: Array, known: SeenPairs | None, passed: list[int]
    ) -> tuple[Array, list[Array]]:
        """The state after so many steps, and those after the passed ones."""
        z, rate = self.complex(state)
        torques = inputs.drive.bent_at(k, z, rate) + self.system.hold * z
        pushed = self.takes_held @ _pairs(torques.reshape(self.chains, self.size))
        found = self._contacts(inputs, k, count, state, known)
        if found is None and count == self.span and not passed:
            last = self.over_span @ state + self.held_over_span @ pushed + inputs.spans[k // count]
            return self._within(last), []
        driven = inputs.driven[k : k + count] + pushed
        if found is None:
            states = [state]
            for added in driven:
                states.append(self.transition @ states[-1] + added)
        else:
            states = contact_steps.through(found, self.transition, driven, state)
        last, *between = (self._within(states[n]) for n in (count, *passed))
        return last, between

    def _within(self, state: Array) -> Array:
        """The state with swings no wider, and no faster, than they may be."""
        if state.max() < _SURELY and state.min() > -_SURELY:
            return state
        z, rate = self.complex(state)
        if np.abs(z).max() > WIDEST or np.abs(rate).max() > FASTEST:
            return self.state(*self.widest.within(z, rate))
        return state

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

    def _near(self, inputs: DrivenChains, k: int, state: Array) -> NearPairs:
        """Bones and colliders that may touch before they are listed anew."""
        place = self._placed(inputs, k, state)
        later = min(k + _LISTED * self.span, len(inputs.own) - 1)
        here = self._at(inputs, later, place.unit, place.cosine, place.sine, place.slope)
        solids, borders = self.scene.solids, self.scene.borders
        shape = self.chains, self.size, len(solids)
        rates = state[:, self.size :]
        speed = self.to_tips @ np.hypot(rates[..., 0], rates[..., 1])[..., None]
        margin = _LISTED * self.span * self.dt * (speed[..., 0] + self.lengths)
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

    def _seen(self, inputs: DrivenChains, k: int, state: Array, pairs: NearPairs) -> SeenPairs:
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

    def _pushed_out(
        self, inputs: DrivenChains, k: int, state: Array, pairs: NearPairs
    ) -> tuple[Array, SeenPairs | None]:
        """The state with all bones out of colliders and within their cones, and what is near."""
        if not len(pairs):
            inside = self.cones is None or self.cones.excess(state).max() < _BEYOND
            return (state if inside else self.cones.within(state)), None
        known, before = self._seen(inputs, k, state, pairs), np.inf
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
            touching = self._contacts(inputs, k, 0, state, known, self.yields[:1])
            assert touching is not None, "something is too deep"
            change = touching.push_out(_LIFT * float(pairs.radii.min()), state[:, : self.size])
            change *= min(1.0, _MOST_TURN / max(float(np.abs(change).max()), 1e-12))
            state[:, : self.size] += change.reshape(self.chains, self.size, 2)
            known = self._seen(inputs, k, state, pairs)
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
        return state, self._seen(inputs, k, state, after[1].pairs)

    def _within_cones(
        self, inputs: DrivenChains, k: int, state: Array, known: SeenPairs, cones: Cones
    ) -> tuple[Array, SeenPairs]:
        """The state with the chains within their cones that are not in a collider then, and what is near."""
        beyond = (cones.excess(state).max(axis=1) > _BEYOND) & (known.nearest(self.chains) > _TOUCHES)
        if not beyond.any():
            return state, known
        trial = np.where(beyond[:, None, None], cones.within(state), state)
        seen = self._seen(inputs, k, trial, known.pairs)
        stays = beyond & (seen.nearest(self.chains) < -_DEEP)
        if not stays.any():
            return trial, seen
        if stays.all():
            return state, known
        state = np.where(stays[:, None, None], state, trial)
        return state, self._seen(inputs, k, state, known.pairs)

    def _contacts(
        self,
        inputs: DrivenChains,
        k: int,
        count: int,
        state: Array,
        known: SeenPairs | None,
        yields: Array | None = None,
        beside: float = _BESIDE,
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


def _mapped(matrices: Array, values: Array) -> Array:
    """Matrices (c, j, i) by values (S, c, i, 2): (S, c, j, 2)."""
    samples, count, size, parts = values.shape
    flat = values.transpose(1, 2, 0, 3).reshape(count, size, samples * parts)
    return (matrices @ flat).reshape(count, matrices.shape[1], samples, parts).transpose(2, 0, 1, 3)


def _is_still(values: Array) -> bool:
    return len(values) == 1 or not np.any(values[1:] != values[:1])


def _pairs(values: Array) -> Array:
    """Complex numbers (...) as (..., 2)."""
    return np.ascontiguousarray(values).view(float).reshape(*values.shape, 2)


def _blocks(shapes: Array, back: Array, step: Array) -> Array:
    """(c, 2 s, 2 s) a step of modes (m, 2, 2) as one of swings and rates."""
    count, size = shapes.shape[:2]
    own = step.reshape(count, size, 2, 2)
    parts = [[(shapes * own[:, None, :, i, j]) @ back for j in range(2)] for i in range(2)]
    return np.concatenate([np.concatenate(row, axis=2) for row in parts], axis=1)


def _column(shapes: Array, taps: Array) -> Array:
    """(c, 2 s, s) what torques add to swings and rates, by taps (m, 2) of modes."""
    count, size = shapes.shape[:2]
    own, back = taps.reshape(count, size, 2), np.swapaxes(shapes, 1, 2)
    return np.concatenate([(shapes * own[:, None, :, i]) @ back for i in range(2)], axis=1)
