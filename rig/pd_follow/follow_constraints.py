"""The motion that PD Follow adds, as native data: two Action constraints, last in the stack, read an own action."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ..animation import channels
from ..animation.channels import LOCATION
from ..layers import clock, constraints, layer_action
from ..layers.clock_reading import SETTINGS, set_mixing, set_range, set_value
from .owners import Owner

_ACTION = "PD Follow Offsets"
_MARK = "lookat_pd_follow"
_NAMES = {LOCATION: "PD Follow Location", "ROTATION": "PD Follow Rotation"}
_WAY = ("WORLD", "AFTER_SPLIT")
"""Adds the location in the world, and turns locally."""
_WITHOUT_DELTA = (("delta_rotation_quaternion", 1.0),)
"""Blender evaluates the action of an object with a delta rotation of length 0 in quaternions, which turns by 180°."""
_ALIKE = 1e-6


def is_any() -> bool:
    """Whether anything of PD Follow is in the file."""
    return any(_MARK in action for action in bpy.data.actions)


def _reads_clock() -> bool:
    return any(_MARK in action and action.users > 0 for action in bpy.data.actions)


def of(owner: Owner) -> dict[str, bpy.types.Constraint]:
    """The constraints that an owner has, by what they change."""
    found = {constraint.name: constraint for constraint in owner.item.constraints if constraint.type == "ACTION"}
    return {kind: found[name] for kind, name in _NAMES.items() if name in found and _is_own(found[name])}


def _is_own(constraint: bpy.types.Constraint) -> bool:
    return constraint.action is None or _MARK in constraint.action


def others(owner: Owner) -> list[bpy.types.Constraint]:
    """The constraints that are the animator's own and act."""
    own = set(_NAMES.values())
    return [c for c in owner.item.constraints if c.name not in own and not c.mute and c.influence > 0.0]


def install(owner: Owner) -> None:
    """Give an owner its constraints, which add nothing yet; those that are there are made whole."""
    held = of(owner)
    stack = owner.item.constraints
    if held.keys() == _NAMES.keys() and all(_is_whole(owner, kind, c) for kind, c in held.items()):
        return
    action = next((c.action for c in held.values() if _is_alone(c.action)), None)
    if action is None:
        action = layer_action.new(_ACTION)
        action[_MARK] = True
    time, active = clock.get(), stack.active
    for kind, name in _NAMES.items():
        constraint = held.get(kind) or stack.new("ACTION")
        constraint.name, constraint.show_expanded = name, False
        constraint.target, constraint.action = time, action
        constraint.action_slot = layer_action.slot_of(action, name, ensure=True)
        for setting, value in SETTINGS.items():
            setattr(constraint, setting, value)
        set_mixing(constraint, _WAY)
        if kind not in held:
            constraint.influence = 0.0
    for name in _NAMES.values():
        stack.move(stack.find(name), len(stack) - 1)
    if active is not None:
        stack.active = active


def _is_alone(action: bpy.types.Action | None) -> bool:
    """Whether an action is read by the constraints of one owner: a copy of an object shares it at first."""
    return action is not None and _MARK in action and action.library is None and action.users <= len(_NAMES)


def _is_whole(owner: Owner, kind: str, constraint: bpy.types.Constraint) -> bool:
    """Whether nobody has muted or changed a constraint, and what it reads is still there."""
    if not clock.is_clock(constraint.target) or not _is_alone(constraint.action) or constraint.action_slot is None:
        return False
    if constraint.action_slot.name_display != constraint.name or (constraint.owner_space, constraint.mix_mode) != _WAY:
        return False
    last = [c.name for c in owner.item.constraints][-len(_NAMES) :]
    return last == list(_NAMES.values()) and all(getattr(constraint, name) == value for name, value in SETTINGS.items())


def show(owner: Owner, first: int, moves: Array, turns: Array) -> None:
    """Let the constraints of an owner add displacements (F, 3) in the world and local rotations (F, 4)."""
    install(owner)
    mode = owner.item.rotation_mode
    rest = {LOCATION: np.zeros(3), "ROTATION": np.array(rotation.IDENTITY)}
    keyed = {LOCATION: (LOCATION, moves, moves), "ROTATION": (mode, turns, channels.of_rotations(turns, mode))}
    wrote = False
    for kind, constraint in of(owner).items():
        mode, added, values = keyed[kind]
        if np.array_equal(added, np.broadcast_to(rest[kind], added.shape)):
            wrote = set_value(constraint, "influence", 0.0) or wrote
            continue
        constants = _WITHOUT_DELTA if mode == "QUATERNION" and not owner.bone else ()
        keys = layer_action.PlaceKeys(
            owner.bone, channels.channel(mode)[0], first, values.astype(np.float32), constants=constants
        )
        if not _shows(constraint, keys):
            layer_action.write(constraint.action, constraint.action_slot, keys)
            wrote = True
        wrote = set_range(constraint, first, len(values)) or wrote
        wrote = set_value(constraint, "influence", 1.0) or wrote
    if wrote:
        owner.object.update_tag(refresh={"OBJECT"})
        clock.tick(clock.get())


def _shows(constraint: bpy.types.Constraint, keys: layer_action.PlaceKeys) -> bool:
    """Whether a constraint shows keys already, up to what two that depend on each other never agree on."""
    held = layer_action.read(constraint.action, constraint.action_slot)
    if held is None or (held.bone, held.channel, held.first) != (keys.bone, keys.channel, keys.first):
        return False
    return held.values.shape == keys.values.shape and np.allclose(held.values, keys.values, rtol=0.0, atol=_ALIKE)


def hide(owner: Owner) -> None:
    """Let the constraints of an owner add nothing, exactly."""
    for constraint in of(owner).values():
        set_value(constraint, "influence", 0.0)


def remove(owner: Owner) -> None:
    """Take the constraints of an owner away, and their action, and the clock once nothing reads it."""
    for constraint in of(owner).values():
        action = constraint.action
        owner.item.constraints.remove(constraint)
        layer_action.remove_unused(action)
    constraints.remove_unread_clock()


@contextmanager
def disabled(owners: Iterable[Owner]) -> Iterator[None]:
    """Let the constraints of some owners add nothing meanwhile."""
    held = [(owner, {kind: c.influence for kind, c in of(owner).items()}) for owner in owners]
    for owner, _ in held:
        hide(owner)
    try:
        yield
    finally:
        for owner, influences in held:
            for kind, constraint in of(owner).items():
                set_value(constraint, "influence", influences.get(kind, 0.0))


def register() -> None:
    clock.READERS.append(_reads_clock)


def unregister() -> None:
    clock.READERS.remove(_reads_clock)
