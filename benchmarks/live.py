"""The live look-at: from a slider to the pose, what playback costs, and what it costs where there is none."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import bpy

from standalone import load

from . import scenes, solver
from .bake import BESIDE_A_MESH, FRAMES, SKIN
from .extension import registered
from .rows import SECONDS, Goal, Row
from .timing import clocked, shortest

live = load("rig.live.handlers")

REPEATS = 60
ROUNDS = 7
IDLE = 2_000
SETTLE_TIME = 0.6


def slider(scene: bpy.types.Scene, character: Any) -> Callable[[], float]:
    """Time from a changed settle time to the evaluated pose; another one each time."""
    settings = character.armature.pose.bones[character.bones[0]].lookat_pd
    turn = iter(range(10_000))

    def work() -> float:
        begin = perf_counter()
        settings.settle_time = SETTLE_TIME + 0.001 * next(turn)
        scene.view_layers[0].update()
        character.armature.evaluated_get(scene.view_layers[0].depsgraph).pose.bones[0].matrix.copy()
        return perf_counter() - begin

    return work


def playback(scene: bpy.types.Scene, character: Any, *, looking: bool) -> Callable[[], float]:
    """Time of a frame, played through with the look-at or with it muted."""
    settings = character.armature.pose.bones[character.bones[0]].lookat_pd

    def work() -> float:
        settings.mute = not looking
        scene.frame_set(1)
        begin = perf_counter()
        for frame in range(1, FRAMES + 1):
            scene.frame_set(frame)
        return (perf_counter() - begin) / FRAMES

    return work


def idle(scene: bpy.types.Scene) -> float:
    """Time that the handler takes at a frame change in a file without look-ats."""
    live.update(scene, playing=True)
    begin = perf_counter()
    for _ in range(IDLE):
        live.update(scene, playing=True)
    return (perf_counter() - begin) / IDLE


def run() -> list[Row]:
    """The table of the live look-at."""
    with registered(playing=True):
        return _rows()


def _rows() -> list[Row]:
    scene = scenes.empty_file()
    scene.frame_end = FRAMES
    rows = [Row("live.idle", "A frame change without any look-at", idle(scene), goal=Goal(100e-6, SECONDS))]
    character = scenes.chain_character(scene, FRAMES)
    scene.frame_set(FRAMES // 2)
    works = {"solver": clocked(solver.solve(FRAMES)), "slider": slider(scene, character)}
    times = shortest(works, REPEATS)
    group = f"{scenes.BONES} bones, {FRAMES} frames"
    slid, ratio = times["slider"], times["slider"] / times["solver"]
    rows += [
        Row("live.solver", "the solver alone", times["solver"], group=group),
        Row("live.slider", "slider to evaluated pose", slid, ratio, "the solver", Goal(16e-3, SECONDS), group),
        *_playback("bare", f"{group}, a bare armature", scene, character),
    ]
    scenes.skin(scene, character, *SKIN)
    return rows + _playback("mesh", f"{group}, {BESIDE_A_MESH}", scene, character)


def _playback(key: str, group: str, scene: bpy.types.Scene, character: Any) -> list[Row]:
    works = {
        "without": playback(scene, character, looking=False),
        "with": playback(scene, character, looking=True),
    }
    times = shortest(works, ROUNDS)
    ratio = times["with"] / times["without"]
    return [
        Row(f"live.{key}.muted", "a frame of playback, muted", times["without"], group=group),
        Row(f"live.{key}", "a frame of playback, with the look-at", times["with"], ratio, "muted", Goal(1.15), group),
    ]
