"""Reading inputs into an empty Blender file and writing outputs from it."""

import contextlib
import errno
import os
from argparse import Namespace
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

import bpy

from ..lookat_pd.errors import FileError
from ..lookat_pd.message import Message
from ..rig import whole_file
from . import (
    blender_call,
    bvh_axes,
    exporters,
    gltf,
    gltf_source,
    gltf_times,
    provenance,
    retime,
    untrusted_drivers,
)
from .blender_call import BROKEN
from .console import Console
from .jobs import FileJob

_BLEND, _GZIP, _ZSTANDARD = b"BLENDER", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_FULL_DISK = os.strerror(errno.ENOSPC)
_ROOM = 64 << 20
"""Bytes that an output may take at least, where one is looked for that could not be written."""
_IMPORT_START = 1.0
"""Frame at which the importers of BVH and FBX put second 0."""


def load(
    path: Path,
    rate: float | None,
    console: Console,
    *,
    trust: bool = False,
    source: gltf_source.GltfSource | None = None,
    clips: Sequence[str] | None = None,
) -> bpy.types.Scene:
    """Read a file into an otherwise empty Blender and return its scene. Raises FileError.

    rate: frames per second to work at, None for the file's own; motion keeps its speed in seconds, except in a .blend,
    whose keys are on frames. trust: whether Python in a .blend may run; if not, drivers that need it are reported.
    source: of a glTF file that is read without its meshes; clips: patterns of the names of the animations to read.
    """
    if path.suffix.lower() != ".blend" or not console.has_begun:
        # A .blend takes the place of everything but the windows, which are those of an empty file by then.
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        console.has_begun = True
    with console.hushed():
        if source is None:
            _READERS[path.suffix.lower()](path.resolve(), rate, trust)
        else:
            with source.copied(clips) as copy:
                _import_gltf(copy, rate or gltf_times.frame_rate(path), disable_bone_shape=True)
    if not trust:
        untrusted_drivers.tell_of_drivers()
    return bpy.context.scene


def save(
    job: FileJob,
    console: Console,
    note: provenance.Note,
    content: bytes | None,
    options: Namespace,
    made: Collection[str],
) -> None:
    """Write the present Blender file to the output of a job, whole or not at all. Raises FileError.

    note: kept within the output, or beside it. content: what a .glb has, None to export it. made: names of the actions
    that were made.
    """
    path, suffix = job.output, job.output.suffix.lower()
    with whole_file.writing(path) as temporary, console.hushed(), _no_thumbnail():
        try:
            if suffix == ".blend":
                with provenance.written_to_blend(note):
                    blender_call.call(
                        bpy.ops.wm.save_as_mainfile,
                        Message("{path} cannot be written", path=path, code="unwritable"),
                        filepath=str(temporary),
                        copy=True,
                        relative_remap=True,
                        compress=is_compressed(job.input),
                    )
            elif content is not None:
                temporary.write_bytes(content)
            else:
                exporters.EXPORTERS[suffix](path, temporary, options, made)
            if suffix in (".glb", ".vrm"):
                provenance.write_to_gltf(temporary, note)
        except FileError as error:
            reason = _system_reason(error, temporary.parent, job.input)
            raise error if reason is None else whole_file.unwritable(path, reason) from None
    if suffix in provenance.WITHOUT_PLACE:
        provenance.write_beside(path, note)


@contextlib.contextmanager
def _no_thumbnail() -> Iterator[None]:
    """Blender would write a picture of the file into the user's cache."""
    paths = bpy.context.preferences.filepaths
    before = paths.file_preview_type
    paths.file_preview_type = "NONE"
    try:
        yield
    finally:
        paths.file_preview_type = before


def _system_reason(error: FileError, folder: Path, source: Path) -> OSError | None:
    """What the system has against the output. Blender forgets it when it removes the half of a .blend that it has
    written, and then says that there is no such file."""
    if _FULL_DISK in str(error):
        return OSError(errno.ENOSPC, _FULL_DISK)
    return whole_file.obstacle(folder, max(_ROOM, 4 * source.stat().st_size))


def is_compressed(path: Path) -> bool:
    """Whether this is a .blend file that Blender compressed."""
    with path.open("rb") as file:
        return file.read(4).startswith((_GZIP, _ZSTANDARD)) and path.suffix.lower() == ".blend"


def _read_blend(path: Path, rate: float | None, trust: bool) -> None:
    with path.open("rb") as file:
        magic = file.read(7)
    if not magic.startswith((_BLEND, _GZIP, _ZSTANDARD)):
        raise FileError(
            "The content is not that of a .blend file; save the file again from Blender.", code="input-broken"
        )
    blender_call.call(bpy.ops.wm.open_mainfile, BROKEN, filepath=str(path), load_ui=False, use_scripts=trust)
    if rate is not None:
        retime.set_rate(bpy.context.scene, rate)


def _read_gltf(path: Path, rate: float | None, trust: bool) -> None:
    if rate is not None:
        # What cannot be read says so here, as where the rate is looked for.
        gltf.parts(path)
    # Keys land on time x frame rate, so the rate must stand before the import.
    _import_gltf(path, rate or gltf_times.frame_rate(path))


def _import_gltf(path: Path, rate: float, **options: object) -> None:
    retime.set_rate(bpy.context.scene, rate)
    blender_call.enable("io_scene_gltf2")
    with retime.for_gltf(bpy.context.scene):
        blender_call.call(bpy.ops.import_scene.gltf, BROKEN, filepath=str(path), **options)
    _check_content()
    retime.fit_scene(bpy.context.scene)


def _read_fbx(path: Path, rate: float | None, trust: bool) -> None:
    blender_call.call(bpy.ops.wm.fbx_import, BROKEN, filepath=str(path))
    _check_content()
    _settle_rate(rate)


def _read_bvh(path: Path, rate: float | None, trust: bool) -> None:
    axes = bvh_axes.import_axes(path)
    blender_call.enable("io_anim_bvh")
    blender_call.call(
        bpy.ops.import_anim.bvh,
        BROKEN,
        filepath=str(path),
        update_scene_fps=True,
        **axes,
    )
    _check_content()
    _settle_rate(rate)


_READERS: dict[str, Callable[[Path, float | None, bool], None]] = {
    ".blend": _read_blend,
    ".glb": _read_gltf,
    ".gltf": _read_gltf,
    ".vrm": _read_gltf,
    ".fbx": _read_fbx,
    ".bvh": _read_bvh,
}


def _settle_rate(rate: float | None) -> None:
    """FBX and BVH are imported at their own frame rate; bring scene and keys to the one that was asked for."""
    scene = bpy.context.scene
    own = retime.rate(scene)
    retime.set_rate(scene, rate or own)
    if rate is not None:
        retime.stretch(retime.rate(scene) / own, _IMPORT_START)
    retime.fit_scene(scene)


def _check_content() -> None:
    if not bpy.data.objects:
        raise FileError(
            "There is nothing in the file that Blender can import; export it again.", code="input-has-no-content"
        )
