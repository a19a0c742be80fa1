"""Colliders from the meshes that an armature deforms: each bone as thick as what hangs on it."""

from collections.abc import Iterator

import bpy
import numpy as np

from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from . import chains, find_chains
from .collider_settings import NAME

_FEWEST = 8
"""Vertices that say how thick a bone is."""
_SHORT = 0.04
"""Of the height of a rig: bones that are shorter, such as those of fingers and faces, are no colliders."""


def make(armature: bpy.types.Object) -> list[str]:
    """Make the bones of the body colliders, as thick as half of their vertices are far from them; their names.

    Bones that swing, or are called what swings, are none. Raises RigError.
    """
    radii = measured(armature)
    if not radii:
        raise RigError(
            "No mesh hangs on the longer bones of '{armature}'; parent its mesh to it, or make bones colliders one by "
            "one.",
            armature=armature.name,
        )
    for name, radius in radii.items():
        own = getattr(armature.pose.bones[name], NAME)
        own.radius, own.exists = radius, True
    return list(radii)


def measured(armature: bpy.types.Object) -> dict[str, float]:
    """Radii of the bones of the body, in the armature's units."""
    bones = armature.data.bones
    ends = np.array([(*bone.head_local, *bone.tail_local) for bone in bones]).reshape(-1, 2, 3)
    if not len(ends):
        return {}
    least = _SHORT * float(np.ptp(ends.reshape(-1, 3), axis=0).max())
    outside = _swinging(armature)
    found: dict[str, list[Array]] = {}
    for item, groups in _skins(armature):
        places = _places(armature, item)
        owners = _owners(item, groups)
        for name in set(owners):
            if name in bones and name not in outside and bones[name].length >= least:
                rows = [n for n, owner in enumerate(owners) if owner == name]
                found.setdefault(name, []).append(places[rows])
    result = {}
    for bone in bones:
        points = np.concatenate(found.get(bone.name, [np.empty((0, 3))]))
        if len(points) >= _FEWEST:
            result[bone.name] = float(np.median(_distances(points, bone)))
    return result


def _swinging(armature: bpy.types.Object) -> set[str]:
    """Bones that swing, those that are called what swings, and all that hang on them."""
    names = {bone for chain in chains.on(armature) for bone in chain.bones} | find_chains.called(armature)
    bones = armature.data.bones
    return names | {child.name for name in names if name in bones for child in bones[name].children_recursive}


def _skins(armature: bpy.types.Object) -> Iterator[tuple[bpy.types.Object, list[str]]]:
    """Meshes that an armature deforms, and the names of their groups."""
    for item in bpy.data.objects:
        if item.type == "MESH" and any(m.type == "ARMATURE" and m.object == armature for m in item.modifiers):
            yield item, [group.name for group in item.vertex_groups]


def _places(armature: bpy.types.Object, item: bpy.types.Object) -> Array:
    """(v, 3) vertices at rest, in the armature's axes."""
    vertices = np.empty(3 * len(item.data.vertices), dtype=np.float32)
    item.data.vertices.foreach_get("co", vertices)
    matrix = np.array(armature.matrix_world.inverted_safe() @ item.matrix_world)
    return vertices.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def _owners(item: bpy.types.Object, groups: list[str]) -> list[str]:
    """The group with the largest weight of each vertex, "" for none."""
    owners = []
    for vertex in item.data.vertices:
        best = max((g for g in vertex.groups if g.group < len(groups)), key=lambda g: g.weight, default=None)
        owners.append(groups[best.group] if best is not None else "")
    return owners


def _distances(points: Array, bone: bpy.types.Bone) -> Array:
    head, tail = np.array(bone.head_local), np.array(bone.tail_local)
    along = tail - head
    part = np.clip((points - head) @ along / max(float(along @ along), 1e-30), 0.0, 1.0)
    return np.linalg.norm(points - head - part[:, None] * along, axis=1)
