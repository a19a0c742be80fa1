"""Look-ats on cyclic actions: solved over so many cycles before the baked one that they return to where they begin.

Whatever the controllers remember of an earlier state decays, so that the last of several cycles is the periodic motion,
for chain, body and eyes alike. The animation is sampled once: what is before its last cycle repeats that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from math import ceil
from typing import Any

import bpy
import numpy as np

from ...lookat_pd.rotation import Array
from ..animation import cycles, data_paths
from ..sampling import fingerprint
from ..sampling.targets import Target
from .body import body_rig
from .resolve import LookAt, Schedule

_MEMORY = 4.0
"""Settle times after which what a controller remembers is less than 1e-5 of it, and so is what others have of it."""
_LONGEST = 30.0
"""Seconds after which a controller without damping may remember what it likes."""
_BEYOND = 1.5
"""Seconds after a cycle that matter in it: hips are lowered before a leg is too short."""


def solved(look_ats: Sequence[LookAt], first: int, last: int, dt: float) -> tuple[int, int]:
    """The range to solve for the cycle from the first to the last frame, of dt seconds each."""
    memory = max(_memory(item) for item in look_ats)
    cycles = max(ceil(min(_MEMORY * memory, _LONGEST) / ((last - first) * dt)), 1)
    return first - cycles * (last - first), last + max(ceil(_BEYOND / dt), 2)


def _memory(look_at: LookAt) -> float:
    tuning, body = look_at.tuning, look_at.body
    settling = [(tuning.settle_time * float(look_at.chain.settle_factors.max()), tuning.damping_ratio)]
    for part in () if body is None else (body.shift, body.recoil):
        if part is not None:
            settling.append((part.settle_time, part.damping_ratio))
    return max(time * max(1.0 / max(damping, 1e-3), 2.0 * damping - 1.0) for time, damping in settling)


def is_cyclic(look_ats: Sequence[LookAt], first: int, last: int) -> bool:
    """Whether these look-ats are on one cycle of actions that repeat, with nothing that changes from cycle to cycle."""
    return all(_repeats(item.armature, first, last) and _is_steady(item) for item in look_ats)


def repeating(look_at: LookAt, seconds: float) -> LookAt:
    """The same with random motion, as of eyes and breath, that is the same again after a cycle of so many seconds."""
    return look_at if look_at.body is None else replace(look_at, body=body_rig.repeating(look_at.body, seconds))


def _repeats(armature: bpy.types.Object, first: int, last: int) -> bool:
    data = armature.animation_data
    action = data.action if data is not None else None
    if data is None or action is None or data.nla_tracks:
        return False
    if (round(action.frame_range[0]), round(action.frame_range[1])) != (first, last):
        return False
    slot = data.action_slot
    return cycles.is_marked(action, slot) or cycles.ends_meet(action, slot, first, last)


def _is_steady(look_at: LookAt) -> bool:
    """Whether a look-at is on all the time, with the same target, which does not move by itself."""
    schedule, path = look_at.schedule, data_paths.bone_path(look_at.bone)
    if len(schedule or ()) > 1 or any(moving.startswith(path + ".lookat_pd") for moving in _animated(look_at)):
        return False
    return all(_stands(target, look_at.armature) for target in look_at.watched)


def _animated(look_at: LookAt) -> set[str]:
    return set(fingerprint.animated_paths(look_at.armature))


def _stands(target: Target, armature: bpy.types.Object) -> bool:
    item = target.object
    while item is not None and item != armature:
        if item.animation_data is not None or item.constraints or item.rigid_body or item.type == "ARMATURE":
            return False
        item = item.parent
    return True


@dataclass(frozen=True)
class LastCycle:
    """Takes the cycle from what was solved over several: arrays over all frames, shifts of the eyes, and whatever has
    such parts."""

    frames: Array
    """(F,) all frames."""
    first: int
    last: int
    """`first`, `last`: of the cycle."""
    dt: float

    def __call__(self, value: Any) -> Any:
        skip = int(self.first - self.frames[0])
        if isinstance(value, np.ndarray):
            return value[skip : skip + self.last - self.first + 1] if len(value) == len(self.frames) else value
        if isinstance(value, list):
            times = skip * self.dt, (self.last - self.frames[0]) * self.dt
            shifts = [shift for shift in value if times[0] <= shift.time <= times[1]]
            return [replace(shift, time=shift.time - times[0]) for shift in shifts]
        if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{part.name: self(getattr(value, part.name)) for part in fields(value)})
        return value


def repeated(schedule: Schedule, first: int, last: int, frames: Array) -> Schedule:
    """The events of a schedule from the first to the last frame of a cycle, in all cycles of the frames (F,)."""
    inside = [(frame, target) for frame, target in schedule if first <= frame < last]
    if not inside:
        return schedule
    cycle, end = last - first, inside[-1][1]
    numbers = range(-ceil((first - frames[0]) / cycle), ceil((frames[-1] - last) / cycle) + 1)
    again = [(frame + n * cycle, target) for n in numbers for frame, target in inside]
    return ((float("-inf"), end), *sorted(again, key=lambda event: event[0]))
