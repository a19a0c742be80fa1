"""How far bones turn: what the solvers allow is what Blender's constraints show."""

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from extension import load
from lookat_pd import rotation

from .. import scenes

bone_limits = load("rig.detection.bone_limits")


def shown(armature: bpy.types.Object, bone: str, rotations: np.ndarray) -> np.ndarray:
    """The rotations (k, 4) that Blender shows of a bone with these channels."""
    found, item = np.empty(rotations.shape), armature.pose.bones[bone]
    rest = item.parent.bone.matrix_local.inverted() @ item.bone.matrix_local
    for k, channels in enumerate(rotations):
        item.rotation_quaternion = Quaternion(channels.tolist())
        bpy.context.view_layer.update()
        found[k] = (rest.inverted() @ item.parent.matrix.inverted() @ item.matrix).to_quaternion()
    return found


@pytest.mark.every_blender
@pytest.mark.parametrize("limited", ["x", "z", "xz", "xyz"])
@pytest.mark.parametrize("order", ["AUTO", "ZYX"])
def test_limit_rotation_is_kept_as_blender_keeps_it(limited: str, order: str) -> None:
    """Also if it limits one axis alone: half a turn about the other two does not lead around it."""
    armature = scenes.figure()
    constraint = armature.pose.bones["head"].constraints.new("LIMIT_ROTATION")
    constraint.owner_space, constraint.euler_order = "LOCAL", order
    for axis in limited:
        setattr(constraint, f"use_limit_{axis}", True)
        setattr(constraint, f"min_{axis}", -0.2)
        setattr(constraint, f"max_{axis}", 2.0)
    limits = bone_limits.read(armature, ["head"], rotation.identity(1))
    random = np.random.default_rng(3)
    wanted = rotation.exp(
        np.concatenate((np.eye(3)[2] * np.linspace(-3.0, 3.0, 13)[:, None], random.normal(size=(60, 3))))
    )
    allowed, seen = limits.clamp(wanted[:, None])[:, 0], shown(armature, "head", wanted)
    assert rotation.distance(shown(armature, "head", allowed), allowed).max() < 1e-3, "Blender changes nothing more"
    kept = rotation.distance(seen, wanted) < 1e-4
    assert kept.any() and rotation.distance(allowed, wanted)[kept].max() < 1e-3
    settled = rotation.distance(shown(armature, "head", seen), seen) < 1e-4
    assert rotation.distance(allowed, seen)[settled].max() < 2e-3
