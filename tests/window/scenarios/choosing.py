"""A forward axis in doubt: the panel says so, and a click on a candidate settles it."""

import bpy
import numpy as np
from character import armature, facing, look_at_ball, settings, settled
from windowed.hands import Hands, Waiting
from windowed.scripts import script


@script(needs=("rig.look_at.facing",))
def doubtful_axis_is_chosen(hands: Hands) -> Waiting:
    """The sides are named the wrong way round, so that names and feet disagree."""
    swap = {"L": "R", "R": "L"}
    for bone in armature().data.bones:
        if bone.name[-2:] in (".L", ".R"):
            bone.name = f"{bone.name[:-1]}{swap[bone.name[-1]]}_"
    for bone in armature().data.bones:
        bone.name = bone.name.rstrip("_")
    yield 0.2
    yield from look_at_ball(hands)
    scene = bpy.context.window_manager.windows[0].scene
    scene.frame_set(15)
    with hands.override():
        bpy.ops.view3d.view_axis(type="LEFT")
        bpy.ops.view3d.view_selected()
    yield from settled(hands)
    hands.look("doubt")
    before = facing()
    yield from hands.click((yield from hands.find("'SECOND'")))
    yield from settled(hands)
    hands.look("doubt_chosen")
    assert any(settings().facing)
    assert np.degrees(np.arccos(np.clip(before @ facing(), -1.0, 1.0))) > 30.0
    yield from hands.undo()
    yield from settled(hands)
    assert not any(settings().facing)
