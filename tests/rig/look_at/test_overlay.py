"""What the viewport shows of a look-at: where its lines and fans lie in the world."""

import time

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

from extension import load

from .. import scenes
from ..scenes import CHAIN, figure, set_rotation

errors = load("lookat_pd.errors")
look_at_edit = load("rig.look_at.edit")
offsets = load("rig.look_at.look_at_layer")
overlay = load("rig.look_at.overlay")
rotation = load("lookat_pd.rotation")

PLACES = (Matrix(), Matrix.LocRotScale((3, -1, 2), Euler((0.4, 0.3, 2.0)), (0.5, 0.5, 0.5)))
TURNS = {"hips": (0.02, 0.1, 0.0), "chest": (-0.1, 0.2, 0.05), "neck": (0.1, 0.3, 0.0), "head": (0.2, 0.5, -0.1)}


@pytest.fixture(params=PLACES, ids=["here", "elsewhere"])
def hero(request) -> bpy.types.Object:
    """A posed character that looks at a ball, wherever it stands."""
    armature = figure()
    armature.matrix_world = request.param
    ball = bpy.data.objects.new("Ball", None)
    ball.location = armature.matrix_world @ Matrix.Translation((0.5, -2.0, 1.7)).translation
    bpy.context.scene.collection.objects.link(ball)
    look_at_edit.add(bpy.context.scene, armature, "head", ball)
    # The tests turn the bones themselves.
    armature.pose.bones["head"].lookat_pd.mute = True
    rng = np.random.default_rng(3)
    for bone in CHAIN:
        set_rotation(armature.pose.bones[bone], rng.normal(0.0, 0.2, 3))
    bpy.context.view_layer.update()
    return armature


def turn(armature: bpy.types.Object) -> dict[str, np.ndarray]:
    """Turn the bones of the chain as a look-at would; what was added."""
    added = {name: rotation.exp(np.array(vector)) for name, vector in TURNS.items()}
    for name, offset in added.items():
        bone = armature.pose.bones[name]
        bone.rotation_quaternion = rotation.multiply(np.array(bone.rotation_quaternion), offset)
    bpy.context.view_layer.update()
    return added


def facing(armature: bpy.types.Object) -> np.ndarray:
    """Where the face points in the world (3,)."""
    bone = armature.data.bones["head"].matrix_local.to_3x3()
    pose = armature.matrix_world.to_3x3() @ armature.pose.bones["head"].matrix.to_3x3() @ bone.transposed()
    return rotation.normalize(np.array(pose) @ (0, -1, 0))


def directions(fan) -> np.ndarray:
    return rotation.normalize(fan.rim - fan.apex)


def degrees_between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.degrees(rotation.angle_between(a, b))


@pytest.mark.every_blender
def test_line_of_sight_runs_from_the_head_along_the_face(hero) -> None:
    posed = overlay.Posed(hero, "head")
    begin, end = posed.sight
    assert np.allclose(begin, scenes.eye(hero, "head", hero), atol=1e-5)
    assert degrees_between(end - begin, facing(hero)) < 0.01
    assert np.isclose(np.linalg.norm(end - begin), np.linalg.norm(posed.target - begin), rtol=1e-4)


def test_without_a_target_there_is_still_a_line_of_sight(hero) -> None:
    hero.pose.bones["head"].lookat_pd.target = None
    posed = overlay.Posed(hero, "head")
    assert posed.target is None and np.linalg.norm(posed.sight[1] - posed.sight[0]) > 0.1


def test_target_may_be_a_bone(hero) -> None:
    other = figure("Other")
    other.location = (1, -4, 0)
    bpy.context.view_layer.update()
    settings = hero.pose.bones["head"].lookat_pd
    settings.target, settings.subtarget = other, "hand.L"
    assert np.allclose(overlay.Posed(hero, "head").target, (1.45, -4, 1.45), atol=1e-5)
    settings.subtarget = "nothing"
    assert overlay.Posed(hero, "head").target is None


