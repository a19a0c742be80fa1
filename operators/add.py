"""Add a look-at to the head."""

import bpy
from bpy.props import BoolProperty, StringProperty

from ..lookat_pd.errors import LookAtError, RigError
from ..rig import look_at, look_at_edit
from ..rig.body import layers
from . import current


class LOOKAT_PD_OT_add(bpy.types.Operator):
    """Make the head, and the neck and spine below it, look at a target"""

    bl_idname = "lookat_pd.add"
    bl_label = "Add Look-at PD"
    bl_options = {"REGISTER", "UNDO"}

    # The redo panel has the last names; a new call starts from what is selected now, or from what a button gives.
    bone: StringProperty(
        name="Bone",
        description="Bone that aims; empty for the active bone, or the head that is found",
        options={"SKIP_SAVE"},
    )
    target: StringProperty(
        name="Target",
        description="Object to look at; empty for the other selected object, or a new empty",
        options={"SKIP_SAVE"},
    )
    new_target: BoolProperty(
        name="New Target",
        description="Where nothing else is selected, add an empty in front of the face to look at",
        default=True,
    )

    whole_body: BoolProperty(
        name="Whole Body",
        description="Let hips, arms, feet and eyes answer too, as far as the rig has them",
        default=False,
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, current.why_no_armature(context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        armature = current.armature(context)
        try:
            bone = self._bone(context, armature)
            target = self._target(context)
            look_at_edit.add(context.scene, armature, bone, target, make_target=self.new_target)
        except LookAtError as error:
            return current.complain(self, error)
        if self.whole_body:
            layers.switch_on(armature.pose.bones[bone].lookat_pd)
        self.bone = bone
        look_at_edit.activate(armature, bone)
        return {"FINISHED"}

    def _bone(self, context: bpy.types.Context, armature: bpy.types.Object) -> str:
        if self.bone:
            return self.bone
        active = current.bone(context)
        if context.mode == "POSE" and active is not None and look_at_edit.is_selected(active):
            return active.name
        return look_at.find_head(armature)

    def _target(self, context: bpy.types.Context) -> bpy.types.Object | None:
        if self.target:
            target = context.scene.objects.get(self.target)
            if target is None:
                raise RigError(f"There is no object '{self.target}' in the scene; choose one that exists.")
            return target
        others = current.other_selected_objects(context)
        return others[0] if others else None


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_add)


def unregister() -> None:
    bpy.utils.unregister_class(LOOKAT_PD_OT_add)
