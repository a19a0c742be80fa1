"""The clock: an empty whose location is the frame, by which native constraints read solved offsets.

It is in no scene and has keys of its own, so that it runs wherever a rig that reads it is evaluated, with the extension
or without it. A file has one.
"""

import bpy

from ..animation import actions
from ..sampling.own_data import CLOCK

FRAMES_PER_UNIT = 2048.0
"""A power of two, so that frames are exact in what the clock shows."""
_NAME = ".Look-at PD Clock"
"""Blender offers no data to choose whose name begins with a dot. Files of earlier versions keep theirs."""
_ENDS = ((0.0, 0.0), (FRAMES_PER_UNIT, 1.0))
"""Keys of the clock: frame and location."""


def is_clock(item: bpy.types.Object | None) -> bool:
    """Whether an object is a clock that runs as it was made."""
    if item is None or CLOCK not in item or item.animation_data is None:
        return False
    data = item.animation_data
    curve = next(iter(actions.curves(data.action, data.action_slot)), None)
    return curve is not None and _runs(curve)


def is_marked(item: bpy.types.ID) -> bool:
    """Whether an object was made as a clock, or an action as that of one, whatever has become of it."""
    return CLOCK in item


def _runs(curve: bpy.types.FCurve) -> bool:
    keys = [tuple(point.co) for point in curve.keyframe_points]
    plain = curve.extrapolation == "LINEAR" and not curve.mute and not len(curve.modifiers)
    return keys == list(_ENDS) and (curve.data_path, curve.array_index) == ("location", 0) and plain


def get() -> bpy.types.Object:
    """The clock of this file: mended where somebody has stopped it, made if there is none."""
    own = [item for item in bpy.data.objects if CLOCK in item and item.library is None]
    for item in own:
        if is_clock(item):
            return item
    stopped = (item for item in own if item.override_library is None)
    clock = next(stopped, None) or bpy.data.objects.new(_NAME, None)
    _take_action(clock)
    clock[CLOCK] = True
    # The target of a constraint has no user of its own, and would not be saved.
    clock.use_fake_user = True
    action, slot = actions.new_action(_NAME, clock)
    action[CLOCK] = True
    curve = actions.channelbag(action, slot, ensure=True).fcurves.new("location", index=0)
    curve.keyframe_points.add(len(_ENDS))
    curve.keyframe_points.foreach_set("co", [number for end in _ENDS for number in end])
    for point in curve.keyframe_points:
        point.interpolation = "LINEAR"
    curve.extrapolation = "LINEAR"
    curve.update()
    data = clock.animation_data_create()
    data.action, data.action_slot = action, slot
    return clock


def remove() -> None:
    """Take the clocks out of the file."""
    for item in [item for item in bpy.data.objects if CLOCK in item and item.library is None]:
        _take_action(item)
        bpy.data.objects.remove(item)


def remove_unread() -> None:
    """Take the clocks out of the file where no constraint of the file reads one.

    An object without users, which undo may leave behind, is not of the file: it is never saved.
    """
    if not any(CLOCK in item and item.library is None for item in bpy.data.objects):
        return
    if not any(_reads(item) for item in bpy.data.objects if item.library is None and item.users):
        remove()


def _reads(item: bpy.types.Object) -> bool:
    """Whether a constraint on an object or its bones reads a clock of the file."""
    stacks = (item.constraints, *(bone.constraints for bone in (item.pose.bones if item.pose else ())))
    found = (constraint for stack in stacks for constraint in stack if constraint.type == "ACTION")
    targets = (constraint.target for constraint in found)
    return any(target is not None and CLOCK in target and target.library is None for target in targets)


def _take_action(item: bpy.types.Object) -> None:
    """Leave a clock without its action, and the file too, where nothing else has it."""
    action = item.animation_data.action if item.animation_data else None
    item.animation_data_clear()
    if action is not None and action.users == 0:
        bpy.data.actions.remove(action)


def tick(clock: bpy.types.Object) -> None:
    """Have Blender evaluate what reads the clock, since what it reads there has changed."""
    clock.update_tag(refresh={"OBJECT"})
