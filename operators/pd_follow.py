"""PD Follow: add it to the active object or to bones, set its offset anew, copy and key its settings, remove it."""

from collections.abc import Sequence

import bpy

from ..lookat_pd.errors import RigError
from ..rig.animation import actions
from ..rig.pd_follow import follow_chains, follow_edit, owners
from ..rig.pd_follow.owners import Owner
from ..rig.pd_follow.settings import KEYABLE
from ..rig.settings import text
from . import look_at_keys, polling, selection


def _object(context: bpy.types.Context) -> bpy.types.Object | None:
    return getattr(context, "object", None) or context.view_layer.objects.active


def owner(context: bpy.types.Context) -> Owner:
    """What the panel and the operators work on: the active bone in pose mode, otherwise the active object, which is
    there."""
    item = _object(context)
    assert item is not None, "otherwise why_no_owner gives the reason"
    bone = selection.bone(context) if context.mode == "POSE" else None
    return Owner(bone.id_data, bone.name) if bone is not None else Owner(item)


def chosen(context: bpy.types.Context) -> list[Owner]:
    """The same with the other selected bones if the active one is selected, those of each rig from root to tip."""
    active = owner(context)
    bones = [Owner(bone.id_data, bone.name) for bone in selection.posed_bones(context)] if active.bone else []
    return follow_chains.by_rig(bones) if active in bones else [active]


def following(context: bpy.types.Context) -> list[Owner]:
    """Those of them that follow."""
    return [follower for follower in chosen(context) if follower.follows]


def why_no_owner(context: bpy.types.Context) -> str | None:
    """The reason why nothing can follow, as a sentence; None if something can."""
    if _object(context) is None:
        return "Select an object, or a bone in pose mode"
    if context.mode.startswith("EDIT"):
        return "Leave edit mode"
    return polling.refusal(lambda: owners.check_owner(owner(context)))


def why_no_follow(context: bpy.types.Context) -> str | None:
    """The reason why there is no PD Follow to work on, as a sentence; None if there is."""
    reason = why_no_owner(context)
    if reason is None and not owner(context).follows:
        reason = "Add PD Follow first"
    return reason


class OfFollow(polling.Explained):
    """An operator for the PD Follow of the active object or bone."""

    why_not = staticmethod(why_no_follow)


class LOOKAT_PD_OT_pd_follow_add(polling.Explained, bpy.types.Operator):
    """Let the active object, or the selected bones in pose mode, follow the other selected object with lag and overshoot; without one, lag behind the own animation. Of bones that hang on each other, each follows the result of its parent"""  # noqa: E501 - a tooltip

    bl_idname = "lookat_pd.pd_follow_add"
    bl_label = "Add PD Follow"
    why_not = staticmethod(why_no_owner)

    target: text(
        "Target", "Object to follow; leave empty for the other selected object, if there is one", options={"SKIP_SAVE"}
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        every = chosen(context)
        # If all follow already, the message says so.
        followers = [follower for follower in every if not follower.follows] or every[:1]
        follow_edit.add(followers, self._target(context, every), chain=every)
        return {"FINISHED"}

    def _target(self, context: bpy.types.Context, followers: Sequence[Owner]) -> bpy.types.Object | None:
        if self.target:
            return selection.named_object(context, self.target)
        own = {follower.object for follower in followers}
        return next((item for item in context.selected_objects if item not in own and item.mode != "POSE"), None)


class LOOKAT_PD_OT_pd_follow_remove(OfFollow, bpy.types.Operator):
    """Remove PD Follow with its settings and their keys from the active object, or the selected bones; baked keys are kept"""  # noqa: E501 - a tooltip

    bl_idname = "lookat_pd.pd_follow_remove"
    bl_label = "Remove PD Follow"

    def execute(self, context: bpy.types.Context) -> set[str]:
        for follower in following(context):
            follow_edit.remove(follower)
        return {"FINISHED"}


def why_no_copy(context: bpy.types.Context) -> str | None:
    """The reason why there is nothing to copy settings to, as a sentence; None if there is."""
    reason = why_no_follow(context)
    if reason is None and len(following(context)) < 2:
        reason = "Select further bones that have PD Follow"
    return reason


class LOOKAT_PD_OT_pd_follow_copy(polling.Explained, bpy.types.Operator):
    """Copy settle time, damping, limits, lag compensation and integrator of the active bone to the other selected bones with PD Follow"""  # noqa: E501 - a tooltip

    bl_idname = "lookat_pd.pd_follow_copy"
    bl_label = "Copy to Selected Bones"
    why_not = staticmethod(why_no_copy)

    def execute(self, context: bpy.types.Context) -> set[str]:
        source = owner(context)
        for follower in following(context):
            if follower != source:
                follow_edit.copy(source, follower)
        return {"FINISHED"}


def why_no_offset(context: bpy.types.Context) -> str | None:
    """The reason why there is no offset to set, as a sentence; None if there is."""
    reason = why_no_follow(context)
    if reason is None and owner(context).settings.target is None:
        reason = "Choose a target to follow"
    return reason


class LOOKAT_PD_OT_pd_follow_offset(polling.Explained, bpy.types.Operator):
    """Keep the place of the target at this frame as the one at which the animation is unchanged"""

    bl_idname = "lookat_pd.pd_follow_offset"
    bl_label = "Set Offset"
    why_not = staticmethod(why_no_offset)

    def execute(self, context: bpy.types.Context) -> set[str]:
        follower = owner(context)
        owners.check_target(follower, follower.settings.target, follower.settings.subtarget)
        follow_edit.set_offset(follower)
        return {"FINISHED"}


class LOOKAT_PD_OT_pd_follow_key(OfFollow, bpy.types.Operator):
    """Insert a key for this setting at the current frame, or delete the existing one"""

    bl_idname = "lookat_pd.pd_follow_key"
    bl_label = "Key PD Follow Setting"

    setting: look_at_keys.setting_name()

    def execute(self, context: bpy.types.Context) -> set[str]:
        follower, frame = owner(context), context.scene.frame_current
        if self.setting not in KEYABLE:
            raise RigError(
                "PD Follow of '{name}' has no setting '{setting}' to key; use use or influence.",
                name=follower.label,
                setting=self.setting,
            )
        if key_state(follower, self.setting, frame) == "KEYED":
            follower.object.keyframe_delete(follower.settings_path + self.setting, frame=frame)
        else:
            follower.object.keyframe_insert(follower.settings_path + self.setting, frame=frame)
        return {"FINISHED"}


def key_state(follower: Owner, setting: str, frame: int) -> str:
    """Whether a setting is "KEYED" at this frame, "ANIMATED" elsewhere, or neither ("NONE")."""
    return actions.key_state(follower.object, follower.settings_path + setting, frame)


register, unregister = bpy.utils.register_classes_factory(
    (
        LOOKAT_PD_OT_pd_follow_add,
        LOOKAT_PD_OT_pd_follow_remove,
        LOOKAT_PD_OT_pd_follow_copy,
        LOOKAT_PD_OT_pd_follow_offset,
        LOOKAT_PD_OT_pd_follow_key,
    )
)
