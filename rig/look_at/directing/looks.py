"""Directing the gaze: what a look-at may look at, by number, and keys that say when it looks at what.

Number 0 is the look-at's main target, 1 the first line of its list of further targets. An empty line, or a number
beyond the list, is nothing to look at.
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
from . import markers, setting_keys

_AWAY = ("off", "away")


def names_any(settings) -> bool:
    """Whether there is anything that a look-at may look at."""
    return any(target != Target() for target in targets.listed(settings))


def chosen(settings) -> Target:
    """The active target as the settings stand, whether it is looked at or not; an empty one where that is none."""
    there, number = targets.listed(settings), settings.active_target
    return there[number] if number < len(there) else Target()


def active(settings) -> int | None:
    """Number of what is looked at as the settings stand; None where they say away, or name nothing."""
    return settings.active_target if settings.use and chosen(settings) != Target() else None


def add(armature: bpy.types.Object, bone: str, target: Target) -> int:
    """The number of a target, which is put at the end of the list if it is not there; an empty one always is.

    Raises RigError, and then changes nothing.
    """
    settings = _settings(armature, bone)
    check(armature, bone, target)
    found = targets.listed(settings)
    if target != Target():
        if target in found:
            return found.index(target)
        if settings.target is None and not setting_keys.frames(armature, bone, "active_target"):
            _write(settings, [target, *found[1:]])
            return 0
    _write(settings, [*found, target])
    return len(found)


def check(armature: bpy.types.Object, bone: str, target: Target) -> None:
    """Raise RigError where a look-at cannot look at a target; an empty one is none."""
    if target == Target():
        return
    chain = [link.bone for link in armature.pose.bones[bone].lookat_pd.chain]
    if not chain:
        chain = [link.bone for link in detect.find_chain(rest.skeleton(armature), bone, rest.hints(armature))]
    targets.check(armature, chain, target)


def remove(armature: bpy.types.Object, bone: str, number: int) -> None:
    """Take a target from the list. Keys go on meaning what they meant; those that meant this one go.

    The first further target becomes the main one if that is taken. Raises RigError, and then changes nothing.
    """
    settings = _settings(armature, bone)
    found = targets.listed(settings)
    _check_number(bone, found, number)
    setting_keys.renumber(armature, bone, lambda n: None if n == number else n - (n > number))
    _write(settings, found[:number] + found[number + 1 :] or [Target()])


def move(armature: bpy.types.Object, bone: str, number: int, to: int) -> None:
    """Let two targets change places. Keys go on meaning what they meant. Raises RigError, and then changes nothing."""
    settings = _settings(armature, bone)
    found = targets.listed(settings)
    for place in (number, to):
        _check_number(bone, found, place)
    setting_keys.renumber(armature, bone, lambda n: {number: to, to: number}.get(n, n))
    found[number], found[to] = found[to], found[number]
    _write(settings, found)


def look(scene: bpy.types.Scene, armature: bpy.types.Object, bone: str, number: int, frame: float) -> None:
    """Key that a target is looked at from a frame on. Before it, what was stays. Raises RigError."""
    found = targets.listed(_settings(armature, bone))
    _check_number(bone, found, number)
    if found[number] == Target():
        raise RigError(
            "Target {number} of the look-at on '{bone}' is empty; choose an object.", number=number, bone=bone
        )
    write_keys(scene, armature, bone, [(frame, number)])


def look_away(scene: bpy.types.Scene, armature: bpy.types.Object, bone: str, frame: float) -> None:
    """Key that nothing is looked at from a frame on. Before it, what was stays. Raises RigError."""
    write_keys(scene, armature, bone, [(frame, None)])


def write_keys(
    scene: bpy.types.Scene, armature: bpy.types.Object, bone: str, looks: Sequence[tuple[float, int | None]]
) -> None:
    """Key what is looked at from which frame on, in order of time: numbers, None for nothing. Raises RigError."""
    _settings(armature, bone)
    setting_keys.check(armature)
    begin = key_range(scene)[0]
    setting_keys.put(armature, bone, "use", [(frame, number is not None) for frame, number in looks], begin)
    numbers = [(frame, number) for frame, number in looks if number is not None]
    if numbers:
        setting_keys.put(armature, bone, "active_target", numbers, begin)
    setting_keys.show(armature, bone, here(scene))


def here(scene: bpy.types.Scene) -> float:
    """The frame of keys that the scene shows: another than its own where its time is stretched."""
    return key_frame(scene, scene.frame_current)


def key_frame(scene: bpy.types.Scene, frame: int) -> float:
    return frame * scene.render.frame_map_old / scene.render.frame_map_new


def from_markers(scene: bpy.types.Scene, armature: bpy.types.Object, bone: str) -> int:
    """Look at what the scene's markers name, from where they stand: objects, "Hero:head", "off" or "away".

    Keys of targets and of on and off that were there are replaced; what is new comes into the list. Returns the number
    of markers. Raises RigError, and then changes nothing.
    """
    _settings(armature, bone)
    setting_keys.check(armature)
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
    """Those of the look-at on a bone. Raises RigError where they cannot be changed."""
    editable.check_armature(armature)
    if bone not in armature.pose.bones:
        raise RigError(
            "Armature '{armature}' has no bone '{name}'; choose one that exists.", armature=armature.name, name=bone
        )
    return armature.pose.bones[bone].lookat_pd


def _check_number(bone: str, found: Sequence[Target], number: int) -> None:
    if not 0 <= number < len(found):
        raise RigError(
            "The look-at on '{bone}' has no target {number}; choose a target from its list.", bone=bone, number=number
        )


def _write(settings, wanted: Sequence[Target]) -> None:
    """Make these the targets, the main one first; what a library override cannot take away is emptied."""
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
