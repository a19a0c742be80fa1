"""Loops as seen: the evaluated pose of the last frame becomes that of the first, whatever poses the bones.

The keys stay as they are. The difference of the bones that deform is shared as in loops of keys: the arithmetic is that
of `loop.closed`, for poses relative to other bones instead of channels.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ....lookat_pd import rotation
from ....lookat_pd.errors import RigError
from ....lookat_pd.rotation import Array
from ....lookat_pd.transitions import pose_tree
from ...animation.bake_options import check_frames
from ...feet import foot_locking
from ...feet.foot_bones import Footing
from ...feet.foot_locking import LegGoal, Plan
from ...sampling import scene_time, suspend
from .. import loop, pops, root_motion, splice
from ..animated import Channel
from ..clips import Clip
from ..lock_feet import PlayedClip
from ..loop_feet import LoopFeet
from ..root_motion import Placement
from ..splice import Blend
from . import evaluated_pose, ik_chains, offset_fit, seen_feet, seen_offsets, seen_transition
from .evaluated_pose import OBJECT, EvaluatedPoses, PoseReader
from .seen_transition import SeenTransition

_MOVES = 1e-4
"""Smallest change of the place, relative to the size of the skeleton, and rotation [rad] of a bone that moves."""
_DIFFERS = 1e-4
"""Difference of matrices at the ends, relative to the size of the skeleton, from which on a bone is named."""


def closed(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    first: int,
    last: int,
    blend: Blend = splice.AUTOMATIC,
    *,
    ends: str = "BOTH",
    in_place: bool = False,
    lock_feet: bool = False,
) -> Generator[float, None, SeenTransition]:
    """Let what the armature plays from frame first to last end in the pose in which it begins.

    Yields the completed fraction. Frames outside stay as they are. blend, ends, in_place, lock_feet: as for
    `loop.loop`. Raises LookAtError before any change.
    """
    seen_transition.check(armature, blend)
    loop.check_ends(ends)
    check_frames(first, last)
    if last - first < 4:
        raise RigError(
            "Frames {first} to {last} are too few for a loop; choose at least five frames.", first=first, last=last
        )
    dt = scene_time.seconds_per_frame(scene)
    half = 0.5 * (last - first) * dt
    loop.check_blend(blend, half)
    with suspend.suspend_live():
        played = PlayedClip(None, None, first, last, float(first), first, 0.0)
        feet = LoopFeet.of(scene, armature, played, dt, ends) if lock_feet else None
    seen = evaluated_pose.deforming(armature, ik_chains.handles(scene, armature, first))
    with suspend.suspend_live(), PoseReader(scene, armature, seen, first) as reader:
        poses = reader.read(range(first, last + 1))
        yield 0.3
        travel = _Travel.of(poses)
        clip = _as_clip(poses)
        again = travel.next_cycle(clip)
        asked = blend
        if blend.seconds is None:
            length = splice.blend_time(clip, again.part(slice(1, None)), dt, 0.5 * pops.skeleton_size(armature))
            blend = replace(blend, seconds=min(blend.profile.longest_blend(half), length))
        result = loop.closed(clip, again, travel.this_cycle, dt, blend, ends)
        locked = None
        if feet is not None:
            feet = feet.blended(blend.profile.reach(blend.seconds or 0.0))
            locking = _Locking(poses, dt)
            # Feet that walk are planted where the character travels, those that stand where it does not.
            if not (in_place and feet.stand):
                result, locked = feet.lock(
                    result, lambda part, later: (travel.next_cycle if later else travel.this_cycle)(part), locking
                )
        if in_place:
            result = travel.removed(result)
            if feet is not None and feet.stand:
                result, locked = feet.lock(result, lambda part, later: part, locking)
        wanted = _matrices(poses, result)
        apart = pose_tree.distance(poses.matrices[-1], _matrices(poses, again, slice(0, 1))[0])
        rows = np.flatnonzero(apart > _DIFFERS * pops.skeleton_size(armature))
        names = tuple(poses.bones[row] for row in rows)
        turns = rotation.distance(
            poses.relative(slice(-1, None)).rotations[0], _values(poses, again, "rotation", slice(0, 1))[0]
        )
        note = {
            "frame": first,
            "last": last,
            "bones": names,
            "loop": {"ends": ends, "in_place": in_place, "lock_feet": lock_feet},
            "seconds": asked.seconds,
            "method": asked.method,
            "damping_ratio": blend.damping_ratio,
            "factors": {bone: row.time_factor for bone, row in blend.profile.bones.items()},
        }
        action = seen_offsets.new(note)
        _, error = yield from offset_fit.fit(reader, poses, wanted, 0, action, is_step=True)
    length = blend.seconds or 0.0
    return SeenTransition(action, first, last, length, blend.method, names, float(turns.max()), error, locked)


@dataclass(frozen=True)
class _Locking:
    """Locking of clips of relative poses, see `loop_feet.Locking`: the bones that deform are moved."""

    poses: EvaluatedPoses
    dt: float

    def __call__(self, played: Clip, footing: Footing, plan: Plan, frames: Array) -> tuple[Clip, tuple[float, float]]:
        poses, count = self.poses, len(frames) - 1
        seen = seen_feet.seen_footing(poses.armature, footing, poses.bones, poses.anchors)
        rows = (played.frames - frames[0]).astype(int) % count
        several = replace(poses, frames=played.frames, matrices=_matrices(poses, played, values=rows))
        before = seen_feet.samples_of(several, several.matrices)
        plans = plan(before)
        goal = LegGoal(before, seen, plans, self.dt, 0)
        wanted = seen_feet.replanted(several, goal, seen)
        after = seen_feet.samples_of(several, wanted)
        here = int(np.flatnonzero(played.frames == frames[0])[0])
        middle = replace(poses, frames=frames, matrices=wanted[here : here + count + 1])
        drifted, left = (foot_locking.largest_drift(seen, samples, plans) for samples in (before, after))
        return _as_clip(middle), (drifted, left)


@dataclass(frozen=True)
class _Travel:
    """How far the topmost bones that move and the object have come over the ground and turned in a cycle.

    placements: by row, in the space of the bone above it; up: the axis of the turn of each. Other rows do not travel.
    """

    bones: tuple[str, ...]
    placements: Mapping[int, Placement]
    up: Mapping[int, Array]

    @classmethod
    def of(cls, poses: EvaluatedPoses) -> "_Travel":
        places, turns, sizes = pose_tree.parts(poses.matrices)
        world, upwards = poses.bones.index(OBJECT), np.array([0.0, 0.0, 1.0])
        handles = _handles(poses)
        lead = max(handles, key=lambda row: _count_below(row, poses.anchors), default=None)
        upright = rotation.rotate(rotation.inverse(turns[0, world]), upwards)
        placements: dict[int, Placement] = {}
        ups: dict[int, Array] = {}
        for row in (world, *handles):
            by, up = (world, upwards) if row == world else (lead, upright)
            placed = _placement(places[[0, -1], by], turns[[0, -1], by], up)
            # A bone that stays while the character leaves does not travel with it.
            begin, end = places[[0, -1], row]
            away = np.linalg.norm(rotation.rotate(placed.rotation, begin) + placed.translation - end)
            if away >= np.linalg.norm(end - begin):
                continue
            above = int(poses.anchors[row])
            if above >= 0:
                frame = rotation.inverse(turns[0, above])
                moved = rotation.rotate(placed.rotation, places[0, above]) + placed.translation - places[0, above]
                turned = rotation.multiply(rotation.multiply(frame, placed.rotation), turns[0, above])
                placed = Placement(turned, rotation.rotate(frame, moved) / sizes[0, above].mean())
                up = rotation.rotate(frame, up)
            placements[row], ups[row] = placed, up
        return cls(poses.bones, placements, ups)

    def next_cycle(self, clip: Clip) -> Clip:
        return self._placed(clip, lambda row, frames: [self.placements[row]] * frames)

    def this_cycle(self, clip: Clip) -> Clip:
        return self._placed(clip, lambda row, frames: [root_motion.inverse(self.placements[row])] * frames)

    def removed(self, clip: Clip) -> Clip:
        """The clip without travel: it goes back evenly over time."""

        def back(row: int, frames: int) -> list[Placement]:
            shares = np.linspace(0.0, 1.0, frames)
            return [root_motion.part(self.placements[row], self.up[row], -share) for share in shares]

        return self._placed(clip, back)

    def _placed(self, clip: Clip, by: Callable[[int, int], list[Placement]]) -> Clip:
        raw = dict(clip.raw)
        for row in self.placements:
            placements = by(row, len(clip.frames))
            turns = np.array([placement.rotation for placement in placements])
            moves = np.array([placement.translation for placement in placements])
            place, turn = _channel(self.bones[row], "location"), _channel(self.bones[row], "rotation")
            raw[place] = rotation.rotate(turns, clip.raw[place]) + moves
            raw[turn] = rotation.multiply(turns, clip.raw[turn])
        return Clip(clip.armature, clip.frames, raw)


def _placement(places: Array, turns: Array, up: Array) -> Placement:
    """What places the first of two poses on the ground where the second is: places (2, 3), rotations (2, 4)."""
    turned = rotation.exp(root_motion.heading(up, rotation.multiply(turns[1], rotation.inverse(turns[0]))) * up)
    move = places[1] - rotation.rotate(turned, places[0])
    return Placement(turned, move - (move @ up) * up)


def _handles(poses: EvaluatedPoses) -> list[int]:
    """The rows of the bones that move, but from no bone that moves."""
    local = poses.relative()
    least = _MOVES * pops.skeleton_size(poses.armature)
    moves = np.ptp(local.locations, axis=0).max(axis=-1) > least
    moves |= rotation.distance(local.rotations, local.rotations[:1]).max(axis=0) > _MOVES
    moves[poses.bones.index(OBJECT)] = False
    found, below = [], set()
    for row in pose_tree.order(poses.anchors):
        if poses.anchors[row] in below:
            below.add(row)
        elif moves[row]:
            found.append(row)
            below.add(row)
    return found


def _count_below(row: int, anchors: Array) -> int:
    """How many bones are seen from a bone, directly or not."""
    below = {row}
    for other in pose_tree.order(anchors):
        if anchors[other] in below:
            below.add(other)
    return len(below)


_SIZES = {"location": 3, "rotation": 4, "size": 3}


def _channel(bone: str, name: str) -> Channel:
    """The channel of a bone's relative location, rotation or size."""
    kind = "rotation" if name == "rotation" else "vector"
    return Channel(f"{name} {bone}", -1, _SIZES[name], kind, bone, "QUATERNION" if name == "rotation" else "")


