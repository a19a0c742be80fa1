"""Marks a generator function as something that can be done in a window; imported inside Blender only."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec

from .hands import Hands


class Script:
    """What is known of a script: which modules of the extension it needs, dotted names below the package."""

    def __init__(self, needs: tuple[str, ...]) -> None:
        self._needs = needs

    def missing(self) -> str:
        """Why it cannot be run with the extension that is installed; "" if it can."""
        if not self._needs:
            return ""
        import extension

        package = extension.package().__name__
        lacking = [name for name in self._needs if find_spec(f"{package}.{name}") is None]
        return f"the extension has no {' and no '.join(lacking)} yet" if lacking else ""


def script(*, needs: tuple[str, ...] = ()) -> Callable:
    """Mark a function: `@script()` or `@script(needs=("rig.layers.live",))`."""

    def mark(function: Callable[[Hands], Iterator[float]]) -> Callable[[Hands], Iterator[float]]:
        function.script = Script(needs)
        return function

    return mark
