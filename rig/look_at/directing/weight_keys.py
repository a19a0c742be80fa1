"""The weights of targets and their F-curves, when targets of a look-at change places."""

import bpy

from ..setting_paths import weight_name
from . import shot_keys


def swap(armature: bpy.types.Object, bone: str, number: int, to: int) -> None:
    """Let two targets exchange their weights and the keys of these."""
    settings = armature.pose.bones[bone].lookat_pd
    first, second = _get(settings, number), _get(settings, to)
    shot_keys.exchange(armature, bone, weight_name(number), weight_name(to))
    _set(settings, number, second)
    _set(settings, to, first)


def remove(armature: bpy.types.Object, bone: str, number: int) -> None:
    """Move the weights of the targets after one, and their keys, to the places before."""
    settings = armature.pose.bones[bone].lookat_pd
    count = len(settings.targets)
    for place in range(number, count):
        swap(armature, bone, place, place + 1)
    if count:
        for home in shot_keys.homes(armature, bone, weight_name(count)):
            home.remove_curve()
        shot_keys.tidy(armature)
    _set(settings, count, 1.0)


def _get(settings, number: int) -> float:
    return settings.target_weight if number == 0 else settings.targets[number - 1].weight


def _set(settings, number: int, weight: float) -> None:
    if number == 0:
        settings.target_weight = weight
    else:
        settings.targets[number - 1].weight = weight
