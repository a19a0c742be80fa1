"""Bake the look-ats of an armature onto several actions, which are checked in a list."""

import bpy

from ..lookat_pd.message import Message
from ..rig.animation.key_settings import BakedKeys
from ..rig.animation.stored_settings import declare, read, withdraw
from ..rig.detection import moving_actions
from ..rig.look_at import bake_actions
from ..rig.look_at import resolve as look_at
from ..rig.settings import choice, integer, pointer, switch
from . import bake, drawing, job, polling, reporting, selection
from .key_choice import KeyChoice


def listed(context: bpy.types.Context) -> list[bpy.types.Action]:
    """The actions that move the current armature, by name."""
    return moving_actions.moving(selection.look_at_armature(context))


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why no action can be baked onto, as a sentence; None if one can."""
    return bake.why_not(context, alone=True) or why_no_action(context)


def why_no_action(context: bpy.types.Context) -> str | None:
    """The reason why no action is chosen, as a sentence; None if one is."""
    shown = listed(context)
    if not shown:
        return "No action moves the armature"
    if not any(_is_checked(action) for action in shown):
        return "Check the actions to bake onto"
    return None


def _is_checked(action: bpy.types.Action) -> bool:
    return read(action, "lookat_pd").checked


class ActionSettings(bpy.types.PropertyGroup):
    """`action.lookat_pd`."""

    checked: switch("Checked", "Bake the look-ats onto this action with Bake onto Actions")


class LOOKAT_PD_OT_check_actions(polling.OfLookAt, bpy.types.Operator):
    """Check all actions that move the armature, or none"""

    bl_idname = "lookat_pd.check_actions"
    bl_label = "Check Actions"

    which: choice(
        "Which",
        "The actions that are checked",
        (
            ("ALL", "All", "Check all actions that move the armature"),
            ("NONE", "None", "Check no action"),
            ("INVERT", "Invert", "Check the actions that are not checked, and no others"),
        ),
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        for action in listed(context):
            if action.is_editable:
                before = action.lookat_pd.checked
                action.lookat_pd.checked = {"ALL": True, "NONE": False, "INVERT": not before}[self.which]
        return {"FINISHED"}


class LOOKAT_PD_OT_bake_onto_actions(BakedKeys, KeyChoice, job.ModalJob, bpy.types.Operator):
    """Bake the look-ats of the armature onto each checked action, into a new action with its name"""

    bl_idname = "lookat_pd.bake_onto_actions"
    bl_label = "Bake onto Actions"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polling.poll(cls, why_not(context))

    def why_not_now(self, context: bpy.types.Context) -> str | None:
        return why_not(context)

    def draw(self, context: bpy.types.Context) -> None:
        self.draw_keys(drawing.prepared(self.layout))

    def progress(self, percent: str) -> str:
        return bake.progress(percent)

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        armature = selection.look_at_armature(context)
        bones = [name for name in look_at.bones_with_look_at(armature) if not armature.pose.bones[name].lookat_pd.mute]
        chosen = [action for action in listed(context) if _is_checked(action)]
        self.job = bake_actions.bake_actions(context.scene, armature, bones, chosen, self.writer())

    def finish(self, context: bpy.types.Context, result: list[bake_actions.BakedAction]) -> None:
        for item in result:
            item.action.lookat_pd.checked = False
        one = "Baked onto an action, into a new action on a muted NLA track ({took} s)."
        several = "Baked onto {count} actions, into new actions on muted NLA tracks ({took} s)."
        reporting.report_info(
            self,
            Message(
                one if len(result) == 1 else several,
                count=len(result),
                took=f"{self.elapsed:.2f}",
            ),
        )


_register, _unregister = bpy.utils.register_classes_factory(
    (ActionSettings, LOOKAT_PD_OT_check_actions, LOOKAT_PD_OT_bake_onto_actions)
)


def register() -> None:
    _register()
    declare(bpy.types.Action, "lookat_pd", pointer(ActionSettings))
    bpy.types.WindowManager.lookat_pd_action = integer(options={"HIDDEN"})


def unregister() -> None:
    del bpy.types.WindowManager.lookat_pd_action
    withdraw(bpy.types.Action, "lookat_pd")
    _unregister()
