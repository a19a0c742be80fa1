"""Actions, slots and NLA: where the keys of an armature are stored."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import bpy
from bpy_extras.anim_utils import action_get_channelbag_for_slot

from ...lookat_pd.errors import RigError
from . import data_paths
from .channels import LOCATION, TRANSFORM_SIZES, channel

OBJECT_GROUP = "Object Transforms"
"""As Blender names it."""
INTO = ("NEW", "CURRENT", "LAYER")
_COPIED = re.compile(r"\.\d{3}$")


def rotation_path(bone: str, mode: str) -> str:
    """Data path of the channels that hold a bone's rotation, or those of the object itself where `bone` is ""."""
    name = channel(mode)[0]
    if not bone:
        return name
    return f"{data_paths.bone_path(bone)}{'' if name.startswith('[') else '.'}{name}"


def channelbag(action: bpy.types.Action | None, slot: bpy.types.ActionSlot | None, *, ensure: bool = False):
    """The channelbag of `action` for `slot`; None if there is none, unless `ensure` creates it."""
    bag = action_get_channelbag_for_slot(action, slot)
    if bag is not None or not ensure:
        return bag
    # Blender has a function for this only since 5.0.
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=True)


def curves(action: bpy.types.Action | None, slot: bpy.types.ActionSlot | None) -> Any:
    """An iterable of the F-curves that `action` has for `slot`; empty without action or slot."""
    bag = channelbag(action, slot)
    return () if bag is None else bag.fcurves


def new_action(name: str, item: bpy.types.ID) -> tuple[bpy.types.Action, bpy.types.ActionSlot]:
    action = bpy.data.actions.new(name)
    return action, action.slots.new(id_type=item.id_type, name=item.name)


@contextmanager
def removed_if_failed(action: bpy.types.Action) -> Iterator[None]:
    """A context in which a new action is filled; it is removed again if that fails, also where another one did so."""
    try:
        yield
    except BaseException:
        with suppress(ReferenceError):
            bpy.data.actions.remove(action)
        raise


def baked_name(item: bpy.types.ID, into: str, ending: str) -> str:
    """The name of the action of a bake: that of its source, without the suffix of a copy or earlier bake, and the
    ending."""
    data = item.animation_data
    source = data.action if data else None
    return name_of_result(item.name if into == "LAYER" or source is None else source.name, ending)


def name_of_result(name: str, ending: str) -> str:
    """The name of the action that a bake makes of an action."""
    return _COPIED.sub("", name).removesuffix(ending) + ending


def check(item: bpy.types.ID, into: str) -> None:
    """Raise RigError if the animation of this armature, or other item, does not allow a bake of that kind."""
    if into not in INTO:
        raise RigError("Cannot bake into {into!r}; choose NEW, CURRENT or LAYER.", into=into)
    data = item.animation_data
    action = data.action if data else None
    name = item.name
    if data and data.use_tweak_mode:
        raise RigError(
            "'{armature}' is in NLA tweak mode; leave tweak mode (Tab in the NLA editor) and bake again.", armature=name
        )
    if action is not None and data.action_slot is None:
        raise RigError(
            "Action '{action}' has no slot selected for '{armature}'; select a slot in the Action editor.",
            action=action.name,
            armature=name,
        )
    if action is not None and into != "LAYER" and (data.action_blend_type != "REPLACE" or data.action_influence < 1.0):
        raise RigError(
            "Action '{action}' is blended with the NLA of '{armature}'; set its blending to "
            "Replace and its influence to 1, or bake into a layer.",
            action=action.name,
            armature=name,
        )
    if into == "CURRENT":
        if action is None:
            raise RigError("'{armature}' has no action assigned; bake into a new action.", armature=name)
        if action.library is not None or not action.is_editable:
            raise RigError(
                "Action '{action}' is linked from a library; bake into a new action or a layer.", action=action.name
            )
        others = [user.name for user in data.action_slot.users() if user != item]
        if others:
            raise RigError(
                "Action '{action}' also animates '{other}'; bake into a new action or a layer.",
                action=action.name,
                other=others[0],
            )
    if into == "LAYER" and data:
        if action is not None and data.action_influence < 1.0:
            raise RigError(
                "Action '{action}' has an influence below 1; set it to 1 and bake again.", action=action.name
            )
        if data.nla_tracks and not data.use_nla:
            raise RigError("The NLA of '{armature}' is disabled; enable it, or bake into a new action.", armature=name)
        if any(track.is_solo for track in data.nla_tracks):
            raise RigError(
                "An NLA track of '{armature}' is set to solo; disable solo, or bake into a new action.", armature=name
            )


def check_curves(armature: bpy.types.Object, bones: Mapping[str, str], into: str) -> None:
    """Raise RigError if channels of one of `bones` (name to rotation mode, or `LOCATION`) cannot be keyed; "" is the
    object itself."""
    data = armature.animation_data
    if data is None:
        return
    for bone, mode in bones.items():
        words = _OF_BONE if bone else _OF_OBJECT
        named = {"bone": bone} if bone else {"target": armature.name}
        path = rotation_path(bone, mode)
        if any(driver.data_path == path for driver in data.drivers):
            raise RigError(words["location" if mode == LOCATION else "rotation"], **named)
        if into != "CURRENT":
            continue
        for curve in curves_at(data.action, data.action_slot, path, channel(mode)[1]):
            if curve is not None and (not plays(curve) or any(not m.mute for m in curve.modifiers)):
                raise RigError(words["changed"], **named)
            if curve is not None and is_locked(curve):
                raise RigError(words["locked"], **named)


