"""The head of the demo's human: face, eyes with lids that turn with their bones, brows, and hair.

The character looks to -Y and its left is +X. Profiles are tables of metres; change them to change the face.
"""

from __future__ import annotations

from itertools import pairwise
from math import cos, radians, sin

import bpy
from mathutils import Matrix, Quaternion, Vector

from .appearance import DARK, HAIR, LIDS, LIPS, SKIN, Appearance
from .geometry import SIDES, Path, Ring, Surface, WeightField, X, Y, Z, ellipsoid_rings, rigid
from .materials import paint

BONE = "DEF-spine.006"

# height, depth of the middle, half width, half depth
HEAD = (
    (1.733, -0.106, 0.016, 0.016),
    (1.737, -0.104, 0.036, 0.034),
    (1.748, -0.096, 0.055, 0.053),
    (1.767, -0.080, 0.070, 0.074),
    (1.795, -0.061, 0.083, 0.093),
    (1.827, -0.047, 0.093, 0.108),
    (1.862, -0.038, 0.100, 0.116),
    (1.898, -0.031, 0.104, 0.121),
    (1.934, -0.026, 0.103, 0.121),
    (1.968, -0.021, 0.095, 0.113),
    (1.995, -0.017, 0.079, 0.094),
    (2.013, -0.015, 0.053, 0.065),
    (2.021, -0.015, 0.023, 0.030),
)
SQUARENESS = 2.2
# height, depth of the middle, half width, half depth
NOSE = (
    (1.897, -0.146, 0.009, 0.008),
    (1.884, -0.150, 0.011, 0.013),
    (1.868, -0.155, 0.014, 0.018),
    (1.854, -0.160, 0.019, 0.023),
    (1.844, -0.160, 0.022, 0.025),
    (1.835, -0.156, 0.019, 0.022),
    (1.829, -0.150, 0.011, 0.014),
)
MOUTH = (-0.036, 1.7925), (-0.020, 1.7860), (0.0, 1.7845), (0.020, 1.7860), (0.036, 1.7925)
BROW = (-0.030, 0.043), (-0.010, 0.050), (0.012, 0.050), (0.033, 0.040)
"""Sideways and up, away from the middle of the eye; the first are at the nose."""
EYE_RADIUS = 0.034
# angle off the line of sight [degrees]: up to there it is of that material of the eye
PUPIL, IRIS, RIM = 13.0, 25.0, 29.0
EYE_WHITE, EYE_IRIS, EYE_PUPIL, EYE_RIM, EYE_GLINT = range(5)
GLINT = Vector((0.20, -1.0, 0.24))
"""From the middle of an eye towards the light that it reflects."""
LOCKS = (
    ((0.018, -0.088, 1.996), (0.040, 0.098, 0.066), 14.0),
    ((-0.058, -0.070, 1.990), (0.040, 0.058, 0.070), -32.0),
)
"""Of the fringe: the middle, half height, half width, half depth, and how far it leans to its left [degrees]."""
UPPER_LID, LOWER_LID = 31.0, -22.0
"""Angles by which the lids are open at rest [degrees]; both reach from corner to corner."""
SHUT = radians(UPPER_LID - LOWER_LID)
"""Angle by which the upper lid turns to close the eye."""


def build_eyes(rig: bpy.types.Object, collection: bpy.types.Collection) -> list[bpy.types.Object]:
    """Two eyeballs on the rig's eye bones, so that Rigify's eye controls turn them."""
    return [_build_eye(rig, collection, side) for side, _sign in SIDES]


def _build_eye(rig: bpy.types.Object, collection: bpy.types.Collection, side: str) -> bpy.types.Object:
    bone = rig.data.bones[f"ORG-eye.{side}"]
    center = bone.head_local
    surface = Surface()
    edges = (2.0, 7.0, PUPIL, 0.5 * (PUPIL + IRIS), IRIS, RIM, *range(38, 171, 12))

    def material(band: int) -> int:
        angle = edges[band + 1]
        limits = (PUPIL, EYE_PUPIL), (IRIS, EYE_IRIS), (RIM, EYE_RIM)
        return next((found for limit, found in limits if angle <= limit), EYE_WHITE)

    rings = [
        Ring(center - Y * EYE_RADIUS * cos(a), X * EYE_RADIUS * sin(a), Z * EYE_RADIUS * sin(a))
        for a in map(radians, edges)
    ]
    surface.loft(rings, 20, material, rigid(bone.name))
    spot, size = center + GLINT.normalized() * EYE_RADIUS, 0.0042
    surface.loft(ellipsoid_rings(spot, Z * size, X * size, Y * 0.3 * size, 5), 8, EYE_GLINT, rigid(bone.name))
    name = f"{rig.name} Eye.{side}"
    paints = [paint(each) for each in ("Eye White", "Iris", "Pupil", "Iris Rim", "Glint")]
    eye = bpy.data.objects.new(name, surface.to_mesh(name, paints))
    collection.objects.link(eye)
    eye.parent, eye.parent_type, eye.parent_bone = rig, "BONE", bone.name
    # Bone children hang from the tail; the mesh is in the armature's space.
    eye.matrix_parent_inverse = (bone.matrix_local @ Matrix.Translation((0.0, bone.length, 0.0))).inverted()
    return eye


