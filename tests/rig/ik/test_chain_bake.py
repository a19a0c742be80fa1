"""Baking inverse kinematics: where the evaluated bones end up, what stays as it was, and what is refused."""

from collections.abc import Callable, Iterable
from typing import Any

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes

ik_bake = load("rig.ik.chain_bake")
ik_chain = load("rig.detection.joint_chain")
effector_goal = load("rig.ik.effector_goal")
pose = load("rig.ik.pose")
solving = load("rig.ik.chain_solve")
METHODS = load("lookat_pd.ik").METHODS
bake = load("rig.look_at.look_at_bake")
sample = load("rig.sampling.sampler")
errors = load("lookat_pd.errors")
rotation = load("lookat_pd.rotation")
bake_options = load("rig.animation.bake_options")
targets = load("rig.sampling.targets")

ARM = (
    ("shoulder.L", "chest", (0.05, 0, 1.45), (0.15, 0, 1.45)),
    ("arm.L", "shoulder.L", (0.15, 0, 1.45), (0.45, 0.02, 1.45)),
    ("forearm.L", "arm.L", (0.45, 0.02, 1.45), (0.72, 0, 1.45)),
    ("palm.L", "forearm.L", (0.72, 0, 1.45), (0.9, 0, 1.45)),
)
ROWS = (*(row for row in scenes.FIGURE if not row[0].startswith(("upper_arm.L", "hand.L"))), *ARM)
FRAMES = range(1, 41)


def hero(**options: Any) -> bpy.types.Object:
    """A figure with a jointed arm, whose spine and arm sway."""
    armature = scenes.figure(rows=ROWS)
    bones = (*scenes.CHAIN, "arm.L", "forearm.L")
    scenes.animate(armature, bones=bones, **options)
    return armature


def flight(item: bpy.types.Object, around: Iterable[float] = (0.45, -0.3, 1.5), size: float = 0.12) -> bpy.types.Object:
    """Let something fly about in front of the arm."""
    for frame in (1, 12, 25, 40):
        item.location = np.array(around) + size * np.array([np.sin(frame), np.cos(1.3 * frame), np.sin(0.7 * frame)])
        item.keyframe_insert("location", frame=frame)
    return item


def run(chain: Any, goal: Any, *, into: str = "NEW", last: int = 40, **tuning: Any) -> Any:
    steps = ik_bake.bake_goal(
        bpy.context.scene, chain, goal, solving.IKTuning(**tuning), bake_options.BakeOptions(1, last, into)
    )
    return scenes.finish(steps)


def at(item: bpy.types.Object) -> Any:
    return effector_goal.Goal(targets.Target(item))


def misses(
    armature: bpy.types.Object,
    bone: str,
    place: Callable[[Any], Any],
    frames: Iterable[float] = FRAMES,
    end: str = "head",
) -> np.ndarray:
    """How far (F,) an evaluated bone's head or tail is from a place of the world."""
    found = []
    for frame in frames:
        depsgraph = scenes.goto(frame)
        seen = armature.evaluated_get(depsgraph)
        found.append((seen.matrix_world @ getattr(seen.pose.bones[bone], end) - place(depsgraph)).length)
    return np.array(found)


@pytest.mark.every_blender
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("at_tip", [False, True], ids=["head", "tip"])
def test_the_evaluated_effector_is_at_its_target(method, at_tip) -> None:
    armature, ball = hero(), flight(scenes.ball())
    chain = ik_chain.resolve(armature, "palm.L", length=3 if at_tip else 2, at_tip=at_tip)
    result = run(chain, at(ball), method=method, iterations=100)
    assert result.in_reach.sum() > 30
    found = misses(armature, "palm.L", scenes.place_of(ball), end="tail" if at_tip else "head")
    assert np.median(found[result.in_reach]) < 1e-3
    assert np.abs(found - result.error).max() < 1e-4


