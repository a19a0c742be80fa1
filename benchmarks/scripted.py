"""What a file costs on the command line beside a hand-written script with Damped Track and `bpy.ops.nla.bake`, and a
.glb beside a .blend.

All run in one process that goes on to the next file, so that no start is in it. Times are those of the processor.
"""

import contextlib
import inspect
import io
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any
from unittest.mock import patch

import bpy

from standalone import load

from . import scenes
from .extension import registered
from .rows import Goal, Row, duration
from .timing import Times, clocked, shortest

program, edit = load("cli.program"), load("rig.look_at.edit")
scene_files, layer_bake, resolve = load("cli.scene_files"), load("rig.layers.layer_bake"), load("rig.look_at.resolve")
LookAtSolve, GazeSolver = load("rig.look_at.look_at_solve").LookAtSolve, load("rig.look_at.gaze_solving").GazeSolver

PARTS = {
    "opening": (scene_files, "load"),
    "finding the head": (resolve, "find_head"),
    "finding the chain": (resolve, "resolve"),
    "sampling": (LookAtSolve, "sample"),
    "the solver": (GazeSolver, "solve"),
    "keys": (layer_bake, "write"),
    "saving": (scene_files, "save"),
}
"""What takes most of a plain bake, and where it is done."""
SCRIPT = "opening the file", "`nla.bake`", "saving the file"
"""What the script does, but for its constraints."""

FRAMES, FILES, REPEATS = 120, 12, 2
LIMBS = 5
SKIN = 200, 200
"""Of the character beside a mesh."""


def rows(prefix: str) -> Iterator[Row]:
    """The rows of the table, whose keys begin so."""
    with registered(), tempfile.TemporaryDirectory() as name:
        yield from _plain(prefix, Path(name))
        yield from _human(prefix, Path(name))


def _plain(prefix: str, folder: Path) -> Iterator[Row]:
    for key, skinned in (("plain", False), ("mesh", True)):
        scene = scenes.empty_file()
        character = scenes.chain_character(scene, FRAMES, limbs=LIMBS)
        group = f"A plain rig of {scenes.BONES + LIMBS} bones, {FRAMES} frames"
        if skinned:
            scenes.skin(scene, character, *SKIN)
            group += f", beside a skinned mesh of {SKIN[0] * SKIN[1]:,} vertices"
        goal = Goal(1.0 if skinned else 1.2)
        target, of_key = character.target.name, folder / key
        works = _works(of_key, character)
        if not skinned:
            works["parts"] = partial(_parts, of_key / "in", of_key / "out", target)
        times = shortest(works, REPEATS)
        yield from _compared(f"{prefix}.{key}", group, times, goal, files=FILES)
        if not skinned:
            yield Row(f"{prefix}.{key}.script_parts", "... of the script", also=_listed(times, SCRIPT), group=group)
            yield Row(f"{prefix}.{key}.bake_parts", "... of `bake`", also=_listed(times, PARTS), group=group)


def _listed(times: Times, parts: Iterable[str]) -> str:
    return ", ".join(f"{part} {duration(times[part] / FILES)}" for part in parts)


def _human(prefix: str, folder: Path) -> Iterator[Row]:
    human = scenes.rigify_human(scenes.empty_file())
    group = f"The demo's human, a generated Rigify rig of {len(human.armature.pose.bones)} bones"
    target = human.target.name
    works = _works(folder / "human", human, files=1)
    source = folder / "human" / "in" / "0.blend"
    works["glb"] = clocked(lambda: _bake(source, folder / "human" / "out.glb", target), process_time)
    times = shortest(works, 1)
    yield from _compared(f"{prefix}.human", group, times, Goal(1.0), files=1)
    ratio = times["glb"] / times["ours"]
    yield Row(f"{prefix}.human.glb", ".glb instead of .blend", times["glb"], ratio, "that", Goal(2.0), group)


