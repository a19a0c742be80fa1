"""What a VRM file says about its springs, of version 1.0 (`VRMC_springBone`) and of 0.x (`VRM.secondaryAnimation`).

Directions are in the axes of Blender. What belongs to a node is in its frame, which may differ from that of its bone
(`vrm_frames`). Source: https://github.com/vrm-c/vrm-specification.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import FileError
from ...lookat_pd.message import Message
from ...lookat_pd.rotation import Array
from ..layers.bone_chains import lines

NEW, OLD = "VRMC_springBone", "VRM"
EXTENDED = "VRMC_springBone_extended_collider"
LAST_LENGTH = 0.07
"""Length of the last bone of a chain in VRM 0.x [m]."""
DOWN = (0.0, 0.0, -1.0)
_AXES = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
"""From the axes of glTF to those of Blender."""
_BROKEN = Message("The springs of the VRM file are broken; export it again.").template
_MISSING = Message(
    "{count} joints of the springs in the VRM file, such as '{name}', are not there and are left out; export the file "
    "again if they should swing."
).template
_MISSING_ONE = Message(
    "Joint '{name}' of the springs in the VRM file is not there and is left out; export the file again if it should "
    "swing."
).template


@dataclass(frozen=True)
class VrmJoint:
    """A bone that swings."""

    bone: str
    length: float
    """To the next joint [m]."""
    stiffness: float
    drag: float
    pull: tuple[float, float, float]
    """Direction and power of gravity."""
    radius: float
    """[m]"""


@dataclass(frozen=True)
class VrmChain:
    """A spring of the file."""

    joints: tuple[VrmJoint, ...]
    center: str = ""
    groups: tuple[str, ...] = ()
    """Groups of colliders."""


@dataclass(frozen=True)
class VrmCollider:
    """What springs do not pass through."""

    bone: str
    shape: str
    begin: tuple[float, float, float]
    end: tuple[float, float, float]
    """Of a capsule; of a plane a point in front of it."""
    radius: float
    groups: tuple[str, ...]
    place: str
    """Where it is in the file."""

    def is_like(self, other: "VrmCollider") -> bool:
        """Whether another one is in the same place with the same shape."""
        return (self.bone, self.shape) == (other.bone, other.shape) and bool(
            np.allclose(self._numbers, other._numbers, rtol=1e-5, atol=1e-5)
        )

    @property
    def _numbers(self) -> list[float]:
        if self.shape == "SPHERE":
            return [*self.begin, self.radius]
        if self.shape == "CAPSULE":
            return [*self.begin, *self.end, self.radius]
        normal = np.subtract(self.end, self.begin)
        return [*self.begin, *(normal / max(float(np.linalg.norm(normal)), 1e-9)).tolist()]


@dataclass(frozen=True)
class VrmSprings:
    """The springs of a file."""

    chains: tuple[VrmChain, ...]
    colliders: tuple[VrmCollider, ...] = ()
    missing: tuple[str, ...] = ()
    """Joints that the file names and does not have."""
    others: tuple[Message, ...] = field(default=())
    groups: tuple[str, ...] = ()
    """The names of all groups of colliders, in the order of the file."""
    rests: dict[str, Array] = field(default_factory=dict, compare=False)
    """(4, 4) of the nodes by name, at rest in the axes of Blender; none where colliders are in the frames of bones."""

    @property
    def joints(self) -> dict[str, VrmJoint]:
        """Of all chains, by bone."""
        return {joint.bone: joint for chain in self.chains for joint in chain.joints}

    @property
    def notes(self) -> tuple[Message, ...]:
        """What is said of what could not be read."""
        if not self.missing:
            return self.others
        return Message(
            _MISSING_ONE if len(self.missing) == 1 else _MISSING, count=len(self.missing), name=self.missing[0]
        ), *self.others


def is_vrm(document: dict[str, Any]) -> bool:
    """Whether a glTF has the data of VRM."""
    said = document.get("extensions")
    return isinstance(said, dict) and bool({NEW, OLD, "VRMC_vrm"} & said.keys())


def read(document: dict[str, Any]) -> VrmSprings:
    """The springs of a file with this JSON part, none of another glTF. Raises FileError."""
    said = document.get("extensions")
    try:
        if isinstance(said, dict) and NEW in said:
            return _New(Nodes(document), said[NEW]).read()
        if isinstance(said, dict) and OLD in said:
            return _Old(Nodes(document), said[OLD].get("secondaryAnimation") or {}).read()
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        raise FileError(_BROKEN) from None
    return VrmSprings(())


class Nodes:
    """The nodes of a glTF at rest."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.rows = document.get("nodes", [])
        self.parents = [-1] * len(self.rows)
        for n, row in enumerate(self.rows):
            for child in row.get("children", ()):
                self.parents[child] = n
        self._worlds: dict[int, Array] = {}

    def has(self, index: Any) -> bool:
        return isinstance(index, int) and 0 <= index < len(self.rows)

    def name(self, index: Any) -> str:
        """The name of a node as Blender imports it, "" where there is none."""
        return self.rows[index].get("name", f"Node_{index}") if self.has(index) else ""

    def world(self, index: int) -> Array:
        """(4, 4)"""
        if index not in self._worlds:
            own, above = _matrix(self.rows[index]), self.parents[index]
            self._worlds[index] = own
            self._worlds[index] = self.world(above) @ own if above >= 0 else own
        return self._worlds[index]

    def distance(self, one: int, other: int) -> float:
        return float(np.linalg.norm(self.world(one)[:3, 3] - self.world(other)[:3, 3]))

    def rests(self) -> dict[str, Array]:
        """(4, 4) of all nodes by name, in the axes of Blender."""
        return {self.name(n): _AXES @ self.world(n) for n in reversed(range(len(self.rows)))}

    def children(self, index: int) -> list[int]:
        return self.rows[index].get("children", [])


