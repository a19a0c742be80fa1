"""Visual loops: the visual pose of the last frame becomes that of the first, whatever poses the bones.

The keys stay as they are. The difference of the bones that deform is shared as in loops of keys: the arithmetic is that
of `loop.closing`, for poses relative to other bones instead of channels.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ....lookat_pd import progress, rotation
from ....lookat_pd.errors import RigError
from ....lookat_pd.rotation import Array
from ....lookat_pd.transitions import pose_tree
from ...animation.bake_options import check_frames
from ...feet import foot_locking
from ...feet.foot_bones import Footing
from ...feet.foot_locking import LegGoal, Plan
from ...sampling import scene_time
from ...sampling.sampler import note_begin
from .. import loop, pops, root_motion, splice
from ..clips import Clip
from ..lock_feet import WHERE_POSSIBLE, PlayedClip, locking
from ..loop_feet import LoopFeet
from ..root_motion import GroundHandle, Placement
from ..splice import Blend
from . import evaluated_pose, ik_chains, offset_fit, pose_clip, visual_feet, visual_transition
from .evaluated_pose import OBJECT, EvaluatedPoses, PoseReader
from .trial import Trial, solving_new
from .visual_transition import VisualTransition

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
    lock_feet: bool | None = WHERE_POSSIBLE,
) -> Generator[float, None, VisualTransition]:
    """Let what the armature plays from frame first to last end in the pose in which it begins.

    Yields the completed fraction. Frames outside stay as they are. blend, ends, in_place, lock_feet: as for
    `loop.loop`. Raises LookAtError before any change.
    """
    visual_transition.check(armature, blend)
    loop.check_ends(ends)
    check_frames(first, last)
    if last - first < 4:
        raise RigError(
            "Frames {first} to {last} are too few for a loop; choose at least five frames.", first=first, last=last
        )
    loop.check_blend(blend, 0.5 * (last - first) * scene_time.seconds_per_frame(scene))

    def make(lock: bool) -> Generator[float, None, VisualTransition]:
        how = {"ends": ends, "in_place": in_place, "lock_feet": lock}
        return (yield from solving_new(armature, lambda trial: solve(scene, trial, first, last, blend, **how)))

    return (yield from locking(armature, make, lock_feet))


def solve(
    scene: bpy.types.Scene,
    trial: Trial,
    first: int,
    last: int,
    blend: Blend,
    *,
    ends: str,
    in_place: bool,
    lock_feet: bool,
) -> Generator[float, None, VisualTransition]:
    """The same for a new transition, or for one that is made again."""
    armature, dt = trial.armature, scene_time.seconds_per_frame(scene)
    size = pops.skeleton_size(armature)
    blend = replace(blend, profile=blend.profile.without_delays())
    how = {"ends": ends, "in_place": in_place, "lock_feet": lock_feet}
    trial.begin({**visual_transition.blend_note(blend), "frame": first, "last": last, "loop": how})
    played, feet = PlayedClip(None, None, first, last, float(first), first, 0.0), None
    if lock_feet:
        contacts = LoopFeet.of(scene, armature, played, dt, ends, trial.left_out)
        feet = yield from progress.subrange(contacts, 0.0, 0.1)
    note_begin()
    yield 0.1
    with PoseReader(scene, armature, trial.left_out) as reader:
        yield 0.1
        seen = evaluated_pose.deforming(armature, ik_chains.handles(reader, first))
        yield 0.1
        reader.choose(seen, first)
        yield 0.1
        poses = yield from progress.subrange(reader.reading(range(first, last + 1)), 0.1, 0.3)
        clip, travel = pose_clip.of(poses), _Travel.of(poses)
        yield 0.3
        result, chosen, locked = yield from loop.cyclic(
            clip,
            travel.moved,
            dt,
            blend,
            ends,
            size=0.5 * size,
            in_place=travel.removed if in_place else None,
            feet=feet,
            locking=_Locking(poses, dt),
        )
        wanted = pose_clip.matrices(poses, result)
        yield 0.3
        again = pose_clip.matrices(poses, travel.moved(clip.part(slice(0, 1)), True), slice(0, 1))[0]
        names = tuple(
            poses.bones[row] for row in np.flatnonzero(pose_tree.distance(poses.matrices[-1], again) > _DIFFERS * size)
        )
        turns = rotation.distance(
            poses.relative(slice(-1, None)).rotations[0], pose_tree.relative(again, poses.anchors).rotations
        )
        _, error = yield from offset_fit.fit(trial, reader, poses, wanted, 0, is_step=True)
    trial.note["bones"] = names
    length = chosen.seconds or 0.0
    return VisualTransition(trial.action, first, last, length, chosen.method, names, float(turns.max()), error, locked)


@dataclass(frozen=True)
class _Locking:
    """Locking of clips of relative poses, see `loop_feet.Locking`: the bones that deform are moved."""

    poses: EvaluatedPoses
    dt: float

    def __call__(
        self, played: Clip, footing: Footing, plan: Plan, frames: Array
    ) -> Generator[float, None, tuple[Clip, tuple[float, float]]]:
        yield 0.0
        poses, count = self.poses, len(frames) - 1
        seen = visual_feet.seen_footing(poses.armature, footing, poses.bones, poses.anchors)
        rows = (played.frames - frames[0]).astype(int) % count
        several = replace(poses, frames=played.frames, matrices=pose_clip.matrices(poses, played, rows))
        before = visual_feet.samples_of(several, several.matrices)
        yield 0.2
        plans = plan(before)
        yield 0.3
        goal = LegGoal(before, seen, plans, self.dt, 0)
        yield 0.4
        wanted = yield from progress.subrange(visual_feet.replanting(several, goal, seen), 0.4, 0.9)
        yield 0.9
        after = visual_feet.samples_of(several, wanted)
        here = int(np.flatnonzero(played.frames == frames[0])[0])
        middle = replace(poses, frames=frames, matrices=wanted[here : here + count + 1])
        slips = (foot_locking.slips(seen, samples, plans) for samples in (before, after))
        drifted, left = (float(found.max(initial=0.0)) for found in slips)
        return pose_clip.of(middle), (drifted, left)


@dataclass(frozen=True)
class _Travel:
    """How far the object and the topmost bones that move have come over the ground and turned in a cycle. Other bones
    do not travel."""

    parts: Sequence[tuple[list[GroundHandle], Placement, Array]]
    """Handles with their common placement in a cycle and the axis of its turn."""

    @classmethod
    def of(cls, poses: EvaluatedPoses) -> "_Travel":
        places, turns, _ = pose_tree.parts(poses.matrices)
        world, upwards = poses.bones.index(OBJECT), np.array([0.0, 0.0, 1.0])
        handles = _handles(poses)
        upright = rotation.rotate(rotation.inverse(turns[0, world]), upwards)
        rows = {world: [world]}
        if handles:
            rows[max(handles, key=lambda row: _count_below(row, poses.anchors))] = handles
        parts = []
        for lead, moved in rows.items():
            up = upwards if lead == world else upright
            placement = root_motion.on_ground(
                (places[-1, lead], turns[-1, lead]), (places[0, lead], turns[0, lead]), up
            )
            parts.append(
                ([_handle(poses, row) for row in moved if _travels(places[[0, -1], row], placement)], placement, up)
            )
        return cls(parts)

    def moved(self, clip: Clip, later: bool) -> Clip:
        return self._placed(clip, lambda placement, _: placement if later else root_motion.inverse(placement))

    def removed(self, clip: Clip) -> Clip:
        shares = np.linspace(0.0, 1.0, len(clip.frames))
        return self._placed(clip, lambda placement, up: [root_motion.part(placement, up, -share) for share in shares])

    def _placed(self, clip: Clip, by: Callable[[Placement, Array], Placement | list[Placement]]) -> Clip:
        for handles, placement, up in self.parts:
            clip = root_motion.placed(clip, handles, by(placement, up))
        return clip


def _travels(places: Array, placement: Placement) -> bool:
    """Whether a bone at two places (2, 3) travels with a placement: one that stays while the character leaves does
    not."""
    begin, end = places
    away = np.linalg.norm(rotation.rotate(placement.rotation, begin) + placement.translation - end)
    return bool(away < np.linalg.norm(end - begin))


def _handle(poses: EvaluatedPoses, row: int) -> GroundHandle:
    """What places a bone, as seen from its anchor at the first frame, in the space of all bones."""
    bone, above = poses.bones[row], int(poses.anchors[row])
    matrix = poses.matrices[0, above] if above >= 0 else np.eye(4)
    turn, place = pose_clip.channel(bone, "rotation_quaternion"), pose_clip.channel(bone, "location")
    return GroundHandle(bone, turn, place, rotation.from_matrix(matrix[:3, :3]), matrix[:3, :3], matrix[:3, 3])


def _handles(poses: EvaluatedPoses) -> list[int]:
    """The rows of the bones that move, but from no bone that moves."""
    local = poses.relative()
    least = _MOVES * pops.skeleton_size(poses.armature)
    moves = np.ptp(local.locations, axis=0).max(axis=-1) > least
    moves |= rotation.distance(local.rotations, local.rotations[:1]).max(axis=0) > _MOVES
    moves[poses.bones.index(OBJECT)] = False
    handles, below = [], set()
    for row in pose_tree.order(poses.anchors):
        if poses.anchors[row] in below:
            below.add(row)
        elif moves[row]:
            handles.append(row)
            below.add(row)
    return handles


def _count_below(row: int, anchors: Array) -> int:
    """How many bones are seen from a bone, directly or not."""
    below = {row}
    for other in pose_tree.order(anchors):
        if anchors[other] in below:
            below.add(other)
    return len(below)
