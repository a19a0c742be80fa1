"""Bake hits, with a progress display, and edit their list; Esc cancels without changes."""

from dataclasses import replace

import bpy
import numpy as np

from ..lookat_pd.message import Message, joined
from ..rig.animation.stored_settings import read
from ..rig.dynamics import hitting, setup
from ..rig.settings import integer
from ..translations import messages
from . import drawing, job, polling, reporting, selection

_FEW = 3


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why nothing can be baked, as a sentence; None if it can."""
    reason = polling.why_no_armature(context)
    if reason is not None:
        return reason
    if not len(read(selection.armature(context), "lookat_pd_hits").hits):
        return "Add a hit first"
    return None


def why_no_bone(context: bpy.types.Context) -> str | None:
    """The reason why no hit can be added, as a sentence; None if it can."""
    reason = polling.why_no_armature(context)
    if reason is None and selection.bone(context) is None:
        return "Select the bone that is hit"
    return reason


class LOOKAT_PD_OT_hit(job.ModalJob, job.Into, bpy.types.Operator):
    """Let the body give way to all hits of the list and return to its animation"""

    bl_idname = "lookat_pd.hit"
    bl_label = "Bake Hits"
    why_not = staticmethod(why_not)

    def draw(self, context: bpy.types.Context) -> None:
        self.draw_into(drawing.prepared(self.layout))

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Baking hits: {percent} %   Esc: cancel", percent=percent))

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        armature = selection.armature(context)
        request = replace(setup.hits(armature), writer=self.writer())
        self.job = hitting.steps(context.scene, armature, request, self.into)

    def finish(self, context: bpy.types.Context, result: hitting.HitResult) -> None:
        if result.switched:
            message = Message(
                "IK-FK of {limbs} is FK in these frames, with the same pose.", limbs=", ".join(result.switched)
            )
            reporting.report_info(self, message)
        values = {
            "hits": len(result.outcomes),
            "first": int(result.frames[0]),
            "last": int(result.frames[-1]),
            "seconds": self.elapsed,
        }
        if not result.reduced:
            most = max(result.outcomes, key=lambda outcome: outcome.angle)
            message = Message(
                "Hits baked: {hits}, frames {first} to {last} ({seconds:.2f} s); '{bone}' turns most, by {angle:.1f}°.",
                bone=most.joint,
                angle=np.degrees(most.angle),
                **values,
            )
            reporting.report_info(self, message)
            return
        named = joined(
            ", ",
            (
                Message(
                    "frame {frame} '{bone}' to {percent:.3g} %",
                    frame=hit.frame,
                    bone=hit.bone,
                    percent=100.0 * hit.factor,
                )
                for hit in result.reduced[:_FEW]
            ),
        )
        message = Message(
            "Hits baked: {hits}, frames {first} to {last} ({seconds:.2f} s); the largest angle reduces impulses: "
            "{listed}.",
            listed=named,
            **values,
        )
        reporting.report_info(self, message)


class LOOKAT_PD_OT_hit_add(polling.Explained, bpy.types.Operator):
    """Add a hit on the active bone: from the other selected object, otherwise along the view"""

    bl_idname = "lookat_pd.hit_add"
    bl_label = "Add Hit"
    why_not = staticmethod(why_no_bone)

    def execute(self, context: bpy.types.Context) -> set[str]:
        armature = selection.armature(context)
        item = armature.lookat_pd_hits.hits.add()
        item.frame = setup.key_frame(context.scene)
        item.bone = selection.bone(context).name
        others = selection.other_selected_objects(context, selection.armature(context))
        item.source = others[0] if len(others) == 1 else None
        if context.region_data is not None:
            # The view looks along its negative Z axis.
            item.direction = np.round(-np.array(context.region_data.view_rotation.to_matrix())[:, 2], 3)
        return {"FINISHED"}


class LOOKAT_PD_OT_hit_remove(bpy.types.Operator):
    """Remove this hit from the list"""

    bl_idname = "lookat_pd.hit_remove"
    bl_label = "Remove Hit"
    bl_options = {"REGISTER", "UNDO"}

    index: integer("Index", "Number of the hit", min=0)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polling.poll(cls, why_not(context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        selection.armature(context).lookat_pd_hits.hits.remove(self.index)
        return {"FINISHED"}


_register, _unregister = bpy.utils.register_classes_factory(
    (LOOKAT_PD_OT_hit, LOOKAT_PD_OT_hit_add, LOOKAT_PD_OT_hit_remove)
)


def register() -> None:
    _register()


def unregister() -> None:
    hitting.kept.clear()
    _unregister()
