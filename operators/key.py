"""Key a setting of a look-at: Blender's own button cannot key properties in groups of a bone."""

from typing import Any

import bpy

from ..lookat_pd.errors import RigError
from ..rig.look_at import edit as look_at_edit
from ..rig.look_at import mixing
from ..rig.look_at.setting_paths import KEYABLE
from ..rig.settings import text
from . import polling, selection


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


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_key,))
