"""Keys interpolated by a body: they are hit, the rest stays, weight shows where it must, mistakes are refused."""

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
import pytest

import kept
from comparison import largest_angle
from extension import load
from lookat_pd import rotation

from .. import scenes

actions = load("rig.animation.actions")
channels = load("rig.animation.channels")
interpolation, masses, presets, setup = (
    load(f"rig.dynamics.{name}") for name in ("interpolation", "masses", "presets", "setup")
)
sample = load("rig.sampling.sampler")
errors = load("lookat_pd.errors")
engine = load("lookat_pd.dynamics.engine")

pytestmark = pytest.mark.skipif(not engine.available(), reason="needs the physics engine")

BONES = ("chest", "upper_arm.L", "hand.L")
KEYS = (1, 6, 13, 20, 60)


def hero(modes: Sequence[str] = ("QUATERNION",), size: float = 0.4, **options: Any) -> bpy.types.Object:
    """A figure whose bones are keyed, the hips among them, which are not interpolated."""
    armature = scenes.figure()
    scenes.animate(armature, modes=modes, bones=("hips", *BONES), size=size, **options)
    return armature


def settings() -> Any:
    return bpy.context.scene.lookat_pd_dynamics


def begin(armature: bpy.types.Object, bones: Sequence[str] = BONES, into: str = "NEW", **request: Any) -> Any:
    wanted = interpolation.InterpolationRequest(tuple(bones), **{"weight": 0.0, **request})
    return interpolation.start(bpy.context.scene, armature, wanted, into)


def run(armature: bpy.types.Object, bones: Sequence[str] = BONES, into: str = "NEW", **request: Any) -> Any:
    return scenes.finish(begin(armature, bones, into, **request))


def sway() -> bpy.types.Action:
    return bpy.data.actions["Sway"]


def curve(action: bpy.types.Action, bone: str, mode: str, index: int) -> Any:
    slot = action.slots[0]
    return actions.channelbag(action, slot).fcurves.find(actions.rotation_path(bone, mode), index=index)


def rotations(armature: bpy.types.Object, action: bpy.types.Action, bone: str, frames: Sequence[float]) -> Any:
    """What a bone's F-curves hold, as quaternions (F, 4)."""
    mode = armature.pose.bones[bone].rotation_mode
    curves = [curve(action, bone, mode, n) for n in range(channels.channel(mode)[1])]
    raw = np.array([[item.evaluate(frame) for item in curves] for frame in frames])
    return channels.to_quaternion(raw, mode)


def contents(action: bpy.types.Action) -> dict[tuple[str, int], str]:
    """All F-curves of an action, to the last bit."""
    found = {}
    for item in actions.channelbag(action, action.slots[0]).fcurves:
        points = item.keyframe_points
        # As text: a key that is no number is not even equal to itself.
        found[item.data_path, item.array_index] = str([(*p.co, *p.handle_left, *p.handle_right) for p in points])
    return found


# What is made


@pytest.mark.every_blender
@pytest.mark.parametrize("mode", scenes.MODES)
def test_keys_are_hit_and_keep_their_numbers(mode: str) -> None:
    armature = hero([mode])
    result = run(armature)
    assert result.misses == []
    assert armature.animation_data.action == result.action != sway()
    for bone in BONES:
        for n in range(channels.channel(mode)[1]):
            old, new = curve(sway(), bone, mode, n), curve(result.action, bone, mode, n)
            assert [new.evaluate(frame) for frame in KEYS] == [old.evaluate(frame) for frame in KEYS]


def test_in_betweens_run_on_in_all_modes_alike() -> None:
    """The same rotations whatever they are written in, without a leap from frame to frame."""
    found = {}
    for mode in scenes.MODES:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        armature = hero([mode], size=0.3)
        action = run(armature).action
        found[mode] = {bone: rotations(armature, action, bone, range(1, 61)) for bone in BONES}
    for mode, turns in found.items():
        for bone in BONES:
            assert largest_angle(turns[bone], found["QUATERNION"][bone]) < 2e-4, (mode, bone)


