"""The demo's conversation: two who are no copies of each other, what they look at when, and that it bakes well."""

from itertools import pairwise

import bpy
import mathutils
import numpy as np
import pytest

from extension import load

bake = load("rig.look_at.look_at_bake")
conversation = load("assets.demo.conversation")
head = load("assets.demo.head")
directing = load("rig.look_at.directing.looks")
limbs = load("rig.detection.limbs")
look_at = load("rig.look_at.resolve")
rotation = load("lookat_pd.rotation")
targets = load("rig.sampling.targets")
bake_options = load("rig.animation.bake_options")

FACE = np.radians(8.0)
SEEN = range(102, 124)
"""Frames in which both look from each other to the bird."""


@pytest.fixture(scope="module")
def talk_file(tmp_path_factory) -> str:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    for rig in conversation.build_scene(bpy.context.scene).people:
        settings(rig).mute = True  # their own animation alone: what is live would be solved first
    path = str(tmp_path_factory.mktemp("talk") / "talk.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, check_existing=False)
    return path


@pytest.fixture
def people(talk_file: str) -> list[bpy.types.Object]:
    bpy.ops.wm.open_mainfile(filepath=talk_file)
    return [bpy.data.objects[name] for name in conversation.PLACES]


def settings(rig: bpy.types.Object):
    return rig.pose.bones["head"].lookat_pd


def world(rig: bpy.types.Object, bone: str) -> np.ndarray:
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(evaluated.matrix_world @ evaluated.pose.bones[bone].matrix)


def points(name: str) -> np.ndarray:
    """Vertices of an evaluated mesh in its own space, as the rig bends it."""
    thing = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
    found = np.empty(3 * len(thing.data.vertices), dtype=np.float32)
    thing.data.vertices.foreach_get("co", found)
    return found.reshape(-1, 3) @ np.array(thing.matrix_world)[:3, :3].T + np.array(thing.matrix_world)[:3, 3]


def sees(rig: bpy.types.Object, frame: int) -> str | None:
    bpy.context.scene.frame_set(frame)
    number = directing.active(settings(rig))
    return None if number is None else targets.listed(settings(rig))[number].object.name


def glances(rig: bpy.types.Object) -> float:
    """The angle by which someone looks beside the target at this frame."""
    return float(np.hypot(settings(rig).glance_yaw, settings(rig).glance_pitch))


@pytest.mark.slow
def test_they_differ_in_height(people) -> None:
    anna, bo = (world(rig, "ORG-eye.L")[2, 3] for rig in people)
    assert 0.15 < bo - anna < 0.30


def test_they_are_no_copies_of_each_other(people) -> None:
    apart = []
    for frame in range(1, conversation.LAST, 20):
        bpy.context.scene.frame_set(frame)
        first, second = (np.array(rig.pose.bones["DEF-hand.R"].matrix)[:3, 3] for rig in people)
        apart.append(np.linalg.norm(first - second))
    assert np.median(apart) > 0.1


@pytest.mark.thorough
def test_they_never_touch(people) -> None:
    for frame in range(1, conversation.LAST, 6):
        bpy.context.scene.frame_set(frame)
        anna, bo = (points(f"{rig.name} Body")[::8] for rig in people)
        assert np.linalg.norm(anna[:, None] - bo, axis=-1).min() > 0.1, frame


def test_everything_is_on_and_found(people) -> None:
    for rig in people:
        body = look_at.resolve(rig, "head").body
        assert [eye.bone for eye in body.eyes] == ["eye.L", "eye.R"]
        assert body.lids == ("upper_lid.L", "upper_lid.R")
        assert body.hips_control == "torso"
        assert body.arms
        assert not body.notes
        assert limbs.find_legs(rig)  # held by the rig's own inverse kinematics
        assert settings(rig).eyes.drift > 0.0 < settings(rig).eyes.micro


@pytest.mark.parametrize("side", "LR")
def test_eyeball_and_lid_turn_with_their_controls(people, side: str) -> None:
    rig = people[0]
    pupil, body = points(f"Anna Eye.{side}"), points("Anna Body")
    for bone, name, before in (("eye", f"Anna Eye.{side}", pupil), ("upper_lid", "Anna Body", body)):
        control = rig.pose.bones[f"{bone}.{side}"]
        control.rotation_mode = "XYZ"
        control.rotation_euler = (0.5, 0.0, 0.0)
        bpy.context.view_layer.update()
        moved = np.linalg.norm(points(name) - before, axis=1)
        assert 0.005 < moved.max() < 0.03, bone
        middle = world(rig, f"eye.{side}")[:3, 3]
        assert np.linalg.norm(before[moved > 1e-4] - middle, axis=1).max() < 0.04, bone


@pytest.mark.parametrize("side", "LR")
def test_a_lid_leaves_the_pupil_free_and_a_blink_covers_it(people, side: str) -> None:
    rig = people[0]
    lid = rig.pose.bones[f"upper_lid.{side}"]
    assert settings(rig).eyes.blink_angle == pytest.approx(head.SHUT)

    def seen() -> str:
        """What somebody in front of the eye sees of it, in the middle."""
        eye = rig.matrix_world @ rig.pose.bones[f"eye.{side}"].matrix
        ahead = (eye.to_3x3() @ mathutils.Vector((0.0, 1.0, 0.0))).normalized()
        graph = bpy.context.evaluated_depsgraph_get()
        return bpy.context.scene.ray_cast(graph, eye.translation + 0.3 * ahead, -ahead, distance=0.3)[4].name

    lid.rotation_mode = "XYZ"
    for angle, expected in ((0.0, f"Anna Eye.{side}"), (-head.SHUT, "Anna Body")):
        lid.rotation_euler = (angle, 0.0, 0.0)
        bpy.context.view_layer.update()
        assert seen() == expected


def test_they_look_at_each_other_and_at_the_bird(people) -> None:
    anna, bo = people
    for frame in (1, 5):
        assert sees(anna, frame) == "Bo" and sees(bo, frame) == "Anna"
    assert sees(anna, 48) == "Bo" and sees(bo, 48) == "Anna"
    assert sees(anna, 68) == "Bo" and glances(anna) > FACE
    assert sees(bo, 96) == "Anna" and glances(bo) > FACE
    assert sees(bo, 186) == "Anna" and glances(bo) < FACE
    assert sees(anna, 132) == sees(bo, 132) == "Bird"
    assert sees(anna, conversation.LAST) == "Bo" and sees(bo, conversation.LAST) == "Anna"


def test_between_any_two_neighbors_of_twelve_frames_a_gaze_changes(people) -> None:
    def gazes(frame: int) -> list[tuple]:
        return [(sees(rig, frame), settings(rig).glance_yaw, settings(rig).glance_pitch) for rig in people]

    def bird(frame: int) -> np.ndarray:
        bpy.context.scene.frame_set(frame)
        return np.array(bpy.data.objects["Bird"].matrix_world)[:3, 3]

    twelve = np.linspace(conversation.FIRST, conversation.LAST, 12).round().astype(int).tolist()
    for before, after in pairwise(twelve):
        follows = "Bird" in (sees(rig, before) for rig in people) and np.linalg.norm(bird(after) - bird(before)) > 0.2
        assert follows or gazes(before) != gazes(after), (before, after)


def test_the_file_opens_without_a_question_about_scripts(talk_file) -> None:
    bpy.ops.wm.open_mainfile(filepath=talk_file, use_scripts=False)
    assert not bpy.app.autoexec_fail and not any(text.use_module for text in bpy.data.texts)


@pytest.mark.slow
def test_the_conversation_can_be_changed(people) -> None:
    """Its markers and settings are in the file, and keys of the bird stay."""
    scene, (anna, _) = bpy.context.scene, people
    settings_of_talk = scene.lookat_pd_conversation
    assert settings_of_talk.use_markers and not settings_of_talk.error
    assert [marker.name for marker in scene.timeline_markers] == [name for _, name in conversation.SPOKEN]
    assert not any(text.use_module for text in bpy.data.texts)
    for rig in people:
        settings(rig).mute = False
    settings_of_talk.seed += 1
    assert not settings_of_talk.error
    assert sees(anna, 132) == "Bird"


@pytest.mark.slow
def test_baked_their_eyes_arrive_and_their_feet_stay(people) -> None:
    scene = bpy.context.scene

    def feet() -> np.ndarray:
        rows = []
        for frame in SEEN:
            scene.frame_set(frame)
            rows.append(
                [world(rig, f"DEF-{bone}.{side}") for rig in people for bone in ("foot", "toe") for side in "LR"]
            )
        return np.array(rows)

    before = feet()
    for rig in people:
        settings(rig).mute = False
        settings(rig).eyes.drift = settings(rig).eyes.micro = 0.0
    steps = bake.bake(
        scene, [look_at.resolve(rig, "head") for rig in people], bake_options.BakeOptions(SEEN[0], SEEN[-1])
    )
    try:
        while True:
            next(steps)
    except StopIteration as end:
        results = end.value
    assert np.abs(feet()[..., :3, 3] - before[..., :3, 3]).max() < 1e-4
    bird = bpy.data.objects["Bird"]
    for rig, result in zip(people, results, strict=True):
        assert settings(rig).mute
        assert np.abs(result.response.moves).max() > 0.005  # the hips
        ahead = result.look_at.body.ocular.forward
        scene.frame_set(SEEN[-1])
        eyes = [world(rig, eye.bone) for eye in result.look_at.body.eyes]
        aim = np.mean([eye[:3, :3] @ axis for eye, axis in zip(eyes, ahead, strict=True)], axis=0)
        away = np.array(bird.matrix_world)[:3, 3] - np.mean([eye[:3, 3] for eye in eyes], axis=0)
        assert np.degrees(rotation.angle_between(aim, away)) < 0.5
