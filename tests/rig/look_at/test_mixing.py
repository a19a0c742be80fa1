"""Targets that mix, are let go of, and are glanced at, as an animator sees it."""

import bpy
import numpy as np
import pytest

from extension import load

from .. import scenes
from .body import bodies

edit = load("rig.look_at.edit")
errors = load("lookat_pd.errors")
live = load("rig.layers.live")
looks = load("rig.look_at.directing.looks")
resolve = load("rig.look_at.resolve")
sampler = load("rig.sampling.sampler")
sight = load("rig.sampling.sight")
targets = load("rig.sampling.targets")

PLACES = {"Ball": (1.6, -2.2, 1.8), "Bird": (-1.2, -2.0, 1.4)}


@pytest.fixture
def two():
    """A character with a main target and an additional one; its settings."""
    armature = scenes.figure()
    scenes.animate(armature, size=0.05)
    bpy.context.scene.frame_end = scenes.LAST
    settings = scenes.aim(armature, scenes.ball(PLACES["Ball"]), aim_from="BONE")
    looks.add(armature, "head", targets.Target(scenes.ball(PLACES["Bird"], "Bird")))
    return armature, settings


def gaze(armature, frame: int = scenes.LAST) -> tuple[np.ndarray, np.ndarray]:
    """Place and direction of the head's aim in the world."""
    seen = armature.evaluated_get(scenes.goto(frame))
    matrix = np.array(seen.matrix_world @ seen.pose.bones["head"].matrix)
    axis = np.array(armature.data.bones["head"].matrix_local.to_3x3().inverted()) @ (0.0, -1.0, 0.0)
    aim = matrix[:3, :3] @ axis
    return matrix[:3, 3], aim / np.linalg.norm(aim)


def angles(armature, frame: int = scenes.LAST) -> tuple[float, float]:
    """Angles [deg] of the aim from each target."""
    place, aim = gaze(armature, frame)
    ways = [np.array(bpy.data.objects[name].matrix_world.translation) - place for name in PLACES]
    return tuple(float(np.degrees(np.arccos(np.clip(aim @ way / np.linalg.norm(way), -1, 1)))) for way in ways)


def whole(armature) -> float:
    place, _ = gaze(armature)
    one, other = (np.array(value) - place for value in PLACES.values())
    return float(np.degrees(np.arccos(one @ other / np.linalg.norm(one) / np.linalg.norm(other))))


def weigh(settings, first: float, second: float) -> None:
    settings.use_mix = True
    settings.target_weight, settings.targets[0].weight = first, second
    bpy.context.view_layer.update()


@pytest.mark.parametrize("w", [0.0, 0.25, 0.5, 0.8, 1.0])
def test_the_settled_aim_is_on_the_arc_between_both(two, w: float) -> None:
    armature, settings = two
    weigh(settings, w, 1.0 - w)
    one, other = angles(armature)
    assert one + other == pytest.approx(whole(armature), abs=0.05)
    assert one < 0.05 if w == 1.0 else other < 0.05 if w == 0.0 else min(one, other) > 5.0
    if w == 0.5:
        assert one == pytest.approx(other, abs=3.0)


def test_it_is_off_by_default_and_the_active_target_counts(two) -> None:
    armature, settings = two
    assert not settings.use_mix
    settings.target_weight = 0.0
    assert angles(armature)[0] < 0.05


@pytest.mark.every_blender
def test_keyed_weights_are_smooth_live_and_baked(two) -> None:
    """A step of the weights turns the head with continuous speed."""
    armature, settings = two
    settings.use_mix, settings.settle_time = True, 0.4
    quick()
    for frame, value in ((1, 1.0), (60, 0.0)):
        settings.target_weight, settings.targets[0].weight = value, 1.0 - value
        for path in ("target_weight", "targets[0].weight"):
            edit.toggle_key(armature, "head", path, frame)
    for curve in bodies_curves(armature):
        for key in curve.keyframe_points:
            key.interpolation = "CONSTANT"
    assert angles(armature, 59)[0] < 0.5 and angles(armature, FAST)[1] < 0.5
    assert is_smooth(armature, 50)
    shown = scenes.poses(armature, (1, 65, 80, FAST))
    result = scenes.run_bake(armature, last=FAST)[0]
    assert np.abs(scenes.poses(armature, (1, 65, 80, FAST)) - shown).max() < 1e-5
    assert result.settled_error < np.radians(0.05)


