"""*Lock Feet* of the visual pose: what deforms is moved so that planted feet stay over the transitions.

When the feet are planted is found in the clips, as for keys. The legs are solved as two bones in the poses that are
seen, so it does not matter whether the rig bends them with IK or FK; controls and keys stay as they are.
"""

from collections.abc import Generator, Sequence
from dataclasses import asdict, replace
from typing import Any

import bpy
import numpy as np

from ....lookat_pd import progress, rotation
from ....lookat_pd.errors import RigError
from ....lookat_pd.rotation import Array
from ....lookat_pd.transitions import pose_tree
from ...feet import foot_locking
from ...feet.contact_report import ContactReport
from ...feet.foot_bones import Foot, Footing
from ...feet.foot_locking import LegGoal
from ...sampling import scene_time
from ...sampling.sampler import Samples, note_begin
from ..lock_feet import FootHold, PlayedClip, divided
from . import evaluated_pose, ik_chains, offset_fit, visual_offsets, visual_transition
from .evaluated_pose import OBJECT, EvaluatedPoses, PoseReader
from .trial import Trial, solving_new
from .visual_transition import VisualTransition

_CUT = 2
"""Frames before the first cut that are read."""
_AROUND = 1.0
"""Time [s] around transitions in which contacts are detected at least."""


def lock(
    scene: bpy.types.Scene, armature: bpy.types.Object, clips: Sequence[PlayedClip]
) -> Generator[float, None, ContactReport | None]:
    """Keep the feet on their places through the visual transitions of these clips, which the armature plays.

    Yields the completed fraction; returns None if nothing is planted. Raises LookAtError before any change.
    """
    return (yield from solving_new(armature, lambda trial: solve(scene, trial, clips)))


def solve(
    scene: bpy.types.Scene, trial: Trial, clips: Sequence[PlayedClip]
) -> Generator[float, None, ContactReport | None]:
    """The same for a new transition, or for one that is made again."""
    armature, dt = trial.armature, scene_time.seconds_per_frame(scene)
    plain = visual_offsets.without(armature)
    yield 0.0
    hold = yield from progress.subrange(FootHold.of(scene, armature, clips, plain), 0.0, 0.2)
    if hold is None:
        return None
    trial.begin({"frame": hold.begin, "clips": [_noted(clip) for clip in clips]})
    note_begin()
    yield 0.2
    with PoseReader(scene, armature, trial.left_out) as reader:
        yield 0.2
        seen = evaluated_pose.deforming(armature, ik_chains.handles(reader, hold.begin))
        yield 0.2
        reader.choose(seen, hold.begin - 1)
        yield 0.2
        footing = seen_footing(armature, hold.footing, reader.bones, reader.anchors)
        poses = yield from progress.subrange(reader.reading(range(hold.first, hold.last + 1)), 0.2, 0.4)
        samples = samples_of(poses, poses.matrices)
        plans = hold.plan(footing.feet, samples)
        yield 0.4
        goal = LegGoal(samples, footing, plans, dt, _CUT)
        yield 0.4
        wanted = yield from progress.subrange(replanting(poses, goal, footing), 0.4, 0.4)
        yield 0.4
        fitting = offset_fit.fit(trial, reader, poses, wanted[_CUT:], _CUT, is_step=False, reached=True)
        yield from progress.subrange(fitting, 0.4, 1.0)
    yield 1.0
    trial.note |= {"last": hold.last, "bones": tuple(name for foot in footing.feet for name in foot.bones)}
    return foot_locking.report(trial.action, goal, plans, samples, samples_of(poses, wanted))


