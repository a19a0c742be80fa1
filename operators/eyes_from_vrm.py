"""Take over what turns the eyes, and how far, from a VRM file."""

from pathlib import Path

import bpy
from bpy.props import StringProperty

from ..lookat_pd.errors import RigError
from ..lookat_pd.message import Message
from ..rig.detection import vrm
from ..rig.look_at.body import shape_eyes, shape_table
from . import current


class LOOKAT_PD_OT_eyes_from_vrm(current.OfLookAt, bpy.types.Operator):
    """Read from a VRM file whether bones or shape keys turn the eyes of this character, and how far"""

    bl_idname = "lookat_pd.eyes_from_vrm"
    bl_label = "Eyes from VRM"

    filepath: StringProperty(
        name="VRM File", description="File from which this character comes", subtype="FILE_PATH", options={"SKIP_SAVE"}
    )
    filter_glob: StringProperty(default="*.vrm", options={"HIDDEN"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    @current.reports_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        bone, found = current.look_at_bone(context), vrm.read(Path(self.filepath))
        armature, eyes = bone.id_data, bone.lookat_pd.eyes
        _check(armature, found)
        if found.bones is not None:
            eyes.left, eyes.right = found.bones
            eyes.turned_by = "BONES"
        else:
            shape_table.write(eyes, [(name, "BOTH", way, angle) for name, way, angle in found.shapes])
            eyes.turned_by = "SHAPE_KEYS"
        eyes.yaw_limit, eyes.pitch_up_limit, eyes.pitch_down_limit = found.limits
        by = Message("bones") if found.bones is not None else Message("shape keys")
        current.report_info(
            self, Message("The eyes are turned by {by}, as in '{name}'.", by=by, name=Path(self.filepath).name)
        )
        return {"FINISHED"}


def _check(armature: bpy.types.Object, found: vrm.VrmEyes) -> None:
    """Raise RigError where the character has not what the file names."""
    for name in found.bones or ():
        if name not in armature.pose.bones:
            raise RigError(
                "Armature '{armature}' has no bone '{bone}' for an eye; choose another bone.",
                armature=armature.name,
                bone=name,
            )
    if found.bones is None and not found.shapes:
        raise RigError("The look expressions of the VRM file move no shape key; choose shape keys in the Eyes panel.")
    known = shape_eyes.names(armature)
    for name, *_ in found.shapes:
        if name not in known:
            raise RigError(
                "No mesh of '{armature}' has a shape key '{shape_key}' that turns the eyes; choose another shape key.",
                armature=armature.name,
                shape_key=name,
            )


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_eyes_from_vrm,))
