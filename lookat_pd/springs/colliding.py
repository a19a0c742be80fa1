"""Chains that may touch colliders, in steps of 1/240 s: the equation of `swing` with contacts.

All chains of one size are stepped together. Between two samples of the geometry, which are nearer to each other the
faster anything swings, contacts are linear in the swings and what is not linear in the equation stays the same. There
is no randomness, and no step depends on where playback begins.
"""

from dataclasses import dataclass
from math import ceil

import numpy as np

from .. import rotation
from ..pd.second_order import CLAMPED_STEP
from ..rotation import Array
from . import splines, stepping, swing
from .colliders import Borders, Colliders, nearest
from .contacts import Contacts
from .swing import Animated, Drive
from .tuning import SpringTuning

_LISTED = 3
"""Frames after which it is seen anew what is near."""
_TURN = 0.2
"""Angle [rad] by which a bone may swing before the geometry is seen anew."""
_ROOM = 0.02
"""Angle [rad] by which a whole chain may swing more, until the geometry is seen anew, than its rates say."""
_BESIDE = 0.1
"""Angle [rad] by which a bone that is pushed out of a collider may come into another one."""
_SHORT = 0.2
"""Part of a bone from its joint on within which contacts are soft."""
_PUSHES = 8
"""Most times that bones are pushed out of colliders at a frame."""
_BETTER = 0.8
"""Part of the depth that is left after a push that was of use."""
_LIFT, _DEEP = 5e-4, 2e-3
"""How far bones are pushed out, and the depth that is left, in radii."""
_CONE = 0.25
"""Part of its cone by which a bone may swing before that is seen anew."""
_SETTLING, _SETTLE_TIMES, _LONGEST = 1.5, 2.5, 6.0
"""Seconds in which bones come to rest on colliders before the first frame: at least, in settle times, and at most."""
_REST, _CALM = 1e-3, 0.9
"""The rate [rad/s] that is rest, and what is left of the rates after each look at the geometry until then."""
_MOST_LOOKS = 200
"""How often the geometry is seen until they count as being at rest."""
_MOST_CYCLES = 24
"""Cycles after which a motion that is to repeat itself is left as it is."""
_RETURNED = 1e-8
"""Change [rad] from one cycle to the next below which it has returned."""


@dataclass(frozen=True)
class Surroundings:
    """What c chains of s bones collide with: e colliders over S samples, in the bones' frames."""

    begins: Array
    """(S, c s or 1, e, 3)"""
    ends: Array
    solids: Colliders
    borders: Borders
    """Of the c s bones."""


@dataclass(frozen=True)
class DrivenChains:
    """What moves c chains of s bones at S fine samples."""

    driven: Array
    """(S - 1, c, 2 s, 2) what a step adds to swings and rates."""
    drive: Drive
    roots: Array
    """(S, c, 3) joints of the chains [m]."""
    own: Array
    """(S, c, s, 3) animated directions."""
    across: Array
    """(S, c, s, 2, 3) directions of the two parts of a swing."""
    begins: Array
    """(S, c s or 1, e, 3) the colliders."""
    ends: Array
    offsets: Array | None = None
    """(S, c, s, 3) from the end of what a bone hangs on to its joint, if they are apart, in the frame of directions
    across and along the former."""

    def at_first(self, samples: int, drive: Drive, driven: Array) -> "DrivenChains":
        """The first sample as long as that."""

        def still(values: Array, count: int = samples) -> Array:
            return np.broadcast_to(values[:1], (count, *values.shape[1:]))

        offsets = None if self.offsets is None else still(self.offsets)
        return DrivenChains(
            still(driven, samples - 1),
            drive,
            still(self.roots),
            still(self.own),
            still(self.across),
            still(self.begins),
            still(self.ends),
            offsets,
        )


