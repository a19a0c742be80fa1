"""Several effectors, drags and contacts on a rig with controls that Rigify did not make."""

from typing import Any

import bpy
import numpy as np
import pytest

import kept
from extension import load

from .. import control_rigs, scenes

errors, ik, rotation = load("lookat_pd.errors"), load("lookat_pd.ik"), load("lookat_pd.rotation")
body = load("rig.ik.body")
body_bake = load("rig.ik.body_bake")
contacts = load("rig.ik.contacts")
contact_plan = load("rig.feet.contact_plan")
control_drag = load("rig.ik.control_drag")
chain_solve = load("rig.ik.chain_solve")
limb_controls = load("rig.detection.limb_controls")
setup = load("rig.ik.setup")
switched_limbs = load("rig.detection.switched_limbs")
targets = load("rig.sampling.targets")
options = load("rig.animation.bake_options")

FRAMES = range(1, control_rigs.LAST + 1)


@pytest.fixture
def human() -> bpy.types.Object:
    kept.scene(control_rigs.animated_scene)
    return bpy.data.objects["Made"]


def heads(armature: bpy.types.Object, *bones: str) -> np.ndarray:
    return scenes.poses(armature, FRAMES, bones)[..., :3, 3]


def test_any_bone_leads_to_the_control_that_turns_it(human) -> None:
    wanted = {
        "Hand.L": "FK_Hand.L",
        "CTL_Hand_IK.L": "FK_Hand.L",
        "IK_LowerArm.L": "FK_LowerArm.L",
        "Foot.R": "FK_Foot.R",
        "MCH_Foot.R": "FK_Foot.R",
        "CTL_Foot_IK.R": "FK_Foot.R",
        "FK_Hand.R": "FK_Hand.R",
        "Chest": "CTL_Chest",
        "CTL_Chest": "CTL_Chest",
        "CTL_Elbow.L": "",
        "Root": "Root",
    }
    assert {bone: limb_controls.control_of(human, bone) for bone in wanted} == wanted
    assert limb_controls.line(human, "Hand.L")[:5] == [
        "FK_Hand.L",
        "FK_LowerArm.L",
        "FK_UpperArm.L",
        "CTL_Shoulder.L",
        "CTL_Chest",
    ]


def test_what_leads_where_does_not_depend_on_the_switch(human) -> None:
    before = [(limb.turned, limb.goal) for limb in limb_controls.find(human)]
    for side in "LR":
        human.pose.bones["CTL_Props"][f"arm_ik.{side}"] = 0.0
        human.pose.bones[f"CTL_Foot_IK.{side}"][f"leg_fk.{side}"] = 0.0
    human.update_tag()
    bpy.context.view_layer.update()
    assert [(limb.turned, limb.goal) for limb in limb_controls.find(human)] == before and len(before) == 4


@pytest.mark.parametrize("state", [1.0, 0.0])
def test_hands_reach_their_targets_in_ik_and_fk_and_the_feet_stay(human, state) -> None:
    """IK controls are moved and FK controls turned; deforming bones get no keys."""
    human.pose.bones["CTL_Props"]["arm_ik.L"] = state
    feet = heads(human, "Foot.L", "Foot.R")
    goals = [scenes.ball(heads(human, f"Hand.{side}")[0, 0] + (0.0, -0.1, 0.05), f"Goal.{side}") for side in "LR"]
    wanted = [body.BodyEffector(f"Hand.{s}", targets.Target(goal)) for s, goal in zip("LR", goals, strict=True)]
    wanted += [body.BodyEffector(name, priority="HIGH") for name in ("Foot.L", "Foot.R")]
    steps = body_bake.bake(
        bpy.context.scene, human, wanted, body_bake.BodyTuning(), options.BakeOptions(1, control_rigs.LAST, "NEW")
    )
    found = scenes.finish(steps)
    after = heads(human, "Hand.L", "Hand.R")
    away = np.linalg.norm(after - np.array([goal.location for goal in goals]), axis=-1)
    assert away.max() < 1e-3 and not found.missing
    assert np.linalg.norm(heads(human, "Foot.L", "Foot.R") - feet, axis=-1).max() < 2e-3
    assert ("CTL_Hand_IK.L" in found.bones) == bool(state) and ("FK_Hand.L" in found.bones) == (not state)
    assert "CTL_Hand_IK.R" in found.bones and "FK_Foot.L" in found.bones
    assert not any(human.data.bones[name].use_deform or name.startswith(("IK_", "MCH_")) for name in found.bones)


def place(armature: bpy.types.Object, bone: str) -> np.ndarray:
    seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(seen.matrix_world @ seen.pose.bones[bone].head)


def drag(armature: bpy.types.Object, bone: str) -> Any:
    return control_drag.begin(
        bpy.context.scene,
        bpy.context.view_layer,
        armature,
        bone,
        extent=lambda name: setup.extent(armature, name, bpy.context.scene.lookat_pd_ik, at_tip=False),
        at_tip=False,
        keeps=False,
        tuning=chain_solve.IKTuning(),
    )


