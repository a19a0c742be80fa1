"""Smooth Pop beside a pop: it asks before it changes another frame than the one that is seen."""

import bpy
import numpy as np
from character import armature, select
from windowed.hands import Hands, Waiting
from windowed.panels import opened
from windowed.scripts import script

POP = 30


def _scene() -> bpy.types.Scene:
    return bpy.context.window_manager.windows[0].scene


def _cut() -> None:
    """A jump of the chest between two frames of the character's own keys."""
    chest = armature().pose.bones["chest"]
    for frame, angle in ((1, 0.0), (POP - 1, 0.05), (POP, 0.8), (60, 0.85)):
        chest.rotation_quaternion = (np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2))
        chest.keyframe_insert("rotation_quaternion", frame=frame)


def _jump() -> float:
    """Angle [deg] of the chest between the frames of the pop."""
    seen = []
    for frame in (POP - 1, POP):
        _scene().frame_set(frame)
        seen.append(armature().pose.bones["chest"].matrix_basis.to_quaternion())
    return float(np.degrees(seen[0].rotation_difference(seen[1]).angle))


@script(needs=("operators.smooth_pop",))
def asked_before_another_frame_is_smoothed(hands: Hands) -> Waiting:
    armature().animation_data_clear()
    _cut()
    select(armature())
    bpy.ops.ed.undo_push(message="Cut")
    before = _jump()
    assert before > 20.0
    with opened("transitions_pops"):
        yield from hands.sidebar()
        for end in ("ESC", "RET"):
            _scene().frame_set(POP - 4)
            yield 0.2
            yield from hands.click((yield from hands.find("lookat_pd.smooth_pop")))
            yield 0.5
            hands.look(f"asked {end}")
            assert abs(_jump() - before) < 1e-3, "smoothed unasked"
            yield from hands.key(end)
            yield 0.5
            assert (abs(_jump() - before) < 1e-3) == (end == "ESC"), f"after {end}: {_jump():.2f} degrees"
        yield from hands.undo()
        assert abs(_jump() - before) < 1e-3
        # With the playhead at the pop nothing needs to be asked.
        _scene().frame_set(POP)
        yield 0.2
        yield from hands.click((yield from hands.find("lookat_pd.smooth_pop")))
        assert (yield from hands.until(lambda: _jump() < 0.5 * before, 10.0)), f"{_jump():.2f} degrees"
