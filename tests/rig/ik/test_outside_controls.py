"""Several effectors, contacts and drags of limbs that reach for an object or a bone of another armature."""

from typing import Any

import bpy
import numpy as np
import pytest

import kept
from extension import load

from .. import control_rigs, scenes
from ..outside_targets import SETUPS, fail_at_the_end, reaching

errors = load("lookat_pd.errors")
body = load("rig.ik.body")
body_bake = load("rig.ik.body_bake")
body_drag = load("rig.ik.body_drag")
chain_solve = load("rig.ik.chain_solve")
contacts = load("rig.ik.contacts")
contact_plan = load("rig.feet.contact_plan")
targets = load("rig.sampling.targets")
options = load("rig.animation.bake_options")

LAST = control_rigs.LAST


@pytest.fixture
def human() -> bpy.types.Object:
    """The left arm is in IK, the legs are in FK."""
    kept.scene(control_rigs.posed_scene)
    return bpy.data.objects["Made"]


def heads(armature: bpy.types.Object, *bones: str) -> np.ndarray:
    """(F, b, 3) in the world."""
    found = []
    for frame in range(1, LAST + 1):
        seen = armature.evaluated_get(scenes.goto(frame))
        found.append([np.array(seen.matrix_world @ seen.pose.bones[name].head) for name in bones])
    return np.array(found)


def effectors(human: bpy.types.Object, away: tuple[float, float, float] = (0.0, -0.1, 0.05)) -> list[Any]:
    """Both hands have a target, and the feet stay."""
    size = human.matrix_world.median_scale
    found = []
    for side in "LR":
        place = heads(human, f"Hand.{side}")[0, 0] + size * np.array(away)
        found.append(body.BodyEffector(f"Hand.{side}", targets.Target(scenes.ball(place, f"Goal.{side}"))))
    return [*found, *(body.BodyEffector(name, priority="HIGH") for name in ("Foot.L", "Foot.R"))]


def bake(human: bpy.types.Object, wanted: list[Any], into: str = "NEW") -> Any:
    steps = body_bake.bake(bpy.context.scene, human, wanted, body_bake.BodyTuning(), options.BakeOptions(1, LAST, into))
    return scenes.finish(steps)


def missed(human: bpy.types.Object) -> float:
    """The largest distance of a hand from its target, in sizes of the character."""
    goals = np.array([bpy.data.objects[f"Goal.{side}"].location for side in "LR"])
    away = np.linalg.norm(heads(human, "Hand.L", "Hand.R") - goals, axis=-1)
    return float(away.max()) / human.matrix_world.median_scale


@pytest.mark.slow
@pytest.mark.parametrize("setup", [*SETUPS, "sheared", "mirrored"])
@pytest.mark.parametrize("kind", ["object", "bone"])
def test_a_hand_is_brought_to_its_target_by_what_its_arm_reaches_for(human, kind, setup) -> None:
    item = reaching(human, kind, setup)
    before = None if item.animation_data is None else item.animation_data.action
    kept_keys = None if before is None else scenes.fingerprint(before)
    wanted = effectors(human)
    feet = heads(human, "Foot.L", "Foot.R")
    found = bake(human, wanted)
    assert missed(human) < 1e-3 and not found.missing
    size = human.matrix_world.median_scale
    assert np.linalg.norm(heads(human, "Foot.L", "Foot.R") - feet, axis=-1).max() < 2e-3 * size
    action = item.animation_data.action
    assert action is not None and action != before and {"UpperArm.L", "LowerArm.L"}.isdisjoint(found.bones)
    assert before is None or scenes.fingerprint(before) == kept_keys
    name = "Props" if kind == "object" else "Props:Grip"
    assert found.redirected["Hand.L"] == name and name in found.bones
    paths = {curve.data_path for curve in action.layers[0].strips[0].channelbags[0].fcurves}
    prefix = "" if kind == "object" else 'pose.bones["Grip"].'
    assert f"{prefix}location" in paths


@pytest.mark.thorough
@pytest.mark.parametrize("setup", ["animated", "in_hips", "child_of"])
@pytest.mark.parametrize("kind", ["object", "bone"])
def test_such_a_hand_keeps_its_contact(human, kind, setup) -> None:
    reaching(human, kind, setup)
    touch = contacts.Touch(contact_plan.Contact([(8, 14)], 0.1), None)
    before = heads(human, "Hand.L")
    steps = contacts.clean_up_body(bpy.context.scene, human, {"Hand.L": touch}, options.BakeOptions(1, LAST, "NEW"))
    scenes.finish(steps)
    after = heads(human, "Hand.L")
    assert np.ptp(after[7:14], axis=0).max() < 1e-3
    assert np.abs(after[[0, -1]] - before[[0, -1]]).max() < 1e-5


