"""A clip in place and on the move, and along a path."""

from collections.abc import Iterator

import bpy
import numpy as np
import pytest

import kept
from extension import load

from .. import scenes
from ..feet import walking
from .motions import character, poses, use
from .motions import walk as swaying

drain = load("lookat_pd.progress").drain
path_following = load("rig.transitions.path_following")
locomotion = load("rig.transitions.locomotion")
join, loop, best_cut = (load(f"rig.transitions.{name}") for name in ("join", "loop", "best_cut"))
RigError = load("lookat_pd.errors").RigError
SPEED = 0.9


def make_walker() -> None:
    armature = walking.person()
    use(armature, walking.walk(armature, "Walk", speed=SPEED))


@pytest.fixture
def walker():
    """Somebody who walks at 0.9 m/s along -Y, for three cycles."""
    kept.scene(make_walker)
    armature = next(item for item in bpy.data.objects if item.type == "ARMATURE")
    bpy.context.view_layer.objects.active = armature
    return armature


def scene():
    return bpy.context.scene


def action(name: str = "Walk"):
    return bpy.data.actions[name]


def hips(armature, made, frames) -> np.ndarray:
    """Places (F, 3) of the hips in the world."""
    found = poses(armature, made, frames)[:, armature.pose.bones.keys().index("hips"), :3, 3]
    matrix = np.array(armature.matrix_world)
    return found @ matrix[:3, :3].T + matrix[:3, 3]


def same_pose(armature, one, other, frames) -> float:
    """The largest difference between the poses of two actions, relative to the hips."""
    names = armature.pose.bones.keys()
    rows = [names.index(bone.name) for bone in armature.pose.bones["hips"].children_recursive]
    a, b = (poses(armature, each, frames) for each in (one, other))
    a, b = (np.linalg.inv(each[:, names.index("hips")])[:, None] @ each[:, rows] for each in (a, b))
    return float(np.abs(a - b).max())


@pytest.mark.every_blender
def test_in_place_and_back(walker) -> None:
    frames = range(1, walking.LAST + 1)
    for scale in (1.0, 2.0):
        walker.scale = (scale,) * 3
        bpy.context.view_layer.update()
        still = locomotion.in_place(scene(), walker, action(), assign=False)
        assert still.speed.speed == pytest.approx(scale * SPEED, rel=2e-2)
        places = hips(walker, still.action, frames)
        assert np.ptp(places[:, 1]) < 0.03 * scale and np.ptp(places[:, 2]) > 0.01
        assert same_pose(walker, action(), still.action, frames) < 1e-5
        back = locomotion.travelling(scene(), walker, still.action, assign=False)
        assert back.speed.speed == pytest.approx(scale * SPEED, rel=2e-2)
        assert abs(back.speed.direction) < 0.02 and back.speed.turn == 0.0
        np.testing.assert_allclose(hips(walker, back.action, frames), hips(walker, action(), frames), atol=0.08 * scale)


@pytest.mark.parametrize("removed", locomotion.REMOVED)
def test_what_is_removed(walker, removed) -> None:
    made = locomotion.in_place(scene(), walker, action(), removed, assign=False)
    places = hips(walker, made.action, range(1, walking.LAST + 1))
    sway = np.ptp(places[:, 0])
    assert sway < 1e-5 if removed == "ALL" else sway > 0.03
    assert np.ptp(places[:, 1]) < (1e-5 if removed == "ALL" else 0.05)
    assert np.ptp(places[:, 2]) > 0.02


@pytest.mark.parametrize(("direction", "turn"), [(0.0, 0.0), (np.pi / 2, 0.0), (0.0, np.pi / 3), (0.3, -1.0)])
def test_a_speed_that_is_set(walker, direction, turn) -> None:
    still = locomotion.in_place(scene(), walker, action(), "ALL", assign=False)
    speed = locomotion.Speed(1.2, direction, turn)
    made = locomotion.travelling(scene(), walker, still.action, speed, assign=False)
    places = hips(walker, made.action, range(1, walking.LAST + 1))
    steps = np.diff(places[:, :2], axis=0) * walking.FPS
    np.testing.assert_allclose(np.linalg.norm(steps, axis=1), 1.2, rtol=2e-3)
    # The character faces along -Y, and its left is +X.
    angles = np.unwrap(np.arctan2(steps[:, 0], -steps[:, 1]))
    assert angles[0] == pytest.approx(direction + 0.5 * turn / walking.FPS, abs=1e-3)
    np.testing.assert_allclose(np.diff(angles) * walking.FPS, turn, atol=1e-3)


