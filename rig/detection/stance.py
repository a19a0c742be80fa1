"""How a character stands: in its rest pose or, where that is no stance, as its animation has it on average.

The zero pose of motion-capture skeletons may have all bones along one axis. Then the rest pose says nothing about
forward and up, but the animation does: the facing is (left - right) x up of hips, shoulders and eyes at each frame, and
what the orientations of the bones are on average, seen from that, is a stance. A rest pose that is a stance is compared
with the animation.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ...lookat_pd.skeleton import Skeleton, forward
from ..animation import actions, channels
from ..sampling import own_data
from . import anatomy as anatomies
from . import axes, axis_votes, clips, detect, directions, limb_chains, rest, walking_direction
from .anatomy import Anatomy
from .axes import Axes
from .axis_votes import Vote
from .clips import Clip
from .read_once import read_once

_FRAMES = 24
_NEAR, _POSTURE = np.radians(12.0), np.radians(40.0)
"""Where most bones of the trunk have the axes of the character but for the first, all have but for the second: what
they differ by is the posture of the clip, such as a head that looks to one side."""
_GUESSED = 0.6
"""What is left of the confidence where the axes of the head are known from its mean alone."""
_LEVEL = np.cos(np.radians(45.0))
_ASTRAY = np.cos(np.radians(60.0))
_POSED = np.cos(np.radians(20.0))
_STEADY = 0.85
"""The mean cosine between the facing of the head and that of the body above which an animation is asked."""
_OUTLIER = np.radians(5.0)
_UNKNOWN = 0.25
"""What is left of the evidence where the rest pose is no stance and no animation shows one."""
_DOUBTFUL = 0.2
"""The most evidence that is left where an animation faces elsewhere than the rest pose."""
_MOST_KEPT = 256
_kept: dict[tuple[object, ...], "Stance"] = {}


@dataclass(frozen=True)
class Stance:
    """The pose from which the axes of bones are read."""

    skeleton: Skeleton
    """The bones as the character stands, in armature space."""
    axes: Axes
    """Where its forward and up are then."""
    at_rest: bool = True
    """Whether that is the rest pose."""


@read_once
def of(armature: bpy.types.Object) -> Stance:
    """The stance of an armature object; kept until its rest pose or its actions change."""
    bones = armature.data.bones
    matrices = np.empty(16 * len(bones), dtype=np.float32)
    bones.foreach_get("matrix_local", matrices)
    playing = clips.own(armature)
    played = tuple((action.session_uid, slot.handle, len(actions.curves(action, slot))) for action, slot in playing[:1])
    others = tuple((action.session_uid, slot.handle) for action, slot in playing[1:])
    vertical = rest.vertical(armature)
    key = armature.session_uid, tuple(bones.keys()), matrices.tobytes(), played, others, vertical
    if key not in _kept:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        _kept[key] = _read(armature, playing)
    return _kept[key]


def skeleton(armature: bpy.types.Object) -> Skeleton:
    """The bones as the character stands: the rest pose, unless that is no stance."""
    return of(armature).skeleton


def forget() -> None:
    """Throw away what is kept."""
    _kept.clear()


def _read(armature: bpy.types.Object, playing: list[Clip]) -> Stance:
    """The stance by the rest pose, or by the clip that shows most: the rig decides, whatever plays now."""
    plain, hints = rest.skeleton(armature), rest.hints(armature)
    stands, found = detect.is_stance(plain, hints), detect.read_axes(plain, hints)
    if playing and (not stands or found.confidence < axes.CERTAIN):
        playing = clips.of(armature, playing)
    if stands and found.confidence < axes.CERTAIN:
        found = _with_steps(armature, plain, hints, found, playing)
    line = _line(plain, hints)
    anatomy = anatomies.of(plain, hints.deform, hints.vertical)
    unanswered = Stance(plain, found if stands else replace(found, evidence=_UNKNOWN * found.evidence))
    if line is None or not playing or _constrained(armature, plain, anatomy, line):
        return unanswered
    best = unanswered
    for clip in playing[:1] if stands and found.confidence >= axes.CERTAIN else playing:
        means = _seen_in(armature, plain, hints, anatomy, line, clip)
        if means is None:
            continue
        stance = _confirmed(plain, found, line, hints, means) if stands else _moving(plain, line, hints, means)
        if best is unanswered or stance.axes.evidence > best.axes.evidence:
            best = stance
    return best


Mean = tuple[Skeleton, float, tuple[Array, Array]]
"""What `_mean` returns."""


def _seen_in(
    armature: bpy.types.Object,
    plain: Skeleton,
    hints: detect.RigHints,
    anatomy: Anatomy,
    line: Sequence[int],
    clip: Clip,
) -> Mean | None:
    """The mean pose of a clip, if keys of it show one."""
    if not anatomy.pairs:
        # Left and right are not known, whatever the clip shows.
        return None
    keyed = _clip(armature, plain, *clip, _sampled(clip[0]))
    return None if keyed is None else _mean(plain, anatomy, line, keyed, np.array(hints.vertical))


def _confirmed(plain: Skeleton, found: Axes, line: Sequence[int], hints: detect.RigHints, mean: Mean) -> Stance:
    """The rest pose, which is a stance, with what a clip says of it."""
    posed, steady, _ = mean
    if steady < _STEADY:
        return Stance(plain, found)
    moving = detect.read_axes(posed, hints)
    turn = rotation.multiply(plain.rotations[line[0]], rotation.inverse(posed.rotations[line[0]]))
    # The forward and the up of the animation where the rest pose has them.
    seen, upwards = rotation.rotate(turn, moving.forward), rotation.rotate(turn, moving.up)
    vote = Vote(axis_votes.CLIP, seen, 1.0)
    said = replace(found, forward_votes=(*found.forward_votes, vote))
    if seen @ found.forward > _ASTRAY:
        return Stance(plain, said)
    return Stance(plain, replace(said, evidence=min(found.evidence, _DOUBTFUL), other=(seen, upwards)))


def _moving(plain: Skeleton, line: Sequence[int], hints: detect.RigHints, mean: Mean) -> Stance:
    """The mean pose of a clip as the stance."""
    posed, steady, facing = mean
    snapped, aligned = _on_axes(plain, posed, line)
    moving = _as_seen(detect.read_axes(snapped, hints), *facing)
    if not aligned:
        steady *= _GUESSED
    vote = Vote(axis_votes.CLIP, moving.forward, 2.0 * steady)
    sure = moving.evidence * max(steady, 0.0)
    return Stance(snapped, replace(moving, evidence=sure, forward_votes=(*moving.forward_votes, vote)), at_rest=False)


def _with_steps(
    armature: bpy.types.Object, plain: Skeleton, hints: detect.RigHints, found: Axes, playing: Sequence[Clip]
) -> Axes:
    """Doubtful axes with a vote of the steps in clips, if they have some that keys alone make."""
    legs = limb_chains.find(plain, hints.deform, hints.vertical).legs
    bones = {name for leg in legs for name in leg if name}
    bones |= {plain.names[above] for name in bones for above in plain.ancestors(plain.index(name))}
    trunk = int(plain.parents[plain.index(legs[0][0])]) if legs else -1
    if trunk < 0 or is_constrained(armature, bones):
        return found
    feet = [plain.index(leg[2]) for leg in legs]
    ahead = np.zeros(3)
    for clip in playing:
        first, last = clip[0].frame_range
        if last - first <= 1.0:
            continue
        times = np.linspace(first, last - 1.0, 2 * _FRAMES)
        before, after = (_clip(armature, plain, *clip, times + later, bones) for later in (0.0, 1.0))
        if before is not None and after is not None:
            way = walking_direction.of_steps(plain, trunk, feet, found.up, before, after)
            ahead = ahead if way is None else ahead + way
    if np.linalg.norm(ahead) < 0.5:
        return found
    return axes.also(found, Vote(axis_votes.TRAVEL, rotation.normalize(ahead), 1.5))


def _as_seen(found: Axes, ahead: Array, up: Array) -> Axes:
    """The axes of a mean pose, exactly as it was seen from them where they all but are: the rest is its posture."""
    side = float(np.sign(found.forward @ ahead))
    if abs(found.forward @ ahead) < _POSED or found.up @ up < _POSED:
        return found
    return replace(found, forward=side * ahead, up=up)


def _line(skeleton: Skeleton, hints: detect.RigHints) -> list[int] | None:
    """The head and its ancestors."""
    try:
        head = skeleton.index(detect.find_head(skeleton, hints))
    except RigError:
        return None
    return [head, *skeleton.ancestors(head)]


def _constrained(armature: bpy.types.Object, skeleton: Skeleton, anatomy: Anatomy, line: Sequence[int]) -> bool:
    """Whether something other than keys moves the bones that show the facing."""
    asked = {bone for pair in anatomy.pairs for bone in pair} | set(line)
    asked |= {above for bone in asked for above in skeleton.ancestors(bone)}
    return is_constrained(armature, [skeleton.names[bone] for bone in asked])


def is_constrained(armature: bpy.types.Object, bones: Iterable[str]) -> bool:
    """Whether a constraint that is not the extension's own moves one of these bones."""
    return any(
        not own_data.is_own_constraint(constraint) and not constraint.mute and constraint.influence > 0.0
        for bone in bones
        for constraint in armature.pose.bones[bone].constraints
    )


