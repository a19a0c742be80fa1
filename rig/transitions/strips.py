"""A transition between two strips of the NLA: a separate strip above them, which does not change them.

Supported: strips of type clip with any offset, scale, repeat and direction, on one track or on two, with blend type
Replace. Not supported: other blend types, animated influence, animated strip time, strip modifiers, and arrangements in
which the second strip is never visible. The root is not placed: the second strip plays at its original position.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...lookat_pd.errors import RigError
from ...lookat_pd.message import Message
from ...lookat_pd.rotation import Array
from ..animation import actions, editable
from ..sampling import scene_time
from . import animated, clips, pops, sequence, splice
from .animated import Channel
from .clips import Clip
from .splice import Blend


@dataclass(frozen=True)
class Timing:
    """The timing of a strip: scene frames start to end show action frames first to last, scaled and repeated."""

    start: float
    end: float
    first: float
    last: float
    scale: float = 1.0
    repeat: float = 1.0
    reverse: bool = False

    @classmethod
    def of(cls, strip: bpy.types.NlaStrip) -> "Timing":
        return cls(
            strip.frame_start,
            strip.frame_end,
            strip.action_frame_start,
            strip.action_frame_end,
            strip.scale,
            strip.repeat,
            strip.use_reverse,
        )

    def action_frame(self, frame: Array | float) -> Array:
        """The frame of the action at scene frames (F,), computed like in Blender: in single precision, clamped at both
        ends.

        At the exact end of the last repetition it is the last frame.
        """
        single = np.float32
        at = np.clip(np.asarray(frame, dtype=single), single(self.start), single(self.end))
        scale = single(self.scale)
        length = (single(self.last) - single(self.first) or single(1.0)) * scale
        into = np.fmod(at - single(self.start), length) / scale
        over = (at == single(self.end)) & (abs(self.repeat - round(self.repeat)) < 1e-6)
        if self.reverse:
            return np.where(over, self.first, single(self.last) - into).astype(float)
        return np.where(over, self.last, single(self.first) + into).astype(float)


@dataclass(frozen=True)
class StripPair:
    """A new transition: its strip, its action, first and last frame, and the blend [s]."""

    strip: bpy.types.NlaStrip
    action: bpy.types.Action
    first: int
    last: int
    blend: float


@dataclass(frozen=True)
class _Placed:
    """A strip, its track and the index of the track from the bottom."""

    strip: bpy.types.NlaStrip
    track: bpy.types.NlaTrack
    height: int


def selected(armature: bpy.types.Object) -> list[bpy.types.NlaStrip]:
    """The selected strips of an armature, by start frame."""
    data = armature.animation_data
    found = [strip for track in (data.nla_tracks if data else []) for strip in track.strips if strip.select]
    return sorted(found, key=lambda strip: (strip.frame_start, strip.frame_end))


def join(
    armature: bpy.types.Object,
    first: bpy.types.NlaStrip,
    second: bpy.types.NlaStrip,
    blend: Blend = splice.AUTOMATIC,
    *,
    scene: bpy.types.Scene | None = None,
) -> StripPair:
    """Add a strip with the transition from `first` to `second` on a track directly above both.

    It starts where the second strip becomes visible and has the length of the blend. Raises LookAtError before any
    change.
    """
    editable.check_armature(armature)
    blend.profile.check_one_clip()
    a, b = _placed(armature, first), _placed(armature, second)
    _check(armature, a, b)
    dt = scene_time.seconds_per_frame(scene or bpy.context.scene)
    cut = _cut_frame(a, b)
    left = np.floor(b.strip.frame_end) - cut + 1
    if left < 2:
        raise RigError(
            "Strip '{second}' is too short for a transition; extend it to at least two frames.", second=second.name
        )
    before, after, going_on = _read(armature, a, b, cut, int(left))
    blend = splice.with_method(blend, before, after, dt, pops.skeleton_size(armature))
    if blend.seconds is None:
        length = splice.blend_time(before, after, dt, pops.skeleton_size(armature))
        blend = replace(blend, seconds=min(length, blend.profile.longest_blend(left * dt)))
    seconds = blend.seconds or 0.0
    reach = blend.profile.reach(seconds)
    frames = max(1, int(np.ceil(reach / dt - 1e-6)))
    if frames > left:
        raise RigError(
            "The blend of {duration:g} s is longer than the {left:.2f} s that strip '{strip}' "
            "plays; shorten the blend.",
            duration=reach,
            left=left * dt,
            strip=second.name,
        )
    _check_fades(a, b, cut, frames)
    result = splice.splice(before, after, dt, blend, going_on).part(slice(0, frames + 1))
    return _add(armature, a, b, result, seconds)


def cut_frame(armature: bpy.types.Object, first: bpy.types.NlaStrip, second: bpy.types.NlaStrip) -> int:
    """The first frame at which the second strip is visible. Raises RigError if one is not of this armature."""
    return _cut_frame(_placed(armature, first), _placed(armature, second))


def _cut_frame(a: _Placed, b: _Placed) -> int:
    return int(np.ceil(b.strip.frame_start if _above(b, a) else max(a.strip.frame_end, b.strip.frame_start)))


def _placed(armature: bpy.types.Object, strip: bpy.types.NlaStrip) -> _Placed:
    data = armature.animation_data
    for height, track in enumerate(data.nla_tracks if data else []):
        if any(item == strip for item in track.strips):
            return _Placed(strip, track, height)
    raise RigError(
        "Strip '{strip}' is not in the NLA of '{armature}'; select two strips of this armature.",
        strip=strip.name,
        armature=armature.name,
    )


def _above(b: _Placed, a: _Placed) -> bool:
    """Whether b hides a where they overlap; on one track they never do."""
    return b.height >= a.height


def _check(armature: bpy.types.Object, a: _Placed, b: _Placed) -> None:
    sequence.check_may_play(armature)
    for item in (a, b):
        _check_strip(armature, item)
    first, second = a.strip, b.strip
    if second.frame_start <= first.frame_start:
        raise RigError(
            "Strip '{second}' does not start after '{first}'; select two consecutive strips.",
            second=second.name,
            first=first.name,
        )
    if second.frame_end <= first.frame_end and b.height < a.height:
        raise RigError(
            "Strip '{first}' covers '{second}' to its end; move '{first}' to a lower track.",
            first=first.name,
            second=second.name,
        )
    if b.height < a.height and first.extrapolation != "NOTHING":
        raise RigError(
            "Strip '{first}' holds its last pose above '{second}'; set its Extrapolation to Nothing.",
            first=first.name,
            second=second.name,
        )
    if b.height > a.height and second.extrapolation == "HOLD":
        raise RigError(
            "Strip '{second}' holds its first pose above '{first}'; set its Extrapolation to Hold Forward.",
            second=second.name,
            first=first.name,
        )
    if first.extrapolation == "NOTHING" and second.frame_start > first.frame_end + 1.0:
        raise RigError(
            "There is a gap between '{first}' and '{second}'; move the strips together, or set the "
            "Extrapolation of '{first}' to Hold Forward.",
            first=first.name,
            second=second.name,
        )


def _check_strip(armature: bpy.types.Object, item: _Placed) -> None:
    strip = item.strip
    problems = (
        (strip.type != "CLIP" or strip.action is None, "has no action", "select action strips"),
        (strip.mute or item.track.mute, "is muted", "unmute it"),
        (strip.blend_type != "REPLACE", "does not replace the tracks below it", "set its blending to Replace"),
        (strip.use_animated_influence, "has an animated influence", "disable Animated Influence"),
        (strip.use_animated_time, "has an animated time", "disable Animated Strip Time"),
        (any(not modifier.mute for modifier in strip.modifiers), "has modifiers", "mute them"),
    )
    for bad, what, remedy in problems:
        if bad:
            raise RigError(
                "Strip '{strip}' {what}; {remedy} and try again.",
                strip=strip.name,
                what=Message(what),
                remedy=Message(remedy),
            )
    if strip.action_slot is None:
        raise RigError("Strip '{strip}' has no action slot selected; select a slot.", strip=strip.name)
    sequence.fitting(armature, strip.action, strip.action_slot)


def _check_fades(a: _Placed, b: _Placed, cut: int, frames: int) -> None:
    """Raise RigError if Blender's own blending fades a strip at the wrong time."""
    if a.strip.blend_out > 0.0 and cut > a.strip.frame_end - a.strip.blend_out + 1.0:
        raise RigError(
            "Strip '{strip}' is blended out before the transition; set its Blend Out to 0.", strip=a.strip.name
        )
    if b.strip.frame_start + b.strip.blend_in > cut + frames - 1:
        raise RigError(
            "Strip '{strip}' is blended in for longer than the transition; set its Blend In to 0.", strip=b.strip.name
        )


