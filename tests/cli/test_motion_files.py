"""BVH and FBX: which way is up, and that imported motion keeps its speed in seconds."""

import json
from pathlib import Path

import bpy
import numpy as np
import pytest

from extension import load

JOINTS = [("Hips", None, (0, 100, 0)), ("Spine", "Hips", (0, 20, 0)), ("Neck", "Spine", (0, 30, 0))]
JOINTS += [("Head", "Neck", (0, 10, 0))]
LIMBS = [("LeftUpLeg", (10, 0, 0)), ("RightUpLeg", (-10, 0, 0))]


def bvh(path: Path, rate: float, frames: int, *, z_up: bool = False) -> Path:
    """A figure whose head turns at a steady speed, 45 degrees a second."""

    def offset(place) -> str:
        x, y, z = place
        return f"OFFSET {x} {-z if z_up else y} {y if z_up else z}"

    lines = ["HIERARCHY"]
    for depth, (name, parent, place) in enumerate(JOINTS):
        channels = "6 Xposition Yposition Zposition" if parent is None else "3"
        lines += [f"{'JOINT' if parent else 'ROOT'} {name}", "{", offset(place if parent else (0, 0, 0))]
        lines += [f"CHANNELS {channels} Zrotation Yrotation Xrotation"]
        if depth == 0:
            for limb, side in LIMBS:
                lines += [f"JOINT {limb}", "{", offset(side), "CHANNELS 3 Zrotation Yrotation Xrotation"]
                lines += ["End Site", "{", offset((0, -90, 0)), "}", "}"]
    lines += ["End Site", "{", offset((0, 20, 0)), "}", *["}"] * len(JOINTS)]
    lines += ["MOTION", f"Frames: {frames}", f"Frame Time: {1.0 / rate:.7f}"]
    for frame in range(frames):
        turn = 45.0 * frame / rate
        # Channels in the order of the joints: hips 6, legs 3 each, spine, neck, head.
        head = (turn, 0, 0) if z_up else (0, turn, 0)
        lines.append(" ".join(f"{value:.6f}" for value in (0, 0, 0, 0, 0, 0, *[0] * 12, *head)))
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def load_scene(path: Path, rate: float | None) -> bpy.types.Scene:
    with load("cli.console").Console() as console:
        return load("cli.scene_files").load(path, rate, console)


def head_turn(scene: bpy.types.Scene, seconds: float) -> float:
    """How far [deg] the head has turned so many seconds after the first frame."""
    rate = scene.render.fps / scene.render.fps_base
    rig = next(item for item in scene.objects if item.type == "ARMATURE")
    turns = []
    for frame in (1.0, 1.0 + seconds * rate):
        scene.frame_set(int(frame), subframe=frame % 1.0)
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        turns.append(evaluated.pose.bones["Head"].matrix.to_quaternion())
    return float(np.degrees(turns[0].rotation_difference(turns[1]).angle))


@pytest.mark.every_blender
@pytest.mark.parametrize("asked", [None, 24, 29.97, 60, 120])
@pytest.mark.parametrize("rate", [30.0, 120.0])
def test_bvh_keeps_its_speed(tmp_path, rate, asked) -> None:
    frames = int(2 * rate) + 1
    scene = load_scene(bvh(tmp_path / "turn.bvh", rate, frames), asked)
    assert scene.render.fps / scene.render.fps_base == pytest.approx(asked or rate, rel=1e-5)
    assert head_turn(scene, 1.5) == pytest.approx(67.5, abs=0.1)
    assert bpy.data.actions[0].frame_range[1] == pytest.approx(1 + 2 * (asked or rate), rel=1e-4)
    assert (scene.frame_start, scene.frame_end) == (1, int(np.ceil(bpy.data.actions[0].frame_range[1])))


@pytest.mark.parametrize("z_up", [False, True])
def test_bvh_stands_upright(tmp_path, z_up) -> None:
    scene = load_scene(bvh(tmp_path / "turn.bvh", 30.0, 10, z_up=z_up), None)
    rig = next(item for item in scene.objects if item.type == "ARMATURE")
    up = (rig.matrix_world @ rig.pose.bones["Head"].head) - (rig.matrix_world @ rig.pose.bones["Hips"].head)
    assert up.normalized().z > 0.99