def _matrix(node: dict[str, Any]) -> Array:
    if "matrix" in node:
        return np.array(node["matrix"], dtype=float).reshape(4, 4).T
    result = np.eye(4)
    x, y, z, w = node.get("rotation", (0.0, 0.0, 0.0, 1.0))
    result[:3, :3] = rotation.to_matrix(np.array([w, x, y, z])) * np.array(node.get("scale", (1.0, 1.0, 1.0)))
    result[:3, 3] = node.get("translation", (0.0, 0.0, 0.0))
    return result


def to_blender(vector: Sequence[float]) -> tuple[float, float, float]:
    """A direction of the world of glTF."""
    x, y, z = (float(value) for value in vector)
    return x, -z, y


def to_gltf(vector: Sequence[float]) -> list[float]:
    x, y, z = (float(value) for value in vector)
    return [x, z, -y]


def from_unity(vector: dict[str, float], default: Sequence[float] = (0.0, 0.0, 0.0)) -> tuple[float, float, float]:
    """A vector of VRM 0.x as one of glTF."""
    x, y, z = (float(vector.get(key, value)) for key, value in zip("xyz", default, strict=True))
    return x, y, -z


def _number(row: dict[str, Any], key: str, default: float) -> float:
    value = float(row.get(key, default))
    if not isfinite(value):
        raise FileError(_BROKEN)
    return value


def _pull(direction: Sequence[float], power: float) -> tuple[float, float, float]:
    long = float(np.linalg.norm(direction))
    way = direction if long > 1e-6 else DOWN
    x, y, z = (float(value) / (long if long > 1e-6 else 1.0) * power for value in way)
    return x, y, z


def unique(names: Sequence[str]) -> list[str]:
    """Names of groups that differ, without the sign that divides them."""
    found: list[str] = []
    for n, name in enumerate(names):
        plain = name.replace(",", " ").strip() or f"Group {n}"
        found.append(plain if plain not in found else f"{plain} {n}")
    return found


