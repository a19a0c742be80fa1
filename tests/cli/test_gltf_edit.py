"""A glTF output is its input with animations added: the rest is the same to the byte, poses as of a whole import."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import bpy
import numpy as np
import pytest

from extension import load

AIM = ("--point=0.4,-2,1.7",)
FILES = ("khronos_fox", "godot_platformer_robot", "m2m_snake", "robot_expressive")


def solid(path: Path, folder: Path) -> Path:
    """The character with a mesh that has a shape key, extras and a material, as a .glb; its mesh hangs on the head."""
    hero = bpy.data.objects["Hero"]
    bpy.ops.mesh.primitive_cube_add(size=0.2)
    cube = bpy.context.object
    cube.name, cube["note"] = "Helmet", "kept"
    cube.parent, cube.parent_type, cube.parent_bone = hero, "BONE", "head"
    cube.shape_key_add(name="Basis")
    cube.shape_key_add(name="Wide").data[0].co.x += 0.1
    cube.data.materials.append(bpy.data.materials.new("Steel"))
    bpy.ops.export_scene.gltf(filepath=str(path), export_format="GLB", export_extras=True)
    return path


@pytest.fixture
def helmet(tools, tmp_path) -> Path:
    tools.make_character()
    return solid(tmp_path / "helmet.glb", tmp_path)


def check_same_but_for_animations(source: Path, output: Path) -> None:
    """All that the input has is in the output as it was, byte for byte, but for the note of who has written it."""
    gltf = load("cli.gltf")
    (text, binary), (made, longer) = gltf.parts(source), gltf.parts(output)
    before, after = gltf.sections(text), gltf.sections(made)
    asset = json.loads(after["asset"])
    assert asset["extras"].pop("lookat_pd")
    assert {**asset, "extras": asset["extras"] or None} == {"extras": None, **json.loads(before["asset"])}
    del before["asset"], after["asset"]
    added = {"animations", "accessors", "bufferViews", "buffers"}
    assert {key: after[key] for key in before.keys() - added} == {key: before[key] for key in before.keys() - added}
    assert after.keys() - before.keys() <= added
    for key in before.keys() & (added - {"buffers"}):
        old = list(gltf.items(before[key]))
        assert list(gltf.items(after[key]))[: len(old)] == old
    size = json.loads(before["buffers"])[0]["byteLength"]
    assert longer[:size] == binary[:size]


@pytest.fixture
def exported(call, monkeypatch):
    """The command line by the exporter."""

    def run(*words: object):
        with monkeypatch.context() as patched:
            patched.setattr(load("cli.each_file"), "_edited", lambda *_: None)
            return call(*words)

    return run


def poses(path: Path, tools, clip: str, fps: int, frames: list[int]) -> dict[str, np.ndarray]:
    """Matrices (frames, 4, 4) of all bones of the largest armature in the world."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.render.fps = fps
    if path.suffix == ".blend":
        bpy.ops.wm.open_mainfile(filepath=str(path))
    else:
        bpy.ops.import_scene.gltf(filepath=str(path))
    rigs = [item for item in bpy.data.objects if item.type == "ARMATURE"]
    rig = max(rigs, key=lambda item: len(item.pose.bones))
    rig.animation_data.action = bpy.data.actions[clip]
    rig.animation_data.action_slot = load("rig.detection.moving_actions").suitable_slot(rig, bpy.data.actions[clip])
    found: dict[str, list] = {bone.name: [] for bone in rig.pose.bones}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        for bone in evaluated.pose.bones:
            found[bone.name].append(np.array(evaluated.matrix_world @ bone.matrix))
    return {name: np.array(matrices) for name, matrices in found.items()}


def check_alike(ours: dict, theirs: dict, tolerance: float) -> None:
    assert ours.keys() == theirs.keys()
    reach = max(np.abs(matrices[:, :3, 3]).max() for matrices in theirs.values())
    size = max(np.abs(matrices[:, :3, :3]).max() for matrices in theirs.values())
    for name in ours:
        off = np.abs(ours[name] - theirs[name])
        assert off[:, :3, :3].max() <= tolerance * size and off[:, :3, 3].max() <= tolerance * reach, name


