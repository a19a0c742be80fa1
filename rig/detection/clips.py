"""The clips of an armature from which its stance may be read."""

from collections.abc import Iterator

import bpy
import numpy as np

from ..animation import actions
from ..sampling import own_data

Clip = tuple[bpy.types.Action, bpy.types.ActionSlot]
_MOST = 6
"""So many clips are read: reading all of a library takes seconds, and they show the same."""


def own(armature: bpy.types.Object) -> list[Clip]:
    """The clip that an armature plays, first, and those of its NLA tracks."""
    data = armature.animation_data
    if data is None:
        return []
    items = (data, *(strip for track in data.nla_tracks for strip in track.strips))
    found = [(item.action, item.action_slot) for item in items if item.action is not None and item.action_slot]
    return list(dict.fromkeys(found))


def of(armature: bpy.types.Object, playing: list[Clip]) -> list[Clip]:
    """Some of all clips with keys of the armature's bones, by their names, so that it does not matter which plays."""
    found = {(action.name, slot.handle): (action, slot) for action, slot in (*playing, *_others(armature))}
    ordered = [found[key] for key in sorted(found)]
    chosen = np.linspace(0, len(ordered) - 1, min(len(ordered), _MOST)).round().astype(int)
    return [ordered[n] for n in chosen]


def _others(armature: bpy.types.Object) -> Iterator[Clip]:
    bones = armature.data.bones
    for action in bpy.data.actions:
        for slot in () if own_data.OFFSETS in action else action.slots:
            if slot.target_id_type != "OBJECT":
                continue
            curve = next(iter(actions.curves(action, slot)), None)
            path = "" if curve is None else curve.data_path
            if path.startswith('pose.bones["') and path.split('"')[1] in bones:
                yield action, slot
