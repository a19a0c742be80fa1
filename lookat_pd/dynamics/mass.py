"""Mass properties of bones: of capsules, of closed triangle meshes, and of several pieces together.

Mass properties are (mass, center, inertia): [kg], the center of mass (3,) [m] and the inertia (3, 3) [kg m^2] about the
center of mass, in the axes of the frame of the center. Bones extend along their Y axis.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..errors import InvalidArgument
from ..rotation import Array

WATER = 1000.0
"""Density of water [kg/m^3]; that of a human body differs by a few percent."""


class MassProperties(NamedTuple):
    """Mass properties of a solid."""

    mass: Array
    """(...) [kg]."""
    center: Array
    """(..., 3) [m]."""
    inertia: Array
    """(..., 3, 3) [kg m^2], about the center."""


def capsule(length: ArrayLike, radius: ArrayLike, density: ArrayLike = WATER) -> MassProperties:
    """Mass properties of solid capsules: cylinders from the origin along Y with half a ball on either end.

    length, radius: (...) [m], the cylinder's; density: (...) [kg/m^3]. A length of 0 makes a ball. Raises
    InvalidArgument where a length is negative, or a radius or a density is not above 0.
    """
    length, radius, density = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in (length, radius, density)))
    if not np.all(np.isfinite(length) & (length >= 0.0)):
        raise InvalidArgument("The length of a capsule must be 0 m or more; set the length of the bone.")
    if not np.all(np.isfinite(radius) & (radius > 0.0)):
        raise InvalidArgument("A capsule's radius must be above 0 m; make it larger.")
    _check_density(density)
    middle = density * np.pi * radius**2 * length
    ends = density * np.pi * radius**3 * 4.0 / 3.0
    along = middle * radius**2 / 2.0 + ends * radius**2 * 2.0 / 5.0
    across = middle * (length**2 / 12.0 + radius**2 / 4.0)
    across = across + ends * (2.0 / 5.0 * radius**2 + length**2 / 4.0 + 3.0 / 8.0 * length * radius)
    center = np.zeros((*length.shape, 3))
    center[..., 1] = 0.5 * length
    return MassProperties(middle + ends, center, _diagonal(across, along, across))


def mesh(vertices: ArrayLike, triangles: ArrayLike, density: float = WATER) -> MassProperties:
    """Mass properties of the solid inside a closed mesh, by signed tetrahedra.

    vertices: (v, 3) [m]. triangles: (t, 3) indices, counter-clockwise seen from outside; a mesh that is inside out is
    corrected. density: [kg/m^3]. Raises InvalidArgument if the mesh encloses no volume. Source: Tonon, Explicit exact
    formulas for the 3-D tetrahedron inertia tensor, 2004.
    """
    corners = _corners(vertices, triangles)
    _check_density(density)
    solid = _solid(corners, density)
    if solid.mass < 0.0:
        solid = _solid(corners[:, ::-1], density)
    size = float(np.ptp(corners, axis=(0, 1)).max()) if len(corners) else 0.0
    if not solid.mass > 1e-12 * density * size**3:
        raise InvalidArgument("The mesh encloses no volume; close its holes, or use capsules.")
    return solid


def mesh_parts(
    vertices: ArrayLike, triangles: ArrayLike, owners: ArrayLike, count: int, density: float = WATER
) -> MassProperties:
    """Mass properties of the parts of a closed mesh, such as by the bone with the largest weight on each triangle.

    vertices, triangles, density: as for `mesh`, outside out. owners: (t,), the part of each triangle, below `count`; -1
    for none. Each hole at a cut is closed by a fan to the mean of its edge, the same on both sides, so that the masses
    of the parts add up to that of the mesh. Returns arrays (count, ...); a part without triangles, or folded to a
    negative volume, has mass 0.
    """
    vertices = np.asarray(vertices, dtype=float)
    triangles, owners = np.asarray(triangles), np.asarray(owners)
    corners = _corners(vertices, triangles)
    _check_density(density)
    if owners.shape != (len(triangles),):
        raise InvalidArgument(
            "Each of the {triangles} triangles needs one owner; the shape of the owners is {shape}.",
            triangles=len(triangles),
            shape=owners.shape,
        )
    mass, center, inertia = np.zeros(count), np.zeros((count, 3)), np.zeros((count, 3, 3))
    for part in range(count):
        mine = owners == part
        if not np.any(mine):
            continue
        lids = _lids(vertices, triangles[mine])
        solid = _solid(np.concatenate((corners[mine], lids)), density)
        if solid.mass > 0.0 and np.all(np.linalg.eigvalsh(solid.inertia) > 0.0):
            mass[part], center[part], inertia[part] = solid
    return MassProperties(mass, center, inertia)


def combined(mass: ArrayLike, center: ArrayLike, inertia: ArrayLike) -> MassProperties:
    """Mass properties of several bodies (k,), (k, 3), (k, 3, 3) in one frame as one rigid body."""
    mass, center, inertia = (np.asarray(a, dtype=float) for a in (mass, center, inertia))
    total = mass.sum()
    if not total > 0.0:
        raise InvalidArgument("The segments have no mass; set the mass of at least one.")
    middle = mass @ center / total
    return MassProperties(total, middle, np.sum(inertia + _point_inertia(mass, center - middle), axis=0))


def moved(properties: MassProperties, turn: ArrayLike, offset: ArrayLike) -> MassProperties:
    """The same bodies in another frame, in which their frame has the position `offset` (..., 3) and the rotation `turn`
    (..., 4)."""
    matrix = rotation.to_matrix(turn)
    center = np.asarray(offset, dtype=float) + rotation.rotate(turn, properties.center)
    return MassProperties(properties.mass, center, matrix @ properties.inertia @ np.swapaxes(matrix, -1, -2))


def scaled_to(properties: MassProperties, total: float) -> MassProperties:
    """The same bodies (n,) with all densities scaled so that the total mass is `total` [kg]."""
    weight = float(np.sum(properties.mass))
    if not (np.isfinite(total) and total > 0.0):
        raise InvalidArgument("The total mass must be above 0 kg, not {total}.", total=total)
    if not weight > 0.0:
        raise InvalidArgument("The bones have no mass to scale; set the mass of at least one.")
    factor = total / weight
    return MassProperties(properties.mass * factor, properties.center, properties.inertia * factor)


def ellipsoid(properties: MassProperties) -> tuple[Array, Array]:
    """Semi-axes (..., 3) [m] and rotation (..., 4) of the solid ellipsoids with these mass properties, for display."""
    mass, inertia = np.asarray(properties.mass, dtype=float), np.asarray(properties.inertia, dtype=float)
    moments, axes = np.linalg.eigh(inertia)
    axes = np.where(np.linalg.det(axes)[..., None, None] < 0.0, -axes, axes)
    others = 0.5 * np.sum(moments, axis=-1, keepdims=True) - moments
    square = 5.0 * np.maximum(others, 0.0) / np.maximum(mass, 1e-300)[..., None]
    return np.sqrt(square), rotation.from_matrix(axes)


def _check_density(density: ArrayLike) -> None:
    density = np.asarray(density, dtype=float)
    if not np.all(np.isfinite(density) & (density > 0.0)):
        raise InvalidArgument("The density must be above 0 kg/m³; water has 1000 kg/m³.")


def _diagonal(*moments: Array) -> Array:
    return np.stack(moments, axis=-1)[..., None] * np.eye(3)


def _point_inertia(mass: Array, at: Array) -> Array:
    """Inertia (..., 3, 3) about the origin of point masses (...) at (..., 3)."""
    square = np.sum(at * at, axis=-1)[..., None, None] * np.eye(3)
    return mass[..., None, None] * (square - at[..., :, None] * at[..., None, :])


def _corners(vertices: ArrayLike, triangles: ArrayLike) -> Array:
    """(t, 3, 3)."""
    vertices, triangles = np.asarray(vertices, dtype=float), np.asarray(triangles)
    if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.all(np.isfinite(vertices)):
        raise InvalidArgument("A mesh's vertices must be an array (v, 3) of finite numbers.")
    if triangles.ndim != 2 or triangles.shape[1] != 3:
        raise InvalidArgument(
            "A mesh's triangles must be an array (t, 3) of indices, not {shape}.", shape=triangles.shape
        )
    return vertices[triangles]


def _solid(corners: Array, density: float) -> MassProperties:
    """Mass properties of the volume inside triangles (t, 3, 3), negative if they are inside out."""
    origin = corners.mean(axis=(0, 1)) if len(corners) else np.zeros(3)
    a, b, c = np.moveaxis(corners - origin, 1, 0)
    volume = np.sum(a * rotation.cross(b, c), axis=-1) / 6.0
    mass = density * volume.sum()
    if mass == 0.0:
        return MassProperties(np.zeros(()), origin, np.zeros((3, 3)))
    whole = a + b + c
    center = density * (volume @ whole) / (4.0 * mass)
    # The second moments of a tetrahedron with one corner at the origin.
    moments = np.einsum("t,tni,tnj->ij", volume, np.stack((a, b, c, whole), axis=1), np.stack((a, b, c, whole), axis=1))
    covariance = density * moments / 20.0
    inertia = np.trace(covariance) * np.eye(3) - covariance
    return MassProperties(mass, origin + center, inertia - _point_inertia(mass, center))


def _lids(vertices: Array, triangles: Array) -> Array:
    """Triangles (l, 3, 3) that close the holes of a mesh, one fan for each hole."""
    edges = np.concatenate([triangles[:, [n, (n + 1) % 3]] for n in range(3)])
    inside = {(int(a), int(b)) for a, b in edges}
    rim = [(a, b) for a, b in inside if (b, a) not in inside]
    if not rim:
        return np.zeros((0, 3, 3))
    loop: dict[int, int] = {}

    def first(vertex: int) -> int:
        while loop.setdefault(vertex, vertex) != vertex:
            vertex = loop[vertex]
        return vertex

    for a, b in rim:
        loop[first(a)] = first(b)
    groups: dict[int, list[tuple[int, int]]] = {}
    for edge in rim:
        groups.setdefault(first(edge[0]), []).append(edge)
    lids = []
    for group in groups.values():
        middle = vertices[sorted({vertex for edge in group for vertex in edge})].mean(axis=0)
        lids += [(vertices[b], vertices[a], middle) for a, b in group]
    return np.array(lids)
