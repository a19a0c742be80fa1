"""Dragging one effector of a body while others are held: where the evaluated bones are, and that a bake agrees."""

from typing import Any

import bpy
import numpy as np
import pytest

import kept
from extension import load

from .. import scenes
from .test_body_bake import bodies, body_bake, errors, hero, options, rotation, targets

balance = load("rig.ik.body_balance")
body_drag = load("rig.ik.body_drag")
body_settings = load("rig.ik.body_settings")
control_drag = load("rig.ik.control_drag")
solving = load("rig.ik.chain_solve")

FEET, HANDS = ("foot.L", "foot.R"), ("hand.L", "hand.R")


def begin(armature: bpy.types.Object, bone: str, *, at_tip: bool = False, keeps: bool = False, **tuning: Any) -> Any:
    return control_drag.begin(
        bpy.context.scene,
        bpy.context.view_layer,
        armature,
        bone,
        extent=lambda name: {"length": 2},
        at_tip=at_tip,
        keeps=keeps,
        tuning=solving.IKTuning(),
        body=body_bake.BodyTuning(**tuning),
    )


def matrices(armature: bpy.types.Object, names: tuple[str, ...]) -> np.ndarray:
    """(b, 4, 4) in the world, as Blender evaluates them."""
    seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([seen.matrix_world @ seen.pose.bones[name].matrix for name in names])


def channels(armature: bpy.types.Object) -> np.ndarray:
    return np.array([bone.matrix_basis for bone in armature.pose.bones])


@pytest.fixture
def human() -> bpy.types.Object:
    armature = hero()
    body_settings.add(armature, (*FEET, *HANDS, "head"))
    scenes.goto(5)
    return armature


def test_the_others_are_held_while_one_reaches_through_the_spine(human) -> None:
    human.lookat_pd_ik_body.effectors.remove(4)
    held = (*FEET, "hand.R")
    before, pose = matrices(human, (*held, "chest")), channels(human)
    drag = begin(human, "hand.L")
    start, path = drag.place.copy(), drag.place + np.array((-0.1, -0.75, 0.1))
    # Beyond the reach of the arm alone: the chest leans.
    for part in (0.3, 0.7, 1.0):
        drag.move(start + part * (path - start))
        assert np.linalg.norm(matrices(human, ("hand.L",))[0, :3, 3] - (start + part * (path - start))) < 1e-3
        assert drag.error < 1e-3 and drag.held_error < 1e-3 and drag.held == 3
        assert np.abs(matrices(human, held) - before[:-1]).max() < 2e-3
    assert np.abs(matrices(human, ("chest",)) - before[-1]).max() > 0.05
    drag.restore()
    assert np.array_equal(channels(human), pose)


@pytest.mark.thorough
@pytest.mark.parametrize("away", [(0.1, -0.3, 0.2), (0.5, -1.5, 0.9)], ids=["in reach", "beyond the reach"])
def test_the_pose_does_not_depend_on_the_path(human, away: tuple[float, float, float]) -> None:
    """Neither at a step of the mouse nor at the end of the drag."""
    drag = begin(human, "hand.L")
    goal = drag.place + np.array(away)
    drag.move(goal)
    direct = channels(human)
    for part in (0.2, 0.6, 1.0):
        drag.move(drag.place + part * np.array((-0.6, 0.9, 1.5)))
    drag.move(goal)
    assert np.array_equal(channels(human), direct)
    drag.settle()
    settled = channels(human)
    drag.restore()
    drag = begin(human, "hand.L")
    drag.move(goal)
    drag.settle()
    assert np.array_equal(channels(human), settled)
    drag.restore()


@pytest.mark.thorough
def test_beyond_the_reach_a_step_of_the_mouse_is_near_the_final_pose(human) -> None:
    """What confirming a drag adds is less than two centimetres of the effectors."""
    drag = begin(human, "hand.L")
    for turn in np.linspace(0.5, 5.5, 6):
        drag.move(drag.place + np.array([0.0, -0.5 * np.sin(turn), 1.0 - np.cos(turn)]))
        shown = matrices(human, (*FEET, *HANDS))[:, :3, 3]
        drag.settle()
        assert np.linalg.norm(matrices(human, (*FEET, *HANDS))[:, :3, 3] - shown, axis=-1).max() < 0.02
    drag.restore()


@pytest.mark.every_blender
def test_a_bake_gives_the_same_pose(human) -> None:
    goal = scenes.ball((0.45, -0.45, 1.3), "Goal")
    drag = begin(human, "hand.L", keeps=True)
    drag.move(goal.location)
    drag.settle()
    dragged = channels(human)
    drag.restore()
    scenes.goto(5)
    listed = body_settings.effectors(human, np.array([5]))
    effectors = [
        bodies.BodyEffector("hand.L", targets.Target(goal), orientation="KEEP") if item.bone == "hand.L" else item
        for item in listed
    ]
    steps = body_bake.bake(
        bpy.context.scene, human, effectors, body_bake.BodyTuning(), options.BakeOptions(5, 6, "NEW")
    )
    scenes.finish(steps)
    scenes.goto(5)
    assert np.abs(channels(human) - dragged).max() < 1e-4


