"""Loops: a clip made cyclic, its end inertialized into its start.

The difference between the last frame and the first is shared: half of it is blended in towards the end, and half decays
from the start, so neither end moves by more than half. They meet at a speed at which neither overshoots: along the
difference the smaller of their two speeds, across it the mean. The travel of the root is not part of the difference:
the second cycle starts where the first one ends.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import InvalidArgument, RigError
from ...lookat_pd.progress import drained, subrange
from ...lookat_pd.rotation import Array
from ...lookat_pd.transitions import cut
from ..animation import actions, editable
from ..animation.bake_options import check_frames
from ..animation.key_writer import KeyWriter
from ..sampling import scene_time
from . import animated, clips, join, pose_markers, sequence, splice
from .animated import Channel
from .clips import Clip
from .lock_feet import WHERE_POSSIBLE, PlayedClip, locking
from .loop_feet import Locking, LoopFeet, LoopLockResult, by_keys
from .root_motion import Ground, Placement, heading, inverse, part
from .splice import Blend

SHARES = {"BOTH": 0.5, "START": 1.0, "END": 0.0}
"""Parts of the difference by which the start of a loop changes, by the ends that change."""
_STRAIGHT = np.radians(0.05)
_ROUNDING = 1e-4


@dataclass(frozen=True)
class Looped:
    """A loop that was made."""

    action: bpy.types.Action
    slot: bpy.types.ActionSlot
    first: int
    last: int
    blend: float
    """Length [s] at each end."""
    turn: float
    """Angle [rad] about the up axis by which the root turns in a cycle."""
    cycles: bool
    """Whether the F-curves have Cycles modifiers."""
    feet: LoopLockResult | None = None
    """What locking the feet did, None where they are not locked or not planted."""
    unlocked: RigError | None = None
    """Why feet are not locked though the rig has legs, where nobody asked for it."""


def looping(
    armature: bpy.types.Object,
    action: bpy.types.Action,
    first: int | None = None,
    last: int | None = None,
    blend: Blend = splice.AUTOMATIC,
    *,
    slot: bpy.types.ActionSlot | None = None,
    ends: str = "BOTH",
    in_place: bool = False,
    cycles: bool = True,
    name: str = "",
    assign: bool = True,
    lock_feet: bool | None = WHERE_POSSIBLE,
    scene: bpy.types.Scene | None = None,
    writer: KeyWriter | None = None,
) -> Generator[float, None, Looped]:
    """A new action, cyclic from frame first to last (default: all of it): its last pose equals the first. Yields
    the completed fraction.

    blend: its length at each end is at most half of the clip. Bones with a factor of 0 in its profile stay as they
    are. ends: which of them changes, "BOTH" by half of the difference, or "START" or "END" by all of it. in_place:
    remove the travel of the root on the ground plane and its turn evenly over time; otherwise the last frame differs
    from the first by them. cycles: add Cycles modifiers, with offset if the root travels; not if it turns, which
    repeated F-curves cannot represent. lock_feet: keep planted feet on their places where the ends are blended, by
    default where possible. writer: which keys, by default those of the action where it does not change. Raises
    LookAtError before any change.
    """
    make = partial(_loop, armature, action, first, last, blend, slot=slot, ends=ends, in_place=in_place, cycles=cycles)
    more = partial(make, name=name, assign=assign, scene=scene, writer=writer)
    return (yield from locking(armature, lambda lock: more(lock_feet=lock), lock_feet))


loop = drained("loop", looping)


def _loop(
    armature: bpy.types.Object,
    action: bpy.types.Action,
    first: int | None,
    last: int | None,
    blend: Blend,
    *,
    slot: bpy.types.ActionSlot | None,
    ends: str,
    in_place: bool,
    cycles: bool,
    name: str,
    assign: bool,
    lock_feet: bool,
    scene: bpy.types.Scene | None,
    writer: KeyWriter | None,
) -> Generator[float, None, Looped]:
    check_ends(ends)
    editable.check_armature(armature)
    if assign:
        sequence.check_may_play(armature)
    blend.profile.check_one_clip()
    slot = slot or actions.find_slot(armature, action)
    begin, end = _looped_frames(action, slot, first, last)
    scene = scene or bpy.context.scene
    dt = scene_time.seconds_per_frame(scene)
    half = 0.5 * (end - begin) * dt
    check_blend(blend, half)
    clip, ground, added = _read(armature, action, slot, begin, end)
    yield 0.0
    travel = ground.placement(ground.stand(clip, -1), ground.stand(clip, 0), "HEADING")
    played = PlayedClip(action, slot, begin, end, float(begin), begin, 0.0)
    finding = LoopFeet.of(scene, armature, played, dt, ends)
    feet = (yield from subrange(finding, 0.0, 0.3)) if lock_feet else None

    def moved(clip: Clip, later: bool) -> Clip:
        return ground.place(clip, travel if later else inverse(travel))

    def still(clip: Clip) -> Clip:
        return ground.place(clip, [part(travel, ground.up, -s) for s in np.linspace(0.0, 1.0, len(clip.frames))])

    removed, locking = still if in_place else None, by_keys(scene, armature)
    steps = cyclic(clip, moved, dt, blend, ends, size=ground.size, in_place=removed, feet=feet, locking=locking)
    result, blend, locked = yield from subrange(steps, 0.3, 0.7)
    result = _exactly_closed(result)
    for channel in (own for own in added if np.all(result.raw[own] == animated.current(armature, own))):
        del result.raw[channel]
    travel = Placement.identity() if in_place else travel
    turn, markers = heading(ground.up, travel.rotation), pose_markers.read(action, begin, end)
    making = join.making(armature, name or f"{action.name} loop", result, markers)
    made, made_slot = yield from subrange(making, 0.7, 0.75)
    yield from subrange(join.with_keys(armature, made, made_slot, [played], writer, is_cycle=True), 0.75, 1.0)
    cycles = cycles and abs(turn) < _STRAIGHT
    with actions.removed_if_failed(made):
        if cycles:
            _add_cycles(made, made_slot, ground, travel)
        yield 1.0
    if assign:
        join.use(armature, made, made_slot)
    return Looped(made, made_slot, begin, end, blend.seconds or 0.0, turn, cycles, locked)


def _read(
    armature: bpy.types.Object, action: bpy.types.Action, slot: bpy.types.ActionSlot, begin: int, end: int
) -> tuple[Clip, Ground, list[Channel]]:
    """A clip with all that placing it needs, its ground, and which channels were added for that. Raises RigError."""
    keyed = sequence.fitting(armature, action, slot).channels
    check_frames(begin, end)
    clip = clips.read(armature, action, slot, np.arange(begin, end + 1), keyed)
    ground = Ground(armature, [clip])
    added = [channel for channel in ground.channels("HEADING") if channel not in clip.raw]
    clip.raw.update({c: np.tile(animated.current(armature, c), (len(clip.frames), 1)) for c in added})
    return clip, ground, added


def _looped_frames(
    action: bpy.types.Action, slot: bpy.types.ActionSlot, first: int | None, last: int | None
) -> tuple[int, int]:
    """The first and the last frame of a loop, by default those of all keys. Raises RigError."""
    least, most = sequence.whole_frames(action, slot)
    begin, end = least if first is None else first, most if last is None else last
    if not least <= begin <= end <= most:
        raise RigError(
            "Frames {begin} to {end} are outside the keys of '{action}', frames {first} to {last}; "
            "choose frames in this range.",
            begin=begin,
            end=end,
            action=action.name,
            first=least,
            last=most,
        )
    if end - begin < 4:
        raise RigError(
            "'{action}' is too short for a loop from frame {begin} to {end}; choose at least five frames.",
            action=action.name,
            begin=begin,
            end=end,
        )
    return begin, end


def check_ends(ends: str) -> None:
    if ends not in SHARES:
        raise InvalidArgument("Ends {ends!r} are unknown; use {known}.", ends=ends, known=", ".join(SHARES))


def check_blend(blend: Blend, half: float) -> None:
    """Raise RigError if a blend is longer than half of the loop [s]."""
    duration = blend.profile.duration(blend.seconds or 0.0)
    if blend.seconds is not None and not duration <= half + 1e-6:
        raise RigError(
            "The blend must be 0 to {half:.2f} s, half of the loop, not {seconds:g} s.", half=half, seconds=duration
        )


def cyclic(
    clip: Clip,
    moved: Callable[[Clip, bool], Clip],
    dt: float,
    blend: Blend,
    ends: str,
    *,
    size: float,
    in_place: Callable[[Clip], Clip] | None,
    feet: LoopFeet | None,
    locking: Locking,
) -> Generator[float, None, tuple[Clip, Blend, LoopLockResult | None]]:
    """The clip with matching ends and with feet on their places, its blend with a length, and what locking the feet
    did; yields the completed fraction.

    moved: a clip as it is one cycle later or, with False, earlier. size: as for `splice.chosen`. in_place: takes
    the travel out of a cycle; None: it stays. feet, locking: what is locked, and how; None where nothing is. Raises
    RigError.
    """
    again = moved(clip, True)
    is_automatic = blend.seconds is None
    blend = splice.chosen(blend, clip, again.part(slice(1, None)), dt, size)
    if is_automatic:
        blend = blend.at_most(blend.profile.longest_blend(0.5 * (len(clip.frames) - 1) * dt))
    yield 0.0
    locked, result = None, (yield from closing(clip, again, lambda part: moved(part, False), dt, blend, ends))
    yield 0.1
    if feet is not None:
        feet = feet.blended(blend.profile.duration(blend.seconds or 0.0))
    # Feet that walk are planted where the character travels, those that stand where it does not.
    if feet is not None and not (in_place and feet.stand):
        result, locked = yield from feet.lock(result, moved, locking)
    if in_place:
        result = in_place(result)
        if feet is not None and feet.stand:
            result, locked = yield from feet.lock(result, lambda part, later: part, locking)
    return result, blend, locked


def closing(
    clip: Clip, again: Clip, back: Callable[[Clip], Clip], dt: float, blend: Blend, ends: str
) -> Generator[float, None, Clip]:
    """The clip with matching ends except for the travel of the root; yields where that may go on later.

    again: the clip in the next cycle. back: places what is in the next cycle in this one.
    """
    middle = len(clip.frames) // 2
    start, end = clip.part(slice(0, middle + 1)), clip.part(slice(middle + 1, None))
    # The first half of the next cycle, forwards, and the second half of this one, backwards, from the seam.
    start_from, end_from = _meeting(clip, again, SHARES[ends])
    yield 0.0
    if ends != "END":
        blended = splice.splice(start_from, again.part(slice(1, middle + 1)), dt, blend)
        start = back(start_from.part(slice(1, 2)).then(blended))
        yield 0.0
    if ends != "START":
        backwards = clip.part(slice(-2, middle, -1))
        blended = splice.splice(end_from, backwards, dt, blend)
        end = end_from.part(slice(1, 2)).then(blended).part(slice(None, None, -1))
        yield 0.0
    connected = _connected(start, end, clip)
    rows = {channel: blend.profile.row(channel) for channel in clip.raw}
    as_it_is = {c: clip.raw[c] for c, row in rows.items() if row is not None and row.time_factor == 0.0}
    return Clip(clip.armature, clip.frames, connected | as_it_is)


def _connected(start: Clip, end: Clip, was: Clip) -> dict[Channel, Array]:
    """Both halves, with continuous rotations."""
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


def _meeting(clip: Clip, again: Clip, share: float) -> tuple[Clip, Clip]:
    """Two frames of each side of the seam: the second is the seam, the first is one frame before or after it.

    share: part of the difference by which the start changes.
    """
    before, after = Clip(clip.armature, clip.frames[-2:]), Clip(clip.armature, clip.frames[-2:])
    for channel, stored in clip.raw.items():
        if channel.kind == "switch":
            before.raw[channel] = after.raw[channel] = stored[-2:]
            continue
        ends, starts = clip.part(slice(-2, None)), again.part(slice(0, 2))
        kind = "rotation" if channel.kind == "rotation" else "vector"
        last, first = clips.to_values(channel, ends.raw[channel]), clips.to_values(channel, starts.raw[channel])
        difference = cut.displacement(first[0], last[1], kind)
        pose = cut.displaced(first[0], share * difference, kind)
        step = _speed(
            difference, cut.displacement(last[0], last[1], kind), cut.displacement(first[0], first[1], kind), share
        )
        for target, by in ((before, -step), (after, step)):
            poses = np.stack((cut.displaced(pose, by, kind), pose))
            near = stored[-1:] if target is after else again.raw[channel][:1]
            target.raw[channel] = (
                splice.channels_from(channel.mode, poses[::-1, None], near)[::-1, 0] if kind == "rotation" else poses
            )
    return before, after


def _speed(difference: Array, last: Array, first: Array, share: float) -> Array:
    """The step (n,) at the seam of two ends with the `difference` and the steps `last` and `first`: that of an end that
    does not change."""
    if share in (0.0, 1.0):
        return last if share else first
    mean = 0.5 * (last + first)
    direction = rotation.normalize(difference)
    return mean + direction * (min(last @ direction, first @ direction) - mean @ direction)


def _exactly_closed(clip: Clip) -> Clip:
    """The clip with the last numbers equal to the first if they differ only by rounding."""
    for raw in clip.raw.values():
        if np.abs(raw[-1] - raw[0]).max() < _ROUNDING:
            raw[-1] = raw[0]
    return clip


def _add_cycles(action: bpy.types.Action, slot: bpy.types.ActionSlot, ground: Ground, travel: Placement) -> None:
    """Repeat the F-curves, with an offset for those with the travel of the root."""
    repeating = {handle.location for handle in ground.handles} if not travel.is_identity else set()
    paths = {channel.path for channel in repeating if channel is not None}
    for curve in actions.curves(action, slot):
        modifier = curve.modifiers.new("CYCLES")
        modifier.mode_before = modifier.mode_after = "REPEAT_OFFSET" if curve.data_path in paths else "REPEAT"
