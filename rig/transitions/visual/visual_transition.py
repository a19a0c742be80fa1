"""Visual transitions: the jump of the visual pose at a frame decays, whatever caused it.

The poses before and after are sampled, the difference of each bone from the bone above it decays by a method of
`lookat_pd.transitions`, and constraints last in the stacks add what is missing. What they have to add is measured:
bones inherit it from each other or, where constraints of the rig pose them, do not.
"""

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ....lookat_pd import progress
from ....lookat_pd.errors import RigError
from ....lookat_pd.message import Message
from ....lookat_pd.rotation import Array
from ....lookat_pd.transitions import cut, inertialization, pose_tree
from ....lookat_pd.transitions.methods import TransitionMethod
from ...animation import editable
from ...sampling import scene_time
from ...sampling.sampler import note_begin
from .. import pops, splice
from ..blend_profiles import BlendProfile
from ..loop_feet import LoopLockResult
from ..splice import Blend
from . import evaluated_pose, ik_chains, offset_fit, pose_clip, visual_offsets, visual_pops
from .evaluated_pose import OBJECT, EvaluatedPoses, PoseReader
from .trial import Trial, solving_new
from .visual_pops import VisualPop

_RELEVANT = 0.1
"""Part of the largest jump of a bone from which on a bone takes part, even if its jump is not an outlier."""
_SMALLEST_TURN, _SMALLEST_MOVE = np.radians(1.0), 0.002
_LEAST_FRAMES = 9
"""Automatic blends have at least so many frames: with fewer the speed jumps by a tenth of the jump in a frame."""
_CONSTANT = 0.25
"""Part of the jump, half a frame before it, below which the jump is a step and not a motion within a frame."""


@dataclass(frozen=True)
class VisualTransition:
    """A transition that was added."""

    action: bpy.types.Action
    frame: int
    """First frame after the jump."""
    last: int
    """Last frame of the blend."""
    blend: float
    """Length [s] of the blend, as chosen."""
    method: str
    """Method, as chosen."""
    bones: tuple[str, ...]
    """Bones whose own jump decays."""
    turn: float
    """Largest jump [rad] of these bones."""
    error: float
    """Largest difference of a matrix from what it should be."""
    feet: LoopLockResult | None = None
    """What locking the feet of a loop did, None where they are not locked or not planted."""
    unlocked: RigError | None = None
    """Why feet are not locked though the rig has legs, where nobody asked for it."""

    @property
    def how(self) -> TransitionMethod:
        return Blend(method=self.method).how


class NothingJumps(RigError):
    """No bone jumps at the frame."""


@contextmanager
def removed_if_failed(armature: bpy.types.Object, made: Sequence[VisualTransition]) -> Iterator[None]:
    """All transitions made meanwhile are removed again if one of them, or what follows, fails."""
    try:
        yield
    except BaseException:
        for item in made:
            visual_offsets.remove(armature, item.action)
        raise


def blend_note(blend: Blend) -> dict[str, Any]:
    """The settings of a blend, by which a transition is made again."""
    return {
        "seconds": blend.seconds,
        "method": blend.method,
        "damping_ratio": blend.damping_ratio,
        "factors": {bone: row.time_factor for bone, row in blend.profile.bones.items()},
    }


def noted_blend(note: Mapping[str, Any]) -> Blend:
    """The blend with the settings that were noted."""
    profile = BlendProfile.of_factors(note["factors"])
    return Blend(note["seconds"], note["method"], profile, note["damping_ratio"])


def check(armature: bpy.types.Object, blend: Blend, bones: Collection[str] = ()) -> None:
    """Raise RigError unless the visual pose of an armature with these bones can be blended so."""
    editable.check_bones(armature, [bone for bone in bones if bone != OBJECT])
    blend.profile.check_one_clip()
    if not blend.how.blends or blend.how.plays_both:
        raise RigError(
            "{method} is not available for the visual pose, which is not two clips; choose another method.",
            method=blend.how.label,
        )


