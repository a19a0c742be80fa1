"""The figures of the gaze are those of what the eyes look at, which they leave and reach before the head does."""

import bpy
import numpy as np
import pytest

from extension import load

from ... import scenes
from . import bodies

baked_aim, look_at_kind = load("cli.baked_aim"), load("rig.look_at.live.look_at_kind")
live = load("rig.layers.live")

KEYS = {
    "always": ("use", [(1, True)], range(1, 61)),
    "off": ("use", [(1, True), (30, False)], range(1, 30)),
    "on": ("use", [(1, False), (30, True)], range(30, 61)),
    "glance": ("glance_yaw", [(1, 0.0), (29, 0.0), (30, 0.2), (39, 0.2), (40, 0.0)], [*range(1, 30), *range(40, 61)]),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", KEYS)
def test_errors_of_the_eyes_are_of_the_frames_at_which_they_look_at_the_target(name) -> None:
    """Not of those after an off, while the head still looks, nor of those at which they look beside it on purpose."""
    setting, keys, frames = KEYS[name]
    bpy.context.scene.frame_end = scenes.LAST
    armature = bodies.person()
    settings = scenes.aim(armature, scenes.ball((0.8, -3.0, 1.5)), settle_time=0.6)
    settings.eyes.use = True
    scenes.settings_keyed(armature, "head", setting, keys)
    live.finish(bpy.context.scene)
    shown = live.solve_of(bpy.context.scene, armature, "head", look_at_kind.NAME).aim
    (result,) = scenes.run_bake(armature)
    (figures,) = scenes.finish(baked_aim.measure(bpy.context.scene, [result]))
    assert figures.eyes.frames == shown.frames == len(frames)
    assert figures.eyes.frame in frames
    assert figures.eyes.largest == pytest.approx(shown.largest, abs=np.radians(0.05))
    if name in ("always", "off"):
        assert np.degrees(figures.eyes.largest) < 0.05
