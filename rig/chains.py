"""Chains of clips from a list or from the timeline's markers: what plays from when, and how each blends in."""

from collections.abc import Mapping, Sequence
from typing import Any

import bpy

from ..lookat_pd.errors import RigError
from . import timeline
from .splice import AUTOMATIC, Blend
from .timeline import ClipRef, Step

_KEYS = {"clip", "frame", "blend", "enter", "method", "factors"}


def from_list(
    armature: bpy.types.Object,
    entries: Sequence[Mapping[str, Any]],
    actions: Mapping[str, bpy.types.Action] | None = None,
) -> list[Step]:
    """Steps for `join.chain` from plain entries, in any order.

    An entry: "clip", an action's name; "frame" of the result from which it plays; and if need be "blend" [s] into it
    (null: what suits), "enter", the clip's frame to begin with (default: its first), "method" and "factors" as for
    `Blend`. actions: by name, default those of the file. Raises RigError and InvalidArgument.
    """
    if not isinstance(entries, Sequence) or isinstance(entries, str) or not entries:
        raise RigError("A chain is a list of clips, each with its frame; this holds none.")
    steps = [
        _step(armature, n, entry, bpy.data.actions if actions is None else actions) for n, entry in enumerate(entries)
    ]
    return sorted(steps, key=lambda step: step.at)


def _step(armature: bpy.types.Object, number: int, entry: Any, actions: Any) -> Step:
    which = f"Entry {number + 1} of the chain"
    if not isinstance(entry, Mapping) or not isinstance(entry.get("clip"), str):
        raise RigError(f'{which} names no clip; it needs "clip" and "frame".')
    unknown = sorted(set(entry) - _KEYS)
    if unknown:
        raise RigError(f'{which} has "{unknown[0]}", which means nothing; use {", ".join(sorted(_KEYS))}.')
    action = actions.get(entry["clip"])
    if action is None:
        raise RigError(f"{which} names the clip '{entry['clip']}', which does not exist; use the name of an action.")
    frame, enter, seconds = (_number(which, entry, name) for name in ("frame", "enter", "blend"))
    if frame is None or frame != round(frame):
        raise RigError(f"{which} needs \"frame\", the whole frame from which '{action.name}' plays.")
    if enter is None:
        enter = timeline.reach(armature, ClipRef(action, 0))[0]
    blend = Blend(seconds, entry.get("method", AUTOMATIC.method), entry.get("factors", AUTOMATIC.factors))
    return Step(ClipRef(action, enter), int(frame), blend)


def _number(which: str, entry: Mapping[str, Any], name: str) -> float | None:
    value = entry.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise RigError(f'{which} has {value!r} as "{name}"; it must be a number.')
    return value


def from_markers(armature: bpy.types.Object, scene: bpy.types.Scene, blend: Blend = AUTOMATIC) -> list[Step]:
    """Steps from the scene's markers that are called like actions, or "action @ frame" to enter it there."""
    entries = []
    for marker in scene.timeline_markers:
        name, _, enter = (part.strip() for part in marker.name.rpartition("@"))
        if name in bpy.data.actions and enter.lstrip("-").isdigit():
            entries.append({"clip": name, "frame": marker.frame, "enter": int(enter)})
        elif marker.name in bpy.data.actions:
            entries.append({"clip": marker.name, "frame": marker.frame})
    if len(entries) < 2:
        raise RigError(
            "Fewer than two of the scene's markers are called like actions; name them after the clips to play."
        )
    return [Step(step.clip, step.at, blend) for step in from_list(armature, entries)]
