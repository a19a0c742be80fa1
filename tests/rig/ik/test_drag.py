"""Dragging by inverse kinematics, without its window: the pose, the way back, keys, pins, and that a bake agrees."""

from typing import Any

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from .test_body_bake import ROWS
from .test_chain_bake import FRAMES, SPOILT, at, flight, hero, run

control_drag = load("rig.ik.control_drag")
ik_chain = load("rig.detection.joint_chain")
pose = load("rig.ik.pose")
solving = load("rig.ik.chain_solve")
METHODS = load("lookat_pd.ik").METHODS
rotation = load("lookat_pd.rotation")
ik_drag = load("rig.ik.drag")
ik_handle = load("rig.ik.handle")
errors = load("lookat_pd.errors")


def session(armature: bpy.types.Object, bone: str = "palm.L", **options: Any) -> Any:
    settings = {"length": 2, "at_tip": False, "keeps": False, "tuning": solving.IKTuning(), **options}
    return ik_drag.ChainDrag(bpy.context.scene, bpy.context.view_layer, armature, bone, **settings)


def place(armature: bpy.types.Object, bone: str = "palm.L", end: str = "head") -> np.ndarray:
    seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(seen.matrix_world @ getattr(seen.pose.bones[bone], end))


@pytest.mark.parametrize("method", METHODS)
def test_the_effector_is_where_it_is_dragged(method) -> None:
    armature = hero()
    scenes.goto(7)
    before = scenes.snapshot()
    drag = session(armature, tuning=solving.IKTuning(method=method, iterations=100))
    assert np.abs(drag.place - place(armature)).max() < 1e-6
    for point in ((0.5, -0.2, 1.5), (0.3, -0.3, 1.3), (0.4, 0.3, 1.6)):
        drag.move(point)
        assert np.linalg.norm(place(armature) - point) < 1e-3 and drag.error < 1e-3 and drag.iterations >= 1
    drag.restore()
    assert not scenes.differences(before, scenes.snapshot())


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("at_tip", [False, True], ids=["head", "tip"])
@pytest.mark.parametrize("keeps", [False, True], ids=["along", "kept"])
def test_a_bake_gives_the_same_pose(method, at_tip, keeps) -> None:
    """At every frame, whatever way the mouse took there."""
    if METHODS[method].settles and at_tip and keeps:
        pytest.skip("this bake spreads an abrupt change over several frames, of which a drag knows one")
    armature, ball = hero(), flight(scenes.ball())
    length, tuning = (3 if at_tip else 2), solving.IKTuning(method=method, iterations=60)
    poses = []
    for frame in FRAMES[::6]:
        depsgraph = scenes.goto(frame)
        drag = session(armature, length=length, at_tip=at_tip, keeps=keeps, tuning=tuning)
        drag.move((0.2, -0.5, 1.0))
        drag.move(scenes.place_of(ball)(depsgraph))
        poses.append([np.array(bone.matrix) for bone in armature.evaluated_get(depsgraph).pose.bones])
        drag.restore()
    chain = ik_chain.resolve(armature, "palm.L", length=length, at_tip=at_tip, turn_effector=keeps)
    goal = at(ball)
    goal = type(goal)(goal.target, orientation="KEEP" if keeps else "FREE")
    run(chain, goal, method=method, iterations=60)
    assert np.abs(scenes.poses(armature, FRAMES[::6]) - poses).max() < 5e-4


@pytest.mark.thorough
def test_out_of_reach_it_stretches_without_shaking() -> None:
    armature = hero()
    drag, random = session(armature), np.random.default_rng(5)
    poses = []
    for _ in range(30):
        drag.move(np.array([2.0, -2.0, 2.0]) + random.normal(0.0, 0.002, 3))
        poses.append([np.array(armature.pose.bones[name].matrix)[:3, 1] for name in ("arm.L", "forearm.L")])
    poses = np.array(poses)
    assert np.sum(poses[:, 0] * poses[:, 1], axis=-1).min() > 0.999
    assert np.abs(poses - poses[0]).max() < 0.01
    # And on a line away from the shoulder, through the sphere of its reach, nothing leaps.
    way = []
    for part in np.linspace(0.8, 1.2, 60):
        drag.move(np.array([0.15, 0.0, 1.45]) + part * np.array([0.0, -0.57, 0.05]))
        way.append(place(armature))
    assert np.linalg.norm(np.diff(way, axis=0), axis=-1).max() < 0.02
    drag.restore()


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [0, 1, 5])
def test_a_chain_of_three_follows_the_mouse_out_of_reach_and_back_without_leaps(seed) -> None:
    """Where another pose becomes the nearest one, joints turn there over several steps; leaps of up to 170 degrees
    would be seen."""
    armature, random = hero(), np.random.default_rng(seed)
    scenes.goto(7)
    drag = session(armature, length=3)
    shoulder = np.array(armature.matrix_world @ armature.pose.bones["arm.L"].head)
    ahead = rotation.normalize(random.normal(size=3) - (0.0, 2.0, 0.0))
    aside = rotation.normalize(np.cross(ahead, random.normal(size=3)))
    poses = []
    for part in np.linspace(0.0, 1.0, 80):
        away = 0.57 * (0.75 + 0.5 * np.sin(np.pi * part) ** 2)
        drag.move(shoulder + away * (np.cos(0.8 * part) * ahead + np.sin(0.8 * part) * aside))
        poses.append([bone.matrix_basis.to_quaternion()[:] for bone in map(armature.pose.bones.get, drag.bones)])
    turns = rotation.distance(np.array(poses)[1:], np.array(poses)[:-1])
    assert turns.max() < np.radians(13.0)
    drag.restore()


