"""Take over what turns the eyes, and how far, from a VRM file."""

import bpy

from ..lookat_pd.message import Message
from ..rig.detection import vrm
from ..rig.look_at.body import vrm_eyes
from . import polling, reporting, selection
from .vrm_file import VRMFile


class LOOKAT_PD_OT_eyes_from_vrm(VRMFile, polling.OfLookAt, bpy.types.Operator):
    """Read from a VRM file whether bones or shape keys turn the eyes of this character, and how far"""

    bl_idname = "lookat_pd.eyes_from_vrm"
    bl_label = "Eyes from VRM"

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone, eyes = selection.look_at_bone(context), vrm.read(self.path)
        vrm_eyes.take_over(bone.id_data, bone.name, eyes)
        by = Message("bones") if eyes.bones is not None else Message("shape keys")
        reporting.report_info(self, Message("The eyes are turned by {by}, as in '{name}'.", by=by, name=self.path.name))
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_eyes_from_vrm,))
