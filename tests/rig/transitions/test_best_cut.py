"""The best cut is where two clips are alike."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from .motions import character, heads, use, walk

best_cut = load("rig.transitions.best_cut")
join = load("rig.transitions.join")
actions, clip_extent = load("rig.animation.actions"), load("lookat_pd.transitions.clip_extent")


@pytest.fixture
def shifted():
    """A clip, and the same one four frames later, elsewhere and another way round."""
    armature = character()
    one = walk(armature, "One", seed=3, last=61)
    two = walk(armature, "Two", seed=3, first=5, last=65, heading=1.0)
    other = walk(armature, "Two", seed=3, first=1, last=61, heading=1.0)
    del two
    use(armature, one)
    scenes.goto(1)
    return armature, one, other


def test_a_clip_is_like_itself(shifted) -> None:
    armature, one, other = shifted
    found = best_cut.find(armature, one, other, count=5, room=8)
    assert 1 < len(found.cuts) <= 5
    out, into, _, difference = found.cuts[0][:4]
    assert abs(out - into) <= 1 and difference < 1e-3
    assert found.cost.shape == (61, 61)
    costs = [cut.cost for cut in found.cuts]
    assert costs == sorted(costs) and all(cut.destination_frame <= 61 - 8 + 1 for cut in found.cuts)


def test_nothing_is_changed(shifted) -> None:
    armature, one, other = shifted
    before = scenes.snapshot()
    best_cut.find(armature, one, other)
    assert not scenes.differences(before, scenes.snapshot())


def test_the_picture_shows_what_is_alike(shifted) -> None:
    found = best_cut.find(*shifted)
    image = best_cut.picture(found)
    assert best_cut.picture(found) == image and len(bpy.data.images) == 1
    pixels = np.array(image.pixels[:]).reshape(image.size[1], image.size[0], 4)
    times = image.size[0] // 61
    out, into = found.cuts[0][:2]
    assert np.allclose(pixels[(out - 2) * times, (into - 2) * times], 1.0)
    far = np.unravel_index(np.argmax(found.cost), found.cost.shape)
    assert pixels[far[0] * times, far[1] * times, 1] < 0.05
    assert min(image.size) >= 256


def test_operator_sets_the_cut(shifted) -> None:
    armature, one, other = shifted
    settings = bpy.context.scene.lookat_pd_transition
    assert bpy.ops.lookat_pd.best_cut(destination=other.name) == {"FINISHED"}
    assert settings.source == one.name and settings.destination == other.name and 1 < len(settings.cuts) <= 10
    first, second = settings.cuts[0], settings.cuts[1]
    assert (settings.source_frame, settings.destination_frame) == (first.source_frame, first.destination_frame)
    settings.cut_index = 1
    assert settings.source_frame == second.source_frame
    cut = join.ClipRef(one, first.source_frame), join.ClipRef(other, first.destination_frame)
    assert join.join(armature, *cut).last > first.source_frame
    with pytest.raises(RuntimeError, match="no action"):
        bpy.ops.lookat_pd.best_cut(destination="Swim")


@pytest.mark.parametrize("seed", range(5))
def test_by_default_most_of_both_clips_plays(seed) -> None:
    """Of clips of any lengths, whatever they do; the list says how much of each."""
    random = np.random.default_rng(seed)
    armature = character()
    lasts = random.integers(12, 90, 2)
    one, two = (
        walk(armature, f"Clip {n}", seed=seed + 10 * n, last=int(last), every=3) for n, last in enumerate(lasts)
    )
    found = best_cut.find(armature, one, two, count=5)
    assert found.cuts
    for cut in found.cuts:
        made = join.join(armature, join.ClipRef(one, cut.source_frame), join.ClipRef(two, cut.destination_frame))
        assert min(made.kept) > 0.45
        np.testing.assert_allclose(made.kept, cut.kept, atol=1e-9)
        assert cut.difference <= cut.cost <= cut.difference + 2.0 * clip_extent.DISCARDED
        bpy.data.actions.remove(made.action)


def test_a_range_is_searched_as_it_is(shifted) -> None:
    cut = best_cut.find(*shifted, count=1, ranges=((5, 9), (50, 55))).cuts[0]
    assert 5 <= cut.source_frame <= 9 and 50 <= cut.destination_frame <= 55 and cut.repeat == 1


def cycle(armature: bpy.types.Object, name: str, frames: int, seed: int) -> bpy.types.Action:
    """A walk whose last frame is its first one again, but for the way, and that is marked as a cycle."""
    action = walk(armature, name, seed=seed, last=frames + 1, size=0.3, every=1)
    for curve in actions.channelbag(action, action.slots[0]).fcurves:
        if "location" in curve.data_path:
            continue
        values = np.array([point.co.y for point in curve.keyframe_points])
        # A whole period of what sways.
        angle = np.linspace(0.0, 2.0 * np.pi, len(values))
        sway = np.std(values) if "rotation" in curve.data_path else 0.0
        values = values.mean() + sway * np.sin(angle + 0.7 * curve.array_index + len(curve.data_path))
        for point, value in zip(curve.keyframe_points, values, strict=True):
            point.co.y = value
        curve.update()
    action.use_frame_range = action.use_cyclic = True
    action.frame_start, action.frame_end = 1, frames + 1
    return action


def test_cycles_are_cut_at_any_frame_and_play_once_more() -> None:
    armature = character()
    one, two = cycle(armature, "One", 30, 3), cycle(armature, "Two", 24, 4)
    found = best_cut.find(armature, one, two, count=20)
    assert any(cut.source_frame > 32 for cut in found.cuts) and {cut.repeat for cut in found.cuts} == {1, 2}
    for cut in found.cuts:
        assert min(cut.kept) > 0.45 and cut.cost == cut.difference
    plain = [best_cut.find(armature, one, two, count=1, ranges=((1, 31), (1, 25))).cuts[0]]
    assert found.cuts[0].difference <= min(cut.difference for cut in plain) + 1e-9


def test_a_cycle_plays_on_until_a_cut_after_its_end() -> None:
    armature = character()
    one, two = cycle(armature, "One", 30, 3), cycle(armature, "Two", 24, 4)
    made = join.join(armature, join.ClipRef(one, 45), join.ClipRef(two, 4), root="POSITION")
    assert made.cuts == (31, 45)
    again = (heads(armature, made.action, range(31, 45)) - heads(armature, one, range(1, 15)))[:, 1:]
    # The same motion, further on.
    np.testing.assert_allclose(again, np.broadcast_to(again[:1, :1], again.shape), atol=2e-3)
    assert np.linalg.norm(again[0, 0]) > 1.0
    use(armature, one)
    one.use_cyclic = False
    with pytest.raises(load("lookat_pd.errors").RigError, match="cannot be cut at frame 45"):
        join.join(armature, join.ClipRef(walk(armature, "Other", seed=8), 45), join.ClipRef(two, 4))


def test_the_panel_plays_the_destination_as_often_as_the_cut_needs() -> None:
    armature = character()
    one, two = cycle(armature, "One", 30, 3), cycle(armature, "Two", 24, 4)
    use(armature, one)
    settings = bpy.context.scene.lookat_pd_transition
    assert bpy.ops.lookat_pd.best_cut(destination=two.name, count=20) == {"FINISHED"}
    settings.repeat = 1
    settings.cut_index = next(n for n, cut in enumerate(settings.cuts) if cut.repeat == 2)
    assert settings.repeat == 2
    settings.repeat = 5
    settings.cut_index = 0
    assert settings.repeat == 5