def test_the_chain_grows_up_to_a_pinned_bone() -> None:
    armature = hero()
    armature.pose.bones["chest"].lookat_pd_ik_pin = True
    scenes.goto(3)
    before = scenes.snapshot()
    drag = session(armature)
    drag.move((0.5, -0.2, 1.5))
    assert drag.length == 2
    assert drag.lengthen(1) and drag.length == 3 and drag.chain.joints[0] == "shoulder.L"
    assert not drag.lengthen(1) and drag.length == 3
    assert np.linalg.norm(place(armature) - (0.5, -0.2, 1.5)) < 1e-3
    assert drag.lengthen(-1) and not drag.lengthen(-1)
    drag.restore()
    assert not scenes.differences(before, scenes.snapshot())


def test_pinned_limbs_stay_where_they_are() -> None:
    """The chest is dragged, the pinned palm stays in the world and keeps its orientation."""
    armature = hero()
    armature.pose.bones["palm.L"].lookat_pd_ik_pin = True
    scenes.goto(1)
    held, matrix = place(armature), np.array(armature.pose.bones["palm.L"].matrix)
    drag = session(armature, "neck", length=3)
    drag.move(drag.place + np.array([0.04, -0.06, -0.02]))
    assert drag.error < 1e-3
    assert np.abs(place(armature) - held).max() < 1e-3
    assert np.abs(np.array(armature.pose.bones["palm.L"].matrix) - matrix).max() < 2e-3
    drag.restore()


def test_solvers_can_be_changed_on_the_way() -> None:
    armature = hero()
    drag = session(armature)
    drag.move((0.5, -0.2, 1.5))
    for method in METHODS:
        drag.use(method)
        assert drag.tuning.method == method and drag.error < 1e-3
    drag.restore()


@pytest.mark.every_blender
@pytest.mark.parametrize("auto", [False, True])
def test_keeping_keys_only_where_auto_keying_is_on(auto) -> None:
    armature = hero()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = auto
    scenes.goto(9)
    before = scenes.curves(armature.animation_data.action)
    drag = session(armature)
    drag.move((0.5, -0.2, 1.5))
    assert drag.keep() == auto
    bpy.context.view_layer.update()
    assert np.linalg.norm(place(armature) - (0.5, -0.2, 1.5)) < 1e-3
    after = scenes.curves(armature.animation_data.action)
    assert bool(scenes.differences(before, after)) == auto
    if auto:
        scenes.goto(20)
        scenes.goto(9)
        assert np.linalg.norm(place(armature) - (0.5, -0.2, 1.5)) < 1e-3


def test_no_keys_are_told_where_blender_inserts_only_into_what_has_some(monkeypatch) -> None:
    monkeypatch.setattr(bpy.context.preferences.edit, "use_keyframe_insert_available", True)
    armature = hero()
    armature.animation_data_clear()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    drag = session(armature)
    drag.move((0.5, -0.2, 1.5))
    assert not drag.keep()
    assert armature.animation_data is None or armature.animation_data.action is None


@pytest.mark.thorough
def test_rotation_modes_come_back_exactly() -> None:
    for mode in scenes.MODES:
        armature = hero(modes=(mode,))
        scenes.goto(5)
        before = scenes.snapshot()
        drag = session(armature)
        drag.move((0.5, -0.2, 1.5))
        assert np.linalg.norm(place(armature) - (0.5, -0.2, 1.5)) < 1e-3
        drag.restore()
        assert not scenes.differences(before, scenes.snapshot())
        bpy.data.objects.remove(armature)


def test_controls_under_constraints_are_corrected() -> None:
    armature = hero()
    copied = armature.pose.bones["arm.L"].constraints.new("COPY_ROTATION")
    copied.target, copied.subtarget, copied.influence = armature, "root", 0.2
    drag = session(armature)
    drag.move((0.5, -0.2, 1.5))
    assert np.linalg.norm(place(armature) - (0.5, -0.2, 1.5)) < 5e-3
    drag.restore()


@pytest.mark.parametrize("point", [(np.nan, 0, 0), (np.inf, 0, 0), (1e30, 0, 0)])
def test_points_that_are_nowhere(point) -> None:
    drag = session(hero())
    with pytest.raises(errors.RigError, match="not finite"):
        drag.move(point)
    drag.restore()


