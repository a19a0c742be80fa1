"""Which bones an inverse kinematics constraint poses."""

import bpy

TYPES = ("IK", "SPLINE_IK")


def posed_bones(owner: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> list[str]:
    """The bones that a constraint of one of TYPES poses, the end of the chain first: from its owner, or the parent of
    that if an IK constraint does not use the tail, upwards. Without a target it poses none."""
    target = constraint.target
    if target is None or (constraint.type == "IK" and target.type == "ARMATURE" and not constraint.subtarget):
        return []
    line = [owner.name, *(bone.name for bone in owner.parent_recursive)]
    if constraint.type == "IK" and not constraint.use_tail:
        line = line[1:]
    return line[: constraint.chain_count or len(line)]
