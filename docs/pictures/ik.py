"""Inverse kinematics: a hand is dragged, beside the panel."""

import bpy
import numpy as np
from bpy_extras import view3d_utils
from scene import rig, view
from windowed.hands import VIEWPORT, Hands, Waiting
from windowed.panels import opened
from windowed.scripts import script

import extension

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


@script(needs=("panels.ik_ghosts", "operators.ik_drag"))
def ik_ghosts(hands: Hands) -> Waiting:
    """Four solvers compared while the left hand of the Rigify human is dragged."""
    armature, scene = rig(), bpy.context.scene
    armature.pose.bones["upper_arm_parent.L"]["IK_FK"] = 1.0
    armature.data.bones.active = armature.data.bones[HAND]
    settings = scene.lookat_pd_ik
    settings.compare, settings.extent, settings.length, settings.method = True, "LENGTH", 4, "CCD"
    settings.compared = [row.key in "0145" for row in extension.load("lookat_pd.ik.methods").METHODS.values()]
    with opened("ik_compare"):
        yield from hands.sidebar()
        yield from view(hands, (0.5, 0.0, 1.25), 1.6, (0.42, -1.0, 0.12))
        hands.area("VIEW_3D").spaces.active.overlay.show_floor = False
        start = _pixel(hands, (armature.matrix_world @ armature.pose.bones[HAND].matrix).translation)
        yield from hands.move(start)
        with hands.override():
            bpy.ops.lookat_pd.ik_drag("INVOKE_DEFAULT", use_active=True)
        yield 0.2
        for part in np.linspace(0.0, 1.0, 6):
            yield from hands.move((round(start[0] - 120 * part), round(start[1] + 110 * part)))
            yield 0.1
        yield 0.4
        area = hands.area("VIEW_3D")
        hands.keep("ik_ghosts", area.x, area.y, area.width, area.height)
        yield from hands.key("ESC")


@script(needs=("panels.ik", "operators.ik_body"))
def ik_effectors(hands: Hands) -> Waiting:
    """The Rigify human holds a box with both hands, one in IK and one in FK, and looks at it, while its feet stay."""
    armature, scene = rig(), bpy.context.scene
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.mesh.primitive_cube_add(size=0.3, location=(0.05, -0.45, 0.75))
    box = bpy.context.object
    box.name = "Box"
    sides = []
    for side, x in (("Left Side", 0.2), ("Right Side", -0.2)):
        sides.append(bpy.data.objects.new(side, None))
        scene.collection.objects.link(sides[-1])
        sides[-1].empty_display_size = 0.05
        sides[-1].location = (0.05 + x, -0.45, 0.78)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="POSE")
    settings = armature.lookat_pd_ik_body
    targets = {
        "foot_ik.L": None,
        "foot_ik.R": None,
        "hand_ik.L": sides[0],
        "hand_fk.R": sides[1],
        "head": box,
    }
    bpy.ops.pose.select_all(action="DESELECT")
    for name, target in targets.items():
        item = settings.effectors.add()
        item.bone, item.target = name, target
        item.priority = "HIGH" if name.startswith("foot") else "NORMAL"
    item.use_position, item.orientation = False, "AIM"
    settings.effectors_index, settings.balance = 2, 1.0
    armature.data.bones.active = armature.data.bones["hand_ik.L"]
    with opened("ik_body"):
        yield from hands.sidebar()
        with hands.override():
            bpy.ops.lookat_pd.ik_body_bake(use_scene_range=False, frame_start=1, frame_end=10)
        scene.frame_set(5)
        yield from view(hands, (0.35, 0.0, 0.95), 3.4, (0.9, -1.0, 0.2))
        yield 0.4
        area = hands.area("VIEW_3D")
        hands.keep("ik_effectors", area.x, area.y, area.width, area.height)
