"""Drags, several effectors and contacts on a rig whose inverse kinematics poses the bones of the body itself."""

import bpy
import numpy as np
import pytest

import kept
from extension import load

from .. import control_rigs, scenes
from .test_control_rig import drag, heads, place

errors = load("lookat_pd.errors")
body = load("rig.ik.body")
body_bake = load("rig.ik.body_bake")
contacts = load("rig.ik.contacts")
contact_plan = load("rig.feet.contact_plan")
limb_controls = load("rig.detection.limb_controls")
limb_switch = load("rig.controls.limb_switch")
targets = load("rig.sampling.targets")
options = load("rig.animation.bake_options")


@pytest.fixture
def human() -> bpy.types.Object:
    """Arms are in IK, legs in FK."""
    kept.scene(control_rigs.posed_scene)
    return bpy.data.objects["Made"]


def in_ik(armature: bpy.types.Object, *bones: str) -> None:
    """Let inverse kinematics pose these limbs at all frames, given by their lower bones."""
    bag = armature.animation_data.action.layers[0].strips[0].channelbags[0]
    for bone in bones:
        bag.fcurves.find(f'pose.bones["{bone}"].constraints["IK"].influence').keyframe_points[0].co.y = 1.0
    armature.animation_data.action.update_tag()
    scenes.goto(1)


@pytest.mark.parametrize(
    ("bone", "moved", "shown"),
    [
        ("Hand.L", "CTL_Hand_IK.L", "Hand.L"),
        ("CTL_Hand_IK.R", "CTL_Hand_IK.R", "Hand.R"),
        ("Foot.L", "Foot.L", "Foot.L"),
        ("MCH_Foot.L", "Foot.L", "Foot.L"),
        ("Head", "CTL_Head", "Head"),
    ],
)
def test_a_drag_moves_the_ik_target_in_ik_and_turns_the_bones_in_fk(human, bone, moved, shown) -> None:
    session = drag(human, bone)
    assert session.bone == moved
    target = session.place + np.array((0.0, -0.05, -0.02 if bone == "Head" else 0.03))
    session.move(target)
    assert np.linalg.norm(place(human, shown) - target) < 2e-3
    session.restore()
    assert np.linalg.norm(place(human, shown) - target) > 0.01


def test_a_foot_whose_leg_is_in_ik_moves_its_control(human) -> None:
    in_ik(human, "LowerLeg.L")
    session = drag(human, "Foot.L")
    assert session.bone == "CTL_Foot_IK.L"
    session.move(session.place + np.array((0.0, -0.05, 0.08)))
    assert session.error < 1e-3
    session.restore()


@pytest.mark.parametrize(
    ("bone", "message"),
    [
        ("LowerArm.L", "posed by the IK control 'CTL_Hand_IK.L'; drag that control"),
        ("CTL_Elbow.L", "is a pole and has no chain; move it with G, or drag 'CTL_Hand_IK.L'"),
        ("LowerLeg.R", "because 'Hips' above it copies 'CTL_Hips'; drag a bone further down"),
        ("CTL_Knee.L", "is a pole and has no chain; move it with G, or drag 'Foot.L'"),
    ],
)
def test_a_drag_that_would_move_something_else_names_the_control(human, bone, message) -> None:
    with pytest.raises(errors.RigError, match=message):
        drag(human, bone)


@pytest.mark.thorough
@pytest.mark.parametrize("legs", [False, True])
def test_several_effectors_follow_their_targets_in_ik_and_fk(human, legs) -> None:
    """Hands have targets and feet stay, with legs in FK or in IK."""
    if legs:
        in_ik(human, "LowerLeg.L", "LowerLeg.R")
    feet = heads(human, "Foot.L", "Foot.R")
    goals = [scenes.ball(heads(human, f"Hand.{side}")[0, 0] + (0.0, -0.1, 0.05), f"Goal.{side}") for side in "LR"]
    wanted = [body.BodyEffector(f"Hand.{s}", targets.Target(goal)) for s, goal in zip("LR", goals, strict=True)]
    wanted += [body.BodyEffector(name, priority="HIGH") for name in ("Foot.L", "Foot.R")]
    steps = body_bake.bake(
        bpy.context.scene, human, wanted, body_bake.BodyTuning(), options.BakeOptions(1, control_rigs.LAST, "NEW")
    )
    found = scenes.finish(steps)
    away = np.linalg.norm(heads(human, "Hand.L", "Hand.R") - np.array([goal.location for goal in goals]), axis=-1)
    assert away.max() < 1e-3 and not found.missing
    assert np.linalg.norm(heads(human, "Foot.L", "Foot.R") - feet, axis=-1).max() < 2e-3
    assert "CTL_Hand_IK.L" in found.bones and not {"UpperArm.L", "LowerArm.R"} & set(found.bones)
    assert ("UpperLeg.L" in found.bones) == (not legs)


