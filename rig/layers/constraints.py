"""Offsets on the rig: native Action constraints that add what a look-at does to each of its bones.

Such a constraint adds exactly `basis * offset`, or a displacement to a bone's location, and leaves the animator's
channels alone. It reads keys of the layer's action at the frame that the clock shows, so that a file plays and renders
without any handler, and without the extension. Constraints, action and clock are the look-at's own: made, written and
removed here, the constraints first in the bone's stack, and distinguished from the animator's by their names.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ..animation import channels
from ..animation.channels import LOCATION
from ..sampling import suspend
from ..sampling.own_data import NAME, PREFIX, TEMPORARY, is_own_constraint
from . import clock, layer_action
from .clock_reading import SETTINGS, set_mixing, set_range, set_value
from .track import Track

_SHOWN = ("influence", "min", "max", "frame_start", "frame_end")
"""What is set to what is shown."""
_ROTATION, _UNEVEN, _LOCATION = ("POSE", "AFTER_FULL"), ("LOCAL", "AFTER"), ("LOCAL", "AFTER_SPLIT")
"""Space and mix mode that add a rotation, one of a bone that is scaled unevenly, and a displacement.

In the space of the pose no bone is taken out of it and back, so that an identity leaves it as it is to the last bit. An
unevenly scaled bone would be sheared there.
"""
_MIXINGS = {"ROTATION": (_ROTATION, _UNEVEN), "LOCATION": (_LOCATION,)}
_REST = {"ROTATION": np.array(rotation.IDENTITY), "LOCATION": np.zeros(3)}
_LEAST_W, _BETWEEN = 0.5, 1e-4
"""Smallest first number of a quaternion by which the others are divided, and the angle [rad] by which that may change
what is between two frames."""
_NOTE, _SHAPES = "lookat_pd_solved_from", "lookat_pd_shapes_"
listeners: list[Callable[[], None]] = []
"""Called when what look-ats add to a rig was written, or is gone."""
Written = dict[str, tuple[float, layer_action.PlaceKeys | None]]
"""What constraints hold, by their places: their influence and their keys."""


def name(number: int, slot: int) -> str:
    """Name of the constraint that look-at `number` of a rig has on the bone at that place of its chain."""
    return f"{PREFIX}{number}.{slot}"


def on(armature: bpy.types.Object) -> Iterator[tuple[bpy.types.PoseBone, bpy.types.Constraint]]:
    """All constraints of look-ats on an armature, with their bones."""
    for bone in armature.pose.bones if armature.pose else ():
        for constraint in bone.constraints:
            if is_own_constraint(constraint):
                yield bone, constraint


def places(armature: bpy.types.Object) -> dict[int, dict[int, list[str]]]:
    """For each look-at's number the bones that have the constraint of each place: they stay so when renamed."""
    found: dict[int, dict[int, list[str]]] = {}
    for bone, constraint in on(armature):
        number, slot = _number_and_slot(constraint)
        found.setdefault(number, {}).setdefault(slot, []).append(bone.name)
    return found


def taken(armature: bpy.types.Object) -> set[int]:
    """Numbers that no look-at can have, since constraints of the animator have the names of its own."""
    found = (constraint for bone in armature.pose.bones for constraint in bone.constraints)
    named = (NAME.fullmatch(constraint.name) for constraint in found if not is_own_constraint(constraint))
    return {int(match[1]) for match in named if match is not None}


def is_installed(armature: bpy.types.Object, number: int, bones: Sequence[str], moved: Sequence[str] = ()) -> bool:
    """Whether a look-at has its constraints on these bones, as `install` makes them, and on no others."""
    wanted = {(bone, name(number, slot)): kind for slot, (bone, kind) in enumerate(_kinds(bones, moved))}
    found = [(bone, constraint) for bone, constraint in on(armature) if number_of(constraint) == number]
    if {(bone.name, constraint.name) for bone, constraint in found} != wanted.keys() or len(found) != len(wanted):
        return False
    return all(_is_whole(bone, constraint, wanted[bone.name, constraint.name]) for bone, constraint in found)


def _kinds(bones: Sequence[str], moved: Sequence[str]) -> list[tuple[str, str]]:
    """Each place's bone, and what its constraint maps to."""
    return [(bone, "ROTATION") for bone in bones] + [(bone, "LOCATION") for bone in moved]


