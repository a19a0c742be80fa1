"""Settings of the library of actions, stored in the scene, and the best cuts that were found.

No `from __future__ import annotations` here: Blender reads the annotations.
"""

import bpy

from ..animation.stored_settings import registration
from ..settings import collection, integer, number, pointer, text
from .library import CUT_COST


class CutFrames:
    """Mixin of cuts that were found. Frames as for the operator `lookat_pd.inertialize`."""

    source_frame: integer("Source Frame")
    destination_frame: integer("Destination Frame")
    cost: number("Cost", "Difference between the two clips at this cut; 0 if they are equal", min=None)


class LibraryPair(CutFrames, bpy.types.PropertyGroup):
    """The best cut from one action to another. name: of both, by which a list filters."""

    source: text("Source")
    destination: text("Destination")


class Patterned:
    """Mixin of the settings and of the operators: which actions."""

    pattern: text(
        "Actions",
        "Names of the actions, with wildcards and separated by commas, such as Walk*, Run; empty for all "
        "actions of this rig",
    )


class CutCost:
    """Mixin of the settings and of the operator that joins actions along a path."""

    cut_cost: number(
        "Cut Cost",
        "Added to the difference of each cut of a path; a larger cost leads over fewer actions",
        CUT_COST,
        max=1000.0,
        soft_max=0.5,
    )


class LibrarySettings(Patterned, CutCost, bpy.types.PropertyGroup):
    """Settings of the library. Actions by name: a pointer would prevent deleting them."""

    pairs: collection(LibraryPair, "Best Cuts", "The best cut of each two actions, the best one first")
    pair_index: integer("Highlighted Cut", options={"HIDDEN"}, update=lambda self, context: use_pair(context))


def use_pair(context: bpy.types.Context) -> None:
    """Copy the highlighted cut to the settings of the next transition."""
    settings, transition = context.scene.lookat_pd_library, context.scene.lookat_pd_transition
    if 0 <= settings.pair_index < len(settings.pairs):
        pair = settings.pairs[settings.pair_index]
        for name in ("source", "destination", "source_frame", "destination_frame"):
            setattr(transition, name, getattr(pair, name))


register, unregister = registration(
    (LibraryPair, LibrarySettings), scene=("lookat_pd_library", pointer(LibrarySettings, "Look-at PD Library"))
)
