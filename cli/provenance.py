"""What an output was made from: a note within it, by which a later run knows that it need not be made again."""

import argparse
import contextlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import bpy

from ..lookat_pd.errors import FileError
from ..rig import project, whole_file
from . import files_needed, gltf, presets, profile_file
from .console import Console
from .jobs import EachOf, FileJob
from .report import Row, plain

NAME = "Look-at PD Output"
"""Of the text data-block in a .blend."""
_EXTRAS = "lookat_pd"
WITHOUT_PLACE = (".fbx", ".usd")
"""Suffixes of outputs whose note is in a file beside them."""
_WHICH_FILES = (
    *("inputs", "below", "output", "report", "shard", "skip_done", "template", "no_clobber", "overwrite"),
    *("tolerate_failures", "allow_empty", "retry", "timeout"),
)
_HOW = (
    *("verb", "run", "complain", "words", "worker", "parent", "pool", "everything", "of_command", "collected"),
    *("jobs", "progress", "debug", "dry_run", "checking"),
    *("quiet", "verbose", "warnings_as_errors"),
)
"""Arguments that change no output."""
_NOT_KEPT = ("input", "output", "ok", "error", "code", "seconds", "shard", "skipped", "run")
"""Fields of a row that differ between runs that make the same output."""
_CHUNK = 1 << 20
_NONE = "missing"
_CHANGED = "changed while it was read"


@dataclass(frozen=True)
class Note:
    """What an output was made from."""

    digest: str | None
    """Digest of input, arguments, presets and versions; None where it was not asked for."""
    files: dict[str, str]
    """Digests of further files that the input needs, by paths from its folder."""
    row: Row
    """What the report said of the output."""
    of: dict[str, Any] | None = None
    """The name of its input, where that has an output for each action, with what is known of these."""

    @property
    def text(self) -> str:
        known = {"digest": self.digest, "files": self.files, "row": self.row}
        return json.dumps(known if self.of is None else {**known, "of": self.of}, indent=1)


def digest(job: FileJob, options: argparse.Namespace) -> str:
    """Of all that decides what an output holds, but for the files that its input needs. Raises FileError."""
    return _hashed(
        command(options), project.version(), bpy.app.version_string, job.output.suffix.lower(), _digest_of(job.input)
    )


def command(options: argparse.Namespace) -> str:
    """Of the verb and all arguments that change outputs, with the contents of presets and files among them.
    Raises FileError."""
    settings = {
        name: [(path.name, _digest_of(path)) for path in _paths(value)] if _paths(value) else value
        for name, value in vars(options).items()
        if name not in (*_WHICH_FILES, *_HOW)
    }
    if options.verb == "bake" and options.preset is not None:
        settings["preset"] = presets.read(options.preset)
    if getattr(options, "profile", None) is not None:
        settings["profile"] = profile_file.read(options.profile)
    return _hashed(options.verb, settings)


def character(job: FileJob, note: Note, options: argparse.Namespace) -> str | None:
    """A digest of what all outputs of an input have, whatever is baked; None where it was not asked for. Raises
    FileError."""
    if note.digest is None or _CHANGED in note.files.values():
        return None
    how = [getattr(options, name) for name in ("trust_scripts", "export_bones", "export_actions")]
    return _hashed(project.version(), bpy.app.version_string, _digest_of(job.input), note.files, how)


def _hashed(*known: object) -> str:
    return blake2b(json.dumps(known, sort_keys=True, default=str).encode(), digest_size=16).hexdigest()


def mark(job: FileJob) -> Note:
    """By which an output is known as one of ours."""
    return Note(None, {}, {}, _owner(job))


def _owner(job: FileJob) -> dict[str, Any] | None:
    return None if job.each is None else {"input": job.input.name, **plain(asdict(job.each))}


def siblings(job: FileJob, made_from: str, outputs: Iterable[Path], console: Console) -> EachOf | None:
    """The outputs of an input, one for each action, as one of them says that was made of the same; None where none
    does."""
    folder = job.input.resolve().parent
    for output in outputs:
        note = _read(output, console)
        if note is None or note.of is None or note.of["digest"] != made_from:
            continue
        if all(_digest_of(folder / path) == known for path, known in note.files.items()):
            return EachOf(made_from, tuple(tuple(choice) for choice in note.of["choices"]))
    return None


