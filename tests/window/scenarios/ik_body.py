"""The demo's generated Rigify human is dragged while others are held. Prints how long steps of the mouse take."""

import time

import bpy
import numpy as np
from bpy_extras import view3d_utils
from rigify_human import build_scene
from windowed.hands import VIEWPORT, Hands, Waiting
from windowed.scripts import script

from extension import load

DRAG = ("operators.ik_drag",)
HELD = ("foot_ik.L", "foot_ik.R", "hand_ik.L", "head")
SHOWN = ("DEF-foot.L", "DEF-foot.R", "DEF-hand.L", "DEF-spine.006")
HAND, CONTROL = "DEF-hand.R", "hand_fk.R"
NUMPAD = tuple(f"NUMPAD_{n}" for n in range(7))
ROW = ("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX")


def _rig() -> bpy.types.Object:
    return bpy.data.objects["Human"]


def _settings():
    return bpy.context.window_manager.windows[0].scene.lookat_pd_ik


def _places(*names: str) -> np.ndarray:
    """Heads of bones in the world, as Blender evaluates them."""
    seen = _rig().evaluated_get(bpy.context.window_manager.windows[0].view_layer.depsgraph)
    return np.array([seen.matrix_world @ seen.pose.bones[name].head for name in names])


def _channels() -> np.ndarray:
    return np.array([bone.matrix_basis for bone in _rig().pose.bones])


def _pixel(hands: Hands, point) -> tuple[int, int]:
    region, area = hands.region(VIEWPORT), hands.area("VIEW_3D")
    at = view3d_utils.location_3d_to_region_2d(region, area.spaces.active.region_3d, tuple(point))
    return round(region.x + at.x), round(region.y + at.y)


def _begin(hands: Hands) -> Waiting:
    """The human in pose mode, seen from the side; the right arm is in FK, the other limbs are in IK."""
    hands.window.scene = build_scene().scene
    layer, rig = hands.window.view_layer, _rig()
    layer.objects.active = rig
    with hands.override():
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.view3d.view_axis(type="LEFT")
    view = hands.area("VIEW_3D").spaces.active.region_3d
    view.view_location, view.view_distance = (0.0, -0.3, 0.9), 4.0
    rig.pose.bones["upper_arm_parent.R"]["IK_FK"] = 1.0
    load("rig.ik.body_settings").add(rig, HELD)
    rig.data.bones.active = rig.data.bones[CONTROL]
    layer.update()
    bpy.ops.ed.undo_push(message="Begin")
    yield 0.5


def _take(hands: Hands) -> Waiting:
    yield from hands.move(_pixel(hands, _places(HAND)[0]))
    with hands.override():
        bpy.ops.lookat_pd.ik_drag("INVOKE_DEFAULT", use_active=True)
    yield 0.3
    assert _session() is not None


def _session():
    return load("operators.ik_drag").dragged()


def _lead(hands: Hands, by: tuple[float, float, float], steps: int = 4) -> Waiting:
    """Move the mouse as far as that is in the world; seconds that each step took without drawing."""
    session, begin, seconds = _session(), _places(HAND)[0], []
    move = session.move

    def timed(target) -> None:
        begun = time.perf_counter()
        move(target)
        seconds.append(time.perf_counter() - begun)

    session.move = timed
    start = np.array(hands._at)
    way = np.array(_pixel(hands, begin + by)) - _pixel(hands, begin)
    for part in np.linspace(0.0, 1.0, steps + 1)[1:]:
        yield from hands.move(tuple(np.round(start + part * way).astype(int).tolist()))
        yield 0.02
    del session.move
    yield 0.1
    return seconds


def _told(what: str, seconds: list[float]) -> None:
    print(
        f"{what}: median {1000 * np.median(seconds):.0f} ms, largest {1000 * max(seconds):.0f} ms a step of the mouse"
    )


