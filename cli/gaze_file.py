"""The gaze file: a JSON list of what is looked at from which frame on."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import json_list
from .arguments import FARTHEST, LAST_FRAME
from .json_list import quoted

_CHOICES = ("point", "target", "off")
_KEYS = ("frame", *_CHOICES)


@dataclass(frozen=True)
class GazeEntry:
    """What to look at from a frame on; nothing without a point and a target."""

    frame: float
    """Frame of keys."""
    point: tuple[float, float, float] | None = None
    """Point in the world."""
    target: str | None = None
    """Object or bone, such as "Ball" or "Rig:Bone"."""


def read(path: Path) -> tuple[GazeEntry, ...]:
    """The events of a gaze file by frame. Raises Misuse, which names the event that is wrong."""
    return json_list.read(path, "gaze file", parse)


def parse(entries: Any) -> tuple[GazeEntry, ...]:
    """Events by frame from decoded JSON. Raises ValueError, which names the event that is wrong."""
    if not isinstance(entries, list):
        raise ValueError('a gaze file is a list of events, [{"frame": 1, "target": "Ball"}, …]')
    if not entries:
        raise ValueError("the list has no events; give at least one")
    events: dict[float, tuple[int, GazeEntry]] = {}
    for number, event in json_list.each(entries, "event", _event):
        if event.frame in events:
            raise ValueError(
                f"events {events[event.frame][0]} and {number} are both at frame {event.frame:g}; keep one"
            )
        events[event.frame] = number, event
    return tuple(events[frame][1] for frame in sorted(events))


def _event(entry: Any) -> GazeEntry:
    json_list.check_keys(entry, _KEYS, "frame, point, target and off")
    if not json_list.is_number(entry["frame"]):
        raise ValueError(f"frame {quoted(entry['frame'])} is not a finite number")
    if not json_list.is_number(entry["frame"], LAST_FRAME):
        raise ValueError(f"frame {quoted(entry['frame'])} is beyond Blender's frames, {-LAST_FRAME} to {LAST_FRAME}")
    given = [choice for choice in _CHOICES if choice in entry]
    if len(given) != 1:
        has = " and ".join(given) or "none"
        raise ValueError(f"it must have exactly one of point, target and off, and has {has}")
    frame, value = float(entry["frame"]), entry[given[0]]
    if given[0] == "point":
        return GazeEntry(frame, point=_point(value))
    if given[0] == "target":
        if not isinstance(value, str) or not value:
            raise ValueError(f"target {quoted(value)} is not a name")
        return GazeEntry(frame, target=value)
    if value is not True:
        raise ValueError("off can only be true; leave it out and give a point or target to look at something")
    return GazeEntry(frame)


def _point(value: Any) -> tuple[float, float, float]:
    if not isinstance(value, list) or len(value) != 3 or not all(map(json_list.is_number, value)):
        raise ValueError(f"point {quoted(value)} is not three finite numbers, [x, y, z]")
    x, y, z = map(float, value)
    if not max(abs(x), abs(y), abs(z)) <= FARTHEST:
        raise ValueError(f"point {quoted(value)} is too far away; give numbers up to {FARTHEST:g}")
    return x, y, z
