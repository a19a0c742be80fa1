"""Look-at PD: the add-on package. Registers an explicit list of modules, in order, and unregisters it in reverse."""

from collections.abc import Sequence
from types import ModuleType

MODULES: Sequence[ModuleType] = ()


def register() -> None:
    """Called by Blender when the extension is enabled."""
    for module in MODULES:
        module.register()


def unregister() -> None:
    """Called by Blender when the extension is disabled."""
    for module in reversed(MODULES):
        module.unregister()
