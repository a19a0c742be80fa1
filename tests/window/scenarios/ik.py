"""A bone dragged by inverse kinematics: clicked and led with the mouse, each solver's key, Esc, undo, redo."""

import bpy
import numpy as np
from bpy_extras import view3d_utils
from character import armature, pose, select
from overlay import _picture
from windowed.hands import VIEWPORT, Hands, Waiting
from windowed.panels import opened
from windowed.scripts import script

from extension import load

DRAG = ("operators.ik_drag",)
BONE = "hand.L"
SOLVERS = ("CCD", "PARTICLE", "JACOBIAN_EULER", "JACOBIAN_QUATERNION", "FABRIK", "CCD_ROOT", "NEAREST_POSE")
"""By digit."""
ROW = ("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX")
NUMPAD = tuple(f"NUMPAD_{n}" for n in range(7))


def _settings():
    return bpy.context.window_manager.windows[0].scene.lookat_pd_ik


def _channels() -> np.ndarray:
    return np.array([bone.matrix_basis for bone in armature().pose.bones])


def _place(end: str = "head") -> np.ndarray:
    """Where the hand is in the world, as Blender evaluates it."""
    seen = armature().evaluated_get(bpy.context.window_manager.windows[0].view_layer.depsgraph)
    return np.array(seen.matrix_world @ getattr(seen.pose.bones[BONE], end))


def _pixel(hands: Hands, point) -> tuple[int, int]:
    """Where a point of the world is in the window."""
    region, area = hands.region(VIEWPORT), hands.area("VIEW_3D")
    at = view3d_utils.location_3d_to_region_2d(region, area.spaces.active.region_3d, tuple(point))
    return round(region.x + at.x), round(region.y + at.y)


def _under(hands: Hands, pixel: tuple[int, int]) -> np.ndarray:
    """The point of the world under a pixel, as deep in the view as the middle of the figure."""
    region, area = hands.region(VIEWPORT), hands.area("VIEW_3D")
    at = pixel[0] - region.x, pixel[1] - region.y
    return np.array(view3d_utils.region_2d_to_location_3d(region, area.spaces.active.region_3d, at, (0.0, 0.1, 1.1)))


def _begin(hands: Hands) -> Waiting:
    """Pose mode, seen from the front, with the drag waiting for a click."""
    select(armature())
    with hands.override():
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_selected()
    armature().data.bones.active = armature().data.bones["root"]
    yield 0.5
    view = hands.area("VIEW_3D").spaces.active.region_3d
    view.view_location, view.view_distance = (0.0, 0.0, 1.1), 5.0
    bpy.ops.ed.undo_push(message="Begin")
    yield 0.3
    yield from _drag_again(hands)


def _drag_again(hands: Hands) -> Waiting:
    yield from hands.move(hands.inside(VIEWPORT, 0.5, 0.1))
    with hands.override():
        bpy.ops.lookat_pd.ik_drag("INVOKE_DEFAULT")
    yield 0.2
    assert _is_running(hands)


def _is_running(hands: Hands) -> bool:
    return "LOOKAT_PD_OT_ik_drag" in [item.bl_idname for item in hands.window.modal_operators]


def _take(hands: Hands) -> Waiting:
    """Click the hand; from there on it hangs on the mouse."""
    yield from hands.click(_pixel(hands, (_place() + _place("tail")) / 2))
    yield 0.2
    assert _is_running(hands)
    assert armature().data.bones.active.name == BONE, armature().data.bones.active


def _lead(hands: Hands, by: tuple[float, float, float], steps: int = 8) -> Waiting:
    """Move the mouse as far as that is in the world."""
    begin = _place()
    start = np.array(hands._at)
    way = np.array(_pixel(hands, begin + by)) - _pixel(hands, begin)
    for part in np.linspace(0.0, 1.0, steps + 1)[1:]:
        yield from hands.move(tuple(np.round(start + part * way).astype(int).tolist()))
        yield 0.05
    yield 0.2


