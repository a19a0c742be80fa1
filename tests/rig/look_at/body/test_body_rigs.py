"""The whole body on real characters: a generated Rigify human, and rigs from other makers with their clips."""

import bpy
import numpy as np
import pytest

from extension import load

from ... import scenes
from ..test_bake_rigs import RIGS, WITHOUT_CLIPS, around, at_rest, open_rig, play_longest, rigify
from . import bodies

__all__ = ["rigify"]

body = load("rig.look_at.body.layers")
kinds = load("rig.layers.kinds")
live = load("rig.layers.live")
look_at = load("rig.look_at.resolve")
rotation = load("lookat_pd.rotation")
verification = load("rig.look_at.verification")

LENGTH = 100
SECONDS = 4.2


def switched_on(armature, bone: str, first: int) -> None:
    """A look-at with everything on, off at first and at the end."""
    settings = armature.pose.bones[bone].lookat_pd
    body.switch_on(settings)
    scenes.settings_keyed(armature, bone, "use", [(first, False), (first + 8, True), (first + 25, False)])


@pytest.fixture(params=RIGS)
def character(request, rigs) -> tuple[bpy.types.Object, str, range]:
    """A character that plays its longest clip, and looks to the side with all it has for a second of some frames."""
    armature = open_rig(rigs / RIGS[request.param])
    first = 1
    if request.param in WITHOUT_CLIPS:
        at_rest(armature)
    else:
        first = play_longest(armature)
    scene = bpy.context.scene
    rate = scene.render.fps / scene.render.fps_base
    frames = range(first, first + int(SECONDS * rate) + 1)
    scene.frame_start, scene.frame_end = frames[0], frames[-1]
    bone = look_at.find_head(armature)
    scenes.aim(armature, around(armature, 35, 5), bone)
    switched_on(armature, bone, first)
    return armature, bone, frames


@pytest.mark.slow
def test_feet_of_rigs_stay_where_their_clips_have_them(character) -> None:
    armature, bone, frames = character
    frames = frames[:60:3]
    answering = look_at.resolve(armature, bone).body
    before, after = scenes.animated(armature, frames), scenes.poses(armature, frames)
    assert np.all(np.isfinite(after))
    assert live.status(bpy.context.scene, armature, bone).state == "SOLVED"
    assert bodies.differences(after, before)[1] > 5.0
    # Those that the rig's own inverse kinematics holds are as near as it brings them.
    feet = [name for leg in answering.legs for name in (leg.foot, leg.toe) if name]
    if feet:
        here = bodies.bones(armature, *feet)
        away, turned = bodies.differences(after[:, here], before[:, here])
        assert away < 1e-4 / 0.9 * answering.leg_length
        assert turned < 0.1


def test_rigs_are_back_in_their_clips(character) -> None:
    armature, _, frames = character
    frames = (frames[0], frames[-1])
    before, after = scenes.animated(armature, frames), scenes.poses(armature, frames)
    assert np.abs(after - before).max() <= 2e-6 * max(1.0, np.abs(before).max())


@pytest.fixture
def person(rigify) -> bpy.types.Object:
    bpy.context.scene.frame_end = LENGTH
    scenes.aim(rigify, scenes.ball((0.9, -1.5, 1.5)), settle_time=0.3)
    switched_on(rigify, "head", 1)
    return rigify


@pytest.mark.slow
def test_rigify_human_responds_with_all_it_has(person) -> None:
    frames = range(1, LENGTH + 1)
    before, after = scenes.animated(person, frames), scenes.poses(person, frames)
    feet, torso = (
        bodies.bones(person, "DEF-toe.L", "DEF-toe.R", "ORG-foot.L", "ORG-foot.R"),
        bodies.bones(person, "torso"),
    )
    assert bodies.differences(after[:, torso], before[:, torso])[0] > 0.01
    # As near as the rig's own inverse kinematics brings them.
    assert bodies.differences(after[:, feet], before[:, feet])[0] < 1e-4
    eyes = after[:, bodies.bones(person, "MCH-eye.L", "MCH-eye.R")]
    way = np.array((0.9, -1.5, 1.5)) - eyes[..., :3, 3]
    cosine = np.sum(eyes[..., :3, 1] * way, axis=-1) / np.linalg.norm(way, axis=-1)
    errors = np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))
    assert errors[13:24].max() < 0.5
    arm = bodies.bones(person, "DEF-upper_arm.R")
    chest = bodies.bones(person, "chest")
    inside = [np.linalg.inv(poses[:, chest[0]]) @ poses[:, arm[0]] for poses in (before, after)]
    assert bodies.differences(*inside)[1] > 0.3, "an arm in forward kinematics swings"
    away = np.abs(after[[0, -1]] - before[[0, -1]])
    lids = bodies.bones(person, *(bone.name for bone in person.pose.bones if "lid" in bone.name))
    assert np.delete(away, lids, axis=1).max() < 2e-6
    # A rounding of where a control is turns a bone of 1 cm by more, but moves no point of it by more.
    away[..., :3] *= np.array([bone.length for bone in person.pose.bones])[:, None, None]
    assert away.max() < 2e-6


@pytest.mark.slow
def test_what_the_last_small_turn_of_a_head_does_is_not_evaluated_once_more(person, monkeypatch) -> None:
    """It follows from the evaluation before, as near as it would be seen."""
    live.finish(bpy.context.scene)
    state = live._scenes[bpy.context.scene.session_uid]
    (solve,) = state.solves.values()
    # So that there is something left to correct.
    monkeypatch.setattr(verification, "GOOD", 1e-6)
    tracks, passes = [], [solve.passes]
    for _ in range(2):
        solve.stale = kinds.SETTINGS
        state.begin()
        assert state.advance(None)
        tracks.append(solve.track)
        passes.append(solve.passes)
        monkeypatch.setattr(verification.Verification, "is_uncertain", lambda *_: True)
    one, other = tracks
    assert np.diff(passes).tolist() == [2, 3]
    assert np.degrees(rotation.distance(one.offsets, other.offsets).max()) < 1e-3
    assert np.abs(one.moves - other.moves).max() < 1e-5


@pytest.mark.thorough
def test_rigify_bake_shows_what_was_live(person) -> None:
    frames = range(1, LENGTH + 1, 4)
    shown = scenes.poses(person, frames)
    result = scenes.run_bake(person, last=LENGTH)[0]
    baked = scenes.poses(person, frames)
    # Constraints that stretch and track turn roundings of the controls into more.
    assert np.abs(baked - shown).max() < 1e-4
    assert result.response.gaze is not None
