"""What each layer of the body costs on top of the plain look-at, and what a hundred characters cost."""

from collections.abc import Sequence
from typing import Any

from standalone import load

from . import scenes
from .bake import FRAMES
from .extension import registered
from .rows import Goal, Row
from .scene_solve import solve
from .timing import shortest

layers = load("rig.look_at.body.layers")

REPEATS = 25
CROWD, CROWD_FRAMES, CROWD_REPEATS = 100, 100, 2
LAYERS = ("weight", "arms", "feet", "eyes")
WHOLE = "everything"


def _switch_on(characters: Sequence[Any], wanted: Sequence[str]) -> None:
    """These layers of the body on, all others off."""
    for character in characters:
        settings = character.armature.pose.bones[character.bones[0]].lookat_pd
        for layer in layers.LAYERS.values():
            setattr(getattr(settings, layer.group), layer.switch, False)
        layers.switch_on(settings, wanted)


def _solve(scene, characters: Sequence[Any], wanted: Sequence[str], frames: int):
    _switch_on(characters, wanted)
    return solve(scene, characters, frames)


def run() -> list[Row]:
    """The table of the whole body."""
    with registered():
        return [*_layers(), *_crowd()]


def _layers() -> list[Row]:
    scene = scenes.empty_file()
    character = scenes.chain_character(scene, FRAMES, body=True)
    kinds = {"plain": (), **{layer: (layer,) for layer in LAYERS}, WHOLE: LAYERS}
    times = shortest({name: _solve(scene, [character], wanted, FRAMES) for name, wanted in kinds.items()}, REPEATS)
    group = f"Whole body, {scenes.BONES} bones, {FRAMES} frames"
    rows = [Row("body.plain", "the plain look-at, solved", times["plain"], group=group)]
    for name in (*LAYERS, WHOLE):
        goal = Goal(3) if name == WHOLE else None
        ratio = times[name] / times["plain"]
        rows.append(Row(f"body.{name}", f"with {name}", times[name], ratio, "the plain look-at", goal, group))
    return rows


def _crowd() -> list[Row]:
    scene = scenes.empty_file()
    crowd = [scenes.chain_character(scene, CROWD_FRAMES, n, body=True) for n in range(CROWD)]
    kinds = {"plain": (), WHOLE: LAYERS}
    works = {name: _solve(scene, crowd, wanted, CROWD_FRAMES) for name, wanted in kinds.items()}
    times = shortest(works, CROWD_REPEATS)
    group = f"Whole bodies, {CROWD} characters, {CROWD_FRAMES} frames"
    ratio = times[WHOLE] / times["plain"]
    return [
        Row("body.crowd.plain", "plain look-ats, solved", times["plain"], group=group),
        Row("body.crowd.everything", f"with {WHOLE}", times[WHOLE], ratio, "plain look-ats", Goal(3), group),
    ]
