"""Operators, one file a verb: they read settings, call the rig room and report."""

from . import add, bake, chain, key, remove

MODULES = (add, remove, chain, key, bake)


def register() -> None:
    for module in MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(MODULES):
        module.unregister()