_OF_BONE = {
    "location": "The location of bone '{bone}' has a driver; delete the driver, or choose settings that do not move "
    "the bone.",
    "rotation": "The rotation of bone '{bone}' has a driver; delete the driver, or choose settings that do not turn "
    "the bone.",
    "changed": "An F-curve of bone '{bone}' is muted or has a modifier; bake into a new action or a layer.",
    "locked": "The F-curves of bone '{bone}' are locked; unlock them in the Graph editor, or bake into a new "
    "action or a layer.",
}
_OF_OBJECT = {
    "location": "The location of object '{target}' has a driver; delete the driver, or use another object.",
    "rotation": "The rotation of object '{target}' has a driver; delete the driver, or use another object.",
    "changed": "An F-curve of object '{target}' is muted or has a modifier; bake into a new action or a layer.",
    "locked": "The F-curves of object '{target}' are locked; unlock them in the Graph editor, or bake into a new "
    "action or a layer.",
}


def curves_at(action: bpy.types.Action | None, slot: bpy.types.ActionSlot | None, path: str, size: int) -> list:
    bag = channelbag(action, slot)
    return [bag.fcurves.find(path, index=n) if bag is not None else None for n in range(size)]


def keep(action: bpy.types.Action | None) -> bool:
    """Give an action without users a fake user, so that it is saved; returns whether that was necessary."""
    needed = action is not None and action.users == 0 and action.library is None
    if needed:
        action.use_fake_user = True
    return needed


def is_empty(action: bpy.types.Action, slot: bpy.types.ActionSlot) -> bool:
    """Whether an action has no F-curve for the slot."""
    return not len(curves(action, slot))


def key_frames(item: bpy.types.ID, path: str) -> list[float] | None:
    """Frames at which the current action of an item has keys for a property; None if it has no F-curve."""
    data = item.animation_data
    if data is None:
        return None
    curve = curves_at(data.action, data.action_slot, path, 1)[0]
    return None if curve is None else [point.co.x for point in curve.keyframe_points]


def key_state(item: bpy.types.ID, path: str, frame: int) -> str:
    """Whether a property is "KEYED" at this frame, "ANIMATED" elsewhere, or neither ("NONE")."""
    frames = key_frames(item, path)
    return "NONE" if frames is None else "KEYED" if frame in frames else "ANIMATED"


def remove_curves(armature: bpy.types.Object, path: str) -> None:
    """Delete the F-curves of the current action, and the drivers, whose data path starts with `path`."""
    data = armature.animation_data
    if data is None:
        return
    for driver in [driver for driver in data.drivers if driver.data_path.startswith(path)]:
        data.drivers.remove(driver)
    action = data.action
    if action is None or data.action_slot is None or not action.is_editable:
        return
    bag = channelbag(action, data.action_slot)
    if bag is not None:
        for curve in [curve for curve in bag.fcurves if curve.data_path.startswith(path)]:
            bag.fcurves.remove(curve)


def is_locked(curve: Any) -> bool:
    """Whether an F-curve is protected from changes, alone or with its group."""
    return curve.lock or (curve.group is not None and curve.group.lock)


def plays(curve: Any) -> bool:
    return not curve.mute and not (curve.group is not None and curve.group.mute)


def new_curve(bag, path: str, index: int, group: str):
    """A new F-curve in a channelbag, in the group of that name; "" is that of an object's transforms for these, and no
    group for anything else."""
    curve = bag.fcurves.new(path, index=index)
    group = group or (OBJECT_GROUP if path in TRANSFORM_SIZES else "")
    if group:
        curve.group = bag.groups.get(group) or bag.groups.new(group)
    return curve


def no_slot(armature: bpy.types.Object, action: bpy.types.Action) -> RigError:
    """The error about an action without a slot for the armature."""
    return RigError(
        "Action '{action}' has no slot for objects and cannot animate '{armature}'; choose another action.",
        action=action.name,
        armature=armature.name,
    )


def find_slot(armature: bpy.types.Object, action: bpy.types.Action) -> bpy.types.ActionSlot:
    """The slot of an action for this armature: the one in use, the one of its name, or the first for objects.

    Raises RigError if there is none.
    """
    data = armature.animation_data
    if data is not None and data.action == action and data.action_slot is not None:
        return data.action_slot
    slots = [slot for slot in action.slots if slot.target_id_type in ("OBJECT", "UNSPECIFIED")]
    if not slots:
        raise no_slot(armature, action)
    mine = [slot for slot in slots if slot.identifier[2:] == armature.name]
    keyed = [slot for slot in slots if channelbag(action, slot) is not None]
    return (mine or keyed or slots)[0]
