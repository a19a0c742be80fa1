"""The target in the hand: what is seen and what is solved while the target of a look-at is what the mouse holds."""

import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager

import bpy
import numpy as np
from bpy_extras import view3d_utils
from character import select
from rigify_human import build_scene
from rigify_human import facing as _facing
from rigify_human import human as _human
from rigify_human import scene as _scene
from rigify_human import state as _state
from rigify_human import turned as _turned
from windowed.hands import VIEWPORT, Hands, Waiting
from windowed.scripts import script

from extension import load

LIVE = ("rig.layers.live",)


def _human_looks(hands: Hands, *, moving: bool = False) -> Generator[float, None, str]:
    """The demo's generated Rigify human looks at a ball, without keys unless `moving`; solved. The ball's name."""
    # Before the human is there: the panels of its rig, in the first tab, need Rigify.
    yield from hands.sidebar()
    demo = build_scene()
    hands.window.scene = demo.scene
    if not moving:
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
            yield 1.2
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


@script(needs=LIVE)
def look_at_stays_with_its_target(hands: Hands) -> Waiting:
    """The target is selected by the button: panel, slider and overlay stay, while it is moved too; and back."""
    name = yield from _human_looks(hands)
    select(_human())
    yield 0.3
    yield from hands.click((yield from hands.find("lookat_pd.select_target", across=0.83)))
    ball = bpy.data.objects[name]
    assert hands.window.view_layer.objects.active == ball
    yield 0.3
    yield from hands.find("lookat_pd.select_character", across=0.83)
    slider, seen = (yield from hands.find("settle_time")), []
    settings = _human().pose.bones["head"].lookat_pd
    yield from hands.drag(
        (slider.x, slider.y), (slider.x + 60, slider.y), each=lambda: seen.append(settings.settle_time)
    )
    assert len(set(seen)) > 3, f"the slider does not move: {seen}"
    region, options = hands.region(VIEWPORT), _scene().lookat_pd_overlay
    (x, y), (right, top) = hands.inside(VIEWPORT, 0.1, 0.05), hands.inside(VIEWPORT, 0.72, 0.87)
    pictures = []
    for show in (False, True):
        options.show = show
        region.tag_redraw()
        yield 0.4
        pictures.append(hands.pixels(x, y, right - x, top - y).astype(int))
    assert int(np.any(np.abs(pictures[0] - pictures[1]) > 8, axis=-1).sum()) > 100, "no overlay"
    yield from hands.move(hands.inside(VIEWPORT, 0.3, 0.3))
    yield from hands.key("G")
    yield from hands.move(hands.inside(VIEWPORT, 0.35, 0.35))
    yield 0.3
    hands.look("target in hand")
    yield from hands.key("ESC")
    interface = bpy.context.preferences.view
    interface.language = "ja_JP"
    yield 0.5
    hands.look("target in hand ja")
    interface.language = "en_US"
    yield 0.3
    yield from hands.click((yield from hands.find("lookat_pd.select_character", across=0.83)))
    assert hands.window.view_layer.objects.active == _human()


@script(needs=LIVE)
def target_picked_in_the_viewport(hands: Hands) -> Waiting:
    """The eyedropper: Esc leaves the target, a click on the bird takes it, one undo step gives the ball back."""
    name = yield from _human_looks(hands)
    select(_human())
    yield 0.3
    settings = _human().pose.bones["head"].lookat_pd
    view, region = hands.area("VIEW_3D").spaces.active.region_3d, hands.region(VIEWPORT)
    place = view3d_utils.location_3d_to_region_2d(region, view, bpy.data.objects["Bird"].matrix_world.translation)
    bird = round(region.x + place[0]), round(region.y + place[1])
    for end in ("ESC", "CLICK"):
        yield from hands.click((yield from hands.find("lookat_pd.pick_target", across=0.757)))
        yield 0.2
        yield from hands.move(bird)
        yield 0.3
        hands.look(f"target picked {end}")
        if end == "ESC":
            yield from hands.key("ESC")
            yield 0.2
            assert settings.target.name == name and not hands.at_work
    yield from hands.click(bird)
    yield 0.3
    assert settings.target.name == "Bird", settings.target.name
    assert not hands.at_work
    yield from hands.undo()
    assert _human().pose.bones["head"].lookat_pd.target.name == name


@script(needs=LIVE)
def target_dragged_by_its_handle(hands: Hands) -> Waiting:
    """In pose mode: the handle at the ball, Esc, then a drag with one undo step; bones stay selected, nothing is solved
    while the hand holds still."""
    name = yield from _human_looks(hands)
    select(_human())
    with hands.override():
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.select_all(action="DESELECT")
    _human().data.bones.active = _human().data.bones["chest"]
    bpy.ops.ed.undo_push(message="Pose")
    yield 0.5
    view, region, ball = hands.area("VIEW_3D").spaces.active.region_3d, hands.region(VIEWPORT), bpy.data.objects[name]
    place = view3d_utils.location_3d_to_region_2d(region, view, ball.matrix_world.translation)
    radius = 14
    x, y = round(region.x + place[0]) + radius, round(region.y + place[1])
    before, begin = np.array(ball.location), _facing()
    for end in ("ESC", "RELEASE"):
        yield from hands.hover((x, y))
        yield 0.2
        yield from hands.button("PRESS")
        with _work() as done:
            for step in range(1, 9):
                yield from hands.move((x + 12 * step, y + 6 * step))
                yield 0.05
            assert np.abs(np.array(ball.location) - before).max() > 0.1, "the handle does not move the ball"
            assert _turned(_facing(), begin) > 2.0, f"the head turns by {_turned(_facing(), begin):.1f} degrees"
            yield 1.2
            assert not done, f"while the hand holds still: {len(done)} times {sorted(set(done))}"
        hands.look(f"handle {end}")
        if end == "ESC":
            yield from hands.key("ESC")
        yield from hands.button("RELEASE")
        yield 0.3
        assert _human().mode == "POSE" and not hands.at_work
        if end == "ESC":
            assert np.array_equal(np.array(ball.location), before)
    seen = view3d_utils.location_3d_to_region_2d(region, view, ball.matrix_world.translation)
    assert abs(region.x + seen[0] + radius - (x + 96)) < 3, "the ball is not where it was let go"
    assert (yield from hands.until(lambda: _state() == "SOLVED")), _state()
    yield from hands.undo()
    assert np.allclose(np.array(bpy.data.objects[name].location), before) and _human().mode == "POSE"
    assert (yield from hands.until(lambda: _turned(_facing(), begin) < 0.05)), _turned(_facing(), begin)
