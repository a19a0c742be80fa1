"""Inverse kinematics baked on real characters: a generated Rigify human, and rigs from other makers."""

from pathlib import Path

import bpy
import numpy as np
import pytest

import kept
from extension import load

from .. import scenes

ik_bake = load("rig.ik.chain_bake")
ik_chain = load("rig.detection.joint_chain")
effector_goal = load("rig.ik.effector_goal")
pose = load("rig.ik.pose")
solving = load("rig.ik.chain_solve")
contacts = load("rig.ik.contacts")
detection = load("lookat_pd.body.contacts")
bake = load("rig.look_at.look_at_bake")
sample = load("rig.sampling.sampler")
errors = load("lookat_pd.errors")
actions = load("rig.animation.actions")
rigs_of_scene = load("cli.rigs")
scene_files = load("cli.scene_files")
console = load("cli.console")
bake_options = load("rig.animation.bake_options")
targets = load("rig.sampling.targets")

FRAMES = range(1, 41)


def moving_target(armature: bpy.types.Object, chain, part: float = 0.25) -> bpy.types.Object:
    """Something that moves near the base of a chain, always in reach."""
    depsgraph = scenes.goto(FRAMES[0])
    seen = pose.evaluated(chain, armature.evaluated_get(depsgraph).pose.bones)
    reach = float(seen.reachable_distance[0])
    item = scenes.ball(name="Target")
    anchor = scenes.ball(name="Anchor")
    # It goes along with what the chain hangs on.
    if chain.parent:
        scenes.child(anchor, armature, chain.parent)
    else:
        anchor.parent = armature
    bpy.context.view_layer.update()
    middle = seen.positions[0, 0] + 0.75 * (seen.end[0] - seen.positions[0, 0])
    item.parent = anchor
    item.matrix_parent_inverse = anchor.matrix_world.inverted() @ armature.matrix_world
    for frame in (1, 10, 20, 30, 40):
        away = part * reach * np.array([np.sin(frame), np.cos(1.3 * frame), np.sin(0.7 * frame)]) / 1.8
        item.location = middle + away
        item.keyframe_insert("location", frame=frame)
    return item


def measured(armature: bpy.types.Object, bone: str, target: bpy.types.Object, end: str) -> np.ndarray:
    """How far (F,) the evaluated bone's end is from the target."""
    found = []
    for frame in FRAMES:
        depsgraph = scenes.goto(frame)
        seen = armature.evaluated_get(depsgraph)
        point = seen.matrix_world @ getattr(seen.pose.bones[bone], end)
        found.append((point - target.evaluated_get(depsgraph).matrix_world.translation).length)
    return np.array(found)


def run(chain, target, **goal):
    steps = ik_bake.bake_goal(
        bpy.context.scene,
        chain,
        effector_goal.Goal(targets.Target(target), **goal),
        solving.IKTuning(),
        bake_options.BakeOptions(FRAMES[0], FRAMES[-1]),
    )
    return scenes.finish(steps)


# Rigify


@pytest.fixture
def rigify() -> bpy.types.Object:
    rig = kept.human()
    for name in ("upper_arm_parent.L", "thigh_parent.L"):
        rig.pose.bones[name]["IK_FK"] = 1.0
    return rig


@pytest.mark.slow
@pytest.mark.parametrize(
    ("effector", "base", "skin"),
    [("hand_fk.L", "upper_arm_fk.L", "DEF-hand.L"), ("foot_fk.L", "thigh_fk.L", "DEF-foot.L")],
)
@pytest.mark.parametrize("turn_effector", [False, True], ids=["along", "kept"])
def test_rigify_fk_controls(rigify, effector, base, skin, turn_effector) -> None:
    chain = ik_chain.resolve(rigify, effector, base=base, at_tip=False, turn_effector=turn_effector)
    assert len(chain.joints) == 2 and not any(ik_chain.is_mechanism(rigify.pose.bones[name]) for name in chain.bones)
    target = moving_target(rigify, chain)
    before = scenes.poses(rigify, FRAMES, (effector,))[:, 0, :3, :3]
    result = run(chain, target, orientation="KEEP" if turn_effector else "FREE")
    assert result.measured and result.in_reach.sum() > 30
    # The control, and the bone that bends the skin.
    for bone in (effector, skin):
        assert np.median(measured(rigify, bone, target, "head")[result.in_reach]) < 1e-3
    if turn_effector:
        after = scenes.poses(rigify, FRAMES, (effector,))[:, 0, :3, :3]
        assert np.abs(after - before).max() < 2e-3


def test_rigify_fk_length_counts_controls_only(rigify) -> None:
    assert ik_chain.resolve(rigify, "hand_fk.L", length=2, at_tip=False).joints == ("upper_arm_fk.L", "forearm_fk.L")


@pytest.mark.parametrize("bone", ["DEF-hand.L", "ORG-hand.L"])
def test_rigify_mechanism_is_refused(rigify, bone) -> None:
    with pytest.raises(errors.RigError, match="is not a control of this Rigify rig"):
        ik_chain.resolve(rigify, bone, length=2, at_tip=True)


# Others


def _read(path: Path) -> None:
    with console.Console() as quiet:
        scene_files.load(path, None, quiet)


