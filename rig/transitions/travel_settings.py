"""Settings of clips in place, clips that travel and clips along a path, stored in the scene.

No `from __future__ import annotations` here: Blender reads the annotations.
"""

import bpy

from ..animation.stored_settings import registration
from ..settings import angle, choice, number, pointer, switch
from .path_following import EASE

REMOVED_ITEMS = (
    ("EVEN", "Mean Velocity", "Remove constant velocity and turning speed; the sway of the root stays"),
    ("SMOOTH", "Smoothed Path", "Remove what is slower than a stride, for clips that start, stop or turn; sway stays"),
    ("ALL", "All Motion", "Remove all motion of the root on the ground; sway is lost"),
)

PATH = "Curve to follow, or another object with keys on its location, such as an empty"


class Removing:
    """Mixin of the settings and of the operator: what a clip in place lacks."""

    removed: choice("Remove", "What is removed from the motion of the root", REMOVED_ITEMS)


class Travelling:
    """Mixin of the settings and of the operators: the speed of a clip."""

    use_feet_speed: switch(
        "Speed from Feet",
        "Measure the speed and its direction: a foot on the ground moves back as fast as the body moves on",
        True,
    )
    speed: number("Speed", "Speed over the ground in meters per second", 1.4, max=1e6, soft_max=10.0, unit="VELOCITY")


class Turning:
    """Mixin of the settings and of the operator: where a clip travels."""

    direction: angle(
        "Direction", "Direction of travel from where the character faces, to the left", max=360.0, min=-360.0
    )
    turn_speed: angle(
        "Turning Speed", "Angle per second by which the character turns, to the left", max=3600.0, min=-3600.0
    )
    use_feet_turn: switch("Turn from Feet", "Measure from the feet how fast the character turns at each frame")


class Eased:
    """Mixin of the settings and of the operator: how a clip follows a path."""

    ease: number(
        "Ease", "Time in seconds over which the heading follows a turn of the path", EASE, max=60.0, soft_max=2.0
    )
    lock_path_feet: switch(
        "Lock Feet", "Keep feet that are on the ground on their places; legs and hips are corrected", True
    )


def is_path(self, item: bpy.types.Object) -> bool:
    """Whether a clip can follow an object: a curve, or anything else with an action but an armature."""
    moves = item.animation_data is not None and item.animation_data.action is not None
    return item.type == "CURVE" or (moves and item.type != "ARMATURE")


class TravelSettings(Removing, Travelling, Turning, Eased, bpy.types.PropertyGroup):
    """Settings of clips in place and on the move."""

    path: pointer(
        bpy.types.Object,
        "Path",
        PATH,
        poll=is_path,
    )


register, unregister = registration(
    (TravelSettings,), scene=("lookat_pd_travel", pointer(TravelSettings, "Look-at PD Travel"))
)
