"""The live look-at on real characters: a generated Rigify human, the demo's, and rigs from other makers."""

from pathlib import Path

import bpy
import numpy as np
import pytest

from extension import load

from ... import scenes
from ...scenes import ball, place_of, poses, run_bake
from ..test_bake_rigs import (  # noqa: F401 - fixtures
    PLAIN,
    RIGIFY,
    RIGS,
    WITHOUT_CLIPS,
    around,
    follow,
    forward_of,
    play_longest,
    rig,
    rigify,
)

inputs = load("rig.sampling.fingerprint")
live = load("rig.layers.live")
look_at = load("rig.look_at.resolve")
look_at_edit = load("rig.look_at.edit")
offsets = load("rig.look_at.look_at_layer")
sample = load("rig.sampling.sampler")
own_data = load("rig.sampling.own_data")

FRAMES = (1, 15, 30, 60)


@pytest.fixture(autouse=True)
def no_traceback(empty_file, capfd):
    yield
    written = capfd.readouterr()
    # Rigify, not enabled, prints one of its own where a file is opened.
    folder = str(Path(live.__file__).parent)
    assert folder not in written.err
    assert "Error in bpy.app.handlers.frame_change" not in written.err
    assert "Error in bpy.app.handlers.depsgraph" not in written.err
    assert not [scene for scene in bpy.data.scenes if own_data.TEMPORARY in scene]


def solved_anew(armature, frames) -> np.ndarray:
    scenes.forget_solutions()
    return poses(armature, frames)


def shorten(last: int = 60) -> None:
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, last


@pytest.mark.slow
def test_rigify_every_path_to_a_frame_gives_the_same_pose(rigify, tmp_path) -> None:  # noqa: F811
    """All 706 bones, to the last bit."""
    shorten()
    target = ball((0.8, -2.0, 1.9))
    scenes.keyed(target, "location", [(1, (2, -1, 1)), (30, (-0.9, -2, 1.4)), (40, (0.8, -2, 1.9))])
    scenes.aim(rigify, target)
    played = dict(zip(range(1, 61), poses(rigify, range(1, 61)), strict=True))
    assert live.status(bpy.context.scene, rigify, "head").state == "SOLVED"
    for frame in (60, 7, 31, 30, 1, 45):
        assert np.array_equal(poses(rigify, (frame,))[0], played[frame])
    assert np.array_equal(poses(rigify, (12.3,)), poses(rigify, (12.3,)))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"), copy=True)
    assert np.array_equal(solved_anew(rigify, (33,))[0], played[33])
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    for frame in (50, 3):
        assert np.array_equal(poses(bpy.data.objects["Human"], (frame,))[0], played[frame])


@pytest.mark.slow
@pytest.mark.parametrize("follows", [(0.0, 0.5), (1.0, 1.0)], ids=str)
def test_rigify_aims_and_follows_its_sliders(rigify, follows) -> None:  # noqa: F811
    """A custom property of the rig is moved: the head still aims."""
    shorten(40)
    rigify.animation_data.action = None
    target = ball((0.8, -2.0, 1.9))
    scenes.aim(rigify, target)
    bpy.context.view_layer.update()
    follow(rigify, *follows)
    rigify.update_tag()
    assert scenes.error(rigify, place_of(target), (1, 40)) < RIGIFY
    target.location = (-1.5, -1.2, 1.3)
    assert scenes.error(rigify, place_of(target), (1, 40)) < RIGIFY
    seen = poses(rigify, (1, 40))
    assert np.array_equal(solved_anew(rigify, (1, 40)), seen)


