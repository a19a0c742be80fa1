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
from .chain_places import DrivenChains, SeenPairs, Surroundings
from .pushes import WIDEST
from .rests import at_rest
from .rolling import Rolling
from .swing import Animated, Drive
from .touching import BESIDE, LISTED, MOST_TURN, Touching
from .tuning import SpringTuning
from .widest import FASTEST, Widest, yields

_SPAN = 1.0 / 24.0
"""Most seconds from one look at the geometry to the next."""
_TURN = 0.2
"""Angle [rad] by which a bone may swing before the geometry is seen anew."""
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
        self.touching = Touching(a, tuning, scene, self.yields, self.dt, parts, self.span)
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
        if not self.touching.touches(self.inputs, state):
            return state
        lying, lies = self._lying(state)
        if self.touching.cones is not None:
            state = self.touching.cones.within(state)
        # Steps do not hold stiff modes that swing for long exactly in balance: the rest is what steps come to.
        return self._settling(np.where(lies[:, None, None], lying, state))

    def _lying(self, state: Array) -> tuple[Array, Array]:
        """The state of chains that lie on the colliders in balance, by Newton's method, and for which (c,) that came
        to an end."""
        drive, part, last = self._still(1).row(0), np.ones(self.chains), np.zeros((self.chains, self.size, 2))
        most, pairs, moved = part, self.touching.none, np.inf
        for _ in range(_MOST_ROUNDS):
            z = self.complex(state)[0]
            free = self.system.modes.swings(self.system.settled(drive.at(z, 0.0 * z) + self.system.hold * z))
            move = _pairs((free - z).reshape(self.chains, self.size)).ravel()
            if moved > _MOVED:
                pairs, moved = self.touching.near(self.inputs, 0, state), 0.0
            known = self.touching.seen(self.inputs, 0, state, pairs) if len(pairs) else None
            touching = self.touching.contacts(self.inputs, 0, 0, state, known, self.compliance, np.pi)
            if touching is not None:
                move = touching.carried(move, state[:, : self.size])
            move = move.reshape(self.chains, self.size, 2)
            most = np.abs(move).max(axis=(1, 2))
            # Where gravity is much stronger than the springs, whole changes swing to and fro.
            back = (move * last).sum(axis=(1, 2)) < 0.0
            part, last, state = np.clip(np.where(back, _LESS, _MORE) * part, *_PARTS), move, state.copy()
            made = np.minimum(part, MOST_TURN / np.maximum(most, 1e-12))
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

    def through(self, inputs: DrivenChains, state: Array, first: int, *, calm: bool = False) -> tuple[Array, Array]:
        """Swings (S, m) at frames, and the last state, from the one at a fine sample. calm: until it is at rest."""
        last, listed, most, looks = len(inputs.own) - 1, -1, 0.0, 0
        seen = np.zeros((last // self.parts + 1, self.chains, self.size, 2))
        k, pairs, alone, rolling = first, self.touching.none, first, Rolling(self.span)
        while True:
            fastest = float(np.abs(state[:, self.size :]).max())
            if listed < 0 or k >= listed + LISTED * self.span or fastest > most:
                pairs, listed, most, alone = self.touching.near(inputs, k, state), k, 1.5 * fastest + 1.0, k
            near = self.touching.none if k < alone else pairs
            before = state
            state, known = self.touching.pushed_out(inputs, k, state, near)
            if known is None and np.abs(state - before).max() > BESIDE:
                # Put back into its cone from far, it may be in a collider there.
                pairs, listed, alone = self.touching.near(inputs, k, state), k, k
                state, known = self.touching.pushed_out(inputs, k, state, pairs)
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
                seen[(k + n) // self.parts] = self.touching.pushed_out(inputs, k + n, one, near)[0][:, : self.size]
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
        found = self.touching.contacts(inputs, k, count, state, known)
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
