"""Look-at PD: the add-on package. Registers an explicit list of modules, in order, and unregisters it in reverse."""

from types import ModuleType


def modules() -> tuple[ModuleType, ...]:
    """What registers classes, in order.

    Imported here and not at the top: tools that collect the checkout's Python files read this one without its package.
    """
    from . import cli, operators, panels, translations
    from .rig import live, settings

    return translations, settings, live, operators, panels, cli


def register() -> None:
    """Called by Blender when the extension is enabled."""
    for module in modules():
        module.register()


def unregister() -> None:
    """Called by Blender when the extension is disabled."""
    for module in reversed(modules()):
        module.unregister()
