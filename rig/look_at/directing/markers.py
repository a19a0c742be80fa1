"""What the timeline's markers say, for verbs that are told by them."""

from collections.abc import Sequence
from itertools import pairwise

import bpy

from ...lookat_pd.errors import RigError


def read(scene: bpy.types.Scene) -> list[tuple[int, str]]:
    """Frames and names of a scene's markers, in order of time; those that switch cameras left out. Raises RigError."""
    found = sorted((marker.frame, marker.name.strip()) for marker in scene.timeline_markers if marker.camera is None)
    if not found:
        raise RigError("The scene has no markers; set one (M in the timeline) wherever something changes, and name it.")
    for (frame, name), (later, other) in pairwise(found):
        if frame == later:
            raise RigError(f"The markers '{name}' and '{other}' are both at frame {frame}; move one of them.")
    return found


def quoted(names: Sequence[str]) -> str:
    """Names for a message, each once."""
    return ", ".join(f"'{name}'" for name in dict.fromkeys(names))
