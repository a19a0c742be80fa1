"""A sway whose ends do not meet, played twice: it jumps; and made into a cycle."""

from collections.abc import Iterator

import bpy

from docs.alive import dance, stage

from .shooting import EVERY, Shot, camera

FRAMES = 40


def shots() -> Iterator[Shot]:
    scene = bpy.context.scene
    rig = stage.character(scene, "Dancer", dance.dance, FRAMES)
    stage.light(scene)
    camera(scene, (1.2, -4.2, 1.5), (0.0, 0.0, 1.05), 64.0)
    stage.select(rig)
    rounds = [1 + (n * EVERY) % FRAMES for n in range(3 * FRAMES // EVERY)]
    yield Shot("played three times", scene, rounds)
    bpy.ops.lookat_pd.loop_action()
    first, last = (round(value) for value in rig.animation_data.action.frame_range)
    length = last - first
    yield Shot("as a cycle", scene, [first + (n * EVERY) % length for n in range(3 * FRAMES // EVERY)])
