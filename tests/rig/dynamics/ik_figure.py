"""A figure of which inverse kinematics without a switch poses the arms."""

from collections.abc import Sequence

import bpy
import numpy as np

from .. import scenes


def rows(sides: str = "L") -> list[Sequence]:
    """The bones of the figure, with arms of two bones at these sides."""
    made = [
        row for row in scenes.FIGURE if row[0] not in [f"{part}.{s}" for part in ("upper_arm", "hand") for s in sides]
    ]
    for side in sides:
        x = np.array((1 if side == "L" else -1, 1, 1))
        for part, parent, head, tail in (
            ("upper_arm", "chest", (0.15, 0, 1.4), (0.42, 0.03, 1.38)),
            ("forearm", f"upper_arm.{side}", (0.42, 0.03, 1.38), (0.68, -0.03, 1.38)),
            ("hand", f"forearm.{side}", (0.68, -0.03, 1.38), (0.8, -0.05, 1.38)),
            ("hand_ik", "root", (0.68, -0.03, 1.38), (0.8, -0.05, 1.38)),
            ("elbow", "root", (0.42, 0.5, 1.38), (0.42, 0.6, 1.38)),
        ):
            made.append((f"{part}.{side}", parent, tuple(x * head), tuple(x * tail)))
    return made


def figure(*, pole: bool = True, turned: bool = True, sides: str = "L") -> bpy.types.Object:
    """The arms are in IK and have no switch, their targets are animated, and hands may keep the rotations of these."""
    armature = scenes.figure(rows=rows(sides))
    for side in sides:
        for name in ("forearm", "upper_arm", "hand", "hand_ik", "elbow"):
            armature.data.bones[f"{name}.{side}"].use_deform = name not in ("hand_ik", "elbow")
        bent = armature.pose.bones[f"forearm.{side}"].constraints.new("IK")
        bent.target, bent.subtarget, bent.chain_count = armature, f"hand_ik.{side}", 2
        if pole:
            bent.pole_target, bent.pole_subtarget = armature, f"elbow.{side}"
            bent.pole_angle = _fitting_angle(armature, bent, side)
        if turned:
            copied = armature.pose.bones[f"hand.{side}"].constraints.new("COPY_ROTATION")
            copied.target, copied.subtarget = armature, f"hand_ik.{side}"
    scenes.animate(armature, bones=("hips", "chest", *(f"hand_ik.{side}" for side in sides)), size=0.1)
    for side in sides:
        bone, x = armature.pose.bones[f"hand_ik.{side}"], 1.0 if side == "L" else -1.0
        for frame, place in ((1, (-0.1, -0.1, 0.0)), (60, (-0.12, -0.14, 0.1))):
            bone.location = x * place[0], *place[1:]
            bone.keyframe_insert("location", frame=frame)
    return armature


def _fitting_angle(armature: bpy.types.Object, bent: bpy.types.Constraint, side: str) -> float:
    """The pole angle with which the arm stays nearest to its rest pose."""

    def off(angle: float) -> float:
        bent.pole_angle = angle
        bpy.context.view_layer.update()
        seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[f"upper_arm.{side}"]
        return (seen.tail - armature.data.bones[f"upper_arm.{side}"].tail_local).length

    return min(np.radians(np.arange(-180.0, 180.0, 15.0)).tolist(), key=off)
