"""Key the target of a look-at from the current frame, or from timeline markers."""

import bpy

from ..lookat_pd.errors import RigError
from ..lookat_pd.message import Message
from ..rig.look_at import edit as look_at_edit
from ..rig.look_at import resolve as look_at
from ..rig.look_at.directing import looks, shot_keys
from ..rig.sampling.scene_time import seconds_per_frame
from ..rig.settings import number, switch
from . import polling, reporting, selection, targets


class LOOKAT_PD_OT_look_here(targets.Numbered, bpy.types.Operator):
    """Insert keys to look at this target from the current frame; earlier frames do not change"""

    bl_idname = "lookat_pd.look_here"
    bl_label = "Key Look-at Target Here"

    use_selected: switch(
        "Selected Object", "Look at the other selected object and add it to the list of targets", options={"SKIP_SAVE"}
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone, scene = selection.look_at_bone(context), context.scene
        number = self._number(context, bone)
        looks.look(scene, bone.id_data, bone.name, number, looks.here(scene))
        return {"FINISHED"}

    def _number(self, context: bpy.types.Context, bone: bpy.types.PoseBone) -> int:
        if not self.use_selected:
            return self.number if self.number >= 0 else targets.highlighted(bone.lookat_pd)
        others = selection.other_selected_objects(context, selection.look_at_armature(context))
        if not others:
            raise RigError("No target object is selected; select the target, then Shift-select the character.")
        return looks.add(bone.id_data, bone.name, look_at.face(others[0]))


def make_active(scene: bpy.types.Scene, bone: bpy.types.PoseBone, number: int) -> None:
    """Let a look-at look at one of its targets: from the current frame on where keys say so. Raises RigError."""
    if look_at_edit.key_state(bone.id_data, bone.name, "active_target", scene.frame_current) == "NONE":
        home = shot_keys.home(bone.id_data, bone.name, "active_target")
        setattr(home.settings, home.name, number)
    else:
        looks.look(scene, bone.id_data, bone.name, number, looks.here(scene))


class LOOKAT_PD_OT_active_target(targets.Numbered, bpy.types.Operator):
    """Look at this target; where the active target has keys, one is inserted at the current frame"""

    bl_idname = "lookat_pd.active_target"
    bl_label = "Active Target"

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone = selection.look_at_bone(context)
        make_active(context.scene, bone, self.number if self.number >= 0 else targets.highlighted(bone.lookat_pd))
        return {"FINISHED"}


class LOOKAT_PD_OT_glance(targets.Numbered, bpy.types.Operator):
    """Insert keys to look at this target from the current frame for a moment, and then as before"""

    bl_idname = "lookat_pd.glance"
    bl_label = "Key Glance Here"

    seconds: number(
        "Length (s)",
        "Length of the glance in seconds, from its start until the head turns back",
        0.8,
        max=60.0,
        min=0.05,
        soft_max=3.0,
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone, scene = selection.look_at_bone(context), context.scene
        number = self.number if self.number >= 0 else targets.highlighted(bone.lookat_pd)
        frames = round(self.seconds / seconds_per_frame(scene))
        looks.glance(scene, bone.id_data, bone.name, number, looks.here(scene), frames)
        return {"FINISHED"}


class LOOKAT_PD_OT_look_away(polling.OfLookAt, bpy.types.Operator):
    """Insert keys to look at nothing from the current frame and return to the animation"""

    bl_idname = "lookat_pd.look_away"
    bl_label = "Key Look Away Here"

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone, scene = selection.look_at_bone(context), context.scene
        looks.look_away(scene, bone.id_data, bone.name, looks.here(scene))
        return {"FINISHED"}


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why markers cannot be used, as a sentence; None if they can."""
    reason = polling.why_no_look_at(context)
    if reason is None and not len(context.scene.timeline_markers):
        reason = "Add timeline markers named after the objects to look at"
    return reason


class LOOKAT_PD_OT_targets_from_markers(polling.Explained, bpy.types.Operator):
    """Look at the object or bone (Hero:head) that each timeline marker names, from its frame on; off looks away"""

    bl_idname = "lookat_pd.targets_from_markers"
    bl_label = "Targets from Markers"
    why_not = staticmethod(why_not)

    def execute(self, context: bpy.types.Context) -> set[str]:
        bone = selection.look_at_bone(context)
        count = looks.from_markers(context.scene, bone.id_data, bone.name)
        summary = "Keyed the targets of the look-at on '{bone}' from {markers} markers."
        if count == 1:
            summary = "Keyed the targets of the look-at on '{bone}' from {markers} marker."
        reporting.report_info(self, Message(summary, bone=bone.name, markers=count))
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (
        LOOKAT_PD_OT_look_here,
        LOOKAT_PD_OT_active_target,
        LOOKAT_PD_OT_glance,
        LOOKAT_PD_OT_look_away,
        LOOKAT_PD_OT_targets_from_markers,
    )
)
