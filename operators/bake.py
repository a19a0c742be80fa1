"""Bake look-ats onto actions, with progress, and Esc to leave everything as it was."""

import bpy
from bpy.props import EnumProperty

from ..lookat_pd.errors import RigError
from ..rig import bake, look_at, sample
from ..rig.directing import looks
from ..translations import messages
from . import current, job


class LOOKAT_PD_OT_bake(job.Job, job.Frames, bpy.types.Operator):
    """Turn the look-at into keys on the bones of its chain"""

    bl_idname = "lookat_pd.bake"
    bl_label = "Bake Look-at"
    bl_options = {"REGISTER", "UNDO"}

    into: EnumProperty(
        name="Into",
        description="Where the keys go; the keys of all other bones stay as they are",
        items=(
            ("NEW", "New Action", "A copy of the current action with the look-at in it; the original is kept"),
            ("CURRENT", "Current Action", "Replace the keys of the chain's bones in the current action"),
            ("LAYER", "NLA Layer", "A new NLA track above the animation that holds only the look-at"),
        ),
        default="NEW",
    )
    which: EnumProperty(
        name="Which",
        description="Which look-ats to bake",
        items=(
            ("ALL", "All on Armature", "Every look-at of the active armature that is not muted"),
            ("ACTIVE", "Shown", "Only the look-at shown in the panel"),
        ),
        default="ALL",
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        # Redo asks before it takes the bake back, while the look-at is still muted by it.
        return current.poll(cls, why_not(context, but_muted=True))

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "into")
        layout.prop(self, "which")
        self.draw_frames(layout)

    def why_not_now(self, context: bpy.types.Context) -> str | None:
        return why_not(context)

    def progress(self, percent: str) -> str:
        return messages.translate(f"Baking look-at: {percent} %   Esc: cancel")

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        self.take_frames(context.scene)
        if self.which == "ACTIVE" and current.look_at_bone(context).lookat_pd.mute:
            raise RigError(f"The look-at on '{current.look_at_bone(context).name}' is muted; unmute it to bake it.")
        look_ats = [look_at.resolve(current.armature(context), bone) for bone in self._bones(context)]
        first, last = sample.key_range(context.scene)
        played = (first, last) if first <= self.frame_start and self.frame_end <= last else None
        options = bake.Options(self.frame_start, self.frame_end, self.into, played=played)
        self.job = bake.bake(context.scene, look_ats, options)

    def _bones(self, context: bpy.types.Context) -> list[str]:
        if self.which == "ACTIVE":
            return [current.look_at_bone(context).name]
        bones = current.armature(context).pose.bones
        return [
            name for name in look_at.bones_with_look_at(current.armature(context)) if not bones[name].lookat_pd.mute
        ]

    def finish(self, context: bpy.types.Context, result: list[bake.Result]) -> None:
        bones = sum(len(item.look_at.bones) for item in result)
        what = "1 bone" if bones == 1 else f"{bones} bones"
        where = {"NEW": "a new action", "CURRENT": "the current action", "LAYER": "a new NLA layer"}[self.into]
        current.tell(
            self, f"Baked {what}, frames {self.frame_start} to {self.frame_end}, into {where} ({self.seconds:.2f} s)."
        )


def why_not(context: bpy.types.Context, *, but_muted: bool = False) -> str | None:
    """Why there is nothing to bake, as a sentence; None where there is. but_muted: let muted look-ats pass."""
    reason = current.why_no_look_at(context)
    if reason is not None:
        return reason
    armature = current.armature(context)
    settings = [armature.pose.bones[name].lookat_pd for name in look_at.bones_with_look_at(armature)]
    if all(item.mute for item in settings) and not but_muted:
        return "Every look-at here is muted, as it is after a bake; unmute the one to bake"
    if any(not item.mute and not looks.names_any(item) for item in settings):
        return "Choose a target to look at"
    return None


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_bake)


def unregister() -> None:
    bpy.utils.unregister_class(LOOKAT_PD_OT_bake)
