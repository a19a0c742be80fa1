"""Joining two actions: the whole operation against sampling both clips, and against writing it frame by frame."""

from statistics import median
from time import perf_counter

import bpy
import numpy as np
import scenes
from solver import Row

from standalone import load

join, sample, splice = (load(f"rig.{name}") for name in ("transitions.join", "sample", "transitions.splice"))
BONES, FRAMES, REPEATS = 70, 125, 7


def run() -> list[Row]:
    """Rows of (what, figure)."""
    load().register()
    try:
        return _run()
    finally:
        load().unregister()


def _run() -> list[Row]:
    scene = scenes.empty_file()
    character = scenes.chain_character(scene, FRAMES, limbs=BONES - scenes.BONES)
    armature, first = character.armature, character.action
    second = first.copy()
    second.name = "Second"
    joining, sampling = [], []
    for _ in range(REPEATS + 1):
        begin = perf_counter()
        made = join.join(
            armature, join.ClipRef(first, 100), join.ClipRef(second, 1), splice.Blend(0.4), assign=False, scene=scene
        )
        joining.append(perf_counter() - begin)
        bpy.data.actions.remove(made.action)
        begin = perf_counter()
        for _clip in (first, second):
            with sample.Sampler(scene, armature, armature.pose.bones.keys()) as sampler:
                sample.run(sampler.sample(np.arange(1, FRAMES + 1).tolist()))
        sampling.append(perf_counter() - begin)
    here, floor = median(joining[1:]), median(sampling[1:])
    of = f"two clips of {FRAMES} frames, {BONES} bones"
    return [
        (f"Sampling {of}", f"{1e3 * floor:.1f} ms"),
        ("... joining them into a new action", f"{1e3 * here:.1f} ms, {here / floor:.2f} times (goal: at most 1.5)"),
    ]
