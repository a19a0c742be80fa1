"""A layer: what the extension adds live to an object or to bones of an armature, as native Blender data.

Each row of a layer is an Action constraint. It adds what is keyed in the layer's action at the frame that the clock
shows, and leaves the animator's channels alone, so that a file plays and renders without any handler, and without the
extension. Constraints, action and clock are the layer's own: made, written and removed here.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ..animation import channels
from ..animation.channels import LOCATION, SCALE
from ..sampling import own_data, suspend
from ..sampling.own_data import TEMPORARY
from . import clock, layer_action
from .layer_action import PlaceKeys

ROTATION, TRANSFORM = "ROTATION", "TRANSFORM"
"""What a row changes, besides `LOCATION`: TRANSFORM is location, rotation and scale."""
_SETTINGS = {
    "target_space": "WORLD",
    "transform_channel": "LOCATION_X",
    "use_bone_object_action": False,
    "use_eval_time": False,
    "subtarget": "",
    "mute": False,
}
"""What makes a constraint add what is keyed at the clock's frame, and nothing else."""
_SHOWN = ("influence", "min", "max", "frame_start", "frame_end")
"""What is set to what is shown."""
_NOTE = "lookat_pd_solved_from"
"""Custom property of an action: what its keys were solved from."""
_REST = {ROTATION: np.array(rotation.IDENTITY), LOCATION: np.zeros(3)}
_LEAST_W, _BETWEEN = 0.5, 1e-4
"""Smallest first number of a quaternion by which the others are divided, and the angle [rad] by which that may change
what is between two frames."""
_WITHOUT_DELTA = (("delta_rotation_quaternion", 1.0),)
"""Blender evaluates the action of an object with a delta rotation of length 0 in quaternions, which turns by 180°."""
Item = bpy.types.Object | bpy.types.PoseBone
"""What has constraints: an object or one of its bones."""
Find = Callable[[bpy.types.Object], Iterator[tuple[Item, bpy.types.Constraint]]]
Mixing = tuple[str, str]
"""Owner space and mix mode of a constraint."""
Place = tuple[str, str]
"""A bone, "" for the object itself, and what of it: ROTATION, LOCATION or TRANSFORM."""


@dataclass(frozen=True)
class Row:
    """What a layer adds to one bone, or to the object itself, at whole frames."""

    bone: str
    """Name of the bone, "" for the object itself."""
    what: str
    """ROTATION, LOCATION or TRANSFORM."""
    values: Array
    """(F, 4) rotations, (F, 3) displacements, or (F, 10) displacements, rotations and factors of the scale."""
    mixing: Mixing | None = None
    """How it is added, None for the first way that the layer has for it."""
    step: bool | None = None
    """None for samples; keys that an animator can edit otherwise, and whether the first one holds until the next."""
    is_full: bool = False
    """Whether all numbers of a quaternion are keyed, also where three would do."""

    @property
    def is_rest(self) -> bool:
        """Whether it adds nothing."""
        rest = _REST.get(self.what)
        return rest is not None and np.array_equal(self.values, np.broadcast_to(rest, self.values.shape))


Held = dict[tuple[str, str], tuple[float, Mixing, list[PlaceKeys]]]
"""What the constraints of a layer hold, by their bones and names: influence, how it is added, and keys."""


