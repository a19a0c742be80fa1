"""Blender armatures as plain rest-pose data, and what detection wants to know about them."""

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.skeleton import Skeleton
from .detect import RigHints


def skeleton(armature: bpy.types.Object) -> Skeleton:
    """The rest pose of an armature object, in armature space."""
    bones = armature.data.bones
    count = len(bones)
    names = bones.keys()
    index = {name: n for n, name in enumerate(names)}
    matrices = np.empty(count * 16, dtype=np.float32)
    heads, tails = np.empty(count * 3, dtype=np.float32), np.empty(count * 3, dtype=np.float32)
    bones.foreach_get("matrix_local", matrices)
    bones.foreach_get("head_local", heads)
    bones.foreach_get("tail_local", tails)
    # Blender stores matrices by columns.
    frames = matrices.reshape(count, 4, 4).swapaxes(1, 2)[:, :3, :3]
    parents = [index[bone.parent.name] if bone.parent else -1 for bone in bones]
    return Skeleton(
        names, np.array(parents, int), rotation.from_matrix(frames), heads.reshape(count, 3), tails.reshape(count, 3)
    )


def hints(armature: bpy.types.Object) -> RigHints:
    """What the pose tells about which bones answer to an offset."""
    follows = {}
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            if _copies_outright(constraint, armature):
                follows[bone.name] = constraint.subtarget
    deform = frozenset(bone.name for bone in armature.data.bones if bone.use_deform)
    return RigHints(follows=follows, deform=deform)


def _copies_outright(constraint: bpy.types.Constraint, armature: bpy.types.Object) -> bool:
    if constraint.mute or constraint.influence < 1.0:
        return False
    if constraint.type not in ("COPY_TRANSFORMS", "COPY_ROTATION"):
        return False
    return constraint.target == armature and bool(constraint.subtarget) and constraint.mix_mode == "REPLACE"
