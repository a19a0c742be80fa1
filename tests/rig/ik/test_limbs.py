"""Arms, legs and tails that follow smooth targets turn as limbs do: laws on built characters and on shared rigs."""

from pathlib import Path

import bpy
import numpy as np
import pytest

import kept
from extension import load

from .. import scenes

ik = load("lookat_pd.ik")
rotation = load("lookat_pd.rotation")
body_joints = load("rig.detection.body_joints")
chains = load("rig.detection.joint_chain")
bake = load("rig.ik.chain_bake")
effector_goal = load("rig.ik.effector_goal")
pose = load("rig.ik.pose")
solving = load("rig.ik.chain_solve")
options = load("rig.animation.bake_options")
targets = load("rig.sampling.targets")

FRAMES = range(2, 62)
LARGEST_WRIST, LARGEST_SPEED, LARGEST_ERROR = np.radians(60.0), 1.5, 1e-3
STIFF = ("wrist", "ankle", "toe")


def limb(armature: bpy.types.Object, effector: str, *, at_tip: bool = False):
    """The detected chain of a bone."""
    base = chains.limb(armature, effector, at_tip=at_tip)
    assert base, effector
    return chains.resolve(armature, effector, base=base, at_tip=at_tip)


def circling(armature: bpy.types.Object, chain, radius: float, tilt: float) -> bpy.types.Object:
    """A target on a smooth path around the middle of the reach, which moves with what the chain hangs on."""
    seen = pose.evaluated(chain, armature.evaluated_get(scenes.goto(FRAMES[0])).pose.bones)
    reach = float(seen.reachable_distance[0])
    away = seen.end[0] - seen.positions[0, 0]
    middle = seen.positions[0, 0] + 0.68 * reach * away / np.linalg.norm(away)
    item, anchor = scenes.ball(name="Target"), scenes.ball(name="Anchor")
    if chain.parent:
        scenes.child(anchor, armature, chain.parent)
    else:
        anchor.parent = armature
    bpy.context.view_layer.update()
    item.parent = anchor
    item.matrix_parent_inverse = anchor.matrix_world.inverted() @ armature.matrix_world
    for frame in FRAMES:
        t = 2.0 * np.pi * (frame - FRAMES[0]) / len(FRAMES)
        item.location = middle + radius * reach * np.array([np.sin(t), np.sin(t + tilt), np.cos(2.0 * t)])
        item.keyframe_insert("location", frame=frame)
    return item


