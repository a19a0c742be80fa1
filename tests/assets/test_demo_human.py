"""The demo's human: the controls are there, the body performs, the feet stand, and building it twice gives it twice."""

from dataclasses import dataclass

import bpy
import numpy as np
import pytest

import kept
from extension import load

human = load("assets.demo.human")

CONTROLS = ("torso", "hips", "chest", "neck", "head", "eyes", "foot_ik.L", "foot_ik.R", "hand_ik.L", "upper_arm_fk.R")
ANKLE_HEIGHT = 0.085  # metres, of Rigify's human at rest


@pytest.fixture
def demo():
    return opened()


def opened():
    rig = kept.human()
    objects = bpy.data.objects
    return human.Demo(
        bpy.context.scene,
        rig,
        bpy.data.actions["Idle"],
        objects["Ball"],
        objects["Bird"],
        objects["Camera"],
    )


def pose(demo, frame: int) -> dict[str, np.ndarray]:
    demo.scene.frame_set(frame)
    evaluated = demo.rig.evaluated_get(demo.scene.view_layers[0].depsgraph)
    return {bone.name: np.array(bone.matrix) for bone in evaluated.pose.bones}


@dataclass(frozen=True)
class Performance:
    """Matrices (250, 4, 4) at all frames of the demo: of the bones by name, and of the targets in the world."""

    bones: dict[str, np.ndarray]
    ball: np.ndarray
    bird: np.ndarray


@pytest.fixture(scope="module")
def performance() -> Performance:
    demo = opened()
    rows, balls, birds = [], [], []
    for frame in range(1, 251):
        rows.append(pose(demo, frame))
        balls.append(np.array(demo.ball.matrix_world))
        birds.append(np.array(demo.bird.matrix_world))
    return Performance(
        {name: np.stack([row[name] for row in rows]) for name in rows[0]}, np.array(balls), np.array(birds)
    )


def curves(demo) -> list[bpy.types.FCurve]:
    channelbag = demo.action.layers[0].strips[0].channelbag(demo.rig.animation_data.action_slot)
    return list(channelbag.fcurves)


def keyed_bones(demo) -> set[str]:
    return {curve.data_path.split('"')[1] for curve in curves(demo)}


def test_scene_is_complete(demo) -> None:
    assert (demo.scene.frame_start, demo.scene.frame_end, demo.scene.render.fps) == (1, 250, 24)
    assert demo.scene.camera is demo.camera
    assert demo.scene.world is not None
    assert any(thing.type == "LIGHT" for thing in demo.scene.objects)
    assert {thing.type for thing in demo.scene.objects} >= {"ARMATURE", "MESH", "CAMERA"}
    assert [thing.name for thing in demo.scene.objects if thing.type == "ARMATURE"] == ["Human"]  # no metarig left


def test_rig_has_the_named_controls(demo) -> None:
    assert demo.rig.name == "Human"
    assert set(CONTROLS) <= set(demo.rig.pose.bones.keys())
    assert np.allclose(np.array(demo.rig.matrix_world), np.eye(4))


@dataclass(frozen=True)
class Facts:
    """What is there once a second human has been built beside the first."""

    rigs: tuple[str, str]
    armatures_of_rigs: set[str]
    all_armatures: set[str]
    addons_before: list[str]
    addons: list[str]


@pytest.fixture(scope="module")
def second_human() -> Facts:
    first = kept.human()
    for thing in bpy.context.scene.objects:
        thing.hide_viewport = True  # what is visible is evaluated after each of Rigify's many steps
    before = list(bpy.context.preferences.addons.keys())
    second = human.build_human(bpy.context.scene)
    return Facts(
        (first.name, second.name),
        {first.data.name, second.data.name},
        set(bpy.data.armatures.keys()),
        before,
        list(bpy.context.preferences.addons.keys()),
    )


@pytest.mark.slow
def test_rigify_leaves_the_preferences_alone(second_human) -> None:
    assert second_human.addons == second_human.addons_before


@pytest.mark.slow
def test_two_humans_share_nothing_but_paint(second_human) -> None:
    first, second = second_human.rigs
    assert first != second and len(second_human.armatures_of_rigs) == 2
    assert second_human.all_armatures == second_human.armatures_of_rigs  # nothing of the metarigs is left


