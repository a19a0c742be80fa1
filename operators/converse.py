"""Make characters talk: the conversation of a scene, and the table of its turns."""

from pathlib import Path

import bpy
from bpy_extras.io_utils import ImportHelper

from ..lookat_pd.conversation import files
from ..lookat_pd.message import Message
from ..rig.look_at.directing import conversation_settings, conversation_table
from ..rig.settings import factor, integer, switch, text
from . import drawing, polling, reporting, selection


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why no conversation can be made, as a sentence; None if it can."""
    if context.mode.startswith("EDIT"):
        return "Leave edit mode"
    if len(selection.selected_armatures(context)) < 2 and not conversation_settings.exists(context.scene):
        return "Select the armatures of at least two characters"
    return None


class LOOKAT_PD_OT_converse(polling.Explained, bpy.types.Operator):
    """Make the selected characters talk: they look at each other, glance away, blink, nod and breathe as people do"""

    bl_idname = "lookat_pd.converse"
    bl_label = "Make Conversation"
    why_not = staticmethod(why_not)

    seed: integer("Seed", conversation_settings.SEED, min=0)
    glances: factor("Glances", conversation_settings.GLANCES, 1.0)
    eyes: switch("Eyes", "Enable eyes, blinks and lids where the rig has them", True)
    body: switch("Body", "Enable hips, arms and feet where the rig has them", True)
    replace: switch("Replace", "Delete keys of your own as well, from the first turn on")

    def draw(self, context: bpy.types.Context) -> None:
        layout = drawing.prepared(self.layout)
        layout.prop(self, "seed")
        layout.prop(self, "glances", slider=True)
        for name in ("eyes", "body", "replace"):
            layout.prop(self, name)

    def execute(self, context: bpy.types.Context) -> set[str]:
        scene, armatures = context.scene, selection.selected_armatures(context)
        planned = conversation_table.begin(
            scene,
            armatures if len(armatures) > 1 else None,
            {"seed": self.seed, "glances": self.glances},
            {"eyes": self.eyes, "body": self.body, "replace": self.replace},
        )
        people = len(scene.lookat_pd_conversation.people)
        summary = "Keyed a conversation of {people} characters with {turns} turns."
        if len(planned.turns) == 1:
            summary = "Keyed a conversation of {people} characters with {turns} turn."
        reporting.report_info(self, Message(summary, people=people, turns=len(planned.turns)))
        return {"FINISHED"}


def why_no_conversation(context: bpy.types.Context) -> str | None:
    """The reason why there is no conversation to edit, as a sentence; None if there is one."""
    return None if conversation_settings.exists(context.scene) else "Make a conversation first"


class _OfConversation(polling.Explained):
    why_not = staticmethod(why_no_conversation)


class LOOKAT_PD_OT_turn_add(_OfConversation, bpy.types.Operator):
    """Let the next character speak from the current frame on"""

    bl_idname = "lookat_pd.turn_add"
    bl_label = "Add Turn"

    def execute(self, context: bpy.types.Context) -> set[str]:
        conversation_table.add_turn(context.scene)
        return {"FINISHED"}


class LOOKAT_PD_OT_turn_remove(_OfConversation, bpy.types.Operator):
    """Remove the highlighted turn; the one before it goes on"""

    bl_idname = "lookat_pd.turn_remove"
    bl_label = "Remove Turn"

    def execute(self, context: bpy.types.Context) -> set[str]:
        conversation_table.remove_turn(context.scene)
        return {"FINISHED"}


class LOOKAT_PD_OT_turns_from_file(_OfConversation, ImportHelper, bpy.types.Operator):
    """Replace the turns by those of subtitles (SRT), a table (CSV), JSON, or lines such as 1.5 Anna: hello"""

    bl_idname = "lookat_pd.turns_from_file"
    bl_label = "Turns from File"

    filter_glob: text(default="*.srt;*.csv;*.json;*.txt", options={"HIDDEN"})

    def execute(self, context: bpy.types.Context) -> set[str]:
        lines = files.load(Path(self.filepath))
        conversation_table.take_lines(context.scene, lines)
        reporting.report_info(self, Message("Read {turns} turns.", turns=len(lines)))
        return {"FINISHED"}


class LOOKAT_PD_OT_turns_from_sounds(_OfConversation, bpy.types.Operator):
    """Replace the turns by those that are heard in the recordings of the characters, a WAV file of each voice"""

    bl_idname = "lookat_pd.turns_from_sounds"
    bl_label = "Turns from Recordings"

    def execute(self, context: bpy.types.Context) -> set[str]:
        count = conversation_table.take_sounds(context.scene)
        reporting.report_info(self, Message("Read {turns} turns.", turns=count))
        return {"FINISHED"}


class LOOKAT_PD_OT_conversation_remove(_OfConversation, bpy.types.Operator):
    """Remove the conversation and its keys; keys of your own and the look-ats are kept"""

    bl_idname = "lookat_pd.conversation_remove"
    bl_label = "Remove Conversation"

    def execute(self, context: bpy.types.Context) -> set[str]:
        conversation_table.remove(context.scene)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (
        LOOKAT_PD_OT_converse,
        LOOKAT_PD_OT_turn_add,
        LOOKAT_PD_OT_turn_remove,
        LOOKAT_PD_OT_turns_from_file,
        LOOKAT_PD_OT_turns_from_sounds,
        LOOKAT_PD_OT_conversation_remove,
    )
)
