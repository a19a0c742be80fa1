"""Several effectors on a generated Rigify human, measured on the bones that bend its skin."""

from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix

import kept
from extension import load

from .. import control_rigs, scenes
from .test_body_bake import axes, bodies, body_bake, errors, options, targets, to

body_settings = load("rig.ik.body_settings")
body_on_controls = load("rig.ik.body_on_controls")
contact_plan = load("rig.feet.contact_plan")
contacts = load("rig.ik.contacts")
control_drag = load("rig.ik.control_drag")
coupling = load("rig.controls.coupling")
ik, rotation = load("lookat_pd.ik"), load("lookat_pd.rotation")
shear = load("rig.sampling.shear")
solving = load("rig.ik.chain_solve")

LAST = 12
FRAMES = range(1, LAST + 1)
HANDS = ("DEF-hand.L", "DEF-hand.R")
FEET = ("DEF-foot.L", "DEF-foot.R")


@pytest.fixture
def human() -> bpy.types.Object:
    """The left arm and the legs are in IK, the right arm is in FK."""
    armature = kept.human()
    scenes.goto(1)
    for side, away in (("L", (0.05, -0.25, 0.15)), ("R", (-0.05, -0.3, 0.25))):
        item = scenes.ball(armature.pose.bones[f"DEF-hand.{side}"].head + scenes.Vector(away), f"Target.{side}")
        start = np.array(item.location)
        for frame in (1, 5, LAST):
            item.location = start + 0.05 * np.array([np.sin(frame), np.cos(frame), np.sin(0.7 * frame)])
            item.keyframe_insert("location", frame=frame)
    return armature


def run(armature: bpy.types.Object, effectors: list[Any], *, into: str = "NEW", **tuning: Any) -> Any:
    steps = body_bake.bake(
        bpy.context.scene, armature, effectors, body_bake.BodyTuning(**tuning), options.BakeOptions(1, LAST, into)
    )
    return scenes.finish(steps)


def target(side: str) -> bpy.types.Object:
    return bpy.data.objects[f"Target.{side}"]


def pins(names: tuple[str, ...] = ("foot_ik.L", "foot_ik.R")) -> list[Any]:
    return [bodies.BodyEffector(name, priority="HIGH") for name in names]


def poses(armature: bpy.types.Object, *bones: str) -> np.ndarray:
    return scenes.poses(armature, FRAMES, bones)


def away(armature: bpy.types.Object, bone: str, item: bpy.types.Object) -> float:
    """The largest distance of the head of a bone from its target."""
    found = poses(armature, bone)[:, 0, :3, 3]
    wanted = np.array([(scenes.goto(frame), np.array(item.matrix_world.translation))[1] for frame in FRAMES])
    return float(np.linalg.norm(found - wanted, axis=-1).max())


def changed(before: Any, action: bpy.types.Action) -> set[str]:
    """The bones whose curves are not as before."""
    after = scenes.fingerprint(action)
    paths = {key[1] for key in set(before) | set(after) if before.get(key) != after.get(key)}
    return {path.split('"')[1] for path in paths}


@pytest.mark.thorough
def test_ik_controls_are_moved_and_fk_controls_turned(human) -> None:
    before, feet = scenes.fingerprint(human.animation_data.action), poses(human, *FEET)
    left = axes(human, "DEF-hand.L")[:LAST]
    effectors = [*pins(), to(target("L"), "hand_ik.L", orientation="KEEP"), to(target("R"), "hand_fk.R")]
    found = run(human, effectors)
    assert found.in_reach.all() and not found.redirected
    for bone, side in zip(HANDS, "LR", strict=True):
        assert away(human, bone, target(side)) < 1e-3
    assert np.max(rotation.distance(axes(human, "DEF-hand.L")[:LAST], left)) < 5e-3
    assert np.allclose(poses(human, *FEET), feet, atol=2e-3)
    keyed = changed(before, human.animation_data.action)
    assert {"torso", "hand_ik.L", "upper_arm_fk.R", "forearm_fk.R"} <= keyed
    assert not keyed & {"upper_arm_fk.L", "hand_ik.R", "thigh_fk.L"}
    assert not [name for name in keyed if name.startswith(("ORG-", "DEF-", "MCH-"))]


