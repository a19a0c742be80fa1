"""PD Follow: an object follows the ball, as soon as a setting or the ball changes, and after a bake and an undo."""

import bpy
import numpy as np
from character import select
from windowed import panels
from windowed.hands import Hands, Waiting
from windowed.scripts import script


def _places(box: bpy.types.Object) -> np.ndarray:
    scene, found = bpy.context.window_manager.windows[0].scene, []
    for frame in (10, 30, 45):
        scene.frame_set(frame)
        found.append(box.matrix_world.translation.copy())
    return np.array(found)


def _box() -> bpy.types.Object:
    return bpy.data.objects["Box"]


@script(needs=("operators.pd_follow",))
def object_follows(hands: Hands) -> Waiting:
    scene = bpy.context.window_manager.windows[0].scene
    ball, box = bpy.data.objects["Ball"], bpy.data.objects.new("Box", None)
    scene.collection.objects.link(box)
    box.empty_display_type, box.location = "CUBE", (1.0, -1.0, 0.5)
    yield 0.2
    select(ball, box)
    yield 0.2
    with hands.override():
        bpy.ops.lookat_pd.pd_follow_add("EXEC_DEFAULT", True)
    yield 0.5
    first = _places(box)
    assert np.linalg.norm(first[2] - first[0]) > 0.5
    box.lookat_pd_follow.settle_time = 3.0
    yield 0.5
    slow = _places(box)
    assert np.abs(slow - first).max() > 0.1
    scene.frame_set(30)
    with panels.opened("pd_follow"):
        yield from hands.sidebar()
        yield 0.5
        bpy.ops.ed.undo_push(message="Ready")
        hands.look("pd_follow")
        yield from hands.click((yield from hands.find("lookat_pd.pd_follow_bake")))
    yield 0.5
    assert box.lookat_pd_follow.mute
    np.testing.assert_allclose(_places(box), slow, atol=1e-4)
    yield from hands.undo()
    yield 0.5
    assert not _box().lookat_pd_follow.mute
    np.testing.assert_allclose(_places(_box()), slow, atol=1e-4)
