"""The whole bake: against Blender's own, against merely stepping the rig, and how it grows."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import median
from time import perf_counter
from typing import Any

import bpy
import numpy as np
import scenes

from lookat_pd import gaze
from standalone import load

working, bake, live, sample = (load(f"rig.{name}") for name in ("working", "bake", "live", "sample"))

FRAMES = 250
LIMBS = 55
REPEATS = 15
FEW = 5
SKIN = 300, 300

Row = tuple[str, str]
Times = dict[str, float]


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing on standard output, not even what Blender itself or an operator prints."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def medians(works: Mapping[str, Callable[[], float | Times]], repeats: int) -> Times:
    """Median seconds of each work, which returns its own; they take turns, after a round that warms up.

    A work that returns several times by name counts as one work for each.
    """
    taken: dict[str, list[float]] = {}
    for turn in range(repeats + 1):
        for name, work in works.items():
            times = work()
            for key, time in times.items() if isinstance(times, dict) else [(name, times)]:
                if turn:
                    taken.setdefault(key, []).append(time)
    return {name: median(times) for name, times in taken.items()}


# What is measured


def our_bake(scene: bpy.types.Scene, characters: Sequence[Any], frames: int) -> Any:
    """Time of a whole bake of these characters' look-ats into new actions, and by phase; the scene is as before."""

    def work() -> Times:
        look_ats = [one.look_at for one in characters]
        with phases() as times:
            begin = perf_counter()
            steps = bake.bake(scene, look_ats, bake.Options(1, frames))
            results = finish(steps)
            times["bake"] = perf_counter() - begin
        times["passes"] = float(max(result.passes for result in results))
        for one in characters:
            play_own_action(one)
            one.armature.pose.bones[one.bones[0]].lookat_pd.mute = False
        return times

    return work


def finish(steps: Any) -> Any:
    """Take all steps of a generator; what it returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def play_own_action(character: Any) -> None:
    """Let a character play what it was made with, and delete what was baked."""
    data = character.armature.animation_data
    baked = data.action
    data.action = character.action
    data.action_slot = character.action.slots[0]
    if baked != character.action:
        bpy.data.actions.remove(baked)


@contextmanager
def phases() -> Iterator[Times]:
    """Seconds spent in sampling, solving and writing while this lasts."""
    times: Times = {"sampling": 0.0, "solving": 0.0, "writing": 0.0}
    parts = (
        ("sampling", sample.Sampler, "sample"),
        ("solving", gaze, "prepare"),
        ("solving", gaze, "solve_shot"),
        ("writing", working.Working, "write"),
    )
    plain = [getattr(owner, name) for _, owner, name in parts]
    for (phase, owner, name), function in zip(parts, plain, strict=True):
        setattr(owner, name, _timed_steps(function, times) if phase == "sampling" else _timed(function, times, phase))
    try:
        yield times
    finally:
        for (_, owner, name), function in zip(parts, plain, strict=True):
            setattr(owner, name, function)


def _timed(function: Callable, times: Times, phase: str) -> Callable:
    def timed(*arguments: Any) -> Any:
        begin = perf_counter()
        try:
            return function(*arguments)
        finally:
            times[phase] += perf_counter() - begin

    return timed


def _timed_steps(function: Callable, times: Times) -> Callable:
    def timed(*arguments: Any) -> Iterator[Any]:
        steps = function(*arguments)
        while True:
            begin = perf_counter()
            found = next(steps, None)
            times["sampling"] += perf_counter() - begin
            if found is None:
                return
            yield found

    return timed


def blenders_bake(character: Any, frames: int) -> Callable[[], float]:
    """Time of `bpy.ops.nla.bake` with every bone of the chain tracking the same target."""

    def work() -> float:
        armature = character.armature
        bpy.context.view_layer.objects.active = armature
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.select_all(action="SELECT")
        constraints = []
        for name in character.bones:
            constraint = armature.pose.bones[name].constraints.new("DAMPED_TRACK")
            constraint.target, constraint.track_axis, constraint.influence = character.target, "TRACK_NEGATIVE_Z", 0.1
            constraints.append((armature.pose.bones[name], constraint))
        seconds = nla_bake(frames)
        for bone, constraint in constraints:
            bone.constraints.remove(constraint)
        bpy.ops.object.mode_set(mode="OBJECT")
        play_own_action(character)
        return seconds

    return work


def nla_bake(frames: int) -> float:
    """Seconds that Blender takes to bake the rotations of the selected bones, as constraints turn them."""
    begin = perf_counter()
    bpy.ops.nla.bake(
        frame_start=1,
        frame_end=frames,
        only_selected=True,
        visual_keying=True,
        clear_constraints=False,
        use_current_action=False,
        bake_types={"POSE"},
        channel_types={"ROTATION"},
    )
    return perf_counter() - begin


def stepping(scene: bpy.types.Scene, character: Any, frames: int) -> Callable[[], float]:
    """Time of taking the armature alone through the frames and reading nothing but the pose's matrices."""

    def work() -> float:
        matrices = np.empty(16 * len(character.armature.pose.bones), dtype=np.float32)
        with sample.Sampler(scene, character.armature, character.bones) as alone:
            begin = perf_counter()
            for frame in range(1, frames + 1):
                alone.scene.frame_set(frame)
                seen = character.armature.evaluated_get(alone.scene.view_layers[0].depsgraph)
                seen.pose.bones.foreach_get("matrix", matrices)
            return perf_counter() - begin

    return work