@pytest.mark.slow
def test_the_state_of_a_limb_is_read_at_each_frame(human) -> None:
    switch = human.pose.bones["upper_arm_parent.L"]
    for frame, value in ((1, 0.0), (4, 0.0), (8, 1.0), (LAST, 1.0)):
        switch["IK_FK"] = value
        switch.keyframe_insert('["IK_FK"]', frame=frame)
    before = scenes.fingerprint(human.animation_data.action)
    assert run(human, [*pins(), to(target("L"), "hand_ik.L")]).in_reach.all()
    assert away(human, "DEF-hand.L", target("L")) < 1e-3
    assert {"hand_ik.L", "upper_arm_fk.L", "forearm_fk.L"} <= changed(before, human.animation_data.action)


@pytest.mark.slow
def test_any_bone_of_a_hand_leads_to_what_moves_it(human) -> None:
    found = run(
        human, [*pins(("DEF-foot.L", "foot_tweak.R")), to(target("L"), "DEF-hand.L"), to(target("R"), "hand_tweak.R")]
    )
    assert found.in_reach.all()
    assert {bone: found.redirected[bone] for bone in ("DEF-hand.L", "hand_tweak.R")} == {
        "DEF-hand.L": "hand_ik.L",
        "hand_tweak.R": "hand_fk.R",
    }
    for bone, side in zip(HANDS, "LR", strict=True):
        assert away(human, bone, target(side)) < 1e-3


@pytest.mark.slow
def test_a_weight_below_one_goes_no_further_by_corrections(human, monkeypatch) -> None:
    """The controls are corrected until they have the solved pose; the hands stay between animation and target."""
    effectors = [*(to(target(bone[-1]), bone, weight=0.4) for bone in ("hand_ik.L", "hand_fk.R")), *pins()]
    animated = [away(human, bone, target(bone[-1])) for bone in HANDS]
    data = human.animation_data
    action, slot = data.action, data.action_slot
    once = run(human, effectors).errors[:2]
    data.action, data.action_slot = action, slot
    monkeypatch.setattr(body_on_controls, "AS_SOLVED", 0.0)
    often = run(human, effectors).errors[:2]
    assert np.all(once.max(axis=-1) > 0.1 * np.array(animated))
    assert np.allclose(often, once, rtol=0.02)


@pytest.mark.slow
def test_balance_and_a_look(human) -> None:
    target("L").animation_data_clear()
    target("L").location = (0.3, -0.55, 0.6)
    look = to(target("R"), "head", use_position=False, orientation="AIM")
    found = run(human, [to(target("L"), "hand_ik.L"), look], balance=1.0)
    assert [effector.bone for effector in found.effectors[2:]] == ["foot_fk.L", "foot_fk.R"]
    assert found.in_reach.all() and np.max(found.unbalanced) < 5e-3


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("hand_ik.L", "hand_fk.L"), "same part of the body"),
        (("upper_arm_ik_target.L",), "'upper_arm_ik_target.L' is not a control"),
        (("MCH-torso.parent",), "'MCH-torso.parent' is not a control"),
    ],
)
def test_bad_input(human, names: tuple[str, ...], words: str) -> None:
    with pytest.raises(errors.RigError, match=words):
        run(human, [to(target("L"), name) for name in names])


@pytest.mark.thorough
def test_a_bake_that_is_stopped_leaves_everything_as_it_was(human) -> None:
    before = scenes.snapshot()
    effectors = [*pins(), to(target("L"), "hand_ik.L")]
    for count in (LAST + 3, 3 * LAST + 5):
        steps = body_bake.bake(
            bpy.context.scene, human, effectors, body_bake.BodyTuning(), options.BakeOptions(1, LAST)
        )
        for _ in range(count):
            next(steps)
        steps.close()
        assert scenes.differences(before, scenes.snapshot()) == []


# Dragging


def dragged(armature: bpy.types.Object, bone: str, **settings: Any) -> Any:
    return control_drag.begin(
        bpy.context.scene,
        bpy.context.view_layer,
        armature,
        bone,
        extent=lambda name: {"length": 2},
        at_tip=False,
        keeps=True,
        tuning=solving.IKTuning(),
        **settings,
    )


