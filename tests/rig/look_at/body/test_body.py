"""A look-at that the whole body answers, as Blender shows it: live and baked, on a plain rig."""

import bpy
import numpy as np
import pytest

from extension import load

from ... import scenes
from . import bodies
from .bodies import CHAIN, EYES, FEET, differences

bake = load("rig.look_at.look_at_bake")
body = load("rig.look_at.body.layers")
live = load("rig.layers.live")
look_at = load("rig.look_at.resolve")
shifts = load("rig.look_at.body.gaze_shifts")
LAST = 120
FRAMES = range(1, LAST + 1)
ON, OFF = 10, 60
"""Frames at which a person looks at the ball, and away again."""


@pytest.fixture(autouse=True)
def long_enough(empty_file) -> None:
    bpy.context.scene.frame_end = LAST


def looking(place=(2.0, -1.5, 1.7), *, moving: bool = True, **settings):
    """A person, everything of whom looks at a ball for a while, and the settings."""
    armature = bodies.person(moving=moving)
    found = bodies.look(armature, scenes.ball(place), **settings)
    scenes.settings_keyed(armature, "head", "use", [(1, False), (ON, True), (OFF, False)])
    return armature, found


def baked(armature, first: int = 1, last: int = LAST):
    return scenes.run_bake(armature, first=first, last=last)[0]


def gaze_errors(armature, poses, ball=(2.0, -1.5, 1.7)) -> np.ndarray:
    """Angles (F, 2) [deg] between where each eye looks, along its bone, and the ball."""
    eyes = poses[:, bodies.bones(armature, *EYES)]
    way = np.array(ball) - eyes[..., :3, 3]
    cosine = np.sum(eyes[..., :3, 1] * way, axis=-1) / np.linalg.norm(way, axis=-1)
    return np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))


# Feet


@pytest.mark.every_blender
@pytest.mark.parametrize("side", [-12.0, 0.0, 12.0])
def test_feet_stay_where_the_animation_has_them(side) -> None:
    armature, settings = looking()
    settings.body.weight_side, settings.body.weight_back = side, 5.0
    before, after = scenes.animated(armature, FRAMES), scenes.poses(armature, FRAMES)
    feet, hips = bodies.bones(armature, *FEET), bodies.bones(armature, "hips")
    assert differences(after[:, hips], before[:, hips])[0] > 0.005 * abs(side)
    away, turned = differences(after[:, feet], before[:, feet])
    assert away < 1e-4
    assert turned < 0.1


def test_hips_that_shift_ten_centimetres_leave_straight_legs_on_the_ground() -> None:
    armature, settings = looking(moving=False)
    # Standing at ease, the legs stretched.
    for side in "LR":
        thigh, shin = (armature.pose.bones[f"{name}.{side}"] for name in ("thigh", "shin"))
        line = armature.data.bones[thigh.name].head_local, armature.data.bones[f"foot.{side}"].head_local
        thigh.rotation_mode = shin.rotation_mode = "QUATERNION"
        bend = (shin.bone.head_local - line[0]).rotation_difference(line[1] - line[0])
        rest = thigh.bone.matrix_local.to_quaternion()
        thigh.rotation_quaternion = rest.inverted() @ bend @ rest
        bpy.context.view_layer.update()
        here = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        thigh_way = here[shin.name].head - here[thigh.name].head
        shin_way = here[f"foot.{side}"].head - here[shin.name].head
        rest = here[shin.name].matrix.to_quaternion()
        shin.rotation_quaternion = rest.inverted() @ shin_way.rotation_difference(thigh_way) @ rest
    settings.body.weight_side = 16.0
    before, after = scenes.animated(armature, FRAMES), scenes.poses(armature, FRAMES)
    feet, hips = bodies.bones(armature, *FEET), bodies.bones(armature, "hips")
    assert np.abs(after[:, hips, 0, 3] - before[:, hips, 0, 3]).max() > 0.1
    assert np.min(after[:, hips, 2, 3] - before[:, hips, 2, 3]) < -0.001, "the hips go down"
    away, turned = differences(after[:, feet], before[:, feet])
    assert away < 1e-4
    assert turned < 0.1
    for side in "LR":
        # No pop: an angle that changes by no more than a little from one change to the next.
        speed = np.diff(_knee(armature, after, side))
        assert np.abs(np.diff(speed)).max() < 2.0