def _across(anatomy: Anatomy, places: Array) -> list[tuple[int, int]]:
    """Left and right bones where each pair of limbs parts, by positions (F, n, 3)."""
    size = float(np.median(np.linalg.norm(np.ptp(places, axis=1), axis=-1)))
    begun: set[int] = set()
    pairs = []
    for left, right in sorted(anatomy.pairs):
        wide = np.median(np.linalg.norm(places[:, left] - places[:, right], axis=-1))
        if not begun & set(anatomy.skeleton.ancestors(left)) and wide > 0.01 * size:
            begun.add(left)
            pairs.append((left, right))
    return pairs


def _sampled(action: bpy.types.Action) -> Array:
    """The frames (F,) at which an action is read."""
    first, last = action.frame_range
    return np.linspace(first, last, _FRAMES) if last > first else np.array([first])


def _clip(
    armature: bpy.types.Object,
    skeleton: Skeleton,
    action: bpy.types.Action,
    slot: bpy.types.ActionSlot | None,
    frames: Array,
    asked: Collection[str] | None = None,
) -> tuple[Array, Array] | None:
    """Orientations (F, n, 4) and positions (F, n, 3) of all bones, as the keys of the action alone have them, None
    where these turn none. asked: names of bones, with all above them; others are left at rest."""
    curves = {(curve.data_path, curve.array_index): curve for curve in actions.curves(action, slot)}
    basis = np.tile(rotation.IDENTITY, (len(frames), len(skeleton), 1))
    moved = np.zeros((len(frames), len(skeleton), 3))
    times, nothing, keyed = frames.tolist(), [0.0] * len(frames), False
    for n, name in enumerate(skeleton.names):
        mode = armature.pose.bones[name].rotation_mode
        for kind in (mode, channels.LOCATION):
            path, (_, size) = actions.rotation_path(name, kind), channels.channel(kind)
            own = [curves.get((path, index)) for index in range(size)]
            if not any(own):
                continue
            keyed = keyed or kind == mode
            if asked is not None and name not in asked:
                continue
            rows = [nothing if curve is None else [*map(curve.evaluate, times)] for curve in own]
            values = np.ascontiguousarray(np.transpose(rows))
            if kind == channels.LOCATION:
                moved[:, n] = values
            else:
                basis[:, n] = channels.to_quaternion(values, mode)
    return skeleton.forward(basis, moved) if keyed else None


