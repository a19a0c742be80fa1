"""The best cut is where two clips are alike."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from .motions import character, use, walk

best_cut = load("rig.transitions.best_cut")
join = load("rig.transitions.join")
clips = load("rig.transitions.clips")


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
    assert len(found.cuts) == 5
    out, into, cost = found.cuts[0]
    assert abs(out - into) <= 1 and cost < 1e-3
    assert found.cost.shape == (61, 61)
    costs = [cost for *_, cost in found.cuts]
    assert costs == sorted(costs) and all(into <= 61 - 8 + 1 for _, into, _ in found.cuts)


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
    out, into, _ = found.cuts[0]
    assert np.allclose(pixels[(out - 2) * times, (into - 2) * times], 1.0)
    far = np.unravel_index(np.argmax(found.cost), found.cost.shape)
    assert pixels[far[0] * times, far[1] * times, 1] < 0.05
    assert min(image.size) >= 256


def test_operator_sets_the_cut(shifted) -> None:
    armature, one, other = shifted
    settings = bpy.context.scene.lookat_pd_transition
    assert bpy.ops.lookat_pd.best_cut(destination=other.name) == {"FINISHED"}
    assert settings.source == one.name and settings.destination == other.name and len(settings.cuts) == 10
    first, second = settings.cuts[0], settings.cuts[1]
    assert (settings.source_frame, settings.destination_frame) == (first.source_frame, first.destination_frame)
    settings.cut_index = 1
    assert settings.source_frame == second.source_frame
    cut = join.ClipRef(one, first.source_frame), join.ClipRef(other, first.destination_frame)
    assert join.join(armature, *cut).last > first.source_frame
    with pytest.raises(RuntimeError, match="no action"):
        bpy.ops.lookat_pd.best_cut(destination="Swim")