def test_the_motion_of_an_object_is_removed_too(walker) -> None:
    armature = character()
    armature.animation_data_create()
    use(armature, swaying(armature, "Sway", speed=(0.0, 0.0, 0.0)))
    for frame, y in ((1, 0.0), (41, -4.0)):
        armature.location = (0.0, y, 0.0)
        armature.keyframe_insert("location", frame=frame)
    for curve in load("rig.animation.actions").curves(action("Sway"), armature.animation_data.action_slot):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    made = locomotion.in_place(scene(), armature, action("Sway"))
    for frame in (1, 15, 41):
        scene().frame_set(frame)
        # The hips sway by a few centimeters.
        assert abs(armature.matrix_world.translation.y) < 0.05
    assert made.speed.speed == pytest.approx(4.0 / 40 * scene().render.fps, rel=0.02)


def curve(points, *, closed: bool = False, kind: str = "POLY"):
    data = bpy.data.curves.new("Path", "CURVE")
    data.dimensions, data.bevel_depth = "3D", 0.1
    spline = data.splines.new(kind)
    spline.use_cyclic_u = closed
    spline.points.add(len(points) - 1)
    for point, place in zip(spline.points, points, strict=True):
        point.co = (*place, 1.0)
    item = bpy.data.objects.new("Path", data)
    scene().collection.objects.link(item)
    return item


def circle(radius: float = 2.0, count: int = 48):
    angles = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    return curve([(radius * np.sin(a), -radius * np.cos(a), 0.0) for a in angles], closed=True)


@pytest.mark.thorough
@pytest.mark.parametrize("in_place", [False, True])
def test_a_walk_along_a_circle(walker, in_place) -> None:
    path = circle()
    clip = locomotion.in_place(scene(), walker, action(), assign=False).action if in_place else action()
    made = drain(path_following.follow(scene(), walker, clip, path, lock_feet=False))
    assert walker.animation_data.action == made.action
    places = hips(walker, made.action, range(made.first, made.last + 1))
    away = np.linalg.norm(places[:, :2], axis=1)
    # The hips sway by 2 cm, and at the begin of the clip they are beside their mean.
    np.testing.assert_allclose(away, 2.0, atol=0.06)
    assert made.distance == pytest.approx(4.0 * np.pi, rel=0.01)
    assert made.last - made.first == pytest.approx(4.0 * np.pi / SPEED * walking.FPS, rel=0.03)
    facing = poses(walker, made.action, range(made.first, made.last + 1))
    forward = (
        -facing[:, walker.pose.bones.keys().index("hips"), :3, :3]
        @ np.array(walker.data.bones["hips"].matrix_local.to_3x3().inverted())[:, 1]
    )
    tangent = np.stack((-places[:, 1], places[:, 0]), axis=-1) / away[:, None]
    across = np.degrees(np.arccos(np.clip(np.sum(forward[:, :2] * tangent, axis=-1), -1.0, 1.0)))
    assert across.max() < 6.0


def test_planted_feet_stay_along_a_path(walker) -> None:
    made = drain(path_following.follow(scene(), walker, action(), circle()))
    assert made.feet.stances > 10 and made.feet.drift < 1e-3 < made.feet.before


def test_an_object_that_moves_sets_the_pace(walker) -> None:
    guide = bpy.data.objects.new("Guide", None)
    scene().collection.objects.link(guide)
    for frame, y in ((11, 0.0), (59, -1.8), (107, -1.8 - 3.6)):
        guide.location = (1.0, y, 0.0)
        guide.keyframe_insert("location", frame=frame)
    for each in load("rig.animation.actions").curves(guide.animation_data.action, guide.animation_data.action_slot):
        for point in each.keyframe_points:
            point.interpolation = "LINEAR"
    made = drain(path_following.follow(scene(), walker, action(), guide, lock_feet=False))
    assert (made.first, made.last) == (11, 107)
    places = hips(walker, made.action, [11, 59, 107])
    np.testing.assert_allclose(places[:, 1], (0.0, -1.8, -5.4), atol=0.03)
    assert made.cycles * (walking.LAST - 1) / walking.FPS * SPEED == pytest.approx(5.4, rel=0.02)
    # At its own speed it plays as it is, and twice as fast where the object is twice as fast.
    toes = [
        walking.toes(walker, each, frames)[0][:, 0, 2]
        for each, frames in ((action(), range(1, 40)), (made.action, range(11, 50)))
    ]
    np.testing.assert_allclose(toes[0], toes[1], atol=0.02)


def test_what_cannot_be_a_path(walker) -> None:
    empty = bpy.data.objects.new("Empty", None)
    scene().collection.objects.link(empty)
    before = set(bpy.data.actions)
    for path, message in (
        (curve([(0, 0, 0), (0, 0, 2)]), "no length on the ground"),
        (curve([(0, 0, 0), (0.03, 0, 0)]), "shorter than the distance of two frames"),
        (empty, "is not a path"),
        (walker, "is not a path"),
    ):
        with pytest.raises(RigError, match=message):
            drain(path_following.follow(scene(), walker, action(), path))
    with pytest.raises(RigError, match="enter its speed"):
        drain(path_following.follow(scene(), walker, action(), circle(), speed=0.0))
    assert set(bpy.data.actions) == before


