"""Plots of the last reaches and hits, each with those before it in grey."""

from collections.abc import Sequence

import bpy
import numpy as np
from bpy.app.translations import pgettext_iface as iface_
from numpy.typing import NDArray

from ..rig.dynamics import hitting, reaching
from . import plots

_VIEWS = (("Front", (0, 2)), ("Side", (1, 2)), ("Top", (0, 1)))
"""The world axes of the plots of the hand's path: horizontal and vertical."""


def draw_reaches(layout: bpy.types.UILayout, kept: Sequence[reaching.Plotted]) -> None:
    """The cost of each pass, and the paths of the hands from three sides next to the straight paths."""
    if not kept:
        return
    last, *before = kept
    box = layout.box()
    box.label(text="Cost per Pass")
    if len(last.costs) > 1:
        box.template_icon(_costs_icon(last, before), scale=4.0)
    box.label(text=iface_("This reach: {:.4g}").format(last.cost), icon=plots.ICONS[0], translate=False)
    if before:
        costs = ", ".join(f"{reach.cost:.4g}" for reach in before)
        box.label(text=iface_("Before, in grey: {}").format(costs), icon="BLANK1", translate=False)
    box.label(text="Hand Path and Straight Line")
    row = box.row()
    for name, axes in _VIEWS:
        column = row.column()
        column.label(text=name)
        column.template_icon(_path_icon(name, last, before, axes), scale=5.0)
    box.operator("lookat_pd.clear_plots", icon="TRASH")


def draw_hits(layout: bpy.types.UILayout, kept: Sequence[hitting.PlottedHits]) -> None:
    """The angles of the bones that turn most."""
    if not kept:
        return
    last, *before = kept
    box = layout.box()
    box.label(text="Deviation from the Animation")
    key = last.number, len(before)
    number = plots.icon(
        "hits", key, lambda: last.curves, faint=lambda: [curve for hits in before for curve in hits.curves.values()]
    )
    box.template_icon(number, scale=4.0)
    for n, (name, angles) in enumerate(last.curves.items()):
        colour = plots.ICONS[n % len(plots.ICONS)]
        box.label(text=f"{name}: {angles.max():.1f}°", icon=colour, translate=False)
    if before:
        most = ", ".join(f"{max(curve.max() for curve in hits.curves.values()):.1f}°" for hits in before)
        box.label(text=iface_("Before, in grey: {}").format(most), icon="BLANK1", translate=False)
    box.operator("lookat_pd.clear_plots", icon="TRASH")


def _costs_icon(last: reaching.Plotted, before: Sequence[reaching.Plotted]) -> int:
    def curves() -> list[NDArray]:
        return plots.equally_long([reach.costs for reach in (last, *before)])

    key = last.number, len(before)
    return plots.icon("costs", key, lambda: {"cost": curves()[0]}, faint=lambda: curves()[1:])


def _path_icon(name: str, last: reaching.Plotted, before: Sequence[reaching.Plotted], axes: tuple[int, int]) -> int:
    def seen(paths: Sequence[NDArray]) -> list[NDArray]:
        return [np.asarray(path)[:, list(axes)] for path in paths]

    return plots.path_icon(
        name,
        (last.number, len(before)),
        lambda: seen(last.paths),
        beside=lambda: seen(last.straights),
        faint=lambda: seen([path for reach in before for path in reach.paths]),
    )