def _compared(key: str, group: str, times: Times, goal: Goal, *, files: int) -> Iterator[Row]:
    script, ours, verified = (times[name] / files for name in ("script", "ours", "verified"))
    yield Row(f"{key}.script", "Damped Track on the same bones, and `nla.bake`", script, group=group)
    yield Row(f"{key}.bake", "`bake`", ours, ours / script, "the script", goal, group)
    yield Row(f"{key}.verify", "`bake --verify`", verified, verified / script, "the script", group=group)


def _works(folder: Path, character: scenes.Character, files: int = FILES) -> dict[str, Callable[[], float | Times]]:
    """What is compared, on copies of the present file without its look-at."""
    target, bones, rig = character.target.name, character.bones, character.armature.name
    edit.remove(character.armature, bones[0])
    (folder / "in").mkdir(parents=True)
    first = folder / "in" / "0.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(first), copy=True, compress=False)
    sources = [first, *(Path(shutil.copy(first, folder / "in" / f"{number}.blend")) for number in range(1, files))]

    def script() -> Times:
        parts: Counter[str] = Counter()
        begin = process_time()
        for source in sources:
            parts.update(_script(source, folder / "script.blend", rig, bones, target))
        return {"script": process_time() - begin, **parts}

    return {
        "script": script,
        "ours": clocked(lambda: _bake(folder / "in", folder / "out", target), process_time),
        "verified": clocked(lambda: _bake(folder / "in", folder / "out", target, "--verify"), process_time),
    }


def _bake(source: Path, output: Path, target: str, *more: str) -> None:
    words = ["bake", str(source), "--output", str(output), "--target", target, "--overwrite", "--quiet", *more]
    with contextlib.redirect_stderr(io.StringIO()) as said:
        if program.main(words, "benchmark"):
            raise RuntimeError(said.getvalue())


def _parts(source: Path, output: Path, target: str) -> Times:
    """Seconds of the processor that each part of a bake takes, in all files."""
    spent = dict.fromkeys(PARTS, 0.0)
    with contextlib.ExitStack() as stack:
        for part, (place, name) in PARTS.items():
            stack.enter_context(patch.object(place, name, _counted(getattr(place, name), spent, part)))
        _bake(source, output, target)
    return spent


def _counted(work: Callable[..., Any], spent: Times, part: str) -> Callable[..., Any]:
    """The work, whose seconds are added; of a generator, those of its steps."""

    def counted(*given: Any, **named: Any) -> Any:
        begin = process_time()
        try:
            return work(*given, **named)
        finally:
            spent[part] += process_time() - begin

    def steps(*given: Any, **named: Any) -> Generator[Any, None, Any]:
        going_on = work(*given, **named)
        while True:
            begin = process_time()
            try:
                step = next(going_on)
            except StopIteration as end:
                return end.value
            finally:
                spent[part] += process_time() - begin
            yield step

    return steps if inspect.isgeneratorfunction(work) else counted


def _script(source: Path, output: Path, rig: str, bones: Sequence[str], target: str) -> Times:
    """As it is written by hand: open, track, bake, save. Returns the seconds of these parts."""
    began = process_time()
    bpy.ops.wm.open_mainfile(filepath=str(source), load_ui=False)
    opened = process_time()
    armature = bpy.data.objects[rig]
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="POSE")
    for bone in armature.pose.bones:
        bone.select = bone.name in bones
    for name in bones:
        constraint = armature.pose.bones[name].constraints.new("DAMPED_TRACK")
        constraint.target, constraint.track_axis = bpy.data.objects[target], "TRACK_NEGATIVE_Z"
        constraint.influence = 1.0 / len(bones)
    first, last = (int(frame) for frame in armature.animation_data.action.frame_range)
    tracked = process_time()
    bpy.ops.nla.bake(
        frame_start=first,
        frame_end=last,
        only_selected=True,
        visual_keying=True,
        clear_constraints=True,
        use_current_action=False,
        bake_types={"POSE"},
        channel_types={"ROTATION"},
    )
    baked = process_time()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.save_as_mainfile(filepath=str(output), copy=True, compress=False)
    return dict(zip(SCRIPT, (opened - began, baked - tracked, process_time() - baked), strict=True))
