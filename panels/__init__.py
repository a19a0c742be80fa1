"""Panels, one file a panel: they show settings and buttons and hold no logic."""

from . import directing, dynamics, dynamics_overlay, ik, look_at, menus, overlay, presets, transitions

MODULES = (presets, look_at, directing, overlay, transitions, ik, dynamics, dynamics_overlay, menus)


def register() -> None:
    for module in MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(MODULES):
        module.unregister()
