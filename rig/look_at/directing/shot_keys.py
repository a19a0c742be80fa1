"""Keys of look-ats that belong to the shot: F-curves of an action of the armature's data, not of the character's clip.

The clip is the action of the armature object: switching, joining, looping or baking clips leaves the keys of the shot
as they are. Each look-at with such keys has an item in `armature.data.lookat_pd_shot`, whose properties the F-curves
animate, and each of its settings with an F-curve follows the item by a driver. What is read of `pose_bone.lookat_pd`,
by solvers and scripts, is therefore the same as with keys in the clip.

Scripts and files of earlier versions key the settings themselves, in the clip. A setting with keys there follows these
while the clip plays, and has no driver meanwhile.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import bpy

from ....lookat_pd.errors import RigError
from ...animation import actions, editable
from ...animation.keys import Keys
from ...animation.stored_settings import read
from ..setting_paths import setting_path, settings_path

_ITEMS = "lookat_pd_shot"
_MARK = "lookat_pd_shot"
"""Custom property of actions that were made for keys of the shot."""
_OF_LOOK_AT = ".lookat_pd."
"""What data paths of settings of look-ats contain."""


@dataclass(frozen=True)
class Home:
    """Where the keys of one setting are: an armature object or its data, and the data path from there."""

    owner: bpy.types.ID
    path: str

    @property
    def settings(self) -> Any:
        """The group of properties that has the setting."""
        return self.owner.path_resolve(self.path.rpartition(".")[0])

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    @property
    def value(self) -> Any:
        return getattr(self.settings, self.name)

    def set(self, value: Any) -> None:
        setattr(self.settings, self.name, value)

    @property
    def curve(self) -> Any:
        """Its F-curve in the current action, None without one."""
        data = self.owner.animation_data
        return actions.curves_at(data.action, data.action_slot, self.path, 1)[0] if data else None

    def remove_curve(self) -> None:
        data, curve = self.owner.animation_data, self.curve
        if curve is not None:
            actions.channelbag(data.action, data.action_slot).fcurves.remove(curve)


def in_object(armature: bpy.types.Object, bone: str, setting: str) -> Home:
    """The setting itself, whose keys are in the clip."""
    return Home(armature, setting_path(bone, setting))


def in_shot(armature: bpy.types.Object, bone: str, setting: str) -> Home | None:
    """The property that a key of the shot animates; None if the look-at has no such keys."""
    n = _place(armature, bone)
    return None if n is None else Home(armature.data, f"{_ITEMS}[{n}].{setting}")


def home(armature: bpy.types.Object, bone: str, setting: str) -> Home:
    """Where the keys of a setting that have an effect are, or its value if it has none."""
    shot, own = in_shot(armature, bone, setting), in_object(armature, bone, setting)
    if shot is None or own.path in _keyed_in_clip(armature, bone):
        return own
    if follows(armature, own.path) or _is_keyed(armature.data, shot.path):
        return shot
    return own


def homes(armature: bpy.types.Object, bone: str, setting: str) -> list[Home]:
    """All places where a setting may have keys."""
    shot = in_shot(armature, bone, setting)
    return [in_object(armature, bone, setting), *([shot] if shot is not None else [])]


def in_clip(armature: bpy.types.Object, bone: str) -> list[str]:
    """Settings of a look-at that the clip keys: the current action of the armature, or strips of its NLA."""
    keyed = _keyed_in_clip(armature, bone)
    return [setting for setting in _settings(armature, bone) if in_object(armature, bone, setting).path in keyed]


def group(armature: bpy.types.Object, bone: str) -> str:
    """Name of the group of F-curves that has the keys of a look-at."""
    n = _place(armature, bone)
    return _group(bone if n is None else armature.data.lookat_pd_shot[n].name)


def _group(shown: str) -> str:
    return f"Look-at ({shown})"


def check(armature: bpy.types.Object) -> None:
    """Raise RigError if keys of the shot cannot be written for this armature."""
    data = armature.data
    editable.check_tweak_mode(data)
    if data.is_editable or data.library is not None:
        return
    raise RigError(
        "The armature data '{data}' cannot be changed, and the keys of look-ats are stored there; make it local.",
        data=data.name,
    )


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
    if _place(armature, bone) is None and in_clip(armature, bone):
        return Home(armature, path)
    place = home(armature, bone, setting)
    if place.owner == armature and _is_keyed(armature, path):
        return place
    check(armature)
    if place.owner == armature and _driver(armature, path) is not None:
        raise RigError(
            "'{setting}' of the look-at on '{bone}' has a driver; delete the driver to insert keys.",
            setting=setting,
            bone=bone,
        )
    value = place.value
    _own_action(armature)
    shot = Home(armature.data, f"{_ITEMS}[{_own_item(armature, bone)}].{setting}")
    _make_targets(shot)
    if place.owner == armature:
        shot.set(value)
        _follow(armature, path, shot)
    return shot


def move(look_ats: Sequence[tuple[bpy.types.Object, str]]) -> int:
    """Move the keys of look-ats, armature and bone, from the clip to the shot; how many settings had some.

    They replace keys of the shot, which have had no effect while the clip played. Raises RigError before any change.
    """
    sources_of = [(armature, bone, _sources(armature, bone)) for armature, bone in look_ats]
    for armature, bone, sources in sources_of:
        if sources:
            _own_action(armature)
            n = _own_item(armature, bone)
            for setting, source in sources.items():
                _take_over(armature, bone, setting, Home(armature.data, f"{_ITEMS}[{n}].{setting}"), source)
            mend(armature)
            armature.data.update_tag()
    return sum(len(sources) for _, _, sources in sources_of)


def _sources(armature: bpy.types.Object, bone: str) -> "dict[str, _Source]":
    """Settings of a look-at whose keys can be moved. Raises RigError."""
    paths = {setting: in_object(armature, bone, setting).path for setting in in_clip(armature, bone)}
    # A driver of the animator's hides the keys, here and there.
    found = {name: _source(armature, path) for name, path in paths.items() if _driver(armature, path) is None}
    if found:
        check(armature)
    return found


def _take_over(armature: bpy.types.Object, bone: str, setting: str, shot: Home, source: "_Source") -> None:
    _make_targets(shot)
    shot.set(in_object(armature, bone, setting).value)
    shot.remove_curve()
    _copy_curve(source.curve, shot, group(armature, bone), source.keys)
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


def own(armature: bpy.types.Object, bone: str) -> None:
    """Let the keys of the shot of a look-at, if it has any, be its own and editable. Raises RigError."""
    if _place(armature, bone) is not None:
        check(armature)
        _own_action(armature)
        _own_item(armature, bone)


def exchange(armature: bpy.types.Object, bone: str, one: str, other: str) -> None:
    """Let two settings exchange their F-curves, in the clip and in the shot."""
    for first, second in zip(homes(armature, bone, one), homes(armature, bone, other), strict=True):
        paths = {first.path: second.path, second.path: first.path}
        data = first.owner.animation_data
        for curve in actions.curves(data.action, data.action_slot) if data else ():
            curve.data_path = paths.get(curve.data_path, curve.data_path)
        if first.owner != armature:
            for home_ in (first, second):
                _make_targets(home_)
            was = first.value
            first.set(second.value)
            second.set(was)
    mend(armature)


def mend(armature: bpy.types.Object) -> None:
    """Bring the drivers of an armature in line with its keys of the shot.

    Keys may come and go in any animation editor, the clip may have keys of its own, library overrides do not save
    drivers, and bones are renamed.
    """
    _take_back(armature)
    items, drivers = armature.data.lookat_pd_shot, list(_own_drivers(armature))
    if not len(items) and not drivers:
        return
    keyed, wanted, taken = _keyed(armature.data), {}, set()
    for bone in armature.pose.bones:
        n = read(bone, "lookat_pd").shot - 1
        if n in taken:
            # A copy of a bone brings the number of the original along.
            bone.lookat_pd.shot = 0
        elif 0 <= n < len(items):
            taken.add(n)
            start = f"{_ITEMS}[{n}]."
            driven = {
                f"{settings_path(bone.name)}.{path[len(start) :]}": path for path in keyed if path.startswith(start)
            }
            own = _keyed_in_clip(armature, bone.name) if driven else ()
            wanted.update(
                {path: source for path, source in driven.items() if path not in own and _exists(armature, path)}
            )
            if driven and armature.data.is_editable:
                _name(armature, n, bone.name)
    for driver in drivers:
        source = driver.driver.variables[0].targets[0]
        path = wanted.pop(driver.data_path, None)
        if path is None:
            _let_go(armature, driver)
        elif (source.id, source.data_path) != (armature.data, path):
            source.id, source.data_path = armature.data, path
        if path is not None and not driver.driver.is_valid:
            # Blender gives up on it while the extension is disabled.
            driver.driver.is_valid = True
    for path, source in wanted.items():
        if _driver(armature, path) is None:
            _follow(armature, path, Home(armature.data, source))


def _take_back(armature: bpy.types.Object) -> None:
    """Give an armature the override of its data that has its keys of the shot.

    When Blender resyncs an override, the object has the linked data again, and that override has no user: it would not
    be saved.
    """
    linked = armature.data
    numbers = [(bone.name, read(bone, "lookat_pd").shot) for bone in armature.pose.bones] if linked.library else []
    if not any(number for _, number in numbers):
        return
    used = {item.data for item in bpy.data.objects}
    found = [item for item in bpy.data.armatures if _overrides(item, linked)]
    lost = [item for item in found if item not in used]
    own = [item for item in lost if _has_action_of(item, armature)]
    # Characters of one library may share it.
    shared = [item for item in found if any(_is_item_of(item, armature, *place) for place in numbers)]
    for data in own or lost or shared:
        armature.data = data
        return


def _is_item_of(data: bpy.types.Armature, armature: bpy.types.Object, bone: str, number: int) -> bool:
    """Whether an item of armature data, counted from 1, is that of a look-at."""
    items = data.lookat_pd_shot
    return 0 < number <= len(items) and items[number - 1].name in _names(armature, bone)


def _overrides(data: bpy.types.Armature, linked: bpy.types.Armature) -> bool:
    """Whether armature data is the override of linked one, with keys of the shot."""
    override = data.override_library
    return override is not None and override.reference == linked and len(data.lookat_pd_shot) > 0


def _has_action_of(data: bpy.types.Armature, armature: bpy.types.Object) -> bool:
    """Whether the action of armature data was made for an armature."""
    action = data.animation_data.action if data.animation_data is not None else None
    return action is not None and action.name.startswith(_action_name(armature))


def _action_name(armature: bpy.types.Object) -> str:
    return f"{armature.name} Look-at"


def tidy(armature: bpy.types.Object) -> None:
    """Remove what no keys of the shot need any more: drivers, items, and an action that was made for keys."""
    mend(armature)
    data = armature.data
    if not len(data.lookat_pd_shot) or not data.is_editable:
        return
    keyed = _keyed(data)
    for bone in armature.pose.bones:
        n = read(bone, "lookat_pd").shot - 1
        if n >= 0 and not any(path.startswith(f"{_ITEMS}[{n}].") for path in keyed):
            bone.lookat_pd.shot = 0
    _remove_unused(data)


def _place(armature: bpy.types.Object, bone: str) -> int | None:
    """Index of the item of a look-at, None if there is none."""
    n = read(armature.pose.bones[bone], "lookat_pd").shot - 1
    return n if 0 <= n < len(armature.data.lookat_pd_shot) else None


def _driver(armature: bpy.types.Object, path: str) -> Any:
    data = armature.animation_data
    return data.drivers.find(path) if data is not None else None


def _is_own(driver: Any) -> bool:
    """Whether a driver lets a setting follow an item of the shot."""
    if _OF_LOOK_AT not in driver.data_path:
        return False
    sources = [target.data_path for variable in driver.driver.variables for target in variable.targets]
    return len(sources) == 1 and sources[0].startswith(f"{_ITEMS}[")


def _settings(armature: bpy.types.Object, bone: str) -> list[str]:
    """Settings of a look-at that may have keys of the shot."""
    kind = armature.data.bl_rna.properties[_ITEMS].fixed_type
    names = [name for name in kind.properties.keys() if name not in ("rna_type", "name", "targets")]
    return [*names, *(f"targets[{n}].weight" for n in range(len(armature.pose.bones[bone].lookat_pd.targets)))]


def playing(item: bpy.types.ID) -> Iterator[tuple[bpy.types.Action, bpy.types.ActionSlot, Any]]:
    """The current action of an item, and those of its NLA with their strips, muted ones included."""
    animation = item.animation_data
    if animation is None:
        return
    if animation.action is not None and animation.action_slot is not None:
        yield animation.action, animation.action_slot, None
    for strip in (strip for track in animation.nla_tracks for strip in track.strips):
        if strip.action is not None and strip.action_slot is not None:
            yield strip.action, strip.action_slot, strip


def _keyed(data: bpy.types.Armature) -> set[str]:
    """Data paths of all that has keys in the action of an armature's data or in its NLA."""
    return {curve.data_path for action, slot, _ in playing(data) for curve in actions.curves(action, slot)}


