"""Hits on rigs: what gives way, what stays, how it ends, control rigs, and what is refused."""

from typing import Any

import bpy
import numpy as np
import pytest

import kept
from extension import load
from lookat_pd import rotation

from .. import control_rigs, scenes
from . import ik_figure
from .test_leaning import ROWS as BENT

actions = load("rig.animation.actions")
coupling = load("rig.controls.coupling")
hitting = load("rig.dynamics.hitting")
errors = load("lookat_pd.errors")
targets = load("rig.sampling.targets")

ROWS = (
    *scenes.FIGURE[:-2],
    ("shin.L", "thigh.L", (0.1, -0.02, 0.5), (0.1, 0, 0.1)),
    ("shin.R", "thigh.R", (-0.1, -0.02, 0.5), (-0.1, 0, 0.1)),
    ("foot.L", "shin.L", (0.1, 0, 0.1), (0.1, -0.15, 0)),
    ("foot.R", "shin.R", (-0.1, 0, 0.1), (-0.1, -0.15, 0)),
)
FRAME, BACK = 10, (0.0, 1.0, 0.0)


def hero(**options: Any) -> bpy.types.Object:
    armature = scenes.figure(rows=ROWS)
    scenes.animate(armature, **options)
    return armature


def spec(bone: str = "chest", **changes: Any) -> Any:
    return hitting.HitSpec(**{"frame": FRAME, "bone": bone, "impulse": 20.0, "direction": BACK, **changes})


def run(armature: bpy.types.Object, *hits: Any, into: str = "NEW", **options: Any) -> Any:
    request = hitting.HitRequest(hits or (spec(),), **options)
    return scenes.finish(hitting.start(bpy.context.scene, armature, request, into))


def turns(armature: bpy.types.Object, frames: Any, bones: Any = None) -> dict[str, Any]:
    """Orientations (F, 4) of the evaluated bones."""
    names = bones or [bone.name for bone in armature.pose.bones]
    found: dict[str, list] = {name: [] for name in names}
    for frame in frames:
        bpy.context.scene.frame_set(int(frame))
        seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        for name in names:
            found[name].append(np.array(seen.pose.bones[name].matrix.to_quaternion()))
    return {name: np.array(values) for name, values in found.items()}


def leaning(armature: bpy.types.Object, bone: str, frame: int) -> Any:
    """The direction in which a bone points in the world."""
    bpy.context.scene.frame_set(frame)
    seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array((seen.matrix_world @ seen.pose.bones[bone].matrix).to_3x3())[:, 1]


@pytest.mark.every_blender
@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
def test_the_body_gives_way_and_comes_back(into: str) -> None:
    armature = hero(modes=("QUATERNION", "XYZ", "AXIS_ANGLE"))
    frames = np.arange(1, 61)
    before = turns(armature, frames)
    result = run(armature, into=into, settle_time=0.5)
    after = turns(armature, frames)
    away = {name: rotation.distance(before[name], after[name]) for name in before}
    assert result.frames[0] == FRAME and result.frames[-1] == FRAME + 24
    for name, angles in away.items():
        assert angles[frames <= FRAME].max() < 1e-3 and angles[frames >= FRAME + 24].max() < 1e-3, name
    assert np.degrees(away["chest"].max()) > 3.0
    assert away["chest"][frames == FRAME + 12] < 0.06 * away["chest"].max()
    assert all(away[name].max() < 1e-3 for name in ("root", "hips", "foot.L", "foot.R"))
    legs = {f"{name}.{side}" for name in ("thigh", "shin", "foot") for side in "LR"}
    assert set(result.bones) - {"hips"} - legs == {
        "spine",
        "chest",
        "neck",
        "head",
        *(f"{n}.{s}" for n in ("upper_arm", "hand") for s in "LR"),
    }


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_the_hips_shift_and_the_feet_stay(scale: float) -> None:
    armature = hero()
    armature.scale, armature.rotation_euler = (scale,) * 3, (0.0, 0.0, 0.5)
    bpy.context.view_layer.update()
    frames, names = np.arange(8, 20), ("hips", "foot.L", "foot.R")

    def places() -> np.ndarray:
        found = np.empty((len(frames), 3, 3))
        for k, frame in enumerate(frames):
            bpy.context.scene.frame_set(int(frame))
            seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
            found[k] = [seen.matrix_world @ seen.pose.bones[name].head for name in names]
        return found

    before = places()
    result = run(armature)
    away = places() - before
    assert 0.01 * scale < np.linalg.norm(away[:, 0], axis=-1).max() == pytest.approx(result.shift, rel=1e-3)
    assert away[6, 0, 1] > 0.0 and np.abs(away[:3, 0]).max() < 1e-6
    assert np.linalg.norm(away[:, 1:], axis=-1).max() < 2e-3 * scale
    armature.animation_data.action = bpy.data.actions["Sway"]
    still = run(armature, hips=0.0)
    assert still.shift == 0.0 and "hips" in result.bones and "hips" not in still.bones


