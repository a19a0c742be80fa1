"""Rigs from other makers: keys are hit, tails swing, hands arrive, on whatever bones and scales they have."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

import kept
from comparison import largest_degrees
from extension import load

from .. import scenes

interpolation = load("rig.dynamics.interpolation")
masses = load("rig.dynamics.masses")
meshes = load("rig.dynamics.meshes")
reaching = load("rig.dynamics.reaching")
sample = load("rig.sampling.sampler")
engine = load("lookat_pd.dynamics.engine")
targets = load("rig.sampling.targets")

pytestmark = pytest.mark.skipif(not engine.available(), reason="needs the physics engine")

# File, clip, bones that move, frames of poses: the last file begins with a leap out of its bind pose.
MOVED = [
    ("gltf/kaykit_knight.glb", "Walking_A", ("upperarm.l", "lowerarm.l", "chest"), (0, 8, 16, 24)),
    ("gltf/khronos_fox.glb", "Walk", ("b_Tail01_012", "b_Tail02_013", "b_Tail03_014"), (0, 6, 12, 17)),
    ("gltf/m2m_snake.glb", "Idle", ("tail05", "tail06", "tail07", "tail08"), (1, 20, 40, 55)),
    ("gltf/robot_expressive.glb", "Wave", ("UpperArm.R", "LowerArm.R"), (0, 12, 30, 44)),
    ("bvh/fair1_dab.bvh", "fair1_dab", ("RightArm", "RightForeArm", "Spine2"), (1, 60, 120, 200)),
    ("fbx/cmu_91_48.fbx", None, ("rShldr", "rForeArm"), (5, 30, 60, 110)),
]


def read(path: Path, clip: str | None) -> bpy.types.Object:
    """The armature of a file, playing a clip of it."""
    armature = kept.rig(path, **({"update_scene_duration": True} if path.suffix == ".bvh" else {}))
    data = armature.animation_data
    for track in data.nla_tracks:
        track.mute = True
    if clip is not None:
        data.action = next(action for action in bpy.data.actions if action.name.startswith(clip))
        data.action_slot = next(slot for slot in data.action.slots if slot.target_id_type in ("OBJECT", "UNSPECIFIED"))
    return armature


def local(armature: bpy.types.Object, bones: Any, frames: Any) -> Any:
    """Rotations (F, b, 4) of the bones' own channels, as Blender evaluates them."""
    found = np.empty((len(frames), len(bones), 4))
    for k, frame in enumerate(frames):
        bpy.context.scene.frame_set(int(frame))
        for n, bone in enumerate(bones):
            found[k, n] = armature.pose.bones[bone].matrix_basis.to_quaternion()
    return found


on_all = pytest.mark.parametrize("row", MOVED, ids=[row[0] for row in MOVED])


@on_all
def test_poses_are_hit(rigs: Path, row: Any) -> None:
    name, clip, bones, frames = row
    armature = read(rigs / name, clip)
    before = local(armature, bones, frames)
    request = interpolation.InterpolationRequest(bones, poses=tuple(float(frame) for frame in frames))
    result = scenes.finish(interpolation.start(bpy.context.scene, armature, request))
    assert result.misses == []
    assert largest_degrees(local(armature, bones, frames), before) < 0.05
    assert np.isfinite(result.motion.torques).all()


@on_all
def test_passive_bones_stay_bounded_and_move(rigs: Path, row: Any) -> None:
    name, clip, bones, frames = row
    armature = read(rigs / name, clip)
    bpy.context.scene.lookat_pd_dynamics.passive = True
    request = interpolation.InterpolationRequest(bones, poses=(float(frames[0]), float(frames[-1])), use_gravity=False)
    result = scenes.finish(interpolation.start(bpy.context.scene, armature, request))
    turns = local(armature, bones, range(frames[0], frames[-1] + 1))
    assert np.isfinite(turns).all()
    assert largest_degrees(turns[1:], turns[:-1]) < 60.0, "no leap from frame to frame"
    assert result.misses == []


