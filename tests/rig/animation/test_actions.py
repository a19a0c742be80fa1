"""Where a bake puts its keys: only the chain's rotation changes, the source and all else stays as it was."""

import bpy
import numpy as np
import pytest

from extension import load
from grids import diagonal

from .. import scenes
from ..scenes import CHAIN, LAST, MODES, aim, animate, ball, figure, keyed, run_bake, swaying

actions = load("rig.animation.actions")
bake = load("rig.look_at.look_at_bake")
look_at = load("rig.look_at.resolve")
errors = load("lookat_pd.errors")

INTO = ("NEW", "CURRENT", "LAYER")
MIXED = ("QUATERNION", "YZX", "AXIS_ANGLE", "XYZ")
into_any = pytest.mark.parametrize("into", INTO)


def dressed():
    """A swaying character whose curves have everything curves can have, in bones that are in the chain and not."""
    scene = swaying(modes=MIXED, bones=(*CHAIN, "upper_arm.L", "hand.L", "thigh.R"))
    armature = scene.armature
    keyed(armature, "location", [(1, (0, 0, 0)), (30, (0.1, 0.2, 0))])
    for name in CHAIN:
        keyed(armature.pose.bones[name], "scale", [(1, (1, 1, 1)), (30, (1.1, 1.1, 1.1))])
        keyed(armature.pose.bones[name], "location", [(1, (0, 0, 0)), (30, (0.0, 0.01, 0.0))])
    kinds = ("BOUNCE", "CONSTANT", "LINEAR", "BEZIER")
    data = armature.animation_data
    for n, curve in enumerate(actions.channelbag(data.action, data.action_slot).fcurves):
        if any(f'"{bone}"].rotation' in curve.data_path for bone in CHAIN):
            continue
        curve.extrapolation = ("CONSTANT", "LINEAR")[n % 2]
        curve.color_mode, curve.lock, curve.hide = "CUSTOM", n % 3 == 0, n % 5 == 0
        for k, point in enumerate(curve.keyframe_points):
            point.interpolation, point.type = kinds[(k + n) % 4], ("EXTREME", "JITTER")[k % 2]
        if n % 2:
            curve.modifiers.new("NOISE").strength = 0.01
    return scene


def concerned(key: tuple[str, str, int]) -> bool:
    """Whether a curve, by the key it has in `scenes.curves`, is the rotation of a bone of the chain."""
    return any(key[1].startswith(f'pose.bones["{bone}"].rotation') for bone in CHAIN)


def test_new_action_differs_in_the_rotation_of_the_chain_only() -> None:
    scene = dressed()
    source = scene.armature.animation_data.action
    before = scenes.curves(source)
    result = run_bake(scene.armature)[0]
    assert result.action is not source and scene.armature.animation_data.action == result.action
    assert not scenes.differences(before, scenes.curves(source))
    assert source.use_fake_user
    after = scenes.curves(result.action)
    assert list(before) == list(after)
    assert all(before[key] == after[key] for key in before if not concerned(key))
    assert all(before[key] != after[key] for key in before if concerned(key))


def test_current_action_differs_in_the_rotation_of_the_chain_only() -> None:
    scene = dressed()
    source = scene.armature.animation_data.action
    count, users = len(bpy.data.actions), source.users
    before = scenes.curves(source)
    result = run_bake(scene.armature, into="CURRENT")[0]
    assert result.action == source == scene.armature.animation_data.action
    assert (len(bpy.data.actions), source.users) == (count, users)
    after = scenes.curves(source)
    assert list(before) == list(after)
    assert all(before[key] == after[key] for key in before if not concerned(key))


def test_layer_holds_only_the_chains_rotation_and_the_source_is_untouched() -> None:
    scene = dressed()
    source = scene.armature.animation_data.action
    before = scenes.curves(source)
    result = run_bake(scene.armature, into="LAYER")[0]
    assert not scenes.differences(before, scenes.curves(source))
    assert all(concerned(key) for key in scenes.curves(result.action))
    track = scene.armature.animation_data.nla_tracks[-1]
    assert [strip.blend_type for strip in track.strips] == ["COMBINE"]


@pytest.mark.thorough
@into_any
def test_other_bones_do_not_move(into) -> None:
    scene = dressed()
    others = [bone.name for bone in scene.armature.pose.bones if bone.name not in CHAIN]
    # The strip that an action is moved to ends with the scene.
    frames = np.arange(1 if into == "LAYER" else -10, 80, 0.5)

    def local() -> np.ndarray:
        found = []
        for frame in frames:
            seen = scene.armature.evaluated_get(scenes.goto(frame))
            found.append([np.array(seen.pose.bones[name].matrix_basis) for name in others])
        return np.array(found)

    before = local()
    run_bake(scene.armature, into=into)
    assert np.array_equal(before, local())


