"""Pops: frames at which an animation leaps, found and smoothed."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation import actions
from ..sampling import scene_time
from . import clips, sequence, splice
from .animated import Channel
from .clips import Clip
from .splice import Blend

OUTLIER = 8.0
"""How many times stronger than what is usual for its bone a leap is at least."""
_DEVIATION = 1.4826  # the median absolute deviation of a normal distribution, to its standard deviation
_ALONE = 3.0
"""How many times larger the accelerations of a leap are than those of the two frames before it and after it."""
_AROUND = 15  # frames before and after one that tell what is usual there
_SMALLEST_TURN = np.radians(1.0)
_SMALLEST_MOVE = 0.002  # of the skeleton's size
_SMALLEST_CHANGE = 0.02  # of scales and properties


@dataclass(frozen=True)
class Pop:
    """A leap from the frame before `frame` to `frame`. bone: "" for the object.

    strength: how many times the usual change of acceleration of this bone it is.
    """

    frame: float
    bone: str
    strength: float


def detect(clip: Clip, *, outlier: float = OUTLIER, size: float | None = None) -> list[Pop]:
    """Leaps of bones in a clip with one frame after another, strongest first; none where it has less than 5 frames.

    A leap is a step that its neighbours are not like: two opposite accelerations, one after the other. It counts where
    they are outliers among all of the bone's, by the median absolute deviation, stand alone, and can be seen.
    size: of the skeleton, so that small moves are known; default from the armature.
    """
    if len(clip.frames) < 5:
        return []
    size = size or skeleton_size(clip.armature)
    found: dict[tuple[float, str], float] = {}
    for channel, values in clip.values.items():
        if channel.kind == "switch":
            continue
        leaps, usual = _leaps(channel, values)
        least = _SMALLEST_TURN if channel.kind == "rotation" else _SMALLEST_CHANGE
        if channel.name == "location":
            least = _SMALLEST_MOVE * size
        usual = max(usual, least / outlier)
        for k in np.flatnonzero(leaps > outlier * usual):
            at = (float(clip.frames[k + 1]), channel.bone)
            found[at] = max(found.get(at, 0.0), float(leaps[k] / usual))
    return sorted((Pop(*at, strength) for at, strength in found.items()), key=lambda pop: -pop.strength)


def _leaps(channel: Channel, values: Array) -> tuple[Array, float]:
    """How far each step (F - 1,) is from what its two neighbours lead to expect, 0 where one of them is as far off; and
    how large an acceleration, in the same unit, is nothing unusual for the channel."""
    if channel.kind == "rotation":
        steps = rotation.log(rotation.multiply(values[1:], rotation.inverse(values[:-1])))
    else:
        steps = np.diff(values, axis=0)
    change = np.diff(np.concatenate((steps[:1], steps, steps[-1:])), axis=0)
    size = np.linalg.norm(change, axis=-1)
    # A kink in speed differs from one neighbour only; the frames beside a leap differ from the leap only.
    opposite = np.sum(change[:-1] * change[1:], axis=-1) < 0.0
    # A fast blow is no leap: it speeds up before its fastest step and slows down after.
    padded = np.pad(size, 2)
    around = np.max([padded[n : n + len(steps)] for n in (0, 1, 4, 5)], axis=0)
    opposite &= np.minimum(size[:-1], size[1:]) > _ALONE * around
    middle = np.median(size)
    usual = middle + _DEVIATION * np.median(np.abs(size - middle))
    return np.where(opposite, np.minimum(size[:-1], size[1:]), 0.0), float(usual)


def skeleton_size(armature: bpy.types.Object) -> float:
    """Diagonal of the box around all bones, in the armature's space."""
    heads = np.empty(3 * len(armature.data.bones))
    armature.data.bones.foreach_get("head_local", heads)
    return float(np.linalg.norm(np.ptp(heads.reshape(-1, 3), axis=0))) or 1.0


def find(
    armature: bpy.types.Object,
    action: bpy.types.Action,
    first: int | None = None,
    last: int | None = None,
    *,
    outlier: float = OUTLIER,
    slot: bpy.types.ActionSlot | None = None,
) -> list[Pop]:
    """Leaps in an action from frame first to last, by default in all of it, one for each frame and bone."""
    slot = slot or actions.find_slot(armature, action)
    begin, end = sequence.key_range(action, slot)
    frames = np.arange(max(begin, begin if first is None else first), min(end, end if last is None else last) + 1)
    return detect(clips.read(armature, action, slot, frames), outlier=outlier)


def by_frame(pops: Sequence[Pop]) -> dict[float, list[Pop]]:
    """Pops by frame, in order of time."""
    result: dict[float, list[Pop]] = {}
    for pop in sorted(pops, key=lambda pop: (pop.frame, -pop.strength)):
        result.setdefault(pop.frame, []).append(pop)
    return result


