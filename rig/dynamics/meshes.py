"""Mass properties of bones from the meshes that they deform: volumes at the density of water, cached while the meshes
do not change."""

import hashlib
from collections.abc import Generator, Mapping

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.dynamics import mass
from ...lookat_pd.dynamics.mass import MassProperties
from ...lookat_pd.rotation import Array
from ..animation.stored_settings import read
from ..detection import rest
from . import masses
from .masses import Masses

Measured = Mapping[str, MassProperties]
_SLICE = 5000
"""Number of vertices between two yields."""
_SAME = 1e-6
"""Fraction of the size of a mesh within which vertices are merged."""
_MOST_KEPT = 16
_last: dict[int, Measured] = {}
"""The last measurement by armature, for display."""
_known: dict[bytes, dict[int, MassProperties]] = {}
"""A cache of measured meshes, by the values they depend on."""


def last(armature: bpy.types.Object) -> Measured | None:
    """The last measurement of this armature; None if there is none."""
    return _last.get(armature.session_uid)


def measure(scene: bpy.types.Scene, armature: bpy.types.Object) -> Generator[float, None, Measured]:
    """Mass properties (in metres, each in its bone's frame) of the bones that deform meshes; yields the completed
    fraction.

    A triangle belongs to the bone with the largest weight. Meshes without a closed volume, such as hair or cloth, give
    capsules. Raises LookAtError.
    """
    unit, skeleton = masses.metres(scene, armature), rest.skeleton(armature)
    rows = masses.heavy_rows(armature, skeleton)
    places = {skeleton.names[row]: n for n, row in enumerate(rows)}
    skins = masses.skins(armature)
    pieces: list[list[MassProperties]] = [[] for _ in rows]
    touched: set[int] = set()
    for k, item in enumerate(skins):
        owners = yield from _owners(item, armature, places, k, len(skins))
        vertices, triangles = _triangles(item, armature, unit)
        mine = _majority(owners[triangles])
        vertices, triangles = _welded(vertices, triangles)
        touched.update(np.unique(mine[mine >= 0]).tolist())
        yield (k + 0.7) / len(skins)
        digest = hashlib.sha1(vertices.tobytes() + triangles.tobytes() + mine.tobytes()).digest()
        if digest not in _known:
            if len(_known) >= _MOST_KEPT:
                _known.clear()
            of_parts = mass.mesh_parts(vertices, triangles, mine, len(rows))
            solid = np.flatnonzero(of_parts.mass).tolist()
            _known[digest] = {n: MassProperties(*(part[n] for part in of_parts)) for n in solid}
        for n, part in _known[digest].items():
            pieces[n].append(part)
        yield (k + 1) / len(skins)
    measured: dict[str, MassProperties] = {}
    capsules = masses.capsules(skeleton, rows, unit, read(armature, "lookat_pd_body").radius)
    for n, (row, parts) in enumerate(zip(rows, pieces, strict=True)):
        if parts:
            whole = mass.combined(*(np.array(column) for column in zip(*parts, strict=True)))
            measured[skeleton.names[row]] = _in_bone(whole, skeleton.rotations[row], unit * skeleton.heads[row])
        elif n in touched:
            measured[skeleton.names[row]] = MassProperties(*(column[n] for column in capsules))
    _last[armature.session_uid] = measured
    return measured


def _in_bone(properties: MassProperties, orientations: Array, head: Array) -> MassProperties:
    back = rotation.inverse(orientations)
    return mass.moved(properties, back, -rotation.rotate(back, head))


def _owners(
    item: bpy.types.Object, armature: bpy.types.Object, places: Mapping[str, int], k: int, count: int
) -> Generator[float, None, Array]:
    """(v,) the bone with the largest weight for each vertex, -1 for none."""
    mesh = item.data
    owners = np.full(len(mesh.vertices), -1)
    if masses.hangs_on_bone(item, armature):
        owners[:] = places.get(item.parent_bone, -1)
        return owners
    groups = [places.get(group.name, -1) for group in item.vertex_groups]
    for n, vertex in enumerate(mesh.vertices):
        best = max(
            (g for g in vertex.groups if g.group < len(groups) and groups[g.group] >= 0),
            key=lambda g: g.weight,
            default=None,
        )
        if best is not None:
            owners[n] = groups[best.group]
        if n % _SLICE == 0:
            yield (k + 0.5 * n / len(owners)) / count
    return owners


def _triangles(item: bpy.types.Object, armature: bpy.types.Object, unit: float) -> tuple[Array, Array]:
    """Vertices (v, 3) [m] in the armature's axes, undeformed, and triangles (t, 3)."""
    mesh = item.data
    vertices = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", vertices)
    mesh.calc_loop_triangles()
    triangles = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    to_armature = np.array(armature.matrix_world.inverted_safe() @ item.matrix_world)
    if masses.hangs_on_bone(item, armature):
        bone = armature.pose.bones[item.parent_bone]
        to_armature = np.array(bone.bone.matrix_local @ bone.matrix.inverted_safe()) @ to_armature
    placed = vertices.reshape(-1, 3) @ to_armature[:3, :3].T + to_armature[:3, 3]
    corners = triangles.reshape(-1, 3)
    # A mirrored mesh is inside out.
    return unit * placed, corners[:, ::-1] if np.linalg.det(to_armature[:3, :3]) < 0.0 else corners


def _welded(vertices: Array, triangles: Array) -> tuple[Array, Array]:
    """The same mesh with vertices at equal positions merged: many exporters split meshes along seams."""
    if not len(vertices):
        return vertices, triangles
    step = max(float(np.ptp(vertices, axis=0).max()), 1e-12) * _SAME
    _, first, which = np.unique(
        np.round(vertices / step).astype(np.int64), axis=0, return_index=True, return_inverse=True
    )
    return vertices[first], which.reshape(-1)[triangles]


def _majority(owners: Array) -> Array:
    """(t,) the owner of each triangle from those of its corners (t, 3): the majority, else the first."""
    a, b, c = owners.T
    agreed = np.where((a == b) | (a == c), a, np.where(b == c, b, a))
    return np.where(agreed >= 0, agreed, np.maximum(np.maximum(a, b), c))


def forget() -> None:
    """Clear the caches."""
    _last.clear()
    _known.clear()


def weights(scene: bpy.types.Scene, armature: bpy.types.Object) -> Generator[float, None, Masses]:
    """The mass properties of the bones, from meshes if the settings say so. Raises LookAtError."""
    measured = None
    if read(armature, "lookat_pd_body").shape == "MESHES":
        measured = yield from measure(scene, armature)
    return masses.of(scene, armature, measured)
