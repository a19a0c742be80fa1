"""Which input becomes which output, decided and checked before any work."""

import argparse
import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from ..lookat_pd.errors import FileError
from ..lookat_pd.message import Message
from ..lookat_pd_batch import inputs, manifest, naming
from ..lookat_pd_batch.errors import BatchError
from ..rig import whole_file
from . import report
from .arguments import FORMATS, INPUTS, OUTPUTS, Misuse, Shards
from .console import Console
from .gltf_source import GltfSource
from .seen_poses import SeenPoses

Item = TypeVar("Item")
ACTION = "{action}"
"""In the name of an output that is one for each action."""
GLTF = (".glb", ".gltf", ".vrm")


@dataclass(frozen=True)
class EachOf:
    """The outputs of one input, one for each action."""

    digest: str | None
    """Of all that decides which there are, but for the files that the input needs; None where it was not asked for."""
    choices: tuple[tuple[Any, ...], ...]
    """What each is made of."""


@dataclass(frozen=True)
class FileJob:
    """One input and where its result goes."""

    input: Path
    """File to read."""
    output: Path
    """File to write."""
    source: GltfSource | None = field(default=None, compare=False)
    """The glTF file whose animations alone are edited."""
    former: Path | None = None
    """The newest version of the output that there is."""
    is_each: bool = False
    """Whether it is an output for each action, which `named` gives its name."""
    each: "EachOf | None" = None
    """Of which it is one, as `named` has it."""
    seen: SeenPoses = field(default_factory=SeenPoses, compare=False)
    """Poses of clips that were sampled on the way."""

    @property
    def losses(self) -> tuple[Message, ...]:
        """What the output lacks of the input, as sentences."""
        is_plain = self.input.suffix.lower() == ".vrm" and self.output.suffix.lower() == ".glb" and self.source is None
        lost = Message("The output is plain glTF: what VRM adds to it is lost.", code="vrm-lost")
        return (lost,) if is_plain else ()


def expand(options: argparse.Namespace, console: Console) -> None:
    """Put in the place of the inputs that were named the files that these stand for. Raises Misuse."""
    try:
        found = inputs.expand(options.inputs, _is_input)
    except BatchError as error:
        raise Misuse(str(error)) from None
    if (found.empty or not found.paths) and not options.allow_empty:
        where = f"in the folder {found.empty[0]}" if found.empty else "in the list"
        raise Misuse(f"there is no file to read {where}: {', '.join(INPUTS)}; --allow-empty accepts that")
    for note in found.notes:
        console.complain(f"note: {note}")
    options.inputs, options.below = found.paths, found.below


def _is_input(name: str) -> bool:
    return os.path.splitext(name)[1].lower() in INPUTS and not name.startswith(".")


def in_shards(
    items: Sequence[Item], path_of: Callable[[Item], Path], shards: Shards | None, everything: Sequence[Path]
) -> list[tuple[Item, str | None]]:
    """The items of some shards, each with the name of its shard such as "1/4", or all with None.

    They are dealt out in the order of their names, on every machine alike. everything: all that is dealt out, of which
    the items may be a part.
    """
    if shards is None:
        return [(item, None) for item in items]
    in_order = sorted(items, key=lambda item: manifest.order(path_of(item)))
    if len(everything) == len(items):
        places = range(len(items))
    else:
        known = {str(path): place for place, path in enumerate(sorted(everything, key=manifest.order))}
        places = [known[str(path_of(item))] for item in in_order]
    return [
        (item, f"{place % shards.count + 1}/{shards.count}")
        for place, item in zip(places, in_order, strict=True)
        if shards.first <= place % shards.count + 1 <= shards.last
    ]


