"""Pops: sudden jumps of an animation from one frame to the next, detected and smoothed."""

from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.progress import drained
from ...lookat_pd.rotation import Array
from ...lookat_pd.skeleton import extent
from ..animation import actions
from ..animation.bake_options import check_frames
from ..sampling import scene_time
from . import clips, sequence, splice
from .animated import Channel
from .clips import Clip
from .splice import Blend

OUTLIER = 8.0
"""Smallest strength of a pop, as a factor of the usual value of its bone."""
_DEVIATION = 1.4826  # the median absolute deviation of a normal distribution, to its standard deviation
_ALONE = 3.0
"""Smallest ratio of the accelerations of a pop to those of the two frames before and after it."""
_AROUND = 15  # frames before and after that define the usual value
_SMALLEST_TURN = np.radians(1.0)
_SMALLEST_MOVE = 0.002  # of the skeleton's size
_SMALLEST_CHANGE = 0.02  # of scales and properties


@dataclass(frozen=True)
class Pop:
    """A pop between the frame before `frame` and `frame`."""

    frame: float
    bone: str
    """Name of the bone, "" for the object."""
    strength: float
    """Factor of the usual change of acceleration of this bone."""


def detecting(clip: Clip, *, outlier: float = OUTLIER) -> Generator[float, None, list[Pop]]:
    """Pops of bones in a clip with consecutive frames, strongest first; none if it has fewer than 5 frames. Yields the
    completed fraction.

    A pop is a step unlike its neighbors: two opposite accelerations in succession. It counts if they are outliers among
    those of the bone, by the median absolute deviation, isolated, and visible relative to the size of
    the skeleton.
    """
    if len(clip.frames) < 5:
        return []
    size = skeleton_size(clip.armature)
    strengths: dict[tuple[float, str], float] = {}
    for done, (channel, values) in enumerate(clip.values.items()):
        if channel.kind == "switch":
            continue
        yield done / len(clip.values)
        leaps, usual = _leaps(channel, values)
        least = _SMALLEST_TURN if channel.kind == "rotation" else _SMALLEST_CHANGE
        if channel.name == "location":
            least = _SMALLEST_MOVE * size
        usual = max(usual, least / outlier)
        for k in np.flatnonzero(leaps > outlier * usual):
            at = (float(clip.frames[k + 1]), channel.bone)
            strengths[at] = max(strengths.get(at, 0.0), float(leaps[k] / usual))
    return sorted((Pop(*at, strength) for at, strength in strengths.items()), key=lambda pop: -pop.strength)


detect = drained("detect", detecting)


def _leaps(channel: Channel, values: Array) -> tuple[Array, float]:
    """The deviation of each step (F - 1,) from its two neighbors, 0 if one of them deviates as much; and the
    acceleration, in the same unit, that is usual for the channel."""
    if channel.kind == "rotation":
        steps = rotation.log(rotation.multiply(values[1:], rotation.inverse(values[:-1])))
    else:
        steps = np.diff(values, axis=0)
    change = np.diff(np.concatenate((steps[:1], steps, steps[-1:])), axis=0)
    size = np.linalg.norm(change, axis=-1)
    # A kink in speed differs from one neighbor only; the frames next to a pop differ only from the pop.
    opposite = np.sum(change[:-1] * change[1:], axis=-1) < 0.0
    # A fast motion is not a pop: it accelerates before its fastest step and decelerates afterwards.
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
    return extent(heads)


def find(
    armature: bpy.types.Object,
    action: bpy.types.Action,
    first: int | None = None,
    last: int | None = None,
    *,
    outlier: float = OUTLIER,
    slot: bpy.types.ActionSlot | None = None,
) -> list[Pop]:
    """Pops in an action from frame first to last, by default in all of it, one for each frame and bone."""
    slot = slot or actions.find_slot(armature, action)
    begin, end = sequence.key_range(action, slot)
    begin, end = max(begin, begin if first is None else first), min(end, end if last is None else last)
    check_frames(begin, end)
    frames = np.arange(begin, end + 1)
    return detect(clips.read(armature, action, slot, frames), outlier=outlier)


