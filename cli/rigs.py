"""Choosing in a file what to work on: the armature, its action, the frames."""

import difflib
import math
from collections.abc import Iterable, Sequence

import bpy

from ..lookat_pd.errors import RigError
from ..lookat_pd.message import Message
from ..rig.animation import actions
from ..rig.look_at import resolve as look_at
from ..rig.sampling import own_data

_NAMED_AT_MOST = 12
_TRANSFORMS = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")


def armatures(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    return [item for item in scene.objects if item.type == "ARMATURE"]


def choose(scene: bpy.types.Scene, name: str | None, notes: list[str]) -> bpy.types.Object:
    """The armature called so, or the likeliest character; a choice between several is added to `notes`."""
    found = armatures(scene)
    if name is not None:
        for armature in found:
            if armature.name == name:
                return armature
        raise RigError(
            "There is no armature '{name}' {name_2}.", name=name, name_2=_instead(name, [item.name for item in found])
        )
    if not found:
        raise RigError("There is no armature in the file's scene; export it with its skeleton.")
    best = max(found, key=_likeliness)
    if len(found) > 1:
        notes.append(
            Message(
                "Worked on '{best}' of the armatures {value}; choose with --rig.",
                best=best.name,
                value=_listed(item.name for item in found),
            )
        )
    return best


def _likeliness(armature: bpy.types.Object) -> tuple[bool, bool, int]:
    bones = len(armature.pose.bones) if armature.pose else 0
    return head(armature) is not None, armature.library is None, bones


def head(armature: bpy.types.Object) -> str | None:
    """The detected head, None where there is none."""
    if not armature.pose or not len(armature.pose.bones):
        return None
    try:
        return look_at.find_head(armature)
    except RigError:
        return None


def use_action(armature: bpy.types.Object, name: str, into: str) -> None:
    """Make the rig play the action of that name, with the slot made for it. Raises RigError."""
    action = bpy.data.actions.get(name)
    if action is None:
        raise no_action(armature, name)
    data = armature.animation_data or armature.animation_data_create()
    if data.use_tweak_mode:
        # Says what to do; an action cannot be changed there.
        actions.check(armature, into)
    slot = suitable_slot(armature, action)
    if slot is None:
        raise RigError(
            "Action '{action}' has no slot for objects and cannot animate '{armature}'; choose another action.",
            action=name,
            armature=armature.name,
        )
    before, keyed_before = data.action, _channels(data.action, data.action_slot)
    data.action = action
    data.action_slot = slot
    actions.keep(before)
    _clear(armature, keyed_before - _channels(action, slot))


def no_action(armature: bpy.types.Object, name: str) -> RigError:
    """The complaint about a name, or a pattern of names, that no action of the rig has."""
    return RigError(
        "There is no action '{name}' {name_2}.",
        name=name,
        name_2=_instead(name, moving(armature) or bpy.data.actions.keys()),
    )


def moving(armature: bpy.types.Object) -> list[str]:
    """Names of the actions that move bones of the armature, sorted; not those that only another armature plays."""
    mine = _slots(armature)
    others = {slot for other in bpy.data.objects if other != armature for slot in _slots(other)} - mine
    found = []
    for action in bpy.data.actions:
        slot = None if action.name.startswith(own_data.PREFIX) else suitable_slot(armature, action)
        if slot is not None and (action, slot) not in others and moved_bones(armature, action, slot):
            found.append(action.name)
    return found


def _slots(item: bpy.types.Object) -> set[tuple[bpy.types.Action, bpy.types.ActionSlot]]:
    """What an object plays, and what is on its NLA tracks."""
    data = item.animation_data
    if data is None:
        return set()
    found = {(strip.action, strip.action_slot) for strip in _strips(data) if strip.action and strip.action_slot}
    return found | ({(data.action, data.action_slot)} if data.action and data.action_slot else set())


def check_moves(armature: bpy.types.Object, action: bpy.types.Action) -> None:
    """Raise RigError where an action has keys, but neither for bones of the armature nor for itself."""
    slot = suitable_slot(armature, action)
    if slot is None or actions.is_empty(action, slot) or moved_bones(armature, action, slot):
        return
    if slot.name_display != armature.name:
        raise RigError(
            "Action '{action}' does not move '{armature}' {instead}.",
            action=action.name,
            armature=armature.name,
            instead=_instead(action.name, moving(armature)),
        )


def is_animated(data: bpy.types.AnimData) -> bool:
    """Whether an action is assigned, or the NLA plays one."""
    strips = any(track.strips for track in data.nla_tracks if not track.mute)
    return data.action is not None or (data.use_nla and strips)


def _channels(action: bpy.types.Action | None, slot: bpy.types.ActionSlot | None) -> set[str]:
    """Data paths that have F-curves."""
    return {curve.data_path for curve in actions.curves(action, slot)}


def _clear(armature: bpy.types.Object, channels: set[str]) -> None:
    """Bring these transforms of bones to rest: where one action left them says nothing about another."""
    for bone in armature.pose.bones:
        path = bone.path_from_id()
        for name in _TRANSFORMS:
            if f"{path}.{name}" in channels:
                setattr(bone, name, bone.bl_rna.properties[name].default_array)


def suitable_slot(armature: bpy.types.Object, action: bpy.types.Action) -> bpy.types.ActionSlot | None:
    """The slot of `action` meant for this armature: the one in use, else by name and by the bones it moves."""
    data = armature.animation_data
    in_use = data.action_slot if data and data.action == action else None
    if in_use is not None:
        return in_use
    played = {strip.action_slot for strip in _strips(data) if strip.action == action and strip.action_slot}
    last = data.last_slot_identifier if data else ""

    def merit(slot: bpy.types.ActionSlot) -> tuple[bool, bool, int, bool, bool]:
        return (
            slot in played,
            slot.identifier == last,
            moved_bones(armature, action, slot),
            slot.name_display == armature.name,
            slot.target_id_type == "OBJECT",
        )

    fitting = [slot for slot in action.slots if slot.target_id_type in ("OBJECT", "UNSPECIFIED")]
    return max(fitting, key=merit, default=None)


def moved_bones(armature: bpy.types.Object, action: bpy.types.Action, slot: bpy.types.ActionSlot) -> int:
    """How many of the armature's bones that slot has keys for."""
    if not armature.pose:
        return 0
    # Without the property's name, a path is what the bone's own path is.
    keyed = {curve.data_path.rpartition(".")[0] for curve in actions.curves(action, slot)}
    return sum(bone.path_from_id() in keyed for bone in armature.pose.bones)


def _strips(data: bpy.types.AnimData | None) -> list[bpy.types.NlaStrip]:
    return [strip for track in data.nla_tracks for strip in track.strips] if data else []


def plays(rig: bpy.types.Object) -> bool:
    """Whether the rig has an action that lasts."""
    action = rig.animation_data.action if rig.animation_data else None
    return action is not None and action.frame_range[1] > action.frame_range[0]


def frame_range(scene: bpy.types.Scene, rigs: Sequence[bpy.types.Object]) -> tuple[int, int]:
    """First and last frame of what the rigs play, else of the scene."""
    extents = [rig.animation_data.action.frame_range for rig in rigs if plays(rig)]
    ranges = [(math.floor(first), math.ceil(last)) for first, last in extents]
    if not ranges:
        return scene.frame_start, scene.frame_end
    return min(first for first, _ in ranges), max(last for _, last in ranges)


def find_target(scene: bpy.types.Scene, name: str) -> tuple[bpy.types.Object, str]:
    """Object and bone ("" for none) of NAME or NAME:BONE; either may have colons of its own. Raises RigError."""
    objects = scene.objects
    if name in objects:
        return objects[name], ""
    places = [place for place, letter in enumerate(name) if letter == ":"]
    owners = [(name[:place], name[place + 1 :]) for place in places if name[:place] in objects]
    for owner, bone in owners:
        if objects[owner].type == "ARMATURE" and bone in objects[owner].pose.bones:
            return objects[owner], bone
    if owners:
        owner, bone = owners[-1]
        bones = objects[owner].pose.bones.keys() if objects[owner].type == "ARMATURE" else []
        raise RigError(
            "The target '{owner}' has no bone '{bone}' {bone_2}.", owner=owner, bone=bone, bone_2=_instead(bone, bones)
        )
    raise RigError(
        "There is no target '{name}' in the scene {name_2}.", name=name, name_2=_instead(name, objects.keys())
    )


def _instead(name: str, names: Iterable[str]) -> str:
    """What there is in place of a name that there is not, the most alike first."""
    names = list(names)
    if not names:
        return "nor any other; check that this is the right file"
    alike = difflib.get_close_matches(name, names, n=_NAMED_AT_MOST, cutoff=0.6)
    return f"(there is {_listed([*alike, *(other for other in names if other not in alike)])}); choose one of these"


def _listed(names: Iterable[str]) -> str:
    names = [f"'{name}'" for name in names]
    shown = ", ".join(names[:_NAMED_AT_MOST])
    return shown if len(names) <= _NAMED_AT_MOST else f"{shown} and {len(names) - _NAMED_AT_MOST} more"