@script(needs=DRAG)
def drag_kept_by_enter(hands: Hands) -> Waiting:
    """The hand goes with the mouse; Enter keeps it, one undo takes it back, redo brings it again."""
    yield from _begin(hands)
    before, begin = pose(), _place()
    yield from _take(hands)
    yield from _lead(hands, (-0.1, 0.0, -0.25))
    assert np.abs(_place() - begin - (-0.1, 0.0, -0.25)).max() < 0.01, _place() - begin
    hands.look("dragging")
    held = pose()
    yield from hands.key("RET")
    yield 0.3
    assert not hands.at_work
    assert np.array_equal(pose(), held)
    yield from hands.undo()
    assert abs(pose() - before).max() < 1e-6, "undo leaves another pose"
    yield from hands.redo()
    assert abs(pose() - held).max() < 1e-6, "redo brings another pose"


@script(needs=DRAG)
def drag_left_by_esc(hands: Hands) -> Waiting:
    """Whatever was done meanwhile, Esc restores it to the last bit: pose, selection, settings."""
    yield from _begin(hands)
    before, channels, method, length = pose(), _channels(), _settings().method, _settings().length
    active = armature().data.bones.active.name
    for end in ("ESC", "RIGHTMOUSE"):
        yield from _take(hands)
        yield from _lead(hands, (0.1, 0.0, -0.2))
        yield from hands.key("FOUR")
        yield from hands.wheel(_pixel(hands, _place()), 1)
        yield 0.2
        assert abs(pose() - before).max() > 0.01
        if end == "ESC":
            yield from hands.key("ESC")
        else:
            yield from hands.button("PRESS", end)
            yield from hands.button("RELEASE", end)
        yield 0.3
        assert not hands.at_work
        assert np.array_equal(_channels(), channels) and np.array_equal(pose(), before)
        assert (_settings().method, _settings().length) == (method, length)
        assert armature().data.bones.active.name == active
        if end == "ESC":
            yield from _drag_again(hands)


@script(needs=DRAG)
def drag_with_each_solver(hands: Hands) -> Waiting:
    """0 to 6 choose a solver, in the number row and on the numpad; each brings the hand to the mouse, and the last one
    is remembered."""
    yield from _begin(hands)
    begin = _place()
    yield from _take(hands)
    taken = hands._at
    for key, method in (*zip(NUMPAD, SOLVERS, strict=True), *zip(ROW[:5], SOLVERS, strict=False)):
        yield from hands.key(key)
        yield from _lead(hands, (-0.01, 0.0, -0.025), 3)
        wanted = begin + _under(hands, hands._at) - _under(hands, taken)
        assert np.abs(_place() - wanted).max() < 2e-3, f"{method}: {_place()} instead of {wanted}"
        hands.look(f"solver_{key}")
    yield from hands.key("RET")
    yield 0.3
    assert _settings().method == "FABRIK"
    yield from hands.undo()
    assert _settings().method == "NEAREST_POSE", _settings().method


@script(needs=DRAG)
def drag_along_an_axis_by_a_number(hands: Hands) -> Waiting:
    """Z, a number, minus; then by the held button in one go, with auto keying."""
    yield from _begin(hands)
    begin = _place()
    yield from _take(hands)
    yield from _lead(hands, (0.05, 0.0, 0.05), 3)
    yield from hands.key("Z")
    for key in ("PERIOD", "TWO", "MINUS"):
        yield from hands.key(key)
    yield 0.2
    assert np.abs(_place() - begin - (0.0, 0.0, -0.2)).max() < 2e-3, _place() - begin
    yield from hands.key("RET")
    yield 0.3
    scene = bpy.context.window_manager.windows[0].scene
    scene.tool_settings.use_keyframe_insert_auto = True
    action = armature().animation_data.action
    keys = sum(len(curve.keyframe_points) for curve in action.layers[0].strips[0].channelbags[0].fcurves)
    scene.frame_set(33)
    yield 0.2
    yield from _drag_again(hands)
    start = _pixel(hands, (_place() + _place("tail")) / 2)
    yield from hands.drag(start, (start[0] - 40, start[1] - 30))
    yield 0.3
    assert not hands.at_work, "letting the button go keeps"
    after = sum(len(curve.keyframe_points) for curve in action.layers[0].strips[0].channelbags[0].fcurves)
    assert after > keys