def head(armature: bpy.types.Object, bone: str) -> np.ndarray:
    seen = armature.evaluated_get(bpy.context.view_layer.depsgraph)
    return np.array(seen.matrix_world @ seen.pose.bones[bone].head)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("clicked", "moved", "shown"),
    [
        ("hand_fk.L", "hand_ik.L", "DEF-hand.L"),
        ("DEF-hand.L", "hand_ik.L", "DEF-hand.L"),
        ("hand_ik.R", "hand_fk.R", "DEF-hand.R"),
        ("hand_tweak.R", "hand_fk.R", "DEF-hand.R"),
        ("foot_ik.L", "foot_ik.L", "DEF-foot.L"),
    ],
)
def test_a_drag_moves_what_moves_the_clicked_bone(human, clicked: str, moved: str, shown: str) -> None:
    before = [bone.matrix_basis.copy() for bone in human.pose.bones]
    session = dragged(human, clicked)
    assert session.bone == moved
    start = head(human, shown)
    for away in ([0.05, 0.0, 0.1], [-0.1, -0.05, 0.05]):
        session.move(start + away)
        assert np.linalg.norm(head(human, shown) - start - away) < 1e-3 and session.error < 1e-3
    session.restore()
    assert [bone.matrix_basis for bone in human.pose.bones] == before


@pytest.mark.parametrize("stretch", [0.0, 1.0])
def test_an_ik_control_goes_softly_to_the_end_of_the_reach_unless_the_rig_stretches(human, stretch: float) -> None:
    """And it comes back from wherever a constraint has stopped the limb."""
    human.pose.bones["upper_arm_parent.L"]["IK_Stretch"] = stretch
    human.update_tag()
    session = dragged(human, "hand_ik.L")
    base, length = head(human, "ORG-upper_arm.L"), session.reachable_distance
    aside = rotation.normalize(np.array((0.2, -0.9, -0.1)))
    for far in (0.9, 0.98, 1.0, 1.2, 0.98, 0.9):
        target = base + far * length * aside
        session.move(target)
        reached = head(human, "ORG-hand.L")
        soft = ik.soft_goal(target, base, length, initial=session.place)
        assert np.linalg.norm(reached - (target if stretch else soft)) < 2e-3 * length
        np.testing.assert_allclose(session.error, np.linalg.norm(reached - target), atol=1e-5)
    session.restore()


@pytest.mark.thorough
def test_controls_are_probed_once_until_the_rig_or_a_switch_changes(human, monkeypatch) -> None:
    """The second drag begins at once, and poses the same; a new pose and other keys change nothing of it."""
    body_settings.add(human, ("foot_ik.L", "foot_ik.R", "hand_ik.L"))
    measured, measure = [], coupling.measure
    monkeypatch.setattr(coupling, "measure", lambda *args, **options: measured.append(1) or measure(*args, **options))

    def drag(away: tuple[float, float, float] = (0.05, -0.1, 0.1)) -> np.ndarray:
        session = dragged(human, "hand_ik.L", body=body_bake.BodyTuning())
        session.move(session.place + away)
        assert session.error < 1e-3 and session.held_error < 1e-3
        shown = head(human, "DEF-hand.L")
        session.restore()
        return shown

    np.testing.assert_allclose(drag(), drag(), atol=1e-4)
    human.pose.bones["torso"].rotation_quaternion = rotation.exp(np.array((0.0, 0.0, 0.3)))
    human.pose.bones["chest"].keyframe_insert("location", frame=1)
    bpy.context.view_layer.update()
    drag()
    assert len(measured) == 1
    human.pose.bones["torso"]["head_follow"] = 0.5
    human.update_tag()
    drag()
    assert len(measured) == 2
    human.pose.bones["DEF-spine"].constraints[0].influence = 0.9
    drag()
    assert len(measured) == 3
    for frame, follow in ((1, 0.0), (LAST, 1.0)):
        human.pose.bones["torso"]["neck_follow"] = follow
        human.pose.bones["torso"].keyframe_insert('["neck_follow"]', frame=frame)
    drag()
    scenes.goto(LAST)
    drag()
    assert len(measured) == 5


