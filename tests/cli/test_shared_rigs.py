"""Rigs of other makers, in all formats, through the command line."""

from pathlib import Path

import bpy
import numpy as np
import pytest

FILES = [
    # Name, head, frame rate, where to look at, in reach and in the file's own units.
    ("blend/m2m_human_ymca_2025.blend", "DEF-head", 24, (0.3, -3, 1.6)),
    ("gltf/godot_platformer_robot.glb", "head", 30, (0.3, -3, 0.5)),
    ("gltf/khronos_fox.glb", "b_Head_05", 24, (20, -300, 60)),
    ("gltf/robot_expressive.glb", "Head", 24, (0.3, -6, 3.0)),
    ("vrm/cryptovoxels.vrm", "Head", 30, (0.3, -3, 1.6)),
    ("fbx/cmu_91_48.fbx", "head", 30, (30, -1000, 140)),
    ("bvh/fair1_zombie.bvh", "Head", 30, None),
    ("bvh/cmu_131_01_start_walk_stop.bvh", "Head", 120, None),
]
SEVERAL = {
    "gltf/godot_platformer_robot.glb": "falling",
    "gltf/khronos_fox.glb": "Survey",
    "gltf/robot_expressive.glb": "Dance",
}
"""An action of each file that has several."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "head", "rate", "point"), FILES, ids=[name for name, *_ in FILES])
def test_format_goes_in_and_comes_out(rigs, call, tools, tmp_path, name, head, rate, point) -> None:
    point = point or (0, -1000, 20)
    words = [f"--point={','.join(map(str, point))}", "--output", tmp_path]
    words += ["--action", SEVERAL[name]] if name in SEVERAL else []
    outcome = call("bake", rigs / name, *words)
    row = outcome.row
    assert row["error"] is None and outcome.code == 0
    assert row["bone"] == head and row["fps"] == rate
    assert row["settled_error_deg"] is None or row["settled_error_deg"] < 0.1
    output = Path(row["output"])
    assert output.suffix == (".glb" if Path(name).suffix in (".glb", ".vrm") else ".blend")
    scene = tools.reopen(output)
    assert row["action"] in bpy.data.actions.keys() and scene.objects[row["rig"]].type == "ARMATURE"


@pytest.mark.slow
def test_several_formats_in_one_run(rigs, call, tmp_path) -> None:
    inputs = [rigs / name for name, *_ in FILES]
    outcome = call("bake", *inputs, "--output", tmp_path / "out", "--point=0,-5,1", "--range", 1, 20)
    asked = {row["input"] for row in outcome.rows if not row["ok"]}
    assert asked == {str(rigs / name) for name in SEVERAL}, outcome.errors
    assert len(list((tmp_path / "out").iterdir())) == len(FILES) - len(SEVERAL)


def heads(tools, path: Path, action: str, frames: list[int]) -> np.ndarray:
    """Orientations (frames, 4) of the robot's head in the world, with that action in the file."""
    scene = tools.reopen(path)
    rig = scene.objects["RobotArmature"]
    rig.animation_data.action = bpy.data.actions[action]
    rig.animation_data.action_slot = next(
        slot for slot in rig.animation_data.action_suitable_slots if slot.target_id_type == "OBJECT"
    )
    if path.suffix == ".glb":
        # The first clip, which the importer lets it play, leaves bones posed that this one does not move.
        for bone in rig.pose.bones:
            bone.matrix_basis.identity()
    found = []
    for frame in frames:
        scene.frame_set(frame)
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append((evaluated.matrix_world @ evaluated.pose.bones["Head"].matrix).to_quaternion())
    return np.array(found)


def test_chosen_clip_of_many(rigs, call, tools, tmp_path) -> None:
    source = rigs / "gltf" / "robot_expressive.glb"
    found = []
    for suffix in (".glb", ".blend"):
        output = tmp_path / f"robot{suffix}"
        outcome = call("bake", source, "--output", output, "--action", "Wave", "--point=0.3,-6,3")
        assert outcome.row["error"] is None and outcome.row["frames"] == [0, 44]
        found.append(heads(tools, output, "Wave look-at", list(range(0, 45, 4))))
        assert len(bpy.data.actions) == 15
    assert tools.angles_between(*found).max() < 0.1
    assert tools.angles_between(found[0], heads(tools, source, "Wave", list(range(0, 45, 4)))).max() > 3.0


def test_rig_whose_library_is_missing(rigs, call, tmp_path) -> None:
    source = rigs / "blend" / "animation-kaiju-walk.blend"
    outcome = call("bake", source, "--output", tmp_path / "out.blend", "--point=0,-5,1")
    assert outcome.code == 1 and "library" in outcome.row["error"]


def test_inspect_of_everything(rigs, call) -> None:
    inputs = sorted(
        path for kind in ("blend", "bvh", "fbx", "gltf", "vrm") for path in (rigs / kind).glob(f"*.{kind[:3]}*")
    )
    outcome = call("inspect", *inputs)
    assert outcome.code == 0 and all(row["rigs"] for row in outcome.rows)
