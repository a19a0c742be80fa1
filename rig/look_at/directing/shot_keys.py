"""Keys of look-ats that belong to the shot: F-curves of an action of the armature's data, not of the character's clip.

The clip is the action of the armature object: switching, joining, looping or baking clips leaves the keys of the shot
as they are. Each look-at with such keys has an item in `armature.data.lookat_pd_shot`, whose properties the F-curves
animate, and each of its settings with an F-curve follows the item by a driver. What is read of `pose_bone.lookat_pd`,
by solvers and scripts, is therefore the same as with keys in the clip.

Scripts and files of earlier versions key the settings themselves, in the clip. A setting with keys there follows these
while the clip plays, and has no driver meanwhile.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy

from ....lookat_pd.errors import RigError
from ...animation import actions, editable
from ...animation.keys import Keys
from ...animation.stored_settings import read
from ..setting_paths import settings_path
from . import shot_drivers, shot_home, shot_items
from .shot_home import ITEMS, Home, in_object


def home(armature: bpy.types.Object, bone: str, setting: str) -> Home:
    """Where the keys of a setting that have an effect are, or its value if it has none."""
    shot, own = shot_items.in_shot(armature, bone, setting), in_object(armature, bone, setting)
    if shot is None or own.path in _keyed_in_clip(armature, bone):
        return own
    if shot_drivers.follows(armature, own.path) or shot_home.is_keyed(armature.data, shot.path):
        return shot
    return own


def homes(armature: bpy.types.Object, bone: str, setting: str) -> list[Home]:
    """All places where a setting may have keys."""
    shot = shot_items.in_shot(armature, bone, setting)
    return [in_object(armature, bone, setting), *([shot] if shot is not None else [])]


def in_clip(armature: bpy.types.Object, bone: str) -> list[str]:
    """Settings of a look-at that the clip keys: the current action of the armature, or strips of its NLA."""
    keyed = _keyed_in_clip(armature, bone)
    return [setting for setting in _settings(armature, bone) if in_object(armature, bone, setting).path in keyed]


def check_action(action: bpy.types.Action | None) -> None:
    """Raise RigError if the keys of an action cannot be changed."""
    if action is not None and not action.is_editable:
        raise RigError(
            "Action '{action}' is linked from a library; make a copy of it before keying the look-at.",
            action=action.name,
        )


def make(armature: bpy.types.Object, bone: str, setting: str) -> Home:
    """The place for keys of a setting, made if there is none. Raises RigError before any change.

    Keys stay together: a look-at whose keys are in the clip, as in files of earlier versions, gets further keys there.
    """
    path = in_object(armature, bone, setting).path
    if shot_items.place_of(armature, bone) is None and in_clip(armature, bone):
        return Home(armature, path)
    place = home(armature, bone, setting)
    if place.owner == armature and shot_home.is_keyed(armature, path):
        return place
    shot_items.check(armature)
    if place.owner == armature and shot_drivers.driver_of(armature, path) is not None:
        raise RigError(
            "'{setting}' of the look-at on '{bone}' has a driver; delete the driver to insert keys.",
            setting=setting,
            bone=bone,
        )
    value = place.value
    shot_items.own_action(armature)
    shot = Home(armature.data, f"{ITEMS}[{shot_items.own_item(armature, bone)}].{setting}")
    shot_items.make_targets(shot)
    if place.owner == armature:
        shot.set(value)
        shot_drivers.follow(armature, path, shot)
    return shot


def move(look_ats: Sequence[tuple[bpy.types.Object, str]]) -> int:
    """Move the keys of look-ats, armature and bone, from the clip to the shot; how many settings had some.

    They replace keys of the shot, which have had no effect while the clip played. Raises RigError before any change.
    """
    sources_of = [(armature, bone, _sources(armature, bone)) for armature, bone in look_ats]
    for armature, bone, sources in sources_of:
        if sources:
            shot_items.own_action(armature)
            n = shot_items.own_item(armature, bone)
            for setting, source in sources.items():
                _take_over(armature, bone, setting, Home(armature.data, f"{ITEMS}[{n}].{setting}"), source)
            mend(armature)
            armature.data.update_tag()
    return sum(len(sources) for _, _, sources in sources_of)


def _sources(armature: bpy.types.Object, bone: str) -> "dict[str, _Source]":
    """Settings of a look-at whose keys can be moved. Raises RigError."""
    paths = {setting: in_object(armature, bone, setting).path for setting in in_clip(armature, bone)}
    # A driver of the animator's hides the keys, here and there.
    found = {
        name: _source(armature, path) for name, path in paths.items() if shot_drivers.driver_of(armature, path) is None
    }
    if found:
        shot_items.check(armature)
    return found


def _take_over(armature: bpy.types.Object, bone: str, setting: str, shot: Home, source: "_Source") -> None:
    shot_items.make_targets(shot)
    shot.set(in_object(armature, bone, setting).value)
    shot.remove_curve()
    shot_items.copy_curve(source.curve, shot, shot_items.group(armature, bone), source.keys)
    actions.channelbag(source.action, source.slot).fcurves.remove(source.curve)


def write_through(settings: bpy.types.PropertyGroup, name: str) -> None:
    """Let the property that the keys of the shot animate have what was set on the setting that follows it.

    Otherwise the driver would undo it at the next evaluation, and nothing set by a script could be keyed.
    """
    armature = settings.id_data
    if armature.type != "ARMATURE" or not len(armature.data.lookat_pd_shot):
        return
    pointer = settings.as_pointer()
    for bone in armature.pose.bones:
        if read(bone, "lookat_pd").shot:
            groups = {"": bone.lookat_pd, **{f"targets[{n}].": item for n, item in enumerate(bone.lookat_pd.targets)}}
            for start, group_ in groups.items():
                if group_.as_pointer() == pointer:
                    place, value = home(armature, bone.name, start + name), getattr(settings, name)
                    if place.owner != armature and place.owner.is_editable and place.value != value:
                        place.set(value)
                    return


def exchange(armature: bpy.types.Object, bone: str, one: str, other: str) -> None:
    """Let two settings exchange their F-curves, in the clip and in the shot."""
    for first, second in zip(homes(armature, bone, one), homes(armature, bone, other), strict=True):
        paths = {first.path: second.path, second.path: first.path}
        data = first.owner.animation_data
        for curve in actions.curves(data.action, data.action_slot) if data else ():
            curve.data_path = paths.get(curve.data_path, curve.data_path)
        if first.owner != armature:
            for home_ in (first, second):
                shot_items.make_targets(home_)
            was = first.value
            first.set(second.value)
            second.set(was)
    mend(armature)


def mend(armature: bpy.types.Object) -> None:
    """Bring the drivers of an armature in line with its keys of the shot.

    Keys may come and go in any animation editor, the clip may have keys of its own, library overrides do not save
    drivers, and bones are renamed.
    """
    shot_items.take_back(armature)
    items, drivers = armature.data.lookat_pd_shot, list(shot_drivers.own_drivers(armature))
    if not len(items) and not drivers:
        return
    keyed, wanted, taken = shot_home.keyed(armature.data), {}, set()
    for bone in armature.pose.bones:
        n = read(bone, "lookat_pd").shot - 1
        if n in taken:
            # A copy of a bone brings the number of the original along.
            bone.lookat_pd.shot = 0
        elif 0 <= n < len(items):
            taken.add(n)
            start = f"{ITEMS}[{n}]."
            driven = {
                f"{settings_path(bone.name)}.{path[len(start) :]}": path for path in keyed if path.startswith(start)
            }
            own = _keyed_in_clip(armature, bone.name) if driven else ()
            wanted.update(
                {
                    path: source
                    for path, source in driven.items()
                    if path not in own and shot_drivers.exists(armature, path)
                }
            )
            if driven and armature.data.is_editable:
                shot_items.name_item(armature, n, bone.name)
    for driver in drivers:
        source = driver.driver.variables[0].targets[0]
        path = wanted.pop(driver.data_path, None)
        if path is None:
            shot_drivers.let_go(armature, driver)
        elif (source.id, source.data_path) != (armature.data, path):
            source.id, source.data_path = armature.data, path
        if path is not None and not driver.driver.is_valid:
            # Blender gives up on it while the extension is disabled.
            driver.driver.is_valid = True
    for path, source in wanted.items():
        if shot_drivers.driver_of(armature, path) is None:
            shot_drivers.follow(armature, path, Home(armature.data, source))


def tidy(armature: bpy.types.Object) -> None:
    """Remove what no keys of the shot need any more: drivers, items, and an action that was made for keys."""
    mend(armature)
    data = armature.data
    if not len(data.lookat_pd_shot) or not data.is_editable:
        return
    keyed = shot_home.keyed(data)
    for bone in armature.pose.bones:
        n = read(bone, "lookat_pd").shot - 1
        if n >= 0 and not any(path.startswith(f"{ITEMS}[{n}].") for path in keyed):
            bone.lookat_pd.shot = 0
    shot_items.remove_unused(data)


def _settings(armature: bpy.types.Object, bone: str) -> list[str]:
    """Settings of a look-at that may have keys of the shot."""
    kind = armature.data.bl_rna.properties[ITEMS].fixed_type
    names = [name for name in kind.properties.keys() if name not in ("rna_type", "name", "targets")]
    return [*names, *(f"targets[{n}].weight" for n in range(len(armature.pose.bones[bone].lookat_pd.targets)))]


_without_keys: dict[tuple[int, int, tuple[str, ...]], int] = {}
"""Number of F-curves of a clip that has none for these paths, by action, slot and paths: panels ask at each redraw, and
a character may have dozens of clips with thousands of curves."""


def _keyed_in_clip(armature: bpy.types.Object, bone: str) -> list[str]:
    """Data paths of the settings of a look-at that have keys in the action of the armature or in its NLA."""
    paths = tuple(in_object(armature, bone, setting).path for setting in _settings(armature, bone))
    keyed: set[str] = set()
    for action, slot, _ in shot_home.playing(armature):
        curves = actions.curves(action, slot)
        key, count = (action.session_uid, slot.handle, paths), len(curves)
        if not count or _without_keys.get(key) == count:
            continue
        # Blender looks through thousands of curves in the time in which Python reads the paths of a few.
        found = {path for path in paths if curves.find(path) is not None}
        keyed |= found
        if not found:
            _without_keys[key] = count
    return [path for path in paths if path in keyed]


@dataclass(frozen=True)
class _Source:
    """An F-curve of a clip, and its keys at the frames of the scene."""

    action: bpy.types.Action
    slot: bpy.types.ActionSlot
    curve: Any
    keys: Keys


def _source(armature: bpy.types.Object, path: str) -> _Source:
    """Where the clip has the keys of a setting. Raises RigError if they cannot be moved."""
    editable.check_tweak_mode(armature)
    keyed = [item for item in shot_home.playing(armature) if actions.curves_at(*item[:2], path, 1)[0] is not None]
    action, slot, strip = keyed[0]
    if len(keyed) > 1 or (strip is not None and not _is_plain(strip)):
        raise RigError(
            "The keys of look-ats of '{armature}' are in several actions, or in a strip of the NLA that is repeated, "
            "reversed or blended; bake the NLA into one action first.",
            armature=armature.name,
        )
    check_action(action)
    others = [user.name for user in slot.users() if user != armature]
    if others:
        raise RigError(
            "Action '{action}' also animates '{other}'; make a copy of it for '{armature}' first.",
            action=action.name,
            other=others[0],
            armature=armature.name,
        )
    curve = actions.curves_at(action, slot, path, 1)[0]
    keys = Keys.read(curve)
    if strip is not None:
        keys.attributes = keys.attributes.copy()
        for name in ("co", "handle_left", "handle_right"):
            frames = keys.attributes[name][:, 0]
            frames[:] = strip.frame_start + (frames - strip.action_frame_start) * strip.scale
    return _Source(action, slot, curve, keys)


def _is_plain(strip: bpy.types.NlaStrip) -> bool:
    """Whether a strip plays its action once, forwards and alone."""
    changed = strip.use_reverse or strip.use_animated_time or strip.use_animated_influence
    return strip.repeat == 1.0 and strip.blend_type == "REPLACE" and not changed
