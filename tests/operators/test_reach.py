"""The operators of reaching: where the hand arrives, what is reported, when they refuse."""

import bpy
import numpy as np
import pytest

from extension import load
from lookat_pd import rotation

from ..rig import scenes
from ..rig.dynamics import ik_figure

operator = load("operators.reach")
reaching = load("rig.dynamics.reaching")
engine = load("lookat_pd.dynamics.engine")

pytestmark = pytest.mark.skipif(not engine.available(), reason="needs the physics engine")

BONES = (
    ("hips", None, (0, 0, 1.0), (0, 0, 1.2)),
    ("arm", "hips", (0.1, 0, 1.2), (0.4, -0.02, 1.2)),
    ("forearm", "arm", (0.4, -0.02, 1.2), (0.7, 0, 1.2)),
    ("hand", "forearm", (0.7, 0, 1.2), (0.85, 0, 1.2)),
)
PLACE = (0.4, -0.3, 1.3)


@pytest.fixture
def hero() -> bpy.types.Object:
    """A character in pose mode with a bent arm whose hand is active, and a ball to reach for."""
    armature = scenes.figure(rows=BONES)
    bpy.ops.object.mode_set(mode="POSE")
    armature.pose.bones["forearm"].rotation_quaternion = rotation.exp((0.0, 0.0, -0.7))
    armature.data.bones.active = armature.data.bones["hand"]
    settings().target = scenes.ball(PLACE)
    settings().passes, settings().point = 5, "AUTO"
    return armature


def settings():
    return bpy.context.scene.lookat_pd_dynamics


def hand(armature: bpy.types.Object, frame: int, end: str = "head"):
    bpy.context.scene.frame_set(frame)
    seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(getattr(seen.pose.bones["hand"], end))


@pytest.mark.every_blender
def test_it_sets_out_at_the_current_frame(hero) -> None:
    bpy.context.scene.frame_set(12)
    assert bpy.ops.lookat_pd.reach() == {"FINISHED"}
    assert np.linalg.norm(hand(hero, 36) - PLACE) < 1e-4
    assert np.linalg.norm(hand(hero, 12) - PLACE) > 0.05
    assert hero.animation_data.action.name == "Hero reach"


@pytest.mark.every_blender
def test_by_default_the_palm_comes_to_the_goal(hero) -> None:
    settings().property_unset("point")
    assert bpy.ops.lookat_pd.reach() == {"FINISHED"}
    assert np.linalg.norm(0.5 * (hand(hero, 25) + hand(hero, 25, "tail")) - PLACE) < 1e-4


def test_the_cursor_a_tip_another_time(hero) -> None:
    bpy.context.scene.cursor.location = (0.45, -0.35, 1.25)
    settings().goal, settings().point, settings().length, settings().duration = "CURSOR", "TIP", 3, 0.5
    assert bpy.ops.lookat_pd.reach(use_current_frame=False, frame_start=5) == {"FINISHED"}
    assert np.linalg.norm(hand(hero, 17, "tail") - (0.45, -0.35, 1.25)) < 1e-4


def test_places_on_the_way(hero) -> None:
    for place in ((0.5, -0.2, 1.1), (0.45, -0.25, 1.2)):
        scenes.ball(place, "Via")
    bpy.ops.object.mode_set(mode="OBJECT")
    for item in bpy.data.objects:
        item.select_set(item.name.startswith("Via"))
    bpy.ops.lookat_pd.via_add()
    assert [via.target.name for via in settings().vias] == ["Via", "Via.001"]
    assert [via.time for via in settings().vias] == pytest.approx([1 / 3, 2 / 3])
    bpy.ops.lookat_pd.via_remove(index=0)
    bpy.ops.object.mode_set(mode="POSE")
    assert bpy.ops.lookat_pd.reach() == {"FINISHED"}
    assert np.linalg.norm(hand(hero, 17) - (0.45, -0.25, 1.2)) < 5e-3
    assert np.linalg.norm(hand(hero, 25) - PLACE) < 1e-4


def test_the_last_reaches_are_there_to_be_compared_until_they_are_cleared(hero) -> None:
    assert reaching.kept.of(hero) == ()
    assert not bpy.ops.lookat_pd.clear_plots.poll()
    for passes in (3, 5):
        settings().passes = passes
        bpy.ops.lookat_pd.reach()
    shown, before = reaching.kept.of(hero)
    assert shown.number > before.number
    assert len(shown.costs) >= 2 and shown.paths[0].shape == shown.straights[0].shape == (25, 3)
    assert np.linalg.norm(shown.paths[0][-1] - PLACE) < 1e-4
    assert np.isfinite(shown.costs).all()
    bpy.ops.lookat_pd.clear_plots()
    assert reaching.kept.of(hero) == ()


@pytest.fixture
def two_hands(hero) -> bpy.types.Object:
    """The character with a second arm on the other side, whose hands have names with sides."""
    bpy.ops.object.mode_set(mode="EDIT")
    for name, above, head, tail in BONES[1:]:
        hero.data.edit_bones[name].name = f"{name}.L"
        bone = hero.data.edit_bones.new(f"{name}.R")
        bone.parent = hero.data.edit_bones[above if above == "hips" else f"{above}.R"]
        bone.head, bone.tail = ([-x, y, z] for x, y, z in (head, tail))
    bpy.ops.object.mode_set(mode="POSE")
    hero.pose.bones["forearm.R"].rotation_quaternion = rotation.exp((0.0, 0.0, 0.7))
    for bone in hero.pose.bones:
        select(bone, False)
    settings().both_hands = True
    return hero


