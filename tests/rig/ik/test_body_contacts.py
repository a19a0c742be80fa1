"""Contacts of several effectors: feet with hips that are lowered softly, hands on props and on other characters."""

from typing import Any

import bpy
import numpy as np
import pytest

import kept
from extension import load

from .. import scenes
from .test_body_bake import ROWS, axes

actions = load("rig.animation.actions")
contact_plan = load("rig.feet.contact_plan")
contacts = load("rig.ik.contacts")
detection = load("lookat_pd.body.contacts")
errors = load("lookat_pd.errors")
options = load("rig.animation.bake_options")
rotation = load("lookat_pd.rotation")
targets = load("rig.sampling.targets")

LAST = 48
FRAMES = range(1, LAST + 1)
STANCES = {"foot.L": (13, 24), "foot.R": (28, 36)}
STRIDE = range(-10, LAST + 11)
OUTSIDE = (1, LAST)
"""Frames far from all contacts."""


def walker(name: str = "Hero") -> bpy.types.Object:
    """A human who walks with sliding feet: near lift-off a leg is too short for a foot that does not slide."""
    armature = scenes.figure(name, rows=ROWS)
    scenes.animate(armature, (1, 24, LAST), bones=("spine", "upper_arm.L", "upper_arm.R"), size=0.1)
    bones = armature.pose.bones
    for side in "LR":
        bones[f"forearm.{side}"].rotation_mode = "XYZ"
        bones[f"forearm.{side}"].rotation_euler = (1.2, 0.0, 0.0)
        bones[f"forearm.{side}"].keyframe_insert("rotation_euler", frame=1)
    for frame in range(1, LAST + 1, 2):
        step = 2.0 * np.pi * frame / LAST
        bones["hips"].location = (0.0, 0.0, 0.012 * frame)
        bones["hips"].keyframe_insert("location", frame=frame)
        for side, sign in (("L", 1.0), ("R", -1.0)):
            for part, angle in (
                ("thigh", -0.22 * sign * np.cos(step)),
                ("shin", 0.06 + 0.5 * max(0.0, -sign * np.sin(step)) ** 2),
                ("foot", 0.0),
            ):
                bone = bones[f"{part}.{side}"]
                bone.rotation_mode = "XYZ"
                bone.rotation_euler = (angle, 0.0, 0.0)
                bone.keyframe_insert("rotation_euler", frame=frame)
    return armature


def run(
    armature: bpy.types.Object, touches: dict[str, Any], *, first: int = 1, last: int = LAST, **settings: Any
) -> Any:
    steps = contacts.clean_up_body(
        bpy.context.scene, armature, touches, options.BakeOptions(first, last, settings.pop("into", "NEW")), **settings
    )
    return scenes.finish(steps)


def touch(*intervals: tuple[int, int], on: bpy.types.Object | None = None, bone: str = "") -> Any:
    return contacts.Touch(contact_plan.Contact(intervals), None if on is None else targets.Target(on, bone))


def heads(armature: bpy.types.Object, bone: str, frames: Any = FRAMES) -> np.ndarray:
    """Places (F, 3) of the head of an evaluated bone in the world."""
    found = []
    for frame in frames:
        seen = armature.evaluated_get(scenes.goto(frame))
        found.append(np.array(seen.matrix_world @ seen.pose.bones[bone].head))
    return np.array(found)


def matrices(item: bpy.types.Object, bone: str = "", frames: Any = FRAMES) -> np.ndarray:
    """Matrices (F, 4, 4) of an object or a bone of it in the world."""
    found = []
    for frame in frames:
        seen = item.evaluated_get(scenes.goto(frame))
        found.append(np.array(seen.matrix_world @ seen.pose.bones[bone].matrix if bone else seen.matrix_world))
    return np.array(found)


def slip(places: np.ndarray, interval: tuple[int, int]) -> float:
    inside = places[interval[0] - 1 : interval[1]]
    return float(np.linalg.norm(inside - inside.mean(axis=0), axis=-1).max())


