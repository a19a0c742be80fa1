"""The offsets of visual transitions: Action constraints, last in the stacks, that read an action of their own.

They are native data, as those of look-ats: files play and render the same without the extension. Each transition has an
action, with a slot for each bone.
"""

import json
from collections.abc import Collection, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ....lookat_pd import rotation
from ....lookat_pd.rotation import Array
from ....lookat_pd.transitions import pose_tree
from ...layers import clock, layer_action
from ...layers.layer import TRANSFORM, Item, Layer, Row, disabled
from .evaluated_pose import OBJECT

NAME = "Visual Pose"
_MARK = "lookat_pd_visual"
_SLOT = "Offsets"
AFTER, SPLIT, BEFORE = MIXINGS = ("AFTER_FULL", "AFTER_SPLIT", "BEFORE_FULL")
"""Mix modes. AFTER: the offset is in the bone's own frame. SPLIT, for bones that are scaled unevenly: displacements are
in the armature's space, rotation and scale change separately. BEFORE, for those that are sheared: the offset turns them
about the armature's origin, which keeps any shear."""


@dataclass(frozen=True)
class VisualOffsets:
    """What is added to b bones over F frames. moves: (F, b, 3) displacements; turns: (F, b, 4) rotations; sizes: (F, b,
    3) factors of the scale. mixing: (b,) mix modes, AFTER, SPLIT or BEFORE, by which these are meant; of the object, in
    the world."""

    bones: tuple[str, ...]
    moves: Array
    turns: Array
    sizes: Array
    mixing: tuple[str, ...]

    @classmethod
    def between(cls, bones: tuple[str, ...], shown: Array, wanted: Array, mixing: tuple[str, ...]) -> "VisualOffsets":
        """What makes `wanted` of `shown`, both (F, b, 4, 4)."""
        after = pose_tree.parts(np.linalg.inv(shown) @ wanted)
        others = pose_tree.split_offset(shown, wanted), pose_tree.rigid_offset(shown, wanted)
        moves, turns, sizes = _picked(mixing, after, *others)
        return cls(bones, moves, turns, sizes, mixing)

    def corrected(self, measured: Array, wanted: Array) -> "VisualOffsets":
        """Those that are needed where these lead to `measured` instead of `wanted`."""
        more = VisualOffsets.between(self.bones, measured, wanted, self.mixing)
        own, added = (pose_tree.affine(item.moves, item.turns, item.sizes) for item in (self, more))
        split = self.moves + more.moves, rotation.multiply(self.turns, more.turns), self.sizes * more.sizes
        after, before = pose_tree.parts(own @ added), pose_tree.parts(added @ own)
        moves, turns, sizes = _picked(self.mixing, after, split, before)
        return VisualOffsets(self.bones, moves, turns, sizes, self.mixing)

    def of_rows(self, rows: Sequence[int]) -> "VisualOffsets":
        """Those of some of the bones."""
        names, mixing = (tuple(values[row] for row in rows) for values in (self.bones, self.mixing))
        return VisualOffsets(names, self.moves[:, rows], self.turns[:, rows], self.sizes[:, rows], mixing)


def _picked(mixing: Sequence[str], *by_mode: tuple[Array, Array, Array]) -> list[Array]:
    """Moves, turns and sizes (F, b, n) of each bone by its mix mode, from those by all modes."""
    row = np.array([MIXINGS.index(mode) for mode in mixing], dtype=int)
    return [np.choose(row[:, None], values) for values in zip(*by_mode, strict=True)]


class VisualLayer(Layer):
    """What a transition adds to the bones that need it, after their own constraints."""

    order, mark = -2, _MARK

    def __init__(self, owner: bpy.types.Object, action: bpy.types.Action | None = None) -> None:
        super().__init__(owner)
        self.action = action

    @property
    def key(self) -> Hashable:
        return self.owner, type(self), self.action

    @classmethod
    def owns(cls, constraint: bpy.types.Constraint) -> bool:
        return constraint.type == "ACTION" and is_own(constraint.action)

    def constraints(self) -> Iterator[tuple[Item, bpy.types.Constraint]]:
        yield from ((item, c) for item, c in self.on(self.owner) if self.action in (None, c.action))

    def _action(self) -> bpy.types.Action | None:
        return self.action

    def _own_action(self) -> bpy.types.Action:
        assert self.action is not None
        return self.action

    def _slot_name(self, constraint: bpy.types.Constraint, bone: str) -> str:
        return bone or _SLOT

    def _with_constraints(self, rows: Sequence[Row]) -> Iterator[tuple[Row, bpy.types.Constraint]]:
        held = {_name_of(item): constraint for item, constraint in self.constraints()}
        for row in rows:
            constraint = held.get(row.bone)
            if constraint is None:
                constraint = self._add(self._item(row.bone), self._own_action().name, clock.get())
                constraint.action = self.action
            yield row, constraint
        for bone in held.keys() - {row.bone for row in rows}:
            held[bone].influence = 0.0


def on(armature: bpy.types.Object) -> Iterator[tuple[str, bpy.types.Constraint]]:
    """All constraints of visual transitions, with the names of their bones."""
    return ((_name_of(item), constraint) for item, constraint in VisualLayer.on(armature))


def _name_of(item: Item) -> str:
    return item.name if isinstance(item, bpy.types.PoseBone) else OBJECT


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
    offsets: VisualOffsets,
    *,
    is_step: bool = True,
) -> None:
    """Let a transition add offsets from frame `first` on, and nothing before and after them.

    is_step: nothing up to `first`, else they begin linearly on the frame before.
    """
    rows = []
    for n, bone in enumerate(offsets.bones):
        turns = np.concatenate((rotation.identity(1), offsets.turns[:, n], rotation.identity(1)))
        moves = np.pad(offsets.moves[:, n], ((1, 1), (0, 0)))
        sizes = np.pad(offsets.sizes[:, n], ((1, 1), (0, 0)), constant_values=1.0)
        mixing = "POSE" if bone else "WORLD", offsets.mixing[n]
        rows.append(Row(bone, TRANSFORM, np.concatenate((moves, turns, sizes), axis=1), mixing, is_step))
    VisualLayer(armature, action).show(first - 1, rows)


def muted(armature: bpy.types.Object, only: Collection[bpy.types.Action] | None = None) -> AbstractContextManager[None]:
    """Let the transitions that an armature has now add nothing. only: some of them."""
    chosen = set(of(armature)) if only is None else set(only)
    return disabled([armature], lambda owner: ((i, c) for i, c in VisualLayer.on(owner) if c.action in chosen))


def name_by_frame(armature: bpy.types.Object, action: bpy.types.Action) -> None:
    """Name a transition again, once another one that had its name is gone."""
    action.name = _name(note_of(action))
    for _, constraint in on(armature):
        if constraint.action == action:
            constraint.name = action.name


def remove(armature: bpy.types.Object, action: bpy.types.Action | None = None) -> int:
    """Take one transition off an armature, or all, and the clock once nothing reads it; how many there were."""
    gone = [action] if action is not None else of(armature)
    for item, constraint in list(VisualLayer.on(armature)):
        if constraint.action in gone:
            item.constraints.remove(constraint)
    for each in gone:
        layer_action.remove_unused(each)
    clock.remove_unread()
    return len(gone)