def blend_at(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    frame: int,
    blend: Blend,
    *,
    bones: Collection[str] | None = None,
    is_cut: bool = False,
) -> Generator[float, None, VisualTransition]:
    """Let the jump of the visual pose before `frame` decay; yields the completed fraction.

    bones: only these jump no more; by default all that do. is_cut: clips are cut there, so that all of these bones are
    blended, however little they jump. blend.seconds None: automatic. Poses before `frame` and after the blend stay as
    they are. Raises LookAtError before any change.
    """
    check(armature, blend, bones or ())
    how = {"bones": bones, "is_cut": is_cut}
    return (yield from solving_new(armature, lambda trial: solve(scene, trial, frame, blend, **how)))


def solve(
    scene: bpy.types.Scene,
    trial: Trial,
    frame: int,
    blend: Blend,
    *,
    bones: Collection[str] | None,
    is_cut: bool,
) -> Generator[float, None, VisualTransition]:
    """The same for a new transition, or for one that is made again."""
    armature = trial.armature
    blend = replace(blend, profile=blend.profile.without_delays())
    dt = scene_time.seconds_per_frame(scene)
    chosen_by = {"chosen": None if bones is None else sorted(bones), "is_cut": is_cut}
    trial.begin({**blend_note(blend), "frame": frame, **chosen_by})
    note_begin()
    yield 0.0
    with PoseReader(scene, armature, trial.left_out) as reader:
        yield 0.0
        seen = {*(bones or ()), *ik_chains.handles(reader, frame)}
        yield 0.0
        reader.choose(evaluated_pose.deforming(armature, seen), frame - 1)
        yield 0.0
        poses = yield from progress.subrange(reader.reading(_frames(frame, blend, dt)), 0.0, 0.3)
        chosen = _named(poses, bones) if is_cut else _chosen(poses, frame, bones)
        cut_at = int(np.searchsorted(poses.frames, frame))
        blend = _automatic(poses, cut_at, chosen, blend, dt)
        yield 0.3
        wanted = _blended(poses, cut_at, chosen, blend, dt)
        yield 0.3
        jump = pose_tree.distance(wanted, poses.matrices[cut_at:]).max()
        if jump < offset_fit.EXACT * pops.skeleton_size(armature):
            raise _nothing(armature, frame)
        between = reader.read([frame - 0.5])
        turn = float(visual_pops.jumps(poses, frame)[0][chosen].max())
        names = tuple(poses.bones[row] for row in np.flatnonzero(chosen))
        is_step = _is_step(poses, between, cut_at, chosen)
        yield 0.3
        last, error = yield from offset_fit.fit(trial, reader, poses, wanted, cut_at, is_step=is_step)
    trial.note |= {"bones": names, "last": last}
    return VisualTransition(trial.action, frame, last, blend.seconds or 0.0, blend.method, names, turn, error)


def _frames(frame: int, blend: Blend, dt: float) -> range:
    """Those needed to detect the jump and to blend."""
    near = visual_pops.around(frame)
    seconds = inertialization.BLEND_TIMES[1] if blend.seconds is None else blend.seconds
    return range(near.start, max(near.stop, frame + int(np.ceil(blend.profile.duration(seconds) / dt)) + 2))


def _deviations(poses: EvaluatedPoses, cut_at: int, dt: float) -> tuple[Array, Array]:
    """How far each bone turns [rad] and moves (B,) at a cut beyond its motion on either side."""
    near = poses.relative(slice(cut_at - 2, cut_at + 2))
    sides = (near.rotations, "rotation"), (near.locations, "vector")
    found = (cut.deviation(values[:2], values[2:], dt, kind)[0] for values, kind in sides)
    turn, move = (np.linalg.norm(difference, axis=-1) for difference in found)
    return turn, move


