"""Whether the mouse holds something: while objects or bones are moved, Blender refuses to change any object's mode."""

from collections.abc import Iterator

import bpy

_TRANSFORM = ("TRANSFORM_OT_", "LOOKAT_PD_OT_move_target")
"""Beginnings of the names of operators that move what the mouse holds: Blender's, and that of targets."""


def is_under_way() -> bool:
    """Whether something is being moved, rotated or scaled in a window, also right after it was duplicated or
    extruded."""
    return any(name.startswith(_TRANSFORM) for name in _running())


def _running() -> Iterator[str]:
    """Names of the operators that wait for the mouse; of those that are several in one, of each."""
    for manager in bpy.data.window_managers:
        for window in manager.windows:
            for operator in window.modal_operators:
                yield operator.bl_idname
                yield from (part.bl_idname for part in operator.macros)
