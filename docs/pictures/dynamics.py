"""Dynamics: what a human weighs, beside the panel."""

import bpy
from scene import rest, rig, view
from windowed.hands import Hands, Waiting
from windowed.scripts import script

import extension

ARM = ("upper_arm_fk.L", "forearm_fk.L", "hand_fk.L")


def _opened() -> None:
    """The panel and its part about the body as if their headers had been clicked."""
    panels = extension.load("panels.dynamics")
    panels.unregister()
    for panel in (panels.LOOKAT_PD_PT_dynamics, panels.LOOKAT_PD_PT_dynamics_body):
        panel.bl_options = set()
    panels.register()


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
    _opened()
    yield from hands.sidebar()
    yield from view(hands, (0.5, 0.0, 1.0), 3.6, (0.42, -1.0, 0.12))
    yield from rest(hands)
    area = hands.area("VIEW_3D")
    hands.keep("dynamics", area.x, area.y, area.width, area.height)