def _knee(armature, poses, side: str) -> np.ndarray:
    hip, knee, ankle = np.moveaxis(
        poses[:, bodies.bones(armature, f"thigh.{side}", f"shin.{side}", f"foot.{side}")], 1, 0
    )
    thigh, shin = knee[:, :3, 3] - hip[:, :3, 3], ankle[:, :3, 3] - knee[:, :3, 3]
    cosine = np.sum(thigh * shin, axis=-1) / np.linalg.norm(thigh, axis=-1) / np.linalg.norm(shin, axis=-1)
    return np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))


# Eyes and head


def test_the_gaze_is_on_the_target_from_the_end_of_the_saccade_on() -> None:
    armature, _ = looking((1.2, -1.5, 1.7))
    errors = gaze_errors(armature, scenes.poses(armature, FRAMES), (1.2, -1.5, 1.7))
    landed = ON + int(np.ceil(24 * (0.025 + 0.0027 * 50.0)))
    assert errors[ON - 2].min() > 20.0
    assert errors[landed - 1 : OFF - 1].max() < 0.5


def test_eyes_set_out_first_then_head_neck_chest_and_hips() -> None:
    armature, _ = looking(moving=False)
    before, after = scenes.animated(armature, FRAMES), scenes.poses(armature, FRAMES)
    half = []
    for bone in (EYES[0], *(name for name in CHAIN if name != "spine")):
        here = bodies.bones(armature, bone)
        turn = np.array([differences(after[k : k + 1, here], before[k : k + 1, here])[1] for k in range(OFF - 2)])
        half.append(np.interp(0.5 * turn[-1], np.maximum.accumulate(turn), np.arange(len(turn))))
    sideways = np.abs(after[: OFF - 2, bodies.bones(armature, "hips")[0], 0, 3])
    half.append(np.interp(0.5 * sideways[-1], np.maximum.accumulate(sideways), np.arange(len(sideways))))
    assert half == sorted(half)
    assert half[1] - half[0] > 1.0


def test_onsets_are_reported() -> None:
    armature, _ = looking((1.2, -1.5, 1.7), moving=False)
    first = shifts.onsets(baked(armature))[0]
    assert first.time == pytest.approx((ON - 1) / 24.0)
    assert 0.05 <= first.head - first.eyes <= 0.1
    assert first.torso > first.head
    degrees = np.degrees(first.amplitude)
    assert 0.025 + 0.0022 * degrees <= first.duration <= 0.025 + 0.0027 * degrees
    assert np.degrees(first.error) < 0.5


def test_eyes_that_never_shift_have_no_onsets() -> None:
    """Looking since ever at what stands still: there is nothing to tell, and that is no error."""
    armature = bodies.person(moving=False)
    bodies.look(armature, scenes.ball())
    result = baked(armature)
    assert result.response.gaze is not None and not result.response.gaze.shifts
    assert shifts.onsets(result) == []


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_who_moves_the_eyes_more_moves_the_head_less_and_looks_as_well(share) -> None:
    armature, settings = looking((1.2, -1.5, 1.7), moving=False)
    whole = scenes.poses(armature, [OFF - 1])
    settings.eyes.head_share = share
    some = scenes.poses(armature, [OFF - 1])
    rest = scenes.animated(armature, [OFF - 1])
    head = bodies.bones(armature, "head")
    assert (
        differences(some[:, head], rest[:, head])[1]
        < (0.35 + 0.65 * share) * differences(whole[:, head], rest[:, head])[1] + 1.0
    )
    assert gaze_errors(armature, some, (1.2, -1.5, 1.7)).max() < 0.1