def _read(armature: bpy.types.Object, a: _Placed, b: _Placed, cut: int, frames: int) -> tuple[Clip, Clip, Clip]:
    """Two frames of the first strip before the cut, the second strip from the cut, and the first from the cut."""
    used = (a.strip, b.strip)
    found = [animated.channels_of(armature, strip.action, strip.action_slot) for strip in used]
    keyed = list(dict.fromkeys((*found[0], *found[1])))
    after = np.arange(cut, cut + frames, dtype=float)
    before = _play(armature, a.strip, np.array([cut - 2.0, cut - 1.0]), keyed, animated.at_rest)
    going_on = _play(armature, a.strip, after, keyed, animated.at_rest)
    goes_on_below = b.height > a.height and a.strip.extrapolation != "NOTHING"

    def left_alone(item: bpy.types.Object, channel: Channel) -> Array:
        return going_on.raw[channel][-1] if goes_on_below else animated.at_rest(item, channel)

    return before, _play(armature, b.strip, after, keyed, left_alone), going_on


def _play(
    armature: bpy.types.Object,
    strip: bpy.types.NlaStrip,
    frames: Array,
    keyed: list[Channel],
    otherwise: Callable[[bpy.types.Object, Channel], Array],
) -> Clip:
    """The clip that a strip shows at scene frames."""
    times = Timing.of(strip).action_frame(frames)
    clip = clips.read(armature, strip.action, strip.action_slot, times, keyed, otherwise=otherwise)
    clip.frames = frames
    return clip