def test_the_active_target_is_the_one_shown(hero) -> None:
    settings = hero.pose.bones["head"].lookat_pd
    bird = bpy.data.objects.new("Bird", None)
    bird.location = (1.0, 2.0, 3.0)
    bpy.context.scene.collection.objects.link(bird)
    settings.targets.add().object = bird
    bpy.context.view_layer.update()
    settings.active_target = 1
    assert np.allclose(overlay.Posed(hero, "head").target, bird.location)
    settings.active_target = 2
    assert overlay.Posed(hero, "head").target is None


def test_reach_is_around_where_the_animation_looks_whatever_is_added(hero) -> None:
    before, ahead = overlay.Posed(hero, "head").fans({}), facing(hero)
    added = turn(hero)
    after = overlay.Posed(hero, "head").fans(added)
    assert degrees_between(facing(hero), ahead) > 20.0
    for one, other in zip(before, after, strict=True):
        assert degrees_between(directions(one), directions(other)).max() < 0.1
    left, right = degrees_between(directions(before[0])[[0, -1]], ahead)
    assert left == pytest.approx(right, abs=0.01)


def test_a_live_look_at_is_distinguished_from_the_animation(hero) -> None:
    """Reach lies where the animation looks, and the line of sight meets the target."""
    before, ahead = overlay.Posed(hero, "head").fans({}), facing(hero)
    hero.pose.bones["head"].lookat_pd.mute = False
    bpy.context.scene.frame_set(1)
    posed, added = overlay.Posed(hero, "head"), offsets.shown(hero, "head", bpy.context.scene.frame_current_final)
    assert added and degrees_between(facing(hero), ahead) > 5.0
    for one, other in zip(before, posed.fans(added), strict=True):
        assert degrees_between(directions(one), directions(other)).max() < 0.1
    assert degrees_between(posed.sight[1] - posed.eye, posed.target - posed.eye) < 0.2


def test_reach_is_the_sum_of_the_limits(hero) -> None:
    settings = hero.pose.bones["head"].lookat_pd
    for link in settings.chain:
        link.yaw_limit, link.pitch_up_limit, link.pitch_down_limit = 0.2, 0.1, 0.05
    across, along = overlay.Posed(hero, "head").fans({})
    ahead = facing(hero)
    ends = degrees_between(directions(across)[[0, -1]], ahead)
    assert np.allclose(ends, np.degrees(0.2 * len(settings.chain)), atol=0.1)
    down, up = degrees_between(directions(along)[[0, -1]], ahead)
    count = len(settings.chain)
    assert np.isclose(up, np.degrees(0.1 * count), atol=0.1) and np.isclose(down, np.degrees(0.05 * count), atol=0.1)


