"""The live look-at: from a slider to the pose, what playback costs, and what it costs where there is none."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import bpy
import scenes
from bake import FRAMES, SKIN, medians, quiet

from standalone import load

live = load("rig.live")

REPEATS = 60
ROUNDS = 7
IDLE = 2_000
SECONDS = 0.6

Row = tuple[str, str]


def slider(scene: bpy.types.Scene, character: Any) -> Callable[[], float]:
    """Time from a changed settle time to the evaluated pose; another one each time."""
    settings = character.armature.pose.bones[character.bones[0]].lookat_pd
    turn = iter(range(10_000))

    def work() -> float:
        begin = perf_counter()
        settings.settle_time = SECONDS + 0.001 * next(turn)
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
    """Rows of (what, figure)."""
    with quiet():
        load().register()
        try:
            return _rows()
        finally:
            load().unregister()


def _rows() -> list[Row]:
    scene = scenes.empty_file()
    scene.frame_end = FRAMES
    rows = [("A frame change without any look-at", f"{1e6 * idle(scene):.1f} µs (goal: under 100)")]
    character = scenes.chain_character(scene, FRAMES)
    scene.frame_set(FRAMES // 2)
    works = {"slider": slider(scene, character)}
    time = medians(works, REPEATS)["slider"]
    what = f"{scenes.BONES} bones, {FRAMES} frames"
    rows.append((f"{what}: from the slider to the evaluated pose", f"{1e3 * time:.1f} ms (goal: under 16)"))
    rows += _playback(f"{what}, a bare armature", scene, character)
    scenes.skin(scene, character, *SKIN)
    rows += _playback(f"{what}, beside a skinned mesh of {SKIN[0] * SKIN[1]:,} vertices", scene, character)
    return rows


def _playback(what: str, scene: bpy.types.Scene, character: Any) -> list[Row]:
    works = {
        "without": playback(scene, character, looking=False),
        "with": playback(scene, character, looking=True),
    }
    times = medians(works, ROUNDS)
    ratio = times["with"] / times["without"]
    return [
        (f"{what}: a frame of playback, muted", f"{1e3 * times['without']:.3f} ms"),
        ("... with the look-at", f"{1e3 * times['with']:.3f} ms, {ratio:.2f} times (goal: at most 1.15)"),
    ]
