"""The settings of springs, on the first bone of each chain: `pose_bone.lookat_pd_springs`.

Every setting is an input; nothing here is simulation state. No postponed annotations: Blender reads them.
"""

from collections.abc import Callable
from math import isclose
from typing import Any

import bpy

from ..animation.stored_settings import registration
from ..layers.controller_settings import EDITABLE, changed, setting, settle_time
from ..settings import Properties, pointer
from .materials import BY_ID, MATERIALS, SET

NAME = "lookat_pd_springs"
listeners: list[Callable[[], None]] = []
"""Called when other bones may have springs."""


def is_other(settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """After a change of what swings or of what it collides with."""
    for listener in listeners:
        listener()
    changed(settings, context)


def _use_preset(settings: "SpringSettings", context: bpy.types.Context) -> None:
    use_preset(settings, settings.preset)


_deciding = Properties(override=EDITABLE, update=is_other, options=set())


def _name_after_bone(item: "SpringBone", context: bpy.types.Context) -> None:
    """Library overrides identify the items of a collection by their names."""
    if item.id_data.override_library is None or not item.name:
        item.name = item.bone
    is_other(item, context)


def _at_tip(name: str, what: str) -> Any:
    return setting.number(
        name, f"{what} of the last bone as a factor of that of the first one", 1.0, max=10.0, soft_max=2.0
    )


def _of_bone(name: str, what: str, by: Properties = setting) -> Any:
    return by.number(
        name, f"Factor of this bone's {what}, besides that of the settings along the chain", 1.0, max=1e4, soft_max=4.0
    )


class SpringBone(bpy.types.PropertyGroup):
    """One bone of a chain."""

    bone: _deciding.text("Bone", "Bone of the chain", update=_name_after_bone)
    settle_factor: _of_bone("Settle Time", "settle time")
    damping_factor: _of_bone("Damping", "damping")
    drag_factor: _of_bone("Drag", "drag")
    gravity_factor: _of_bone("Gravity", "gravity")
    radius_factor: _of_bone("Radius", "radius")
    wind_factor: _of_bone("Wind", "wind and force fields")
    inertia_factor: _of_bone("Inertia", "inertia", _deciding)
    limit_factor: _of_bone("Limit", "limit")
    stretch_factor: _of_bone("Stretch", "stretch")


class SpringSettings(bpy.types.PropertyGroup):
    """How a chain of bones swings."""

    exists: _deciding.switch("Springs", "This bone is the first of a chain with springs", options={"HIDDEN"})
    mute: _deciding.switch("Mute", "Disable the springs. Baking mutes them because their motion is then in the keys")
    bones: setting.collection(SpringBone, "Bones", "Bones of the chain, the first one first")
    preset: setting.choice(
        "Preset",
        "How it swings, by what it is; sets the values below",
        tuple((row.id, row.label, row.description) for row in MATERIALS),
        update=_use_preset,
    )
    settle_time: settle_time("Time in seconds until the whole chain has settled; longer is softer")
    damping_ratio: setting.number(
        "Damping",
        "Damping ratio of the swing: lower values swing for longer, at 1 nothing swings past",
        0.5,
        max=10.0,
        soft_max=1.5,
    )
    gravity: setting.number(
        "Gravity",
        "Part of the gravity of the scene that pulls the chain down from its animated pose",
        max=1000.0,
        min=-1000.0,
        soft_min=0.0,
        soft_max=1.0,
    )
    tip_factor: setting.number(
        "Tip Factor",
        "Settle time of the last bone as a factor of that of the first one; above 1 the tip is softer",
        1.6,
        max=20.0,
        min=0.05,
        soft_min=0.5,
        soft_max=4.0,
    )
    tip_damping: _at_tip("Tip Damping", "Damping")
    tip_gravity: _at_tip("Tip Gravity", "Gravity")
    tip_radius: _at_tip("Tip Radius", "Radius")
    tip_drag: _at_tip("Tip Drag", "Drag")
    falloff: setting.number(
        "Falloff Shape",
        "Where along the chain the tip factors come in: at 1 evenly, above near the tip, below near the root",
        1.0,
        max=20.0,
        min=0.05,
        soft_min=0.25,
        soft_max=4.0,
    )
    drag: setting.number("Drag", "Resistance of still air: the chain trails behind", 0.5, max=1000.0, soft_max=10.0)
    one_way: setting.switch(
        "One Way",
        "Each bone swings on the result of the one before without pulling at it, held with the same strength at every "
        "angle, as in VRM and game engines",
    )
    center: _deciding.text(
        "Center", "Bone of whose motion only that part is felt that Inertia says; nothing for the armature object"
    )
    collider_groups: _deciding.text(
        "Collider Groups", "Groups of the colliders that the chain collides with, divided by commas; nothing for all"
    )
    inertia: _deciding.factor(
        "Inertia",
        "Part of the motion of the center that is felt, which is the armature object or a bone; at 0 only the "
        "animation within it swings the chain",
        1.0,
    )
    limit: setting.angle(
        "Limit", "Largest angle by which each bone swings from the one on which it hangs", 180.0, max=180.0, min=1.0
    )
    stretch: _deciding.factor(
        "Stretch", "Part of the swing along a bone by which the next joint moves away; the bones must not be connected"
    )
    wind: setting.vector(
        "Wind",
        "Acceleration by which wind pushes the chain, along the axes of the world",
        size=3,
        min=-1e4,
        max=1e4,
        subtype="ACCELERATION",
    )
    turbulence: setting.factor("Turbulence", "Largest change of the strength of the wind by gusts", 0.3)
    fields: _deciding.switch("Force Fields", "Force fields of the scene of the type Wind push the chain", True)
    collide: setting.switch(
        "Collide", "Do not pass through the colliders of the scene and the floor, where there are any", True
    )
    radius: setting.number(
        "Radius",
        "Distance of the chain's surface from its bones, for collisions",
        max=100.0,
        soft_max=0.2,
        subtype="DISTANCE",
        step=1,
        precision=3,
    )
    floor: setting.switch("Floor", "Do not pass through the floor, at the height Z = 0 of the world")
    influence: setting.factor("Influence", "Amount of the swing that is added to the animation", 1.0)
    cyclic: setting.switch(
        "Cyclic", "On a cyclic action end each cycle as it began, without a seam; otherwise begin at rest", True
    )


OF_BONE = tuple(name for name in SpringBone.__annotations__ if name.endswith("_factor"))
"""What each bone has of its own."""
TIPS = {
    "settle_factor": "tip_factor",
    "damping_factor": "tip_damping",
    "drag_factor": "tip_drag",
    "gravity_factor": "tip_gravity",
    "radius_factor": "tip_radius",
}
"""Of which of these a chain has a factor for its tip, and which."""
DRAWN = {tip: name for name, tip in TIPS.items()} | {
    "wind": "wind_factor",
    "inertia": "inertia_factor",
    "limit": "limit_factor",
    "stretch": "stretch_factor",
}
"""Settings of a chain beside which its change along the chain is drawn, and what of the bones that is."""
NOT_TUNING = ("rna_type", "name", "exists", "mute", "bones", "preset")


def use_preset(settings: SpringSettings, name: str) -> None:
    """Set what a preset sets."""
    for setting_name in SET:
        setattr(settings, setting_name, getattr(BY_ID[name], setting_name))


def is_as_preset(settings: SpringSettings) -> bool:
    """Whether all that the preset sets is still as it sets it."""
    row = BY_ID[settings.preset]
    return all(isclose(getattr(settings, name), getattr(row, name), rel_tol=1e-5, abs_tol=1e-6) for name in SET)


def values(settings: SpringSettings) -> tuple:
    """All that decides about the motion of given bones, to tell whether it has changed."""
    names = [name for name in settings.bl_rna.properties.keys() if name not in NOT_TUNING]
    every = (getattr(settings, name) for name in names)
    chain = tuple(tuple(value) if hasattr(value, "__len__") else value for value in every)
    return *chain, *(tuple(getattr(item, name) for name in OF_BONE) for item in settings.bones)


register, unregister = registration(
    (SpringBone, SpringSettings), (bpy.types.PoseBone, NAME, pointer(SpringSettings, override=EDITABLE))
)
