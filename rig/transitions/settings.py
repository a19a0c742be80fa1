"""Settings of the next transition, stored in the scene: clips, cut, blending, and the cuts that were found.

No `from __future__ import annotations` here: Blender reads the annotations.
"""

from collections.abc import Callable
from typing import Any

import bpy

from ...lookat_pd.transitions import methods, spring
from ..animation.key_settings import KeptKeys
from ..animation.stored_settings import registration
from ..sampling.action_names import action_name
from ..settings import choice, collection, integer, number, pointer, switch, text
from . import saved_settings, sequence
from .library_settings import CutFrames
from .lock_feet import WHERE_POSSIBLE
from .profile_settings import ProfileRowItem

ROOT_ITEMS = (
    ("NONE", "None", "Play the destination at its original position"),
    ("POSITION", "Position", "Move the destination on the ground plane to the root of the source"),
    (
        "HEADING",
        "Position, Heading",
        "Move the destination on the ground plane and turn it to continue in the same direction",
    ),
    ("ALL", "With Height", "Match the height as well as position and heading"),
)
METHOD_ITEMS = tuple((row.identifier, row.label, row.description) for row in methods.METHODS.values())
COMPARE_ITEMS = (("NONE", "None", "Plot only the method"), *METHOD_ITEMS)
BLEND_ITEMS = tuple((row.identifier, row.label, row.description) for row in methods.METHODS.values() if row.blends)
"""The methods for transitions without a cut."""
POP_ITEMS = tuple(
    (row.identifier, row.label, row.description)
    for row in methods.METHODS.values()
    if row.blends and not row.plays_both
)
"""The methods for pops, of which only one side plays on."""
POSE_SOURCE_ITEMS = (
    ("KEYS", "Keys", "Read and write the keys of the current action"),
    (
        "VISUAL",
        "Visual Pose",
        "Read the visual pose, with constraints, drivers and NLA, and add the difference with constraints",
    ),
)

LOOP_END_ITEMS = (
    ("BOTH", "Both Ends", "Change both ends by half of the difference"),
    ("END", "End Only", "Keep the start as it is, for an action that others lead into, and change the end"),
    ("START", "Start Only", "Keep the end as it is, and change the start"),
)
LONGEST_BLEND = 60.0
"""Longest blend time [s]."""

PRESETS = {
    "SNAPPY": ("Snappy", "Very short blend, for games", {"use_auto_blend": False, "blend": 0.15, "method": "AUTO"}),
    "NATURAL": ("Natural", "Derive the blend time from the two poses", {"use_auto_blend": True, "method": "AUTO"}),
    "HEAVY": (
        "Heavy",
        "Long blend, for a large body with momentum",
        {"use_auto_blend": False, "blend": 0.6, "method": "DEAD"},
    ),
}


def times_played() -> Any:
    """The property of how many times the destination plays."""
    description = "Number of times that the destination plays"
    return integer("Repeat", description, 1, max=sequence.MOST_TIMES, min=1, soft_max=20)


class TransitionCut(CutFrames, bpy.types.PropertyGroup):
    """A cut that was found."""

    source_kept: number("Source Kept", "Share of the frames of the source that play", 1.0, max=1.0)
    destination_kept: number("Destination Kept", "Share of the frames of the destination that play", 1.0, max=1.0)
    repeat: times_played()


class VisualPopItem(bpy.types.PropertyGroup):
    """A pop of the visual pose that was found. bone: the one that jumps most. cause: a sentence."""

    frame: integer("Frame")
    bone: text("Bone")
    turn: number("Turn", max=4.0, subtype="ANGLE")
    cause: text("Cause")


def blend_time(description: str, default: float = 0.3) -> Any:
    """The property of the blend time."""
    return number("Blend", description, default, max=LONGEST_BLEND, soft_max=1.0)


def blend_method(items: tuple) -> Any:
    """The property of the method, out of those that are of use."""
    return choice("Method", "Method of blending the difference", items, methods.default().identifier)


def placement(description: str) -> Any:
    """The property of the placement of the root."""
    return choice("Root", description, ROOT_ITEMS, "HEADING")


def damping_ratio() -> Any:
    """The property of the damping ratio, for methods that have one."""
    least, most = spring.DAMPING_RATIOS
    return number(
        "Damping Ratio",
        "1 returns without overshoot, below 1 overshoots the destination, above 1 returns more slowly",
        1.0,
        max=most,
        min=least,
        soft_max=2.0,
    )


def foot_locking() -> Any:
    """The property of whether planted feet are kept on their places, where that is possible."""
    return switch(
        "Lock Feet",
        "Keep feet that are on the ground on their places through the blend; legs and hips are corrected",
        WHERE_POSSIBLE is not False,
    )


class AutoBlend:
    """Mixin of settings and operators: automatic blend time."""

    use_auto_blend: switch("Automatic Blend", "Derive the blend time from the differences in pose and speed", True)


