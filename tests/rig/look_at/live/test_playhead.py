"""What is at the playhead is right first, long before all of a long range is solved; and nothing depends on it."""

import itertools
from collections.abc import Iterator

import bpy
import numpy as np
import pytest

from extension import load

from ... import scenes
from ...scenes import keyed, poses, set_rotation, settings_keyed, swaying
from .test_previews import with_control

layers = load("rig.look_at.body.layers")
live = load("rig.layers.live")
playhead = load("rig.look_at.live.playhead")
rotation = load("lookat_pd.rotation")
sampler = load("rig.sampling.sampler")
solve = load("rig.look_at.look_at_solve")
suspend = load("rig.sampling.suspend")
track = load("rig.layers.track")

LAST, AT = 320, 260
CORRECT = 0.05  # degrees


@pytest.fixture
def scene(empty_file) -> scenes.Scene:
    """A character behind a control, with weight in its hips, that looks at a ball which flies back and forth."""
    bpy.context.scene.frame_end = LAST
    found = with_control(swaying())
    places = [(n, ((-1.0) ** (n // 40), -2.0, 1.2 + 0.1 * (n % 3))) for n in range(1, LAST, 40)]
    keyed(found.target, "location", places)
    settings = found.armature.pose.bones["head"].lookat_pd
    settings.settle_time = 0.4
    layers.switch_on(settings, ("weight", "arms"))
    bpy.context.scene.frame_set(AT)
    return found


def state():
    return live._scenes[bpy.context.scene.session_uid]


def look_ats():
    (kind,) = state().kinds.values()
    return kind


def only_solve():
    return next(iter(state().solves.values()))


def out_of_date() -> None:
    """As after an edit of the pose."""
    only_solve().stale = solve.BODY
    state().stop()
    state().begin()


def steps() -> Iterator[bool]:
    """The work as a window does it, a slice at a time; whether what is seen first has just come."""
    with suspend.suspend_live():
        while not state().advance(0.05):
            if state().news:
                state().show()
            yield state().news
        state().show()


@pytest.mark.thorough
def test_the_playhead_is_right_long_before_the_rest(scene) -> None:
    poses(scene.armature, (AT,))
    final = only_solve().track
    out_of_date()
    only_solve().track, first = None, None
    for news in steps():
        if news:
            assert state().fraction < 0.3
            first = look_ats().previews.first.track(only_solve())
    assert first is not None
    for frame in (AT - 3, AT, AT + 3):
        away = rotation.distance(first.offsets_at(frame), final.offsets_at(frame))
        assert 0.0 < np.degrees(away.max()) < CORRECT
    assert only_solve().track.same_as(final)


def test_after_an_edit_the_playhead_is_seen_before_anything_is_verified(scene, monkeypatch) -> None:
    """What the rig adds is known from before, and corrected at a few frames: the seconds around the playhead are
    sampled once, as animated."""
    poses(scene.armature, (AT,))
    stepped, step = [], sampler.Sampler._step
    monkeypatch.setattr(sampler.Sampler, "_step", lambda *arguments: (stepped.append(1), step(*arguments))[1])
    bone = scene.armature.pose.bones["chest"]
    with suspend.suspend_live():
        bone.keyframe_insert(set_rotation(bone, (0.05, 0.025, 0.0)), frame=AT)
        state().refresh(bpy.context.scene, live._structure, now=True)
        while not state().news:
            assert not state().advance(0.05)
        state().show()
        first, frames = facing(scene), len(stepped)
        begin, end = playhead.frames_around(look_ats().scene_solve, AT)
        while not state().advance(0.05):
            pass
        state().show()
        assert frames < 1.2 * (end - begin + 1)
        assert 0.0 < np.degrees(rotation.angle_between(first, facing(scene))) < CORRECT


@pytest.mark.thorough
def test_other_frames_show_what_is_expected_of_them_once_they_are_seen(scene, monkeypatch) -> None:
    """However long the verification takes, the window is drawn for what is seen alone."""
    poses(scene.armature, (AT,))
    monkeypatch.setattr(playhead, "perf_counter", itertools.count(0.0, 100.0).__next__)
    bone, previews = scene.armature.pose.bones["chest"], look_ats().previews
    with suspend.suspend_live():
        bone.keyframe_insert(set_rotation(bone, (0.05, 0.025, 0.0)), frame=AT)
        state().refresh(bpy.context.scene, live._structure, now=True)
        while not state().news:
            assert not state().advance(0.05)
        held = previews.first.track(only_solve())
        while not only_solve().is_expected:
            assert not state().advance(0.0)
        assert previews.first.track(only_solve()) is held
        assert previews.end()
        there = previews.first.track(only_solve())
        assert there is not held
        assert np.array_equal(there.offsets_at(1), only_solve().track.offsets_at(1))
        assert not previews.end()


def facing(scene) -> np.ndarray:
    """Where the head faces in the armature's space, as it is seen."""
    bpy.context.view_layer.update()
    seen = scene.armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(seen.pose.bones["head"].matrix)[:3, :3]
    return matrix @ only_solve().look_at.chain.forward[0]


@pytest.mark.thorough
def test_what_is_solved_does_not_depend_on_the_playhead(scene) -> None:
    whole = poses(scene.armature, (30, AT, LAST))
    for frame in (20, AT):
        bpy.context.scene.frame_set(frame)
        out_of_date()
        assert any(list(steps()))
        assert not look_ats().previews.first
        assert np.array_equal(poses(scene.armature, (30, AT, LAST)), whole)


def test_the_last_solution_is_shown_away_from_the_playhead(scene) -> None:
    poses(scene.armature, (AT,))
    before = only_solve().track
    scene.armature.pose.bones["head"].lookat_pd.settle_time = 0.8
    poses(scene.armature, (AT,))
    first, last = 200, 272
    near = track.Track(before.number, before.turned, first, only_solve().track.offsets[first - 1 : last], before.moved)
    near.shapes = np.zeros((len(near.offsets), before.shapes.shape[1]))
    shown = playhead.spliced(before, near)
    assert np.array_equal(shown.offsets_at(100), before.offsets_at(100))
    assert np.array_equal(shown.offsets_at(250), near.offsets_at(250))
    assert np.array_equal(shown.offsets_at(LAST), before.offsets_at(LAST))
    other = track.Track(before.number, before.turned[:1], first, near.offsets[:, :1])
    assert playhead.spliced(before, other) is other and playhead.spliced(None, near) is near


def test_a_short_range_is_solved_at_once(scene) -> None:
    bpy.context.scene.frame_end = 150
    poses(scene.armature, (AT,))
    out_of_date()
    assert not any(steps())


def test_what_is_waited_for_is_solved_at_once(scene, monkeypatch) -> None:
    """In background, before a render and by *Update*: nobody sees anything of it before its end."""
    poses(scene.armature, (AT,))

    def broken(*_):
        raise AssertionError("only the whole range is wanted")

    monkeypatch.setattr(playhead.PlayheadSolve, "steps", broken)
    only_solve().stale = solve.BODY
    live.finish(bpy.context.scene)
    assert only_solve().stale == solve.FRESH


def test_an_error_shows_nothing_of_it(scene) -> None:
    settings_keyed(scene.armature, "head", "use", [(1, True)])
    poses(scene.armature, (AT,))
    out_of_date()
    work = steps()
    while not next(work):
        pass
    state().fail(only_solve(), load("lookat_pd.errors").RigError("It fails."))
    assert look_ats().previews.first.track(only_solve()) is None
