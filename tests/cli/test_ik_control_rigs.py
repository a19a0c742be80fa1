"""`ik` on rigs with controls that Rigify did not make: poles, limits and the switch without a window."""

from pathlib import Path

import bpy
import numpy as np
import pytest

import kept

from ..rig import control_rigs, scenes

RANGE = ("--range", "4", "12")
FRAMES = range(4, 13)


@pytest.fixture(params=["animated_scene", "posed_scene"])
def file(request, tmp_path) -> Path:
    """The human with a goal for each hand and foot and a pole beside; arms are in IK and legs in FK."""
    kept.scene(getattr(control_rigs, request.param))
    armature = bpy.data.objects["Made"]
    for name in ("Hand.L", "Foot.R"):
        start = scenes.poses(armature, (8,), [name])[0, 0, :3, 3]
        scenes.ball(start + np.array((0.0, -0.06, 0.08)), f"Goal {name}")
    knee = scenes.poses(armature, (8,), ["LowerLeg.R"])[0, 0, :3, 3]
    scenes.ball(knee + np.array((-0.5, -0.5, 0.0)), "Pole")
    path = tmp_path / "human.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def places(path: Path, *bones: str) -> np.ndarray:
    """(F, b, 3) of the heads in a file."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    armature = bpy.data.objects["Made"]
    return np.stack([scenes.poses(armature, FRAMES, [bone])[:, 0, :3, 3] for bone in bones], axis=1)


def test_effectors_with_a_pole_reach_their_targets(file, call, tmp_path) -> None:
    output = tmp_path / "out.blend"
    words = ("--effector", "Hand.L=Goal Hand.L", "--effector", "Foot.R=Goal Foot.R", "--pole", "Foot.R=Pole")
    outcome = call("ik", file, *words, *RANGE, "--output", output)
    assert outcome.code == 0, outcome.errors
    found = places(output, "Hand.L", "Foot.R", "UpperLeg.R", "LowerLeg.R")
    goals = [np.array(bpy.data.objects[f"Goal {name}"].location) for name in ("Hand.L", "Foot.R")]
    assert np.linalg.norm(found[:, :2] - goals, axis=-1).max() < 2e-3
    hip, knee, pole = found[:, 2], found[:, 3], np.array(bpy.data.objects["Pole"].location)
    along = (found[:, 1] - hip) / np.linalg.norm(found[:, 1] - hip, axis=-1, keepdims=True)
    bend, away = (v - along * np.sum(v * along, axis=-1, keepdims=True) for v in (knee - hip, pole - hip))
    cosine = np.sum(bend * away, axis=-1) / np.linalg.norm(bend, axis=-1) / np.linalg.norm(away, axis=-1)
    assert cosine.min() > 0.99


def test_a_pole_of_a_limb_in_ik_is_refused_with_the_remedy(file, call, tmp_path) -> None:
    words = ("--effector", "Hand.L=Goal Hand.L", "--pole", "Hand.L=Pole")
    outcome = call("ik", file, *words, *RANGE, "--output", tmp_path / "out.blend")
    assert outcome.code == 1 and "is in IK at frame" in outcome.errors[0]
    assert not (tmp_path / "out.blend").exists()


def test_limits_of_joints_hold(file, call, tmp_path) -> None:
    """The knee's own limit, of its FK control or of the bone itself."""
    bpy.ops.wm.open_mainfile(filepath=str(file))
    bones = bpy.data.objects["Made"].pose.bones
    knee = bones["FK_LowerLeg.R"] if "FK_LowerLeg.R" in bones else bones["LowerLeg.R"]
    knee.lock_ik_y = knee.lock_ik_z = True
    for curve in bpy.data.objects["Made"].animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        if knee.name in curve.data_path and curve.data_path.endswith("rotation_euler") and curve.array_index:
            # A hinge that is turned about its other axes has other angles in XYZ.
            for key in curve.keyframe_points:
                key.co.y = 0.0
            curve.update()
    bpy.ops.wm.save_mainfile()
    name = knee.name
    before = turns(file, name)
    output = tmp_path / "out.blend"
    outcome = call("ik", file, "--effector", "Foot.R=Goal Foot.R", *RANGE, "--output", output)
    assert outcome.code == 0, outcome.errors
    away = np.abs(turns(output, name) - before)
    assert away[:, 0].max() > 0.05 and away[:, 1:].max() < 1e-3


def turns(path: Path, bone: str) -> np.ndarray:
    """(F, 3), Euler angles of the channels of a bone."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    armature = bpy.data.objects["Made"]
    return np.array([armature.evaluated_get(scenes.goto(f)).pose.bones[bone].rotation_euler[:] for f in FRAMES])


@pytest.mark.thorough
def test_all_limbs_switch_to_fk_and_back(file, call, tmp_path) -> None:
    bones = [f"{part}.{side}" for side in "LR" for part in (*control_rigs.ARM, *control_rigs.LEG)]
    before, output = places(file, *bones), tmp_path / "out.blend"
    for state in ("fk", "ik"):
        outcome = call("ik", file, "--switch", state, *RANGE, "--output", output)
        assert outcome.code == 0, outcome.errors
        assert np.linalg.norm(places(output, *bones) - before, axis=-1).max() < 1e-3
