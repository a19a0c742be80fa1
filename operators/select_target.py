"""From a look-at to its target and back: which look-at is displayed, and what is selected."""

import bpy

from ..rig.look_at import edit as look_at_edit
from ..rig.look_at.directing import looks
from ..rig.sampling.targets import Target
from ..rig.settings import text
from . import polling, selection


def target(context: bpy.types.Context) -> Target:
    """The target at which the displayed look-at looks now; an empty one where it has none."""
    shown = selection.look_at_bone(context)
    return Target() if shown is None else looks.chosen(shown.lookat_pd)


def is_selected(context: bpy.types.Context) -> bool:
    """Whether the target of the displayed look-at is what is active, and not its character."""
    shown = selection.look_at_bone(context)
    return shown is not None and shown.id_data != selection.armature(context)


def why_not_target(context: bpy.types.Context) -> str | None:
    """The reason why the target cannot be selected, as a sentence; None if it can."""
    reason = polling.why_no_look_at(context)
    if reason is not None:
        return reason
    item = target(context).object
    return polling.why_no_target(has_target=item is not None) or _why_out_of_sight(context, item)


def why_not_character(context: bpy.types.Context) -> str | None:
    """The same of the character."""
    reason = polling.why_no_look_at(context)
    return reason or _why_out_of_sight(context, selection.look_at_bone(context).id_data)


def _why_out_of_sight(context: bpy.types.Context, item: bpy.types.Object) -> str | None:
    if item.name not in context.view_layer.objects:
        return "The object is not in this view layer; enable its collection in the outliner"
    return None if item.visible_get() else "The object is hidden; show it in the outliner"


class LOOKAT_PD_OT_select_target(polling.Explained, bpy.types.Operator):
    """Select the target at which the look-at looks now, to move it; the look-at stays in the panel"""

    bl_idname = "lookat_pd.select_target"
    bl_label = "Select Target"
    why_not = staticmethod(why_not_target)

    def execute(self, context: bpy.types.Context) -> set[str]:
        wanted = target(context)
        selection.choose(selection.look_at_bone(context))
        _select(context, wanted.object, wanted.bone)
        return {"FINISHED"}


class LOOKAT_PD_OT_select_character(polling.Explained, bpy.types.Operator):
    """Select the character whose look-at is displayed, with the bone that looks"""

    bl_idname = "lookat_pd.select_character"
    bl_label = "Select Character"
    why_not = staticmethod(why_not_character)

    def execute(self, context: bpy.types.Context) -> set[str]:
        shown = selection.look_at_bone(context)
        look_at_edit.activate(shown.id_data, shown.name)
        _select(context, shown.id_data)
        return {"FINISHED"}


class LOOKAT_PD_OT_show_look_at(polling.OfLookAt, bpy.types.Operator):
    """Display this look-at in the panel"""

    bl_idname = "lookat_pd.show_look_at"
    bl_label = "Show Look-at"

    armature: text("Armature", "Armature with the look-at; leave empty for the displayed one", options={"SKIP_SAVE"})
    bone: text("Bone", "Bone with the look-at", options={"SKIP_SAVE"})

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone = selection.named_look_at(context, self.armature, self.bone)
        selection.choose(bone)
        if bone.id_data == selection.armature(context):
            look_at_edit.activate(bone.id_data, bone.name)
        return {"FINISHED"}


def _select(context: bpy.types.Context, item: bpy.types.Object, bone: str = "") -> None:
    """Select one object, or one bone in pose mode, and nothing else."""
    layer = context.view_layer
    if bone and context.mode == "POSE" and layer.objects.active == item:
        for other in layer.objects:
            other.select_set(other == item, view_layer=layer)
    else:
        selection.select_only(context, item)
        if not bone:
            return
        bpy.ops.object.mode_set(mode="POSE")
    look_at_edit.activate(item, bone)
    for owner in item.pose.bones:
        selection.select(owner, chosen=owner.name == bone)


register, unregister = bpy.utils.register_classes_factory(
    (LOOKAT_PD_OT_select_target, LOOKAT_PD_OT_select_character, LOOKAT_PD_OT_show_look_at)
)
