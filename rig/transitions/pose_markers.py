"""Pose markers: the markers of actions, which go with their clips into a new action."""

from collections.abc import Iterable

import bpy

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


def of_sequence(played: ClipSequence) -> list[Marker]:
    """The markers of the clips of a sequence, at the frames of the result that show what they mark.

    A clip has those from its entry to the frame before the next clip. One that is repeated ends with the pose with
    which it begins again: what is marked there belongs to that frame.
    """
    found: list[Marker] = []
    steps = played.steps
    for number, (step, item) in enumerate(zip(steps, played.used, strict=True)):
        following = steps[number + 1] if number + 1 < len(steps) else None
        end = float(item.last)
        if following is not None:
            end = step.clip.frame + following.at - step.at - (0 if following.again else 1)
        found += [
            (step.at + round(frame - step.clip.frame), name) for frame, name in read(item.action, step.clip.frame, end)
        ]
    return sorted(dict.fromkeys(found))
