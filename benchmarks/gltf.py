"""The command line from .glb to .glb, where only animations change, against .blend to .blend and the exporter."""

import contextlib
import io
import tempfile
from collections.abc import Callable
from pathlib import Path

import bpy

from standalone import load

from . import scenes, scripted
from .extension import registered
from .rows import Goal, Row
from .timing import clocked, shortest

program, each_file = load("cli.program"), load("cli.each_file")

FRAMES, LIMBS, REPEATS = 250, 40, 2
SKIN = 100, 100


def run() -> list[Row]:
    """The table of files."""
    with registered(), tempfile.TemporaryDirectory() as folder:
        found = _rows(Path(folder))
    return [*found, *scripted.rows("gltf")]


def baking(source: Path, output: Path, *, edits: bool = True) -> Callable[[], float]:
    """Time of reading, baking and writing a file in a running Blender. edits: whether a glTF is edited."""

    def work() -> None:
        edited = each_file._edited
        if not edits:
            each_file._edited = lambda *_: None
        try:
            words = ["bake", str(source), "--output", str(output), "--point", "1,-2,1.5", "--progress", "none"]
            with contextlib.redirect_stderr(io.StringIO()):
                code = program.main(words, "benchmark")
        finally:
            each_file._edited = edited
        if code:
            raise RuntimeError(f"{source} was not baked")

    return clocked(work)


def _rows(folder: Path) -> list[Row]:
    scene = scenes.empty_file()
    character = scenes.chain_character(scene, FRAMES, limbs=LIMBS)
    scenes.skin(scene, character, *SKIN)
    blend, glb = folder / "in.blend", folder / "in.glb"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend), copy=True)
    bpy.ops.export_scene.gltf(filepath=str(glb), export_format="GLB")
    works = {
        "blend": baking(blend, folder / "out.blend"),
        "edited": baking(glb, folder / "edited.glb"),
        "exported": baking(glb, folder / "exported.glb", edits=False),
    }
    times = shortest(works, REPEATS)
    group = f"A file with {scenes.BONES + LIMBS} bones, {FRAMES} frames and a mesh of {SKIN[0] * SKIN[1]:,} vertices"
    return [
        Row("gltf.blend", ".blend to .blend", times["blend"], group=group),
        Row(
            "gltf.edited",
            ".glb to .glb, its animations edited",
            times["edited"],
            times["edited"] / times["blend"],
            "that",
            Goal(3.0),
            group,
        ),
        Row(
            "gltf.exported",
            ".glb to .glb, imported and exported as a whole",
            times["exported"],
            times["exported"] / times["blend"],
            "that",
            group=group,
        ),
    ]
