"""The demo's generated Rigify human in a window: nothing has to be waited for. Prints how long answers take."""

import time

import bpy
import numpy as np
from bpy_extras import view3d_utils
from rigify_human import build_scene
from rigify_human import facing as _facing
from rigify_human import human as _human
from rigify_human import scene as _scene
from rigify_human import state as _state
from rigify_human import turned as _away
from windowed.hands import VIEWPORT, Hands, Waiting
from windowed.scripts import script

from extension import load

LIVE = ("rig.layers.live",)
_STEPS = 12
"""Of the mouse in each drag."""


def _solved(hands: Hands, seconds: float = 20.0) -> Waiting:
    """Wait until the shot is solved; how long that took."""
    begin = time.perf_counter()
    assert (yield from hands.until(lambda: _state() == "SOLVED", seconds)), _state()
    return time.perf_counter() - begin


@script(needs=LIVE)
def human_answers(hands: Hands) -> Waiting:
    demo = build_scene()
    hands.window.scene = demo.scene
    scene, human = _scene(), _human()
    load("rig.look_at.edit").add(scene, human, "head", demo.ball)
    settings = human.pose.bones["head"].lookat_pd
    print(f"Rigify human of {len(human.pose.bones)} bones, {scene.frame_end - scene.frame_start + 1} frames")
    yield 0.3
    print(f"look-at added, solved after {(yield from _solved(hands)):.2f} s")
    scene.frame_set(60)
    yield 0.5
    # What drawing alone takes here, where nothing depends on what is moved.
    begin = time.perf_counter()
    for _ in range(_STEPS):
        demo.bird.location.x += 0.01
        yield 0.0
        yield 0.0
    drawing = (time.perf_counter() - begin) / _STEPS
    # A settle time that is dragged, in the steps of a mouse: what is seen at once, and when it is verified.
    layer, seen, spent, whole = hands.window.view_layer, [], [], time.perf_counter()
    for step in range(1, _STEPS + 1):
        settings.settle_time = 0.6 + 0.03 * step
        begin = time.perf_counter()
        layer.update()
        spent.append(time.perf_counter() - begin)
        seen.append(_facing())
        yield 0.0
        yield 0.0
    whole = (time.perf_counter() - whole) / _STEPS
    verified = yield from _solved(hands)
    print(
        f"settle time dragged: {1000 * np.median(spent):.0f} ms a step, {1000 * whole:.0f} ms with drawing, which "
        f"alone takes {1000 * drawing:.0f} ms; verified {verified:.2f} s after the last one"
    )
    yield 0.2
    assert _away(seen[-1], _facing()) < 0.05, f"the pose shown last was {_away(seen[-1], _facing()):.3f} degrees off"
    assert len({pose.tobytes() for pose in seen}) > _STEPS / 2, "the head does not follow the slider"
    # A target that is dragged.
    ball, place = demo.ball, demo.ball.location.copy()
    seen.clear()
    spent.clear()
    whole = time.perf_counter()
    for step in range(1, _STEPS + 1):
        ball.location.x = place.x + 0.05 * step
        begin = time.perf_counter()
        layer.update()
        layer.update()
        spent.append(time.perf_counter() - begin)
        seen.append(_facing())
        yield 0.0
        yield 0.0
    whole = (time.perf_counter() - whole) / _STEPS
    print(f"target dragged: {1000 * np.median(spent):.0f} ms a step, {1000 * whole:.0f} ms with drawing")
    assert len({pose.tobytes() for pose in seen}) >= _STEPS - 2, "the head does not follow the target"
    ball.location = place
    scene.frame_set(61)
    scene.frame_set(60)
    yield 0.6
    yield from _solved(hands)
    # A key of the chest is edited.
    chest = human.pose.bones["chest"]
    chest.rotation_mode = "QUATERNION"
    chest.rotation_quaternion = (0.99, 0.1, 0.05, 0.0)
    chest.keyframe_insert("rotation_quaternion", frame=60)
    begin = time.perf_counter()
    assert (yield from hands.until(lambda: _state() == "SOLVING", 2.0)) or _state() == "SOLVED"
    yield from _solved(hands)
    print(f"key of the chest edited: verified after {time.perf_counter() - begin:.2f} s")
    hands.look("rigify answers")


