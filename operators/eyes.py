"""What turns the eyes of a look-at: the table of shape keys, filled by hand, by detection or from a VRM file."""

import bpy

from ..lookat_pd.message import Message
from ..rig.detection import vrm
from ..rig.look_at.body import face_controls, shape_table, vrm_eyes
from . import polling, reporting, selection
from .vrm_file import VRMFile


class LOOKAT_PD_OT_eye_shape_add(polling.OfLookAt, bpy.types.Operator):
    """Add an empty row for a shape key that turns an eye"""

    bl_idname = "lookat_pd.eye_shape_add"
    bl_label = "Add Eye Shape Key"

    def execute(self, context: bpy.types.Context) -> set[str]:
        eyes = selection.look_at_bone(context).lookat_pd.eyes
        eyes.shapes.add()
        eyes.shapes_index = len(eyes.shapes) - 1
        return {"FINISHED"}


def why_no_row(context: bpy.types.Context) -> str | None:
    """The reason why no row can be removed; None if one can."""
    reason = polling.why_no_look_at(context)
    if reason is None and not len(selection.look_at_bone(context).lookat_pd.eyes.shapes):
        reason = "The table is empty"
    return reason


class LOOKAT_PD_OT_eye_shape_remove(polling.Explained, bpy.types.Operator):
    """Remove the highlighted row from the table of shape keys that turn the eyes"""

    bl_idname = "lookat_pd.eye_shape_remove"
    bl_label = "Remove Eye Shape Key"
    why_not = staticmethod(why_no_row)

    def execute(self, context: bpy.types.Context) -> set[str]:
        eyes = selection.look_at_bone(context).lookat_pd.eyes
        place = min(max(eyes.shapes_index, 0), len(eyes.shapes) - 1)
        shape_table.take(eyes, place)
        eyes.shapes_index = max(min(place, len(eyes.shapes) - 1), 0)
        return {"FINISHED"}


class LOOKAT_PD_OT_eye_shapes_detect(polling.OfLookAt, bpy.types.Operator):
    """Fill the table with control bones or shape keys whose names say that they turn the eyes; how far is measured"""

    bl_idname = "lookat_pd.eye_shapes_detect"
    bl_label = "Detect Eye Controls"

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone = selection.look_at_bone(context)
        probed = face_controls.fill_table(context.scene, bone.id_data, bone.name)
        rows = shape_table.rows(bone.lookat_pd.eyes)
        shapes = sum(1 for row in rows if row.shape_key)
        reporting.report_controls(self, probed)
        if shapes:
            reporting.report_info(self, Message("Found {count} shape keys that turn the eyes.", count=shapes))
        return {"FINISHED"}


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


register, unregister = bpy.utils.register_classes_factory(
    (
        LOOKAT_PD_OT_eye_shape_add,
        LOOKAT_PD_OT_eye_shape_remove,
        LOOKAT_PD_OT_eye_shapes_detect,
        LOOKAT_PD_OT_eyes_from_vrm,
    )
)