def test_other_curves_and_what_is_before_stay_to_the_bit() -> None:
    armature = hero()
    source = armature.animation_data.action
    result = run(armature)
    old, new = (actions.channelbag(action, action.slots[0]).fcurves for action in (source, result.action))
    for curve in old:
        found = new.find(curve.data_path, index=curve.array_index)
        bone = curve.data_path.split('"')[1]
        off = np.abs([curve.evaluate(frame) - found.evaluate(frame) for frame in range(1, 61)])
        # A curve between two keys is divided where the hit begins, in single precision.
        assert off[:FRAME].max() < 1e-6 > off[int(result.frames[-1]) - 1 :].max()
        assert bone in result.bones or not off.any()
    chest = new.find(actions.rotation_path("chest", "QUATERNION"), index=1)
    kinds = {point.type for point in chest.keyframe_points if FRAME < point.co.x < result.frames[-1]}
    assert kinds == {"GENERATED"}


def test_without_impulse_nothing_changes_to_the_bit() -> None:
    armature = hero()
    before = turns(armature, range(1, 61))
    result = run(armature, spec(impulse=0.0))
    after = turns(armature, range(1, 61))
    assert result.bones == () and all(np.array_equal(before[name], after[name]) for name in before)
    assert run(armature, spec(impulse=0.0), into="LAYER").bones == ()


@pytest.mark.parametrize("direction", [(0, 1, 0), (0, -1, 0), (1, 0, 0)])
def test_the_chest_goes_where_it_is_pushed(direction: tuple[float, float, float]) -> None:
    """Also on an armature that is turned, moved and scaled."""
    armature = scenes.figure(rows=ROWS)
    armature.rotation_euler, armature.location, armature.scale = (0.0, 0.0, 0.7), (2.0, 1.0, 0.3), (1.2,) * 3
    scenes.animate(armature, frames=(1,), size=0.0)
    bpy.context.view_layer.update()
    start = leaning(armature, "chest", FRAME)
    run(armature, spec(direction=direction), settle_time=1.0)
    moved = leaning(armature, "chest", FRAME + 4) - start
    assert moved @ np.array(direction) > 0.9 * np.linalg.norm(moved) > 0.02


def test_bones_that_point_aside_are_hit_between_their_joints() -> None:
    """A symmetric figure that is hit from the front turns about the axis from left to right alone."""
    rows = [(name, parent, head, tuple(np.add(head, (0.05, 0.0, 0.0)))) for name, parent, head, _ in ROWS]
    armature = scenes.figure(rows=rows)
    scenes.animate(armature, frames=(1,), size=0.0)
    before = turns(armature, (FRAME + 4,), ("head",))["head"][0]
    run(armature, spec("head", impulse=3.0))
    turn = rotation.log(
        rotation.multiply(turns(armature, (FRAME + 4,), ("head",))["head"][0], rotation.inverse(before))
    )
    assert np.abs(turn[0]) > 0.05 > 100.0 * np.abs(turn[1:]).max()


def test_a_hit_from_an_object_is_a_hit_in_its_direction() -> None:
    armature = hero()
    ball = scenes.ball((0.3, -2.0, 1.4))
    first = run(armature, spec(source=targets.Target(ball)))
    impulse = first.outcomes[0].impulse
    armature.animation_data.action = bpy.data.actions["Sway"]
    second = run(armature, spec(direction=tuple(impulse)))
    assert np.allclose(first.angles, second.angles, atol=1e-6) and impulse[1] > 0.0 > impulse[0]


