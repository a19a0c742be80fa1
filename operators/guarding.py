"""Faults of the extension itself, in any operator: the animator reads one sentence, and the traceback is kept.

An error that was foreseen is a LookAtError with its remedy. What else an operator raises, Blender would show as a
traceback and nothing more. `guard` wraps the calls of a class before it is registered; `operators.register` does so for
all of them, so that none can be forgotten.
"""

import sys
import traceback
from collections.abc import Callable, Iterator
from functools import wraps
from types import ModuleType
from typing import Any

import bpy
from bpy.app.translations import pgettext_iface as iface_

from ..lookat_pd.errors import LookAtError
from ..lookat_pd.message import Message
from ..rig.guards import faults
from . import reporting


def guard(kind: type) -> None:
    """Wrap what Blender calls of an operator, its own or inherited."""
    for name, wrap in (("execute", _without_event), ("invoke", _with_event), ("modal", _with_event)):
        call = getattr(kind, name, None)
        if call is not None and not hasattr(call, "guards"):
            setattr(kind, name, wrap(call))


def operators(module: ModuleType) -> Iterator[type]:
    """The operators that a module defines."""
    for kind in vars(module).values():
        if isinstance(kind, type) and issubclass(kind, bpy.types.Operator) and kind.__module__ == module.__name__:
            yield kind


# Blender counts the arguments of what it calls.


def _without_event(call: Callable[..., set[str]]) -> Callable[..., set[str]]:
    @wraps(call)
    def guarded(self, context: bpy.types.Context) -> set[str]:
        return _run(call, self, context)

    guarded.guards = True  # pyright: ignore[reportAttributeAccessIssue]
    return guarded


def _with_event(call: Callable[..., set[str]]) -> Callable[..., set[str]]:
    @wraps(call)
    def guarded(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        return _run(call, self, context, event)

    guarded.guards = True  # pyright: ignore[reportAttributeAccessIssue]
    return guarded


def _run(call: Callable[..., set[str]], operator: Any, context: bpy.types.Context, *event: bpy.types.Event) -> set[str]:
    try:
        return call(operator, context, *event)
    except LookAtError as error:
        return reporting.report_error(operator, error)
    except Exception as fault:
        faults.keep(fault)
        if call.__name__ == "modal":
            _give_up(operator, context)
        return reporting.report_error(operator, _sentence(operator, fault))


def _give_up(operator: Any, context: bpy.types.Context) -> None:
    """Let an operator that was running put back what it has changed, as where the animator cancels it."""
    try:
        if hasattr(operator, "cancel"):
            operator.cancel(context)
    except Exception as further:
        traceback.print_exception(further, file=sys.stderr)


def _sentence(operator: Any, fault: Exception) -> Message:
    return Message(
        "'{operator}' failed because of a fault in Look-at PD ({fault}); use Report a Problem in its tab.",
        operator=iface_(operator.bl_label, "Operator"),
        fault=faults.named(fault),
    )
