"""Look-at PD: the add-on package. Registers an explicit list of modules, in order, and unregisters it in reverse."""

from collections.abc import Sequence
from types import ModuleType

from . import cli, operators, panels
from .rig import settings

MODULES: Sequence[ModuleType] = (settings, operators, panels, cli)


def register() -> None:
    """Called by Blender when the extension is enabled."""
    for module in MODULES:
        module.register()


def unregister() -> None:
    """Called by Blender when the extension is disabled."""
    for module in reversed(MODULES):
        module.unregister()
