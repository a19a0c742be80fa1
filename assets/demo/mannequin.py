"""The body of the demo's human: lofted parts, measured to Rigify's human, skinned to its DEF bones.

The character looks to -Y and its left is +X. Profiles are tables of metres; change them to change the figure.
"""

from __future__ import annotations

from math import cos, radians, sin

import bpy
from mathutils import Matrix, Vector

from .geometry import Path, Ring, Surface, WeightField, chain_weights, ellipsoid_rings, rigid, smoothstep
from .materials import paint

X, Y, Z = Vector((1, 0, 0)), Vector((0, 1, 0)), Vector((0, 0, 1))
SKIN, SHIRT, TROUSERS, DARK = range(4)
SIDES = (("L", 1.0), ("R", -1.0))
HEAD_BONE = "DEF-spine.006"

# height, depth of the middle, half width, half depth
TRUNK = (
    (0.950, 0.020, 0.060, 0.060),
    (0.962, 0.020, 0.112, 0.094),
    (0.985, 0.021, 0.152, 0.113),
    (1.020, 0.021, 0.172, 0.124),
    (1.055, 0.020, 0.177, 0.126),
    (1.058, 0.019, 0.183, 0.131),
    (1.100, 0.016, 0.178, 0.124),
    (1.150, 0.011, 0.164, 0.114),
    (1.210, 0.005, 0.151, 0.106),
    (1.270, 0.000, 0.147, 0.103),
    (1.340, -0.003, 0.154, 0.108),
    (1.410, -0.005, 0.168, 0.116),
    (1.480, -0.004, 0.180, 0.118),
    (1.535, 0.002, 0.190, 0.110),
    (1.573, 0.008, 0.192, 0.097),
    (1.601, 0.012, 0.184, 0.085),
    (1.623, 0.014, 0.160, 0.074),
    (1.640, 0.013, 0.122, 0.068),
    (1.653, 0.011, 0.086, 0.066),
    (1.662, 0.009, 0.060, 0.060),
)
SHIRT_FROM_BAND = 4

# height, depth of the middle, half width, half depth
HEAD = (
    (1.735, -0.106, 0.014, 0.016),
    (1.739, -0.104, 0.032, 0.032),
    (1.750, -0.096, 0.050, 0.050),
    (1.769, -0.079, 0.065, 0.071),
    (1.795, -0.061, 0.078, 0.090),
    (1.827, -0.047, 0.087, 0.106),
    (1.862, -0.038, 0.093, 0.116),
    (1.898, -0.031, 0.097, 0.122),
    (1.934, -0.026, 0.096, 0.121),
    (1.968, -0.021, 0.089, 0.112),
    (1.995, -0.017, 0.074, 0.093),
    (2.013, -0.015, 0.050, 0.064),
    (2.021, -0.015, 0.022, 0.030),
)

# along the limb from its first joint, half width, half depth
SLEEVE = (
    (-0.050, 0.012, 0.014),
    (-0.036, 0.026, 0.028),
    (-0.015, 0.040, 0.042),
    (0.015, 0.053, 0.056),
    (0.055, 0.059, 0.064),
    (0.105, 0.058, 0.063),
    (0.150, 0.056, 0.060),
    (0.172, 0.057, 0.060),
    (0.173, 0.042, 0.045),
)
ARM = (
    (0.140, 0.042, 0.045),
    (0.200, 0.043, 0.046),
    (0.250, 0.040, 0.042),
    (0.288, 0.038, 0.040),
    (0.330, 0.041, 0.042),
    (0.380, 0.040, 0.041),
    (0.440, 0.034, 0.036),
    (0.500, 0.028, 0.030),
    (0.545, 0.024, 0.028),
    (0.560, 0.023, 0.027),
)
LEG = (
    (-0.050, 0.036, 0.044),
    (-0.020, 0.064, 0.076),
    (0.040, 0.087, 0.101),
    (0.120, 0.090, 0.104),
    (0.220, 0.081, 0.092),
    (0.340, 0.071, 0.078),
    (0.450, 0.063, 0.067),
    (0.536, 0.059, 0.062),
    (0.620, 0.059, 0.064),
    (0.700, 0.059, 0.066),
    (0.800, 0.055, 0.060),
    (0.890, 0.052, 0.055),
    (0.945, 0.052, 0.055),
    (0.946, 0.040, 0.042),
)
# depth, half width, height of the middle, half height
SHOE = (
    (0.074, 0.012, 0.034, 0.018),
    (0.068, 0.024, 0.037, 0.030),
    (0.050, 0.034, 0.043, 0.042),
    (0.010, 0.038, 0.049, 0.049),
    (-0.040, 0.040, 0.043, 0.043),
    (-0.090, 0.046, 0.033, 0.033),
    (-0.130, 0.046, 0.028, 0.028),
    (-0.165, 0.036, 0.024, 0.023),
    (-0.186, 0.018, 0.021, 0.015),
)
# along the hand, half width, half thickness
PALM = (
    (-0.022, 0.025, 0.022),
    (0.005, 0.029, 0.020),
    (0.040, 0.037, 0.019),
    (0.075, 0.042, 0.017),
    (0.104, 0.042, 0.014),
    (0.118, 0.034, 0.009),
)
EYE_RADIUS, EYE_SHIFT = 0.027, Vector((0.0, 0.001, 0.0))
FINGERS = {"f_index": 0.0105, "f_middle": 0.0110, "f_ring": 0.0105, "f_pinky": 0.0092, "thumb": 0.0125}


