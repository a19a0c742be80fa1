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

actions = load("rig.animation.actions")
drain = load("lookat_pd.progress").drain
gaze = load("lookat_pd.gaze")
gaze_solving = load("rig.look_at.gaze_solving")
layers = load("rig.look_at.body.layers")
live = load("rig.layers.live")
live_scene = load("rig.layers.live_scene")
playhead = load("rig.look_at.live.playhead")
rotation = load("lookat_pd.rotation")
sampler = load("rig.sampling.sampler")
scene_solve = load("rig.look_at.scene_solve")
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


def test_a_scene_goes_in_the_turn_that_shows_what_was_solved_with_it(scene, monkeypatch) -> None:
    """To remove it has the window draw all it shows, and what is shown next has it do so again."""
    monkeypatch.setattr(sampler, "_in_window", True)
    monkeypatch.setattr(sampler, "_MOST", 1.0)
    monkeypatch.setattr(live_scene, "_BESIDE", 0.0)
    poses(scene.armature, (AT,))
    out_of_date()
    with suspend.suspend_live():
        while not state().is_ending:
            assert not state().advance(1.0, rests=True)
            state().show()
        assert sampler.is_resting()
        for most in ("_BESIDE", "_BEGUN", "_WORKING_ON"):
            monkeypatch.setattr(live_scene, most, np.inf)
        assert state().advance(1e6, rests=True)
        state().show()
        assert not sampler.is_resting()


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


@pytest.fixture
def long(empty_file, monkeypatch) -> scenes.Scene:
    """A character that forward kinematics is enough for, with corners in its motion, over frames that count as many."""
    monkeypatch.setattr(gaze_solving, "_LONG", 500)
    bpy.context.scene.frame_end = LAST
    found, random = swaying(), np.random.default_rng(5)
    bone = found.armature.pose.bones["chest"]
    for frame in range(1, LAST, 6):
        bone.keyframe_insert(set_rotation(bone, random.uniform(-0.3, 0.3, 3)), frame=frame)
    action = found.armature.animation_data.action
    for curve in actions.channelbag(action, action.slots[0]).fcurves:
        for key in curve.keyframe_points:
            # At their corners there are samples between frames.
            key.interpolation = "LINEAR"
    keyed(found.target, "location", [(n, ((-1.0) ** (n // 40), -2.0, 1.2)) for n in range(1, LAST, 40)])
    bpy.context.scene.frame_set(AT)
    poses(found.armature, (AT,))
    return found


def test_a_setting_of_many_frames_is_seen_at_the_playhead_first(long, monkeypatch) -> None:
    """Nothing is sampled for it, and the rest is solved beside the window."""
    settings, before = long.armature.pose.bones["head"].lookat_pd, only_solve().track
    assert only_solve().predicted and only_solve().kept.between is not None
    sampled, step = [], sampler.Sampler._step
    monkeypatch.setattr(sampler.Sampler, "_step", lambda *arguments: (sampled.append(1), step(*arguments))[1])
    with suspend.suspend_live():
        settings.settle_time = 0.7
        state().refresh(bpy.context.scene, live._structure, now=True)
        while not state().seen:
            assert not state().advance(0.05, to_see=True)
        first = look_ats().previews.first.track(only_solve())
        assert only_solve().track is before and np.array_equal(first.offsets_at(1), before.offsets_at(1))
        while not state().advance(0.05):
            pass
        state().show()
    final = only_solve().track
    assert not sampled
    for frame in (AT - 3, AT, AT + 3):
        changed = rotation.distance(before.offsets_at(frame), final.offsets_at(frame))
        away = rotation.distance(first.offsets_at(frame), final.offsets_at(frame))
        assert np.degrees(away.max()) < CORRECT < np.degrees(changed.max())
    out_of_date()
    with suspend.suspend_live():
        state().advance(None)
    assert only_solve().track.same_as(final)


def test_the_samples_of_some_frames_are_those_of_a_solve_of_them_alone(long) -> None:
    whole = look_ats().scene_solve
    only_solve().stale = solve.BODY
    begin, end = playhead.frames_around(whole, AT)
    frames, count = whole.context.frames, gaze.samples_per_frame(only_solve().look_at.tuning, whole.context.dt)
    there = slice(begin - int(frames[0]), end + 1 - int(frames[0]))
    known = only_solve().kept.at(there, count)
    alone = solve.LookAtSolve(only_solve().look_at, 1)
    with suspend.suspend_live():
        drain(scene_solve.SceneSolve(bpy.context.scene, begin, end, [alone]).steps([alone]))
    assert np.array_equal(known.samples.frames, np.arange(begin, end + 1))
    # The first and the last frames of a range have fewer beside them to tell corners by.
    inner = (known.between.indices >= 3 * count) & (known.between.indices < (end - begin - 3) * count)
    assert inner.any() and np.isin(known.between.indices[inner], alone.kept.between.indices).all()
    rows = np.searchsorted(alone.kept.between.indices, known.between.indices[inner])
    for name in ("rotations", "positions"):
        assert np.array_equal(getattr(known.samples, name), getattr(alone.kept.samples, name)), name
        found = getattr(known.between, name)[inner]
        assert np.allclose(found, getattr(alone.kept.between, name)[rows], rtol=0.0, atol=1e-12), name
    assert np.array_equal(known.samples.targets, alone.kept.samples.targets)
    assert np.allclose(known.between.targets[:, inner], alone.kept.between.targets[:, rows], rtol=0.0, atol=1e-12)