@pytest.mark.parametrize("setting", ["use", "target_weight", "targets[0].weight"])
def test_the_panels_button_keys_every_setting(two, setting) -> None:
    armature, _ = two
    assert bpy.ops.lookat_pd.key(setting=setting) == {"FINISHED"}
    assert edit.key_state(armature, "head", setting, bpy.context.scene.frame_current) == "KEYED"
    for unknown in ("targets[7].weight", "name"):
        with pytest.raises(RuntimeError, match="no setting"):
            bpy.ops.lookat_pd.key(setting=unknown)


FAST = 240
"""Last frame of a scene with 120 frames per second, in which a jump of the speed shows."""


def quick() -> None:
    bpy.context.scene.render.fps, bpy.context.scene.frame_end = 120, FAST


def is_smooth(armature, first: int) -> bool:
    """Whether the speed of the head does not jump from a frame on."""
    poses = scenes.poses(armature, range(first, FAST))[:, bodies.bones(armature, "head")[0]]
    speed = np.linalg.norm(np.diff(poses[:, :3, :3], axis=0), axis=(1, 2))
    return float(np.abs(np.diff(speed)).max()) < 0.45 * float(speed.max())


def bodies_curves(armature) -> list:
    data = armature.data.animation_data
    curves = load("rig.animation.actions").curves(data.action, data.action_slot)
    return [curve for curve in curves if curve.data_path.endswith("weight")]


def test_eyes_look_at_the_mix() -> None:
    armature = bodies.person(moving=False)
    bpy.context.scene.frame_end = scenes.LAST
    settings = bodies.look(armature, scenes.ball(PLACES["Ball"]))
    looks.add(armature, "head", targets.Target(scenes.ball(PLACES["Bird"], "Bird")))
    weigh(settings, 0.5, 0.5)
    seen = armature.evaluated_get(scenes.goto(scenes.LAST))
    eyes = [seen.pose.bones[name].matrix for name in bodies.EYES]
    place, aim = (np.mean([np.array(eye)[:3, column] for eye in eyes], axis=0) for column in (3, 1))
    one, other = ((to - place) / np.linalg.norm(to - place) for to in map(np.array, PLACES.values()))
    normal = np.cross(one, other)
    assert abs(aim @ normal / np.linalg.norm(normal)) < np.sin(np.radians(0.5))
    assert abs(aim @ one - aim @ other) < 0.1


def assert_bake_refuses(armature, words: str) -> None:
    """One sentence from the operator, and nothing has changed."""
    scenes.select(armature, "head")
    bpy.context.view_layer.objects.active = armature
    before = armature.animation_data.action, scenes.fingerprint(armature.animation_data.action), len(bpy.data.actions)
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.lookat_pd.bake()
    after = armature.animation_data.action, scenes.fingerprint(armature.animation_data.action), len(bpy.data.actions)
    assert after == before and not armature.pose.bones["head"].lookat_pd.mute


def test_weights_of_zero_are_one_sentence_and_keyed_ones_let_go(two) -> None:
    armature, settings = two
    weigh(settings, 0.0, 0.0)
    with pytest.raises(errors.RigError, match="weight of 0"):
        resolve.resolve(armature, "head")
    live.finish(bpy.context.scene)
    assert "weight of 0" in live.status(bpy.context.scene, armature, "head").error
    assert_bake_refuses(armature, "weight of 0")
    edit.toggle_key(armature, "head", "target_weight", 1)
    assert np.array_equal(scenes.poses(armature, (20,)), scenes.animated(armature, (20,)))


def test_weights_and_their_keys_go_with_their_target(two) -> None:
    armature, settings = two
    looks.add(armature, "head", targets.Target(scenes.ball((0, -3, 1), "Cat")))
    for value, path in ((0.1, "target_weight"), (0.2, "targets[0].weight"), (0.3, "targets[1].weight")):
        owner = settings if path == "target_weight" else settings.targets[int(path[8])]
        setattr(owner, path.split(".")[-1] if "." in path else path, value)
        edit.toggle_key(armature, "head", path, 1)
    looks.move(armature, "head", 0, 2)
    scenes.goto(2)
    found = [settings.target_weight, *(item.weight for item in settings.targets)]
    assert found == pytest.approx([0.3, 0.2, 0.1])
    assert settings.target.name == "Cat"
    looks.remove(armature, "head", 0)
    scenes.goto(3)
    assert settings.target.name == "Bird"
    assert [settings.target_weight, *(item.weight for item in settings.targets)] == pytest.approx([0.2, 0.1])
    assert len(bodies_curves(armature)) == 2