@pytest.mark.parametrize("modes", [(mode,) for mode in scenes.MODES], ids=str)
def test_any_rotation_mode(modes) -> None:
    armature, ball = hero(modes=modes), flight(scenes.ball())
    for name in ("arm.L", "forearm.L"):
        armature.pose.bones[name].rotation_mode = modes[0]
    result = run(ik_chain.resolve(armature, "palm.L", length=2, at_tip=False), at(ball))
    found = misses(armature, "palm.L", scenes.place_of(ball))
    assert np.median(found[result.in_reach]) < 1e-4


@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
def test_nothing_else_changes(into) -> None:
    armature, ball = hero(), flight(scenes.ball())
    action = armature.animation_data.action
    source = scenes.curves(action)
    chain = ik_chain.resolve(armature, "palm.L", length=2, at_tip=False)
    result = run(chain, at(ball), into=into)
    found = misses(armature, "palm.L", scenes.place_of(ball))
    assert np.median(found[result.in_reach]) < 1e-3
    turned = {f'pose.bones["{name}"].rotation_quaternion' for name in ("arm.L", "forearm.L")}
    after = scenes.curves(result.action)
    if into == "LAYER":
        assert {key[1] for key in after} == turned
        assert not scenes.differences(source, scenes.curves(action))
    else:
        assert not scenes.differences(
            {key: value for key, value in source.items() if key[1] not in turned},
            {key: value for key, value in after.items() if key[1] not in turned},
        )
    if into == "NEW":
        assert not scenes.differences(source, scenes.curves(action))


def test_what_is_at_its_target_stays_as_it_is_to_the_last_bit() -> None:
    """A path that the effector takes anyway moves nothing: no drift."""
    armature = hero()
    places = []
    for frame in FRAMES:
        seen = armature.evaluated_get(scenes.goto(frame))
        places.append(seen.pose.bones["palm.L"].head[:])
    before = scenes.poses(armature, FRAMES)
    chain = ik_chain.resolve(armature, "palm.L", length=2, at_tip=False)
    run(chain, effector_goal.Goal(path=(np.array(FRAMES), np.array(places))))
    assert np.array_equal(scenes.poses(armature, FRAMES), before)


def test_baked_twice_is_the_same() -> None:
    """Nothing drifts."""
    armature, ball = hero(), flight(scenes.ball())
    chain = ik_chain.resolve(armature, "palm.L", length=2, at_tip=False)
    run(chain, at(ball))
    once = scenes.poses(armature, FRAMES)
    run(chain, at(ball))
    assert np.abs(scenes.poses(armature, FRAMES) - once).max() < 2e-4


def test_orientations() -> None:
    armature, ball = hero(), flight(scenes.ball())
    ball.rotation_euler = (0.4, -0.3, 0.9)
    before = scenes.poses(armature, FRAMES, ("palm.L",))[:, 0, :3, :3]
    keep = ik_chain.resolve(armature, "palm.L", length=2, at_tip=False, turn_effector=True)
    action = armature.animation_data.action
    run(keep, effector_goal.Goal(targets.Target(ball), orientation="KEEP"))
    assert np.abs(scenes.poses(armature, FRAMES, ("palm.L",))[:, 0, :3, :3] - before).max() < 1e-4
    armature.animation_data.action, armature.animation_data.action_slot = action, action.slots[0]
    run(keep, effector_goal.Goal(targets.Target(ball), orientation="TARGET"))
    after = scenes.poses(armature, FRAMES, ("palm.L",))[:, 0, :3, :3]
    assert np.abs(after - np.array(ball.matrix_world)[:3, :3]).max() < 1e-4


def test_the_offset_of_the_first_frame_can_be_kept() -> None:
    armature, ball = hero(), flight(scenes.ball((0.5, -0.2, 1.5)), size=0.03)
    seen = armature.evaluated_get(scenes.goto(1))
    away = seen.pose.bones["palm.L"].head - scenes.place_of(ball)(bpy.context.evaluated_depsgraph_get())
    chain = ik_chain.resolve(armature, "palm.L", length=3, at_tip=False)
    result = run(chain, effector_goal.Goal(targets.Target(ball), use_offset=True))
    place = scenes.place_of(ball)
    found = misses(armature, "palm.L", lambda depsgraph: place(depsgraph) + away)
    assert np.median(found[result.in_reach]) < 1e-3


