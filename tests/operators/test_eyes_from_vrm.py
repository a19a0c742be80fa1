"""Eyes from VRM: both versions and both types of the format, and what it says where a file does not fit."""

import json
import struct

import bpy
import numpy as np
import pytest

from extension import load

from ..rig import scenes
from ..rig.look_at.body import bodies, faces

vrm = load("rig.detection.vrm")
errors = load("lookat_pd.errors")
LOOKS = ("lookLeft", "lookRight", "lookUp", "lookDown")
NODES = [{"name": "eye.L"}, {"name": "eye.R"}, {"name": "Face", "mesh": 0}]
MESHES = [{"primitives": [{}], "extras": {"targetNames": list(LOOKS)}}]


def new(kind: str, out: float = 1.0, weight: float = 1.0) -> dict:
    """VRM 1.0 whose eyes turn `out` at 30 degrees."""
    names = ("HorizontalInner", "HorizontalOuter", "VerticalUp", "VerticalDown")
    look = {f"rangeMap{name}": {"inputMaxValue": 30.0, "outputScale": out} for name in names}
    binds = {name: {"morphTargetBinds": [{"node": 2, "index": n, "weight": weight}]} for n, name in enumerate(LOOKS)}
    bones = {"leftEye": {"node": 0}, "rightEye": {"node": 1}}
    return {
        "lookAt": {"type": kind, **look},
        "humanoid": {"humanBones": bones},
        "expressions": {"preset": binds},
    }


def old(kind: str, out: float = 1.0, weight: float = 100.0) -> dict:
    """The same in VRM 0.x."""
    names = ("HorizontalInner", "HorizontalOuter", "VerticalUp", "VerticalDown")
    look = {f"lookAt{name}": {"xRange": 30.0, "yRange": out} for name in names}
    groups = [
        {"presetName": name.lower(), "binds": [{"mesh": 0, "index": n, "weight": weight}]}
        for n, name in enumerate(LOOKS)
    ]
    bones = [{"bone": "leftEye", "node": 0}, {"bone": "rightEye", "node": 1}]
    return {
        "firstPerson": {"lookAtTypeName": kind, **look},
        "humanoid": {"humanBones": bones},
        "blendShapeMaster": {"blendShapeGroups": groups},
    }


def document(**extensions: dict) -> dict:
    return {"asset": {"version": "2.0"}, "nodes": NODES, "meshes": MESHES, "extensions": extensions}


def write(path, found: dict) -> str:
    text = json.dumps(found).encode()
    text += b" " * (-len(text) % 4)
    path.write_bytes(struct.pack("<4sIIII", b"glTF", 2, 20 + len(text), len(text), 0x4E4F534A) + text)
    return str(path)


@pytest.mark.every_blender
@pytest.mark.parametrize("found", [document(VRMC_vrm=new("bone", 12.0)), document(VRM=old("Bone", 12.0))])
def test_bones_with_their_ranges(found, tmp_path) -> None:
    armature = bodies.person(moving=False)
    eyes = bodies.look(armature, scenes.ball()).eyes
    assert bpy.ops.lookat_pd.eyes_from_vrm(filepath=write(tmp_path / "a.vrm", found)) == {"FINISHED"}
    assert (eyes.turned_by, eyes.left, eyes.right) == ("BONES", "eye.L", "eye.R")
    limits = [eyes.yaw_limit, eyes.pitch_up_limit, eyes.pitch_down_limit]
    assert np.allclose(np.degrees(limits), 12.0, atol=1e-4)


def test_a_file_beside_the_blend_file(tmp_path) -> None:
    """Blender's file browser gives relative paths."""
    eyes = bodies.look(bodies.person(moving=False), scenes.ball()).eyes
    write(tmp_path / "a.vrm", document(VRMC_vrm=new("bone", 12.0)))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    assert bpy.ops.lookat_pd.eyes_from_vrm(filepath="//a.vrm") == {"FINISHED"}
    assert eyes.turned_by == "BONES"


@pytest.mark.parametrize("found", [document(VRMC_vrm=new("expression")), document(VRM=old("BlendShape"))])
def test_expressions_look_at_the_target(found, tmp_path) -> None:
    _, item, settings = faces.person(faces.BOTH)
    path = write(tmp_path / "a.vrm", found)
    assert bpy.ops.lookat_pd.eyes_from_vrm(filepath=path) == {"FINISHED"}
    eyes = settings.eyes
    assert eyes.turned_by == "SHAPE_KEYS" and [row.shape_key for row in eyes.shapes] == list(LOOKS)
    assert np.allclose(np.degrees([row.angle for row in eyes.shapes]), 30.0, atol=1e-4)
    load("rig.layers.live").finish(bpy.context.scene)
    target = bpy.data.objects["Ball"].location
    assert faces.errors(item, [50, 60], lambda: target).max() < 2.0