class Layer:
    """A layer of an object. The base class has the layers of one kind that an object has share an action, and puts
    their constraints first in the stacks.

    A subclass says how its constraints are called, how they add, and where they stand.
    """

    prefix: ClassVar[str] = own_data.PREFIX
    """Beginning of the names of its constraints, followed by the number of the layer and a slot in it."""
    order: ClassVar[int] = 0
    """Layers that come first in a stack stand in this order; below 0: last in the stack, after the animator's."""
    action_name: ClassVar[str] = ".Look-at PD Offsets"
    mark: ClassVar[str] = ""
    """Custom property of its actions, "" for none of its own."""
    ways: ClassVar[dict[str, tuple[Mixing, ...]]] = {
        ROTATION: (("POSE", "AFTER_FULL"), ("LOCAL", "AFTER")),
        LOCATION: (("LOCAL", "AFTER_SPLIT"),),
    }
    """In the space of the pose no bone is taken out of it and back, so that an identity leaves it as it is to the last
    bit. An unevenly scaled bone would be sheared there: it is turned in its own space."""
    is_large: ClassVar[bool] = False
    """Whether it has so many rows that it is shown in steps, each a part of a turn of the window's loop."""
    tolerance: ClassVar[float] = 0.0
    """Difference from what is keyed up to which it is not keyed again."""

    def __init__(self, owner: bpy.types.Object, number: int = 1) -> None:
        """number: unique among the layers of this kind on the object."""
        self.owner, self.number = owner, number
        self._reads_once = False
        self._found: list[tuple[Item, bpy.types.Constraint]] | None = None

    @property
    def key(self) -> Hashable:
        """What distinguishes it from all other layers."""
        return self.owner, type(self), self.number

    # Which constraints are its own

    def name(self, slot: int) -> str:
        """Name of the constraint of a slot."""
        return f"{self.prefix}{self.number}.{slot}"

    @classmethod
    def owns(cls, constraint: bpy.types.Constraint) -> bool:
        """Whether a constraint is one of a layer of this class."""
        if not own_data.is_own_constraint(constraint):
            return False
        return constraint.name.startswith(cls.prefix)

    @classmethod
    def on(cls, owner: bpy.types.Object) -> Iterator[tuple[Item, bpy.types.Constraint]]:
        """All constraints of layers of this class on an object and its bones."""
        for item in (owner, *(owner.pose.bones if owner.pose else ())):
            for constraint in item.constraints:
                if cls.owns(constraint):
                    yield item, constraint

    @contextmanager
    def read_once(self) -> Iterator[None]:
        """The constraints of its kind on its object are looked for once, since all bones are asked; none may come or go
        meanwhile."""
        before, self._reads_once = self._reads_once, True
        try:
            yield
        finally:
            self._reads_once = before
            self._found = self._found if before else None

    def _of_its_kind(self) -> Iterable[tuple[Item, bpy.types.Constraint]]:
        if not self._reads_once:
            return self.on(self.owner)
        if self._found is None:
            self._found = list(self.on(self.owner))
        return self._found

    def constraints(self) -> Iterator[tuple[Item, bpy.types.Constraint]]:
        """Its constraints, with what they are on."""
        for item, constraint in self._of_its_kind():
            if number_of(constraint) == self.number:
                yield item, constraint

    def _item(self, bone: str) -> Item:
        return self.owner.pose.bones[bone] if bone else self.owner

    def _action(self) -> bpy.types.Action | None:
        """The action that its constraints read, or those of its kind on this object."""
        found = (getattr(constraint, "action", None) for _, constraint in self._sharing())
        return next((action for action in found if layer_action.is_layer(action)), None)

    def _sharing(self) -> Iterable[tuple[Item, bpy.types.Constraint]]:
        """The constraints that share its action."""
        return self._of_its_kind()

    # Made and removed

    def is_installed(self, places: Sequence[Place]) -> bool:
        """Whether it has its constraints at these places, as `install` makes them, and at no others."""
        wanted = {(bone, self.name(slot)): what for slot, (bone, what) in enumerate(places)}
        own = [(_bone_of(item), item, constraint) for item, constraint in self.constraints()]
        if {(bone, constraint.name) for bone, _, constraint in own} != wanted.keys() or len(own) != len(wanted):
            return False
        return all(self._is_whole(item, constraint, wanted[bone, constraint.name]) for bone, item, constraint in own)

    def _is_whole(self, item: Item, constraint: bpy.types.Constraint, what: str) -> bool:
        """Whether nobody has muted or changed the constraint, and what it reads is still there."""
        if constraint.type != "ACTION" or not clock.is_clock(constraint.target):
            return False
        if not layer_action.is_layer(constraint.action) or constraint.action_slot is None:
            return False
        if constraint.action_slot.name_display != constraint.name:
            return False
        if (constraint.owner_space, constraint.mix_mode) not in self.ways[what]:
            return False
        return self._is_in_place(item, constraint) and _is_set(constraint)

    @classmethod
    def _is_in_place(cls, item: Item, constraint: bpy.types.Constraint) -> bool:
        """Whether no constraint of the animator is above it, or below it where it is last."""
        stack = list(item.constraints)
        row = stack.index(constraint)
        return all(map(cls._is_above, stack[:row])) if cls.order >= 0 else all(map(cls.owns, stack[row:]))

    @classmethod
    def _is_above(cls, other: bpy.types.Constraint) -> bool:
        """Whether a constraint may stand above those of this layer, which come first."""
        return own_data.is_own_constraint(other) and own_data.order_of(other) <= cls.order

    def install(self, places: Sequence[Place]) -> None:
        """Give bones its constraints, of which new ones add nothing yet, and take away stray ones."""
        for _ in self.installing(places):
            pass

    def installing(self, places: Sequence[Place]) -> Iterator[None]:
        """The same, one after the other, with a break before each that takes long; those that are right stay."""
        if self.is_installed(places):
            return
        wanted = {self.name(slot): place for slot, place in enumerate(places)}
        for constraint in self._spread(wanted):
            self._begin(constraint, wanted[constraint.name][1])
        time, there = clock.get(), {constraint.name for _, constraint in self.constraints()}
        for name, (bone, what) in wanted.items():
            if name not in there:
                yield
                self._begin(self._add(self._item(bone), name, time), what)

    def _spread(self, wanted: Mapping[str, Place]) -> list[bpy.types.Constraint]:
        """Take stray constraints away, and have copies of them where some of their names are wanted.

        To name one Blender looks for the name in all F-curves of the file; a copy has its name from the start.
        """
        right: set[str] = set()
        stray: list[tuple[Item, bpy.types.Constraint]] = []
        astray: list[tuple[Item, bpy.types.Constraint]] = []
        for item, constraint in self.constraints():
            bone, what = wanted.get(constraint.name, (None, ""))
            is_there = bone == _bone_of(item)
            if is_there and constraint.name not in right and self._is_whole(item, constraint, what):
                right.add(constraint.name)
            else:
                (stray if is_there else astray).append((item, constraint))
        self._remove_constraints(stray, right)
        models = {constraint.name: constraint for _, constraint in astray if constraint.type == "ACTION"}
        names = [name for name in wanted if name in models and name not in right]
        made = [self._add(self._item(wanted[name][0]), name, clock.get(), models[name]) for name in names]
        self._remove_constraints(astray, right)
        return made

    def _begin(self, constraint: bpy.types.Constraint, what: str) -> None:
        """Let a new constraint read the action, and add nothing yet."""
        action = self._action() or self._new_action()
        constraint.action = action
        constraint.action_slot = layer_action.slot_of(action, constraint.name, ensure=True)
        set_mixing(constraint, self.ways[what][0])
        constraint.influence = 0.0

    def _new_action(self) -> bpy.types.Action:
        action = layer_action.new(self.action_name)
        if self.mark:
            action[self.mark] = True
        return action

    def _add(
        self, item: Item, name: str, time: bpy.types.Object, model: bpy.types.Constraint | None = None
    ) -> bpy.types.Constraint:
        """A constraint that reads the clock, at its place in a stack. What is the active one stays so.

        name: "" for any. model: one of this name, on something else.
        """
        stack = item.constraints
        active = stack.active
        if model is None:
            constraint = stack.new("ACTION")
            if name:
                constraint.name = name
        else:
            constraint = stack.copy(model)
        constraint.show_expanded, constraint.target = False, time
        for setting, value in _SETTINGS.items():
            setattr(constraint, setting, value)
        if self.order >= 0:
            # What a bake would key is below all constraints.
            stack.move(len(stack) - 1, sum(map(self._is_above, stack)) - 1)
        if active is not None:
            stack.active = active
        return constraint

    def remove(self) -> None:
        """Take its constraints away, and the clock once nothing reads it.

        What is linked from a library reads the clock of that library.
        """
        if self._remove_constraints(list(self.constraints())):
            clock.remove_unread()

    def _remove_constraints(
        self, gone: Sequence[tuple[Item, bpy.types.Constraint]], kept: Collection[str] = ()
    ) -> bool:
        """Take some of its constraints away, with what is keyed for them; whether there were any.

        kept: names of such as stay, which others had too.
        """
        for item, constraint in gone:
            active = item.constraints.active
            others = active is not None and active != constraint
            action, place = getattr(constraint, "action", None), constraint.name
            item.constraints.remove(constraint)
            if others:
                item.constraints.active = active
            if layer_action.is_layer(action) and place not in kept:
                slot = layer_action.slot_of(action, place)
                if slot is not None and action.users > 0 and not self._is_shared(action):
                    action.slots.remove(slot)
                    self._forget(action)
                layer_action.remove_unused(action)
        return bool(gone)

    def _forget(self, action: bpy.types.Action) -> None:
        """Take what is noted of it beside its keys away."""

    # What it adds

    def show(self, first: int, rows: Sequence[Row]) -> None:
        """Let its constraints add rows from frame `first` on. What they add already is not written again."""
        with self.read_once():
            self._show(first, rows)

    def _show(self, first: int, rows: Sequence[Row]) -> None:
        for owners, held in _disabled:
            if self.order >= 0 and self.owner in owners and self.key not in held:
                held[self.key] = self, self.written()
        wrote, action, is_seen = False, None, self._is_seen
        for row, constraint in self._with_constraints(rows):
            item = self._item(row.bone)
            if row.is_rest:
                wrote = set_influence(item, constraint, 0.0, is_seen=is_seen) or wrote
                continue
            action = action or self._own_action()
            # To make curves has the window draw again: those of a stand-in serve whatever it shows.
            keys = keys_of(item, first, row if is_seen else replace(row, is_full=True))
            wrote = self._write(action, constraint, keys) or wrote
            wrote = set_mixing(constraint, row.mixing or self.ways[row.what][0]) or wrote
            wrote = set_influence(item, constraint, 1.0, is_seen=is_seen) or wrote
        if wrote:
            self.evaluate()

    def showing(self, first: int, rows: Sequence[Row]) -> Iterator[float]:
        """The same; yields the completed fraction where it is large."""
        self.show(first, rows)
        yield 1.0

    def _with_constraints(self, rows: Sequence[Row]) -> Iterator[tuple[Row, bpy.types.Constraint]]:
        """The rows that have a constraint, with it."""
        held = {constraint.name: constraint for _, constraint in self.constraints()}
        for slot, row in enumerate(rows):
            if self.name(slot) in held:
                yield row, held[self.name(slot)]

    def hide(self) -> None:
        """Let its constraints add nothing, exactly."""
        is_seen, own = self._is_seen, list(self.constraints())
        changed = [set_influence(item, constraint, 0.0, is_seen=is_seen) for item, constraint in own]
        if any(changed) and not is_seen:
            self.evaluate()

    def _write(self, action: bpy.types.Action, constraint: bpy.types.Constraint, keys: Sequence[PlaceKeys]) -> bool:
        """Key what a constraint adds in its own action; whether it was not keyed yet."""
        slot = layer_action.slot_of(action, self._slot_name(constraint, keys[0].bone), ensure=True)
        assert slot is not None
        changed = not self._is_keyed(action, slot, keys)
        if changed:
            layer_action.write(action, slot, *keys)
        return self._let_read(constraint, slot, keys[0].first, len(keys[0].values)) or changed

    @staticmethod
    def _let_read(constraint: bpy.types.Constraint, slot: bpy.types.ActionSlot, first: int, count: int) -> bool:
        """Let a constraint read so many frames of a slot of its action; whether it did not yet."""
        is_other = constraint.action_slot_handle != slot.handle
        if is_other:
            constraint.action_slot = slot
        return _set_range(constraint, first, count) or is_other

    def _is_keyed(self, action: bpy.types.Action, slot: bpy.types.ActionSlot, keys: Sequence[PlaceKeys]) -> bool:
        if layer_action.begins_otherwise(action, slot, keys[0], self.tolerance):
            return False
        known = layer_action.read(action, slot)
        same = [one.same_as(other, self.tolerance) for one, other in zip(keys, known, strict=False)]
        return len(known) == len(keys) and all(same)

    def _slot_name(self, constraint: bpy.types.Constraint, bone: str) -> str:
        """Name of the slot of the action that the constraint on a bone reads."""
        return constraint.name

    def _is_shared(self, action: bpy.types.Action) -> bool:
        """Whether constraints of other objects read it too: copies of an object come with its constraints."""
        own = sum(getattr(constraint, "action", None) == action for _, constraint in self._sharing())
        return action.users - action.use_fake_user > own

    def _own_action(self) -> bpy.types.Action:
        """Its action, which no other object reads."""
        action = self._action()
        if action is not None and not self._is_shared(action):
            return action
        made = self._new_action() if action is None else action.copy()
        for _, constraint in self._sharing():
            if constraint.type == "ACTION":
                constraint.action = made
                constraint.action_slot = layer_action.slot_of(made, constraint.name, ensure=True)
        return made

    def evaluate(self) -> None:
        """Have Blender evaluate what is read now; a temporary scene is stepped anyway."""
        action = self._action()
        if action is not None:
            action.update_tag()
        if not self._is_seen:
            self.owner.update_tag()
            return
        if self.order < 0:
            self.owner.update_tag(refresh={"OBJECT", "DATA"} if self.owner.pose else {"OBJECT"})
        for _, constraint in self._sharing():
            if constraint.target is not None:
                clock.tick(constraint.target)
                return

    @property
    def _is_seen(self) -> bool:
        """Whether its object is in a scene that windows may show, and no stand-in of a temporary one alone."""
        return not all(TEMPORARY in scene for scene in self.owner.users_scene)

    # What it holds

    def fixed(self, *, shown: bool = True) -> list[tuple[object, ...]]:
        """What nobody else should change about its constraints, to detect whether somebody has; with `shown` also what
        depends on what is shown. What a bone is called since is no change."""
        return [self._fixed(item, constraint, shown) for item, constraint in self.constraints()]

    @classmethod
    def fixed_on(cls, owner: bpy.types.Object) -> list[tuple[object, ...]]:
        """What always stays of all constraints of this class on an object."""
        return [cls._fixed(item, constraint, False) for item, constraint in cls.on(owner)]

    @classmethod
    def _fixed(cls, item: Item, constraint: bpy.types.Constraint, shown: bool) -> tuple[object, ...]:
        if constraint.type != "ACTION":
            return ()
        settings = (*_SETTINGS, *_SHOWN) if shown else tuple(_SETTINGS)
        return (
            constraint.name,
            clock.is_clock(constraint.target),
            layer_action.is_layer(constraint.action),
            cls._is_in_place(item, constraint),
            constraint.action_slot_handle,
            any((constraint.owner_space, constraint.mix_mode) in ways for ways in cls.ways.values()),
            *(getattr(constraint, setting) for setting in settings),
        )

    def contents(self) -> list[bytes]:
        """What is keyed for its constraints, to detect whether somebody has changed it."""
        held = ((constraint.name, read_keys(constraint)) for _, constraint in self.constraints())
        return [name.encode() + b"".join(part.values.tobytes() for part in keys) for name, keys in held if keys]

    @property
    def note(self) -> str:
        """What is noted beside its keys; "" where another object reads them too, or some constraints read others."""
        action = self._action()
        if action is None or self._is_shared(action):
            return ""
        is_all = all(getattr(constraint, "action", None) == action for _, constraint in self.constraints())
        return action.get(_NOTE, "") if is_all else ""

    def set_note(self, text: str) -> None:
        action = self._action()
        if action is not None and action.get(_NOTE, "") != text:
            action[_NOTE] = text

    def written(self) -> Held:
        """What its constraints hold, for `write_back`."""
        return {
            (_bone_of(item), c.name): (c.influence, (c.owner_space, c.mix_mode), read_keys(c))
            for item, c in self.constraints()
            if c.type == "ACTION"
        }

    def write_back(self, held: Held) -> None:
        """Let its constraints hold what they held; those that are gone stay gone."""
        action = None
        for item, constraint in list(self.constraints()):
            if (_bone_of(item), constraint.name) not in held:
                continue
            influence, mixing, keys = held[_bone_of(item), constraint.name]
            if keys:
                action = action or self._own_action()
                self._write(action, constraint, keys)
            set_mixing(constraint, mixing)
            _set(constraint, "influence", influence)
        self.evaluate()

    def read(self, places: Sequence[Place]) -> tuple[int, list[Array | None]] | None:
        """First frame and values that its constraints show, None for those that add nothing; None where they show
        nothing, or not at these places."""
        held = {constraint.name: constraint for _, constraint in self.constraints()}
        every: list[PlaceKeys | None] = []
        for slot, (bone, _) in enumerate(places):
            constraint = held.get(self.name(slot))
            if constraint is None:
                return None
            keys = next(iter(read_keys(constraint)), None) if constraint.influence == 1.0 else None
            if keys is not None and keys.bone != bone:
                return None
            every.append(keys)
        known = [keys for keys in every if keys is not None]
        if not known or len({(keys.first, len(keys.values)) for keys in known}) != 1:
            return None
        return known[0].first, [
            None if keys is None else _values(self._item(bone), what, keys)
            for (bone, what), keys in zip(places, every, strict=True)
        ]