def _mean(
    skeleton: Skeleton, anatomy: Anatomy, line: Sequence[int], clip: tuple[Array, Array], vertical: Array
) -> tuple[Skeleton, float, tuple[Array, Array]] | None:
    """The mean pose of a clip, seen from where the body faces, how steadily the head faces there (-1 to 1), and the
    forward and up from which it is seen.

    None where left and right are not known, or the body does not stand.
    """
    turns, places = clip
    pairs = _across(anatomy, places)
    if not pairs:
        return None
    up = _up(anatomy, line, places, vertical)
    if up is None:
        return None
    across = np.sum([places[:, left] - places[:, right] for left, right in pairs], axis=0)
    left = across - (across @ up)[:, None] * up
    wide = np.linalg.norm(left, axis=-1)
    sure = wide > 0.3 * np.median(wide)
    if not np.any(sure) or np.median(wide) < 1e-6:
        return None
    turns, places, left = turns[sure], places[sure], rotation.normalize(left[sure])
    ahead = directions.default_forward(up)
    facing = rotation.from_matrix(np.stack((left, rotation.cross(left, up), np.broadcast_to(up, left.shape)), axis=-1))
    still = rotation.from_matrix(np.stack((rotation.cross(up, ahead), ahead, up), axis=-1))
    back = rotation.multiply(still, rotation.inverse(facing))[:, None]
    seen = rotation.multiply(back, turns)
    mean = _average(seen)
    parents = skeleton.parents.astype(int)
    above = np.where(parents < 0, 0, parents)
    origin = np.where((parents < 0)[:, None], 0.0, 1.0)
    relative = rotation.rotate(rotation.inverse(turns[:, above]), places - places[:, above])
    offsets = origin * np.mean(relative, axis=0)
    own = np.where((parents < 0)[:, None], mean, rotation.multiply(rotation.inverse(mean[above]), mean))
    orientations, heads = forward(parents.tolist(), offsets, own)
    lengths = rotation.rotate(rotation.inverse(skeleton.rotations), skeleton.tails - skeleton.heads)
    posed = Skeleton(skeleton.names, parents, orientations, heads, heads + rotation.rotate(orientations, lengths))
    head = line[0]
    local = rotation.rotate(rotation.inverse(mean[head]), ahead)
    steady = float(np.mean(rotation.rotate(seen[:, head], local) @ ahead))
    return posed, steady, (ahead, up)