@pytest.mark.parametrize("edge", [0.0, 0.1])
def test_reach_fades_within_the_soft_edge(hero, edge) -> None:
    settings = hero.pose.bones["head"].lookat_pd
    settings.soft_edge = edge
    for link in settings.chain:
        link.yaw_limit = 0.3
    across = overlay.Posed(hero, "head").fans({})[0]
    away = np.radians(degrees_between(directions(across), facing(hero)))
    full = 0.3 * len(settings.chain) - edge * len(settings.chain)
    assert np.all(across.strength[away < full - 1e-3] == 1.0)
    assert across.strength[0] == across.strength[-1] == pytest.approx(0.0)
    assert np.all(np.diff(across.strength[: len(away) // 2]) >= 0.0)


def test_widest_limits_still_make_a_fan(hero) -> None:
    for link in hero.pose.bones["head"].lookat_pd.chain:
        link.yaw_limit = link.pitch_up_limit = link.pitch_down_limit = np.radians(170.0)
    for fan in overlay.Posed(hero, "head").fans({}):
        assert np.all(np.isfinite(fan.rim)) and np.all(np.diff(fan.rim, axis=0).any(axis=1))
    for link in hero.pose.bones["head"].lookat_pd.chain:
        link.yaw_limit = link.pitch_up_limit = link.pitch_down_limit = 0.0
    for fan in overlay.Posed(hero, "head").fans({}):
        assert np.all(np.isfinite(fan.rim)) and np.all(np.isfinite(fan.strength))


def test_arc_leads_from_the_animation_to_the_pose(hero) -> None:
    bones = list(TURNS)
    before = {name: np.array(hero.pose.bones[name].matrix)[:3, :3] for name in bones}
    lowest = "hips"
    added = turn(hero)
    found = overlay.Posed(hero, "head").arcs(added, bones)
    arcs = dict(zip((name for name in CHAIN if name in bones), found, strict=True))
    for name, arc in arcs.items():
        assert arc.angle == pytest.approx(np.linalg.norm(TURNS[name]), abs=1e-6)
        ends = rotation.normalize(arc.points[[0, -1]] - arc.apex)
        assert degrees_between(*ends) <= np.degrees(arc.angle) + 0.01
    assert degrees_between(rotation.normalize(arcs["head"].points[-1] - arcs["head"].apex), facing(hero)) < 0.01
    # Nothing below the lowest bone has turned: there its arc begins where it stood.
    rest = np.array(hero.data.bones[lowest].matrix_local)[:3, :3]
    stood = np.array(hero.matrix_world)[:3, :3] @ before[lowest] @ rest.T @ (0, -1, 0)
    assert degrees_between(arcs[lowest].points[0] - arcs[lowest].apex, stood) < 0.01


def test_no_arc_where_nothing_is_added(hero) -> None:
    posed = overlay.Posed(hero, "head")
    assert not posed.arcs({"head": rotation.identity()}, CHAIN)
    assert not posed.arcs({}, CHAIN)
    assert not posed.arcs({"hand.L": rotation.exp(np.array((0.1, 0, 0)))}, ["hand.L"])


def test_an_edit_of_the_rest_pose_is_seen(hero) -> None:
    overlay.Posed(hero, "head")
    bpy.context.view_layer.objects.active = hero
    bpy.ops.object.mode_set(mode="EDIT")
    hero.data.edit_bones["head"].roll = 1.0
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()
    begin, end = overlay.Posed(hero, "head").sight
    assert degrees_between(end - begin, facing(hero)) < 0.01


def test_a_broken_chain_shows_nothing(hero) -> None:
    hero.pose.bones["head"].lookat_pd.chain[1].bone = "nothing"
    assert overlay.posed(hero, "head") is None


@pytest.mark.filterwarnings("error")
def test_without_size_there_are_still_numbers(hero) -> None:
    hero.scale = (0.0, 0.0, 0.0)
    hero.pose.bones["head"].scale = (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    posed = overlay.posed(hero, "head")
    assert np.all(np.isfinite(posed.sight)) and all(np.all(np.isfinite(fan.rim)) for fan in posed.fans({}))


def test_a_chain_that_is_detected_is_shown_as_well(hero) -> None:
    fans = overlay.Posed(hero, "head").fans({})
    hero.pose.bones["head"].lookat_pd.chain.clear()
    for one, other in zip(fans, overlay.Posed(hero, "head").fans({}), strict=True):
        assert np.allclose(one.rim[[0, -1]], other.rim[[0, -1]], atol=1e-5)


def test_costs_little(hero) -> None:
    """All lines of a look-at together: far below a millisecond; here is room for a slow machine."""
    added = turn(hero)

    def once() -> float:
        start = time.perf_counter()
        posed = overlay.Posed(hero, "head")
        _ = posed.sight, posed.target, posed.fans(added), posed.arcs(added, CHAIN)
        return time.perf_counter() - start

    assert min(once() for _ in range(30)) < 0.003
