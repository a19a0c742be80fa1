"""What a drag moves where inverse kinematics poses the clicked bone: the bone or the object that is its target."""

from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation import actions, auto_keying, channels
from ..detection import other_ik
from ..detection.limb_controls import LimbControls
from ..detection.other_ik import OtherIK


@dataclass(frozen=True)
class Grip:
    """owner, bone: the object and its bone that is moved, "" for the object itself. moved: the bone that follows it,
    end: the one that the mouse holds, both of the character. at_tip: whether their tips are meant, or their heads.
    line: the bones of the limb, from the body outwards."""

    owner: bpy.types.Object
    bone: str
    moved: str
    end: str
    at_tip: bool
    line: tuple[str, ...]

    @classmethod
    def of_limb(cls, armature: bpy.types.Object, limb: LimbControls) -> "Grip":
        return cls(armature, limb.goal, limb.moved, limb.shown[-1], False, limb.shown)

    @classmethod
    def of_other(cls, armature: bpy.types.Object, found: OtherIK) -> "Grip":
        end, at_tip = found.end(armature)
        owner, bone = other_ik.moved(armature, found)
        line = found.bones[::-1] if at_tip else (*found.bones[::-1], end)
        return cls(owner, bone, end, end, at_tip, line)

    @property
    def label(self) -> str:
        return self.bone or self.owner.name

    @property
    def item(self) -> bpy.types.PoseBone | bpy.types.Object:
        """What has the location."""
        return self.owner.pose.bones[self.bone] if self.bone else self.owner

    def check(self) -> None:
        """Raise RigError if it cannot be moved."""
        if self.owner.library is not None:
            raise RigError(
                "'{armature}' is linked from a library; create a library override first (Object > Library Override).",
                armature=self.owner.name,
            )
        if all(self.item.lock_location):
            if not self.bone:
                raise RigError(
                    "Object '{target}' has a locked location; unlock it (Object Properties > Transform).",
                    target=self.label,
                )
            raise RigError("Bone '{bone}' has a locked location; unlock it (Transform > Location).", bone=self.bone)
        actions.check_curves(self.owner, {self.bone: channels.LOCATION}, "NEW")

    def orientation(self, depsgraph: bpy.types.Depsgraph) -> Array:
        """(3, 3), the axes of what is moved in the world, with their scale."""
        seen = self.owner.evaluated_get(depsgraph)
        matrix = seen.matrix_world @ seen.pose.bones[self.bone].matrix if self.bone else seen.matrix_world
        return np.array(matrix.to_3x3())

    def frame(self, depsgraph: bpy.types.Depsgraph) -> Array:
        """(3, 3), the axes of its location in the world, with their scale."""
        seen = self.owner.evaluated_get(depsgraph)
        basis = seen.pose.bones[self.bone].matrix_basis if self.bone else seen.matrix_basis
        matrix = self.orientation(depsgraph) @ np.linalg.inv(np.array(basis.to_3x3()))
        if self.bone and not seen.data.bones[self.bone].use_local_location:
            matrix = matrix @ np.linalg.inv(np.array(seen.data.bones[self.bone].matrix_local)[:3, :3])
        return matrix

    def key(self, scene: bpy.types.Scene) -> None:
        """Key its location if auto keying is enabled."""
        if self.bone:
            auto_keying.key(scene, self.owner, (), (self.bone,))
        else:
            auto_keying.key_location(scene, self.owner)
