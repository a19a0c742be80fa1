"""Reaches, hits and in-betweens on a generated Rigify human whose FK arms and chest are keyed: hands arrive, and
nothing jumps where a baked range begins, where a hand arrives and where the range ends."""

import re
from typing import Any

import bpy
import numpy as np
import pytest

import kept
from extension import load

from .. import scenes

errors = load("lookat_pd.errors")
hitting = load("rig.dynamics.hitting")
interpolation = load("rig.dynamics.interpolation")
joint_chain = load("rig.detection.joint_chain")
reach_hands = load("rig.dynamics.reach_hands")
reach_request = load("rig.dynamics.reach_request")
AFTER = [item[0] for item in load("rig.dynamics.settings").AFTER_ITEMS]
reaching = load("rig.dynamics.reaching")
shown_bones = load("rig.sampling.shown_bones")
targets = load("rig.sampling.targets")
HANDS = ("hand_fk.L", "hand_fk.R")
FIRST, LAST = 15, 70


@pytest.fixture
def human() -> bpy.types.Object:
    """The human with its arms in FK, which swing, with keys every eight frames."""
    rig = kept.human()
    for bone in rig.pose.bones:
        if "IK_FK" in bone:
            bone["IK_FK"] = 1.0
    for frame in range(1, 98, 8):
        key(rig, "chest", 0.05 * np.sin(frame / 12.0 + np.arange(3)), frame)
        for side, sign in (("L", 1), ("R", -1)):
            upper = np.array([0.35, 0.2, -0.3]) * np.sin(frame / 14.0 + sign)
            key(rig, f"upper_arm_fk.{side}", upper, frame)
            key(rig, f"forearm_fk.{side}", (0.7 + 0.3 * np.sin(frame / 11.0), 0.0, 0.0), frame)
    return rig


def key(rig: bpy.types.Object, name: str, angles: Any, frame: int) -> None:
    bone = rig.pose.bones[name]
    bone.rotation_mode = "XYZ"
    bone.rotation_euler = angles
    bone.keyframe_insert("rotation_euler", frame=frame)


def places(rig: bpy.types.Object, frames: Any) -> Any:
    """(F, 2, 3) of the hands in the world."""
    found = np.empty((len(frames), 2, 3))
    for k, frame in enumerate(frames):
        bpy.context.scene.frame_set(int(frame))
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found[k] = [seen.matrix_world @ seen.pose.bones[name].head for name in HANDS]
    return found


def test_the_target_of_a_limb_says_at_once_all_that_is_to_be_done(human) -> None:
    """In IK its FK control would only say then that the limb has to be switched."""
    human.pose.bones["upper_arm_parent.L"]["IK_FK"] = 0.0
    for name, both in (("hand_ik.L", True), ("hand_ik.R", False)):
        scenes.goto(FIRST)
        with pytest.raises(errors.RigError, match=rf"choose 'hand_fk.{name[-1]}'") as refused:
            reach_hands.chain(human, name, length=2, at_tip=False, turn_effector=False)
        assert ("switch the limb to FK" in str(refused.value)) == both


def test_what_a_refusal_names_is_not_refused_itself(human) -> None:
    """Nor is a longer chain advised where there is nothing above."""
    refusals = []
    for bone in filter(shown_bones.is_shown, human.pose.bones):
        try:
            joint_chain.resolve(human, bone.name, length=2, at_tip=False)
        except errors.RigError as refused:
            refusals.append(str(refused))
    assert not [text for text in refusals if "increase the chain length" in text]
    named = [control for text in refusals for control in re.findall(r"choose '([^']+)'", text)]
    for control in named:
        joint_chain.resolve(human, control, length=2, at_tip=False)
    assert len(named) > 2


def reach(rig: bpy.types.Object, **changes: Any) -> Any:
    """Both hands, to places beside those where they are."""
    bpy.context.scene.frame_set(FIRST)
    [here] = places(rig, [FIRST])
    away = np.add(here, [(-0.1, -0.12, 0.12), (0.1, -0.12, 0.12)])
    goals = [targets.Target(point=tuple(place)) for place in away]
    given = {"first": FIRST, "duration": 0.8, "others": ((HANDS[1], goals[1]),), **changes}
    request = reach_request.ReachRequest(HANDS[0], goals[0], **given)
    result = scenes.finish(reaching.start(bpy.context.scene, rig, request))
    return result, np.array([goal.point for goal in goals])


@pytest.mark.slow
@pytest.mark.parametrize("after", AFTER)
def test_nothing_jumps_where_a_reach_begins_arrives_and_ends(human, after: str) -> None:
    frames = np.arange(FIRST - 3, LAST)
    most = np.linalg.norm(np.diff(places(human, frames), axis=0), axis=-1).max(axis=0)
    result, goals = reach(human, after=after, blend=0.4)
    seen = places(human, frames)
    arrival = int(result.frames[-1])
    assert np.linalg.norm(seen[arrival - frames[0]] - goals, axis=-1).max() < 1e-4
    steps = np.linalg.norm(np.diff(seen, axis=0), axis=-1)
    for frame in {FIRST, arrival, min(int(result.keyed[-1]), LAST - 3)}:
        around = steps[frame - frames[0] - 1 : frame - frames[0] + 1]
        assert np.all(around < most), (frame, around, most)
    # A hand at rest leaves gently.
    assert np.all(steps[arrival - frames[0]] < 0.3 * most)


@pytest.mark.slow
def test_both_hands_arrive_with_the_spine_that_acts_through_constraints(human) -> None:
    result, goals = reach(human, length=6)
    assert "torso" in result.tree.bones
    [seen] = places(human, result.frames[-1:])
    assert np.linalg.norm(seen - goals, axis=-1).max() < 2e-4
    assert result.collision is None


@pytest.mark.slow
def test_a_long_chain_that_acts_through_constraints_arrives(human) -> None:
    result, goals = reach(human, length=3, others=())
    assert "tweak_spine.003" in result.tree.bones
    [seen] = places(human, result.frames[-1:])
    assert np.linalg.norm(seen[0] - goals[0]) < 2e-4


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["TENSION", "TORQUE_CHANGE", "hit"])
def test_nothing_jumps_where_other_bakes_end(human, kind: str) -> None:
    frames = np.arange(FIRST - 3, LAST)
    before = places(human, frames)
    if kind == "hit":
        hits = (hitting.HitSpec(FIRST + 6, "chest"),)
        result = scenes.finish(hitting.start(bpy.context.scene, human, hitting.HitRequest(hits, settle_time=0.5)))
        ends = [int(result.frames[-1])]
    else:
        bones = tuple(f"{name}.{side}" for name in ("upper_arm_fk", "forearm_fk") for side in "LR")
        request = interpolation.InterpolationRequest(bones, FIRST, LAST - 5, selected=False, between=kind)
        result = scenes.finish(interpolation.start(bpy.context.scene, human, request))
        ends = [int(result.frames[0]), int(result.frames[-1])]
    steps, own = (np.linalg.norm(np.diff(line, axis=0), axis=-1) for line in (places(human, frames), before))
    for end in ends:
        around = slice(end - frames[0] - 2, end - frames[0] + 2)
        assert np.all(steps[around] <= own.max(axis=0)), (end, steps[around])
