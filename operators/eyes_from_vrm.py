"""Take over what turns the eyes, and how far, from a VRM file."""

from pathlib import Path

import bpy

from ..lookat_pd.message import Message
from ..rig.detection import vrm
from ..rig.look_at.body import vrm_eyes
from ..rig.settings import text
from . import polling, reporting, selection


def vrm_file() -> object:
    """The property of an operator that reads the VRM file of a character."""
    return text("VRM File", "File from which this character comes", subtype="FILE_PATH", options={"SKIP_SAVE"})


class LOOKAT_PD_OT_eyes_from_vrm(polling.OfLookAt, bpy.types.Operator):
    """Read from a VRM file whether bones or shape keys turn the eyes of this character, and how far"""

    bl_idname = "lookat_pd.eyes_from_vrm"
    bl_label = "Eyes from VRM"

    filepath: vrm_file()
    filter_glob: text(default="*.vrm", options={"HIDDEN"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    @reporting.reports_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        bone, eyes = selection.look_at_bone(context), vrm.read(Path(self.filepath))
        vrm_eyes.take_over(bone.id_data, bone.name, eyes)
        by = Message("bones") if eyes.bones is not None else Message("shape keys")
        reporting.report_info(
            self, Message("The eyes are turned by {by}, as in '{name}'.", by=by, name=Path(self.filepath).name)
        )
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_eyes_from_vrm,))
