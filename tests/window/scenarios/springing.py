"""Springs: an arm swings as soon as it has them and when a setting is moved, is baked, pushed aside, and undone."""

import bpy
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d
from character import armature, select
from windowed import panels
from windowed.hands import VIEWPORT, Hands, Waiting
from windowed.scripts import script

from extension import load

ARM = ("upper_arm.L", "hand.L")


def _scene() -> bpy.types.Scene:
    return bpy.context.window_manager.windows[0].scene


def _poses() -> np.ndarray:
    found = []
    for frame in (5, 12, 20, 31):
        _scene().frame_set(frame)
        depsgraph = bpy.context.window_manager.windows[0].view_layer.depsgraph
        found.append(np.array(armature().evaluated_get(depsgraph).pose.bones[ARM[-1]].matrix))
    return np.array(found)


def _settings():
    return armature().pose.bones[ARM[0]].lookat_pd_springs


def _settled(hands: Hands) -> Waiting:
    """Wait until the springs are solved."""
    live = load("rig.layers.live")
    yield 0.2
    assert (yield from hands.until(lambda: live.status(_scene(), armature(), kind="SPRINGS").state == "SOLVED", 60.0))


def _add_to_arm(hands: Hands) -> None:
    with hands.override():
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.select_all(action="DESELECT")
        for name in ARM:
            bone = armature().pose.bones[name]
            (bone if hasattr(bone, "select") else bone.bone).select = True
        armature().data.bones.active = armature().data.bones[ARM[0]]
        bpy.ops.lookat_pd.add_springs("INVOKE_DEFAULT", True)


@script(needs=("operators.springs",))
def an_arm_swings(hands: Hands) -> Waiting:
    yield 0.2
    plain = _poses()
    _add_to_arm(hands)
    yield from _settled(hands)
    swings = _poses()
    assert np.abs(swings - plain).max() > 0.005
    _settings().settle_time = 1.5
    yield from _settled(hands)
    softer = _poses()
    assert np.abs(softer - swings).max() > 0.005
    with panels.opened("springs"):
        yield from hands.sidebar()
        yield 0.5
        bpy.ops.ed.undo_push(message="Ready")
        hands.look("springs")
        yield from hands.click((yield from hands.find("lookat_pd.springs_bake")))
    yield from hands.idle()
    assert _settings().mute
    np.testing.assert_allclose(_poses(), softer, atol=1e-4)
    yield from hands.undo()
    yield from _settled(hands)
    assert not _settings().mute
    np.testing.assert_allclose(_poses(), softer, atol=1e-4)


@script(needs=("operators.springs_colliders",))
def an_added_collider_pushes_an_arm_aside(hands: Hands) -> Waiting:
    yield 0.2
    _add_to_arm(hands)
    yield 0.5
    free = _poses()
    hand = armature().pose.bones[ARM[-1]]
    _scene().cursor.location = armature().matrix_world @ ((hand.head + hand.tail) / 2.0)
    _scene().cursor.location.x += 0.06
    with hands.override():
        bpy.ops.lookat_pd.add_spring_collider("EXEC_DEFAULT", True, shape="SPHERE")
    yield 0.8
    assert np.abs(_poses() - free).max() > 0.005
    yield from hands.undo()
    yield 0.8
    np.testing.assert_allclose(_poses(), free, atol=1e-4)


@script(needs=("panels.springs_overlay",))
def the_radius_of_a_bone_is_dragged(hands: Hands) -> Waiting:
    """The handle beside the active bone, seen from the front, twice as far away; Esc, and one undo step."""
    select(armature())
    with hands.override():
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.view3d.view_axis(type="FRONT")
        armature().data.bones.active = armature().data.bones["chest"]
        bpy.ops.pose.select_all(action="DESELECT")
        bone = armature().pose.bones["chest"]
        (bone if hasattr(bone, "select") else bone.bone).select = True
        bpy.ops.lookat_pd.spring_bone_colliders()
    bone.lookat_pd_collider.radius = 0.1
    bpy.ops.ed.undo_push(message="Collider")
    yield 0.5
    view, region = hands.area("VIEW_3D"), hands.region(VIEWPORT)

    def pixel(aside: float) -> tuple[int, int]:
        middle, side = load("operators.springs_colliders").side_of(
            load("rig.springs.colliders").Collider(armature(), "chest"), view.spaces.active.region_3d
        )
        place = location_3d_to_region_2d(region, view.spaces.active.region_3d, middle + aside * side)
        return round(region.x + place.x), round(region.y + place.y)

    def radius() -> float:
        return armature().pose.bones["chest"].lookat_pd_collider.radius

    hands.look("handle")
    yield from hands.drag(pixel(0.1), pixel(0.2))
    yield 0.3
    assert abs(radius() - 0.2) < 0.02, "a pixel is more than a centimeter"
    hands.look("dragged")
    yield from hands.undo()
    assert abs(radius() - 0.1) < 1e-6, "undone"