def test_every_frame_between_the_keys_has_one() -> None:
    armature = hero()
    action = run(armature, first=6, last=20).action
    points = curve(action, "chest", "QUATERNION", 1).keyframe_points
    # Beside the range the curve is held.
    assert [round(point.co.x) for point in points] == [1, 5, *range(6, 21), 21, 60]
    whole = [*range(1, 7), *range(20, 61)]
    assert (
        largest_angle(rotations(armature, action, "chest", whole), rotations(armature, sway(), "chest", whole)) < 1e-5
    )


@pytest.mark.parametrize("into", ["NEW", "CURRENT"])
def test_other_curves_stay_to_the_last_bit(into: str) -> None:
    armature = hero()
    armature.keyframe_insert("location", frame=1)
    before = contents(sway())
    after = contents(run(armature, ["upper_arm.L"], into).action)
    arm = actions.rotation_path("upper_arm.L", "QUATERNION")
    assert {key: value for key, value in after.items() if key[0] != arm} == {
        key: value for key, value in before.items() if key[0] != arm
    }
    assert after != before
    if into == "NEW":
        assert contents(sway()) == before


def test_a_layer_holds_only_the_difference() -> None:
    armature = hero()
    before = contents(sway())
    direct = rotations(armature, run(armature).action, "chest", range(1, 61))
    armature.animation_data.action, armature.animation_data.action_slot = sway(), sway().slots[0]
    result = run(armature, into="LAYER")
    assert contents(sway()) == before
    layered = []
    for frame in range(1, 61):
        bpy.context.scene.frame_set(frame)
        layered.append(tuple(armature.pose.bones["chest"].matrix_basis.to_quaternion()))
    # Blender's Combine takes small angles from their cosines, in single precision.
    assert largest_angle(np.array(layered), direct) < 1.5e-3
    assert result.source == sway()


def test_keys_between_frames_are_hit_where_they_are() -> None:
    armature = scenes.figure()
    scenes.animate(armature, frames=(1.0, 5.6, 12.8, 20.0), bones=BONES, size=0.4)
    result = run(armature)
    for bone in BONES:
        for n in range(4):
            old, new = curve(sway(), bone, "QUATERNION", n), curve(result.action, bone, "QUATERNION", n)
            at = [point.co.x for point in old.keyframe_points]
            assert [new.evaluate(x) for x in at] == [old.evaluate(x) for x in at]


@pytest.mark.parametrize("limit", ["NONE", "TORQUE"])
def test_the_same_at_any_frame_rate(limit: str) -> None:
    """Keys at the same seconds: at 24 and 60 fps the poses at the same seconds differ by less than 0.1 degrees."""
    found = {}
    for rate, stretch in ((24, 2), (60, 5)):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.context.scene.render.fps = rate
        settings().limit, settings().torque = limit, 60.0
        armature = scenes.figure()
        random = np.random.default_rng(3)
        armature.animation_data_create()
        action, slot = actions.new_action("Sway", armature)
        armature.animation_data.action, armature.animation_data.action_slot = action, slot
        for beat in (0, 3, 6, 12):
            for bone in BONES:
                scenes.set_rotation(armature.pose.bones[bone], random.uniform(-0.4, 0.4, 3))
                armature.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=beat * stretch)
        result = run(armature)
        found[rate] = {bone: rotations(armature, result.action, bone, np.arange(0, 13) * stretch) for bone in BONES}
    for bone in BONES:
        assert np.degrees(largest_angle(found[24][bone], found[60][bone])) < 0.1


def test_only_selected_keys_count_or_all() -> None:
    armature = hero()
    for item in actions.channelbag(sway(), sway().slots[0]).fcurves:
        for point in item.keyframe_points:
            point.select_control_point = round(point.co.x) in (1, 20)
    assert list(run(armature).keys) == [1, 20]
    armature.animation_data.action, armature.animation_data.action_slot = sway(), sway().slots[0]
    assert list(run(armature, selected=False).keys) == list(KEYS)