def test_feet_hold_before_hands(human) -> None:
    """Both hands cannot be as far apart as that; the feet stay all the same."""
    before = matrices(human, FEET)
    drag = begin(human, "hand.L")
    drag.move(drag.place + np.array((3.0, 0.0, 1.0)))
    assert drag.error > 0.5 and drag.held_error > 0.01
    assert np.abs(matrices(human, FEET) - before).max() < 5e-3
    drag.restore()


def test_weights_and_pinned_bones(human) -> None:
    """A weight of 0 lets go, also by a key; a bone with a pin is held as an effector of the list is."""
    items = human.lookat_pd_ik_body.effectors
    right = next(item for item in items if item.bone == "hand.R")
    right.weight = 1.0
    right.keyframe_insert("weight", frame=1)
    right.weight = 0.0
    right.keyframe_insert("weight", frame=5)
    for item in items[-1:]:
        item.weight = 0.0
    human.pose.bones["upper_arm.R"].lookat_pd_ik_pin = True
    before = matrices(human, ("hand.R", "upper_arm.R", "head"))
    drag = begin(human, "hand.L")
    drag.move(drag.place + np.array((-0.2, -0.7, 0.0)))
    after = matrices(human, ("hand.R", "upper_arm.R", "head"))
    assert np.abs(after[1, :3, 3] - before[1, :3, 3]).max() < 2e-3
    assert np.abs(after[2] - before[2]).max() > 1e-2
    drag.restore()


def test_the_head_goes_on_looking_while_it_is_dragged(human) -> None:
    target = scenes.ball((0.5, -3.0, 1.8), "Seen")
    item = next(item for item in human.lookat_pd_ik_body.effectors if item.bone == "head")
    item.target, item.orientation, item.use_position = target, "AIM", False
    for bone in ("hand.L", "head"):
        drag = begin(human, bone)
        drag.move(drag.place + np.array((0.05, -0.1, -0.1)))
        assert drag.error < 2e-3
        head = matrices(human, ("head",))[0]
        front = head[:3, :3] @ rotation.rotate(
            rotation.inverse(rotation.from_matrix(np.array(human.data.bones["head"].matrix_local)[:3, :3])),
            (0.0, -1.0, 0.0),
        )
        wanted = np.array(target.location) - head[:3, 3]
        assert float(rotation.angle_between(front, wanted)) < 0.02
        drag.restore()


def test_balance_keeps_the_centre_of_mass_above_the_feet() -> None:
    """Feet that are no effectors are held."""
    armature = hero(stands=True)
    body_settings.add(armature, ("hand.L",))
    feet = matrices(armature, FEET)
    drag = begin(armature, "hand.L", balance=1.0)
    drag.move((0.2, -0.75, 1.0))
    drag.settle()
    assert drag.error < 1e-2 and drag.unbalanced < 2e-3 and drag.held == 2
    assert np.abs(matrices(armature, FEET) - feet).max() < 2e-3
    drag.restore()


def outside(armature: bpy.types.Object) -> float:
    """How far the centre of mass of the evaluated bones is outside of the rectangle around both feet; negative inside.

    The masses are those of the rig's segments; each is in the middle of its bone.
    """
    seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    effectors = [bodies.BodyEffector(name) for name in (*FEET, *HANDS, "head")]
    weighed = balance.weigh(bodies.resolve(armature, effectors))
    bones = [seen.pose.bones[name] for name in weighed.bones]
    assert {"chest", "thigh.L", "shin.R", "hand.L", "head"} <= set(weighed.bones)
    center = np.average([0.5 * (bone.head + bone.tail) for bone in bones], axis=0, weights=weighed.masses)
    feet = [seen.pose.bones[name] for name in FEET]
    length = feet[0].head.y - feet[0].tail.y
    # The sole extends behind the ankle and to each side.
    front, back = min(foot.tail.y for foot in feet), max(foot.head.y for foot in feet) + 0.3 * length
    side = max(abs(foot.head.x) for foot in feet) + 0.2 * length
    return float(max(front - center[1], center[1] - back, abs(center[0]) - side))