def test_both_feet_stay_in_one_action_and_the_hips_are_lowered_softly() -> None:
    armature = walker()
    before = {bone: heads(armature, bone) for bone in ("hips", *STANCES)}
    outside = scenes.poses(armature, OUTSIDE)
    found = run(armature, {bone: touch(interval) for bone, interval in STANCES.items()})
    for bone, interval in STANCES.items():
        assert slip(before[bone], interval) > 0.02
        assert slip(heads(armature, bone), interval) < 2e-4
    assert found.worst[3] < 2e-4 and found.contacts == {bone: (i,) for bone, i in STANCES.items()}
    assert found.drift < 2e-4 and found.before > 0.01
    low = before["hips"][:, 2] - heads(armature, "hips")[:, 2]
    assert found.lowered.max() > 0.003 and np.allclose(low, found.lowered, atol=1e-5)
    # No corner: the change of speed is a small part of the movement.
    assert np.abs(np.diff(low, n=2)).max() < 0.2 * low.max()
    assert np.abs(scenes.poses(armature, OUTSIDE) - outside).max() <= 1e-6


def test_knees_do_not_snap_where_a_leg_lifts_off() -> None:
    """The speed of a knee changes by at most 1.5 degrees per frame more than in the animation, if there is time."""
    armature = walker()
    before = axes(armature, "shin.L")
    run(armature, {bone: touch(interval) for bone, interval in STANCES.items()}, first=-20)
    after = axes(armature, "shin.L")

    def bends(turns: np.ndarray) -> float:
        speed = rotation.log(rotation.multiply(rotation.inverse(turns[:-1]), turns[1:]))
        return float(np.linalg.norm(np.diff(speed, axis=0), axis=-1).max())

    assert bends(after) < bends(before) + np.radians(1.5)


def strider(swing: float, bend: float, least: float, step: int = 12, fast: float = 0.05) -> bpy.types.Object:
    """A human who walks a step in `step` frames, thighs swinging by `swing`, knees bent by `least` to `bend` [rad].

    fast: how far the hips move in a frame [m]."""
    armature = scenes.figure("Hero", rows=ROWS)
    bones = armature.pose.bones
    for frame in STRIDE:
        phase = np.pi * frame / step
        bones["hips"].location = (0.0, 0.0, fast * frame)
        bones["hips"].keyframe_insert("location", frame=frame)
        for side, sign in (("L", 1.0), ("R", -1.0)):
            knee = least + (bend - least) * max(0.0, -sign * np.sin(phase)) ** 2
            for part, angle in (("thigh", -sign * swing * np.cos(phase)), ("shin", knee), ("foot", 0.0)):
                bone = bones[f"{part}.{side}"]
                bone.rotation_mode = "XYZ"
                bone.rotation_euler = (angle, 0.0, 0.0)
                bone.keyframe_insert("rotation_euler", frame=frame)
    return armature


def knees(armature: bpy.types.Object) -> np.ndarray:
    """The largest change of the speed [rad/frame^2] of each knee (2,)."""
    found = []
    for side in "LR":
        hip, knee, ankle = (heads(armature, f"{part}.{side}", STRIDE) for part in ("thigh", "shin", "foot"))
        bend = rotation.angle_between(knee - hip, ankle - knee)
        found.append(np.abs(np.diff(bend, n=2)).max())
    return np.array(found)


@pytest.mark.parametrize(("swing", "bend", "least"), [(0.25, 0.8, 0.1), (0.3, 1.1, 0.2)])
def test_knees_turn_no_more_suddenly_than_in_the_animation(swing: float, bend: float, least: float) -> None:
    """Also next to lift-off, where a leg is nearly straight: at most 1.5 times as suddenly."""
    armature = strider(swing, bend, least)
    before = knees(armature)
    contacts = {"foot.L": (26, 34), "foot.R": (14, 22)}
    found = run(armature, {bone: touch(i) for bone, i in contacts.items()}, first=STRIDE[0], last=STRIDE[-1])
    assert np.all(knees(armature) <= 1.5 * before)
    assert found.slips.max() < 2e-5