def _up(anatomy: Anatomy, line: Sequence[int], places: Array, vertical: Array) -> Array | None:
    """The up (3,) of a body over positions (F, n, 3): the armature's, or the axis in which the body stands."""
    legs = [bone for bone in anatomy.legs if anatomy.names[bone].side]
    depth = {bone: len(anatomy.skeleton.ancestors(bone)) for bone in legs}
    if legs and {anatomy.names[bone].side for bone in legs} == {"L", "R"}:
        sides = [[bone for bone in legs if anatomy.names[bone].side == side] for side in "LR"]
        rising = np.sum(
            [
                places[:, min(side, key=depth.__getitem__)] - places[:, max(side, key=depth.__getitem__)]
                for side in sides
            ],
            axis=0,
        )
    else:
        rising = places[:, line[0]] - places[:, line[-1]]
    size = np.linalg.norm(rising, axis=-1, keepdims=True)
    if np.median(size) < 1e-6:
        return None
    mean = np.mean(rising / np.maximum(size, 1e-9), axis=0)
    if np.linalg.norm(mean) < 0.5:
        return None
    mean = rotation.normalize(mean)
    if mean @ vertical > _LEVEL:
        return vertical
    nearest = directions.nearest_axis(mean)
    return nearest if nearest @ mean > np.cos(np.radians(30.0)) else mean


def _average(turns: Array) -> Array:
    """The mean (n, 4) of orientations (F, n, 4) in which those far from the others weigh little."""
    mean = turns[len(turns) // 2]
    for _ in range(10):
        aligned = np.where(np.sum(turns * mean, axis=-1, keepdims=True) < 0.0, -turns, turns)
        off = rotation.distance(mean, aligned)
        mean = rotation.normalize(np.sum(aligned / (off + _OUTLIER)[..., None], axis=0))
    return mean


def _on_axes(skeleton: Skeleton, posed: Skeleton, line: Sequence[int]) -> tuple[Skeleton, bool]:
    """The stance with the bones of a line (head first) turned onto the axes of the character that their zero pose has,
    and whether the skeleton is of that kind."""
    away = rotation.multiply(skeleton.rotations[line], rotation.inverse(posed.rotations[line]))
    off = rotation.distance(_SQUARE_TURNS[:, None], away)
    nearest, least = np.argmin(off, axis=0), np.min(off, axis=0)
    trunk = least[1:] if len(line) > 1 else least
    if np.median(trunk) > _NEAR or least[0] > _POSTURE:
        return posed, False
    rotations = posed.rotations.copy()
    for bone, turn, angle in zip(line, nearest, least, strict=True):
        if angle < _POSTURE:
            rotations[bone] = rotation.multiply(rotation.inverse(_SQUARE_TURNS[turn]), skeleton.rotations[bone])
    return replace(posed, rotations=rotations), True


def _square_turns() -> Array:
    """The 24 turns (24, 4) that take axes to axes."""
    matrices = [
        np.eye(3)[list(order)] * np.array(signs)[:, None]
        for order in permutations(range(3))
        for signs in product((1.0, -1.0), repeat=3)
    ]
    return rotation.from_matrix(np.array([matrix for matrix in matrices if np.linalg.det(matrix) > 0.0]))


_SQUARE_TURNS = _square_turns()
