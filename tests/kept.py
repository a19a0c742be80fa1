"""Scenes that take long to make: made once a run, kept as .blend files, and opened anew by each test.

What makes a scene is a function of the test's own that fills an empty file. All tests get what was opened, also the
one that comes first, so that none depends on the order. Opening keeps everything but datablocks that nothing uses.
"""

import tempfile
from collections.abc import Callable, Hashable
from functools import cache
from pathlib import Path

import bpy

from extension import load


@cache
def _file(make: Callable[..., object], *arguments: Hashable) -> str:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    make(*arguments)
    # Blender removes its own temporary folder when it ends.
    path = str(Path(tempfile.mkdtemp(dir=bpy.app.tempdir)) / "kept.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True, compress=False)
    return path


def scene(make: Callable[..., object], *arguments: Hashable) -> None:
    """Open what `make(*arguments)` makes of an empty file."""
    bpy.ops.wm.open_mainfile(filepath=_file(make, *arguments))


def _demo() -> None:
    load("assets.demo.human").build_scene()


def human() -> bpy.types.Object:
    """The scene of the demo: its generated Rigify human, whose rig this is, its action and its targets."""
    scene(_demo)
    return bpy.data.objects["Human"]
