"""Pose markers: the markers of actions, which go with their clips into a new action."""

from collections.abc import Iterable

import bpy
import numpy as np

from .sequence import ClipSequence

Marker = tuple[int, str]
"""The frame and the name of a marker."""


def read(action: bpy.types.Action, first: float | None = None, last: float | None = None) -> list[Marker]:
    """The markers of an action, by frame; only those from frame `first` to `last`."""
    return sorted(
        (marker.frame, marker.name)
        for marker in action.pose_markers
        if (first is None or marker.frame >= first) and (last is None or marker.frame <= last)
    )


def write(action: bpy.types.Action, markers: Iterable[Marker]) -> None:
    """Add markers to an action, each frame and name once."""
    for frame, name in dict.fromkeys(markers):
        action.pose_markers.new(name).frame = frame


def of_strip(strip: bpy.types.NlaStrip, first: int, last: int) -> list[Marker]:
    """The markers of the action of a strip, at the frames of the scene from first to last that show what they mark."""
    frames = np.arange(first, last + 1, dtype=float)
    times = np.array([_time_in_strip(strip, frame) for frame in frames.tolist()])
    half = 0.5 * np.abs(np.gradient(times)) if len(times) > 1 else np.full(1, 0.5)
    # A cycle that begins again is no step.
    half = np.minimum(half, 0.5 * max(float(np.median(2.0 * half)), 1e-6))
    return sorted(
        (int(frame), name)
        for marked, name in read(strip.action)
        for frame, time, near in zip(frames, times, half, strict=True)
        if -near < time - marked <= near
    )


def _time_in_strip(strip: bpy.types.NlaStrip, frame: float) -> float:
    """The frame of its action that a strip plays at a frame of the scene."""
    if strip.use_animated_time:
        return float(strip.fcurves.find("strip_time").evaluate(frame))
    begin, end = strip.action_frame_start, strip.action_frame_end
    length = max((end - begin) * strip.scale, 1e-6)
    into = min(max(frame, strip.frame_start), strip.frame_end) - strip.frame_start
    cycles = into / length
    # The last frame is the end of the last cycle and not the begin of another one.
    share = cycles - (max(np.ceil(cycles) - 1.0, 0.0) if frame >= strip.frame_end else np.floor(cycles))
    return float(end - share * (end - begin) if strip.use_reverse else begin + share * (end - begin))


def of_sequence(played: ClipSequence) -> list[Marker]:
    """The markers of the clips of a sequence, at the frames of the result that show what they mark.

    A clip has those from its entry to the frame before the next clip. One that is repeated ends with the pose with
    which it begins again: what is marked there belongs to that frame.
    """
    marks: list[Marker] = []
    steps = played.steps
    for number, (step, item) in enumerate(zip(steps, played.used, strict=True)):
        following = steps[number + 1] if number + 1 < len(steps) else None
        end = float(item.last)
        if following is not None:
            end = step.clip.frame + following.at - step.at - (0 if following.again else 1)
        marks += [
            (step.at + round(frame - step.clip.frame), name) for frame, name in read(item.action, step.clip.frame, end)
        ]
    return sorted(dict.fromkeys(marks))
