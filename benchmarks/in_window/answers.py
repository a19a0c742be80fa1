"""The demo's generated Rigify human in a window: how long a change takes until it is seen, and until it is verified.

Each script prints a line of JSON with its figures; `benchmarks/window.py` makes rows of them.
"""

import json
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np
from windowed.clicking import click, clicking
from windowed.hands import Hands, Waiting
from windowed.scripts import script

from extension import load

LIVE = ("rig.layers.live",)
MARK = "@figures "
FRAMES, MANY = 250, 1_000
_AT = 60
_STEPS = 12
"""Of the mouse in a drag."""
_CORRECT = 0.05
"""Degrees within which a pose is the one that is verified."""
_LIMIT = 60.0
_SHOWN = 1.0
"""Seconds from which on the panel says how long solving will still take."""


def prepare(hands: Hands) -> None:
    """A generated human that looks at a ball, with as many frames as are keyed."""
    bpy.context.preferences.system.viewport_aa = "OFF"
    demo = load("assets.demo.human").build_scene(bpy.context.scene)
    load("rig.look_at.edit").add(demo.scene, demo.rig, "head", demo.ball)


def _tell(**figures: float) -> None:
    print(MARK + json.dumps(figures), flush=True)


def _scene() -> bpy.types.Scene:
    return bpy.context.window_manager.windows[0].scene


def _human() -> bpy.types.Object:
    return bpy.data.objects["Human"]


def _status():
    return load("rig.layers.live").status(_scene(), _human(), "head")


def _state() -> str:
    return _status().state


def _facing() -> np.ndarray:
    layer = bpy.context.window_manager.windows[0].view_layer
    return np.array(_human().evaluated_get(layer.depsgraph).pose.bones["head"].matrix)[:3, :3]


def _away(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.degrees(np.linalg.norm(one - other) / np.sqrt(2.0)))


def _solved(hands: Hands) -> Waiting:
    # As long as what was just changed may wait to be looked at.
    yield 0.6
    assert (yield from hands.until(lambda: _state() == "SOLVED", _LIMIT)), _state()
    _scene().frame_set(_AT)
    yield 0.3


@dataclass(frozen=True)
class _Answer:
    """What became of a change."""

    seen: float
    """Seconds until the last pose is seen."""
    verified: float
    """Until it is verified."""
    drawn: float
    """Of these, how long the window was drawn."""
    off: float
    """The largest factor by which a time left was wrong that the panel showed, nan where it showed none."""

    @property
    def worked(self) -> float:
        """Seconds until it is verified, without drawing."""
        return self.verified - self.drawn


class _Drawing:
    """How long the window is drawn: from its viewport on until its loop turns again, which a script does first."""

    def __init__(self) -> None:
        self.seconds, self._begin = 0.0, np.inf
        self._handle = bpy.types.SpaceView3D.draw_handler_add(self._drawn, (), "WINDOW", "PRE_VIEW")

    def _drawn(self) -> None:
        self._begin = min(self._begin, time.perf_counter())

    def turned(self) -> None:
        self.seconds, self._begin = self.seconds + max(time.perf_counter() - self._begin, 0.0), np.inf

    def end(self) -> float:
        bpy.types.SpaceView3D.draw_handler_remove(self._handle, "WINDOW")
        return self.seconds


def _answered(hands: Hands, change: Callable[[], None]) -> Generator[float, None, _Answer]:
    """Change something, as an event does, and wait until it is solved."""
    began: list[float] = []

    def do() -> None:
        change()
        began.append(time.perf_counter())

    with clicking():
        yield 0.05
        drawing, edit, before = _Drawing(), click(hands, do), _status().seconds
        yield next(edit)
        assert began, "no event has come"
        poses, off = yield from _watched(began[0], before, drawing)
        drawn = drawing.end()
        yield from edit
    verified, last = poses[-1]
    wrong = [seconds for seconds, pose in poses if _away(pose, last) > _CORRECT]
    seen = next(seconds for seconds, _ in poses if not wrong or seconds > wrong[-1])
    return _Answer(seen, verified, drawn, off)


def _watched(
    begin: float, before: float, drawing: _Drawing
) -> Generator[float, None, tuple[list[tuple[float, np.ndarray]], float]]:
    """The poses at each turn of the window's loop until it is solved, and the largest factor by which a time left was
    wrong. before: what the last solve took."""
    poses: list[tuple[float, np.ndarray]] = []
    estimates: list[tuple[float, float]] = []
    state, worked = "", False
    while time.perf_counter() - begin < _LIMIT:
        now = _status()
        poses.append((time.perf_counter() - begin, _facing()))
        if np.isfinite(now.remaining) and now.state == "SOLVING":
            estimates.append((poses[-1][0], now.remaining))
        state = now.state
        # What takes a single slice is never seen at work, but has taken another time.
        worked = worked or state != "SOLVED" or now.seconds != before
        # What needs no solve never leaves that state.
        if state == "SOLVED" and (worked or time.perf_counter() - begin > 2.0):
            break
        yield 0.0
        drawing.turned()
    assert state == "SOLVED" and worked, state
    verified = poses[-1][0]
    ratios = [(seconds, left / (verified - seconds)) for seconds, left in estimates if left > _SHOWN]
    print("time left, as a multiple of what it took:", [(round(at, 2), round(ratio, 2)) for at, ratio in ratios])
    return poses, max((max(ratio, 1.0 / ratio) for _, ratio in ratios), default=np.nan)