def test_the_original_can_be_compared() -> None:
    armature = hero()
    assert interpolation.compared(armature) is None
    result = run(armature)
    interpolation.swap(armature)
    assert armature.animation_data.action == sway() and armature.animation_data.action_slot == sway().slots[0]
    interpolation.swap(armature)
    assert armature.animation_data.action == result.action
    bpy.data.actions.remove(sway())
    assert interpolation.compared(armature) is None


def test_stopping_leaves_nothing() -> None:
    armature = hero()
    before, count = contents(sway()), len(bpy.data.actions)
    for steps in (0, 1, 30, 60):
        work = begin(armature)
        for _ in range(steps):
            next(work)
        work.close()
        assert armature.animation_data.action == sway() and len(bpy.data.actions) == count
        assert contents(sway()) == before and len(bpy.data.scenes) == 1


# Through the keys


def hinged(*keys: tuple[int, float, str]) -> bpy.types.Object:
    """An upper arm with keys (frame, angle about Z, key type)."""
    armature = scenes.figure()
    scenes.animate(armature, frames=(), bones=())
    arm = armature.pose.bones["upper_arm.L"]
    for frame, angle, kind in keys:
        scenes.set_rotation(arm, (0.0, 0.0, angle))
        arm.keyframe_insert("rotation_quaternion", frame=frame, keytype=kind)
    return armature


def speed_at(armature: bpy.types.Object, action: bpy.types.Action, frame: float) -> float:
    """Of the upper arm about Z [rad/frame]."""
    before, after = rotations(armature, action, "upper_arm.L", [frame - 1, frame + 1])
    return float(rotation.log(rotation.multiply(rotation.inverse(before), after))[2]) / 2.0


def test_a_bone_does_not_stop_at_the_keys_on_its_way() -> None:
    armature = hinged(*((1 + 12 * k, 0.4 * k, "KEYFRAME") for k in range(5)))
    action = run(armature, ["upper_arm.L"]).action
    for frame in (13, 25, 37):
        assert speed_at(armature, action, frame) == pytest.approx(0.4 / 12, rel=0.02)
    settings().tension = 9.0
    action = run(armature, ["upper_arm.L"], at_keys="STOP").action
    before, after = rotations(armature, action, "upper_arm.L", [24, 25])
    assert rotation.distance(before, after) < 0.2 * 0.4 / 12


@pytest.mark.parametrize(("kind", "share"), [("EXTREME", 0.0), ("MOVING_HOLD", 0.0), ("BREAKDOWN", 1.0)])
def test_the_type_of_a_key_says_how_it_is_passed(kind: str, share: float) -> None:
    armature = hinged((1, 0.0, "KEYFRAME"), (13, 0.4, kind), (25, 0.8, "KEYFRAME"))
    settings().tension = 9.0
    action = run(armature, ["upper_arm.L"]).action
    _, before, after = rotation.angle(rotations(armature, action, "upper_arm.L", [1, 12, 13]))
    assert (after - before) * 12 / 0.4 == pytest.approx(share, abs=0.1)


# Hinges and limits


@pytest.mark.parametrize("mode", ["XYZ", "QUATERNION"])
@pytest.mark.parametrize("strength", [None, 0.6])
def test_a_locked_joint_rotates_about_its_free_axis_alone(mode: str, strength: float | None) -> None:
    armature = hinged((1, 0.0, "KEYFRAME"), (9, 1.2, "KEYFRAME"), (17, -0.4, "KEYFRAME"), (40, 0.0, "KEYFRAME"))
    bone = armature.pose.bones["upper_arm.L"]
    scenes.animate(armature, (1, 9, 17, 40), modes=(mode,), bones=("upper_arm.L",), size=0.0)
    for frame, angle in ((1, 0.0), (9, 1.2), (17, -0.4), (40, 0.0)):
        path = scenes.set_rotation(bone, (0.0, 0.0, angle))
        bone.keyframe_insert(path, frame=frame)
    bone.lock_rotation = (True, True, False)
    if strength is not None:
        settings().limit, settings().strength = "STRENGTH", strength
    result = run(armature, ["upper_arm.L"], last=40)
    turned = rotation.log(rotations(armature, result.action, "upper_arm.L", np.arange(1, 41)))
    assert np.abs(turned[:, :2]).max() < 1e-6
    assert bool(result.misses) == (strength is not None)
    assert len(result.motion.torques) == 40