def test_the_torso_joins_large_turns_only() -> None:
    armature, settings = looking((0.2, -1.5, 1.7), moving=False)
    settings.body.torso_from = np.radians(25.0)
    rest, chest = scenes.animated(armature, [OFF - 1]), bodies.bones(armature, "chest")
    assert differences(scenes.poses(armature, [OFF - 1])[:, chest], rest[:, chest])[1] < 1e-4
    settings.target.location = (3.0, -1.5, 1.7)
    assert differences(scenes.poses(armature, [OFF - 1])[:, chest], rest[:, chest])[1] > 5.0


# What holds for the plain look-at holds with everything on


def test_a_layer_of_no_amount_leaves_the_plain_look_at() -> None:
    armature, settings = looking()
    for layer in body.LAYERS.values():
        setattr(getattr(settings, layer.group), layer.switch, False)
    plain = baked(armature)
    settings.mute = False
    armature.animation_data.action = bpy.data.actions["Sway"]
    settings.body.use_weight_shift = settings.body.use_arm_recoil = True
    settings.body.weight_shift = settings.body.arm_recoil = 0.0
    nothing = baked(armature)
    assert np.array_equal(nothing.solution.offsets, plain.solution.offsets)
    assert np.all(nothing.response.moves == 0.0)
    assert np.all(nothing.response.offsets == (1.0, 0.0, 0.0, 0.0))


def test_away_from_the_look_at_the_pose_is_the_animation_exactly() -> None:
    armature, _ = looking()
    response = baked(armature).response
    # The hips begin to go down a quarter of a second before they must.
    away = [*range(ON - 7), LAST - 1]
    assert np.all(response.offsets[away] == (1.0, 0.0, 0.0, 0.0))
    assert np.all(response.moves[away] == 0.0)


def test_a_frame_is_the_same_however_it_is_reached() -> None:
    armature, _ = looking()
    played = scenes.poses(armature, FRAMES)
    back = scenes.poses(armature, reversed(FRAMES))[::-1]
    scenes.forget_solutions()
    cold = scenes.poses(armature, [40])
    assert np.array_equal(played, back)
    assert np.array_equal(played[39], cold[0])


def test_a_bake_shows_what_was_live() -> None:
    armature, settings = looking()
    settings.eyes.drift = settings.eyes.micro = np.radians(1.0)
    shown = scenes.poses(armature, FRAMES)
    baked(armature)
    assert np.abs(scenes.poses(armature, FRAMES) - shown).max() < 1e-5


@pytest.mark.thorough
@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
def test_a_bake_changes_only_the_curves_of_the_body(into) -> None:
    armature, _ = looking()
    action = armature.animation_data.action
    before = scenes.fingerprint(action)
    shown = scenes.poses(armature, FRAMES)
    result = scenes.run_bake(armature, last=LAST, into=into)[0]
    bones = {name: armature.pose.bones[name].rotation_mode for name in result.look_at.turned}
    touched = {load("rig.animation.actions").rotation_path(name, mode) for name, mode in bones.items()}
    touched.add(load("rig.animation.actions").rotation_path("hips", "LOCATION"))
    after = scenes.fingerprint(result.action)
    if into != "LAYER":
        changed = {key for key in before if after.get(key) != before[key]}
        assert changed <= {key for key in before if touched & set(key)}
    # Blender's NLA finds the angle of a combined quaternion by an arc cosine, which knows no angles below 0.02 degrees.
    assert np.abs(scenes.poses(armature, FRAMES) - shown).max() < (2e-3 if into == "LAYER" else 1e-5)


def test_the_look_at_is_gone_without_a_trace() -> None:
    armature = bodies.person()
    scenes.goto(1)
    before = scenes.snapshot()
    bodies.look(armature, None)
    ball = scenes.ball()
    armature.pose.bones["head"].lookat_pd.target = ball
    scenes.goto(40)
    load("rig.look_at.edit").remove(armature, "head")
    bpy.data.objects.remove(ball)
    scenes.goto(1)
    assert not scenes.differences(before, scenes.snapshot())


