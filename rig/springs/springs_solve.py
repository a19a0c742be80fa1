"""Sampling chains of bones with springs, and solving how they swing."""

import dataclasses
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import bpy
import numpy as np

from ...lookat_pd import rotation, springs
from ...lookat_pd.progress import in_thread
from ...lookat_pd.rotation import Array
from ..animation import cycles
from ..detection import bone_ends, rest
from ..layers import bone_chains
from ..layers.track import Track, part
from ..sampling import own_data, sampler
from ..sampling.sampler import Samples
from ..sampling.targets import Target
from . import along_chain, centers, colliders, fields
from .chains import SpringChain
from .colliders import Collider
from .fields import Field

_APART = 1e-3
"""Least distance of two joints, by the size of the rig, for one to be where the bone of the other ends."""
_AT_TAIL = 0.5
"""Distance of a tail from the next joint, as a part of that from joint to joint, up to which it says something."""
_DEEP = 0.02
"""Part of the radii from which on it is told how deep a bone is in a collider."""
_FLAT = 1e-9
"""Scale of the object below which it has none."""
_SAME = 1e-3
"""How far poses may differ that a cycle repeats [rad, and parts of a chain's length]."""
_WHOLE = 1e-3
"""Part of a frame up to which a length is a whole number of them."""
_BEYOND = np.radians(1.0)
"""Angle from which on it is told how far a bone is pushed beyond its limit."""
_OfBones = dict[str, Array]
"""(n,) each setting of `BoneTuning` of n bones."""


@dataclass(frozen=True)
class SpringCycle:
    """Frames of one cycle of the animation; the last one is the first one again."""

    first: int
    last: int
    is_marked: bool = False
    """Whether the action is set to repeat; otherwise its ends are alike."""
    length: float = 0.0
    """Of the action in frames, which may be no whole number."""

    @property
    def is_whole(self) -> bool:
        return abs(self.length - (self.last - self.first)) < _WHOLE


@dataclass(frozen=True)
class SpringRig:
    """All bones of an armature that swing."""

    armature: bpy.types.Object
    chains: tuple[SpringChain, ...]
    bones: tuple[str, ...]
    """From root to tip."""
    parents: tuple[int, ...]
    """Numbers of the bones that they hang on, -1 for none."""
    tips: Array
    """(n, 3) where they end at rest, in their own frames."""
    loose: tuple[str, ...]
    """Bones that do not simply move as children of those that they hang on, so that they have to be evaluated."""

    @classmethod
    def of(cls, armature: bpy.types.Object, chains: Sequence[SpringChain]) -> "SpringRig":
        """Each bone swings on the result of the nearest one that it hangs on."""
        bones = bone_chains.root_to_tip(armature, (bone for chain in chains for bone in chain.bones))
        number = {bone: n for n, bone in enumerate(bones)}
        parents, loose = [], []
        for bone in bones:
            above = bone_chains.parent_among(armature, bone, number)
            parents.append(number[above] if above else -1)
            own = armature.pose.bones[bone].constraints
            held = any(not own_data.is_own_constraint(constraint) for constraint in own)
            if held or (above and not bone_chains.is_carried(armature, bone, above, own_data.is_own_constraint)):
                loose.append(bone)
        tips = _tips(armature, chains, bones)
        return cls(armature, tuple(chains), tuple(bones), tuple(parents), tips, tuple(loose))

    @property
    def reach(self) -> Array:
        """(n,) the length of each bone's chain at rest."""
        lengths = np.linalg.norm(self.tips, axis=1)
        chain_of = {bone: n for n, chain in enumerate(self.chains) for bone in chain.bones}
        which = np.array([chain_of[bone] for bone in self.bones])
        return np.bincount(which, lengths)[which]