def install(armature: bpy.types.Object, number: int, bones: Sequence[str], moved: Sequence[str] = ()) -> None:
    """Give bones the constraints of look-at `number`, which add nothing yet, and take away stray ones.

    bones: those that turn, the chain first. moved: those that are moved; their places come after.
    """
    if is_installed(armature, number, bones, moved):
        return
    _remove_constraints(armature, number)
    action, time = _action(armature) or layer_action.new(), clock.get()
    for slot, (bone, kind) in enumerate(_kinds(bones, moved)):
        stack = armature.pose.bones[bone].constraints
        active = stack.active
        constraint = stack.new("ACTION")
        constraint.name = name(number, slot)
        constraint.show_expanded = False
        constraint.target, constraint.action = time, action
        constraint.action_slot = layer_action.slot_of(action, constraint.name, ensure=True)
        for setting, value in SETTINGS.items():
            setattr(constraint, setting, value)
        set_mixing(constraint, _MIXINGS[kind][0])
        constraint.influence = 0.0
        # What a bake would key is below all constraints.
        stack.move(len(stack) - 1, sum(1 for other in stack if is_own_constraint(other)) - 1)
        if active is not None:
            stack.active = active


def arrange(armature: bpy.types.Object, order: Sequence[int]) -> None:
    """Let look-ats that share bones turn them in this order of their numbers."""
    for bone in armature.pose.bones:
        stack = bone.constraints
        numbers = [number_of(constraint) for constraint in stack if is_own_constraint(constraint)]
        for slot, number in enumerate(sorted(numbers, key=lambda n: order.index(n) if n in order else -1)):
            now = next(n for n in range(slot, len(stack)) if number_of(stack[n]) == number)
            if now != slot:
                stack.move(now, slot)


def fixed(armature: bpy.types.Object, number: int | None = None) -> list[tuple[object, ...]]:
    """What nobody but this module should change about constraints, to detect whether somebody has: of all look-ats what
    always stays, of one also what depends on what is shown. What is called otherwise since is no change."""
    settings = (*SETTINGS, *_SHOWN) if number is not None else tuple(SETTINGS)
    return [
        (
            constraint.name,
            clock.is_clock(constraint.target),
            layer_action.is_layer(constraint.action),
            _is_first(bone, constraint),
            constraint.action_slot_handle,
            (constraint.owner_space, constraint.mix_mode) in (_ROTATION, _UNEVEN, _LOCATION),
            *(getattr(constraint, setting) for setting in settings),
        )
        for bone, constraint in on(armature)
        if constraint.type == "ACTION" and number in (None, number_of(constraint))
    ]


def is_part(item: bpy.types.ID) -> bool:
    """Whether constraints of look-ats read it: an action that holds offsets, or a clock with its own."""
    return clock.is_marked(item) or (isinstance(item, bpy.types.Action) and layer_action.is_layer(item))


def remove(armature: bpy.types.Object, number: int | None = None) -> None:
    """Take the constraints of one look-at, or of all, off an armature, and the clock once nothing reads it.

    What is linked from a library reads the clock of that library.
    """
    if _remove_constraints(armature, number):
        remove_unread_clock()
        _call_listeners()


def remove_unread_clock() -> None:
    """Take the clock out of the file where no look-at of the file reads it, nor anything else.

    An armature without users, which undo may leave behind, is not of the file: it is never saved.
    """
    own = (item for item in bpy.data.objects if item.type == "ARMATURE" and item.library is None and item.users)
    if not any(any(on(item)) for item in own):
        clock.remove()


def _remove_constraints(armature: bpy.types.Object, number: int | None) -> bool:
    """Whether there were any."""
    gone = [(bone, c) for bone, c in on(armature) if number is None or number_of(c) == number]
    for bone, constraint in gone:
        active = bone.constraints.active
        others = active is not None and active != constraint
        action, place = getattr(constraint, "action", None), constraint.name
        bone.constraints.remove(constraint)
        if others:
            bone.constraints.active = active
        if layer_action.is_layer(action):
            slot = layer_action.slot_of(action, place)
            if slot is not None and action.users > 0 and not _is_shared(armature, action):
                action.slots.remove(slot)
                action.pop(f"{_SHAPES}{_number_of_place(place)}", None)
            layer_action.remove_unused(action)
    return bool(gone)


# What they add