def note(job: FileJob, made_from: str, row: Row, began: float) -> Note:
    """Of the present file, just before it is written. began: time at which it was begun to be read."""
    folder = job.input.resolve().parent
    files = {
        os.path.relpath(path, folder): _CHANGED if _changed_since(path, began) else _digest_of(path)
        for path in files_needed.of_present(job.input)
    }
    kept = {name: value for name, value in plain(row).items() if name not in _NOT_KEPT}
    return Note(made_from, files, kept, _owner(job))


def find(output: Path, source: Path, made_from: str, console: Console) -> Note | None:
    """The note of an output that was made from the same; None where there is no such output."""
    note = _read(output, console)
    if note is None or note.digest != made_from:
        return None
    folder = source.resolve().parent
    return note if all(_digest_of(folder / path) == known for path, known in note.files.items()) else None


def of_ours(output: Path, console: Console) -> Note | None:
    """The note of a file that this product has written; None of any other."""
    return _read(output, console)


@contextlib.contextmanager
def written_to_blend(note: Note) -> Iterator[None]:
    """Within it the present file has the note, as a text data-block that Blender shows in its text editor."""
    for text in [text for text in bpy.data.texts if text.name == NAME and text.library is None]:
        bpy.data.texts.remove(text)
    text = bpy.data.texts.new(NAME)
    text.write(note.text)
    try:
        yield
    finally:
        bpy.data.texts.remove(text)


def write_to_gltf(path: Path, note: Note) -> None:
    gltf.add_extras(path, _EXTRAS, json.loads(note.text))


def write_beside(path: Path, note: Note) -> None:
    """Of an output that has no place for it. Raises FileError."""
    known = {**json.loads(note.text), "content": _digest_of(path)}
    with whole_file.writing(_beside(path)) as temporary:
        temporary.write_text(json.dumps(known, indent=1), "utf-8")


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.lookat_pd.json")


def _read(path: Path, console: Console) -> Note | None:
    if not path.is_file():
        return None
    try:
        if path.suffix.lower() == ".blend":
            with console.hushed():
                known = _read_blend(path)
        elif path.suffix.lower() in (".glb", ".vrm"):
            known = gltf.extras(path)[_EXTRAS]
        else:
            known = json.loads(_beside(path).read_text("utf-8"))
            if known["content"] != _digest_of(path):
                return None
        return Note(known["digest"], dict(known["files"]), dict(known["row"]), known.get("of"))
    except (FileError, OSError, ValueError, LookupError, TypeError, RuntimeError):
        # Whatever it is, it was not made by a run that noted it.
        return None


def _read_blend(path: Path) -> Any:
    if os.path.realpath(bpy.data.filepath) == os.path.realpath(path):
        # Of the file that is open, nothing can be read so.
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
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


def _paths(value: Any) -> list[Path]:
    found = value if isinstance(value, list | tuple) else [value]
    return [item for item in found if isinstance(item, Path)]


def _changed_since(path: Path, began: float) -> bool:
    """Whether nobody knows which content was read. Outputs that are made so are made again."""
    with contextlib.suppress(OSError):
        return any(file.stat().st_mtime >= began for file in files_needed.files_in(path))
    return False


def _digest_of(path: Path) -> str:
    """Of a file, or of all files that a path stands for, with their names."""
    files = [*files_needed.files_in(path)]
    if files == [path]:
        return _digest_of_file(path)
    found = blake2b(digest_size=16)
    for file in files:
        found.update(f"{os.path.relpath(file, path.parent)} {_digest_of_file(file)} ".encode("utf-8", "replace"))
    return found.hexdigest() if files else _NONE


def _digest_of_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            key = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
            if key in _kept:
                return _kept[key]
            found = blake2b(digest_size=16)
            while chunk := file.read(_CHUNK):
                found.update(chunk)
    except OSError:
        return _NONE
    if _keeps:
        _kept[key] = found.hexdigest()
    return found.hexdigest()


_keeps = False
_kept: dict[tuple[int, int, int, int], str] = {}


@contextlib.contextmanager
def digests_kept() -> Iterator[None]:
    """Within it no file is read again for its digest that looks as it did: outputs of one input need the same files."""
    global _keeps
    _keeps = True
    try:
        yield
    finally:
        _keeps = False
        _kept.clear()
