"""Both hands reach at once: both arrive, with bones of their own or above both, on a body that moves, on two sides of
a box."""

import dataclasses
from typing import Any

import bpy
import numpy as np
import pytest

from extension import load
from lookat_pd import rotation

from .. import scenes

reaching = load("rig.dynamics.reaching")
reach_hands = load("rig.dynamics.reach_hands")
palms = load("rig.detection.palms")
errors = load("lookat_pd.errors")
targets = load("rig.sampling.targets")
Target = targets.Target
Waypoint = load("rig.dynamics.reach_request").Waypoint
Ball = load("rig.dynamics.body_obstacles").Ball

ROWS = (
    ("hips", None, (0, 0, 1.0), (0, 0, 1.2)),
    ("chest", "hips", (0, 0, 1.2), (0, 0, 1.5)),
    *(
        (f"{name}{side}", f"{above}{side}" if above != "chest" else above, (sign * x, y, 1.45), (sign * x2, y2, 1.45))
        for side, sign in ((".L", 1), (".R", -1))
        for name, above, x, y, x2, y2 in (
            ("shoulder", "chest", 0.03, 0.0, 0.15, 0.0),
            ("arm", "shoulder", 0.15, 0.0, 0.43, 0.03),
            ("forearm", "arm", 0.43, 0.03, 0.7, 0.0),
            ("hand", "forearm", 0.7, 0.0, 0.85, 0.0),
        )
    ),
)
HANDS = ("hand.L", "hand.R")
LEFT, RIGHT = (0.2, -0.4, 1.4), (-0.25, -0.4, 1.5)


def hero(**options: Any) -> bpy.types.Object:
    armature = scenes.figure(rows=ROWS)
    scenes.animate(armature, bones=("hips", "shoulder.L", "shoulder.R", "forearm.L"), **options)
    return armature


def run(armature: bpy.types.Object, into: str = "NEW", **changes: Any) -> Any:
    given = {"effector": "hand.L", "goal": Target(point=LEFT), "others": (("hand.R", Target(point=RIGHT)),)}
    request = reaching.ReachRequest(**{**given, "first": 1, "duration": 1.0, **changes})
    return scenes.finish(reaching.start(bpy.context.scene, armature, request, into))


def place(armature: bpy.types.Object, bone: str, frame: int) -> Any:
    bpy.context.scene.frame_set(frame)
    seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(seen.matrix_world @ seen.pose.bones[bone].head)


@pytest.mark.thorough
@pytest.mark.parametrize("length", [2, 3, 4])
def test_both_hands_arrive_at_once(length: int) -> None:
    """With arms alone, with the collarbones, and with the chest, which moves both."""
    armature = hero(frames=(1,))
    result = run(armature, length=length)
    assert np.linalg.norm(place(armature, "hand.L", 25) - LEFT) < 1e-4
    assert np.linalg.norm(place(armature, "hand.R", 25) - RIGHT) < 1e-4
    assert result.misses.max() < 1e-4
    assert result.tree.bones.count("chest") == (length == 4)
    for n, bone in enumerate(("hand.L", "hand.R")):
        assert np.linalg.norm(result.paths[n][12] - place(armature, bone, 13)) < 1e-4


@pytest.mark.parametrize("into", ["NEW", "LAYER"])
def test_they_arrive_on_a_body_whose_collarbones_move(into: str) -> None:
    armature = hero(frames=(1, 14, 40), size=0.2)
    result = run(armature, into, after="HOLD", passes=10)
    near = 1e-3 if into == "LAYER" else 1e-4
    for frame in (25, 33):
        assert np.linalg.norm(place(armature, "hand.L", frame) - LEFT) < near
        assert np.linalg.norm(place(armature, "hand.R", frame) - RIGHT) < near
    assert np.linalg.norm(result.paths[1][12] - place(armature, "hand.R", 13)) < near


