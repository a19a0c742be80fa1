"""A hand of the demo's human that rests: fingers a little bent, each more than the one before, and the thumb beside."""

from __future__ import annotations

from math import radians

import bpy
from mathutils import Quaternion, Vector

from .appearance import SKIN
from .geometry import Path, Surface, chain_weights, rigid

# along the hand, half width, half thickness
PALM = (
    (-0.040, 0.017, 0.017),
    (-0.030, 0.022, 0.020),
    (-0.010, 0.026, 0.022),
    (0.008, 0.029, 0.021),
    (0.040, 0.037, 0.020),
    (0.075, 0.042, 0.018),
    (0.104, 0.042, 0.016),
    (0.120, 0.036, 0.011),
)
FINGERS = {"f_index": 0.0108, "f_middle": 0.0112, "f_ring": 0.0108, "f_pinky": 0.0096, "thumb": 0.0130}
"""Radii at the root."""
BENT = {
    "f_index": (-8.0, 4.0, 6.0),
    "f_middle": (-4.0, 6.0, 6.0),
    "f_ring": (0.0, 8.0, 8.0),
    "f_pinky": (4.0, 10.0, 10.0),
    "thumb": (0.0, 0.0, 6.0),
}
"""Degrees by which a resting hand bends the joints of each finger, in addition to those of its bones."""
BESIDE = 0.45
"""How far the thumb lies along the hand: 0 as its bones do, which stand off the palm, 1 all along."""
CLOSED = 0.6
"""How much nearer to each other the fingers are than their bones, which are spread: 0 not, 1 side by side."""
PROFILE = (
    (-0.16, 0.75),
    (0.02, 1.0),
    (0.25, 0.97),
    (0.45, 0.95),
    (0.65, 0.9),
    (0.85, 0.85),
    (0.98, 0.72),
    (1.04, 0.4),
)


def add_hand(surface: Surface, bones: bpy.types.ArmatureBones, side: str) -> None:
    hand = bones[f"DEF-hand.{side}"]
    knuckles = [bones[f"DEF-{finger}.01.{side}"].head_local for finger in FINGERS if finger != "thumb"]
    path = Path((hand.head_local.copy(), sum(knuckles, Vector()) / len(knuckles)))
    across = (knuckles[0] - knuckles[-1]).normalized()
    rings = [path.ring(s, wide, thick, across) for s, wide, thick in PALM]
    surface.loft(rings, 14, SKIN, rigid(hand.name))
    for finger in FINGERS:
        _add_finger(surface, bones, finger, side, across)


def _add_finger(surface: Surface, bones: bpy.types.ArmatureBones, finger: str, side: str, across: Vector) -> None:
    names = [f"DEF-{finger}.0{i}.{side}" for i in (1, 2, 3)]
    path = _resting(bones, names, finger, across)
    total = path.lengths[-1]
    weigh = chain_weights(names, path, [0.012, 0.008, 0.006], before=f"DEF-hand.{side}")
    axis = bones[names[0]].matrix_local.col[0].xyz
    radius = FINGERS[finger]
    surface.loft([path.ring(t * total, r * radius, r * radius, axis) for t, r in PROFILE], 8, SKIN, weigh)


def _resting(bones: bpy.types.ArmatureBones, names: list[str], finger: str, across: Vector) -> Path:
    """Through the joints of a finger as a resting hand bends them."""
    along = bones[names[0].replace(finger, "hand").replace(".01", "")].matrix_local.col[1].xyz
    joints, turned = [bones[names[0]].head_local.copy()], 0.0
    segments = [bones[name].tail_local - bones[name].head_local for name in names]
    # The bones are bent already; the way that they are is the way to go on.
    axis = segments[0].cross(segments[-1]).normalized()
    for segment, angle in zip(segments, BENT[finger], strict=True):
        turned += radians(angle)
        way = segment.lerp(along * segment.length, BESIDE) if finger == "thumb" else _closed(segment, across)
        joints.append(joints[-1] + Quaternion(axis, turned) @ way.normalized() * segment.length)
    return Path(tuple(joints))


def _closed(segment: Vector, across: Vector) -> Vector:
    return segment - across * segment.dot(across) * CLOSED
