"""VRM files as stand-ins of those that people have: a .glb with the data of VRM."""

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

_HEADER = struct.Struct("<4sIIII")


def document(path: Path) -> dict[str, Any]:
    """The JSON part of a file."""
    content = path.read_bytes()
    size = _HEADER.unpack_from(content)[3]
    return json.loads(content[_HEADER.size : _HEADER.size + size])


def changed(path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """The same file with a changed JSON part."""
    content = path.read_bytes()
    magic, version, _, size, kind = _HEADER.unpack_from(content)
    made = document(path)
    change(made)
    text = json.dumps(made).encode()
    text += b" " * (-len(text) % 4)
    rest = content[_HEADER.size + size :]
    path.write_bytes(_HEADER.pack(magic, version, _HEADER.size + len(text) + len(rest), len(text), kind) + text + rest)
    return path


def node(made: dict[str, Any], name: str) -> int:
    return next(n for n, row in enumerate(made["nodes"]) if row.get("name") == name)


def with_new_springs(path: Path, bones: tuple[str, ...], **spring: Any) -> Path:
    """VRM 1.0: one chain whose joints become softer, and a sphere and a capsule on the hips."""

    def change(made: dict[str, Any]) -> None:
        rows = [
            {
                "node": node(made, bone),
                "stiffness": 1.2 - 0.2 * n,
                "dragForce": 0.4 + 0.05 * n,
                "gravityPower": 0.1,
                "gravityDir": [0, -1, 0],
                "hitRadius": 0.02,
            }
            for n, bone in enumerate(bones)
        ]
        hips = node(made, "hips")
        sphere = {"node": hips, "shape": {"sphere": {"offset": [0.0, 0.05, 0.0], "radius": 0.08}}}
        capsule = {"node": hips, "shape": {"capsule": {"offset": [0.1, 0, 0], "tail": [0.1, 0.2, 0], "radius": 0.05}}}
        own = {"name": "Tail", "joints": rows, "colliderGroups": [0], "center": hips, "extras": {"kept": 1}, **spring}
        made.setdefault("extensionsUsed", []).append("VRMC_springBone")
        made.setdefault("extensions", {})["VRMC_springBone"] = {
            "specVersion": "1.0",
            "colliders": [sphere, capsule],
            "colliderGroups": [{"name": "Body", "colliders": [0, 1]}],
            "springs": [own],
        }

    return changed(path, change)


def with_old_springs(path: Path, roots: tuple[str, ...], **group: Any) -> Path:
    """VRM 0.x: one group with these bones, and a sphere on the hips."""

    def change(made: dict[str, Any]) -> None:
        own = {
            "comment": "soft",
            "stiffiness": 0.8,
            "gravityPower": 0.2,
            "gravityDir": {"x": 0, "y": -1, "z": 0},
            "dragForce": 0.35,
            "center": -1,
            "hitRadius": 0.03,
            "bones": [node(made, root) for root in roots],
            "colliderGroups": [0],
            **group,
        }
        sphere = {"offset": {"x": 0.0, "y": 0.1, "z": 0.0}, "radius": 0.1}
        body = {"node": node(made, "hips"), "colliders": [sphere]}
        made.setdefault("extensionsUsed", []).append("VRM")
        made.setdefault("extensions", {})["VRM"] = {
            "secondaryAnimation": {"boneGroups": [own], "colliderGroups": [body]}
        }

    return changed(path, change)
