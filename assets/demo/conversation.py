"""The conversation: two people of different height talk; a bird flies by, both look after it, and they talk on.

    talk = build_scene(bpy.context.scene)   # empty
    talk.people, talk.bird

Their look-ats have keys that say who looks at whom when, and everything on; they are live, still to be baked.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import radians

import bpy

from ...rig.look_at import edit as look_at_edit
from ...rig.look_at import resolve as look_at
from ...rig.look_at.body import layers
from ...rig.look_at.directing import conversation_settings, conversation_table, looks
from ...rig.sampling.targets import Target
from .animation import animate_body
from .human import FPS, add_camera, add_ground, add_light, build_human, shut_wholly
from .targets import add_bird

FIRST, LAST = 1, 192
STORY_LAST = FIRST + 10 * FPS
"""Their own animation and the bird's flight are made for ten seconds, of which this shows the most."""
PLACES = {"Anna": (-0.58, 45.0, 0.82), "Bo": (0.58, -45.0, 0.93)}
"""Metres to the side, degrees turned about the vertical, scale: 1.64 m and 1.86 m tall, half turned to the camera."""
SPOKEN = ((10, "Anna"), (80, "Bo"), (160, "Anna"))
"""Frame and who speaks from then on."""
BIRD_SEEN = {"Anna": 104, "Bo": 110}
SEED = 10
"""With it a gaze changes between any two neighboring frames of twelve that are spread evenly."""
AHEAD = 53
"""Frames by which Bo's own animation, the same as Anna's, runs ahead."""
MOMENTS = (
    (9, "about to talk"),
    (20, "Anna begins to speak, and thinks"),
    (48, "Anna speaks, Bo listens"),
    (68, "she glances away"),
    (96, "Bo begins to speak, and thinks"),
    (107, "a bird: she blinks as her eyes go"),
    (132, "both look after it"),
    (186, "and talk on"),
)
"""Frames of the filmstrip, and what is to be seen there."""

# seconds, yaw and pitch from the middle between the two, in degrees, metres
BIRD_FLIGHT = (
    (0.0, -65, -2, 2.4), (4.1, -65, -2, 2.1), (4.8, -38, -3, 1.4), (5.4, -4, -3, 1.1), (6.0, 32, 1, 1.3),
    (6.7, 58, 10, 2.0), (10.0, 75, 25, 6.0),
)  # fmt: skip


@dataclass(frozen=True)
class Conversation:
    """What `build_scene` made; people in the order of PLACES."""

    scene: bpy.types.Scene
    people: list[bpy.types.Object]
    bird: bpy.types.Object


def build_scene(scene: bpy.types.Scene) -> Conversation:
    """Two people with their own animation, and their look-ats with their targets, in an empty `scene`."""
    scene.render.fps, scene.render.fps_base = FPS, 1.0
    scene.frame_start, scene.frame_end = FIRST, LAST
    people = [_build_person(scene, name) for name in PLACES]
    bird = add_bird(scene, FIRST, STORY_LAST, FPS, BIRD_FLIGHT)
    bird.scale = (0.5, 0.5, 0.5)
    add_ground(scene)
    add_light(scene)
    add_camera(scene, (0.0, -4.6, 1.55), (0.0, 0.0, 1.45), 88.0)
    for seed, person in enumerate(people):
        _switch_all_on(scene, person, seed)
    _direct(scene, people, bird)
    return Conversation(scene, people, bird)


def _build_person(scene: bpy.types.Scene, name: str) -> bpy.types.Object:
    rig = build_human(scene, name, light=True)
    aside, turn, size = PLACES[name]
    rig.location.x, rig.rotation_euler.z, rig.scale = aside, radians(turn), (size, size, size)
    if name == "Anna":
        action = animate_body(rig, FIRST, STORY_LAST, FPS)
    else:
        # Twice the same, so that it covers the scene's range.
        action = animate_body(rig, FIRST - AHEAD, 2 * STORY_LAST - FIRST - AHEAD, FPS)
    action.name = f"{name} Idle"
    return rig


def _switch_all_on(scene: bpy.types.Scene, rig: bpy.types.Object, seed: int) -> None:
    head = look_at.find_head(rig)
    look_at_edit.add(scene, rig, head, None)
    settings = rig.pose.bones[head].lookat_pd
    settings.use = False
    layers.switch_on(settings, (*layers.whole_body(), "breathing"))
    shut_wholly(settings)
    settings.eyes.head_share = 0.8
    settings.eyes.drift, settings.eyes.micro, settings.eyes.seed = radians(0.6), radians(0.3), seed


def _direct(scene: bpy.types.Scene, people: list[bpy.types.Object], bird: bpy.types.Object) -> None:
    """They talk as the markers say, look after the bird, by keys of their own, and talk on."""
    for frame, name in SPOKEN:
        scene.timeline_markers.new(name, frame=frame)
    conversation_table.begin(scene, people, {"seed": SEED}, {})
    for name, rig in zip(PLACES, people, strict=True):
        head = look_at.find_head(rig)
        looks.look(scene, rig, head, looks.add(rig, head, Target(bird)), BIRD_SEEN[name])
    conversation_settings.make(scene)
