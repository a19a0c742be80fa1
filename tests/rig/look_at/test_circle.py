"""Two control rigs who look at each other: solved together, without stepping what has not changed."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np
import pytest

from extension import load

from .. import control_rigs, scenes

circle_solve = load("rig.look_at.circle_solve")
layers = load("rig.look_at.body.layers")
live = load("rig.layers.live")
rotation = load("lookat_pd.rotation")
sampler = load("rig.sampling.sampler")
setting_keys = load("rig.look_at.directing.setting_keys")
verification = load("rig.look_at.verification")

HEAD, LAST = "CTL_Head", 60
SAME = np.radians(0.3)
"""What is left of a circle after three rounds."""


class Steps:
    """Frames that were stepped of scenes that hold a whole chain."""

    def __init__(self) -> None:
        self.frames: list[float] = []

    def since(self) -> list[float]:
        found, self.frames = self.frames, []
        return found


@pytest.fixture
def steps(monkeypatch) -> Steps:
    counted, step = Steps(), sampler.Sampler._step

    def counting(self, frame, before):
        if len(self.bones) > 1:
            counted.frames.append(frame)
        return step(self, frame, before)

    monkeypatch.setattr(sampler.Sampler, "_step", counting)
    return counted


@pytest.fixture
def talk() -> list[bpy.types.Object]:
    """Two humans with controls, one of them smaller, half turned to each other; all of the body responds."""
    made = [control_rigs.animated(), control_rigs.animated()]
    bpy.context.scene.frame_end = LAST
    for n, (armature, name) in enumerate(zip(made, ("Anna", "Bo"), strict=True)):
        armature.name, armature.location.y = name, -1.3 * n
        armature.rotation_euler.z = (0.4, np.pi - 0.3)[n]
        armature.scale = [(1.0, 0.9)[n]] * 3
        armature.animation_data.action.name = f"{name} Sways"
    for armature, other in (made, made[::-1]):
        settings = scenes.aim(armature, other, HEAD, subtarget="Head", settle_time=0.3)
        layers.switch_whole_body(settings, True)
        for frame, yaw in ((1, 0.0), (20, 0.4), (40, -0.2)):
            glance(armature, frame, yaw)
    live.finish(bpy.context.scene)
    return made


def solves() -> list:
    return list(live._scenes[bpy.context.scene.session_uid].solves.values())


def tracks() -> list[tuple[np.ndarray, np.ndarray]]:
    live.finish(bpy.context.scene)
    assert all(solve.track is not None and not solve.rough for solve in solves())
    return [(solve.track.offsets, solve.track.moves) for solve in solves()]


def anew() -> list[tuple[np.ndarray, np.ndarray]]:
    scenes.forget_solutions()
    return tracks()


def same(one, other) -> bool:
    return all(np.array_equal(*both) for pair in zip(one, other, strict=True) for both in zip(*pair, strict=True))


@contextmanager
def in_turns(monkeypatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(circle_solve, "can_solve", lambda *_: False)
        yield


def glance(armature: bpy.types.Object, frame: int, yaw: float) -> None:
    setting_keys.put(armature, HEAD, "glance_yaw", [(frame, yaw)], 1)


@pytest.mark.thorough
def test_they_are_solved_as_by_sampling_each_with_the_other_in_motion(talk, steps, monkeypatch) -> None:
    together, count = anew(), len(steps.since())
    assert not any(solve.look_at.plain for solve in solves())
    with in_turns(monkeypatch):
        alone = anew()
    for (one, moved), (other, displaced) in zip(together, alone, strict=True):
        assert rotation.distance(one, other).max() < SAME
        assert np.abs(moved - displaced).max() < 2e-3
    assert count < 0.5 * len(steps.since())
    # Each rig as animated, and both together as often as a verification takes.
    assert count < (2 + 1 + verification.VERIFICATIONS + 1) * LAST


@pytest.mark.thorough
def test_nobody_is_evaluated_but_as_a_cut_down_copy(talk, monkeypatch) -> None:
    """Settings of the copies point to the targets, which Blender would evaluate with all that they depend on."""
    seen, step = set(), sampler.Sampler._step

    def looking(self, frame, before):
        graph = step(self, frame, before)
        # Before that, a few frames of the whole rigs tell whether copies are the same.
        for item in graph.ids if self._copies else ():
            seen.add(item.original.session_uid)
        return graph

    tracks()
    monkeypatch.setattr(sampler.Sampler, "_step", looking)
    anew()
    assert seen and not seen & {armature.session_uid for armature in talk}
    glance(talk[0], 30, 0.3)
    tracks()
    assert not seen & {armature.session_uid for armature in talk}
    for armature, other in (talk, talk[::-1]):
        assert armature.pose.bones[HEAD].lookat_pd.target == other


@pytest.mark.thorough
def test_an_edited_look_samples_nobody_anew_and_is_to_the_bit_what_a_solve_from_the_start_is(talk, steps) -> None:
    tracks()
    steps.since()
    glance(talk[0], 30, 0.3)
    edited = tracks()
    assert len(steps.since()) <= (1 + verification.VERIFICATIONS) * LAST
    assert same(edited, anew())


@pytest.mark.thorough
def test_frames_that_an_edit_does_not_reach_are_not_evaluated_again(talk, steps) -> None:
    """Before it all is as it was, and some settle times after it the controllers have forgotten it."""
    bpy.context.scene.frame_end = 10 * LAST
    tracks()
    steps.since()
    glance(talk[0], 7 * LAST, 0.3)
    edited, stepped = tracks(), steps.since()
    assert min(stepped) >= 7 * LAST - 2
    assert same(edited, anew())
    steps.since()
    glance(talk[0], 7 * LAST, -0.1)
    glance(talk[0], 7 * LAST + 5, 0.0)
    tracks()
    # What is evaluated twice is little more than what the controllers remember.
    assert 0 < len(steps.since()) < 2 * 3 * LAST


@pytest.mark.thorough
def test_an_edited_body_is_seen_first_around_the_playhead(talk, monkeypatch) -> None:
    """The few frames there are evaluated with a track over all frames, as often as it is corrected."""
    monkeypatch.setattr(circle_solve, "GOOD", 0.0)
    talk[1].pose.bones["CTL_Spine"].rotation_euler.x = 0.5
    talk[1].pose.bones["CTL_Spine"].keyframe_insert("rotation_euler", frame=5)
    state = live._scenes[bpy.context.scene.session_uid]
    state.refresh(bpy.context.scene, live._structure, now=True)
    while not state.advance(-1.0):
        pass
    assert state.seen and not state.errors
    assert same(tracks(), anew())


@pytest.mark.thorough
@pytest.mark.parametrize("which", [0, 1])
def test_an_error_is_of_the_one_who_has_it(talk, which) -> None:
    wrong = talk[which]
    bone = wrong.pose.bones["CTL_Neck"]
    bone.scale = (0.0, 0.0, 0.0)
    bone.keyframe_insert("scale", frame=1)
    live.finish(bpy.context.scene)
    states = [live.status(bpy.context.scene, armature, HEAD) for armature in talk]
    assert states[which].state == "ERROR" and wrong.name not in states[1 - which].error
    assert "scale of 0" in states[which].error
    bone.scale = (1.0, 1.0, 1.0)
    bone.keyframe_insert("scale", frame=1)
    assert same(tracks(), anew())


@pytest.mark.thorough
def test_a_driver_that_follows_a_setting_too_has_the_rig_sampled_anew(talk, steps) -> None:
    path = f'pose.bones["{HEAD}"].lookat_pd.glance_yaw'
    driver = talk[0].pose.bones["CTL_Spine"].driver_add("location", 0).driver
    driver.type, variable = "SUM", driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = talk[0], path
    tracks()
    glance(talk[0], 30, 0.3)
    edited = tracks()
    assert same(edited, anew())


def test_a_baked_circle_is_what_was_live(talk) -> None:
    frames = range(1, LAST + 1)
    seen = [scenes.poses(armature, frames) for armature in talk]
    scenes.run_bake(*talk)
    for armature, before in zip(talk, seen, strict=True):
        assert armature.pose.bones[HEAD].lookat_pd.mute
        assert np.abs(scenes.poses(armature, frames) - before).max() < 1e-4
