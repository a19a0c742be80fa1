"""Level Head on characters whose bodies lean, stand on walls, or turn with a room."""

import bpy
import numpy as np
import pytest
from mathutils import Euler

from extension import load

from .. import scenes

errors = load("lookat_pd.errors")
live = load("rig.layers.live")
realtime = load("rig.look_at.live_follow.live_follow_session")
resolve = load("rig.look_at.resolve")

LEANING = Euler((0.6, 0.5, 0.0))
"""A body that leans forward and to its side."""


def leaning(turn: Euler = LEANING) -> bpy.types.Object:
    """A character whose root is turned by its animation."""
    armature = scenes.figure()
    scenes.animate(armature, size=0.05)
    root = armature.pose.bones["root"]
    rest = armature.data.bones["root"].matrix_local.to_3x3()
    root.rotation_mode = "QUATERNION"
    root.rotation_quaternion = (rest.inverted() @ turn.to_matrix() @ rest).to_quaternion()
    root.keyframe_insert("rotation_quaternion", frame=1)
    return armature


def roll(armature: bpy.types.Object, up=(0, 0, 1), frame: int = scenes.LAST) -> float:
    """Angle [deg] of the head's right axis from level in the world."""
    seen = armature.evaluated_get(scenes.goto(frame))
    bone = seen.pose.bones["head"]
    rest = armature.data.bones["head"].matrix_local.to_3x3()
    axis = (seen.matrix_world.to_3x3() @ bone.matrix.to_3x3() @ rest.inverted()).col[0]
    return float(np.degrees(np.arcsin(np.clip(np.dot(axis.normalized(), up), -1.0, 1.0))))


def target_of(armature: bpy.types.Object) -> bpy.types.Object:
    """Ahead of the leaning face and aside, but not straight up or down."""
    seen = armature.evaluated_get(scenes.goto(1))
    head = seen.matrix_world @ seen.pose.bones["head"].matrix
    rest = armature.data.bones["head"].matrix_local.to_3x3()
    ahead = head.to_3x3() @ rest.inverted() @ Euler((0.2, 0.0, -0.6)).to_matrix()
    return scenes.ball(head.translation - 3.0 * ahead.col[1])


def test_by_default_a_look_adds_little_to_the_roll_of_the_animation() -> None:
    """Live and baked; without the limit, as in files of earlier versions, it adds what it likes."""
    armature = leaning(Euler((0.9, 0.0, 0.0)))
    head = armature.evaluated_get(scenes.goto(1)).pose.bones["head"].head
    target = scenes.ball(head + scenes.Vector((2.5, -1.2, 0.0)))
    before = roll(armature)
    settings = scenes.aim(armature, target)
    assert settings.level_head == 0.0 and settings.world_up == "SCENE"
    shown = scenes.poses(armature, range(1, scenes.LAST + 1))
    assert abs(roll(armature) - before) < 15.5
    assert scenes.error(armature, scenes.place_of(target)) < 0.05
    settings.head_roll = np.pi
    assert abs(roll(armature) - before) > 18.0
    settings.property_unset("head_roll")
    scenes.run_bake(armature)
    assert np.abs(scenes.poses(armature, range(1, scenes.LAST + 1)) - shown).max() < 1e-5


def test_a_leaning_head_is_level_live_and_baked() -> None:
    armature = leaning()
    settings = scenes.aim(armature, target_of(armature))
    settings.head_roll = np.pi
    before = roll(armature)
    settings.level_head = 0.5
    half = roll(armature)
    settings.level_head = 1.0
    assert abs(roll(armature)) < 0.5
    assert 0.3 < half / before < 0.7
    assert scenes.error(armature, scenes.place_of(settings.target)) < 0.05
    shown = scenes.poses(armature, range(1, scenes.LAST + 1))
    result = scenes.run_bake(armature)[0]
    assert np.abs(scenes.poses(armature, range(1, scenes.LAST + 1)) - shown).max() < 1e-5
    assert abs(roll(armature)) < 0.5
    assert not result.notes or "planted" in result.notes[0]


def test_it_fades_in_with_the_look_and_is_gone_without() -> None:
    armature = leaning()
    scenes.aim(armature, target_of(armature), level_head=1.0)
    scenes.settings_keyed(armature, "head", "use", [(1, False), (10, True)])
    assert np.array_equal(scenes.poses(armature, (9,)), scenes.animated(armature, (9,)))
    rolls = [roll(armature, frame=frame) for frame in range(9, scenes.LAST)]
    assert np.abs(np.diff(rolls)).max() < 20.0
    assert abs(rolls[-1]) < 0.5


def test_up_of_the_armature_on_a_wall() -> None:
    armature = scenes.figure()
    scenes.animate(armature, size=0.05)
    armature.rotation_euler = (0.0, np.radians(70.0), 0.0)
    bpy.context.view_layer.update()
    settings = scenes.aim(armature, target_of(armature), level_head=1.0, world_up="ARMATURE")
    up = np.array(armature.matrix_world)[:3, 2]
    assert abs(roll(armature, up)) < 0.5
    settings.world_up = "SCENE"
    assert abs(roll(armature)) < 0.5
    assert abs(roll(armature, up)) > 20.0


def test_up_of_an_object_that_turns() -> None:
    armature = leaning(Euler((0.0, 0.0, 0.0)))
    room = scenes.ball((5, 5, 5), "Room")
    room.rotation_euler = (0.0, 0.4, 0.0)
    room.keyframe_insert("rotation_euler", frame=1)
    settings = scenes.aim(armature, target_of(armature), level_head=1.0)
    settings.world_up_object, settings.world_up = room, "OBJECT"
    up = np.array(room.matrix_world)[:3, 2]
    assert abs(roll(armature, up)) < 0.5
    room.rotation_euler = (0.0, -0.3, 0.0)
    room.keyframe_insert("rotation_euler", frame=1)
    bpy.context.view_layer.update()
    assert abs(roll(armature, np.array(Euler((0.0, -0.3, 0.0)).to_matrix())[:, 2])) < 0.5


@pytest.mark.parametrize("scale", [(-1.0, 1.0, 1.0), (3.0, 3.0, 3.0)])
def test_mirrored_and_scaled(scale) -> None:
    armature = leaning()
    armature.scale = scale
    bpy.context.view_layer.update()
    scenes.aim(armature, target_of(armature), level_head=1.0)
    assert abs(roll(armature)) < 0.5


def test_follow_levels_too() -> None:
    armature = leaning()
    scenes.aim(armature, target_of(armature), level_head=1.0)
    scenes.goto(scenes.LAST)
    session = realtime.LiveFollowSession(bpy.context.scene, bpy.context.view_layer, armature, "head")
    try:
        for _ in range(60):
            session.tick(1 / 30)
        bpy.context.view_layer.update()
        bone = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["head"]
        rest = armature.data.bones["head"].matrix_local.to_3x3()
        axis = (bone.matrix.to_3x3() @ rest.inverted()).col[0]
        assert abs(np.degrees(np.arcsin(axis[2]))) < 0.5
    finally:
        session.restore()


def test_bad_up_is_one_sentence() -> None:
    armature = leaning()
    settings = scenes.aim(armature, target_of(armature), level_head=1.0)
    settings.world_up = "OBJECT"
    with pytest.raises(errors.RigError, match="choose an object, or another World Up"):
        resolve.resolve(armature, "head")
    settings.world_up_object = scenes.child(scenes.ball(name="Hat"), armature, "head")
    with pytest.raises(errors.RigError, match="moves with the chain"):
        resolve.resolve(armature, "head")