@pytest.mark.thorough
@into_any
def test_every_rotation_mode_is_keyed_as_it_is_wanted(into, subtests) -> None:
    """The one place where all destinations meet all modes, each by itself and beside the others."""
    for modes in (*((mode,) for mode in MODES), MODES, MODES[::-1]):
        with subtests.test("+".join(modes)):
            bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
            scene = swaying(modes=modes)
            run_bake(scene.armature, into=into)
            assert scenes.error(scene.armature, scene.place, (1, *scenes.STILL)) < 0.1


@into_any
def test_outside_the_range_nothing_moves(into) -> None:
    """At whole frames and between, but for the steps to and from the baked range."""
    scene = swaying(modes=MODES, frames=(-30, -11, 6, 17, 33, 60))
    outside = np.concatenate((np.arange(-50, 9.0, 0.5), np.arange(36.0, 90, 0.5)))
    before = scenes.animated(scene.armature, outside)
    run_bake(scene.armature, first=10, last=35, into=into)
    after = scenes.poses(scene.armature, outside)
    assert np.abs(after - before).max() <= (0.0 if into == "LAYER" else 2e-6)


@pytest.mark.thorough
@diagonal(into=INTO, modes=[("QUATERNION",), ("XYZ",), ("AXIS_ANGLE",)], keyed_bones=[(), ("neck",)])
def test_posed_but_unkeyed_bones_keep_their_pose(into, modes, keyed_bones) -> None:
    """Bones that stand in a pose without keys: before the first switch-on and after release they stand as posed."""
    scene = swaying(modes=modes, bones=keyed_bones or ("upper_arm.L",))
    if into == "CURRENT" or keyed_bones:
        assert scene.armature.animation_data.action
    else:
        scene.armature.animation_data_clear()
    for name in CHAIN:
        scene.armature.pose.bones[name].rotation_mode = modes[0]
        if name not in keyed_bones:
            scenes.set_rotation(scene.armature.pose.bones[name], (0.2, -0.1, 0.3))
    scenes.settings_keyed(scene.armature, "head", "use", [(1, False), (20, True), (40, False)])
    frames = np.arange(1, 151)
    before = scenes.poses(scene.armature, frames)
    run_bake(scene.armature, last=150, into=into)
    after = scenes.poses(scene.armature, frames)
    assert np.abs(after - before)[:19].max() < 1e-6
    assert np.abs(after - before)[-30:].max() < 1e-6
    assert scenes.error(scene.armature, scene.place, (39,)) < 1.0


@into_any
def test_outside_the_range_unkeyed_bones_do_not_move(into) -> None:
    """What held for bones with keys holds for those without: outside the range they stand as they did."""
    scene = swaying(bones=("upper_arm.L",), frames=(1, 20, 90))
    before = scenes.animated(scene.armature, (10, 80))
    run_bake(scene.armature, first=20, last=70, into=into)
    assert scenes.poses(scene.armature, (10, 80)) == pytest.approx(before, abs=1e-6)


def test_new_action_is_no_longer_than_it_must_be() -> None:
    """A clip baked over its whole length, for a game, keeps that length."""
    scene = swaying()
    result = run_bake(scene.armature, first=1, last=LAST)[0]
    assert tuple(result.action.frame_range) == (1, LAST)


# Animation that is not a plain action


def strip_of(armature: bpy.types.Object, start: int = 1, **settings) -> bpy.types.NlaStrip:
    """The action moved to an NLA strip, as an animator does it."""
    data = armature.animation_data
    action, slot = data.action, data.action_slot
    data.action = None
    strip = data.nla_tracks.new().strips.new("Sway", start, action)
    strip.action_slot = slot
    for name, value in settings.items():
        setattr(strip, name, value)
    return strip


@pytest.mark.thorough
@pytest.mark.parametrize("into", ["NEW", "LAYER"])
@pytest.mark.parametrize(
    "settings",
    [{}, {"start": 30}, {"scale": 1.7}, {"use_reverse": True}, {"influence": 0.5, "use_animated_influence": True}],
    ids=str,
)
def test_aims_over_nla_strips(into, settings) -> None:
    scene = swaying(modes=("QUATERNION", "XYZ"))
    strip_of(scene.armature, **settings)
    run_bake(scene.armature, last=150, into=into)
    assert scenes.error(scene.armature, scene.place, (1, 148, 149, 150)) < 0.1