def test_several_hits_fewer_bones_and_the_other_side() -> None:
    armature = scenes.figure(rows=ROWS)
    scenes.animate(armature, frames=(1,), size=0.0)
    both = run(armature, spec("hand.L", impulse=0.5), spec("hand.R", frame=20, impulse=0.5), length=2, hips=0.0)
    assert set(both.bones) == {"hand.L", "upper_arm.L", "hand.R", "upper_arm.R"}
    angles = dict(zip(both.tree.bones, both.angles.T, strict=True))
    assert np.allclose(angles["hand.L"][:20], angles["hand.R"][10:30], atol=1e-6), "mirrored, ten frames later"
    alone = run(armature, spec("chest", impulse=5.0), use_follow=False, hips=0.0)
    assert set(alone.bones) == {"spine", "chest"}


def test_a_leg_gives_way_below_the_hips() -> None:
    armature = hero()
    assert set(run(armature, spec("shin.L", impulse=5.0)).bones) == {"thigh.L", "shin.L", "foot.L"}


def test_an_impulse_means_the_same_for_bodies_of_all_sizes() -> None:
    armature = scenes.figure(rows=ROWS)
    scenes.animate(armature, frames=(1,), size=0.0)
    small = run(armature, settle_time=0.5)
    armature.scale = (2.5,) * 3
    bpy.context.view_layer.update()
    armature.animation_data.action = bpy.data.actions["Sway"]
    large = run(armature, settle_time=0.5)
    assert np.allclose(small.angles, large.angles, atol=1e-5)


def test_24_and_60_frames_a_second_agree() -> None:
    armature = scenes.figure(rows=ROWS)
    scenes.animate(armature, frames=(1,), size=0.0)
    slow = run(armature, spec(frame=0), settle_time=1.0)
    armature.animation_data.action = bpy.data.actions["Sway"]
    bpy.context.scene.render.fps = 60
    fast = run(armature, spec(frame=0), settle_time=1.0)
    assert np.allclose(slow.angles[::2], fast.angles[::5], atol=1e-6)


def test_a_huge_impulse_is_reduced_and_limits_hold() -> None:
    armature = hero()
    result = run(armature, spec(impulse=1e6), largest_angle=0.5)
    assert [hit.bone for hit in result.reduced] == ["chest"] and 0.0 < result.reduced[0].factor < 1e-2
    assert np.all(np.isfinite(result.angles)) and result.angles.max() <= 0.5 + 1e-6
    limited = scenes.figure("Limited", ROWS)
    scenes.animate(limited, frames=(1,), size=0.0)
    bone = limited.pose.bones["chest"]
    bone.use_ik_limit_x, bone.ik_min_x, bone.ik_max_x = True, -0.02, 0.02
    held = run(limited)
    free = run(limited, use_limits=False)
    chest = held.tree.bones.index("chest")
    assert held.angles[:, chest].max() < 0.03 < free.angles[:, chest].max()


