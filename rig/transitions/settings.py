"""Settings of the next transition, kept with the scene: which clips, where to cut, how to blend, and cuts found.

No `from __future__ import annotations` here: Blender reads the annotations.
"""

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

ROOT_ITEMS = (
    ("NONE", "None", "Play the destination where it was made"),
    ("POSITION", "Position", "Move the destination over the ground to where the source's root is"),
    ("HEADING", "Position and Heading", "Move the destination over the ground and turn it to go on the same way"),
    ("ALL", "Position, Height and Heading", "As Position and Heading, and at the same height"),
)
METHOD_ITEMS = (
    ("INERTIAL", "Inertialization", "Only the destination plays; what was different dies away"),
    ("DEAD", "Dead Blending", "The source's motion runs out and is faded; calmer where poses are far apart"),
    ("FADE", "Cross-Fade", "Both clips play and are mixed"),
    ("CUT", "Cut", "No blending"),
)


PRESETS = {
    "SNAPPY": ("Snappy", "Over at once, for games", {"use_auto_blend": False, "blend": 0.15, "method": "INERTIAL"}),
    "NATURAL": ("Natural", "As long as suits the two poses", {"use_auto_blend": True, "method": "INERTIAL"}),
    "HEAVY": ("Heavy", "A large body that runs on", {"use_auto_blend": False, "blend": 0.6, "method": "DEAD"}),
}


class TransitionCut(bpy.types.PropertyGroup):
    """A place to cut that was found. Frames as `lookat_pd.inertialize` takes them."""

    source_frame: IntProperty(name="Source Frame")
    destination_frame: IntProperty(name="Destination Frame")
    cost: FloatProperty(name="Cost", description="How different the two clips are there; 0 is alike")


class TransitionSettings(bpy.types.PropertyGroup):
    """What the next transition joins. Actions by name: a pointer would keep them from being deleted."""

    source: StringProperty(name="Source", description="Action that plays first; empty for the current one")
    destination: StringProperty(name="Destination", description="Action that goes on")
    source_frame: IntProperty(name="Source Frame", description="First frame that no longer shows the source", default=1)
    destination_frame: IntProperty(
        name="Destination Frame", description="Frame of the destination shown then", default=1
    )
    use_auto_blend: BoolProperty(
        name="Automatic Blend", description="As long as suits how far apart poses and speeds are", default=True
    )
    blend: FloatProperty(
        name="Blend", description="Seconds until the destination plays alone", default=0.3, min=0.0, soft_max=1.0
    )
    root: EnumProperty(name="Root", description="How the destination is placed", items=ROOT_ITEMS, default="HEADING")
    method: EnumProperty(name="Method", description="How the difference is blended", items=METHOD_ITEMS)
    cuts: CollectionProperty(type=TransitionCut, name="Found Cuts", description="Places to cut, the best first")
    cut_index: IntProperty(name="Highlighted Cut", options={"HIDDEN"}, update=lambda self, context: use_cut(self))


def use_cut(settings: TransitionSettings) -> None:
    """Take the frames of the highlighted cut."""
    if 0 <= settings.cut_index < len(settings.cuts):
        cut = settings.cuts[settings.cut_index]
        settings.source_frame, settings.destination_frame = cut.source_frame, cut.destination_frame


CLASSES = (TransitionCut, TransitionSettings)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Scene.lookat_pd_transition = PointerProperty(type=TransitionSettings, name="Look-at PD Transition")


def unregister() -> None:
    del bpy.types.Scene.lookat_pd_transition
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
