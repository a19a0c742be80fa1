"""Joining two actions: the whole operation against sampling both clips."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import bpy
import numpy as np

from standalone import load

from . import scenes
from .extension import registered
from .rows import Goal, Row
from .timing import clocked, shortest

join, splice = load("rig.transitions.join"), load("rig.transitions.splice")
sampler = load("rig.sampling.sampler")

BONES, FRAMES, REPEATS = 70, 125, 7


def joining(scene: bpy.types.Scene, armature: bpy.types.Object, clips: tuple[Any, Any]) -> Callable[[], float]:
    """Time of joining two actions into a new one."""

    def work() -> float:
        first, second = join.ClipRef(clips[0], 100), join.ClipRef(clips[1], 1)
        begin = perf_counter()
        made = join.join(armature, first, second, splice.Blend(0.4), assign=False, scene=scene)
        seconds = perf_counter() - begin
        bpy.data.actions.remove(made.action)
        return seconds

    return work


def sampling(scene: bpy.types.Scene, armature: bpy.types.Object) -> Callable[[], float]:
    """Time of sampling all bones over the frames of two clips."""

    def work() -> None:
        for _ in range(2):
            with sampler.Sampler(scene, armature, armature.pose.bones.keys()) as one:
                sampler.run(one.sample(np.arange(1, FRAMES + 1).tolist()))

    return clocked(work)


def run() -> list[Row]:
    """The table of joins."""
    with registered():
        return _rows()


def _rows() -> list[Row]:
    scene = scenes.empty_file()
    character = scenes.chain_character(scene, FRAMES, limbs=BONES - scenes.BONES)
    second = character.action.copy()
    second.name = "Second"
    works = {
        "join": joining(scene, character.armature, (character.action, second)),
        "sampling": sampling(scene, character.armature),
    }
    times = shortest(works, REPEATS)
    group, ratio = f"Two clips of {FRAMES} frames, {BONES} bones", times["join"] / times["sampling"]
    return [
        Row("join.sampling", "sampling both", times["sampling"], group=group),
        Row("join.join", "joining them into a new action", times["join"], ratio, "sampling", Goal(1.5), group),
    ]
