"""Feet stay where the animation has them, with the settings that a look-at has from the start."""

import bpy
import numpy as np
import pytest

from extension import load

from ... import scenes
from ...detection import skeletons
from . import bodies

edit = load("rig.look_at.edit")
look_at = load("rig.look_at.resolve")
limbs = load("rig.detection.limbs")

MILLIMETRE = 1e-3
PLACE = (1.4, -0.9, 2.1)
"""Far enough to the side that the hips turn."""


def slide(armature: bpy.types.Object, feet: tuple[str, ...], scale: float = 1.0) -> tuple[float, list]:
    """How far [m] the feet are from where the animation has them at most; the results of the bake."""
    frames = range(1, scenes.LAST + 1)

    def places() -> np.ndarray:
        found = []
        for frame in frames:
            scene = scenes.goto(frame)
            item = armature.evaluated_get(scene)
            found.append([item.matrix_world @ item.pose.bones[name].head for name in feet])
        return np.array(found)

    before = places()
    target = scenes.ball(armature.matrix_world @ np_vector(PLACE))
    scenes.aim(armature, target)
    results = scenes.run_bake(armature)
    turned = np.abs(results[0].solution.offsets[:, -1, 0] - 1.0).max()
    assert turned > 1e-5, "no ancestor of the legs has turned"
    return float(np.linalg.norm(places() - before, axis=-1).max()) / scale, results


def np_vector(values):
    from mathutils import Vector

    return Vector(values)


def goals(parent: str | None, between: tuple[str, ...] = ()) -> list:
    """Rows of the goals of both feet on a parent, with other bones in between."""
    found = []
    for side, sign in (("L", 1.0), ("R", -1.0)):
        place = (sign * 0.12, 0.03, 0.1), (sign * 0.12, -0.1, 0.1)
        above = parent
        for name in (*between, "goal"):
            found.append((f"{name}.{side}", above, *place))
            above = f"{name}.{side}"
    return found


def held(rows: list, shin: str = "shin", goal: str = "goal") -> bpy.types.Object:
    """A person whose legs the rig's own inverse kinematics brings to goals."""
    armature = scenes.figure("Held", [*bodies.PERSON, *rows])
    for side in "LR":
        ik = armature.pose.bones[f"{shin}.{side}"].constraints.new("IK")
        ik.target, ik.subtarget, ik.chain_count = armature, f"{goal}.{side}", 2
    scenes.animate(armature, bones=(*bodies.CHAIN, "upper_arm.L"), size=0.05)
    return armature


def test_plain_legs_are_turned() -> None:
    moved, results = slide(bodies.person(), bodies.FEET)
    assert moved < MILLIMETRE
    assert not results[0].notes
    assert results[0].settled_error < np.radians(0.05)


@pytest.mark.thorough
@pytest.mark.parametrize("parent", ["root", "hips", "spine"])
@pytest.mark.parametrize("between", [(), ("control",), ("control", "roll")])
def test_controls_of_feet_are_restored_whatever_moves_them(parent: str, between: tuple[str, ...]) -> None:
    moved, results = slide(held(goals(parent, between)), (*bodies.FEET[:2], "goal.L", "goal.R"))
    assert moved < MILLIMETRE
    assert not results[0].notes
    assert results[0].settled_error < np.radians(0.05)


def test_feet_that_hang_on_their_controls() -> None:
    """Legs that end at the shin, and feet beside them that go where the shin ends."""
    rows = [row for row in bodies.PERSON if not row[0].startswith(("foot", "toe"))]
    for side, sign in (("L", 1.0), ("R", -1.0)):
        rows.append((f"control.{side}", "root", (sign * 0.12, 0.03, 0.1), (sign * 0.12, -0.1, 0.1)))
        rows.append((f"foot.{side}", f"control.{side}", (sign * 0.12, 0.03, 0.1), (sign * 0.13, -0.12, 0.02)))
    armature = scenes.figure("Beside", rows)
    for side in "LR":
        ik = armature.pose.bones[f"shin.{side}"].constraints.new("IK")
        ik.target, ik.subtarget, ik.chain_count = armature, f"control.{side}", 2
        follow = armature.pose.bones[f"foot.{side}"].constraints.new("COPY_LOCATION")
        follow.target, follow.subtarget, follow.head_tail = armature, f"shin.{side}", 1.0
    scenes.animate(armature, bones=(*bodies.CHAIN, "upper_arm.L"), size=0.05)
    moved, results = slide(armature, ("foot.L", "foot.R"))
    assert moved < MILLIMETRE
    assert not results[0].notes