@pytest.mark.parametrize("steps", [1, 40])
def test_nothing_is_left_of_a_path_that_is_cancelled(walker, steps) -> None:
    before = set(bpy.data.actions)
    work = path_following.follow(scene(), walker, action(), circle())
    for _ in range(steps):
        next(work)
    work.close()
    assert set(bpy.data.actions) == before and walker.animation_data.action == action()


def test_a_path_that_fails_at_its_keys_says_why(walker, monkeypatch) -> None:
    before, calls = set(bpy.data.actions), []

    def fail(*_: object, **__: object) -> Iterator[float]:
        calls.append(1)
        yield 0.0
        if len(calls) > 1:
            raise RigError("No keys.")

    # They are chosen twice: of all cycles, and of the result.
    monkeypatch.setattr(load("rig.transitions.kept_clips"), "thin", fail)
    with pytest.raises(RigError, match=r"No keys\."):
        drain(path_following.follow(scene(), walker, action(), circle(), lock_feet=False))
    assert set(bpy.data.actions) == before


def test_operators(walker) -> None:
    circle()
    assert bpy.ops.lookat_pd.in_place(removed="ALL") == {"FINISHED"}
    assert walker.animation_data.action.name == "Walk in place"
    assert bpy.ops.lookat_pd.travelling() == {"FINISHED"}
    assert walker.animation_data.action.name == "Walk in place travelling"
    assert bpy.ops.lookat_pd.travelling(action="Walk", use_feet_speed=False, speed=2.0, direction=1.0) == {"FINISHED"}
    assert bpy.ops.lookat_pd.follow_path(action="Walk", path="Path") == {"FINISHED"}
    assert walker.animation_data.action.name == "Walk along Path"
    with pytest.raises(RuntimeError, match="choose a path"):
        bpy.ops.lookat_pd.follow_path(action="Walk", path="Nothing")
    settings = scene().lookat_pd_travel
    settings.path = bpy.data.objects["Path"]
    assert settings.path == bpy.data.objects["Path"]


def test_a_turn_that_changes(walker) -> None:
    """The path of a clip with a turning speed for each frame, and the turn of a straight walk from its feet."""
    still = locomotion.in_place(scene(), walker, action(), "ALL", assign=False)
    turns = np.sin(np.linspace(0.0, np.pi, walking.LAST))
    made = locomotion.travelling(
        scene(), walker, still.action, locomotion.Speed(1.2, 0.0, turns.mean(), turns), assign=False
    )
    places = hips(walker, made.action, range(1, walking.LAST + 1))
    steps = np.diff(places[:, :2], axis=0) * walking.FPS
    np.testing.assert_allclose(np.linalg.norm(steps, axis=1), 1.2, rtol=2e-3)
    angles = np.unwrap(np.arctan2(steps[:, 0], -steps[:, 1]))
    np.testing.assert_allclose(np.diff(angles) * walking.FPS, turns[1:-1], atol=0.01)
    straight = locomotion.in_place(scene(), walker, action(), assign=False)
    found = locomotion.travelling(scene(), walker, straight.action, turns=True, assign=False)
    assert found.speed.turns.shape == (walking.LAST,)
    assert abs(found.speed.turn) * walking.LAST / walking.FPS < np.radians(2.0)


@pytest.mark.parametrize("name", ["in_place", "travelling"])
def test_nothing_is_left_of_a_conversion_that_is_cancelled(walker, name) -> None:
    use(walker, action())
    scenes.goto(1)
    before = scenes.snapshot()
    for steps in range(1, 4):
        work = getattr(locomotion, f"making_{name}")(scene(), walker, action())
        for _ in range(steps):
            next(work)
        work.close()
        assert not scenes.differences(before, scenes.snapshot())


def test_what_makes_an_action_goes_on_at_each_frame(walker) -> None:
    """The window draws between two steps, whatever is sampled: the longest of them is that of a frame."""
    whole = action()
    again = whole.copy()
    first, last = (round(end) for end in whole.frame_range)
    refs = join.ClipRef(whole, last), join.ClipRef(again, first)
    works = (
        join.joining(walker, *refs, assign=False, scene=scene()),
        loop.looping(walker, whole, assign=False, scene=scene()),
        best_cut.finding(walker, whole, again, scene=scene()),
    )
    for work in works:
        fractions: list[float] = []
        drain(work, fractions.append)
        assert len(fractions) > last - first and 0.0 <= min(fractions) <= max(fractions) <= 1.0
