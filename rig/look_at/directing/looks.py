"""Directing the gaze: the targets of a look-at by number, and keys of the active target.

Number 0 is the look-at's main target, 1 the first row of its list of additional targets. An empty row, or a number
beyond the list, is no target.
"""

from collections.abc import Sequence
from contextlib import suppress
from math import inf

import bpy

from ....lookat_pd.errors import RigError
from ...animation import editable
from ...detection import detect, rest
from ...sampling import targets
from ...sampling.scene_time import key_range
from ...sampling.targets import Target
from .. import resolve as look_at
from ..setting_paths import weight_name
from . import markers, setting_keys, shot_keys

_AWAY = ("off", "away")


def chosen(settings) -> Target:
    """The active target in the current settings, even if the look-at is off; an empty one if there is none."""
    there, number = targets.listed(settings), settings.active_target
    return there[number] if number < len(there) else Target()


def active(settings) -> int | None:
    """Number of the current target in the settings; None if the look-at is off or has no target."""
    return settings.active_target if settings.use and chosen(settings) != Target() else None


def add(armature: bpy.types.Object, bone: str, target: Target) -> int:
    """The number of a target, which is appended to the list if missing; an empty one is always appended.

    Raises RigError before any change.
    """
    settings = _settings(armature, bone)
    check(armature, bone, target)
    known = targets.listed(settings)
    if target != Target():
        if target in known:
            return known.index(target)
        if settings.target is None and not setting_keys.frames(armature, bone, "active_target"):
            write(settings, [target, *known[1:]])
            return 0
    write(settings, [*known, target])
    return len(known)


def check(armature: bpy.types.Object, bone: str, target: Target) -> None:
    """Raise RigError if a target cannot be used by a look-at; an empty one can."""
    if target == Target():
        return
    chain = [link.bone for link in armature.pose.bones[bone].lookat_pd.chain]
    if not chain:
        chain = [link.bone for link in detect.find_chain(rest.skeleton(armature), bone, rest.hints(armature))]
    targets.check(armature, chain, target)


def remove(armature: bpy.types.Object, bone: str, number: int) -> None:
    """Remove a target from the list. Keys are renumbered; those of this target are deleted.

    If the main target is removed, the first additional target replaces it. Raises RigError before any change.
    """
    settings = _settings(armature, bone)
    known = targets.listed(settings)
    _check_number(bone, known, number)
    setting_keys.renumber(armature, bone, lambda n: None if n == number else n - (n > number))
    _remove_weight(armature, bone, number)
    write(settings, known[:number] + known[number + 1 :] or [Target()])


def move(armature: bpy.types.Object, bone: str, number: int, to: int) -> None:
    """Swap two targets and renumber their keys. Raises RigError before any change."""
    settings = _settings(armature, bone)
    known = targets.listed(settings)
    for place in (number, to):
        _check_number(bone, known, place)
    setting_keys.renumber(armature, bone, lambda n: {number: to, to: number}.get(n, n))
    _swap_weights(armature, bone, number, to)
    known[number], known[to] = known[to], known[number]
    write(settings, known)


def look(scene: bpy.types.Scene, armature: bpy.types.Object, bone: str, number: int, frame: float) -> None:
    """Key a target from a frame. Earlier frames do not change. Raises RigError."""
    _check_look(armature, bone, number)
    write_keys(scene, armature, bone, [(frame, number)])


def _check_look(armature: bpy.types.Object, bone: str, number: int) -> None:
    """Raise RigError where a target cannot be keyed."""
    settings = _settings(armature, bone)
    known = targets.listed(settings)
    _check_number(bone, known, number)
    if known[number] == Target():
        raise RigError(
            "Target {number} of the look-at on '{bone}' is empty; choose an object.", number=number, bone=bone
        )
    if settings.use_mix:
        raise RigError(
            "The look-at on '{bone}' mixes its targets; insert keys on their weights, or disable Mix Targets.",
            bone=bone,
        )


def glance(
    scene: bpy.types.Scene, armature: bpy.types.Object, bone: str, number: int, frame: float, frames: float
) -> None:
    """Key a target from a frame on for a number of `frames`, and then what the keys have there. Raises RigError.

    Keys in between are deleted, earlier and later frames do not change.
    """
    _check_look(armature, bone, number)
    setting_keys.check(armature, bone)
    begin, end = key_range(scene)[0], frame + max(frames, 1.0)
    wanted = {"use": 1, "active_target": number}
    after = {setting: setting_keys.value(armature, bone, setting, end) for setting in wanted}
    before = {setting: setting_keys.value(armature, bone, setting, frame - 1.0) for setting in wanted}
    setting_keys.clear(armature, bone, frame, end, begin)
    settings = armature.pose.bones[bone].lookat_pd
    for setting, value in wanted.items():
        if not setting_keys.frames(armature, bone, setting):
            setattr(settings, setting, before[setting])
        setting_keys.put(armature, bone, setting, [(frame, value), (end, after[setting])], begin)
    setting_keys.show(armature, bone, here(scene))


def look_away(scene: bpy.types.Scene, armature: bpy.types.Object, bone: str, frame: float) -> None:
    """Key no target from a frame. Earlier frames do not change. Raises RigError."""
    write_keys(scene, armature, bone, [(frame, None)])


