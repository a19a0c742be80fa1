"""Suspending what the extension does to a file while something else samples or writes there.

Packages above register here what must be left out while the rig is sampled, so that sampling does not import them.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

import bpy

_suspended = 0
LAYERS: list[Callable[[], AbstractContextManager[None]]] = []
"""What sampling leaves out: each makes a context in which its data on the rigs adds nothing."""

WATCHERS: list[Callable[[bpy.types.Object], bool]] = []
"""Whether what a layer adds may depend on where an object, or one of its bones, is."""


@contextmanager
def suspend_live() -> Iterator[None]:
    """Leave the rigs alone meanwhile: live updates do nothing."""
    global _suspended
    _suspended += 1
    try:
        yield
    finally:
        _suspended -= 1


def is_live_suspended() -> bool:
    """Whether something samples or writes, so that live updates must wait."""
    return _suspended > 0


@contextmanager
def layers_disabled() -> Iterator[None]:
    """Let nothing that the extension has put on any rig add to its pose."""
    with ExitStack() as stack:
        for layer in LAYERS:
            stack.enter_context(layer())
        yield


def is_watched(item: bpy.types.Object) -> bool:
    """Whether anything that the extension has put on a rig may depend on where an object, or one of its bones, is."""
    return any(watches(item) for watches in WATCHERS)