def number_of(constraint: bpy.types.Constraint) -> int:
    """Number of the layer to which a constraint with such a name belongs; 0 for one of the animator's."""
    return slot_of(constraint)[0] if own_data.is_own_constraint(constraint) else 0


def slot_of(constraint: bpy.types.Constraint) -> tuple[int, int]:
    """Number of the layer and slot in it, from the name of a constraint."""
    name_parts = own_data.parts(constraint.name)
    assert name_parts is not None, "it is one of a layer's"
    return name_parts[1:]


def is_part(item: bpy.types.ID) -> bool:
    """Whether constraints of layers read it: an action that holds offsets, or a clock with its own."""
    return clock.is_marked(item) or (isinstance(item, bpy.types.Action) and layer_action.is_layer(item))


def adding(armature: bpy.types.Object) -> set[str]:
    """Bones of an armature to which layers that come before the animator's constraints add something now."""
    own = ((bone.name, constraint) for bone in armature.pose.bones for constraint in bone.constraints)
    return {name for name, constraint in own if constraint.influence and own_data.is_own_constraint(constraint)}


def offset_at(bone: bpy.types.PoseBone, constraint: bpy.types.Constraint, frame: float) -> Array | None:
    """The local offset (4,) by which a layer's constraint turns a bone at a frame, None where it turns nothing."""
    if constraint.type != "ACTION" or constraint.mix_mode == Layer.ways[LOCATION][0][1]:
        return None
    if constraint.mute or constraint.influence == 0.0:
        return None
    numbers = layer_action.at(constraint.action, constraint.action_slot, max(frame, constraint.frame_start))
    return _to_offsets(numbers[None], bone.rotation_mode)[0] if len(numbers) else None