def build_body(rig: bpy.types.Object, collection: bpy.types.Collection) -> bpy.types.Object:
    """The skinned mesh, as a child of `rig` in `collection`."""
    surface = Surface()
    bones = rig.data.bones
    _add_trunk(surface, bones)
    _add_head(surface, bones)
    for side, sign in SIDES:
        _add_arm(surface, bones, side)
        _add_hand(surface, bones, side)
        _add_leg(surface, bones, side)
        _add_shoe(surface, bones, side, sign)
    materials = [paint("Skin"), paint("Shirt"), paint("Trousers"), paint("Dark")]
    body = bpy.data.objects.new(f"{rig.name} Body", surface.to_mesh(f"{rig.name} Body", materials))
    collection.objects.link(body)
    surface.write_weights(body)
    body.parent = rig
    modifier = body.modifiers.new("Armature", "ARMATURE")
    modifier.object = rig
    return body


def build_eyes(rig: bpy.types.Object, collection: bpy.types.Collection) -> list[bpy.types.Object]:
    """Two eyeballs on the rig's eye bones, so that Rigify's eye controls turn them."""
    return [_build_eye(rig, collection, side) for side, _sign in SIDES]


def _build_eye(rig: bpy.types.Object, collection: bpy.types.Collection, side: str) -> bpy.types.Object:
    bone = rig.data.bones[f"ORG-eye.{side}"]
    radius, pupil_bands, iris_bands = EYE_RADIUS, 2, 4
    center = bone.head_local + EYE_SHIFT
    surface = Surface()
    rings = ellipsoid_rings(center, -Y * radius, X * radius, Z * radius, 21)
    bands = {band: 2 if band < pupil_bands else 1 for band in range(iris_bands)}
    surface.loft(rings, 18, lambda band: bands.get(band, 0), rigid(bone.name))
    name = f"{rig.name} Eye.{side}"
    eye = bpy.data.objects.new(name, surface.to_mesh(name, [paint("Eye White"), paint("Iris"), paint("Dark")]))
    collection.objects.link(eye)
    eye.parent, eye.parent_type, eye.parent_bone = rig, "BONE", bone.name
    # Bone children hang from the tail; the mesh is in the armature's space.
    eye.matrix_parent_inverse = (bone.matrix_local @ Matrix.Translation((0.0, bone.length, 0.0))).inverted()
    return eye


def _path(bones: bpy.types.ArmatureBones, names: list[str]) -> Path:
    return Path((*(bones[name].head_local.copy() for name in names), bones[names[-1]].tail_local.copy()))


