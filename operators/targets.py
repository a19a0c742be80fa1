"""Edit the list of what a look-at may look at."""

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty

from ..lookat_pd.errors import LookAtError
from ..rig import look_at
from ..rig.directing import looks
from ..rig.sample import Target
from . import current


def highlighted(settings) -> int:
    """Number of the highlighted target; the main one where the list has no such line."""
    return settings.targets_index + 1 if 0 <= settings.targets_index < len(settings.targets) else 0


class _TargetsOperator:
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, current.why_no_look_at(context))


class LOOKAT_PD_OT_target_add(_TargetsOperator, bpy.types.Operator):
    """Add the other selected objects to the list of targets, or an empty line where there are none"""

    bl_idname = "lookat_pd.target_add"
    bl_label = "Add Target"

    empty: BoolProperty(
        name="Empty Line", description="Add a line to choose an object in, whatever is selected", options={"SKIP_SAVE"}
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone = current.look_at_bone(context)
        others = [] if self.empty else current.other_selected_objects(context)
        wanted = [look_at.face(item) for item in others] or [Target()]
        try:
            for target in wanted:
                looks.check(bone.id_data, bone.name, target)
            numbers = [looks.add(bone.id_data, bone.name, target) for target in wanted]
        except LookAtError as error:
            return current.complain(self, error)
        bone.lookat_pd.targets_index = numbers[-1] - 1
        return {"FINISHED"}


class LOOKAT_PD_OT_target_remove(_TargetsOperator, bpy.types.Operator):
    """Take a target from the list. Keys of the others go on meaning them; its own go"""

    bl_idname = "lookat_pd.target_remove"
    bl_label = "Remove Target"

    number: IntProperty(
        name="Target",
        description="Number of the target; -1 for the highlighted line",
        default=-1,
        min=-1,
        options={"SKIP_SAVE"},
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone = current.look_at_bone(context)
        settings = bone.lookat_pd
        number = self.number if self.number >= 0 else settings.targets_index + 1
        if self.number < 0 and highlighted(settings) == 0:
            return current.complain(self, "No line of the list is highlighted; click the one to remove.")
        try:
            looks.remove(bone.id_data, bone.name, number)
        except LookAtError as error:
            return current.complain(self, error)
        settings.targets_index = min(settings.targets_index, len(settings.targets) - 1)
        return {"FINISHED"}


class LOOKAT_PD_OT_target_move(_TargetsOperator, bpy.types.Operator):
    """Move the highlighted target up or down; from the first line up it becomes the main one. Keys go along"""

    bl_idname = "lookat_pd.target_move"
    bl_label = "Move Target"

    direction: EnumProperty(
        name="Direction", items=(("UP", "Up", "Towards the main target"), ("DOWN", "Down", "Away from it"))
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone = current.look_at_bone(context)
        settings = bone.lookat_pd
        number = highlighted(settings)
        to = number + (-1 if self.direction == "UP" else 1)
        if number == 0 or to > len(settings.targets):
            return {"CANCELLED"}
        try:
            looks.move(bone.id_data, bone.name, number, to)
        except LookAtError as error:
            return current.complain(self, error)
        settings.targets_index = max(to - 1, 0)
        return {"FINISHED"}


CLASSES = (LOOKAT_PD_OT_target_add, LOOKAT_PD_OT_target_remove, LOOKAT_PD_OT_target_move)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
