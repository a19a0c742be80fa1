"""The bake on real characters: a generated Rigify human and wolf, and rigs from other makers."""

from pathlib import Path

import bpy
import numpy as np
import pytest

import kept
from extension import load

from .. import scenes
from ..scenes import ball, place_of, run_bake

actions = load("rig.animation.actions")
detect = load("rig.detection.detect")
look_at = load("rig.look_at.resolve")
look_at_edit = load("rig.look_at.edit")
rest = load("rig.detection.rest")
rotation = load("lookat_pd.rotation")

PLAIN, RIGIFY = 0.1, 0.5  # degrees


def forward_of(armature: bpy.types.Object) -> np.ndarray:
    return detect.find_axes(rest.skeleton(armature), rest.hints(armature))[0]


def settled_frames(result) -> list[int]:
    solution = result.solution
    return [int(frame) for frame in result.frames[solution.settled & solution.reachable & (solution.looked_at >= 0)]]


# Rigify


@pytest.fixture
def rigify() -> bpy.types.Object:
    return kept.human()


def follow(rig: bpy.types.Object, head: float, neck: float) -> None:
    torso = rig.pose.bones["torso"]
    torso["head_follow"], torso["neck_follow"] = head, neck


PLACES = ((0.8, -2.0, 1.9), (-1.5, -1.2, 1.3))


@pytest.mark.slow
@pytest.mark.parametrize("follows", [(0.0, 0.5), (0.5, 0.5), (1.0, 1.0), (1.0, 0.0), (0.0, 0.0), (0.3, 0.8)], ids=str)
@pytest.mark.parametrize("place", PLACES, ids=("ahead", "aside"))
def test_rigify_human_aims_however_its_head_follows(rigify, follows, place) -> None:
    follow(rigify, *follows)
    target = ball(place)
    scenes.aim(rigify, target)
    result = run_bake(rigify, last=80)[0]
    frames = settled_frames(result)
    assert 1 in frames and result.measured and result.passes <= 3
    assert scenes.error(rigify, place_of(target), frames) < RIGIFY


@pytest.mark.slow
@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
def test_rigify_human_while_its_follow_properties_are_keyed(rigify, into) -> None:
    torso = rigify.pose.bones["torso"]
    for name, values in (("head_follow", ((1, 0.0), (60, 1.0))), ("neck_follow", ((1, 1.0), (60, 0.0)))):
        for frame, value in values:
            torso[name] = value
            torso.keyframe_insert(f'["{name}"]', frame=frame)
    target = ball((0.8, -2.0, 1.9))
    scenes.aim(rigify, target)
    frames = settled_frames(run_bake(rigify, last=80, into=into)[0])
    assert 1 in frames
    assert scenes.error(rigify, place_of(target), frames) < RIGIFY


@pytest.mark.slow
@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
def test_rigify_human_is_the_animation_before_and_after(rigify, into) -> None:
    """All 706 bones, to the last bit; and no curve but the four controls' rotations changes.

    A layer makes quaternions unit that interpolated keys leave a little shorter: the last bits of the pose differ.
    """
    action = rigify.animation_data.action
    source = scenes.curves(action)
    scenes.aim(rigify, ball((0.8, -2.0, 1.9)))
    scenes.settings_keyed(rigify, "head", "use", [(1, False), (20, True), (40, False)])
    source.update({key: value for key, value in scenes.curves(action).items() if key not in source})
    frames = (1, 10, 19, 130)
    before = scenes.poses(rigify, frames)
    result = run_bake(rigify, last=130, into=into)[0]
    assert np.abs(scenes.poses(rigify, frames) - before).max() <= (5e-5 if into == "LAYER" else 0.0)
    turned = {actions.rotation_path(bone, "QUATERNION") for bone in ("head", "neck", "chest", "hips")}
    after = scenes.curves(result.action)
    if into == "LAYER":
        assert {key[1] for key in after} == turned
        assert not scenes.differences(source, scenes.curves(action))
    else:
        assert not scenes.differences(
            {key: value for key, value in source.items() if key[1] not in turned},
            {key: value for key, value in after.items() if key[1] not in turned},
        )


