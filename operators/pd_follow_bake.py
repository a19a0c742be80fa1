"""Bake PD Follow to keys, with a progress display; Esc cancels without changes."""

import bpy

from ..lookat_pd.message import Message
from ..rig.layers import layer_bake
from ..rig.pd_follow.follow_kind import FollowKind, instance_of
from ..translations import messages
from . import job, pd_follow, reporting


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why nothing can be baked, as a sentence; None if it can."""
    reason = pd_follow.why_no_follow(context)
    if reason is None and all(owner.settings.mute for owner in pd_follow.following(context)):
        reason = "PD Follow is muted, as after a bake; unmute it to bake it"
    return reason


class LOOKAT_PD_OT_pd_follow_bake(job.Bake, bpy.types.Operator):
    """Bake PD Follow to keys on the object, or on the selected bones"""

    bl_idname = "lookat_pd.pd_follow_bake"
    bl_label = "Bake PD Follow"
    # Redo polls before it undoes the bake, while it is still muted by it.
    why_not = staticmethod(pd_follow.why_no_follow)

    def why_not_now(self, context: bpy.types.Context) -> str | None:
        return why_not(context)

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Baking PD Follow: {percent} %   Esc: cancel", percent=percent))

    def animated(self, context: bpy.types.Context) -> list[bpy.types.Object]:
        return list(dict.fromkeys(owner.object for owner in pd_follow.following(context)))

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        self.take_frames(context)
        options = self.bake_options(context)
        followers = [owner for owner in pd_follow.following(context) if not owner.settings.mute]
        self.labels = [owner.label for owner in followers]
        self.job = layer_bake.bake(context.scene, FollowKind, list(map(instance_of, followers)), options)

    def finish(self, context: bpy.types.Context, result: object) -> None:
        one = "Baked PD Follow of '{name}', frames {first} to {last}, into {where} ({took} s)."
        several = "Baked PD Follow of {count} bones, frames {first} to {last}, into {where} ({took} s)."
        summary = Message(
            one if len(self.labels) == 1 else several,
            name=self.labels[0],
            count=len(self.labels),
            **self.baked,
        )
        reporting.report_info(self, summary)


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_pd_follow_bake,))
