"""A transition between two strips of the NLA."""

import bpy
from bpy.props import EnumProperty, FloatProperty

from ..lookat_pd.errors import LookAtError, RigError
from ..rig.transitions import splice, strips
from ..rig.transitions.settings import METHOD_ITEMS
from . import current
from .blending import Blended


class LOOKAT_PD_OT_strip_transition(Blended, bpy.types.Operator):
    """Add a strip that carries the first of two selected strips into the second without a pop"""

    bl_idname = "lookat_pd.strip_transition"
    bl_label = "Add Transition between Strips"
    bl_options = {"REGISTER", "UNDO"}

    blend: FloatProperty(
        name="Blend", description="Seconds until the second strip plays alone", default=0.3, min=0.0, soft_max=1.0
    )
    method: EnumProperty(name="Method", description="How the difference is blended", items=METHOD_ITEMS[:3])

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, why_not(context))

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "method")
        self.draw_blend(layout)

    def execute(self, context: bpy.types.Context) -> set[str]:
        armature = current.armature(context)
        try:
            chosen = strips.selected(armature)
            if len(chosen) != 2:
                raise RigError(f"{len(chosen)} strips of '{armature.name}' are selected; select the two to join.")
            blend = splice.Blend(self.seconds, self.method)
            made = strips.join(armature, chosen[0], chosen[1], blend, scene=context.scene)
        except LookAtError as error:
            return current.complain(self, error)
        current.tell(self, f"Strip '{made.strip.name}' from frame {made.first} to {made.last} ({made.blend:.2f} s).")
        return {"FINISHED"}


def why_not(context: bpy.types.Context) -> str | None:
    """Why there are no strips to join, as a sentence; None where there are."""
    reason = current.why_no_armature(context)
    if reason is not None:
        return reason
    armature = current.armature(context)
    data = armature.animation_data if armature is not None else None
    if data is not None and data.use_tweak_mode:
        return "Leave NLA tweak mode"
    if armature is None or len(strips.selected(armature)) != 2:
        return "Select two strips of the armature in the NLA editor"
    return None


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_strip_transition)


def unregister() -> None:
    bpy.utils.unregister_class(LOOKAT_PD_OT_strip_transition)
