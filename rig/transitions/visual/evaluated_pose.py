"""The visual pose: where the bones that deform are, whatever keys, constraints, drivers or strips put them there."""

from collections.abc import Collection, Generator, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache

import bpy
import numpy as np

from ....lookat_pd import progress
from ....lookat_pd.rotation import Array
from ....lookat_pd.transitions import pose_tree
from ....lookat_pd.transitions.pose_tree import Anchors, RelativePoses
from ...animation.channels import LOCATION, family
from ...sampling import suspend
from ...sampling.records import PoseRecord
from ...sampling.sampler import Sampler, Samples, whole_copy

OBJECT = ""
"""Stands for the armature object among the bones."""
_SAME_PLACE, _SAME_DIRECTION = 1e-4, 0.999
"""Distance, as a fraction of the bone's length, and cosine within which two bones rest alike."""
_SMALLEST_AXIS = 1e-6


@dataclass(frozen=True)
class EvaluatedPoses:
    """Poses at F frames."""

    armature: bpy.types.Object
    frames: Array
    bones: tuple[str, ...]
    """`OBJECT` first, then those of the armature."""
    matrices: Array
    """(F, B, 4, 4) matrices, of the object in the world and of bones in the armature's space."""
    anchors: Anchors
    """(B,) the row of the bone that each is seen from, -1 for the object's space, and for the object itself."""

    def relative(self, chosen: slice | Array = slice(None)) -> RelativePoses:
        """Each bone as seen from its anchor, at some of the frames."""
        return pose_tree.relative(self.matrices[chosen], self.anchors)


def deforming(armature: bpy.types.Object, also: Iterable[str] = ()) -> list[str]:
    """The bones whose pose is seen: those that deform, or all if none does, parents first. also: further bones."""
    bones, extra = armature.data.bones, set(also)
    anything = any(bone.use_deform for bone in bones)
    return [bone.name for bone in bones if bone.use_deform or not anything or bone.name in extra]


def anchors_of(armature: bpy.types.Object, bones: Sequence[str]) -> Anchors:
    """The row in `bones` of the bone that each of them is seen from, as for `EvaluatedPoses`.

    It is the nearest parent among them, or the one that rests where a parent does: deforming bones of generated rigs
    are children of mechanism bones which lie in the same place as the deforming bone of that part.
    """
    rows = {name: row for row, name in enumerate(bones)}
    data = armature.data.bones
    heads = np.array([data[name].head_local if name else (np.nan,) * 3 for name in bones])
    ways = np.array([_direction(data[name]) if name else (np.nan,) * 3 for name in bones])
    anchors = np.full(len(bones), -1)

    @cache
    def resting_at(parent: str) -> Array:
        bone = data[parent]
        near = np.linalg.norm(heads - np.array(bone.head_local), axis=-1) < _SAME_PLACE * bone.length
        return np.flatnonzero(near & (ways @ _direction(bone) > _SAME_DIRECTION))

    for row, name in enumerate(bones):
        for parent in data[name].parent_recursive if name else ():
            if parent.name in rows:
                anchors[row] = rows[parent.name]
                break
            alike = resting_at(parent.name)
            if len(alike) and row not in alike and not _is_below(int(alike[0]), row, anchors):
                anchors[row] = alike[0]
                break
    return anchors


def resting_like(armature: bpy.types.Object, name: str, bones: Sequence[str]) -> str | None:
    """The one of the bones that a bone is, or that rests where it does, such as what a mechanism bone deforms."""
    if name in bones:
        return name
    data = armature.data.bones
    bone = data[name]
    for other in filter(None, bones):
        away = np.linalg.norm(np.array(data[other].head_local) - np.array(bone.head_local))
        if away < _SAME_PLACE * bone.length and _direction(data[other]) @ _direction(bone) > _SAME_DIRECTION:
            return other
    return None


def _direction(bone: bpy.types.Bone) -> Array:
    vector = np.array(bone.tail_local) - np.array(bone.head_local)
    return vector / max(float(np.linalg.norm(vector)), 1e-12)


def _is_below(row: int, other: int, anchors: Anchors) -> bool:
    """Whether `row` is seen from `other`, directly or not."""
    while row >= 0:
        if row == other:
            return True
        row = int(anchors[row])
    return False


