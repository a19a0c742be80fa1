"""Find where two actions are best joined."""

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty

from ..lookat_pd.errors import LookAtError, RigError
from ..rig import sample
from ..rig.transitions import best_cut
from . import current, inertialize


class LOOKAT_PD_OT_best_cut(bpy.types.Operator):
    """Compare all frames of two actions and set the cut where pose, speed and foot contacts differ least"""

    bl_idname = "lookat_pd.best_cut"
    bl_label = "Find Best Cut"
    bl_options = {"REGISTER", "UNDO"}

    source: StringProperty(name="Source", description="Action that plays first; empty for the one in the settings")
    destination: StringProperty(
        name="Destination", description="Action that goes on; empty for the one in the settings"
    )
    count: IntProperty(name="Cuts to Find", description="How many places to find", default=10, min=1, soft_max=50)
    picture: BoolProperty(
        name="Picture", description=f"Paint all differences into the image '{best_cut.PICTURE}'", default=True
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return current.poll(cls, inertialize.why_not(context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        settings = context.scene.lookat_pd_transition
        try:
            source = inertialize.find_action(
                self.source or settings.source or inertialize.current_action(context), "source"
            )
            destination = inertialize.find_action(self.destination or settings.destination, "destination")
            room = 0 if settings.use_auto_blend else int(settings.blend / sample.seconds_per_frame(context.scene))
            found = best_cut.find(
                current.armature(context), source, destination, count=self.count, room=room, scene=context.scene
            )
            if not found.cuts:
                raise RigError(f"'{source.name}' or '{destination.name}' is too short to be cut; choose longer ones.")
        except LookAtError as error:
            return current.complain(self, error)
        settings.source, settings.destination = source.name, destination.name
        settings.cuts.clear()
        for out, into, cost in found.cuts:
            item = settings.cuts.add()
            item.source_frame, item.destination_frame, item.cost = out, into, cost
        settings.cut_index = 0
        if self.picture:
            best_cut.picture(found)
        out, into, cost = found.cuts[0]
        current.tell(
            self,
            f"Cut '{source.name}' at frame {out}, enter '{destination.name}' at {into} (difference {cost:.4f}).",
        )
        return {"FINISHED"}


def register() -> None:
    bpy.utils.register_class(LOOKAT_PD_OT_best_cut)


def unregister() -> None:
    bpy.utils.unregister_class(LOOKAT_PD_OT_best_cut)