@pytest.mark.parametrize("into", ["NEW", "LAYER"])
def test_aims_with_muted_and_combined_tracks(into) -> None:
    scene = swaying()
    strip_of(scene.armature)
    animate(scene.armature, seed=4)
    strip_of(scene.armature, blend_type="COMBINE")
    animate(scene.armature, seed=5)
    strip_of(scene.armature)
    scene.armature.animation_data.nla_tracks[-1].mute = True
    run_bake(scene.armature, into=into)
    assert scenes.error(scene.armature, scene.place, (1, *scenes.STILL)) < 0.1


@pytest.mark.parametrize("into", ["NEW", "LAYER"])
def test_action_on_top_of_tracks(into) -> None:
    scene = swaying(modes=("QUATERNION", "XYZ"))
    strip_of(scene.armature)
    animate(scene.armature, seed=4, bones=("head", "neck"), modes=("QUATERNION", "XYZ"))
    run_bake(scene.armature, into=into)
    assert scenes.error(scene.armature, scene.place, (1, *scenes.STILL)) < 0.1


@into_any
def test_slot_in_use_is_the_slot_baked(into) -> None:
    """Two slots in one action: only the armature's own gets keys."""
    scene = swaying()
    action = scene.armature.animation_data.action
    other = figure("Other")
    other.animation_data_create().action = action
    slot = other.animation_data.action_slot = action.slots.new("OBJECT", "Other")
    other.pose.bones["head"].keyframe_insert("rotation_quaternion", frame=1)
    before = {key: value for key, value in scenes.curves(action).items() if key[0] == slot.identifier}
    assert before
    result = run_bake(scene.armature, into=into)[0]
    if into != "LAYER":
        after = scenes.curves(result.action)
        assert {key: value for key, value in after.items() if key[0] == slot.identifier} == before
    assert other.animation_data.action == action and other.animation_data.action_slot == slot
    assert scenes.error(scene.armature, scene.place) < 0.1


@into_any
def test_baking_again_on_top_aims_at_the_new_target(into) -> None:
    scene = swaying(modes=MIXED)
    run_bake(scene.armature, into=into)
    scene.target.location = (-0.6, -2, 1.5)
    scene.armature.pose.bones["head"].lookat_pd.mute = False
    run_bake(scene.armature, into=into)
    assert scenes.error(scene.armature, scene.place) < 0.1


# Continuity


def channels_of(armature: bpy.types.Object, bone: str, frames) -> np.ndarray:
    path, _ = actions.channel(armature.pose.bones[bone].rotation_mode)
    found = []
    for frame in frames:
        found.append(list(getattr(armature.evaluated_get(scenes.goto(frame)).pose.bones[bone], path)))
    return np.array(found)


@pytest.mark.thorough
@pytest.mark.parametrize("mode", MODES)
def test_channels_never_jump(mode) -> None:
    """Subframes are fine too: the pose halfway between two frames lies between them."""
    armature, target = figure(), ball()
    animate(armature, modes=(mode,), size=1.2, frames=(1, 12, 24, 36, 48, 60))
    aim(armature, target)
    scenes.settings_keyed(armature, "head", "use", [(1, False), (15, True), (40, False)])
    run_bake(armature, last=80)
    whole = scenes.poses(armature, range(1, 81), CHAIN)
    half = scenes.poses(armature, np.arange(1, 80) + 0.5, CHAIN)
    reach = np.abs(np.diff(whole, axis=0)).max(axis=(1, 2, 3))
    between = np.abs(half - 0.5 * (whole[1:] + whole[:-1])).max(axis=(1, 2, 3))
    assert np.all(between < 0.25 * reach + 1e-3)


@pytest.mark.thorough
@diagonal(mode=MODES, axis=[0, 1, 2])
def test_many_turns_stay_many_turns(mode, axis) -> None:
    """A head that spins three times while it looks (an owl with a screw loose) runs on without jumps."""
    armature, target = figure(), ball()
    armature.animation_data_create()
    bone = armature.pose.bones["head"]
    bone.rotation_mode = mode
    for frame in range(1, 62, 3):
        angle = 6 * np.pi * (frame - 1) / 60
        if mode == "AXIS_ANGLE":
            bone.rotation_axis_angle = (angle, *np.eye(3)[axis])
        elif mode == "QUATERNION":
            bone.rotation_quaternion = (np.cos(angle / 2), *(np.sin(angle / 2) * np.eye(3)[axis]))
        else:
            bone.rotation_euler = angle * np.eye(3)[axis]
        bone.keyframe_insert(actions.channel(mode)[0], frame=frame)
    aim(armature, target, settle_time=1.0)
    scenes.settings_keyed(armature, "head", "use", [(1, False), (20, True)])
    before = channels_of(armature, "head", range(1, 62))
    run_bake(armature, last=61)
    after = channels_of(armature, "head", range(1, 62))
    assert np.array_equal(before[:20], after[:20])
    step = np.abs(np.diff(after, axis=0)).max(axis=0)
    # An Euler bone may turn two of its angles at once by up to half a turn near gimbal lock, no more.
    assert step.max() < (1.2 if mode in ("QUATERNION",) else 2.0 if mode == "AXIS_ANGLE" else np.pi + 0.5)


