"""A human whose left arm reaches for an empty or for a bone of another armature, in many ways to place it."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from extension import load

from . import control_rigs

SETUPS = ("plain", "animated", "turned", "delta", "carried", "in_hips", "child_of", "scaled")
ROTATION_MODES = {"plain": "XYZ", "animated": "ZYX", "turned": "QUATERNION", "delta": "AXIS_ANGLE"}


def reaching(armature: bpy.types.Object, kind: str, setup: str, *, pole: bool = False) -> bpy.types.Object:
    """Let the left arm of a `posed` human reach for another object; returns it.

    kind: "object", or "bone" of another armature. setup: one of SETUPS, "sheared" or "mirrored". pole: let it bend to
    an empty as well.
    """
    item = control_rigs.reaching_for(armature, kind)
    control = item if kind == "object" else item.pose.bones["Grip"]
    control.rotation_mode = ROTATION_MODES.get(setup, "YXZ")
    _SETUPS[setup](armature, item, control)
    if pole:
        solver = armature.pose.bones["LowerArm.L"].constraints["IK"]
        found = bpy.data.objects.new("Elbow", None)
        bpy.context.scene.collection.objects.link(found)
        found.location = armature.matrix_world @ armature.pose.bones["CTL_Elbow.L"].head
        solver.pole_target, solver.pole_subtarget = found, ""
    bpy.context.view_layer.update()
    return item


def fail_at_the_end(armature: bpy.types.Object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the bake of an armature fail where it would be kept, after those of other data."""
    transaction = load("rig.animation.bake_transaction").BakeTransaction
    commit = transaction.commit

    def fail(self, *words: Any) -> Any:
        if self.armature == armature:
            raise RuntimeError
        return commit(self, *words)

    monkeypatch.setattr(transaction, "commit", fail)


def _plain(armature, item, control) -> None:
    pass


def _animated(armature, item, control) -> None:
    start = control.location.copy()
    for frame in (1, 9, control_rigs.LAST):
        control.location = start + 0.05 * Vector((np.sin(frame), np.cos(frame), np.sin(0.5 * frame)))
        control.rotation_euler = (0.02 * frame, 0.0, 0.1)
        control.keyframe_insert("location", frame=frame)
        control.keyframe_insert("rotation_euler", frame=frame)


def _turned(armature, item, control) -> None:
    if control is item:
        item.rotation_mode = "QUATERNION"
        return
    _keep_pose(item, lambda: setattr(item, "rotation_euler", (0.4, -0.3, 1.2)))


def _keep_pose(item: bpy.types.Object, change: Callable[[], None]) -> None:
    """The same for the only bone of an armature."""
    bone = item.pose.bones[0]
    bpy.context.view_layer.update()
    before = item.matrix_world @ bone.matrix
    change()
    bpy.context.view_layer.update()
    bone.matrix = item.matrix_world.inverted() @ before
    bpy.context.view_layer.update()


def _delta(armature, item, control) -> None:
    item.delta_location, item.delta_scale = (0.1, -0.2, 0.05), (1.0, 1.0, 1.0)
    item.delta_rotation_euler, item.delta_rotation_quaternion = (0.3, 0.2, -0.4), (0.9, 0.1, 0.3, -0.1)
    _replaced(item, control)


def _replaced(item, control) -> None:
    """Put the control to where the hand's own IK control is."""
    armature = bpy.data.objects["Made"]
    bpy.context.view_layer.update()
    there = armature.matrix_world @ armature.pose.bones["CTL_Hand_IK.L"].matrix
    if control is item:
        item.matrix_world = there
    else:
        control.matrix = item.matrix_world.inverted() @ there
    bpy.context.view_layer.update()


def _carried(armature, item, control, scale=(1.5, 1.5, 1.5)) -> None:
    """A child of an object that moves."""
    cart = bpy.data.objects.new("Cart", None)
    bpy.context.scene.collection.objects.link(cart)
    cart.scale = scale
    for frame, turn in ((1, 0.0), (control_rigs.LAST, 0.3)):
        cart.rotation_euler = (0.0, 0.0, turn)
        cart.location = (0.2 * turn, 0.0, 0.1)
        cart.keyframe_insert("location", frame=frame)
        cart.keyframe_insert("rotation_euler", frame=frame)
    item.parent = cart
    _replaced(item, control)


def _sheared(armature, item, control) -> None:
    """A child of an object that is scaled unevenly and moves."""
    _carried(armature, item, control, (1.5, 0.7, 1.2))


def _in_hips(armature, item, control) -> None:
    """A child of the control of the hips, which the body moves."""
    item.parent, item.parent_type, item.parent_bone = armature, "BONE", "CTL_Hips"
    _replaced(item, control)


def _child_of(armature, item, control) -> None:
    constraint = control.constraints.new("CHILD_OF")
    constraint.target, constraint.subtarget = armature, "CTL_Chest"
    _replaced(item, control)


def _mirrored(armature, item, control) -> None:
    """The character as a whole."""
    armature.matrix_world = Matrix.Diagonal((-1.0, 1.0, 1.0, 1.0))
    _replaced(item, control)


def _scaled(armature, item, control) -> None:
    armature.matrix_world = Matrix.Translation((3.0, 1.0, 0.2)) @ Matrix.Rotation(0.7, 4, "Z") @ Matrix.Scale(0.1, 4)
    item.scale = (2.0, 2.0, 2.0)
    _replaced(item, control)


_SETUPS = {
    "plain": _plain,
    "animated": _animated,
    "turned": _turned,
    "delta": _delta,
    "carried": _carried,
    "sheared": _sheared,
    "in_hips": _in_hips,
    "child_of": _child_of,
    "mirrored": _mirrored,
    "scaled": _scaled,
}
