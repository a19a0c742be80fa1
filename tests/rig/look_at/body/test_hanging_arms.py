"""Arm recoil on rigs whose shoulders and arms hang on controls, in the ways of several makers."""

from collections.abc import Sequence
from itertools import pairwise, product
from typing import Any

import bpy
import numpy as np
import pytest

from extension import load
from grids import diagonal

from ... import control_rigs, scenes
from ...detection.test_hanging import DEFORMS, HANGS, MAKERS, Hang, Maker, by_armature, by_place_alone

layers = load("rig.look_at.body.layers")
limbs = load("rig.detection.limbs")
look_at = load("rig.look_at.resolve")

ARM = ("shoulder", "upper_arm", "forearm", "hand")
PLACES = ((0.03, 0, 1.45), (0.15, 0, 1.45), (0.43, 0.03, 1.44), (0.68, 0, 1.43), (0.8, 0, 1.43))
TRUNK = tuple(row for row in scenes.FIGURE if "arm" not in row[0] and "hand" not in row[0])


def figure(maker: Maker, hang: Hang, deforms: str, hung: Sequence[str]) -> bpy.types.Object:
    """A plain trunk with arms of controls, of which the parts `hung` have a holder below the root that follows the
    control above them."""
    rows: list[tuple[Any, ...]] = list(TRUNK)
    ties: list[tuple[str, str]] = []
    copies: list[tuple[str, str]] = []
    for side, sign in ((maker.left, 1), (maker.right, -1)):
        flesh = above = "chest"
        for part, (head, tail) in zip(ARM, pairwise(PLACES), strict=True):
            head, tail = (np.multiply(place, (sign, 1, 1)) for place in (head, tail))
            control, deform, holder = (side.format(name.format(part)) for name in _names(maker))
            below = above
            if part in hung:
                rows.append((holder, "root", head, np.add(head, (0, 0, 0.05))))
                ties.append((holder, above))
                below = holder
            rows.append((control, below, head, tail))
            copies.append((deform, control))
            rows.append((deform, {"children": control, "copies": flesh, "flat copies": "root"}[deforms], head, tail))
            above, flesh = control, deform
    made = scenes.figure(rows=rows)
    for bone in made.data.bones:
        bone.use_deform = bone.name in {name for name, _ in copies} | {row[0] for row in TRUNK[1:]}
    for holder, carrier in ties:
        hang(made, made.pose.bones[holder], carrier)
    for deform, control in copies if deforms != "children" else ():
        constraint = made.pose.bones[deform].constraints.new("COPY_TRANSFORMS")
        constraint.target, constraint.subtarget = made, control
    bpy.context.view_layer.update()
    return made


def _names(maker: Maker) -> list[str]:
    """Names of control, deforming bone and holder, without the side that the maker writes into that of the trunk."""
    return [name.removesuffix(".x") for name in (maker.control, maker.deform, maker.holder)]


def controls(maker: Maker, side: str) -> list[str]:
    return [side.format(_names(maker)[0].format(part)) for part in ARM]


@pytest.mark.thorough
@pytest.mark.parametrize("hung", [ARM[:1], ARM[1:2], ARM], ids=" ".join)
def test_the_controls_of_both_arms_are_found(hung: Sequence[str], subtests) -> None:
    for name, hang, deforms in product(MAKERS, HANGS, DEFORMS):
        maker = MAKERS[name]
        with subtests.test(maker=name, hang=hang.__name__, deforms=deforms):
            made = figure(maker, hang, deforms, hung)
            found = {(arm.clavicle, arm.upper, arm.hand) for arm in limbs.find_arms(made) if not arm.held}
            sides = (controls(maker, side) for side in (maker.left, maker.right))
            assert found == {(shoulder, upper, hand) for shoulder, upper, _, hand in sides}
            bpy.data.objects.remove(made)