def show(armature: bpy.types.Object, track: Track) -> None:
    """Let the constraints of a look-at add its track. What they add already is not written again."""
    for held_before in _disabled:
        if armature in held_before and track.number not in held_before[armature]:
            held_before[armature][track.number] = written(armature, track.number)
    held, wrote, action = {constraint.name: constraint for _, constraint in on(armature)}, False, None
    for slot, (bone, kind, values) in enumerate(track.channels()):
        constraint = held.get(name(track.number, slot))
        if constraint is None:
            continue
        if np.array_equal(values, np.broadcast_to(_REST[kind], values.shape)):
            wrote = set_value(constraint, "influence", 0.0) or wrote
            continue
        action = action or _own_action(armature)
        wrote = _write(action, constraint, _keys_of(armature, bone, kind, track.first, values)) or wrote
        wrote = set_mixing(constraint, _UNEVEN if kind == "ROTATION" and track.uneven else _MIXINGS[kind][0]) or wrote
        wrote = set_value(constraint, "influence", 1.0) or wrote
    if wrote:
        evaluate(armature)
        _call_listeners()


def _call_listeners() -> None:
    for listener in listeners:
        listener()


def hide(armature: bpy.types.Object, number: int) -> None:
    """Let the constraints of a look-at add nothing, exactly."""
    for _, constraint in on(armature):
        if number_of(constraint) == number:
            set_value(constraint, "influence", 0.0)


def _keys_of(armature: bpy.types.Object, bone: str, kind: str, first: int, values: Array) -> layer_action.PlaceKeys:
    """Numbers (F, n) of a track as they are keyed: a constraint reads channels in the bone's own rotation mode."""
    mode, index = LOCATION, 0
    if kind == "ROTATION":
        mode = armature.pose.bones[bone].rotation_mode
        values = channels.of_rotations(values, mode)
        if mode == "QUATERNION" and _is_steady(values):
            # Blender makes it a unit quaternion again. Playback costs less, the fewer curves there are.
            values, index = values[:, 1:] / values[:, :1], 1
    return layer_action.PlaceKeys(bone, channels.channel(mode)[0], first, values.astype(np.float32), index)


def _is_steady(quaternions: Array) -> bool:
    """Whether quaternions (F, 4) turn alike between two frames when they are divided by their first numbers."""
    w = quaternions[:, 0] * np.sign(quaternions[0, 0])
    if w.min() < _LEAST_W:
        return False
    # The weights of the two frames are no longer equal in the middle.
    turns = rotation.distance(quaternions[1:], quaternions[:-1])
    return bool(np.max(turns * np.abs(0.5 - w[1:] / (w[1:] + w[:-1])), initial=0.0) < _BETWEEN)


def _to_offsets(numbers: Array, mode: str) -> Array:
    """Numbers (F, n) that are keyed for a bone in this rotation mode as local offsets (F, 4)."""
    if mode == "QUATERNION" and numbers.shape[1] == 3:
        numbers = np.insert(numbers, 0, 1.0, axis=1)
    return channels.to_quaternion(numbers, mode)


def _write(action: bpy.types.Action, constraint: bpy.types.Constraint, keys: layer_action.PlaceKeys) -> bool:
    """Key what a constraint adds in its armature's own action; whether it was not keyed yet."""
    slot = layer_action.slot_of(action, constraint.name, ensure=True)
    assert slot is not None
    changed = not keys.same_as(layer_action.read(action, slot))
    if changed:
        layer_action.write(action, slot, keys)
    if constraint.action_slot_handle != slot.handle:
        constraint.action_slot, changed = slot, True
    return set_range(constraint, keys.first, len(keys.values)) or changed


def _action(armature: bpy.types.Object) -> bpy.types.Action | None:
    """The action that the constraints on an armature read."""
    actions = (getattr(constraint, "action", None) for _, constraint in on(armature))
    return next((action for action in actions if layer_action.is_layer(action)), None)


def _is_shared(armature: bpy.types.Object, action: bpy.types.Action) -> bool:
    """Whether constraints of other armatures read it too: copies of an armature come with its constraints."""
    own = sum(getattr(constraint, "action", None) == action for _, constraint in on(armature))
    return action.users - action.use_fake_user > own


def _own_action(armature: bpy.types.Object) -> bpy.types.Action:
    """The action of an armature, which no other one reads."""
    action = _action(armature)
    if action is not None and not _is_shared(armature, action):
        return action
    made = layer_action.new() if action is None else action.copy()
    for _, constraint in on(armature):
        if constraint.type == "ACTION":
            constraint.action = made
            constraint.action_slot = layer_action.slot_of(made, constraint.name, ensure=True)
    return made