@pytest.mark.parametrize("fps", [30, 60])
def test_the_frame_rate_does_not_matter(fps) -> None:
    seen = {}
    for rate in (24, fps):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        scene = bpy.context.scene
        scene.render.fps, scene.frame_start, scene.frame_end = rate, 0, 4 * rate
        armature = bodies.person(moving=False)
        settings = bodies.look(armature, scenes.ball((2.0, -1.5, 1.7)), settle_time=0.4)
        settings.eyes.drift = np.radians(2.0)
        scenes.settings_keyed(armature, "head", "use", [(0, False), (rate // 2, True), (2 * rate, False)])
        seen[rate] = scenes.poses(armature, [k * rate // 6 for k in range(4 * 6 + 1)])
    away, turned = differences(seen[24], seen[fps])
    assert away < 1e-3
    assert turned < 0.1


# Directing


def test_another_active_target_is_looked_at() -> None:
    armature = bodies.person(moving=False)
    places = [(2.0, -1.5, 1.7), (-1.5, -1.5, 1.5)]
    settings = bodies.look(armature, scenes.ball(places[0]))
    settings.targets.add().object = scenes.ball(places[1], "Bird")
    scenes.settings_keyed(armature, "head", "active_target", [(1, 0), (40, 1), (80, 7)])
    data = armature.animation_data
    for curve in load("rig.animation.actions").channelbag(data.action, data.action_slot).fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    poses = scenes.poses(armature, FRAMES)
    assert gaze_errors(armature, poses[36:39], places[0]).max() < 0.5
    assert gaze_errors(armature, poses[70:79], places[1]).max() < 0.5
    rest = scenes.animated(armature, [LAST])
    assert differences(poses[-1:], rest)[1] < 1e-3, "a number that stands for nothing is off"


def test_without_anything_to_look_at_the_panel_says_so() -> None:
    armature = bodies.person()
    settings = bodies.look(armature, None)
    settings.targets.add()
    bpy.context.view_layer.update()
    assert "no target" in live.status(bpy.context.scene, armature, "head").error


# Bad input


def test_a_target_between_the_eyes_gives_no_nonsense() -> None:
    armature, _ = looking((0.0, -0.08, 1.68))
    assert np.all(np.isfinite(scenes.poses(armature, FRAMES)))


@pytest.mark.parametrize("scale", [(-1.0, 1.0, 1.0), (2.0, 2.0, 2.0), (0.01, 0.01, 0.01)])
def test_scaled_and_mirrored_characters_keep_their_feet(scale) -> None:
    armature, _ = looking()
    armature.scale = scale
    feet = bodies.bones(armature, *FEET)
    before, after = scenes.animated(armature, range(1, LAST, 7)), scenes.poses(armature, range(1, LAST, 7))
    assert differences(after[:, feet], before[:, feet])[0] < 1e-4
    assert differences(after, before)[1] > 10.0


@pytest.mark.parametrize(("names", "missing"), [(("eye.R",), "eyes"), (EYES, "eyes"), (("thigh.L", "thigh.R"), "legs")])
def test_a_body_without_some_of_it_responds_with_the_rest(names, missing) -> None:
    rows, gone = [], set(names)
    for row in bodies.PERSON:
        if row[0] in gone or row[1] in gone:
            gone.add(row[0])
        else:
            rows.append(row)
    armature = scenes.figure("Odd", rows)
    bodies.look(armature, scenes.ball())
    assert np.all(np.isfinite(scenes.poses(armature, (1, 30))))
    assert live.status(bpy.context.scene, armature, "head").state == "SOLVED"


def test_a_bone_that_is_not_there_is_named() -> None:
    armature, settings = looking()
    settings.eyes.left = "Auge"
    bpy.context.view_layer.update()
    assert "'Auge'" in live.status(bpy.context.scene, armature, "head").error
    settings.eyes.left, settings.body.mover = "", "Becken"
    bpy.context.view_layer.update()
    assert "'Becken'" in live.status(bpy.context.scene, armature, "head").error
    settings.body.mover = ""
    bpy.context.view_layer.update()
    assert live.status(bpy.context.scene, armature, "head").state == "SOLVED"


def test_a_person_may_look_with_one_eye_of_its_own_choice() -> None:
    armature, settings = looking()
    settings.eyes.left = "eye.R"
    found = look_at.resolve(armature, "head")
    assert [eye.bone for eye in found.body.eyes] == ["eye.R"]


def test_the_aim_error_leaves_out_the_moment_in_which_only_the_eyes_look_away() -> None:
    armature, _ = looking()
    assert np.degrees(baked(armature).settled_error) < 0.5


def test_chosen_bones_may_be_renamed() -> None:
    armature, settings = looking()
    settings.eyes.left, settings.body.mover = "eye.R", "hips"
    bpy.context.view_layer.update()
    armature.data.bones["eye.R"].name, armature.data.bones["hips"].name = "Auge.R", "Becken"
    bpy.context.view_layer.update()
    assert (settings.eyes.left, settings.body.mover) == ("Auge.R", "Becken")
    assert live.status(bpy.context.scene, armature, "head").state == "SOLVED"


# Breathing


def test_shoulders_rise_with_the_breath_while_the_look_at_is_on() -> None:
    armature, settings = looking()
    body.switch_off(settings, body.LAYERS["arms"])
    still = scenes.poses(armature, range(1, LAST + 1))
    body.switch_on(settings, ("breathing",))
    settings.body.breathing_rate, settings.body.breathing_chest = 30.0, 0.0
    breathed = scenes.poses(armature, range(1, LAST + 1))
    shoulders = bodies.bones(armature, "clavicle.L", "clavicle.R")
    row = bodies.bones(armature, "upper_arm.L", "upper_arm.R")
    raised = (breathed - still)[:, row, 2, 3]
    assert 0.001 < raised.max() < 0.01 and raised.min() > -1e-6
    assert np.abs(raised[: ON - 2]).max() < 1e-6 and np.abs(raised[-1]).max() < 1e-6
    head = bodies.bones(armature, "head")
    assert np.abs((breathed - still)[:, head]).max() < 1e-6
    settings.body.breathing = 0.0
    assert np.abs((scenes.poses(armature, range(1, LAST + 1)) - still)[:, shoulders]).max() < 1e-6


def test_the_chest_breathes_and_the_head_goes_on_to_look() -> None:
    armature, settings = looking()
    body.switch_off(settings, body.LAYERS["arms"])
    frames = range(1, LAST + 1)
    still, aimed = scenes.poses(armature, frames), solve_of(armature).solution.error
    body.switch_on(settings, ("breathing",))
    settings.body.breathing_rate, settings.body.breathing = 30.0, 0.0
    breathed = scenes.poses(armature, frames)
    leans = {name: turns(breathed, still, bodies.bones(armature, name)[0]) for name in ("chest", "head")}
    away = np.linalg.norm((breathed - still)[:, bodies.bones(armature, "head")[0], :3, 3], axis=1)
    assert 0.8 < leans["chest"].max() < 1.2 and leans["head"].max() < 0.4
    assert 0.002 < away.max() < 0.02
    assert leans["chest"][: ON - 2].max() < 1e-4 and leans["chest"][-1] < 1e-4
    assert np.abs(np.diff(leans["chest"], 2)).max() < 0.03
    assert np.degrees(np.nanmax(np.abs(solve_of(armature).solution.error - aimed))) < 0.2
    settings.body.breathing_chest = 0.0
    assert np.array_equal(scenes.poses(armature, frames), still)


def solve_of(armature):
    return next(one for one in live._scenes[bpy.context.scene.session_uid].solves.values() if one.owner == armature)


def turns(poses: np.ndarray, others: np.ndarray, row: int) -> np.ndarray:
    """Angle [deg] by which a bone is turned otherwise (F,)."""
    both = poses[:, row, :3, :3].swapaxes(1, 2) @ others[:, row, :3, :3]
    apart = np.stack([both[:, i, j] - both[:, j, i] for i, j in ((0, 1), (1, 2), (2, 0))])
    return np.degrees(np.arcsin(np.clip(0.5 * np.linalg.norm(apart, axis=0), 0.0, 1.0)))
