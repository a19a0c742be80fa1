"""A figure with a tail and a strand of hair, and what is seen of them."""

from collections.abc import Iterable

import bpy
import numpy as np

from extension import load

from .. import scenes

springs_edit = load("rig.springs.springs_edit")
live = load("rig.layers.live")
LAST = 48
FRAMES = range(1, LAST + 1)
TAIL = ("tail.001", "tail.002", "tail.003", "tail.004")
HAIR = ("hair.001", "hair.002")
ROWS = (
    *scenes.FIGURE,
    ("tail.001", "hips", (0.0, 0.1, 1.0), (0.0, 0.25, 1.0)),
    ("tail.002", "tail.001", (0.0, 0.25, 1.0), (0.0, 0.4, 1.0)),
    ("tail.003", "tail.002", (0.0, 0.4, 1.0), (0.0, 0.55, 1.0)),
    ("tail.004", "tail.003", (0.0, 0.55, 1.0), (0.0, 0.7, 1.0)),
    ("hair.001", "head", (0.0, 0.1, 1.75), (0.0, 0.14, 1.6)),
    ("hair.002", "hair.001", (0.0, 0.14, 1.6), (0.0, 0.14, 1.45)),
)


def animal() -> bpy.types.Object:
    """It turns on the spot within half a second, and stands."""
    bpy.context.scene.frame_end = LAST
    armature = scenes.figure(rows=ROWS)
    hips = armature.pose.bones["hips"]
    hips.rotation_mode = "XYZ"
    scenes.keyed(hips, "rotation_euler", [(6, (0.0, 0.0, 0.0)), (18, (0.0, 1.2, 0.0))])
    scenes.goto(1)
    return armature


def swing(armature: bpy.types.Object, *every: Iterable[str], **settings: float) -> list:
    """Springs on chains of bones."""
    found = springs_edit.add(armature, [list(bones) for bones in every or (TAIL,)])
    for chain in found:
        for name, value in settings.items():
            setattr(chain.settings, name, value)
    return found


def seen(armature: bpy.types.Object, bones: Iterable[str] = TAIL, frames: Iterable[float] = FRAMES) -> np.ndarray:
    """(F, b, 4, 4) matrices of bones in the armature."""
    return scenes.poses(armature, frames, tuple(bones))


def bends(found: np.ndarray) -> np.ndarray:
    """(F, b) angles [rad] about Z of bones with these matrices."""
    return np.arctan2(found[..., 0, 1], found[..., 1, 1])
