"""Keys that are edited while nothing is held: how long it takes until what becomes of them is seen, and verified."""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager

import bpy
import numpy as np
from rigify_human import build_scene, facing, human, scene, state, turned
from windowed.clicking import click, clicking
from windowed.hands import Hands, Waiting
from windowed.scripts import script

from extension import load

LIVE = ("rig.layers.live",)
AT = 60
FRAMES, BONES = 250, 5
RIGHT = 1.0
"""Degrees within which a pose is that which is verified, to the eye."""
SEEN_OFF = 0.05
"""Degrees that it may be off when it is seen."""
SEEN, VERIFIED = 20.0, 50.0
"""Most time from an edit, in units of `unit`: on a quiet machine it is about 3 and 10 loops, and what is drawn."""


def plain_loop() -> float:
    """Seconds that a plain loop of as many frames and bones takes, as the benchmarks have it."""
    exp = load("lookat_pd.rotation").exp
    begin, turn, pace = time.perf_counter(), np.zeros((BONES, 3)), np.zeros((BONES, 3))
    for frame in range(FRAMES):
        for bone in range(BONES):
            goal = np.array((np.sin(0.1 * frame), 0.1 * bone, 0.0))
            pace[bone] += 0.1 * (goal - turn[bone]) - 0.5 * pace[bone]
            turn[bone] = turn[bone] + pace[bone]
            exp(turn[bone])
    return time.perf_counter() - begin


def unit(hands: Hands) -> float:
    """Seconds that a plain loop and drawing the window once take, on this machine as busy as it is."""
    loop = min(plain_loop() for _ in range(3))
    begin = time.perf_counter()
    with hands.override():
        bpy.ops.wm.redraw_timer(type="DRAW_WIN", iterations=1)
    return loop + time.perf_counter() - begin


def _answered(edit: Callable[[], None]) -> Generator[float, None, tuple[float, float]]:
    """Seconds after an edit until the last pose is seen, and until it is verified; looked at in each turn."""
    poses: list[tuple[float, np.ndarray]] = []
    begin, worked = time.perf_counter(), False
    edit()
    while time.perf_counter() - begin < 60.0:
        yield 0.0
        poses.append((time.perf_counter() - begin, facing()))
        worked = worked or state() == "SOLVING"
        if worked and state() == "SOLVED":
            break
    assert worked and state() == "SOLVED", state()
    wrong = [seconds for seconds, pose in poses if turned(pose, poses[-1][1]) > RIGHT]
    seen = next(seconds for seconds, _ in poses if not wrong or seconds > wrong[-1])
    return seen, poses[-1][0]


def _edits() -> Iterator[tuple[str, Callable[[], None]]]:
    """Keys at the frame that is seen, of the target and of the chest."""
    ball, chest = next(item for item in scene().objects if item.name.startswith("Ball")), human().pose.bones["chest"]
    chest.rotation_mode = "QUATERNION"

    def place(x: float) -> None:
        ball.location.x += x
        ball.keyframe_insert("location", frame=AT)

    def turn(x: float) -> None:
        chest.rotation_quaternion = (0.99, x, 0.05, 0.0)
        chest.keyframe_insert("rotation_quaternion", frame=AT)

    for x in (0.4, -0.3):
        yield "target", lambda x=x: place(x)
    for x in (0.1, -0.1):
        yield "chest", lambda x=x: turn(x)


@script(needs=LIVE)
def keys_are_seen_soon(hands: Hands) -> Waiting:
    """A key of the target, and one of the chest, of a generated human that looks at a ball."""
    yield from hands.sidebar()
    demo = build_scene()
    hands.window.scene = demo.scene
    load("rig.look_at.edit").add(scene(), human(), "head", demo.ball)
    scene().frame_set(AT)
    for name, edit in _edits():
        yield 0.6
        assert (yield from hands.until(lambda: state() == "SOLVED", 60.0)), state()
        scene().frame_set(AT)
        yield 0.3
        took, before = unit(hands), facing()
        seen, verified = yield from _answered(edit)
        print(
            f"key of the {name}: seen after {seen:.2f} s, {seen / took:.1f} times a plain loop and a drawing; "
            f"verified after {verified:.2f} s, {verified / took:.1f} times"
        )
        assert turned(facing(), before) > 0.2, f"the key of the {name} changes nothing"
        assert seen < SEEN * took, f"a key of the {name} is seen after {seen / took:.1f} times {took:.2f} s"
        assert verified < VERIFIED * took, (
            f"a key of the {name} is verified after {verified / took:.1f} times {took:.2f} s"
        )