def test_a_locked_channel_keeps_its_values() -> None:
    armature = hero(modes=("XYZ",))
    armature.pose.bones["upper_arm.L"].lock_rotation[1] = True
    before, result = curve(sway(), "upper_arm.L", "XYZ", 1), run(armature)
    made = curve(result.action, "upper_arm.L", "XYZ", 1)
    assert np.allclose([made.evaluate(k) - before.evaluate(k) for k in range(1, 61)], 0.0, atol=1e-6)
    assert not result.misses


def test_joints_stop_at_their_limits_unless_their_keys_exceed_them() -> None:
    armature = hinged((1, 0.0, "KEYFRAME"), (13, 0.5, "KEYFRAME"))
    bone = armature.pose.bones["upper_arm.L"]
    bone.use_ik_limit_z, bone.ik_max_z = True, 0.6

    def highest(**request: Any) -> float:
        action = run(armature, ["upper_arm.L"], swing_past=0.5, settle=1.0, **request).action
        return float(rotation.log(rotations(armature, action, "upper_arm.L", np.arange(1, 38)))[:, 2].max())

    assert highest() == pytest.approx(0.6, abs=0.01)
    assert highest(use_limits=False) == pytest.approx(0.75, abs=0.02)
    bone.ik_max_z = 0.4
    assert highest() == pytest.approx(0.75, abs=0.02)


def test_poses_keep_their_type_and_the_rest_is_generated() -> None:
    """So a second run finds the same poses in the result of the first."""
    armature = hinged((1, 0.0, "KEYFRAME"), (13, 0.4, "BREAKDOWN"), (25, 0.1, "EXTREME"), (37, 0.6, "MOVING_HOLD"))
    for into in ("NEW", "CURRENT"):
        action = run(armature, ["upper_arm.L"], into).action
        types = {p.co.x: p.type for p in curve(action, "upper_arm.L", "QUATERNION", 3).keyframe_points}
        poses = {1.0: "KEYFRAME", 13.0: "BREAKDOWN", 25.0: "EXTREME", 37.0: "MOVING_HOLD"}
        assert {frame: kind for frame, kind in types.items() if kind != "GENERATED"} == poses
        assert len(types) == 37
    again = run(armature, ["upper_arm.L"], selected=False)
    assert list(again.keys) == list(poses)


def test_swinging_past_the_last_key_takes_the_time_it_needs() -> None:
    armature = hinged((1, 0.0, "KEYFRAME"), (25, 1.0, "KEYFRAME"))
    result = run(armature, ["upper_arm.L"], swing_past=0.2)
    last = int(result.frames[-1])
    turned = rotation.angle(rotations(armature, result.action, "upper_arm.L", range(1, last + 1)))
    assert turned[24] == pytest.approx(1.0, abs=1e-6) and turned[:24].max() < 1.0
    assert turned.max() == pytest.approx(1.2, abs=0.02)
    assert turned[-1] == pytest.approx(1.0, abs=1e-6) and abs(turned[-1] - turned[-2]) < 0.01


# Weight


