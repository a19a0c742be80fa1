"""Operators, one file each: they read settings, call `rig` and report."""

from . import (
    add,
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
    eye_shapes,
    eyes_from_vrm,
    hit,
    hit_aim,
    ik_bake,
    ik_body,
    ik_drag,
    ik_pin,
    ik_switch,
    inertialize,
    interpolate_keys,
    key,
    library,
    live_follow,
    loop_action,
    measure_masses,
    mirror,
    move_keys,
    move_target,
    pd_follow,
    pd_follow_bake,
    pick_target,
    preset,
    reach,
    remove,
    scene_preset,
    select_target,
    smooth_pop,
    solve,
    springs,
    springs_bake,
    springs_colliders,
    springs_vrm,
    strip_transition,
    targets,
    travel,
    visual_pops,
    whole_body,
)

LOOK_AT = (
    add,
    remove,
    copy,
    mirror,
    copy_settings,
    preset,
    whole_body,
    chain_edit,
    choose_facing,
    eye_shapes,
    eyes_from_vrm,
    key,
    move_keys,
    targets,
    select_target,
    pick_target,
    move_target,
    directing,
    converse,
    live_follow,
    solve,
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
SPRINGS = (springs, springs_colliders, springs_vrm, springs_bake)
IK = (ik_drag, ik_bake, ik_body, contacts, ik_pin, ik_switch)
DYNAMICS = (measure_masses, interpolate_keys, reach, hit, hit_aim, clear_plots)
MODULES = (*LOOK_AT, *PD_FOLLOW, *SPRINGS, *TRANSITIONS, *IK, *DYNAMICS, scene_preset)


def register() -> None:
    for module in MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(MODULES):
        module.unregister()