@script(needs=(*DRAG, "panels.ik_ghosts"))
def solvers_compared_in_a_drag(hands: Hands) -> Waiting:
    """C shows where the solvers place the arm and hides it again, in the viewport and in the panel; Enter keeps the
    choice, Esc restores it, and the arm is where it is without the comparison."""
    yield from _begin(hands)
    yield from _take(hands)
    yield from _lead(hands, (-0.15, 0.0, 0.05))
    held, without = pose(), (yield from _picture(hands))
    yield from hands.key("C")
    yield 0.3
    assert _settings().compare
    shown = yield from _picture(hands)
    changed = (np.abs(shown - without) > 8).any(axis=-1)[::-1]
    corner = hands.inside(VIEWPORT, 0.1, 0.05)
    ghosts = load("operators.ik_drag").dragged().ghosts(load("rig.ik.method_ghosts").chosen(_settings()))
    assert len(ghosts) > 1
    for ghost in ghosts:
        # The legend is drawn elsewhere.
        for line in ghost.lines:
            x, y = np.array(_pixel(hands, line.mean(axis=0))) - corner
            assert changed[y - 3 : y + 4, x - 3 : x + 4].any(), f"no line of {ghost.method}"
    assert np.array_equal(pose(), held)
    hands.look("compared")
    yield from hands.key("C")
    yield 0.3
    assert not _settings().compare
    assert (np.abs((yield from _picture(hands)) - without) > 8).any(axis=-1).sum() < 30, "ghosts stay"
    yield from hands.key("C")
    yield from hands.key("RET")
    yield 0.3
    assert _settings().compare and np.array_equal(pose(), held)
    yield from _drag_again(hands)
    yield from _take(hands)
    yield from hands.key("C")
    yield from hands.key("ESC")
    yield 0.3
    assert _settings().compare


@script(needs=DRAG)
def drag_out_of_reach_and_back(hands: Hands) -> Waiting:
    """The chain is stretched towards the mouse without shaking; the wheel makes it longer."""
    yield from _begin(hands)
    yield from _take(hands)
    seen = []
    yield from _lead(hands, (1.0, 0.0, 0.3))
    middle = hands._at
    for n in range(6):
        yield from hands.move((middle[0] + n % 2, middle[1]))
        yield 0.05
        seen.append(_place())
    assert np.ptp(seen, axis=0).max() < 0.01, f"it shakes: {np.ptp(seen, axis=0)}"
    short = np.linalg.norm(seen[-1] - (2.0, 0.0, 1.8))
    yield from hands.wheel(middle, 2)
    yield 0.2
    assert np.linalg.norm(_place() - (2.0, 0.0, 1.8)) < short, "a longer chain reaches farther"
    yield from hands.key("ESC")
    yield 0.2
    assert not hands.at_work


@script(needs=("panels.ik",))
def ik_baked_from_the_panel(hands: Hands) -> Waiting:
    """The panel says what is missing, shows how the solver converges, and bakes; one undo takes it back."""
    yield from _begin(hands)
    yield from hands.key("ESC")
    armature().data.bones.active = armature().data.bones[BONE]
    _settings().target = bpy.data.objects["Ball"]
    bpy.data.objects["Ball"].animation_data_clear()
    bpy.data.objects["Ball"].location = (0.3, -0.25, 1.3)
    with opened("ik"):
        yield from hands.sidebar()
        yield 0.5
        bpy.ops.ed.undo_push(message="Ready")
        hands.look("panel")
        yield from hands.click((yield from hands.find("lookat_pd.ik_bake")))
        yield from hands.idle()
        assert armature().animation_data.action.name == "Sway IK", armature().animation_data.action
        assert np.linalg.norm(_place() - (0.3, -0.25, 1.3)) < 1e-3
        yield from hands.undo()
        assert armature().animation_data.action.name == "Sway"


