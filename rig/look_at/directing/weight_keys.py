"""The weights of targets and their F-curves, when targets of a look-at change places."""

from collections.abc import Iterator

import bpy

from ...animation import actions
from ...sampling import fingerprint


def path(bone: str, number: int) -> str:
    """Data path of the weight of a target."""
    start = f"{fingerprint.bone_path(bone)}.lookat_pd."
    return f"{start}target_weight" if number == 0 else f"{start}targets[{number - 1}].weight"


def swap(armature: bpy.types.Object, bone: str, number: int, to: int) -> None:
    """Let two targets exchange their weights and the keys of these."""
    settings = armature.pose.bones[bone].lookat_pd
    first, second = _get(settings, number), _get(settings, to)
    _set(settings, number, second)
    _set(settings, to, first)
    paths = {path(bone, number): path(bone, to), path(bone, to): path(bone, number)}
    for curve in _curves(armature):
        curve.data_path = paths.get(curve.data_path, curve.data_path)


def remove(armature: bpy.types.Object, bone: str, number: int) -> None:
    """Move the weights of the targets after one, and their keys, to the places before."""
    settings = armature.pose.bones[bone].lookat_pd
    for place in range(number, len(settings.targets)):
        swap(armature, bone, place, place + 1)
    last = path(bone, len(settings.targets))
    if len(settings.targets):
        actions.remove_curves(armature, last)
    _set(settings, len(settings.targets), 1.0)


def _get(settings, number: int) -> float:
    return settings.target_weight if number == 0 else settings.targets[number - 1].weight


def _set(settings, number: int, weight: float) -> None:
    if number == 0:
        settings.target_weight = weight
    else:
        settings.targets[number - 1].weight = weight


def _curves(armature: bpy.types.Object) -> Iterator[bpy.types.FCurve]:
    """The F-curves of the action that the armature plays."""
    data = armature.animation_data
    if data is not None and data.action is not None:
        bag = actions.channelbag(data.action, data.action_slot)
        yield from bag.fcurves if bag is not None else ()
