"""Baking several effectors of one body: where the evaluated bones end up, what stays as it was, what is refused."""

from typing import Any

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes

bodies = load("rig.ik.body")
body_bake = load("rig.ik.body_bake")
errors = load("lookat_pd.errors")
options = load("rig.animation.bake_options")
rotation = load("lookat_pd.rotation")
shear = load("rig.sampling.shear")
targets = load("rig.sampling.targets")

LAST = 24
FRAMES = range(1, LAST + 1)
ROWS = (
    ("root", "", (0, 0, 0), (0, 0.3, 0)),
    ("hips", "root", (0, 0, 1.0), (0, 0, 1.12)),
    ("spine", "hips", (0, 0, 1.12), (0, 0, 1.3)),
    ("chest", "spine", (0, 0, 1.3), (0, 0, 1.5)),
    ("neck", "chest", (0, 0, 1.5), (0, -0.01, 1.58)),
    ("head", "neck", (0, -0.01, 1.58), (0, -0.01, 1.78)),
    *(
        (f"{name}.{side}", f"{parent}.{side}" if parent not in ("hips", "chest") else parent, *points)
        for side, x in (("L", 1), ("R", -1))
        for name, parent, *points in (
            ("thigh", "hips", (0.1 * x, 0, 0.95), (0.1 * x, -0.02, 0.5)),
            ("shin", "thigh", (0.1 * x, -0.02, 0.5), (0.1 * x, 0, 0.1)),
            ("foot", "shin", (0.1 * x, 0, 0.1), (0.1 * x, -0.13, 0.02)),
            ("upper_arm", "chest", (0.18 * x, 0, 1.45), (0.4 * x, 0.01, 1.25)),
            ("forearm", "upper_arm", (0.4 * x, 0.01, 1.25), (0.6 * x, -0.03, 1.08)),
            ("hand", "forearm", (0.6 * x, -0.03, 1.08), (0.7 * x, -0.04, 1.0)),
        )
    ),
)
MOVED = ("hips", "spine", "upper_arm.L", "forearm.L", "upper_arm.R", "thigh.L", "shin.L")


def hero(mode: str = "QUATERNION", *, stands: bool = False) -> bpy.types.Object:
    """A human who sways a little; where it stands, with the upper body only."""
    armature = scenes.figure(rows=ROWS)
    scenes.animate(armature, bones=MOVED[1:5] if stands else MOVED, modes=(mode,))
    return armature


def moving(place: tuple[float, float, float], name: str) -> bpy.types.Object:
    item = scenes.ball(place, name)
    for frame in (1, 9, 16, LAST):
        item.location = np.array(place) + 0.08 * np.array([np.sin(frame), np.cos(frame), np.sin(0.7 * frame)])
        item.rotation_euler = 0.3 * np.array([np.sin(frame), np.cos(frame), 0.0])
        item.keyframe_insert("location", frame=frame)
        item.keyframe_insert("rotation_euler", frame=frame)
    return item


def run(armature: bpy.types.Object, effectors: list[Any], *, into: str = "NEW", **tuning: Any) -> Any:
    steps = body_bake.bake(
        bpy.context.scene, armature, effectors, body_bake.BodyTuning(**tuning), options.BakeOptions(1, LAST, into)
    )
    return scenes.finish(steps)


def to(item: bpy.types.Object, bone: str, **settings: Any) -> Any:
    return bodies.BodyEffector(bone, targets.Target(item), **settings)


def pins() -> list[Any]:
    return [bodies.BodyEffector(name, priority="HIGH") for name in ("foot.L", "foot.R")]


def places(armature: bpy.types.Object, bone: str) -> np.ndarray:
    found = scenes.poses(armature, FRAMES, (bone,))[:, 0]
    return found[:, :3, 3]


def axes(armature: bpy.types.Object, bone: str) -> np.ndarray:
    return rotation.from_matrix(scenes.poses(armature, FRAMES, (bone,))[:, 0, :3, :3])