@pytest.mark.parametrize(
    ("swing", "bend", "least", "step", "fast"),
    [(0.25, 0.8, 0.1, 19, 0.036), (0.3, 1.1, 0.2, 19, 0.043), (0.35, 1.0, 0.05, 19, 0.05), (0.25, 0.8, 0.1, 12, 0.057)],
)
def test_knees_stay_even_next_to_contacts_that_are_detected(
    swing: float, bend: float, least: float, step: int, fast: float
) -> None:
    """The feet leave where their legs do not reach: hips are hardly lowered, and no contact slips.

    No foot is at rest at the first frame."""
    armature = strider(swing, bend, least, step, fast)
    before = knees(armature)
    feet = {bone: contacts.Touch(contact_plan.Contact(detection.Detection())) for bone in ("foot.L", "foot.R")}
    found = run(armature, feet, first=STRIDE[0] + 6, last=STRIDE[-1])
    assert all(found.contacts.values())
    assert np.all(knees(armature) <= 1.5 * before)
    assert found.lowered.max() < 0.025 * found.lengths[0]
    for bone, intervals in found.contacts.items():
        places = heads(armature, bone, STRIDE)
        for interval in intervals:
            assert slip(places, tuple(1 + n - STRIDE[0] for n in interval)) < 5e-6


@pytest.mark.parametrize("slip", [0.0, 0.02])
def test_a_foot_leaves_its_contact_as_it_is_animated(slip: float) -> None:
    """It starts at rest, and neither lags behind the animation nor gets ahead of it by more than it slid."""
    dt, size, last = 1.0 / 30.0, 0.9, 60
    time = dt * (np.arange(90) - last)
    place = np.zeros((90, 3))
    place[:, 0] = np.where(time > 0.0, 3.0 * time**2 + 0.2 * time, slip * time / (dt * last))
    held = contact_plan.held(contact_plan.Contact([(21, last)], 0.15), place, rotation.identity(90), size, dt, 0)
    away = np.linalg.norm(held.place - place, axis=-1)
    step = np.linalg.norm(np.diff(held.place, axis=0), axis=-1)
    assert step[last] < 0.5 * np.linalg.norm(place[last + 1] - place[last]) + 1e-3
    assert away[last + 1 :].max() < slip + 0.02


@pytest.mark.parametrize("rate", [0.5, 2.0])
def test_a_foot_takes_up_its_turning(rate: float) -> None:
    """It starts to turn at rest, and lags behind the animation no longer than its set time takes."""
    dt, blend, last = 1.0 / 30.0, 0.15, 60
    lying = rotation.exp(np.maximum(dt * (np.arange(90) - last), 0.0)[:, None] * [rate, 0.0, 0.0])
    held = contact_plan.held(contact_plan.Contact([(21, last)], blend), np.zeros((90, 3)), lying, 0.9, dt, 0)
    turned = rotation.log(held.orientation)[:, 0]
    assert np.abs(turned[20 : last + 1]).max() < 1e-12
    assert turned[last + 1] < 0.3 * rate * dt
    lag = rate * dt * np.maximum(np.arange(90) - last, 0) - turned
    assert lag.max() < 0.2 * rate * (blend + dt)
    assert np.abs(np.diff(turned, n=2)).max() < 4.0 * rate / (blend + dt) * dt**2


def test_a_jump_of_the_animation_stays_one() -> None:
    place, lying = np.zeros((90, 3)), rotation.identity(90)
    place[41:, 0] = 1.0
    lying[41:] = rotation.exp(np.array([0.0, 0.0, 1.0]))
    held = contact_plan.held(contact_plan.Contact([(10, 40)], 0.3), place, lying, 0.9, 1.0 / 120.0, 0)
    assert np.abs(held.place - place).max() < 1e-12
    assert rotation.distance(held.orientation, lying).max() < 1e-7


@pytest.mark.parametrize("gap", [4, 8, 15])
def test_an_effector_goes_from_one_contact_straight_to_the_next(gap: int) -> None:
    """It needs no more acceleration than one smooth step between the two takes, and turns no further than needed."""
    count = 80 + gap
    place, lying = np.zeros((count, 3)), rotation.identity(count)
    place[20:, 0], place[60 + gap :, 0] = 0.04, 0.08
    for first, angle in ((20, 0.2), (60 + gap, 0.4)):
        lying[first:] = rotation.exp(np.array([0.0, 0.0, angle]))
    # Both contacts hold it in the middle of what it slides within them.
    contact = contact_plan.Contact([(1, 40), (41 + gap, count)], 0.5)
    held = contact_plan.held(contact, place, lying, 0.9, 1.0 / 30.0, 1)
    steepest = 10.0 / 3.0**0.5 / (gap + 1) ** 2
    assert np.abs(np.diff(held.place, n=2, axis=0)).max() <= 0.04 * steepest * 1.01
    turned = np.linalg.norm(rotation.log(held.orientation), axis=-1)
    assert np.all(np.diff(turned) > -1e-9) and np.abs(np.diff(turned, n=2)).max() <= 0.2 * steepest * 1.5
    assert np.ptp(held.place[:40], axis=0).max() < 1e-12 and np.ptp(held.place[40 + gap :], axis=0).max() < 1e-12


