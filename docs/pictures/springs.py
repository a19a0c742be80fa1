"""Springs: their panel, with colliders, beside the chain."""

from itertools import pairwise

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d
from scene import rest, view
from windowed import panels
from windowed.hands import SIDEBAR, VIEWPORT, Hands, Waiting
from windowed.scripts import script

import extension

NEEDS = ("operators.springs_colliders",)
_JOINTS = [(0.0, 0.15 * n, 1.2 - 0.02 * n * n) for n in range(6)]


def _tail() -> bpy.types.Object:
    """A tail of five bones on a bone that turns, above a ball."""
    bpy.ops.object.mode_set(mode="OBJECT")
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    data = bpy.data.armatures.new("Animal")
    animal = bpy.data.objects.new("Animal", data)
    bpy.context.scene.collection.objects.link(animal)
    bpy.context.view_layer.objects.active = animal
    animal.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    parent = data.edit_bones.new("hips")
    parent.head, parent.tail = (0.0, -0.3, 1.1), (0.0, 0.0, 1.2)
    for n, (begin, end) in enumerate(pairwise(_JOINTS), start=1):
        bone = data.edit_bones.new(f"tail.{n:03}")
        bone.head, bone.tail, bone.parent, bone.use_connect = begin, end, parent, True
        parent = bone
    bpy.ops.object.mode_set(mode="POSE")
    hips = animal.pose.bones["hips"]
    hips.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (10, 0.0), (18, 0.9), (40, 0.9)):
        hips.rotation_euler = (0.0, 0.0, angle)
        hips.keyframe_insert("rotation_euler", frame=frame)
    return animal


def _made(hands: Hands) -> Waiting:
    animal, scene = _tail(), hands.window.scene
    scene.frame_start, scene.frame_end = 1, 60
    names = [f"tail.{n:03}" for n in range(1, 6)]
    extension.load("rig.springs.springs_edit").add(animal, [names], ["CAT_TAIL"])
    animal.pose.bones["tail.001"].lookat_pd_springs.radius = 0.02
    own = animal.pose.bones["hips"].lookat_pd_collider
    own.exists, own.radius = True, 0.08
    scene.cursor.location = (0.05, 0.45, 0.98)
    ball = extension.load("rig.springs.springs_edit").add_collider(scene, "SPHERE")
    ball.name = "Ball"
    animal.data.bones.active = animal.data.bones["tail.001"]
    scene.frame_set(8)
    yield 0.1
    with hands.override():
        extension.load("rig.layers.live").finish(scene)
    bpy.context.window_manager.lookat_pd_use_advanced = True
    yield from hands.sidebar()
    yield from view(hands, (0.0, 0.3, 1.05), 1.6, (1.0, -0.4, 0.35))


@script(needs=NEEDS)
def springs_vrm(hands: Hands) -> Waiting:
    """A tail without springs, and where they are read from a file."""
    _tail()
    yield from hands.sidebar()
    yield from view(hands, (0.0, 0.3, 1.05), 1.6, (1.0, -0.4, 0.35))
    with panels.opened("springs"):
        yield from rest(hands)
        area, region = hands.area("VIEW_3D"), hands.region(SIDEBAR)
        hands.keep("springs_vrm", area.x + area.width - 900, region.y + region.height - 360, 900, 360)


def _keep(hands: Hands, name: str) -> None:
    area, region = hands.area("VIEW_3D"), hands.region(SIDEBAR)
    height = min(830, region.height)
    hands.keep(name, area.x + area.width - 900, region.y + region.height - height, 900, height)


@script(needs=NEEDS)
def springs_panel(hands: Hands) -> Waiting:
    """A tail that lies on a ball, beside the panel."""
    yield from _made(hands)
    with panels.opened("springs"):
        yield from rest(hands)
        _keep(hands, "springs_panel")


@script(needs=NEEDS)
def springs_handle(hands: Hands) -> Waiting:
    """The ring by which the radius of a bone's collider is dragged, under the mouse."""
    yield from _made(hands)
    animal = bpy.context.view_layer.objects.active
    animal.data.bones.active = animal.data.bones["hips"]
    yield from view(hands, (0.0, -0.05, 1.15), 0.9, (1.0, -0.4, 0.35))
    found = extension.load("rig.springs.colliders").Collider(animal, "hips")
    space = hands.area("VIEW_3D").spaces.active
    space.show_gizmo, space.show_gizmo_navigate = True, False
    yield from rest(hands)
    seen, region = space.region_3d, hands.region(VIEWPORT)
    middle, side = extension.load("operators.springs_colliders").side_of(found, seen)
    at = location_3d_to_region_2d(region, seen, middle + found.settings.radius * side)
    yield from hands.move((round(region.x + at.x), round(region.y + at.y)))
    yield 0.4
    area = hands.area("VIEW_3D")
    hands.keep("springs_handle", area.x + 250, area.y + 150, 620, 480)
