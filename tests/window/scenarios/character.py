"""The file that each scenario begins with: a small character with an animation, and a ball that flies past it."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np
from windowed.hands import Hands, Waiting

import extension

HEAD = "head"


def prepare(hands: Hands) -> None:
    """Make it in the empty scene: 60 frames, the character active in object mode; a window that is quickly drawn."""
    bpy.context.preferences.system.viewport_aa = "OFF"
    hands.area("VIEW_3D").spaces.active.overlay.show_floor = False
    extension.package()
    from rig import scenes

    armature = scenes.figure()
    scenes.animate(armature)
    ball = scenes.ball((1.0, -1.6, 1.9))
    ball.empty_display_type, ball.empty_display_size = "SPHERE", 0.1
    for frame, place in ((1, (1.0, -1.6, 1.9)), (20, (1.0, -1.6, 1.9)), (40, (-1.0, -1.6, 1.5))):
        ball.location = place
        ball.keyframe_insert("location", frame=frame)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 60
    scene.frame_set(1)
    select(armature)


def armature() -> bpy.types.Object:
    return bpy.data.objects["Hero"]


def select(*items: bpy.types.Object) -> None:
    """Select objects, the last one active."""
    layer = bpy.context.window_manager.windows[0].view_layer
    for item in layer.objects:
        item.select_set(item in items, view_layer=layer)
    layer.objects.active = items[-1]


def settings():
    return armature().pose.bones[HEAD].lookat_pd


def pose() -> np.ndarray:
    """Matrices (bones, 4, 4) of the character as Blender evaluates it at the current frame."""
    depsgraph = bpy.context.window_manager.windows[0].view_layer.depsgraph
    seen = armature().evaluated_get(depsgraph)
    return np.array([bone.matrix for bone in seen.pose.bones])


def facing() -> np.ndarray:
    """Unit vector along which the head looks, as Blender evaluates it."""
    bones = armature().pose.bones
    rest = np.array(armature().data.bones[HEAD].matrix_local)[:3, :3]
    matrix = pose()[bones.keys().index(HEAD)]
    return matrix[:3, :3] @ rest.T @ (0.0, -1.0, 0.0)


def miss() -> float:
    """Angle [deg] between where the head looks and where the ball is."""
    depsgraph = bpy.context.window_manager.windows[0].view_layer.depsgraph
    place = bpy.data.objects["Ball"].evaluated_get(depsgraph).matrix_world.translation
    way = np.array(place) - pose()[armature().pose.bones.keys().index(HEAD)][:3, 3]
    return float(np.degrees(np.arccos(np.clip(facing() @ way / np.linalg.norm(way), -1.0, 1.0))))


def look_at_ball(hands: Hands) -> Waiting:
    """Give the character a look-at at the ball, made as by the button, and show the panel."""
    select(bpy.data.objects["Ball"], armature())
    with hands.override():
        bpy.ops.lookat_pd.add("INVOKE_DEFAULT", True)
    yield from hands.sidebar()


@contextmanager
def opened(*names: str) -> Iterator[None]:
    """Some panels alone in the tab, under other names and open: Blender remembers of the others that they were closed.

    names: as "ik" or "sidebar_body", of registered panels without what all have in common.
    """
    common, tab = "LOOKAT_PD_PT_", "Look-at PD"
    kinds = [getattr(bpy.types, name) for name in dir(bpy.types) if name.startswith(common)]
    hidden = [kind for kind in kinds if getattr(kind, "bl_category", "") == tab and not hasattr(kind, "bl_parent_id")]
    made = []
    for name in names:
        closed = getattr(bpy.types, common + name)
        skipped = ("bl_rna", "is_registered", "bl_options", "bl_parent_id")
        own = {key: value for key, value in vars(closed).items() if key not in skipped and key[:2] != "__"}
        where = {"bl_space_type": "VIEW_3D", "bl_region_type": "UI", "bl_category": tab, "bl_options": set()}
        made.append(type(f"{common}{name}_opened", closed.__bases__, {**own, **where}))
    polls = [(kind, vars(kind).get("poll")) for kind in hidden]
    for kind in hidden:
        kind.poll = classmethod(lambda cls, context: False)
    for kind in made:
        bpy.utils.register_class(kind)
    try:
        yield
    finally:
        for kind in reversed(made):
            bpy.utils.unregister_class(kind)
        for kind, poll in polls:
            if poll is None:
                del kind.poll
            else:
                kind.poll = poll
