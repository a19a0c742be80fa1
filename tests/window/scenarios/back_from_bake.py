"""Bake and back: what the panel says of a baked look-at, and how quickly what is solved becomes keys."""

import time
from collections.abc import Callable

import bpy
import numpy as np
from character import select, settled
from edited_keys import unit
from in_hand import _human, _human_looks, _scene, _state, _work
from windowed.hands import SIDEBAR, Hands, NotThere, Waiting
from windowed.scripts import script

from extension import load

LIVE = ("rig.layers.live",)
FRAMES = (1, 30, 60, 125, 250)
TALK_SEEN, TALK_VERIFIED = 12.0, 80.0
"""Most time after the settle time of one who talks was moved, in units of `unit`: about 0.3 and 2 s on a quiet machine
on which a plain loop takes 50 ms."""


def _settings():
    return _human().pose.bones["head"].lookat_pd


def _poses() -> np.ndarray:
    """Matrices of the human at some frames, as Blender evaluates them."""
    found = []
    for frame in FRAMES:
        _scene().frame_set(frame)
        layer = bpy.context.window_manager.windows[0].view_layer
        found.append([np.array(bone.matrix) for bone in _human().evaluated_get(layer.depsgraph).pose.bones])
    return np.array(found)


@script(needs=LIVE)
def baked_and_edited_live_again(hands: Hands) -> Waiting:
    """A solved human: the bake solves and redraws nothing; the panel names the action and leads back; undo."""
    # A target that moves: else the bake is one of a cycle, which the live look-at does not know.
    yield from _human_looks(hands, moving=True)
    select(_human())
    bpy.ops.ed.undo_push(message="Human")
    yield from settled(hands)
    source = _human().animation_data.action.name
    seen = _poses()
    yield from settled(hands)
    button = yield from hands.find("lookat_pd.bake")
    yield from hands.hover((button.x, button.y))
    yield 0.5
    draws: list[float] = []
    count = bpy.types.SpaceView3D.draw_handler_add(
        lambda: draws.append(time.perf_counter()), (), "WINDOW", "POST_PIXEL"
    )
    with _work() as done:
        begin = time.perf_counter()
        yield from hands.button("PRESS")
        yield from hands.button("RELEASE")
        assert (yield from hands.until(lambda: _settings().mute, 20.0)), "the bake does not end"
        spent, drawn = time.perf_counter() - begin, len(draws)
    bpy.types.SpaceView3D.draw_handler_remove(count, "WINDOW")
    print(f"bake of a solved human: {spent:.2f} s, {drawn} draws")
    assert "build" not in done, "the rig was copied to be sampled"
    assert drawn <= 4, f"{drawn} draws"
    yield 0.5
    name = _human().animation_data.action.name
    assert name != source
    np.testing.assert_allclose(_poses(), seen, atol=1e-4)
    interface = bpy.context.preferences.view
    for language in ("ja_JP", "en_US"):
        interface.language = language
        yield 0.5
        hands.look(f"baked {language}")
    try:
        yield from hands.find("settle_time")
    except NotThere:
        pass
    else:
        raise AssertionError("settings without an effect are shown")
    yield from hands.find("lookat_pd.remove")
    yield from hands.click((yield from hands.find("lookat_pd.edit_live")))
    yield 0.2
    assert not _settings().mute and _human().animation_data.action.name == source
    assert (yield from hands.until(lambda: _state() == "SOLVED")), _state()
    np.testing.assert_allclose(_poses(), seen, atol=1e-5)
    assert name in bpy.data.actions
    hands.look("live again")
    yield from hands.undo()
    assert _settings().mute and _human().animation_data.action.name == name
    yield from hands.undo()
    assert not _settings().mute and _human().animation_data.action.name == source


@script(needs=LIVE)
def live_on_top_of_its_own_bake(hands: Hands) -> Waiting:
    """A script unmutes a baked look-at: the panel says that it is added twice, and leads back."""
    yield from _human_looks(hands)
    select(_human())
    yield 0.3
    with hands.override():
        bpy.ops.lookat_pd.bake("EXEC_DEFAULT", True)
    assert _settings().mute
    _settings().mute = False
    hands.region(SIDEBAR).tag_redraw()
    yield 0.5
    found = load("rig.look_at.edit_live").baked(_human(), "head")
    assert found is not None
    hands.look("twice")
    yield from hands.click((yield from hands.find("lookat_pd.edit_live")))
    yield 0.2
    assert not _settings().mute and load("rig.look_at.edit_live").baked(_human(), "head") is None


