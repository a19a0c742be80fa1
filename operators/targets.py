"""Edit the list of targets of a look-at."""

import bpy

from ..rig.look_at import resolve as look_at
from ..rig.look_at.directing import looks
from ..rig.sampling.targets import Target
from ..rig.settings import choice, integer, switch
from . import polling, reporting, selection


def highlighted(settings) -> int:
    """Number of the highlighted target; that of the main target if no row is highlighted."""
    return settings.targets_index + 1 if 0 <= settings.targets_index < len(settings.targets) else 0


class Numbered(polling.OfLookAt):
    """An operator for one target of the displayed look-at."""

    number: integer("Target", "Number of the target; -1 for the highlighted row", -1, min=-1, options={"SKIP_SAVE"})


class LOOKAT_PD_OT_target_add(polling.OfLookAt, bpy.types.Operator):
    """Add the other selected objects to the list of targets, or an empty row if there are none"""

    bl_idname = "lookat_pd.target_add"
    bl_label = "Add Target"

    empty: switch(
        "Empty Row", "Add an empty row for choosing an object, regardless of the selection", options={"SKIP_SAVE"}
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone = selection.look_at_bone(context)
        others = [] if self.empty else selection.other_selected_objects(context, bone.id_data)
        wanted = [look_at.face(item) for item in others] or [Target()]
        for target in wanted:
            looks.check(bone.id_data, bone.name, target)
        numbers = [looks.add(bone.id_data, bone.name, target) for target in wanted]
        bone.lookat_pd.targets_index = numbers[-1] - 1
        return {"FINISHED"}


class LOOKAT_PD_OT_target_remove(Numbered, bpy.types.Operator):
    """Remove a target from the list and delete its keys; keys of other targets are kept"""

    bl_idname = "lookat_pd.target_remove"
    bl_label = "Remove Target"

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone = selection.look_at_bone(context)
        settings = bone.lookat_pd
        number = self.number if self.number >= 0 else settings.targets_index + 1
        if self.number < 0 and highlighted(settings) == 0:
            return reporting.report_error(self, "No target of the list is selected; click the target to remove.")
        looks.remove(bone.id_data, bone.name, number)
        settings.targets_index = min(settings.targets_index, len(settings.targets) - 1)
        return {"FINISHED"}


class LOOKAT_PD_OT_target_move(polling.OfLookAt, bpy.types.Operator):
    """Move the highlighted target up or down; above the first row it becomes the main target. Keys are adjusted"""

    bl_idname = "lookat_pd.target_move"
    bl_label = "Move Target"

    direction: choice(
        "Direction", "", (("UP", "Up", "Towards the main target"), ("DOWN", "Down", "Away from the main target"))
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone = selection.look_at_bone(context)
        settings = bone.lookat_pd
        number = highlighted(settings)
        to = number + (-1 if self.direction == "UP" else 1)
        if number == 0 or to > len(settings.targets):
            return {"CANCELLED"}
        looks.move(bone.id_data, bone.name, number, to)
        settings.targets_index = max(to - 1, 0)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (LOOKAT_PD_OT_target_add, LOOKAT_PD_OT_target_remove, LOOKAT_PD_OT_target_move)
)
