"""Panels, one file each: they show settings and buttons and contain no logic."""

from collections.abc import Iterator
from types import ModuleType

import bpy

from ..rig.guards import callbacks
from . import (
    blend_profile,
    body_response,
    compare_ghost,
    conversation,
    directing,
    dynamics,
    dynamics_overlay,
    hit,
    hit_gizmo,
    ik,
    ik_ghosts,
    ik_hover,
    live_follow_mark,
    live_mark,
    look_at,
    menus,
    newcomer,
    overlay,
    pd_follow,
    presets,
    springs,
    springs_overlay,
    target_gizmo,
    transitions,
    transitions_library,
    transitions_travel,
    transitions_visual,
)

MODULES = (
    presets,
    body_response,
    look_at,
    conversation,
    directing,
    overlay,
    target_gizmo,
    live_mark,
    live_follow_mark,
    compare_ghost,
    pd_follow,
    springs,
    springs_overlay,
    transitions,
    blend_profile,
    transitions_visual,
    transitions_library,
    transitions_travel,
    ik,
    ik_ghosts,
    ik_hover,
    dynamics,
    hit,
    hit_gizmo,
    dynamics_overlay,
    menus,
)


_CLASSES = bpy.types.Panel, bpy.types.Menu, bpy.types.UIList, bpy.types.GizmoGroup


def drawn(module: ModuleType) -> Iterator[type]:
    """The classes that a module defines and Blender draws."""
    for kind in vars(module).values():
        if isinstance(kind, type) and issubclass(kind, _CLASSES) and kind.__module__ == module.__name__:
            yield kind


def register() -> None:
    for module in MODULES:
        for kind in drawn(module):
            callbacks.guard_class(kind, newcomer.draw_failed if issubclass(kind, bpy.types.Panel) else None)
        module.register()


def unregister() -> None:
    for module in reversed(MODULES):
        module.unregister()