def lateness(mass: float, total: float = 0.0, **changes: Any) -> float:
    """Frame at which the arm has done half of its way, with a hand of that mass, and of the whole body."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    armature = scenes.figure()
    armature.lookat_pd_body.spread = "VOLUME"
    armature.lookat_pd_body.total_mass = total
    for bone in ("upper_arm.L", "hand.L"):
        armature.pose.bones[bone].lookat_pd_body.mass = mass
    scenes.animate(armature, frames=(), bones=())
    arm = armature.pose.bones["upper_arm.L"]
    for frame, angle in ((1, 0.0), (25, 1.2)):
        scenes.set_rotation(arm, (0.0, 0.0, angle))
        arm.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.use_gravity = False
    for name, value in changes.items():
        setattr(settings(), name, value)
    result = run(armature, ["upper_arm.L"], inertia=settings().inertia, between=settings().between)
    turned = rotation.angle(rotations(armature, result.action, "upper_arm.L", range(1, 26)))
    return float(np.interp(0.6, turned, np.arange(1, 26)))


def test_mass_does_not_matter_as_published() -> None:
    assert lateness(10.0, between="TENSION") == pytest.approx(lateness(1.0, between="TENSION"), abs=1e-4)


@pytest.mark.parametrize("how", [{"limit": "TORQUE", "torque": 3.0}, {"inertia": "REFERENCE"}])
def test_ten_times_as_heavy_is_late_as_published(how: dict[str, Any]) -> None:
    assert lateness(10.0, between="TENSION", **how) > lateness(1.0, between="TENSION", **how) + 2.0


def test_the_heavier_the_later_by_default() -> None:
    frames = [lateness(0.0, total) for total in (7.0, 70.0, 700.0)]
    assert all(np.diff(frames) > 0.3)


ARM = (
    ("chest", None, (0.0, 0.0, 1.2), (0.0, 0.0, 1.5)),
    ("upper_arm", "chest", (0.2, 0.0, 1.4), (0.5, 0.0, 1.4)),
    ("forearm", "upper_arm", (0.5, 0.0, 1.4), (0.77, 0.0, 1.4)),
    ("hand", "forearm", (0.77, 0.0, 1.4), (0.95, 0.0, 1.4)),
    ("cup", "hand", (0.82, 0.0, 1.4), (0.90, 0.0, 1.4)),
)
"""An arm of human size, and of human mass by volume, and what it may hold."""
SWINGS = {"whole arm": ((0.0, 0.0, 1.6), (0.0, 0.0, 1.2), (0.0, 0.0, 0.3)), "shoulder": ((0.0, 0.0, 1.6),)}


def _masses(armature: bpy.types.Object) -> tuple[Sequence[str], list[float]]:
    found = masses.of(bpy.context.scene, armature)
    return found.bones, found.properties.mass.tolist()


def swing(
    poses: Sequence[tuple[float, float, float]],
    load: float,
    loaded: str = "hand",
    preset: str = "Natural",
    **changes: Any,
) -> Any:
    """A swing of one second with a load on a bone, by a preset: the place (25, 3) of the hand's tip, and the result."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    armature, names = scenes.figure(rows=ARM), ("upper_arm", "forearm", "hand")
    armature.lookat_pd_body.spread = "VOLUME"
    armature.data.bones["cup"].use_deform = False
    presets.apply(preset, bpy.context.scene)
    for name, value in changes.items():
        setattr(settings(), name, value)
    bones = [armature.pose.bones[name] for name in names]
    for frame, turns in ((1, ()), (25, poses)):
        for bone, angles in zip(bones, [*turns, *[(0.0, 0.0, 0.0)] * (3 - len(turns))], strict=True):
            scenes.set_rotation(bone, angles)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    if load:
        weights = dict(zip(*_masses(armature), strict=True))
        armature.pose.bones[loaded].lookat_pd_body.mass = load + weights.get(loaded, 0.0)
    settings().keys = "ALL"
    result = scenes.finish(
        interpolation.start(bpy.context.scene, armature, setup.interpolation(bpy.context.scene, bones, 1, 25))
    )
    places = []
    for frame in range(1, 26):
        bpy.context.scene.frame_set(frame)
        places.append(tuple(armature.pose.bones["hand"].tail))
    return np.array(places), result


@pytest.mark.thorough
@pytest.mark.parametrize("poses", SWINGS.values(), ids=SWINGS.keys())
def test_five_kilograms_in_the_hand_show(poses: Any) -> None:
    """The preset Natural at its default settings, over one second: the hand is elsewhere by more than 20 mm, the more
    so the heavier the load is and the higher Weight is, and keys are hit."""
    bare, plain = swing(poses, 0.0)
    loaded, result = swing(poses, 5.0)
    away = np.linalg.norm(loaded - bare, axis=1)
    assert away.max() > 0.05
    assert away[[0, -1]].max() < 1e-6 and not result.misses and not plain.misses
    heavier, lighter = (np.linalg.norm(swing(poses, kg)[0] - bare, axis=1).max() for kg in (10.0, 1.0))
    slight = np.linalg.norm(swing(poses, 5.0, weight=0.1)[0] - bare, axis=1).max()
    assert lighter < away.max() < heavier and 0.02 < slight < away.max()
    none, _ = swing(poses, 5.0, weight=0.0)
    assert np.abs(none - bare).max() < 1e-6


