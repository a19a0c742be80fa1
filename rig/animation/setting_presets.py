"""Presets of settings as files that Blender's own preset menus list, save and remove.

A preset is a Python file as Blender writes them, `look_at.settle_time = 0.45` a line. It is read and never run, so that
one from somebody else can do no harm: what is more than such a line is an error.
"""

import ast
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...lookat_pd.errors import FileError
from . import preset_files
from .preset_files import shown_name

_LONGEST_FILE = 1_000_000
_DEEPEST = 2
"""How many names a setting has: that of its group, and its own."""
_LARGEST = 1e9
"""What Blender's properties hold; they have bounds of their own."""


@dataclass(frozen=True, eq=False)
class SettingPresets:
    """Presets of one kind."""

    subfolder: str
    """Below each of Blender's preset folders, the user's own and those that come with extensions."""
    name: str
    """Name of the settings in a file."""
    source: str
    """What the name stands for when Blender runs a file."""
    type: Callable[[], Any]
    """Returns the RNA of the settings."""
    contents: Callable[[], tuple[str, ...]]
    """Returns the settings that a preset may set, those of a group as `body.torso_from`."""
    tables: Mapping[str, Callable[[Any], bool] | None] = field(default_factory=dict)
    """Further texts, saved only where the first is not empty, with the test that each must pass."""

    def available(self) -> dict[str, Path]:
        """Name to file of every preset, those that come with the extension first; a user's own wins over these."""
        return preset_files.available(self.subfolder, ".py")

    def shipped(self) -> dict[str, Path]:
        """Name to file of the presets that come with the extension."""
        folder = preset_files.SHIPPED / "presets" / self.subfolder
        return {shown_name(path): path for path in sorted(folder.glob("*.py"))}

    def about(self, path: Path) -> str:
        """What the file says of itself in its first line; nothing where it says nothing or cannot be read."""
        try:
            return ast.get_docstring(_parsed(path)) or ""
        except FileError:
            return ""

    def name_of(self, settings: Any) -> str:
        """The preset that settings are as; an empty text where they are as none. One that is broken is passed over."""
        for name, path in self.available().items():
            with suppress(FileError, OSError):
                preset = _read_once(self, path, path.stat().st_mtime_ns)
                if all(_is_same(value(settings, key), word) for key, word in preset.items() if key not in self.tables):
                    return name
        return ""

    def are_default(self, settings: Any) -> bool:
        """Whether all settings that a preset may set have their defaults."""
        return all(_is_same(value(settings, key), self.property(key).default) for key in self.contents())

    def read(self, path: Path) -> dict[str, Any]:
        """The settings of a preset. Raises FileError."""
        settings: dict[str, Any] = {}
        for line in _parsed(path).body:
            setting = self._setting(line)
            if setting is not None:
                settings |= dict([setting])
            elif not self._is_preamble(line):
                raise FileError(
                    "Line {line} of the preset '{preset}' is not a setting; fix or delete its file.",
                    line=line.lineno,
                    preset=shown_name(path),
                )
        allowed = (*self.contents(), *self.tables)
        for key, word in settings.items():
            if key not in allowed:
                raise FileError(
                    "The preset '{preset}' sets '{key}', which is not allowed in presets; fix or delete its file.",
                    preset=shown_name(path),
                    key=key,
                )
            if not self._fits(key, word):
                raise FileError(
                    "The preset '{preset}' has an invalid value for '{key}'; fix or delete its file.",
                    preset=shown_name(path),
                    key=key,
                )
        return settings

    def write(self, settings: Any, path: Path) -> None:
        """Save settings as a preset."""
        values = ((key, value(settings, key)) for key in self.contents())
        # Blender keeps single precision: 0.45, not 0.44999998807907104.
        lines = (f"{self.name}.{key} = {np.float32(v) if isinstance(v, float) else repr(v)!s}\n" for key, v in values)
        tables = tuple(self.tables)
        kept = tables if tables and value(settings, tables[0]) else ()
        last = (f"{self.name}.{key} = {value(settings, key)!r}\n" for key in kept)
        head = f"import bpy\n\n{self.name} = {self.source}\n\n"
        path.write_text(head + "".join((*lines, *last)), "utf-8")

    def property(self, key: str) -> Any:
        """The definition of a setting."""
        *groups, name = key.split(".")
        owner = self.type()
        for group in groups:
            owner = owner.properties[group].fixed_type
        return owner.properties[name]

    def _setting(self, line: ast.stmt) -> tuple[str, Any] | None:
        """Name and value where a line gives the settings a number or a word."""
        if not isinstance(line, ast.Assign) or len(line.targets) != 1:
            return None
        place, names = line.targets[0], []
        while isinstance(place, ast.Attribute) and len(names) < _DEEPEST:
            names.insert(0, place.attr)
            place = place.value
        if not names or not isinstance(place, ast.Name) or place.id != self.name:
            return None
        try:
            return ".".join(names), ast.literal_eval(line.value)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            return None

    def _is_preamble(self, line: ast.stmt) -> bool:
        """Whether a line says what the file is about or, for Blender itself, which settings are meant."""
        if isinstance(line, ast.Assign):
            return [getattr(place, "id", "") for place in line.targets] == [self.name]
        return isinstance(line, ast.Import) or (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))

    def _fits(self, key: str, word: Any) -> bool:
        """Whether the setting can have that value."""
        prop, check = self.property(key), self.tables.get(key)
        if check is not None:
            return check(word)
        if prop.type == "ENUM":
            return isinstance(word, str) and word in prop.enum_items.keys()
        if prop.type == "BOOLEAN":
            return isinstance(word, bool)
        kinds = int if prop.type == "INT" else int | float
        return isinstance(word, kinds) and not isinstance(word, bool) and abs(word) <= _LARGEST


@cache
def _read_once(presets: SettingPresets, path: Path, changed: int) -> dict[str, Any]:
    """A preset's settings, read again when its file has changed."""
    return presets.read(path)


def _is_same(one: Any, other: Any) -> bool:
    """Whether a setting has a preset's value, in Blender's single precision."""
    if isinstance(one, float):
        return bool(np.float32(one) == np.float32(other))
    return one == other


def apply(preset: Mapping[str, Any], settings: Any) -> None:
    """Give settings the values of a preset that was read."""
    for key, word in preset.items():
        owner, name = _place(settings, key)
        setattr(owner, name, word)


def value(settings: Any, key: str) -> Any:
    """A setting, or one of a group: `settle_time`, `body.torso_from`."""
    owner, name = _place(settings, key)
    return getattr(owner, name)


def _place(settings: Any, key: str) -> tuple[Any, str]:
    *groups, name = key.split(".")
    for group in groups:
        settings = getattr(settings, group)
    return settings, name


def _parsed(path: Path) -> ast.Module:
    try:
        if path.stat().st_size > _LONGEST_FILE:
            raise ValueError("too long for a preset")
        return ast.parse(path.read_text("utf-8"))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        raise FileError(
            "The preset '{preset}' cannot be read; fix or delete its file.", preset=shown_name(path)
        ) from None


def register() -> None:
    bpy.utils.register_preset_path(str(preset_files.SHIPPED))


def unregister() -> None:
    bpy.utils.unregister_preset_path(str(preset_files.SHIPPED))