@pytest.mark.parametrize(
    ("bone", "moved", "shown"),
    [
        ("Hand.L", "CTL_Hand_IK.L", "Hand.L"),
        ("FK_Hand.L", "CTL_Hand_IK.L", "Hand.L"),
        ("CTL_Hand_IK.R", "CTL_Hand_IK.R", "Hand.R"),
        ("Foot.L", "FK_Foot.L", "Foot.L"),
        ("MCH_Foot.L", "FK_Foot.L", "Foot.L"),
        ("LowerLeg.R", "FK_LowerLeg.R", "LowerLeg.R"),
        ("Head", "CTL_Head", "Head"),
    ],
)
def test_a_drag_moves_what_moves_the_clicked_bone(human, bone, moved, shown) -> None:
    """Arms are in IK and legs in FK; the bone of the body that belongs to what was clicked is where the mouse is."""
    session = drag(human, bone)
    assert session.bone == moved and session.asked == bone
    target = session.place + np.array((0.0, -0.05, -0.02 if bone == "Head" else 0.03))
    session.move(target)
    assert np.linalg.norm(place(human, shown) - target) < 2e-3
    session.restore()
    assert np.linalg.norm(place(human, shown) - target) > 0.01


@pytest.mark.parametrize(
    ("bone", "message"),
    [
        ("LowerArm.L", "posed by the IK control 'CTL_Hand_IK.L'; drag that control"),
        ("IK_LowerArm.L", "posed by the IK control 'CTL_Hand_IK.L'; drag that control"),
        ("CTL_Elbow.L", "is a pole and has no chain; move it with G, or drag 'CTL_Hand_IK.L'"),
        ("CTL_Knee.L", "is a pole and has no chain; move it with G, or drag 'FK_Foot.L'"),
    ],
)
def test_a_drag_that_would_move_something_else_names_the_control(human, bone, message) -> None:
    with pytest.raises(errors.RigError, match=message):
        drag(human, bone)


def test_feet_and_hands_keep_their_contacts(human) -> None:
    """Hands in IK and feet in FK at once; frames without contact stay as they are."""
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
    assert np.ptp(after[7:14], axis=0).max() < 1e-3 < np.ptp(before[7:14], axis=0).min()
    assert found.worst[2] < 1e-3
    assert np.abs(after[[0, -1]] - before[[0, -1]]).max() < 1e-5


def test_a_driver_that_another_one_replaces_is_noticed(human) -> None:
    """As many drivers as before and the same influences, none of them driven."""
    assert "CTL_Hand_IK.L" in {limb.goal for limb in limb_controls.find(human)}
    drivers, constraints = human.animation_data.drivers, human.pose.bones["Hand.L"].constraints
    count, influences = len(drivers), [item.influence for item in constraints]
    for curve in [curve for curve in drivers if curve.data_path.startswith('pose.bones["Hand.L"]')]:
        drivers.remove(curve)
    for n in range(count - len(drivers)):
        human.pose.bones["Toes.L"].driver_add("location", n)
    for item, influence in zip(constraints, influences, strict=True):
        item.influence = influence
    assert len(drivers) == count
    assert "CTL_Hand_IK.L" not in {limb.goal for limb in limb_controls.find(human)}


def test_a_rig_is_read_once_for_all_of_its_bones(human, monkeypatch) -> None:
    reads, content = [], switched_limbs.content
    monkeypatch.setattr(switched_limbs, "content", lambda rig: (reads.append(rig), content(rig))[1])
    bones = human.pose.bones.keys()
    assert limb_controls.controls_of(human, bones) == {name: limb_controls.control_of(human, name) for name in bones}
    reads.clear()
    limb_controls.controls_of(human, bones)
    limb_controls.lines(human, bones)
    assert len(reads) == 2


def test_an_ik_control_is_dragged_out_of_reach_softly_and_tells_its_distance(human) -> None:
    session = drag(human, "Hand.L")
    base, length = session._base, session.reachable_distance
    aside = rotation.normalize(np.array((0.3, -0.8, 0.1)))
    bends = []
    for far in np.linspace(0.8, 1.2, 61):
        session.move(base + far * length * aside)
        reached = place(human, "Hand.L")
        assert abs(session.error - np.linalg.norm(reached - base - far * length * aside)) < 1e-5
        wanted = ik.soft_goal(base + far * length * aside, base, length, initial=session.place)
        # Blender solves limbs that are almost straight less precisely.
        assert np.linalg.norm(reached - wanted) < 5e-3 * length
        bends.append(2.0 * np.arccos(min(np.linalg.norm(reached - base) / length, 1.0)))
    assert np.max(np.abs(np.diff(bends))) < 1.5 * 2.0 * (0.4 / 60.0) / np.sqrt(1.0 - 0.97**2)
    # And back, as if it had never been away.
    near = base + 0.8 * length * aside
    session.move(near)
    assert np.linalg.norm(place(human, "Hand.L") - near) < 1e-3 and session.error < 1e-3
    session.restore()