def test_deforming_feet_that_miss_their_controls() -> None:
    """Connected deforming legs with other lengths than the controls they copy end beside the feet of the controls."""
    armature = held(goals("root"))
    bpy.ops.object.mode_set(mode="EDIT")
    bones = armature.data.edit_bones
    copied = [name for name in bones.keys() if name.split(".")[0] in ("thigh", "shin", "foot")]
    for name in copied:
        part, side = name.split(".")
        bones[name].use_deform = False
        copy = bones.new(f"{part}_deform.{side}")
        copy.head, copy.tail = bones[name].head, bones[name].tail
        if part == "shin":
            copy.head.z -= 0.03
        elif part == "thigh":
            copy.tail.z -= 0.03
            copy.parent = bones["hips"]
    for name in copied:
        part, side = name.split(".")
        if part != "thigh":
            bones[f"{part}_deform.{side}"].parent = bones[f"{'thigh' if part == 'shin' else 'shin'}_deform.{side}"]
            bones[f"{part}_deform.{side}"].use_connect = True
    bpy.ops.object.mode_set(mode="OBJECT")
    for name in copied:
        part, side = name.split(".")
        copy = armature.pose.bones[f"{part}_deform.{side}"].constraints.new("COPY_TRANSFORMS")
        copy.target, copy.subtarget = armature, name
    moved, results = slide(armature, ("foot_deform.L", "foot_deform.R"))
    assert moved < MILLIMETRE
    assert not results[0].notes
    # Where nothing differs, the goals are left alone.
    other = held(goals("root"))
    scenes.aim(other, scenes.ball(PLACE))
    assert not look_at.resolve(other, "head").body.missed


@pytest.mark.parametrize("on", [None, "Pelvis"])
def test_a_quadruped_with_controls_of_its_feet(on: str | None) -> None:
    body = skeletons.quadruped()
    rows = [
        (name, None if parent < 0 else body.names[parent], head, tail)
        for name, parent, head, tail in zip(body.names, body.parents, body.heads, body.tails, strict=True)
    ]
    feet = [name for name in body.names if "Foot" in name]
    rows += [(f"CTRL_{n}", on, body.heads[body.index(n)], body.heads[body.index(n)] + [0, -0.1, 0]) for n in feet]
    armature = scenes.figure("Beast", rows)
    for name in feet:
        shin = armature.pose.bones[name].parent.name
        ik = armature.pose.bones[shin].constraints.new("IK")
        ik.target, ik.subtarget, ik.chain_count = armature, f"CTRL_{name}", 2
    scenes.animate(armature, bones=("Neck", "Head"))
    before = {name: len(armature.pose.bones[name].constraints) for name in feet}
    target = scenes.ball((2.0, -1.0, 1.0))
    look_at_bone = look_at.find_head(armature)

    def places():
        found = []
        for frame in range(1, scenes.LAST + 1):
            item = armature.evaluated_get(scenes.goto(frame))
            found.append([item.matrix_world @ item.pose.bones[name].head for name in feet])
        return np.array(found)

    animated = places()
    scenes.aim(armature, target, look_at_bone)
    results = scenes.run_bake(armature)
    assert np.linalg.norm(places() - animated, axis=-1).max() < MILLIMETRE
    assert before == {name: len(armature.pose.bones[name].constraints) for name in feet}
    assert not results[0].notes


@pytest.mark.parametrize("scale", [(100.0, 100.0, 100.0), (0.01, 0.01, 0.01), (-1.0, 1.0, 1.0)])
def test_scaled_and_mirrored_characters(scale: tuple[float, ...]) -> None:
    armature = bodies.person()
    armature.scale = scale
    bpy.context.view_layer.update()
    moved, _ = slide(armature, bodies.FEET, abs(scale[0]))
    assert moved < MILLIMETRE


def test_switched_off_stays_off() -> None:
    armature = bodies.person()
    settings = scenes.aim(armature, scenes.ball(PLACE))
    settings.body.use_planted_feet = False
    found = look_at.resolve(armature, "head")
    assert found.body is None
    assert found.turned == found.bones


def test_a_chain_above_the_legs_asks_nothing_of_them() -> None:
    armature = bodies.person()
    settings = scenes.aim(armature, scenes.ball(PLACE))
    edit.take_link(settings, len(settings.chain) - 1)
    assert look_at.resolve(armature, "head").body is None


def test_legs_that_nothing_is_known_of_are_named() -> None:
    armature = scenes.figure()
    scenes.aim(armature, scenes.ball(PLACE))
    (note,) = look_at.resolve(armature, "head").notes
    assert "'hips'" in note and "planted" in note


@pytest.mark.parametrize(("raised", "noted"), [(0.0, False), (90.0, True)])
def test_a_leg_that_is_too_short_for_the_turn_is_named(raised: float, noted: bool) -> None:
    """One stretched out horizontally, as in a leap: lowering the hips brings its foot no nearer."""
    armature = bodies.person(moving=False)
    thigh = armature.pose.bones["thigh.L"]
    thigh.rotation_mode = "XYZ"
    thigh.rotation_euler.x = np.radians(-raised)
    target = scenes.ball((3.0, 0.5, 1.7))
    scenes.aim(armature, target)
    (result,) = scenes.run_bake(armature)
    assert [("'foot.L'" in note and "too short" in note) for note in result.notes] == [True] * noted
