"""Scenes that take long to make: made once a run, kept as .blend files, and opened anew by each test.

What makes a scene is a function of the test's own that fills an empty file. All tests get what was opened, also the
one that comes first, so that none depends on the order. Opening keeps everything but datablocks that nothing uses.

The processes of a run of tools/test that have the same Blender share them in FOLDER.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable, Hashable
from functools import cache
from pathlib import Path

import bpy

from extension import load

FOLDER = os.environ.get("LOOKAT_PD_KEPT")


@cache
def _file(make: Callable[..., object], *arguments: Hashable) -> str:
    shared = _shared(make, arguments)
    if shared is not None and shared.exists():
        return str(shared)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    make(*arguments)
    # Blender removes its own temporary folder when it ends.
    path = Path(tempfile.mkdtemp(dir=shared.parent if shared else bpy.app.tempdir)) / "kept.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, compress=False)
    return str(path if shared is None else path.replace(shared))


def _shared(make: Callable[..., object], arguments: tuple[Hashable, ...]) -> Path | None:
    """Where all processes of the run find it; None where it is for this one alone."""
    if FOLDER is None or make.__module__ != __name__:
        return None
    words = repr((bpy.app.version_string, bool(bpy.app.binary_path), make.__name__, *arguments))
    return Path(FOLDER) / f"{hashlib.sha256(words.encode()).hexdigest()[:16]}.blend"


def scene(make: Callable[..., object], *arguments: Hashable) -> None:
    """Open what `make(*arguments)` makes of an empty file."""
    bpy.ops.wm.open_mainfile(filepath=_file(make, *arguments))


def _demo() -> None:
    load("assets.demo.human").build_scene()


def human() -> bpy.types.Object:
    """The scene of the demo: its generated Rigify human, whose rig this is, its action and its targets."""
    scene(_demo)
    return bpy.data.objects["Human"]


def _import(path: Path, options: tuple[tuple[str, Hashable], ...], fps: int) -> None:
    bpy.context.scene.render.fps = fps
    if path.suffix in (".glb", ".vrm"):
        bpy.ops.import_scene.gltf(filepath=str(path), **dict(options))
    elif path.suffix == ".fbx":
        bpy.ops.wm.fbx_import(filepath=str(path), **dict(options))
    else:
        bpy.ops.import_anim.bvh(filepath=str(path), update_scene_fps=True, **dict(options))


def rig(path: Path, *, fps: int = 24, **options: Hashable) -> bpy.types.Object:
    """The armature of a glTF, VRM, FBX or BVH file in a scene of that frame rate; options of the importer.

    BVH files set the frame rate themselves.
    """
    scene(_import, path, tuple(options.items()), fps)
    return next(item for item in bpy.context.scene.objects if item.type == "ARMATURE")
