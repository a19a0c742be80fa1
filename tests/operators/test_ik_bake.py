"""The operators that bake inverse kinematics: what they report, when they refuse, and what settings do."""

import bpy
import numpy as np
import pytest

from extension import load

from ..rig import scenes
from ..rig.ik.test_body_contacts import heads, slip, walker

ik_settings = load("rig.ik.settings")

BONES = (
    ("hips", None, (0, 0, 1.0), (0, 0, 1.2)),
    ("arm", "hips", (0.1, 0, 1.2), (0.4, -0.02, 1.2)),
    ("forearm", "arm", (0.4, -0.02, 1.2), (0.7, 0, 1.2)),
    ("hand", "forearm", (0.7, 0, 1.2), (0.85, 0, 1.2)),
)


@pytest.fixture
def hero() -> bpy.types.Object:
    """A character in pose mode whose hand is active, and a ball for it to follow."""
    armature = scenes.figure(rows=BONES)
    bpy.ops.object.mode_set(mode="POSE")
    armature.data.bones.active = armature.data.bones["hand"]
    ball = scenes.ball((0.4, -0.3, 1.3))
    bpy.context.scene.frame_end = 30
    for frame in (1, 20):
        armature.pose.bones["hips"].keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.lookat_pd_ik.target = ball
    return armature


def off(armature: bpy.types.Object, end: str = "head") -> float:
    """How far the hand is from the ball at the present frame."""
    seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return float(np.linalg.norm(np.subtract(getattr(seen.pose.bones["hand"], end), bpy.data.objects["Ball"].location)))


@pytest.mark.every_blender
@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
@pytest.mark.parametrize("preset", ["LIMB", "FINGER", "TAIL", "EXACT"])
def test_bakes_the_scene_range(hero, into, preset) -> None:
    assert bpy.ops.lookat_pd.ik_preset(preset=preset) == {"FINISHED"}
    assert bpy.ops.lookat_pd.ik_bake(into=into) == {"FINISHED"}
    point = bpy.context.scene.lookat_pd_ik.point
    for frame in (1, 15, 30):
        bpy.context.scene.frame_set(frame)
        assert off(hero, "head" if point == "HEAD" else "tail") < 1e-3


@pytest.mark.parametrize("method", [item[0] for item in ik_settings.METHOD_ITEMS])
def test_every_solver_has_its_item(hero, method) -> None:
    bpy.context.scene.lookat_pd_ik.method = method
    assert bpy.ops.lookat_pd.ik_bake() == {"FINISHED"}
    assert off(hero) < 1e-3


def test_warns_of_a_range_beside_the_keys(hero, capfd) -> None:
    assert bpy.ops.lookat_pd.ik_bake(use_scene_range=False, frame_start=40, frame_end=50) == {"FINISHED"}
    assert "has keys from frame 1 to 20" in capfd.readouterr().out
    assert bpy.ops.lookat_pd.ik_bake(use_scene_range=False, frame_start=20, frame_end=50) == {"FINISHED"}
    assert "has keys from frame" not in capfd.readouterr().out


def test_says_what_it_did(hero, capfd) -> None:
    bpy.ops.lookat_pd.ik_bake()
    assert "Baked 2 bones into a new action" in capfd.readouterr().out
    bpy.data.objects["Ball"].location.x = 9.0
    bpy.ops.lookat_pd.ik_bake()
    assert "out of reach at all 30 frames" in capfd.readouterr().out


@pytest.mark.every_blender
def test_a_motion_path_is_followed(hero) -> None:
    bone, settings = hero.pose.bones["hand"], bpy.context.scene.lookat_pd_ik
    settings.follow = "PATH"
    with pytest.raises(RuntimeError, match="motion path"):
        bpy.ops.lookat_pd.ik_bake()
    for frame, angle in ((1, 0.0), (30, 0.8)):
        hero.pose.bones["arm"].rotation_mode = "XYZ"
        hero.pose.bones["arm"].rotation_euler.x = angle
        hero.pose.bones["arm"].keyframe_insert("rotation_euler", frame=frame)
    scenes.select(hero, bone.name)
    bpy.ops.pose.paths_calculate(range="SCENE", bake_location="HEADS")
    places = [tuple(point.co) for point in bone.motion_path.points]
    # The hips are animated anew, and the hand stays on its path.
    for frame, angle in ((1, 0.1), (30, -0.1)):
        hero.pose.bones["hips"].rotation_mode = "XYZ"
        hero.pose.bones["hips"].rotation_euler.y = angle
        hero.pose.bones["hips"].keyframe_insert("rotation_euler", frame=frame)
    assert bpy.ops.lookat_pd.ik_bake() == {"FINISHED"}
    first = bone.motion_path.frame_start
    for frame in (1, 15, 29):
        bpy.context.scene.frame_set(frame)
        seen = hero.evaluated_get(bpy.context.evaluated_depsgraph_get())
        assert np.linalg.norm(np.subtract(seen.pose.bones["hand"].head, places[frame - first])) < 5e-3


@pytest.mark.every_blender
def test_contacts(hero, capfd) -> None:
    assert bpy.ops.lookat_pd.ik_contacts(where="MARKED", contact_start=5, contact_end=12) == {"FINISHED"}
    assert "Locked 'hand' during its contacts at frames 5-12" in capfd.readouterr().out
    with pytest.raises(RuntimeError, match="reversed"):
        bpy.ops.lookat_pd.ik_contacts(where="MARKED", contact_start=12, contact_end=5)


def test_contacts_of_both_feet(capfd) -> None:
    armature = walker()
    bpy.context.scene.frame_end = 48
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="POSE")
    scenes.select(armature, "foot.L", "foot.R")
    armature.data.bones.active = armature.data.bones["foot.L"]
    before = heads(armature, "foot.R")
    assert bpy.ops.lookat_pd.ik_contacts(where="MARKED", contact_start=12, contact_end=24) == {"FINISHED"}
    said = capfd.readouterr().out
    assert "Locked 'foot.R' during its contacts at frames 12-24" in said and "The hips were lowered by up to" in said
    assert slip(before, (12, 24)) > 0.02 and slip(heads(armature, "foot.R"), (12, 24)) < 1e-3


def test_contacts_are_grey_with_a_reason(hero) -> None:
    scenes.select(hero)
    hero.data.bones.active = None
    assert not bpy.ops.lookat_pd.ik_contacts.poll()
    with pytest.raises(RuntimeError, match="Select the bones that touch"):
        bpy.ops.lookat_pd.ik_contacts()


def _no_target(hero) -> None:
    bpy.context.scene.lookat_pd_ik.target = None


def _root(hero) -> None:
    hero.data.bones.active = hero.data.bones["hips"]


def _nothing(hero) -> None:
    hero.data.bones.active = None


def _pinned(hero) -> None:
    hero.pose.bones["hand"].lookat_pd_ik_pin = True


def _edited(hero) -> None:
    bpy.ops.object.mode_set(mode="EDIT")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_no_target, "Choose a target"),
        (_root, "no parent that can rotate"),
        (_nothing, "Select the bone"),
        (_pinned, "pinned"),
        (_edited, "Leave edit mode"),
    ],
)
def test_why_it_is_grey(hero, spoil, said) -> None:
    spoil(hero)
    assert not bpy.ops.lookat_pd.ik_bake.poll()
    with pytest.raises(RuntimeError, match=said):
        bpy.ops.lookat_pd.ik_bake()
