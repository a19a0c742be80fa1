"""The offsets of visual transitions: Action constraints, last in the stacks, that read an action of their own.

They are native data, as those of look-ats: files play and render the same without the extension. Each transition has an
action, with a slot for each bone.
"""

import json
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

import bpy
import numpy as np

from ....lookat_pd import rotation
from ....lookat_pd.progress import drain
from ....lookat_pd.rotation import Array
from ....lookat_pd.transitions import pose_tree
from ...layers import clock, kinds, layer_action, live
from ...layers.layer import TRANSFORM, Item, Layer, Row, disabled, keys_of, read_transform, set_influence, set_mixing
from ...layers.layer_action import PlaceKeys
from ...sampling import suspend
from ...sampling.own_data import TEMPORARY
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
    """What is added to b bones over F frames."""

    bones: tuple[str, ...]
    moves: Array
    """(F, b, 3) displacements."""
    turns: Array
    """(F, b, 4) rotations."""
    sizes: Array
    """(F, b, 3) factors of the scale."""
    mixing: tuple[str, ...]
    """(b,) mix modes, AFTER, SPLIT or BEFORE, by which these are meant; of the object, in the world."""

    @classmethod
    def between(cls, bones: tuple[str, ...], shown: Array, wanted: Array, mixing: tuple[str, ...]) -> "VisualOffsets":
        """What makes `wanted` of `shown`, both (F, b, 4, 4)."""

        def offset(mode: str, rows: list[int]) -> tuple[Array, Array, Array]:
            sides = shown[:, rows], wanted[:, rows]
            if mode == AFTER:
                return pose_tree.parts(np.linalg.inv(sides[0]) @ sides[1])
            return pose_tree.split_offset(*sides) if mode == SPLIT else pose_tree.rigid_offset(*sides)

        moves, turns, sizes = _of_modes(len(shown), mixing, offset)
        return cls(bones, moves, turns, sizes, mixing)

    def corrected(self, measured: Array, wanted: Array) -> "VisualOffsets":
        """Those that are needed where these lead to `measured` instead of `wanted`."""
        more = VisualOffsets.between(self.bones, measured, wanted, self.mixing)

        def both(mode: str, rows: list[int]) -> tuple[Array, Array, Array]:
            one, other = self.of_rows(rows), more.of_rows(rows)
            if mode == SPLIT:
                return one.moves + other.moves, rotation.multiply(one.turns, other.turns), one.sizes * other.sizes
            own, added = (pose_tree.affine(item.moves, item.turns, item.sizes) for item in (one, other))
            return pose_tree.parts(own @ added if mode == AFTER else added @ own)

        moves, turns, sizes = _of_modes(len(measured), self.mixing, both)
        return VisualOffsets(self.bones, moves, turns, sizes, self.mixing)

    def of_rows(self, rows: Sequence[int]) -> "VisualOffsets":
        """Those of some of the bones."""
        names, mixing = (tuple(values[row] for row in rows) for values in (self.bones, self.mixing))
        return VisualOffsets(names, self.moves[:, rows], self.turns[:, rows], self.sizes[:, rows], mixing)


def _of_modes(
    frames: int, mixing: Sequence[str], make: Callable[[str, list[int]], tuple[Array, Array, Array]]
) -> list[Array]:
    """Moves, turns and sizes (F, b, n) of bones, made of all that have the same mix mode at once."""
    result = [np.empty((frames, len(mixing), size)) for size in (3, 4, 3)]
    for mode in MIXINGS:
        rows = [row for row, own in enumerate(mixing) if own == mode]
        if rows:
            for values, made in zip(result, make(mode, rows), strict=True):
                values[:, rows] = made
    return result


