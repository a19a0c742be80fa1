"""The gaze file: a JSON list of what is looked at from which frame on."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .arguments import Misuse

_CHOICES = ("point", "target", "off")


@dataclass(frozen=True)
class Event:
    """From `frame` on look at a point (world) or a target ("Ball", "Rig:Bone"); where both are None at nothing."""

    frame: float
    point: tuple[float, float, float] | None = None
    target: str | None = None


def read(path: Path) -> tuple[Event, ...]:
    """The events of a gaze file by frame. Raises Misuse, which names the event that is wrong."""
    try:
        entries = json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise Misuse(f"the gaze file {path} cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise Misuse(f"the gaze file {path} is not JSON ({error})") from None
    try:
        return parse(entries)
    except ValueError as error:
        raise Misuse(f"{path}: {error}") from None


def parse(entries: Any) -> tuple[Event, ...]:
    """Events by frame from decoded JSON. Raises ValueError, which names the event that is wrong."""
    if not isinstance(entries, list):
        raise ValueError('a gaze file is a list of events, [{"frame": 1, "target": "Ball"}, …]')
    if not entries:
        raise ValueError("the list has no events; give at least one")
    events: dict[float, tuple[int, Event]] = {}
    for number, entry in enumerate(entries, 1):
        try:
            event = _event(entry)
        except ValueError as error:
            raise ValueError(f"event {number}: {error}") from None
        if event.frame in events:
            raise ValueError(
                f"events {events[event.frame][0]} and {number} are both at frame {event.frame:g}; keep one"
            )
        events[event.frame] = number, event
    return tuple(events[frame][1] for frame in sorted(events))


def _event(entry: Any) -> Event:
    if not isinstance(entry, dict):
        raise ValueError("it is not an object in braces")
    unknown = sorted(entry.keys() - {"frame", *_CHOICES})
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r}; there are frame, point, target and off")
    if "frame" not in entry:
        raise ValueError("it has no frame")
    if not _is_number(entry["frame"]):
        raise ValueError(f"frame {entry['frame']!r} is not a finite number")
    given = [choice for choice in _CHOICES if choice in entry]
    if len(given) != 1:
        has = " and ".join(given) or "none"
        raise ValueError(f"it must have exactly one of point, target and off, and has {has}")
    frame, value = float(entry["frame"]), entry[given[0]]
    if given[0] == "point":
        return Event(frame, point=_point(value))
    if given[0] == "target":
        if not isinstance(value, str) or not value:
            raise ValueError(f"target {value!r} is not a name")
        return Event(frame, target=value)
    if value is not True:
        raise ValueError("off can only be true; leave it out and give a point or target to look at something")
    return Event(frame)


def _point(value: Any) -> tuple[float, float, float]:
    if not isinstance(value, list) or len(value) != 3 or not all(map(_is_number, value)):
        raise ValueError(f"point {_short(value)} is not three finite numbers, [x, y, z]")
    x, y, z = map(float, value)
    return x, y, z


def _is_number(value: Any) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
