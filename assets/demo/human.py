"""The demo scene: a Rigify human with an animation of its own, two targets, ground, light and camera.

    demo = build_scene()          # in an empty current scene, or in a new one
    demo.rig, demo.ball, demo.bird, demo.action

Needs nothing but Blender and the Rigify that comes with it. The same in background, in a window and with the module
from PyPI; called twice it builds the same twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import radians

import bpy
from mathutils import Vector

from .animation import animate_body
from .head import SHUT, build_eyes
from .mannequin import build_body
from .materials import paint
from .rigify_human import active_scene, generate_human
from .targets import add_targets

__all__ = ["Demo", "add_targets", "animate_body", "build_human", "build_scene", "shut_wholly"]

FIRST, LAST, FPS = 1, 250, 24


@dataclass(frozen=True)
class Demo:
    """What `build_scene` made."""

    scene: bpy.types.Scene
    rig: bpy.types.Object
    action: bpy.types.Action
    ball: bpy.types.Object
    bird: bpy.types.Object
    camera: bpy.types.Object


def build_human(scene: bpy.types.Scene, name: str = "Human", *, light: bool = False) -> bpy.types.Object:
    """A generated Rigify rig with a mannequin body at the origin of `scene`; looks to -Y, 2 m tall. Returns the rig.

    light: with fewer controls, as `generate_human` has it.
    """
    rig = generate_human(scene, name, light=light)
    collection = bpy.data.collections.new(f"{name} Mesh")
    scene.collection.children.link(collection)
    body = build_body(rig, collection)
    for part in (body, *build_eyes(rig, collection)):
        part.hide_select = True  # a click in the viewport should find the controls
    return rig


def shut_wholly(look_at: bpy.types.PropertyGroup) -> None:
    """Make a look-at of this human close the eyes, which are larger than most, as it blinks."""
    look_at.eyes.blink_angle = SHUT


def build_scene(scene: bpy.types.Scene | None = None, *, light: bool = False) -> Demo:
    """The whole demo in `scene`; without one, in the current scene if that is empty, else in a new one made current.

    light: a rig with fewer controls, as `generate_human` has it.
    """
    scene = scene or _empty_scene()
    scene.render.fps, scene.render.fps_base = FPS, 1.0
    scene.frame_start, scene.frame_end = FIRST, LAST
    rig = build_human(scene, light=light)
    action = animate_body(rig, FIRST, LAST, FPS)
    ball, bird = add_targets(scene, FIRST, LAST, FPS)
    add_ground(scene)
    add_light(scene)
    camera = add_camera(scene, (1.9, -5.4, 1.75), (0.0, -0.25, 1.28), 36.0)
    scene.frame_set(FIRST)
    with active_scene(scene):
        _make_active(scene, rig)
    return Demo(scene, rig, action, ball, bird, camera)


def _empty_scene() -> bpy.types.Scene:
    if not bpy.context.scene.objects:
        return bpy.context.scene
    scene = bpy.data.scenes.new("Look-at Demo")
    if bpy.context.window is not None:
        bpy.context.window.scene = scene
    return scene


def _make_active(scene: bpy.types.Scene, rig: bpy.types.Object) -> None:
    layer = scene.view_layers[0]
    for other in layer.objects:
        if other is not None:
            other.select_set(other == rig, view_layer=layer)
    layer.objects.active = rig


def add_ground(scene: bpy.types.Scene) -> None:
    mesh = bpy.data.meshes.new("Ground")
    half = 40.0
    mesh.from_pydata([(-half, -half, 0), (half, -half, 0), (half, half, 0), (-half, half, 0)], [], [(0, 1, 2, 3)])
    mesh.materials.append(paint("Ground"))
    ground = bpy.data.objects.new("Ground", mesh)
    ground.hide_select = True
    scene.collection.objects.link(ground)


def add_light(scene: bpy.types.Scene) -> None:
    data = bpy.data.lights.new("Sun", "SUN")
    data.energy, data.angle = 4.0, radians(6.0)
    sun = bpy.data.objects.new("Sun", data)
    sun.location = (-2.5, -3.0, 5.0)
    sun.rotation_euler = (-sun.location).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(sun)
    world = bpy.data.worlds.new("Daylight")
    world.color = (0.42, 0.46, 0.52)
    if bpy.app.version < (5, 0, 0):
        world.use_nodes = True  # always on since
    background = next((node for node in world.node_tree.nodes if node.type == "BACKGROUND"), None)
    if background is not None:
        background.inputs["Color"].default_value = (0.42, 0.46, 0.52, 1.0)
        background.inputs["Strength"].default_value = 0.9
    scene.world = world


def add_camera(
    scene: bpy.types.Scene, place: tuple[float, float, float], at: tuple[float, float, float], lens: float
) -> bpy.types.Object:
    """A camera at `place`, the scene's own, that looks at `at`; lens in millimetres."""
    data = bpy.data.cameras.new("Camera")
    data.lens = lens
    camera = bpy.data.objects.new("Camera", data)
    camera.location = place
    camera.rotation_euler = (Vector(at) - camera.location).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(camera)
    scene.camera = camera
    return camera