@script(needs=("operators.ik_drag",))
def hand_of_a_human_dragged_in_ik(hands: Hands) -> Waiting:
    """The FK control of a hand in IK is dragged: the IK control moves, Esc restores it, Enter keeps it, undo works.

    Prints how long a step takes.
    """
    hands.window.scene = build_scene().scene
    human, scene = _human(), _scene()
    bpy.context.view_layer.objects.active = human
    with hands.override():
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.view3d.view_axis(type="FRONT")
    view = hands.area("VIEW_3D").spaces.active.region_3d
    view.view_location, view.view_distance = (0.0, 0.0, 1.0), 4.0
    human.data.bones.active = human.data.bones["hand_fk.L"]
    scene.lookat_pd_ik.orientation = "KEEP"
    bpy.ops.ed.undo_push(message="Begin")
    yield 0.5

    def hand() -> np.ndarray:
        layer = bpy.context.window_manager.windows[0].view_layer
        seen = _human().evaluated_get(layer.depsgraph)
        return np.array(seen.matrix_world @ seen.pose.bones["DEF-hand.L"].head)

    def control() -> np.ndarray:
        return np.array(_human().pose.bones["hand_ik.L"].location)

    start, before, steps = hand(), control(), []
    for end in ("ESC", "RET"):
        region = hands.region(VIEWPORT)
        at = view3d_utils.location_3d_to_region_2d(region, view, tuple(start))
        place = np.array([region.x + at.x, region.y + at.y])
        yield from hands.move(tuple(np.round(place).astype(int).tolist()))
        with hands.override():
            bpy.ops.lookat_pd.ik_drag("INVOKE_DEFAULT", use_active=True)
        yield 0.3
        for part in range(1, 9):
            begin = time.perf_counter()
            yield from hands.move(tuple(np.round(place + part * np.array([5.0, 8.0])).astype(int).tolist()))
            steps.append(time.perf_counter() - begin)
            yield 0.05
        assert hand()[2] - start[2] > 0.05 and np.abs(control() - before).max() > 0.05
        hands.look("dragging")
        yield from hands.key(end)
        yield 0.3
        if end == "ESC":
            assert np.array_equal(control(), before)
    assert np.abs(control() - before).max() > 0.05
    yield from hands.undo()
    assert np.abs(control() - before).max() < 1e-6, "undo leaves another pose"
    print(f"hand in IK dragged: {1000 * np.median(steps):.0f} ms a step of the mouse, with drawing")


@script(needs=("operators.ik_switch",))
def arm_of_a_human_switched_to_fk(hands: Hands) -> Waiting:
    """It keys the selected arm in FK over the range with the same pose; one undo takes it back; Esc leaves all as it
    was."""
    hands.window.scene = build_scene().scene
    human, scene = _human(), _scene()
    bpy.context.view_layer.objects.active = human
    with hands.override():
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.select_all(action="DESELECT")
        bpy.ops.view3d.view_axis(type="FRONT")
    view = hands.area("VIEW_3D").spaces.active.region_3d
    view.view_location, view.view_distance = (0.0, 0.0, 1.0), 4.0
    human.data.bones.active = human.data.bones["hand_ik.L"]
    bone = human.pose.bones["hand_ik.L"]
    (bone if hasattr(bone, "select") else bone.bone).select = True
    scene.frame_start, scene.frame_end = 10, 40
    scene.frame_set(20)
    right = float(human.pose.bones["upper_arm_parent.R"]["IK_FK"])

    def arm() -> np.ndarray:
        layer = bpy.context.window_manager.windows[0].view_layer
        seen = _human().evaluated_get(layer.depsgraph).pose.bones
        return np.array([seen[f"DEF-{part}.L"].matrix for part in ("upper_arm", "forearm", "hand")])

    def state() -> float:
        return float(_human().pose.bones["upper_arm_parent.L"]["IK_FK"])

    bpy.ops.ed.undo_push(message="Ready")
    before = arm()
    with hands.override():
        # With an undo step where it is done at once.
        bpy.ops.lookat_pd.ik_switch("INVOKE_DEFAULT", True, to="FK")
    assert (yield from hands.until(lambda: not hands.at_work, 20.0)), "not switched"
    yield 0.5
    assert state() == 1.0 and float(_human().pose.bones["upper_arm_parent.R"]["IK_FK"]) == right
    assert np.abs(arm() - before).max() < 1e-4
    hands.look("ik-fk switched")
    yield from hands.undo()
    yield 0.3
    assert state() == 0.0
    _scene().frame_end = 4000
    with hands.override():
        bpy.ops.lookat_pd.ik_switch("INVOKE_DEFAULT", to="FK")
    yield 0.3
    assert hands.window.modal_operators
    yield from hands.key("ESC")
    yield from hands.idle()
    assert state() == 0.0
