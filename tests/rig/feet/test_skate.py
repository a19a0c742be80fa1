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
contact_plan = load("rig.feet.contact_plan")
contacts = load("lookat_pd.body.contacts")
errors = load("lookat_pd.errors")
foot_bones = load("rig.feet.foot_bones")
skate = load("rig.feet.skate")


def clean(armature, last: int = walking.LAST, **options):
    steps = skate.clean(bpy.context.scene, armature, bake_options.BakeOptions(1, last, **options))
    return scenes.finish(steps)


@pytest.mark.every_blender
def test_feet_stay_and_the_body_keeps_its_motion() -> None:
    armature = walking.person()
    action = walking.walk(armature, "Walk", slide=0.03)
    use(armature, action)
    before, was = walking.toes(armature, action, range(1, walking.LAST + 1))
    result = clean(armature)
    after, now = walking.toes(armature, result.action, range(1, walking.LAST + 1))
    assert result.before > 0.02 and result.drift < 1e-4
    foot, frame, slip, share = result.worst
    assert list(result.contacts) == ["foot.L", "foot.R"] and foot in result.contacts
    assert slip == result.drift and share < 1e-4 and frame in result.frames
    for found, slipped in zip(result.contacts.values(), result.slipped, strict=True):
        touching = np.zeros(len(result.frames), dtype=bool)
        for a, b in found:
            touching[a - 1 : b] = True
        assert slipped[touching].max() > 0.01 and not slipped[~touching].any()
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
    contact = contact_plan.Contact(contacts.Detection(speed=0.15))
    result = scenes.finish(skate.clean(bpy.context.scene, armature, options, contact))
    after, _ = walking.toes(armature, result.action, range(1, walking.LAST + 1))
    assert np.abs(after - before).max() < 0.03


@pytest.mark.thorough
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


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("roll", [False, True])
def test_the_handle_of_a_rig_made_by_hand_is_moved(roll: bool, local: bool) -> None:
    """local: the location of a handle is along its own axes, or along those of the armature."""
    armature = walking.in_ik(roll)
    for side in "LR":
        armature.data.bones[f"foot_ctrl.{side}"].use_local_location = local
    assert [foot.control for foot in foot_bones.find(armature).feet] == ["foot_ctrl.L", "foot_ctrl.R"]
    for side in "LR":
        handle = armature.pose.bones[f"foot_ctrl.{side}"]
        for frame in range(1, 41, 5):
            handle.location = (0.01 * np.sin(0.3 * frame), 0.0, 0.0)
            handle.keyframe_insert("location", frame=frame)
    result = clean(armature, 40)
    assert result.before > 0.005 and result.drift < 5e-4


def test_feet_that_nothing_moves_alone_are_named() -> None:
    armature = walking.in_ik(roll=False)
    for side in "LR":
        armature.pose.bones[f"foot_ctrl.{side}"].constraints.new("COPY_LOCATION").target = armature
        armature.pose.bones[f"foot_ctrl.{side}"].constraints[0].subtarget = "controls"
    armature.pose.bones["head"].keyframe_insert("rotation_quaternion", frame=1)
    with pytest.raises(errors.RigError, match="no bone that can be moved holds 'foot_ctrl"):
        clean(armature)


def test_feet_that_turn_with_the_chain_of_the_ik_are_refused() -> None:
    """They do not stand where the handle does, and would slide more than before."""
    armature = walking.in_ik(roll=False)
    for side in "LR":
        bones = armature.pose.bones
        for name in (f"shin.{side}", f"foot.{side}"):
            bones[name].constraints.remove(bones[name].constraints[0])
        constraint = bones[f"foot.{side}"].constraints.new("IK")
        constraint.target, constraint.subtarget, constraint.chain_count = armature, f"foot_ctrl.{side}", 3
    bones["head"].keyframe_insert("rotation_quaternion", frame=1)
    with pytest.raises(errors.RigError, match="no bone that can be moved holds 'foot"):
        clean(armature)


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
    nothing = contact_plan.Contact(contacts.Detection(speed=0.001))
    with pytest.raises(errors.RigError, match="No foot of 'Person' is planted"):
        scenes.finish(skate.clean(bpy.context.scene, armature, bake_options.BakeOptions(1, 30), nothing))
    assert sorted(bpy.data.actions.keys()) == before


def test_marked_contacts_are_held_and_nothing_else() -> None:
    armature = walking.person()
    action = walking.walk(armature, "Walk", slide=0.03)
    use(armature, action)
    before, _ = walking.toes(armature, action, range(1, walking.LAST + 1))
    options, marked = bake_options.BakeOptions(1, walking.LAST), contact_plan.Contact([(30, 34)], blend=0.1)
    result = scenes.finish(skate.clean(bpy.context.scene, armature, options, marked))
    after, _ = walking.toes(armature, result.action, range(1, walking.LAST + 1))
    assert result.stances == 2
    assert np.ptp(after[29:34], axis=0).max() < 1e-4 < np.ptp(before[29:34], axis=0).max()
    assert np.abs(after - before)[[0, 1, 70, 71]].max() < 1e-5


def test_stopping_changes_nothing() -> None:
    armature = bodies.person()
    before = scenes.curves(armature.animation_data.action)
    steps = skate.clean(bpy.context.scene, armature, bake_options.BakeOptions(1, 30))
    for _ in range(35):
        next(steps, None)
    steps.close()
    assert not scenes.differences({"a": before}, {"a": scenes.curves(armature.animation_data.action)})
