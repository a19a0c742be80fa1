"""A transition between two strips of the NLA: a separate strip above them, which does not change them, and another one
above all tracks with what *Lock Feet* adds.

Supported: strips of type clip, on one track or on two, of any blend type, timing and influence, with modifiers. Not
supported: arrangements in which the second strip is never visible. The root is not placed: the second strip plays at
its original position. The transition replaces what is below it by what the NLA shows there up to the two tracks.
"""

from collections.abc import Generator
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd.errors import RigError
from ...lookat_pd.message import Message
from ...lookat_pd.progress import drain, subrange
from ..animation import actions, editable
from ..animation.key_writer import KeyWriter
from ..animation.playing import playing
from ..feet.contact_report import ContactReport
from ..sampling import scene_time
from . import animated, clips, kept_clips, pops, pose_markers, sequence, splice, strip_playback
from .clips import Clip
from .lock_feet import FootHold, divided
from .splice import Blend


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
    chosen = [strip for track in (data.nla_tracks if data else []) for strip in track.strips if strip.select]
    return sorted(chosen, key=lambda strip: (strip.frame_start, strip.frame_end))


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
    is_automatic = blend.seconds is None
    blend = splice.chosen(blend, before, after, dt, pops.skeleton_size(armature))
    if is_automatic:
        blend = blend.at_most(blend.profile.longest_blend(left * dt))
    seconds = blend.seconds or 0.0
    duration = blend.profile.duration(seconds)
    frames = max(1, int(np.ceil(duration / dt - 1e-6)))
    if frames > left:
        raise RigError(
            "The blend of {duration:g} s is longer than the {left:.2f} s that strip '{strip}' "
            "plays; shorten the blend.",
            duration=duration,
            left=left * dt,
            strip=second.name,
        )
    _check_fades(a, b, cut, frames)
    result = splice.splice(before, after, dt, blend, going_on).part(slice(0, frames + 1))
    return _add(armature, a, b, result, seconds)


def with_keys(armature: bpy.types.Object, made: StripPair, writer: KeyWriter) -> None:
    """Let a writer choose the keys of a new transition, which has one at every frame."""
    drain(kept_clips.thin(armature, made.action, made.strip.action_slot, (), writer))


def cut_frame(armature: bpy.types.Object, first: bpy.types.NlaStrip, second: bpy.types.NlaStrip) -> int:
    """The first frame at which the second strip is visible. Raises RigError if one is not of this armature."""
    return _cut_frame(_placed(armature, first), _placed(armature, second))


def _cut_frame(a: _Placed, b: _Placed) -> int:
    shown = not _covers(a, b)
    return int(np.ceil(b.strip.frame_start if shown else max(a.strip.frame_end, b.strip.frame_start)))


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


def _covers(a: _Placed, b: _Placed) -> bool:
    """Whether a hides b where they overlap; on one track they never do."""
    return b.height < a.height and a.strip.blend_type == "REPLACE"


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
    if second.frame_end <= first.frame_end and _covers(a, b):
        raise RigError(
            "Strip '{first}' covers '{second}' to its end; move '{first}' to a lower track.",
            first=first.name,
            second=second.name,
        )
    if _covers(a, b) and first.extrapolation != "NOTHING":
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
    """Two frames before the cut, those from the cut, and those without the second strip, as the NLA shows them."""
    used = (a.strip, b.strip)
    channels = [animated.channels_of(armature, strip.action, strip.action_slot) for strip in used]
    keyed = list(dict.fromkeys((*channels[0], *channels[1])))
    after = np.arange(cut, cut + frames, dtype=float)
    # On another track, a strip still plays at the frame of its end.
    is_over = a.strip.extrapolation == "NOTHING" and a.strip.frame_end <= cut
    with strip_playback.played(armature, max(a.height, b.height), used) as playback:
        before = playback.read(np.array([cut - 2.0, cut - 1.0]), keyed)
        destination = playback.read(after, keyed, without=a.strip if is_over else None)
        return before, destination, playback.read(after, keyed, without=b.strip)


def _add(armature: bpy.types.Object, a: _Placed, b: _Placed, clip: Clip, seconds: float) -> StripPair:
    name = f"{a.strip.name} > {b.strip.name}"
    action, slot = actions.new_action(name, armature)
    tracks = armature.animation_data.nla_tracks
    with actions.removed_if_failed(action):
        clips.write(action, slot, clip)
        pose_markers.write(action, pose_markers.of_strip(b.strip, int(clip.frames[0]), int(clip.frames[-1])))
        track = tracks.new(prev=max(a, b, key=lambda item: item.height).track)
        try:
            track.name = name
            first, last = int(clip.frames[0]), int(clip.frames[-1])
            strip = track.strips.new(name, first, action)
            strip.action_slot = slot
            _extend(strip, first, max(last, first + 1))
            strip.blend_type, strip.extrapolation = "REPLACE", "NOTHING"
        except BaseException:
            tracks.remove(track)
            raise
    return StripPair(strip, action, first, last, seconds)


def _extend(strip: bpy.types.NlaStrip, first: float, last: float) -> None:
    """Make a strip play its action frame by frame; setting one property may change the others, so set them twice."""
    strip.action_frame_start, strip.action_frame_end = first, last
    strip.scale, strip.repeat = 1.0, 1.0
    for _ in range(2):
        strip.frame_start_raw, strip.frame_end_raw = first, last
        strip.scale = 1.0


def lock_feet(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    first: bpy.types.NlaStrip,
    second: bpy.types.NlaStrip,
    made: StripPair,
) -> Generator[float, None, ContactReport | None]:
    """Keep planted feet on their places through a new transition from strip `first` to `second`.

    The difference is a COMBINE strip. An action that plays above the NLA does not count. Yields the completed fraction;
    returns None if nothing is planted. Raises LookAtError, after which the transition is removed.
    """
    tracks = armature.animation_data.nla_tracks
    track = next(item for item in tracks if made.strip in list(item.strips))
    begin, end = int(first.frame_start), int(second.frame_end)
    clips = divided(None, None, min(begin, made.first - 1), max(end, made.last), [(made.first, made.blend)])
    try:
        with playing(armature, None, None):
            # The contacts are those of the strips themselves.
            track.mute = True
            try:
                hold = drain(FootHold.of(scene, armature, clips))
            finally:
                track.mute = False
            yield 0.2
            if hold is None:
                return None
            return (yield from subrange(hold.steps(scene, armature, "LAYER", f"{track.name} feet"), 0.2, 1.0))
    except BaseException:
        tracks.remove(track)
        bpy.data.actions.remove(made.action)
        raise