def _add_trunk(surface: Surface, bones: bpy.types.ArmatureBones) -> None:
    names = ["DEF-spine", "DEF-spine.001", "DEF-spine.002", "DEF-spine.003"]
    spine = chain_weights(names, _path(bones, names), [0.05, 0.05, 0.06, 0.06])

    def weigh(point: Vector) -> dict[str, float]:
        shoulder = 0.75 * smoothstep(0.07, 0.17, abs(point.x)) * smoothstep(1.49, 1.60, point.z)
        weights = {bone: weight * (1.0 - shoulder) for bone, weight in spine(point).items()}
        weights["DEF-shoulder.L" if point.x > 0.0 else "DEF-shoulder.R"] = shoulder
        return weights

    rings = [Ring(Vector((0, y, z)), X * wide, Y * deep, 2.4) for z, y, wide, deep in TRUNK]
    surface.loft(rings, 32, lambda band: SHIRT if band >= SHIRT_FROM_BAND else TROUSERS, weigh)
    names = ["DEF-spine.004", "DEF-spine.005"]
    path = _path(bones, names)
    neck = chain_weights(
        [*names, HEAD_BONE],
        Path((*path.joints, bones[HEAD_BONE].tail_local.copy())),
        [0.03, 0.03, 0.03],
        before="DEF-spine.003",
    )
    profile = ((-0.04, 0.062), (0.0, 0.056), (0.03, 0.052), (0.06, 0.050), (0.09, 0.050), (0.13, 0.052), (0.16, 0.050))
    surface.loft([path.ring(s, r, r * 1.05, X) for s, r in profile], 18, SKIN, neck)


def _add_head(surface: Surface, bones: bpy.types.ArmatureBones) -> None:
    weigh = rigid(HEAD_BONE)
    rings = [Ring(Vector((0, y, z)), X * wide, Y * deep, 2.15) for z, y, wide, deep in HEAD]
    surface.loft(rings, 32, SKIN, weigh)
    _add_nose(surface, weigh)
    _add_hair(surface, weigh)
    mouth = [(-0.027, -0.139, 1.7895), (-0.013, -0.1475, 1.786), (0.013, -0.1475, 1.786), (0.027, -0.139, 1.7895)]
    _add_stroke(surface, mouth, 0.0038, DARK, weigh)
    for side, sign in SIDES:
        eye = bones[f"ORG-eye.{side}"].head_local
        brow = [(-0.026, -0.027, 0.037), (-0.005, -0.0255, 0.044), (0.014, -0.012, 0.043), (0.027, 0.006, 0.036)]
        _add_stroke(surface, [(eye.x + sign * x, eye.y + y, eye.z + z) for x, y, z in brow], 0.0052, DARK, weigh)
        lid = f"DEF-upper_lid.{side}"
        _add_eyelid(surface, eye + EYE_SHIFT, sign, rigid(lid) if lid in bones else weigh)
        ear = Vector((sign * 0.098, -0.022, 1.872))
        surface.loft(ellipsoid_rings(ear, Z * 0.033, X * 0.011, Y * 0.021, 7), 10, SKIN, weigh)


def _add_eyelid(surface: Surface, center: Vector, sign: float, weigh: WeightField) -> None:
    """The upper lid, a cap over the eyeball that hangs a little lower on the outside."""
    radius = EYE_RADIUS * 1.07
    pole = Vector((-0.12 * sign, 0.30, 1.0)).normalized()
    u = X.cross(pole).normalized()
    surface.loft(
        ellipsoid_rings(center, pole * radius, u * radius, pole.cross(u) * radius, 9, last=0.46), 18, SKIN, weigh
    )


def _add_nose(surface: Surface, weigh: WeightField) -> None:
    profile = (
        (1.902, -0.143, 0.008, 0.010),
        (1.886, -0.150, 0.010, 0.013),
        (1.866, -0.157, 0.013, 0.018),
        (1.850, -0.162, 0.017, 0.024),
        (1.838, -0.159, 0.018, 0.024),
        (1.829, -0.152, 0.011, 0.016),
    )
    surface.loft([Ring(Vector((0, y, z)), X * wide, Y * deep) for z, y, wide, deep in profile], 14, SKIN, weigh)


def _add_hair(surface: Surface, weigh: WeightField) -> None:
    """A cap about an axis that leans back: high over the forehead, down to the nape."""
    lean = radians(36.0)
    center, radii = Vector((0, -0.018, 1.912)), Vector((0.109, 0.133, 0.121))
    axis, front = Vector((0, sin(lean), cos(lean))), Vector((0, -cos(lean), sin(lean)))
    rings = []
    for polar in (3, 12, 24, 36, 48, 60, 72, 84, 94, 97):
        angle, shrink = radians(polar), 0.86 if polar == 97 else 1.0
        scaled = [Vector(a * b * shrink for a, b in zip(v, radii, strict=True)) for v in (axis, X, front)]
        rings.append(Ring(center + scaled[0] * cos(angle), scaled[1] * sin(angle), scaled[2] * sin(angle)))
    surface.loft(rings, 28, DARK, weigh)


