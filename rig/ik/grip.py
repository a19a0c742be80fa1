"""What a drag moves where inverse kinematics poses the clicked bone: the bone or the object that is its target."""

from dataclasses import dataclass

import bpy

from ...lookat_pd.rotation import Array
from ..animation import actions, channels, data_paths
from ..animation.outside_controls import OutsideControl
from ..detection import limb_controls, other_ik
from ..detection.limb_controls import LimbControls
from ..detection.other_ik import OtherIK
from ..sampling.own_channels import world_axes
from .chain_bake import axes_of


@dataclass(frozen=True)
class Grip:
    """What the mouse moves when a bone is dragged."""

    owner: bpy.types.Object
    """The object that is moved, or whose bone is."""
    bone: str
    """Its bone that is moved, "" for the object itself."""
    moved: str
    """The bone of the character that follows it."""
    end: str
    """The bone of the character that the mouse holds."""
    at_tip: bool
    """Whether their tips are meant, or their heads."""
    line: tuple[str, ...]
    """The bones of the limb, from the body outwards."""

    @classmethod
    def of_limb(cls, armature: bpy.types.Object, limb: LimbControls) -> "Grip":
        control = limb_controls.outside_of(armature, limb).get(limb.goal)
        if control is not None:
            return cls(control.object, control.bone, limb.shown[-1], limb.shown[-1], False, limb.shown)
        return cls(armature, limb.goal, limb.moved, limb.shown[-1], False, limb.shown)

    @classmethod
    def of_other(cls, armature: bpy.types.Object, posed: OtherIK) -> "Grip":
        end, at_tip = posed.end(armature)
        owner, bone = other_ik.moved(armature, posed)
        line = posed.bones[::-1] if at_tip else (*posed.bones[::-1], end)
        return cls(owner, bone, end, end, at_tip, line)

    @property
    def label(self) -> str:
        return self.bone or self.owner.name

    @property
    def item(self) -> bpy.types.PoseBone | bpy.types.Object:
        """What has the location."""
        return data_paths.place(self.owner, self.bone)

    def check(self) -> None:
        """Raise RigError if it cannot be moved."""
        OutsideControl(self.owner, self.bone, name=self.label).check_moves()
        actions.check_curves(self.owner, {self.bone: channels.LOCATION}, "NEW")

    def orientation(self, depsgraph: bpy.types.Depsgraph) -> Array:
        """(3, 3), the axes of what is moved in the world, with their scale."""
        return axes_of(self.owner, self.bone, depsgraph)

    def frame(self, depsgraph: bpy.types.Depsgraph) -> Array:
        """(3, 3), the axes of its location in the world, with their scale."""
        return world_axes(self.owner.evaluated_get(depsgraph), self.bone)
