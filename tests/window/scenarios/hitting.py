"""Hits from the panel: what the buttons add and bake, the plot, and undo."""

import bpy
import numpy as np
from character import armature, select
from windowed.hands import SIDEBAR, Hands, Waiting
from windowed.panels import opened
from windowed.scripts import script

PANEL = ("panels.hit",)
FRAME = 10


def _chest(frame: int) -> np.ndarray:
    """As evaluated, in armature space."""
    window = bpy.context.window_manager.windows[0]
    window.scene.frame_set(frame)
    return np.array(armature().evaluated_get(window.view_layer.depsgraph).pose.bones["chest"].matrix)


@script(needs=PANEL)
def hits_from_the_panel(hands: Hands) -> Waiting:
    """A hit on the active bone along the view; the chest gives way and comes back; one undo takes it back."""
    select(armature())
    with hands.override():
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.view3d.view_axis(type="FRONT")
    armature().data.bones.active = armature().data.bones["chest"]
    before = {frame: _chest(frame) for frame in (FRAME, FRAME + 39, FRAME + 4)}
    bpy.context.window_manager.windows[0].scene.frame_set(FRAME)
    yield 0.5
    bpy.ops.ed.undo_push(message="Begin")
    with opened("dynamics_hit"):
        yield from hands.sidebar()
        yield 0.5
        yield from hands.click((yield from hands.find("lookat_pd.hit_add")))
        yield 0.5
        (item,) = armature().lookat_pd_hits.hits
        assert (item.frame, item.bone) == (FRAME, "chest")
        assert np.allclose(item.direction, (0.0, 1.0, 0.0), atol=1e-3), "along the view from the front"
        hands.look("added")
        yield from hands.click((yield from hands.find("lookat_pd.hit(")))
        yield 1.0
        assert armature().animation_data.action.name == "Sway hit", armature().animation_data.action
        away = [float(np.abs(_chest(frame) - before[frame]).max()) for frame in before]
        assert away[2] > 0.02 > 1e-3 > max(away[:2]), away
        yield 0.5
        yield from hands.wheel(hands.inside(SIDEBAR), -30)
        yield 0.5
        hands.look("plot")
        yield from hands.undo()
        assert armature().animation_data.action.name == "Sway"
        assert len(armature().lookat_pd_hits.hits) == 1
