"""Poses that are sampled while a file is worked on, so that what is written need not sample them again."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import bpy
import numpy as np

from ..lookat_pd.rotation import Array


@dataclass
class SeenPoses:
    """Matrices of the bones that deform, in armature space."""

    poses: dict[tuple[str, str], dict[int, Array]] = field(default_factory=dict)
    """(n, 4, 4) in single precision by frame, by the names of armature and action."""
    bones: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    """The numbers of these bones, likewise."""

    def add(self, armature: bpy.types.Object, action: str, frame: int, evaluated: bpy.types.Object) -> None:
        """Keep the pose of the evaluated armature."""
        key = armature.name, action
        if key not in self.bones:
            self.bones[key] = deforming(armature)
        self.poses.setdefault(key, {})[frame] = matrices(evaluated, self.bones[key])

    def of(self, armature: bpy.types.Object, action: str, frames: Sequence[int]) -> Array | None:
        """The poses (F, n, 4, 4) at all of the frames; None unless all were seen."""
        key = armature.name, action
        known = self.poses.get(key, {})
        if self.bones.get(key) != deforming(armature) or not all(frame in known for frame in frames):
            return None
        return np.array([known[frame] for frame in frames])


def deforming(armature: bpy.types.Object) -> list[int]:
    """The numbers of the pose bones that deform, or that objects hang on."""
    hung = {item.parent_bone for item in bpy.data.objects if item.parent == armature and item.parent_type == "BONE"}
    return [n for n, bone in enumerate(armature.pose.bones) if bone.bone.use_deform or bone.name in hung]


def matrices(armature: bpy.types.Object, bones: Sequence[int]) -> Array:
    """Matrices (n, 4, 4) of bones, in single precision."""
    stored = np.empty((len(armature.pose.bones), 16), dtype=np.float32)
    armature.pose.bones.foreach_get("matrix", stored.reshape(-1))
    return stored[bones].reshape(-1, 4, 4).swapaxes(-1, -2)
