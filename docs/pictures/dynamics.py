"""Dynamics: what a human weighs, beside the panel."""

import bpy
import numpy as np
from scene import keep_viewport, rest, rig, view
from windowed.hands import Hands, Waiting
from windowed.panels import opened
from windowed.scripts import script

import extension

ARM = ("upper_arm_fk.L", "forearm_fk.L", "hand_fk.L")

FRAMES, APART = (1, 14, 27, 58), 1.3
"""Frames of the figure with the box that are beside each other, and how far apart [m]."""


@script(needs=("panels.dynamics",))
def dynamics(hands: Hands) -> Waiting:
    """The arm is selected; ellipsoids are drawn around all bones that weigh something."""
    armature, scene = rig(), bpy.context.scene
    armature.pose.bones["upper_arm_parent.L"]["IK_FK"] = 1.0
    for bone in armature.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name in ARM
    armature.data.bones.active = armature.data.bones[ARM[0]]
    for bone in ARM:
        for frame in (1, 24):
            armature.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame)
    scene.lookat_pd_dynamics.show_masses = True
    with opened("dynamics", "dynamics_body"):
        yield from hands.sidebar()
        yield from view(hands, (0.5, 0.0, 1.0), 3.6, (0.42, -1.0, 0.12))
        yield from rest(hands)
        area = hands.area("VIEW_3D")
        hands.keep("dynamics", area.x, area.y, area.width, area.height)


@script(needs=("operators.reach",))
def dynamics_hands(hands: Hands) -> Waiting:
    """The figure of the demo before, during and after it lifts its box with both hands."""
    lifting, scene = extension.load("assets.demo.lifting"), bpy.context.scene
    bpy.ops.object.mode_set(mode="OBJECT")
    for item in list(scene.objects):
        bpy.data.objects.remove(item)
    lifted = lifting.lift(scene, (0.0, 0.0, 0.0))
    seen = [lifted.arm, lifted.box, *(item for item in scene.objects if item.type == "MESH" and item != lifted.box)]
    meshes = [item for item in seen if item.type == "MESH"]
    for n, frame in enumerate(FRAMES):
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for item in meshes:
            shown = item.evaluated_get(graph)
            still = bpy.data.objects.new(f"{item.name} {frame}", bpy.data.meshes.new_from_object(shown))
            scene.collection.objects.link(still)
            still.matrix_world = shown.matrix_world.copy()
            still.location.x += APART * (n - 1.5)
    for item in seen:
        item.hide_set(True)
    material = bpy.data.materials.new("Path")
    material.diffuse_color = (1.0, 0.45, 0.05, 1.0)
    for n, path in enumerate(lifted.paths):
        curve = bpy.data.curves.new(f"Path {n}", "CURVE")
        curve.dimensions, curve.bevel_depth = "3D", 0.008
        curve.materials.append(material)
        line = curve.splines.new("POLY")
        line.points.add(len(path) - 1)
        flat = np.column_stack((path + np.array((APART * (2 - 1.5), 0.0, 0.0)), np.ones(len(path))))
        line.points.foreach_set("co", flat.ravel())
        scene.collection.objects.link(bpy.data.objects.new(f"Path {n}", curve))
    yield from view(hands, (0.3, -0.1, 0.9), 4.2, (0.3, -1.0, 0.16), sidebar=False)
    space = hands.area("VIEW_3D").spaces.active
    space.overlay.show_floor = False
    space.shading.color_type = "MATERIAL"
    yield from rest(hands)
    keep_viewport(hands, "dynamics_hands")