@pytest.mark.every_blender
def test_everything_but_the_animation_is_the_same_to_the_byte(helmet, call, tmp_path) -> None:
    outcome = call("bake", helmet, "--output", tmp_path / "out.glb", *AIM)
    assert outcome.code == 0
    check_same_but_for_animations(helmet, tmp_path / "out.glb")
    document, _ = load("cli.gltf").read(tmp_path / "out.glb")
    assert [animation["name"] for animation in document["animations"]] == ["Walk", "Walk look-at"]
    again = call("bake", helmet, "--output", tmp_path / "again.glb", *AIM, "--skip-done")
    assert again.code == 0
    noted, _ = load("cli.gltf").read(tmp_path / "again.glb")
    assert noted["asset"].pop("extras") != document["asset"].pop("extras") and noted == document


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--range", -5, 30), ("--into", "current"), ("--fps", 48)])
def test_poses_are_those_of_the_whole_file(helmet, call, exported, tools, tmp_path, words) -> None:
    ours = call("bake", helmet, "--output", tmp_path / "ours.glb", *AIM, *words).row
    theirs = exported("bake", helmet, "--output", tmp_path / "theirs.glb", *AIM, *words).row
    same = ours.keys() - {"output", "seconds", "run"}
    assert {key: ours[key] for key in same} == {key: theirs[key] for key in same}
    # A clip of glTF begins at second 0.
    start, fps = min(ours["frames"][0], 0), round(ours["fps"])
    frames = [*range(0, 31, 3)]
    clip = poses(tmp_path / "ours.glb", tools, ours["action"], fps, [frame - start for frame in frames])
    check_alike(clip, poses(tmp_path / "theirs.glb", tools, ours["action"], fps, [n - start for n in frames]), 1e-4)
    call("bake", helmet, "--output", tmp_path / "whole.blend", *AIM, *words)
    check_alike(clip, poses(tmp_path / "whole.blend", tools, ours["action"], fps, frames), 1e-5)


def test_a_gltf_with_files_beside_it_becomes_one_file(tools, call, tmp_path) -> None:
    tools.make_character()
    bpy.ops.export_scene.gltf(filepath=str(tmp_path / "in.gltf"), export_format="GLTF_SEPARATE")
    assert call("bake", tmp_path / "in.gltf", "--output", tmp_path / "out.glb", *AIM).code == 0
    document, binary = load("cli.gltf").read(tmp_path / "out.glb")
    assert "uri" not in document["buffers"][0]
    beside = next(tmp_path.glob("*.bin")).read_bytes()
    assert binary[: len(beside)] == beside
    tools.reopen(tmp_path / "out.glb")
    assert {"Walk", "Walk look-at"} <= {action.name for action in bpy.data.actions}


@pytest.mark.thorough
def test_nodes_with_a_matrix_get_parts_where_they_are_animated(helmet, call, exported, tools, tmp_path) -> None:
    gltf = load("cli.gltf")
    text, binary = gltf.parts(helmet)
    document = json.loads(text)
    head = next(node for node in document["nodes"] if node.get("name") == "neck")
    for channel in list(document["animations"][0]["channels"]):
        if document["nodes"][channel["target"]["node"]] is head:
            document["animations"][0]["channels"].remove(channel)
    matrix = np.eye(4)
    matrix[3, :3] = head.pop("translation")
    head.pop("rotation", None)
    head["matrix"] = matrix.reshape(-1).tolist()
    source = tmp_path / "matrix.glb"
    source.write_bytes(gltf.assemble(json.dumps(document), binary))
    ours = call("bake", source, "--output", tmp_path / "ours.glb", *AIM).row
    made, _ = gltf.read(tmp_path / "ours.glb")
    node = next(node for node in made["nodes"] if node.get("name") == "neck")
    assert "matrix" not in node and node["translation"] == pytest.approx(matrix[3, :3])
    exported("bake", source, "--output", tmp_path / "theirs.glb", *AIM)
    frames = list(range(0, 40, 3))
    clips = [poses(tmp_path / f"{name}.glb", tools, ours["action"], 24, frames) for name in ("ours", "theirs")]
    # The neck has no keys that say how Blender has rounded its rest.
    check_alike(*clips, tolerance=1e-4)