def test_a_chain_bends_towards_its_pole() -> None:
    armature, ball, pole = hero(), scenes.ball((0.4, -0.2, 1.5)), scenes.ball((0.4, 0.0, 5.0), "Pole")
    chain = ik_chain.resolve(armature, "palm.L", length=2, at_tip=False)
    goal = effector_goal.Goal(targets.Target(ball), pole=targets.Target(pole))
    run(chain, goal)
    seen = armature.evaluated_get(scenes.goto(20))
    up = seen.pose.bones["forearm.L"].head.z
    pole.location.z = -5.0
    run(chain, goal)
    assert armature.evaluated_get(scenes.goto(20)).pose.bones["forearm.L"].head.z < up - 0.1


@pytest.mark.parametrize("height", [5.0, -5.0])
def test_an_eased_pole_turns_an_almost_straight_arm_evenly(height) -> None:
    armature = hero()
    hand = armature.evaluated_get(scenes.goto(20)).pose.bones["palm.L"].head
    ball, pole = scenes.ball(tuple(hand)), scenes.ball((0.4, 0.0, height), "Pole")
    chain = ik_chain.resolve(armature, "palm.L", length=2, at_tip=False)
    animated = scenes.poses(armature, FRAMES, ("arm.L",))[:, 0, :3, :3]
    run(chain, effector_goal.Goal(targets.Target(ball), pole=targets.Target(pole), ease=0.5))
    found = rotation.from_matrix(scenes.poses(armature, FRAMES, ("arm.L",))[:, 0, :3, :3])
    turned = rotation.distance(found, rotation.from_matrix(animated)).max()
    ease = 0.5 * bpy.context.scene.render.fps
    # The weight of the ease rises at most 1.875 times as fast as a line.
    assert rotation.distance(found[1:], found[:-1]).max() < 2.5 * turned / ease


@pytest.mark.parametrize("orientation", ["FREE", "TARGET"])
def test_the_target_takes_effect_between_the_ends_of_the_range(orientation) -> None:
    armature, ball, pole = hero(), scenes.ball((0.45, -0.3, 1.5)), scenes.ball((0.4, 0.0, 5.0), "Pole")
    ball.rotation_euler = (0.3, 0.5, -0.4)
    keys = armature.animation_data.action
    animated = scenes.poses(armature, range(1, 41))
    chain = ik_chain.resolve(armature, "palm.L", length=2, at_tip=False)
    goal = effector_goal.Goal(targets.Target(ball), orientation=orientation, pole=targets.Target(pole), ease=0.4)
    result = run(chain, goal)
    assert armature.animation_data.action == result.action != keys
    ease = int(np.ceil(0.4 * bpy.context.scene.render.fps))
    found = scenes.poses(armature, range(1, 41))
    np.testing.assert_allclose(found[[0, -1]], animated[[0, -1]], atol=1e-5)
    middle = range(1 + ease, 40 - ease)
    assert misses(armature, "palm.L", scenes.place_of(ball), middle).max() < 1e-3
    # No joint goes faster than on the way at once, and no frame jumps.
    steps = np.linalg.norm(np.diff(found[..., :3, 3] - animated[..., :3, 3], axis=0), axis=-1)
    away = np.linalg.norm(found[20, :, :3, 3] - animated[20, :, :3, 3], axis=-1).max()
    assert steps.max() < 4.0 * away / ease


