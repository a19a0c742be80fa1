"""A human with an animation of its own, bare and with a look-at: the head follows a ball, then a bird."""

from collections.abc import Iterator

import bpy

from standalone import load

from .shooting import EVERY, Shot, camera

LAST = 144


def shots() -> Iterator[Shot]:
    demo = load("assets.demo.human").build_scene(light=True)
    scene, rig = demo.scene, demo.rig
    scene.frame_end = LAST
    camera(scene, (0.6, -4.0, 1.75), (0.48, -0.2, 1.62), 60.0)
    frames = range(1, LAST + 1, EVERY)
    yield Shot("animation", scene, frames)
    resolve, looks = load("rig.look_at.resolve"), load("rig.look_at.directing.looks")
    bone = resolve.find_head(rig)
    bpy.ops.lookat_pd.add(target=demo.ball.name)
    target = load("rig.sampling.targets").Target
    looks.look(scene, rig, bone, looks.add(rig, bone, target(demo.bird)), 66)
    load("rig.layers.live").finish(scene)
    yield Shot("with look-at", scene, frames)