def test_meshes_of_a_knight_weigh_something(rigs: Path) -> None:
    armature = read(rigs / "gltf/kaykit_knight.glb", "Idle")
    measured = scenes.finish(meshes.measure(bpy.context.scene, armature))
    found = masses.of(bpy.context.scene, armature, measured)
    assert found.human and {"chest", "head", "upperarm.l"} <= set(found.bones)
    assert np.all(found.properties.mass > 0.0)
    assert np.all(np.linalg.eigvalsh(found.properties.inertia) > 0.0)


@pytest.mark.parametrize(
    ("file", "human", "least", "most"),
    [
        ("gltf/kaykit_knight.glb", True, 40.0, 120.0),
        ("bvh/cmu_131_01_start_walk_stop.bvh", True, 40.0, 120.0),
        ("bvh/fair1_dab.bvh", True, 40.0, 120.0),
        ("gltf/khronos_fox.glb", False, 3.0, 60.0),
    ],
)
def test_masses_are_plausible(rigs: Path, file: str, human: bool, least: float, most: float) -> None:
    """A skeleton whose bones are named after joints, in inches, and a fox in centimetres, too."""
    armature = kept.rig(rigs / file)
    found = masses.of(bpy.context.scene, armature)
    assert found.human == human and least < found.total < most
    assert masses.warning(armature, found) is None


def test_a_knight_reaches(rigs: Path) -> None:
    armature = read(rigs / "gltf/kaykit_knight.glb", "Idle")
    bpy.context.scene.frame_set(0)
    start = np.array(armature.matrix_world @ armature.pose.bones["hand.l"].head)
    goal = targets.Target(point=tuple(np.add(start, (-0.1, -0.15, 0.15))))
    request = reaching.ReachRequest("hand.l", goal, 0, duration=1.0, length=2)
    result = scenes.finish(reaching.start(bpy.context.scene, armature, request))
    assert result.missed < 1e-3
    bpy.context.scene.frame_set(24)
    seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    assert np.linalg.norm(np.array(seen.matrix_world @ seen.pose.bones["hand.l"].head) - goal.point) < 1e-3


@pytest.mark.parametrize(
    ("name", "clip", "hands", "first"),
    [
        ("gltf/kaykit_knight.glb", "Walking_A", ("hand.l",), 5),
        ("bvh/fair1_dab.bvh", "fair1_dab", ("LeftHand", "RightHand"), 60),
        ("fbx/cmu_91_48.fbx", None, ("lHand", "rHand"), 20),
    ],
)
def test_hands_make_no_larger_step_than_in_the_clip_where_a_reach_begins_arrives_and_ends(
    rigs: Path, name: str, clip: str | None, hands: tuple[str, ...], first: int
) -> None:
    armature = read(rigs / name, clip)
    frames = np.arange(first - 3, first + 45)

    def places() -> Any:
        found = np.empty((len(frames), len(hands), 3))
        for k, frame in enumerate(frames):
            bpy.context.scene.frame_set(int(frame))
            seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
            found[k] = [seen.matrix_world @ seen.pose.bones[hand].head for hand in hands]
        return found

    before = places()
    most = np.linalg.norm(np.diff(before, axis=0), axis=-1).max(axis=0)
    away = 0.03 * max(armature.dimensions) * np.array((0.0, -1.0, 0.6))
    goals = [targets.Target(point=tuple(place + away)) for place in before[3]]
    others = tuple(zip(hands[1:], goals[1:], strict=True))
    request = reaching.ReachRequest(hands[0], goals[0], first, duration=0.5, others=others)
    result = scenes.finish(reaching.start(bpy.context.scene, armature, request))
    steps = np.linalg.norm(np.diff(places(), axis=0), axis=-1)
    for frame in (first, int(result.frames[-1]), int(result.keyed[-1])):
        around = steps[frame - frames[0] - 1 : frame - frames[0] + 1]
        assert np.all(around <= most), (frame, around, most)
