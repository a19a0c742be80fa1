"""Reaches: the hand arrives, on a rig that stands, moves or is scaled; the rest stays; mistakes are refused."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
import pytest

from extension import load
from lookat_pd import rotation

from .. import scenes

actions = load("rig.animation.actions")
AFTER = [item[0] for item in load("rig.dynamics.settings").AFTER_ITEMS]
reaching = load("rig.dynamics.reaching")
sample = load("rig.sampling.sampler")
errors = load("lookat_pd.errors")
engine = load("lookat_pd.dynamics.engine")
targets = load("rig.sampling.targets")

pytestmark = pytest.mark.skipif(not engine.available(), reason="needs the physics engine")

ARM = (
    ("shoulder.L", "chest", (0.05, 0, 1.45), (0.15, 0, 1.45)),
    ("arm.L", "shoulder.L", (0.15, 0, 1.45), (0.45, 0.02, 1.45)),
    ("forearm.L", "arm.L", (0.45, 0.02, 1.45), (0.72, 0, 1.45)),
    ("palm.L", "forearm.L", (0.72, 0, 1.45), (0.9, 0, 1.45)),
)
ROWS = (*(row for row in scenes.FIGURE if not row[0].startswith(("upper_arm.L", "hand.L"))), *ARM)
PLACE = (0.4, -0.35, 1.55)


def hero(**options: Any) -> bpy.types.Object:
    """A figure with a jointed arm, in a pose that bends it."""
    armature = scenes.figure(rows=ROWS)
    scenes.animate(armature, bones=("hips", "chest", "arm.L", "forearm.L"), **options)
    return armature


def request(**changes: Any) -> Any:
    given = {"effector": "palm.L", "goal": targets.Target(point=PLACE), "first": 1, "duration": 1.0}
    return reaching.ReachRequest(**{**given, **changes})


def begin(armature: bpy.types.Object, into: str = "NEW", enough: Callable[[], bool] = lambda: False, **changes: Any):
    return reaching.start(bpy.context.scene, armature, request(**changes), into, enough=enough)


def run(armature: bpy.types.Object, into: str = "NEW", **changes: Any) -> Any:
    return scenes.finish(begin(armature, into, **changes))


def place(armature: bpy.types.Object, frame: float, end: str = "head", bone: str = "palm.L") -> Any:
    """Where the evaluated bone is in the world."""
    bpy.context.scene.frame_set(int(frame))
    seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(seen.matrix_world @ getattr(seen.pose.bones[bone], end))


def contents(action: bpy.types.Action) -> dict[tuple[str, int], str]:
    bag = actions.channelbag(action, action.slots[0])
    return {
        (item.data_path, item.array_index): str(
            [(*p.co, *p.handle_left, *p.handle_right) for p in item.keyframe_points]
        )
        for item in bag.fcurves
    }


@pytest.mark.every_blender
@pytest.mark.parametrize("method", ["SMOOTHING", "OPTIMAL"])
@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
def test_the_hand_arrives(method: str, into: str) -> None:
    armature = hero()
    result = run(armature, into, method=method, passes=10)
    assert list(result.frames) == list(range(1, 26))
    assert np.linalg.norm(place(armature, 25) - PLACE) < (1e-3 if into == "LAYER" else 1e-4)
    assert result.missed < 1e-4
    assert result.cost <= result.costs[0]


@pytest.mark.parametrize("frames", [(1,), (1, 20)])
def test_the_path_is_where_the_hand_is(frames: tuple[int, ...]) -> None:
    """Also where the body moves."""
    armature = hero(frames=frames)
    armature.location, armature.rotation_euler = (0.5, -1.0, 0.2), (0.0, 0.0, 1.0)
    bpy.context.view_layer.update()
    goal = np.array(armature.matrix_world) @ (*PLACE, 1.0)
    result = run(armature, goal=targets.Target(point=tuple(goal[:3])))
    seen = np.array([place(armature, frame) for frame in result.frames])
    assert np.abs(seen - result.path).max() < 1e-4
    assert np.abs(result.straight[[0, -1]] - result.path[[0, -1]]).max() < 1e-4


def test_a_tip_a_base_a_scaled_rig() -> None:
    armature = hero(frames=(1,))
    armature.scale = (0.1, 0.1, 0.1)
    bpy.context.view_layer.update()
    goal = targets.Target(point=(0.045, -0.04, 0.15))
    run(armature, effector="forearm.L", at_tip=True, base="arm.L", length=0, goal=goal)
    assert np.linalg.norm(place(armature, 25, "tail", "forearm.L") - goal.point) < 1e-5


def test_a_goal_that_moves_is_met_where_it_is_then() -> None:
    armature, ball = hero(), scenes.ball(PLACE)
    ball.keyframe_insert("location", frame=1)
    ball.location = (0.45, -0.3, 1.4)
    ball.keyframe_insert("location", frame=25)
    result = run(armature, goal=targets.Target(ball))
    assert np.linalg.norm(place(armature, result.frames[-1]) - (0.45, -0.3, 1.4)) < 1e-4


def test_a_moving_body_brings_the_arm_to_the_goal() -> None:
    armature = hero(frames=(1, 20), size=0.2)
    run(armature)
    assert np.linalg.norm(place(armature, 25) - PLACE) < 1e-4


def test_it_passes_what_is_on_the_way() -> None:
    armature = hero(frames=(1,))
    via = (0.55, -0.25, 1.3)
    result = run(armature, vias=((0.5, targets.Target(point=via)),))
    assert np.linalg.norm(result.path[12] - via) < 2e-3
    assert np.linalg.norm(place(armature, 25) - PLACE) < 1e-4


def test_up_and_down_differ_by_gravity() -> None:
    """Without it the hand goes up and down alike, only backwards in time or sideways; with it, otherwise."""
    costs = {}
    for gravity in (True, False):
        for up in (0.25, -0.25):
            bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
            armature = scenes.figure(rows=ROWS)
            armature.pose.bones["arm.L"].rotation_quaternion = rotation.exp((0.0, 0.0, -0.6))
            armature.pose.bones["forearm.L"].rotation_quaternion = rotation.exp((0.0, 0.0, -1.2))
            bpy.context.view_layer.update()
            start = place(armature, 1)
            goal = targets.Target(point=tuple(np.add(start, (0.0, 0.0, up))))
            costs[gravity, up] = run(armature, goal=goal, use_gravity=gravity).cost
    assert costs[False, 0.25] == pytest.approx(costs[False, -0.25], rel=0.05)
    assert costs[True, 0.25] != pytest.approx(costs[True, -0.25], rel=0.05)


def test_blenders_limits_are_kept() -> None:
    armature = hero(frames=(1,), size=0.01)
    elbow = armature.pose.bones["forearm.L"]
    elbow.use_ik_limit_x, elbow.ik_min_x, elbow.ik_max_x = True, -0.1, 0.1
    armature.pose.bones["forearm.L"].lock_ik_y = True
    result = run(armature, goal=targets.Target(point=(0.45, -0.4, 1.5)))
    mode = elbow.rotation_mode
    assert mode == "QUATERNION"
    for frame in result.frames:
        bpy.context.scene.frame_set(int(frame))
        q = np.array(elbow.rotation_quaternion)
        assert abs(2.0 * np.arctan2(q[1], q[0])) < 0.11


def test_an_elbow_with_one_hinge_reaches_points_on_its_circle() -> None:
    armature = scenes.figure(rows=ROWS)
    arm, elbow = (armature.pose.bones[name] for name in ("arm.L", "forearm.L"))
    arm.lock_ik_x = arm.lock_ik_y = arm.lock_ik_z = elbow.lock_ik_x = elbow.lock_ik_y = True
    elbow.rotation_quaternion = rotation.exp((0.0, 0.0, 1.3))
    bpy.context.view_layer.update()
    goal = place(armature, 1)
    elbow.rotation_quaternion = rotation.exp((0.0, 0.0, -0.6))
    bpy.context.view_layer.update()
    result = run(armature, goal=sample.Target(point=tuple(goal)), passes=5)
    assert np.linalg.norm(place(armature, result.frames[-1]) - goal) < 1e-4
    aside = sample.Target(point=tuple(np.add(goal, (0.0, 0.0, 0.1))))
    with pytest.raises(errors.LookAtError, match=r"misses its goal"):
        run(armature, goal=aside, passes=5)


# After the arrival


def steps(armature: bpy.types.Object, first: int, last: int) -> Any:
    """How far the hand moves from frame to frame."""
    seen = np.array([place(armature, frame) for frame in range(first, last + 1)])
    return np.linalg.norm(np.diff(seen, axis=0), axis=1)


@pytest.mark.thorough
@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("into", ["NEW", "LAYER"])
def test_nothing_snaps_after_the_arrival(after: str, into: str) -> None:
    """No step is larger than those of the clip and of the reach itself."""
    armature = hero(size=0.3)
    clip = steps(armature, 1, 60).max()
    result = run(armature, into, after=after, hold=0.1)
    found = steps(armature, 1, 62)
    reached = found[:24].max()
    # A transition covers the way back to the animation in half a second, a reach in a second.
    assert found[24:].max() < clip + 2.0 * reached
    assert found[24] < clip + 0.02
    assert result.keyed[0] == 1 and result.keyed[-1] <= 250


@pytest.mark.thorough
@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("first", [1, 9])
def test_no_step_at_an_end_or_after_the_arrival_is_larger_than_those_of_the_clip(after: str, first: int) -> None:
    armature = hero(size=0.4)
    clip = steps(armature, 1, 62)
    result = run(armature, first=first, after=after, hold=0.1)
    arrival, last = int(result.frames[-1]), int(result.keyed[-1])
    for frame in (first - 1, arrival, last - 1, last):
        assert steps(armature, frame, frame + 1)[0] <= clip.max() + 1e-5


def test_a_reach_begins_at_the_speed_of_the_animation() -> None:
    """And one that does not stops the hand."""
    armature = scenes.figure(rows=ROWS)
    scenes.animate(armature, bones=("arm.L", "forearm.L"), size=0.6)
    seen = np.array([place(armature, frame) for frame in (9, 10)])
    speed = seen[1] - seen[0]
    assert np.linalg.norm(speed) > 0.005
    for keeps, most in ((True, 0.4), (False, 2.0)):
        armature.animation_data.action = bpy.data.actions["Sway"]
        run(armature, first=10, keep_velocity=keeps)
        begun = place(armature, 11) - place(armature, 10)
        change = np.linalg.norm(begun - speed) / np.linalg.norm(speed)
        assert (change < most) and (change > 0.9 or keeps)


def tray(*frames: int, each: float = 0.006) -> bpy.types.Object:
    """A ball that moves aside at a constant speed from the first frame to the last."""
    item = scenes.ball(PLACE, "Tray")
    for frame in frames:
        item.location = (PLACE[0] - each * (frame - 25), PLACE[1], PLACE[2])
        item.keyframe_insert("location", frame=frame)
    for curve in actions.channelbag(item.animation_data.action, item.animation_data.action_slot).fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    return item


def spot(item: bpy.types.Object, frame: int) -> Any:
    bpy.context.scene.frame_set(frame)
    return np.array(item.matrix_world.translation)


def test_the_hand_arrives_with_the_speed_of_its_goal_and_stays_on_it() -> None:
    armature, goal = hero(size=0.2), tray(1, 50)
    run(armature, goal=targets.Target(goal), after="HOLD")
    for frame in range(25, 61):
        assert np.linalg.norm(place(armature, frame) - spot(goal, frame)) < 1e-4
    before, after = (place(armature, frame + 1) - place(armature, frame) for frame in (24, 25))
    assert np.linalg.norm(after - before) < 0.2 * np.linalg.norm(after)


def test_the_hand_stays_on_a_goal_that_rests_while_the_body_moves() -> None:
    armature = hero(frames=(1, 20, 60), size=0.2)
    armature.keyframe_insert("location", frame=1)
    armature.location.x = 0.1
    armature.keyframe_insert("location", frame=60)
    run(armature, after="HOLD")
    for frame in range(25, 61, 5):
        assert np.linalg.norm(place(armature, frame) - PLACE) < 1e-4
    armature.animation_data.action = bpy.data.actions["Sway"]
    run(armature, after="HOLD", follow_goal=False)
    assert np.linalg.norm(place(armature, 60) - PLACE) > 0.05


def turned(item: bpy.types.Object, bone: str, frame: int) -> Any:
    """The orientation of an object and that of a bone, in the world."""
    bpy.context.scene.frame_set(frame)
    armature = bpy.data.objects["Hero"]
    seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrices = item.matrix_world, seen.matrix_world @ seen.pose.bones[bone].matrix
    return [rotation.from_matrix(np.array(matrix.to_3x3())) for matrix in matrices]


@pytest.mark.thorough
@pytest.mark.parametrize("at_tip", [False, True])
def test_the_hand_takes_the_orientation_of_its_goal(at_tip: bool) -> None:
    armature = hero(frames=(1, 20, 60), size=0.1)
    goal = tray(1, 50, each=0.002)
    goal.rotation_euler = (0.3, 0.5, -2.0)
    length = 3 if at_tip else 2
    run(armature, goal=targets.Target(goal), match_orientation=True, after="HOLD", at_tip=at_tip, length=length)
    for frame in (25, 26, 40, 60):
        assert rotation.distance(*turned(goal, "palm.L", frame)) < 1e-3
        end = "tail" if at_tip else "head"
        assert np.linalg.norm(place(armature, frame, end) - spot(goal, frame)) < 2e-4
    run(hero(frames=(1,)), goal=targets.Target(goal), match_orientation=True)


def test_a_point_has_no_orientation() -> None:
    refused(hero(), "which has no orientation", match_orientation=True)


@pytest.mark.parametrize(("approach", "side"), [("ABOVE", (0, 0, 1)), ("NEG_Y", (1, 0, 0)), ("POS_X", (0, 1, 0))])
def test_the_hand_comes_from_a_side(approach: str, side: tuple[int, int, int]) -> None:
    armature, goal = hero(frames=(1,)), scenes.ball(PLACE)
    goal.rotation_euler, goal.scale = (0.0, 0.0, 0.5 * np.pi), (2.0, 2.0, 2.0)
    result = run(armature, goal=targets.Target(goal), approach=approach, approach_distance=0.08)
    late = result.path[-6:] - PLACE
    along = late @ np.array(side, dtype=float)
    assert np.linalg.norm(late - along[:, None] * side, axis=1).max() < 5e-3
    assert along[0] > 0.005 and np.all(np.diff(along) < 1e-4)
    assert np.linalg.norm(place(armature, 25) - PLACE) < 1e-4


def test_the_animation_goes_on_after_the_transition() -> None:
    armature = hero(size=0.3)
    before = np.array([place(armature, frame) for frame in range(1, 61)])
    result = run(armature, hold=0.25, blend=0.5)
    assert list(result.keyed) == list(range(1, 25 + 6 + 12 + 1))
    after = np.array([place(armature, frame) for frame in range(1, 61)])
    assert np.abs(after - before)[43 - 1 :].max() < 1e-4
    assert np.abs(after - before)[25 - 1 : 38].max(axis=1).min() > 0.005
    held = [rotation_of(armature, frame) for frame in range(25, 32)]
    assert np.abs(np.array(held) - held[0]).max() < 1e-6


def rotation_of(armature: bpy.types.Object, frame: int) -> Any:
    bpy.context.scene.frame_set(frame)
    return np.array(armature.pose.bones["forearm.L"].rotation_quaternion)


def test_a_reach_back_ends_in_the_pose_at_the_start() -> None:
    armature = hero(size=0.3)
    start = rotation_of(armature, 1)
    run(armature, after="RETURN")
    assert np.abs(rotation_of(armature, 49) - start).max() < 1e-5
    assert np.linalg.norm(place(armature, 25) - PLACE) < 1e-4


def test_where_no_animation_follows_the_arm_stays() -> None:
    armature = hero(frames=(1, 20))
    assert list(run(armature).keyed) == list(range(1, 26))


def test_a_held_pose_is_kept_to_the_end() -> None:
    armature = hero(size=0.3)
    result = run(armature, after="HOLD")
    assert result.keyed[-1] == 60
    assert np.abs(rotation_of(armature, 25) - rotation_of(armature, 60)).max() < 1e-6


def test_other_curves_stay_to_the_last_bit() -> None:
    armature = hero()
    before = contents(bpy.data.actions["Sway"])
    after = contents(run(armature).action)
    turned = {actions.rotation_path(bone, "QUATERNION") for bone in ("arm.L", "forearm.L")}
    assert {k: v for k, v in after.items() if k[0] not in turned} == {
        k: v for k, v in before.items() if k[0] not in turned
    }
    assert contents(bpy.data.actions["Sway"]) == before


def test_stopping_leaves_nothing_and_enough_takes_the_best() -> None:
    armature = hero()
    before, count = contents(bpy.data.actions["Sway"]), len(bpy.data.actions)
    for steps in (0, 1, 20, 27):
        work = begin(armature)
        for _ in range(steps):
            next(work)
        work.close()
        assert armature.animation_data.action.name == "Sway" and len(bpy.data.actions) == count
        assert contents(bpy.data.actions["Sway"]) == before and len(bpy.data.scenes) == 1
    result = scenes.finish(begin(armature, enough=lambda: True, use_gravity=False))
    assert len(result.costs) == 2
    assert np.linalg.norm(place(armature, 25) - PLACE) < 1e-4


def refused(armature: bpy.types.Object, match: str, **changes: Any) -> None:
    data, count = armature.animation_data, len(bpy.data.actions)
    before = contents(data.action)
    with pytest.raises(errors.LookAtError, match=match):
        run(armature, **changes)
    assert contents(data.action) == before and len(bpy.data.actions) == count and len(bpy.data.scenes) == 1


@pytest.mark.parametrize(
    ("match", "changes"),
    [
        ("out of reach by", {"goal": targets.Target(point=(3.0, 0.0, 1.0))}),
        ("is not finite", {"goal": targets.Target(point=(float("nan"), 0.0, 1.0))}),
        ("duration of the reach is 0 s", {"duration": 0.0}),
        ("has no bone 'elbow'", {"effector": "elbow"}),
    ],
)
def test_what_cannot_be_reached_is_refused(match: str, changes: dict[str, Any]) -> None:
    refused(hero(), match, **changes)


def test_a_goal_at_the_start_is_refused() -> None:
    armature = hero(frames=(1,))
    refused(armature, "already at its goal", goal=targets.Target(point=tuple(place(armature, 1))))


def test_a_goal_that_moves_with_the_arm_is_refused() -> None:
    armature = hero()
    ball = scenes.child(scenes.ball((0.0, 0.0, 0.0)), armature, "palm.L")
    refused(armature, "moves with the chain of the reach", goal=targets.Target(ball))


def lowered(**options: Any) -> bpy.types.Object:
    """The figure with its arm hanging down."""
    armature = hero(frames=(1,), **options)
    armature.animation_data_clear()
    armature.pose.bones["arm.L"].rotation_quaternion = rotation.exp((0.0, 0.0, -1.35))
    armature.pose.bones["forearm.L"].rotation_quaternion = rotation.exp((0.4, 0.0, 0.0))
    bpy.context.view_layer.update()
    return armature


def nearest_to_head(armature: bpy.types.Object, frames: Any) -> float:
    """The smallest distance of forearm and hand from the middle of the head."""
    near = np.inf
    for frame in frames:
        middle = 0.5 * (place(armature, frame, "head", "head") + place(armature, frame, "tail", "head"))
        ends = [place(armature, frame, "head", bone) for bone in ("forearm.L", "palm.L")]
        along = ends[0] + np.linspace(0.0, 1.0, 20)[:, None] * (ends[1] - ends[0])
        near = min(near, float(np.linalg.norm(along - middle, axis=1).min()))
    return near


SHELF = (-0.12, -0.05, 1.88)
"""Above the head, on its other side."""


@pytest.mark.thorough
def test_a_reach_to_a_shelf_goes_around_the_head() -> None:
    armature = lowered()
    through = run(armature, goal=targets.Target(point=SHELF), avoid_body=False)
    touched = nearest_to_head(armature, through.frames)
    assert through.clearance is None
    armature = lowered()
    around = run(armature, goal=targets.Target(point=SHELF))
    assert around.missed < 1e-4 and around.collision is None
    assert nearest_to_head(armature, around.frames) > max(0.1, touched)


@pytest.mark.thorough
def test_an_object_in_the_way_is_avoided_and_one_that_rides_on_the_hand_refused() -> None:
    armature = hero(frames=(1,))
    straight = run(armature, avoid_body=False)
    middle = straight.path[12]
    armature = hero(frames=(1,))
    ball = scenes.ball(tuple(middle))
    ball.empty_display_size = 0.06
    obstacles = load("rig.dynamics.body_obstacles").of_objects([ball])
    found = run(armature, avoid_body=False, obstacles=obstacles)
    assert found.clearance is not None and found.clearance > -0.005
    assert np.linalg.norm(found.path - middle, axis=1).min() > 0.055
    assert np.linalg.norm(place(armature, 25) - PLACE) < 1e-4
    ball.parent, ball.parent_type, ball.parent_bone = armature, "BONE", "palm.L"
    bpy.context.view_layer.update()
    with pytest.raises(errors.RigError, match="moves with the chain"):
        begin(armature, obstacles=obstacles)


def test_a_hand_is_held_to_the_end_of_a_clip_that_ends_between_two_frames() -> None:
    armature = hero(frames=(1, 39.6))
    result = run(armature, after="HOLD", follow_goal=False)
    poses = [
        np.array(armature.evaluated_get(scenes.goto(frame)).pose.bones["forearm.L"].matrix_basis)
        for frame in (38, 40, 50)
    ]
    assert result.keyed[-1] == 40.0
    assert np.abs(np.array(poses) - poses[0]).max() < 1e-5