@pytest.mark.thorough
@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
def test_all_destinations_change_both_actions_or_none(human, into) -> None:
    item = reaching(human, "object", "animated")
    wanted = effectors(human)
    before = scenes.snapshot()
    steps = body_bake.bake(bpy.context.scene, human, wanted, body_bake.BodyTuning(), options.BakeOptions(1, LAST, into))
    for _ in range(60):
        next(steps, None)
    steps.close()
    assert not scenes.differences(before, scenes.snapshot())
    action = item.animation_data.action
    bake(human, wanted, into)
    assert missed(human) < 1e-3
    assert (item.animation_data.action == action) == (into == "CURRENT")
    assert bool(item.animation_data.nla_tracks) == (into == "LAYER")


@pytest.mark.parametrize("into", ["CURRENT", "LAYER"])
def test_what_has_no_keys_gets_them_in_all_destinations(human, into) -> None:
    item = reaching(human, "object", "plain")
    bake(human, effectors(human), into)
    assert missed(human) < 1e-3
    data = item.animation_data
    (bag,) = (data.action or data.nla_tracks[-1].strips[0].action).layers[0].strips[0].channelbags
    assert {curve.group.name for curve in bag.fcurves} == {"Object Transforms"}


def test_a_bake_that_fails_at_its_end_leaves_both_as_they_were(human, monkeypatch) -> None:
    reaching(human, "object", "animated")
    wanted = effectors(human)
    before = scenes.snapshot()
    fail_at_the_end(human, monkeypatch)
    with pytest.raises(RuntimeError):
        bake(human, wanted, "CURRENT")
    assert not scenes.differences(before, scenes.snapshot())


def linked(item: bpy.types.Object, tmp_path) -> bpy.types.Object:
    path = str(tmp_path / "props.blend")
    bpy.data.libraries.write(path, {item})
    with bpy.data.libraries.load(path, link=True) as (there, here):
        here.objects = [item.name]
        assert there.objects
    bpy.context.scene.collection.objects.link(here.objects[0])
    return here.objects[0]


def _locked(item: bpy.types.Object) -> None:
    item.lock_location = (True, True, True)


def _driven(item: bpy.types.Object) -> None:
    item.driver_add("location", 0).driver.expression = "1.0"


def _placed(item: bpy.types.Object) -> None:
    item.constraints.new("COPY_LOCATION").target = scenes.ball((0.3, -0.3, 1.2), "Leader")


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (_locked, "'Props' has a locked location; unlock it"),
        (_driven, "The location of object 'Props' has a driver; delete the driver"),
        (_placed, "'Props', which moves a limb, is itself placed by its constraint 'Copy Location'; mute"),
    ],
)
def test_what_cannot_be_moved_is_refused_before_anything_changes(human, break_it, message) -> None:
    break_it(reaching(human, "object", "plain"))
    wanted, before = effectors(human), scenes.snapshot()
    with pytest.raises(errors.RigError, match=message):
        bake(human, wanted)
    assert not scenes.differences(before, scenes.snapshot())


def test_a_bone_that_is_connected_to_its_parent_is_refused(human) -> None:
    item = reaching(human, "bone", "plain")
    bpy.context.view_layer.objects.active = item
    bpy.ops.object.mode_set(mode="EDIT")
    grip, above = item.data.edit_bones["Grip"], item.data.edit_bones.new("Above")
    above.head, above.tail = grip.head - (grip.tail - grip.head), grip.head
    grip.parent, grip.use_connect = above, True
    bpy.ops.object.mode_set(mode="OBJECT")
    wanted, before = effectors(human), scenes.snapshot()
    with pytest.raises(errors.RigError, match="Bone 'Grip' is connected to its parent and cannot be moved"):
        bake(human, wanted)
    assert not scenes.differences(before, scenes.snapshot())


def test_what_both_arms_reach_for_is_refused(human) -> None:
    """It cannot be at two places."""
    item = reaching(human, "object", "plain")
    for bone, name in (("LowerArm.R", "IK"), ("Hand.R", "Turn")):
        constraint = human.pose.bones[bone].constraints[name]
        constraint.target, constraint.subtarget = item, ""
    wanted, before = effectors(human), scenes.snapshot()
    with pytest.raises(errors.RigError, match=r"whose target 'Props' is no bone of 'Made'.*or move and key 'Props'"):
        bake(human, wanted)
    assert not scenes.differences(before, scenes.snapshot())


def test_a_linked_target_is_refused_with_the_remedy(human, tmp_path) -> None:
    item = reaching(human, "object", "plain")
    other = linked(item, tmp_path)
    for bone, name in (("LowerArm.L", "IK"), ("Hand.L", "Turn")):
        human.pose.bones[bone].constraints[name].target = other
    with pytest.raises(errors.RigError, match="'Props' is linked from a library; create a library override first"):
        bake(human, effectors(human))


def test_a_name_that_a_bone_has_as_well_is_no_hindrance(human) -> None:
    item = reaching(human, "object", "plain")
    item.name = "Head"
    found = bake(human, effectors(human))
    assert missed(human) < 1e-3 and found.redirected["Hand.L"] == "Head'"