def test_smoothness_calms_the_turns_and_stays_at_the_target() -> None:
    armature, ball = hero(), flight(scenes.ball())
    random = np.random.default_rng(3)
    for frame in FRAMES:
        armature.pose.bones["arm.L"].rotation_quaternion = (1.0, *random.normal(0.0, 0.05, 3))
        armature.pose.bones["arm.L"].keyframe_insert("rotation_quaternion", frame=frame)
    chain = ik_chain.resolve(armature, "palm.L", length=3, at_tip=False)
    action = armature.animation_data.action
    rough = {}
    for smoothness in (0.0, 0.4):
        armature.animation_data.action, armature.animation_data.action_slot = action, action.slots[0]
        result = run(chain, at(ball), smoothness=smoothness)
        found = misses(armature, "palm.L", scenes.place_of(ball))
        assert np.median(found[result.in_reach]) < 1e-3
        turns = scenes.basis(armature, FRAMES, "forearm.L")
        rough[smoothness] = np.abs(np.diff(turns, n=2, axis=0)).mean()
    assert rough[0.4] < rough[0.0]


def scaled(armature: bpy.types.Object, scale: Any) -> None:
    armature.scale, armature.location, armature.rotation_euler = scale, (0.3, 0.1, -0.2), (0.1, 0.2, 0.8)


@pytest.mark.parametrize("scale", [(100, 100, 100), (0.01, 0.01, 0.01), (-1, 1, 1), (1, 1.4, 0.8)], ids=str)
def test_scaled_and_mirrored_armatures(scale) -> None:
    armature = hero()
    scaled(armature, scale)
    bpy.context.view_layer.update()
    place = armature.matrix_world @ scenes.Vector((0.45, -0.3, 1.5))
    ball = scenes.ball(place)
    chain = ik_chain.resolve(armature, "palm.L", length=2, at_tip=False, turn_effector=True)
    run(chain, effector_goal.Goal(targets.Target(ball), orientation="KEEP"))
    size = np.abs(np.linalg.det(np.array(armature.matrix_world)[:3, :3])) ** (1 / 3)
    assert misses(armature, "palm.L", scenes.place_of(ball)).max() < 1e-3 * size


def test_parents_with_a_scale() -> None:
    armature, ball = hero(), scenes.ball((0.5, -0.3, 1.6))
    armature.pose.bones["chest"].scale = (1.3, 1.3, 1.3)
    run(ik_chain.resolve(armature, "palm.L", length=2, at_tip=False), at(ball))
    assert misses(armature, "palm.L", scenes.place_of(ball)).max() < 1e-3


def test_bones_scaled_unevenly_are_verified() -> None:
    armature, ball = hero(), scenes.ball((0.45, -0.25, 1.5))
    armature.pose.bones["chest"].scale = (1.2, 1.0, 0.9)
    result = run(ik_chain.resolve(armature, "palm.L", length=2, at_tip=False), at(ball))
    assert result.measured and result.passes > 1 and result.in_reach.sum() > 30
    assert misses(armature, "palm.L", scenes.place_of(ball))[result.in_reach].max() < 1e-3


def test_a_target_out_of_reach_stretches_the_chain() -> None:
    armature, ball = hero(), flight(scenes.ball(), (3.0, -2.0, 2.0), 0.05)
    chain = ik_chain.resolve(armature, "palm.L", length=2, at_tip=False)
    result = run(chain, at(ball))
    assert not result.in_reach.any() and np.isnan(result.median_error)
    poses = scenes.poses(armature, FRAMES, ("arm.L", "forearm.L"))
    straight = np.sum(poses[:, 0, :3, 1] * poses[:, 1, :3, 1], axis=-1)
    assert straight.min() > 0.99
    # Without shaking: from frame to frame it turns as little as the target.
    assert np.degrees(np.arccos(np.clip(np.sum(poses[1:, 0, :3, 1] * poses[:-1, 0, :3, 1], axis=-1), -1, 1))).max() < 5


# Limits