def read_keys(constraint: bpy.types.Constraint) -> list[PlaceKeys]:
    """The keys that a constraint reads, by channels."""
    action = getattr(constraint, "action", None)
    if action is None or constraint.action_slot is None:
        return []
    return layer_action.read(action, constraint.action_slot)


def read_transform(item: Item, constraint: bpy.types.Constraint) -> tuple[int, Row] | None:
    """First frame and row of a constraint that adds location, rotation and scale; None where it adds something else."""
    keys = {part.channel: part for part in read_keys(constraint)}
    parts = [keys.get(channels.channel(kind)[0]) for kind in (LOCATION, item.rotation_mode, SCALE)]
    known = [part for part in parts if part is not None]
    if len(known) != 3 or len({(part.first, len(part.values)) for part in known}) != 1:
        return None
    move, turn, size = known
    values = np.concatenate((move.values, _to_offsets(turn.values.astype(float), item.rotation_mode), size.values), 1)
    mixing = constraint.owner_space, constraint.mix_mode
    return move.first, Row(_bone_of(item), TRANSFORM, values, mixing, move.step)


# Numbers and keys


def keys_of(item: Item, first: int, row: Row) -> list[PlaceKeys]:
    """What is keyed for a row: a constraint reads channels in the item's own rotation mode."""
    mode, bone = item.rotation_mode, _bone_of(item)
    parts = {row.what: row.values}
    if row.what == TRANSFORM:
        parts = {LOCATION: row.values[:, :3], ROTATION: row.values[:, 3:7], SCALE: row.values[:, 7:]}
    keys = []
    for what, values in parts.items():
        kind, index, constants = what, 0, ()
        if what == ROTATION:
            kind, values = mode, channels.of_rotations(values, mode)
            constants = _WITHOUT_DELTA if mode == "QUATERNION" and not bone else ()
            can_leave_out = mode == "QUATERNION" and row.what == ROTATION and bone and not row.is_full
            if can_leave_out and _is_steady(values):
                # Blender makes it a unit quaternion again. Playback costs less, the fewer curves there are.
                values, index = values[:, 1:] / values[:, :1], 1
        name = channels.channel(kind)[0]
        keys.append(PlaceKeys(bone, name, first, values.astype(np.float32), index, constants, row.step))
    return keys