def _tips(armature: bpy.types.Object, chains: Sequence[SpringChain], bones: Sequence[str]) -> Array:
    """Where bones end at rest, (n, 3) in their own frames: at the next joint of their chain.

    In files of game engines the tails of bones say nothing. The last one goes on as the one before it then.
    """
    skeleton = rest.skeleton(armature)
    alone = bone_ends.with_ends(skeleton)
    number = {name: n for n, name in enumerate(skeleton.names)}
    ends = {name: skeleton.tails[number[name]] for name in bones}
    ends |= {chain.bone: alone.tails[number[chain.bone]] for chain in chains if len(chain.bones) == 1}
    for chain in chains:
        for bone, following in pairwise(chain.bones):
            begin, joint, tail = skeleton.heads[number[bone]], skeleton.heads[number[following]], ends[bone]
            length = float(np.linalg.norm(joint - begin))
            if length > _APART * skeleton.size:
                ends[bone] = joint
            if following == chain.bones[-1] and np.linalg.norm(tail - joint) > _AT_TAIL * length:
                ends[following] = 2.0 * joint - begin
    rows = [number[name] for name in bones]
    away = np.array([ends[name] for name in bones]) - skeleton.heads[rows]
    return rotation.rotate(rotation.inverse(skeleton.rotations[rows]), away)


def cycle_of(armature: bpy.types.Object) -> SpringCycle | None:
    """The cycle that the armature's action is, None for another action."""
    data = armature.animation_data
    action = data.action if data is not None else None
    if data is None or action is None or data.nla_tracks:
        return None
    begin, end = action.frame_range
    first = round(begin)
    last = first + round(end - begin)
    if last - first < 2:
        return None
    slot = data.action_slot
    marked = cycles.is_marked(action, slot)
    is_cycle = marked or cycles.ends_meet(action, slot, first, last)
    return SpringCycle(first, last, marked, end - begin) if is_cycle else None


@dataclass(frozen=True)
class Depth:
    """Where a chain is deepest in a collider."""

    chain: str
    """Its first bone."""
    bone: str
    frame: int
    depth: float
    """[m]"""
    parts: float
    """The same by the radii of both, by the length of the bone where they have none."""
    collider: str
    """The object or bone, or "floor"."""


@dataclass(frozen=True)
class Beyond:
    """Where colliders push a chain furthest beyond a limit."""

    chain: str
    """Its first bone."""
    bone: str
    frame: int
    angle: float
    """[rad]"""


@dataclass(frozen=True)
class Met:
    """What acts on chains besides their own motion, in the order in which it is sampled."""

    colliders: tuple[Collider, ...] = ()
    fields: tuple[Field, ...] = ()
    centers: tuple[str, ...] = ()
    """Bones of the armature."""

    def targets(self, armature: bpy.types.Object) -> list[Target]:
        """The points of all of them. Raises RigError."""
        of_fields = fields.targets(self.fields)
        return [*colliders.targets(self.colliders), *of_fields, *centers.targets(armature, self.centers)]


@dataclass(frozen=True)
class Swung:
    """How bones swing over F frames."""

    track: Track
    """What is added to them, if they move as children do."""
    wanted: Array
    """(F, n, 4) their orientations then, in the armature's space."""
    seam: float | None
    """How far a cycle's end is from its beginning [rad], None where nothing repeats."""
    depths: tuple[Depth, ...] = ()
    """How deep chains are in colliders, where that is more than a little."""
    is_torn: bool = False
    """Whether the action is set to repeat, but its ends differ."""
    beyond: tuple[Beyond, ...] = ()
    """How far colliders push chains beyond limits, where that is more than a little."""