@pytest.mark.parametrize("slide", [0.0, 0.1, 0.4])
def test_transitions_take_as_long_as_the_displacement_needs(slide) -> None:
    """Into and out of a contact the effector needs at least the set time and at most 2.5 limb lengths / s^2."""
    place = np.zeros((400, 3))
    place[:, 0] = slide
    place[180:221, 0] = np.linspace(-slide, slide, 41)
    place[:180, 0] = -slide
    dt, size = 0.01, 0.8
    held = contact_plan.held(contact_plan.Contact([(181, 221)], 0.1), place, rotation.identity(len(place)), size, dt, 1)
    added = held.place - place
    fades = np.flatnonzero(held.weight > 0.0)
    assert 180 - fades[0] >= 0.1 / dt - 2 and fades[-1] - 220 >= 0.1 / dt - 2
    free = np.concatenate((added[:180], np.full((1, 3), np.nan), added[221:]))
    assert np.nanmax(np.abs(np.diff(free, n=2, axis=0))) <= 2.5 * size * dt**2 * 1.01
    cut = contact_plan.held(contact_plan.Contact([(181, 221)], 0.0), place, rotation.identity(400), size, dt, 1)
    assert np.flatnonzero(cut.weight).tolist() == list(range(180, 221))


def test_one_foot_lowers_the_hips_and_the_other_stays() -> None:
    armature = walker()
    other = heads(armature, "foot.R")
    found = run(armature, {"foot.L": touch(STANCES["foot.L"])})
    assert found.lowered.max() > 0.003
    assert slip(heads(armature, "foot.L"), STANCES["foot.L"]) < 2e-4
    assert np.abs(heads(armature, "foot.R") - other).max() < 2e-4
    held = run(walker("Other"), {"foot.L": touch(STANCES["foot.L"])}, lower_hips=False)
    assert held.lowered.max() == 0.0 and held.worst[0] == "foot.L" and held.worst[3] > 1e-3


def test_feet_that_touch_are_found() -> None:
    detected = contacts.Touch(contact_plan.Contact(detection.Detection(0.6, 0.1)))
    found = run(walker(), {"foot.L": detected, "foot.R": detected})
    assert all(found.contacts.values())


@pytest.mark.parametrize("bone", ["hips", "spine"])
def test_a_bone_without_a_limb_is_refused(bone: str) -> None:
    armature = walker()
    before = scenes.snapshot()
    with pytest.raises(errors.RigError, match=rf"'{bone}' is not the end of a limb"):
        run(armature, {bone: touch((12, 24)), "foot.L": touch((12, 24))})
    with pytest.raises(errors.RigError, match=rf"'{bone}' is not the end of a limb"):
        contacts.is_body(armature, [bone, "foot.L"])
    assert not scenes.differences(before, scenes.snapshot())


def box(rows: list[tuple[int, tuple[float, float, float], float]], name: str = "Box") -> bpy.types.Object:
    item = scenes.ball(rows[0][1], name)
    for frame, place, turn in rows:
        item.location, item.rotation_euler = place, (0.0, 0.0, turn)
        item.keyframe_insert("location", frame=frame)
        item.keyframe_insert("rotation_euler", frame=frame)
    return item


def grips(armature: bpy.types.Object, bone: str, item: bpy.types.Object, other: str = "") -> np.ndarray:
    """Matrices (F, 4, 4) of a bone relative to what it holds."""
    return np.linalg.inv(matrices(item, other)) @ matrices(armature, bone)


