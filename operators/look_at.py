"""Add a look-at, to the head or at the camera, and remove it."""

import bpy

from ..lookat_pd.errors import LookAtError
from ..rig.animation import setting_presets
from ..rig.look_at import edit as look_at_edit
from ..rig.look_at import presets
from ..rig.look_at import resolve as look_at
from ..rig.look_at.body import layers
from ..rig.look_at.directing import looks
from ..rig.sampling.targets import Target
from ..rig.settings import switch, text
from ..translations import messages
from . import directing, polling, preferences, reporting, selection


def wanted_bone(context: bpy.types.Context, armature: bpy.types.Object) -> str:
    """The bone that gets a look-at: the active one in pose mode if it is selected, else the head. Raises RigError."""
    active = selection.bone(context)
    if context.mode == "POSE" and active is not None and selection.is_selected(active):
        return active.name
    return look_at.find_head(armature)


def complete(
    operator: bpy.types.Operator, scene: bpy.types.Scene, armature: bpy.types.Object, bone: str, *, whole_body: bool
) -> None:
    """Give a new look-at what the preferences say, and display it."""
    settings = armature.pose.bones[bone].lookat_pd
    path = presets.available().get(preferences.current().new_preset)
    try:
        if path is not None:
            setting_presets.apply(presets.read(path), settings)
    except LookAtError as error:
        operator.report({"WARNING"}, messages.translate(error))
    if whole_body:
        layers.switch_on(settings)
        reporting.take_over_eyes(operator, scene, armature, bone)
    look_at_edit.activate(armature, bone)


class LOOKAT_PD_OT_add(polling.Explained, bpy.types.Operator):
    """Make the head, and the neck and spine below it, look at a target"""

    bl_idname = "lookat_pd.add"
    bl_label = "Add Look-at PD"
    why_not = staticmethod(polling.why_no_armature)

    # The redo panel keeps the last names; a new call uses the current selection or the values of the button.
    bone: text(
        "Bone",
        "Bone that aims at the target; leave empty for the active bone or the detected head",
        options={"SKIP_SAVE"},
    )
    target: text(
        "Target", "Object to look at; leave empty for the other selected object, or a new empty", options={"SKIP_SAVE"}
    )
    new_target: switch(
        "New Target", "Add an empty in front of the face as the target if no other object is selected", True
    )

    whole_body: switch("Whole Body", "Include hips, arms, feet and eyes in the motion, where the rig has them")

    def execute(self, context: bpy.types.Context) -> set[str]:
        armature = selection.armature(context)
        bone = self.bone or wanted_bone(context, armature)
        target = self._target(context)
        if not self.properties.is_property_set("whole_body"):
            self.whole_body = preferences.current().new_whole_body
        look_at_edit.add(context.scene, armature, bone, target, make_target=self.new_target)
        complete(self, context.scene, armature, bone, whole_body=self.whole_body)
        self.bone = bone
        return {"FINISHED"}

    def _target(self, context: bpy.types.Context) -> bpy.types.Object | None:
        if self.target:
            return selection.named_object(context, self.target)
        others = selection.other_selected_objects(context, selection.armature(context))
        return others[0] if others else None


def why_no_camera(context: bpy.types.Context) -> str | None:
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
    why_not = staticmethod(why_no_camera)

    def execute(self, context: bpy.types.Context) -> set[str]:
        scene, shown = context.scene, selection.look_at_bone(context)
        if shown is not None:
            number = looks.add(shown.id_data, shown.name, Target(scene.camera))
            directing.make_active(scene, shown, number)
            return {"FINISHED"}
        armature = selection.armature(context)
        bone = wanted_bone(context, armature)
        look_at_edit.add(scene, armature, bone, scene.camera)
        complete(self, scene, armature, bone, whole_body=preferences.current().new_whole_body)
        return {"FINISHED"}


class LOOKAT_PD_OT_remove(polling.OfLookAt, bpy.types.Operator):
    """Remove the look-at with its settings and their keys; baked keys are kept"""

    bl_idname = "lookat_pd.remove"
    bl_label = "Remove Look-at PD"

    bone: text("Bone", "Bone whose look-at is removed; leave empty for the displayed one", options={"SKIP_SAVE"})
    armature: text("Armature", "Armature of that bone; leave empty for the displayed one", options={"SKIP_SAVE"})

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone = selection.named_look_at(context, self.armature, self.bone)
        look_at_edit.remove(bone.id_data, bone.name)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (
        LOOKAT_PD_OT_add,
        LOOKAT_PD_OT_look_at_camera,
        LOOKAT_PD_OT_remove,
    )
)
