"""Panels drawn with a layout of our own: Blender makes no panels for scripts."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import bpy

from .layouts import Layout


class Drawn:
    """A panel with a layout of our own."""

    def __init__(self, kind: type, layout: Layout) -> None:
        self._kind, self.layout = kind, layout

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._kind, name)
        return found.__get__(self) if type(found).__name__ == "function" and not _is_static(self._kind, name) else found


def _is_static(kind: type, name: str) -> bool:
    return any(isinstance(vars(one).get(name), staticmethod) for one in kind.__mro__)


class Context:
    """The context of a 3D viewport."""

    region = SimpleNamespace(width=280)
    space_data = SimpleNamespace(overlay=SimpleNamespace(show_overlays=True))
    area = None

    def __getattr__(self, name: str) -> Any:
        return getattr(bpy.context, name)


def panels() -> Iterator[type]:
    for name in sorted(dir(bpy.types)):
        kind = getattr(bpy.types, name)
        if name.startswith("LOOKAT_PD_PT_") and "draw" in dir(kind) and not name.endswith("presets"):
            yield kind