def test_two_hands_hold_a_prop() -> None:
    armature = walker()
    # As fast as the human, so that the arms reach it.
    prop = box([(f, (0.02 * np.sin(f), -0.3 - 0.012 * f, 1.05), 0.1 * np.cos(f)) for f in range(1, LAST + 1, 4)])
    feet = heads(armature, "foot.L")
    found = run(armature, {hand: touch((8, 40), on=prop) for hand in ("hand.L", "hand.R")})
    for hand in ("hand.L", "hand.R"):
        grip = grips(armature, hand, prop)[7:40]
        assert np.abs(grip - grip[:1]).max() < 2e-3
    assert found.worst[3] < 1e-3
    assert np.array_equal(heads(armature, "foot.L"), feet)


def test_a_hand_on_another_character() -> None:
    armature, other = walker(), walker("Other")
    other.location = (0.0, -0.6, 0.0)
    run(armature, {"hand.L": touch((10, 36), on=other, bone="chest")})
    grip = grips(armature, "hand.L", other, "chest")[9:36]
    assert np.abs(grip - grip[:1]).max() < 1e-3


def handed_over(armature: bpy.types.Object) -> tuple[bpy.types.Object, str]:
    """A prop in the right hand until frame 24 and in the left one from frame 25: an object."""
    prop = scenes.ball((-0.1, -0.2, 1.1), "Cup")
    hand_over(prop, prop, "", armature, np.array(prop.matrix_basis))
    return prop, ""


def handed_over_bone(armature: bpy.types.Object) -> tuple[bpy.types.Object, str]:
    """The same as a bone of the character's own rig."""
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.data.edit_bones.new("Cup")
    bone.head, bone.tail = (-0.1, -0.2, 1.1), (-0.1, -0.2, 1.2)
    bpy.ops.object.mode_set(mode="OBJECT")
    hand_over(armature.pose.bones["Cup"], armature, "Cup", armature, np.array(armature.data.bones["Cup"].matrix_local))
    return armature, "Cup"


def handed_over_rig(armature: bpy.types.Object) -> tuple[bpy.types.Object, str]:
    """The same as a bone of a rig of its own."""
    prop = scenes.figure("Prop", rows=(("Cup", None, (-0.1, -0.2, 1.1), (-0.1, -0.2, 1.2)),))
    hand_over(prop.pose.bones["Cup"], prop, "Cup", armature, np.array(prop.data.bones["Cup"].matrix_local))
    return prop, "Cup"


def hand_over(owner: Any, item: bpy.types.Object, bone: str, armature: bpy.types.Object, alone: np.ndarray) -> None:
    """Keyed *Child Of* constraints of an object or a bone, which is at `alone` without them."""
    for hand, now in (("hand.R", 1.0), ("hand.L", 0.0)):
        constraint = owner.constraints.new("CHILD_OF")
        constraint.name, constraint.target, constraint.subtarget = hand, armature, hand
        constraint.inverse_matrix = scenes.Matrix()
        for frame, value in ((1, now), (24, now), (25, 1.0 - now)):
            constraint.influence = value
            constraint.keyframe_insert("influence", frame=frame)
    there = matrices(item, bone, (24,))[0]
    hand = matrices(armature, "hand.L", (24,))[0]
    # As Set Inverse does: the prop stays where it is when the other hand takes it.
    owner.constraints["hand.L"].inverse_matrix = scenes.Matrix(np.linalg.inv(hand) @ there @ np.linalg.inv(alone))
    for curve in actions.channelbag(item.animation_data.action, item.animation_data.action_slot).fcurves:
        if "influence" in curve.data_path:
            for key in curve.keyframe_points:
                key.interpolation = "CONSTANT"


PROPS = handed_over, handed_over_bone, handed_over_rig


@pytest.mark.parametrize("made", PROPS)
def test_a_prop_that_changes_hands(made: Any) -> None:
    """The hand that takes it rests on it before, and nothing jumps when it is taken."""
    armature = walker()
    prop, bone = made(armature)
    before = matrices(prop, bone)[:, :3, 3]
    assert np.linalg.norm(np.diff(before, axis=0), axis=-1).max() < 0.1
    run(armature, {"hand.L": touch((10, 24), on=prop, bone=bone)})
    grip = grips(armature, "hand.L", prop, bone)[9:]
    assert np.abs(grip - grip[:1]).max() < 1e-3
    assert np.abs(matrices(prop, bone)[:, :3, 3] - before).max() < 1e-3


