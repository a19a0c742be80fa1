"""The live look-at: from a slider to the pose, what playback costs, and what it costs where there is none."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import bpy

from standalone import load

from . import edits, offset_curves, scenes, solver
from .bake import BESIDE_A_MESH, FRAMES, SKIN
from .extension import registered
from .rows import SECONDS, Goal, Row
from .timing import clocked, shortest

live = load("rig.layers.live")

REPEATS = 60
FEW = 5
ROUNDS = 7
IDLE = 2_000
CAST, UPDATES = 10, 100
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
        return scenes.played(scene, FRAMES)

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
        *_playback("bare", f"{group}, a bare armature", scene, character, 1.5),
    ]
    rows += _at_rest()
    scene = scenes.empty_file()
    scene.frame_end = FRAMES
    character = scenes.chain_character(scene, FRAMES)
    scenes.skin(scene, character, *SKIN)
    rows += _playback("mesh", f"{group}, {BESIDE_A_MESH}", scene, character, 1.1)
    return rows + offset_curves.rows() + _rigify() + edits.rows()


def _at_rest() -> list[Row]:
    """What look-ats that are solved cost where something is moved that has nothing to do with them."""
    scene = scenes.empty_file()
    scene.frame_end = FRAMES
    cast = [scenes.chain_character(scene, FRAMES, n) for n in range(CAST)]
    other = bpy.data.objects.new("Other", None)
    scene.collection.objects.link(other)

    def moved(*, looking: bool) -> Callable[[], float]:
        def work() -> float:
            for one in cast:
                one.armature.pose.bones[one.bones[0]].lookat_pd.mute = not looking
            live.finish(scene)
            scene.view_layers[0].update()
            begin = perf_counter()
            for _ in range(UPDATES):
                other.location.x += 0.001
                scene.view_layers[0].update()
            return (perf_counter() - begin) / UPDATES

        return work

    times = shortest({"muted": moved(looking=False), "live": moved(looking=True)}, FEW)
    group = f"{CAST} characters at rest"
    ratio = times["live"] / times["muted"]
    return [
        Row("live.rest.muted", "another object is moved, their look-ats muted", times["muted"], group=group),
        Row("live.rest", "another object is moved", times["live"], ratio, "muted", group=group),
    ]


def _rigify() -> list[Row]:
    """A control rig, whose result is verified on the evaluated rig."""
    human = scenes.rigify_human(scenes.empty_file())
    # The demo's human has a scene of its own.
    scene = bpy.context.scene
    group = f"A generated Rigify rig of {len(human.armature.pose.bones)} bones, {FRAMES} frames"
    works = {"slider": slider(scene, human), "stepping": clocked(lambda: step(scene))}
    times = shortest(works, FEW)
    share = {name: times[name] / times["stepping"] for name in works}
    rows = [
        Row("live.rigify.stepping", "stepping the whole rig once", times["stepping"], group=group),
        Row("live.rigify.slider", "slider to verified pose", times["slider"], share["slider"], "stepping", group=group),
        *_playback("rigify", group, scene, human, 1.1),
    ]
    opened, after = reopened(scene, human), shortest({"stepping": clocked(lambda: step(bpy.context.scene))}, FEW)
    ratio = opened / after["stepping"]
    return [*rows, Row("live.rigify.opened", "file opened to right pose", opened, ratio, "stepping", group=group)]


def step(scene: bpy.types.Scene) -> None:
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)


def reopened(scene: bpy.types.Scene, character: Any) -> float:
    """Time from a file that was opened to the pose of its look-ats."""
    live.finish(scene)
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "live.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
        begin = perf_counter()
        bpy.context.scene.frame_set(FRAMES // 2)
        return perf_counter() - begin


def _playback(key: str, group: str, scene: bpy.types.Scene, character: Any, goal: float) -> list[Row]:
    works = {
        "without": playback(scene, character, looking=False),
        "with": playback(scene, character, looking=True),
    }
    times = shortest(works, ROUNDS)
    ratio = times["with"] / times["without"]
    return [
        Row(f"live.{key}.muted", "a frame of playback, muted", times["without"], group=group),
        Row(f"live.{key}", "a frame of playback, with the look-at", times["with"], ratio, "muted", Goal(goal), group),
    ]