def lock_through(
    scene: bpy.types.Scene, armature: bpy.types.Object, made: Sequence[VisualTransition], first: int, last: int
) -> Generator[float, None, ContactReport | None]:
    """Keep the feet on their places through new transitions of what the armature plays; they are removed if it fails.

    first, last: the frames that play. Yields the completed fraction; returns None if nothing is planted. Raises
    LookAtError, after which nothing has changed.
    """
    dt = scene_time.seconds_per_frame(scene)
    around = round(_AROUND / dt)
    ordered = sorted(made, key=lambda item: item.frame)
    first, last = min(first, ordered[0].frame - around), max(last, ordered[-1].last + around)
    clips = divided(None, None, first, last, [(item.frame, (item.last - item.frame) * dt) for item in ordered])
    with visual_transition.removed_if_failed(armature, made):
        return (yield from lock(scene, armature, clips))


def _noted(clip: PlayedClip) -> dict[str, Any]:
    names = {"action": "", "slot": ""}
    if clip.action is not None and clip.slot is not None:
        names = {"action": clip.action.name, "slot": clip.slot.identifier}
    return {**asdict(replace(clip, action=None, slot=None)), **names}


def clips_of(note: dict[str, Any]) -> list[PlayedClip]:
    """The clips of a transition that locks feet, as they were noted. Raises RigError if one of them is gone."""
    clips = []
    for clip in note.get("clips", ()):
        action = bpy.data.actions.get(clip["action"])
        slot = action.slots.get(clip["slot"]) if action is not None else None
        if clip["action"] and slot is None:
            raise RigError(
                "Action '{action}', a clip whose feet are locked, is gone, so that the transition stays as it is; "
                "remove it, or lock the feet again.",
                action=clip["action"],
            )
        clips.append(PlayedClip(**{**clip, "action": action, "slot": slot}))
    return clips


def seen_footing(armature: bpy.types.Object, known: Footing, bones: Sequence[str], anchors: Array) -> Footing:
    """The feet by the bones that deform. Raises RigError if those of a leg do not."""
    feet = []
    for foot in known.feet:
        names = [evaluated_pose.resting_like(armature, name, bones) for name in foot.bones]
        upper, lower, seen = (name or "" for name in names)
        if not (upper and lower and seen):
            raise RigError(
                "The leg '{bone}' of '{armature}' moves no bone that deforms; disable Lock Feet, or blend keys.",
                bone=foot.bones[0],
                armature=armature.name,
            )
        turn = _rest(armature, seen).T @ _rest(armature, foot.bones[2])
        points = [(turn @ np.array(point)).tolist() for point in foot.points]
        feet.append(Foot((upper, lower, seen), "", tuple((x, y, z) for x, y, z in points), foot.hand))
    tops = {_top(bones.index(foot.bones[0]), anchors) for foot in feet if not foot.hand}
    return Footing(tuple(feet), bones[tops.pop()] if len(tops) == 1 else "")


def _rest(armature: bpy.types.Object, bone: str) -> Array:
    return np.array(armature.data.bones[bone].matrix_local.to_3x3())


def _top(row: int, anchors: Array) -> int:
    """The row of the bone from which, directly or not, a bone is seen, and which is seen from no other."""
    while anchors[row] >= 0:
        row = int(anchors[row])
    return row


def samples_of(poses: EvaluatedPoses, matrices: Array) -> Samples:
    """Poses with these matrices (F, B, 4, 4), as samples."""
    places, turns, sizes = pose_tree.parts(matrices[:, 1:])
    return Samples(
        frames=poses.frames,
        bones=poses.bones[1:],
        modes=(),
        rotations=turns,
        positions=places,
        sizes=sizes.mean(axis=-1),
        targets=np.empty((0, len(places), 3)),
        worlds=matrices[:, poses.bones.index(OBJECT)],
    )


def replanting(poses: EvaluatedPoses, goal: LegGoal, footing: Footing) -> Generator[float, None, Array]:
    """The matrices (F, B, 4, 4) with the legs turned and the hips moved; yields between what takes long."""
    local = poses.relative()
    yield 0.5
    for bone, turns in goal.turns.items():
        row = poses.bones.index(bone)
        local.rotations[:, row] = rotation.multiply(local.rotations[:, row], turns)
    if footing.hips:
        local.locations[:, poses.bones.index(footing.hips)] += goal.moves[footing.hips]
    return pose_tree.composed(local, poses.anchors)
