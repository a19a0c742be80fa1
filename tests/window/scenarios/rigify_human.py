"""The generated Rigify human of some scenarios: its state, and where its head faces."""

import tempfile
from functools import cache
from pathlib import Path

import bpy
import numpy as np

from extension import load

_NAME = "Look-at Demo"
_OBJECTS = ("Human", "Ball", "Bird")


@cache
def _library() -> str:
    """A file with the scene of the demo, generated once: that takes 8 s of the processor, and to append it 0.1 s."""
    before = set(bpy.data.user_map())
    demo = load("assets.demo.human").build_scene(bpy.data.scenes.new(_NAME))
    # Blender removes its own temporary folder when it ends.
    path = Path(tempfile.mkdtemp(dir=bpy.app.tempdir), "human.blend")
    bpy.data.libraries.write(str(path), {demo.scene})
    bpy.data.batch_remove(set(bpy.data.user_map()) - before)
    return str(path)


def build_scene():
    """The `Demo` of `assets.demo.human` in a new scene of the file that is open."""
    with bpy.data.libraries.load(_library()) as (_, into):
        into.scenes = [_NAME]
    (made,) = into.scenes
    # A ball of the file's own may have that name.
    rig, ball, bird = (next(item for item in made.objects if item.name.partition(".")[0] == name) for name in _OBJECTS)
    return load("assets.demo.human").Demo(made, rig, rig.animation_data.action, ball, bird, made.camera)


def scene() -> bpy.types.Scene:
    return bpy.context.window_manager.windows[0].scene


def human() -> bpy.types.Object:
    return bpy.data.objects["Human"]


def state() -> str:
    """Of the look-at of its head."""
    return load("rig.layers.live").status(scene(), human(), "head").state


def facing() -> np.ndarray:
    """Axes (3, 3) of the head, as Blender evaluates it."""
    layer = bpy.context.window_manager.windows[0].view_layer
    return np.array(human().evaluated_get(layer.depsgraph).pose.bones["head"].matrix)[:3, :3]


def turned(one: np.ndarray, other: np.ndarray) -> float:
    """How far apart such axes are [degrees]."""
    return float(np.degrees(np.linalg.norm(one - other) / np.sqrt(2.0)))