def test_widgets_are_out_of_sight(demo) -> None:
    visible = {thing.name for thing in demo.scene.objects if thing.visible_get()}
    shapes = {bone.custom_shape.name for bone in demo.rig.pose.bones if bone.custom_shape}
    assert shapes
    assert not visible & shapes


def test_mesh_is_light_and_wholly_weighted(demo) -> None:
    body = bpy.data.objects["Human Body"]
    assert len(body.data.vertices) < 10_000
    assert all(abs(sum(group.weight for group in vertex.groups) - 1.0) < 0.01 for vertex in body.data.vertices)
    deforming = {bone.name for bone in demo.rig.data.bones if bone.use_deform}
    assert {group.name for group in body.vertex_groups} <= deforming


def test_mesh_follows_the_head(demo) -> None:
    body = bpy.data.objects["Human Body"]

    def nose() -> np.ndarray:
        mesh = body.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        points = np.empty(len(mesh.vertices) * 3, dtype=np.float32)
        mesh.vertices.foreach_get("co", points)
        points = points.reshape(-1, 3)
        near = points[points[:, 2] > 1.7]
        return near[near[:, 1].argmin()] - np.array(demo.rig.pose.bones["head"].matrix.translation)

    demo.scene.frame_set(210)  # a glance to its left
    left = nose()
    demo.scene.frame_set(75)  # and to its right
    assert left[0] - nose()[0] > 0.04


def test_faces_look_outwards(demo) -> None:
    for thing in (bpy.data.objects["Human Body"], demo.ball, demo.bird):
        mesh = thing.data
        volume = sum(mesh.vertices[f.vertices[0]].co.dot(f.normal) * f.area for f in mesh.polygons) / 3.0
        assert volume > 0.0


def test_action_has_one_slot_and_it_is_used(demo) -> None:
    assert demo.action.name == "Idle"
    assert len(demo.action.slots) == 1
    assert demo.rig.animation_data.action is demo.action
    assert demo.rig.animation_data.action_slot == demo.action.slots[0]
    assert tuple(demo.action.frame_range) == (1.0, 250.0)


def test_chain_is_animated_in_quaternion_and_euler_bones(demo) -> None:
    assert keyed_bones(demo) >= {"torso", "hips", "chest", "neck", "head", "shoulder.L", "foot_heel_ik.L"}
    modes = {demo.rig.pose.bones[name].rotation_mode for name in keyed_bones(demo)}
    assert "QUATERNION" in modes
    assert modes - {"QUATERNION"}


def test_keys_are_sparse_bezier_on_whole_frames(demo) -> None:
    for curve in curves(demo):
        assert len(curve.keyframe_points) <= 25
        for key in curve.keyframe_points:
            assert key.interpolation == "BEZIER"
            assert key.co.x == round(key.co.x)


@pytest.mark.slow
def test_body_moves(performance) -> None:
    moving = {name: matrices[::4] for name, matrices in performance.bones.items()}
    for bone in ("head", "neck", "chest", "hips"):
        turns = moving[bone][:, :3, :3]
        cosines = (np.einsum("fij,ij->f", turns, turns[0]) - 1.0) / 2.0
        assert np.degrees(np.arccos(np.clip(cosines, -1.0, 1.0))).max() > 3.0, bone
    assert np.ptp(moving["DEF-spine"][:, 0, 3]) > 0.06  # the weight goes from foot to foot
    assert np.ptp(moving["DEF-hand.R"][:, 2, 3]) > 0.15
    assert np.ptp(moving["DEF-hand.L"][:, 2, 3]) > 0.10


def test_body_is_smooth(performance) -> None:
    points = performance.bones
    for bone in ("DEF-hand.L", "DEF-hand.R", "DEF-foot.L", "DEF-foot.R", "head"):
        speed = np.linalg.norm(np.diff(points[bone][:, :3, 3], axis=0), axis=1) * 24.0
        assert speed.max() < 3.0, bone  # metres a second


