"""Solving the look-ats of a scene from samples that are there, over more and more frames."""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import bpy

from standalone import load

from . import scenes, solver
from .extension import finish, registered
from .rows import Goal, Row
from .timing import clocked, shortest

scene_solve = load("rig.look_at.scene_solve")
kinds = load("rig.layers.kinds")
look_at_solve = load("rig.look_at.look_at_solve")

FRAMES = (250, 1_000, 4_000, 10_000)
REPEATS = 3


def solve(scene: bpy.types.Scene, characters: Sequence[Any], frames: int) -> Callable[[], float]:
    """Time to solve look-ats anew from samples that are there, as when a slider is moved."""
    solves = [look_at_solve.LookAtSolve(character.look_at, 1) for character in characters]
    together = scene_solve.SceneSolve(scene, 1, frames, solves)
    finish(together.steps(solves))

    def work() -> float:
        for one in solves:
            one.stale = kinds.SETTINGS
        begin = perf_counter()
        finish(together.steps(solves))
        return perf_counter() - begin

    return work


def run() -> list[Row]:
    """The table of scene solves: each beside the solver alone, with a chain of as many bones that looks at a target at
    as many frames."""
    with registered():
        return [row for frames in FRAMES for row in _rows(frames)]


def _rows(frames: int) -> list[Row]:
    scene = scenes.empty_file()
    character = scenes.chain_character(scene, frames)
    works = {"scene": solve(scene, [character], frames), "solver": clocked(solver.solve(frames, solver.ALWAYS))}
    times = shortest(works, REPEATS)
    group, ratio = f"{scenes.BONES} bones, {frames:,} frames", times["scene"] / times["solver"]
    return [
        Row(f"scene_solve.{frames}.solver", "the solver alone", times["solver"], group=group),
        Row(f"scene_solve.{frames}", "the scene solve", times["scene"], ratio, "the solver", Goal(2), group),
    ]
