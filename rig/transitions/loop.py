"""Loops: a clip made cyclic, its end inertialized into its start.

What differs between the last frame and the first is shared out: half of it is put on the end, growing towards it, and
half on the start, dying away from it. So neither end moves further than half of it. They meet at a speed from which
both can run on without crossing over: along the difference the lesser of their two, across it the mean. The root's
travel is no difference: the second round begins where the first one ended.
"""

from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation import actions, editable
from ..sampling import scene_time
from . import animated, clips, join, sequence, splice
from .animated import Channel
from .clips import Clip
from .root_motion import Ground, Placement, heading, inverse, part
from .splice import Blend

_STRAIGHT = np.radians(0.05)
_ROUNDING = 1e-4


@dataclass(frozen=True)
class Looped:
    """What came of it. blend: length [s] at each end. turn: angle [rad] about up by which the root turns in a round.

    cycles: whether the F-curves go on by themselves with Cycles modifiers.
    """

    action: bpy.types.Action
    slot: bpy.types.ActionSlot
    first: int
    last: int
    blend: float
    turn: float
    cycles: bool


def loop(
    armature: bpy.types.Object,
    action: bpy.types.Action,
    first: int | None = None,
    last: int | None = None,
    seconds: float | None = None,
    *,
    slot: bpy.types.ActionSlot | None = None,
    in_place: bool = False,
    cycles: bool = True,
    name: str = "",
    assign: bool = True,
    scene: bpy.types.Scene | None = None,
) -> Looped:
    """A new action, cyclic from frame first to last (default: all of it): its last pose is its first one.

    seconds: length of the blend at each end, at most half of the clip; None for what suits the difference.
    in_place: take the root's travel over the ground, and its turn, out evenly over time; otherwise they stay, and the
    last frame is the first but for them. cycles: add Cycles modifiers, with offset where the root travels; not where it
    turns, since repeated F-curves cannot. Raises LookAtError, and then nothing has changed.
    """
    editable.check_armature(armature)
    if assign:
        sequence.check_may_play(armature)
    slot = slot or actions.find_slot(armature, action)
    begin, end = sequence.whole_frames(action, slot)
    if not begin <= (begin if first is None else first) <= (end if last is None else last) <= end:
        raise RigError(
            "Frames {begin} to {end} are outside the keys of '{action}', frames {first} to {last}; "
            "choose frames in this range.",
            begin=begin if first is None else first,
            end=end if last is None else last,
            action=action.name,
            first=begin,
            last=end,
        )
    begin, end = begin if first is None else first, end if last is None else last
    if end - begin < 4:
        raise RigError(
            "'{action}' is too short for a loop from frame {begin} to {end}; choose at least five frames.",
            action=action.name,
            begin=begin,
            end=end,
        )
    dt = scene_time.seconds_per_frame(scene or bpy.context.scene)
    half = 0.5 * (end - begin) * dt
    if seconds is not None and not 0.0 <= seconds <= half + 1e-6:
        raise RigError(
            "The blend must be 0 to {half:.2f} s, half of the loop, not {seconds:g} s.", half=half, seconds=seconds
        )
    keyed = sequence.fitting(armature, action, slot).channels
    clip = clips.read(armature, action, slot, np.arange(begin, end + 1), keyed)
    ground = Ground(armature, [clip])
    added = [channel for channel in ground.channels("HEADING") if channel not in clip.raw]
    clip.raw.update({c: np.tile(animated.current(armature, c), (len(clip.frames), 1)) for c in added})
    travel = ground.placement(ground.stand(clip, -1), ground.stand(clip, 0), "HEADING")
    again = ground.place(clip, travel)
    if seconds is None:
        seconds = min(half, splice.blend_time(clip, again.part(slice(1, None)), dt, ground.size))
    result = _closed(clip, again, ground, travel, dt, seconds)
    if in_place:
        result = ground.place(result, [part(travel, ground.up, -s) for s in np.linspace(0.0, 1.0, len(clip.frames))])
        travel = Placement.identity()
    result = _exactly_closed(result)
    for channel in added:
        if np.all(result.raw[channel] == animated.current(armature, channel)):
            del result.raw[channel]
    turn = heading(ground.up, travel.rotation)
    made, made_slot = join.make(armature, name or f"{action.name} loop", result)
    cycles = cycles and abs(turn) < _STRAIGHT
    if cycles:
        _add_cycles(made, made_slot, ground, travel)
    if assign:
        join.use(armature, made, made_slot)
    return Looped(made, made_slot, begin, end, seconds, turn, cycles)


