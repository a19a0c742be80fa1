"""Join actions in a row, as the timeline's markers say."""

import time

import bpy
from bpy.props import EnumProperty, FloatProperty

from ..lookat_pd.errors import LookAtError
from ..rig.transitions import chains, join, splice
from ..rig.transitions.settings import METHOD_ITEMS, ROOT_ITEMS
from . import current, inertialize
from .blending import Blended, Played


class LOOKAT_PD_OT_chain_actions(Blended, Played, bpy.types.Operator):
    """Join actions into one: each plays from the timeline marker that is called like it ("Walk", "Walk @ 12")"""

    bl_idname = "lookat_pd.chain_actions"
    bl_label = "Join Actions at Markers"
    bl_options = {"REGISTER", "UNDO"}

    blend: FloatProperty(
        name="Blend", description="Seconds until each clip plays alone", default=0.3, min=0.0, soft_max=1.0
    )
    root: EnumProperty(name="Root", description="How each clip is placed", items=ROOT_ITEMS, default="HEADING")
    method: EnumProperty(name="Method", description="How the difference is blended", items=METHOD_ITEMS)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, why_not(context))

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        for name in ("method", "use_auto_blend", "blend", "root", "assign"):
            layout.prop(self, name)

    def execute(self, context: bpy.types.Context) -> set[str]:
        started = time.perf_counter()
        armature, scene = current.armature(context), context.scene
        try:
            blend = splice.Blend(self.seconds, self.method)
            steps = chains.from_markers(armature, scene, blend)
            result = join.chain(armature, steps, root=self.root, assign=self.assign, scene=scene)
        except LookAtError as error:
            return current.complain(self, error)
        current.tell(self, inertialize.told(result, time.perf_counter() - started))
        return {"FINISHED"}


def why_not(context: bpy.types.Context) -> str | None:
    """Why there is nothing to join, as a sentence; None where there is."""
    reason = inertialize.why_not(context)
    if reason is None and len(context.scene.timeline_markers) < 2:
        reason = "Set a timeline marker named after an action where each is to begin"
    return reason


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_chain_actions)


def unregister() -> None:
    bpy.utils.unregister_class(LOOKAT_PD_OT_chain_actions)