class PoseSource:
    """Mixin of settings and operators: what a transition reads and writes."""

    pose_source: choice("Blend", "What is blended", POSE_SOURCE_ITEMS)


class Blending(AutoBlend, PoseSource, KeptKeys):
    """Mixin of the settings and of the operators that join actions: how to blend the difference at a cut."""

    blend: blend_time("Time in seconds until only the destination plays")
    root: placement("Placement of the destination relative to the source")
    method: blend_method(METHOD_ITEMS)
    damping_ratio: damping_ratio()


class FromSource:
    """Mixin of settings and operators: the first action."""

    source: action_name("Source", "Action that plays first; leave empty for the current action")


class TwoActions(FromSource):
    """Mixin of the settings and of the operator that joins two actions: which they are."""

    destination: action_name("Destination", "Action that plays after the cut")


class InSequence:
    """Mixin of operators that join several actions: how each follows the one before."""

    blend: blend_time("Time in seconds until only the new clip plays")
    root: placement("Placement of each clip relative to the one before")


class Repeating:
    """Mixin of the settings and of the operator that joins two actions."""

    repeat: times_played()
    use_until: switch("Repeat until Frame", "Let the destination play until a frame, as often as needed")
    until: integer("Last Frame", "Last frame of the result", 100)


class CutRange:
    """Mixin of the settings and of the operator that finds cuts: where they may be."""

    use_cut_range: switch("Cut Range", "Find cuts only within these frames of the actions")
    source_start: integer("Source Start", "First frame of the source that may be a cut", 1)
    source_end: integer("Source End", "Last frame of the source that may be a cut", 100)
    destination_start: integer("Destination Start", "First frame at which the destination may be entered", 1)
    destination_end: integer("Destination End", "Last frame at which the destination may be entered", 100)


CURRENT_ACTION: list[Callable[[bpy.types.Context], str]] = []
"""Who knows the name of the current action: operators put theirs here."""


def _shown_source(settings: Any) -> str:
    return settings.source or next((current(bpy.context) for current in CURRENT_ACTION), "")


def _choose_source(settings: Any, name: str) -> None:
    settings.source = name


class TransitionSettings(TwoActions, CutRange, Blending, Repeating, bpy.types.PropertyGroup):
    """Settings of the next transition. Actions by name: a pointer would prevent deleting them."""

    version: integer("Version", options={"HIDDEN"})
    lock_feet: foot_locking()
    shown_source: action_name(
        "Source",
        "Action that plays first: the current action until another is chosen",
        get=_shown_source,
        set=_choose_source,
        options={"SKIP_SAVE"},
    )
    source_frame: integer("Source Frame", "First frame at which the source no longer plays", 1)
    destination_frame: integer("Destination Frame", "Frame of the destination that plays at the cut", 1)
    compare: choice(
        "Compare", "Method whose decay is plotted too, as dashed lines, with the same blend time", COMPARE_ITEMS
    )
    use_profile: switch("Use Profile", "Let some bones or properties blend differently")
    profile_rows: collection(
        ProfileRowItem, "Blend Profile", "Rows of the profile; for a bone the first one that fits counts"
    )
    profile_index: integer("Highlighted Row", options={"HIDDEN"})
    cuts: collection(TransitionCut, "Found Cuts", "Candidates for the cut, the best one first")
    cut_index: integer("Highlighted Cut", options={"HIDDEN"}, update=lambda self, context: use_cut(self))
    visual_pops: collection(VisualPopItem, "Found Pops", "Pops of the visual pose, in order of time")
    visual_pop_index: integer(
        "Highlighted Pop", options={"HIDDEN"}, update=lambda self, context: show_pop(self, context)
    )


def has_damping(settings) -> bool:
    """Whether the method of settings or of an operator has a damping ratio."""
    row = methods.of_identifier(settings.method)
    return row is not None and row.has_damping


def blends(settings) -> bool:
    """Whether the method of settings or of an operator has a blend time."""
    row = methods.of_identifier(settings.method)
    return row is not None and row.blends


def use_cut(settings: TransitionSettings) -> None:
    """Copy the frames of the highlighted cut to the settings."""
    if 0 <= settings.cut_index < len(settings.cuts):
        cut = settings.cuts[settings.cut_index]
        settings.source_frame, settings.destination_frame = cut.source_frame, cut.destination_frame
        settings.repeat = max(settings.repeat, cut.repeat)


def show_pop(settings: TransitionSettings, context: bpy.types.Context) -> None:
    """Go to the frame of the highlighted pop."""
    if 0 <= settings.visual_pop_index < len(settings.visual_pops):
        context.scene.frame_set(settings.visual_pops[settings.visual_pop_index].frame)


register, unregister = registration(
    (TransitionCut, VisualPopItem, ProfileRowItem, TransitionSettings),
    scene=("lookat_pd_transition", pointer(TransitionSettings, "Look-at PD Transition")),
    then=(saved_settings,),
)
