"""Bakes of files with VRM data: what the file says turns the eyes, without a look-at that says it."""

import json
import struct
from pathlib import Path

import bpy
import numpy as np
import pytest

from ..rig import scenes
from ..rig.look_at.body import bodies, faces

KEYS = {f"Pose {n}": row for n, row in enumerate(faces.BOTH.values())}
"""Shape keys whose names say nothing, in the order left, right, up, down."""
LOOKS = ("lookLeft", "lookRight", "lookUp", "lookDown")
_HEADER = struct.Struct("<4sIIII")


def with_eyes(path: Path, said: dict) -> Path:
    """The same .glb with VRM 1.0 data."""
    content = path.read_bytes()
    magic, version, _, size, kind = _HEADER.unpack_from(content)
    document = json.loads(content[_HEADER.size : _HEADER.size + size])
    mesh = next(n for n, node in enumerate(document["nodes"]) if "mesh" in node)
    names = ("HorizontalInner", "HorizontalOuter", "VerticalUp", "VerticalDown")
    ranges = {f"rangeMap{name}": {"inputMaxValue": 30.0, "outputScale": 1.0} for name in names}
    binds = {name: {"morphTargetBinds": [{"node": mesh, "index": n, "weight": 1.0}]} for n, name in enumerate(LOOKS)}
    made = {"lookAt": {"type": "expression", **ranges}, "expressions": {"preset": binds}, **said}
    document["extensions"] = {"VRMC_vrm": made}
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    rest = content[_HEADER.size + size :]
    path.write_bytes(_HEADER.pack(magic, version, _HEADER.size + len(text) + len(rest), len(text), kind) + text + rest)
    return path


@pytest.fixture
def character(tools, tmp_path) -> Path:
    armature = scenes.figure("Person", faces.EYELESS)
    scenes.animate(armature, bones=bodies.CHAIN)
    faces.face(armature, KEYS)
    bpy.context.scene.frame_end = 60
    return tools.export(tmp_path / "person.glb")


def values(path: Path, tools) -> np.ndarray:
    """The largest value of each shape key over the baked frames."""
    tools.reopen(path)
    keys = next(item.data.shape_keys for item in bpy.data.objects if item.type == "MESH" and item.data.shape_keys)
    found = []
    for frame in range(1, 61, 3):
        bpy.context.scene.frame_set(frame)
        found.append([keys.key_blocks[name].value for name in KEYS])
    return np.max(found, axis=0)


@pytest.mark.parametrize("ending", ["glb", "vrm"])
def test_expressions_of_the_file_turn_the_eyes(call, tools, tmp_path, character, ending) -> None:
    source, output = tmp_path / f"in.{ending}", tmp_path / "out.blend"
    with_eyes(character, {}).rename(source)
    words = ("--point=-1.5,-1.5,2.2", "--body=eyes", "--output", output)
    result = call("bake", source, *words)
    assert result.code == 0, result.errors
    assert not [text for text in result.row["warnings"] if "eyes" in text]
    left, right, up, _ = values(output, tools)
    assert max(left, right) > 0.1
    assert up > 0.02


def test_without_the_data_they_are_not_found(call, tools, tmp_path, character) -> None:
    output = tmp_path / "out.blend"
    assert call("bake", character, "--point=-1.5,-1.5,2.2", "--body=eyes", "--output", output).code == 0
    assert not values(output, tools).any()


def test_data_that_does_not_fit_is_a_warning(call, tmp_path, character) -> None:
    with_eyes(character, {"lookAt": {"type": "bone"}, "humanoid": {"humanBones": {}}})
    result = call("bake", character, "--point=-1.5,-1.5,2.2", "--body=eyes", "--output", tmp_path / "out.blend")
    assert result.code == 0
    warnings = [text for text in result.row["warnings"] if "no bones for both eyes" in text]
    assert len(warnings) == 1 and "found by their names" in warnings[0]
