"""In-betweens with weight for the selected keys, with progress, and Esc to leave everything as it was."""

import bpy
import numpy as np
from bpy.props import EnumProperty

from ..lookat_pd.dynamics import engine
from ..rig.dynamics import interpolation, setup
from ..translations import messages
from . import current, job
from .ik_bake import INTO

_FEW = 3


class LOOKAT_PD_OT_interpolate_keys(job.Job, job.Frames, bpy.types.Operator):
    """Move the selected bones from key to key as limbs that have weight, and hit the keys"""

    bl_idname = "lookat_pd.interpolate_keys"
    bl_label = "Interpolate Keys"
    bl_options = {"REGISTER", "UNDO"}

    into: EnumProperty(name="Into", description="Where the keys go; all other bones stay as they are", items=INTO)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, why_not(context))

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "into")
        self.draw_frames(layout)

    def progress(self, percent: str) -> str:
        return messages.translate(f"Interpolating keys: {percent} %   Esc: cancel")

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        self.take_frames(context.scene)
        bones = current.selected_bones(context)
        wish = setup.interpolation(context.scene, bones, self.frame_start, self.frame_end)
        self.job = interpolation.start(context.scene, current.armature(context), wish, self.into)

    def finish(self, context: bpy.types.Context, result: interpolation.Result) -> None:
        keys, bones = len(result.keys), len(result.tree.bones)
        if not result.misses:
            current.tell(self, f"Interpolated {keys} poses of {bones} bones ({self.seconds:.2f} s); all are hit.")
            return
        named = ", ".join(
            f"{miss.frame:g} '{miss.bone}' {np.degrees(miss.angle):.1f}°" for miss in result.misses[:_FEW]
        )
        current.tell(
            self,
            f"Interpolated {keys} poses of {bones} bones ({self.seconds:.2f} s); too weak for "
            f"{len(result.misses)} keys: {named}.",
        )


class LOOKAT_PD_OT_dynamics_compare(bpy.types.Operator):
    """Play the action as it was before the keys were interpolated, or the result again"""

    bl_idname = "lookat_pd.dynamics_compare"
    bl_label = "Compare with Original"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        reason = current.why_no_armature(context)
        if reason is None and interpolation.compared(current.armature(context)) is None:
            reason = "Interpolate keys into a new action first"
        return current.poll(cls, reason)

    def execute(self, context: bpy.types.Context) -> set[str]:
        interpolation.swap(current.armature(context))
        return {"FINISHED"}


def why_not(context: bpy.types.Context) -> str | None:
    """Why there is nothing to interpolate, as a sentence; None where there is."""
    reason = current.why_no_armature(context) or engine.reason()
    if reason is not None:
        return reason
    if not current.selected_bones(context):
        return "Select the bones that are to move, in pose mode"
    armature = current.armature(context)
    if armature.animation_data is None or armature.animation_data.action is None:
        return "Key at least two poses first"
    return None


CLASSES = (LOOKAT_PD_OT_interpolate_keys, LOOKAT_PD_OT_dynamics_compare)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