@pytest.mark.thorough
@pytest.mark.parametrize("mode", scenes.EULER)
def test_through_gimbal_lock(mode) -> None:
    """The middle angle passes through 90 degrees: still the right pose at every frame and not a number missing."""
    armature, target = figure(), ball()
    armature.animation_data_create()
    bone = armature.pose.bones["head"]
    bone.rotation_mode = mode
    angles = np.zeros(3)
    for frame, middle in ((1, 0.0), (15, np.pi / 2), (20, np.pi / 2), (40, np.pi), (60, 0.0)):
        angles["XYZ".index(mode[1])] = middle
        bone.rotation_euler = angles
        bone.keyframe_insert("rotation_euler", frame=frame)
    aim(armature, target)
    scenes.settings_keyed(armature, "head", "use", [(1, False), (30, True)])
    before = scenes.poses(armature, range(1, 30))
    run_bake(armature, last=90)
    assert scenes.poses(armature, range(1, 30)) == pytest.approx(before, abs=1e-6)
    assert np.all(np.isfinite(scenes.poses(armature, range(1, 91))))


@pytest.mark.parametrize("verified", [False, True])
def test_angular_acceleration_stays_what_the_controller_gives(verified) -> None:
    """Switched on and off on a still pose: no frame-to-frame jump of velocity beyond (2 pi / T)^2 times the turn."""
    armature, target = figure(), ball()
    animate(armature, size=0.0)
    if verified:
        constraint = armature.pose.bones["neck"].constraints.new("COPY_ROTATION")
        constraint.target, constraint.subtarget, constraint.influence = armature, "hand.R", 0.3
        armature.pose.bones["chest"].scale = (1.2, 1.0, 0.9)
    aim(armature, target, settle_time=0.5)
    scenes.settings_keyed(armature, "head", "use", [(1, False), (20, True), (60, False)])
    run_bake(armature, last=120)
    dt = 1.0 / 24.0
    for bone in CHAIN:
        turned = scenes.basis(armature, range(1, 121), bone)
        angle = 2.0 * np.arctan2(np.linalg.norm(turned[:, 1:], axis=1), np.abs(turned[:, 0]))
        acceleration = np.abs(np.diff(angle, 2)) / dt**2
        assert acceleration.max() < 1.3 * (2 * np.pi / 0.5) ** 2 * angle.max() + 0.1


@pytest.mark.parametrize("of", ["curve", "group"])
def test_muted_curves_are_baked_from_what_is_seen(of) -> None:
    """A muted curve plays nothing: its bone stands as posed, and the new action's curve is not muted."""
    scene = swaying()
    data = scene.armature.animation_data
    curve = actions.channelbag(data.action, data.action_slot).fcurves.find('pose.bones["head"].rotation_quaternion')
    curve.group = actions.channelbag(data.action, data.action_slot).groups.new("head")
    (curve if of == "curve" else curve.group).mute = True
    before = scenes.curves(data.action)
    run_bake(scene.armature)
    assert scenes.error(scene.armature, scene.place, (1, *scenes.STILL)) < 0.1
    assert not scenes.differences(before, scenes.curves(bpy.data.actions["Sway"]))


@pytest.mark.parametrize("kind", ["CYCLES", "NOISE"])
def test_modified_curves_are_baked_into_new_actions_and_layers(kind) -> None:
    for into in ("NEW", "LAYER"):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        scene = swaying(frames=(1, 5, 9))
        data = scene.armature.animation_data
        for curve in actions.channelbag(data.action, data.action_slot).fcurves:
            modifier = curve.modifiers.new(kind)
            if kind == "NOISE":
                modifier.strength = 0.02
        run_bake(scene.armature, first=-20, last=100, into=into)
        assert scenes.error(scene.armature, scene.place, (-20,)) < 0.1
