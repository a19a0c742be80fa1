"""A hand is clicked on a rig whose inverse kinematics poses the bones of the body itself."""

import bpy
import numpy as np
from bpy_extras import view3d_utils
from windowed.hands import VIEWPORT, Hands, Waiting
from windowed.scripts import script

from extension import load
from rig import control_rigs

HAND, CONTROL, SHOULDER = "Hand.L", "CTL_Hand_IK.L", "UpperArm.L"


def _rig() -> bpy.types.Object:
    return bpy.data.objects["Made"]


def _seen(hands: Hands) -> bpy.types.Object:
    return _rig().evaluated_get(hands.window.view_layer.depsgraph)


def _place(hands: Hands) -> np.ndarray:
    seen = _seen(hands)
    return np.array(seen.matrix_world @ seen.pose.bones[HAND].head)


def _channels() -> np.ndarray:
    return np.array([bone.matrix_basis for bone in _rig().pose.bones])


def _influence(hands: Hands) -> float:
    return float(_seen(hands).pose.bones["LowerArm.L"].constraints["IK"].influence)


def _pixel(hands: Hands, point) -> tuple[int, int]:
    region, area = hands.region(VIEWPORT), hands.area("VIEW_3D")
    at = view3d_utils.location_3d_to_region_2d(region, area.spaces.active.region_3d, tuple(point))
    return round(region.x + at.x), round(region.y + at.y)


def _shares_its_action() -> bpy.types.Object:
    """Another object that plays the action of the rig, which can then not be written."""
    other = bpy.data.objects.new("Other", None)
    data = other.animation_data_create()
    data.action, data.action_slot = _rig().animation_data.action, _rig().animation_data.action_slot
    return other


def _running() -> str:
    """The text in the header of the viewport."""
    return load("operators.ik_drag")._running[0]._header()


def _click(hands: Hands) -> Waiting:
    """Start a drag by a click on the middle of the hand."""
    bone = _seen(hands).pose.bones[HAND]
    place = _pixel(hands, (bone.head + bone.tail) / 2)
    yield from hands.move(hands.inside(VIEWPORT, 0.5, 0.1))
    with hands.override():
        bpy.ops.lookat_pd.ik_drag("INVOKE_DEFAULT")
    yield 0.2
    yield from hands.click(place)
    yield 0.3
    return place


@script(needs=("operators.ik_drag",))
def hand_of_a_posed_arm_clicked_dragged_and_switched(hands: Hands) -> Waiting:
    """In IK its target moves; Esc restores all; one undo takes back what was kept; F switches the arm to FK, in which a
    drag turns its bones."""
    rig = control_rigs.posed()
    rig.data.collections["Deform"].is_visible = True
    scene = hands.window.scene
    scene.frame_start, scene.frame_end = 1, control_rigs.LAST
    with hands.override():
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.select_all(action="DESELECT")
        bpy.ops.view3d.view_axis(type="FRONT")
    view = hands.area("VIEW_3D").spaces.active.region_3d
    view.view_location, view.view_distance = (0.4, 0.0, 1.2), 3.0
    bpy.ops.ed.undo_push(message="Begin")
    yield 0.5
    dragged = load("operators.ik_drag").dragged
    begin, channels = _place(hands), _channels()
    for end in ("ESC", "RET"):
        x, y = yield from _click(hands)
        assert dragged() is not None and dragged().bone == CONTROL, dragged()
        for part in (1, 2, 3):
            yield from hands.move((x + 4 * part, y + 10 * part))
        yield 0.2
        assert np.linalg.norm(_place(hands) - begin) > 0.02
        hands.look("dragged in IK")
        yield from hands.key(end)
        yield 0.3
        if end == "ESC":
            assert np.array_equal(_channels(), channels)
    assert np.abs(_channels() - channels).max() > 0.01
    yield from hands.undo()
    yield 0.3
    assert np.abs(_channels() - channels).max() < 1e-6
    assert _influence(hands) == 1.0
    yield from _click(hands)
    other = _shares_its_action()
    yield from hands.key("F")
    yield 0.5
    assert dragged() is not None and "also animates" in _running(), "refused, so the drag goes on and says why"
    hands.look("refused to switch")
    bpy.data.objects.remove(other)
    yield from hands.key("F")
    assert (yield from hands.until(lambda: _influence(hands) == 0.0, 20.0)), "not switched"
    yield 0.5
    assert _influence(hands) == 0.0 and np.linalg.norm(_place(hands) - begin) < 1e-4
    hands.look("switched to FK")
    x, y = yield from _click(hands)
    assert dragged() is not None and dragged().bone == HAND and SHOULDER in dragged().bones
    yield from hands.move((x + 10, y + 20))
    hands.look("dragged in FK")
    yield from hands.key("ESC")
    yield 0.3
    yield from hands.undo()
    yield 0.3
    assert _influence(hands) == 1.0 and np.linalg.norm(_place(hands) - begin) < 1e-4
