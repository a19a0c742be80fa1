"""What a VRM file says about its eyes: whether bones or expressions turn them, which, and how far.

Read from the JSON part of the file: extension `VRM` of VRM 0.x (`firstPerson`) and `VRMC_vrm` of VRM 1.0 (`lookAt`).
Source: https://github.com/vrm-c/vrm-specification.
"""

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite, radians
from pathlib import Path
from typing import Any

from ...lookat_pd.errors import FileError
from . import glb

_DIRECTIONS = ("LEFT", "RIGHT", "UP", "DOWN")
_RANGES = {
    "LEFT": ("HorizontalOuter", "HorizontalInner"),
    "RIGHT": ("HorizontalOuter", "HorizontalInner"),
    "UP": ("VerticalUp",),
    "DOWN": ("VerticalDown",),
}
_MOST = 90.0
"""Largest angle [deg] of a range that is taken for one."""


@dataclass(frozen=True)
class VrmEyes:
    """The eyes as the VRM data of a file have them."""

    bones: tuple[str, str] | None
    """Bones of the left and the right eye, where bones turn them."""
    shapes: tuple[tuple[str, str, float], ...]
    """A row for each shape key that turns them otherwise: name, direction and angle [rad] at value 1."""
    limits: tuple[float, float, float]
    """Limits to the side, up and down [rad]."""


def read(path: Path) -> VrmEyes:
    """The eyes of a VRM file. Raises FileError."""
    return eyes(document(path))


def read_any(path: Path) -> VrmEyes | None:
    """The eyes of a file that may be a VRM file; None for another glTF. Raises FileError."""
    found = document(path)
    extensions = found.get("extensions", {})
    return eyes(found) if isinstance(extensions, dict) and {"VRM", "VRMC_vrm"} & extensions.keys() else None


def document(path: Path) -> dict[str, Any]:
    """The JSON part of a VRM file or of another .glb. Raises FileError."""
    try:
        with path.open("rb") as file:
            header = file.read(glb.HEADER + glb.PART)
            size, kind = struct.unpack_from("<II", header, glb.HEADER)
            # No more than the JSON part, which comes first: meshes and images are large.
            document = json.loads(file.read(size)) if header[:4] == glb.MAGIC and kind == glb.JSON else None
    except (OSError, struct.error, ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise FileError("'{name}' is not a VRM file that can be read; choose another file.", name=path.name)
    return document


def eyes(document: dict[str, Any]) -> VrmEyes:
    """The eyes of a VRM file with this JSON part. Raises FileError."""
    try:
        said = document.get("extensions", {})
        variants = [_eyes(document, said[name], name) for name in ("VRMC_vrm", "VRM") if name in said]
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        raise FileError("The VRM data of the file is broken; export it again.") from None
    if not variants:
        raise FileError("The file has no VRM data; choose a VRM file.")
    if len({one.bones is None for one in variants}) > 1:
        raise FileError("The VRM file turns the eyes both by bones and by expressions; export it with one of them.")
    return variants[0]


def _eyes(document: dict[str, Any], said: dict[str, Any], name: str) -> VrmEyes:
    is_new = name == "VRMC_vrm"
    look = said.get("lookAt", {}) if is_new else said.get("firstPerson", {})
    kind = look.get("type", "bone") if is_new else look.get("lookAtTypeName", "Bone")
    ranges = {direction: _range(look, direction, is_new=is_new) for direction in _DIRECTIONS}
    if kind.lower() == "bone":
        angles = {direction: out for direction, (_, out) in ranges.items()}
        return VrmEyes(_bones(document, said, is_new=is_new), (), _limits(angles))
    rows, angles = [], {}
    for direction in _DIRECTIONS:
        seen, out = ranges[direction]
        angles[direction] = seen * min(1.0, 1.0 / out)
        for shape, weight in _expression(document, said, direction, is_new=is_new):
            # At value 1 the shape key is further than the expression at its end, which is `out` of its weight.
            rows.append((shape, direction, radians(min(seen / (out * weight), _MOST))))
    return VrmEyes(None, tuple(rows), _limits(angles))


def _limits(angles: dict[str, float]) -> tuple[float, float, float]:
    side = min(angles["LEFT"], angles["RIGHT"])
    return radians(side), radians(angles["UP"]), radians(angles["DOWN"])


def _range(look: dict[str, Any], direction: str, *, is_new: bool) -> tuple[float, float]:
    """Angle [deg] from which on eyes turn no further, and the angle [deg] or weight there; the lesser of both eyes."""
    rows = []
    for name in _RANGES[direction]:
        row = look.get(f"rangeMap{name}" if is_new else f"lookAt{name}", {})
        keys = ("inputMaxValue", "outputScale") if is_new else ("xRange", "yRange")
        seen, out = (float(row.get(key, default)) for key, default in zip(keys, (_MOST, 10.0), strict=True))
        if not (isfinite(seen) and isfinite(out) and seen > 0.0 and out > 0.0):
            raise FileError("A range of the eyes in the VRM file is not a number above 0; export it again.")
        rows.append((min(seen, _MOST), min(out, _MOST)))
    return min(rows, key=lambda row: row[1])


def _bones(document: dict[str, Any], said: dict[str, Any], *, is_new: bool) -> tuple[str, str]:
    bones = said["humanoid"]["humanBones"]
    nodes = {name: row["node"] for name, row in bones.items()} if is_new else {b["bone"]: b["node"] for b in bones}
    if not {"leftEye", "rightEye"} <= nodes.keys():
        raise FileError("The VRM file names no bones for both eyes; choose them in the Eyes panel.")
    left, right = (document["nodes"][nodes[name]]["name"] for name in ("leftEye", "rightEye"))
    return left, right


def _expression(
    document: dict[str, Any], said: dict[str, Any], direction: str, *, is_new: bool
) -> Iterator[tuple[str, float]]:
    """The shape keys of the expression that looks in a direction, with their weights above 0."""
    if is_new:
        row = said.get("expressions", {}).get("preset", {}).get(f"look{direction.title()}", {})
        for bind in row.get("morphTargetBinds", ()):
            yield _shape(document, document["nodes"][bind["node"]]["mesh"], bind["index"]), _weight(bind["weight"], 1.0)
        return
    for group in said.get("blendShapeMaster", {}).get("blendShapeGroups", ()):
        if group.get("presetName", "").lower() == f"look{direction.lower()}":
            for bind in group.get("binds", ()):
                yield _shape(document, bind["mesh"], bind["index"]), _weight(bind["weight"], 100.0)


def _weight(value: float, whole: float) -> float:
    weight = float(value) / whole
    if not (isfinite(weight) and weight > 0.0):
        raise FileError("A weight of a look expression in the VRM file is not a number above 0; export it again.")
    return weight


def _shape(document: dict[str, Any], mesh: int, index: int) -> str:
    """The name that Blender gives to a morph target."""
    row = document["meshes"][mesh]
    for holder in (row, *row["primitives"]):
        names = holder.get("extras", {}).get("targetNames", ())
        if index < len(names):
            return names[index]
    return f"target_{index}"
