"""The library of actions: the best cuts between all of them, and the cheapest path from one to another."""

from itertools import pairwise

import bpy

from ..lookat_pd.message import Message
from ..operators import drawing, inertialize, selection
from ..operators.best_cut import ranges_of
from ..rig.animation import key_settings
from ..rig.transitions import library_preview
from ..rig.transitions.library import PathEnds
from ..rig.transitions.library_preview import LibraryPreview
from ..translations import messages
from . import plots, status
from .sidebar import TransitionsPanel
from .transitions import copy_settings, hand_over

_PATH = (
    *("source", "destination", "use_cut_range", "source_start", "source_end", "destination_start", "destination_end"),
    *("root", "lock_feet", "pose_source", "method", "use_auto_blend", "blend", "damping_ratio"),
    *key_settings.NAMES,
)
"""What a path takes from the settings of the next transition."""
_NO_PATH = "No path from the source to the destination is known; find the best cuts again, or choose other actions."


class LOOKAT_PD_UL_library(bpy.types.UIList):
    """The best cut of each two actions, the best one first."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        row = layout.split(factor=0.76)
        row.label(text=item.name, translate=False)
        row.label(text=f"{item.cost:.4f}", translate=False)


class LOOKAT_PD_PT_transitions_library(TransitionsPanel, bpy.types.Panel):
    bl_label = "Library"

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = drawing.prepared(self.layout), context.scene.lookat_pd_library
        layout.prop(settings, "pattern")
        button = layout.operator("lookat_pd.compare_library", icon="VIEWZOOM")
        copy_settings(settings, button, ("pattern",))
        if len(settings.pairs):
            layout.template_list("LOOKAT_PD_UL_library", "", settings, "pairs", settings, "pair_index", rows=5)
        self._draw_path(layout, context, settings)
        preview = _preview(context, settings)
        if preview is not None:
            _draw_graph(layout, context, settings, preview)

    @staticmethod
    def _draw_path(layout: bpy.types.UILayout, context: bpy.types.Context, settings) -> None:
        transition = context.scene.lookat_pd_transition
        column = layout.column(align=True)
        for name, icon in (("source", "ACTION"), ("destination", "ACTION")):
            column.prop(transition, name, icon=icon)
        layout.prop(settings, "cut_cost")
        row = layout.row()
        row.enabled = bool(transition.destination)
        button = row.operator("lookat_pd.join_path", icon="CURVE_PATH")
        copy_settings(settings, button, ("pattern", "cut_cost"))
        hand_over(transition, button, _PATH)
        if not transition.destination:
            status.draw_reason(layout, context, "Choose the destination of the path")


def _preview(context: bpy.types.Context, settings) -> LibraryPreview | None:
    """The graph with the path between the actions of the next transition."""
    transition, armature = context.scene.lookat_pd_transition, selection.armature(context)
    start = transition.source or inertialize.current_action(context)
    ends = PathEnds(start, transition.destination, ranges_of(transition))
    return library_preview.preview(armature, settings, ends, settings.cut_cost)


def _draw_graph(layout: bpy.types.UILayout, context: bpy.types.Context, settings, preview: LibraryPreview) -> None:
    """The actions on a circle, clockwise by name, and the best cuts of each as arrows; below, what is in color."""
    box = layout.box()
    marked = list(pairwise(preview.steps)), [preview.pair] if preview.pair is not None else []
    arrows = [((source, destination), 1.0 - rank) for source, destination, rank in preview.cuts]
    box.template_icon(plots.graph_icon("library", preview.key, preview.places, arrows, marked), scale=9.0)
    if preview.path:
        names = " → ".join((preview.path[0].source, *(cut.destination for cut in preview.path)))
        path = Message("Cheapest path: {path} ({cost:.4f})", path=names, cost=sum(cut.cost for cut in preview.path))
        status.draw_long(box, context, messages.translate(path), plots.ICONS[0])
    elif context.scene.lookat_pd_transition.destination:
        status.draw_long(box, context, messages.translate(Message(_NO_PATH)), "INFO")
    if preview.pair is not None:
        status.draw_long(box, context, settings.pairs[settings.pair_index].name, plots.ICONS[1])


register, unregister = bpy.utils.register_classes_factory((LOOKAT_PD_UL_library, LOOKAT_PD_PT_transitions_library))
