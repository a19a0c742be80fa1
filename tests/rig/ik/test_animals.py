"""Several effectors, contacts and switches on generated Rigify animals, measured on the bones that bend the skin."""

from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix

import kept
from extension import load

from .. import scenes

body = load("rig.ik.body")
body_bake = load("rig.ik.body_bake")
contacts = load("rig.ik.contacts")
contact_plan = load("rig.feet.contact_plan")
limb_controls = load("rig.detection.limb_controls")
limb_switch = load("rig.controls.limb_switch")
limbs = load("rig.detection.limbs")
rigify = load("assets.demo.rigify_human")
targets = load("rig.sampling.targets")
options = load("rig.animation.bake_options")

LAST = 12
EXACT = 1e-3
"""Of the length of a leg."""
KINDS = ("basic_quadruped", "horse", "cat", "bird")
"""Hind legs with and without three bones, of which the heel has a control, and a biped."""


def _generated(kind: str) -> None:
    with rigify.rigify_enabled():
        getattr(bpy.ops.object, f"armature_{kind}_metarig_add")()
        metarig = bpy.context.object
        metarig.matrix_world = Matrix()
        bpy.ops.pose.rigify_generate()
        rig = metarig.data.rigify_target_rig
        bpy.data.objects.remove(metarig)
    rig.name = "Animal"


@pytest.fixture(params=KINDS)
def animal(request) -> bpy.types.Object:
    """It walks on the spot with its feet in IK, and moves forward and down."""
    kept.scene(_generated, request.param)
    armature = bpy.data.objects["Animal"]
    bpy.context.view_layer.objects.active = armature
    size = height(armature)
    torso = armature.pose.bones["torso"]
    for frame, place in ((1, (0.0, 0.0, 0.0)), (LAST, (0.0, -0.05, 0.005))):
        torso.location = np.array(place) * size
        torso.keyframe_insert("location", frame=frame)
    for limb in limb_controls.find(armature):
        foot = armature.pose.bones[limb.goal]
        for frame in range(1, LAST + 1):
            foot.location = 0.01 * size * np.array([np.sin(frame), 0.1 * frame, max(0.0, np.sin(0.7 * frame))])
            foot.keyframe_insert("location", frame=frame)
    return armature


def height(armature: bpy.types.Object) -> float:
    return max(bone.tail_local.length for bone in armature.data.bones)


def feet(armature: bpy.types.Object) -> list[str]:
    """The FK controls of all feet."""
    return [line[2] for line in limbs.limb_lines(armature)[1]]


def skin(armature: bpy.types.Object, controls: list[str]) -> np.ndarray:
    """Heads (F, b, 3) of the deforming bones of some controls in the world."""
    names = [limb_controls.shown_by(armature, name).replace("ORG-", "DEF-") for name in controls]
    return scenes.poses(armature, range(1, LAST + 1), names)[..., :3, 3]


def in_order(armature: bpy.types.Object, names: list[str]) -> list[str]:
    """As `scenes.poses` lists them."""
    shown = {name: limb_controls.shown_by(armature, name).replace("ORG-", "DEF-") for name in names}
    order = armature.pose.bones.keys()
    return sorted(names, key=lambda name: order.index(shown[name]))


def range_() -> Any:
    return options.BakeOptions(1, LAST, "NEW")


@pytest.mark.slow
def test_feet_keep_their_contacts(animal) -> None:
    names = in_order(animal, feet(animal))
    touch = contacts.Touch(contact_plan.Contact([(4, 9)], 0.05), None)
    steps = contacts.clean_up_body(bpy.context.scene, animal, dict.fromkeys(names, touch), range_())
    found = scenes.finish(steps)
    held = skin(animal, names)[3:9]
    assert (np.linalg.norm(held - held[:1], axis=-1) < EXACT * found.lengths[None]).all()
    assert found.worst[3] < EXACT


@pytest.mark.slow
@pytest.mark.parametrize("orientation", ["FREE", "KEEP"])
def test_feet_reach_their_targets(animal, orientation) -> None:
    names = in_order(animal, feet(animal))
    start, size = skin(animal, names)[0], height(animal)
    goals = [
        scenes.ball(place + size * np.array((0.01, -0.03 if n % 2 else 0.02, 0.03)), f"Goal {n}")
        for n, place in enumerate(start)
    ]
    wanted = [
        body.BodyEffector(name, targets.Target(goal), orientation=orientation)
        for name, goal in zip(names, goals, strict=True)
    ]
    found = scenes.finish(body_bake.bake(bpy.context.scene, animal, wanted, body_bake.BodyTuning(), range_()))
    away = np.linalg.norm(skin(animal, names) - np.array([goal.location for goal in goals]), axis=-1)
    assert (away < EXACT * found.lengths[None]).all() and not found.missing


@pytest.mark.slow
def test_a_switch_there_and_back_keeps_the_pose(animal) -> None:
    names, goals = in_order(animal, feet(animal)), [limb.goal for limb in limb_controls.find(animal)]
    before = skin(animal, names)
    for state in ("FK", "IK"):
        found = scenes.finish(limb_switch.switch(bpy.context.scene, animal, goals, state, range_()))
        assert np.degrees(found.turned.max()) < 0.2
        assert np.abs(skin(animal, names) - before).max() < EXACT * height(animal)
