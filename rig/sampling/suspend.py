"""Suspending what the extension does to a file while something else samples or writes there.

Packages above register here what must be left out while the rig is sampled, so that sampling does not import them.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass

import bpy

_suspended = 0


@dataclass(frozen=True)
class LeftOut:
    """What sampling leaves out."""

    disabled: Callable[[Collection[bpy.types.Object]], AbstractContextManager[bool]]
    """A context in which its data adds nothing on any rig but some, which are not sampled: whether anything of it had
    to be changed for that."""
    disable_on: Callable[[bpy.types.Object, bpy.types.Object], None]
    """Lets its data on a copy of a rig, which comes first, add nothing."""

    def changing(
        self,
        rig: bpy.types.Object,
        itself: Callable[[], AbstractContextManager[object]],
        on_copy: Callable[[bpy.types.Object], None],
    ) -> "LeftOut":
        """The same, and a rig is changed beside it: a copy that stands in for it, or it itself in a context, which says
        by False that nothing had to be changed."""

        @contextmanager
        def disabled(spared: Collection[bpy.types.Object]) -> Iterator[bool]:
            with ExitStack() as stack:
                changed = stack.enter_context(self.disabled(spared))
                if rig not in spared:
                    changed = stack.enter_context(itself()) is not False or changed
                yield changed

        def disable_on(copy: bpy.types.Object, original: bpy.types.Object) -> None:
            self.disable_on(copy, original)
            if original == rig:
                on_copy(copy)

        return LeftOut(disabled, disable_on)


LAYERS: list[LeftOut] = []

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
def layers_disabled(
    spared: Collection[bpy.types.Object] = (), layers: Sequence[LeftOut] | None = None
) -> Iterator[bool]:
    """Let nothing that the extension has put on any rig add to its pose: whether anything had to be changed for that.

    spared: rigs that stay as they are. layers: what is left out, all by default.
    """
    with ExitStack() as stack:
        changed = [stack.enter_context(layer.disabled(spared)) for layer in (LAYERS if layers is None else layers)]
        yield any(changed)


def disable_on(copies: Mapping[bpy.types.Object, bpy.types.Object], layers: Sequence[LeftOut] | None = None) -> None:
    """The same of copies of rigs, for as long as there are these. copies: by what they are copies of."""
    for original, copy in copies.items():
        for layer in LAYERS if layers is None else layers:
            layer.disable_on(copy, original)


EVERYTHING = LeftOut(layers_disabled, lambda copy, original: disable_on({original: copy}))
"""All layers together."""


def is_watched(item: bpy.types.Object) -> bool:
    """Whether anything that the extension has put on a rig may depend on where an object, or one of its bones, is."""
    return any(watches(item) for watches in WATCHERS)