@pytest.mark.parametrize(("bone", "said"), [("root", "has no parent"), ("nobody", "has no bone")])
def test_bones_that_cannot_be_dragged(bone, said) -> None:
    armature = hero()
    with pytest.raises(errors.RigError, match=said):
        session(armature, bone)


@pytest.mark.parametrize(("spoil", "said"), SPOILT)
def test_rigs_that_cannot_be_dragged(spoil, said) -> None:
    armature = hero()
    spoil(armature)
    with pytest.raises(errors.RigError, match=said):
        session(armature)


# What the mouse holds

DOWN = (0.0, 1.0, 0.0)


def handle(**options: Any) -> Any:
    return ik_handle.Handle((1.0, 2.0, 3.0), DOWN, 0.1, **options)


def shoot(held: Any, x: float, z: float) -> np.ndarray:
    """Move the mouse of a view along +Y to here."""
    held.move((x, -10.0, z), DOWN)
    return held.place


def test_in_the_plane_of_the_view() -> None:
    held = handle()
    assert np.allclose(shoot(held, 1.5, 3.0), (1.0, 2.0, 3.0)), "where it was taken does not matter"
    assert np.allclose(shoot(held, 1.7, 3.4), (1.2, 2.0, 3.4))


def test_along_axes_and_in_planes() -> None:
    held = handle()
    shoot(held, 1.0, 3.0)
    shoot(held, 1.3, 3.4)
    held.constrain("Z", np.eye(3))
    assert np.allclose(held.place, (1.0, 2.0, 3.4))
    turned = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    held.constrain("Z", turned)
    assert np.allclose(held.place, (1.3, 2.0, 3.0)), "the bone's own axis"
    held.constrain("Z", turned)
    assert not held.axis and np.allclose(held.place, (1.3, 2.0, 3.4))
    held.constrain("Y", np.eye(3), excluded=True)
    assert np.allclose(held.place, (1.3, 2.0, 3.4))
    held.constrain("Y", np.eye(3))
    assert np.allclose(held.place[[0, 2]], (1.0, 3.0)), "towards the eye no distance is known"


def test_in_steps_and_precisely() -> None:
    held = handle()
    shoot(held, 1.0, 3.0)
    shoot(held, 1.26, 3.0)
    held.be(precise=False, snaps=True)
    assert np.allclose(held.place, (1.3, 2.0, 3.0))
    held.be(precise=False, snaps=False)
    held.be(precise=True, snaps=False)
    assert np.allclose(held.place, (1.26, 2.0, 3.0)), "nothing leaps"
    assert np.allclose(shoot(held, 2.26, 3.0), (1.36, 2.0, 3.0))
    held.be(precise=False, snaps=False)
    assert np.allclose(shoot(held, 2.46, 3.0), (1.56, 2.0, 3.0))


def test_by_numbers() -> None:
    held = handle()
    shoot(held, 1.0, 3.0)
    assert not held.takes_numbers
    held.constrain("Z", np.eye(3))
    assert held.takes_numbers
    for sign in "1.5":
        held.type(sign)
    assert np.allclose(held.place, (1.0, 2.0, 4.5))
    held.type("-")
    assert np.allclose(held.place, (1.0, 2.0, 1.5))
    held.type("")
    held.type("")
    assert np.allclose(held.place, (1.0, 2.0, 2.0))


@pytest.mark.parametrize("scale", [(100, 100, 100), (-1, 1, 1), (1, 1.4, 0.8)], ids=str)
def test_armatures_that_are_scaled_or_mirrored(scale) -> None:
    armature = hero()
    armature.scale, armature.location, armature.rotation_euler = scale, (0.3, 0.1, -0.2), (0.1, 0.2, 0.8)
    scenes.goto(4)
    drag = session(armature, keeps=True)
    point = np.array(armature.matrix_world @ scenes.Vector((0.45, -0.3, 1.5)))
    drag.move(point)
    assert np.linalg.norm(place(armature) - point) < 1e-4 * drag.reachable_distance
    drag.restore()


def test_a_bone_of_properties_is_refused_with_the_end_of_its_limb() -> None:
    """It deforms nothing, is locked and has properties: a drag would turn the bones above it instead. The locks of a
    bone that deforms, or of one without properties, do not refuse it."""
    armature = scenes.figure(rows=(*ROWS, ("settings.L", "chest", (0.2, 0, 1.55), (0.2, 0, 1.65))))
    control = armature.pose.bones["settings.L"]

    def begin() -> None:
        drag = control_drag.begin(
            bpy.context.scene,
            bpy.context.view_layer,
            armature,
            "settings.L",
            extent=lambda name: {"length": 2},
            at_tip=False,
            keeps=False,
            tuning=solving.IKTuning(),
        )
        drag.restore()

    control.lock_location = control.lock_rotation = (True, True, True)
    control.bone.use_deform = False
    begin()
    control["stretch"] = 0.5
    with pytest.raises(errors.RigError, match=r"'settings\.L' only holds properties .* drag 'hand\.L'"):
        begin()
    control.bone.use_deform = True
    begin()