@contextmanager
def _in_no_hurry() -> Iterator[None]:
    """However busy the machine is, what should be done in the turn of an edit is, and no progress is drawn. A viewport
    is drawn once for what is new in it."""
    live, system = load("rig.layers.live"), bpy.context.preferences.system
    smoothed, system.viewport_aa = system.viewport_aa, "OFF"
    names = "_AT_ONCE", "_GIVEN_UP", "_REDRAW"
    before = [getattr(live, name) for name in names]
    for name in names:
        setattr(live, name, 1e3)
    try:
        yield
    finally:
        system.viewport_aa = smoothed
        for name, value in zip(names, before, strict=True):
            setattr(live, name, value)


@script(needs=LIVE)
def viewports_are_drawn_with_the_key_and_once_it_is_verified(hands: Hands) -> Waiting:
    """Not in between: drawing takes longer than the work. What becomes of a key is seen with it."""
    demo = build_scene()
    hands.window.scene = demo.scene
    load("rig.look_at.edit").add(scene(), human(), "head", demo.ball)
    drawn: list[np.ndarray] = []

    def is_drawn() -> bool:
        return state() == "SOLVED" and len(drawn) > 1

    handle = bpy.types.SpaceView3D.draw_handler_add(lambda: drawn.append(facing()), (), "WINDOW", "PRE_VIEW")
    try:
        with clicking(), _in_no_hurry():
            for turn, (name, edit) in enumerate(_edits()):
                scene().frame_set(AT)
                yield 0.6
                assert (yield from hands.until(lambda: state() == "SOLVED", 60.0)), state()
                yield 0.5
                drawn.clear()
                yield from click(hands, edit, name)
                assert (yield from hands.until(is_drawn, 60.0)), (state(), len(drawn))
                if turn % 2:
                    # What the rig adds was learned from the one before.
                    off = turned(drawn[0], drawn[-1])
                    assert len(drawn) == 2, f"key of the {name}: drawn {len(drawn)} times"
                    assert off < SEEN_OFF, f"key of the {name}: at first {off:.3f} degrees off"
    finally:
        bpy.types.SpaceView3D.draw_handler_remove(handle, "WINDOW")


@script(needs=LIVE)
def what_an_edit_takes_before_it_is_drawn_counts_for_its_turn(hands: Hands) -> Waiting:
    """No slice of work follows in the same turn of the window's loop."""
    demo = build_scene()
    hands.window.scene = demo.scene
    load("rig.look_at.edit").add(scene(), human(), "head", demo.ball)
    yield 0.6
    assert (yield from hands.until(lambda: state() == "SOLVED", 60.0)), state()
    live, kept, done = load("rig.layers.live"), load("rig.layers.live_scene").LiveScene, []
    refresh, advance = kept.refresh, live._advance

    def slow(self: object, *arguments: object, **options: object) -> None:
        refresh(self, *arguments, **options)
        if live._is_before_drawing and "edit" not in done:
            until = time.thread_time() + 0.2
            while time.thread_time() < until:
                pass
            done.append("edit")

    def noted(*arguments: object, **options: object) -> bool:
        done.extend(["slice"] * ("edit" in done and not live._is_before_drawing))
        return advance(*arguments, **options)

    handle = bpy.types.SpaceView3D.draw_handler_add(lambda: done.append("drawn"), (), "WINDOW", "PRE_VIEW")
    kept.refresh, live._advance = slow, noted
    try:
        with clicking():
            settings = human().pose.bones["head"].lookat_pd
            yield from click(hands, lambda: setattr(settings.eyes, "use", not settings.eyes.use), "eyes")
            assert (yield from hands.until(lambda: "slice" in done and state() == "SOLVED", 60.0)), (state(), done)
    finally:
        kept.refresh, live._advance = refresh, advance
        bpy.types.SpaceView3D.draw_handler_remove(handle, "WINDOW")
    assert "drawn" in done[done.index("edit") : done.index("slice")], done
