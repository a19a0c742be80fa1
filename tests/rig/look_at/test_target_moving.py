"""A target that is moved by its handle goes where it is put, whatever it hangs on, or says why it cannot."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from extension import load

from .. import scenes

errors = load("lookat_pd.errors")
moving = load("rig.look_at.target_moving")
targets = load("rig.sampling.targets")


def update() -> None:
    bpy.context.view_layer.update()


def place(target) -> np.ndarray:
    update()
    owner = target.object
    return np.array(
        (owner.matrix_world @ owner.pose.bones[target.bone].matrix if target.bone else owner.matrix_world).translation
    )


def turned(item: bpy.types.Object, random: np.random.Generator) -> bpy.types.Object:
    item.location, item.rotation_euler = random.normal(size=3), random.normal(size=3)
    item.scale, item.delta_location = [random.uniform(0.5, 2.0)] * 3, random.normal(size=3)
    return item


@pytest.mark.parametrize("kind", ["free", "child", "grandchild", "on a bone", "control bone", "child of"])
@pytest.mark.parametrize("seed", range(3))
def test_it_goes_where_it_is_put(kind, seed) -> None:
    random = np.random.default_rng(seed)
    ball = turned(scenes.ball((0, 0, 0), "Ball"), random)
    target = targets.Target(ball)
    if "child" in kind and kind != "child of":
        parent = turned(scenes.ball((0, 0, 0), "Parent"), random)
        scenes.child(ball, parent)
        if kind == "grandchild":
            scenes.child(parent, turned(scenes.ball((0, 0, 0), "Top"), random))
    elif kind == "on a bone":
        scenes.child(ball, turned(scenes.figure(), random), "hand.L")
    elif kind == "child of":
        ball.constraints.new("CHILD_OF").target = turned(scenes.ball((0, 0, 0), "Parent"), random)
    elif kind == "control bone":
        rig = turned(scenes.figure(rows=[*scenes.FIGURE, ("aim", "hips", (0.1, -1, 1), (0.1, -1, 1.2))]), random)
        rig.data.bones["aim"].use_deform = False
        rig.pose.bones["hips"].rotation_quaternion = np.array((1.0, *random.normal(size=3) / 4))
        target = targets.Target(rig, "aim")
    update()
    owner = target.object.pose.bones["aim"] if target.bone else ball
    before, location = place(target), owner.location.copy()
    moving.check(target)
    held = moving.HeldTarget(target)
    np.testing.assert_allclose(held.place, before, atol=1e-5)
    assert not held.moved
    for _ in range(3):
        to = random.normal(size=3)
        held.move(Vector(to))
        np.testing.assert_allclose(place(target), to, atol=1e-4)
    assert held.moved
    held.restore()
    assert owner.location == location and not held.moved


def test_locked_axes_stay() -> None:
    ball = scenes.ball((1, 2, 3), "Ball")
    ball.lock_location = False, True, False
    update()
    held = moving.HeldTarget(targets.Target(ball))
    held.move(Vector((5, 6, 7)))
    assert tuple(ball.location) == (5, 2, 7)


def refused(item: bpy.types.Object, bone: str = "") -> str:
    with pytest.raises(errors.RigError) as raised:
        moving.check(targets.Target(item, bone))
    return str(raised.value)


def test_what_cannot_be_moved_says_why() -> None:
    ball, rig = scenes.ball((1, 2, 3), "Ball"), scenes.figure()
    assert "is a bone of a body" in refused(rig, "hand.L")
    assert "does not exist" in refused(rig, "nobody")
    ball.lock_location = True, True, True
    assert "is locked" in refused(ball)
    ball.lock_location = False, False, False
    constraint = ball.constraints.new("COPY_LOCATION")
    assert "The constraint 'Copy Location' places" in refused(ball)
    constraint.enabled = False
    moving.check(targets.Target(ball))
    ball.driver_add("location", 0)
    assert "A driver places" in refused(ball)


def test_auto_keying_keys_where_it_is_put(monkeypatch) -> None:
    ball, scene = scenes.ball((1, 2, 3), "Ball"), bpy.context.scene
    scene.frame_set(7)
    update()
    held = moving.HeldTarget(targets.Target(ball))
    held.move(Vector((4, 5, 6)))
    held.key(scene)
    assert ball.animation_data is None
    scene.tool_settings.use_keyframe_insert_auto = True
    monkeypatch.setattr(bpy.context.preferences.edit, "use_keyframe_insert_available", False)
    held.key(scene)
    keys = [
        tuple(key.co)
        for curve in load("rig.animation.actions").curves(ball.animation_data.action, ball.animation_data.action_slot)
        for key in curve.keyframe_points
    ]
    assert keys == [(7, 4), (7, 5), (7, 6)]