def _human_with_tail() -> bpy.types.Object:
    """A generated Rigify human whose tail is Rigify's own, and whose hips walk aside; active in Pose Mode."""
    rigify = load("assets.demo.rigify_human")
    lighten = rigify._lighten

    def tailed(metarig: bpy.types.Object) -> None:
        lighten(metarig)
        bpy.ops.object.mode_set(mode="EDIT")
        above = metarig.data.edit_bones["spine"]
        for n in range(4):
            bone = metarig.data.edit_bones.new(f"tail.{n:03}" if n else "tail")
            bone.head, bone.tail = (0.0, 0.1 + 0.15 * n, 1.0 - 0.05 * n), (0.0, 0.25 + 0.15 * n, 0.95 - 0.05 * n)
            bone.parent, bone.use_connect = above, n > 0
            above = bone
        bpy.ops.object.mode_set(mode="OBJECT")
        metarig.pose.bones["tail"].rigify_type = "spines.basic_tail"

    rigify._lighten = tailed
    try:
        human = load("assets.demo.human").build_human(_scene(), light=True)
    finally:
        rigify._lighten = lighten
    torso = human.pose.bones["torso"]
    for frame, aside in ((5, 0.0), (15, 0.5), (60, 0.5)):
        torso.location.x = aside
        torso.keyframe_insert("location", frame=frame)
    select(human)
    bpy.ops.object.mode_set(mode="POSE")
    for bone in human.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = False
    return human


def _tail(human: bpy.types.Object) -> np.ndarray:
    found = []
    for frame in (12, 20, 31):
        _scene().frame_set(frame)
        depsgraph = bpy.context.window_manager.windows[0].view_layer.depsgraph
        found.append(np.array(human.evaluated_get(depsgraph).pose.bones["DEF-tail.003"].matrix))
    return np.array(found)


@script(needs=("operators.springs_curve",))
def a_tail_of_rigify_is_found_drawn_and_baked(hands: Hands) -> Waiting:
    """With no bone selected the list of chains; then the slider, a curve along the tail, and the bake."""
    live = load("rig.layers.live")
    bpy.ops.preferences.addon_enable(module="rigify")  # the panels for its rig want it
    human = _human_with_tail()

    def solved() -> bool:
        return live.status(_scene(), human, kind="SPRINGS").state == "SOLVED"

    plain = _tail(human)
    bpy.context.window_manager.lookat_pd_use_advanced = True
    with panels.opened("springs"):
        yield from hands.sidebar()
        yield 0.5
        yield from hands.click((yield from hands.find("lookat_pd.add_springs")))
        yield 0.5
        hands.look("springs_list")
        yield from hands.key("RET")
        assert (yield from hands.until(solved, 20.0))
        chain = human.pose.bones["tail"].lookat_pd_springs
        assert chain.exists and not human.pose.bones["breast.L"].lookat_pd_springs.exists
        swings = _tail(human)
        assert np.abs(swings - plain).max() > 0.005
        hands.look("springs_panel")
        yield from hands.click((yield from hands.find("lookat_pd.springs_curve", across=0.83)))
        yield 0.5
        hands.look("springs_curve")
        node = load("rig.springs.drawn_curve").node()
        assert node is not None and len(node.mapping.curves[0].points) >= 2
        node.mapping.curves[0].points[-1].location = 1.0, 0.2
        node.mapping.update()
        yield 0.3
        assert chain.tip_factor == 1.0 and abs(chain.bones[-1].settle_factor - 0.2) < 0.01
        yield from hands.key("RET")
        yield 0.3
        assert load("rig.springs.drawn_curve").node() is None
        assert (yield from hands.until(solved, 20.0))
        drawn = _tail(human)
        assert np.abs(drawn - swings).max() > 1e-4
        bpy.context.window_manager.lookat_pd_use_advanced = False
        yield 0.3
        yield from hands.click((yield from hands.find("lookat_pd.springs_bake")))
    yield from hands.idle()
    assert chain.mute
    np.testing.assert_allclose(_tail(human), drawn, atol=1e-4)
