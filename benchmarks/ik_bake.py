"""Baking inverse kinematics: against Blender's own constraint and bake, and the solvers beside each other."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import bpy
import numpy as np

from standalone import load

from . import scenes
from .bake import BESIDE_A_MESH, SKIN, nla_bake, play_own_action
from .extension import finish, registered
from .rows import SPEEDUP, Goal, Row
from .timing import shortest

MODULES = "chain_bake", "effector_goal", "chain_solve"
chain_bake, effector_goal, chain_solve = (load(f"rig.ik.{name}") for name in MODULES)
joint_chain, look_at_edit = load("rig.detection.joint_chain"), load("rig.look_at.edit")
METHODS = load("lookat_pd.ik").METHODS
targets, bake_options = load("rig.sampling.targets"), load("rig.animation.bake_options")

FRAMES, LENGTH, REPEATS = 1_000, 5, 3
DEFAULT, ITERATIONS = "ccd_root", 30
BLENDERS_ITERATIONS = 500
"""What Blender gives a new constraint."""
THEIRS = "Blender's IK constraint and `bpy.ops.nla.bake`"


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


def ours(made: Any, method: str = DEFAULT) -> Callable[[], float]:
    """Time of the whole bake into a new action."""

    def work() -> float:
        begin = perf_counter()
        result(made, method)
        seconds = perf_counter() - begin
        play_own_action(made)
        return seconds

    return work


def result(made: Any, method: str, *, verify: bool = False) -> Any:
    chain = joint_chain.resolve(made.armature, made.bones[0], length=LENGTH)
    return finish(
        chain_bake.bake_goal(
            bpy.context.scene,
            chain,
            effector_goal.Goal(targets.Target(made.target)),
            chain_solve.IKTuning(method=method, iterations=ITERATIONS),
            bake_options.BakeOptions(1, FRAMES),
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
    distances = []
    for frame in range(1, FRAMES, 50):
        bpy.context.scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        seen = made.armature.evaluated_get(depsgraph)
        tip = seen.matrix_world @ seen.pose.bones[made.bones[0]].tail
        distances.append((tip - made.target.evaluated_get(depsgraph).matrix_world.translation).length)
    return float(np.median(distances))


def run() -> list[Row]:
    """The table of IK bakes."""
    with registered(playing=True):
        return [*_methods(), *_beside_a_mesh()]


def _methods() -> list[Row]:
    made = character()
    bpy.context.scene.frame_set(1)
    theirs = blenders(made)
    times = shortest({"blender": theirs, **{method: ours(made, method) for method in METHODS}}, REPEATS)
    group = f"IK of {LENGTH} bones over {FRAMES:,} frames"
    error = f"median error {1e3 * theirs.errors['constraint']:.3f} mm"
    rows = [Row("ik_bake.blender", THEIRS, times["blender"], group=group, also=error)]
    for method in METHODS:
        baked, ratio = _verified(made, method), times[method] / times["blender"]
        within = float(np.mean(baked.error[baked.in_reach] < 1e-3))
        also = f"median error {1e3 * baked.median_error:.3f} mm, within 1 mm {within:.1%}"
        what = f"{method}, at most {ITERATIONS} iterations"
        rows.append(
            Row(f"ik_bake.{method}", what, times[method], ratio, "Blender", group=group, faster=True, also=also)
        )
    return rows


def _beside_a_mesh() -> list[Row]:
    made = character()
    scenes.skin(bpy.context.scene, made, *SKIN)
    bpy.context.scene.frame_set(1)
    times = shortest({"ours": ours(made), "blender": blenders(made)}, 1)
    group, ratio = f"IK of {LENGTH} bones over {FRAMES:,} frames, {BESIDE_A_MESH}", times["ours"] / times["blender"]
    goal = Goal(10, SPEEDUP)
    return [
        Row("ik_bake.mesh.blender", THEIRS, times["blender"], group=group),
        Row("ik_bake.mesh", DEFAULT, times["ours"], ratio, "Blender", goal, group, faster=True),
    ]


def _verified(made: Any, method: str) -> Any:
    found = result(made, method, verify=True)
    play_own_action(made)
    return found
