"""Saving and opening, from the keyboard where Blender asks nothing."""

import bpy
import numpy as np
from character import armature, look_at_ball, pose, settings
from windowed.hands import VIEWPORT, Hands, Waiting
from windowed.scripts import script


@script()
def saved_and_opened(hands: Hands) -> Waiting:
    """Ctrl+S, another file, and back: the settings and the pose are as they were."""
    path = str(hands.folder / "saved.blend")
    yield from look_at_ball(hands)
    with hands.override():
        bpy.ops.wm.save_as_mainfile(filepath=path)
    settings().settle_time = 0.9
    bpy.context.window_manager.windows[0].scene.frame_set(33)
    before = pose()
    yield from hands.move(hands.inside(VIEWPORT, 0.3, 0.3))
    yield from hands.key("S", ctrl=True)
    yield 0.3
    assert not bpy.data.is_dirty
    with hands.override():
        bpy.ops.wm.read_homefile(use_factory_startup=True, load_ui=False)
    yield 0.3
    assert "Hero" not in bpy.data.objects
    with hands.override():
        bpy.ops.wm.open_mainfile(filepath=path, load_ui=False)
    yield 0.3
    assert settings().exists
    assert abs(settings().settle_time - 0.9) < 1e-6
    assert settings().target == bpy.data.objects["Ball"]
    assert armature().name == "Hero"
    assert np.array_equal(pose(), before), f"another pose: {abs(pose() - before).max():.3g}"
