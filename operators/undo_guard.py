"""Operators that run in the window and must stop before an undo or another file replaces their data."""

from collections.abc import Callable

import bpy

from ..rig.guards import callbacks

_HANDLERS = ("undo_pre", "redo_pre", "load_pre")


def guarded(operator: type, release: Callable[[], None]) -> tuple[Callable[[], None], Callable[[], None]]:
    """`register` and `unregister` of an operator; `release` ends all that is running, before the data is replaced."""

    @callbacks.handler
    def let_go(*_: object) -> None:
        release()

    def register() -> None:
        bpy.utils.register_class(operator)
        for name in _HANDLERS:
            getattr(bpy.app.handlers, name).append(let_go)

    def unregister() -> None:
        release()
        for name in reversed(_HANDLERS):
            getattr(bpy.app.handlers, name).remove(let_go)
        bpy.utils.unregister_class(operator)

    return register, unregister
