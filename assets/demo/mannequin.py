"""The body of the demo's human: lofted parts, measured to Rigify's human, skinned to its DEF bones.

The character looks to -Y and its left is +X. Profiles are tables of metres; change them to change the figure.
"""

from __future__ import annotations

import bpy
from mathutils import Vector

from . import appearance, head
from .appearance import SHIRT, SHOES, SKIN, TROUSERS
from .geometry import SIDES, Path, Ring, Surface, X, Y, Z, chain_weights, rigid, smoothstep
from .hand import add_hand

# height, depth of the middle, half width, half depth
TRUNK = (
    (0.950, 0.020, 0.060, 0.060),
    (0.962, 0.020, 0.112, 0.094),
    (0.985, 0.021, 0.152, 0.113),
    (1.008, 0.021, 0.172, 0.124),
    (1.018, 0.020, 0.193, 0.144),
    (1.030, 0.020, 0.193, 0.144),
    (1.060, 0.019, 0.189, 0.139),
    (1.100, 0.016, 0.181, 0.130),
    (1.150, 0.011, 0.171, 0.120),
    (1.210, 0.005, 0.162, 0.113),
    (1.270, 0.000, 0.159, 0.110),
    (1.340, -0.003, 0.163, 0.113),
    (1.410, -0.005, 0.171, 0.118),
    (1.480, -0.004, 0.184, 0.120),
    (1.535, 0.002, 0.196, 0.112),
    (1.573, 0.008, 0.204, 0.098),
    (1.601, 0.012, 0.203, 0.087),
    (1.623, 0.014, 0.186, 0.077),
    (1.640, 0.013, 0.150, 0.070),
    (1.655, 0.011, 0.100, 0.066),
    (1.665, 0.009, 0.066, 0.064),
)
SHIRT_FROM_BAND = 3

# along the limb from its first joint, half width, half depth
SLEEVE = (
    (-0.062, 0.010, 0.012),
    (-0.050, 0.022, 0.026),
    (-0.030, 0.034, 0.040),
    (0.000, 0.044, 0.050),
    (0.045, 0.050, 0.057),
    (0.100, 0.053, 0.058),
    (0.155, 0.055, 0.059),
    (0.195, 0.057, 0.060),
    (0.196, 0.042, 0.045),
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
    (0.562, 0.022, 0.025),
    (0.572, 0.018, 0.020),
)
LEG = (
    (-0.050, 0.036, 0.044),
    (-0.020, 0.060, 0.070),
    (0.040, 0.082, 0.092),
    (0.120, 0.088, 0.100),
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


def build_body(rig: bpy.types.Object, collection: bpy.types.Collection) -> bpy.types.Object:
    """The skinned mesh, as a child of `rig` in `collection`."""
    surface = Surface()
    bones, worn = rig.data.bones, appearance.of(rig.name)
    _add_trunk(surface, bones)
    head.add_head(surface, bones, worn)
    for side, sign in SIDES:
        _add_arm(surface, bones, side)
        add_hand(surface, bones, side)
        _add_leg(surface, bones, side)
        _add_shoe(surface, bones, side, sign)
    body = bpy.data.objects.new(f"{rig.name} Body", surface.to_mesh(f"{rig.name} Body", worn.paints()))
    collection.objects.link(body)
    surface.write_weights(body)
    body.parent = rig
    modifier = body.modifiers.new("Armature", "ARMATURE")
    modifier.object = rig
    return body


def _path(bones: bpy.types.ArmatureBones, names: list[str]) -> Path:
    return Path((*(bones[name].head_local.copy() for name in names), bones[names[-1]].tail_local.copy()))


def _add_trunk(surface: Surface, bones: bpy.types.ArmatureBones) -> None:
    names = ["DEF-spine", "DEF-spine.001", "DEF-spine.002", "DEF-spine.003"]
    spine = chain_weights(names, _path(bones, names), [0.05, 0.05, 0.06, 0.06])

    def weigh(point: Vector) -> dict[str, float]:
        shoulder = 0.75 * smoothstep(0.07, 0.17, abs(point.x)) * smoothstep(1.49, 1.60, point.z)
        weights = {bone: weight * (1.0 - shoulder) for bone, weight in spine(point).items()}
        weights["DEF-shoulder.L" if point.x > 0.0 else "DEF-shoulder.R"] = shoulder
        hem, left = 0.49 * smoothstep(1.12, 1.02, point.z), smoothstep(-0.07, 0.07, point.x)
        weights = {bone: weight * (1.0 - hem) for bone, weight in weights.items()}
        return weights | {"DEF-thigh.L": hem * left, "DEF-thigh.R": hem * (1.0 - left)}

    rings = [Ring(Vector((0, y, z)), X * wide, Y * deep, 2.4) for z, y, wide, deep in TRUNK]
    surface.loft(rings, 32, lambda band: SHIRT if band >= SHIRT_FROM_BAND else TROUSERS, weigh)
    names = ["DEF-spine.004", "DEF-spine.005"]
    path = _path(bones, names)
    neck = chain_weights(
        [*names, head.BONE],
        Path((*path.joints, bones[head.BONE].tail_local.copy())),
        [0.03, 0.03, 0.03],
        before="DEF-spine.003",
    )
    profile = ((-0.04, 0.062), (0.0, 0.056), (0.03, 0.052), (0.06, 0.050), (0.09, 0.050), (0.13, 0.052), (0.16, 0.050))
    surface.loft([path.ring(s, r, r * 1.05, X) for s, r in profile], 18, SKIN, neck)


def _add_arm(surface: Surface, bones: bpy.types.ArmatureBones, side: str) -> None:
    names = [f"DEF-{bone}.{side}{part}" for bone in ("upper_arm", "forearm") for part in ("", ".001")]
    path = _path(bones, names)
    across = bones[names[0]].matrix_local.col[2].xyz
    weigh = chain_weights(names, path, [0.05, 0.02, 0.03, 0.02], before=f"DEF-shoulder.{side}")
    surface.loft([path.ring(s, wide, deep, across) for s, wide, deep in SLEEVE], 18, SHIRT, weigh)
    surface.loft([path.ring(s, wide, deep, across) for s, wide, deep in ARM], 16, SKIN, weigh)


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
    surface.loft(rings, 18, SHOES, weigh)
    ankle = bones[foot].head_local.y
    collar = ((0.050, 0.040), (0.085, 0.041), (0.115, 0.041), (0.135, 0.040))
    surface.loft([Ring(Vector((x, ankle + 0.004, z)), X * r, Y * r * 1.15) for z, r in collar], 14, SHOES, rigid(foot))
