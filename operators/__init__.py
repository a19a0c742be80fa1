"""Operators, a file for those of one thing: they read settings, call `rig` and report."""

from ..rig.guards import callbacks, faults
from . import (
    bake,
    bake_actions,
    best_cut,
    blend_profile,
    chain_actions,
    chain_edit,
    choose_facing,
    clear_plots,
    compare,
    contacts,
    converse,
    copy,
    copy_settings,
    directing,
    edit_live,
    eyes,
    guarding,
    hit,
    hit_aim,
    ik_bake,
    ik_body,
    ik_drag,
    ik_pin,
    ik_switch,
    inertialize,
    interpolate_keys,
    library,
    live_follow,
    look_at,
    look_at_keys,
    loop_action,
    manual,
    measure_masses,
    move_target,
    open_example,
    pd_follow,
    pd_follow_bake,
    pick_target,
    polling,
    preferences,
    preset,
    reach,
    report_problem,
    scene_preset,
    select_armature,
    select_target,
    smooth_pop,
    solve,
    springs,
    springs_bake,
    springs_colliders,
    springs_curve,
    springs_vrm,
    stand_by,
    strip_transition,
    targets,
    travel,
    visual_pops,
    whole_body,
)

LOOK_AT = (
    look_at,
    copy,
    copy_settings,
    preset,
    whole_body,
    chain_edit,
    choose_facing,
    eyes,
    look_at_keys,
    targets,
    select_target,
    pick_target,
    move_target,
    directing,
    converse,
    live_follow,
    solve,
    stand_by,
    bake,
    edit_live,
    bake_actions,
    compare,
)
TRANSITIONS = (
    inertialize,
    best_cut,
    smooth_pop,
    visual_pops,
    loop_action,
    strip_transition,
    chain_actions,
    library,
    travel,
    blend_profile,
)
PD_FOLLOW = (pd_follow, pd_follow_bake)
SPRINGS = (springs, springs_curve, springs_colliders, springs_vrm, springs_bake)
IK = (ik_drag, ik_bake, ik_body, contacts, ik_pin, ik_switch)
DYNAMICS = (measure_masses, interpolate_keys, reach, hit, hit_aim, clear_plots)
HELP = (open_example, select_armature, report_problem, manual)
MODULES = (polling, preferences, *LOOK_AT, *PD_FOLLOW, *SPRINGS, *TRANSITIONS, *IK, *DYNAMICS, scene_preset, *HELP)


def register() -> None:
    for module in MODULES:
        for kind in guarding.operators(module):
            guarding.guard(kind)
            callbacks.guard_class(kind)
        module.register()


def unregister() -> None:
    for module in reversed(MODULES):
        module.unregister()
    faults.forget()
