"""The library of a character: which actions it has, the best cuts between them, and the cheapest path."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from .motions import character, use, walk

best_cut = load("rig.transitions.best_cut")
drain = load("lookat_pd.progress").drain
join = load("rig.transitions.join")
library = load("rig.transitions.library")
plots = load("panels.plots")
preview = load("rig.transitions.library_preview")
RigError = load("lookat_pd.errors").RigError


def stitched(armature, name: str, first: int, second: int) -> bpy.types.Action:
    """A clip that begins as that of one seed and ends as that of another."""
    return join.join(
        armature,
        join.ClipRef(bpy.data.actions[f"Clip {first}"], 21),
        join.ClipRef(bpy.data.actions[f"Clip {second}"], 21),
        load("rig.transitions.splice").Blend(0.2),
        root="NONE",
        name=name,
        assign=False,
    ).action


@pytest.fixture
def hero():
    """Clips 1 and 2 are unlike each other; the bridge begins as one and ends as the other."""
    armature = character()
    for seed in (1, 2):
        walk(armature, f"Clip {seed}", seed=seed, size=0.9, speed=(0.0, 0.0, 0.0))
    stitched(armature, "Bridge", 1, 2)
    use(armature, bpy.data.actions["Clip 1"])
    scenes.goto(1)
    return armature


def built(armature, patterns="", **options):
    return drain(library.build(bpy.context.scene, armature, library.choose(armature, patterns), **options))


def names(chosen) -> list[str]:
    return [action.name for action in chosen]


def test_all_actions_of_the_rig_and_no_poses(hero) -> None:
    pose = walk(hero, "Pose", first=1, last=1)
    other = scenes.figure("Other")
    for bone in other.pose.bones:
        bone.name = f"x{bone.name}"
    use(other, None)
    other.pose.bones[0].keyframe_insert("location", frame=1)
    other.pose.bones[0].keyframe_insert("location", frame=20)
    assert names(library.choose(hero)) == ["Bridge", "Clip 1", "Clip 2"]
    assert names(library.choose(hero, "Cl*")) == ["Clip 1", "Clip 2"]
    assert names(library.choose(hero, "Bridge, Clip 2")) == ["Bridge", "Clip 2"]
    assert pose.name in names(library.choose(hero, "Clip*", [pose]))
    with pytest.raises(RigError, match="called 'Swim'"):
        library.choose(hero, "Clip*, Swim")
    with pytest.raises(RigError, match="two actions"):
        library.choose(hero, "Bridge")


def test_the_best_cuts_are_those_of_each_pair(hero) -> None:
    before = scenes.snapshot()
    pairs = built(hero).cuts.pairs()
    assert not scenes.differences(before, scenes.snapshot())
    assert len(pairs) == 6 and [pair.cost for pair in pairs] == sorted(pair.cost for pair in pairs)
    for pair in pairs:
        found = best_cut.find(hero, bpy.data.actions[pair.source], bpy.data.actions[pair.destination], count=1)
        here = found.cost[pair.source_frame - 1 - found.first[0], pair.destination_frame - 1 - found.first[1]]
        assert here <= 1.05 * found.cuts[0].cost + 1e-9


def ends(leave=None, enter=None):
    return library.PathEnds("Clip 1", "Clip 2", (leave, enter))


@pytest.mark.every_blender
def test_the_path_goes_over_the_bridge(hero) -> None:
    anywhere = ends((1, 41), (1, 41))
    known = built(hero, ends=anywhere)
    path = known.cuts.path(anywhere)
    assert [(cut.source, cut.destination) for cut in path] == [("Clip 1", "Bridge"), ("Bridge", "Clip 2")]
    steps = known.steps(path)
    result = join.chain(hero, steps)
    assert [step.clip.action.name for step in steps] == ["Clip 1", "Bridge", "Clip 2"]
    assert result.cuts == tuple(step.at for step in steps[1:])
    # Each clip is left at the frame of its cut.
    for cut, before, after in zip(path, steps, steps[1:], strict=False):
        assert after.at - before.at == cut.source_frame - before.clip.frame
    assert len(known.cuts.path(anywhere, 10.0)) == 1


@pytest.mark.parametrize(("leave", "enter"), [(None, None), ((9, 12), (30, 34)), ((3, 3), (2, 2)), ((41, 41), None)])
def test_there_is_a_path_whatever_frames_it_may_have(hero, leave, enter) -> None:
    between = ends(leave, enter)
    path = built(hero, ends=between).cuts.path(between)
    (first, last), (begin, end) = leave or (21, 42), enter or (2, 21)
    assert first <= path[0].source_frame <= last and begin <= path[-1].destination_frame <= end


def test_a_range_without_frames(hero) -> None:
    with pytest.raises(RigError, match="no frame at which 'Clip 2'"):
        built(hero, ends=ends(None, (90, 99)))


def test_nothing_is_left_of_a_search_that_is_cancelled(hero) -> None:
    before = scenes.snapshot()
    work = library.build(bpy.context.scene, hero, library.choose(hero))
    next(work)
    work.close()
    assert not scenes.differences(before, scenes.snapshot())


def test_the_list_and_the_path_of_the_panel(hero) -> None:
    scene = bpy.context.scene
    settings, transition = scene.lookat_pd_library, scene.lookat_pd_transition
    assert bpy.ops.lookat_pd.compare_library() == {"FINISHED"}
    assert len(settings.pairs) == 6
    settings.pair_index = 3
    pair = settings.pairs[3]
    assert pair.name == f"{pair.source} → {pair.destination}"
    assert (transition.source, transition.destination) == (pair.source, pair.destination)
    assert (transition.source_frame, transition.destination_frame) == (pair.source_frame, pair.destination_frame)
    ranges = {"use_cut_range": True, "source_start": 1, "source_end": 41, "destination_start": 1, "destination_end": 41}
    assert bpy.ops.lookat_pd.join_path(source="Clip 1", destination="Clip 2", **ranges) == {"FINISHED"}
    assert hero.animation_data.action.name == "Clip 1 > Bridge > Clip 2"
    with pytest.raises(RuntimeError, match="called 'Swim'"):
        bpy.ops.lookat_pd.compare_library(pattern="Swim")
    with pytest.raises(RuntimeError, match="choose an action"):
        bpy.ops.lookat_pd.join_path(source="Clip 1")
    assert len(settings.pairs) == 6


def test_the_graph_of_the_panel(hero) -> None:
    """The best cuts as arrows, the one that is highlighted, and the path that would be joined."""
    settings, between = bpy.context.scene.lookat_pd_library, library.PathEnds("Clip 1", "Clip 2")
    assert preview.preview(hero, settings, between, 0.02) is None
    bpy.ops.lookat_pd.compare_library()
    settings.pair_index = 2
    found = preview.preview(hero, settings, between, 0.02)
    names = ["Bridge", "Clip 1", "Clip 2"]
    assert len(found.places) == 3 and len(found.cuts) == 6
    assert found.places[0] == pytest.approx((0.0, 1.0)) and found.places[1][0] > 0.0
    pair = settings.pairs[2]
    assert found.pair == (names.index(pair.source), names.index(pair.destination))
    joined = bpy.ops.lookat_pd.join_path(source="Clip 1", destination="Clip 2", assign=False)
    assert joined == {"FINISHED"} and " > ".join(names[n] for n in found.steps) in bpy.data.actions
    assert preview.preview(hero, settings, between, 0.02).path == found.path
    assert len(preview.preview(hero, settings, between, 10.0).path) == 1
    assert preview.preview(hero, settings, library.PathEnds("Clip 1", "Gone"), 0.02).path == ()
    pixels = plots._draw_graph(found.places, [((a, b), 1.0 - rank) for a, b, rank in found.cuts], [[(0, 1)], [(1, 2)]])
    assert pixels.shape == (plots.HEIGHT, plots.WIDTH, 4) and pixels.min() >= 0.0 and pixels.max() <= 1.0
    for colour in plots.COLOURS[:2]:
        assert np.any(np.all(np.isclose(pixels[..., :3], colour), axis=-1) & (pixels[..., 3] > 0.5))
