"""What Blender calls by itself: handlers, timers, what draws, and what belongs to a class. All of it is guarded here.

Nobody reads an exception that is raised there: Blender prints it, at each frame or each redraw, and forgets a timer. A
guard keeps the fault instead, once, for the panel and *Report a Problem*; what is called next finds the file as usable
as before. Operators that somebody calls are guarded by `operators/guarding`, which answers in the status bar.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, wraps
from types import FunctionType
from typing import Any, TypeVar

import bpy
from bpy.app.handlers import persistent

from . import faults

Call = TypeVar("Call", bound=Callable[..., Any])

_CALLED: dict[type, tuple[str, ...]] = {
    bpy.types.Panel: ("poll", "draw", "draw_header", "draw_header_preset"),
    bpy.types.Menu: ("poll", "draw"),
    bpy.types.UIList: ("draw_item", "draw_filter", "filter_items"),
    bpy.types.GizmoGroup: ("poll", "setup", "refresh", "draw_prepare", "invoke_prepare"),
    bpy.types.AddonPreferences: ("draw",),
    bpy.types.Operator: ("poll", "draw"),
}
"""What Blender calls of a class as often as it likes."""
_VARIABLE = 0x04
"""Flag of the code of a function that takes any number of arguments."""
_OF_ARGUMENTS: tuple[Callable[[Callable[..., Any]], Callable[..., Any]], ...] = (
    lambda run: lambda: run(),
    lambda run: lambda a: run(a),
    lambda run: lambda a, b: run(a, b),
    lambda run: lambda a, b, c: run(a, b, c),
    lambda run: lambda a, b, c, d: run(a, b, c, d),
    lambda run: lambda a, b, c, d, e: run(a, b, c, d, e),
    lambda run: lambda a, b, c, d, e, f: run(a, b, c, d, e, f),
    lambda run: lambda a, b, c, d, e, f, g: run(a, b, c, d, e, f, g),
    lambda run: lambda a, b, c, d, e, f, g, h: run(a, b, c, d, e, f, g, h),
    lambda run: lambda a, b, c, d, e, f, g, h, i: run(a, b, c, d, e, f, g, h, i),
    lambda run: lambda a, b, c, d, e, f, g, h, i, j: run(a, b, c, d, e, f, g, h, i, j),
)
"""Functions of that many arguments that call another one; those of `draw_item` are the most."""
_INSTEAD: dict[str, Any] = {"poll": False, "filter_items": ([], [])}
"""What it gets where that fails."""


def guarded(call: Call, instead: Callable[..., Any] | None = None) -> Call:
    """The same function, which keeps what it raises as a fault. instead: called with the same arguments then."""

    def run(*arguments: Any) -> Any:
        try:
            return guard.__wrapped__(*arguments)  # type: ignore[attr-defined]
        except Exception as fault:
            faults.keep_once(fault)
        return None if instead is None else instead(*arguments)

    guard = _counting(call, run)
    guard.guards = True  # type: ignore[attr-defined]
    return guard  # type: ignore[return-value]


def is_guarded(call: object) -> bool:
    return hasattr(call, "guards")


def _counting(call: Callable[..., Any], run: Callable[..., Any]) -> Callable[..., Any]:
    """With as many arguments as the function: Blender counts those of what belongs to a class."""
    code = getattr(call, "__code__", None)
    if code is None or code.co_flags & _VARIABLE:
        # Each frame of playback calls a handler: without one more function around it.
        return wraps(call)(run)
    return wraps(call)(_OF_ARGUMENTS[code.co_argcount](run))


def handler(call: Call) -> Call:
    """Decorates a function for a list of `bpy.app.handlers`; it stays there when another file is opened."""
    return persistent(guarded(call))


def add_handlers(handlers: Iterable[tuple[str, Callable[..., Any]]]) -> None:
    """Have Blender call functions, each with the name of a list of `bpy.app.handlers`."""
    for name, call in handlers:
        getattr(bpy.app.handlers, name).append(call)


def remove_handlers(handlers: Sequence[tuple[str, Callable[..., Any]]]) -> None:
    """Undo `add_handlers`."""
    for name, call in reversed(handlers):
        getattr(bpy.app.handlers, name).remove(call)


# Timers


def start_timer(call: Callable[[], float | None], first_interval: float, *, persistent: bool = False) -> None:
    """Have a function called after some seconds, and again after as many as it returns; where it fails, no more."""
    bpy.app.timers.register(timer(call), first_interval=first_interval, persistent=persistent)


def is_timed(call: Callable[[], float | None]) -> bool:
    return bpy.app.timers.is_registered(timer(call))


def stop_timer(call: Callable[[], float | None]) -> None:
    """It is not called again; nothing where it would not be."""
    if is_timed(call):
        bpy.app.timers.unregister(timer(call))


def timer(call: Callable[[], float | None]) -> Callable[[], float | None]:
    """What Blender calls for a function: the same each time, so that it can be found again."""
    return _kept(call) if isinstance(call, FunctionType) else guarded(call)


@cache
def _kept(call: Callable[[], float | None]) -> Callable[[], float | None]:
    return guarded(call)


# Classes


def guard_class(kind: type, draw_instead: Callable[..., Any] | None = None) -> None:
    """Wrap what Blender calls of a class by itself, its own or inherited, before it is registered.

    draw_instead: called in place of a `draw` that fails.
    """
    for name in _calls(kind):
        found = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
        plain = found.__func__ if isinstance(found, classmethod) else found
        if not isinstance(plain, FunctionType) or is_guarded(plain):
            continue
        value = _INSTEAD.get(name)
        instead = draw_instead if name == "draw" else None if value is None else lambda *_, value=value: value
        guard = guarded(plain, instead)
        setattr(kind, name, classmethod(guard) if isinstance(found, classmethod) else guard)


def _calls(kind: type) -> tuple[str, ...]:
    return next((names for base, names in _CALLED.items() if issubclass(kind, base)), ())
