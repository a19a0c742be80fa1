"""Lock Feet of a loop: planted feet stay through the seam, and the loop is as cyclic as without."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from ..feet import walking
from .motions import make_visual_again, poses, use

actions = load("rig.animation.actions")
loop = load("rig.transitions.loop")
visual_loop = load("rig.transitions.visual.visual_loop")
visual_offsets = load("rig.transitions.visual.visual_offsets")
splice = load("rig.transitions.splice")

FIRST, LAST = 7, 53
"""Two cycles but for two frames: the ends differ."""
BLEND = splice.Blend(0.3)


@pytest.fixture
def walker():
    armature = walking.person()
    walking.walk(armature, "Walk")
    return armature


def keyed(action):
    slot = action.slots[0]
    return {(curve.data_path, curve.array_index) for curve in actions.curves(action, slot)}


def planted(places):
    """Spans of rows of each foot at rest, from the places of the clip as animated."""
    found = []
    for foot in range(2):
        rest = np.linalg.norm(np.diff(places[:, foot], axis=0), axis=-1) < 0.004
        edges = np.flatnonzero(np.diff(np.concatenate(([0], rest.astype(int), [0]))))
        found.append([(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a > 1])
    return found


def slides(armature, result, spans):
    """The largest drift of the feet over two periods, of those at the seam."""
    count = LAST - FIRST
    places, _ = walking.toes(armature, result.action, range(FIRST, FIRST + 2 * count + 1))
    largest = 0.0
    for foot, found in enumerate(spans):
        before = [a for a, b in found if b >= count - 1]
        after = [b for a, b in found if a <= 1]
        if before and after:
            largest = max(largest, walking.drift(places[:, foot], [(before[0], count + after[0] - 1)]))
        largest = max(
            largest, walking.drift(places[:, foot], [(a + 1, b - 1) for a, b in found if a > 1 and b < count])
        )
    return largest


def test_planted_feet_stay_through_the_seam(walker) -> None:
    action = bpy.data.actions["Walk"]
    before = scenes.curves(action)
    spans = planted(walking.toes(walker, action, range(FIRST, LAST + 1))[0])
    count = len(bpy.data.actions)
    free = loop.loop(walker, action, FIRST, LAST, BLEND, lock_feet=False)
    locked = loop.loop(walker, action, FIRST, LAST, BLEND, lock_feet=True)
    assert len(bpy.data.actions) == count + 2
    assert not scenes.differences(before, scenes.curves(action))
    assert locked.feet.stances >= 2
    assert slides(walker, free, spans) > 0.01
    assert slides(walker, locked, spans) < 0.002
    # As cyclic as it was: in the next cycle all poses are those of this one, moved by its travel, also at the seam.
    assert locked.cycles and locked.turn == free.turn
    body = slice(1, None)  # The bone called root stays where it is.
    jumps = []
    for result in (free, locked):
        found = poses(walker, result.action, (FIRST, FIRST + 1, LAST - 1, LAST, LAST + 1))[:, body]
        moved = found[3, :, :3, 3] - found[0, :, :3, 3]
        np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=3e-6)
        np.testing.assert_allclose(found[3, :, :3, :3], found[0, :, :3, :3], atol=2e-6)
        np.testing.assert_allclose(found[4, :, :3, 3] - found[1, :, :3, 3], moved, atol=3e-6)
        jumps.append(np.abs(found[4] - 2.0 * found[3] + found[2]).max())
    assert jumps[1] < 1.2 * jumps[0]


def test_planted_feet_stay_through_the_seam_of_a_visual_loop(walker) -> None:
    """The constraints hold for one cycle; the next one is this one, placed by its travel."""
    action = bpy.data.actions["Walk"]
    use(walker, action)
    spans = planted(walking.toes(walker, action, range(FIRST, LAST + 1))[0])
    drifts, found = [], []
    for lock_feet in (False, True):
        job = visual_loop.closed(bpy.context.scene, walker, FIRST, LAST, BLEND, lock_feet=lock_feet)
        made = scenes.finish(job)
        assert bool(made.feet) == lock_feet
        cycle, _ = walking.toes(walker, action, range(FIRST, LAST + 1))
        travel = np.array((0.0, *(cycle[-1] - cycle[0]).mean(axis=0)[1:]))
        places = np.concatenate((cycle[:-1], cycle + travel))
        largest = 0.0
        for foot, contacts in enumerate(spans):
            across = [(a, LAST - FIRST + contacts[0][1] - 1) for a, b in contacts if b >= LAST - FIRST - 1]
            if across and contacts[0][0] <= 1:
                largest = max(largest, walking.drift(places[:, foot], across[:1]))
        drifts.append(largest)
        found.append(poses(walker, action, (FIRST, LAST))[:, 1:])
        if lock_feet:
            make_visual_again(walker)
            again, _ = walking.toes(walker, action, range(FIRST, LAST + 1))
            np.testing.assert_allclose(again, cycle, atol=1e-4)
        visual_offsets.remove(walker)
    assert drifts[0] > 0.01 and drifts[1] < 0.002
    # As cyclic as without.
    for first, last in found:
        np.testing.assert_allclose(last[:, :3, :3], first[:, :3, :3], atol=1e-4)


@pytest.mark.parametrize(("ends", "kept"), [("END", slice(0, 20)), ("START", slice(25, None))])
def test_the_end_that_stays_is_as_animated(walker, ends, kept) -> None:
    action = bpy.data.actions["Walk"]
    spans = planted(walking.toes(walker, action, range(FIRST, LAST + 1))[0])
    result = loop.loop(walker, action, FIRST, LAST, BLEND, ends=ends, lock_feet=True)
    frames = range(FIRST, LAST + 1)
    before, now = (poses(walker, item, frames)[kept] for item in (action, result.action))
    np.testing.assert_allclose(now, before, atol=1e-5)
    free = loop.loop(walker, action, FIRST, LAST, BLEND, ends=ends, lock_feet=False)
    assert slides(walker, result, spans) < 0.25 * slides(walker, free, spans)


def test_in_place_feet_stay_on_a_ground_that_moves_evenly(walker) -> None:
    action = bpy.data.actions["Walk"]
    travelling = loop.loop(walker, action, FIRST, LAST, BLEND, lock_feet=True)
    here = loop.loop(walker, action, FIRST, LAST, BLEND, lock_feet=True, in_place=True)
    assert here.feet.stances == travelling.feet.stances
    frames = range(FIRST, LAST + 1)
    there, moved = (walking.toes(walker, item.action, frames)[0] for item in (travelling, here))
    steps = np.diff(there - moved, axis=0)
    np.testing.assert_allclose(steps, np.broadcast_to(steps[0, 0], steps.shape), atol=1e-4)


def test_feet_that_stand_stay_where_the_hips_sway(walker) -> None:
    """An idle: neither foot is lifted, and the loop is in place."""
    action = bpy.data.actions["Walk"]
    slot = actions.find_slot(walker, action)
    use(walker, action)
    for curve in actions.curves(action, slot):
        value = curve.evaluate(20)
        sways = curve.data_path == 'pose.bones["hips"].location' and curve.array_index == 0
        for point in curve.keyframe_points:
            point.co.y = value + 0.01 * sways * np.sin(point.co.x / 6.0)
        curve.update()
    free = loop.loop(walker, action, 5, 45, BLEND, in_place=True, lock_feet=False)
    locked = loop.loop(walker, action, 5, 45, BLEND, in_place=True, lock_feet=True)
    drifts = []
    for result in (free, locked):
        places, _ = walking.toes(walker, result.action, range(5, 86))
        drifts.append(max(walking.drift(places[:, foot], [(0, 80)]) for foot in range(2)))
    assert drifts[0] > 0.01 and drifts[1] < 0.002
    # They cannot stay on their places in a loop that travels.
    assert loop.loop(walker, action, 5, 45, BLEND, lock_feet=True).feet is None


def test_the_operator_locks_by_default_and_goes_on_without_legs(walker) -> None:
    use(walker, bpy.data.actions["Walk"])
    bpy.context.view_layer.objects.active = walker
    walker.select_set(True)
    assert bpy.ops.lookat_pd.loop_action.get_rna_type().properties["lock_feet"].default
    options = {"use_range": True, "frame_start": FIRST, "frame_end": LAST}
    bpy.ops.lookat_pd.loop_action(**options, lock_feet=True)
    found = keyed(walker.animation_data.action)
    assert any("thigh" in path for path, _ in found)
    figure = scenes.figure(rows=scenes.FIGURE[:6])
    scenes.animate(figure, bones=("spine", "head"))
    walker.select_set(False)
    bpy.context.view_layer.objects.active = figure
    figure.select_set(True)
    keys, made = figure.animation_data.action, []
    for lock_feet in (False, True):
        use(figure, keys)
        bpy.ops.lookat_pd.loop_action(lock_feet=lock_feet)
        made.append(scenes.curves(figure.animation_data.action))
    assert not scenes.differences(*made)
