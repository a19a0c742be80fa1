"""Find the best cut between two actions."""

import bpy

from ..lookat_pd.errors import RigError
from ..lookat_pd.message import Message
from ..rig.sampling import scene_time
from ..rig.settings import integer, switch, text
from ..rig.transitions import best_cut
from ..rig.transitions.settings import Blending, CutRange
from . import inertialize, polling, reporting, selection


class LOOKAT_PD_OT_best_cut(polling.Explained, CutRange, bpy.types.Operator):
    """Compare all frames of two actions and set the cut where pose, speed and foot contacts differ least"""

    bl_idname = "lookat_pd.best_cut"
    bl_label = "Find Best Cut"
    why_not = staticmethod(inertialize.why_not)

    source: text("Source", "Action that plays first; leave empty for the action in the settings")
    destination: text("Destination", "Action that plays after the cut; leave empty for the action in the settings")
    count: integer("Cuts to Find", "Number of cuts to find", 10, max=1000, min=1, soft_max=50)
    picture: switch("Image", f"Draw the differences of all frames into the image '{best_cut.PICTURE}'", True)

    def execute(self, context: bpy.types.Context) -> set[str]:
        settings = context.scene.lookat_pd_transition
        source = inertialize.find_action(
            self.source or settings.source or inertialize.current_action(context), "source"
        )
        destination = inertialize.find_action(self.destination or settings.destination, "destination")
        options = {
            "count": self.count,
            "room": room_of(context, settings),
            "ranges": ranges_of(self),
            "scene": context.scene,
        }
        search = best_cut.find(selection.armature(context), source, destination, **options)
        if not search.cuts:
            raise RigError(
                "'{source}' or '{destination}' is too short for a cut; choose longer actions.",
                source=source.name,
                destination=destination.name,
            )
        settings.source, settings.destination = source.name, destination.name
        settings.cuts.clear()
        for found in search.cuts:
            item = settings.cuts.add()
            item.source_frame, item.destination_frame = found.source_frame, found.destination_frame
            item.cost, item.repeat = found.cost, found.repeat
            item.source_kept, item.destination_kept = found.kept
        settings.cut_index = 0
        if self.picture:
            best_cut.picture(search)
        best = search.cuts[0]
        reporting.report_info(
            self,
            Message(
                "Set the cut from '{source}' at frame {out} to '{destination}' at frame {into} "
                "(difference {difference:.4f}; {first:.0f} % and {second:.0f} % of them are kept).",
                source=source.name,
                out=best.source_frame,
                destination=destination.name,
                into=best.destination_frame,
                difference=best.difference,
                first=100.0 * best.kept[0],
                second=100.0 * best.kept[1],
            ),
        )
        return {"FINISHED"}


def ranges_of(settings: CutRange) -> tuple[best_cut.Range, best_cut.Range]:
    """The frames at which the source and the destination may be cut, None for all."""
    if not settings.use_cut_range:
        return None, None
    return (settings.source_start, settings.source_end), (settings.destination_start, settings.destination_end)


def room_of(context: bpy.types.Context, settings: Blending) -> int:
    """Frames of a destination that must come after a cut, for a blend time that is set."""
    return 0 if settings.use_auto_blend else int(settings.blend / scene_time.seconds_per_frame(context.scene))


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_best_cut,))