def evaluate(armature: bpy.types.Object) -> None:
    """Have Blender evaluate what is read now; a temporary scene is stepped anyway."""
    action = _action(armature)
    if action is not None:
        action.update_tag()
    if all(TEMPORARY in scene for scene in armature.users_scene):
        return
    for _, constraint in on(armature):
        if constraint.target is not None:
            clock.tick(constraint.target)
            return


def shown(armature: bpy.types.Object, bone: str, frame: float) -> dict[str, Array]:
    """How the look-at on `bone` turns bones at a frame: name to local offset (4,). Empty where it is idle."""
    number = armature.pose.bones[bone].lookat_pd.number
    held = [(owner, constraint) for owner, constraint in on(armature) if number and number_of(constraint) == number]
    offsets = {owner.name: offset_at(owner, constraint, frame) for owner, constraint in held if _turns(constraint)}
    return {name: offset for name, offset in offsets.items() if offset is not None}


def read(armature: bpy.types.Object, number: int, turned: Sequence[str], moved: Sequence[str] = ()) -> Track | None:
    """The track that the constraints of a look-at show; None where they show none, or not on these bones."""
    held = {constraint.name: constraint for _, constraint in on(armature)}
    found: list[layer_action.PlaceKeys | None] = []
    for slot, (bone, _) in enumerate(_kinds(turned, moved)):
        constraint = held.get(name(number, slot))
        if constraint is None:
            return None
        keys = _keys(constraint) if constraint.influence == 1.0 else None
        if keys is not None and keys.bone != bone:
            return None
        found.append(keys)
    known = [keys for keys in found if keys is not None]
    if not known or len({(keys.first, len(keys.values)) for keys in known}) != 1:
        return None
    first, frames = known[0].first, len(known[0].values)
    offsets, moves = rotation.identity(frames, len(turned)), np.zeros((frames, len(moved), 3))
    for slot, keys in enumerate(found):
        if keys is not None and slot < len(turned):
            mode = armature.pose.bones[turned[slot]].rotation_mode
            offsets[:, slot] = _to_offsets(keys.values.astype(float), mode)
        elif keys is not None:
            moves[:, slot - len(turned)] = keys.values
    uneven = any((c.owner_space, c.mix_mode) == _UNEVEN for c in held.values() if number_of(c) == number)
    return Track(number, turned, first, offsets, moved, moves, uneven=uneven)


def note(armature: bpy.types.Object) -> str:
    """What is noted beside the offsets of an armature."""
    action = _action(armature)
    return "" if action is None or _is_shared(armature, action) else action.get(_NOTE, "")


def set_note(armature: bpy.types.Object, text: str) -> None:
    action = _action(armature)
    if action is not None and action.get(_NOTE, "") != text:
        action[_NOTE] = text


def shapes(armature: bpy.types.Object, number: int, frames: int, count: int) -> Array | None:
    """How much a look-at changes `count` shape keys (F, s), as noted beside its offsets; None where it is not noted."""
    action = _action(armature)
    found = None if action is None or _is_shared(armature, action) else action.get(f"{_SHAPES}{number}")
    return None if found is None or len(found) != frames * count else np.array(found, float).reshape(frames, count)


def set_shapes(armature: bpy.types.Object, number: int, amounts: Array | None) -> None:
    """Note how much a look-at changes shape keys (F, s): no constraint can show it. None: it changes none."""
    action, key = _action(armature), f"{_SHAPES}{number}"
    if action is None:
        return
    if amounts is not None:
        action[key] = amounts.ravel().tolist()
    else:
        action.pop(key, None)


def offset_at(bone: bpy.types.PoseBone, constraint: bpy.types.Constraint, frame: float) -> Array | None:
    """The local offset (4,) by which a look-at's constraint turns a bone at a frame, None where it turns nothing."""
    if not _turns(constraint) or constraint.mute or constraint.influence == 0.0:
        return None
    numbers = layer_action.at(constraint.action, constraint.action_slot, max(frame, constraint.frame_start))
    return _to_offsets(numbers[None], bone.rotation_mode)[0] if len(numbers) else None


def _turns(constraint: bpy.types.Constraint) -> bool:
    """Whether a look-at's constraint is one that turns its bone."""
    return constraint.type == "ACTION" and constraint.mix_mode != _LOCATION[1]