def _closed(clip: Clip, again: Clip, ground: Ground, travel: Placement, dt: float, seconds: float) -> Clip:
    """The clip with its ends meeting but for the root's travel. again: the clip as it plays in the next round."""
    middle = len(clip.frames) // 2
    blend = Blend(seconds)
    # Of the next round the first half, forwards; of this one the second half, backwards; both from where they meet.
    start_from, end_from = _meeting(clip, again)
    start = start_from.part(slice(1, 2)).then(splice.splice(start_from, again.part(slice(1, middle + 1)), dt, blend))
    backwards = clip.part(slice(-2, middle, -1))
    end = end_from.part(slice(1, 2)).then(splice.splice(end_from, backwards, dt, blend)).part(slice(None, None, -1))
    start = ground.place(start, inverse(travel))
    return Clip(clip.armature, clip.frames, _connected(start, end, clip))


def _connected(start: Clip, end: Clip, was: Clip) -> dict[Channel, Array]:
    """Both halves, the second one's rotations written so that they run on from the first's."""
    raw = {}
    for channel, first in start.raw.items():
        second = end.raw[channel]
        if channel.kind == "switch":
            raw[channel] = was.raw[channel]
            continue
        if channel.kind == "rotation":
            second = splice.nearest_writing(channel.mode, second[:, None], second[:1], first[-1:])[:, 0]
        raw[channel] = np.concatenate((first, second))
    return raw


def _meeting(clip: Clip, again: Clip) -> tuple[Clip, Clip]:
    """Two frames each, the second where the clip's end and the next round's start meet: the first of the one is a frame
    before, of the other a frame after."""
    before, after = Clip(clip.armature, clip.frames[-2:]), Clip(clip.armature, clip.frames[-2:])
    for channel, stored in clip.raw.items():
        if channel.kind == "switch":
            before.raw[channel] = after.raw[channel] = stored[-2:]
            continue
        ends, starts = clip.part(slice(-2, None)), again.part(slice(0, 2))
        kind = "rotation" if channel.kind == "rotation" else "vector"
        last, first = clips.to_values(channel, ends.raw[channel]), clips.to_values(channel, starts.raw[channel])
        apart = _way(kind, first[0], last[1])
        pose = _gone(kind, first[0], 0.5 * apart)
        step = _speed(apart, _way(kind, last[0], last[1]), _way(kind, first[0], first[1]))
        for target, way in ((before, -step), (after, step)):
            poses = np.stack((_gone(kind, pose, way), pose))
            near = stored[-1:] if target is after else again.raw[channel][:1]
            target.raw[channel] = (
                splice.channels_from(channel.mode, poses[::-1, None], near)[::-1, 0] if kind == "rotation" else poses
            )
    return before, after


def _speed(apart: Array, last: Array, first: Array) -> Array:
    """The step (n,) at which two ends meet that are `apart`, with steps `last` and `first` of their own."""
    mean = 0.5 * (last + first)
    direction = rotation.normalize(apart)
    return mean + direction * (min(last @ direction, first @ direction) - mean @ direction)


def _way(kind: str, a: Array, b: Array) -> Array:
    return b - a if kind == "vector" else rotation.log(rotation.multiply(b, rotation.inverse(a)))


def _gone(kind: str, a: Array, way: Array) -> Array:
    return a + way if kind == "vector" else rotation.multiply(rotation.exp(way), a)


def _exactly_closed(clip: Clip) -> Clip:
    """The clip with the last numbers those of the first where they differ by rounding only."""
    for raw in clip.raw.values():
        if np.abs(raw[-1] - raw[0]).max() < _ROUNDING:
            raw[-1] = raw[0]
    return clip


def _add_cycles(action: bpy.types.Action, slot: bpy.types.ActionSlot, ground: Ground, travel: Placement) -> None:
    """Let the F-curves repeat, those that carry the travel with the way made in each round."""
    carried = {handle.location for handle in ground.handles} if not travel.is_identity else set()
    paths = {channel.path for channel in carried if channel is not None}
    for curve in actions.curves(action, slot):
        modifier = curve.modifiers.new("CYCLES")
        modifier.mode_before = modifier.mode_after = "REPEAT_OFFSET" if curve.data_path in paths else "REPEAT"
