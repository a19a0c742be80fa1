"""The aim starts between the eyes: of people of one height nobody looks up, live, baked, reported, in older files."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from extension import load

from .. import scenes
from .body import bodies

eye_origin, eye_place = load("rig.look_at.eye_origin"), load("rig.detection.eye_place")
look_at, saved_settings = load("rig.look_at.resolve"), load("rig.look_at.saved_settings")
baked_aim = load("cli.baked_aim")


def pitch(armature: bpy.types.Object, frame: int = scenes.LAST) -> float:
    """Where the face points above the horizontal [deg]."""
    seen = armature.evaluated_get(scenes.goto(frame))
    bone = seen.pose.bones["head"]
    ahead = (
        seen.matrix_world.to_3x3()
        @ bone.matrix.to_3x3()
        @ (armature.data.bones["head"].matrix_local.to_3x3().inverted() @ Vector((0.0, -1.0, 0.0)))
    )
    return float(np.degrees(np.arcsin(ahead.normalized().z)))


def two() -> tuple[bpy.types.Object, bpy.types.Object]:
    anna, bert = scenes.figure("Anna"), scenes.figure("Bert")
    bert.location, bert.rotation_euler.z = (0.0, -0.9, 0.0), np.pi
    return anna, bert


@pytest.mark.thorough
@pytest.mark.parametrize("origin", ["AUTO", "EYES", "BONE"])
def test_people_of_one_height_do_not_look_up_at_each_other(origin) -> None:
    anna, bert = two()
    for one, other in ((anna, bert), (bert, anna)):
        scenes.aim(one, other, aim_from=origin)
    assert abs(pitch(anna)) < 0.05 and abs(pitch(bert)) < 0.05
    scenes.run_bake(anna, bert)
    assert abs(pitch(anna)) < 0.05 and abs(pitch(bert)) < 0.05


def test_at_a_ball_at_eye_level_the_head_stays_level() -> None:
    """And the report measures from there."""
    armature = bodies.person()
    armature.animation_data_clear()
    for bone in armature.pose.bones:
        bone.matrix_basis.identity()
    eyes = eye_place.between_eyes(armature, "head")
    assert eyes is not None
    place = scenes.poses(armature, (1,), ("head",))[0, 0] @ (*eyes, 1.0)
    ball = scenes.ball((0.0, -1.0, float(place[2])))
    settings = scenes.aim(armature, ball, aim_from="EYES")
    assert abs(pitch(armature)) < 0.1
    settings.aim_from = "AUTO"
    assert pitch(armature) > 3.0
    settings.aim_from = "EYES"
    (result,) = scenes.run_bake(armature)
    (figures,) = scenes.finish(baked_aim.measure(bpy.context.scene, [result]))
    assert figures.settled < 0.05


def thing() -> bpy.types.Object:
    return scenes.ball()


def face_of_other() -> bpy.types.Object:
    return scenes.figure("Bert")


def held_by_other() -> bpy.types.Object:
    return scenes.child(scenes.ball(), scenes.figure("Bert"), "hand.L")


def carried_by_other() -> bpy.types.Object:
    item, other = scenes.ball(), scenes.figure("Bert")
    limits = item.constraints.new("CHILD_OF")
    limits.target, limits.subtarget, limits.influence = other, "hand.L", 0.0
    return item


def on_skin_of_other() -> bpy.types.Object:
    skin = scenes.box((0.0, -2.0, 1.5), (0.3, 0.3, 0.3))
    skin.modifiers.new("Armature", "ARMATURE").object = scenes.figure("Bert")
    return scenes.child(scenes.ball(), skin)


def own_hand() -> bpy.types.Object:
    return scenes.child(scenes.ball(), bpy.data.objects["Hero"], "hand.L")


def passed_from_hand_to_hand() -> bpy.types.Object:
    """What both hold is part of neither: the aim must not change when it changes hands."""
    return scenes.child(carried_by_other(), bpy.data.objects["Hero"], "hand.L")


def prop() -> bpy.types.Object:
    return scenes.figure("Lever", [("lever", None, (0.0, -2.0, 1.5), (0.0, -2.0, 1.8))])


@pytest.mark.parametrize("target", [face_of_other, held_by_other, carried_by_other, on_skin_of_other])
def test_who_looks_at_a_partner_looks_from_the_eyes(target) -> None:
    armature = scenes.figure()
    scenes.aim(armature, target())
    assert look_at.resolve(armature, "head").chain.eye_height > 0.05


@pytest.mark.parametrize("target", [thing, own_hand, passed_from_hand_to_hand, prop])
def test_who_looks_at_a_thing_looks_from_the_bone_unless_the_eyes_look_too(target) -> None:
    armature = scenes.figure()
    settings = scenes.aim(armature, target())
    assert look_at.resolve(armature, "head").chain.eye_height == 0.0
    settings.eyes.use = True
    assert look_at.resolve(armature, "head").chain.eye_height > 0.05


def test_one_partner_among_the_targets_decides_for_all() -> None:
    armature = scenes.figure()
    settings = scenes.aim(armature, scenes.ball())
    settings.targets.add().object = scenes.figure("Bert")
    assert look_at.resolve(armature, "head").chain.eye_height > 0.05


def test_a_target_that_becomes_part_of_a_partner_is_noticed() -> None:
    """And one that is taken from it, by whoever is above it."""
    armature, other, holder = scenes.figure(), scenes.figure("Bert"), scenes.ball((0.0, 0.0, 0.0), "Holder")
    other.location.y = -3.0
    target = scenes.child(scenes.ball((0.0, -2.0, 1.9)), holder)
    scenes.aim(armature, target)
    before = pitch(armature)
    holder.parent = other
    holder.matrix_parent_inverse = other.matrix_world.inverted()
    assert pitch(armature) < before - 1.0
    holder.parent = None
    assert pitch(armature) == pytest.approx(before, abs=1e-4)


@pytest.mark.parametrize(("version", "origin"), [(3, "BONE"), (4, "EYES"), (5, "AUTO")])
def test_files_of_earlier_versions_aim_as_they_did(version, origin, tmp_path) -> None:
    armature = scenes.figure()
    settings = scenes.aim(armature, scenes.ball())
    assert settings.aim_from == "AUTO"
    settings.version = version
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "old.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "old.blend"))
    settings = bpy.data.objects["Hero"].pose.bones["head"].lookat_pd
    assert (settings.aim_from, settings.version) == (origin, saved_settings.VERSION)


@pytest.mark.parametrize("bone", ["chest", "hand.L"])
def test_what_is_no_head_aims_from_its_origin(bone) -> None:
    armature = scenes.figure()
    scenes.aim(armature, scenes.ball(), bone, aim_from="EYES")
    assert look_at.resolve(armature, bone).chain.eye_height == 0.0


def test_an_axis_that_is_not_the_face_aims_from_the_origin() -> None:
    armature = scenes.figure()
    scenes.aim(armature, scenes.ball(), aim_axis="POS_Y", aim_from="EYES")
    assert look_at.resolve(armature, "head").chain.eye_height == 0.0


def test_eyes_are_between_eye_bones_or_where_they_usually_are() -> None:
    person, figure = bodies.person(), scenes.figure()
    heads = {name: np.array(person.data.bones[name].head_local) for name in ("head", "eye.L", "eye.R")}
    wanted = 0.5 * (heads["eye.L"] + heads["eye.R"]) - heads["head"]
    turn = np.array(person.data.bones["head"].matrix_local)[:3, :3]
    assert turn @ eye_place.between_eyes(person, "head") == pytest.approx(wanted, abs=1e-5)
    usual = np.array(figure.data.bones["head"].matrix_local)[:3, :3] @ eye_place.between_eyes(figure, "head")
    assert 0.05 < usual[2] < 0.15 and usual[1] < -0.04 and abs(usual[0]) < 1e-6


def test_they_are_there_whatever_the_pose_and_the_meshes() -> None:
    armature = scenes.figure()
    before = eye_place.between_eyes(armature, "head")
    eye_place.forget()
    scenes.child(scenes.ball((0.0, 0.0, 2.5), "Hat"), armature)
    armature.location, armature.pose.bones["head"].rotation_quaternion = (3.0, 1.0, 2.0), (0.8, 0.6, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert np.array_equal(eye_place.between_eyes(armature, "head"), before)
