"""The file that each picture begins with: the demo's human, a ball and a bird; and how the window is set up for it."""

from importlib.util import find_spec

import bpy
from mathutils import Vector
from windowed.hands import SIDEBAR, VIEWPORT, Hands, Waiting

import extension

FRAME = 64
"""The ball is at the side, a little up."""


def prepare(hands: Hands) -> None:
    """The demo's scene, its rig active in pose mode."""
    bpy.ops.preferences.addon_enable(module="rigify")  # its panels for the rig want it
    extension.load("assets.demo.human").build_scene()
    scene = bpy.context.scene
    scene.frame_set(FRAME)
    bpy.ops.object.mode_set(mode="POSE")


def rig() -> bpy.types.Object:
    return bpy.data.objects["Human"]


def settings():
    return rig().pose.bones["head"].lookat_pd


def look_at_ball(hands: Hands, category: str = "Look-at PD") -> Waiting:
    """A look-at at the ball, and its panel; nothing but the head's control selected."""
    for bone in rig().pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name == "head"
    rig().data.bones.active = rig().data.bones["head"]
    with hands.override():
        bpy.ops.lookat_pd.add(target="Ball")
    yield from hands.sidebar(category)
    yield from solve(hands)


def solve(hands: Hands) -> Waiting:
    """Have the live look-at solved as it is set now: a Rigify rig takes seconds."""
    yield 0.1
    if find_spec(f"{extension.package().__name__}.rig.layers.live"):
        with hands.override():
            extension.load("rig.layers.live").finish(hands.window.scene)
        yield 0.2


def view(hands: Hands, centre: tuple, distance: float, direction: tuple, *, sidebar: bool = True) -> Waiting:
    """See a place from a direction; without gizmos and tools that are not what the picture is about."""
    area = hands.area("VIEW_3D")
    space = area.spaces.active
    space.show_region_ui, space.show_region_toolbar = sidebar, False
    space.show_gizmo = False
    space.overlay.show_cursor = space.overlay.show_axis_x = space.overlay.show_axis_y = False
    space.overlay.show_relationship_lines = False
    space.overlay.show_text = False
    space.lens = 50.0
    space.region_3d.view_perspective = "PERSP"
    space.region_3d.view_location = centre
    space.region_3d.view_distance = distance
    space.region_3d.view_rotation = (-Vector(direction)).to_track_quat("-Z", "Y")
    yield 0.3
    # Away from every button, so that none is lit.
    yield from hands.move(hands.inside(VIEWPORT, 0.02, 0.02))
    yield 0.5


def rest(hands: Hands) -> Waiting:
    """The mouse away from every button, and everything drawn."""
    yield from hands.move(hands.inside(VIEWPORT, 0.02, 0.02))
    yield 0.5


def keep_viewport(hands: Hands, name: str) -> None:
    """The 3D viewport's upper part, without its headers."""
    region = hands.region(VIEWPORT)
    below, above = round(0.3 * region.height), 60
    hands.keep(name, region.x, region.y + below, region.width, region.height - below - above)


def keep_sidebar(hands: Hands, name: str, height: int) -> None:
    """The sidebar's upper part, with the tabs beside it."""
    region = hands.region(SIDEBAR)
    hands.keep(name, region.x, region.y + region.height - height, region.width, height)