@script(needs=("panels.ik", "operators.contacts"))
def contact_of_the_preview_range_from_the_panel(hands: Hands) -> Waiting:
    """The button needs a preview range; the hand stays there during it, and one undo takes it back."""
    yield from _begin(hands)
    yield from hands.key("ESC")
    scene, bones = bpy.context.window_manager.windows[0].scene, armature().pose.bones
    for bone in bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name == BONE
    armature().data.bones.active = armature().data.bones[BONE]

    def places() -> np.ndarray:
        found = []
        for frame in range(10, 21):
            scene.frame_set(frame)
            found.append(_place())
        return np.array(found)

    before = places()
    assert np.ptp(before, axis=0).max() > 0.01
    with opened("ik_contacts"):
        yield from hands.sidebar()
        yield 0.5
        yield from hands.click((yield from hands.find("MARKED")))
        yield 0.5
        assert armature().animation_data.action.name == "Sway", "the button works without a preview range"
        yield from hands.move(hands.inside(VIEWPORT, 0.5, 0.1))
        scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 10, 20
        bpy.ops.ed.undo_push(message="Preview range")
        hands.area("VIEW_3D").tag_redraw()
        yield 0.5
        hands.look("contacts")
        yield from hands.click((yield from hands.find("MARKED")))
        yield from hands.idle()
        assert armature().animation_data.action.name == "Sway contacts", armature().animation_data.action
        assert np.ptp(places(), axis=0).max() < 1e-3, np.ptp(places(), axis=0)
        yield from hands.undo()
        assert armature().animation_data.action.name == "Sway"
        scene = bpy.context.window_manager.windows[0].scene
        assert np.abs(places() - before).max() < 1e-6


@script(needs=("operators.ik_bake",))
def ik_bake_stopped_by_esc(hands: Hands) -> Waiting:
    """A long bake ends with Esc, and the file is as it was."""
    yield from _begin(hands)
    yield from hands.key("ESC")
    armature().data.bones.active = armature().data.bones[BONE]
    _settings().target = bpy.data.objects["Ball"]
    scene = bpy.context.window_manager.windows[0].scene
    # More than is baked while Blender turns a few times.
    scene.frame_end = 200000
    before, actions, scenes = pose(), sorted(bpy.data.actions.keys()), len(bpy.data.scenes)
    with hands.override():
        bpy.ops.lookat_pd.ik_bake("INVOKE_DEFAULT")
    yield 0.3
    assert "LOOKAT_PD_OT_ik_bake" in [item.bl_idname for item in hands.window.modal_operators]
    yield from hands.key("ESC")
    yield 0.5
    assert not hands.at_work
    assert sorted(bpy.data.actions.keys()) == actions and len(bpy.data.scenes) == scenes
    assert armature().animation_data.action.name == "Sway"
    scene.frame_end = 60
    assert np.array_equal(pose(), before)


@script(needs=("panels.ik",))
def joint_settings_undone_and_redone(hands: Hands) -> Waiting:
    """The check box of a joint and its stiffness, by the mouse: each is one undo step."""
    yield from _begin(hands)
    yield from hands.key("ESC")
    armature().data.bones.active = armature().data.bones[BONE]
    bpy.ops.ed.undo_push(message="Ready")

    def joints() -> list[tuple]:
        items = [bone.lookat_pd_ik_joint for bone in armature().pose.bones]
        return [(item.use_custom, item.part, item.stiffness, item.minimum, item.maximum) for item in items]

    with opened("ik_joints"):
        yield from hands.sidebar()
        yield 0.3
        known = [joints()]
        yield from hands.click((yield from hands.find("use_custom", across=0.08)))
        yield 0.3
        known.append(joints())
        assert [old != new for old, new in zip(*known, strict=True)].count(True) == 1, known
        slider = yield from hands.find("stiffness")
        yield from hands.drag((slider.x, slider.y), (slider.x + 40, slider.y))
        yield 0.3
        known.append(joints())
        assert known[2] != known[1], "the slider does nothing"
        hands.look("joints")
        for wanted in (1, 0):
            yield from hands.undo()
            yield 0.3
            assert joints() == known[wanted], f"undo {wanted}"
        for wanted in (1, 2):
            yield from hands.redo()
            yield 0.3
            assert joints() == known[wanted], f"redo {wanted}"