def test_a_camera_is_a_target(two) -> None:
    armature, settings = two
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location = (0.5, -2.0, 1.7)
    bpy.context.scene.collection.objects.link(camera)
    settings.target = camera
    assert scenes.error(armature, scenes.place_of(camera)) < 0.05


# Letting go


def passing(settings, places) -> None:
    """The target moves through places, one every ten frames from 1 on, in straight lines."""
    ball = settings.target
    for n, place in enumerate(places):
        ball.location = place
        ball.keyframe_insert("location", frame=1 + 10 * n)


def looked_at(armature, last: int = scenes.LAST) -> list[int]:
    """Numbers of the targets at all frames, as baked."""
    return scenes.run_bake(armature, last=last)[0].solution.looked_at.tolist()


def test_a_target_is_let_go_beyond_a_distance_and_comes_back_nearer(two) -> None:
    armature, settings = two
    settings.let_go_distance = 4.0
    passing(settings, [(0, -y, 1.6) for y in (3.0, 5.0, 3.9, 3.8, 3.0, 3.0, 3.0)])
    found = np.array(looked_at(armature))
    assert found[0] == 0 and found[10] == -1 and found[20] == -1 and found[30] == -1, "beyond, or not yet near enough"
    assert found[40] == 0
    assert np.count_nonzero(np.diff(found)) == 2


def test_a_target_is_let_go_beyond_an_angle(two) -> None:
    armature, settings = two
    settings.let_go_angle = np.radians(60.0)
    far = [(3 * np.sin(a), -3 * np.cos(a), 1.6) for a in np.radians([0, 90, 57, 57, 40, 0, 0])]
    passing(settings, far)
    found = np.array(looked_at(armature))
    assert found[0] == 0 and (found[10:31] == -1).all() and found[-1] == 0


def test_letting_go_and_back_is_smooth(two) -> None:
    armature, settings = two
    settings.let_go_distance = 4.0
    quick()
    for frame, place in ((1, (2.0, -2, 1.6)), (80, (2.0, -5, 1.6)), (160, (2.0, -2, 1.6))):
        settings.target.location = place
        settings.target.keyframe_insert("location", frame=frame)
    assert is_smooth(armature, 30)
    found = np.array(looked_at(armature, FAST))
    assert np.count_nonzero(np.diff(found)) == 2 and found[-1] == 0


# Glances


def test_a_glance_goes_back_to_what_was_there(two) -> None:
    armature, _ = two
    looks.glance(bpy.context.scene, armature, "head", 1, 10, 15)
    found = looked_at(armature)
    assert found[8] == 0 and set(found[9:24]) == {1} and set(found[24:]) == {0}


def test_a_glance_keeps_the_keys_around_it(two) -> None:
    armature, _ = two
    scene = bpy.context.scene
    looks.look(scene, armature, "head", 1, 5)
    looks.look_away(scene, armature, "head", 20)
    looks.look(scene, armature, "head", 1, 50)
    looks.glance(scene, armature, "head", 0, 15, 10)
    found = looked_at(armature)
    assert (found[3], found[13], found[14], found[23], found[24], found[48], found[49]) == (0, 1, 0, 0, -1, -1, 1)


def test_the_operator_keys_seconds(two) -> None:
    armature, _ = two
    bpy.context.view_layer.objects.active = armature
    scenes.goto(12)
    assert bpy.ops.lookat_pd.glance(number=1, seconds=0.5) == {"FINISHED"}
    found = looked_at(armature)
    assert found[10] == 0 and set(found[11:23]) == {1} and found[23] == 0


def test_a_mix_is_not_keyed_by_numbers(two) -> None:
    armature, settings = two
    weigh(settings, 1.0, 1.0)
    with pytest.raises(errors.RigError, match="mixes its targets"):
        looks.glance(bpy.context.scene, armature, "head", 1, 10, 15)


# Out of sight


