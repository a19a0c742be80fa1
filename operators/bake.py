"""Bake look-ats to actions, with a progress display; Esc cancels without changes."""

import bpy
from bpy.props import EnumProperty

from ..lookat_pd.errors import RigError
from ..lookat_pd.message import Message
from ..rig.animation import bake_options
from ..rig.look_at import bake
from ..rig.look_at import resolve as look_at
from ..rig.look_at.directing import looks
from ..rig.sampling import scene_time
from ..translations import messages
from . import current, job


class LOOKAT_PD_OT_bake(job.ModalJob, job.Into, job.Frames, bpy.types.Operator):
    """Bake the look-at to keys on the bones of its chain"""

    bl_idname = "lookat_pd.bake"
    bl_label = "Bake Look-at"

    which: EnumProperty(
        name="Look-ats",
        description="Which look-ats to bake",
        items=(
            ("ALL", "All on Armature", "All look-ats of the active armature, except muted ones"),
            ("ACTIVE", "Shown", "Only the look-at displayed in the panel, unless it is muted"),
        ),
        default="ALL",
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        # Redo polls before it undoes the bake, while the look-at is still muted by it.
        return current.poll(cls, why_not(context, but_muted=True))

    def draw(self, context: bpy.types.Context) -> None:
        layout = current.prepared(self.layout)
        layout.prop(self, "into")
        layout.prop(self, "which")
        if self.which == "ACTIVE":
            layout.label(text=messages.translate(what_is_shown(context)))
        self.draw_frames(layout)

    def why_not_now(self, context: bpy.types.Context) -> str | None:
        return why_not(context)

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Baking look-at: {percent} %   Esc: cancel", percent=percent))

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        self.take_frames(context.scene)
        if self.which == "ACTIVE" and current.look_at_bone(context).lookat_pd.mute:
            raise RigError(what_is_shown(context))
        look_ats = [look_at.resolve(current.armature(context), bone) for bone in self._bones(context)]
        first, last = scene_time.key_range(context.scene)
        played = (first, last) if first <= self.frame_start and self.frame_end <= last else None
        options = bake_options.BakeOptions(self.frame_start, self.frame_end, self.into, played=played)
        self.job = bake.bake(context.scene, look_ats, options)

    def _bones(self, context: bpy.types.Context) -> list[str]:
        if self.which == "ACTIVE":
            return [current.look_at_bone(context).name]
        bones = current.armature(context).pose.bones
        return [
            name for name in look_at.bones_with_look_at(current.armature(context)) if not bones[name].lookat_pd.mute
        ]

    def finish(self, context: bpy.types.Context, result: list[bake.BakeResult]) -> None:
        bones = sum(len(item.look_at.bones) for item in result)
        what = "1 bone" if bones == 1 else Message("{bones} bones", bones=bones)
        first, last, bone = self.frame_start, self.frame_end, result[0].look_at.bone
        took = f"{self.seconds:.2f}"
        if len(result) == 1:
            summary = Message(
                "Baked the look-at on '{bone}' ({what}), frames {first} to {last}, into {where} ({took} s).",
                bone=bone,
                what=Message(what),
                first=first,
                last=last,
                where=job.INTO[self.into],
                took=took,
            )
        else:
            summary = Message(
                "Baked {what}, frames {first} to {last}, into {where} ({took} s).",
                what=Message(what),
                first=first,
                last=last,
                where=job.INTO[self.into],
                took=took,
            )
        current.report_info(self, summary)


def what_is_shown(context: bpy.types.Context) -> str:
    """The look-at that *Shown* bakes, as a sentence, or that it is muted and cannot be baked."""
    bone = current.look_at_bone(context)
    if bone.lookat_pd.mute:
        return Message("The look-at on '{bone}' is muted; unmute it to bake it.", bone=bone.name)
    return Message("Bakes the look-at on '{bone}'.", bone=bone.name)


def why_not(context: bpy.types.Context, *, but_muted: bool = False) -> str | None:
    """The reason why nothing can be baked, as a sentence; None if it can. but_muted: allow muted look-ats."""
    reason = current.why_no_look_at(context)
    if reason is not None:
        return reason
    armature = current.armature(context)
    settings = [armature.pose.bones[name].lookat_pd for name in look_at.bones_with_look_at(armature)]
    if all(item.mute for item in settings) and not but_muted:
        return "All look-ats of the armature are muted, as after a bake; unmute the one to bake"
    if any(not item.mute and not looks.names_any(item) for item in settings):
        return "Choose a target to look at"
    return None


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_bake,))