@pytest.mark.thorough
def test_rigify_head_leads_and_hips_come_last(rigify) -> None:
    rigify.animation_data.action = None
    target = ball((2.0, -1.5, 1.7))
    scenes.aim(rigify, target, settle_time=0.8)
    scenes.settings_keyed(rigify, "head", "use", [(1, False), (10, True)])
    run_bake(rigify, last=140)
    # The head control inherits nothing of the torso here, so body parts are looked at, not controls.
    parts = ("DEF-spine.006", "DEF-spine.004", "DEF-spine.003", "DEF-spine")
    poses = []
    for frame in range(1, 141):
        bones = rigify.evaluated_get(scenes.goto(frame)).pose.bones
        poses.append([np.array(bones[part].matrix) for part in parts])
    turned = rotation.from_matrix(np.array(poses)[..., :3, :3])
    angle = rotation.distance(turned[0], turned)
    times = [int(np.argmax(angle[:, n] > 0.5 * angle[-1, n])) for n in range(len(parts))]
    assert times == sorted(times) and len(set(times)) == len(times)
    assert scenes.error(rigify, place_of(target), (139, 140)) < RIGIFY


def test_rigify_feet_stay(rigify) -> None:
    rigify.animation_data.action = None
    feet = ("DEF-foot.L", "DEF-foot.R")
    before = scenes.poses(rigify, (60,), feet)
    scenes.aim(rigify, ball((1.5, -1.5, 1.5)))
    run_bake(rigify)
    assert scenes.poses(rigify, (60,), feet) == pytest.approx(before, abs=3e-3)


# Rigs from other makers: file, options of the importer.

RIGS = {
    "kaykit_knight": "gltf/kaykit_knight.glb",
    "khronos_fox": "gltf/khronos_fox.glb",
    "m2m_snake": "gltf/m2m_snake.glb",
    "robot_expressive": "gltf/robot_expressive.glb",
    "godot_platformer_robot": "gltf/godot_platformer_robot.glb",
    "cryptovoxels": "vrm/cryptovoxels.vrm",
    "cmu_bvh": "bvh/cmu_131_01_start_walk_stop.bvh",
    "fair1_zombie": "bvh/fair1_zombie.bvh",
    "cmu_fbx": "fbx/cmu_91_48.fbx",
    "m2m_human": "blend/m2m_human_ymca_2025.blend",
    "kaiju": "blend/rig-kaiju.blend",
}


WITHOUT_CLIPS = ("cryptovoxels", "kaiju")


def open_rig(path: Path) -> bpy.types.Object:
    """The armature of a file."""
    if path.suffix == ".blend":
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
        return next(item for item in bpy.context.scene.objects if item.type == "ARMATURE")
    upright = {"axis_forward": "Y", "axis_up": "Z"} if path.name.startswith("fair1") else {}
    return kept.rig(path, **upright)


@pytest.fixture(params=RIGS)
def rig(request: pytest.FixtureRequest, rigs: Path) -> bpy.types.Object:
    return open_rig(rigs / RIGS[request.param])


def around(armature: bpy.types.Object, yaw: float, pitch: float) -> bpy.types.Object:
    """A ball seen at these angles [deg] from the head, a few heights away; it is not the armature's child."""
    forward, up = detect.find_axes(rest.skeleton(armature), rest.hints(armature))
    skeleton = rest.skeleton(armature)
    head = skeleton.heads[skeleton.index(look_at.find_head(armature))]
    size = float(np.linalg.norm(np.ptp(skeleton.heads, axis=0)))
    turn = rotation.exp(np.radians(yaw) * up)
    right = rotation.cross(forward, up)
    way = rotation.rotate(rotation.multiply(turn, rotation.exp(np.radians(pitch) * right)), forward)
    world = np.array(armature.matrix_world)
    return ball(world[:3, :3] @ (head + 3.0 * size * way) + world[:3, 3])