@pytest.mark.thorough
@pytest.mark.parametrize("leg", [False, True])
def test_feet_and_hands_keep_their_contacts(human, leg) -> None:
    if leg:
        in_ik(human, "LowerLeg.R")
    touch = contacts.Touch(contact_plan.Contact([(8, 14)], 0.1), None)
    before = heads(human, "Hand.L", "Foot.R")
    steps = contacts.clean_up_body(
        bpy.context.scene,
        human,
        dict.fromkeys(("Hand.L", "Foot.R"), touch),
        options.BakeOptions(1, control_rigs.LAST, "NEW"),
    )
    found = scenes.finish(steps)
    after = heads(human, "Hand.L", "Foot.R")
    assert np.ptp(after[7:14], axis=0).max() < 1e-3
    assert found.worst[2] < 1e-3
    assert np.abs(after[[0, -1]] - before[[0, -1]]).max() < 1e-5


def test_a_limb_that_is_switched_within_the_range_follows_in_both_states(human) -> None:
    """The influence is read at each frame."""
    bag = human.animation_data.action.layers[0].strips[0].channelbags[0]
    curve = bag.fcurves.find('pose.bones["LowerArm.L"].constraints["IK"].influence')
    for frame, value in ((10, 1.0), (11, 0.0)):
        curve.keyframe_points.insert(frame, value)
    goal = scenes.ball(heads(human, "Hand.L")[0, 0] + (0.0, -0.05, 0.03), "Goal")
    steps = body_bake.bake(
        bpy.context.scene,
        human,
        [body.BodyEffector("Hand.L", targets.Target(goal))],
        body_bake.BodyTuning(),
        options.BakeOptions(1, control_rigs.LAST, "NEW"),
    )
    found = scenes.finish(steps)
    away = np.linalg.norm(heads(human, "Hand.L")[:, 0] - np.array(goal.location), axis=-1)
    assert away.max() < 2e-3, away
    assert {"CTL_Hand_IK.L", "UpperArm.L"} <= set(found.bones)


def end_of(armature: bpy.types.Object, kind: str) -> np.ndarray:
    bone = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["Hand.L"]
    return np.array(armature.matrix_world @ (bone.tail if kind == "tip" else bone.head))


@pytest.mark.parametrize("kind", ["object", "bone", "tip"])
def test_a_hand_whose_target_is_no_control_of_its_limb_is_dragged_by_it(human, kind) -> None:
    """An object, a bone of another armature, or a control of a chain that includes the hand."""
    item = control_rigs.reaching_for(human, kind)
    label = {"object": "Props", "bone": "Grip", "tip": "CTL_Hand_IK.L"}[kind]
    begin, pose = end_of(human, kind), scenes.poses(human, (1,))
    session = drag(human, "Hand.L")
    assert session.bone == label and np.allclose(session.place, begin, atol=1e-6)
    target = begin + np.array((0.0, -0.06, 0.04))
    session.move(target)
    assert np.linalg.norm(end_of(human, kind) - target) < 2e-3 and session.error < 2e-3
    session.restore()
    assert np.abs(scenes.poses(human, (1,)) - pose).max() < 1e-6
    path = "location" if kind == "object" else f'pose.bones["{label}"].location'
    item.keyframe_insert(path, frame=1)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    session = drag(human, "Hand.L")
    session.move(target)
    assert session.keep()
    scenes.goto(1)
    assert np.linalg.norm(end_of(human, kind) - target) < 2e-3


@pytest.mark.parametrize("kind", ["object", "bone", "tip"])
def test_a_drag_of_the_arm_of_such_a_hand_names_the_hand(human, kind) -> None:
    control_rigs.reaching_for(human, kind)
    with pytest.raises(errors.RigError, match=r"'LowerArm.L' is posed by inverse kinematics; drag 'Hand.L'"):
        drag(human, "LowerArm.L")


@pytest.mark.parametrize("what", ["effectors", "contacts", "switch"])
def test_what_keys_a_hand_that_is_posed_with_its_arm_says_what_to_do(human, what) -> None:
    control_rigs.reaching_for(human, "tip")
    message = "poses 'Hand.L' together with its limb; let it pose the two bones above 'Hand.L' only"
    scene, range_ = bpy.context.scene, options.BakeOptions(1, control_rigs.LAST, "NEW")
    touch = contacts.Touch(contact_plan.Contact([(8, 14)], 0.1), None)
    steps = {
        "effectors": lambda: body_bake.bake(
            scene, human, [body.BodyEffector("Hand.L")], body_bake.BodyTuning(), range_
        ),
        "contacts": lambda: contacts.clean_up_body(scene, human, {"Hand.L": touch}, range_),
        "switch": lambda: limb_switch.switch(scene, human, ["Hand.L"], "FK", range_),
    }
    with pytest.raises(errors.RigError, match=message):
        scenes.finish(steps[what]())


def test_inverse_kinematics_without_a_target_poses_nothing(human) -> None:
    """Blender has it for its own transform tools; nothing is evaluated."""
    before = scenes.poses(human, (1, 9))
    for name in ("Hand.R", "Head", "CTL_Head"):
        solver = human.pose.bones[name].constraints.new("IK")
        solver.chain_count = 3
    human.pose.bones["Foot.L"].constraints.new("IK").target = human
    assert np.array_equal(scenes.poses(human, (1, 9)), before)
    session = drag(human, "Head")
    session.move(session.place + np.array((0.0, -0.05, 0.0)))
    assert session.error < 1e-3
    session.restore()
    session = drag(human, "Foot.L")
    session.move(session.place + np.array((0.0, -0.05, 0.03)))
    assert session.error < 1e-3
    session.restore()
