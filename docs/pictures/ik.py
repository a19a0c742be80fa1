"""Inverse kinematics: a hand is dragged, beside the panel."""

import bpy
import numpy as np
from bpy_extras import view3d_utils
from scene import rig, view
from windowed.hands import VIEWPORT, Hands, Waiting
from windowed.panels import opened
from windowed.scripts import script

HAND = "hand_fk.L"


def _pixel(hands: Hands, point) -> tuple[int, int]:
    region, area = hands.region(VIEWPORT), hands.area("VIEW_3D")
    at = view3d_utils.location_3d_to_region_2d(region, area.spaces.active.region_3d, point)
    return round(region.x + at.x), round(region.y + at.y)


@script(needs=("panels.ik", "operators.ik_drag"))
def ik(hands: Hands) -> Waiting:
    """The hand follows the mouse; the header shows the state of the solver."""
    armature, scene = rig(), bpy.context.scene
    armature.pose.bones["upper_arm_parent.L"]["IK_FK"] = 1.0
    for bone in armature.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name == HAND
    armature.data.bones.active = armature.data.bones[HAND]
    cup = bpy.data.objects.new("Cup", None)
    scene.collection.objects.link(cup)
    cup.location, cup.empty_display_size = (0.35, -0.3, 1.25), 0.05
    scene.lookat_pd_ik.target, scene.lookat_pd_ik.orientation = cup, "KEEP"
    scene.lookat_pd_ik.length = 2
    with opened("ik", alone=False):
        yield from hands.sidebar()
        yield from view(hands, (0.55, 0.0, 1.3), 2.4, (0.42, -1.0, 0.12))
        matrix = armature.matrix_world @ armature.pose.bones[HAND].matrix
        start = _pixel(hands, matrix.translation)
        yield from hands.move(start)
        with hands.override():
            bpy.ops.lookat_pd.ik_drag("INVOKE_DEFAULT", use_active=True)
        yield 0.2
        for part in np.linspace(0.0, 1.0, 6):
            yield from hands.move((round(start[0] + -60 * part), round(start[1] + 130 * part)))
            yield 0.1
        yield 0.4
        area = hands.area("VIEW_3D")
        hands.keep("ik", area.x, area.y, area.width, area.height)
        yield from hands.key("ESC")