@pytest.mark.thorough
def test_a_box_is_taken_on_both_sides_and_followed() -> None:
    armature, box = hero(frames=(1, 40)), scenes.box((0.0, -0.4, 1.4), (0.4, 0.2, 0.2))
    box.keyframe_insert("location", frame=20)
    box.location = (0.05, -0.35, 1.5)
    box.keyframe_insert("location", frame=40)
    left, right = (face.goal for face in reach_hands.faces(armature, HANDS, (Target(box), Target())))
    run(armature, goal=left, others=(("hand.R", right),), after="HOLD", match_orientation=False, passes=10)
    for frame in (25, 36):
        bpy.context.scene.frame_set(frame)
        sides = [np.array(box.matrix_world @ type(box.location)(side.point)) for side in (left, right)]
        assert sides[0][0] - sides[1][0] == pytest.approx(0.4, abs=1e-3)
        assert np.linalg.norm(place(armature, "hand.L", frame) - sides[0]) < 1e-3
        assert np.linalg.norm(place(armature, "hand.R", frame) - sides[1]) < 1e-3


def test_both_hands_return() -> None:
    armature = hero(frames=(1, 70))
    bpy.context.scene.frame_set(1)
    start = rotation.normalize([armature.pose.bones["forearm.R"].rotation_quaternion])
    result = run(armature, after="RETURN", hold=0.25, blend=0.5)
    bpy.context.scene.frame_set(55)
    back = rotation.normalize([armature.pose.bones["forearm.R"].rotation_quaternion])
    assert rotation.distance(start, back).max() < 1e-3
    assert result.keyed[-1] == 67


def test_the_other_hand_is_found_by_its_side() -> None:
    armature = hero(frames=(1,))
    assert reach_hands.counterpart(armature, "hand.L") == "hand.R"
    assert reach_hands.counterpart(armature, "chest") == ""
    for name, other in (("hand.L", "griffe_a"), ("hand.R", "griffe_b")):
        armature.data.bones[name].name = other
    assert reach_hands.counterpart(armature, "griffe_a") in ("griffe_b", "")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"others": (("hand.L", Target(point=RIGHT)),)}, "given twice"),
        ({"others": (("hand.X", Target(point=RIGHT)),)}, "no bone 'hand.X'"),
        ({"others": (("hand.R", Target(point=(5.0, 0.0, 0.0))),)}, "hand 'hand.R' is out of reach"),
        ({"method": "SMOOTHING"}, "method Optimal only"),
    ],
)
def test_hands_that_cannot_reach_together_change_nothing(wrong: dict, says: str) -> None:
    armature = hero(frames=(1, 20))
    before = armature.animation_data.action
    with pytest.raises(errors.LookAtError, match=says):
        run(armature, **wrong)
    assert armature.animation_data.action == before
    assert len(bpy.data.actions) == 1


def test_one_point_is_no_goal_of_both_hands() -> None:
    armature = hero(frames=(1,))
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.collection.objects.link(empty)
    for goal in (Target(point=LEFT), Target(empty)):
        with pytest.raises(errors.LookAtError, match="same goal"):
            reach_hands.faces(armature, HANDS, (goal, Target()))
    other = Target(point=RIGHT)
    for given in ((Target(empty), other), (Target(point=LEFT), Target(empty))):
        assert tuple(face.goal for face in reach_hands.faces(armature, HANDS, given)) == given


@pytest.mark.slow
def test_palms_lie_on_two_sides_of_a_turned_box_and_stay_there() -> None:
    """The palm faces its side, at the gap, the fingers forwards; the hands come in a straight line."""
    armature, box = hero(frames=(1, 40)), scenes.box((0.0, -0.42, 1.3), (0.4, 0.2, 0.2))
    box.rotation_euler = (0.0, 0.0, 0.3)
    box.keyframe_insert("location", frame=25)
    box.location = (0.02, -0.4, 1.4)
    box.keyframe_insert("location", frame=40)
    bpy.context.view_layer.update()
    found = reach_hands.faces(armature, HANDS, (Target(box), Target()), 0.02)
    run(
        armature,
        goal=found[0].goal,
        others=(("hand.R", found[1].goal),),
        normals=tuple(face.normal for face in found),
        after="HOLD",
        passes=15,
    )
    flat = {name: palms.find(armature, name, other) for name, other in (HANDS, HANDS[::-1])}
    for frame in (25, 38):
        bpy.context.scene.frame_set(frame)
        seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        turn = np.array(box.matrix_world)[:3, :3] / np.linalg.norm(np.array(box.matrix_world)[:3, :3], axis=0)
        for sign, (name, palm) in zip((1.0, -1.0), flat.items(), strict=True):
            matrix = np.array(seen.matrix_world @ seen.pose.bones[name].matrix)
            assert matrix[:3, :3] @ palm.normal @ (sign * turn[:, 0]) == pytest.approx(-1.0, abs=1e-4)
            assert (matrix[:3, :3] @ palm.along)[1] < -0.6
            middle = matrix[:3, :3] @ palm.middle + matrix[:3, 3] - np.array(box.matrix_world.translation)
            assert turn.T @ middle == pytest.approx([sign * 0.22, 0.0, 0.0], abs=1e-3)


