"""Look at the camera: one click, with or without a look-at."""

import bpy

from ..rig.look_at import edit as look_at_edit
from ..rig.look_at.directing import looks
from ..rig.sampling.targets import Target
from . import add, directing, polling, preferences, selection


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why nobody can look at the camera, as a sentence; None if somebody can."""
    shown = selection.look_at_bone(context)
    reason = polling.why_no_armature(context) if shown is None else polling.why_no_look_at(context)
    if reason is None and context.scene.camera is None:
        reason = "The scene has no camera; add one"
    return reason


class LOOKAT_PD_OT_look_at_camera(polling.Explained, bpy.types.Operator):
    """Look at the camera of the scene, with a new look-at where there is none"""

    bl_idname = "lookat_pd.look_at_camera"
    bl_label = "Look at Camera"
    why_not = staticmethod(why_not)

    def execute(self, context: bpy.types.Context) -> set[str]:
        scene, shown = context.scene, selection.look_at_bone(context)
        if shown is not None:
            number = looks.add(shown.id_data, shown.name, Target(scene.camera))
            directing.make_active(scene, shown, number)
            return {"FINISHED"}
        armature = selection.armature(context)
        bone = add.wanted_bone(context, armature)
        look_at_edit.add(scene, armature, bone, scene.camera)
        add.complete(self, scene, armature, bone, whole_body=preferences.current().new_whole_body)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_look_at_camera,))
