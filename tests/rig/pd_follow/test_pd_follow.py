"""PD Follow on objects and bones: what is seen live, and that a bake shows the same."""

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Quaternion, Vector
from numpy.testing import assert_allclose

from extension import load

from ..scenes import figure

bake_options = load("rig.animation.bake_options")
errors = load("lookat_pd.errors")
finish = load("lookat_pd.progress").drain
follow_edit = load("rig.pd_follow.follow_edit")
follow_kind = load("rig.pd_follow.follow_kind")
follow_solve = load("rig.pd_follow.follow_solve")
layer_bake = load("rig.layers.layer_bake")
live = load("rig.layers.live")
look_at_edit = load("rig.look_at.edit")
owners = load("rig.pd_follow.owners")
Owner = owners.Owner
LAST = 48
FRAMES = range(1, LAST + 1)
STEP, BEFORE, AFTER = 12, Vector((0.0, 0.0, 0.0)), Vector((1.0, -2.0, 0.5))


def thing(name: str, kind: str = "", place=(0.0, 0.0, 0.0)) -> bpy.types.Object:
    """An empty, or a camera, in the scene."""
    data = bpy.data.cameras.new(name) if kind == "CAMERA" else None
    item = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(item)
    item.location = place
    return item


@pytest.fixture
def ball() -> bpy.types.Object:
    """Something that moves and turns on curves."""
    bpy.context.scene.frame_end = LAST
    item = thing("Ball")
    for frame, place, turn in ((1, (0, -2, 1), 0.0), (20, (2, -1, 1.5), 1.2), (40, (1, 1, 0.5), -0.4)):
        item.location, item.rotation_euler = place, (0.2 * turn, 0.0, turn)
        item.keyframe_insert("location", frame=frame)
        item.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(1)
    return item


def animate(item: bpy.types.Object) -> None:
    for frame, place in ((1, (4, 0, 1)), (30, (5, 1, 2))):
        item.location, item.rotation_euler = place, (0.1 * frame, 0.3, 0.02 * frame)
        item.keyframe_insert("location", frame=frame)
        item.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(1)