@diagonal(hung={"upper arm": ARM[:1], "arm": ARM}, deforms=DEFORMS, hang=[by_place_alone, by_armature])
def test_the_arms_swing_and_come_to_rest(hung: Sequence[str], deforms: str, hang: Hang) -> None:
    maker = MAKERS["cloud"]
    made = figure(maker, hang, deforms, hung)
    scenes.aim(made, scenes.ball((1.5, -1.5, 1.5)), settle_time=0.5)
    settings = made.pose.bones["head"].lookat_pd
    layers.switch_on(settings, ["arms"])
    scenes.settings_keyed(made, "head", "use", [(1, False), (8, True)])
    notes = look_at.resolve(made, "head").body.notes
    assert not [note for note in notes if "arm" in str(note).lower()]
    upper = maker.left.format(_names(maker)[1].format("upper_arm"))
    swinging = _directions(made, upper)
    settings.body.use_arm_recoil = False
    apart = np.degrees(np.arccos(np.clip(np.sum(swinging * _directions(made, upper), axis=-1), -1.0, 1.0)))
    # Shoulders that follow a place without its turn hardly move, and so do their arms.
    assert apart.max() > (0.1 if hang is by_place_alone else 2.0)
    assert apart[-1] < 0.01 * apart.max()


def _directions(made: bpy.types.Object, bone: str) -> np.ndarray:
    poses = scenes.poses(made, range(1, scenes.LAST + 40), [bone])
    return poses[:, 0, :3, 1] / np.linalg.norm(poses[:, 0, :3, 1], axis=-1, keepdims=True)


@pytest.mark.parametrize("state", [1.0, 0.0])
def test_arms_on_ik_hold_their_hands_and_say_so(state: float) -> None:
    """Only where no arm is free: a person that leans on one hand swings the other arm."""
    made = control_rigs.human()
    made.pose.bones["CTL_Props"]["arm_ik.L"] = state
    made.update_tag()
    bpy.context.view_layer.update()
    scenes.aim(made, scenes.ball((1.5, -1.5, 1.5)), look_at.find_head(made))
    settings = made.pose.bones[look_at.find_head(made)].lookat_pd
    layers.switch_on(settings, ["arms"])
    found = look_at.resolve(made, look_at.find_head(made)).body
    assert [arm.upper for arm in found.arms] == ([] if state else ["FK_UpperArm.L"])
    assert [note for note in found.notes if "IK holds the hands" in str(note)] == list(found.notes)
    assert bool(found.notes) == bool(state)


def test_hands_on_ik_recoil_by_choice() -> None:
    """They are taken along with the rib cage and lag behind it; without the choice nothing of the arm moves."""
    made = control_rigs.human()
    made.pose.bones["CTL_Props"]["arm_ik.L"] = 1.0
    made.update_tag()
    bpy.context.view_layer.update()
    head = look_at.find_head(made)
    scenes.aim(made, scenes.ball((1.5, -1.5, 1.5)), head)
    scenes.settings_keyed(made, head, "use", [(1, False), (5, True), (30, False)])
    settings = made.pose.bones[head].lookat_pd
    layers.switch_on(settings, ["arms"])
    frames = range(1, scenes.LAST + 40)
    before = scenes.animated(made, frames, ["Hand.L"])[:, 0]
    held = scenes.poses(made, frames, ["Hand.L"])[:, 0]
    assert np.abs(held - before).max() < 1e-5
    settings.body.use_hand_recoil = True
    found = look_at.resolve(made, head).body
    assert [arm.goal for arm in found.held] == ["CTL_Hand_IK.L", "CTL_Hand_IK.R"] and not found.notes
    chest_bone = next(bone for bone in look_at.resolve(made, head).bones if "Chest" in bone)
    poses = scenes.poses(made, frames, ["Hand.L", chest_bone])
    hand, chest = poses[:, 0], poses[:, 1]
    away = np.linalg.norm(hand[:, :3, 3] - before[:, :3, 3], axis=-1)
    assert away.max() > 0.02
    in_chest = np.linalg.inv(chest) @ hand
    lag = np.linalg.norm(in_chest[:, :3, 3] - in_chest[0, :3, 3], axis=-1)
    assert lag.max() > 5e-3
    assert np.abs(hand[[0, -1]] - before[[0, -1]]).max() < 2e-6
