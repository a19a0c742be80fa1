"""The operators of reaching: where the hand arrives, what is reported, when they refuse."""

import bpy
import numpy as np
import pytest

from extension import load
from lookat_pd import rotation

from ..rig import scenes

operator = load("operators.reach")
reaching = load("rig.dynamics.reaching")
engine = load("lookat_pd.dynamics.engine")

pytestmark = pytest.mark.skipif(not engine.available(), reason="needs the physics engine")

BONES = (
    ("hips", None, (0, 0, 1.0), (0, 0, 1.2)),
    ("arm", "hips", (0.1, 0, 1.2), (0.4, -0.02, 1.2)),
    ("forearm", "arm", (0.4, -0.02, 1.2), (0.7, 0, 1.2)),
    ("hand", "forearm", (0.7, 0, 1.2), (0.85, 0, 1.2)),
)
PLACE = (0.4, -0.3, 1.3)


@pytest.fixture
def hero() -> bpy.types.Object:
    """A character in pose mode with a bent arm whose hand is active, and a ball to reach for."""
    armature = scenes.figure(rows=BONES)
    bpy.ops.object.mode_set(mode="POSE")
    armature.pose.bones["forearm"].rotation_quaternion = rotation.exp((0.0, 0.0, -0.7))
    armature.data.bones.active = armature.data.bones["hand"]
    settings().target = scenes.ball(PLACE)
    settings().passes = 5
    return armature


def settings():
    return bpy.context.scene.lookat_pd_dynamics


def hand(armature: bpy.types.Object, frame: int, end: str = "head"):
    bpy.context.scene.frame_set(frame)
    seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(getattr(seen.pose.bones["hand"], end))


def test_it_sets_out_at_the_current_frame(hero) -> None:
    bpy.context.scene.frame_set(12)
    assert bpy.ops.lookat_pd.reach() == {"FINISHED"}
    assert np.linalg.norm(hand(hero, 36) - PLACE) < 1e-4
    assert np.linalg.norm(hand(hero, 12) - PLACE) > 0.05
    assert hero.animation_data.action.name == "Hero reach"


def test_the_cursor_a_tip_another_time(hero) -> None:
    bpy.context.scene.cursor.location = (0.45, -0.35, 1.25)
    settings().goal, settings().point, settings().length, settings().duration = "CURSOR", "TIP", 3, 0.5
    assert bpy.ops.lookat_pd.reach(use_current_frame=False, frame_start=5) == {"FINISHED"}
    assert np.linalg.norm(hand(hero, 17, "tail") - (0.45, -0.35, 1.25)) < 1e-4


def test_places_on_the_way(hero) -> None:
    for place in ((0.5, -0.2, 1.1), (0.45, -0.25, 1.2)):
        scenes.ball(place, "Via")
    bpy.ops.object.mode_set(mode="OBJECT")
    for item in bpy.data.objects:
        item.select_set(item.name.startswith("Via"))
    bpy.ops.lookat_pd.via_add()
    assert [via.target.name for via in settings().vias] == ["Via", "Via.001"]
    assert [via.time for via in settings().vias] == pytest.approx([1 / 3, 2 / 3])
    bpy.ops.lookat_pd.via_remove(index=0)
    bpy.ops.object.mode_set(mode="POSE")
    assert bpy.ops.lookat_pd.reach() == {"FINISHED"}
    assert np.linalg.norm(hand(hero, 17) - (0.45, -0.25, 1.2)) < 5e-3
    assert np.linalg.norm(hand(hero, 25) - PLACE) < 1e-4


def test_the_last_reach_is_there_to_be_shown(hero) -> None:
    assert reaching.last(hero) is None
    bpy.ops.lookat_pd.reach()
    shown = reaching.last(hero)
    assert len(shown.costs) >= 2 and shown.path.shape == shown.straight.shape == (25, 3)
    assert np.linalg.norm(shown.path[-1] - PLACE) < 1e-4


def test_why_it_is_disabled(hero) -> None:
    assert operator.why_not(bpy.context) is None
    settings().target = None
    assert operator.why_not(bpy.context) == "Choose a goal for the reach"
    settings().goal = "CURSOR"
    hero.data.bones.active = hero.data.bones["hips"]
    assert "no parent that can rotate" in operator.why_not(bpy.context)
    hero.data.bones.active = None
    assert "Select the bone" in operator.why_not(bpy.context)


def test_what_cannot_be_reached_changes_nothing(hero) -> None:
    bpy.data.objects["Ball"].location = (3.0, 0.0, 0.0)
    with pytest.raises(RuntimeError, match="out of reach"):
        bpy.ops.lookat_pd.reach()
    assert hero.animation_data is None and not bpy.data.actions