def followed(item: bpy.types.Object) -> np.ndarray:
    return np.array([(scenes.goto(frame), np.array(item.matrix_world.translation))[1] for frame in FRAMES])


@pytest.mark.every_blender
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
def test_hands_reach_their_targets_and_feet_stay(mode: str) -> None:
    armature = hero(mode)
    left, right = moving((0.35, -0.35, 1.3), "Left"), moving((-0.3, -0.4, 1.1), "Right")
    feet = {name: (places(armature, name), axes(armature, name)) for name in ("foot.L", "foot.R")}
    found = run(armature, [*pins(), to(left, "hand.L", orientation="TARGET"), to(right, "hand.R")])
    assert found.in_reach.all()
    for item, bone in ((left, "hand.L"), (right, "hand.R")):
        assert np.max(np.linalg.norm(places(armature, bone) - followed(item), axis=-1)) < 1e-3
    for name, (place, turn) in feet.items():
        assert np.max(np.linalg.norm(places(armature, name) - place, axis=-1)) < 1e-3
        assert np.max(rotation.distance(axes(armature, name), turn)) < 2e-3
    wanted = np.array([(scenes.goto(f), np.array(left.matrix_world.to_quaternion()))[1] for f in FRAMES])
    assert np.max(rotation.distance(axes(armature, "hand.L"), wanted)) < 2e-3


@pytest.mark.thorough
def test_the_hips_go_down_where_a_hand_reaches_for_the_floor() -> None:
    armature = hero()
    low = moving((0.3, -0.3, 0.5), "Low")
    before = places(armature, "hips")
    found = run(armature, [*pins(), to(low, "hand.L")])
    assert np.max(found.errors) < 5e-3
    assert np.mean(places(armature, "hips")[:, 2] - before[:, 2]) < -0.02
    held = run(hero(), [*pins(), to(low, "hand.L")], move_hips=False)
    assert np.max(np.abs(places(held.body.armature, "hips") - before)) < 1e-5


def test_an_object_that_is_scaled_turned_and_moved() -> None:
    armature = hero()
    armature.location, armature.rotation_euler, armature.scale = (2.0, -1.0, 0.5), (0.1, 0.0, 2.0), (0.5, 0.5, 0.5)
    bpy.context.view_layer.update()
    point = tuple(armature.matrix_world @ bpy.data.objects["Hero"].data.bones["hand.L"].head_local)
    item = moving(tuple(np.add(point, (0.05, 0.02, 0.1))), "Left")
    found = run(armature, [*pins(), to(item, "hand.L")])
    world = np.array(armature.matrix_world)
    seen = places(armature, "hand.L") @ world[:3, :3].T + world[:3, 3]
    assert np.allclose(np.linalg.norm(seen - followed(item), axis=-1), found.errors[2], atol=1e-4)
    assert np.max(found.errors[2]) < 1e-3


def test_the_head_looks_at_its_target() -> None:
    armature = hero()
    item = moving((0.8, -2.0, 1.4), "Ball")
    run(armature, [*pins(), to(item, "head", use_position=False, orientation="AIM")])
    away = followed(item) - places(armature, "head")
    rest = rotation.from_matrix(np.array(armature.data.bones["head"].matrix_local)[:3, :3])
    forward = rotation.rotate(axes(armature, "head"), rotation.rotate(rotation.inverse(rest), [0.0, -1.0, 0.0]))
    assert np.max(rotation.angle_between(forward, away)) < 2e-3


def test_targets_ease_in_and_out_at_the_ends_of_the_range() -> None:
    armature = hero()
    item = moving((0.35, -0.35, 1.3), "Left")
    before = scenes.poses(armature, FRAMES, ("hand.L",))[:, 0, :3, 3]
    found = run(armature, [*pins(), to(item, "hand.L")], ease=8.0 / 24.0)
    after = places(armature, "hand.L")
    assert np.allclose(after[[0, -1]], before[[0, -1]], atol=1e-5)
    assert np.max(np.linalg.norm(after - followed(item), axis=-1)[9:14]) < 1e-3
    assert not found.in_reach[2, 0] and found.in_reach[2, 12]
    # A target that takes effect at once would move it all the way from one frame to the next.
    steps, away = np.linalg.norm(np.diff(after, axis=0), axis=-1), np.linalg.norm(followed(item) - before, axis=-1)
    assert steps.max() < 3.0 * away.max() / 8.0