def near(
    armature: bpy.types.Object, action: bpy.types.Action, frame: int, *, slot: bpy.types.ActionSlot | None = None
) -> float | None:
    """The frame with a pop that is nearest to a frame, which may be that frame; None where there is none around it."""
    around = find(armature, action, frame - 2 * _AROUND, frame + 2 * _AROUND, slot=slot)
    return min((pop.frame for pop in around), key=lambda at: (abs(at - frame), -at), default=None)


def by_frame(pops: Sequence[Pop]) -> dict[float, list[Pop]]:
    """Pops by frame, in order of time."""
    result: dict[float, list[Pop]] = {}
    for pop in sorted(pops, key=lambda pop: (pop.frame, -pop.strength)):
        result.setdefault(pop.frame, []).append(pop)
    return result


def bones_by_frame(pops: Sequence[Pop], bones: Collection[str] | None = None) -> dict[int, set[str]]:
    """The bones that jump by frame, in order of time. bones: only these; None for all."""
    by_frame_of_clip = {int(frame): {pop.bone for pop in here} for frame, here in by_frame(pops).items()}
    chosen = {frame: here if bones is None else here & set(bones) for frame, here in by_frame_of_clip.items()}
    return {frame: here for frame, here in chosen.items() if here}


def smooth(
    armature: bpy.types.Object,
    action: bpy.types.Action,
    frame: int,
    blend: Blend = splice.AUTOMATIC,
    *,
    bones: Collection[str] | None = None,
    slot: bpy.types.ActionSlot | None = None,
    scene: bpy.types.Scene | None = None,
    called: str = "",
) -> Blend:
    """Smooth the pop before `frame` of an action: the jump from the previous frame decays.

    Frames before `frame` and after the blend do not change. Only the given bones get keys; by default those with a pop
    there, or all if there is none. An automatic blend is no longer than the action. called: the name of the action in
    messages, if it is a copy. Returns the blend with its length and, for an automatic choice, the method that was
    chosen. Raises RigError before any change.
    """
    sequence.check_may_play(armature)
    blend.profile.check_one_clip()
    slot = slot or actions.find_slot(armature, action)
    called = called or action.name
    last = _check(action, slot, frame, called)
    dt = scene_time.seconds_per_frame(scene or bpy.context.scene)
    wanted = _wanted(armature, action, slot, frame, bones, called)
    before = clips.read(armature, action, slot, (frame - 2, frame - 1), wanted)
    after = clips.read(armature, action, slot, np.arange(frame, last + 1), wanted)
    left = (last - frame + 1) * dt
    is_automatic = blend.seconds is None
    blend = splice.chosen(blend, before, after, dt, skeleton_size(armature))
    if is_automatic:
        blend = blend.at_most(blend.profile.longest_blend(left))
    duration = blend.profile.duration(blend.seconds or 0.0)
    if duration > left + 1e-6:
        raise RigError(
            "The blend of {duration:g} s is longer than the remaining {left:.2f} s of '{action}' "
            "from frame {frame}; shorten the blend.",
            duration=duration,
            left=left,
            action=called,
            frame=frame,
        )
    _replace(action, slot, after, splice.splice(before, after, dt, blend))
    return blend


def check_editable(action: bpy.types.Action, called: str = "") -> None:
    """Raise RigError if the keys of an action cannot be changed. called: its name in messages, if it is a copy."""
    if action.library is not None or not action.is_editable:
        raise RigError(
            "Action '{action}' is linked from a library; make a copy of it and smooth the copy.",
            action=called or action.name,
        )


def _check(action: bpy.types.Action, slot: bpy.types.ActionSlot, frame: int, called: str) -> int:
    """The last frame of the action. Raises RigError if it cannot be smoothed at `frame`."""
    check_editable(action, called)
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
    """Channels to smooth. Raises RigError if there are none, or if the keys of one do not play."""
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
    """Key the changed frames; the rotations after them do not change, whatever their representation."""
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
    """Stored numbers in the representation that is continuous with `follow` (size,)."""
    if channel.kind != "rotation":
        return raw
    return splice.nearest_writing(channel.mode, raw[:, None], raw[-1:], follow[None])[:, 0]
