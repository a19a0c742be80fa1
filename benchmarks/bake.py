"""The whole bake: against Blender's own, against merely stepping the rig, and how it grows."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import bpy
import numpy as np

from lookat_pd import gaze
from standalone import load

from . import scenes
from .extension import finish, registered
from .rows import SPEEDUP, Goal, Row
from .timing import Times, shortest

bake = load("rig.look_at.look_at_bake")
bake_options = load("rig.animation.bake_options")
sampler = load("rig.sampling.sampler")
transaction = load("rig.animation.bake_transaction")

FRAMES = 250
LIMBS = 55
REPEATS = 15
FEW = 5
SKIN = 300, 300
BESIDE_A_MESH = f"beside a skinned mesh of {SKIN[0] * SKIN[1]:,} vertices"


# What is measured


def our_bake(scene: bpy.types.Scene, characters: Sequence[Any], frames: int) -> Any:
    """Time of a whole bake of these characters' look-ats into new actions, and by phase; the scene is as before."""

    def work() -> Times:
        look_ats = [one.look_at for one in characters]
        with phases() as times:
            begin = perf_counter()
            steps = bake.bake(scene, look_ats, bake_options.BakeOptions(1, frames))
            results = finish(steps)
            whole = perf_counter() - begin
            times |= {"bake": whole, "rest": whole - sum(times.values())}
        times["passes"] = float(max(result.passes for result in results))
        for one in characters:
            play_own_action(one)
            one.armature.pose.bones[one.bones[0]].lookat_pd.mute = False
        return times

    return work


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
        ("sampling", sampler.Sampler, "sample"),
        ("solving", gaze, "prepare"),
        ("solving", gaze, "solve_samples"),
        ("writing", transaction.BakeTransaction, "write"),
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
            step = next(steps, None)
            times["sampling"] += perf_counter() - begin
            if step is None:
                return
            yield step

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
        with sampler.Sampler(scene, character.armature, character.bones) as alone:
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
    times = shortest(works, FEW)
    group = f"{scenes.BONES} bones, {FRAMES} frames, {BESIDE_A_MESH}"
    ratio = times["bake"] / times["nla.bake"]
    return [
        Row("bake.blender", "`bpy.ops.nla.bake` of Damped Track constraints", times["nla.bake"], group=group),
        Row("bake.mesh", "bake of the look-at", times["bake"], ratio, "Blender", Goal(10, SPEEDUP), group, faster=True),
    ]


def against_stepping(key: str, group: str, scene: bpy.types.Scene, character: Any, repeats: int) -> list[Row]:
    works = {"stepping": stepping(scene, character, FRAMES), "bake": our_bake(scene, [character], FRAMES)}
    times = shortest(works, repeats)
    base, passes = times["stepping"], round(times["passes"])
    each = times["sampling"] / passes
    peer = "stepping" + (f" for each of {passes} passes" if passes > 1 else "")
    group = f"{group}, {FRAMES} frames"
    return [
        Row(f"bake.{key}.stepping", "stepping alone", base, group=group),
        Row(f"bake.{key}.sampling", "a sampling pass", each, each / base, "stepping", Goal(2), group),
        Row(f"bake.{key}.solving", "solving", times["solving"], group=group),
        Row(f"bake.{key}.writing", "writing", times["writing"], group=group),
        Row(f"bake.{key}.rest", "the temporary scene and the rest", times["rest"], group=group),
        Row(f"bake.{key}.whole", "the whole bake", times["bake"], times["bake"] / base / passes, peer, Goal(2), group),
    ]


def growth(kind: str, sizes: Sequence[tuple[int, int]]) -> list[Row]:
    """Cost by (characters, frames); what grows is `kind`."""
    rows, totals = [], []
    group = f"Bake by number of {kind}"
    counts = [characters * frames for characters, frames in sizes]
    for (characters, frames), count in zip(sizes, counts, strict=True):
        scene = scenes.empty_file()
        cast = [scenes.chain_character(scene, frames, n) for n in range(characters)]
        time = shortest({"bake": our_bake(scene, cast, frames)}, 2 if count > 5_000 else FEW)["bake"]
        totals.append(time)
        ratio = time / count / (totals[-2] / counts[len(totals) - 2]) if len(totals) > 1 else None
        rows.append(
            Row(
                f"bake.{kind}.{characters if kind == 'characters' else frames}",
                f"{characters} {'character' if characters == 1 else 'characters'}, {frames:,} frames",
                time,
                ratio,
                "the row above for each" if ratio else "",
                group=group,
                also=f"{1e6 * time / count:.0f} µs a character and frame",
            )
        )
    exponent = np.polyfit(np.log(counts), np.log(totals), 1)[0]
    last = np.log(totals[-1] / totals[-2]) / np.log(counts[-1] / counts[-2])
    power = f"{exponent:.2f}, between the last two {last:.2f} (linear: 1)"
    return [*rows, Row(f"bake.{kind}.power", "exponent of a power law", group=group, also=power)]


def run() -> list[Row]:
    """The table of bakes."""
    # What bakes cost is measured here, not what playing the look-ats beside them costs.
    with registered():
        return _rows()


def _rows() -> list[Row]:
    rows = against_blenders()
    chain = f"A chain of {scenes.BONES} bones and nothing else"
    body = f"A body of {scenes.BONES + LIMBS} bones, all animated"
    for key, group, limbs in (("chain", chain, 0), ("body", body, LIMBS)):
        scene = scenes.empty_file()
        character = scenes.chain_character(scene, FRAMES, limbs=limbs)
        rows += against_stepping(key, group, scene, character, REPEATS)
    human = scenes.rigify_human(scenes.empty_file())
    group = f"A generated Rigify rig of {len(human.armature.pose.bones)} bones"
    rows += against_stepping("rigify", group, bpy.context.scene, human, FEW)
    rows += growth("characters", [(1, FRAMES), (10, FRAMES), (100, FRAMES)])
    rows += growth("frames", [(1, 100), (1, 1_000), (1, 10_000)])
    return rows
