"""The file that each scenario begins with: a small character with an animation, and a ball that flies past it."""

import bpy
import numpy as np
from windowed.hands import Hands, Waiting

import extension
from extension import load

HEAD = "head"


def prepare(hands: Hands) -> None:
    """Make it in the empty scene: 60 frames, the character active in object mode; a window that is quickly drawn."""
    _draw_quickly(hands)
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


def _draw_quickly(hands: Hands) -> None:
    """Without what no scenario looks at: drawn by a processor, it takes longer than all else that Blender does.

    Regions beside each other in place of one over the other are drawn in two thirds of the time.
    """
    system, overlay = bpy.context.preferences.system, hands.area("VIEW_3D").spaces.active.overlay
    system.viewport_aa, system.use_region_overlap = "OFF", False
    overlay.show_floor = overlay.show_axis_x = overlay.show_axis_y = False
    overlay.show_outline_selected = overlay.show_cursor = False


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


def origin() -> np.ndarray:
    """Where the head begins, from which it looks at things, as Blender evaluates it."""
    return pose()[armature().pose.bones.keys().index(HEAD)][:3, 3]


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
    way = np.array(place) - origin()
    return float(np.degrees(np.arccos(np.clip(facing() @ way / np.linalg.norm(way), -1.0, 1.0))))


def settled(hands: Hands, seconds: float = 60.0) -> Waiting:
    """Wait until all that is live in the scene is solved."""
    live = load("rig.layers.live")
    yield 0.2
    missing: list = []

    def done() -> bool:
        missing[:] = live.unsettled(hands.window.scene)
        return not missing

    assert (yield from hands.until(done, seconds)), f"not solved after {seconds:.0f} s: {missing}"


def look_at_ball(hands: Hands) -> Waiting:
    """Give the character a look-at at the ball, made as by the button, and show the panel."""
    select(bpy.data.objects["Ball"], armature())
    with hands.override():
        bpy.ops.lookat_pd.add("INVOKE_DEFAULT", True)
    yield from hands.sidebar()
