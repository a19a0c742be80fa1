"""The clip list: a JSON list of clips that play one after another."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....rig.transitions.settings import LONGEST_BLEND
from ... import json_list
from ...arguments import LAST_FRAME
from ...json_list import quoted

_KEYS = ("clip", "frame", "at", "blend")


@dataclass(frozen=True)
class Entry:
    """From frame `at` of the result on, `clip` plays from its own `frame`; None for what is usual."""

    clip: str
    frame: float | None = None
    at: int | None = None
    blend: float | str | None = None
    """Length of the transition in seconds, "auto", or None for that of the command line."""


def read(path: Path) -> tuple[Entry, ...]:
    """The entries of a clip list. Raises Misuse, which names the step that is wrong."""
    return json_list.read(path, "clip list", parse)


def parse(entries: Any) -> tuple[Entry, ...]:
    """Entries from decoded JSON. Raises ValueError, which names the step that is wrong."""
    if not isinstance(entries, list):
        raise ValueError('a clip list is a list of steps, [{"clip": "Run"}, {"clip": "Walk", "at": 40}, …]')
    if len(entries) < 2:
        raise ValueError(f"the list has {len(entries) or 'no'} step{'' if entries else 's'}; give at least two")
    steps: list[Entry] = []
    before: tuple[int, int] | None = None
    for number, step in json_list.each(entries, "step", _entry):
        if step.at is not None:
            if before is not None and step.at <= before[1]:
                raise ValueError(
                    f"step {number}: at {step.at} is not after step {before[0]}, which plays from {before[1]}"
                )
            before = number, step.at
        steps.append(step)
    return tuple(steps)


def _entry(entry: Any) -> Entry:
    json_list.check_keys(entry, _KEYS, ", ".join(_KEYS))
    clip, frame, at, blend = (entry.get(key) for key in _KEYS)
    if not isinstance(clip, str) or not clip:
        raise ValueError(f"clip {quoted(clip)} is not a name")
    if frame is not None and not _is_number(frame):
        raise ValueError(f"frame {quoted(frame)} is not a frame number")
    if at is not None and not (_is_number(at) and at == round(at)):
        raise ValueError(f"at {quoted(at)} is not a whole frame number")
    if blend is not None and blend != "auto" and not (_is_number(blend) and 0.0 <= blend <= LONGEST_BLEND):
        raise ValueError(f'blend {quoted(blend)} is neither "auto" nor seconds from 0 to {LONGEST_BLEND:g}')
    return Entry(clip, frame, None if at is None else int(at), blend)


def _is_number(value: Any) -> bool:
    return json_list.is_number(value, LAST_FRAME)