def test_directions_and_orientations_ease_in_too() -> None:
    armature = hero()
    item = moving((0.8, -2.0, 1.4), "Ball")
    item.rotation_euler = (0.4, 0.2, 1.0)
    before = [axes(armature, name) for name in ("head", "hand.L")]
    wanted = [to(item, "head", use_position=False, orientation="AIM")]
    wanted += [to(item, "hand.L", use_position=False, orientation="TARGET")]
    run(armature, [*pins(), *wanted], ease=8.0 / 24.0)
    for name, old in zip(("head", "hand.L"), before, strict=True):
        turned = rotation.distance(axes(armature, name), old)
        assert turned[[0, -1]].max() < 1e-3 < 0.1 < turned.max()
        assert np.abs(np.diff(turned)).max() < 3.0 * turned.max() / 8.0


def test_balance_pins_the_feet_and_keeps_the_centre_of_mass_above_them() -> None:
    item = moving((0.2, -0.75, 1.0), "Far")
    plain = run(hero(stands=True), [*pins(), to(item, "hand.L")])
    armature = hero(stands=True)
    feet = places(armature, "foot.L")
    found = run(armature, [to(item, "hand.L")], balance=1.0)
    assert [effector.bone for effector in found.effectors] == ["hand.L", "foot.L", "foot.R"]
    assert np.max(found.unbalanced) < 2e-3
    assert np.max(np.linalg.norm(places(armature, "foot.L") - feet, axis=-1)) < 1e-3
    assert not np.any(plain.unbalanced)


@pytest.mark.parametrize("place", [(1.5, 1.0, 2.5), (0.9, 3.0, 0.2)], ids=["up", "back"])
def test_limbs_bend_towards_their_poles(place) -> None:
    """Elbow and knee, with the hand on its target and the feet where they are."""
    armature, item, pole = hero(), moving((0.35, -0.3, 1.3), "Left"), moving(place, "Pole")
    knee = scenes.ball((0.9, -1.5, 0.6), "Knee")
    feet = [
        bodies.BodyEffector("foot.L", priority="HIGH", pole=targets.Target(knee)),
        bodies.BodyEffector("foot.R", priority="HIGH"),
    ]
    before = places(armature, "foot.L")
    found = run(armature, [*feet, to(item, "hand.L", pole=targets.Target(pole))])
    assert found.in_reach.all() and found.largest_error < 1e-3
    assert np.max(np.linalg.norm(places(armature, "foot.L") - before, axis=-1)) < 1e-3
    for limb, goal in ((("upper_arm.L", "forearm.L", "hand.L"), pole), (("thigh.L", "shin.L", "foot.L"), knee)):
        base, middle, end = (places(armature, name) for name in limb)
        along = rotation.normalize(end - base)
        bend, away = (
            v - np.sum(v * along, axis=-1, keepdims=True) * along for v in (middle - base, followed(goal) - base)
        )
        assert np.max(rotation.angle_between(bend, away)) < 0.05


def test_a_pole_needs_a_limb_and_another_object() -> None:
    armature = hero()
    pole = scenes.ball((0.0, -3.0, 2.0), "Pole")
    with pytest.raises(errors.RigError, match="does not end a limb that bends"):
        run(armature, [*pins(), bodies.BodyEffector("hips", pole=targets.Target(pole))])
    scenes.child(pole, armature, "hand.L")
    with pytest.raises(errors.RigError, match="moves with the body"):
        run(armature, [*pins(), bodies.BodyEffector("hand.L", pole=targets.Target(pole))])