def plan(options: argparse.Namespace) -> list[FileJob]:
    """Raises Misuse if two outputs have one path or an output has no known format."""
    paths, output, template = options.inputs, options.output, options.template
    if not _is_folder(output, several=len(paths) > 1):
        known = _formats(options)
        kind = known.get(options.format, output.suffix.lower())
        if output.suffix.lower() not in known.values():
            raise Misuse(f"--output {output} is neither {', '.join(known.values())}; give it one of these suffixes")
        if kind != output.suffix.lower():
            raise Misuse(f"--output {output} is no file of --format {options.format}; leave one of them out")
        if template is not None:
            raise Misuse(f"--output {output} is a name already; give a folder, or leave the template of names out")
        return [FileJob(path, output) for path in paths]
    names = [_name(path, options) for path in paths]
    folders = naming.folders(paths, options.below, names)
    jobs = []
    places = {folder: Path(os.path.normpath(output / folder)) for folder in set(folders)}
    for path, name, folder in zip(paths, names, folders, strict=True):
        place, known = places[folder], _known(path, options)
        is_each = template is not None and template.has("action") and known["action"] == ACTION
        if template is None or is_each:
            jobs.append(FileJob(path, place / name, is_each=is_each))
        else:
            jobs.append(_versioned(path, place, known, options))
    _check_apart(jobs, template)
    return jobs


def _formats(options: argparse.Namespace) -> dict[str, str]:
    """The kinds of outputs of a verb, with their suffixes."""
    return getattr(options, "formats", FORMATS)


def _check_apart(jobs: Sequence[FileJob], template: naming.Template | None) -> None:
    """Raises Misuse if two outputs have one path."""
    remedy = "give a template of names" if template is None else "put {stem} in the template of names"
    taken: dict[str, Path] = {}
    for job in jobs:
        # Some file systems ignore case.
        key = str(job.output).casefold()
        if key in taken:
            raise Misuse(
                f"{taken[key]} and {job.input} would both be written to {job.output}; rename one, run them apart, or "
                f"{remedy}"
            )
        taken[key] = job.input


def _name(path: Path, options: argparse.Namespace) -> str:
    """The name of an output, of the first version."""
    if options.template is None:
        return path.stem + _suffix(path, options)
    try:
        return options.template.name(_known(path, options)) + _suffix(path, options)
    except BatchError as error:
        raise Misuse(f"the template of names: {error}") from None


def named(job: FileJob, action: str, each: EachOf, options: argparse.Namespace) -> FileJob:
    """The job of one action of a file that has an output for each."""
    known = {**_known(job.input, options), "action": action}
    return replace(_versioned(job.input, job.output.parent, known, options), each=each)


def made_before(job: FileJob, options: argparse.Namespace) -> Iterator[Path]:
    """The files that may be outputs of a job with one for each action."""
    known = {name: value for name, value in _known(job.input, options).items() if name != "action"}
    folder = job.output.parent
    yield from (folder / name for name in options.template.alike(folder, known, _suffix(job.input, options)))


def _versioned(path: Path, folder: Path, known: dict[str, str], options: argparse.Namespace) -> FileJob:
    suffix = _suffix(path, options)
    newest = options.template.newest(folder, known, suffix)
    output = folder / (options.template.name(known, newest + 1) + suffix)
    former = folder / (options.template.name(known, newest) + suffix) if newest else None
    return FileJob(path, output, former=former)


def _known(path: Path, options: argparse.Namespace) -> dict[str, str]:
    """What a template may name, as far as it is known before the file is read: which actions there are is not."""
    known = {"stem": path.stem, "folder": path.absolute().parent.name, "verb": options.verb, "action": ACTION}
    for name in ("action", "rig"):
        given = getattr(options, name, None) or ()
        if len(given) == 1 and not set(given[0]) & set("*?["):
            known[name] = given[0]
    return known


def _is_folder(output: Path, *, several: bool) -> bool:
    if output.is_dir():
        return True
    if several and (output.is_file() or output.suffix.lower() in OUTPUTS):
        raise Misuse(f"--output {output} is a file, but there are several inputs; give a folder")
    return several or not output.suffix


