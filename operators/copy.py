"""Copy a look-at to other bones, and to the other side."""

from collections.abc import Sequence

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ..lookat_pd.message import Message
from ..rig.look_at import copy as look_at_copy
from ..rig.look_at.body.layers import BodyLayer
from ..rig.settings import switch
from . import polling, reporting, selection


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why nothing can be copied; None if it can."""
    reason = polling.why_no_look_at(context)
    if reason is None and not selection.other_selected_bones(context):
        reason = "Select the bones to copy the look-at to in pose mode"
    return reason


def tell_left_off(operator: bpy.types.Operator, left_off: Sequence[BodyLayer]) -> None:
    """Report the layers of the body that a copy of a look-at does without."""
    if left_off:
        names = ", ".join(iface_(layer.label) for layer in left_off)
        reporting.report_info(
            operator, Message("Bones of these responses are in the chain, so they are disabled: {names}.", names=names)
        )


class LOOKAT_PD_OT_copy(polling.Explained, bpy.types.Operator):
    """Copy the displayed look-at with body and eyes to the other selected bones, each with its own chain"""

    bl_idname = "lookat_pd.copy"
    bl_label = "Copy Look-at to Selected Bones"
    why_not = staticmethod(why_not)

    use_target: switch("Copy Target", "Copy all targets as well; otherwise each look-at keeps its own", True)

    def execute(self, context: bpy.types.Context) -> set[str]:
        source = selection.look_at_bone(context)
        bones = selection.other_selected_bones(context)
        left_off = look_at_copy.copy(context.scene, source.id_data, source.name, bones, with_target=self.use_target)
        summary = "Copied the look-at on '{source}' to {bones}."
        reporting.report_info(self, Message(summary, source=source.name, bones=reporting.bones(len(bones))))
        tell_left_off(self, left_off)
        return {"FINISHED"}


class LOOKAT_PD_OT_mirror(polling.OfLookAt, bpy.types.Operator):
    """Copy the look-at to the bone on the opposite side, with chain, body, eyes and targets mirrored"""

    bl_idname = "lookat_pd.mirror"
    bl_label = "Mirror Look-at"

    def execute(self, context: bpy.types.Context) -> set[str]:
        source = selection.look_at_bone(context)
        bone, left_off = look_at_copy.mirror(context.scene, source.id_data, source.name)
        reporting.report_info(
            self, Message("Mirrored the look-at on '{source}' to '{bone}'.", source=source.name, bone=bone)
        )
        tell_left_off(self, left_off)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (
        LOOKAT_PD_OT_copy,
        LOOKAT_PD_OT_mirror,
    )
)