def _values(item: Item, what: str, keys: PlaceKeys) -> Array:
    """What is keyed for a row, as the row has it."""
    values = keys.values.astype(float)
    return values if what == LOCATION else _to_offsets(values, item.rotation_mode)


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


# Settings of constraints


def _bone_of(item: Item) -> str:
    return item.name if isinstance(item, bpy.types.PoseBone) else ""


def _is_set(constraint: bpy.types.Constraint) -> bool:
    return all(getattr(constraint, name) == value for name, value in _SETTINGS.items())


def _set(constraint: bpy.types.Constraint, setting: str, value: object) -> bool:
    """Set what is not so yet, since a write makes Blender evaluate the rig; whether it was not."""
    if getattr(constraint, setting) == value:
        return False
    setattr(constraint, setting, value)
    return True


def set_influence(item: Item, constraint: bpy.types.Constraint, influence: float, *, is_seen: bool) -> bool:
    """Set the influence of a constraint of an item, if it is another one; whether it was. What is not seen is set
    without a sign to the window, which would draw all it shows again; `evaluate` is to follow."""
    if is_seen:
        return _set(constraint, "influence", influence)
    if constraint.influence == influence:
        return False
    stack = item.constraints
    influences = np.empty(len(stack), dtype=np.float32)
    stack.foreach_get("influence", influences)
    influences[stack.find(constraint.name)] = influence
    stack.foreach_set("influence", influences)
    return True


