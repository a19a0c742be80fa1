"""Settings of hits: the list of impulses, and how a body gives way to them. They are stored with the armature.

No `from __future__ import annotations` here: Blender reads the annotations.
"""

import bpy
import numpy as np
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ..animation.bake_options import LAST_FRAME
from ..sampling.targets import Target
from . import hitting
from .hitting import HitRequest, HitSpec
from .settings import LONGEST

STIFFEST = 1000.0
SHORTEST, LEAST_DAMPING, MOST_DAMPING = 0.05, 0.1, 1.0
"""Bounds of the settle time [s] and of the damping ratio."""
LEAST_ANGLE, MOST_ANGLE = 1.0, 170.0
"""Bounds of the largest angle [degrees]."""
MOST_BONES, MOST_HIPS = 1000, 10.0
_EDITABLE = {"LIBRARY_OVERRIDABLE"}


def _is_source(settings: "HitItem", item: bpy.types.Object) -> bool:
    """Whether a hit may come from an object: from any other one."""
    return item != settings.id_data


class HitItem(bpy.types.PropertyGroup):
    """One hit."""

    frame: IntProperty(
        override=_EDITABLE,
        name="Frame",
        description="Frame of the hit; the bones start to move after it",
        default=1,
        min=-LAST_FRAME,
        max=LAST_FRAME,
    )
    bone: StringProperty(override=_EDITABLE, name="Bone", description="Bone that is hit, at its middle")
    source: PointerProperty(
        override=_EDITABLE,
        name="From",
        description="Object from whose position the hit comes; without one, the direction is used",
        type=bpy.types.Object,
        poll=_is_source,
    )
    direction: FloatVectorProperty(
        override=_EDITABLE,
        name="Direction",
        description="Direction of the hit in world space, of any length",
        subtype="XYZ",
        size=3,
        default=(0.0, 1.0, 0.0),
        min=-1e6,
        max=1e6,
        soft_min=-1.0,
        soft_max=1.0,
    )
    impulse: FloatProperty(
        override=_EDITABLE,
        name="Impulse",
        description="Strength of the hit in newton seconds: a shove has about 30, a light tap 3",
        default=hitting.IMPULSE,
        min=0.0,
        soft_max=200.0,
        max=hitting.STRONGEST,
    )


class HitSettings(bpy.types.PropertyGroup):
    """The hits of an armature."""

    hits: CollectionProperty(type=HitItem, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
    settle_time: FloatProperty(
        override=_EDITABLE,
        name="Settle Time",
        description=(
            "Time in seconds, from the middle of the contact, after which 3 % of the largest deviation from the "
            "animation is left"
        ),
        default=hitting.SETTLE,
        min=SHORTEST,
        soft_max=3.0,
        max=LONGEST,
    )
    damping_ratio: FloatProperty(
        override=_EDITABLE,
        name="Damping Ratio",
        description="At 1 the bones return without overshoot; below, they swing past the animation",
        default=1.0,
        min=LEAST_DAMPING,
        max=MOST_DAMPING,
    )
    contact: FloatProperty(
        override=_EDITABLE,
        name="Contact Time",
        description="Time in seconds for which each hit pushes, so that the bones gather speed instead of jerking: a "
        "punch takes about 0.02, a shove 0.1; 0 changes the speed at once",
        default=hitting.CONTACT,
        min=0.0,
        soft_max=0.3,
        max=hitting.LONGEST_CONTACT,
    )
    stiffness: FloatProperty(
        override=_EDITABLE,
        name="Stiffness",
        description="Resistance of the muscles to the hit: 0 for a limp body, 1 for a tense one",
        default=hitting.STIFFNESS,
        min=0.0,
        soft_max=2.0,
        max=STIFFEST,
    )
    largest_angle: FloatProperty(
        override=_EDITABLE,
        name="Largest Angle",
        description="Angle by which hits turn a bone at most; there it passes the impulse on to the bone above it",
        subtype="ANGLE",
        default=float(np.radians(hitting.LARGEST_ANGLE)),
        min=float(np.radians(LEAST_ANGLE)),
        max=float(np.radians(MOST_ANGLE)),
    )
    length: IntProperty(
        override=_EDITABLE,
        name="Chain Length",
        description="Number of bones that give way from the hit bone upwards; 0 for all up to the hips",
        default=0,
        min=0,
        soft_max=20,
        max=MOST_BONES,
    )
    hips: FloatProperty(
        override=_EDITABLE,
        name="Hips",
        description="How much of the speed that a hit gives to the whole body moves the hips; the feet stay where they "
        "are animated",
        default=hitting.HIPS,
        min=0.0,
        soft_max=2.0,
        max=MOST_HIPS,
    )
    use_follow: BoolProperty(
        override=_EDITABLE,
        name="Limbs Follow",
        description="Let head, arms, legs and tail lag behind the bones on which they hang",
        default=True,
    )
    use_limits: BoolProperty(
        override=_EDITABLE,
        name="Joint Limits",
        description="Respect the limits under Bone > Inverse Kinematics and Limit Rotation constraints",
        default=True,
    )
    use_switch: BoolProperty(
        override=_EDITABLE,
        name="Switch Limbs to FK",
        description="Let arms and legs that are in IK give way too: IK-FK is keyed to FK from the first hit until the "
        "bones are back, with keys that keep the pose of the limb",
        default=True,
    )
    use_relative: BoolProperty(
        override=_EDITABLE,
        name="Relative to Body",
        description="Scale the impulses with mass and height, so that they mean the same for every body as for one of "
        "70 kg and 1.75 m",
        default=True,
    )


def request(armature: bpy.types.Object) -> HitRequest:
    """The request for all hits of an armature."""
    settings = armature.lookat_pd_hits
    return HitRequest(
        tuple(_spec(item) for item in settings.hits),
        settings.settle_time,
        settings.damping_ratio,
        settings.largest_angle,
        settings.length,
        settings.use_follow,
        settings.stiffness,
        settings.use_limits,
        settings.use_relative,
        settings.hips,
        settings.use_switch,
        settings.contact,
    )


def _spec(item: HitItem) -> HitSpec:
    x, y, z = item.direction
    source = None if item.source is None else Target(item.source)
    return HitSpec(item.frame, item.bone, item.impulse, (x, y, z), source)


_register, _unregister = bpy.utils.register_classes_factory((HitItem, HitSettings))


def register() -> None:
    _register()
    bpy.types.Object.lookat_pd_hits = PointerProperty(type=HitSettings, name="Look-at PD Hits", override=_EDITABLE)


def unregister() -> None:
    del bpy.types.Object.lookat_pd_hits
    _unregister()
