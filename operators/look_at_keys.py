"""Keys of the settings of look-ats: Blender's own button cannot key properties in groups of a bone."""

from typing import Any

import bpy

from ..lookat_pd.errors import RigError
from ..lookat_pd.message import Message
from ..rig.look_at import edit as look_at_edit
from ..rig.look_at import looking, mixing
from ..rig.look_at.directing import shot_keys
from ..rig.look_at.setting_paths import KEYABLE
from ..rig.settings import text
from . import polling, reporting, selection


def setting_name() -> Any:
    """The property of the setting to key."""
    return text("Setting", "Name of the setting in scripts, such as use", "use")


class LOOKAT_PD_OT_key(polling.OfLookAt, bpy.types.Operator):
    """Insert a key for this setting at the current frame, or delete the existing one"""

    bl_idname = "lookat_pd.key"
    bl_label = "Key Look-at Setting"

    # Its path, since an item of the list of targets has a setting, too.
    setting: setting_name()

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone = selection.look_at_bone(context)
        weights = [path.partition(".lookat_pd.")[2] for path in mixing.paths(bone.lookat_pd, "")]
        if self.setting not in (*KEYABLE, *weights):
            raise RigError(
                "The look-at on '{bone}' has no setting '{setting}' to key; choose another setting.",
                bone=bone.name,
                setting=self.setting,
            )
        look_at_edit.toggle_key(bone.id_data, bone.name, self.setting, context.scene.frame_current)
        return {"FINISHED"}


def _look_ats(context: bpy.types.Context) -> list[tuple[bpy.types.Object, str]]:
    """The look-ats of the current character and, in Object Mode, of those that are selected."""
    armatures = [selection.look_at_armature(context)]
    if context.mode == "OBJECT":
        armatures += selection.selected_armatures(context)
    return [(armature, bone.name) for armature in dict.fromkeys(armatures) for bone in looking.bones(armature)]


def why_no_keys(context: bpy.types.Context) -> str | None:
    reason = polling.why_no_look_at(context)
    if reason is None and not any(shot_keys.in_clip(*one) for one in _look_ats(context)):
        return "The current action has no keys of look-ats"
    return reason


class LOOKAT_PD_OT_move_keys(polling.Explained, bpy.types.Operator):
    """Move the keys of the look-ats from the current action to the shot, so that they stay when the action changes"""

    bl_idname = "lookat_pd.move_keys"
    bl_label = "Move Keys to Shot"

    why_not = staticmethod(why_no_keys)

    def execute(self, context: bpy.types.Context) -> set[str]:
        count = shot_keys.move(_look_ats(context))
        several = "The keys of {count} settings were moved to the shot."
        text = "The keys of a setting were moved to the shot." if count == 1 else several
        reporting.report_info(self, Message(text, count=count))
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (
        LOOKAT_PD_OT_key,
        LOOKAT_PD_OT_move_keys,
    )
)