def set_mixing(constraint: bpy.types.Constraint, mixing: Mixing) -> bool:
    """Let a constraint add in this owner space and mix mode; whether it did not yet."""
    if (constraint.owner_space, constraint.mix_mode) == mixing:
        return False
    # The mix mode first, since it sets the space too.
    constraint.mix_mode = mixing[1]
    constraint.owner_space = mixing[0]
    return True


def _set_range(constraint: bpy.types.Constraint, first: int, count: int) -> bool:
    """Let a constraint read as many frames as there are; whether it did not yet."""
    # A power of two, so that the frame read is exactly the one that the clock shows.
    last = first + (1 << max(count - 1, 1).bit_length())
    ends = {"min": first / clock.FRAMES_PER_UNIT, "max": last / clock.FRAMES_PER_UNIT}
    changed = [_set(constraint, setting, value) for setting, value in ends.items()]
    changed += [_set(constraint, "frame_start", first), _set(constraint, "frame_end", last)]
    return any(changed)


# Left out for a while


_disabled: list[tuple[set[bpy.types.Object], dict[Hashable, tuple[Layer, Held]]]] = []
"""Of each context in which all layers are left out: its objects, and what those layers held that are shown meanwhile.
"""


@contextmanager
def disabled(owners: Iterable[bpy.types.Object], find: Find) -> Iterator[bool]:
    """Let constraints of layers add nothing, and at the end add what they added before: whether there are any.

    find: those of an object, such as `Layer.on` of a class, or `own_on`: what is shown in a context with that adds
    something nevertheless, until its end.
    """
    owners = set(owners)
    influences: list[tuple[bpy.types.Object, dict[tuple[str, str], float]]] = []
    # Without an action no constraint adds anything; to see that is quicker than to look at every bone.
    for owner in owners if layer_action.is_any() else ():
        own = list(find(owner))
        if own:
            influences.append((owner, {(_bone_of(item), c.name): c.influence for item, c in own}))
            for _, constraint in own:
                _set(constraint, "influence", 0.0)
    context = owners, {}
    if find is own_on:
        _disabled.append(context)
    try:
        yield bool(influences)
    finally:
        if find is own_on:
            _disabled.remove(context)
        for layer, held in context[1].values():
            layer.write_back(held)
        for owner, before in influences:
            for item, constraint in find(owner):
                influence = before.get((_bone_of(item), constraint.name))
                if influence is not None:
                    _set(constraint, "influence", influence)


