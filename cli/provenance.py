"""What an output was made from: a note within it, by which a later run knows that it need not be made again."""

import argparse
import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import bpy

from ..lookat_pd.errors import FileError
from . import gltf, presets, profile_file
from .console import Console
from .jobs import FileJob
from .report import Row, plain, version

NAME = "Look-at PD Output"
"""Of the text data-block in a .blend."""
_EXTRAS = "lookat_pd"
_WHICH_FILES = ("inputs", "output", "report", "shard", "skip_done")
_HOW = ("verb", "run", "complain", "words", "worker", "jobs", "progress", "debug")
"""Arguments that change no output."""
_NOT_KEPT = ("input", "output", "ok", "error", "seconds", "shard", "skipped")
"""Fields of a row that differ between runs that make the same output."""
_CHUNK = 1 << 20
_NONE = "missing"


@dataclass(frozen=True)
class Note:
    """What an output was made from."""

    digest: str
    """Digest of input, arguments, presets and versions."""
    files: dict[str, str]
    """Digests of further files that the input needs, by paths from its folder."""
    row: Row
    """What the report said of the output."""

    @property
    def text(self) -> str:
        return json.dumps({"digest": self.digest, "files": self.files, "row": self.row}, indent=1)


def digest(job: FileJob, options: argparse.Namespace) -> str:
    """Of all that decides what an output holds, but for the files that its input needs. Raises FileError."""
    settings = {
        name: [*map(_digest_of, _paths(value))] if _paths(value) else value
        for name, value in vars(options).items()
        if name not in (*_WHICH_FILES, *_HOW)
    }
    if getattr(options, "preset", None) is not None:
        settings["preset"] = presets.read(options.preset)
    if getattr(options, "profile", None) is not None:
        settings["profile"] = profile_file.read(options.profile)
    known = [options.verb, version(), bpy.app.version_string, job.output.suffix.lower(), _digest_of(job.input)]
    return blake2b(json.dumps([*known, settings], sort_keys=True, default=str).encode(), digest_size=16).hexdigest()


def note(job: FileJob, made_from: str, row: Row) -> Note:
    """Of the present file, just before it is written."""
    files = {
        os.path.relpath(path, job.input.resolve().parent): _digest_of(path) for path in _files_needed_by(job.input)
    }
    return Note(made_from, files, {name: value for name, value in plain(row).items() if name not in _NOT_KEPT})


def find(job: FileJob, made_from: str, console: Console) -> Note | None:
    """The note of an output that was made from the same; None where there is no such output."""
    note = _read(job.output, console)
    if note is None or note.digest != made_from:
        return None
    folder = job.input.resolve().parent
    return note if all(_digest_of(folder / path) == known for path, known in note.files.items()) else None


@contextlib.contextmanager
def written_to_blend(note: Note | None) -> Iterator[None]:
    """Within it the present file has the note, as a text data-block that Blender shows in its text editor."""
    for text in [text for text in bpy.data.texts if text.name == NAME and text.library is None]:
        bpy.data.texts.remove(text)
    if note is None:
        yield
        return
    text = bpy.data.texts.new(NAME)
    text.write(note.text)
    try:
        yield
    finally:
        bpy.data.texts.remove(text)


def write_to_gltf(path: Path, note: Note) -> None:
    gltf.add_extras(path, _EXTRAS, json.loads(note.text))


def _read(path: Path, console: Console) -> Note | None:
    if not path.is_file():
        return None
    try:
        if path.suffix.lower() == ".blend":
            with console.hushed():
                known = _read_blend(path)
        else:
            known = gltf.extras(path)[_EXTRAS]
        return Note(known["digest"], dict(known["files"]), dict(known["row"]))
    except (FileError, OSError, ValueError, LookupError, TypeError, RuntimeError):
        # Whatever it is, it was not made by a run that noted it.
        return None


def _read_blend(path: Path) -> Any:
    before = list(bpy.data.libraries)
    with bpy.data.libraries.load(str(path.resolve())) as (there, here):
        here.texts = [name for name in there.texts if name == NAME]
    # Blender has put the data-blocks in the place of their names.
    loaded: list[Any] = [*here.texts]
    content = loaded[0].as_string()
    bpy.data.texts.remove(loaded[0])
    for library in [library for library in bpy.data.libraries if library not in before]:
        # It is no file that the present one needs.
        bpy.data.libraries.remove(library)
    return json.loads(content)


def _files_needed_by(path: Path) -> list[Path]:
    if path.suffix.lower() == ".gltf":
        return gltf.files(path)
    return [Path(bpy.path.abspath(library.filepath)) for library in bpy.data.libraries]


def _paths(value: Any) -> list[Path]:
    found = value if isinstance(value, list | tuple) else [value]
    return [item for item in found if isinstance(item, Path)]


def _digest_of(path: Path) -> str:
    found = blake2b(digest_size=16)
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                found.update(chunk)
    except OSError:
        return _NONE
    return found.hexdigest()