def at_rest(rig: bpy.types.Object) -> None:
    """In rest pose, but for what drivers and constraints make of it."""
    data = rig.animation_data
    if data is not None:
        data.action = None
        for track in list(data.nla_tracks):
            data.nla_tracks.remove(track)
    for bone in rig.pose.bones:
        bone.matrix_basis.identity()


def test_rigs_hold_still_and_look(rig) -> None:
    """At rest, a target ahead, to either side and up: the head aims at it wherever it is in reach."""
    bone, forward, reached = look_at.find_head(rig), forward_of(rig), []
    for place in ((0, 0), (40, 0), (-40, 10), (0, 20)):
        at_rest(rig)
        target = around(rig, *place)
        scenes.aim(rig, target, bone)
        result = run_bake(rig, last=4)[0]
        assert result.solution.settled[0]
        if result.solution.reachable[0]:
            reached.append(place)
            assert scenes.error(rig, place_of(target), (1, 4), bone=bone, forward=forward) < PLAIN, place
        look_at_edit.remove(rig, bone)
    assert (0, 0) in reached and len(reached) >= 2


def play_longest(rig: bpy.types.Object) -> int:
    """Have the armature play its longest clip; its first frame."""
    clips = [item for item in bpy.data.actions if any(slot.target_id_type == "OBJECT" for slot in item.slots)]
    clip = max(clips, key=lambda item: item.frame_range[1] - item.frame_range[0])
    data = rig.animation_data
    data.action = clip
    data.action_slot = next(slot for slot in clip.slots if slot.target_id_type == "OBJECT")
    return int(np.floor(clip.frame_range[0]))


@pytest.mark.slow
@pytest.mark.parametrize("into", ["NEW", "LAYER"])
@pytest.mark.parametrize("rig", [name for name in RIGS if name not in WITHOUT_CLIPS], indirect=True)
def test_rigs_with_their_clips(rig, into) -> None:
    """Off, on, off again: the clip before, the clip after, to the last bit, and no other curve touched."""
    first = play_longest(rig)
    last = first + 140
    action = rig.animation_data.action
    target = around(rig, 25, 5)
    bone = look_at.find_head(rig)
    settings = scenes.aim(rig, target, bone)
    if into == "LAYER":
        # Blender's NLA finds the angle of a combined quaternion by an arc cosine, which knows no angles below 0.02
        # degrees: legs, whose ends are far away, show it. `test_a_bake_changes_only_the_curves_of_the_body` has them.
        settings.body.use_planted_feet = False
    scenes.settings_keyed(rig, bone, "use", [(first, False), (first + 15, True), (first + 40, False)])
    source = scenes.fingerprint(action)
    frames = (first, first + 7, first + 14, last - 1, last)
    before = scenes.poses(rig, frames)
    result = run_bake(rig, first=first, last=last, into=into)[0]
    after = scenes.poses(rig, frames)
    assert np.abs(after - before).max() <= 2e-6 * max(1.0, np.abs(before).max())
    assert source == scenes.fingerprint(action)
    frames = settled_frames(result)
    if frames:
        assert scenes.error(rig, place_of(target), frames, bone=bone, forward=forward_of(rig)) < PLAIN


@pytest.mark.slow
def test_rigs_turn_head_first(rig) -> None:
    """From rest: half of the turn is done by the head before the neck, by the neck before the bones below it."""
    at_rest(rig)
    head = look_at.find_head(rig)
    scenes.aim(rig, around(rig, 45, 0), head, settle_time=0.5)
    chain = [link.bone for link in rig.pose.bones[head].lookat_pd.chain]
    if len(chain) < 2:
        pytest.skip("this rig has nothing but a head to turn")
    scenes.settings_keyed(rig, head, "use", [(1, False), (5, True)])
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = 60, 1.0
    run_bake(rig, last=150)
    times = []
    for bone in chain:
        turned = scenes.basis(rig, range(1, 151), bone)
        angle = rotation.distance(turned[:1], turned)
        times.append(int(np.argmax(angle > 0.5 * angle[-1])))
    assert times == sorted(times), dict(zip(chain, times, strict=True))