@pytest.mark.thorough
@pytest.mark.parametrize("away", [(0.15, -0.85, 0.65), (0.1, -0.9, 0.45)], ids=["forward", "down"])
def test_a_far_reach_falls_without_balance_and_stands_with_it(away) -> None:
    """The same drag, with both feet held: measured on the evaluated bones, not by the solver."""
    armature = hero(stands=True)
    body_settings.add(armature, ("hand.L", *FEET))
    assert outside(armature) < 0.0
    found = {}
    for weight in (0.0, 1.0):
        feet = matrices(armature, FEET)
        drag = begin(armature, "hand.L", balance=weight)
        drag.move(away)
        drag.settle()
        found[weight] = outside(armature)
        assert np.abs(matrices(armature, FEET) - feet).max() < 2e-3
        assert drag.error < 5e-3
        drag.restore()
    assert found[0.0] > 0.03 and found[1.0] < 2e-3


def test_elbows_point_to_their_poles(human) -> None:
    pole = scenes.ball((1.5, 1.0, 2.5), "Pole")
    for item in human.lookat_pd_ik_body.effectors:
        item.pole = pole if item.bone == "hand.L" else None
    drag = begin(human, "hand.L")
    drag.move((0.35, -0.3, 1.3))
    assert drag.error < 1e-3
    base, middle, end = matrices(human, ("upper_arm.L", "forearm.L", "hand.L"))[:, :3, 3]
    along = rotation.normalize(end - base)
    bend, away = (v - v @ along * along for v in (middle - base, np.array(pole.location) - base))
    assert rotation.angle_between(bend, away) < 0.05
    drag.restore()


@pytest.mark.parametrize("at_tip", [False, True], ids=["head", "tip"])
def test_the_end_that_is_dragged(human, at_tip) -> None:
    drag = begin(human, "hand.L", at_tip=at_tip)
    goal = drag.place + np.array((-0.05, -0.2, 0.1))
    drag.move(goal)
    seen = human.evaluated_get(bpy.context.evaluated_depsgraph_get())
    bone = seen.pose.bones["hand.L"]
    assert np.linalg.norm(np.array(seen.matrix_world @ (bone.tail if at_tip else bone.head)) - goal) < 1e-3
    drag.restore()


def test_keys_of_what_moved_where_auto_keying_is_on(human) -> None:
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    drag = begin(human, "hand.L")
    goal = drag.place + np.array((0.0, -0.6, 0.1))
    drag.move(goal)
    assert drag.keep() and {"upper_arm.L", "hips", "chest"} <= set(drag.bones)
    posed = channels(human)
    scenes.goto(20)
    scenes.goto(5)
    assert np.abs(channels(human) - posed).max() < 1e-5


def test_without_effectors_a_chain_is_dragged() -> None:
    armature = hero()
    drag = begin(armature, "hand.L")
    assert drag.held == 0 and drag.length == 2
    drag.restore()


def test_points_that_are_nowhere_and_rigs_that_cannot_be_solved(human) -> None:
    drag = begin(human, "hand.L")
    with pytest.raises(errors.RigError, match="not finite"):
        drag.move((np.nan, 0.0, 0.0))
    drag.restore()
    before = channels(human)
    copied = human.pose.bones["chest"].constraints.new("COPY_ROTATION")
    copied.target, copied.subtarget = human, "root"
    with pytest.raises(errors.RigError, match="mute its constraints"):
        begin(human, "hand.L")
    assert np.array_equal(channels(human), before)


# Rigs with controls


@pytest.mark.slow
def test_a_generated_rig_holds_feet_and_the_other_hand() -> None:
    """Hand in IK or in FK: its control moves or turns, the feet in IK and the other hand stay."""
    human = kept.human()
    scenes.goto(1)
    human.pose.bones["upper_arm_parent.R"]["IK_FK"] = 1.0
    body_settings.add(human, ("foot_ik.L", "foot_ik.R", "hand_ik.L", "hand_fk.R", "head"))
    bpy.context.view_layer.update()
    pose = channels(human)
    for side, other in ("LR", "RL"):
        held = (f"DEF-hand.{other}", "DEF-foot.L", "DEF-foot.R", "DEF-spine.006")
        before = matrices(human, held)
        drag = begin(human, f"DEF-hand.{side}")
        assert drag.bone == {"L": "hand_ik.L", "R": "hand_fk.R"}[side] and drag.asked == f"DEF-hand.{side}"
        for way in ((0.05, -0.2, 0.2), (0.1, -0.45, 0.3)):
            drag.move(drag.place + way)
            assert np.linalg.norm(matrices(human, (f"DEF-hand.{side}",))[0, :3, 3] - drag.place - way) < 1e-3
            assert np.abs(matrices(human, held)[:, :3, 3] - before[:, :3, 3]).max() < 1e-3
        assert not [name for name in drag.bones if name.startswith(("ORG-", "DEF-", "MCH-"))]
        drag.restore()
        assert np.array_equal(channels(human), pose)
