"""Let characters look at each other as they speak."""

import bpy
from bpy.props import BoolProperty, FloatProperty, IntProperty

from ..lookat_pd.conversation import Manner
from ..lookat_pd.errors import LookAtError
from ..rig.directing import conversation
from . import current


class LOOKAT_PD_OT_converse(bpy.types.Operator):
    """Let the selected characters look at whoever speaks; timeline markers called after them say who does"""

    bl_idname = "lookat_pd.converse"
    bl_label = "Converse"
    bl_options = {"REGISTER", "UNDO"}

    seed: IntProperty(name="Seed", description="Another number gives other reactions and glances", default=0, min=0)
    reaction_min: FloatProperty(
        name="Reaction From",
        description="Seconds until the quickest listeners turn to who begins to speak",
        default=0.2,
        min=0.0,
        soft_max=1.0,
    )
    reaction_max: FloatProperty(
        name="Reaction To", description="Seconds until the slowest have turned", default=0.6, min=0.0, soft_max=2.0
    )
    glances: FloatProperty(
        name="Glances",
        description="How much the characters avert their eyes, above all who speaks; 0 for not at all",
        default=0.5,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )
    replace: BoolProperty(
        name="Replace",
        description="Delete the keys of targets, and of on and off, that are there from the first turn on",
        default=False,
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, why_not(context))

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "seed")
        column = layout.column(align=True)
        column.prop(self, "reaction_min", text="Reaction From (s)")
        column.prop(self, "reaction_max", text="To (s)")
        layout.prop(self, "glances", slider=True)
        layout.prop(self, "replace")

    def execute(self, context: bpy.types.Context) -> set[str]:
        armatures = current.selected_armatures(context)
        try:
            manner = Manner(self.seed, (self.reaction_min, self.reaction_max), self.glances)
            turns = conversation.from_markers(context.scene, armatures)
            options = conversation.Options(manner, self.replace)
            conversation.converse(context.scene, turns, armatures, options)
        except LookAtError as error:
            return current.complain(self, error)
        many = "s" if len(turns) > 1 else ""
        current.tell(self, f"{len(armatures)} characters converse in {len(turns)} turn{many}.")
        return {"FINISHED"}


def why_not(context: bpy.types.Context) -> str | None:
    """Why nobody can converse, as a sentence; None where they can."""
    if context.mode.startswith("EDIT"):
        return "Leave edit mode"
    if len(current.selected_armatures(context)) < 2:
        return "Select the armatures of all who take part"
    if not len(context.scene.timeline_markers):
        return "Set a timeline marker named after a character where it begins to speak"
    return None


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_converse)


def unregister() -> None:
    bpy.utils.unregister_class(LOOKAT_PD_OT_converse)