def local(armature: bpy.types.Object, chain) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Local rotations (F, n, 4) of the evaluated joints, offsets (F, n, 3), and the base as in `ik.solve` (F, 7)."""
    found = []
    for frame in FRAMES:
        seen = pose.evaluated(chain, armature.evaluated_get(scenes.goto(frame)).pose.bones)
        base = np.concatenate((seen.positions[:, 0], seen.parent), axis=-1)
        found.append((seen.local[0], seen.offsets[0], base[0], seen.end[0]))
    rotations, offsets, bases, ends = (np.array(part) for part in zip(*found, strict=True))
    return rotations, offsets, bases, ends


def steps(rotations: np.ndarray) -> np.ndarray:
    """The angles (F - 1, n) [rad] by which joints turn from frame to frame."""
    return rotation.distance(rotations[1:], rotations[:-1])


def check(armature: bpy.types.Object, chain, radius: float = 0.18, tilt: float = 1.0) -> None:
    """The laws for one limb and one path."""
    target = circling(armature, chain, radius, tilt)
    before, offsets, _, _ = local(armature, chain)
    goal = effector_goal.Goal(targets.Target(target))
    range_ = options.BakeOptions(FRAMES[0], FRAMES[-1])
    result = scenes.finish(bake.bake_goal(bpy.context.scene, chain, goal, solving.IKTuning(), range_))
    after, _, bases, ends = local(armature, chain)
    length = np.linalg.norm(offsets, axis=-1).sum(axis=-1)
    assert result.in_reach.all()
    scale = np.linalg.norm(np.array(armature.matrix_world)[:3, 0])
    assert (result.error <= LARGEST_ERROR * length * scale).all()
    stiff = [joint.part.id in STIFF for joint in body_joints.joints(armature, chain.joints)]
    assert (rotation.distance(before, after)[:, stiff] < LARGEST_WRIST).all()
    # What the target needs: the animated motion and the smallest rotations from the previous pose.
    follow = rotation.multiply(before[1:], rotation.multiply(rotation.inverse(before[:-1]), after[:-1]))
    least = ik.solve(
        offsets[1:], follow, ends[1:], method="nearest_pose", base=bases[1:], posture=chain.posture, tolerance=1e-6
    )
    needed = steps(before) + rotation.distance(least.rotations, follow)
    assert steps(after).max() <= LARGEST_SPEED * needed.max()


# Built characters


@pytest.fixture
def hero() -> bpy.types.Object:
    """A figure with arms and legs of several bones, in a T-pose: elbows and knees are straight."""
    return scenes.figure(rows=ROWS)


def _mirrored(rows):
    for name, parent, head, tail in rows:
        yield name, parent, head, tail
        sides = name.replace(".L", ".R"), parent.replace(".L", ".R")
        yield (*sides, (-head[0], *head[1:]), (-tail[0], *tail[1:]))


LIMBS = (
    ("upper_arm.L", "chest", (0.15, 0, 1.45), (0.45, 0, 1.45)),
    ("forearm.L", "upper_arm.L", (0.45, 0, 1.45), (0.72, 0, 1.45)),
    ("hand.L", "forearm.L", (0.72, 0, 1.45), (0.9, 0, 1.45)),
    ("f_index.01.L", "hand.L", (0.9, 0, 1.45), (0.94, 0, 1.45)),
    ("f_index.02.L", "f_index.01.L", (0.94, 0, 1.45), (0.97, 0, 1.445)),
    ("f_index.03.L", "f_index.02.L", (0.97, 0, 1.445), (0.99, 0, 1.435)),
    ("thigh.L", "hips", (0.1, 0, 0.95), (0.1, 0, 0.5)),
    ("shin.L", "thigh.L", (0.1, 0, 0.5), (0.1, 0, 0.08)),
    ("foot.L", "shin.L", (0.1, 0, 0.08), (0.1, -0.14, 0.02)),
)
TORSO = (
    ("hips", "", (0, 0, 0.95), (0, 0, 1.1)),
    ("spine", "hips", (0, 0, 1.1), (0, 0, 1.25)),
    ("chest", "spine", (0, 0, 1.25), (0, 0, 1.5)),
    ("neck", "chest", (0, 0, 1.5), (0, 0, 1.6)),
    ("head", "neck", (0, 0, 1.6), (0, 0, 1.8)),
    ("tail.01", "hips", (0, 0.1, 0.95), (0, 0.3, 0.9)),
    ("tail.02", "tail.01", (0, 0.3, 0.9), (0, 0.5, 0.87)),
    ("tail.03", "tail.02", (0, 0.5, 0.87), (0, 0.7, 0.86)),
)
ROWS = (*TORSO, *_mirrored(LIMBS))


@pytest.mark.parametrize(
    ("effector", "at_tip", "expected"),
    [
        ("hand.L", False, "upper_arm.L:shoulder forearm.L:elbow"),
        ("hand.L", True, "upper_arm.L:shoulder forearm.L:elbow hand.L:wrist"),
        ("foot.R", False, "thigh.R:hip shin.R:knee"),
        ("f_index.03.L", True, "f_index.01.L:knuckle f_index.02.L:finger f_index.03.L:finger"),
        ("tail.03", True, "tail.01:tail tail.02:tail tail.03:tail"),
        ("head", False, "spine:spine chest:spine neck:neck"),
    ],
)
def test_the_chain_is_the_limb(hero, effector, at_tip, expected) -> None:
    chain = limb(hero, effector, at_tip=at_tip)
    found = [f"{joint.bone}:{joint.part.id}" for joint in body_joints.joints(hero, chain.joints)]
    assert " ".join(found) == expected


def test_a_pin_ends_the_limb(hero) -> None:
    hero.pose.bones["tail.01"].lookat_pd_ik_pin = True
    assert limb(hero, "tail.03", at_tip=True).joints == ("tail.02", "tail.03")


@pytest.mark.parametrize("effector", ["hand.L", "hand.R", "foot.L", "foot.R"])
def test_straight_limbs_fold_to_the_right_side(hero, effector) -> None:
    """Elbows point back and knees forward, although the rest pose is straight."""
    chain = limb(hero, effector)
    target = circling(hero, chain, 0.15, 1.0)
    range_ = options.BakeOptions(FRAMES[0], FRAMES[-1])
    goal = effector_goal.Goal(targets.Target(target))
    scenes.finish(bake.bake_goal(bpy.context.scene, chain, goal, solving.IKTuning(), range_))
    for frame in FRAMES[::6]:
        bones = hero.evaluated_get(scenes.goto(frame)).pose.bones
        base, middle, end = (np.array(bones[name].head) for name in (*chain.joints, effector))
        line = (end - base) / np.linalg.norm(end - base)
        bend = middle - base - line * ((middle - base) @ line)
        # The character faces -Y.
        assert bend[1] < -0.05 if "foot" in effector else bend[1] > 0.05


@pytest.mark.thorough
@pytest.mark.parametrize("effector", ["hand.L", "foot.R", "tail.03"])
@pytest.mark.parametrize(("radius", "tilt"), [(0.12, 1.0), (0.18, 2.5)])
def test_the_laws_on_a_built_character(hero, effector, radius, tilt) -> None:
    check(hero, limb(hero, effector, at_tip=effector != "foot.R"), radius, tilt)


def test_a_target_that_passes_behind_makes_no_snap(hero) -> None:
    """Opposite to the animated arm the nearest pose changes abruptly; the bake spreads the change."""
    chain = limb(hero, "hand.L")
    item = scenes.ball(name="Target")
    for frame in FRAMES:
        t = np.pi * (frame - FRAMES[0]) / (len(FRAMES) - 1)
        item.location = 0.15 - 0.45 * np.sin(t), 0.02, 1.45 + 0.45 * np.cos(t)
        item.keyframe_insert("location", frame=frame)
    goal = effector_goal.Goal(targets.Target(item))
    range_ = options.BakeOptions(FRAMES[0], FRAMES[-1])
    result = scenes.finish(bake.bake_goal(bpy.context.scene, chain, goal, solving.IKTuning(), range_))
    assert result.error.max() < 1e-4
    # The target turns by 3 degrees a frame around the shoulder.
    assert steps(local(hero, chain)[0]).max() < 2.5 * np.pi / (len(FRAMES) - 1)


def test_custom_values_replace_the_detected_ones(hero) -> None:
    settings = hero.pose.bones["hand.L"].lookat_pd_ik_joint
    settings.use_custom = True
    assert settings.stiffness == pytest.approx(body_joints.PARTS["wrist"].stiffness)
    settings.stiffness = 0.25
    assert limb(hero, "hand.L", at_tip=True).posture.stiffness[2] == pytest.approx(0.25)
    elbow = hero.pose.bones["forearm.L"].lookat_pd_ik_joint
    elbow.use_custom = True
    assert (elbow.minimum, elbow.maximum) == pytest.approx(body_joints.PARTS["elbow"].bend)
    elbow.maximum = np.radians(60.0)
    chain = limb(hero, "hand.L", at_tip=True)
    target = circling(hero, chain, 0.05, 1.0)
    goal, range_ = effector_goal.Goal(targets.Target(target)), options.BakeOptions(FRAMES[0], FRAMES[0] + 9)
    scenes.finish(bake.bake_goal(bpy.context.scene, chain, goal, solving.IKTuning(), range_))
    bends = rotation.angle(local(hero, chain)[0][:10, 1])
    assert bends.max() < np.radians(62.0)


# Shared rigs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "effector", "at_tip"),
    [
        ("bvh/cmu_131_01_start_walk_stop.bvh", "LeftWrist", False),
        ("bvh/cmu_131_01_start_walk_stop.bvh", "LeftWrist", True),
        ("bvh/cmu_131_01_start_walk_stop.bvh", "RightAnkle", False),
        ("fbx/cmu_91_48.fbx", "lHand", True),
        ("fbx/cmu_91_48.fbx", "rFoot", False),
        ("gltf/kaykit_knight.glb", "hand.l", False),
        ("gltf/kaykit_knight.glb", "foot.l", False),
        ("gltf/khronos_fox.glb", "b_Tail03_014", True),
        ("gltf/khronos_fox.glb", "b_LeftFoot01_017", False),
        ("gltf/khronos_fox.glb", "b_LeftHand_011", False),
        ("gltf/m2m_snake.glb", "tail_tip", True),
        ("vrm/cryptovoxels.vrm", "Left wrist", True),
        ("vrm/cryptovoxels.vrm", "Right ankle", False),
    ],
    ids=str,
)
def test_the_laws_on_rigs_of_other_makers(rigs: Path, file, effector, at_tip) -> None:
    armature = kept.rig(rigs / file)
    check(armature, limb(armature, effector, at_tip=at_tip))


@pytest.mark.slow
@pytest.mark.parametrize(("effector", "at_tip"), [("hand_fk.L", True), ("foot_fk.L", False)])
def test_the_laws_on_a_rigify_human(effector, at_tip) -> None:
    rig = kept.human()
    for name in ("upper_arm_parent.L", "thigh_parent.L"):
        rig.pose.bones[name]["IK_FK"] = 1.0
    chain = limb(rig, effector, at_tip=at_tip)
    assert chain.joints[0] in ("upper_arm_fk.L", "thigh_fk.L")
    check(rig, chain)


@pytest.mark.slow
@pytest.mark.parametrize(("goal", "control"), [("hand_ik.L", "hand_fk.L"), ("foot_ik.R", "foot_fk.R")])
def test_the_ik_control_of_a_limb_names_the_control_that_turns_it(goal, control) -> None:
    with pytest.raises(load("lookat_pd.errors").RigError, match=f"choose '{control}'"):
        chains.resolve(kept.human(), goal)