def test_four_feet_on_the_ground_are_y_up() -> None:
    places = np.array([(0, 0, 0), (0, 10, 80), (0, 20, 110), (10, -60, 0), (10, -60, 80)], float)
    assert not load("cli.bvh_axes").stands_along_z(["Hips", "Spine", "Head", "LegL", "ArmL"], places)


def test_bvh_through_the_command_line(tmp_path, call) -> None:
    source = bvh(tmp_path / "turn.bvh", 30.0, 91)
    for words, frames in (([], [1, 91]), (["--fps", "60"], [1, 181])):
        outcome = call("bake", source, "--output", tmp_path / "out.blend", "--point=0,-500,150", *words)
        assert outcome.row["error"] is None and outcome.row["frames"] == frames
        assert outcome.row["bone"] == "Head"


RATES = (12.5, 15, 23.976, 24, 25, 29.97, 30, 48, 59.94, 60, 120)


@pytest.mark.every_blender
def test_glb_keeps_its_speed_at_any_rate(tmp_path, call) -> None:
    """Blender's glTF add-on multiplies by the base of the rate where Blender divides, writing and reading."""
    gltf = load("cli.gltf")
    for rate in RATES:
        file, made = bvh(tmp_path / "clip.bvh", rate, 7), tmp_path / f"clip{rate}.glb"
        assert call("bake", file, "--bone", "Head", "--point=0,-500,150", "--output", made).row["error"] is None
        document = json.loads(gltf.parts(made)[0])
        samplers = [sampler for animation in document["animations"] for sampler in animation["samplers"]]
        last = max(document["accessors"][sampler["input"]]["max"][0] for sampler in samplers)
        assert abs(last - 7 / rate) < 1e-5, rate
        scene = load_scene(made, rate)
        ends = [action.curve_frame_range[1] for action in bpy.data.actions]
        assert abs(max(ends) - 7) < 1e-3, rate
        assert abs(scene.render.fps / scene.render.fps_base - rate) < 1e-4 * rate


@pytest.mark.every_blender
@pytest.mark.parametrize("asked", [None, 24, 60])
def test_fbx_keeps_its_speed(tmp_path, walk, tools, asked) -> None:
    hero = tools.reopen(walk).objects["Hero"]
    seconds = np.arange(0, 20) / 6.0
    rig = {"global_scale": 1.0, "add_leaf_bones": False, "bake_anim_use_nla_strips": False}
    source = tools.poses(hero, ["head"], list(1 + seconds * 24))
    bpy.ops.export_scene.fbx(filepath=str(tmp_path / "walk.fbx"), bake_anim_simplify_factor=0.0, **rig)
    scene = load_scene(tmp_path / "walk.fbx", asked)
    rate = scene.render.fps / scene.render.fps_base
    assert rate == pytest.approx(asked or 24.0)
    moved = tools.poses(scene.objects["Hero"], ["head"], list(bpy.data.actions[0].frame_range[0] + seconds * rate))
    # The format has no rest pose of bones without a mesh: how far they turn is what remains.
    turns = [tools.angles_between(one, one[:1]) for one in (source, moved)]
    assert turns[0].max() > 10.0
    assert np.abs(turns[0] - turns[1]).max() < 0.5


