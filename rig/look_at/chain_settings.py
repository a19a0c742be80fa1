"""The settings of one bone of a look-at's chain. No postponed annotations: Blender reads them."""

from math import radians

import bpy
from bpy.props import BoolProperty, FloatProperty, StringProperty

from ..layers.controller_settings import EDITABLE, changed

_WIDEST = radians(170.0)


def _name_after_bone(item: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """Library overrides identify the items of a collection by their names, which there stay as they were first."""
    owner = item.id_data
    if owner.override_library is None:
        item.name = item.bone
    elif not item.name:
        chains = (bone.lookat_pd.chain for bone in owner.pose.bones)
        taken = {other.name for other in next((chain for chain in chains if item in list(chain)), ())}
        name, number = item.bone, 1
        while name and name in taken:
            number += 1
            name = f"{item.bone} {number}"
        item.name = name
    changed(item, context)


class LookAtChainBone(bpy.types.PropertyGroup):
    """One bone of a look-at's chain."""

    bone: StringProperty(name="Bone", description="Bone of the chain", override=EDITABLE, update=_name_after_bone)
    share: FloatProperty(
        override=EDITABLE,
        update=changed,
        name="Share",
        description="Part of the turn that this bone takes, relative to the shares of the other bones",
        default=0.25,
        min=0.001,
        soft_max=1.0,
        max=1000.0,
    )
    settle_factor: FloatProperty(
        override=EDITABLE,
        update=changed,
        name="Settle Factor",
        description=(
            "Settle time of this bone as a factor of that of the look-at; increase it down the spine so that the "
            "head leads"
        ),
        default=1.0,
        min=0.05,
        soft_max=4.0,
        max=100.0,
    )
    yaw_limit: FloatProperty(
        override=EDITABLE,
        update=changed,
        name="Yaw Limit",
        description="Largest angle to either side that the look-at adds to the animation",
        subtype="ANGLE",
        default=radians(60.0),
        min=0.0,
        max=_WIDEST,
    )
    pitch_up_limit: FloatProperty(
        override=EDITABLE,
        update=changed,
        name="Up Limit",
        description="Largest upward angle that the look-at adds to the animation",
        subtype="ANGLE",
        default=radians(45.0),
        min=0.0,
        max=_WIDEST,
    )
    pitch_down_limit: FloatProperty(
        override=EDITABLE,
        update=changed,
        name="Down Limit",
        description="Largest downward angle that the look-at adds to the animation",
        subtype="ANGLE",
        default=radians(45.0),
        min=0.0,
        max=_WIDEST,
    )
    makes_up: BoolProperty(
        override=EDITABLE,
        update=changed,
        name="Compensate Lag",
        description="Turn this bone further while slower bones below it lag behind (always on for the head)",
        default=False,
    )