def angles(armature: bpy.types.Object, chain: Any, frames: Iterable[float] = FRAMES) -> np.ndarray:
    """Angles (F, n, 3) about x, y, z of the evaluated joints, as Blender's own solver reads them."""
    found = []
    for frame in frames:
        seen = armature.evaluated_get(scenes.goto(frame))
        found.append(pose.evaluated(chain, seen.pose.bones).local[0])
    return chain.limits.angles(np.array(found))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_blenders_limits_are_kept(method) -> None:
    armature, ball = hero(size=0.05), flight(scenes.ball(), size=0.25)
    elbow, upper = (armature.pose.bones[name] for name in ("forearm.L", "arm.L"))
    elbow.lock_ik_x = elbow.lock_ik_y = True
    elbow.use_ik_limit_z, elbow.ik_min_z, elbow.ik_max_z = True, -0.1, 1.2
    upper.use_ik_limit_x, upper.ik_min_x, upper.ik_max_x = True, -0.4, 0.3
    upper.use_ik_limit_y, upper.ik_min_y, upper.ik_max_y = True, -0.2, 0.2
    upper.ik_stiffness_z = 0.5
    chain = ik_chain.resolve(armature, "palm.L", length=2, at_tip=False)
    before = angles(armature, chain)
    run(chain, at(ball), method=method)
    after = angles(armature, chain)
    assert np.abs(after[:, 1, :2] - before[:, 1, :2]).max() < 1e-3
    assert after[:, 1, 2].min() > -0.1 - 1e-4 and after[:, 1, 2].max() < 1.2 + 1e-4
    assert after[:, 0, 0].min() > -0.4 - 1e-4 and after[:, 0, 0].max() < 0.3 + 1e-4
    assert np.abs(after[:, 0, 1]).max() < 0.2 + 1e-4


@pytest.mark.slow
def test_limit_rotation_is_kept() -> None:
    armature, ball = hero(size=0.05), flight(scenes.ball(), size=0.2)
    elbow = armature.pose.bones["forearm.L"]
    limit = elbow.constraints.new("LIMIT_ROTATION")
    limit.owner_space = "LOCAL"
    limit.use_limit_x = limit.use_limit_y = limit.use_limit_z = True
    limit.min_x = limit.max_x = limit.min_y = limit.max_y = 0.0
    limit.min_z, limit.max_z = -0.2, 1.5
    chain = ik_chain.resolve(armature, "palm.L", length=2, at_tip=False)
    assert chain.plain
    result = run(chain, at(ball))
    # The channels themselves are inside, so that the constraint has nothing left to do.
    limited = scenes.poses(armature, FRAMES)
    found = misses(armature, "palm.L", scenes.place_of(ball))
    assert np.abs(found - result.error).max() < 1e-4
    limit.mute = True
    assert np.abs(scenes.poses(armature, FRAMES) - limited).max() < 1e-4


def test_limits_of_another_space_are_kept_by_verifying() -> None:
    armature, ball = hero(size=0.05), flight(scenes.ball())
    limit = armature.pose.bones["forearm.L"].constraints.new("LIMIT_ROTATION")
    limit.owner_space = "POSE"
    limit.use_limit_x, limit.min_x, limit.max_x = True, -3.0, 3.0
    chain = ik_chain.resolve(armature, "palm.L", length=2, at_tip=False)
    assert not chain.plain
    assert run(chain, at(ball)).measured


def test_a_pinned_or_locked_bone_stays() -> None:
    armature, ball = hero(), flight(scenes.ball())
    armature.pose.bones["shoulder.L"].lookat_pd_ik_pin = True
    chain = ik_chain.resolve(armature, "palm.L", at_tip=True)
    assert chain.joints == ("arm.L", "forearm.L", "palm.L")
    armature.pose.bones["palm.L"].lock_rotation = (True, True, True)
    chain = ik_chain.resolve(armature, "palm.L", at_tip=True)
    before = scenes.basis(armature, FRAMES, "palm.L")
    run(chain, at(ball))
    assert np.abs(scenes.basis(armature, FRAMES, "palm.L") - before).max() < 1e-5


# What is refused


def _locked(armature) -> None:
    for name in ("arm.L", "forearm.L"):
        bone = armature.pose.bones[name]
        bone.lock_ik_x = bone.lock_ik_y = bone.lock_ik_z = True