def hurt(way: str, path: Path) -> Path:
    """A BVH file of 10 frames that was damaged in one of several ways."""
    lines = bvh(path, 30.0, 10).read_text("utf-8").splitlines()
    motion = lines.index("MOTION")
    if way == "zeros of a bad disk":
        path.write_bytes(path.read_bytes()[:400] + bytes(600))
        return path
    damaged: dict[str, list[str]] = {
        "blank": ["", "  ", ""],
        "only a heading": lines[:1],
        "cut in the hierarchy": lines[: motion // 2],
        "cut in an offset": [*lines[:3], "OFFSET 1.0 2."],
        "offset without numbers": [*lines[:3], "OFFSET", *lines[4:]],
        "offset of garbage": [*lines[:3], "OFFSET 0 ten 0", *lines[4:]],
        "offset that is not finite": [*lines[:3], "OFFSET 0 nan 0", *lines[4:]],
        "joint without a name": [lines[0], "ROOT", *lines[2:]],
        "joint without an offset": [*lines[:3], *lines[4:]],
        "joint without channels": [*lines[:4], *lines[5:]],
        "fewer channels than promised": [*lines[:4], "CHANNELS 6 Xposition Yposition", *lines[5:]],
        "more braces than joints": [*lines[:motion], "}", "}", *lines[motion:]],
        "cut after MOTION": lines[: motion + 1],
        "number of frames missing": [*lines[: motion + 1], "Frames:", *lines[motion + 2 :]],
        "no frames": [*lines[: motion + 1], "Frames: 0", lines[motion + 2]],
        "garbage as frame time": [*lines[: motion + 2], "Frame Time: soon", *lines[motion + 3 :]],
        "no frame time": [*lines[: motion + 2], "Frame Time: 0.0", *lines[motion + 3 :]],
        "cut in a frame": [*lines[:-1], lines[-1][: len(lines[-1]) // 2].rsplit(" ", 1)[0]],
        "cut between frames": lines[:-4],
        "garbage in a frame": [*lines[:-2], lines[-2].replace("0.000000", "#?!", 1), lines[-1]],
        "frame that is not finite": [*lines[:-2], lines[-2].replace("0.000000", "inf", 1), lines[-1]],
    }
    path.write_text("\n".join(damaged[way]) + "\n", "utf-8")
    return path


HURT = [
    *("blank", "only a heading", "cut in the hierarchy", "cut in an offset", "offset without numbers"),
    *("offset of garbage", "offset that is not finite", "joint without a name", "joint without an offset"),
    *("joint without channels", "fewer channels than promised", "more braces than joints", "cut after MOTION"),
    *("number of frames missing", "no frames", "garbage as frame time", "no frame time", "cut in a frame"),
    *("cut between frames", "garbage in a frame", "frame that is not finite", "zeros of a bad disk"),
]


@pytest.mark.parametrize("way", HURT)
def test_damaged_bvh_gets_one_sentence(way, tmp_path, call) -> None:
    path = hurt(way, tmp_path / "turn.bvh")
    outcome = call("inspect", path)
    assert outcome.code == 1
    assert outcome.errors == [f"lookat_pd: {path}: {outcome.row['error']}"]
    message = outcome.row["error"]
    assert message.endswith("; export it again.") and "BVH" in message, message
    assert not any(word in message for word in ("Error", "index", "convert", "unpack", "unexpected")), message


def test_a_frame_that_is_damaged_is_named(tmp_path, call) -> None:
    message = call("inspect", hurt("garbage in a frame", tmp_path / "turn.bvh")).row["error"]
    assert (
        message == "The BVH file's motion is broken, frame 9 holds something that is no finite number; export it again."
    )
    message = call("inspect", hurt("cut between frames", tmp_path / "turn.bvh")).row["error"]
    assert message == "The BVH file is truncated, it has 6 of 10 frames; export it again."


def test_whatever_blender_stumbles_over_is_no_exception(tmp_path, call, monkeypatch) -> None:
    def stumble(**_):
        raise RuntimeError(
            'Error: Python: Traceback (most recent call last):\n  File "import_bvh.py", line 1, in read\n'
            "IndexError: list index out of range\nLocation: x.py:1\n"
        )

    blender_call = load("cli.blender_call")
    original = blender_call.call
    monkeypatch.setattr(blender_call, "call", lambda operator, *words, **more: original(stumble, *words, **more))
    outcome = call("inspect", bvh(tmp_path / "turn.bvh", 30.0, 10))
    assert outcome.row["error"] == (
        "Blender cannot read it; it may be damaged, or newer than this Blender: save or export it again."
    )