def test_the_preset_heavy_shows_more_and_hits_its_keys() -> None:
    poses = SWINGS["whole arm"]
    natural, _ = swing(poses, 5.0)
    heavy, result = swing(poses, 5.0, preset="Heavy")
    away = np.linalg.norm(heavy - natural, axis=1)
    assert not result.misses and away[[0, -1]].max() < 1e-6
    assert np.linalg.norm(heavy - heavy[-1], axis=1)[12] > np.linalg.norm(natural - natural[-1], axis=1)[12] + 0.02


def test_what_the_hand_holds_shows_as_much_on_a_bone_of_its_own() -> None:
    poses = SWINGS["whole arm"]
    with_hand, _ = swing(poses, 5.0)
    held, _ = swing(poses, 5.0, loaded="cup")
    bare, _ = swing(poses, 0.0)
    away, other = (np.linalg.norm(places - bare, axis=1).max() for places in (with_hand, held))
    assert 0.8 * away < other < 1.3 * away


def test_full_weight_stays_bounded() -> None:
    places, result = swing(SWINGS["whole arm"], 20.0, weight=1.0)
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert np.isfinite(result.motion.torques).all() and steps.max() < 0.4 and not result.misses


def test_a_slack_bone_is_late_and_a_tense_one_early() -> None:
    slack, middle, tense = (lateness(1.0, tension=n, between="TENSION") for n in (3.0, 9.0, 15.0))
    assert tense + 1.0 < middle < slack - 1.0
    slack, middle, tense = (lateness(1.0, tension=n) for n in (3.0, 9.0, 15.0))
    assert tense < middle < slack


def test_what_is_too_weak_misses_and_is_reported() -> None:
    armature = hero()
    settings().limit, settings().torque = "TORQUE", 1.0
    result = run(armature)
    assert result.misses and result.misses[0].angle == max(miss.angle for miss in result.misses)
    assert {miss.bone for miss in result.misses} <= set(BONES)
    assert {miss.frame for miss in result.misses} <= set(KEYS)
    for bone in BONES:
        assert np.isfinite(rotations(armature, result.action, bone, range(1, 61))).all()
    worst = result.misses[0]
    seen = largest_angle(
        rotations(armature, result.action, worst.bone, [worst.frame]),
        rotations(armature, sway(), worst.bone, [worst.frame]),
    )
    assert seen == pytest.approx(worst.angle, abs=2e-3)


def test_a_bone_may_have_settings_of_its_own() -> None:
    armature = hero()
    own = armature.pose.bones["hand.L"].lookat_pd_body
    own.use_own, own.limit, own.torque = True, "TORQUE", 0.01
    assert {miss.bone for miss in run(armature).misses} == {"hand.L"}


@pytest.mark.parametrize("own", [False, True])
def test_friction_makes_a_bone_late(own: bool) -> None:
    """More with more of it; it hits its keys all the same."""
    moved = {}
    for friction in (0.0, 1.0, 4.0):
        armature = scenes.figure()
        scenes.animate(armature, frames=(1, 10), bones=("upper_arm.L",), size=1.0)
        chosen = armature.pose.bones["upper_arm.L"].lookat_pd_body if own else settings()
        chosen.friction = friction
        if own:
            chosen.use_own = True
        result = run(armature, ["upper_arm.L"], between="TENSION", at_keys="STOP")
        turned = rotations(armature, result.action, "upper_arm.L", range(1, 11))
        moved[friction] = rotation.distance(turned[:1], turned)
        assert result.misses == []
        settings().friction = 0.0
    assert moved[0.0][4] > 1.02 * moved[1.0][4] > 1.02**2 * moved[4.0][4]


