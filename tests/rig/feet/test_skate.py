"""Feet that slide while they are on the ground: they stay, and nothing else changes."""

import bpy
import numpy as np
import pytest

import kept
from extension import load

from .. import scenes
from ..look_at.body import bodies
from ..transitions.motions import use
from . import walking

actions = load("rig.animation.actions")
bake_options = load("rig.animation.bake_options")
contacts = load("lookat_pd.body.contacts")
errors = load("lookat_pd.errors")
foot_bones = load("rig.feet.foot_bones")
skate = load("rig.feet.skate")


def clean(armature, last: int = walking.LAST, **options):
    steps = skate.clean(bpy.context.scene, armature, bake_options.BakeOptions(1, last, **options))
    return scenes.finish(steps)


def test_feet_stay_and_the_body_keeps_its_motion() -> None:
    armature = walking.person()
    action = walking.walk(armature, "Walk", slide=0.03)
    use(armature, action)
    before, was = walking.toes(armature, action, range(1, walking.LAST + 1))
    result = clean(armature)
    after, now = walking.toes(armature, result.action, range(1, walking.LAST + 1))
    assert result.before > 0.02 and result.drift < 1e-4
    for foot in range(2):
        spans = contacts.detect(before[:, foot], 1.0 / walking.FPS, 0.9, contacts.Detection())
        assert spans and walking.drift(after[:, foot], spans) < 1e-3
    hips = was.bones.index("hips")
    assert np.abs(now.positions[:, hips] - was.positions[:, hips]).max() < 0.04
    assert action.name == "Walk" and result.action != action


def test_a_walk_that_does_not_slide_hardly_changes() -> None:
    armature = walking.person()
    action = walking.walk(armature, "Walk")
    use(armature, action)
    before, _ = walking.toes(armature, action, range(1, walking.LAST + 1))
    options = bake_options.BakeOptions(1, walking.LAST)
    result = scenes.finish(skate.clean(bpy.context.scene, armature, options, contacts.Detection(speed=0.15)))
    after, _ = walking.toes(armature, result.action, range(1, walking.LAST + 1))
    assert np.abs(after - before).max() < 0.03


@pytest.mark.parametrize("held", [True, False], ids=["ik", "fk"])
def test_controls_of_a_rigify_rig(held) -> None:
    """The control of the foot is moved where inverse kinematics bends the leg, else the bones are turned."""
    human = kept.human()
    action = human.animation_data.action.copy()
    use(human, action)
    for side in "LR":
        human.pose.bones[f"thigh_parent.{side}"]["IK_FK"] = 0.0 if held else 1.0
        control = human.pose.bones[f"foot_ik.{side}" if held else f"thigh_fk.{side}"]
        control.rotation_mode = "XYZ"
        for frame in range(1, 41, 5):
            control.location = (0.01 * np.sin(0.3 * frame), 0.0, 0.0)
            control.rotation_euler = (0.04 * np.sin(0.1 * frame), 0.0, 0.0)
            control.keyframe_insert("location" if held else "rotation_euler", frame=frame)
    feet = foot_bones.find(human).feet
    assert [foot.control for foot in feet] == (["foot_ik.L", "foot_ik.R"] if held else ["", ""])
    result = clean(human, 40)
    assert result.before > 0.005 and result.drift < 5e-4


def test_a_rig_without_feet_is_refused() -> None:
    armature = scenes.figure(rows=scenes.FIGURE[:6])
    scenes.animate(armature, bones=("spine", "head"))
    with pytest.raises(errors.RigError, match="No leg with two bones and a foot"):
        clean(armature)
    assert len(bpy.data.actions) == 1


def test_feet_in_the_air_are_refused() -> None:
    armature = walking.person()
    use(armature, walking.walk(armature, "Walk", slide=0.03))
    before = sorted(bpy.data.actions.keys())
    nothing = contacts.Detection(speed=0.001)
    with pytest.raises(errors.RigError, match="No foot of 'Person' is planted"):
        scenes.finish(skate.clean(bpy.context.scene, armature, bake_options.BakeOptions(1, 30), nothing))
    assert sorted(bpy.data.actions.keys()) == before


def test_stopping_changes_nothing() -> None:
    armature = bodies.person()
    before = scenes.curves(armature.animation_data.action)
    steps = skate.clean(bpy.context.scene, armature, bake_options.BakeOptions(1, 30))
    for _ in range(35):
        next(steps, None)
    steps.close()
    assert not scenes.differences({"a": before}, {"a": scenes.curves(armature.animation_data.action)})
