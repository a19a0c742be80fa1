"""A solve keeps a temporary scene between its slices, so that the window is not drawn after each: nobody else meets it.

Each thing is done while the scene is there, which `_resting` waits for; what is done looks at the scenes of the file.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import bpy
import numpy as np
from rigify_human import build_scene, facing, human, scene, state, turned
from windowed.hands import VIEWPORT, Hands, Waiting
from windowed.scripts import script

from extension import load

LIVE = ("rig.layers.live",)
AT, LIMIT = 60, 60.0
NAME = "Look For Scenes Of Others"


class LOOKAT_TEST_OT_scenes(bpy.types.Operator):  # noqa: N801
    """Notes the scenes and objects that are there, as any operator meets them"""

    bl_idname = "lookat_test.scenes"
    bl_label = NAME
    seen: ClassVar[list[tuple[str, ...]]] = []

    def execute(self, context: bpy.types.Context) -> set[str]:
        self.seen.append(strange())
        return {"FINISHED"}


def strange() -> tuple[str, ...]:
    """Names of scenes and objects that are of no animator."""
    items = (*bpy.data.scenes, *bpy.data.objects)
    return tuple(item.name for item in items if item.name.startswith("Look-at PD"))


def _settings():
    return human().pose.bones["head"].lookat_pd


def _solved(hands: Hands) -> Waiting:
    def done() -> bool:
        known = load("rig.layers.live")._scenes.get(scene().session_uid)
        return state() == "SOLVED" and known.job is None and known.check_at == np.inf

    yield 0.3
    assert (yield from hands.until(done, LIMIT)), state()
    assert strange() == (), "solved"


def _resting(hands: Hands) -> Waiting:
    """Edit something, and wait until a slice of the solve has left its scene."""
    yield from _solved(hands)
    with hands.override():
        _settings().settle_time = 0.5 if _settings().settle_time > 0.6 else 0.7
        bpy.ops.ed.undo_push(message="Settle time")
    yield from _rests(hands)


def _rests(hands: Hands) -> Waiting:
    sampler = load("rig.sampling.sampler")
    for _ in range(2000):
        yield 0.0
        if sampler.is_resting():
            break
    assert sampler.is_resting() and strange(), f"nothing rests: {state()}"


def _human(hands: Hands) -> Waiting:
    yield from hands.sidebar()
    demo = build_scene()
    hands.window.scene = demo.scene
    load("rig.look_at.edit").add(scene(), human(), "head", demo.ball)
    scene().frame_set(AT)
    yield from _solved(hands)
    yield from hands.move(hands.inside(VIEWPORT, 0.3, 0.3))


def _track() -> np.ndarray:
    solve = next(iter(load("rig.layers.live")._scenes[scene().session_uid].solves.values()))
    return solve.track.offsets.copy()


def _noted() -> tuple[str, ...]:
    assert LOOKAT_TEST_OT_scenes.seen, "the operator was not called"
    return LOOKAT_TEST_OT_scenes.seen.pop()


def _by_key(hands: Hands) -> Waiting:
    yield from hands.key("F7")


def _by_search(hands: Hands) -> Waiting:
    """What runs from a menu gets events before what was there when that was opened."""
    yield from hands.search(NAME)


@contextmanager
def _in_short_slices() -> Iterator[None]:
    """So that something is left of the work after an event."""
    slices = load("rig.layers.live_scene")
    before = slices._WORKING, slices._WORKING_ON
    slices._WORKING = slices._WORKING_ON = 0.01
    try:
        yield
    finally:
        slices._WORKING, slices._WORKING_ON = before


def _when_let_go(hands: Hands) -> Waiting:
    """To press a key that is bound to when it is let go starts something then, not before."""
    at = {"x": hands.window.width // 2, "y": hands.window.height // 2}
    yield from _resting(hands)
    hands.window.event_simulate("F8", "PRESS", **at)
    yield 0.0
    yield from _rests(hands)
    hands.window.event_simulate("F8", "RELEASE", **at)
    yield 0.1
    assert _noted() == (), "a key that is let go"


def _disturbs_nothing(hands: Hands) -> Waiting:
    """The mouse that moves, and a key to which nothing is bound when it is let go."""
    at, met = hands.inside(VIEWPORT, 0.3, 0.3), set()

    def meet() -> None:
        met.update(item.session_uid for item in bpy.data.scenes if item.name.startswith("Look-at PD"))

    yield from _resting(hands)
    hands.window.event_simulate("F9", "PRESS", x=at[0], y=at[1])
    yield 0.0
    yield from _rests(hands)
    hands.window.event_simulate("F9", "RELEASE", x=at[0], y=at[1])
    for step in range(3):
        meet()
        yield from hands.move((at[0] + 7 * step, at[1]))
    meet()
    assert len(met) == 1, f"{len(met)} scenes"
    yield from hands.move(at)


def _events(hands: Hands) -> Iterator[tuple[str, Callable[[Hands], Waiting]]]:
    yield "a key", _by_key
    yield "a search", _by_search


@script(needs=LIVE)
def no_event_meets_it(hands: Hands) -> Waiting:
    """A key, a menu, Tab, Esc, playback and undo; what is solved is what is solved at once, to the bit."""
    bpy.utils.register_class(LOOKAT_TEST_OT_scenes)
    keys = bpy.context.window_manager.keyconfigs.addon.keymaps.new("Window")
    item = keys.keymap_items.new("lookat_test.scenes", "F7", "PRESS")
    let_go = keys.keymap_items.new("lookat_test.scenes", "F8", "RELEASE")
    try:
        yield from _human(hands)
        for name, event in _events(hands):
            yield from _resting(hands)
            yield from event(hands)
            assert _noted() == (), name
        yield from _resting(hands)
        yield from hands.key("ESC")
        yield from _solved(hands)
        found, live = _track(), load("rig.layers.live")
        yield from _resting(hands)
        yield from _solved(hands)
        stand_by = live.STAND_BY.pop()
        _settings().settle_time = 0.5 if _settings().settle_time > 0.6 else 0.7
        yield from _solved(hands)
        live.STAND_BY.append(stand_by)
        assert np.array_equal(_track(), found), "what is solved where nothing rests is something else"
        with _in_short_slices():
            yield from _when_let_go(hands)
            yield from _disturbs_nothing(hands)
        yield from _two_windows(hands)
    finally:
        keys.keymap_items.remove(item)
        keys.keymap_items.remove(let_go)
        bpy.utils.unregister_class(LOOKAT_TEST_OT_scenes)


def _two_windows(hands: Hands) -> Waiting:
    with hands.override():
        bpy.ops.wm.window_new()
    yield 0.5
    second = hands.window
    try:
        yield from _resting(hands)
        at = {"x": second.width // 2, "y": second.height // 2}
        second.event_simulate("F7", "PRESS", **at)
        yield 0.0
        second.event_simulate("F7", "RELEASE", **at)
        yield 0.1
        assert _noted() == (), "a key in the second window"
        yield from _resting(hands)
    finally:
        with bpy.context.temp_override(window=second):
            bpy.ops.wm.window_close()
    yield from _solved(hands)
    assert strange() == ()


@script(needs=LIVE)
def undo_and_modes(hands: Hands) -> Waiting:
    """An undo while it is solved gives the state before the edit; redo, edit mode and playback come to their end."""
    yield from _human(hands)
    hands.window.view_layer.objects.active = human()
    yield from _resting(hands)
    yield from _solved(hands)
    before, seen = _settings().settle_time, facing()
    yield from _resting(hands)
    assert _settings().settle_time != before
    yield from hands.undo()
    yield from _solved(hands)
    assert _settings().settle_time == before and strange() == (), (before, _settings().settle_time, strange())
    assert turned(facing(), seen) < 1e-3, f"undone, the head is {turned(facing(), seen):.4f} degrees off"
    yield from hands.redo()
    yield from _solved(hands)
    assert _settings().settle_time != before
    yield from _resting(hands)
    with hands.override():
        bpy.ops.ed.undo_push(message="By a script that no event has started")
    yield from _solved(hands)
    with hands.override():
        bpy.ops.ed.undo_push(message="Solved")
    yield from hands.undo()
    yield from _solved(hands)
    assert _settings().exists
    yield from _resting(hands)
    yield from hands.key("TAB")
    assert strange() == () and human().mode != "OBJECT", human().mode
    yield 0.2
    yield from hands.key("TAB")
    yield from _solved(hands)
    yield from _resting(hands)
    yield from hands.key("SPACE")
    yield 0.5
    assert strange() == (), "while it plays"
    yield from hands.key("SPACE")
    yield from _solved(hands)
    assert strange() == ()


def _scenes_in(path: Path) -> list[str]:
    copy = shutil.copy(path, path.with_name("read.blend"))  # the file that is open cannot be read
    with bpy.data.libraries.load(str(copy)) as (there, _):
        return [*there.scenes, *(name for name in there.objects if name.startswith("Look-at PD"))]


@script(needs=LIVE)
def no_file_has_it(hands: Hands) -> Waiting:
    """Saved, saved as a copy by a script, rendered, and another file opened."""
    yield from _human(hands)
    path, names = Path(bpy.data.filepath).with_name("resting.blend"), [item.name for item in bpy.data.scenes]
    yield from _resting(hands)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    assert sorted(_scenes_in(path)) == sorted(names)
    yield from _resting(hands)
    with hands.override():
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert sorted(_scenes_in(path)) == sorted(names)
    met: list[tuple[str, ...]] = []

    def meet(*_: object) -> None:
        met.append(strange())

    render = scene().render
    render.engine, render.resolution_x, render.resolution_y = "BLENDER_WORKBENCH", 16, 16
    scene().camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene().collection.objects.link(scene().camera)
    yield from _resting(hands)
    bpy.app.handlers.render_pre.append(meet)
    try:
        bpy.ops.render.render(scene=scene().name)
    finally:
        bpy.app.handlers.render_pre.remove(meet)
    assert met == [()], met
    yield from _resting(hands)
    with hands.override():
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    assert strange() == ()
    yield from _solved(hands)
    assert strange() == ()