def test_a_passive_bone_swings_behind_its_parent() -> None:
    """It begins as keyed, has no keys of its own to hit, and comes to rest again where its spring wants it."""
    armature = scenes.figure()
    scenes.animate(armature, frames=(1, 10), bones=("upper_arm.L",), size=1.0)
    own = armature.pose.bones["hand.L"].lookat_pd_body
    own.use_own, own.passive, own.stiffness, own.damping = True, True, 2.0, 0.3
    bpy.context.scene.use_gravity = False
    result = run(armature, ["upper_arm.L", "hand.L"], settle=4.0)
    assert result.misses == [] and round(result.motion.times[-1] * 24) == 9 + 96
    turned = rotation.angle(rotations(armature, result.action, "hand.L", range(1, 107)))
    assert turned[0] == 0.0
    assert turned[1:12].max() > 0.1 and turned[-1] < 0.02


def test_a_passive_bone_feels_a_parent_that_is_not_selected() -> None:
    armature = scenes.figure()
    scenes.animate(armature, frames=(1, 10), bones=("upper_arm.L", "hand.L"), size=1.0)
    settings().passive = True
    bpy.context.scene.use_gravity = False
    result = run(armature, ["hand.L"])
    start = rotations(armature, result.action, "hand.L", [1.0])
    assert largest_angle(start, rotations(armature, result.action, "hand.L", range(1, 11))) > 0.1


# What is refused


def refused(armature: bpy.types.Object, match: str, bones: Sequence[str] = BONES, **request: Any) -> None:
    """With a message, and nothing has changed."""
    data = armature.animation_data
    before = contents(data.action) if data and data.action else None
    count = len(bpy.data.actions)
    with pytest.raises(errors.LookAtError, match=match):
        run(armature, bones, **request)
    assert len(bpy.data.actions) == count and len(bpy.data.scenes) == 1
    if before is not None:
        assert contents(data.action) == before


def test_without_an_action_it_is_refused() -> None:
    refused(scenes.figure(), "has no action; key at least two poses")


def test_for_a_bone_that_a_control_moves_the_control_is_named() -> None:
    armature = kept.human()
    for frame in (1, 20):
        armature.pose.bones["DEF-forearm.R"].keyframe_insert("rotation_quaternion", frame=frame)
    refused(armature, "follows the control 'forearm_fk.R'", ("DEF-forearm.R",), selected=False)


def test_one_key_only_is_refused() -> None:
    armature = scenes.figure()
    scenes.animate(armature, frames=(7,), bones=BONES)
    refused(armature, "only one key in the frame range, at frame 7.*extend the range")


def test_no_selected_key_is_refused() -> None:
    armature = hero()
    for item in actions.channelbag(sway(), sway().slots[0]).fcurves:
        for point in item.keyframe_points:
            point.select_control_point = False
    refused(armature, "no selected keys")
    refused(armature, "has no keys in the frame range", first=70, last=90, selected=False)


def test_two_keys_on_one_frame_are_refused() -> None:
    armature = hero()
    item = curve(sway(), "chest", "QUATERNION", 1)
    item.keyframe_points[2].co.x = 6.0
    refused(armature, "'chest' has two keys at frame 6")


def test_keys_out_of_order_are_refused() -> None:
    armature = hero()
    curve(sway(), "chest", "QUATERNION", 1).keyframe_points[2].co.x = 3.0
    refused(armature, "out of order at frame 3")


def test_a_key_that_is_no_number_is_refused() -> None:
    armature = hero()
    curve(sway(), "chest", "QUATERNION", 1).keyframe_points[2].co.y = float("nan")
    refused(armature, "not a number")


def test_locked_rotations_are_refused() -> None:
    armature = hero()
    armature.pose.bones["hand.L"].lock_rotation = (True, True, True)
    refused(armature, r"rotation of bone 'hand\.L' is locked")
    armature.pose.bones["hand.L"].lock_rotation = (False, False, False)
    curve(sway(), "chest", "QUATERNION", 1).lock = True
    refused(armature, "F-curves of bone 'chest' are locked")


def test_a_bone_without_mass_is_refused() -> None:
    armature = hero()
    armature.data.bones["hand.L"].use_deform = False
    refused(armature, "moves no mass")