@pytest.mark.parametrize("made", PROPS)
@pytest.mark.parametrize("frame", [1, 40])
def test_a_prop_in_the_own_hand_is_refused(frame: int, made: Any) -> None:
    armature = walker()
    prop, bone = made(armature)
    scenes.goto(frame)
    before = scenes.snapshot()
    label = targets.Target(prop, bone).label
    with pytest.raises(errors.RigError, match=rf"'{label}' moves with 'hand\.L' at frame 25"):
        run(armature, {"hand.L": touch((10, 30), on=prop, bone=bone)})
    with pytest.raises(errors.RigError, match=rf"'{label}' moves with 'hand\.R'; clean up"):
        run(armature, {"hand.L": touch((10, 20), on=prop, bone=bone), "hand.R": touch((30, 40))})
    assert not scenes.differences(before, scenes.snapshot())


def driven(prop: bpy.types.Object, armature: bpy.types.Object, hand: str, kind: str) -> None:
    """The prop is where the hand is, by drivers."""
    for axis in range(3):
        variable = prop.driver_add("location", axis).driver.variables.new()
        variable.type, variable.name = kind, "place"
        prop.animation_data.drivers[-1].driver.expression = "place"
        target = variable.targets[0]
        target.id = armature
        if kind == "TRANSFORMS":
            target.bone_target, target.transform_type = hand, f"LOC_{'XYZ'[axis]}"
        else:
            target.data_path = f'pose.bones["{hand}"].head[{axis}]'


@pytest.mark.parametrize("kind", ["TRANSFORMS", "SINGLE_PROP"])
def test_a_prop_in_the_other_hand_by_drivers_is_known(kind: str) -> None:
    armature, prop = walker(), scenes.ball((0.0, -0.3, 1.1), "Cup")
    driven(prop, armature, "hand.R", kind)
    with pytest.raises(errors.RigError, match=r"'Cup' moves with 'hand\.R'; clean up"):
        run(armature, {"hand.L": touch((10, 20), on=prop), "hand.R": touch((8, 40))})
    with pytest.raises(errors.RigError, match=r"'Cup' moves with 'hand\.R' at frame 8"):
        run(armature, {"hand.R": touch((8, 40), on=prop)})


def test_a_driver_of_one_channel_or_by_a_custom_property_carries_nothing() -> None:
    armature, prop = walker(), scenes.ball((0.0, -0.3, 1.1), "Cup")
    driven(prop, armature, "hand.R", "SINGLE_PROP")
    armature.pose.bones["hand.R"]["height"] = 1.1
    for curve in list(prop.animation_data.drivers)[:2]:
        curve.driver.variables[0].targets[0].data_path = 'pose.bones["hand.R"]["height"]'
    frames = np.arange(1, 5)
    assert not targets.rides_at(prop, "", armature, ["hand.R"], frames).any()


@pytest.mark.slow
def test_feet_and_a_hand_of_a_rigify_human() -> None:
    """Legs and the left arm in IK, the right one in FK: what the skin shows is held."""
    armature = kept.human()
    last = 12
    for bone in ("torso",):
        for frame, place in ((1, (0.0, 0.0, 0.0)), (last, (0.0, -0.12, 0.02))):
            armature.pose.bones[bone].location = place
            armature.pose.bones[bone].keyframe_insert("location", frame=frame)
    foot = armature.pose.bones["foot_ik.L"]
    for frame in range(1, last + 1):
        foot.location = (0.01 * np.sin(frame), 0.01 * frame, 0.0)
        foot.keyframe_insert("location", frame=frame)
    before = heads(armature, "DEF-foot.R", range(1, last + 1))
    found = run(armature, {"foot_ik.L": touch((3, 9)), "hand_fk.R": touch((4, 10))}, last=last)
    for bone, interval in (("DEF-foot.L", (3, 9)), ("DEF-hand.R", (4, 10))):
        assert slip(heads(armature, bone, range(1, last + 1)), interval) < 1e-3
    assert np.abs(heads(armature, "DEF-foot.R", range(1, last + 1)) - before).max() < 1e-3
    assert found.worst[3] < 2e-3
