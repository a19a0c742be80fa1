"""A job file: defaults of a show, and a section for each character, with patterns of files and settings."""

import difflib
import glob
import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import BatchError

SHOW = "show"
"""Section of the defaults."""
FOLDER = "folder"
"""Key outside of all sections: the folder of the job, where it is not that of the file."""
FILES, VERB = "files", "verb"
"""Keys of a section that are no setting of the verb."""
_USUAL_VERB = "bake"


@dataclass(frozen=True)
class Section:
    """The files of a character, and what is done with them."""

    name: str
    verb: str
    paths: tuple[Path, ...]
    settings: Mapping[str, Any]
    """Of the verb, the defaults of the show among them."""


@dataclass
class Job:
    """What is to be done with which files."""

    content: dict[str, Any]
    """Sections by name, each with its keys."""
    path: Path = field(default_factory=lambda: Path("job"))
    """Where it was read from."""
    text: str = ""
    """As it was read."""

    @staticmethod
    def read(path: Path) -> "Job":
        """A TOML file, or one with the same as JSON. Raises BatchError."""
        try:
            text = path.read_text("utf-8-sig")
            content = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
        except OSError as error:
            raise BatchError(f"the job file {path} cannot be read ({error.strerror})") from None
        except (ValueError, RecursionError) as error:
            raise BatchError(f"{path}: {error}") from None
        return Job(content, path, text)

    @property
    def folder(self) -> Path:
        """That which all paths in the job are relative to."""
        return Path(self.content.get(FOLDER) or self.path.parent)

    def put(self, name: str, word: str) -> None:
        """Set a key: name is SECTION.KEY, word its value as TOML, or a text. Raises BatchError."""
        section, _, key = name.partition(".")
        if not key or section not in self.content:
            raise BatchError(f"--set {name}: there is no such section; there are {', '.join(self.content)}")
        try:
            value = tomllib.loads(f"value = {word}")["value"]
        except tomllib.TOMLDecodeError:
            value = word
        self.content[section][key] = value

    def place(self, section: str, key: str = "") -> str:
        """Where something is in the file, as sentences begin with it."""
        number = self._line(section, key)
        where = f"{self.path}, line {number}" if number else str(self.path)
        return f"{where}: [{section}] {key}".rstrip()

    def owner(self, section: str, key: str) -> str:
        """The section that a setting of a section is from: its own, or that of the defaults."""
        return SHOW if key in self.content.get(SHOW, {}) and key not in self.content.get(section, {}) else section

    def at(self, section: str, key: str) -> str:
        """Where a setting of a section is, as `place` has it: in the section, or among the defaults."""
        return self.place(self.owner(section, key), key)

    def sections(self) -> list[Section]:
        """Raises BatchError."""
        for name, keys in self.content.items():
            if not isinstance(keys, dict) and name != FOLDER:
                raise BatchError(f"{self.path}: {name} stands outside of a section; put it below [{SHOW}]")
        defaults = self.content.get(SHOW, {})
        if FILES in defaults:
            raise BatchError(f"{self.place(SHOW, FILES)}: files belong to the section of a character")
        names = [name for name in self.content if name not in (SHOW, FOLDER)]
        if not names:
            raise BatchError(f"{self.path}: there is no section with files, such as [anna]")
        found = [self._section(name, {**defaults, **self.content[name]}) for name in names]
        self._check_apart(found)
        return found

    def _section(self, name: str, keys: Mapping[str, Any]) -> Section:
        patterns = keys.get(FILES)
        patterns = [patterns] if isinstance(patterns, str) else patterns
        if not isinstance(patterns, list) or not patterns or not all(isinstance(one, str) for one in patterns):
            raise BatchError(f"{self.place(name, FILES)}: give a list of files or patterns, such as ['anna/*.blend']")
        paths: dict[Path, None] = {}
        for pattern in patterns:
            here = sorted(glob.glob(pattern, root_dir=self.folder, recursive=True))
            if not here:
                raise BatchError(f"{self.place(name, FILES)}: {pattern!r} matches no file")
            paths |= dict.fromkeys(Path(os.path.normpath(self.folder / one)) for one in here)
        settings = {key: value for key, value in keys.items() if key not in (FILES, VERB)}
        return Section(name, str(keys.get(VERB, _USUAL_VERB)), tuple(paths), settings)

    def _check_apart(self, sections: Sequence[Section]) -> None:
        owners: dict[Path, str] = {}
        for section in sections:
            for path in section.paths:
                if path in owners:
                    raise BatchError(
                        f"{self.place(section.name, FILES)}: {path} is in [{owners[path]}] too; leave it in one section"
                    )
                owners[path] = section.name

    def unknown(self, section: str, key: str, known: Iterable[str]) -> BatchError:
        """The complaint about a key."""
        alike = difflib.get_close_matches(key, [*known], n=1)
        remedy = f"write {alike[0]}" if alike else "remove it"
        return BatchError(f"{self.at(section, key)} is an unknown key; {remedy}")

    def _line(self, section: str, key: str) -> int | None:
        is_inside = False
        for number, line in enumerate(self.text.splitlines(), 1):
            if line.lstrip().startswith("["):
                is_inside = line.strip().strip("[]").strip("\"' ") == section
                if is_inside and not key:
                    return number
            elif is_inside and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
                return number
        return None
