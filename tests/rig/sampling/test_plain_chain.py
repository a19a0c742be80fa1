"""Plain chains: one rule of when forward kinematics predicts where bones are, for every feature that asks."""

import bpy
import pytest

from extension import load

from .. import scenes
from ..look_at.body import bodies

bone_attachment = load("rig.dynamics.bone_attachment")
ik_chain = load("rig.detection.joint_chain")
look_at = load("rig.look_at.resolve")


@pytest.fixture
def hero(empty_file) -> bpy.types.Object:
    armature = bodies.person()
    bodies.look(armature, scenes.ball())
    return armature


ASKED = {
    "the look-at": (("neck",), lambda hero: look_at.resolve(hero, "head").plain),
    "the body": (("eye.L", "clavicle.R"), lambda hero: look_at.resolve(hero, "head").body.plain),
    "inverse kinematics": (("forearm.L",), lambda hero: ik_chain.resolve(hero, "hand.L", length=2).plain),
    "dynamics": (("forearm.L", "chest"), lambda hero: bone_attachment.is_plain(hero, ["forearm.L", "hand.L"])),
}
"""Who asks, bones on the way, and what the answer is."""
asked = pytest.mark.parametrize("who", ASKED)


def constrained(hero: bpy.types.Object, bone: str) -> bpy.types.Constraint:
    constraint = hero.pose.bones[bone].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget = hero, "toe.L"
    constraint.mix_mode = "AFTER"
    return constraint


def muted(constraint: bpy.types.Constraint) -> None:
    constraint.mute = True


def of_no_influence(constraint: bpy.types.Constraint) -> None:
    constraint.influence = 0.0


def muted_with_keyed_influence(constraint: bpy.types.Constraint) -> None:
    influence_keyed(constraint)
    constraint.mute = True


def acting(constraint: bpy.types.Constraint) -> None:
    constraint.influence = 0.01


def influence_keyed(constraint: bpy.types.Constraint) -> None:
    for frame, influence in ((30, 1.0), (1, 0.0)):
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)


def influence_driven(constraint: bpy.types.Constraint) -> None:
    constraint.driver_add("influence").driver.expression = "frame / 100"
    constraint.influence = 0.0


def mute_keyed(constraint: bpy.types.Constraint) -> None:
    for frame, mute in ((30, False), (1, True)):
        constraint.mute = mute
        constraint.keyframe_insert("mute", frame=frame)


@asked
@pytest.mark.parametrize("idle", [muted, of_no_influence, muted_with_keyed_influence], ids=lambda f: f.__name__)
def test_a_constraint_that_never_acts_leaves_a_chain_plain(hero, who, idle) -> None:
    bones, is_plain = ASKED[who]
    assert is_plain(hero)
    for bone in bones:
        idle(constrained(hero, bone))
    assert is_plain(hero)


@asked
@pytest.mark.parametrize("acts", [acting, influence_keyed, influence_driven, mute_keyed], ids=lambda f: f.__name__)
def test_a_constraint_that_acts_at_any_frame_does_not(hero, who, acts) -> None:
    bones, is_plain = ASKED[who]
    for bone in bones:
        constraint = constrained(hero, bone)
        acts(constraint)
        assert not is_plain(hero)
        hero.pose.bones[bone].constraints.remove(constraint)