def solving(
    rig: SpringRig,
    s: Samples,
    gravity: Array,
    dt: float,
    cycle: SpringCycle | None,
    met: Met | None = None,
) -> Generator[float, None, Swung]:
    """How the bones swing; yields the completed fraction.

    s: of the bones and of what acts on them, without springs, at consecutive frames that include the cycle. gravity:
    (3,) [m/s²]. dt: seconds a frame. Raises LookAtError.
    """
    met = met or Met()
    _check_size(rig, s)
    places, turns, tips = _in_world(rig, s)
    own = _of_bones(rig)
    inputs = _settings(rig, own, gravity)
    among = _colliders(rig, s, met.colliders)
    if among is not None:
        inputs |= {"radius": _radii(own, s), "meets": _meets(rig, met.colliders, among)}
    seen = _Seen.of(rig, own, s, met)
    inputs["drag"] = inputs["drag"] + seen.drag
    first, seam = int(s.frames[0]), None
    restarts = springs.find_jumps(places, turns, rig.reach * _size(s))
    rows = None if cycle is None else _repeats(cycle, s, places, turns, tips)
    # A cycle in which something jumps has no state that returns.
    if rows is not None and not restarts[rows[0] + 1 : rows[1] + 1].any():
        begin, end = rows
        over = slice(begin, end + 1)
        inputs |= seen.inputs(over, _wind(rig, own, end - begin + 1, dt, (end - begin) * dt))
        if among is not None:
            inputs["colliders"] = among.at(over)
        given = places[begin : end + 1], turns[begin : end + 1], tips, rig.parents, dt
        found = yield from in_thread(partial(springs.solve, *given, **inputs, cyclic=True), 0.1)
        seam = found.seam
        again = (np.arange(len(places)) - begin) % (end - begin)
        offsets, swings, longer = found.offsets[again], found.swings[again], found.longer[again]
        first_solved = int(s.frames[begin])
    else:
        inputs |= seen.inputs(slice(None), _wind(rig, own, len(places), dt, None))
        if among is not None:
            inputs["colliders"] = among
        given = places, turns, tips, rig.parents, dt
        found = yield from in_thread(partial(springs.solve, *given, **inputs, restarts=restarts), 0.1)
        offsets, swings, longer, first_solved = found.offsets, found.swings, found.longer, first
    depths = () if among is None else _depths(rig, found, among, met.colliders, _radii(own, s), first_solved)
    wanted = rotation.multiply(s.rotations, _mixed(rig, swings))
    moved = [bone for chain in rig.chains for bone in chain.moved]
    moves = _moves(rig, moved, longer)
    track = Track(1, rig.bones, first, _mixed(rig, offsets), moved, moves, uneven=s.sheared)
    is_torn = cycle is not None and cycle.is_marked and _differ(cycle, s, places, turns, tips)
    return Swung(track, wanted, seam, depths, is_torn, _beyond(rig, found, first_solved))


def _check_size(rig: SpringRig, s: Samples) -> None:
    """Raise RigError where the object has no size: nothing is known of how its bones move."""
    flat = np.linalg.norm(s.worlds[:, :3, :3], axis=1).min(axis=1) < _FLAT
    if flat.any():
        raise sampler.complaint(sampler.FLAT_OBJECT, rig.armature.name, s.frames[int(np.argmax(flat))])


def _in_world(rig: SpringRig, s: Samples) -> tuple[Array, Array, Array]:
    """Places (F, n, 3) and orientations (F, n, 4) of the bones in the world, and their tips (n, 3) in their frames."""
    axes = s.worlds[:, :3, :3]
    places = np.einsum("fij,fnj->fni", axes, s.positions) + s.worlds[:, None, :3, 3]
    turns = rotation.multiply(centers.orientations(axes)[:, None], s.rotations)
    # Orientations of a mirrored armature are those of its opposite, in which bones point the other way.
    side = float(np.sign(np.linalg.det(axes[0]))) or 1.0
    return places, turns, rig.tips * (side * s.sizes[0] * _size(s))[:, None]


def _size(s: Samples) -> float:
    """The scale of the armature object."""
    return float(np.cbrt(np.abs(np.linalg.det(s.worlds[0, :3, :3]))))