def _contradictory(armature) -> None:
    limit = armature.pose.bones["arm.L"].constraints.new("LIMIT_ROTATION")
    limit.owner_space = "LOCAL"
    limit.use_limit_x, limit.min_x, limit.max_x = True, 1.0, -1.0


def _constrained(armature) -> None:
    constraint = armature.pose.bones["forearm.L"].constraints.new("IK")
    constraint.chain_count, constraint.target = 2, scenes.ball()


def _alone(armature) -> None:
    armature.data.bones["forearm.L"].use_inherit_rotation = False


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_locked, "All bones from 'arm.L' to 'forearm.L' are locked"),
        (_contradictory, "minimum.*'arm.L'.*maximum"),
        (_constrained, "'arm.L' is posed by the constraint 'IK' on 'forearm.L', whose target 'Ball'"),
        (_alone, "'forearm.L' does not inherit"),
    ],
)
def test_chains_that_cannot_be_solved(spoil, said) -> None:
    armature = hero()
    spoil(armature)
    with pytest.raises(errors.LookAtError, match=said):
        ik_chain.resolve(armature, "palm.L", length=2, at_tip=False)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"effector": "palm.L", "length": 1}, "The chain of 'palm.L' has only one bone, 'palm.L'"),
        ({"effector": "root"}, "The chain of 'root' has only one bone"),
        ({"effector": "root", "at_tip": False}, "'root' has no parent"),
        ({"effector": "palm.L", "base": "thigh.L"}, "'palm.L' is not a descendant of 'thigh.L'"),
        ({"effector": "chest", "base": "palm.L"}, "'chest' is not a descendant of 'palm.L'"),
        ({"effector": "nobody"}, "has no bone 'nobody'"),
        ({"effector": "palm.L", "base": "nobody"}, "has no bone 'nobody'"),
    ],
)
def test_chains_that_are_none(arguments, said) -> None:
    with pytest.raises(errors.RigError, match=said):
        ik_chain.resolve(hero(), **arguments)


def _not_a_number(item) -> None:
    item.location.x = np.nan


def _infinite(item) -> None:
    item.location.x = np.inf


def _is_far(item) -> None:
    item.location.x = 1e30


@pytest.mark.parametrize("spoil", [_not_a_number, _infinite, _is_far])
def test_targets_that_are_nowhere(spoil) -> None:
    armature, ball = hero(), scenes.ball()
    ball.animation_data_clear()
    spoil(ball)
    chain = ik_chain.resolve(armature, "palm.L", length=2, at_tip=False)
    before = scenes.snapshot()
    with pytest.raises(errors.RigError, match="'Ball'"):
        run(chain, at(ball))
    assert not scenes.differences(before, scenes.snapshot())


def test_a_target_on_the_chain_is_refused() -> None:
    armature, ball = hero(), scenes.ball()
    scenes.child(ball, armature, "forearm.L")
    chain = ik_chain.resolve(armature, "palm.L", length=2, at_tip=False)
    with pytest.raises(errors.RigError, match="moves with the IK chain"):
        run(chain, at(ball))
    with pytest.raises(errors.RigError, match="itself"):
        run(chain, at(armature))


def test_a_bone_that_does_not_respond_is_named_and_nothing_changes() -> None:
    armature, ball = hero(), flight(scenes.ball())
    copied = armature.pose.bones["arm.L"].constraints.new("COPY_ROTATION")
    copied.target, copied.subtarget = armature, "root"
    chain = ik_chain.resolve(armature, "palm.L", length=2, at_tip=False)
    before = scenes.snapshot()
    with pytest.raises(errors.RigError, match=r"'arm\.L' does not respond"):
        run(chain, at(ball))
    assert not scenes.differences(before, scenes.snapshot())


