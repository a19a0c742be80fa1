"""The library of actions: find the best cuts between all of them, and join along the cheapest path."""

from collections.abc import Generator
from typing import Any

import bpy

from ..lookat_pd.message import Message, joined
from ..lookat_pd.progress import subrange
from ..rig.sampling.action_names import action_name
from ..rig.transitions import join, library
from ..rig.transitions.library import LibraryCut
from ..rig.transitions.library_settings import CutCost, Patterned
from ..rig.transitions.settings import Blending, CutRange, FromSource, InSequence
from . import drawing, inertialize, reporting, selection
from .best_cut import Comparing, ranges_of, room_of
from .blending import Played, draw_method


class LOOKAT_PD_OT_compare_library(Patterned, Comparing, bpy.types.Operator):
    """List the best cut between each two actions of this character"""

    bl_idname = "lookat_pd.compare_library"
    bl_label = "Find Best Cuts of All"
    why_not = staticmethod(inertialize.why_not)

    def start(self, context: bpy.types.Context) -> None:
        self.job = self._compare(context)

    def _compare(self, context: bpy.types.Context) -> Generator[float, None, library.Library]:
        scene, armature = context.scene, selection.armature(context)
        chosen = yield from subrange(library.choosing(armature, self.pattern), 0.0, 0.1)
        build = library.build(scene, armature, chosen, room=room_of(context, scene.lookat_pd_transition))
        return (yield from subrange(build, 0.1, 1.0))

    def finish(self, context: bpy.types.Context, result: library.Library) -> None:
        settings, cuts = context.scene.lookat_pd_library, result.cuts.pairs()
        settings.pairs.clear()
        for cut in cuts:
            item = settings.pairs.add()
            item.name = f"{cut.source} → {cut.destination}"
            for name in ("source", "destination", "source_frame", "destination_frame", "cost"):
                setattr(item, name, getattr(cut, name))
        settings.pair_index = 0
        reporting.report_info(
            self,
            Message(
                "Compared {actions} actions and found {count} best cuts ({seconds:.2f} s).",
                actions=len(result.clips),
                count=len(cuts),
                seconds=self.elapsed,
            ),
        )


class LOOKAT_PD_OT_join_path(
    FromSource, InSequence, Patterned, CutCost, CutRange, Blending, Played, inertialize.Joining, bpy.types.Operator
):
    """Join the actions that lead from the source to the destination with the smallest differences at the cuts"""

    bl_idname = "lookat_pd.join_path"
    bl_label = "Join along Cheapest Path"
    why_not = staticmethod(inertialize.why_not)

    destination: action_name("Destination", "Action to which the path leads")

    def draw(self, context: bpy.types.Context) -> None:
        layout = drawing.prepared(self.layout)
        for name in ("source", "destination"):
            layout.prop(self, name, icon="ACTION")
        for name in ("pattern", "cut_cost", "pose_source"):
            layout.prop(self, name)
        draw_method(layout, self)
        self.draw_blend(layout)
        layout.prop(self, "root")
        layout.prop(self, "lock_feet")
        self.draw_keys(layout)
        layout.prop(self, "assign")

    def start(self, context: bpy.types.Context) -> None:
        self.check_feet(context)
        self.job = self._join(context)

    def _join(self, context: bpy.types.Context) -> Generator[float, None, Any]:
        armature, scene = selection.armature(context), context.scene
        source = inertialize.find_action(self.source or inertialize.current_action(context), "source")
        destination = inertialize.find_action(self.destination, "destination")
        chosen = yield from subrange(library.choosing(armature, self.pattern, (source, destination)), 0.0, 0.1)
        ends = library.PathEnds(source.name, destination.name, ranges_of(self))
        build = library.build(scene, armature, chosen, room=room_of(context, self), ends=ends)
        known = yield from subrange(build, 0.1, 0.7)
        path = known.cuts.path(ends, self.cut_cost)
        options = {"root": self.root, "assign": self.assign, "lock_feet": self.locks_keys, "scene": scene}
        options["writer"] = self.writer()
        joining = self.joined(
            scene, armature, lambda how: join.chaining(armature, known.steps(path, how), **options), self.how(context)
        )
        result = yield from subrange(joining, 0.7, 1.0)
        return result, path

    def finish(self, context: bpy.types.Context, result: tuple[join.Joined, list[LibraryCut]]) -> None:
        made, path = result
        names = joined(" → ", [path[0].source, *(cut.destination for cut in path)])
        reporting.report_info(
            self,
            Message("{path}: {result}", path=names, result=self.summary(made)),
        )


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_OT_compare_library, LOOKAT_PD_OT_join_path))
