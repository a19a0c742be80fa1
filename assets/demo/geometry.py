"""Lofted, skinned surfaces: closed tubes through elliptic rings, with bone weights by position.

All lengths are metres, all points are in the armature's rest space.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from math import copysign, cos, pi, sin

import bpy
from mathutils import Vector

X, Y, Z = Vector((1, 0, 0)), Vector((0, 1, 0)), Vector((0, 0, 1))
SIDES = (("L", 1.0), ("R", -1.0))
Weights = dict[str, float]
WeightField = Callable[[Vector], Weights]


@dataclass(frozen=True)
class Ring:
    """An elliptic cross-section: `u` and `v` are its half axes; above 2, `power` makes it squarer."""

    center: Vector
    u: Vector
    v: Vector
    power: float = 2.0

    def points(self, sides: int) -> list[Vector]:
        def bent(value: float) -> float:
            return copysign(abs(value) ** (2.0 / self.power), value)

        angles = (2.0 * pi * i / sides for i in range(sides))
        return [self.center + self.u * bent(cos(a)) + self.v * bent(sin(a)) for a in angles]


@dataclass
class Surface:
    """A mesh in the making."""

    vertices: list[Vector] = field(default_factory=list)
    faces: list[tuple[int, ...]] = field(default_factory=list)
    materials: list[int] = field(default_factory=list)
    weights: list[Weights] = field(default_factory=list)

    def add_point(self, point: Vector, weigh: WeightField) -> int:
        self.vertices.append(point)
        self.weights.append(weigh(point))
        return len(self.vertices) - 1

    def add_face(self, face: tuple[int, ...], material: int) -> None:
        self.faces.append(face)
        self.materials.append(material)

    def loft(self, rings: Sequence[Ring], sides: int, material: int | Callable[[int], int], weigh: WeightField) -> None:
        """Skin `rings` from first to last and close both ends. `material` may depend on the band between two rings."""
        material_of = material if callable(material) else lambda _band: material
        loops = [[self.add_point(p, weigh) for p in ring.points(sides)] for ring in rings]
        outward = _winds_outward(rings)
        for band, (low, high) in enumerate(pairwise(loops)):
            for i in range(sides):
                j = (i + 1) % sides
                face = (low[i], low[j], high[j], high[i])
                self.add_face(face if outward else face[::-1], material_of(band))
        self._cap(rings[0], loops[0], material_of(0), weigh, flip=outward)
        self._cap(rings[-1], loops[-1], material_of(len(rings) - 2), weigh, flip=not outward)

    def _cap(self, ring: Ring, loop: list[int], material: int, weigh: WeightField, *, flip: bool) -> None:
        pole = self.add_point(ring.center.copy(), weigh)
        for i, a in enumerate(loop):
            b = loop[(i + 1) % len(loop)]
            self.add_face((pole, b, a) if flip else (pole, a, b), material)

    def to_mesh(self, name: str, materials: Sequence[bpy.types.Material]) -> bpy.types.Mesh:
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata([tuple(v) for v in self.vertices], [], self.faces)
        for material in materials:
            mesh.materials.append(material)
        mesh.polygons.foreach_set("material_index", self.materials)
        mesh.polygons.foreach_set("use_smooth", [True] * len(self.faces))
        mesh.update()
        return mesh

    def write_weights(self, body: bpy.types.Object) -> None:
        groups: dict[str, dict[float, list[int]]] = {}
        for index, weights in enumerate(self.weights):
            for bone, weight in weights.items():
                if weight > 1e-4:
                    groups.setdefault(bone, {}).setdefault(round(weight, 4), []).append(index)
        for bone, by_weight in groups.items():
            group = body.vertex_groups.new(name=bone)
            for weight, indices in by_weight.items():
                group.add(indices, weight, "REPLACE")


def _winds_outward(rings: Sequence[Ring]) -> bool:
    """Whether u → v turns right-handed about the way the loft runs."""
    along = rings[-1].center - rings[0].center
    middle = rings[len(rings) // 2]
    return middle.u.cross(middle.v).dot(along) > 0.0


def ellipsoid_rings(
    center: Vector, pole: Vector, u: Vector, v: Vector, count: int, first: float = 0.03, last: float = 0.97
) -> list[Ring]:
    """Rings of an ellipsoid with the half axes `pole`, `u`, `v`, from `first` to `last` of the way pole to pole."""
    turns = [pi * (first + (last - first) * i / (count - 1)) for i in range(count)]
    return [Ring(center + pole * cos(a), u * sin(a), v * sin(a)) for a in turns]


def smoothstep(low: float, high: float, value: float) -> float:
    t = min(1.0, max(0.0, (value - low) / (high - low)))
    return t * t * (3.0 - 2.0 * t)


def rigid(bone: str) -> WeightField:
    return lambda _point: {bone: 1.0}


@dataclass(frozen=True)
class Path:
    """A polyline through the joints of a chain of bones, by arc length from its first joint."""

    joints: tuple[Vector, ...]

    @property
    def lengths(self) -> list[float]:
        return [0.0, *accumulate((b - a).length for a, b in pairwise(self.joints))]

    def _segment(self, s: float) -> int:
        return min(max(bisect_right(self.lengths, s) - 1, 0), len(self.joints) - 2)

    def direction(self, s: float, blend: float = 0.04) -> Vector:
        """The tangent, rounded over `blend` at each side of a joint."""
        return (self._raw_direction(s - blend) + self._raw_direction(s) + self._raw_direction(s + blend)).normalized()

    def _raw_direction(self, s: float) -> Vector:
        i = self._segment(s)
        return (self.joints[i + 1] - self.joints[i]).normalized()

    def point(self, s: float) -> Vector:
        i = self._segment(s)
        return self.joints[i] + self._raw_direction(s) * (s - self.lengths[i])

    def nearest(self, point: Vector) -> float:
        """Arc length of the foot of the perpendicular; the ends run on, so that it may be negative."""
        best, best_distance = 0.0, float("inf")
        last = len(self.joints) - 2
        for i, (a, b) in enumerate(pairwise(self.joints)):
            length = (b - a).length
            along = (point - a).dot((b - a) / length)
            along = max(along, 0.0) if i > 0 else along
            along = min(along, length) if i < last else along
            distance = (a + (b - a) / length * along - point).length
            if distance < best_distance:
                best, best_distance = self.lengths[i] + along, distance
        return best

    def ring(self, s: float, wide: float, deep: float, across: Vector, shift: Vector | None = None) -> Ring:
        """A cross-section at `s`; `across` says which way `wide` points."""
        along = self.direction(s)
        u = (across - along * across.dot(along)).normalized()
        center = self.point(s) + (shift or Vector())
        return Ring(center, u * wide, along.cross(u) * deep)


def chain_weights(bones: Sequence[str], path: Path, blends: Sequence[float], before: str | None = None) -> WeightField:
    """Weights along a chain: bone i covers segment i, and joint i is blended over ± `blends[i]`.

    `before` is the bone in front of the first joint (default: the first bone itself).
    """
    names = [before or bones[0], *bones]
    starts = path.lengths[: len(bones)]

    def weigh(point: Vector) -> Weights:
        s = path.nearest(point)
        weights: Weights = {names[0]: 1.0}
        for name, start, blend in zip(bones, starts, blends, strict=True):
            share = smoothstep(start - blend, start + blend, s)
            weights = {bone: weight * (1.0 - share) for bone, weight in weights.items()}
            weights[name] = weights.get(name, 0.0) + share
        return weights

    return weigh
