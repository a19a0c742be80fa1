"""The example that the panel opens: a person who looks at a ball and a bird, live, with eyes and the whole body.

example = build_scene()       # in an empty current scene, or in a new one that becomes the current one
"""

from __future__ import annotations

import bpy

from ...rig.look_at import edit as look_at_edit
from ...rig.look_at import resolve as look_at
from ...rig.look_at.body import layers
from ...rig.look_at.directing import looks
from ...rig.sampling.targets import Target
from .human import Demo, add_camera, shut_wholly
from .human import build_scene as build_human_scene

LOOKS = ((1, "Ball"), (92, "Bird"), (140, None), (186, "Ball"))
"""From which frame on the person looks at what; None for the plain animation."""
_CAMERA = {"place": (0.55, -3.6, 1.75), "at": (0.1, -0.1, 1.52), "lens": 58.0}
"""Head and shoulders, the hands, and most of the flight of the ball."""


def _tidy(rig: bpy.types.Object) -> None:
    """Few controls, so that the person is seen; a click on the body is one on the person."""
    for collection in rig.data.collections_all:
        collection.is_visible = collection.name == "Torso"
    for part in rig.children:
        part.hide_select = False


def build_scene() -> Demo:
    """The example, with the character's armature active; its look-at is still to be solved."""
    demo = build_human_scene(light=True)
    scene, rig = demo.scene, demo.rig
    bpy.data.cameras.remove(demo.camera.data)
    camera = add_camera(scene, **_CAMERA)
    head = look_at.find_head(rig)
    look_at_edit.add(scene, rig, head, demo.ball)
    settings = rig.pose.bones[head].lookat_pd
    layers.switch_on(settings)
    shut_wholly(settings)
    numbers = {"Ball": 0, "Bird": looks.add(rig, head, Target(demo.bird)), None: None}
    looks.write_keys(scene, rig, head, [(frame, numbers[name]) for frame, name in LOOKS])
    look_at_edit.activate(rig, head)
    _tidy(rig)
    return Demo(scene, rig, demo.action, demo.ball, demo.bird, camera)
