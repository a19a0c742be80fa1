"""Settings of hits: the list of impulses, and how a body gives way to them. They are stored with the armature.

No `from __future__ import annotations` here: Blender reads the annotations.
"""

import bpy
import numpy as np

from ...lookat_pd.dynamics import hits as law
from ..animation.bake_options import LAST_FRAME
from ..animation.stored_settings import registration
from ..settings import EDITABLE, Properties
from . import saved_settings
from .settings import LONGEST, joint_limits

JOINTS_ITEMS = (
    (
        "PEOPLE",
        "As People",
        "Let the bones give way one after the other, from the blow outwards, neck, spine and wrists no further than "
        "those of people, elbows and knees not beyond straight; all bones of a limb and the spine together turn by the "
        "largest angle at most",
    ),
    (
        "SUCCESSION",
        "In Succession",
        "Let the bones give way one after the other, from the blow outwards; all bones of a limb and the spine "
        "together turn by the largest angle at most",
    ),
    ("PUBLISHED", "As Published", "Let all bones give way at once, each by the largest angle at most"),
)
IMPULSE, STRONGEST = 30.0, 1e6
"""Usual and largest impulse [N s]."""


def _is_source(settings: "HitItem", item: bpy.types.Object) -> bool:
    """Whether a hit may come from an object: from any other one."""
    return item != settings.id_data


_own = Properties(override=EDITABLE)


class HitItem(bpy.types.PropertyGroup):
    """One hit."""

    frame: _own.integer(
        "Frame", "Frame of the hit; the bones start to move after it", 1, max=LAST_FRAME, min=-LAST_FRAME
    )
    bone: _own.text("Bone", "Bone that is hit, at its middle")
    source: _own.pointer(
        bpy.types.Object,
        "From",
        "Object from whose position the hit comes; without one, the direction is used",
        poll=_is_source,
    )
    direction: _own.vector(
        "Direction",
        "Direction of the hit in world space, of any length",
        (0.0, 1.0, 0.0),
        max=1e6,
        min=-1e6,
        soft_min=-1.0,
        soft_max=1.0,
        subtype="XYZ",
        size=3,
    )
    impulse: _own.number(
        "Impulse",
        "Strength of the hit in newton seconds: a shove has about 30, a light tap 3",
        IMPULSE,
        max=STRONGEST,
        soft_max=200.0,
    )


class HitMotion:
    """How a body gives way to hits: the settings of a request."""

    settle_time: _own.number(
        "Settle Time",
        "Time in seconds, from the middle of the contact, after which 3 % of the largest deviation from the "
        "animation is left",
        0.8,
        max=LONGEST,
        min=0.05,
        soft_max=3.0,
    )
    damping_ratio: _own.number(
        "Damping Ratio",
        "At 1 the bones return without overshoot; below, they swing past the animation",
        1.0,
        max=1.0,
        min=0.1,
    )
    contact: _own.number(
        "Contact Time",
        "Time in seconds for which each hit pushes, so that the bones gather speed instead of jerking: a "
        "punch takes about 0.02, a shove 0.1; 0 changes the speed at once",
        0.05,
        max=1.0,
        soft_max=0.3,
    )
    stiffness: _own.number(
        "Stiffness",
        "Resistance of the muscles to the hit: 0 for a limp body, 1 for a tense one",
        0.25,
        max=1000.0,
        soft_max=2.0,
    )
    largest_angle: _own.angle(
        "Largest Angle",
        "Angle by which hits turn a bone at most, relative to the bone above it and, with joints in succession, to the "
        "hips; there it passes the impulse on to the bone above it",
        float(np.degrees(law.LARGEST_ANGLE)),
        max=170.0,
        min=1.0,
    )
    joints: _own.choice("Joints", "How the bones give way together", JOINTS_ITEMS)
    length: _own.integer(
        "Chain Length",
        "Number of bones that give way from the hit bone upwards; 0 for all up to the hips",
        max=1000,
        min=0,
        soft_max=20,
    )
    hips: _own.number(
        "Hips",
        "How much of the speed that a hit gives to the whole body moves the hips; the feet stay where they "
        "are animated",
        1.0,
        max=10.0,
        soft_max=2.0,
    )
    use_follow: _own.switch(
        "Limbs Follow", "Let head, arms, legs and tail lag behind the bones on which they hang", True
    )
    use_limits: joint_limits(_own)
    use_switch: _own.switch(
        "Switch Limbs to FK",
        "Let arms and legs that are in IK give way too: IK-FK is keyed to FK from the first hit until the "
        "bones are back, with keys that keep the pose of the limb",
        True,
    )
    use_relative: _own.switch(
        "Relative to Body",
        "Scale the impulses with mass and height, so that they mean the same for every body as for one of "
        "70 kg and 1.75 m",
        True,
    )


class HitSettings(HitMotion, bpy.types.PropertyGroup):
    """The hits of an armature."""

    hits: _own.collection(HitItem)
    version: _own.integer("Version", options={"HIDDEN"})


register, unregister = registration(
    (HitItem, HitSettings),
    (bpy.types.Object, "lookat_pd_hits", _own.pointer(HitSettings, "Look-at PD Hits")),
    then=(saved_settings,),
)
