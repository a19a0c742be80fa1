"""Blender armatures as plain rest-pose data, and what detection wants to know about them."""

from collections.abc import Collection
from functools import partial

import bpy
import numpy as np
from mathutils import Vector
from mathutils.kdtree import KDTree

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ...lookat_pd.skeleton import Skeleton
from . import constrained
from . import vocabulary as words
from .detect import RigHints
from .names import BoneName, read_names
from .read_once import read_once

_MOST_VERTICES, _PROBES = 20000, 300
_ALIKE = 0.01
"""Of a mesh's size: how far the image of a vertex may be from the next one."""


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


@read_once
def hints(armature: bpy.types.Object) -> RigHints:
    """What the pose shows about which bones respond to an offset."""
    deform = frozenset(bone.name for bone in armature.data.bones if bone.use_deform)
    moved = constrained.read(armature)
    return RigHints(
        follows=moved.follows,
        carriers=moved.carriers,
        outside=frozenset(moved.outside),
        shaped=frozenset(bone.name for bone in armature.pose.bones if bone.custom_shape is not None),
        deform=deform,
        vertical=vertical(armature),
        mesh_normal=partial(mesh_normal, armature),
        mesh_face=partial(mesh_face, armature),
    )


def vertical(armature: bpy.types.Object) -> tuple[float, float, float]:
    """The armature's axis that points up in the world, as near as one does."""
    up = np.array(armature.matrix_world.to_3x3().inverted_safe() @ Vector((0.0, 0.0, 1.0)))
    axis = int(np.argmax(np.abs(up)))
    x, y, z = np.sign(up[axis]) * np.eye(3)[axis]
    return float(x), float(y), float(z)


def mesh_normal(armature: bpy.types.Object) -> Array | None:
    """The armature's axis (3,) square to the plane of symmetry of the meshes on it; None where none clearly is."""
    points = _vertices(armature)
    if len(points) < 100:
        return None
    tree = KDTree(len(points))
    for n, point in enumerate(points):
        tree.insert(point, n)
    tree.balance()
    low, high = points.min(axis=0), points.max(axis=0)
    chosen = points[:: max(len(points) // _PROBES, 1)]
    near = _ALIKE * float(np.linalg.norm(high - low))
    shares = []
    for axis in range(3):
        mirrored = chosen.copy()
        mirrored[:, axis] = low[axis] + high[axis] - mirrored[:, axis]
        shares.append(np.mean([tree.find(point)[2] < near for point in mirrored]))
    best, next_best = np.argsort(shares)[::-1][:2]
    return np.eye(3)[best] if shares[best] > 0.9 and shares[next_best] < 0.7 else None


def mesh_face(armature: bpy.types.Object) -> Array | None:
    """The middle (3,) of eyes, nose and mouth by the names of meshes and their materials, in the armature's space; None
    where there are none."""
    meshes = _meshes(armature)
    called = [item.name for item in meshes]
    called += [slot.material.name for item in meshes for slot in item.material_slots if slot.material is not None]
    shown = {name for name, read in zip(called, read_names(called), strict=True) if _is_of_face(read)}
    centers = [center for item in meshes if (center := _center(armature, item, shown)) is not None]
    return np.mean(centers, axis=0) if centers else None


def _is_of_face(name: BoneName) -> bool:
    return name.has(words.OF_FACE) and not name.has(words.WORN, words.CONTROL)


def _center(armature: bpy.types.Object, item: bpy.types.Object, shown: Collection[str]) -> Array | None:
    """The middle (3,) of the polygons of a mesh that have one of the names, or whose material has one."""
    polygons = item.data.polygons
    of = [slot.material is not None and slot.material.name in shown for slot in item.material_slots]
    if not len(polygons) or not (item.name in shown or any(of)):
        return None
    centers, indices = np.empty(3 * len(polygons), dtype=np.float32), np.empty(len(polygons), dtype=np.int32)
    polygons.foreach_get("center", centers)
    polygons.foreach_get("material_index", indices)
    chosen = np.ones(len(polygons), bool) if item.name in shown else np.array(of)[np.clip(indices, 0, len(of) - 1)]
    if not np.any(chosen):
        return None
    matrix = np.array(armature.matrix_world.inverted_safe() @ item.matrix_world)
    return matrix[:3, :3] @ centers.reshape(-1, 3)[chosen].mean(axis=0) + matrix[:3, 3]


def _meshes(armature: bpy.types.Object) -> list[bpy.types.Object]:
    """The meshes that an armature moves."""
    items = (item for item in bpy.data.objects if item.type == "MESH")
    return [item for item in items if item.parent == armature or item.find_armature() == armature]


def _vertices(armature: bpy.types.Object) -> Array:
    """Vertices (n, 3) of the meshes that an armature moves, in its space; not all of many."""
    points_of_meshes: list[Array] = [np.zeros((0, 3))]
    for item in _meshes(armature):
        own = np.empty(3 * len(item.data.vertices), dtype=np.float32)
        item.data.vertices.foreach_get("co", own)
        matrix = np.array(armature.matrix_world.inverted_safe() @ item.matrix_world)
        points_of_meshes.append(own.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])
    points = np.concatenate(points_of_meshes)
    return points[:: max(len(points) // _MOST_VERTICES, 1)]
