"""The time of a scene: key frames, and the seconds between them, where the scene's time is stretched too."""

from math import ceil, floor

import bpy


def key_range(scene: bpy.types.Scene, first: int | None = None, last: int | None = None) -> tuple[int, int]:
    """The frames of keys that frames of a scene show, by default all: others where its time is stretched."""
    first, last = scene.frame_start if first is None else first, scene.frame_end if last is None else last
    length = scene.render.frame_map_old / scene.render.frame_map_new
    return floor(first * length), ceil(last * length)


def seconds_per_frame(scene: bpy.types.Scene) -> float:
    """Time from one key frame to the next [s]: frame rate, its base, and the scene's time stretching."""
    render = scene.render
    return render.fps_base / render.fps * render.frame_map_new / render.frame_map_old