@dataclass(frozen=True)
class _Seen:
    """What acts on all bones, over the frames of samples."""

    center: tuple[Array, Array]
    """Places (F, n, 3) and orientations (F, n, 4) of the centers of the bones."""
    pushed: Array
    """(F, n, 3) accelerations by force fields [m/s²]."""
    drag: Array
    """(n,) the drag by them [1/s]."""

    @classmethod
    def of(cls, rig: SpringRig, own: _OfBones, s: Samples, met: Met) -> "_Seen":
        first = 2 * len(met.colliders)
        last = first + 2 * len(met.fields)
        known = centers.placed(s.targets[last:], s, met.centers)
        of_bone = {bone: chain.settings for chain in rig.chains for bone in chain.bones}
        every = [known[of_bone[bone].center if of_bone[bone].center in met.centers else ""] for bone in rig.bones]
        center = np.stack([place for place, _ in every], axis=1), np.stack([turn for _, turn in every], axis=1)
        push, drag = fields.pushed(s.targets[first:last], s, met.fields)
        felt = np.array([float(of_bone[bone].fields) for bone in rig.bones])
        felt *= own["wind"]
        return cls(center, push[:, None] * felt[:, None], drag * felt)

    def inputs(self, frames: slice, wind: Array) -> dict[str, Any]:
        """Those of some frames. wind: (F, n, 3) of the chains' own."""
        center = self.center[0][frames], self.center[1][frames]
        whole = wind + self.pushed[frames]
        return {"center": center, **({"wind": whole} if whole.any() else {})}


def _settings(rig: SpringRig, own: _OfBones, gravity: Array) -> dict[str, Any]:
    """The settings of the bones."""
    one_way = {bone: float(chain.settings.one_way) for chain in rig.chains for bone in chain.bones}
    alike = ("settle_time", "damping_ratio", "drag", "inertia", "limit", "stretch")
    return {
        **{name: own[name] for name in alike},
        "gravity": own["gravity"][:, None] * gravity,
        "one_way": np.array([one_way[bone] for bone in rig.bones]),
    }


def _of_bones(rig: SpringRig) -> _OfBones:
    """The settings of chains along their bones."""
    of = {own.bone: own for chain in rig.chains for own in along_chain.of(chain)}
    names = [field.name for field in dataclasses.fields(along_chain.BoneTuning) if field.name != "bone"]
    return {name: np.array([getattr(of[bone], name) for bone in rig.bones]) for name in names}


def _colliders(rig: SpringRig, s: Samples, met: Sequence[Collider]) -> springs.Colliders | None:
    """What the chains collide with, None for nothing."""
    colliding = [chain for chain in rig.chains if chain.settings.collide]
    has_floor = any(chain.settings.floor for chain in colliding)
    return colliders.placed(met, s, 0.0 if has_floor else None) if colliding else None


def _meets(rig: SpringRig, met: Sequence[Collider], among: springs.Colliders) -> Array:
    """(n, c) which bones collide with which, the floor as the last one."""
    result = np.zeros((len(rig.bones), len(among)))
    for chain in rig.chains:
        if chain.settings.collide:
            rows = [rig.bones.index(bone) for bone in chain.bones]
            wanted = colliders.meets(met, chain.settings.collider_groups)
            result[rows] = [*wanted, chain.settings.floor][: len(among)]
    return result


def _radii(own: _OfBones, s: Samples) -> Array:
    """(n,) the radii of the bones in the world [m]."""
    return own["radius"] * s.sizes[0] * _size(s)


def _depths(
    rig: SpringRig,
    found: springs.SpringMotion,
    among: springs.Colliders,
    met: Sequence[Collider],
    radii: Array,
    first: int,
) -> tuple[Depth, ...]:
    """Where each chain is deepest in a collider, if it is by more than a little."""
    labels = [*(collider.label for collider in met), colliders.FLOOR]
    sizes = among.radii[found.collider] * (found.collider >= 0) + radii
    parts = found.depth / np.where(sizes > 0.0, sizes, rig.reach)
    deepest = []
    for chain in rig.chains:
        rows = [rig.bones.index(bone) for bone in chain.bones]
        frame, n = np.unravel_index(int(np.argmax(parts[:, rows])), (len(parts), len(rows)))
        row = rows[n]
        if parts[frame, row] > _DEEP:
            depth, label = float(found.depth[frame, row]), labels[found.collider[frame, row]]
            part = float(parts[frame, row])
            deepest.append(Depth(chain.bone, rig.bones[row], first + int(frame), depth, part, label))
    return tuple(deepest)