def test_a_target_that_a_lower_bone_of_the_chain_moves_is_refused() -> None:
    armature = hero()
    chain = ik_chain.resolve(armature, "palm.L", length=4, at_tip=False)
    with pytest.raises(errors.RigError, match="moves with the IK chain"):
        run(chain, effector_goal.Goal(targets.Target(armature, "head")))
    shorter = ik_chain.resolve(armature, "palm.L", length=2, at_tip=False)
    result = run(shorter, effector_goal.Goal(targets.Target(armature, "head")))
    found = misses(armature, "palm.L", scenes.place_of(armature, "head"))
    assert result.in_reach.any() and found[result.in_reach].max() < 1e-3


def test_on_top_of_the_nla_and_without_any_animation() -> None:
    armature, ball = hero(), flight(scenes.ball())
    data = armature.animation_data
    action, slot = data.action, data.action_slot
    strip = data.nla_tracks.new().strips.new("Sway", 5, action)
    strip.action_slot, data.action = slot, None
    chain = ik_chain.resolve(armature, "palm.L", length=2, at_tip=False)
    for into in ("LAYER", "NEW"):
        result = run(chain, at(ball), into=into)
        away = misses(armature, "palm.L", scenes.place_of(ball)) - result.softened
        assert away[result.in_reach].max() < 1e-3
    still = scenes.figure("Still", rows=ROWS)
    result = run(ik_chain.resolve(still, "palm.L", length=2, at_tip=False), at(ball), into="LAYER")
    assert misses(still, "palm.L", scenes.place_of(ball))[result.in_reach].max() < 1e-3


def _no_size(armature) -> None:
    armature.pose.bones["arm.L"].scale = (0.0, 0.0, 0.0)


def _flat(armature) -> None:
    armature.scale = (1.0, 0.0, 1.0)


def _no_number(armature) -> None:
    armature.pose.bones["arm.L"].location.x = np.nan


def _driven(armature) -> None:
    armature.pose.bones["arm.L"].driver_add("rotation_quaternion", 0)


SPOILT = [
    (_no_size, r"'arm\.L' has a scale of 0"),
    (_flat, "'Hero' has a scale of 0"),
    (_no_number, r"'arm\.L' has a pose that is not a number"),
    (_driven, r"'arm\.L' has a driver"),
]


@pytest.mark.parametrize(("spoil", "said"), SPOILT)
def test_rigs_that_cannot_be_baked(spoil, said) -> None:
    armature, ball = hero(), flight(scenes.ball())
    spoil(armature)
    chain = ik_chain.resolve(armature, "palm.L", length=2, at_tip=False)
    before = scenes.snapshot()
    with pytest.raises(errors.RigError, match=said):
        run(chain, at(ball))
    assert not scenes.differences(before, scenes.snapshot()) or spoil is _no_number


@pytest.mark.parametrize("steps", [1, 20, 45])
def test_a_bake_that_is_stopped_changes_nothing(steps) -> None:
    armature, ball = hero(), flight(scenes.ball())
    copied = armature.pose.bones["arm.L"].constraints.new("COPY_ROTATION")
    copied.target, copied.subtarget, copied.influence = armature, "root", 0.3
    chain = ik_chain.resolve(armature, "palm.L", length=2, at_tip=False)
    before = scenes.snapshot()
    work = ik_bake.bake_goal(bpy.context.scene, chain, at(ball), solving.IKTuning(), bake_options.BakeOptions(1, 40))
    for _ in range(steps):
        next(work)
    work.close()
    assert not scenes.differences(before, scenes.snapshot())


def test_half_a_constraint_is_corrected() -> None:
    armature, ball = hero(), flight(scenes.ball())
    copied = armature.pose.bones["arm.L"].constraints.new("COPY_ROTATION")
    copied.target, copied.subtarget, copied.influence = armature, "root", 0.3
    result = run(ik_chain.resolve(armature, "palm.L", length=2, at_tip=False), at(ball))
    found = misses(armature, "palm.L", scenes.place_of(ball))
    assert np.median(found[result.in_reach]) < 1e-3