@script(needs=LIVE)
def stepping(hands: Hands) -> Waiting:
    """What all figures are compared with: the whole rig, once over all frames."""
    yield from _solved(hands)
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        for frame in range(1, FRAMES + 1):
            _scene().frame_set(frame)
        times.append(time.perf_counter() - begin)
        yield 0.1
    _tell(stepping=min(times), bones=len(_human().pose.bones))


@script(needs=LIVE)
def settle_time_dragged(hands: Hands) -> Waiting:
    yield from _solved(hands)
    settings, layer, spent, pose = _human().pose.bones["head"].lookat_pd, hands.window.view_layer, [], _facing()
    for step in range(1, _STEPS + 1):
        settings.settle_time = 0.6 + 0.03 * step
        begin = time.perf_counter()
        layer.update()
        spent.append(time.perf_counter() - begin)
        pose = _facing()
        yield 0.0
        yield 0.0
    assert (yield from hands.until(lambda: _state() == "SOLVED", _LIMIT)), _state()
    verified = time.perf_counter() - begin
    yield 0.2
    _tell(drag=float(np.median(spent)), drag_verified=verified, drag_off=_away(pose, _facing()))


@script(needs=LIVE)
def keys_edited(hands: Hands) -> Waiting:
    """A key of the target is moved, then one of the chest."""
    yield from _solved(hands)
    ball = bpy.data.objects["Ball"]

    def key_ball() -> None:
        ball.location.x += 0.3
        ball.keyframe_insert("location", frame=_AT)

    target = yield from _answered(hands, key_ball)
    _tell(target_seen=target.seen, target=target.verified, target_worked=target.worked)
    yield 0.5
    chest = _human().pose.bones["chest"]

    def key_chest() -> None:
        chest.rotation_mode = "QUATERNION"
        chest.rotation_quaternion = (0.99, 0.1, 0.05, 0.0)
        chest.keyframe_insert("rotation_quaternion", frame=_AT)

    key_chest()
    yield from _solved(hands)
    chest.rotation_quaternion = (0.99, -0.1, 0.02, 0.0)
    found = yield from _answered(hands, lambda: chest.keyframe_insert("rotation_quaternion", frame=_AT))
    _tell(chest_seen=found.seen, chest=found.verified, chest_worked=found.worked)


@script(needs=LIVE)
def whole_body_of_many_frames(hands: Hands) -> Waiting:
    """All of Body and Eyes over a long range: a changed settle time, and the first solve before it."""
    human, scene = _human(), _scene()
    for item in (human, bpy.data.objects["Ball"]):
        for curve in load("rig.animation.actions").curves(item.animation_data.action, item.animation_data.action_slot):
            cycles = curve.modifiers.new("CYCLES")
            cycles.mode_before = cycles.mode_after = "MIRROR"
    scene.frame_end = MANY
    yield from _solved(hands)
    settings, layers = human.pose.bones["head"].lookat_pd, load("rig.look_at.body.layers")
    first = yield from _answered(hands, lambda: layers.switch_on(settings, tuple(layers.LAYERS)))
    _tell(long_first_seen=first.seen, long_first=first.verified)
    yield 0.5

    def slide(settle_time: float) -> None:
        settings.settle_time = settle_time

    second = yield from _answered(hands, lambda: slide(0.8))
    _tell(long_seen=second.seen, long=second.verified)
    yield 0.5
    # Of the same kind as the one before, so that its time left is known.
    third = yield from _answered(hands, lambda: slide(0.7))
    shown = [answer.off for answer in (first, second, third) if np.isfinite(answer.off)]
    if shown:
        _tell(time_left=max(shown))


@script(needs=LIVE)
def file_opened(hands: Hands) -> Waiting:
    yield from _solved(hands)
    path, before = str(Path(bpy.data.filepath).with_name("opened.blend")), _facing()
    with hands.override():
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path, load_ui=False)
    hands.window.view_layer.update()
    begin = late = time.perf_counter()
    while time.perf_counter() - begin < 3.0:
        if _away(_facing(), before) > _CORRECT:
            late = time.perf_counter()
        yield 0.05
    assert _away(_facing(), before) <= _CORRECT and _state() == "SOLVED", _state()
    _tell(opened=late - begin, solving=load("rig.layers.live").status(_scene(), _human(), "head").seconds)