def test_feet_stand_on_the_floor_and_step(performance) -> None:
    feet = performance.bones
    aground = []
    for side in "LR":
        ankle = feet[f"DEF-foot.{side}"][:, :3, 3]
        assert ankle[:, 2].min() > ANKLE_HEIGHT - 0.002
        planted = ankle[:, 2] < ANKLE_HEIGHT + 0.002
        sliding = np.linalg.norm(np.diff(ankle, axis=0), axis=1)[planted[1:] & planted[:-1]]
        assert sliding.max() < 0.003
        assert planted.mean() > 0.7
        assert np.ptp(ankle[planted, 1]) > 0.2
        aground.append(feet[f"DEF-toe.{side}"][:, 2, 3] < 0.025)
    assert (aground[0] | aground[1]).all()  # never both feet in the air


def test_legs_are_never_stretched(demo) -> None:
    rest = {bone.name: bone.length for bone in demo.rig.data.bones}
    for frame in range(1, 251, 5):
        demo.scene.frame_set(frame)
        evaluated = demo.rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        for side in "LR":
            for bone in (f"ORG-thigh.{side}", f"ORG-shin.{side}"):
                posed = evaluated.pose.bones[bone]
                assert (posed.tail - posed.head).length < rest[bone] * 1.005, (frame, bone)


def test_performance_ends_where_it_began(demo) -> None:
    first, last = pose(demo, 1), pose(demo, 250)
    for name in CONTROLS:
        assert np.allclose(first[name], last[name], atol=1e-4), name


@pytest.mark.slow
def test_any_range_is_filled(demo) -> None:
    rig = demo.rig
    rig.animation_data.action = None
    action = human.animate_body(rig, 101, 101 + 1800, 60.0)
    assert tuple(action.frame_range) == (101.0, 1901.0)
    with pytest.raises(ValueError, match="two frames"):
        human.animate_body(rig, 10, 10, 24.0)


def test_targets_ask_for_large_turns(performance) -> None:
    asked = []
    for place in performance.ball[:, :3, 3]:
        way = place - (0.0, -0.12, 1.86)
        asked.append((np.arctan2(way[0], -way[1]), np.arcsin(way[2] / np.linalg.norm(way))))
    yaw, pitch = np.degrees(np.array(asked)).T
    assert 85.0 < yaw.max() < 105.0
    assert -105.0 < yaw.min() < -60.0
    assert 30.0 < pitch.max() < 45.0
    assert -45.0 < pitch.min() < -30.0


def test_bird_flies_beak_first(performance) -> None:
    beaks = -performance.bird[:, :2, 1]
    ways = np.gradient(performance.bird[:, :3, 3], axis=0)[:, :2]
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    assert np.mean(np.einsum("fi,fi->f", ways, beaks) > 0.7) > 0.85  # but for the U-turns


@dataclass(frozen=True)
class Again:
    """What is there once the demo has been built in a file whose scene has something in it."""

    measured: list[np.ndarray]
    in_scene: list[str]
    in_mine: list[str]
    is_another_scene: bool
    armatures: list[str]


def measured(demo) -> list[np.ndarray]:
    """Points of the body, and the poses of all bones at some frames."""
    mesh = bpy.data.objects["Human Body"].data
    points = np.empty(len(mesh.vertices) * 3, dtype=np.float32)
    mesh.vertices.foreach_get("co", points)
    posed = [pose(demo, frame) for frame in (1, 60, 140)]
    names = sorted(posed[0])
    return [points, *(np.stack([p[name] for name in names]) for p in posed)]


@pytest.fixture(scope="module")
def again() -> Again:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    mine = bpy.context.scene
    mine.collection.objects.link(bpy.data.objects.new("Mine", None))
    demo = human.build_scene()
    return Again(
        measured(demo), demo.scene.objects.keys(), mine.objects.keys(), demo.scene != mine, bpy.data.armatures.keys()
    )


@pytest.mark.slow
def test_built_twice_is_the_same_twice(again) -> None:
    for one, other in zip(measured(opened()), again.measured, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.slow
def test_a_scene_with_things_in_it_stays_as_it_is(again) -> None:
    assert again.is_another_scene
    assert again.in_mine == ["Mine"]
    assert "Human" in again.in_scene
    assert again.armatures == ["Human"]  # nothing of the metarig is left, which a saved file would hide
