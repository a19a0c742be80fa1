"""An edited key is looked at at once, and what becomes of it is seen long before it is verified; as in a window."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np
import pytest

from extension import load

from ... import scenes
from ...scenes import keyed, set_rotation, swaying
from .test_previews import with_control

live = load("rig.layers.live")
live_scene = load("rig.layers.live_scene")
rotation = load("lookat_pd.rotation")
sampler = load("rig.sampling.sampler")
suspend = load("rig.sampling.suspend")

FRAME = 30
FAR = 1e9
SEEN = np.radians(0.6)
"""A neck that follows something else by a third takes more than a model knows."""


@pytest.fixture
def scene(empty_file) -> scenes.Scene:
    bpy.context.scene.frame_end = scenes.LAST
    found = with_control(swaying())
    keyed(found.target, "location", [(1, (0.8, -2.0, 1.9)), (30, (-0.5, -2.0, 1.4)), (50, (0.3, -2.0, 1.2))])
    bpy.context.scene.frame_set(FRAME)
    live.finish(bpy.context.scene)
    return found


def state():
    return live._scenes[bpy.context.scene.session_uid]


def only_solve():
    return next(iter(state().solves.values()))


@contextmanager
def in_window(within: float = np.inf) -> Iterator[None]:
    """Before an evaluation it is looked at what has changed, and after it whether something is to be previewed.

    within: seconds for which data may be read in a turn.
    """

    def before(scene, *_) -> None:
        state().digests.note(scene)
        state().refresh(scene, live._structure, {"ACTION", "OBJECT"}, now=False, within=within)

    def after(scene, depsgraph) -> None:
        state().follow_edits(scene, depsgraph)

    handlers = bpy.app.handlers
    with suspend.suspend_live():
        handlers.depsgraph_update_pre.append(before)
        handlers.depsgraph_update_post.append(after)
        try:
            yield
        finally:
            handlers.depsgraph_update_pre.remove(before)
            handlers.depsgraph_update_post.remove(after)


def update() -> None:
    bpy.context.view_layer.update()


def edit_target(scene: scenes.Scene, x: float) -> None:
    scene.target.location.x = x
    scene.target.keyframe_insert("location", frame=FRAME)
    update()


def edit_chest(scene: scenes.Scene, x: float) -> None:
    chest = scene.armature.pose.bones["chest"]
    chest.keyframe_insert(set_rotation(chest, (0.1, x, 0.0)), frame=FRAME)
    update()


EDITS = pytest.mark.parametrize("edit", [edit_target, edit_chest], ids=["target", "chest"])


def is_due() -> bool:
    """Whether the next turn of the window's loop looks at it."""
    return state().check_at < np.inf and state().resting >= live_scene.RESTING


@EDITS
def test_a_key_is_looked_at_at_once_and_one_that_is_dragged_when_it_rests(scene, edit, monkeypatch) -> None:
    now = [100.0]
    monkeypatch.setattr(live_scene.time, "perf_counter", lambda: now[0])
    with in_window():
        edit(scene, -0.3)
        # Also where a preview shows meanwhile where it settles.
        assert state().job is not None
        for step in range(3):
            now[0] += 0.05
            edit(scene, -0.3 + 0.02 * step)
            assert state().check_at > now[0] + 0.2 and not is_due() and state().job is None
        now[0] += 1.0
        edit(scene, 0.1)
        assert state().job is not None


@pytest.mark.thorough
@EDITS
def test_the_time_left_after_an_edited_key(scene, edit, monkeypatch) -> None:
    """Told of the first one or not, but never wrong; each frame that is sampled takes as long."""
    now, frame_set, told = [0.0], sampler.Sampler._step, []

    def stepped(*arguments: object) -> bpy.types.Depsgraph:
        now[0] += 0.01
        return frame_set(*arguments)

    monkeypatch.setattr(sampler.Sampler, "_step", stepped)
    monkeypatch.setattr(live_scene.time, "perf_counter", lambda: now[0])
    for x in (-0.3, 0.1):
        with suspend.suspend_live():
            edit(scene, x)
            state().refresh(bpy.context.scene, live._structure, now=True)
            begin, found = now[0], []
            while not state().advance(-1.0):
                found.append((now[0], state().remaining))
        whole = now[0] - begin
        told = [left / (now[0] - at) for at, left in found if 0.2 * whole < at - begin < 0.95 * whole]
        told = [ratio for ratio in told if np.isfinite(ratio)]
        assert not told or (min(told) > 0.7 and max(told) < 1.3)
    assert len(told) > 20


def test_what_moves_without_a_key_waits_for_the_hand(scene) -> None:
    with in_window():
        for x in (-0.3, -0.2):
            scene.target.location.x = x
            update()
            assert state().check_at < np.inf and not is_due()


@pytest.mark.thorough
@EDITS
def test_what_is_found_is_seen_long_before_it_is_verified_and_does_not_begin_again(scene, edit) -> None:
    edit_target(scene, -0.4)
    live.finish(bpy.context.scene)
    with in_window():
        edit(scene, 0.05)
        state().refresh(bpy.context.scene, live._structure, now=True)
        job, first, fraction = state().job, None, 0.0
        assert job is not None
        while not state().advance(0.0):
            # A slice; the window draws what is new, and evaluates it.
            if state().found:
                state().show()
                update()
            if first is None and only_solve().rough:
                first, fraction = only_solve().track.offsets.copy(), state().fraction
            assert state().job is job
        state().show()
    assert first is not None and fraction < 0.7
    head = rotation.distance(first[:, 0], only_solve().track.offsets[:, 0])
    assert head[FRAME - 1] < SEEN
    assert not live.unsettled(bpy.context.scene)
    shown = only_solve().track.offsets.copy()
    scenes.forget_solutions()
    live.finish(bpy.context.scene)
    assert np.array_equal(only_solve().track.offsets, shown)


@pytest.mark.thorough
@EDITS
@pytest.mark.parametrize("beside", [False, True])
def test_what_is_edited_beside_keys_is_looked_at_while_these_are_solved(scene, edit, beside) -> None:
    """At once the keys alone are read; a constraint that came in the same evaluation is not forgotten."""
    edit_target(scene, -0.4)
    live.finish(bpy.context.scene)
    with in_window(FAR):
        if beside:
            turned = scene.armature.pose.bones["chest"].constraints.new("COPY_ROTATION")
            turned.target, turned.influence, scene.target.rotation_euler.z = scene.target, 0.3, 0.2
        edit(scene, 0.05)
        job = state().job
        assert job is not None and state().is_by_keys
        assert not state().advance(0.0)
        state().refresh(bpy.context.scene, live._structure, now=True, within=FAR)
        assert not state().is_by_keys and state().job is not None and (state().job is job) != beside
        while not state().advance(None):
            pass
        state().show()
    assert not state().errors, state().errors
    found = only_solve().track.offsets.copy()
    scenes.forget_solutions()
    live.finish(bpy.context.scene)
    assert np.array_equal(only_solve().track.offsets, found)
