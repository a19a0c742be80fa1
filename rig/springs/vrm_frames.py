"""Frames of the nodes of a VRM file and of the bones that an importer has made of them.

The importer of glTF keeps the frames of the nodes. The VRM add-on lets bones point to their children, and turns
characters of VRM 0.x to the front. How a bone is turned against its node follows from both at rest, as far as they are
in the same pose.
"""

from dataclasses import replace

import bpy
import numpy as np

from ...lookat_pd.rotation import Array
from . import vrm_data
from .vrm_data import VrmCollider, VrmSprings

_WAYS = (np.eye(3), np.diag((-1.0, -1.0, 1.0)))
"""How importers turn characters."""
_APART = 0.01
"""Part of the size of a character by which its joints may be elsewhere than in the file."""
_SAME = 1e-3
"""A bone that is turned by less [rad] is as its node."""
Turns = dict[str, Array]
"""(3, 3) from the frames of nodes to those of their bones, by name; those that are alike are left out."""


def turns(armature: bpy.types.Object, said: VrmSprings) -> Turns:
    """How the bones of an armature are turned against the nodes of a file."""
    bones = [bone for bone in armature.data.bones if bone.name in said.rests]
    if not bones:
        return {}
    here = np.array([np.array(bone.matrix_local) for bone in bones])
    there = np.array([said.rests[bone.name] for bone in bones])
    way = _way(here[:, :3, 3], there[:, :3, 3])
    if way is None:
        # It was posed anew since; what an importer has made of it, only its own frames say.
        return {}
    found = _turn(here).swapaxes(-1, -2) @ way @ _turn(there)
    differ = np.abs(found - np.eye(3)).max(axis=(-2, -1)) > _SAME
    return {bone.name: turn for bone, turn, differs in zip(bones, found, differ, strict=True) if differs}


def _way(here: Array, there: Array) -> Array | None:
    """How joints (n, 3) in the file were turned as a whole, None where they are in another pose."""
    here, there = here - here.mean(axis=0), there - there.mean(axis=0)
    size = float(np.abs(here).max())
    apart = [float(np.abs(there @ way.T - here).max()) for way in _WAYS]
    best = int(np.argmin(apart))
    return _WAYS[best] if apart[best] <= _APART * size else None


def _turn(matrices: Array) -> Array:
    """The rotations (n, 3, 3) of matrices, without their scale."""
    columns = matrices[:, :3, :3]
    return columns / np.maximum(np.linalg.norm(columns, axis=-2, keepdims=True), 1e-12)


def in_bones(armature: bpy.types.Object, said: VrmSprings) -> tuple[VrmCollider, ...]:
    """The colliders of a file in the frames of the bones of an armature."""
    turned = turns(armature, said)
    return tuple(_turned(collider, turned.get(collider.bone)) for collider in said.colliders)


def in_node(turned: Turns, collider: VrmCollider) -> VrmCollider:
    """A collider in the frame of a bone as one in the frame of its node."""
    turn = turned.get(collider.bone)
    return _turned(collider, None if turn is None else turn.T)


def _turned(collider: VrmCollider, turn: Array | None) -> VrmCollider:
    if turn is None:
        return collider
    begin, end = (vrm_data.three(turn @ np.array(point)) for point in (collider.begin, collider.end))
    return replace(collider, begin=begin, end=end)