def own_on(owner: bpy.types.Object) -> Iterator[tuple[Item, bpy.types.Constraint]]:
    """All constraints on an object and its bones that sampling leaves out."""
    for item in (owner, *(owner.pose.bones if owner.pose else ())):
        for constraint in item.constraints:
            if own_data.is_own_constraint(constraint):
                yield item, constraint


def all_disabled(spared: Collection[bpy.types.Object], find: Find = own_on) -> AbstractContextManager[bool]:
    """The same for what is found on all armatures but some."""
    return disabled((item for item in bpy.data.objects if item.type == "ARMATURE" and item not in spared), find)


def _disable_on(copy: bpy.types.Object, original: bpy.types.Object) -> None:
    """And let them read actions and curves of their own, as `show` needs them, from the start: to make these later
    would have the window draw again."""
    made: dict[bpy.types.Action, bpy.types.Action] = {}
    read = {getattr(constraint, "action", None) for _, constraint in own_on(original)}
    for item, constraint in own_on(copy):
        set_influence(item, constraint, 0.0, is_seen=False)
        action = getattr(constraint, "action", None)
        if action not in read or action is None or not layer_action.is_layer(action):
            continue
        handle = constraint.action_slot_handle
        if action not in made:
            made[action] = action.copy()
        slot = next((slot for slot in made[action].slots if slot.handle == handle), None)
        constraint.action, constraint.action_slot = made[action], slot
        if slot is not None:
            layer_action.key_all(made[action], slot)
    copy.update_tag()


_LEFT_OUT = suspend.LeftOut(all_disabled, _disable_on)


def register() -> None:
    """Sampling leaves out what layers add."""
    suspend.LAYERS.append(_LEFT_OUT)


def unregister() -> None:
    suspend.LAYERS.remove(_LEFT_OUT)
