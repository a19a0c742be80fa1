"""Chains from plain lists and from markers."""

import bpy
import pytest

from extension import load

from . import scenes
from .motions import character, use, walk

chains = load("rig.chains")
join = load("rig.join")
LookAtError = load("lookat_pd.errors").LookAtError


@pytest.fixture
def hero():
    armature = character()
    for n, name in enumerate(("Walk", "Run", "Jump @ night")):
        walk(armature, name, seed=n, first=3)
    use(armature, bpy.data.actions["Walk"])
    scenes.goto(1)
    return armature


def test_list(hero) -> None:
    steps = chains.from_list(
        hero,
        [
            {"clip": "Run", "frame": 20, "blend": 0.4, "enter": 5, "factors": {"head": 0.5}},
            {"clip": "Walk", "frame": -3},
            {"clip": "Walk", "frame": 40, "blend": None, "method": "DEAD"},
        ],
    )
    assert [(step.clip.action.name, step.at, step.clip.frame) for step in steps] == [
        ("Walk", -3, 3),
        ("Run", 20, 5),
        ("Walk", 40, 3),
    ]
    assert [step.blend.seconds for step in steps] == [None, 0.4, None] and steps[1].blend.factors == {"head": 0.5}
    result = join.chain(hero, steps)
    assert (result.first, result.cuts, result.last) == (-3, (20, 40), 76) and len(result.blends) == 2


@pytest.mark.parametrize(
    "entries",
    [
        [],
        "Walk",
        ["Walk"],
        [{"clip": "Swim", "frame": 1}],
        [{"clip": "Walk"}],
        [{"clip": "Walk", "frame": 1.5}],
        [{"clip": "Walk", "frame": True}],
        [{"clip": "Walk", "frame": 1, "blend": "long"}],
        [{"clip": "Walk", "frame": 1, "blend": -1}],
        [{"clip": "Walk", "frame": 1, "speed": 2}],
        [{"clip": "Walk", "frame": 1, "method": "MELT"}],
    ],
    ids=str,
)
def test_bad_entries(hero, entries) -> None:
    with pytest.raises(LookAtError):
        chains.from_list(hero, entries)


def test_markers(hero) -> None:
    markers = bpy.context.scene.timeline_markers
    for name, frame in (("Run @ 7", 25), ("Walk", 1), ("Somewhere else", 12), ("Jump @ night", 50), ("Walk", 80)):
        markers.new(name, frame=frame)
    steps = chains.from_markers(hero, bpy.context.scene)
    assert [(step.clip.action.name, step.at, step.clip.frame) for step in steps] == [
        ("Walk", 1, 3),
        ("Run", 25, 7),
        ("Jump @ night", 50, 3),
        ("Walk", 80, 3),
    ]
    assert bpy.ops.lookat_pd.chain_actions(use_auto_blend=False, blend=0.3) == {"FINISHED"}
    assert tuple(hero.animation_data.action.curve_frame_range) == (1, 80 + 36)


def test_too_few_markers(hero) -> None:
    bpy.context.scene.timeline_markers.new("Walk", frame=1)
    with pytest.raises(RuntimeError, match="timeline marker"):
        bpy.ops.lookat_pd.chain_actions()
    bpy.context.scene.timeline_markers.new("Nothing", frame=4)
    with pytest.raises(RuntimeError, match="Fewer than two"):
        bpy.ops.lookat_pd.chain_actions()