def _beyond(rig: SpringRig, found: springs.SpringMotion, first: int) -> tuple[Beyond, ...]:
    """Where each chain is furthest beyond a limit, if it is by more than a little."""
    furthest = []
    for chain in rig.chains:
        rows = [rig.bones.index(bone) for bone in chain.bones]
        own = found.beyond[:, rows]
        frame, n = np.unravel_index(int(np.argmax(own)), own.shape)
        if own[frame, n] > _BEYOND:
            furthest.append(Beyond(chain.bone, rig.bones[rows[n]], first + int(frame), float(own[frame, n])))
    return tuple(furthest)


def _wind(rig: SpringRig, own: _OfBones, frames: int, dt: float, period: float | None) -> Array:
    """(F, n, 3) what wind pushes the bones by [m/s²]. period: of a cycle [s]."""
    result = np.zeros((frames, len(rig.bones), 3))
    for chain in rig.chains:
        strength = springs.gusts(frames, dt, chain.settings.turbulence, period)
        rows = [rig.bones.index(bone) for bone in chain.bones]
        result[:, rows] = strength[:, None, None] * np.array(chain.settings.wind)
    return result * own["wind"][:, None]


def _mixed(rig: SpringRig, offsets: Array) -> Array:
    """Offsets (F, n, 4), as much of them as the chains' influence says."""
    for chain in rig.chains:
        if (influence := chain.settings.influence) < 1.0:
            for bone in chain.bones:
                row = rig.bones.index(bone)
                offsets[:, row] = part(offsets[:, row], np.full(len(offsets), influence))
    return offsets


def _moves(rig: SpringRig, moved: Sequence[str], longer: Array) -> Array:
    """(F, m, 3) how far joints move away from what they hang on, in their own frames. longer: (F, n) parts by which
    bones are longer."""
    result = np.zeros((len(longer), len(moved), 3))
    influence = {bone: chain.settings.influence for chain in rig.chains for bone in chain.bones}
    bones = rig.armature.data.bones
    for n, bone in enumerate(moved):
        above = rig.parents[rig.bones.index(bone)]
        between = bones[rig.bones[above]].matrix_local.to_3x3().inverted() @ bones[bone].matrix_local.to_3x3()
        along = np.array(between.transposed()) @ rig.tips[above]
        result[:, n] = influence[bone] * longer[:, above, None] * along
    return result


def _rows(cycle: SpringCycle, s: Samples) -> tuple[int, int] | None:
    """The rows of a cycle's ends, None if they are not among the samples."""
    begin, end = cycle.first - int(s.frames[0]), cycle.last - int(s.frames[0])
    return None if begin < 0 or end >= len(s.frames) else (begin, end)


def _differ(cycle: SpringCycle, s: Samples, places: Array, turns: Array, tips: Array) -> bool:
    """Whether the ends of a cycle are not the same, but for where the bones are together."""
    if (rows := _rows(cycle, s)) is None:
        return False
    begin, end = rows
    along = places[end] - places[begin]
    far = np.abs(along - along[:1]).max() > _SAME * float(np.linalg.norm(tips, axis=1).max())
    return bool(far or rotation.distance(turns[end], turns[begin]).max() > _SAME)


def _repeats(cycle: SpringCycle, s: Samples, places: Array, turns: Array, tips: Array) -> tuple[int, int] | None:
    """The rows of a cycle's ends, if the bones repeat it at all frames; None if not."""
    if (rows := _rows(cycle, s)) is None or _differ(cycle, s, places, turns, tips):
        return None
    begin, end = rows
    period, least = end - begin, _SAME * float(np.linalg.norm(tips, axis=1).max())
    along = places[end] - places[begin]
    rows = np.arange(len(places))
    later = begin + (rows - begin) % period
    count = (rows - begin) // period
    expected = places[later] + count[:, None, None] * along[0]
    same = np.abs(expected - places).max() <= least + _SAME * np.abs(along).max()
    return (begin, end) if same and rotation.distance(turns[later], turns).max() <= _SAME else None