@pytest.mark.thorough
def test_two_animations_of_one_name_are_exported(helmet, call, tools, tmp_path) -> None:
    gltf = load("cli.gltf")
    text, binary = gltf.parts(helmet)
    document = json.loads(text)
    document["animations"].append(dict(document["animations"][0]))
    source = tmp_path / "twice.glb"
    source.write_bytes(gltf.assemble(json.dumps(document), binary))
    outcome = call("bake", source, "--output", tmp_path / "out.glb", *AIM, "--action", "Walk")
    assert outcome.code == 0, outcome.errors
    assert "Walk look-at" in [item["name"] for item in gltf.read(tmp_path / "out.glb")[0]["animations"]]


def test_broken_accessors_are_reported_in_one_sentence(helmet, call, tmp_path) -> None:
    gltf = load("cli.gltf")
    text, binary = gltf.parts(helmet)
    document = json.loads(text)
    document["animations"][0]["samplers"][0]["output"] = 10_000
    source = tmp_path / "broken.glb"
    source.write_bytes(gltf.assemble(json.dumps(document), binary))
    outcome = call("bake", source, "--output", tmp_path / "out.glb", *AIM)
    assert outcome.code == 1 and len(outcome.errors) == 1 and "export it again" in outcome.row["error"]
    assert not (tmp_path / "out.glb").exists()


def test_sections_and_items_are_the_text_itself() -> None:
    gltf = load("cli.gltf")
    text = ' {\n "a" : [1.0, {"b": "}, ]"} ,[ ]],"c":1e-05 , "d\\"e": "x" }\n'
    assert gltf.sections(text) == {"a": '[1.0, {"b": "}, ]"} ,[ ]]', "c": "1e-05", 'd"e': '"x"'}
    assert list(gltf.items('[1.0, {"b": "}, ]"} ,[ ]]')) == ["1.0", '{"b": "}, ]"}', "[ ]"]
    assert json.loads(gltf.joined(gltf.sections(text))) == json.loads(text)


def rig_file(name: str) -> Path:
    folder = os.environ.get("LOOKAT_PD_RIGS")
    if not folder:
        pytest.skip("LOOKAT_PD_RIGS names no folder of rigs")
    return Path(folder) / "gltf" / f"{name}.glb"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "action", "fps"), [*zip(FILES, ("Walk", "walk", "Idle", "Walking"), (24, 30, 24, 24), strict=True)]
)
def test_third_party_files(call, tools, tmp_path, name, action, fps) -> None:
    source = rig_file(name)
    words = ["bake", source, "--point=0.5,-30,2", "--action", action]
    ours = call(*words, "--output", tmp_path / "ours.glb").row
    assert ours["ok"]
    check_same_but_for_animations(source, tmp_path / "ours.glb")
    call(*words, "--output", tmp_path / "whole.blend")
    frames = list(range(max(ours["frames"][0], 0), ours["frames"][1] + 1, 4))
    ours_and_whole = [
        poses(tmp_path / file, tools, ours["action"], fps, frames) for file in ("ours.glb", "whole.blend")
    ]
    # Bones that no key moves have the pose of their node, which Blender rounds in its edit bones.
    check_alike(*ours_and_whole, tolerance=5e-5)


def messages(path: Path) -> dict[str, int]:
    """What the validator of glTF finds in a file, by code."""
    modules = os.environ.get("NODE_PATH") or str(Path(__file__).resolve().parents[2] / "node_modules")
    if shutil.which("node") is None or not (Path(modules) / "gltf-validator").is_dir():
        pytest.skip("node with the package gltf-validator is not installed; NODE_PATH says where")
    script = (
        "const v = require('gltf-validator'), fs = require('fs');"
        "v.validateBytes(new Uint8Array(fs.readFileSync(process.argv[1])), {maxIssues: 0})"
        ".then(r => console.log(JSON.stringify(r.issues)))"
    )
    done = subprocess.run(
        ["node", "-e", script, str(path)],
        env={**os.environ, "NODE_PATH": modules},
        capture_output=True,
        text=True,
        check=True,
    )
    issues = json.loads(done.stdout)
    counts: dict[str, int] = {}
    for issue in issues["messages"]:
        if issue["severity"] < 2:
            counts[issue["code"]] = counts.get(issue["code"], 0) + 1
    return counts


@pytest.mark.parametrize("words", [(), ("--into", "current"), ("--all-actions",), ("--skip-done",)])
def test_the_validator_finds_nothing_new(helmet, call, tmp_path, words) -> None:
    found = messages(helmet)
    assert call("bake", helmet, "--output", tmp_path / "out.glb", *AIM, *words).code == 0
    assert messages(tmp_path / "out.glb").items() <= found.items()