def _add_stroke(
    surface: Surface, points: list[tuple[float, ...]], radius: float, material: int, weigh: WeightField
) -> None:
    path = Path(tuple(Vector(p) for p in points))
    total = path.lengths[-1]
    profile = [(-0.3, 0.3), (0.0, 0.7), (0.15, 0.9), (0.35, 1.0), (0.5, 1.0), (0.65, 1.0), (0.85, 0.9), (1.0, 0.7)]
    stations = [(t * total if t > 0 else t * radius, r * radius) for t, r in profile]
    surface.loft([path.ring(s, r, r, Z) for s, r in stations], 8, material, weigh)


def _add_arm(surface: Surface, bones: bpy.types.ArmatureBones, side: str) -> None:
    names = [f"DEF-{bone}.{side}{part}" for bone in ("upper_arm", "forearm") for part in ("", ".001")]
    path = _path(bones, names)
    across = bones[names[0]].matrix_local.col[2].xyz
    weigh = chain_weights(names, path, [0.05, 0.02, 0.03, 0.02], before=f"DEF-shoulder.{side}")
    surface.loft([path.ring(s, wide, deep, across) for s, wide, deep in SLEEVE], 18, SHIRT, weigh)
    surface.loft([path.ring(s, wide, deep, across) for s, wide, deep in ARM], 16, SKIN, weigh)


def _add_hand(surface: Surface, bones: bpy.types.ArmatureBones, side: str) -> None:
    hand = bones[f"DEF-hand.{side}"]
    knuckles = [bones[f"DEF-{finger}.01.{side}"].head_local for finger in FINGERS if finger != "thumb"]
    path = Path((hand.head_local.copy(), sum(knuckles, Vector()) / len(knuckles)))
    across = knuckles[0] - knuckles[-1]
    rings = [path.ring(s, wide, thick, across) for s, wide, thick in PALM]
    surface.loft(rings, 14, SKIN, rigid(hand.name))
    for finger, radius in FINGERS.items():
        _add_finger(surface, bones, finger, side, radius)


def _add_finger(surface: Surface, bones: bpy.types.ArmatureBones, finger: str, side: str, radius: float) -> None:
    names = [f"DEF-{finger}.0{i}.{side}" for i in (1, 2, 3)]
    path = _path(bones, names)
    total = path.lengths[-1]
    weigh = chain_weights(names, path, [0.012, 0.008, 0.006], before=f"DEF-hand.{side}")
    profile = (
        (-0.3, 1.0),
        (0.05, 1.0),
        (0.25, 0.97),
        (0.45, 0.95),
        (0.65, 0.9),
        (0.85, 0.85),
        (0.98, 0.72),
        (1.04, 0.4),
    )
    across = bones[names[0]].matrix_local.col[0].xyz
    surface.loft([path.ring(t * total, r * radius, r * radius, across) for t, r in profile], 8, SKIN, weigh)


def _add_leg(surface: Surface, bones: bpy.types.ArmatureBones, side: str) -> None:
    names = [f"DEF-{bone}.{side}{part}" for bone in ("thigh", "shin") for part in ("", ".001")]
    path = _path(bones, names)
    weigh = chain_weights(names, path, [0.05, 0.02, 0.04, 0.02], before="DEF-spine")
    surface.loft([path.ring(s, wide, deep, X) for s, wide, deep in LEG], 18, TROUSERS, weigh)


def _add_shoe(surface: Surface, bones: bpy.types.ArmatureBones, side: str, sign: float) -> None:
    foot, toe = f"DEF-foot.{side}", f"DEF-toe.{side}"
    x, ball = bones[foot].head_local.x, bones[toe].head_local.y

    def weigh(point: Vector) -> dict[str, float]:
        share = smoothstep(ball + 0.015, ball - 0.015, point.y)
        return {foot: 1.0 - share, toe: share}

    bend = {True: 0.0, False: 0.006 * sign}  # the toes point a little inward
    rings = [Ring(Vector((x - bend[y > ball], y, z)), X * wide, Z * high, 2.6) for y, wide, z, high in SHOE]
    surface.loft(rings, 18, DARK, weigh)
    ankle = bones[foot].head_local.y
    collar = ((0.050, 0.040), (0.085, 0.041), (0.115, 0.041), (0.135, 0.040))
    surface.loft([Ring(Vector((x, ankle + 0.004, z)), X * r, Y * r * 1.15) for z, r in collar], 14, DARK, rigid(foot))