def wall(x: float, name: str = "Wall") -> bpy.types.Collection:
    """A collection with a wall across the view, at x to its left edge."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(0, -1.5, 0), (2, -1.5, 0), (2, -1.5, 3), (0, -1.5, 3)], [], [(0, 1, 2, 3)])
    item = bpy.data.objects.new(name, mesh)
    item.location.x = x
    collection = bpy.data.collections.new("Occluders")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(item)
    return collection


def test_a_target_is_let_go_behind_a_wall_and_comes_back(two) -> None:
    armature, settings = two
    settings.let_go_behind = wall(0.3)
    passing(settings, [(x, -3, 1.6) for x in (-1.0, -1.0, 2.0, 2.0, -1.0, -1.0, -1.0)])
    found = np.array(looked_at(armature))
    assert found[0] == 0 and (found[25:35] == -1).all() and found[-1] == 0
    assert np.count_nonzero(np.diff(found)) == 2
    assert bpy.data.scenes.keys() == [bpy.context.scene.name], "nothing is left of the rays"


def test_rays_are_cast_in_slices_with_progress(two) -> None:
    """The temporary scene is removed between two slices; what is found is the same."""
    armature, settings = two
    settings.let_go_behind = wall(0.0)
    places = np.tile((0.0, -3.0, 1.6), (2, 6, 1))
    places[0, 3:] = (-3.0, -3.0, 1.6)
    eyes = np.tile((0.0, 0.0, 1.6), (6, 1))
    frames = [float(frame) for frame in range(1, 7)]
    objects = tuple(settings.let_go_behind.all_objects)
    found = []
    for parks in (False, True):
        steps, done = sight.hidden(bpy.context.scene, armature, objects, frames, eyes, places), []
        try:
            while True:
                done.append(next(steps))
                if parks:
                    sampler.park_all()
                    assert bpy.data.scenes.keys() == [bpy.context.scene.name]
        except StopIteration as end:
            found.append(end.value)
        assert np.allclose(done, np.arange(1, 7) / 6)
    assert np.array_equal(*found) and found[0].any() and not found[0].all()
    steps = sight.hidden(bpy.context.scene, armature, objects, frames, eyes, places)
    next(steps)
    steps.close()
    assert bpy.data.scenes.keys() == [bpy.context.scene.name]


def test_an_occluder_that_moves_and_one_that_joins(two) -> None:
    armature, settings = two
    settings.let_go_behind = collection = wall(30.0)
    scene = bpy.context.scene
    animated = scenes.animated(armature, (scenes.LAST,))
    assert np.abs(scenes.poses(armature, (scenes.LAST,)) - animated).max() > 0.05
    bpy.data.objects["Wall"].location.x = 0.0
    bpy.context.view_layer.update()
    live.finish(scene)
    assert np.abs(scenes.poses(armature, (scenes.LAST,)) - animated).max() < 1e-5
    bpy.data.objects["Wall"].location.x = 30.0
    other = wall(0.0, "Other").objects[0]
    bpy.context.view_layer.update()
    live.finish(scene)
    assert np.abs(scenes.poses(armature, (scenes.LAST,)) - animated).max() > 0.05
    collection.objects.link(other)
    bpy.context.view_layer.update()
    live.finish(scene)
    assert np.abs(scenes.poses(armature, (scenes.LAST,)) - animated).max() < 1e-5


def test_posts_do_not_make_the_look_flicker(two) -> None:
    armature, settings = two
    collection = settings.let_go_behind = wall(0.3)
    bpy.data.objects["Wall"].scale.x = 0.05
    assert len(collection.objects) == 1
    passing(settings, [(x, -3, 1.6) for x in (-1.0, 2.5, 2.5, -1.0, -1.0)])
    assert set(looked_at(armature)) == {0}


def test_a_hidden_target_leaves_the_mix(two) -> None:
    armature, settings = two
    settings.let_go_behind = wall(0.3)
    weigh(settings, 0.5, 0.5)
    live.finish(bpy.context.scene)
    assert angles(armature)[1] < 0.05, "the ball is behind the wall"


def test_the_character_is_no_occluder(two) -> None:
    armature, settings = two
    collection = wall(0.3)
    body = bpy.data.objects.new("Body", bpy.data.meshes.new("Body"))
    collection.objects.link(scenes.child(body, armature))
    settings.let_go_behind = collection
    with pytest.raises(errors.RigError, match="'Body' is part of the character"):
        resolve.resolve(armature, "head")
    live.finish(bpy.context.scene)
    assert "'Body' is part of the character" in live.status(bpy.context.scene, armature, "head").error
    assert_bake_refuses(armature, "'Body' is part of the character")
