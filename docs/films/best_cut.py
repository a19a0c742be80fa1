"""A run is joined to a turn of the body: cut hard, and with what Inertialize does."""

from collections.abc import Iterator

import bpy

from docs.alive import join, stage

from .shooting import Shot, camera

FRAMES, CUT, ENTERED = 66, 30, 9


def shots() -> Iterator[Shot]:
    scene = bpy.context.scene
    rig = stage.character(scene, "Runner", join.in_place, FRAMES)
    rig.animation_data.action.name = "Run"
    stage.perform(rig, "Turn", join.turn, FRAMES)
    stage.light(scene)
    camera(scene, (1.9, -4.6, 1.5), (0.0, 0.0, 1.02), 72.0)
    stage.select(rig)
    frames = range(1, FRAMES, 1)
    actions = {name: bpy.data.actions[name] for name in ("Run", "Turn")}
    data = rig.animation_data

    def play(name: str) -> None:
        if data.action != actions[name]:
            data.action = actions[name]
            data.action_slot = actions[name].slots[0]

    def cut(frame: int) -> None:
        play("Run" if frame < CUT else "Turn")
        scene.frame_set(frame if frame < CUT else frame - CUT + ENTERED)

    yield Shot("cut, half speed", scene, frames, cut)
    play("Run")
    scene.frame_set(CUT)
    given = {"source": "Run", "source_frame": CUT, "destination": "Turn", "destination_frame": ENTERED}
    bpy.ops.lookat_pd.inertialize(**given)
    yield Shot("joined, half speed", scene, frames)