def test_other_curves_stay_to_the_bit_and_layers_hold_only_what_is_added() -> None:
    armature = hero()
    scenes.animate(armature, bones=("head",))
    item = moving((0.35, -0.35, 1.3), "Left")
    before = scenes.fingerprint(armature.animation_data.action)
    run(armature, [*pins(), to(item, "hand.L")], into="CURRENT")
    after = scenes.fingerprint(armature.animation_data.action)
    kept = [key for key in before if '"head"' in key[1] or '"neck"' in key[1]]
    assert kept and all(before[key] == after[key] for key in kept)
    layered = hero()
    run(layered, [*pins(), to(item, "hand.L")], into="LAYER")
    assert np.max(np.linalg.norm(places(layered, "hand.L") - followed(item), axis=-1)) < 2e-3


def test_nothing_to_do_gives_the_same_animation() -> None:
    armature = hero()
    before = scenes.poses(armature, FRAMES)
    found = run(armature, [*pins(), bodies.BodyEffector("hand.L")])
    assert np.array_equal(scenes.poses(armature, FRAMES), before)
    assert found.bones == ()


@pytest.mark.parametrize(
    ("effectors", "words"),
    [
        (lambda item: [], "no effector"),
        (lambda item: [to(item, "hand.L"), to(item, "hand.L")], "'hand.L' is listed twice"),
        (lambda item: [to(item, "wing.L")], "wing.L"),
        (lambda item: [bodies.BodyEffector("hand.L", orientation="AIM")], "no target to turn to"),
        (lambda item: [to(item, "hand.L", use_position=False)], "neither position nor orientation"),
        (
            lambda item: [bodies.BodyEffector("hand.L", targets.Target(point=(0, 0, 1)), orientation="TARGET")],
            "A point has no orientation",
        ),
        (
            lambda item: [bodies.BodyEffector("hand.L", targets.Target(bpy.data.objects["Hero"], "head"))],
            None,
        ),
        (
            lambda item: [to(scenes.child(item, bpy.data.objects["Hero"], "hand.R"), "hand.L"), *pins()],
            None,
        ),
        (
            lambda item: [to(scenes.child(item, bpy.data.objects["Hero"], "chest"), "hand.L")],
            "moves with the body",
        ),
    ],
)
def test_bad_input_is_refused_before_anything_changes(effectors: Any, words: str | None) -> None:
    armature = hero()
    item = scenes.ball()
    given = effectors(item)
    before = scenes.snapshot()
    if words is None:
        words = "moves with the body"
    with pytest.raises(errors.LookAtError, match=words):
        run(armature, given)
    assert scenes.differences(before, scenes.snapshot()) == []


def test_bones_that_are_scaled_a_little_unevenly_are_refused_above_rounding() -> None:
    armature = hero()
    item = moving((0.35, -0.35, 1.3), "Left")
    armature.pose.bones["chest"].scale.x = 1.0 + 0.9 * shear.LEAST
    assert run(armature, [*pins(), to(item, "hand.L")]).in_reach.all()
    armature.pose.bones["chest"].scale.x = 1.0 + 1.1 * shear.LEAST
    with pytest.raises(errors.RigError, match="A bone of 'Hero' is scaled unevenly"):
        run(armature, [*pins(), to(item, "hand.L")])


def test_bones_with_constraints_are_refused() -> None:
    armature = hero()
    armature.pose.bones["forearm.L"].constraints.new("COPY_ROTATION").target = scenes.ball()
    with pytest.raises(errors.RigError, match=r"'forearm\.L' has constraints"):
        run(armature, [to(scenes.ball(name="Left"), "hand.L")])


def test_a_bake_that_is_stopped_leaves_everything_as_it_was() -> None:
    armature = hero()
    item = moving((0.35, -0.35, 1.3), "Left")
    before = scenes.snapshot()
    steps = body_bake.bake(
        bpy.context.scene, armature, [to(item, "hand.L")], body_bake.BodyTuning(), options.BakeOptions(1, LAST)
    )
    for _ in range(LAST + 1):
        next(steps)
    steps.close()
    assert scenes.differences(before, scenes.snapshot()) == []