@dataclass(frozen=True)
class VisualTrack:
    """What a transition adds over time: nothing before and after its offsets."""

    first: int
    """The frame before that of the first offsets."""
    offsets: VisualOffsets
    is_step: bool = True
    """Nothing up to the first offsets; else they begin linearly on the frame before."""

    @classmethod
    def nothing(cls, frame: int) -> "VisualTrack":
        """What adds nothing to any bone."""
        return cls(frame - 1, VisualOffsets((), np.zeros((1, 0, 3)), np.zeros((1, 0, 4)), np.ones((1, 0, 3)), ()))

    def rows(self) -> list[Row]:
        added, rest = self.offsets, np.concatenate((np.zeros(3), rotation.IDENTITY, np.ones(3)))
        ends = np.broadcast_to(rest, (1, len(added.bones), len(rest)))
        values = np.concatenate((ends, np.concatenate((added.moves, added.turns, added.sizes), axis=2), ends))
        return [
            Row(bone, TRANSFORM, values[:, n], ("POSE" if bone else "WORLD", added.mixing[n]), self.is_step)
            for n, bone in enumerate(added.bones)
        ]

    def same_as(self, other: "VisualTrack") -> bool:
        one, same = self.offsets, other.offsets
        if (self.first, self.is_step, one.bones, one.mixing) != (other.first, other.is_step, same.bones, same.mixing):
            return False
        values = ((added.moves, added.turns, added.sizes) for added in (one, same))
        return all(np.array_equal(mine, theirs) for mine, theirs in zip(*values, strict=True))

    @classmethod
    def read(cls, layer: "VisualLayer") -> "VisualTrack | None":
        """What a layer shows, None where somebody has changed it."""
        found = [read_transform(item, c) for item, c in layer.constraints() if c.influence]
        known = [row for row in found if row is not None]
        if len(known) != len(found) or len({(first, len(row.values), row.step) for first, row in known}) > 1:
            return None
        if not known:
            return cls.nothing(int(note_of(layer.action).get("frame", 0)) if layer.action is not None else 0)
        first, rows = known[0][0], [row for _, row in known]
        values = np.stack([row.values[1:-1] for row in rows], axis=1)
        bones, mixing = tuple(row.bone for row in rows), tuple(row.mixing[1] for row in rows if row.mixing)
        offsets = VisualOffsets(bones, values[..., :3], values[..., 3:7], values[..., 7:], mixing)
        return cls(first, offsets, bool(rows[0].step))


