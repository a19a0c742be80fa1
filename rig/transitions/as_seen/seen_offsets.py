"""The offsets of transitions as seen: Action constraints, last in the stacks, that read an action of their own.

They are native data, as those of look-ats: files play and render the same without the extension. Each transition has an
action with one slot, whose curves are in groups of the bones' names.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ....lookat_pd import rotation
from ....lookat_pd.rotation import Array
from ....lookat_pd.transitions import pose_tree
from ...animation import actions, channels, data_paths, keys
from ...layers import clock, constraints, layer_action
from ...layers.clock_reading import SETTINGS, set_mixing, set_range
from .evaluated_pose import OBJECT

NAME = "As Seen"
_MARK = "lookat_pd_as_seen"
_SLOT = "Offsets"
AFTER, SPLIT, BEFORE = MIXINGS = ("AFTER_FULL", "AFTER_SPLIT", "BEFORE_FULL")
"""Mix modes. AFTER: the offset is in the bone's own frame. SPLIT, for bones that are scaled unevenly: displacements are
in the armature's space, rotation and scale change separately. BEFORE, for those that are sheared: the offset turns them
about the armature's origin, which keeps any shear."""

_WITHOUT_DELTA = "delta_rotation_quaternion"
"""Blender evaluates the action of an object with a delta rotation of length 0 in quaternions, which turns by 180°."""


@dataclass(frozen=True)
class SeenOffsets:
    """What is added to b bones over F frames. moves: (F, b, 3) displacements; turns: (F, b, 4) rotations; sizes: (F, b,
    3) factors of the scale. mixing: (b,) mix modes, AFTER, SPLIT or BEFORE, by which these are meant; of the object, in
    the world."""

    bones: tuple[str, ...]
    moves: Array
    turns: Array
    sizes: Array
    mixing: tuple[str, ...]

    @classmethod
    def between(cls, bones: tuple[str, ...], shown: Array, wanted: Array, mixing: tuple[str, ...]) -> "SeenOffsets":
        """What makes `wanted` of `shown`, both (F, b, 4, 4)."""
        after = pose_tree.parts(np.linalg.inv(shown) @ wanted)
        others = pose_tree.split_offset(shown, wanted), pose_tree.rigid_offset(shown, wanted)
        moves, turns, sizes = _picked(mixing, after, *others)
        return cls(bones, moves, turns, sizes, mixing)

    def corrected(self, measured: Array, wanted: Array) -> "SeenOffsets":
        """Those that are needed where these lead to `measured` instead of `wanted`."""
        more = SeenOffsets.between(self.bones, measured, wanted, self.mixing)
        own, added = (pose_tree.affine(item.moves, item.turns, item.sizes) for item in (self, more))
        split = self.moves + more.moves, rotation.multiply(self.turns, more.turns), self.sizes * more.sizes
        after, before = pose_tree.parts(own @ added), pose_tree.parts(added @ own)
        moves, turns, sizes = _picked(self.mixing, after, split, before)
        return SeenOffsets(self.bones, moves, turns, sizes, self.mixing)

    def of_rows(self, rows: Sequence[int]) -> "SeenOffsets":
        """Those of some of the bones."""
        names, mixing = (tuple(values[row] for row in rows) for values in (self.bones, self.mixing))
        return SeenOffsets(names, self.moves[:, rows], self.turns[:, rows], self.sizes[:, rows], mixing)


def _picked(mixing: Sequence[str], *by_mode: tuple[Array, Array, Array]) -> list[Array]:
    """Moves, turns and sizes (F, b, n) of each bone by its mix mode, from those by all modes."""
    row = np.array([MIXINGS.index(mode) for mode in mixing], dtype=int)
    return [np.choose(row[:, None], values) for values in zip(*by_mode, strict=True)]


def on(armature: bpy.types.Object) -> Iterator[tuple[str, bpy.types.Constraint]]:
    """All constraints of transitions as seen, with the names of their bones."""
    stacks = [(OBJECT, armature.constraints)]
    stacks += [(bone.name, bone.constraints) for bone in (armature.pose.bones if armature.pose else ())]
    for name, stack in stacks:
        for constraint in stack:
            if constraint.type == "ACTION" and is_own(constraint.action):
                yield name, constraint


def is_own(action: bpy.types.Action | None) -> bool:
    return action is not None and _MARK in action


def of(armature: bpy.types.Object) -> list[bpy.types.Action]:
    """The actions of the transitions of an armature, by frame."""
    found = {constraint.action for _, constraint in on(armature)}
    return sorted(found, key=lambda action: (note_of(action).get("frame", 0), action.name))


def note_of(action: bpy.types.Action) -> dict[str, Any]:
    """What was noted about a transition when it was made; empty if it cannot be read."""
    try:
        note = json.loads(str(action[_MARK]))
    except ValueError:
        return {}
    return note if isinstance(note, dict) else {}


def new(note: dict[str, Any]) -> bpy.types.Action:
    """An action for a transition, which no constraint reads yet."""
    action = layer_action.new(_name(note))
    write_note(action, note)
    return action


