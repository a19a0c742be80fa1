"""Say what a look-at looks at from the current frame on, or as the timeline's markers tell."""

import bpy
from bpy.props import BoolProperty, IntProperty

from ..lookat_pd.errors import LookAtError, RigError
from ..rig import look_at
from ..rig.directing import looks
from . import current, targets


class _DirectingOperator:
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, current.why_no_look_at(context))


class LOOKAT_PD_OT_look_here(_DirectingOperator, bpy.types.Operator):
    """Key that this target is looked at from the current frame on; before it all stays as it was"""

    bl_idname = "lookat_pd.look_here"
    bl_label = "Look at This from Here"

    number: IntProperty(
        name="Target",
        description="Number of the target; -1 for the highlighted line",
        default=-1,
        min=-1,
        options={"SKIP_SAVE"},
    )
    use_selected: BoolProperty(
        name="Selected Object",
        description="Look at the other selected object, which comes into the list",
        options={"SKIP_SAVE"},
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone, scene = current.look_at_bone(context), context.scene
        try:
            number = self._number(context, bone)
            looks.look(scene, bone.id_data, bone.name, number, looks.here(scene))
        except LookAtError as error:
            return current.complain(self, error)
        return {"FINISHED"}

    def _number(self, context: bpy.types.Context, bone: bpy.types.PoseBone) -> int:
        if not self.use_selected:
            return self.number if self.number >= 0 else targets.highlighted(bone.lookat_pd)
        others = current.other_selected_objects(context)
        if not others:
            raise RigError("Nothing else is selected; select the object to look at, then the character with Shift.")
        return looks.add(bone.id_data, bone.name, look_at.face(others[0]))


class LOOKAT_PD_OT_look_away(_DirectingOperator, bpy.types.Operator):
    """Key that nothing is looked at from the current frame on: back to the animation"""

    bl_idname = "lookat_pd.look_away"
    bl_label = "Look Away from Here"

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone, scene = current.look_at_bone(context), context.scene
        try:
            looks.look_away(scene, bone.id_data, bone.name, looks.here(scene))
        except LookAtError as error:
            return current.complain(self, error)
        return {"FINISHED"}


class LOOKAT_PD_OT_targets_from_markers(bpy.types.Operator):
    """Look from each timeline marker on at what it names: an object, a bone (Hero:head), or off"""

    bl_idname = "lookat_pd.targets_from_markers"
    bl_label = "Targets from Markers"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, why_not(context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone = current.look_at_bone(context)
        try:
            count = looks.from_markers(context.scene, bone.id_data, bone.name)
        except LookAtError as error:
            return current.complain(self, error)
        many = "s" if count > 1 else ""
        current.tell(self, f"Directed the look-at on '{bone.name}' by {count} marker{many}.")
        return {"FINISHED"}


def why_not(context: bpy.types.Context) -> str | None:
    """Why markers cannot direct, as a sentence; None where they can."""
    reason = current.why_no_look_at(context)
    if reason is None and not len(context.scene.timeline_markers):
        reason = "Set a timeline marker named after an object where it is to be looked at"
    return reason


CLASSES = (LOOKAT_PD_OT_look_here, LOOKAT_PD_OT_look_away, LOOKAT_PD_OT_targets_from_markers)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