def _add(armature: bpy.types.Object, a: _Placed, b: _Placed, clip: Clip, seconds: float) -> StripPair:
    name = f"{a.strip.name} > {b.strip.name}"
    action, slot = actions.new_action(name, armature)
    track = None
    tracks = armature.animation_data.nla_tracks
    try:
        clips.write(action, slot, clip)
        track = tracks.new(prev=max(a, b, key=lambda item: item.height).track)
        track.name = name
        first, last = int(clip.frames[0]), int(clip.frames[-1])
        strip = track.strips.new(name, first, action)
        strip.action_slot = slot
        _extend(strip, first, max(last, first + 1))
        strip.blend_type, strip.extrapolation = "REPLACE", "NOTHING"
    except BaseException:
        if track is not None:
            tracks.remove(track)
        bpy.data.actions.remove(action)
        raise
    return StripPair(strip, action, first, last, seconds)


def _extend(strip: bpy.types.NlaStrip, first: float, last: float) -> None:
    """Make a strip play its action frame by frame; setting one property may change the others, so set them twice."""
    strip.action_frame_start, strip.action_frame_end = first, last
    strip.scale, strip.repeat = 1.0, 1.0
    for _ in range(2):
        strip.frame_start_raw, strip.frame_end_raw = first, last
        strip.scale = 1.0