def test_a_drag_of_a_bone_that_ik_poses_is_refused_with_the_control(human) -> None:
    with pytest.raises(errors.RigError, match=r"posed by the IK control 'hand_ik\.L'"):
        dragged(human, "forearm_tweak.L")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clicked", "words"),
    [
        ("upper_arm_parent.L", r"'upper_arm_parent\.L' only holds properties .* drag 'hand_ik\.L'"),
        ("upper_arm_parent.R", r"'upper_arm_parent\.R' only holds properties .* drag 'hand_fk\.R'"),
        ("thigh_parent.L", r"'thigh_parent\.L' only holds properties .* drag 'foot_ik\.L'"),
        ("toe_fk.L", r"'toe_fk\.L' moves nothing while the limb is in IK; drag 'foot_ik\.L'"),
        ("thigh_ik_target.R", r"'thigh_ik_target\.R' is a pole .* drag 'foot_ik\.R'"),
    ],
)
def test_a_drag_of_a_control_that_moves_something_else_is_refused_with_the_right_one(human, clicked, words) -> None:
    """Properties of a limb, its pole, and FK controls of a limb in IK; nothing changes, with and without effectors."""
    before = scenes.snapshot()
    with pytest.raises(errors.RigError, match=words):
        dragged(human, clicked)
    with pytest.raises(errors.RigError, match=words):
        dragged(human, clicked, body=body_bake.BodyTuning())
    assert scenes.differences(before, scenes.snapshot()) == []


def test_a_kept_drag_of_an_ik_control_keys_its_location(human) -> None:
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    scenes.goto(7)
    before = scenes.fingerprint(human.animation_data.action)
    session = dragged(human, "hand_ik.L")
    session.move(session.place + np.array([0.0, -0.1, 0.1]))
    assert session.keep()
    assert changed(before, human.animation_data.action) == {"hand_ik.L"}


@pytest.mark.slow
def test_a_pole_bends_a_limb_in_fk_and_is_refused_in_ik(human) -> None:
    pole = targets.Target(scenes.ball((-1.5, 1.0, 2.0), "Pole"))
    found = run(human, [*pins(), to(target("R"), "hand_fk.R", pole=pole)])
    assert found.in_reach.all() and away(human, "DEF-hand.R", target("R")) < 1e-3
    base, middle, end = poses(human, "ORG-upper_arm.R", "ORG-forearm.R", "ORG-hand.R")[:, :, :3, 3].swapaxes(0, 1)
    along = rotation.normalize(end - base)
    bend, there = (
        v - np.sum(v * along, axis=-1, keepdims=True) * along
        for v in (middle - base, np.array((-1.5, 1.0, 2.0)) - base)
    )
    assert np.max(rotation.angle_between(bend, there)) < 0.05
    with pytest.raises(errors.RigError, match="is in IK at frame 1, where the rig's own pole"):
        run(human, [*pins(), to(target("L"), "hand_ik.L", pole=pole)])


@pytest.mark.slow
def test_a_weight_is_about_the_part_of_the_way_to_the_target(human) -> None:
    """A hand in IK and one in FK; else a weight with keys would be a jump at its begin."""
    before, weights = poses(human, *HANDS)[..., :3, 3], np.linspace(0.0, 1.0, LAST)
    run(human, [*pins(), *(to(target(name[-1]), name, weight=weights) for name in HANDS)])
    after = poses(human, *HANDS)[..., :3, 3]
    goals = np.array(
        [[(scenes.goto(f), target(side).matrix_world.translation.copy())[1] for side in "LR"] for f in FRAMES]
    )
    way, left = (np.linalg.norm(places - goals, axis=-1) for places in (before, after))
    reached = 1.0 - left / way
    assert np.abs(reached - weights[:, None]).max() < 0.2
    assert np.diff(reached, axis=0).max() < 3.0 / LAST


