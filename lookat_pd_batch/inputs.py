"""From what is named on the command line to files: folders with those below them, and lists of names."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .errors import BatchError

LIST = "@"
"""What the name of a file with names begins with."""
STANDARD_INPUT = "-"


@dataclass
class Inputs:
    """Files to read."""

    paths: list[Path] = field(default_factory=list)
    below: dict[str, str] = field(default_factory=dict)
    """By path, the folder in which its output is placed below that of all outputs. Of files in a folder."""
    notes: list[str] = field(default_factory=list)
    """What was left out, as sentences."""
    empty: list[Path] = field(default_factory=list)
    """Folders without a file to read."""

    def add_folder(self, folder: Path, is_wanted: Callable[[str], bool]) -> None:
        found = list(self._walk(folder, folder, is_wanted, (_identity(folder),)))
        if not found:
            self.empty.append(folder)
        below: dict[Path, str] = {}
        for path in found:
            if path.parent not in below:
                below[path.parent] = os.path.relpath(path.parent, folder)
            self.paths.append(path)
            self.below[str(path)] = below[path.parent]

    def _walk(
        self, folder: Path, top: Path, is_wanted: Callable[[str], bool], above: Sequence[tuple[int, int]]
    ) -> Iterator[Path]:
        """Files first, then folders, each by name: the same order on every machine."""
        try:
            with os.scandir(folder) as inside:
                items = sorted(inside, key=lambda item: item.name)
        except OSError as error:
            self.notes.append(f"The folder {folder} cannot be read ({error.strerror}) and is left out.")
            return
        folders = []
        for item in items:
            if item.name.startswith("."):
                continue
            if _is_folder(item):
                folders.append(Path(folder, item.name))
            elif is_wanted(item.name):
                # A link that leads nowhere is a file that cannot be read.
                yield Path(folder, item.name)
        for path in folders:
            identity = _identity(path)
            if identity in above:
                self.notes.append(f"The link {path} leads back to a folder above it and is left out.")
                continue
            yield from self._walk(path, top, is_wanted, (*above, identity))


def expand(named: Sequence[Path], is_wanted: Callable[[str], bool]) -> Inputs:
    """All files; is_wanted: whether a file in a folder is read, by its name. Raises BatchError."""
    found = Inputs()
    for path in _listed(named):
        if path.is_dir() and not is_wanted(path.name):
            found.add_folder(path, is_wanted)
        else:
            found.paths.append(path)
    return found


def _listed(named: Sequence[Path]) -> Iterator[Path]:
    for path in named:
        text = str(path)
        if text == STANDARD_INPUT:
            yield from _lines(sys.stdin.buffer.read() if sys.stdin is not None else b"")
        elif text.startswith(LIST) and not path.exists():
            try:
                content = Path(text[len(LIST) :]).read_bytes()
            except OSError as error:
                raise BatchError(f"the list {text[len(LIST) :]} cannot be read ({error.strerror})") from None
            yield from _lines(content)
        else:
            yield path


def _lines(content: bytes) -> Iterator[Path]:
    """Names of files in any encoding, one a line."""
    yield from (Path(os.fsdecode(line)) for line in content.splitlines() if line.strip())


def _is_folder(item: "os.DirEntry[str]") -> bool:
    try:
        return item.is_dir()
    except OSError:
        # Links in a circle.
        return False


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino
