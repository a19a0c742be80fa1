"""Pops of the visual pose: at which frame, of which bone, how large, and why."""

from collections.abc import Generator
from dataclasses import dataclass

import bpy
import numpy as np

from ....lookat_pd import progress, rotation
from ....lookat_pd.message import Message
from ....lookat_pd.rotation import Array
from ...animation.bake_options import check_frames
from ...sampling import suspend
from .. import pops
from . import pop_causes, pose_clip
from .evaluated_pose import OBJECT, EvaluatedPoses, PoseReader, deforming

_SAMPLED, _COMPARED = 0.9, 0.95
"""Part of the work that is sampling."""
_AROUND = 15
"""Frames before and after one that define what is usual there."""


@dataclass(frozen=True)
class VisualPop:
    """A pop between the frame before `frame` and `frame`."""

    frame: int
    bones: tuple[str, ...]
    """Bones that jump relative to the bone above them, the one that jumps most first; `OBJECT` for the object."""
    turn: float
    """Largest rotation [rad] by which a bone jumps relative to the bone above it."""
    move: float
    """Largest displacement [Blender units] by which a bone jumps relative to the bone above it."""
    cause: Message
    """The cause, as a sentence."""


def find(
    scene: bpy.types.Scene, armature: bpy.types.Object, first: int, last: int
) -> Generator[float, None, list[VisualPop]]:
    """The pops of the visual pose from frame first to last, in order of time. Raises LookAtError."""
    check_frames(first, last)
    with PoseReader(scene, armature, suspend.EVERYTHING) as reader:
        yield 0.0
        reader.choose(deforming(armature), first)
        yield 0.0
        poses = yield from progress.subrange(reader.reading(range(first, last + 1)), 0.0, _SAMPLED)
        yield _SAMPLED
        found = yield from progress.subrange(pops.detecting(pose_clip.of(poses)), _SAMPLED, _COMPARED)
        by_frame = pops.by_frame(found)
        result = []
        for k, (frame, here) in enumerate(by_frame.items()):
            bones = tuple(dict.fromkeys(pop.bone for pop in here))
            turn, move = jumps(poses, int(frame))
            rows = [reader.bones.index(bone) for bone in bones]
            result.append(
                VisualPop(
                    int(frame),
                    bones,
                    float(turn[rows].max()),
                    float(move[rows].max()),
                    pop_causes.cause(scene, reader, int(frame), bones[0]),
                )
            )
            yield _COMPARED + (1.0 - _COMPARED) * (k + 1) / len(by_frame)
    return result


def around(frame: int) -> range:
    """The frames that are compared to detect whether there is a pop at one."""
    return range(frame - _AROUND, frame + _AROUND + 1)


def detect(poses: EvaluatedPoses, *, outlier: float = pops.OUTLIER) -> list[pops.Pop]:
    """Pops of bones relative to the bones above them, in poses at consecutive frames, strongest first."""
    return pops.detect(pose_clip.of(poses), outlier=outlier)


def jumps(poses: EvaluatedPoses, frame: int) -> tuple[Array, Array]:
    """How far each bone turns [rad] and moves from the frame before to a frame, relative to the bone above (B,)."""
    row = int(np.searchsorted(poses.frames, frame))
    two = poses.relative(slice(row - 1, row + 1))
    return rotation.distance(*two.rotations), np.linalg.norm(np.diff(two.locations, axis=0)[0], axis=-1)


def label(armature: bpy.types.Object, bone: str) -> str:
    """The name of a bone, or of the object."""
    return armature.name if bone == OBJECT else bone
