"""The items of an armature's data that keys of the shot animate, one for each look-at with such keys, and the action of
the data that has these keys."""

from collections.abc import Sequence
from typing import Any

import bpy

from ....lookat_pd.errors import RigError
from ...animation import actions, editable
from ...animation.keys import Keys
from ...animation.stored_settings import read
from . import shot_drivers
from .shot_home import ITEMS, Home, in_object

_MARK = "lookat_pd_shot"
"""Custom property of actions that were made for keys of the shot."""


def in_shot(armature: bpy.types.Object, bone: str, setting: str) -> Home | None:
    """The property that a key of the shot animates; None if the look-at has no such keys."""
    n = place_of(armature, bone)
    return None if n is None else Home(armature.data, f"{ITEMS}[{n}].{setting}")


def group(armature: bpy.types.Object, bone: str) -> str:
    """Name of the group of F-curves that has the keys of a look-at."""
    n = place_of(armature, bone)
    return _group(bone if n is None else armature.data.lookat_pd_shot[n].name)


def _group(shown: str) -> str:
    return f"Look-at ({shown})"


def place_of(armature: bpy.types.Object, bone: str) -> int | None:
    """Index of the item of a look-at, None if there is none."""
    n = read(armature.pose.bones[bone], "lookat_pd").shot - 1
    return n if 0 <= n < len(armature.data.lookat_pd_shot) else None


def own(armature: bpy.types.Object, bone: str) -> None:
    """Let the keys of the shot of a look-at, if it has any, be its own and editable. Raises RigError."""
    if place_of(armature, bone) is not None:
        check(armature)
        own_action(armature)
        own_item(armature, bone)


def own_item(armature: bpy.types.Object, bone: str) -> int:
    """Index of the item that a look-at has for itself, made if there is none.

    A linked duplicate begins with the item of its original and gets one of its own with its first own key.
    """
    n, data = place_of(armature, bone), armature.data
    if n is not None and (data.users == 1 or _users(data, n) == [armature]):
        return n
    items = data.lookat_pd_shot
    made = next((k for k, item in enumerate(items) if not item.name), len(items))
    if made == len(items):
        items.add()
    armature.pose.bones[bone].lookat_pd.shot = made + 1
    name_item(armature, made, bone)
    if n is not None:
        _copy_item(armature, bone, n, made)
    return made


def make_targets(shot: Home) -> None:
    """Let an item have as many targets as the path of one of its settings asks for."""
    start, found, rest = shot.path.partition("targets[")
    if found:
        targets = shot.owner.path_resolve(f"{start}targets")
        while len(targets) <= int(rest.partition("]")[0]):
            targets.add()


def _copy_item(armature: bpy.types.Object, bone: str, source: int, made: int) -> None:
    """Give an item the keys of another one, and let the settings of a look-at follow it."""
    start, data = f"{ITEMS}[{source}].", armature.data
    animation = data.animation_data
    curves = actions.curves(animation.action, animation.action_slot) if animation is not None else ()
    for curve in [curve for curve in curves if curve.data_path.startswith(start)]:
        setting = curve.data_path[len(start) :]
        shot = Home(data, f"{ITEMS}[{made}].{setting}")
        make_targets(shot)
        shot.set(Home(data, curve.data_path).value)
        copy_curve(curve, shot, group(armature, bone), Keys.read(curve))
        driver = shot_drivers.driver_of(armature, in_object(armature, bone, setting).path)
        if driver is not None and shot_drivers.is_own(driver):
            driver.driver.variables[0].targets[0].data_path = shot.path


def copy_curve(curve: Any, shot: Home, name: str, keys: Keys) -> None:
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


def own_action(armature: bpy.types.Object) -> None:
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


def _users(data: bpy.types.Armature, n: int) -> list[bpy.types.Object]:
    """Objects with this data and a look-at that has an item of the shot."""
    found = [item for item in bpy.data.objects if item.data == data and item.pose]
    return [item for item in found if any(read(bone, "lookat_pd").shot == n + 1 for bone in item.pose.bones)]


def name_item(armature: bpy.types.Object, n: int, bone: str) -> None:
    """Let animation editors show an item by its bone, and by its armature where several look-ats are called alike."""
    items = armature.data.lookat_pd_shot
    item, names = items[n], _names(armature, bone)
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


def _action_name(armature: bpy.types.Object) -> str:
    return f"{armature.name} Look-at"


def take_back(armature: bpy.types.Object) -> None:
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


def remove_unused(data: bpy.types.Armature) -> None:
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
    start = f"{ITEMS}[{n}]."
    found = actions.curves(animation.action, animation.action_slot)
    return [curve for curve in found if curve.data_path.startswith(start)]


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
