"""Chains of clips from the timeline's markers: clips and their start frames."""

import bpy

from ...lookat_pd.errors import RigError
from . import sequence
from .sequence import ClipRef, ClipStep
from .splice import AUTOMATIC, Blend


def from_markers(armature: bpy.types.Object, scene: bpy.types.Scene, blend: Blend = AUTOMATIC) -> list[ClipStep]:
    """Steps for `join.chain` from the markers with the names of actions, or "action @ frame" for an entry frame.

    Raises RigError if there are fewer than two.
    """
    steps = []
    for marker in sorted(scene.timeline_markers, key=lambda marker: marker.frame):
        name, _, enter = (part.strip() for part in marker.name.rpartition("@"))
        action = bpy.data.actions.get(marker.name)
        if action is not None:
            begin: float = sequence.frame_range(armature, ClipRef(action, 0))[0]
        elif name in bpy.data.actions and _is_number(enter):
            action, begin = bpy.data.actions[name], float(enter)
        else:
            continue
        steps.append(ClipStep(ClipRef(action, begin), marker.frame, blend))
    if len(steps) < 2:
        raise RigError(
            "Fewer than two markers of the scene are named after actions; name the markers after the actions to play."
        )
    return steps


def _is_number(word: str) -> bool:
    try:
        return abs(float(word)) < float("inf")
    except ValueError:
        return False