def turned_by(joints: str, impulse: float) -> float:
    """The largest angle [degrees] by which a hit on the head turns it in space."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    armature = scenes.figure(rows=ROWS)
    scenes.animate(armature, frames=(1,), size=0.0)
    before = turns(armature, [1], ["head"])["head"]
    run(armature, spec("head", impulse=impulse), joints=joints, hips=0.0)
    after = turns(armature, range(FRAME, FRAME + 20), ["head"])["head"]
    return float(np.degrees(rotation.distance(before, after)).max())


@pytest.mark.thorough
def test_head_neck_and_spine_together_turn_no_further_than_one_of_them() -> None:
    assert turned_by("PUBLISHED", 300.0) > 90.0
    for impulse in (8.0, 30.0, 300.0, 1e6):
        assert turned_by("SUCCESSION", impulse) < 60.0 * 1.02
    assert turned_by("SUCCESSION", 1.0) == pytest.approx(turned_by("PUBLISHED", 1.0), rel=0.05)


@pytest.mark.parametrize(
    ("hits", "words"),
    [
        ((), "no hit"),
        ((spec("hips"),), "holds the whole body"),
        ((spec("nobody"),), "has no bone"),
        ((spec(direction=(0.0, 0.0, 0.0)),), "no direction"),
        ((spec(impulse=-1.0),), "impulse"),
        ((spec(impulse=float("nan")),), "impulse"),
        ((spec(frame=2_000_000),), "beyond the frames"),
    ],
)
def test_what_cannot_be_is_refused(hits: tuple, words: str) -> None:
    armature = hero()
    with pytest.raises(errors.LookAtError, match=words):
        scenes.finish(hitting.start(bpy.context.scene, armature, hitting.HitRequest(hits)))
    assert armature.animation_data.action.name == "Sway" and len(bpy.data.actions) == 1


def test_what_moves_no_mass_passes_the_hit_on_to_what_it_hangs_on() -> None:
    rows = [("horn", "head", (0, -0.1, 1.8), (0, -0.3, 1.9)), ("prop", "root", (1.0, 0, 0), (1.0, 0, 0.2))]
    armature = scenes.figure(rows=(*ROWS, *rows))
    for name in ("horn", "prop"):
        armature.data.bones[name].use_deform = False
    scenes.animate(armature)
    with pytest.raises(errors.LookAtError, match="'prop' and the bones above it move no mass"):
        run(armature, spec("prop"))
    result = run(armature, spec("horn", impulse=5.0, direction=(1.0, 0.0, 0.0)), length=1)
    assert result.outcomes[0].bone == "horn" and "horn" not in result.bones
    assert np.degrees(result.angles[:, result.tree.bones.index("head")].max()) > 3.0


@pytest.mark.parametrize("whole_group", [False, True])
def test_locked_curves_are_not_overwritten(whole_group: bool) -> None:
    """A new action is another one, so that its curves may differ."""
    armature = hero()
    action = armature.animation_data.action
    curve = actions.channelbag(action, action.slots[0]).fcurves.find(
        actions.rotation_path("chest", "QUATERNION"), index=1
    )
    (curve.group if whole_group else curve).lock = True
    before = scenes.fingerprint(action)
    with pytest.raises(errors.LookAtError, match="'chest' are locked; unlock them"):
        run(armature, into="CURRENT")
    assert scenes.fingerprint(action) == before
    run(armature)
    assert scenes.fingerprint(action) == before


def test_stopping_leaves_nothing_behind() -> None:
    armature = hero()
    steps = hitting.start(bpy.context.scene, armature, hitting.HitRequest((spec(),)))
    next(steps)
    steps.close()
    assert armature.animation_data.action.name == "Sway" and len(bpy.data.actions) == 1 == len(bpy.data.scenes)


@pytest.mark.slow
def test_controls_of_a_generated_rig() -> None:
    """The deforming bones turn as the body gives way, though the head inherits no rotation and the left arm is held."""
    armature = kept.human()
    frames, names = (20, 26, 60), ("DEF-spine.003", "DEF-spine.006", "DEF-hand.L", "DEF-foot.L", "DEF-foot.R", "torso")
    before = turns(armature, frames, names)
    result = run(armature, spec("chest", frame=20, impulse=30.0))
    after = turns(armature, frames, names)
    away = {name: np.degrees(rotation.distance(before[name], after[name])) for name in names}
    assert away["DEF-spine.003"][1] > 4.0 and away["DEF-spine.006"][1] > 1.0
    assert away["DEF-foot.L"][1] < 0.2 > away["DEF-foot.R"][1] and away["torso"].max() < 0.02 < result.shift < 0.1
    assert all(angles[0] < 0.02 and angles[2] < 0.02 for angles in away.values())
    assert "head" in result.bones and not any(name.startswith(("DEF-", "ORG-", "MCH-")) for name in result.bones)
    with pytest.raises(errors.LookAtError, match="enable 'Switch Limbs to FK'"):
        run(armature, spec("hand_ik.L", frame=20), use_switch=False)


@pytest.mark.slow
def test_a_second_hit_does_not_measure_again_what_hangs_on_what(monkeypatch) -> None:
    armature, probing, probes = kept.human(), coupling.probing, []
    monkeypatch.setattr(coupling, "probing", lambda part, *args: probes.append(len(part)) or probing(part, *args))
    run(armature, spec("chest", frame=20, impulse=30.0))
    first = sum(probes)
    probes.clear()
    run(armature, spec("chest", frame=40, impulse=10.0))
    assert sum(probes) < 0.5 * first
    armature.pose.bones["DEF-spine.003"].constraints[0].influence = 0.9
    probes.clear()
    run(armature, spec("chest", frame=40, impulse=10.0))
    assert sum(probes) == first


@pytest.mark.slow
def test_a_control_is_hit_in_the_middle_of_what_it_turns() -> None:
    """Wherever the control itself is: that of the chest lies at the waist."""
    armature = kept.human()
    action, slot = armature.animation_data.action, armature.animation_data.action_slot
    start = leaning(armature, "DEF-spine.003", 24)
    by_control = run(armature, spec("chest", frame=20, impulse=30.0))
    moved = leaning(armature, "DEF-spine.003", 24) - start
    assert moved @ np.array(BACK) > 0.9 * np.linalg.norm(moved) > 0.02
    armature.animation_data.action, armature.animation_data.action_slot = action, slot
    directly = run(armature, spec("DEF-spine.003", frame=20, impulse=30.0))
    assert np.abs(directly.angles - by_control.angles).max() < 0.02 * directly.angles.max()


@pytest.mark.slow
@pytest.mark.parametrize(("control", "end"), [("hand_ik.L", "DEF-hand.L"), ("foot_ik.R", "DEF-foot.R")])
@pytest.mark.parametrize("into", ["NEW", "CURRENT"])
def test_a_limb_in_ik_gives_way_in_fk_and_is_in_ik_before_and_after(control: str, end: str, into: str) -> None:
    armature, scene = kept.human(), bpy.context.scene
    frames = (10, 19, 20, 24, 60, 70)
    source, count = armature.animation_data.action, len(bpy.data.actions)
    before = scenes.poses(armature, frames, (end,))
    hits = (spec(control, frame=20, impulse=20.0),)
    result = scenes.finish(hitting.start(scene, armature, hitting.HitRequest(hits), into))
    after = scenes.poses(armature, frames, (end,))
    away = np.linalg.norm(after[..., :3, 3] - before[..., :3, 3], axis=-1)[:, 0]
    assert away[3] > 0.015 and away[[0, 1, 2, 4, 5]].max() < 2e-4
    assert result.switched == (control,) and result.action == armature.animation_data.action
    assert (result.action == source) == (into == "CURRENT")
    assert len(bpy.data.actions) == count + (into == "NEW")
    parent = {"hand_ik.L": "upper_arm_parent.L", "foot_ik.R": "thigh_parent.R"}[control]

    def in_fk(frame: int) -> float:
        return float(armature.evaluated_get(scenes.goto(frame)).pose.bones[parent]["IK_FK"])

    last = int(result.frames[-1])
    assert [in_fk(frame) for frame in (19, 21, last - 1, last + 1)] == [0.0, 1.0, 1.0, 0.0]


@pytest.mark.thorough
def test_a_hit_on_a_limb_in_ik_is_all_or_nothing() -> None:
    armature, scene = kept.human(), bpy.context.scene
    action, count = armature.animation_data.action, len(bpy.data.actions)
    request = hitting.HitRequest((spec("hand_ik.L", frame=20),))
    with pytest.raises(errors.LookAtError, match="NLA layer cannot"):
        hitting.start(scene, armature, request, "LAYER")
    for share in (0.1, 0.6):
        steps = hitting.start(scene, armature, request)
        while next(steps) < share:
            pass
        steps.close()
        assert armature.animation_data.action == action and len(bpy.data.actions) == count
        assert len(bpy.data.scenes) == 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("pole", "turned", "bone", "most"),
    [(True, True, "forearm.L", "upper_arm.L"), (False, False, "hand_ik.L", "hand.L")],
)
@pytest.mark.parametrize("into", ["NEW", "LAYER"])
def test_a_limb_that_only_inverse_kinematics_poses_gives_way(
    pole: bool, turned: bool, bone: str, most: str, into: str
) -> None:
    """By keys on its target and its pole; the arm takes the pose of the solver, and comes back. What is hit by its
    control turns most."""
    armature = ik_figure.figure(pole=pole, turned=turned)
    frames, names = np.arange(FRAME - 1, FRAME + 45), ("upper_arm.L", "forearm.L", "hand.L", "foot.R")
    before = turns(armature, frames, names)
    result = run(armature, spec(bone, impulse=4.0, direction=(0.0, 0.3, 1.0)), into=into)
    after = turns(armature, frames, names)
    assert {"hand_ik.L", *(("elbow.L",) if pole else ())} < set(result.bones)
    assert not {"forearm.L", "upper_arm.L"} & set(result.bones)
    away = {name: np.degrees(rotation.distance(before[name], after[name])) for name in names}
    assert away[most].max() > 3.0 and away["upper_arm.L"].max() > 0.5 and away["foot.R"].max() < 0.2
    for angles in away.values():
        assert angles[:2].max() < 0.05 and angles[frames >= result.frames[-1]].max() < 0.05
    seen = armature.evaluated_get(scenes.goto(FRAME + 4)).pose.bones
    assert (seen["hand.L"].head - seen["hand_ik.L"].head).length < 2e-3
    if pole:
        bends = [
            rotation.multiply(rotation.inverse(part["upper_arm.L"]), part["forearm.L"])[1:25]
            for part in (before, after)
        ]
        solved = result.angles[:24, result.tree.bones.index("forearm.L")]
        assert np.abs(rotation.distance(*bends) - solved).max() < 0.02 < solved.max()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("bone", "goal", "kind"),
    [
        ("LowerLeg.R", "CTL_Foot_IK.R", "in IK"),
        *(("LowerArm.L", "CTL_Hand_IK.L", kind) for kind in ("in IK", "in FK", "NLA layer", "not switched")),
    ],
)
def test_a_limb_whose_inverse_kinematics_has_keys_gives_way_in_fk(bone: str, goal: str, kind: str) -> None:
    """As limbs do that switch by a property, if it is in IK then; a layer, and *Switch Limbs to FK* where it is off,
    move its target instead."""
    kept.scene(control_rigs.posed_scene)
    armature = bpy.data.objects["Made"]
    armature.pose.bones[bone].constraints["IK"].influence = in_ik = 0.0 if kind == "in FK" else 1.0
    for frame in (1, 200):
        armature.pose.bones[bone].constraints["IK"].keyframe_insert("influence", frame=frame)
    armature.pose.bones["Hand.L"].constraints["Turn"].influence = in_ik
    scenes.goto(1)
    end = "Hand.L" if "Arm" in bone else "Foot.R"
    frames = (7, 8, 12, 100)
    before = scenes.poses(armature, frames, (end,))
    into = "LAYER" if kind == "NLA layer" else "NEW"
    result = run(armature, spec(bone, frame=8, impulse=6.0), into=into, use_switch=kind != "not switched", hips=0.0)
    away = np.linalg.norm((scenes.poses(armature, frames, (end,)) - before)[..., :3, 3], axis=-1)[:, 0]
    assert away[2] > 5e-3 and away[[0, 1, 3]].max() < 2e-4, away
    assert result.switched == ((goal,) if kind == "in IK" else ())
    moved = kind in ("NLA layer", "not switched")
    assert (bone in result.bones) != moved and any(name.startswith("CTL_") for name in result.bones) >= moved
    influences = [
        armature.evaluated_get(scenes.goto(frame)).pose.bones[bone].constraints["IK"].influence
        for frame in (7, 12, int(result.frames[-1]) + 1)
    ]
    assert influences == {"in IK": [1.0, 0.0, 1.0], "in FK": [0.0] * 3}.get(kind, [1.0] * 3)


def test_a_limb_in_ik_whose_target_is_another_object_is_refused_with_the_remedy() -> None:
    armature = ik_figure.figure()
    armature.pose.bones["forearm.L"].constraints[0].target = scenes.ball((0.6, -0.2, 1.4))
    with pytest.raises(errors.LookAtError, match="bone of the same armature as its target"):
        run(armature, spec("forearm.L"))


@pytest.mark.every_blender
@pytest.mark.parametrize("direction", [(0.0, -1.0, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)])
def test_an_elbow_does_not_bend_backwards(direction: tuple[float, float, float]) -> None:
    """Nor does it stop at once: its angle changes evenly."""

    def bends(joints: str) -> Any:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        armature = scenes.figure(rows=BENT)
        scenes.animate(armature, frames=(1,), size=0.0)
        run(armature, spec("upper_arm.L", direction=direction, impulse=25.0), joints=joints, largest_angle=1.2)
        found = []
        for frame in range(FRAME, FRAME + 30):
            bpy.context.scene.frame_set(frame)
            seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
            upper, fore = (np.array(seen[name].vector) for name in ("upper_arm.L", "forearm.L"))
            side = np.array(seen["forearm.L"].matrix)[:3, 0]
            found.append(np.degrees(np.arctan2(np.cross(upper, fore) @ side, upper @ fore)))
        return np.sign(found[0]) * np.array(found)

    free, held = bends("SUCCESSION"), bends("PEOPLE")
    assert held.min() > -0.1 and held.max() < 150.0
    assert np.abs(np.diff(held, n=2)).max() < np.abs(np.diff(free, n=2)).max() + 0.5