def _is_keyed(item: bpy.types.ID, path: str) -> bool:
    """Whether a property has keys in the action of an item or in its NLA."""
    return any(actions.curves_at(action, slot, path, 1)[0] is not None for action, slot, _ in playing(item))


_without_keys: dict[tuple[int, int, tuple[str, ...]], int] = {}
"""Number of F-curves of a clip that has none for these paths, by action, slot and paths: panels ask at each redraw, and
a character may have dozens of clips with thousands of curves."""


def _keyed_in_clip(armature: bpy.types.Object, bone: str) -> list[str]:
    """Data paths of the settings of a look-at that have keys in the action of the armature or in its NLA."""
    paths = tuple(in_object(armature, bone, setting).path for setting in _settings(armature, bone))
    keyed: set[str] = set()
    for action, slot, _ in playing(armature):
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
    keyed = [item for item in playing(armature) if actions.curves_at(*item[:2], path, 1)[0] is not None]
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


def _own_drivers(armature: bpy.types.Object) -> Iterator[Any]:
    data = armature.animation_data
    return (driver for driver in (data.drivers if data is not None else ()) if _is_own(driver))


def follows(armature: bpy.types.Object, path: str) -> bool:
    """Whether a setting follows an item of the shot."""
    found = _driver(armature, path)
    return found is not None and _is_own(found)