def reaches(armature: bpy.types.Object, placed: Any, **tuning: Any) -> None:
    """Place the human; its hands reach their targets and its feet stay, in the world."""
    armature.matrix_world = Matrix(placed)
    bpy.context.view_layer.update()

    def world(*bones: str) -> np.ndarray:
        return (placed @ poses(armature, *bones))[..., :3, 3]

    feet, hands = world(*FEET), world(*HANDS)[0]
    away = placed[:3, :3] @ (0.0, -0.2, 0.15)
    goals = [scenes.ball(place + away, f"Goal.{n}") for n, place in enumerate(hands)]
    wanted = [to(goal, name) for goal, name in zip(goals, ("hand_ik.L", "hand_fk.R"), strict=True)]
    found = run(armature, [*wanted, *pins()], **tuning)
    missed = world(*HANDS) - np.array([goal.location for goal in goals])
    assert np.linalg.norm(missed, axis=-1).max() < 1e-3 and not found.missing
    assert np.linalg.norm(world(*FEET) - feet, axis=-1).max() < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("balance", [0.0, 0.5])
@pytest.mark.parametrize("scale", [(-1.0, 1.0, 1.0), (1.0, 1.0, -1.0), (-1.0, -1.0, -1.0)])
def test_a_mirrored_human_is_as_exact_as_another(scale, balance) -> None:
    """Blender turns the head of such a rig round."""
    reaches(kept.human(), np.diag((*scale, 1.0)), balance=balance)


@pytest.mark.slow
@pytest.mark.parametrize("axis", "XZ")
def test_a_human_that_is_turned_is_as_exact_as_another(axis) -> None:
    """Blender then scales bones below constraints that act in part a little unevenly."""
    armature = kept.human()
    reaches(armature, np.array(Matrix.Rotation(np.pi, 4, axis)))
    assert uneven(armature, "shoulder.L", "shoulder.R", "spine_fk.003") > shear.LEAST


def uneven(armature: bpy.types.Object, *bones: str) -> float:
    return float(shear.degree(poses(armature, *bones)[..., :3, :3]).max())


def test_controls_that_are_scaled_a_little_more_than_constraints_do_are_refused() -> None:
    kept.scene(control_rigs.animated_scene)
    armature = bpy.data.objects["Made"]
    goal = scenes.ball(poses(armature, "Hand.L")[0, 0, :3, 3] + (0.0, -0.1, 0.1), "Goal")
    effectors, chest = [to(goal, "Hand.L"), *pins(("Foot.L", "Foot.R"))], armature.pose.bones["CTL_Chest"]
    data = armature.animation_data
    action, slot = data.action, data.action_slot
    chest.scale.y = 1.0 + 0.9 * shear.OF_CONSTRAINTS
    assert run(armature, effectors).in_reach[0].all()
    assert away(armature, "Hand.L", goal) < 1e-3
    data.action, data.action_slot = action, slot
    chest.scale.y = 1.0 + 1.1 * shear.OF_CONSTRAINTS
    with pytest.raises(errors.RigError, match="A bone of 'Made' is scaled unevenly"):
        run(armature, effectors)


def mirrored(made: Any, bone: str) -> bpy.types.Object:
    """A rig of which Blender turns a bone round where its scale is negative: a constraint copies rotations, and takes
    no mirrored ones."""
    kept.scene(made)
    armature = bpy.data.objects["Made"]
    before = poses(armature, bone)
    armature.scale = (-1.0, 1.0, 1.0)
    assert np.abs(poses(armature, bone) - before).max() > 0.5
    return armature


@pytest.mark.slow
def test_a_mirrored_rig_whose_legs_blender_turns_round_is_refused() -> None:
    armature = mirrored(control_rigs.animated_scene, "Foot.L")
    before = scenes.snapshot()
    with pytest.raises(errors.RigError, match="mirrored by a negative scale"):
        run(armature, pins(("Foot.L", "Foot.R", "Hand.L")))
    assert not scenes.differences(before, scenes.snapshot())


@pytest.mark.thorough
def test_contacts_of_a_mirrored_hand_that_blender_turns_round_are_refused() -> None:
    armature = mirrored(control_rigs.posed_scene, "Hand.L")
    touch, before = contacts.Touch(contact_plan.Contact([(4, 9)], 0.1), None), scenes.snapshot()
    with pytest.raises(errors.RigError, match="mirrored by a negative scale"):
        scenes.finish(
            contacts.clean_up_body(bpy.context.scene, armature, {"Hand.L": touch}, options.BakeOptions(1, LAST, "NEW"))
        )
    assert not scenes.differences(before, scenes.snapshot())