def seen(owner: Owner, frames=FRAMES) -> np.ndarray:
    """World matrices (F, 4, 4) that Blender shows."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        matrix = owner.object.matrix_world
        found.append(matrix @ owner.item.matrix if owner.bone else matrix.copy())
    return np.array(found)


def bake(owner: Owner, **given) -> None:
    options = bake_options.BakeOptions(1, LAST, **given)
    finish(layer_bake.bake(bpy.context.scene, follow_kind.FollowKind, [follow_kind.instance_of(owner)], options))


def jumping() -> bpy.types.Object:
    """A target that is at one place, and from a frame on at another."""
    item = thing("Ball")
    for frame, place in ((1, BEFORE), (STEP, AFTER)):
        item.location = place
        item.keyframe_insert("location", frame=frame)
    for curve in load("rig.animation.actions").curves(item.animation_data.action, item.animation_data.action_slot):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    bpy.context.scene.frame_end = LAST
    bpy.context.scene.frame_set(1)
    return item


def test_switched_on_it_goes_to_the_target_as_the_step_response():
    scene = bpy.context.scene
    scene.frame_end = LAST
    target, box = thing("Ball", place=AFTER), thing("Box", place=(1, 1, 1))
    bpy.context.view_layer.update()
    owner = Owner(box)
    follow_edit.add([owner], target)
    settings = box.lookat_pd_follow
    settings.keep_offset, settings.settle_time = False, 0.8
    for frame, use in ((1, False), (STEP, True)):
        settings.use = use
        assert box.keyframe_insert("lookat_pd_follow.use", frame=frame)
    t = np.maximum(np.arange(LAST) - (STEP - 1), 0) / 24.0
    omega = 2.0 * np.pi / 0.8
    share = 1.0 - np.exp(-omega * t) * (1.0 + omega * t)
    way = np.array(AFTER) - 1.0
    assert_allclose(seen(owner)[:, :3, 3], 1.0 + share[:, None] * way, atol=1e-6)


def test_it_never_moves_faster_than_the_limit():
    target, box = jumping(), thing("Box", place=(3, 0, 0))
    follow_edit.add([Owner(box)], target)
    box.lookat_pd_follow.max_speed = 1.2
    places = seen(Owner(box))[:, :3, 3]
    speeds = np.linalg.norm(np.diff(places, axis=0), axis=1) * 24.0
    assert 1.19 < speeds.max() < 1.2 + 1e-4


def test_a_low_damping_overshoots():
    target, box = jumping(), thing("Box", place=(3, 0, 0))
    follow_edit.add([Owner(box)], target)
    settings = box.lookat_pd_follow
    settings.damping, settings.damping_ratio, settings.settle_time = "CUSTOM", 0.2, 0.5
    x = seen(Owner(box))[:, 0, 3] - 3.0
    assert x.max() > 1.4
    settings.damping = "CRITICAL"
    assert seen(Owner(box))[:, 0, 3].max() - 3.0 < 1.0 + 1e-5


def test_a_camera_aims_at_the_target_and_keeps_its_distance(ball):
    camera = thing("Camera", "CAMERA", (0, -8, 2))
    bpy.context.view_layer.update()
    follow_edit.add([Owner(camera)], ball)
    assert camera.lookat_pd_follow.turn == "AIM"
    camera.lookat_pd_follow.settle_time = 0.2
    found = seen(Owner(camera), (1, LAST))
    places = seen(Owner(ball), (1, LAST))[:, :3, 3]
    assert_allclose(found[:, :3, 3] - places, np.array([(0, -6, 1)] * 2), atol=1e-4)
    to = places - found[:, :3, 3]
    aims = -found[:, :3, 2]
    assert_allclose(aims, to / np.linalg.norm(to, axis=1, keepdims=True), atol=1e-4)
    assert_allclose(found[:, 2, 0], 0.0, atol=1e-4)


def test_without_a_target_it_lags_behind_its_own_constraints(ball):
    """A camera on constraints moves smoothly, whatever moves it: the lag is that of its evaluated motion."""
    camera = thing("Camera", "CAMERA")
    constraint = camera.constraints.new("COPY_LOCATION")
    constraint.target = ball
    follow_edit.add([Owner(camera)], None)
    camera.lookat_pd_follow.settle_time = 0.2
    places, lagging = seen(Owner(ball))[:, :3, 3], seen(Owner(camera))[:, :3, 3]
    assert np.linalg.norm(places - lagging, axis=1).max() > 0.1
    assert_allclose(lagging[-1], places[-1], atol=1e-3)
    constraint.mute = True
    assert_allclose(seen(Owner(camera))[:, :3, 3], 0.0, atol=1e-6)


def bone_owner(*, connected: bool = False) -> Owner:
    armature = figure()
    armature.rotation_euler, armature.scale = (0.2, 0.1, 0.4), (0.5, 0.5, 0.5)
    armature.pose.bones["spine"].rotation_mode = "XYZ"
    armature.pose.bones["head"].rotation_mode = "QUATERNION"
    for frame, turn in ((1, 0.0), (30, 0.6)):
        bone = armature.pose.bones["spine"]
        bone.rotation_euler = (turn, 0.3 * turn, 0.1)
        bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones["head"].use_connect = connected
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()
    return Owner(armature, "head")


def camera_owner() -> Owner:
    """A camera with keys below a turned and scaled parent, with delta transforms."""
    parent, camera = thing("Rig", place=(1, 2, 3)), thing("Camera", "CAMERA")
    parent.rotation_euler, parent.scale = (0.3, 0.5, 0.7), (2, 2, 2)
    camera.parent = parent
    camera.matrix_parent_inverse = Matrix.LocRotScale(Vector((0.1, 0.2, 0.3)), Euler((0.1, 0.2, 0.0)), None)
    camera.delta_location, camera.delta_rotation_euler = (0.1, 0, 0), (0.2, 0.1, 0)
    animate(camera)
    return Owner(camera)


MAKERS = {"camera": camera_owner, "bone": bone_owner}


@pytest.mark.every_blender
@pytest.mark.parametrize("turn", ["NONE", "FOLLOW", "AIM"])
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("into", ["NEW", "CURRENT", "LAYER"])
def test_the_bake_shows_what_was_live(ball, maker, turn, into):
    owner = MAKERS[maker]()
    bpy.context.scene.frame_set(1)
    plain = seen(owner)
    follow_edit.add([owner], ball)
    owner.settings.use_location, owner.settings.turn, owner.settings.damping = True, turn, "RESPONSIVE"
    live = seen(owner)
    assert np.abs(live - plain).max() > 0.3
    bake(owner, into=into)
    assert owner.settings.mute
    assert_allclose(seen(owner), live, atol=2e-5)


def test_a_follower_at_its_goal_is_where_it_was(ball):
    """With its offset kept, what follows a target that rests is as animated, exactly."""
    rest, box = thing("Rest", place=(1, 1, 1)), thing("Box")
    animate(box)
    bpy.context.view_layer.update()
    plain = seen(Owner(box))
    follow_edit.add([Owner(box)], rest)
    assert np.array_equal(seen(Owner(box)), plain)
    rest.location.x += 2.0
    assert_allclose(seen(Owner(box))[:, :3, 3] - plain[:, :3, 3], [(2.0, 0.0, 0.0)] * LAST, atol=1e-6)


def test_the_offset_turns_with_a_target_that_is_followed_in_rotation(ball):
    """A follower with a short settle time is as if parented to the target."""
    box, child = thing("Box", place=(1, -3, 1)), thing("Child", place=(1, -3, 1))
    bpy.context.scene.frame_set(1)
    child.parent, child.matrix_parent_inverse = ball, ball.matrix_world.inverted()
    follow_edit.add([Owner(box)], ball)
    settings = box.lookat_pd_follow
    settings.turn, settings.settle_time, settings.feed_forward = "FOLLOW", 0.02, 1.0
    assert_allclose(seen(Owner(box)), seen(Owner(child)), atol=2e-3)


def test_followers_of_followers_and_of_bones(ball):
    """The chain is solved in order, whatever order it was made in; a bone of another rig is followed too."""
    last, middle = thing("A last"), thing("B middle")
    bpy.context.view_layer.update()
    follow_edit.add([Owner(last)], middle)
    follow_edit.add([Owner(middle)], ball)
    found = [seen(Owner(item))[:, 0, 3] for item in (ball, middle, last)]
    peaks = [int(np.argmax(x - x[0])) for x in found]
    assert peaks[0] < peaks[1] < peaks[2]
    rig = bone_owner()
    lamp = thing("Lamp")
    bpy.context.view_layer.update()
    follow_edit.add([Owner(lamp)], rig.object, "head")
    lamp.lookat_pd_follow.settle_time, lamp.lookat_pd_follow.keep_offset = 0.05, False
    assert_allclose(seen(Owner(lamp), (LAST,))[0, :3, 3], seen(rig, (LAST,))[0, :3, 3], atol=1e-4)


def test_a_follower_of_a_head_sees_its_look_at(ball):
    """And a look-at sees what follows, which it looks at."""
    rig = bone_owner().object
    lamp, lead = thing("Lamp"), thing("Lead", place=(0, -3, 1))
    bpy.context.view_layer.update()
    look_at_edit.add(bpy.context.scene, rig, "head", ball)
    follow_edit.add([Owner(lamp)], rig, "head")
    settings = lamp.lookat_pd_follow
    settings.turn, settings.keep_offset, settings.settle_time, settings.feed_forward = "FOLLOW", False, 0.02, 1.0
    seen(Owner(lamp))
    heads = seen(Owner(rig, "head"))
    turned = heads[:, :3, :3] / np.linalg.norm(heads[:, :3, :3], axis=1, keepdims=True)
    found = seen(Owner(lamp))
    assert_allclose(found[:, :3, :3], turned, atol=2e-2)
    assert_allclose(found[:, :3, 3], heads[:, :3, 3], atol=5e-3)
    rig.pose.bones["head"].lookat_pd.mute = True
    seen(Owner(lamp))
    assert np.abs(seen(Owner(lamp))[:, :3, :3] - turned).max() > 0.1
    rig.pose.bones["head"].lookat_pd.mute = False
    rig.pose.bones["head"].lookat_pd.target = lead
    still = seen(Owner(rig, "head"))
    follow_edit.add([Owner(lead)], ball)
    assert np.abs(seen(Owner(rig, "head")) - still).max() > 0.05


def test_changes_are_seen_at_once_and_nothing_is_solved_without(ball, monkeypatch):
    box = thing("Box", place=(3, 0, 0))
    bpy.context.view_layer.update()
    follow_edit.add([Owner(box)], ball)
    bpy.context.view_layer.update()
    solved = []
    solve = follow_solve.solve
    monkeypatch.setattr(follow_solve, "solve", lambda *args: solved.append(args) or solve(*args))
    seen(Owner(box))
    bpy.context.view_layer.update()
    assert not solved
    before = seen(Owner(box))
    box.lookat_pd_follow.settle_time = 1.5
    after = seen(Owner(box))
    assert len(solved) == 1
    assert np.abs(after - before).max() > 0.01
    box.location.z = 4.0
    assert_allclose(seen(Owner(box))[:, 2, 3] - after[:, 2, 3], 4.0, atol=1e-5)


def test_the_influence_and_the_mute_of_it(ball):
    box = thing("Box", place=(3, 0, 0))
    bpy.context.view_layer.update()
    follow_edit.add([Owner(box)], ball)
    box.lookat_pd_follow.turn = "FOLLOW"
    whole = seen(Owner(box))[:, :3, 3] - (3, 0, 0)
    box.lookat_pd_follow.influence = 0.25
    assert_allclose(seen(Owner(box))[:, :3, 3] - (3, 0, 0), 0.25 * whole, atol=1e-5)
    box.lookat_pd_follow.mute = True
    assert np.array_equal(seen(Owner(box))[:, :3, 3], [(3, 0, 0)] * LAST)


def test_a_copy_has_a_motion_of_its_own(ball):
    box = thing("Box", place=(3, 0, 0))
    bpy.context.view_layer.update()
    follow_edit.add([Owner(box)], ball)
    before = seen(Owner(box))
    copy = box.copy()
    bpy.context.scene.collection.objects.link(copy)
    copy.lookat_pd_follow.settle_time = 2.0
    bpy.context.view_layer.update()
    assert np.abs(seen(Owner(copy)) - before).max() > 0.1
    assert_allclose(seen(Owner(box)), before, atol=1e-6)


def test_removed_it_leaves_nothing(ball):
    box = thing("Box", place=(3, 0, 0))
    known = len(bpy.data.actions), len(bpy.data.objects)
    bpy.context.view_layer.update()
    follow_edit.add([Owner(box)], ball)
    seen(Owner(box))
    follow_edit.remove(Owner(box))
    bpy.context.view_layer.update()
    assert not box.constraints
    assert not box.lookat_pd_follow.exists
    assert np.array_equal(seen(Owner(box))[:, :3, 3], [(3, 0, 0)] * LAST)
    assert (len(bpy.data.actions), len(bpy.data.objects)) == known


def test_it_plays_without_the_extension_after_a_save(ball, tmp_path):
    box = thing("Box", place=(3, 0, 0))
    bpy.context.view_layer.update()
    follow_edit.add([Owner(box)], ball)
    before = seen(Owner(box))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "follow.blend"))
    with load("rig.sampling.suspend").suspend_live():
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "follow.blend"))
        assert_allclose(seen(Owner(bpy.data.objects["Box"])), before, atol=1e-6)


def refusal(action, *args) -> str:
    with pytest.raises(errors.LookAtError) as caught:
        action(*args)
    return str(caught.value)


def test_what_cannot_follow_is_refused(ball):
    box, child = thing("Box"), thing("Child")
    child.parent = box
    bpy.context.view_layer.update()
    assert "would follow itself" in refusal(follow_edit.add, [Owner(box)], child)
    assert "would follow itself" in refusal(follow_edit.add, [Owner(box)], box)
    assert not box.constraints
    follow_edit.add([Owner(ball)], box)
    assert "would follow itself" in refusal(follow_edit.add, [Owner(box)], ball)
    assert "already has" in refusal(follow_edit.add, [Owner(ball)], box)
    ball.lookat_pd_follow.use_location = False
    assert "neither" in refusal(owners.check, Owner(ball))
    bpy.context.view_layer.update()
    assert "neither" in live.status(bpy.context.scene, ball).error
    connected = bone_owner(connected=True)
    follow_edit.add([connected], box)
    assert not connected.settings.use_location
    connected.settings.use_location = True
    assert "connected to its parent" in refusal(owners.check, connected)


def test_what_cannot_be_baked_is_refused_and_nothing_changes(ball):
    box = thing("Box")
    animate(box)
    follow_edit.add([Owner(box)], ball)
    live = seen(Owner(box))
    box.constraints.new("LIMIT_LOCATION").name = "Fence"
    assert "'Fence'" in refusal(bake, Owner(box))
    box.constraints.remove(box.constraints["Fence"])
    driver = box.driver_add("location", 0)
    driver.driver.expression = "1.0"
    assert "location of object 'Box' has a driver" in refusal(bake, Owner(box))
    box.driver_remove("location", 0)
    box.scale.x = -1.0
    assert "negative scale" in refusal(bake, Owner(box))
    box.scale.x = 1.0
    assert not box.lookat_pd_follow.mute
    assert_allclose(seen(Owner(box)), live, atol=1e-6)


def test_mirrored_and_turned_orientations_follow_alike(ball):
    """Followers in all rotation modes, and one with a negative scale, turn as far as one in Euler angles."""
    box, other, third = thing("Box"), thing("Other"), thing("Third")
    other.rotation_mode, other.rotation_quaternion = "QUATERNION", Quaternion((1, 0, 0, 0))
    third.rotation_mode = "AXIS_ANGLE"
    mirrored = thing("Mirrored")
    mirrored.scale = (-1, 1, 1)
    bpy.context.view_layer.update()
    for item in (box, other, third, mirrored):
        follow_edit.add([Owner(item)], ball)
        item.lookat_pd_follow.turn = "FOLLOW"
    assert_allclose(seen(Owner(other)), seen(Owner(box)), atol=1e-5)
    assert_allclose(seen(Owner(third)), seen(Owner(box)), atol=1e-5)
    same = seen(Owner(mirrored)) @ np.diag((-1.0, 1.0, 1.0, 1.0))
    assert_allclose(same, seen(Owner(box)), atol=1e-5)


def test_a_copy_is_sampled_like_the_rig_which_is_left_as_it_is(ball, monkeypatch) -> None:
    owner = bone_owner()
    owner.object.pose.bones["hips"].constraints.new("LIMIT_SCALE").mute = True
    follow_edit.add([owner], ball)
    live.finish(bpy.context.scene)
    layer = load("rig.pd_follow.follow_layer").FollowLayer(owner)

    def sampled() -> tuple[list[float], np.ndarray]:
        shown, steps = [], follow_solve.sample(bpy.context.scene, [owner], 1, LAST)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                (samples,) = end.value
                return shown, np.concatenate((samples.own, samples.target, samples.frames_of_location), axis=None)
            shown = [constraint.influence for _, constraint in layer.constraints()]

    shown, copied = sampled()
    assert shown == [0.0, 1.0], "it only turns"
    monkeypatch.setattr(load("rig.sampling.transforming"), "is_under_way", lambda: True)
    shown, whole = sampled()
    assert shown == [0.0, 0.0]
    assert_allclose(copied, whole, atol=1e-6)