def test_driven_rotations_and_rest_position_are_refused() -> None:
    armature = hero()
    armature.pose.bones["hand.L"].driver_add("rotation_quaternion", 1)
    refused(armature, "has a driver")
    armature.pose.bones["hand.L"].driver_remove("rotation_quaternion", 1)
    armature.data.pose_position = "REST"
    refused(armature, "rest position")


# Keys at different times


def offbeat() -> bpy.types.Object:
    """The hand has its keys four frames after the arm's."""
    armature = scenes.figure()
    scenes.animate(armature, frames=(1, 13, 20), bones=("upper_arm.L",), size=0.5)
    hand = armature.pose.bones["hand.L"]
    for frame, angle in ((5, 0.0), (17, 0.6), (24, -0.3)):
        scenes.set_rotation(hand, (0.1, 0.0, angle))
        hand.keyframe_insert("rotation_quaternion", frame=frame)
    return armature


def test_each_bone_is_on_its_own_beat() -> None:
    """Bones with keys at different times move as each of them does alone."""
    alone = {}
    for bone in ("upper_arm.L", "hand.L"):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        armature = offbeat()
        alone[bone] = rotations(armature, run(armature, [bone], between="TENSION").action, bone, range(1, 30))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    armature = offbeat()
    result = run(armature, ["upper_arm.L", "hand.L"], between="TENSION")
    assert result.misses == [] and list(result.keys) == [1, 5, 13, 17, 20, 24]
    for bone, motion in alone.items():
        assert largest_angle(rotations(armature, result.action, bone, range(1, 30)), motion) < 1e-4, bone
    assert np.isfinite(result.motion.torques).all()


def test_where_bones_feel_each_other_a_key_of_one_is_a_pose_of_all() -> None:
    armature = offbeat()
    settings().limit, settings().torque = "TORQUE", 1e4
    result = run(armature, ["upper_arm.L", "hand.L"])
    assert result.misses == []
    for bone in ("upper_arm.L", "hand.L"):
        seen = rotations(armature, result.action, bone, result.keys)
        assert largest_angle(seen, rotations(armature, sway(), bone, result.keys)) < 1e-4


# With the least change of torque


def test_the_least_change_of_torque_hits_all_keys_and_passes_them() -> None:
    armature = hero(modes=("QUATERNION", "XYZ"))
    result = run(armature, between="TORQUE_CHANGE")
    assert not result.misses and list(result.frames) == list(range(1, 61))
    for bone in BONES:
        there, keyed = (rotations(armature, action, bone, KEYS) for action in (result.action, sway()))
        assert largest_angle(there, keyed) < 1e-5
    before = {k: v for k, v in contents(sway()).items() if "hips" in k[0]}
    assert before and {k: v for k, v in contents(result.action).items() if "hips" in k[0]} == before
    q = rotations(armature, result.action, "upper_arm.L", range(4, 15))
    assert rotation.distance(q[:-1], q[1:]).min() > 1e-3


def test_with_the_published_cost_light_bones_swing_further() -> None:
    fastest = []
    for equal in (False, True):
        armature = hero()
        result = run(armature, between="TORQUE_CHANGE", torque_cost="EQUAL" if equal else "RELATIVE")
        assert not result.misses
        q = rotations(armature, result.action, BONES[-1], range(1, 61))
        fastest.append(rotation.distance(q[:-1], q[1:]).max())
    assert fastest[1] > 1.05 * fastest[0]


def test_the_least_change_of_torque_stops_where_it_should() -> None:
    result = run(hero(), between="TORQUE_CHANGE", at_keys="STOP")
    q = result.motion.rotations
    moved = rotation.distance(q[:-1], q[1:])
    assert moved[[4, 5, 11, 12]].max() < 0.2 * moved.max()


def test_the_least_change_of_torque_needs_whole_frames() -> None:
    armature = hero()
    for item in actions.channelbag(sway(), sway().slots[0]).fcurves:
        item.keyframe_points[2].co.x += 0.4
    with pytest.raises(errors.LookAtError, match="needs keys on whole frames"):
        run(armature, between="TORQUE_CHANGE")
    assert armature.animation_data.action == sway()
