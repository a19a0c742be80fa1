"""Settings of clips in place, clips that travel and clips along a path, stored in the scene.

No `from __future__ import annotations` here: Blender reads the annotations.
"""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, PointerProperty

from .path_following import EASE

REMOVED_ITEMS = (
    ("EVEN", "Mean Velocity", "Remove constant velocity and turning speed; the sway of the root stays"),
    ("SMOOTH", "Smoothed Path", "Remove what is slower than a stride, for clips that start, stop or turn; sway stays"),
    ("ALL", "All Motion", "Remove all motion of the root on the ground; sway is lost"),
)


class Removing:
    """Mixin of the settings and of the operator: what a clip in place lacks."""

    removed: EnumProperty(name="Remove", description="What is removed from the motion of the root", items=REMOVED_ITEMS)


class Travelling:
    """Mixin of the settings and of the operators: the speed of a clip."""

    use_feet_speed: BoolProperty(
        name="Speed from Feet",
        description="Measure the speed and its direction: a foot on the ground moves back as fast as the body moves on",
        default=True,
    )
    speed: FloatProperty(
        name="Speed",
        description="Speed over the ground in meters per second",
        default=1.4,
        min=0.0,
        soft_max=10.0,
        max=1e6,
        unit="VELOCITY",
    )


class Turning:
    """Mixin of the settings and of the operator: where a clip travels."""

    direction: FloatProperty(
        name="Direction",
        description="Direction of travel from where the character faces, to the left",
        subtype="ANGLE",
        min=-6.2832,
        max=6.2832,
    )
    turn_speed: FloatProperty(
        name="Turn Speed",
        description="Angle per second by which the character turns, to the left",
        subtype="ANGLE",
        min=-62.832,
        max=62.832,
    )
    use_feet_turn: BoolProperty(
        name="Turn from Feet", description="Measure from the feet how fast the character turns at each frame"
    )


class Eased:
    """Mixin of the settings and of the operator: how a clip follows a path."""

    ease: FloatProperty(
        name="Ease",
        description="Time in seconds over which the heading follows a turn of the path",
        default=EASE,
        min=0.0,
        soft_max=2.0,
        max=60.0,
    )
    lock_path_feet: BoolProperty(
        name="Lock Feet",
        description="Keep feet that are on the ground on their places; legs and hips are corrected",
        default=True,
    )


def is_path(self, item: bpy.types.Object) -> bool:
    """Whether a clip can follow an object: a curve, or anything else with an action but an armature."""
    moves = item.animation_data is not None and item.animation_data.action is not None
    return item.type == "CURVE" or (moves and item.type != "ARMATURE")


class TravelSettings(Removing, Travelling, Turning, Eased, bpy.types.PropertyGroup):
    """Settings of clips in place and on the move."""

    path: PointerProperty(
        type=bpy.types.Object,
        name="Path",
        description="Curve to follow, or another object with keys on its location, such as an empty",
        poll=is_path,
    )


_register, _unregister = bpy.utils.register_classes_factory((TravelSettings,))


def register() -> None:
    _register()
    bpy.types.Scene.lookat_pd_travel = PointerProperty(type=TravelSettings, name="Look-at PD Travel")


def unregister() -> None:
    del bpy.types.Scene.lookat_pd_travel
    _unregister()