# The figures


def against_blenders() -> list[Row]:
    scene = scenes.empty_file()
    character = scenes.chain_character(scene, FRAMES)
    scenes.skin(scene, character, *SKIN)
    scene.frame_set(1)
    works = {"ours": our_bake(scene, [character], FRAMES), "nla.bake": blenders_bake(character, FRAMES)}
    times = medians(works, FEW)
    what = f"{scenes.BONES} bones, {FRAMES} frames, beside a skinned mesh of {SKIN[0] * SKIN[1]:,} vertices"
    faster = times["nla.bake"] / times["bake"]
    return [
        (f"{what}: `bpy.ops.nla.bake` of Damped Track constraints", _ms(times["nla.bake"])),
        ("... whole bake of the look-at", f"{_ms(times['bake'])}, {faster:.1f} times faster (goal: at least 10)"),
    ]


def against_stepping(what: str, scene: bpy.types.Scene, character: Any, repeats: int) -> list[Row]:
    works = {"stepping": stepping(scene, character, FRAMES), "bake": our_bake(scene, [character], FRAMES)}
    times = medians(works, repeats)
    base, passes = times["stepping"], round(times["passes"])
    each = times["sampling"] / passes
    rest = times["bake"] - times["sampling"] - times["solving"] - times["writing"]
    share = times["bake"] / base / passes
    whole = f"{share:.1f} times stepping" + (f" for each of its {passes} passes" if passes > 1 else "")
    return [
        (f"{what}, {FRAMES} frames: stepping alone", _ms(base)),
        ("... a sampling pass", f"{_ms(each)}, {each / base:.1f} times stepping"),
        ("... solving", _ms(times["solving"])),
        ("... writing", _ms(times["writing"])),
        ("... the temporary scene and the rest", _ms(rest)),
        ("... whole bake", f"{_ms(times['bake'])}, {whole} (goal: at most 2)"),
    ]


def growth(kind: str, sizes: Sequence[tuple[int, int]]) -> list[Row]:
    """Cost by (characters, frames); what grows is `kind`."""
    rows, totals = [], []
    for characters, frames in sizes:
        scene = scenes.empty_file()
        cast = [scenes.chain_character(scene, frames, n) for n in range(characters)]
        time = medians({"bake": our_bake(scene, cast, frames)}, 3 if characters * frames > 5_000 else REPEATS)["bake"]
        totals.append(time)
        each = f"{1e6 * time / (characters * frames):.0f} µs a character and frame"
        rows.append((f"Characters: {characters}, frames: {frames:,}", f"{_ms(time)}, {each}"))
    counts = [characters * frames for characters, frames in sizes]
    exponent = np.polyfit(np.log(counts), np.log(totals), 1)[0]
    last = np.log(totals[-1] / totals[-2]) / np.log(counts[-1] / counts[-2])
    rows.append(
        (f"Growth with {kind}: exponent of a power law", f"{exponent:.2f}, between the last two {last:.2f} (linear: 1)")
    )
    return rows


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:,.1f} ms" if seconds < 0.1 else f"{1e3 * seconds:,.0f} ms"


def run() -> list[Row]:
    """Rows of (what, figure)."""
    with quiet():
        load().register()
        try:
            # What bakes cost is measured here, not what playing the look-ats beside them costs.
            with live.paused():
                return _rows()
        finally:
            load().unregister()


def _rows() -> list[Row]:
    rows = against_blenders()
    for what, limbs in ((f"A chain of {scenes.BONES} bones and nothing else", 0), ("A body", LIMBS)):
        scene = scenes.empty_file()
        character = scenes.chain_character(scene, FRAMES, limbs=limbs)
        what = f"{what} of {scenes.BONES + limbs} bones, all animated" if limbs else what
        rows += against_stepping(what, scene, character, REPEATS)
    human = scenes.rigify_human(scenes.empty_file())
    what = f"A generated Rigify rig of {len(human.armature.pose.bones)} bones"
    rows += against_stepping(what, bpy.context.scene, human, FEW)
    rows += growth("characters", [(1, FRAMES), (10, FRAMES), (100, FRAMES)])
    rows += growth("frames", [(1, 100), (1, 1_000), (1, 10_000)])
    return rows