@pytest.mark.thorough
@pytest.mark.parametrize("into", ["NEW", "LAYER"])
def test_rigify_bake_is_what_was_live(rigify, into) -> None:  # noqa: F811
    shorten(50)
    scenes.aim(rigify, ball((0.8, -2.0, 1.9)))
    scenes.settings_keyed(rigify, "head", "use", [(1, False), (10, True), (30, False)])
    seen = poses(rigify, FRAMES[:3])
    run_bake(rigify, last=50, into=into)
    differ = np.abs(poses(rigify, FRAMES[:3]) - seen)
    controls = [rigify.pose.bones.find(name) for name in ("head", "neck", "chest", "hips")]
    # A layer makes quaternions unit that interpolated keys leave a little shorter.
    assert differ[:, controls].max() < (1e-3 if into == "LAYER" else 1e-6)
    # Lips that stretch between others make much of little.
    assert differ.max() < (1e-3 if into == "LAYER" else 1e-4)


@pytest.mark.thorough
def test_rigify_slider_moved_and_back_is_the_same(rigify) -> None:  # noqa: F811
    shorten(40)
    scenes.aim(rigify, ball((0.8, -2.0, 1.9)))
    seen = poses(rigify, (1, 20, 40))
    settings = rigify.pose.bones["head"].lookat_pd
    settings.settle_time = 0.7
    slower = poses(rigify, (1, 20, 40))
    assert np.array_equal(solved_anew(rigify, (1, 20, 40)), slower)
    settings.settle_time = 0.2
    assert np.array_equal(poses(rigify, (1, 20, 40)), seen)


def test_rigify_playback_does_nothing_but_put_offsets_on(rigify, monkeypatch) -> None:  # noqa: F811
    shorten(30)
    scenes.aim(rigify, ball((0.8, -2.0, 1.9)))
    scenes.goto(1)

    def broken(*_, **__):
        raise AssertionError("nothing has changed")

    monkeypatch.setattr(inputs, "fingerprint", broken)
    monkeypatch.setattr(sample.Sampler, "sample", broken)
    for frame in (*range(2, 31), 4.5, 60):
        scenes.goto(frame)


def test_rigify_removed_leaves_the_animation(rigify) -> None:  # noqa: F811
    shorten(30)
    before = poses(rigify, (1, 15))
    scenes.aim(rigify, ball((0.8, -2.0, 1.9)))
    assert not np.array_equal(poses(rigify, (1, 15)), before)
    look_at_edit.remove(rigify, "head")
    assert not list(offsets.on(rigify))
    assert np.array_equal(poses(rigify, (1, 15)), before)


@pytest.mark.slow
@pytest.mark.parametrize("rig", [name for name in RIGS if name not in WITHOUT_CLIPS], indirect=True)
def test_rigs_play_and_bake_alike(rig) -> None:  # noqa: F811
    """Their own clips: whatever way a frame is reached it is the same, and the bake is what was seen."""
    first = max(play_longest(rig), 0)
    last = first + 60
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = first, last
    bone, target = look_at.find_head(rig), around(rig, 25, 5)
    scenes.aim(rig, target, bone)
    frames = (first, first + 13, first + 31, last, first + 31.25)
    seen = poses(rig, frames)
    status = live.status(bpy.context.scene, rig, bone)
    assert status.state == "SOLVED", status
    assert np.array_equal(poses(rig, frames[::-1])[::-1], seen)
    assert np.array_equal(solved_anew(rig, frames), seen)
    run_bake(rig, first=first, last=last)
    size = max(1.0, float(np.abs(seen).max()))
    assert np.abs(poses(rig, frames[:4]) - seen[:4]).max() < 3e-6 * size


@pytest.mark.slow
def test_rigs_hold_still_and_look(rig) -> None:  # noqa: F811
    """At rest, a target ahead: the head aims at it at once."""
    from ..test_bake_rigs import at_rest

    at_rest(rig)
    shorten(5)
    bone, target = look_at.find_head(rig), around(rig, 0, 0)
    scenes.aim(rig, target, bone)
    assert scenes.error(rig, place_of(target), (1, 5), bone=bone, forward=forward_of(rig)) < PLAIN
    before = {name for name, turn in offsets.shown(rig, bone, bpy.context.scene.frame_current_final).items()}
    rig.pose.bones[bone].lookat_pd.mute = True
    scenes.goto(2)
    assert not list(offsets.on(rig)), before
