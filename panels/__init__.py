"""Panels, one file each: they show settings and buttons and contain no logic."""

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


def register() -> None:
    for module in MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(MODULES):
        module.unregister()
