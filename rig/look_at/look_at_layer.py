"""The layers of look-ats: constraints that are first in the stacks of the bones that a look-at turns or moves.

The look-ats of a rig share an action. Beside the keys it has what no constraint can show: how much shape keys change.
"""

from collections.abc import Iterator, Sequence

import bpy
import numpy as np

from ...lookat_pd.rotation import Array
from ..layers import layer, track
from ..layers.layer import Item, Layer
from ..layers.track import Track
from ..sampling import own_data

_SHAPES = "lookat_pd_shapes_"


class LookAtLayer(Layer):
    """What one look-at adds: the names of its constraints have its number and the place of the bone in its chain."""

    def _forget(self, action: bpy.types.Action) -> None:
        action.pop(f"{_SHAPES}{self.number}", None)

    def shapes(self, frames: int, count: int) -> Array | None:
        """How much `count` shape keys change (F, s), as noted beside the offsets; None where it is not noted."""
        action = self._action()
        noted = None if action is None or self._is_shared(action) else action.get(f"{_SHAPES}{self.number}")
        return None if noted is None or len(noted) != frames * count else np.array(noted, float).reshape(frames, count)

    def set_shapes(self, amounts: Array | None) -> None:
        """Note how much shape keys change (F, s): no constraint can show it. None: none does."""
        action, key = self._action(), f"{_SHAPES}{self.number}"
        if action is None:
            return
        if amounts is not None:
            action[key] = amounts.ravel().tolist()
        else:
            action.pop(key, None)


def on(armature: bpy.types.Object) -> Iterator[tuple[Item, bpy.types.Constraint]]:
    """All constraints of look-ats on an armature, with their bones."""
    return LookAtLayer.on(armature)


def places(armature: bpy.types.Object) -> dict[int, dict[int, list[str]]]:
    """For each look-at's number the bones that have the constraint of each slot: they stay so when renamed."""
    known: dict[int, dict[int, list[str]]] = {}
    for bone, constraint in on(armature):
        number, slot = layer.slot_of(constraint)
        known.setdefault(number, {}).setdefault(slot, []).append(bone.name)
    return known


def taken(armature: bpy.types.Object) -> set[int]:
    """Numbers that no look-at can have, since constraints of the animator have the names of its own."""
    others = (c for bone in armature.pose.bones for c in bone.constraints if not own_data.is_own_constraint(c))
    named = (own_data.parts(constraint.name) for constraint in others)
    return {name[1] for name in named if name is not None and name[0] == LookAtLayer.prefix}


def is_installed(armature: bpy.types.Object, number: int, bones: Sequence[str], moved: Sequence[str] = ()) -> bool:
    """Whether a look-at has its constraints on these bones, as `install` makes them, and on no others."""
    return LookAtLayer(armature, number).is_installed(track.places(bones, moved))


def install(armature: bpy.types.Object, number: int, bones: Sequence[str], moved: Sequence[str] = ()) -> None:
    """Give bones the constraints of look-at `number`, which add nothing yet, and take away stray ones.

    bones: those that turn, the chain first. moved: those that are moved; their slots come after.
    """
    for _ in installing(armature, number, bones, moved):
        pass


def installing(
    armature: bpy.types.Object, number: int, bones: Sequence[str], moved: Sequence[str] = ()
) -> Iterator[None]:
    """The same, with a break after each constraint that takes long to make."""
    return LookAtLayer(armature, number).installing(track.places(bones, moved))


def arrange(armature: bpy.types.Object, order: Sequence[int]) -> None:
    """Let look-ats that share bones turn them in this order of their numbers."""
    for bone in armature.pose.bones:
        stack = bone.constraints
        numbers = [layer.number_of(constraint) for constraint in stack if LookAtLayer.owns(constraint)]
        for slot, number in enumerate(sorted(numbers, key=lambda n: order.index(n) if n in order else -1)):
            now = next(
                n for n in range(slot, len(stack)) if LookAtLayer.owns(stack[n]) and layer.number_of(stack[n]) == number
            )
            if now != slot:
                stack.move(now, slot)


def show(armature: bpy.types.Object, added: Track) -> None:
    """Let the constraints of a look-at add its track. What they add already is not written again."""
    LookAtLayer(armature, added.number).show(added.first, added.rows())


def hide(armature: bpy.types.Object, number: int) -> None:
    """Let the constraints of a look-at add nothing, exactly."""
    LookAtLayer(armature, number).hide()


def remove(armature: bpy.types.Object, number: int | None = None) -> None:
    """Take the constraints of one look-at, or of all, off an armature, and the clock once nothing reads it."""
    numbers = {layer.number_of(constraint) for _, constraint in on(armature)} if number is None else {number}
    for each in numbers:
        LookAtLayer(armature, each).remove()


def shown(armature: bpy.types.Object, bone: str, frame: float) -> dict[str, Array]:
    """How the look-at on `bone` turns bones at a frame: name to local offset (4,). Empty where it is idle."""
    number = armature.pose.bones[bone].lookat_pd.number
    held = LookAtLayer(armature, number).constraints() if number else ()
    offsets = ((owner.name, layer.offset_at(owner, constraint, frame)) for owner, constraint in held)
    # The hips have two constraints: one turns them, the other moves them.
    return {name: offset for name, offset in offsets if offset is not None}


def read(armature: bpy.types.Object, number: int, turned: Sequence[str], moved: Sequence[str] = ()) -> Track | None:
    """The track that the constraints of a look-at show; None where they show none, or not on these bones."""
    return track.read(LookAtLayer(armature, number), turned, moved)
