"""The settings of one bone of a look-at's chain. No postponed annotations: Blender reads them."""

import bpy

from ..animation.stored_settings import read
from ..layers.controller_settings import EDITABLE, changed
from ..settings import Properties


def _name_after_bone(item: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """Library overrides identify the items of a collection by their names, which there stay as they were first."""
    owner = item.id_data
    if owner.override_library is None:
        item.name = item.bone
    elif not item.name:
        chains = (read(bone, "lookat_pd").chain for bone in owner.pose.bones)
        taken = {other.name for other in next((chain for chain in chains if item in list(chain)), ())}
        name, number = item.bone, 1
        while name and name in taken:
            number += 1
            name = f"{item.bone} {number}"
        item.name = name
    changed(item, context)


_own = Properties(override=EDITABLE, update=changed)


class LookAtChainBone(bpy.types.PropertyGroup):
    """One bone of a look-at's chain."""

    bone: _own.text("Bone", "Bone of the chain", update=_name_after_bone)
    share: _own.number(
        "Share",
        "Part of the turn that this bone takes, relative to the shares of the other bones",
        0.25,
        max=1000.0,
        min=0.001,
        soft_max=1.0,
    )
    settle_factor: _own.number(
        "Settle Factor",
        "Settle time of this bone as a factor of that of the look-at; increase it down the spine so that the "
        "head leads",
        1.0,
        max=100.0,
        min=0.05,
        soft_max=4.0,
    )
    yaw_limit: _own.angle(
        "Yaw Limit", "Largest angle to either side that the look-at adds to the animation", 60.0, max=170.0
    )
    pitch_up_limit: _own.angle(
        "Up Limit", "Largest upward angle that the look-at adds to the animation", 45.0, max=170.0
    )
    pitch_down_limit: _own.angle(
        "Down Limit", "Largest downward angle that the look-at adds to the animation", 45.0, max=170.0
    )
    makes_up: _own.switch(
        "Compensate Lag", "Turn this bone further while slower bones below it lag behind (always on for the head)"
    )