def add_head(surface: Surface, bones: bpy.types.ArmatureBones, appearance: Appearance) -> None:
    weigh = rigid(BONE)
    rings = [Ring(Vector((0, y, z)), X * wide, Y * deep, SQUARENESS) for z, y, wide, deep in HEAD]
    surface.loft(rings, 32, SKIN, weigh)
    nose = [Ring(Vector((0, y, z)), X * wide, Y * deep) for z, y, wide, deep in NOSE]
    surface.loft(nose, 16, SKIN, weigh)
    _add_stroke(surface, [(x, face(x, z), z) for x, z in MOUTH], 0.0052, LIPS, weigh)
    for side, sign in SIDES:
        eye = bones[f"ORG-eye.{side}"].head_local
        brow = [(eye.x + sign * x, face(eye.x + sign * x, eye.z + z) - 0.003, eye.z + z) for x, z in BROW]
        _add_stroke(surface, brow, 0.0070, HAIR, weigh)
        lid = f"DEF-upper_lid.{side}"
        _add_lids(surface, eye, rigid(lid) if lid in bones else weigh, weigh)
        ear = Vector((sign * 0.104, -0.020, 1.868))
        surface.loft(ellipsoid_rings(ear, Z * 0.034, X * 0.012, Y * 0.022, 7), 10, SKIN, weigh)
    _add_hair(surface, weigh)
    if appearance.bun:
        bun = Vector((0.0, 0.135, 1.945))
        surface.loft(ellipsoid_rings(bun, Z * 0.050, X * 0.056, Y * 0.046, 11), 16, HAIR, weigh)


def face(x: float, z: float) -> float:
    """How far in front the skin of the face is there, without the nose."""
    for low, high in pairwise(HEAD):
        if low[0] <= z <= high[0]:
            share = (z - low[0]) / (high[0] - low[0])
            middle, wide, deep = (a + share * (b - a) for a, b in zip(low[1:], high[1:], strict=True))
            return middle - deep * (1.0 - min(1.0, abs(x) / wide) ** SQUARENESS) ** (1.0 / SQUARENESS)
    raise ValueError(f"The head has no height of {z} m")


def _add_lids(surface: Surface, center: Vector, moving: WeightField, still: WeightField) -> None:
    """Two half shells over the eyeball with a common hinge from corner to corner, and lashes at the edge of the upper
    one, so that the eye reads when it is small."""
    lids = (UPPER_LID, 1.0, 1.09, LIDS, moving), (LOWER_LID, -1.0, 1.04, SKIN, still)
    for angle, up, radius, material, weigh in lids:
        a = radians(angle)
        pole = up * Vector((0.0, sin(a), cos(a)))
        u = up * X
        v = pole.cross(u)
        size = EYE_RADIUS * radius
        surface.loft(ellipsoid_rings(center, pole * size, u * size, v * size, 9, last=0.5), 22, material, weigh)
        if up > 0.0:
            size *= 1.03
            rings = ellipsoid_rings(center, pole * size, u * size, v * size, 3, first=0.474, last=0.512)
            surface.loft(rings, 22, DARK, weigh)


def _add_hair(surface: Surface, weigh: WeightField) -> None:
    """A cap about an axis that leans back, high over the forehead and down to the nape, and a fringe to one side."""
    lean = radians(34.0)
    center, radii = Vector((0, -0.016, 1.908)), Vector((0.117, 0.136, 0.129))
    axis, front = Vector((0, sin(lean), cos(lean))), Vector((0, -cos(lean), sin(lean)))
    rings = []
    for polar in (3, 12, 24, 36, 48, 60, 72, 84, 94, 97):
        angle, shrink = radians(polar), 0.86 if polar == 97 else 1.0
        scaled = [Vector(a * b * shrink for a, b in zip(v, radii, strict=True)) for v in (axis, X, front)]
        rings.append(Ring(center + scaled[0] * cos(angle), scaled[1] * sin(angle), scaled[2] * sin(angle)))
    surface.loft(rings, 28, HAIR, weigh)
    for middle, radii, turn in LOCKS:
        axes = [Quaternion(Y, radians(turn)) @ axis * radius for axis, radius in zip((Z, X, Y), radii, strict=True)]
        surface.loft(ellipsoid_rings(Vector(middle), *axes, 11), 18, HAIR, weigh)


def _add_stroke(
    surface: Surface, points: list[tuple[float, ...]], radius: float, material: int, weigh: WeightField
) -> None:
    path = Path(tuple(Vector(p) for p in points))
    total = path.lengths[-1]
    profile = [(-0.3, 0.3), (0.0, 0.7), (0.15, 0.9), (0.35, 1.0), (0.5, 1.0), (0.65, 1.0), (0.85, 0.9), (1.0, 0.7)]
    stations = [(t * total if t > 0 else t * radius, r * radius) for t, r in profile]
    surface.loft([path.ring(s, r, r, Z) for s, r in stations], 8, material, weigh)
