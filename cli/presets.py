"""Presets by name: those that come with the add-on, and those the user has saved in Blender."""

from typing import Any

from ..rig.look_at import presets
from .arguments import Misuse, shown


def available() -> list[str]:
    """Names of all presets."""
    return sorted(presets.available())


def read(name: str) -> dict[str, Any]:
    """The settings of a preset, whatever the case of its name.

    Raises Misuse, which lists the presets there are, and FileError where the file is broken.
    """
    by_name = {key.casefold(): path for key, path in presets.available().items()}
    path = by_name.get(name.casefold())
    if path is None:
        choice = f"there is {', '.join(available())}" if by_name else "this version has none"
        raise Misuse(f"there is no preset {shown(name)!r}; {choice}")
    return presets.read(path)