def write_keys(
    scene: bpy.types.Scene, armature: bpy.types.Object, bone: str, looks: Sequence[tuple[float, int | None]]
) -> None:
    """Key targets with their start frames, in order of time: numbers, None for no target. Raises RigError."""
    _settings(armature, bone)
    setting_keys.check(armature, bone)
    begin = key_range(scene)[0]
    setting_keys.put(armature, bone, "use", [(frame, number is not None) for frame, number in looks], begin)
    numbers = [(frame, number) for frame, number in looks if number is not None]
    if numbers:
        setting_keys.put(armature, bone, "active_target", numbers, begin)
    setting_keys.show(armature, bone, here(scene))


def here(scene: bpy.types.Scene) -> float:
    """The current frame of the scene in frames of keys, which differ if its time is stretched."""
    return key_frame(scene, scene.frame_current)


def key_frame(scene: bpy.types.Scene, frame: int) -> float:
    return frame * scene.render.frame_map_old / scene.render.frame_map_new


def from_markers(scene: bpy.types.Scene, armature: bpy.types.Object, bone: str) -> int:
    """Key the targets named by the markers of the scene, from their frames: objects, "Hero:head", "off" or "away".

    Existing keys of targets and of on and off are replaced; new targets are added to the list. Returns the number of
    markers. Raises RigError before any change.
    """
    _settings(armature, bone)
    setting_keys.check(armature, bone)
    wanted: list[tuple[int, Target | None]] = []
    unknown = []
    for frame, name in markers.read(scene):
        target = None if name.lower() in _AWAY else _named(scene, name)
        if target == Target():
            unknown.append(name)
        wanted.append((frame, target))
    if unknown:
        raise RigError(
            "The scene has no object or bone {names}; name each marker after an object, a bone (Hero:head) or off.",
            names=markers.quoted(unknown),
        )
    for _, target in wanted:
        if target is not None:
            check(armature, bone, target)
    setting_keys.clear(armature, bone, -inf, inf, key_range(scene)[0])
    looks = [(frame, None if target is None else add(armature, bone, target)) for frame, target in wanted]
    write_keys(scene, armature, bone, [(key_frame(scene, frame), number) for frame, number in looks])
    return len(looks)


def _named(scene: bpy.types.Scene, name: str) -> Target:
    item = scene.objects.get(name)
    if item is not None:
        return look_at.face(item)
    owner, _, bone = (part.strip() for part in name.rpartition(":"))
    item = scene.objects.get(owner)
    return Target(item, bone) if item is not None and item.pose and bone in item.pose.bones else Target()


def _settings(armature: bpy.types.Object, bone: str):
    """The settings of the look-at on a bone. Raises RigError if they cannot be changed."""
    editable.check_armature(armature)
    editable.check_exists(armature, bone)
    return armature.pose.bones[bone].lookat_pd


def _check_number(bone: str, found: Sequence[Target], number: int) -> None:
    if not 0 <= number < len(found):
        raise RigError(
            "The look-at on '{bone}' has no target {number}; choose a target from its list.", bone=bone, number=number
        )


def write(settings, wanted: Sequence[Target]) -> None:
    """Set the targets, the main one first; rows that a library override cannot remove are emptied."""
    items = settings.targets
    if (settings.target, settings.subtarget) != (wanted[0].object, wanted[0].bone):
        settings.target, settings.subtarget = wanted[0].object, wanted[0].bone
    for n, target in enumerate(wanted[1:]):
        item = items[n] if n < len(items) else items.add()
        if (item.object, item.bone) != (target.object, target.bone):
            item.object, item.bone = target.object, target.bone
    for n in range(len(items) - 1, len(wanted) - 2, -1):
        items[n].object, items[n].bone = None, ""
        with suppress(TypeError):
            items.remove(n)
    settings.id_data.update_tag(refresh={"OBJECT"})


def _swap_weights(armature: bpy.types.Object, bone: str, number: int, to: int) -> None:
    """Let two targets exchange their weights and the keys of these."""
    settings = armature.pose.bones[bone].lookat_pd
    first, second = _weight(settings, number), _weight(settings, to)
    shot_keys.exchange(armature, bone, weight_name(number), weight_name(to))
    _set_weight(settings, number, second)
    _set_weight(settings, to, first)


def _remove_weight(armature: bpy.types.Object, bone: str, number: int) -> None:
    """Move the weights of the targets after one, and their keys, to the places before."""
    settings = armature.pose.bones[bone].lookat_pd
    count = len(settings.targets)
    for place in range(number, count):
        _swap_weights(armature, bone, place, place + 1)
    if count:
        for home in shot_keys.homes(armature, bone, weight_name(count)):
            home.remove_curve()
        shot_keys.tidy(armature)
    _set_weight(settings, count, 1.0)


def _weight(settings, number: int) -> float:
    return settings.target_weight if number == 0 else settings.targets[number - 1].weight


def _set_weight(settings, number: int, weight: float) -> None:
    if number == 0:
        settings.target_weight = weight
    else:
        settings.targets[number - 1].weight = weight
