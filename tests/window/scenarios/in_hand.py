"""The target in the hand: what is seen and what is solved while the target of a look-at is what the mouse holds."""

import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager

import bpy
import numpy as np
from character import select
from windowed.hands import VIEWPORT, Hands, Waiting
from windowed.scripts import script

from extension import load

LIVE = ("rig.layers.live",)


def _scene() -> bpy.types.Scene:
    return bpy.context.window_manager.windows[0].scene


def _human() -> bpy.types.Object:
    return bpy.data.objects["Human"]


def _state() -> str:
    return load("rig.layers.live").status(_scene(), _human(), "head").state


def _facing() -> np.ndarray:
    layer = bpy.context.window_manager.windows[0].view_layer
    return np.array(_human().evaluated_get(layer.depsgraph).pose.bones["head"].matrix)[:3, :3]


def _turned(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.degrees(np.linalg.norm(one - other) / np.sqrt(2.0)))


def _human_looks(hands: Hands) -> Generator[float, None, str]:
    """The demo's generated Rigify human, animated, looks at a ball without keys; solved. The name of the ball."""
    # Before the human is there: the panels of its rig, in the first tab, need Rigify.
    yield from hands.sidebar()
    demo = load("assets.demo.human").build_scene()
    hands.window.scene = demo.scene
    demo.ball.animation_data_clear()
    load("rig.look_at.edit").add(_scene(), _human(), "head", demo.ball)
    _scene().frame_set(60)
    with hands.override():
        bpy.ops.view3d.view_axis(type="FRONT")
    view = hands.area("VIEW_3D").spaces.active.region_3d
    view.view_location, view.view_distance = (0.0, 0.0, 1.2), 4.0
    assert (yield from hands.until(lambda: _state() == "SOLVED")), _state()
    bpy.ops.ed.undo_push(message="Begin")
    yield 0.3
    return demo.ball.name


@contextmanager
def _work() -> Iterator[list[str]]:
    """What is done meanwhile that takes long: solving in slices, and copies of rigs."""
    done: list[str] = []
    watched = ((load("rig.layers.live"), "_advance"), (load("rig.sampling.cut_down_rig"), "build"))
    before = [getattr(owner, name) for owner, name in watched]

    def noted(name, function):
        def call(*given, **named):
            done.append(name)
            return function(*given, **named)

        return call

    for (owner, name), function in zip(watched, before, strict=True):
        setattr(owner, name, noted(name, function))
    try:
        yield done
    finally:
        for (owner, name), function in zip(watched, before, strict=True):
            setattr(owner, name, function)


@script(needs=LIVE)
def target_held_with_g(hands: Hands) -> Waiting:
    """G on the target of a human: the head follows, a hand that holds still solves nothing, Esc takes it back."""
    name = yield from _human_looks(hands)
    ball = bpy.data.objects[name]
    select(ball)
    yield 0.3
    begin, place = _facing(), np.array(ball.location)
    x, y = hands.inside(VIEWPORT, 0.3, 0.3)
    for end in ("ESC", "RET"):
        yield from hands.move((x, y))
        yield from hands.key("G")
        with _work() as done:
            for step in range(1, 7):
                yield from hands.move((x + 15 * step, y + 8 * step))
                yield 0.05
            assert _turned(_facing(), begin) > 3.0, f"the head turns by {_turned(_facing(), begin):.1f} degrees"
            yield 2.5
            assert not done, f"while the hand holds still: {len(done)} times {sorted(set(done))}"
            assert _state() == "PREVIEW", _state()
        hands.look(f"target held {end}")
        yield from hands.key(end)
        yield 0.2
        started = time.perf_counter()
        assert (yield from hands.until(lambda: _state() == "SOLVED")), _state()
        print(f"{end}: solved after {time.perf_counter() - started:.2f} s")
        if end == "ESC":
            assert np.allclose(ball.location, place, atol=1e-6)
            assert (yield from hands.until(lambda: _turned(_facing(), begin) < 0.05)), _turned(_facing(), begin)
    assert np.abs(np.array(bpy.data.objects[name].location) - place).max() > 0.1
    yield from hands.undo()
    assert (yield from hands.until(lambda: _turned(_facing(), begin) < 0.05)), _turned(_facing(), begin)