class PoseReader:
    """Reads visual poses in a temporary scene, as a context manager, once it is known of which bones.

    left_out: what is left out, of a copy of the armature where one can stand in for it; by default what look-ats add,
    of the armature itself, which may be changed meanwhile.
    """

    def __init__(
        self, scene: bpy.types.Scene, armature: bpy.types.Object, left_out: suspend.LeftOut | None = None
    ) -> None:
        self._scene, self.armature, self._left_out = scene, armature, left_out
        self._open = ExitStack()

    def __enter__(self) -> "PoseReader":
        copied = {} if self._left_out is None else whole_copy(self._scene, self.armature)
        every = self.armature.pose.bones.keys()
        self._sampler = Sampler(self._scene, self.armature, every, cut_down=copied, left_out=self._left_out)
        self._open.enter_context(self._sampler)
        return self

    def choose(self, bones: Collection[str], frame: int) -> None:
        """Read these bones, without those that have no size at a frame. bones: without `OBJECT`."""
        wanted = list(bones)
        poses = _read(self._sampler, self.armature, [OBJECT, *wanted], self._sampler.step(frame))
        sizes = np.linalg.norm(poses[:, :3, :3], axis=-2).min(axis=-1)
        good = np.isfinite(poses).all(axis=(1, 2)) & (sizes > _SMALLEST_AXIS)
        self.bones = (OBJECT, *(name for name, has in zip(wanted, good[1:], strict=True) if has))
        self.anchors = anchors_of(self.armature, self.bones)

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def step(self, frame: float) -> bpy.types.Object:
        """The evaluated armature at a frame."""
        depsgraph = self._sampler.step(frame)
        return self._sampler.stand_in(self.armature).evaluated_get(depsgraph)

    def read(self, frames: Sequence[float]) -> EvaluatedPoses:
        """Poses at a few frames, of the whole rig."""
        return progress.drain(self.reading(frames))

    def reading(self, frames: Sequence[float]) -> Generator[float, None, EvaluatedPoses]:
        """The same; yields the completed fraction."""
        poses = np.empty((len(frames), len(self.bones), 4, 4))
        for k, frame in enumerate(frames):
            poses[k] = _read(self._sampler, self.armature, self.bones, self._sampler.step(frame))
            yield (k + 1) / len(frames)
        return EvaluatedPoses(self.armature, np.asarray(frames, dtype=float), self.bones, poses, self.anchors)

    def channels(self, bones: Sequence[str], frames: Array) -> Samples:
        """The channels of any bones of the armature; of the samples nothing else is known."""
        pose, count = self.armature.pose.bones, (len(frames), len(bones))
        rows = {name: row for row, name in enumerate(pose.keys())}
        modes = tuple(pose[name].rotation_mode for name in bones)
        order = np.array([rows[name] for name in bones], dtype=int)
        record = PoseRecord.of(len(frames), len(rows), order, {*map(family, modes), LOCATION})
        for k, frame in enumerate(frames.tolist()):
            record.read_pose(k, self.step(frame).pose.bones, scales=False)
        return Samples(
            frames=frames,
            bones=tuple(bones),
            modes=modes,
            rotations=np.empty((*count, 4)),
            positions=np.empty((*count, 3)),
            sizes=np.empty(count),
            targets=np.empty((0, len(frames), 3)),
            worlds=np.empty((len(frames), 4, 4)),
            raw={mode: values.astype(float) for mode, values in record.channels.items()},
        )


def _read(sampler: Sampler, armature: bpy.types.Object, bones: Sequence[str], depsgraph: bpy.types.Depsgraph) -> Array:
    """Matrices (B, 4, 4) of the object and its bones, as they are evaluated."""
    item = sampler.stand_in(armature).evaluated_get(depsgraph)
    pose = item.pose.bones
    buffer = np.empty(16 * len(pose), dtype=np.float32)
    pose.foreach_get("matrix", buffer)
    rows = {name: row for row, name in enumerate(pose.keys())}
    # Blender stores matrices by columns.
    every = buffer.reshape(-1, 4, 4).swapaxes(1, 2)
    result = np.empty((len(bones), 4, 4))
    for n, name in enumerate(bones):
        result[n] = every[rows[name]] if name else item.matrix_world
    return result