def select(bone: bpy.types.PoseBone, on: bool) -> None:
    owner = bone if hasattr(bone, "select") else bone.bone
    owner.select = on


def end_of(armature: bpy.types.Object, bone: str, frame: int):
    bpy.context.scene.frame_set(frame)
    return np.array(armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[bone].head)


def test_both_hands_reach_at_once(two_hands) -> None:
    settings().other_target = scenes.ball((-0.4, -0.2, 1.35), "Other")
    assert operator.other_hand_shown(bpy.context) == "hand.R"
    assert bpy.ops.lookat_pd.reach() == {"FINISHED"}
    assert np.linalg.norm(end_of(two_hands, "hand.L", 25) - PLACE) < 1e-4
    assert np.linalg.norm(end_of(two_hands, "hand.R", 25) - (-0.4, -0.2, 1.35)) < 1e-4
    assert len(reaching.kept.of(two_hands)[0].paths) == 2


@pytest.mark.parametrize("point", ["HAND", "AUTO", "HEAD"])
def test_a_box_is_taken_with_the_palms_unless_a_point_is_chosen(two_hands, point: str) -> None:
    settings().target, settings().point = scenes.box((0.0, -0.35, 1.2), (0.5, 0.2, 0.2)), point
    via = settings().vias.add()
    via.target, via.hand = scenes.ball((0.0, -0.3, 1.3), "Via"), "BOTH"
    assert bpy.ops.lookat_pd.reach() == {"FINISHED"}
    wrists = [end_of(two_hands, name, 25)[0] for name in ("hand.L", "hand.R")]
    assert (wrists == pytest.approx([0.25, -0.25], abs=1e-3)) == (point == "HEAD")
    seen = two_hands.evaluated_get(bpy.context.evaluated_depsgraph_get())
    middles = [0.5 * (seen.pose.bones[name].head + seen.pose.bones[name].tail)[0] for name in ("hand.L", "hand.R")]
    assert (middles == pytest.approx([0.27, -0.27], abs=1e-3)) == (point != "HEAD")


def test_the_other_selected_bone_is_the_other_hand(two_hands) -> None:
    select(two_hands.pose.bones["forearm.R"], True)
    settings().other_target = scenes.ball((-0.3, -0.15, 1.2), "Other")
    assert operator.other_hand_shown(bpy.context) == "forearm.R"
    assert bpy.ops.lookat_pd.reach() == {"FINISHED"}
    # Its chain has the hips, which move the first hand, too.
    assert np.linalg.norm(end_of(two_hands, "hand.L", 25) - PLACE) < 1e-4
    assert np.linalg.norm(end_of(two_hands, "forearm.R", 25) - (-0.3, -0.15, 1.2)) < 1e-4


def test_one_place_for_both_hands_is_refused(two_hands) -> None:
    with pytest.raises(RuntimeError, match="same goal"):
        bpy.ops.lookat_pd.reach()
    assert two_hands.animation_data is None
    settings().method = "SMOOTHING"
    assert operator.why_not(bpy.context).startswith(("Both hands need the method Optimal", "Smoothing needs"))
    two_hands.data.bones.active = two_hands.data.bones["hips"]
    assert operator.other_hand_shown(bpy.context) == ""


def test_why_it_is_disabled(hero) -> None:
    assert operator.why_not(bpy.context) is None
    settings().target = None
    assert operator.why_not(bpy.context) == "Choose a goal for the reach"
    settings().goal = "CURSOR"
    hero.data.bones.active = hero.data.bones["hips"]
    assert "no parent that can rotate" in operator.why_not(bpy.context)
    hero.data.bones.active = None
    assert "Select the bone" in operator.why_not(bpy.context)


def test_what_cannot_be_reached_changes_nothing(hero) -> None:
    bpy.data.objects["Ball"].location = (3.0, 0.0, 0.0)
    with pytest.raises(RuntimeError, match="out of reach"):
        bpy.ops.lookat_pd.reach()
    assert hero.animation_data is None and not bpy.data.actions


@pytest.mark.slow
def test_both_targets_of_arms_in_ik_reach_without_keys_of_their_own() -> None:
    """The active bone is the target of one arm; the other target is its counterpart."""
    armature = ik_figure.figure(sides="LR")
    armature.animation_data_clear()
    bpy.ops.object.mode_set(mode="POSE")
    armature.data.bones.active = armature.data.bones["hand_ik.L"]
    settings().target = scenes.box((0.0, -0.35, 1.3), (0.4, 0.3, 0.3))
    settings().both_hands = True
    assert bpy.ops.lookat_pd.reach() == {"FINISHED"}
    seen = armature.evaluated_get(scenes.goto(25)).pose.bones
    for side, x in (("L", 1.0), ("R", -1.0)):
        assert (seen[f"hand_ik.{side}"].matrix.translation - seen[f"hand.{side}"].head).length < 1e-4
        assert abs(x * seen[f"hand.{side}"].head.x - 0.2) < 0.1
    assert len(reaching.kept.of(armature)[0].paths) == 2