@script(needs=DRAG)
def body_dragged_with_pins(hands: Hands) -> Waiting:
    """The hand reaches through the spine while the others stay; B lets them go and holds them again; each solver has
    its key; Enter keeps, undo and redo; Esc restores to the bit."""
    yield from _begin(hands)
    before, channels, held = _places(HAND, "DEF-spine.003"), _channels(), _places(*SHOWN)
    yield from _take(hands)
    assert _session().held == len(HELD)
    _told("Rigify human, four effectors held", (yield from _lead(hands, (0.0, -0.55, 0.25), 8)))
    after = _places(HAND, "DEF-spine.003")
    assert np.abs(after[0] - before[0] - (0.0, -0.55, 0.25)).max() < 0.01, after[0] - before[0]
    assert np.abs(after[1] - before[1]).max() > 0.02, "the spine takes no part"
    assert np.abs(_places(*SHOWN) - held).max() < 1e-3, _places(*SHOWN) - held
    hands.look("held")
    yield from hands.key("B")
    yield 0.3
    assert _session().held == 0 and _session().length and not _settings().hold_effectors
    assert np.abs(_places("DEF-spine.003") - before[1]).max() < 1e-3, "only the arm is turned"
    yield from _lead(hands, (0.0, 0.4, -0.2))
    for key, method in (*zip(NUMPAD, _methods(), strict=True), *zip(ROW, _methods(), strict=True)):
        yield from hands.key(key)
        yield from _lead(hands, (0.0, -0.01, 0.01), 1)
        assert _session().tuning.method == method and _session().error < 2e-3, (method, _session().error)
    yield from hands.key("B")
    yield 0.3
    assert _session().held == len(HELD) and _session().tuning.method == method
    kept = _channels()
    yield from hands.key("RET")
    yield 0.3
    assert not hands.at_work and np.abs(_channels() - kept).max() < 1e-2
    assert np.abs(_places(*SHOWN) - held).max() < 1e-3
    kept = _channels()
    yield from hands.undo()
    assert np.abs(_channels() - channels).max() < 1e-6, "undo leaves another pose"
    yield from hands.redo()
    assert np.abs(_channels() - kept).max() < 1e-6, "redo brings another pose"
    yield from hands.undo()
    yield from _take(hands)
    yield from _lead(hands, (0.0, -0.2, 0.5), 4)
    yield from hands.key("B")
    assert np.abs(_channels() - channels).max() > 0.01
    yield from hands.key("ESC")
    yield 0.3
    assert not hands.at_work and np.array_equal(_channels(), channels)
    assert _settings().hold_effectors and _settings().method == "NEAREST_POSE"


def _methods() -> list[str]:
    rows = load("lookat_pd.ik.methods").METHODS.values()
    return [row.identifier for row in sorted(rows, key=lambda row: row.key)]


@script(needs=DRAG)
def skin_clicked_whose_control_is_hidden(hands: Hands) -> Waiting:
    """A click on the hand takes its control although none is in sight; V shows it, Esc hides it again."""
    yield from _begin(hands)
    rig = _rig()
    rig.lookat_pd_ik_body.effectors.clear()
    for item in rig.data.collections_all:
        item.is_visible = False
    hands.area("VIEW_3D").spaces.active.region_3d.view_distance = 2.0
    bpy.ops.ed.undo_push(message="Hidden")
    yield 0.3
    channels, visible = _channels(), [item.is_visible for item in rig.data.collections_all]
    yield from hands.move(hands.inside(VIEWPORT, 0.5, 0.1))
    with hands.override():
        bpy.ops.lookat_pd.ik_drag("INVOKE_DEFAULT")
    yield 0.2
    seen = rig.evaluated_get(hands.window.view_layer.depsgraph)
    bone = seen.pose.bones[HAND]
    yield from hands.click(_pixel(hands, seen.matrix_world @ (bone.head + bone.tail) / 2))
    yield 0.3
    assert _session() is not None and _session().bone == CONTROL, _session() and _session().bone
    before = _places(HAND)[0]
    yield from _lead(hands, (0.0, -0.1, 0.1), 3)
    assert np.abs(_places(HAND)[0] - before - (0.0, -0.1, 0.1)).max() < 0.01
    hands.look("hidden")
    yield from hands.key("V")
    yield 0.3
    assert any(item.is_visible_effectively for item in rig.data.bones[CONTROL].collections)
    hands.look("shown")
    yield from hands.key("ESC")
    yield 0.3
    assert [item.is_visible for item in rig.data.collections_all] == visible
    assert np.array_equal(_channels(), channels)
