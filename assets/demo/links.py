"""Links of the demo's scenes of dynamics: rods and balls that hang on bones, and keyed poses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import radians

import bmesh
import bpy
from mathutils import Euler, Matrix

from .materials import paint


def key(arm: bpy.types.Object, frame: float, pose: Mapping[str, Sequence[float]]) -> None:
    """Key a pose: for each bone angles [degrees] about the axes of the armature."""
    for name, angles in pose.items():
        bone = arm.pose.bones[name]
        rest = bone.bone.matrix_local.to_3x3()
        turn = Euler([radians(angle) for angle in angles]).to_matrix()
        bone.rotation_quaternion = (rest.inverted() @ turn @ rest).to_quaternion()
        bone.keyframe_insert("rotation_quaternion", frame=frame)


def attach(scene: bpy.types.Scene, arm: bpy.types.Object, bone: str, mesh: bpy.types.Mesh, along: float) -> None:
    """Hang a mesh on a bone, `along` metres from its tail."""
    item = bpy.data.objects.new(f"{arm.name} {bone}", mesh)
    scene.collection.objects.link(item)
    item.parent, item.parent_type, item.parent_bone = arm, "BONE", bone
    item.location = (0.0, along, 0.0)
    item.hide_select = True


def rod(length: float) -> bpy.types.Mesh:
    """A rod along Y from the origin, with a joint at its start."""
    name = f"Rod {length:g}"
    if name in bpy.data.meshes:
        return bpy.data.meshes[name]
    shape = bmesh.new()
    upright = Matrix.Rotation(radians(-90.0), 4, "X")
    place = Matrix.Translation((0.0, 0.5 * length, 0.0)) @ upright
    bmesh.ops.create_cone(shape, cap_ends=True, segments=16, radius1=0.035, radius2=0.025, depth=length, matrix=place)
    bmesh.ops.create_uvsphere(shape, u_segments=16, v_segments=10, radius=0.045)
    return mesh(name, shape, "Skin")


def ball(radius: float, color: str = "Skin") -> bpy.types.Mesh:
    name = f"Ball {radius:.3f}"
    if name in bpy.data.meshes:
        return bpy.data.meshes[name]
    shape = bmesh.new()
    bmesh.ops.create_uvsphere(shape, u_segments=24, v_segments=14, radius=radius)
    return mesh(name, shape, color)


def mesh(name: str, shape: bmesh.types.BMesh, color: str) -> bpy.types.Mesh:
    """The mesh of a shape, which is freed, in a colour."""
    made = bpy.data.meshes.new(name)
    shape.to_mesh(made)
    shape.free()
    made.materials.append(paint(color))
    return made
