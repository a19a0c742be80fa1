"""Edits where a window handles events, as a click on a button makes them; imported inside Blender only."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar

import bpy

from .hands import Hands, Waiting

_KEY = "F20"


class _Click(bpy.types.Operator):
    """Make the edit that was asked for"""

    bl_idname = "windowed.click"
    bl_label = "Click"
    asked: ClassVar[list[Callable[[], object]]] = []
    faults: ClassVar[list[Exception]] = []

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            self.asked.pop()()
        except Exception as fault:
            self.faults.append(fault)
        return {"FINISHED"}


@contextmanager
def clicking() -> Iterator[None]:
    """A key of the window makes what is asked for meanwhile."""
    bpy.utils.register_class(_Click)
    keys = bpy.context.window_manager.keyconfigs.addon.keymaps.new(name="Window", space_type="EMPTY")
    item = keys.keymap_items.new(_Click.bl_idname, _KEY, "PRESS")
    try:
        yield
    finally:
        keys.keymap_items.remove(item)
        bpy.utils.unregister_class(_Click)


def click(hands: Hands, edit: Callable[[], object], name: str = "edit") -> Waiting:
    """Make an edit by an event, within `clicking`. Raises what it raises."""
    _Click.asked.append(edit)
    yield from hands.key(_KEY)
    assert not _Click.asked, f"{name}: no event has come"
    if _Click.faults:
        raise _Click.faults.pop()
