"""Chains from markers."""

import bpy
import pytest

from extension import load

from .. import scenes
from .motions import character, use, walk

chains = load("rig.transitions.marker_clips")


@pytest.fixture
def hero():
    armature = character()
    for n, name in enumerate(("Walk", "Run", "Jump @ night")):
        walk(armature, name, seed=n, first=3)
    use(armature, bpy.data.actions["Walk"])
    scenes.goto(1)
    return armature


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
