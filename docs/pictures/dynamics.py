"""Dynamics: what a human weighs, beside the panel."""

import bpy
from scene import rest, rig, view
from windowed.hands import Hands, Waiting
from windowed.panels import opened
from windowed.scripts import script

ARM = ("upper_arm_fk.L", "forearm_fk.L", "hand_fk.L")


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
