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
    document["extensions"] = {"VRMC_vrm": made, **({"VRM": said["VRM"]} if "VRM" in said else {})}
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


@pytest.mark.every_blender
@pytest.mark.parametrize("ending", ["glb", "vrm"])
def test_expressions_of_the_file_turn_the_eyes(call, tools, tmp_path, character, ending) -> None:
    source, output = tmp_path / f"in.{ending}", tmp_path / "out.blend"
    with_eyes(character, {}).rename(source)
    words = ("--point=-1.5,-1.5,2.2", "--body=eyes", "--stabilize=0", "--output", output)
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


BONES = {"humanoid": {"humanBones": {}}}
NEGATIVE = {"lookAt": {"type": "expression", "rangeMapVerticalUp": {"inputMaxValue": -1.0, "outputScale": 1.0}}}
NAN = {"lookAt": {"type": "expression", "rangeMapVerticalUp": {"inputMaxValue": float("nan"), "outputScale": 1.0}}}
BOTH_TYPES = {
    "VRM": {
        "firstPerson": {"lookAtTypeName": "Bone"},
        "humanoid": {"humanBones": [{"bone": "leftEye", "node": 0}, {"bone": "rightEye", "node": 0}]},
    }
}


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"lookAt": {"type": "bone"}, **BONES}, "no bones for both eyes"),
        (NEGATIVE, "not a number above 0"),
        (BOTH_TYPES, "both by bones and by expressions"),
    ],
)
def test_data_that_does_not_fit_is_a_warning(call, tmp_path, character, said, words) -> None:
    with_eyes(character, said)
    result = call("bake", character, "--point=-1.5,-1.5,2.2", "--body=eyes", "--output", tmp_path / "out.blend")
    assert result.code == 0
    warnings = [text for text in result.row["warnings"] if words in text]
    assert len(warnings) == 1 and "found by their names" in warnings[0]


def test_a_range_that_is_not_a_number_is_one_sentence(call, tmp_path, character) -> None:
    """Blender's importer does not read such a file at all."""
    with_eyes(character, NAN)
    result = call("bake", character, "--point=-1.5,-1.5,2.2", "--body=eyes", "--output", tmp_path / "out.blend")
    assert result.code == 1 and len(result.errors) == 1
    assert "cannot read it" in result.row["error"]
    assert not (tmp_path / "out.blend").exists()


@pytest.mark.slow
def test_a_baked_glb_plays_the_eyes_of_a_vrm(call, tools, tmp_path, character) -> None:
    """The file by itself: the eyeballs look at the point."""
    point, output = np.array([-0.6, -1.5, 2.0]), tmp_path / "out.glb"
    with_eyes(character, {}).rename(tmp_path / "in.vrm")
    words = ("--point=-0.6,-1.5,2.0", "--body=eyes", "--output", output)
    row = call("bake", tmp_path / "in.vrm", *words).row
    assert row["ok"]
    tools.reopen(output)
    rig = next(other for other in bpy.data.objects if other.type == "ARMATURE")
    tools.play(rig, row["action"])
    (item,) = [other for other in bpy.data.objects if other.type == "MESH" and other.data.shape_keys]
    data = item.data.shape_keys.animation_data
    for track in data.nla_tracks:
        track.mute = True
    data.action = rig.animation_data.action
    data.action_slot = next(slot for slot in data.action.slots if slot.target_id_type == "KEY")
    for frame in (30, 45, 58):
        directions = faces.between_poles(item, frame)
        wanted = point - faces.middles(item)
        assert np.degrees(faces.rotation.angle_between(directions, wanted)).max() < 2.0


def test_shape_keys_missing_on_one_side_are_a_warning(call, tools, tmp_path) -> None:
    armature = scenes.figure("Person", faces.EYELESS)
    scenes.animate(armature, bones=bodies.CHAIN)
    faces.face(armature, {name: row for name, row in faces.ARKIT.items() if name != "eyeLookUpRight"})
    source = tools.save(tmp_path / "in.blend")
    result = call("bake", source, "--point=-1.5,-1.5,2.2", "--body=eyes", "--output", tmp_path / "out.blend")
    assert result.code == 0
    assert [text for text in result.row["warnings"] if "turns the right eye up" in text]
    tools.reopen(tmp_path / "out.blend")
    keys = next(item.data.shape_keys for item in bpy.data.objects if item.type == "MESH")
    assert not keys.animation_data or not keys.animation_data.action
