"""Which actions move a character, and letting it play one of them."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import bpy

from ...lookat_pd.errors import RigError
from ...lookat_pd.progress import drained
from ..animation import actions, data_paths
from ..animation.channels import TRANSFORM_SIZES
from ..sampling import own_data


def finding_moving(armature: bpy.types.Object) -> Generator[float, None, list[bpy.types.Action]]:
    """The actions that move bones of the armature, by name; not those that only another armature plays. Yields the
    completed fraction."""
    mine, bones = _slots(armature), _paths(armature)
    others = {slot for other in bpy.data.objects if other != armature for slot in _slots(other)} - mine
    actions_of_rig, every = [], list(bpy.data.actions)
    for n, action in enumerate(every):
        slot = None if own_data.OFFSETS in action else suitable_slot(armature, action)
        if slot is not None and (action, slot) not in others and _moves(bones, action, slot):
            actions_of_rig.append(action)
        yield (n + 1) / len(every)
    return actions_of_rig


moving = drained("moving", finding_moving)


def _slots(item: bpy.types.Object) -> set[tuple[bpy.types.Action, bpy.types.ActionSlot]]:
    """What an object plays, and what is on its NLA tracks."""
    data = item.animation_data
    if data is None:
        return set()
    found = {(strip.action, strip.action_slot) for strip in strips(data) if strip.action and strip.action_slot}
    return found | ({(data.action, data.action_slot)} if data.action and data.action_slot else set())


def suitable_slot(armature: bpy.types.Object, action: bpy.types.Action) -> bpy.types.ActionSlot | None:
    """The slot of `action` meant for this armature: the one in use, else by name and by the bones it moves."""
    data = armature.animation_data
    in_use = data.action_slot if data and data.action == action else None
    if in_use is not None:
        return in_use
    fitting = [slot for slot in action.slots if slot.target_id_type in ("OBJECT", "UNSPECIFIED")]
    if len(fitting) <= 1:
        return fitting[0] if fitting else None
    played = {strip.action_slot for strip in strips(data) if strip.action == action and strip.action_slot}
    last = data.last_slot_identifier if data else ""

    def merit(slot: bpy.types.ActionSlot) -> tuple[bool, bool, int, bool, bool]:
        return (
            slot in played,
            slot.identifier == last,
            moved_bones(armature, action, slot),
            slot.name_display == armature.name,
            slot.target_id_type == "OBJECT",
        )

    return max(fitting, key=merit)


def moves_bones(armature: bpy.types.Object, action: bpy.types.Action, slot: bpy.types.ActionSlot) -> bool:
    """Whether that slot has keys for a bone of the armature."""
    return _moves(_paths(armature), action, slot)


def _moves(bones: set[str], action: bpy.types.Action, slot: bpy.types.ActionSlot) -> bool:
    """Whether that slot has keys for a bone with one of these paths."""
    last = ""
    for curve in actions.curves(action, slot):
        # As a rule all curves of a property follow each other.
        path = curve.data_path
        if path != last and path.rpartition(".")[0] in bones:
            return True
        last = path
    return False


def moved_bones(armature: bpy.types.Object, action: bpy.types.Action, slot: bpy.types.ActionSlot) -> int:
    """How many of the armature's bones that slot has keys for."""
    # Without the property's name, a path is what the bone's own path is.
    keyed = {curve.data_path.rpartition(".")[0] for curve in actions.curves(action, slot)}
    return len(keyed & _paths(armature))


def _paths(armature: bpy.types.Object) -> set[str]:
    return {bone.path_from_id() for bone in armature.pose.bones} if armature.pose else set()


def strips(data: bpy.types.AnimData | None) -> list[bpy.types.NlaStrip]:
    return [strip for track in data.nla_tracks for strip in track.strips] if data else []


def play(armature: bpy.types.Object, action: bpy.types.Action, into: str) -> None:
    """Make the rig play an action, with the slot made for it; bones that it leaves alone are at rest. Raises
    RigError. into: as of `BakeOptions`, where a bake follows."""
    data = armature.animation_data or armature.animation_data_create()
    if data.use_tweak_mode:
        # Says what to do; an action cannot be changed there.
        actions.check(armature, into)
    slot = suitable_slot(armature, action)
    if slot is None:
        raise actions.no_slot(armature, action)
    before, keyed_before = data.action, _channels(data.action, data.action_slot)
    data.action = action
    data.action_slot = slot
    actions.keep(before)
    _clear(armature, keyed_before - _channels(action, slot))


