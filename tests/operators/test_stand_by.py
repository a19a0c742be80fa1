"""A temporary scene that stays in the file between two slices of a solve is gone whatever ends these."""

from collections.abc import Iterator

import bpy
import numpy as np
import pytest

from extension import load
from rig import scenes

live = load("rig.layers.live")
sampler = load("rig.sampling.sampler")
suspend = load("rig.sampling.suspend")
own_data = load("rig.sampling.own_data")
clock = load("rig.layers.clock")
kinds = load("rig.layers.kinds")
stand_by = load("operators.stand_by")


@pytest.fixture
def resting(monkeypatch) -> Iterator[object]:
    """A live scene whose solve rests, as in a window."""
    monkeypatch.setattr(sampler, "_in_window", True)
    monkeypatch.setattr(sampler, "_MOST", 1.0)
    scene = scenes.swaying()
    constraint = scene.armature.pose.bones["neck"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget, constraint.influence = scene.armature, "upper_arm.L", 0.3
    bpy.context.scene.frame_end = scenes.LAST
    live.finish(bpy.context.scene)
    settings = scene.armature.pose.bones["head"].lookat_pd
    with suspend.suspend_live():
        settings.settle_time = 0.35
    state = live._scenes[bpy.context.scene.session_uid]
    state.refresh(bpy.context.scene, live._structure, now=True)
    rest(state)
    yield state
    sampler.park_all()


def temporary() -> list[str]:
    """What sampling needs in a file for a while."""
    marked = [scene.name for scene in bpy.data.scenes if own_data.TEMPORARY in scene]
    helpers = [item for item in bpy.data.objects if "Look-at PD" in item.name and not clock.is_clock(item)]
    return marked + [item.name for item in helpers]


def rest(state) -> None:
    """Work until a slice leaves its scene, in steps."""
    with suspend.suspend_live():
        while not sampler.is_resting():
            assert not state.advance(0.0, rests=True)
    assert temporary()


@pytest.mark.every_blender
def test_nothing_is_left_whatever_ends_it(resting, monkeypatch) -> None:
    """A slice that leaves nothing, the end of the work, another sampling, a fault, undo, save, render, another file."""
    scene = bpy.context.scene

    def fault() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(sampler._Reading, "take", lambda *_: 1 / 0)
            resting.advance(np.inf, rests=True)
        assert resting.errors

    def last() -> None:
        while not resting.advance(np.inf, rests=True):
            pass

    def sample() -> None:
        armature = next(item for item in scene.objects if item.type == "ARMATURE")
        with sampler.Sampler(scene, armature, ("head",)) as other:
            sampler.run(other.sample([1]))

    ways = {
        "a slice": lambda: resting.advance(0.0),
        "another sampling": sample,
        "stopped": lambda: live.stop(scene),
        "undo": live._let_go,
        "a save": live._before_save,
        "a render": lambda: live._before_render(scene),
        "a script": lambda: live.finish(scene),
        "a fault": fault,
        "the last slice": last,
        "another file": live._forget,
    }
    for name, end in ways.items():
        if not sampler.is_resting():
            live.resume(scene)
            resting.refresh(scene, live._structure, now=True)
            settings = next(iter(resting.solves.values())).owner.pose.bones["head"].lookat_pd
            settings.settle_time += 0.01
            resting.refresh(scene, live._structure, now=True)
            rest(resting)
        end()
        assert not temporary() and not sampler.is_resting(), name


@pytest.mark.every_blender
def test_a_solve_that_rests_is_the_same_to_the_bit(resting) -> None:
    with suspend.suspend_live():
        while not resting.advance(0.0, rests=True):
            pass
    found = next(iter(resting.solves.values())).track.offsets.copy()
    scenes.forget_solutions()
    live.finish(bpy.context.scene)
    again = next(iter(live._scenes[bpy.context.scene.session_uid].solves.values())).track.offsets
    assert np.array_equal(again, found)


@pytest.mark.thorough
def test_what_is_evaluated_while_a_scene_rests_is_no_change_of_another(resting) -> None:
    """Blender relates and draws what the window shows only when the temporary scene comes and when it goes."""
    seen: list[list[str]] = []
    scene = bpy.context.scene

    def note(updated: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
        if updated == scene:
            seen.append([update.id.name for update in depsgraph.updates])

    bpy.context.view_layer.update()
    bpy.app.handlers.depsgraph_update_post.append(note)
    try:
        with suspend.suspend_live():
            for stale in (kinds.SETTINGS, kinds.BODY):
                next(iter(resting.solves.values())).stale = stale
                resting.begin()
                rest(resting)
                bpy.context.view_layer.update()
                seen.clear()
                while not resting.advance(0.0, rests=True) and sampler.is_resting():
                    bpy.context.view_layer.update()
                assert not any(seen)
                while not resting.advance(0.0):
                    pass
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(note)


def test_objects_of_a_scene_that_rests_are_no_change(resting) -> None:
    """They come and go without a reason to look for layers anew."""
    with suspend.suspend_live():
        assert len(bpy.data.objects) > live._count()
        there = live._count()
        sampler.park_all()
        assert live._count() == there == len(bpy.data.objects)


def test_what_an_undo_step_has_of_it_is_removed(resting) -> None:
    """A script that no event has started may push a step between two slices."""
    before = {item.name for item in bpy.context.scene.objects}
    sampler._open[0]._open.pop_all()
    sampler._open.clear()
    assert temporary()
    live._find_again()
    left = [item for item in bpy.data.objects if not clock.is_clock(item)]
    assert not temporary() and {item.name for item in left} == before
    assert len(bpy.data.armatures) == sum(item.type == "ARMATURE" for item in left)


def test_without_a_window_it_does_not_stand_by() -> None:
    with bpy.context.temp_override(window=None), pytest.raises(RuntimeError, match="window"):
        bpy.ops.lookat_pd.stand_by("INVOKE_DEFAULT")
    assert [stand_by.start] == live.STAND_BY
