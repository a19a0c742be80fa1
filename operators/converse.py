"""Make characters in a conversation look at each other."""

import bpy
from bpy.props import BoolProperty, FloatProperty, IntProperty

from ..lookat_pd.conversation import Manner
from ..lookat_pd.message import Message
from ..rig.look_at.directing import conversation
from . import current


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why no conversation can be made, as a sentence; None if it can."""
    if context.mode.startswith("EDIT"):
        return "Leave edit mode"
    if len(current.selected_armatures(context)) < 2:
        return "Select the armatures of at least two characters"
    if not len(context.scene.timeline_markers):
        return "Add timeline markers named after the characters, where each starts to speak"
    return None


class LOOKAT_PD_OT_converse(current.Explained, bpy.types.Operator):
    """Make the selected characters look at the speaker, who is named by timeline markers"""

    bl_idname = "lookat_pd.converse"
    bl_label = "Make Conversation"
    why_not = staticmethod(why_not)

    seed: IntProperty(name="Seed", description="Seed of the random reactions and glances", default=0, min=0)
    reaction_min: FloatProperty(
        name="Reaction Min",
        description="Time in seconds until the quickest listeners turn to a new speaker",
        default=0.2,
        min=0.0,
        soft_max=1.0,
        max=60.0,
    )
    reaction_max: FloatProperty(
        name="Reaction Max",
        description="Time in seconds until the slowest listeners turn to a new speaker",
        default=0.6,
        min=0.0,
        soft_max=2.0,
        max=60.0,
    )
    glances: FloatProperty(
        name="Glances",
        description="How often the characters avert their eyes, mainly the speaker; 0 for never",
        default=0.5,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )
    replace: BoolProperty(
        name="Replace",
        description="Delete existing target and on/off keys from the first turn on",
        default=False,
    )

    def draw(self, context: bpy.types.Context) -> None:
        layout = current.prepared(self.layout)
        layout.prop(self, "seed")
        column = layout.column(align=True)
        column.prop(self, "reaction_min", text="Reaction Min (s)")
        column.prop(self, "reaction_max", text="Max (s)")
        layout.prop(self, "glances", slider=True)
        layout.prop(self, "replace")

    @current.reports_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        armatures = current.selected_armatures(context)
        manner = Manner(self.seed, (self.reaction_min, self.reaction_max), self.glances)
        turns = conversation.from_markers(context.scene, armatures)
        options = conversation.Options(manner, self.replace)
        conversation.converse(context.scene, turns, armatures, options)
        summary = "Keyed a conversation of {people} characters with {turns} turns."
        if len(turns) == 1:
            summary = "Keyed a conversation of {people} characters with {turns} turn."
        current.tell(self, Message(summary, people=len(armatures), turns=len(turns)))
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_converse,))