def _as_clip(poses: EvaluatedPoses) -> Clip:
    """The relative poses as channels of a clip."""
    local = poses.relative()
    parts = {"location": local.locations, "rotation": local.rotations, "size": local.sizes}
    raw = {_channel(bone, name): values[:, n] for n, bone in enumerate(poses.bones) for name, values in parts.items()}
    return Clip(poses.armature, poses.frames.copy(), raw)


def _values(poses: EvaluatedPoses, clip: Clip, name: str, frames: slice = slice(None)) -> Array:
    """The values (F, B, n) of all bones."""
    return np.stack([clip.raw[_channel(bone, name)][frames] for bone in poses.bones], axis=1)


def _matrices(
    poses: EvaluatedPoses, clip: Clip, frames: slice = slice(None), values: slice | Array | None = None
) -> Array:
    """The matrices (F, B, 4, 4) of a clip; what is sheared keeps its scale. values: its rows of the poses, else
    `frames`."""
    local = poses.relative(frames if values is None else values)
    sheared = pose_tree.is_sheared(poses.matrices).any(axis=0)
    sizes = np.where(sheared[:, None], local.sizes, _values(poses, clip, "size", frames))
    places, turns = (_values(poses, clip, name, frames) for name in ("location", "rotation"))
    return pose_tree.composed(replace(local, locations=places, rotations=turns, sizes=sizes), poses.anchors)