def _exists(armature: bpy.types.Object, path: str) -> bool:
    try:
        armature.path_resolve(path)
    except ValueError:
        return False
    return True


def _follow(armature: bpy.types.Object, path: str, shot: Home) -> None:
    """Let a setting follow an item of the shot, without any Python."""
    driver = armature.driver_add(path)
    for modifier in list(driver.modifiers):
        driver.modifiers.remove(modifier)
    driver.driver.type = "SUM"
    variable = driver.driver.variables.new()
    source = variable.targets[0]
    source.id_type, source.id, source.data_path = "ARMATURE", shot.owner, shot.path


def _let_go(armature: bpy.types.Object, driver: Any) -> None:
    """Delete a driver; the setting keeps the value that it has, or that its item has without keys."""
    source, own = driver.driver.variables[0].targets[0], Home(armature, driver.data_path)
    value = None
    if _exists(armature, own.path):
        value = own.value
        if source.id is not None and _exists(source.id, source.data_path):
            value = Home(source.id, source.data_path).value
    armature.animation_data.drivers.remove(driver)
    if value is not None:
        own.set(value)


def _make_targets(shot: Home) -> None:
    """Let an item have as many targets as the path of one of its settings asks for."""
    start, found, rest = shot.path.partition("targets[")
    if found:
        targets = shot.owner.path_resolve(f"{start}targets")
        while len(targets) <= int(rest.partition("]")[0]):
            targets.add()


