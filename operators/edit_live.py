"""From a bake back to the live look-ats."""

from collections.abc import Sequence

import bpy

from ..lookat_pd.message import Message
from ..rig.look_at import edit_live
from ..rig.look_at import resolve as look_at
from . import polling, reporting, selection


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why the displayed look-at cannot be live again, as a sentence; None if it can."""
    reason = polling.why_no_look_at(context)
    if reason is not None:
        return reason
    shown = selection.look_at_bone(context)
    return polling.refusal(edit_live.check, shown.id_data, shown.name)


class LOOKAT_PD_OT_edit_live(polling.Explained, bpy.types.Operator):
    """Play the animation from before the bake, with the look-at live, of all selected characters. The bake is kept"""

    bl_idname = "lookat_pd.edit_live"
    bl_label = "Edit Live Again"
    why_not = staticmethod(why_not)

    def execute(self, context: bpy.types.Context) -> set[str]:
        shown = selection.look_at_bone(context)
        wanted = {shown.id_data: shown.name}
        for item in selection.selected_armatures(context):
            bone = _first_baked(item)
            if bone:
                wanted.setdefault(item, bone)
        for item, bone in wanted.items():
            edit_live.check(item, bone)
        live = [name for item, bone in wanted.items() for name in edit_live.edit_live(item, bone)]
        reporting.report_info(self, _summary(live))
        return {"FINISHED"}


def _first_baked(item: bpy.types.Object) -> str:
    """The first bone of a character whose look-at was baked into what plays, and is muted; "" for none."""
    names = look_at.bones_with_look_at(item)
    muted = (name for name in names if item.pose.bones[name].lookat_pd.mute)
    return next((name for name in muted if edit_live.baked(item, name) is not None), "")


def _summary(live: Sequence[str]) -> Message:
    if len(live) == 1:
        return Message("The look-at on '{bone}' is live again.", bone=live[0])
    return Message("{count} look-ats are live again.", count=len(live))


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_edit_live,))