def smooth(
    armature: bpy.types.Object,
    action: bpy.types.Action,
    frame: int,
    duration: float | None = None,
    *,
    bones: Collection[str] | None = None,
    slot: bpy.types.ActionSlot | None = None,
    scene: bpy.types.Scene | None = None,
    called: str = "",
) -> float:
    """Make an action run smoothly into its `frame`: the leap from the frame before dies away over `duration` [s].

    Nothing before `frame` moves and nothing after the blend. Only the bones named get keys; by default those that leap
    there, or all where none stands out. duration None: what suits the leap, no longer than the action.
    called: the action's name in messages, where it is a copy of the user's.
    Returns the blend's length [s]. Raises RigError, and then nothing has changed.
    """
    sequence.check_may_play(armature)
    slot = slot or actions.find_slot(armature, action)
    called = called or action.name
    last = _check(action, slot, frame, called)
    dt = scene_time.seconds_per_frame(scene or bpy.context.scene)
    wanted = _wanted(armature, action, slot, frame, bones, called)
    before = clips.read(armature, action, slot, (frame - 2, frame - 1), wanted)
    after = clips.read(armature, action, slot, np.arange(frame, last + 1), wanted)
    left = (last - frame + 1) * dt
    if duration is None:
        duration = min(left, splice.blend_time(before, after, dt, skeleton_size(armature)))
    if duration > left + 1e-6:
        raise RigError(
            "The blend of {duration:g} s is longer than the remaining {left:.2f} s of '{action}' "
            "from frame {frame}; shorten the blend.",
            duration=duration,
            left=left,
            action=called,
            frame=frame,
        )
    _replace(action, slot, after, splice.splice(before, after, dt, Blend(duration)))
    return duration


def _check(action: bpy.types.Action, slot: bpy.types.ActionSlot, frame: int, called: str) -> int:
    """The action's last frame. Raises RigError where it cannot be smoothed at `frame`."""
    if action.library is not None or not action.is_editable:
        raise RigError(
            "Action '{action}' is linked from a library; make a copy of it and smooth the copy.", action=called
        )
    first, last = sequence.key_range(action, slot)
    if not first < frame <= last:
        raise RigError(
            "Frame {frame} is outside the keys of '{action}', frames {first} to {last}; go to the "
            "first frame after the pop.",
            frame=frame,
            action=called,
            first=first,
            last=last,
        )
    return last


def _wanted(
    armature: bpy.types.Object,
    action: bpy.types.Action,
    slot: bpy.types.ActionSlot,
    frame: int,
    bones: Collection[str] | None,
    called: str,
) -> list[Channel]:
    """Channels to smooth. Raises RigError where there are none, or one whose keys are not what plays."""
    wanted = [channel for channel in sequence.fitting(armature, action, slot).channels if channel.kind != "switch"]
    if bones is None:
        around = clips.read(armature, action, slot, np.arange(frame - _AROUND, frame + _AROUND + 1), wanted)
        bones = {pop.bone for pop in detect(around, outlier=0.5 * OUTLIER) if pop.frame == frame} or None
    wanted = [channel for channel in wanted if bones is None or channel.bone in bones]
    if not wanted:
        raise RigError("Action '{action}' does not animate the bones to smooth; choose other bones.", action=called)
    paths = {channel.path for channel in wanted}
    for curve in actions.curves(action, slot):
        if curve.data_path in paths and any(not modifier.mute for modifier in curve.modifiers):
            raise RigError(
                "The F-curve {path} has a modifier; apply or mute the modifier, then smooth the pop.",
                path=curve.data_path,
            )
    return wanted


def _replace(action: bpy.types.Action, slot: bpy.types.ActionSlot, was: Clip, now: Clip) -> None:
    """Key what changed; what follows is the same rotation, whichever way it is written, and stays as it is."""
    for channel, raw in now.raw.items():
        old = was.values[channel]
        new = clips.to_values(channel, raw)
        changed = np.flatnonzero(np.any(np.abs(_alike(channel, new, old) - old) > 1e-7, axis=-1))
        if not len(changed):
            continue
        rows = slice(0, changed[-1] + 1)
        follow = was.raw[channel][min(changed[-1] + 1, len(raw) - 1)]
        values = _led_to(channel, raw[rows], follow)
        clips.replace(action, slot, was.frames[rows], {channel: values})


def _alike(channel: Channel, values: Array, like: Array) -> Array:
    if channel.kind != "rotation":
        return values
    return np.where(np.sum(values * like, axis=-1, keepdims=True) < 0.0, -values, values)


def _led_to(channel: Channel, raw: Array, follow: Array) -> Array:
    """Stored numbers written so that they lead to `follow` (size,), which stays as it is."""
    if channel.kind != "rotation":
        return raw
    return splice.nearest_writing(channel.mode, raw[:, None], raw[-1:], follow[None])[:, 0]
