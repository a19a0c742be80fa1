"""Baking inverse kinematics: against Blender's own constraint and bake, and the solvers beside each other."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import bpy
import numpy as np
import scenes
from bake import SKIN, finish, medians, nla_bake, play_own_action, quiet
from solver import Row

from standalone import load

ik_bake, chains, goals, solving, look_at_edit, sample, baking = (
    load(f"rig.{name}") for name in ("ik.bake", "ik.chain", "ik.goals", "ik.solving", "look_at_edit", "sample", "bake")
)

FRAMES, LENGTH, REPEATS = 1_000, 5, 3
BLENDERS_ITERATIONS = 500
"""What Blender gives a new constraint."""


def character() -> Any:
    """A chain character whose upper five bones can reach what flies about near its head."""
    scene = scenes.empty_file()
    scene.frame_end = FRAMES
    made = scenes.chain_character(scene, FRAMES)
    look_at_edit.remove(made.armature, made.bones[0])
    top = scenes.BONES * 0.18
    for curve in made.target.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for point in curve.keyframe_points:
            phase = 2.0 * np.pi * point.co.x / 100.0
            ways = (0.25 * np.sin(phase), 0.25 * np.cos(1.7 * phase), top - 0.35 + 0.1 * np.sin(0.7 * phase))
            point.co.y = ways[curve.array_index]
        curve.update()
    return made


def ours(made: Any, method: str = "ccd_root", iterations: int = 30) -> Callable[[], float]:
    """Time of the whole bake into a new action."""

    def work() -> float:
        begin = perf_counter()
        result(made, method, iterations)
        seconds = perf_counter() - begin
        play_own_action(made)
        return seconds

    return work


def result(made: Any, method: str, iterations: int, *, verify: bool = False) -> Any:
    chain = chains.resolve(made.armature, made.bones[0], length=LENGTH)
    return finish(
        ik_bake.bake_goal(
            bpy.context.scene,
            chain,
            goals.Goal(sample.Target(made.target)),
            solving.Tuning(method, iterations),
            baking.Options(1, FRAMES),
            verify=verify,
        )
    )


def blenders(made: Any) -> Callable[[], float]:
    """Time of `bpy.ops.nla.bake` with an IK constraint on the same bones and target."""

    def work() -> float:
        armature = made.armature
        bpy.context.view_layer.objects.active = armature
        bpy.ops.object.mode_set(mode="POSE")
        for bone in armature.pose.bones:
            (bone if hasattr(bone, "select") else bone.bone).select = bone.name in made.bones[:LENGTH]
        tip = armature.pose.bones[made.bones[0]]
        constraint = tip.constraints.new("IK")
        constraint.target, constraint.chain_count, constraint.iterations = made.target, LENGTH, BLENDERS_ITERATIONS
        errors["constraint"] = off(made)
        seconds = nla_bake(FRAMES)
        tip.constraints.remove(constraint)
        bpy.ops.object.mode_set(mode="OBJECT")
        play_own_action(made)
        return seconds

    errors = work.errors = {}
    return work


def off(made: Any) -> float:
    """Median distance of the evaluated tip from the target over some frames, with what is played now."""
    found = []
    for frame in range(1, FRAMES, 50):
        bpy.context.scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        seen = made.armature.evaluated_get(depsgraph)
        tip = seen.matrix_world @ seen.pose.bones[made.bones[0]].tail
        found.append((tip - made.target.evaluated_get(depsgraph).matrix_world.translation).length)
    return float(np.median(found))


def run() -> list[Row]:
    """Rows of (what, figure)."""
    load().register()
    try:
        with quiet():
            rows = _rows()
    finally:
        load().unregister()
    return rows


def _rows() -> list[Row]:
    rows = []
    for what, heavy in (
        ("and nothing else", False),
        (f"beside a skinned mesh of {SKIN[0] * SKIN[1]:,} vertices", True),
    ):
        made = character()
        if heavy:
            scenes.skin(bpy.context.scene, made, *SKIN)
        bpy.context.scene.frame_set(1)
        theirs = blenders(made)
        times = medians({"ours": ours(made), "nla.bake": theirs}, 1 if heavy else REPEATS)
        here = result(made, "ccd_root", 30, verify=True)
        play_own_action(made)
        faster = times["nla.bake"] / times["ours"]
        goal = " (goal: at least 10)" if heavy else ""
        rows += [
            (
                f"IK of {LENGTH} bones over {FRAMES} frames, {what}: Blender's constraint and `bpy.ops.nla.bake`",
                f"{1e3 * times['nla.bake']:,.0f} ms, median error {1e3 * theirs.errors['constraint']:.3f} mm",
            ),
            (
                "... the IK bake",
                f"{1e3 * times['ours']:,.0f} ms, median error {1e3 * here.median_error:.3f} mm, {faster:.1f} times "
                f"faster{goal}",
            ),
        ]
    made = character()
    for method in solving.METHODS:
        time = medians({"bake": ours(made, method)}, 1)["bake"]
        found = result(made, method, 30, verify=True)
        play_own_action(made)
        within = float(np.mean(found.error[found.in_reach] < 1e-3))
        rows.append(
            (
                f"... {method}, at most 30 iterations",
                f"{1e3 * time:,.0f} ms, median error {1e3 * found.median_error:.3f} mm, within 1 mm {within:.1%}",
            )
        )
    return rows
