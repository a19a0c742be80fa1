"""Faults of the extension itself: the last one is kept for *Report a Problem*, and the panel says that there is one.

An error that was foreseen is a LookAtError with its remedy. All else that is raised in an operator comes here from
`operators/guarding`, what is raised in anything that Blender calls by itself from `callbacks`.
"""

import sys
import traceback

import bpy

Place = tuple[type, str, int]

_faults: list[BaseException] = []
"""The last fault, for as long as Blender runs."""
_seen: list[BaseException] = []
"""It too, once the animator has reported or dismissed it."""
_known: set[Place] = set()
"""Where something failed that nobody had called on purpose: it may fail so at each redraw."""
_gone: set[Place] = set()
"""Where something was held that had gone from the file, as by an undo; it is looked up again the next time."""


def last() -> BaseException | None:
    """The last thing raised that nobody had foreseen; None where there was none."""
    return _faults[-1] if _faults else None


def is_new() -> bool:
    """Whether there is a fault that the animator has neither reported nor dismissed."""
    return _faults != _seen


def dismiss() -> None:
    """Say nothing more of the last fault; Report a Problem still knows it."""
    _seen[:] = _faults


def forget() -> None:
    """As if there had been no fault: the extension is disabled."""
    _faults.clear()
    _seen.clear()
    _known.clear()
    _gone.clear()


def keep(fault: BaseException) -> None:
    """Keep a fault for Report a Problem, and print it where developers look."""
    _faults[:] = [fault]
    traceback.print_exception(fault, file=sys.stderr)


def keep_once(fault: BaseException) -> None:
    """The same, unless what is called again and again failed in the same place before."""
    place = _place(fault)
    if isinstance(fault, ReferenceError) and place not in _gone:
        _gone.add(place)
    elif place not in _known:
        _known.add(place)
        keep(fault)
        _redraw()


def named(fault: BaseException) -> str:
    """Its kind and its text, in one line."""
    return " ".join(f"{type(fault).__name__}: {fault}".split())


def _place(fault: BaseException) -> Place:
    frames = traceback.extract_tb(fault.__traceback__)
    return type(fault), frames[-1].filename if frames else "", (frames[-1].lineno or 0) if frames else 0


def _redraw() -> None:
    """Sidebars, which say it."""
    for manager in bpy.data.window_managers:
        for window in manager.windows:
            for area in window.screen.areas:
                if area.type == "VIEW_3D":
                    area.tag_redraw()
