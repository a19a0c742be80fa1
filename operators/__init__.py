"""Operators, one file a verb: they read settings, call the rig room and report."""

from ..rig import transition
from . import add, bake, best_cut, chain, inertialize, key, loop_action, remove, smooth_pop, strip_transition

MODULES = (transition, add, remove, chain, key, bake, inertialize, best_cut, smooth_pop, loop_action, strip_transition)


def register() -> None:
    for module in MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(MODULES):
        module.unregister()