def _suffix(path: Path, options: argparse.Namespace) -> str:
    if options.format is not None:
        return _formats(options)[options.format]
    return ".glb" if path.suffix.lower() in GLTF else ".blend"


def check_input(path: Path) -> None:
    """Raise FileError unless `path` is a file of a kind that can be read."""
    if path.is_dir():
        raise FileError("This is a folder; name the files in it.", code="input-is-folder")
    if not path.exists():
        raise FileError("There is no such file; check the path.", code="input-missing")
    if not path.is_file():
        # Reading a pipe may never end.
        raise FileError("This is a pipe or a device; name files.", code="input-kind")
    if path.suffix.lower() not in INPUTS:
        kind = f"Files of the kind {path.suffix}" if path.suffix else "Files without a suffix"
        raise FileError(
            "{kind} cannot be read; give one of {inputs}.", kind=kind, inputs=" ".join(INPUTS), code="input-kind"
        )
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
    except OSError as error:
        raise FileError(
            "The file cannot be read ({reason}); check its permissions.", reason=error.strerror, code="unreadable"
        ) from None
    if empty:
        raise FileError("The file is empty; save or export it again.", code="input-empty")


class FilesRead:
    """The files that a run reads. Whether an output is one of them is found without a look at each, for each output."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths

    def at(self, path: Path) -> Path | None:
        """The file that is read at a path, by whatever names and links; None where none is."""
        try:
            status = path.stat()
        except OSError:
            return self._by_name.get(os.path.abspath(path)) or self._by_name.get(os.path.realpath(path))
        return self._by_identity.get((status.st_dev, status.st_ino))

    @cached_property
    def _by_name(self) -> dict[str, Path]:
        return {os.path.abspath(path): path for path in self._paths}

    @cached_property
    def _by_identity(self) -> dict[tuple[int, int], Path]:
        known = {}
        for path in self._paths:
            with contextlib.suppress(OSError):
                found = path.stat()
                known[found.st_dev, found.st_ino] = path
        return known


def check_output(job: FileJob, read: FilesRead) -> None:
    """Raise FileError where the output is one of the files that are read, or cannot be written."""
    path = read.at(job.output)
    if path is not None:
        what = "the input itself" if path == job.input else f"the input {path}"
        raise FileError(
            "The output {output} is {what}; write to another file.",
            output=job.output,
            what=what,
            code="output-is-input",
        )
    whole_file.check_writable(job.output)


def check_report(arguments: argparse.Namespace, outputs: Iterable[Path] = ()) -> None:
    """Raise Misuse where the report cannot be written, or would take the place of another file of this run.

    arguments: every file that is named in them is an input.
    """
    destination: Path | None = arguments.report
    if destination is None or destination == report.STANDARD_OUTPUT or whole_file.is_stream(destination):
        return
    for path in (*_files_named(arguments), *outputs):
        if _same(destination, path):
            raise Misuse(f"--report {destination} is also an input or output; choose another name")
    if destination.suffix.lower() in INPUTS:
        # A mistyped line must not replace a scene by a report.
        raise Misuse(f"--report {destination} is the name of an animation; choose another one, such as report.json")
    try:
        whole_file.check_writable(destination)
    except FileError as error:
        raise Misuse(f"--report: {error}") from None


def _files_named(arguments: argparse.Namespace) -> Iterator[Path]:
    """All paths among the arguments but those that are written."""
    for name, value in vars(arguments).items():
        if name not in ("report", "output"):
            found = value if isinstance(value, list | tuple) else [value]
            yield from (item for item in found if isinstance(item, Path))


def _same(one: Path, other: Path) -> bool:
    """Whether two paths are one file, by whatever names and links."""
    try:
        return one.samefile(other)
    except OSError:
        # A link in a circle has no place; it is what it is called.
        return os.path.realpath(one) == os.path.realpath(other)