def _channels(action: bpy.types.Action | None, slot: bpy.types.ActionSlot | None) -> set[str]:
    """Data paths that have F-curves."""
    return {curve.data_path for curve in actions.curves(action, slot)}


def _clear(armature: bpy.types.Object, channels: set[str]) -> None:
    """Bring these transforms of bones to rest: where one action left them says nothing about another."""
    for bone in armature.pose.bones:
        path = bone.path_from_id()
        for name in TRANSFORM_SIZES:
            if f"{path}.{name}" in channels:
                setattr(bone, name, bone.bl_rna.properties[name].default_array)


def pose_of(armature: bpy.types.Object) -> dict[str, dict[str, Any]]:
    """The channels of each bone."""
    return {bone.name: {name: tuple(getattr(bone, name)) for name in TRANSFORM_SIZES} for bone in armature.pose.bones}


@dataclass(frozen=True)
class Playing:
    """What an armature plays and how it is posed, to be restored."""

    armature: bpy.types.Object
    action: bpy.types.Action | None
    slot: bpy.types.ActionSlot | None
    pose: dict[str, dict[str, Any]]
    properties: dict[str, Any]
    """All others that one of its actions animates, such as switches of the rig, by data path. Blender leaves them as
    they are where an action has no keys for them."""

    @classmethod
    def of(cls, armature: bpy.types.Object) -> "Playing":
        data = armature.animation_data
        action, slot = (data.action, data.action_slot) if data else (None, None)
        return cls(armature, action, slot, pose_of(armature), _animated_properties(armature))

    def restore(self) -> None:
        data = self.armature.animation_data
        if data is not None:
            made = data.action
            data.action = self.action
            if self.action is not None:
                data.action_slot = self.slot
            actions.keep(made)
        for bone in self.armature.pose.bones:
            for name, value in self.pose[bone.name].items():
                setattr(bone, name, value)
        for path, value in self.properties.items():
            if _value(self.armature, path) != value:
                _set(self.armature, path, value)


def _animated_properties(armature: bpy.types.Object) -> dict[str, Any]:
    """Values of what the actions of an armature animate beside its bones, by data path."""
    bones = _paths(armature)
    keyed = {path for action in moving(armature) for path in _channels(action, suitable_slot(armature, action))}
    values = {}
    for path in sorted(keyed):
        start, _, name = path.rpartition(".")
        if start not in bones or name not in TRANSFORM_SIZES:
            value = _value(armature, path)
            if value is not None:
                values[path] = value
    return values


def _value(item: bpy.types.ID, path: str) -> Any:
    """The value of a property, None if there is no such property any more."""
    try:
        value = item.path_resolve(path)
    except ValueError:
        return None
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value


def _set(item: bpy.types.ID, path: str, value: Any) -> None:
    start, name = data_paths.split_key(path)
    if name:
        owner = item.path_resolve(start) if start else item
        owner[name] = value
        return
    start, _, name = path.rpartition(".")
    setattr(item.path_resolve(start) if start else item, name, value)


def check_results(names: list[str], result: Any) -> None:
    """Raise RigError where the results of two actions would have one name. result: from a name to that of its
    result."""
    taken: dict[str, str] = {}
    for name in names:
        made = result(name)
        if made in taken:
            raise RigError(
                "'{one}' and '{other}' would both become '{result}'; choose only one of them.",
                one=taken[made],
                other=name,
                result=made,
            )
        taken[made] = name


def keep_on_tracks(
    armature: bpy.types.Object, made: list[tuple[bpy.types.Action, bpy.types.ActionSlot]]
) -> list[bpy.types.NlaTrack]:
    """Put new actions on muted NLA tracks of their names, as Blender's importers do, and play the first."""
    data = armature.animation_data
    tracks = []
    for action, slot in made:
        track = data.nla_tracks.new()
        track.name = action.name
        strip = track.strips.new(action.name, int(action.frame_range[0]), action)
        strip.action_slot = slot
        track.mute = True
        action.use_fake_user = False
        tracks.append(track)
    data.action, data.action_slot = made[0]
    return tracks