def _users(data: bpy.types.Armature, n: int) -> list[bpy.types.Object]:
    """Objects with this data and a look-at that has an item of the shot."""
    found = [item for item in bpy.data.objects if item.data == data and item.pose]
    return [item for item in found if any(read(bone, "lookat_pd").shot == n + 1 for bone in item.pose.bones)]


def _own_item(armature: bpy.types.Object, bone: str) -> int:
    """Index of the item that a look-at has for itself, made if there is none.

    A linked duplicate begins with the item of its original and gets one of its own with its first own key.
    """
    n, data = _place(armature, bone), armature.data
    if n is not None and (data.users == 1 or _users(data, n) == [armature]):
        return n
    items = data.lookat_pd_shot
    made = next((k for k, item in enumerate(items) if not item.name), len(items))
    if made == len(items):
        items.add()
    armature.pose.bones[bone].lookat_pd.shot = made + 1
    _name(armature, made, bone)
    if n is not None:
        _copy_item(armature, bone, n, made)
    return made


def _copy_item(armature: bpy.types.Object, bone: str, source: int, made: int) -> None:
    """Give an item the keys of another one, and let the settings of a look-at follow it."""
    start, data = f"{_ITEMS}[{source}].", armature.data
    animation = data.animation_data
    curves = actions.curves(animation.action, animation.action_slot) if animation is not None else ()
    for curve in [curve for curve in curves if curve.data_path.startswith(start)]:
        setting = curve.data_path[len(start) :]
        shot = Home(data, f"{_ITEMS}[{made}].{setting}")
        _make_targets(shot)
        shot.set(Home(data, curve.data_path).value)
        _copy_curve(curve, shot, group(armature, bone), Keys.read(curve))
        driver = _driver(armature, in_object(armature, bone, setting).path)
        if driver is not None and _is_own(driver):
            driver.driver.variables[0].targets[0].data_path = shot.path