class _New:
    """Springs of VRM 1.0."""

    def __init__(self, nodes: Nodes, said: dict[str, Any]) -> None:
        self.nodes, self.said = nodes, said
        self.missing: list[str] = []
        self.others: list[Message] = []
        self.groups = unique([str(group.get("name", "")) for group in said.get("colliderGroups", ())])

    def read(self) -> VrmSprings:
        chains = [chain for chain in map(self._chain, self.said.get("springs", ())) if chain.joints]
        colliders = tuple(self._colliders())
        missing = tuple(dict.fromkeys(self.missing))
        others, groups = tuple(self.others), tuple(self.groups)
        return VrmSprings(tuple(chains), colliders, missing, others, groups, self.nodes.rests())

    def _chain(self, spring: dict[str, Any]) -> VrmChain:
        rows = []
        for row in spring.get("joints", ()):
            if self.nodes.has(row.get("node")):
                rows.append(row)
            else:
                self.missing.append(str(row.get("node")))
        joints = []
        for row, following in pairwise(rows):
            node = row["node"]
            pull = _pull(to_blender(row.get("gravityDir", (0.0, -1.0, 0.0))), _number(row, "gravityPower", 0.0))
            joints.append(
                VrmJoint(
                    self.nodes.name(node),
                    self.nodes.distance(node, following["node"]),
                    _number(row, "stiffness", 1.0),
                    _number(row, "dragForce", 0.5),
                    pull,
                    _number(row, "hitRadius", 0.0),
                )
            )
        known = [n for n in spring.get("colliderGroups", ()) if isinstance(n, int) and 0 <= n < len(self.groups)]
        center = self.nodes.name(spring.get("center"))
        return VrmChain(tuple(joints), center, tuple(self.groups[n] for n in known))

    def _colliders(self) -> Iterator[VrmCollider]:
        of = [
            tuple(
                self.groups[n] for n, group in enumerate(self.said.get("colliderGroups", ())) if m in group["colliders"]
            )
            for m in range(len(self.said.get("colliders", ())))
        ]
        for n, row in enumerate(self.said.get("colliders", ())):
            bone = self.nodes.name(row.get("node"))
            extended = row.get("extensions", {}).get(EXTENDED, {}).get("shape", {})
            shape = extended or row.get("shape", {})
            kind = next((kind for kind in ("sphere", "capsule", "plane") if kind in shape), "")
            if not bone or not kind:
                self.missing.append(str(row.get("node")))
                continue
            own = shape[kind]
            if own.get("inside"):
                self.others.append(inside(bone))
                continue
            begin = three(own.get("offset", (0.0, 0.0, 0.0)))
            end = three(own.get("tail", begin))
            if kind == "plane":
                end = three(np.add(begin, own.get("normal", (0.0, 0.0, 1.0))).tolist())
            yield VrmCollider(bone, kind.upper(), begin, end, float(own.get("radius", 0.0)), of[n], str(n))


def three(values: Sequence[float] | Array) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z


def inside(bone: str) -> Message:
    return Message(
        "The collider of the VRM file on '{name}' keeps springs inside; it is left out, since colliders here keep them "
        "outside.",
        name=bone,
    )


class _Old:
    """Springs of VRM 0.x."""

    def __init__(self, nodes: Nodes, said: dict[str, Any]) -> None:
        self.nodes, self.said = nodes, said
        self.missing: list[str] = []
        names = [nodes.name(group.get("node")) for group in said.get("colliderGroups") or ()]
        self.groups = unique(names)

    def read(self) -> VrmSprings:
        chains = [chain for group in self.said.get("boneGroups") or () for chain in self._chains(group)]
        colliders = tuple(self._colliders())
        missing, groups = tuple(dict.fromkeys(self.missing)), tuple(self.groups)
        return VrmSprings(tuple(chains), colliders, missing, groups=groups, rests=self.nodes.rests())

    def _chains(self, group: dict[str, Any]) -> Iterator[VrmChain]:
        way = from_unity(group.get("gravityDir") or {}, (0.0, -1.0, 0.0))
        pull = _pull(to_blender(way), _number(group, "gravityPower", 0.0))
        values = (
            _number(group, "stiffiness", 1.0),
            _number(group, "dragForce", 0.4),
            pull,
            _number(group, "hitRadius", 0.02),
        )
        known = [n for n in group.get("colliderGroups") or () if isinstance(n, int) and 0 <= n < len(self.groups)]
        for root in group.get("bones") or ():
            if not self.nodes.has(root):
                self.missing.append(str(root))
                continue
            for line in lines([root], self.nodes.children):
                following = [*line[1:], None]
                lengths = [
                    LAST_LENGTH if other is None else self.nodes.distance(node, other)
                    for node, other in zip(line, following, strict=True)
                ]
                named = zip(map(self.nodes.name, line), lengths, strict=True)
                joints = tuple(VrmJoint(name, length, *values) for name, length in named)
                yield VrmChain(joints, self.nodes.name(group.get("center")), tuple(self.groups[n] for n in known))

    def _colliders(self) -> Iterator[VrmCollider]:
        for n, group in enumerate(self.said.get("colliderGroups") or ()):
            bone = self.nodes.name(group.get("node"))
            if not bone:
                self.missing.append(str(group.get("node")))
                continue
            for m, row in enumerate(group.get("colliders") or ()):
                begin = from_unity(row.get("offset") or {})
                radius = float(row.get("radius", 0.0))
                yield VrmCollider(bone, "SPHERE", begin, begin, radius, (self.groups[n],), f"{n}:{m}")