class VisualLayer(Layer):
    """What a transition adds to the bones that need it, after their own constraints."""

    order, mark, is_large = -2, _MARK, True
    tolerance = 1e-6
    """Offsets that were read from the file differ by rounding."""

    def __init__(self, owner: bpy.types.Object, action: bpy.types.Action | None = None) -> None:
        """action: of the transition; None for all that the object has."""
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

    def separate(self) -> None:
        """Have an action of its own, where a copy of the object has come with that of the original."""
        if layer_action.is_layer(self.action) and self._is_shared(self.action):
            own = self.action.copy()
            for item, constraint in list(self.constraints()):
                constraint.action = own
                constraint.action_slot = layer_action.slot_of(own, self._slot_name(constraint, _name_of(item)))
            self.action = own

    def _slot_name(self, constraint: bpy.types.Constraint, bone: str) -> str:
        return bone or _SLOT

    def _with_constraints(self, rows: Sequence[Row]) -> Iterator[tuple[Row, bpy.types.Constraint]]:
        held = {_name_of(item): constraint for item, constraint in self.constraints()}
        # Nobody looks for the names of those of a stand-in.
        name = self._own_action().name if self._is_seen else ""
        # A copy has its name from the start: to name one Blender looks for the name in all F-curves of the file.
        model = next((constraint for constraint in held.values() if name in ("", constraint.name)), None)
        for row in rows:
            constraint = held.get(row.bone)
            if constraint is None:
                constraint = self._add(self._item(row.bone), name, clock.get(), model)
                constraint.action = self.action
                model = model or constraint
            yield row, constraint
        for bone in held.keys() - {row.bone for row in rows}:
            set_influence(self._item(bone), held[bone], 0.0, is_seen=self._is_seen)

    def contents(self) -> list[bytes]:
        return layer_action.numbers(self.action) if self.action is not None else []

    def show(self, first: int, rows: Sequence[Row]) -> None:
        drain(self.showing(first, rows))

    def showing(self, first: int, rows: Sequence[Row]) -> Generator[float, None, None]:
        # Blender evaluates what is keyed once all is.
        rows, action, changed = [row for row in rows if not row.is_rest], self._own_action(), False
        for n, row in enumerate(rows):
            keys, slot = self.keys(first, row), layer_action.slot_of(action, row.bone or _SLOT)
            if slot is None or not self._is_keyed(action, slot, keys):
                self.write(action, keys)
                changed = True
            yield n / len(rows)
        if self._let_add(action, first, rows) or changed:
            self.evaluate()

    def keys(self, first: int, row: Row) -> list[PlaceKeys]:
        """What is keyed for a row from frame `first` on."""
        return keys_of(self._item(row.bone), first, row)

    def instead(self, action: bpy.types.Action, copy: bpy.types.Object) -> "VisualLayer":
        """The layer of this transition on a copy of the object, whose constraints read another action from now on."""
        for _, constraint in VisualLayer(copy, self.action).constraints():
            constraint.action = action
        return VisualLayer(copy, action)

    def making(self, rows: Sequence[Row]) -> Generator[float, None, None]:
        """Make the constraints of rows, none of which adds anything yet, one after the other; yields the completed
        fraction."""
        for n, (_, constraint) in enumerate(self._with_constraints(rows)):
            constraint.influence = 0.0
            yield (n + 1) / len(rows)

    def put_on(self, action: bpy.types.Action, first: int, rows: Sequence[Row]) -> None:
        """Let constraints add these rows as they are keyed in an action, its own or another, by `write`."""
        self._let_add(action, first, rows)
        action.update_tag()
        self.evaluate()

    def _let_add(self, action: bpy.types.Action, first: int, rows: Sequence[Row]) -> bool:
        """Let constraints read these rows; whether any did not yet."""
        slots, is_seen, changed = {slot.name_display: slot for slot in action.slots}, self._is_seen, False
        for row, constraint in self._with_constraints(rows):
            if constraint.action != action:
                constraint.action, changed = action, True
            changed = self._let_read(constraint, slots[row.bone or _SLOT], first, len(row.values)) or changed
            assert row.mixing is not None, "those of a track have one"
            changed = set_mixing(constraint, row.mixing) or changed
            changed = set_influence(self._item(row.bone), constraint, 1.0, is_seen=is_seen) or changed
        return changed

    @staticmethod
    def write(action: bpy.types.Action, keys: Sequence[PlaceKeys]) -> None:
        """Key a row in an action, whether a constraint reads it or not."""
        slot = layer_action.slot_of(action, keys[0].bone or _SLOT, ensure=True)
        assert slot is not None
        layer_action.write(action, slot, *keys)

    def readings(self) -> "dict[str, Reading]":
        """What each of its constraints adds, by bones, for `put_back`."""
        return {_name_of(item): Reading.of(constraint) for item, constraint in self.constraints()}

    def put_back(self, action: bpy.types.Action, before: "dict[str, Reading]") -> None:
        """Let constraints that read another action read what they read before; those made since are removed."""
        for item, constraint in list(VisualLayer(self.owner, action).constraints()):
            reading = before.get(_name_of(item))
            if reading is None:
                item.constraints.remove(constraint)
            else:
                reading.put_back(constraint)
        self.evaluate()

    def keeping_only(self, rows: Sequence[Row]) -> Generator[float, None, None]:
        """Remove the constraints and slots of all bones without a row, one after the other."""
        bones = {row.bone for row in rows}
        for item, constraint in list(self.constraints()):
            if _name_of(item) not in bones:
                item.constraints.remove(constraint)
                yield 0.5
        action = self._own_action()
        for slot in [slot for slot in action.slots if slot.name_display not in {bone or _SLOT for bone in bones}]:
            action.slots.remove(slot)
            yield 1.0


@dataclass(frozen=True)
class Reading:
    """What a constraint adds."""

    action: bpy.types.Action
    slot: bpy.types.ActionSlot | None
    settings: dict[str, Any]

    @classmethod
    def of(cls, constraint: bpy.types.Constraint) -> "Reading":
        # The mix mode before the owner space, which it sets too.
        names = ("mix_mode", "owner_space", "min", "max", "frame_start", "frame_end", "influence")
        settings = {name: getattr(constraint, name) for name in names}
        return cls(constraint.action, constraint.action_slot, settings)

    def put_back(self, constraint: bpy.types.Constraint) -> None:
        constraint.action = self.action
        if self.slot is not None:
            constraint.action_slot = self.slot
        for name, value in self.settings.items():
            if getattr(constraint, name) != value:
                setattr(constraint, name, value)


def on(armature: bpy.types.Object) -> Iterator[tuple[str, bpy.types.Constraint]]:
    """All constraints of visual transitions, with the names of their bones."""
    return ((_name_of(item), constraint) for item, constraint in VisualLayer.on(armature))


