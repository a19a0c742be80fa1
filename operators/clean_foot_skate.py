"""Keep planted feet on their places over a whole clip."""

import bpy

from ..lookat_pd.body import foot_lock
from ..lookat_pd.body.contacts import Detection
from ..lookat_pd.message import Message
from ..rig.animation.bake_options import BakeOptions
from ..rig.feet import skate
from ..rig.settings import number
from ..translations import messages
from . import drawing, job, polling, reporting, selection


def why_not(context: bpy.types.Context) -> str | None:
    """The reason why there are no feet to clean, as a sentence; None if there can be."""
    reason = polling.why_no_armature(context)
    if reason is not None:
        return reason
    data = selection.armature(context).animation_data
    if data is None or (data.action is None and not data.nla_tracks):
        return "The armature has no action; assign one in the Action editor"
    return "Leave NLA tweak mode" if data.use_tweak_mode else None


class LOOKAT_PD_OT_clean_foot_skate(job.Bake, bpy.types.Operator):
    """Keep the feet on their places while they are on the ground; legs and hips are corrected"""

    bl_idname = "lookat_pd.clean_foot_skate"
    bl_label = "Clean Foot Skate"
    why_not = staticmethod(why_not)

    speed: number(
        "Speed",
        "Largest speed of a foot on the ground, in leg lengths per second",
        Detection.speed,
        max=1000.0,
        min=0.001,
        soft_max=2.0,
    )
    height: number(
        "Height",
        "Largest height of a foot on the ground above its lowest position, in leg lengths; 0 for any height",
        Detection.height,
        max=1000.0,
        soft_max=1.0,
    )
    release: number(
        "Blend",
        "Time in seconds of the transitions into and out of a contact",
        foot_lock.RELEASE,
        max=60.0,
        soft_max=1.0,
    )

    def draw(self, context: bpy.types.Context) -> None:
        layout = drawing.prepared(self.layout)
        for name in ("speed", "height", "release"):
            layout.prop(self, name)
        super().draw(context)

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Cleaning foot skate: {percent} %   Esc: cancel", percent=percent))

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
        self.take_frames(context)
        options = BakeOptions(self.frame_start, self.frame_end, self.into)
        detection = Detection(self.speed, self.height)
        self.job = skate.clean(context.scene, selection.armature(context), options, detection, self.release)

    def finish(self, context: bpy.types.Context, result: skate.FootLockResult) -> None:
        size = 1000.0 * context.scene.unit_settings.scale_length
        reporting.report_info(
            self,
            Message(
                "'{action}': {stances} foot contacts; the feet drift {drift:.2f} mm instead of {before:.2f} mm.",
                action=result.action.name,
                stances=result.stances,
                drift=size * result.drift,
                before=size * result.before,
            ),
        )


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_clean_foot_skate,))
