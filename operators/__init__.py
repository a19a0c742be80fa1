"""Operators, one file a verb: they read settings, call the rig room and report."""

from . import (
    add,
    bake,
    best_cut,
    chain_actions,
    chain_edit,
    converse,
    copy,
    directing,
    dynamics_preset,
    follow,
    ik_bake,
    ik_contacts,
    ik_drag,
    ik_preset,
    inertialize,
    interpolate_keys,
    key,
    loop_action,
    measure_masses,
    mirror,
    preset,
    reach,
    remove,
    smooth_pop,
    solve,
    strip_transition,
    targets,
    transition_preset,
)

LOOK_AT = (add, remove, copy, mirror, preset, chain_edit, key, targets, directing, converse, follow, solve, bake)
TRANSITIONS = (
    inertialize,
    best_cut,
    smooth_pop,
    loop_action,
    strip_transition,
    chain_actions,
    transition_preset,
)
IK = (ik_drag, ik_bake, ik_contacts, ik_preset)
DYNAMICS = (measure_masses, interpolate_keys, reach, dynamics_preset)
MODULES = (*LOOK_AT, *TRANSITIONS, *IK, *DYNAMICS)


def register() -> None:
    for module in MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(MODULES):
        module.unregister()