VERSIONS = {
    "1.0": {"bones": document(VRMC_vrm=new("bone", 30.0)), "keys": document(VRMC_vrm=new("expression"))},
    "0.x": {"bones": document(VRM=old("Bone", 30.0)), "keys": document(VRM=old("BlendShape"))},
}


@pytest.mark.thorough
@pytest.mark.parametrize("version", VERSIONS)
def test_the_gaze_of_expressions_is_that_of_bones(version, tmp_path) -> None:
    """Of one character at every frame, although its expressions turn both eyes alike."""
    armature = bodies.person(moving=False)
    item = faces.face(armature, faces.BOTH)
    settings = bodies.look(armature, scenes.ball((0.6, -1.5, 2.0)))
    settings.eyes.head_share = 0.3
    scenes.settings_keyed(armature, "head", "use", [(1, False), (20, True), (50, False)])
    seen = {}
    for kind in ("bones", "keys"):
        path = write(tmp_path / f"{kind}.vrm", VERSIONS[version][kind])
        assert bpy.ops.lookat_pd.eyes_from_vrm(filepath=path) == {"FINISHED"}
        load("rig.layers.live").finish(bpy.context.scene)
        seen[kind] = []
        for frame in range(15, 60):
            directions = faces.gaze(item, frame)[1]
            if kind == "bones":
                posed = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
                directions = np.array([np.array(posed[eye].matrix)[:3, 1] for eye in bodies.EYES])
            seen[kind].append(directions)
    off = np.degrees(faces.rotation.angle_between(np.array(seen["bones"]), np.array(seen["keys"])))
    assert np.ptp(np.array(seen["keys"]), axis=0).max() > 0.2
    assert off.max() < 2.0


def test_weights_and_scales_of_expressions_become_angles() -> None:
    for found in (document(VRMC_vrm=new("expression", 0.5, 0.5)), document(VRM=old("BlendShape", 0.5, 50.0))):
        seen = vrm.eyes(found)
        # A quarter of the shape key looks 30 degrees aside, so all of it would be 120: no eye turns that far.
        assert np.allclose(np.degrees([angle for *_, angle in seen.shapes]), 90.0)
        assert np.allclose(np.degrees(seen.limits), 30.0)


def broken(found: dict, **values) -> dict:
    found["extensions"]["VRMC_vrm"]["lookAt"]["rangeMapVerticalUp"].update(values)
    return found


BAD = [
    (document(VRMC_vrm=new("bone"), VRM=old("BlendShape")), "both by bones and by expressions"),
    (broken(document(VRMC_vrm=new("bone")), inputMaxValue=float("nan")), "not a number above 0"),
]
"""Both types at once, and a range that is not a number."""


@pytest.mark.parametrize(
    ("found", "words"),
    [
        *BAD,
        (document(), "no VRM data"),
        (broken(document(VRMC_vrm=new("bone")), outputScale=-1.0), "not a number above 0"),
        (document(VRMC_vrm=new("expression", 1.0, 0.0)), "weight of a look expression"),
        (document(VRMC_vrm={"lookAt": 3}), "VRM data of the file is broken"),
        (document(VRMC_vrm={**new("bone"), "humanoid": {"humanBones": {}}}), "no bones for both eyes"),
        (document(VRMC_vrm={**new("bone"), "humanoid": {"humanBones": {"leftEye": {"node": 9}}}}), "no bones for both"),
    ],
)
def test_bad_files_are_one_sentence(found, words) -> None:
    with pytest.raises(errors.FileError, match=words):
        vrm.eyes(found)


def test_what_the_character_has_not_changes_nothing(tmp_path) -> None:
    armature = scenes.figure("Person", faces.EYELESS)
    eyes = bodies.look(armature, scenes.ball()).eyes
    for found in (document(VRMC_vrm=new("bone")), document(VRMC_vrm=new("expression"))):
        with pytest.raises(RuntimeError, match=r"has no bone|has a shape key"):
            bpy.ops.lookat_pd.eyes_from_vrm(filepath=write(tmp_path / "a.vrm", found))
        assert eyes.turned_by == "AUTO" and not len(eyes.shapes) and not eyes.left
    for found, words in BAD:
        with pytest.raises(RuntimeError, match=words):
            bpy.ops.lookat_pd.eyes_from_vrm(filepath=write(tmp_path / "a.vrm", found))
        assert eyes.turned_by == "AUTO" and not len(eyes.shapes) and not eyes.left
        assert not eyes.is_property_set("yaw_limit")
    (tmp_path / "text.vrm").write_text("no")
    with pytest.raises(RuntimeError, match="not a VRM file"):
        bpy.ops.lookat_pd.eyes_from_vrm(filepath=str(tmp_path / "text.vrm"))
