"""The data that operators and panels work on, and the reasons why they cannot."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar

import bpy

from ..lookat_pd.errors import LookAtError, RigError
from ..rig.animation import editable
from ..rig.look_at import edit as look_at_edit
from ..rig.look_at import resolve as look_at
from ..rig.look_at.body import control_probe
from ..rig.sampling import targets
from ..translations import messages


def armature(context: bpy.types.Context) -> bpy.types.Object | None:
    """The current armature: the active object, the pinned one, or the one that deforms the active object."""
    item = getattr(context, "object", None) or context.view_layer.objects.active
    if item is None or item.type == "ARMATURE":
        return item
    found = item.find_armature()
    return found or (item.parent if item.parent and item.parent.type == "ARMATURE" else None)


def bone(context: bpy.types.Context) -> bpy.types.PoseBone | None:
    """The active pose bone of that armature."""
    item = armature(context)
    if item is None or item.type != "ARMATURE" or item.data.bones.active is None:
        return None
    return item.pose.bones.get(item.data.bones.active.name)


def look_at_bone(context: bpy.types.Context) -> bpy.types.PoseBone | None:
    """The bone whose look-at is displayed: the active one, else one whose chain contains it, else the first of the
    armature."""
    item = armature(context)
    if item is None or item.type != "ARMATURE":
        return None
    with_look_at = [item.pose.bones[name] for name in look_at.bones_with_look_at(item)]
    active = bone(context)
    if active in with_look_at:
        return active
    for candidate in with_look_at:
        if active is not None and any(link.bone == active.name for link in candidate.lookat_pd.chain):
            return candidate
    return with_look_at[0] if with_look_at else None


def other_selected_bones(context: bpy.types.Context) -> list[str]:
    """Names of the selected bones except the one whose look-at is displayed; none outside pose mode."""
    item, shown = armature(context), look_at_bone(context)
    if item is None or item.mode != "POSE":
        return []
    return [bone.name for bone in item.pose.bones if bone != shown and look_at_edit.is_selected(bone)]


def other_selected_objects(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The selected objects that do not belong to the character."""
    item = armature(context)
    return [other for other in context.selected_objects if not targets.belongs_to(other, item)]


def named_object(context: bpy.types.Context, name: str) -> bpy.types.Object:
    """The object of the scene that an operator's option names. Raises RigError."""
    found = context.scene.objects.get(name)
    if found is None:
        raise RigError("There is no object '{target}' in the scene; choose one that exists.", target=name)
    return found


def selected_armatures(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The armatures of all selected characters, by name."""
    found = {item if item.type == "ARMATURE" else item.find_armature() for item in context.selected_objects}
    return sorted(found - {None}, key=lambda item: item.name_full)


def selected_bones(context: bpy.types.Context) -> list[bpy.types.PoseBone]:
    """The selected bones of that armature; none outside pose mode."""
    item = armature(context)
    if item is None or item.type != "ARMATURE" or item.mode != "POSE":
        return []
    return [bone for bone in item.pose.bones if look_at_edit.is_selected(bone)]


def why_no_armature(context: bpy.types.Context) -> str | None:
    """The reason why the armature cannot be used, as a sentence; None if it can."""
    item = armature(context)
    if item is None or item.type != "ARMATURE":
        return "Select the character's armature"
    if context.mode.startswith("EDIT"):
        return "Leave edit mode"
    try:
        editable.check_armature(item)
    except LookAtError as error:
        return messages.translate(str(error))
    return None


def why_no_look_at(context: bpy.types.Context) -> str | None:
    """The reason why no look-at can be used, as a sentence; None if one can."""
    reason = why_no_armature(context)
    if reason is None and look_at_bone(context) is None:
        reason = "Add a look-at first"
    return reason


class Explained:
    """An operator that is disabled if `why_not` returns a reason, which its tooltip shows."""

    bl_options = {"REGISTER", "UNDO"}
    why_not: ClassVar[Callable[[bpy.types.Context], str | None]]

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll(cls, cls.why_not(context))


class OfLookAt(Explained):
    """An operator for the displayed look-at."""

    why_not = staticmethod(why_no_look_at)


def poll(cls: type, reason: str | None) -> bool:
    """Disable an operator if there is a reason, which becomes the last line of the tooltip."""
    if reason is not None:
        cls.poll_message_set(messages.translate(reason).rstrip(".。"))
    return reason is None


def prepared(layout: bpy.types.UILayout) -> bpy.types.UILayout:
    """The layout of an operator or panel, with property split and without decorators."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout


def report_error(operator: bpy.types.Operator, error: Exception | str) -> set[str]:
    """Report an error and cancel the operator."""
    operator.report({"ERROR"}, messages.translate(str(error)))
    return {"CANCELLED"}


def reports_errors(
    execute: Callable[[Any, bpy.types.Context], set[str]],
) -> Callable[[Any, bpy.types.Context], set[str]]:
    """Decorator for `execute`: a LookAtError is reported and cancels the operator."""

    @wraps(execute)
    def reporting(self, context: bpy.types.Context) -> set[str]:
        try:
            return execute(self, context)
        except LookAtError as error:
            return report_error(self, error)

    return reporting


def report_info(operator: bpy.types.Operator, text: str) -> None:
    """Report the result."""
    operator.report({"INFO"}, messages.translate(text))


def take_over_eyes(operator: bpy.types.Operator, scene: bpy.types.Scene, armature: bpy.types.Object, bone: str) -> None:
    """Let the control bones of a face turn the eyes of the look-at on a bone, where nothing else can; report them."""
    found = control_probe.take_over(scene, armature, bone)
    if found is not None:
        report_controls(operator, found)


def report_controls(operator: bpy.types.Operator, found: control_probe.Measured) -> None:
    """Report which control bones turn and close the eyes, and which do not."""
    for note in found.notes:
        operator.report({"WARNING"}, messages.translate(note))
    if found.rows:
        report_info(operator, found.summary)
