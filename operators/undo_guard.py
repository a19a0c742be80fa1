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

    called = [(name, let_go) for name in _HANDLERS]

    def register() -> None:
        bpy.utils.register_class(operator)
        callbacks.add_handlers(called)

    def unregister() -> None:
        release()
        callbacks.remove_handlers(called)
        bpy.utils.unregister_class(operator)

    return register, unregister
