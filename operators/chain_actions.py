"""Join several actions according to timeline markers."""

import bpy

from ..rig.transitions import join, marker_clips
from ..rig.transitions.settings import Blending, InSequence
from . import drawing, inertialize, selection
from .blending import Played, draw_method


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why nothing can be joined, as a sentence; None if it can."""
    reason = inertialize.why_not(context)
    if reason is None and len(context.scene.timeline_markers) < 2:
        reason = "Add timeline markers named after the actions, where each starts"
    return reason


class LOOKAT_PD_OT_chain_actions(InSequence, Blending, Played, inertialize.Joining, bpy.types.Operator):
    """Join actions into one; each starts at the timeline marker of its name ("Walk", "Walk @ 12")"""

    bl_idname = "lookat_pd.chain_actions"
    bl_label = "Join Actions at Markers"
    why_not = staticmethod(why_not)

    def draw(self, context: bpy.types.Context) -> None:
        layout = drawing.prepared(self.layout)
        layout.prop(self, "pose_source")
        draw_method(layout, self)
        for name in ("use_auto_blend", "blend", "root"):
            layout.prop(self, name)
        layout.prop(self, "lock_feet")
        self.draw_keys(layout)
        layout.prop(self, "assign")

    def start(self, context: bpy.types.Context) -> None:
        armature, scene = selection.armature(context), context.scene
        self.check_feet(context)
        options = {"root": self.root, "assign": self.assign, "lock_feet": self.locks_keys, "scene": scene}
        options["writer"] = self.writer()
        self.start_join(
            context, lambda how: join.chaining(armature, marker_clips.from_markers(armature, scene, how), **options)
        )


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_chain_actions,))
