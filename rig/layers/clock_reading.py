"""Action constraints that read the clock: what makes them add what is keyed at the frame that it shows."""

import bpy

from . import clock

SETTINGS = {
    "target_space": "WORLD",
    "transform_channel": "LOCATION_X",
    "use_bone_object_action": False,
    "use_eval_time": False,
    "subtarget": "",
    "mute": False,
}
"""What makes such a constraint add what is keyed at the clock's frame, and nothing else."""


def set_value(constraint: bpy.types.Constraint, setting: str, value: object) -> bool:
    """Set what is not so yet, since a write makes Blender evaluate the rig; whether it was not."""
    if getattr(constraint, setting) == value:
        return False
    setattr(constraint, setting, value)
    return True


def set_mixing(constraint: bpy.types.Constraint, mixing: tuple[str, str]) -> bool:
    """Let a constraint add in this owner space and mix mode; whether it did not yet."""
    if (constraint.owner_space, constraint.mix_mode) == mixing:
        return False
    # The mix mode first, since it sets the space too.
    constraint.mix_mode = mixing[1]
    constraint.owner_space = mixing[0]
    return True


def set_range(constraint: bpy.types.Constraint, first: int, count: int) -> bool:
    """Let a constraint read as many frames as there are; whether it did not yet."""
    # A power of two, so that the frame read is exactly the one that the clock shows.
    last = first + (1 << max(count - 1, 1).bit_length())
    ends = {"min": first / clock.FRAMES_PER_UNIT, "max": last / clock.FRAMES_PER_UNIT}
    changed = [set_value(constraint, setting, value) for setting, value in ends.items()]
    changed += [set_value(constraint, "frame_start", first), set_value(constraint, "frame_end", last)]
    return any(changed)