def _chosen(poses: EvaluatedPoses, frame: int, bones: Collection[str] | None) -> NDArray[np.bool_]:
    """Which bones take part (B,). Raises RigError if none jumps."""
    near = visual_pops.around(frame)
    rows = slice(0, len(near))
    cut_at = int(np.searchsorted(poses.frames, frame))
    turn, move = _deviations(poses, cut_at, 1.0)
    part = replace(poses, frames=poses.frames[rows], matrices=poses.matrices[rows])
    jumping = {pop.bone for pop in visual_pops.detect(part, outlier=0.5 * pops.OUTLIER) if pop.frame == frame}
    size = pops.skeleton_size(poses.armature)
    large = (turn > max(_RELEVANT * turn.max(), _SMALLEST_TURN)) | (
        move > max(_RELEVANT * move.max(), _SMALLEST_MOVE * size)
    )
    chosen = large | np.array([bone in jumping for bone in poses.bones])
    if not jumping:
        raise _nothing(poses.armature, frame)
    chosen &= _named(poses, bones)
    if not chosen.any():
        text = "The visual pose of none of the chosen bones of '{armature}' jumps at frame {frame}; choose others."
        raise NothingJumps(Message(text, armature=poses.armature.name, frame=frame))
    return chosen


def _named(poses: EvaluatedPoses, bones: Collection[str] | None) -> NDArray[np.bool_]:
    """Which bones have these names (B,); all without any."""
    return np.array([bones is None or bone in bones for bone in poses.bones])


def _nothing(armature: bpy.types.Object, frame: int) -> NothingJumps:
    text = "The visual pose of no bone of '{armature}' jumps at frame {frame}; go to the first frame after the pop."
    return NothingJumps(Message(text, armature=armature.name, frame=frame))


def _automatic(poses: EvaluatedPoses, cut_at: int, chosen: NDArray[np.bool_], blend: Blend, dt: float) -> Blend:
    """The blend with the method and the time that an automatic choice gives."""
    near = poses.relative(slice(cut_at - 2, cut_at + 2))
    turns, moves = near.rotations[:, chosen], near.locations[:, chosen]
    size = 0.5 * pops.skeleton_size(poses.armature)
    sides = [("rotation", turns[:2], turns[2:]), ("vector", moves[:2], moves[2:])]
    chosen_blend = splice.chosen_for(sides, blend, dt, size)
    if blend.seconds is None:
        chosen_blend = replace(chosen_blend, seconds=max(chosen_blend.seconds or 0.0, _LEAST_FRAMES * dt))
    return chosen_blend


def _blended(poses: EvaluatedPoses, cut_at: int, chosen: NDArray[np.bool_], blend: Blend, dt: float) -> Array:
    """The matrices (F, B, 4, 4) from the cut on that the rig shall have."""
    clip = pose_clip.of(poses, np.flatnonzero(chosen))
    before, after = clip.part(slice(cut_at - 2, cut_at)), clip.part(slice(cut_at, None))
    return pose_clip.matrices(poses, splice.splice(before, after, dt, blend), slice(cut_at, None))


def _is_step(poses: EvaluatedPoses, between: EvaluatedPoses, cut_at: int, chosen: NDArray[np.bool_]) -> bool:
    """Whether the pose jumps at the frame itself and not in the course of the frame before it."""
    before, after = poses.matrices[cut_at - 1, chosen], poses.matrices[cut_at, chosen]
    return bool(np.abs(between.matrices[0, chosen] - before).max() < _CONSTANT * np.abs(after - before).max())


def smooth_all(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    first: int,
    last: int,
    blend: Blend,
    *,
    bones: Collection[str] | None = None,
) -> Generator[float, None, list[tuple[VisualPop, VisualTransition]]]:
    """Find the pops of the visual pose in a range, and let each of them decay; yields the completed fraction.

    bones: only pops of these. Raises LookAtError, after which nothing has changed.
    """
    pops_of_range = yield from progress.subrange(visual_pops.find(scene, armature, first, last), 0.0, 0.5)
    wanted = [pop for pop in pops_of_range if bones is None or set(bones) & set(pop.bones)]
    made: list[VisualTransition] = []
    with removed_if_failed(armature, made):
        for n, pop in enumerate(wanted):
            job = blend_at(scene, armature, pop.frame, blend, bones=bones)
            begin = 0.5 + 0.5 * n / len(wanted)
            made.append((yield from progress.subrange(job, begin, begin + 0.5 / len(wanted))))
    return list(zip(wanted, made, strict=True))
