"""Frame rates: setting a scene's, and moving keys so that imported motion keeps its speed in seconds."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np

_NEARLY = 1e-4


def set_rate(scene: bpy.types.Scene, rate: float) -> None:
    """Give the scene any frame rate; nearly whole ones (mocap files have 30.00003) become whole."""
    whole = max(round(rate), 1)
    scene.render.fps = whole
    scene.render.fps_base = 1.0 if abs(rate - whole) <= _NEARLY * rate else whole / rate


def rate(scene: bpy.types.Scene) -> float:
    return scene.render.fps / scene.render.fps_base


@contextmanager
def for_gltf(scene: bpy.types.Scene) -> Iterator[None]:
    """Let Blender's glTF add-on count seconds at the rate of the scene: it multiplies by `fps_base` where Blender
    divides, so that clips at 12.5 or 23.976 frames a second would last too long or too short."""
    base = scene.render.fps_base
    scene.render.fps_base = 1.0 / base
    try:
        yield
    finally:
        scene.render.fps_base = base


def reported(scene: bpy.types.Scene) -> float:
    """The frame rate as users write it: fps_base is a 32-bit float, which 23.976 does not survive to the last digit."""
    return round(rate(scene), 4)


def stretch(factor: float, start: float) -> None:
    """Move every key and pose marker away from frame `start` by `factor`."""
    for action in bpy.data.actions:
        for marker in action.pose_markers:
            marker.frame = round(start + (marker.frame - start) * factor)
    for curve in _curves():
        points = curve.keyframe_points
        for name in ("co", "handle_left", "handle_right"):
            values = np.empty(2 * len(points), dtype=np.float32)
            points.foreach_get(name, values)
            values[::2] = start + (values[::2].astype(float) - start) * factor
            points.foreach_set(name, values)
        curve.update()


def fit_scene(scene: bpy.types.Scene) -> None:
    """Let the scene last as long as what was imported into it."""
    ranges = [action.frame_range for action in bpy.data.actions if action.frame_range[1] > action.frame_range[0]]
    if ranges:
        scene.frame_start = max(int(np.floor(min(first for first, _ in ranges))), 0)
        scene.frame_end = int(np.ceil(max(last for _, last in ranges)))


def _curves() -> Iterator[bpy.types.FCurve]:
    for action in bpy.data.actions:
        for layer in action.layers:
            for strip in layer.strips:
                for bag in strip.channelbags:
                    yield from bag.fcurves