@pytest.mark.parametrize("hand", [0, 1, None])
def test_a_waypoint_is_passed_by_one_hand_or_by_the_middle_between_both(hand: int | None) -> None:
    armature, at = hero(frames=(1,)), np.array((0.05, -0.35, 1.25))
    run(armature, vias=(Waypoint(0.5, Target(point=tuple(at.tolist())), hand),), passes=15)
    hands = [place(armature, name, 13) for name in HANDS]
    seen = hands[hand] if hand is not None else np.mean(hands, axis=0)
    assert np.linalg.norm(seen - at) < 1e-3
    if hand is None:
        assert np.linalg.norm(hands[0] - hands[1] - np.subtract(LEFT, RIGHT)) < 2e-3


@pytest.mark.thorough
def test_hands_that_exchange_their_places_do_not_come_through_each_other() -> None:
    """Or it is said in which frames they do."""
    swapped = {"goal": Target(point=(-0.08, -0.45, 1.3)), "others": (("hand.R", Target(point=(0.08, -0.45, 1.3))),)}
    results = [run(hero(frames=(1,)), **swapped, avoid_body=avoids) for avoids in (True, False)]
    least = []
    for result in results:
        armature = result.tree.armature
        armature.animation_data.action = result.action
        least.append(min(_between(armature, frame) for frame in range(1, 26)))
    assert least[0] > 0.06 > 0.03 > least[1]
    assert results[0].crossing is None and results[0].crossed == ()
    told = dataclasses.replace(results[1], crossed=(9, 14))
    assert "frames 9 to 14" in str(told.crossing)


@pytest.mark.thorough
def test_what_the_way_back_touches_is_said_too() -> None:
    """An obstacle that is far away on the way there and where the hand comes back to afterwards."""
    found = []
    for onto in (False, True):
        armature = hero(frames=(1, 80))
        here = place(armature, "hand.L", 1)
        ball = bpy.data.objects.new("Ball", None)
        bpy.context.scene.collection.objects.link(ball)
        for frame, at in ((25, here + 3.0), (26, here if onto else here + 3.0)):
            ball.location = at
            ball.keyframe_insert("location", frame=frame)
        found.append(run(armature, after="RETURN", passes=10, obstacles=(Ball(Target(ball), 0.08),)))
    assert found[0].collision is None
    assert found[1].clearance < -0.05 and found[1].collision is not None


def _between(armature: bpy.types.Object, frame: int) -> float:
    """The smallest distance between points on the two forearms."""
    ends = [[place(armature, f"{bone}.{side}", frame) for bone in ("forearm", "hand")] for side in "LR"]
    along = np.linspace(0.0, 1.0, 30)[:, None]
    one, other = (np.add(a, along * np.subtract(b, a)) for a, b in ends)
    return float(np.linalg.norm(one[:, None] - other[None], axis=-1).min())


def test_the_box_that_both_hands_take_is_an_obstacle_of_capsules_within_it() -> None:
    """They move with it, are as long and as thick as it, and those beside each other are as wide."""
    armature, box = hero(frames=(1, 40)), scenes.box((0.0, -0.4, 1.4), (0.4, 0.2, 0.1))
    found = [face.goal for face in reach_hands.faces(armature, HANDS, (Target(box), Target()))]
    balls = reach_hands.taken(found)
    ends = np.array([np.array(place.point) * box.scale for ball in balls for place in ball.targets])
    radius = balls[0].radius
    assert radius == pytest.approx(0.05)
    assert np.abs(ends).max(axis=0) + radius == pytest.approx((0.2, 0.1, 0.05))
    assert all(ball.taken and ball.target.object == box for ball in balls)
    assert reach_hands.taken([found[0]]) == ()
    assert reach_hands.taken([Target(box), Target(box)]) == ()