@pytest.mark.parametrize("kind", ["object", "bone"])
def test_a_drag_of_a_body_moves_what_the_held_hand_reaches_for(human, kind) -> None:
    """The head is dragged with a held hand, whose target the chest carries: nothing of the drag stays, or all of it is
    keyed."""
    item = reaching(human, kind, "child_of")
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    scenes.goto(1)
    control = item if kind == "object" else item.pose.bones["Grip"]
    before = tuple(control.location)
    dragged = body_drag.DraggedBody(
        (
            body.BodyEffector("Head", targets.Target(point=(0.0, 0.0, 0.0))),
            *map(body.BodyEffector, ("Hand.L", "Foot.L")),
        )
    )

    def drag() -> Any:
        return body_drag.BodyDrag(
            bpy.context.scene,
            bpy.context.view_layer,
            human,
            dragged,
            tuning=chain_solve.IKTuning(),
            body_tuning=body_bake.BodyTuning(),
        )

    place = heads(human, "Hand.L")[0, 0]
    scenes.goto(1)
    session = drag()
    session.move(session.place + np.array((0.05, -0.1, -0.05)))
    assert session.error < 2e-3 and session.held_error < 2e-3
    assert np.abs(np.array(control.location) - before).max() > 1e-3
    session.restore()
    assert np.allclose(control.location, before, atol=1e-6)
    control.keyframe_insert("location", frame=1)
    session = drag()
    session.move(session.place + np.array((0.05, -0.1, -0.05)))
    assert session.keep()
    assert np.linalg.norm(heads(human, "Hand.L")[0, 0] - place) < 2e-3


def plain() -> tuple[bpy.types.Object, list[bpy.types.Object]]:
    """A skeleton without any control, whose legs and left arm reach for empties; without keys."""
    armature = scenes.figure(rows=ROWS)
    bpy.context.scene.frame_end = LAST
    goals = []
    for lower, end in (("shin.L", "foot.L"), ("shin.R", "foot.R"), ("forearm.L", "hand.L")):
        empty = scenes.ball(armature.data.bones[end].head_local, f"Goal {end}")
        solver = armature.pose.bones[lower].constraints.new("IK")
        solver.target, solver.chain_count = empty, 2
        goals.append(empty)
    hips = armature.pose.bones["hips"]
    for frame, place in ((1, (0.0, 0.0, 0.0)), (LAST, (0.02, -0.03, -0.04))):
        hips.location = place
        hips.keyframe_insert("location", frame=frame)
    bpy.context.view_layer.update()
    return armature, goals


def _limb(side: str, sign: float) -> list[tuple]:
    return [
        (f"upper_arm.{side}", "chest", (sign * 0.15, 0, 1.45), (sign * 0.42, 0.03, 1.45)),
        (f"forearm.{side}", f"upper_arm.{side}", (sign * 0.42, 0.03, 1.45), (sign * 0.68, 0, 1.45)),
        (f"hand.{side}", f"forearm.{side}", (sign * 0.68, 0, 1.45), (sign * 0.82, 0, 1.45)),
        (f"thigh.{side}", "hips", (sign * 0.1, 0, 1.0), (sign * 0.1, -0.04, 0.54)),
        (f"shin.{side}", f"thigh.{side}", (sign * 0.1, -0.04, 0.54), (sign * 0.1, 0.02, 0.1)),
        (f"foot.{side}", f"shin.{side}", (sign * 0.1, 0.02, 0.1), (sign * 0.1, -0.12, 0.03)),
    ]


ROWS = [*scenes.FIGURE[:6], *_limb("L", 1.0), *_limb("R", -1.0)]


def test_a_skeleton_whose_only_controls_are_empties() -> None:
    """Feet keep their own rotation; the free arm turns its bones."""
    armature, _ = plain()
    goals = [scenes.ball(heads(armature, f"hand.{side}")[0, 0] + (0.0, -0.1, -0.1), f"Goal.{side}") for side in "LR"]
    feet = heads(armature, "foot.L", "foot.R")
    wanted = [body.BodyEffector(f"hand.{s}", targets.Target(goal)) for s, goal in zip("LR", goals, strict=True)]
    wanted += [body.BodyEffector(f"foot.{s}", priority="HIGH") for s in "LR"]
    found = bake(armature, wanted)
    places = np.array([goal.location for goal in goals])
    away = np.linalg.norm(heads(armature, "hand.L", "hand.R") - places, axis=-1)
    # Both arms are almost straight, which no way of the body changes.
    assert (away - found.softened[:2].T).max() < 1e-3 and not found.missing
    assert np.linalg.norm(heads(armature, "foot.L", "foot.R") - feet, axis=-1).max() < 1e-3
    assert "Goal hand.L" in found.bones and "upper_arm.R" in found.bones and "upper_arm.L" not in found.bones
