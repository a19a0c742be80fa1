"""Springs: an arm swings as soon as it has them and when a setting is moved, is baked, pushed aside, and undone."""

import bpy
import numpy as np
from character import armature
from windowed import panels
from windowed.hands import Hands, Waiting
from windowed.scripts import script

from extension import load

ARM = ("upper_arm.L", "hand.L")


def _scene() -> bpy.types.Scene:
    return bpy.context.window_manager.windows[0].scene


def _poses() -> np.ndarray:
    found = []
    for frame in (5, 12, 20, 31):
        _scene().frame_set(frame)
        depsgraph = bpy.context.window_manager.windows[0].view_layer.depsgraph
        found.append(np.array(armature().evaluated_get(depsgraph).pose.bones[ARM[-1]].matrix))
    return np.array(found)


def _settings():
    return armature().pose.bones[ARM[0]].lookat_pd_springs


def _settled(hands: Hands) -> Waiting:
    """Wait until the springs are solved."""
    live = load("rig.layers.live")
    yield 0.2
    assert (yield from hands.until(lambda: live.status(_scene(), armature(), kind="SPRINGS").state == "SOLVED", 60.0))


def _add_to_arm(hands: Hands) -> None:
    with hands.override():
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.select_all(action="DESELECT")
        for name in ARM:
            bone = armature().pose.bones[name]
            (bone if hasattr(bone, "select") else bone.bone).select = True
        armature().data.bones.active = armature().data.bones[ARM[0]]
        bpy.ops.lookat_pd.add_springs("INVOKE_DEFAULT", True)


@script(needs=("operators.springs",))
def an_arm_swings(hands: Hands) -> Waiting:
    yield 0.2
    plain = _poses()
    _add_to_arm(hands)
    yield from _settled(hands)
    swings = _poses()
    assert np.abs(swings - plain).max() > 0.005
    _settings().settle_time = 1.5
    yield from _settled(hands)
    softer = _poses()
    assert np.abs(softer - swings).max() > 0.005
    with panels.opened("springs"):
        yield from hands.sidebar()
        yield 0.5
        bpy.ops.ed.undo_push(message="Ready")
        hands.look("springs")
        yield from hands.click((yield from hands.find("lookat_pd.springs_bake")))
    yield from hands.idle()
    assert _settings().mute
    np.testing.assert_allclose(_poses(), softer, atol=1e-4)
    yield from hands.undo()
    yield from _settled(hands)
    assert not _settings().mute
    np.testing.assert_allclose(_poses(), softer, atol=1e-4)


@script(needs=("operators.springs_colliders",))
def an_added_collider_pushes_an_arm_aside(hands: Hands) -> Waiting:
    yield 0.2
    _add_to_arm(hands)
    yield 0.5
    free = _poses()
    hand = armature().pose.bones[ARM[-1]]
    _scene().cursor.location = armature().matrix_world @ ((hand.head + hand.tail) / 2.0)
    _scene().cursor.location.x += 0.06
    with hands.override():
        bpy.ops.lookat_pd.add_spring_collider("EXEC_DEFAULT", True, shape="SPHERE")
    yield 0.8
    assert np.abs(_poses() - free).max() > 0.005
    yield from hands.undo()
    yield 0.8
    np.testing.assert_allclose(_poses(), free, atol=1e-4)