def contents(armature: bpy.types.Object, number: int | None = None) -> list[bytes]:
    """What is keyed for the constraints of a look-at, or of all, to detect whether somebody has changed it."""
    held = ((c.name, _keys(c)) for _, c in on(armature) if number in (None, number_of(c)))
    return [place.encode() + keys.values.tobytes() for place, keys in held if keys is not None]


def _keys(constraint: bpy.types.Constraint) -> layer_action.PlaceKeys | None:
    """The keys that a constraint reads."""
    action = getattr(constraint, "action", None)
    if action is None or constraint.action_slot is None:
        return None
    return layer_action.read(action, constraint.action_slot)


def written(armature: bpy.types.Object, number: int) -> Written:
    """What the constraints of one look-at hold, for `write_back`."""
    return {c.name: (c.influence, _keys(c)) for _, c in on(armature) if number_of(c) == number}


def write_back(armature: bpy.types.Object, held: Written) -> None:
    """Let constraints of look-ats hold what they held; those that are gone stay gone."""
    action = None
    for _, constraint in list(on(armature)):
        influence, keys = held.get(constraint.name, (None, None))
        if influence is None:
            continue
        if keys is not None:
            action = action or _own_action(armature)
            _write(action, constraint, keys)
        set_value(constraint, "influence", influence)
    evaluate(armature)


_disabled: list[dict[bpy.types.Object, dict[int, Written]]] = []
"""Of each context in which offsets are disabled: its armatures, and what look-ats held that are shown meanwhile."""


@contextmanager
def offsets_disabled(armatures: Iterable[bpy.types.Object]) -> Iterator[None]:
    """Let no look-at of these armatures add anything, and at the end all add what they added before."""
    held: dict[bpy.types.Object, dict[int, Written]] = {armature: {} for armature in armatures}
    influences: dict[bpy.types.Object, dict[str, float]] = {}
    # Without an action no constraint adds anything; to see that is quicker than to look at every bone.
    for armature in held if layer_action.is_any() else ():
        own = [constraint for _, constraint in on(armature)]
        if own:
            influences[armature] = {constraint.name: constraint.influence for constraint in own}
            for constraint in own:
                set_value(constraint, "influence", 0.0)
    _disabled.append(held)
    try:
        yield
    finally:
        _disabled.remove(held)
        for armature, rows_by_number in held.items():
            for rows in rows_by_number.values():
                write_back(armature, rows)
        for armature, before in influences.items():
            for _, constraint in on(armature):
                if constraint.name in before:
                    set_value(constraint, "influence", before[constraint.name])


def number_of(constraint: bpy.types.Constraint) -> int:
    """Which look-at's constraint it is; 0 for one of the animator's."""
    return _number_and_slot(constraint)[0] if is_own_constraint(constraint) else 0


def _number_and_slot(constraint: bpy.types.Constraint) -> tuple[int, int]:
    """Number of the look-at and slot in the chain, from a constraint's name."""
    match = NAME.fullmatch(constraint.name)
    assert match is not None, "it is one of a look-at's"
    return int(match[1]), int(match[2])


def _number_of_place(place: str) -> int:
    """The look-at's number in the name of a place."""
    match = NAME.fullmatch(place)
    return int(match[1]) if match is not None else 0


def _is_whole(bone: bpy.types.PoseBone, constraint: bpy.types.Constraint, kind: str) -> bool:
    """Whether nobody has muted or bent the constraint, and what it reads is still there."""
    if constraint.type != "ACTION" or not clock.is_clock(constraint.target):
        return False
    if not layer_action.is_layer(constraint.action) or constraint.action_slot is None:
        return False
    if constraint.action_slot.name_display != constraint.name:
        return False
    if (constraint.owner_space, constraint.mix_mode) not in _MIXINGS[kind]:
        return False
    return _is_first(bone, constraint) and all(getattr(constraint, name) == value for name, value in SETTINGS.items())


def _is_first(bone: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> bool:
    """Whether no constraint of the animator is above a look-at's."""
    stack = list(bone.constraints)
    return all(is_own_constraint(other) for other in stack[: stack.index(constraint)])


def _all_disabled() -> AbstractContextManager[None]:
    return offsets_disabled(item for item in bpy.data.objects if item.type == "ARMATURE")


def register() -> None:
    """Sampling leaves out what look-ats add."""
    suspend.LAYERS.append(_all_disabled)


def unregister() -> None:
    suspend.LAYERS.remove(_all_disabled)
