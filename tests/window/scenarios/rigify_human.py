"""The generated Rigify human of some scenarios: its state, and where its head faces."""

import bpy
import numpy as np

from extension import load


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