def _settle_time_of_one_moved(hands: Hands, person: bpy.types.Object, solved: Callable[[], bool]) -> Waiting:
    """It is solved once: that a partner turns the head as was found is no edit."""
    live_scene, took = load("rig.layers.live_scene").LiveScene, unit(hands)
    begin, advance = live_scene.begin, live_scene.advance
    begun: list[float] = []
    found: list[float] = []

    def counted(self) -> None:
        begun.append(time.perf_counter())
        begin(self)

    def watched(self, *given, **named) -> bool:
        done = advance(self, *given, **named)
        if self.found or self.news or done:
            found.append(time.perf_counter())
        return done

    live_scene.begin, live_scene.advance = counted, watched
    try:
        started = time.perf_counter()
        person.pose.bones["head"].lookat_pd.settle_time = 0.45
        yield 0.1
        assert (yield from hands.until(solved, 120.0)), "not solved"
    finally:
        live_scene.begin, live_scene.advance = begin, advance
    seen, verified = found[0] - started, found[-1] - started
    print(
        f"settle time in a talk: seen after {seen:.2f} s, {seen / took:.1f} times a plain loop and a drawing; "
        f"verified after {verified:.2f} s, {verified / took:.1f} times"
    )
    assert len(begun) == 1, f"it was begun {len(begun)} times"
    assert seen < TALK_SEEN * took and verified < TALK_VERIFIED * took


@script(needs=LIVE)
def solved_talk_baked_at_once(hands: Hands) -> Waiting:
    """Two Rigify people talk, solved and verified: both are baked by one button without solving or drawing, and go back
    by one."""
    yield from hands.sidebar()
    scene = bpy.data.scenes.new("Talk")
    hands.window.scene = scene
    talk = load("assets.demo.conversation").build_scene(scene)
    names = [person.name for person in talk.people]
    select(*talk.people)
    live = load("rig.layers.live")

    def people() -> list[bpy.types.Object]:
        return [bpy.data.objects[name] for name in names]

    def solved() -> bool:
        return all(live.status(_scene(), person, "head").state == "SOLVED" for person in people())

    begin = time.perf_counter()
    assert (yield from hands.until(solved, 120.0)), "not solved"
    print(f"talk of two people over {scene.frame_end} frames: solved after {time.perf_counter() - begin:.1f} s")
    yield 1.0
    assert (yield from hands.until(solved, 60.0))
    yield from _settle_time_of_one_moved(hands, people()[0], solved)
    yield 1.0
    assert (yield from hands.until(solved, 60.0))
    sources = [person.animation_data.action.name for person in people()]
    yield from hands.hover(hands.inside(SIDEBAR, 0.5, 0.1))
    yield 0.5
    draws: list[float] = []
    count = bpy.types.SpaceView3D.draw_handler_add(lambda: draws.append(0.0), (), "WINDOW", "POST_PIXEL")
    with _work() as done, hands.override():
        begin = time.perf_counter()
        bpy.ops.lookat_pd.bake("INVOKE_DEFAULT", True)
        yield 0.0
        assert (yield from hands.until(lambda: not hands.at_work, 60.0)), "the bake does not end"
        spent = time.perf_counter() - begin
    bpy.types.SpaceView3D.draw_handler_remove(count, "WINDOW")
    print(f"bake of the solved talk: {spent:.2f} s, {len(draws)} draws")
    assert all(person.pose.bones["head"].lookat_pd.mute for person in people())
    assert "build" not in done, "rigs were copied to be sampled"
    assert len(draws) <= 6, f"{len(draws)} draws"
    hands.look("talk baked")
    yield 0.5
    yield from hands.click((yield from hands.find("lookat_pd.edit_live")))
    yield 0.2
    assert not any(person.pose.bones["head"].lookat_pd.mute for person in people())
    assert [person.animation_data.action.name for person in people()] == sources
