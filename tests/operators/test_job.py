"""Operators that work in slices: what comes of them is put into the file in a turn of the window's loop of its own."""

import time
from collections.abc import Generator

import bpy
import pytest

from extension import load

from ..rig import scenes
from ..rig.transitions.motions import character, use, walk

job = load("operators.job")
join = load("rig.transitions.join")
locomotion = load("rig.transitions.locomotion")
loop = load("rig.transitions.loop")


class Work(job.ModalJob):
    """An operator without an instance of Blender's."""

    def __init__(self, steps: Generator[float, None, str]) -> None:
        self.job, self.result = steps, ""

    def progress(self, percent: str) -> str:
        return percent

    def finish(self, context: bpy.types.Context, result: str) -> None:
        self.result = result


def turns(work: float) -> int:
    """How many turns it takes to work for so many seconds of processor and to put the result into the file."""

    def steps() -> Generator[float, None, str]:
        begin = time.perf_counter()
        while time.perf_counter() - begin < work:
            yield 0.5
        yield 1.0
        return "done"

    operator, count = Work(steps()), 1
    while "RUNNING_MODAL" in operator._advance(bpy.context, 10.0):
        count += 1
    assert operator.result == "done"
    return count


def test_what_comes_of_a_job_has_a_turn_of_its_own() -> None:
    assert turns(0.0) == 1 and turns(0.05) == 2


@pytest.mark.every_blender
def test_cancelled_before_its_last_turn_a_job_leaves_nothing() -> None:
    armature = character()
    action, other = walk(armature, "Walk"), walk(armature, "Other", seed=2)
    use(armature, action)
    scene, before = bpy.context.scene, scenes.snapshot()
    for make in (
        lambda: loop.looping(armature, action, scene=scene),
        lambda: locomotion.making_in_place(scene, armature, action),
        lambda: join.joining(armature, join.ClipRef(action, 20), join.ClipRef(other, 3), scene=scene),
    ):
        steps = make()
        while next(steps) < 1.0:
            pass
        steps.close()
        assert not scenes.differences(before, scenes.snapshot())