def solve(
    animated: Animated, tuning: SpringTuning, scene: Surroundings, start: tuple[int, Array, Array] | None
) -> Array:
    """Swings (S, m) in their own frames of bones of chains that all have the same number, chain by chain.

    start: a sample with swings and rates (m,) in the bones' frames, before which nothing touches.
    """
    parts = max(1, ceil(animated.step / CLAMPED_STEP - 1e-9))
    run = _Run(stepping.finer(animated, parts), tuning, scene, parts)
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

    def __init__(self, fine: Animated, tuning: SpringTuning, scene: Surroundings, parts: int) -> None:
        self.scene, self.parts, self.dt = scene, parts, fine.step
        drive, self.still = swing.drive(fine, tuning)
        self.system = swing.ModeSystem(fine, tuning, drive)
        shapes, back = self.system.modes.one_size()
        self.chains, self.size = shapes.shape[:2]
        self.lengths = fine.bodies.lengths.reshape(self.chains, self.size)
        self.transition = _blocks(shapes, back, self.system.transition)
        taps = self.system.taps
        self.takes = [_column(shapes, taps[:, :, n]) for n in range(2)]
        self.inverse_mass = shapes @ np.swapaxes(shapes, 1, 2)
        rows = np.arange(len(fine.bodies.lengths)).reshape(self.chains, self.size)
        beyond = fine.bodies.beyond[rows[:, :, None], rows[:, None]]
        self.to_tips = np.swapaxes(beyond, 1, 2) * self.lengths[:, None]
        """(c, s, s) tips from directions."""
        parents = fine.bodies.parents
        self.above = np.where(parents >= 0, parents % self.size, 0).reshape(self.chains, self.size)
        self.hangs = (parents >= 0).reshape(self.chains, self.size)
        """Which bones hang on another one of the chain, and on which."""
        limits = tuning.limit.reshape(self.chains, self.size)
        self.limits = limits if (limits < np.pi).any() else None
        self.turn = _TURN if self.limits is None else min(_TURN, _CONE * float(self.limits.min()))
        self.settling = min(max(_SETTLING, _SETTLE_TIMES * float(tuning.settle_time.max())), _LONGEST)
        self.inputs = self._inputs(fine, drive)

    def _inputs(self, fine: Animated, drive: Drive) -> DrivenChains:
        shape = len(fine.turns), self.chains, self.size
        first, second, own = (rotation.rotate(fine.turns, fine.axes[:, n]) for n in range(3))
        real, imaginary = np.real(drive.phase)[..., None], np.imag(drive.phase)[..., None]
        across = np.stack((first * real - second * imaginary, first * imaginary + second * real), axis=-2)
        whole = _pairs(drive.whole.reshape(shape))
        driven = self.takes[0] @ whole[:-1] + self.takes[1] @ whole[1:]
        parents = fine.bodies.parents
        roots = fine.places.reshape(*shape, 3)[:, :, 0]
        offsets, below = None, np.flatnonzero(parents >= 0)
        above = parents[below]
        ends = fine.places[:, above] + own[:, above] * fine.bodies.lengths[above][:, None]
        apart = fine.places[:, below] - ends
        if np.abs(apart).max(initial=0.0) > 1e-4 * fine.bodies.lengths.max():
            seen = np.zeros((*drive.whole.shape, 3))
            axes = np.concatenate((across, own[..., None, :]), axis=-2)[:, above]
            seen[:, below] = (axes @ apart[..., None])[..., 0]
            offsets = seen.reshape(*shape, 3)
        begins, ends = (self._refined(values) for values in (self.scene.begins, self.scene.ends))
        return DrivenChains(
            driven,
            drive,
            roots,
            own.reshape(*shape, 3),
            across.reshape(*shape, 2, 3),
            begins,
            ends,
            offsets,
        )

    def _refined(self, values: Array) -> Array:
        still = len(values) == 1 or not np.any(values[1:] != values[:1])
        if still:
            return np.broadcast_to(values[:1], ((len(values) - 1) * self.parts + 1, *values.shape[1:]))
        return splines.refined(values, self.parts, splines.padded(values))

    def state(self, z: Array, rate: Array) -> Array:
        shape = self.chains, self.size
        return np.concatenate((_pairs(z.reshape(shape)), _pairs(rate.reshape(shape))), axis=1)

    def complex(self, state: Array) -> tuple[Array, Array]:
        """Swings and rates (m,)."""
        whole = state[..., 0] + 1j * state[..., 1]
        return whole[:, : self.size].ravel(), whole[:, self.size :].ravel()

    def at_rest(self) -> Array:
        """The state at rest under gravity and wind, on the colliders."""
        z = self.system.modes.swings(swing.at_rest(self.system, self.still))
        state = self.state(z, np.zeros_like(z))
        if not self._touches(state):
            return state
        across, along = self.still
        here = self.inputs.drive
        samples = ceil(self.settling / self.dt / self.parts) * self.parts + 1

        def still(values: Array) -> Array:
            return np.broadcast_to(values, (samples, len(values)))

        drive = Drive(
            still(across), still(across), still(along), still(here.phase[0]), here.alone, still(0.0 * here.spin[0])
        )
        driven = (self.takes[0] + self.takes[1]) @ _pairs(across.reshape(self.chains, self.size))
        inputs = self.inputs.at_first(samples, drive, driven[None])
        return self.through(inputs, state, 0, calm=True)[1]

    def _touches(self, state: Array) -> bool:
        if self._widest(state) > 0.0:
            return True
        pairs = self._near(self.inputs, 0, state)
        return len(pairs) > 0 and bool((self._seen(self.inputs, 0, state, pairs)[1] < 0.0).any())

    def through(self, inputs: DrivenChains, state: Array, first: int, *, calm: bool = False) -> tuple[Array, Array]:
        """Swings (S, m) at frames, and the last state, from the one at a fine sample. calm: until it is at rest."""
        last, listed, most, looks = len(inputs.own) - 1, first, 0.0, 0
        seen = np.zeros((last // self.parts + 1, self.chains * self.size), dtype=complex)
        k, pairs = first, np.empty((0, 3), dtype=int)
        while True:
            at_frame = k % self.parts == 0
            fastest = float(np.abs(state[:, self.size :]).max())
            if k == first or k >= listed + _LISTED * self.parts or fastest > most:
                pairs, listed, most = self._near(inputs, k, state), k, 1.5 * fastest + 1.0
            state, known = self._pushed_out(inputs, k, state, pairs)
            if at_frame:
                seen[k // self.parts] = self.complex(state)[0]
            if k == last:
                return seen, state
            count = int(min(self.parts - k % self.parts, max(1.0, self.turn / (self.dt * max(fastest, 1e-9)))))
            state = self._advanced(inputs, k, count, state, known)
            k += count
            if calm:
                state[:, self.size :] *= _CALM
                looks += 1
                if looks == _MOST_LOOKS or (fastest < _REST and k > self.parts):
                    return seen, self._stopped(state)

    def _stopped(self, state: Array) -> Array:
        state[:, self.size :] = 0.0
        return state

    def _advanced(self, inputs: DrivenChains, k: int, count: int, state: Array, known: "_Known | None") -> Array:
        z, rate = self.complex(state)
        drive = inputs.drive.row(k)
        torques = drive.at(z, rate) - drive.whole + self.system.hold * z
        pushed = (self.takes[0] + self.takes[1]) @ _pairs(torques.reshape(self.chains, self.size))
        driven = inputs.driven[k : k + count] + pushed
        found = self._contacts(inputs, k, count, state, known)
        if found is None:
            for n in range(count):
                state = self.transition @ state + driven[n]
        else:
            state = self._touching(found, driven, state)
        z, rate = self.complex(state)
        if np.abs(z).max() > swing.WIDEST or np.abs(rate).max() > stepping.FASTEST:
            return self.state(*stepping.within(z, rate))
        return state

    def _touching(self, found: Contacts, driven: Array, state: Array) -> Array:
        """The state after steps with contacts."""
        last = self._flat(state)[0]
        begun = found.begun(last, len(driven))
        for n in range(len(driven)):
            state = self.transition @ state + driven[n]
            flat = self._flat(state)
            gaps = begun[n] + found.added(flat)
            if gaps[0].min() < 0.0:
                found.stop(gaps, flat, last)
                state = np.swapaxes(flat.reshape(2, self.chains, -1), 0, 1).reshape(state.shape)
            last = flat[0]
        return state

    def _flat(self, state: Array) -> Array:
        """(2, 2 c s) swings and rates."""
        return np.swapaxes(state.reshape(self.chains, 2, -1), 0, 1).reshape(2, -1)

    def _placed(self, inputs: DrivenChains, k: int, state: Array) -> "_Place":
        """Where the bones are."""
        z = state[:, : self.size]
        angle = np.sqrt((z**2).sum(axis=-1, keepdims=True))
        sine, safe = np.sin(angle), np.maximum(angle, 1e-9)
        return self._at(inputs, k, z / safe, np.cos(angle), sine, np.where(angle > 1e-9, sine / safe, 1.0))

    def _at(self, inputs: DrivenChains, k: int, unit: Array, cosine: Array, sine: Array, slope: Array) -> "_Place":
        """Where bones are with swings of these directions, and with these cosines and sines."""
        own, across = inputs.own[k], inputs.across[k]
        outward = (unit[..., None, :] @ across)[..., 0, :]
        place = _Place(own * cosine + outward * sine, unit, cosine, sine, slope, outward)
        place.tips = inputs.roots[k][:, None] + self.to_tips @ place.directions
        if inputs.offsets is not None:
            axes = np.concatenate((place.carried(own, across), place.directions[..., None, :]), axis=-2)
            axes = np.take_along_axis(axes, self.above[..., None, None], axis=1)
            apart = (inputs.offsets[k][..., None, :] @ axes)[..., 0, :]
            place.tips = place.tips + (self.to_tips != 0.0) @ apart
        place.joints = place.tips - self.lengths[..., None] * place.directions
        return place

    def _near(self, inputs: DrivenChains, k: int, state: Array) -> Array:
        """Bones and colliders (p, 3), by chain, bone and collider, that may touch before they are listed anew."""
        place = self._placed(inputs, k, state)
        later = min(k + _LISTED * self.parts, len(inputs.own) - 1)
        here = self._at(inputs, later, place.unit, place.cosine, place.sine, place.slope)
        solids, borders = self.scene.solids, self.scene.borders
        shape = self.chains, self.size, len(solids)
        speed = np.abs(self.to_tips) @ np.sqrt((state[:, self.size :] ** 2).sum(axis=-1, keepdims=True))
        drift = np.sqrt(rotation.dot(here.tips - place.tips, here.tips - place.tips))
        begins, ends = (self._of_bones(values[k], shape) for values in (inputs.begins, inputs.ends))
        moved = np.abs(inputs.begins[later] - inputs.begins[k]).sum(axis=-1)
        moved = moved + np.abs(inputs.ends[later] - inputs.ends[k]).sum(axis=-1)
        margin = _LISTED * self.parts * self.dt * (speed[..., 0] + self.lengths) + 2.0 * drift + 0.3 * self.lengths
        margin = margin[..., None] + (moved if len(moved) == 1 else moved.reshape(shape))
        found = nearest(
            place.joints[:, :, None],
            place.tips[:, :, None],
            begins,
            ends,
            np.broadcast_to(solids.is_plane, shape),
            borders.at_tip.reshape(shape),
        )
        gap = found.distance - borders.reach.reshape(shape)
        return np.argwhere((gap < margin) & ~borders.left.reshape(shape))

    def _of_bones(self, values: Array, shape: tuple[int, int, int]) -> Array:
        return values[None] if len(values) == 1 else values.reshape(*shape, 3)

    def _pairs_at(self, values: Array, pairs: Array) -> Array:
        """(p, 3) ends of colliders at one sample."""
        bones = pairs[:, 0] * self.size + pairs[:, 1] if len(values) > 1 else np.zeros(len(pairs), dtype=int)
        return values[bones, pairs[:, 2]]

    def _seen(self, inputs: DrivenChains, k: int, state: Array, pairs: Array) -> tuple["_Known", Array]:
        """The geometry of pairs, and how far each is from touching (p,)."""
        place = self._placed(inputs, k, state)
        chain, bone, solid = pairs.T
        begins, ends = self._pairs_at(inputs.begins[k], pairs), self._pairs_at(inputs.ends[k], pairs)
        joints, tips = place.joints[chain, bone], place.tips[chain, bone]
        is_plane = self.scene.solids.is_plane[solid]
        row = chain * self.size + bone
        reach, at_tip = self.scene.borders.reach[row, solid], self.scene.borders.at_tip[row, solid]
        # The joint of a first bone is where the animation has it, be it inside a collider.
        found = nearest(joints, tips, begins, ends, is_plane, at_tip)
        firsts = np.flatnonzero((bone == 0) & ~is_plane & ~at_tip & (found.distance < reach))
        if len(firsts):
            all_of = joints[firsts], joints[firsts], begins[firsts], ends[firsts]
            own = nearest(*all_of, is_plane[firsts], np.ones(len(firsts), dtype=bool))
            at_tip[firsts] = own.distance < reach[firsts]
            found = nearest(joints, tips, begins, ends, is_plane, at_tip)
        points = joints + found.along[:, None] * (tips - joints)
        known = _Known(pairs, place, found.along, found.across, found.normal, found.distance - reach, points)
        known.axes = begins, ends
        return known, known.gaps

    def _pushed_out(self, inputs: DrivenChains, k: int, state: Array, pairs: Array) -> tuple[Array, "_Known | None"]:
        """The state with all bones out of colliders and within their cones, and what is near."""
        known, deepest, lift = None, 0.0, _LIFT
        before, most = np.inf, _PUSHES if k % self.parts == 0 else 1
        for push in range(most + 1):
            if len(pairs):
                known, gaps = self._seen(inputs, k, state, pairs)
                chain, bone, solid = pairs.T
                radii = self.scene.borders.reach[chain * self.size + bone, solid]
                radii = np.where(radii > 0.0, radii, self.lengths[chain, bone])
                deepest, lift = float((-gaps / radii).max()), _LIFT * float(radii.min())
            elif self.limits is None:
                break
            deepest = max(deepest, self._widest(state))
            # What is held inside by its joint does not come out.
            if deepest < _DEEP or push == most or deepest > _BETTER * before:
                break
            before, deepest = deepest, 0.0
            state = state.copy()
            touching = self._contacts(inputs, k, 0, state, known)
            assert touching is not None, "something is too deep"
            state[:, : self.size] += touching.push_out(lift).reshape(self.chains, self.size, 2)
        if self._widest(state) > 0.0:
            state = self._within_cones(state)
        return state, known

    def _within_cones(self, state: Array) -> Array:
        """The state with bones that are beyond their cones at their ends, from root to tip."""
        assert self.limits is not None, "the caller has asked"
        state, rows = state.copy(), np.arange(self.chains)
        for bone in range(self.size):
            above = state[rows, self.above[:, bone]] * self.hangs[:, bone, None]
            bend = state[:, bone] - above
            angle = np.sqrt((bend**2).sum(axis=-1))
            state[:, bone] = above + bend * np.minimum(1.0, self.limits[:, bone] / np.maximum(angle, 1e-12))[:, None]
        return state

    def _contacts(
        self, inputs: DrivenChains, k: int, count: int, state: Array, known: "_Known | None"
    ) -> Contacts | None:
        """What may touch within some steps; with no step what bones may be pushed into."""
        rates = np.sqrt((state[:, self.size :] ** 2).sum(axis=-1))
        swung = _ROOM + 1.5 * count * self.dt * rates if count else np.full(rates.shape, _BESIDE)
        rows = [] if known is None else self._solid_rows(inputs, k, count, swung, known)
        if self.limits is not None:
            rows = [*rows, *self._cone_rows(state, swung)]
        if not rows:
            return None
        chain, gaps, normals, moves, drift, friction, softness = map(np.concatenate, zip(*rows, strict=True))
        return Contacts(chain, gaps, normals, moves, drift, friction, softness, self.inverse_mass, self.dt)

    def _solid_rows(
        self, inputs: DrivenChains, k: int, count: int, swung: Array, known: "_Known"
    ) -> list[tuple[Array, ...]]:
        """What may touch colliders, as `Contacts` has it. swung: (c, s) angles by which bones may swing."""
        drift = self._drift(inputs, k, count, known)
        room = known.gaps + np.minimum(count * rotation.dot(drift, known.normals), 0.0)
        chain, bone, solid = known.pairs.T
        near = np.flatnonzero(room < (self.to_tips[chain, bone] * swung[chain]).sum(axis=1))
        if not len(near):
            return []
        chain, bone, solid = known.pairs[near].T
        weights = self.to_tips[chain, bone]
        weights[np.arange(len(chain)), bone] *= known.along[near]
        # What touches next to a joint hardly turns the bone; that is left to the one that ends there.
        short = np.maximum(_SHORT - known.along[near], 0.0) * self.lengths[chain, bone]
        softness = self.inverse_mass[chain, bone, bone] * short**2
        turned = known.place.turned(inputs.own[k], inputs.across[k])[chain]
        moves = (weights[..., None, None] * turned).reshape(len(chain), -1, 3)
        friction = self.scene.solids.friction[solid]
        return [(chain, known.gaps[near], known.normals[near], moves, drift[near], friction, softness)]

    def _bends(self, state: Array) -> Array:
        """(c, s, 2) how bones are swung from what they hang on."""
        z = state[:, : self.size]
        return z - np.take_along_axis(z, self.above[..., None], axis=1) * self.hangs[..., None]

    def _widest(self, state: Array) -> float:
        """How far a bone is beyond its cone [rad]."""
        if self.limits is None:
            return 0.0
        return float((np.sqrt((self._bends(state) ** 2).sum(axis=-1)) - self.limits).max())

    def _cone_rows(self, state: Array, swung: Array) -> list[tuple[Array, ...]]:
        """Bones at the ends of their cones, as contacts along one axis whose distances are angles."""
        assert self.limits is not None, "the caller has asked"
        bends = self._bends(state)
        angles = np.sqrt((bends**2).sum(axis=-1))
        gaps = self.limits - angles
        room = swung + np.take_along_axis(swung, self.above, axis=1) * self.hangs
        chain, bone = np.nonzero(gaps < room)
        if not len(chain):
            return []
        rows = np.arange(len(chain))
        outward = bends[chain, bone] / np.maximum(angles[chain, bone], 1e-9)[:, None]
        moves = np.zeros((len(chain), self.size, 2, 3))
        moves[rows, bone, :, 0] = -outward
        below = np.flatnonzero(self.hangs[chain, bone])
        moves[below, self.above[chain, bone][below], :, 0] = outward[below]
        none, normals = np.zeros(len(chain)), np.tile([1.0, 0.0, 0.0], (len(chain), 1))
        moves = moves.reshape(len(chain), -1, 3)
        return [(chain, gaps[chain, bone], normals, moves, np.zeros((len(chain), 3)), none, none)]

    def _drift(self, inputs: DrivenChains, k: int, count: int, known: "_Known") -> Array:
        """(p, 3) how the points that are nearest move away from the colliders in a step, without the swing [m]."""
        if not count:
            return np.zeros(known.points.shape)
        chain, bone, _ = known.pairs.T
        here = known.place
        later = self._at(inputs, k + count, here.unit, here.cosine, here.sine, here.slope)
        joints, tips = later.joints[chain, bone], later.tips[chain, bone]
        point = joints + known.along[:, None] * (tips - joints)
        begins, ends = known.axes
        first, last = (self._pairs_at(v[k + count], known.pairs) for v in (inputs.begins, inputs.ends))
        carried = (first - begins) + known.across[:, None] * ((last - ends) - (first - begins))
        return (point - known.points - carried) / count


@dataclass
class _Place:
    """Where the c chains of s bones are."""

    directions: Array
    """(c, s, 3)"""
    unit: Array
    """(c, s, 2) directions of the swings."""
    cosine: Array
    """(c, s, 1)"""
    sine: Array
    slope: Array
    """(c, s, 1) sine by angle."""
    outward: Array
    """(c, s, 3) where each swings to from its animated direction."""
    tips: Array = None  # type: ignore[assignment]
    joints: Array = None  # type: ignore[assignment]

    def turned(self, own: Array, across: Array) -> Array:
        """(c, s, 2, 3) how the directions change with the swings."""
        more = (self.cosine - self.slope) * self.outward - self.sine * own
        return self.slope[..., None] * across + self.unit[..., None] * more[..., None, :]

    def carried(self, own: Array, across: Array) -> Array:
        """(c, s, 2, 3) directions across, turned with the bones."""
        more = (self.cosine - 1.0) * self.outward - self.sine * own
        return across + self.unit[..., None] * more[..., None, :]


@dataclass
class _Known:
    """The geometry of p pairs of bones and colliders."""

    pairs: Array
    place: _Place
    along: Array
    across: Array
    normals: Array
    gaps: Array
    points: Array
    axes: tuple[Array, Array] = None  # type: ignore[assignment]


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