def _copy_curve(curve: Any, shot: Home, name: str, keys: Keys) -> None:
    animation = shot.owner.animation_data
    bag = actions.channelbag(animation.action, animation.action_slot, ensure=True)
    made = actions.new_curve(bag, shot.path, 0, name)
    made.extrapolation = curve.extrapolation
    made.mute = curve.mute
    keys.write(made)
    for modifier in curve.modifiers:
        copy = made.modifiers.new(modifier.type)
        for prop in modifier.bl_rna.properties:
            if not prop.is_readonly and prop.identifier != "active":
                setattr(copy, prop.identifier, getattr(modifier, prop.identifier))


def _own_action(armature: bpy.types.Object) -> None:
    """Let the data of an armature have an action that can be changed and that no other data plays. Raises RigError."""
    if armature.data.library is not None:
        linked = armature.data
        linked.override_create(remap_local_usages=True)
        if armature.data == linked:
            raise RigError(
                "The armature data '{data}' of '{armature}' is linked from a library, and the keys of look-ats are "
                "stored there; create a library override of the data in the Outliner.",
                data=linked.name,
                armature=armature.name,
            )
    data = armature.data
    animation = data.animation_data or data.animation_data_create()
    action, slot = animation.action, animation.action_slot
    if action is None:
        action, slot = actions.new_action(_action_name(armature), data)
        action[_MARK] = True
    elif slot is None:
        slot = action.slots.new(id_type=data.id_type, name=data.name)
    elif not action.is_editable or any(user != data for user in slot.users()):
        action = action.copy()
        slot = action.slots[slot.identifier]
    else:
        return
    animation.action, animation.action_slot = action, slot


def _name(armature: bpy.types.Object, n: int, bone: str) -> None:
    """Let animation editors show an item by its bone, and by its armature where several look-ats are called alike."""
    items = armature.data.lookat_pd_shot
    item, names = items[n], (bone, f"{armature.name}: {bone}")
    if item.name in names:
        return
    others = {other.name for k, other in enumerate(items) if k != n}
    before = _group(item.name)
    item.name = next((name for name in names if name not in others), names[-1])
    animation = armature.data.animation_data
    if animation is not None:
        bag = actions.channelbag(animation.action, animation.action_slot)
        if bag is not None and before in bag.groups:
            bag.groups[before].name = _group(item.name)


def _names(armature: bpy.types.Object, bone: str) -> tuple[str, str]:
    """What the item of a look-at is called, and where that is taken."""
    return bone, f"{armature.name}: {bone}"


def _remove_unused(data: bpy.types.Armature) -> None:
    """Remove items that no look-at uses with their keys, and the action that is empty without them."""
    items, animation = data.lookat_pd_shot, data.animation_data
    users = [item for item in bpy.data.objects if item.data == data and item.pose]
    used = {read(bone, "lookat_pd").shot - 1 for item in users for bone in item.pose.bones}
    for n in reversed(range(len(items))):
        if n in used:
            continue
        for curve in _curves_of(animation, n):
            actions.channelbag(animation.action, animation.action_slot).fcurves.remove(curve)
        items[n].name = ""
        if n == len(items) - 1:
            _take(items, n)
    action = animation.action if animation is not None else None
    if (
        action is not None
        and _MARK in action
        and action.is_editable
        and actions.is_empty(action, animation.action_slot)
    ):
        animation.action = None
        if not len(animation.drivers) and not len(animation.nla_tracks):
            data.animation_data_clear()
        if action.users == action.use_fake_user:
            bpy.data.actions.remove(action)


def _take(items: Any, n: int) -> None:
    """Remove an item; one that a library override has from its library stays without a name."""
    try:
        items.remove(n)
    except (TypeError, RuntimeError):
        items[n].name = ""


def _curves_of(animation: bpy.types.AnimData | None, n: int) -> Sequence[Any]:
    if animation is None or animation.action is None or not animation.action.is_editable:
        return []
    start = f"{_ITEMS}[{n}]."
    found = actions.curves(animation.action, animation.action_slot)
    return [curve for curve in found if curve.data_path.startswith(start)]