def _name(note: dict[str, Any]) -> str:
    kind = next((word for key, word in (("clips", " feet"), ("loop", " loop")) if key in note), "")
    return f"{NAME} {note['frame']}{kind}"


def write_note(action: bpy.types.Action, note: dict[str, Any]) -> None:
    action[_MARK] = json.dumps(note)


def show(
    armature: bpy.types.Object,
    action: bpy.types.Action,
    first: int,
    offsets: SeenOffsets,
    *,
    is_step: bool = True,
) -> None:
    """Let a transition add offsets from frame `first` on, and nothing before and after them.

    is_step: nothing up to `first`, else they begin linearly on the frame before.
    """
    slot = layer_action.slot_of(action, _SLOT, ensure=True)
    bag = actions.channelbag(action, slot, ensure=True)
    bag.fcurves.clear()
    for group in list(bag.groups):
        bag.groups.remove(group)
    have = {name: constraint for name, constraint in on(armature) if constraint.action == action}
    time, frames = clock.get(), np.arange(first - 1, first + len(offsets.moves) + 1, dtype=float)
    for n, bone in enumerate(offsets.bones):
        owner = armature.pose.bones[bone] if bone else armature
        _write(bag, bone, owner.rotation_mode, frames, offsets, n, is_step)
        constraint = have.get(bone) or _new_constraint(owner, action)
        set_mixing(constraint, ("POSE" if bone else "WORLD", offsets.mixing[n]))
        constraint.target, constraint.action = time, action
        constraint.action_slot = slot
        set_range(constraint, first - 1, len(frames))
    armature.update_tag(refresh={"OBJECT", "DATA"})
    clock.tick(time)


@contextmanager
def muted(armature: bpy.types.Object, only: Collection[bpy.types.Action] | None = None) -> Iterator[None]:
    """Let the transitions that an armature has now add nothing. only: some of them."""
    chosen = [(name, item) for name, item in on(armature) if only is None or item.action in only]
    before = [(name, constraint.name, constraint.mute) for name, constraint in chosen]
    for _, constraint in chosen:
        constraint.mute = True
    try:
        yield
    finally:
        held = {(name, constraint.name): constraint for name, constraint in on(armature)}
        for name, called, mute in before:
            if (name, called) in held:
                held[name, called].mute = mute


def name_by_frame(armature: bpy.types.Object, action: bpy.types.Action) -> None:
    """Name a transition again, once another one that had its name is gone."""
    action.name = _name(note_of(action))
    for _, constraint in on(armature):
        if constraint.action == action:
            constraint.name = action.name


def _new_constraint(owner: bpy.types.PoseBone | bpy.types.Object, action: bpy.types.Action) -> bpy.types.Constraint:
    stack = owner.constraints
    active = stack.active
    constraint = stack.new("ACTION")
    constraint.name, constraint.show_expanded = action.name, False
    for setting, value in SETTINGS.items():
        setattr(constraint, setting, value)
    if active is not None:
        stack.active = active
    return constraint


def _write(bag: Any, bone: str, mode: str, frames: Array, offsets: SeenOffsets, row: int, is_step: bool) -> None:
    """Key the offsets of a bone, between a frame without any at either end."""
    name = channels.channel(mode)[0]
    turns = np.concatenate((rotation.identity(1), offsets.turns[:, row], rotation.identity(1)))
    values = {
        "location": np.pad(offsets.moves[:, row], ((1, 1), (0, 0))),
        name: channels.of_rotations(turns, mode),
        "scale": np.pad(offsets.sizes[:, row], ((1, 1), (0, 0)), constant_values=1.0),
    }
    path = f"{data_paths.bone_path(bone)}." if bone else ""
    group = bag.groups.new(bone) if bone else None
    for channel, numbers in values.items():
        for index in range(numbers.shape[1]):
            curve = bag.fcurves.new(path + channel, index=index)
            if group is not None:
                curve.group = group
            keyed = keys.Keys.dense(frames, numbers[:, index])
            if is_step:
                keyed.attributes["interpolation"][0] = keys.CONSTANT
            keyed.write(curve)
    if not bone and mode == "QUATERNION":
        bag.fcurves.new(_WITHOUT_DELTA, index=0).keyframe_points.insert(frames[0], 1.0)


def remove(armature: bpy.types.Object, action: bpy.types.Action | None = None) -> int:
    """Take one transition off an armature, or all, and the clock once nothing reads it; how many there were."""
    gone = [action] if action is not None else of(armature)
    for name, constraint in list(on(armature)):
        if constraint.action in gone:
            (armature.pose.bones[name] if name else armature).constraints.remove(constraint)
    for item in gone:
        layer_action.remove_unused(item)
    constraints.remove_unread_clock()
    return len(gone)


def _reads_clock() -> bool:
    return any(is_own(action) and action.users > 0 for action in bpy.data.actions)


def register() -> None:
    clock.READERS.append(_reads_clock)


def unregister() -> None:
    clock.READERS.remove(_reads_clock)
