"""Bake springs to keys, with a progress display; Esc cancels without changes."""

import bpy

from ..lookat_pd.message import Message
from ..rig.layers import layer_bake
from ..rig.springs import chains
from ..rig.springs.springs_kind import SpringKind, instance_of
from ..translations import messages
from . import job, reporting, selection, springs


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why nothing can be baked, as a sentence; None if it can."""
    reason = springs.why_no_springs(context)
    item = selection.armature(context)
    if reason is None and item is not None and all(chain.settings.mute for chain in chains.on(item)):
        reason = "The springs are muted, as after a bake; unmute them to bake them"
    return reason


class LOOKAT_PD_OT_springs_bake(job.Bake, bpy.types.Operator):
    """Bake all springs of the armature to keys on its bones"""

    bl_idname = "lookat_pd.springs_bake"
    bl_label = "Bake Springs"
    # Redo polls before it undoes the bake, while they are still muted by it.
    why_not = staticmethod(springs.why_no_springs)

    def why_not_now(self, context: bpy.types.Context) -> str | None:
        return why_not(context)

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Baking springs: {percent} %   Esc: cancel", percent=percent))

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        self.take_frames(context)
        options = self.bake_options(context)
        item = selection.armature(context)
        assert item is not None, "otherwise why_not_now gives the reason"
        every = chains.to_bake(item)
        self.count = sum(len(chain.bones) for chain in every)
        self.job = layer_bake.bake(context.scene, SpringKind, [instance_of(context.scene, item, every)], options)

    def finish(self, context: bpy.types.Context, result: object) -> None:
        one = "Baked springs of a bone, frames {first} to {last}, into {where} ({took} s)."
        several = "Baked springs of {count} bones, frames {first} to {last}, into {where} ({took} s)."
        summary = Message(
            one if self.count == 1 else several,
            count=self.count,
            **self.baked,
        )
        reporting.report_info(self, summary)


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_springs_bake,))