def opened(path: Path) -> bpy.types.Object:
    """The armature of a file that the command line has read."""
    kept.scene(_read, path)
    return rigs_of_scene.choose(bpy.context.scene, None, [])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "effector", "length", "at_tip"),
    [
        ("bvh/cmu_131_01_start_walk_stop.bvh", "LeftWrist", 2, False),
        ("bvh/cmu_131_01_start_walk_stop.bvh", "RightAnkle", 2, False),
        ("bvh/fair1_dab.bvh", "RightHand", 2, False),
        ("fbx/cmu_91_48.fbx", "lHand", 3, False),
        ("fbx/cmu_91_48.fbx", "rFoot", 2, False),
        ("gltf/kaykit_knight.glb", "hand.l", 3, False),
        ("gltf/robot_expressive.glb", "Hand.L", 2, False),
        ("gltf/khronos_fox.glb", "b_Tail03_014", 3, True),
        ("gltf/m2m_snake.glb", "", 5, True),
        ("gltf/godot_platformer_robot.glb", "", 2, True),
        ("vrm/cryptovoxels.vrm", "", 2, False),
    ],
    ids=str,
)
def test_rigs_of_other_makers(rigs: Path, file, effector, length, at_tip) -> None:
    armature = opened(rigs / file)
    names = armature.pose.bones.keys()
    if effector not in names:
        effector = _tip(armature, effector, length)
    chain = ik_chain.resolve(armature, effector, length=length, at_tip=at_tip)
    target = moving_target(armature, chain)
    result = run(chain, target)
    assert result.in_reach.sum() >= 20
    seen = pose.evaluated(chain, armature.evaluated_get(scenes.goto(1)).pose.bones)
    size = np.linalg.norm(np.array(armature.matrix_world)[:3, :3], axis=0).mean()
    found = measured(armature, effector, target, "tail" if at_tip else "head")[result.in_reach]
    # An arm is 60 cm long.
    assert np.median(found) < 1e-3 * float(seen.reachable_distance[0]) * size
    assert np.median(found) < 1e-3 or size * float(seen.reachable_distance[0]) > 1.0


def _tip(armature: bpy.types.Object, like: str, length: int) -> str:
    """A bone with enough bones above it, of a name like that."""
    bones = [bone for bone in armature.pose.bones if len(bone.parent_recursive) > length + 1]
    named = [bone for bone in bones if like and like.lower() in bone.name.lower()]
    return (named or sorted(bones, key=lambda bone: -len(bone.parent_recursive)))[0].name


@pytest.mark.parametrize(
    ("file", "effector"),
    [
        ("bvh/cmu_131_01_start_walk_stop.bvh", "LeftWrist"),
        ("bvh/fair1_dab.bvh", "RightHand"),
        ("gltf/robot_expressive.glb", "Hand.L"),
        ("gltf/kaykit_knight.glb", "hand.l"),
    ],
    ids=str,
)
def test_hands_keep_their_orientation(rigs: Path, file, effector) -> None:
    """On rigs of other makers, in the armature's space."""
    armature = opened(rigs / file)
    if effector not in armature.pose.bones:
        effector = _tip(armature, effector, 2)
    chain = ik_chain.resolve(armature, effector, length=2, at_tip=False, turn_effector=True)
    target = moving_target(armature, chain, 0.15)

    def axes() -> np.ndarray:
        found = scenes.poses(armature, FRAMES, (effector,))[:, 0, :3, :3]
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    before = axes()
    result = run(chain, target, orientation="KEEP")
    assert result.in_reach.sum() >= 20
    assert np.abs(axes() - before).max() < 2e-3


@pytest.mark.parametrize(
    ("file", "foot"),
    [("bvh/cmu_131_01_start_walk_stop.bvh", "LeftAnkle"), ("bvh/cmu_131_01_start_walk_stop.bvh", "RightAnkle")],
    ids=str,
)
def test_recorded_feet_stand_still(rigs: Path, file, foot) -> None:
    """Contacts found in a recorded walk: the evaluated foot, which slid by centimetres, is fixed in the world."""
    armature = opened(rigs / file)
    chain = ik_chain.resolve(armature, foot, length=2, at_tip=False, turn_effector=True)
    range_ = bake_options.BakeOptions(1, 400)

    def places() -> np.ndarray:
        found = []
        for frame in range(1, 401):
            seen = armature.evaluated_get(scenes.goto(frame))
            found.append(seen.matrix_world @ seen.pose.bones[foot].head)
        return np.array(found)

    seen = pose.evaluated(chain, armature.evaluated_get(scenes.goto(1)).pose.bones)
    # A leg is 80 cm long.
    metre = float(seen.reachable_distance[0]) * np.linalg.norm(np.array(armature.matrix_world)[:3, 0]) / 0.8
    before = places()
    touch = contacts.Touch(contacts.Contact(detection.Detection()))
    steps = contacts.clean_up(bpy.context.scene, chain, touch, solving.IKTuning(), range_)
    result = scenes.finish(steps)
    after = places()
    assert 2 <= len(result.intervals) <= 6
    slid = 0.0
    for first, last in result.intervals:
        inside = slice(first - 1, last)
        slid = max(slid, np.linalg.norm(np.ptp(before[inside], axis=0)) / metre)
        assert np.linalg.norm(np.ptp(after[inside], axis=0)) < 1e-3 * metre
    assert slid > 0.01
    # No leap on the way in or out.
    quick, was = (np.linalg.norm(np.diff(places, axis=0), axis=-1).max() for places in (after, before))
    assert quick < 1.5 * was
