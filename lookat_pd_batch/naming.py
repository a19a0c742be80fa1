"""Where the output of each input goes: below which folder, and under what name."""

import os
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import BatchError

FIELDS = ("stem", "folder", "action", "rig", "verb", "version")
"""What a template may name."""
_FIRST = 1
_DIGITS = re.compile("0[1-9]")
_FORBIDDEN = re.compile(r'[\x00-\x1f<>:"/\\|?*]')


@dataclass(frozen=True)
class Template:
    """The name of an output without its suffix, such as "{stem}_{action}_v{version:03}"."""

    text: str

    def __post_init__(self) -> None:
        """Raises BatchError."""
        try:
            for _, name, form, conversion in string.Formatter().parse(self.text):
                if name is None:
                    continue
                if conversion is not None:
                    raise BatchError(f"{{{name}!{conversion[:20]}}} has a conversion; write {{{name}}}")
                if name not in FIELDS:
                    raise BatchError(f"{{{name}}} is unknown; there are {', '.join(f'{{{one}}}' for one in FIELDS)}")
                if form and (name != "version" or not _DIGITS.fullmatch(form)):
                    raise BatchError(
                        f"{{{name}:{form[:20]}}}: only {{version}} takes a number of digits, from 01 to 09, such as "
                        "{version:03}"
                    )
        except BatchError:
            raise
        except ValueError:
            raise BatchError(f"{self.text!r} is not a name with fields such as {{stem}}_v{{version:03}}") from None
        if not self.text.strip() or self.text.startswith(".") or "/" in self.text or "\\" in self.text:
            raise BatchError(f"{self.text!r} is not the name of a file; folders are those of the inputs")

    def has(self, name: str) -> bool:
        return any(found == name for _, found, _, _ in string.Formatter().parse(self.text))

    def name(self, known: Mapping[str, str], version: int = _FIRST) -> str:
        """The name of one output. known: of the other fields. Raises BatchError where one is not known."""
        missing = next((one for one in FIELDS if self.has(one) and one != "version" and not known.get(one)), None)
        if missing is not None:
            raise BatchError(f"{{{missing}}} is not known before the file is read; give one --{missing} by its name")
        safe = {key: _FORBIDDEN.sub("_", value) for key, value in known.items()}
        return self.text.format(**safe, version=version)

    def newest(self, folder: Path, known: Mapping[str, str], suffix: str) -> int:
        """The highest version that there is in a folder; 0 if there is none, or no {version}."""
        if not self.has("version"):
            return 0
        return max((int(match[1]) for match in self._matches(folder, known, suffix)), default=0)

    def alike(self, folder: Path, known: Mapping[str, str], suffix: str) -> list[str]:
        """The names in a folder that there may be of these fields, whatever the others are, in order."""
        return sorted(match[0] for match in self._matches(folder, known, suffix))

    def _matches(self, folder: Path, known: Mapping[str, str], suffix: str) -> list[re.Match[str]]:
        """Those of the names in a folder; the first group is the version. Fields that are not known may be anything."""
        fields = {name: re.escape(_FORBIDDEN.sub("_", value)) for name, value in known.items()} | {"version": r"(\d+)"}
        parts = string.Formatter().parse(self.text)
        pattern = "".join(re.escape(text) + (fields.get(name, ".+") if name else "") for text, name, _, _ in parts)
        wanted = re.compile(pattern + re.escape(suffix))
        try:
            names = os.listdir(folder)
        except OSError:
            return []
        return [match for match in map(wanted.fullmatch, names) if match]


def folders(paths: Sequence[Path], below: Mapping[str, str], names: Sequence[str]) -> list[Path]:
    """The folder of each output below that of all.

    Files in a folder that was named keep their places in it. Files that were named themselves lie side by side; where
    two would have one name, all of them keep their places below the folder that they share.
    """
    alone = [n for n, path in enumerate(paths) if str(path) not in below]
    taken = [names[n].casefold() for n in alone]
    if len(set(taken)) == len(taken):
        return [Path(below.get(str(path), ".")) for path in paths]
    top = os.path.commonpath([os.path.abspath(paths[n].parent) for n in alone])
    return [Path(below.get(str(path)) or os.path.relpath(os.path.abspath(path.parent), top)) for path in paths]
