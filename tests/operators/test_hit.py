"""The operators of hits: what a press adds and bakes, what is reported, when they are disabled."""

import re

import bpy
import numpy as np
import pytest

from extension import load

from ..rig import scenes
from ..rig.dynamics.test_hitting import ROWS

operator = load("operators.hit")
hitting = load("rig.dynamics.hitting")
ADD, BAKE = bpy.ops.lookat_pd.hit_add, bpy.ops.lookat_pd.hit


@pytest.fixture
def hero() -> bpy.types.Object:
    """A character in pose mode whose chest is active."""
    armature = scenes.figure(rows=ROWS)
    scenes.animate(armature, size=0.05)
    bpy.ops.object.mode_set(mode="POSE")
    armature.data.bones.active = armature.data.bones["chest"]
    return armature


def chest(frame: int) -> np.ndarray:
    bpy.context.scene.frame_set(frame)
    seen = bpy.context.object.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(seen.pose.bones["chest"].matrix)


@pytest.mark.every_blender
def test_a_hit_is_on_the_active_bone_at_the_current_frame(hero) -> None:
    bpy.context.scene.frame_set(12)
    before = chest(16), chest(12)
    bpy.context.scene.frame_set(12)
    assert ADD() == {"FINISHED"}
    (item,) = hero.lookat_pd_hits.hits
    assert (item.frame, item.bone, item.source) == (12, "chest", None) and item.impulse == 30.0
    assert BAKE() == {"FINISHED"}
    assert hero.animation_data.action.name == "Sway hit"
    assert np.abs(chest(16) - before[0]).max() > 0.02 > 1e-5 > np.abs(chest(12) - before[1]).max()


def test_it_comes_from_the_other_selected_object(hero) -> None:
    bpy.ops.object.mode_set(mode="OBJECT")
    scenes.ball().select_set(True)
    hero.select_set(True)
    ADD()
    assert hero.lookat_pd_hits.hits[0].source.name == "Ball"


def test_hits_are_removed_and_without_any_nothing_is_baked(hero) -> None:
    assert operator.why_not(bpy.context) == "Add a hit first"
    assert not BAKE.poll()
    ADD()
    ADD()
    hero.lookat_pd_hits.hits[1].bone = "head"
    assert bpy.ops.lookat_pd.hit_remove(index=0) == {"FINISHED"}
    assert [item.bone for item in hero.lookat_pd_hits.hits] == ["head"] and BAKE.poll()


def test_a_bone_that_is_gone_is_one_clear_error(hero) -> None:
    ADD()
    hero.lookat_pd_hits.hits[0].bone = "gone"
    with pytest.raises(RuntimeError, match="has no bone 'gone'"):
        BAKE()
    assert hero.animation_data.action.name == "Sway" and len(bpy.data.actions) == 1


@pytest.mark.parametrize(
    ("impulse", "words"), [(400.0, r"frame 1 'head' to \d\d?(\.\d+)? %\."), (20.0, "turns most, by")]
)
def test_the_report_says_to_how_much_an_impulse_is_reduced(hero, impulse, words, monkeypatch) -> None:
    reports: list[str] = []
    monkeypatch.setattr(load("operators.reporting"), "report_info", lambda operator, text: reports.append(str(text)))
    ADD()
    hero.lookat_pd_hits.hits[0].bone, hero.lookat_pd_hits.hits[0].impulse = "head", impulse
    assert BAKE() == {"FINISHED"}
    assert len(reports) == 1 and re.search(words, reports[0])


@pytest.mark.thorough
def test_every_setting_matters(hero) -> None:
    """Each changes the result."""
    ADD()
    settings = hero.lookat_pd_hits
    settings.hits[0].frame = 5

    def angles() -> np.ndarray:
        hero.animation_data.action = bpy.data.actions["Sway"]
        request = load("rig.dynamics.setup").hits(hero)
        result = scenes.finish(hitting.start(bpy.context.scene, hero, request))
        return np.array([result.angles.max(), result.angles[6].sum(), len(result.frames), result.shift])

    base = angles()
    head = hero.pose.bones["head"]
    head.use_ik_limit_x, head.ik_min_x, head.ik_max_x = True, -0.12, 0.12
    numbers = {"settle_time": 0.4, "damping_ratio": 0.5, "stiffness": 1.0, "largest_angle": 0.05, "length": 1}
    changes = numbers | {"use_follow": False, "use_limits": False, "use_relative": False, "hips": 0.0}
    limited = angles()
    assert not np.allclose(limited, base)
    for name, value in changes.items():
        old = getattr(settings, name)
        setattr(settings, name, value)
        assert not np.allclose(angles(), limited, rtol=1e-4), name
        setattr(settings, name, old)
