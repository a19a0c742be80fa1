"""Find the best cut between two actions, with a progress display; Esc cancels without changes."""

from collections.abc import Generator
from typing import Any, NamedTuple

import bpy

from ..lookat_pd.errors import RigError
from ..lookat_pd.message import Message
from ..lookat_pd.rotation import Array
from ..rig.sampling import scene_time
from ..rig.settings import integer, switch, text
from ..rig.transitions import best_cut
from ..rig.transitions.settings import Blending, CutRange
from ..translations import messages
from . import inertialize, reporting, selection
from .job import ModalJob


class _Searched(NamedTuple):
    """What was compared, the best cuts, and the pixels of their image where there is to be one."""

    source: bpy.types.Action
    destination: bpy.types.Action
    search: best_cut.Found
    pixels: Array | None


class Comparing(ModalJob):
    """An operator that compares actions."""

    def progress(self, percent: str) -> str:
        return messages.translate(Message("Comparing actions: {percent} %   Esc: cancel", percent=percent))


class LOOKAT_PD_OT_best_cut(CutRange, Comparing, bpy.types.Operator):
    """Compare all frames of two actions and set the cut where pose, speed and foot contacts differ least"""

    bl_idname = "lookat_pd.best_cut"
    bl_label = "Find Best Cut"
    why_not = staticmethod(inertialize.why_not)

    source: text("Source", "Action that plays first; leave empty for the action in the settings")
    destination: text("Destination", "Action that plays after the cut; leave empty for the action in the settings")
    count: integer("Cuts to Find", "Number of cuts to find", 10, max=1000, min=1, soft_max=50)
    picture: switch("Image", f"Draw the differences of all frames into the image '{best_cut.PICTURE}'", True)

    def start(self, context: bpy.types.Context) -> None:
        """Raises LookAtError."""
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
        self.job = self._search(selection.armature(context), source, destination, options)

    def _search(
        self,
        armature: bpy.types.Object,
        source: bpy.types.Action,
        destination: bpy.types.Action,
        options: dict[str, Any],
    ) -> Generator[float, None, _Searched]:
        """The actions with their best cuts. Raises LookAtError."""
        search = yield from best_cut.finding(armature, source, destination, **options)
        if not search.cuts:
            raise RigError(
                "'{source}' or '{destination}' is too short for a cut; choose longer actions.",
                source=source.name,
                destination=destination.name,
            )
        yield 0.99
        pixels = best_cut.painted(search) if self.picture else None
        yield 1.0
        return _Searched(source, destination, search, pixels)

    def finish(self, context: bpy.types.Context, result: _Searched) -> None:
        settings, (source, destination, search, pixels) = context.scene.lookat_pd_transition, result
        settings.source, settings.destination = source.name, destination.name
        settings.cuts.clear()
        for found in search.cuts:
            item = settings.cuts.add()
            item.source_frame, item.destination_frame = found.source_frame, found.destination_frame
            item.cost, item.repeat = found.cost, found.repeat
            item.source_kept, item.destination_kept = found.kept
        settings.cut_index = 0
        if pixels is not None:
            best_cut.picture(search, pixels)
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


def ranges_of(settings: CutRange) -> tuple[best_cut.Range, best_cut.Range]:
    """The frames at which the source and the destination may be cut, None for all."""
    if not settings.use_cut_range:
        return None, None
    return (settings.source_start, settings.source_end), (settings.destination_start, settings.destination_end)


def room_of(context: bpy.types.Context, settings: Blending) -> int:
    """Frames of a destination that must come after a cut, for a blend time that is set."""
    return 0 if settings.use_auto_blend else int(settings.blend / scene_time.seconds_per_frame(context.scene))


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_best_cut,))