def _name_of(item: Item) -> str:
    return item.name if isinstance(item, bpy.types.PoseBone) else OBJECT


def is_own(action: bpy.types.Action | None) -> bool:
    return action is not None and _MARK in action


def is_any() -> bool:
    """Whether the file has a transition."""
    return any(_MARK in action for action in bpy.data.actions)


def of(armature: bpy.types.Object) -> list[bpy.types.Action]:
    """The actions of the transitions of an armature, by frame."""
    actions = {constraint.action for _, constraint in on(armature)}
    return sorted(actions, key=lambda action: (note_of(action).get("frame", 0), number_of(action)))


def in_order(armature: bpy.types.Object) -> list[bpy.types.Action]:
    """The same in the order in which they are made again, each with a number and an action of its own."""
    for action in of(armature):
        VisualLayer(armature, action).separate()
    # What comes from a library stays as it is there.
    found = list(filter(layer_action.is_layer, of(armature)))
    for action in found:
        if not number_of(action):
            write_note(action, note_of(action) | {"number": _free_number(found)})
    # Feet are locked in what is blended.
    return sorted(found, key=lambda action: "clips" in note_of(action))


def number_of(action: bpy.types.Action) -> int:
    """The number of a transition, unique among those of its armature; 0 where it has none yet."""
    return int(note_of(action).get("number", 0))


def _free_number(transitions: Iterable[bpy.types.Action]) -> int:
    return max(map(number_of, transitions), default=0) + 1


def note_of(action: bpy.types.Action) -> dict[str, Any]:
    """What was noted about a transition when it was made; empty if it cannot be read."""
    try:
        note = json.loads(str(action[_MARK]))
    except ValueError:
        return {}
    return note if isinstance(note, dict) else {}


def request_of(note: dict[str, Any]) -> str:
    """What a transition is made by, without what has come of it."""
    results = {"bones", "number", *(("last",) if "loop" not in note else ())}
    return json.dumps({key: value for key, value in sorted(note.items()) if key not in results})


def new(armature: bpy.types.Object, note: dict[str, Any]) -> bpy.types.Action:
    """An action for a transition of an armature, which no constraint reads yet."""
    action = layer_action.new(_name(note))
    write_note(action, note | {"number": _free_number(of(armature))})
    return action


def for_a_trial() -> bpy.types.Action:
    """An action that constraints of a transition read in slices of the work, in place of its own."""
    action = layer_action.new()
    action[_MARK], action[TEMPORARY] = "", True
    return action


def _name(note: dict[str, Any]) -> str:
    kind = next((word for key, word in (("clips", " feet"), ("loop", " loop")) if key in note), "")
    return f"{NAME} {note['frame']}{kind}"


def write_note(action: bpy.types.Action, note: dict[str, Any]) -> None:
    text = json.dumps(note)
    if action.get(_MARK) != text:
        action[_MARK] = text


def without(armature: bpy.types.Object, only: Collection[bpy.types.Action] | None = None) -> suspend.LeftOut:
    """What is left out where the pose of an armature is read without look-ats and without the transitions that it has
    now, or some of them."""
    chosen, layers = set(of(armature)) if only is None else set(only), kinds.left_out(0)

    def on_copy(copy: bpy.types.Object) -> None:
        for _, constraint in VisualLayer.on(copy):
            if constraint.action in chosen:
                constraint.influence = 0.0

    return layers.changing(armature, partial(muted, armature, chosen), on_copy)


def muted(armature: bpy.types.Object, only: Collection[bpy.types.Action] | None = None) -> AbstractContextManager[bool]:
    """Let the transitions that an armature has now add nothing. only: some of them."""
    chosen = set(of(armature)) if only is None else set(only)
    return disabled([armature], lambda owner: ((i, c) for i, c in VisualLayer.on(owner) if c.action in chosen))


def remove(armature: bpy.types.Object, action: bpy.types.Action | None = None) -> int:
    """Take one transition off an armature, or all, and the clock once nothing reads it; how many there were."""
    gone = [action] if action is not None else of(armature)
    for item, constraint in list(VisualLayer.on(armature)):
        if constraint.action in gone:
            item.constraints.remove(constraint)
    for each in gone:
        layer_action.remove_unused(each)
    clock.remove_unread()
    live.touch()
    return len(gone)
