"""What each layer of the body costs on top of the plain look-at, and what a hundred characters cost."""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import bpy
import scenes
from bake import FRAMES, medians, quiet

from standalone import load

layers = load("rig.body.layers")
live, part, solving = (load(f"rig.{name}") for name in ("live", "part", "solving"))

REPEATS = 25
CROWD, CROWD_FRAMES, CROWD_REPEATS = 100, 100, 3
WHOLE = "everything"

Row = tuple[str, str]


def solve(scene: bpy.types.Scene, characters: Sequence[Any], wanted: Sequence[str], frames: int) -> Callable[[], float]:
    """Time to solve look-ats anew from samples that are there, with these layers on, as when a slider is moved."""
    parts = []
    for character in characters:
        settings = character.armature.pose.bones[character.bones[0]].lookat_pd
        for group, switch in layers.LAYERS.values():
            setattr(getattr(settings, group), switch, False)
        layers.switch_on(settings, wanted)
        parts.append(part.Part(character.look_at, 1))
    shot = solving.Shot(scene, 1, frames, parts)
    _finish(shot.steps(parts))

    def work() -> float:
        for one in parts:
            one.stale = part.SETTINGS
        begin = perf_counter()
        _finish(shot.steps(parts))
        return perf_counter() - begin

    return work


def _finish(steps: Any) -> None:
    for _ in steps:
        pass


def _rows() -> list[Row]:
    with live.paused():
        return [*_layers(), *_crowd()]


def _layers() -> list[Row]:
    scene = scenes.empty_file()
    character = scenes.chain_character(scene, FRAMES, body=True)
    kinds = {"plain": (), **{layer: (layer,) for layer in ("weight", "arms", "feet", "eyes")}}
    kinds[WHOLE] = ("weight", "arms", "feet", "eyes")
    works = {name: solve(scene, [character], wanted, FRAMES) for name, wanted in kinds.items()}
    times = medians(works, REPEATS)
    found = [(f"{scenes.BONES} bones, {FRAMES} frames: the plain look-at, solved", f"{1e3 * times['plain']:.1f} ms")]
    for name in list(kinds)[1:]:
        goal = " (goal: at most 3)" if name == WHOLE else ""
        ratio = times[name] / times["plain"]
        found.append((f"... with {name}", f"{1e3 * times[name]:.1f} ms, {ratio:.2f} times{goal}"))
    return found


def _crowd() -> list[Row]:
    scene = scenes.empty_file()
    crowd = [scenes.chain_character(scene, CROWD_FRAMES, n, body=True) for n in range(CROWD)]
    works = {
        "plain": solve(scene, crowd, (), CROWD_FRAMES),
        WHOLE: solve(scene, crowd, ("weight", "arms", "feet", "eyes"), CROWD_FRAMES),
    }
    times = medians(works, CROWD_REPEATS)
    what = f"{CROWD} characters, {CROWD_FRAMES} frames"
    return [
        (f"{what}: plain look-ats, solved", f"{times['plain']:.2f} s"),
        (f"... with {WHOLE}", f"{times[WHOLE]:.2f} s, {times[WHOLE] / times['plain']:.2f} times"),
    ]


def run() -> list[Row]:
    """Rows of (what, figure)."""
    with quiet():
        load().register()
        try:
            return _rows()
        finally:
            load().unregister()
