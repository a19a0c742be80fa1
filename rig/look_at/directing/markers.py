"""Timeline markers, for operators that use them."""

from collections.abc import Sequence
from itertools import pairwise

import bpy

from ....lookat_pd.errors import RigError
from ....lookat_pd.message import Message, joined


def read(scene: bpy.types.Scene) -> list[tuple[int, str]]:
    """Frames and names of a scene's markers, in order of time; without those that switch cameras. Raises RigError."""
    named = sorted((marker.frame, marker.name.strip()) for marker in scene.timeline_markers if marker.camera is None)
    if not named:
        raise RigError("The scene has no markers; add a named marker (M in the timeline) at each change of target.")
    for (frame, name), (later, other) in pairwise(named):
        if frame == later:
            raise RigError(
                "The markers '{name}' and '{other}' are both at frame {frame}; move one of them.",
                name=name,
                other=other,
                frame=frame,
            )
    return named


def quoted(names: Sequence[str]) -> str:
    """Names for a message, each once."""
    return joined(", ", (Message("'{name}'", name=name) for name in dict.fromkeys(names)))
