"""Online Manual, in the menu of the right mouse button: the page of each operator and property."""

from collections.abc import Iterator

import bpy

from ..rig import project

_OPERATORS = {
    "lessons/first-look-at": "open_example report_problem dismiss_problem",
    "look-at/adding": "add remove copy_settings select_armature look_at_camera choose_facing",
    "look-at/settings#chain": "chain_add chain_detect chain_move chain_remove",
    "look-at/presets": "preset preset_add",
    "look-at/adding#the-target-in-the-hand": "move_target pick_target select_target select_character show_look_at",
    "look-at/presets#copying-and-mirroring": "copy mirror",
    "look-at/live": "solve stand_by",
    "look-at/live-follow": "follow",
    "look-at/display#comparing-with-the-animation": "compare",
    "look-at/baking": "bake bake_onto_actions check_actions edit_live",
    "look-at/switching": "key move_keys",
    "body/body": "whole_body",
    "body/eyes": "eye_shape* eyes_from_vrm",
    "directing/targets": "active_target look_here look_away glance target_* targets_from_markers",
    "directing/conversations": "converse conversation_remove turn_* turns_from_*",
    "pd-follow/adding": "pd_follow_*",
    "springs/adding": "add_springs springs_bake springs_copy springs_mirror springs_remove",
    "springs/settings#settings-along-the-chain": "springs_curve",
    "springs/settings#collisions": "add_spring_collider spring_*collider*",
    "springs/vrm": "springs_from_vrm springs_write_vrm",
    "transitions/joining": "inertialize",
    "transitions/methods": "transition_preset",
    "transitions/methods#profiles-bones-that-blend-differently": "profile_*",
    "transitions/cuts": "best_cut",
    "transitions/cuts#a-library-of-actions": "compare_library",
    "transitions/pops": "smooth_pop",
    "transitions/visual-pose": "find_visual_pops *_visual_transitions",
    "transitions/loops": "loop_action",
    "transitions/feet#cleaning-foot-skate": "clean_foot_skate",
    "transitions/travel": "in_place travelling follow_path join_path",
    "transitions/strips": "strip_transition chain_actions",
    "ik/dragging": "ik_drag ik_preset",
    "ik/baking": "ik_bake",
    "ik/effectors": "ik_body_bake ik_effector_* ik_pin",
    "ik/contacts": "ik_contacts",
    "ik/rigs": "ik_switch",
    "dynamics/keys": "interpolate_keys dynamics_compare dynamics_preset dynamics_preset_add clear_plots",
    "dynamics/mass": "measure_masses",
    "dynamics/reaching": "reach via_*",
    "dynamics/hits": "hit hit_*",
}
"""Pages of `docs/`, with an anchor or none, and names of operators, with * for any letters. The first that fits counts,
so those of one name stand before those of many."""

_GROUPS = {
    "look-at/settings#look-at": "lookatsettings lookatunkeyed lookatshot lookatshottarget",
    "look-at/settings#chain": "lookatchainbone",
    "look-at/display#viewport-display": "lookatoverlay",
    "look-at/baking": "actionsettings",
    "body/body": "lookatbody",
    "body/eyes": "lookateyes lookateyeshape lookatblink",
    "directing/targets#the-list": "lookattarget",
    "directing/conversations#the-panel-conversation": "lookatconversation lookatperson lookatturn",
    "pd-follow/settings#the-settings": "pdfollowsettings",
    "springs/adding": "lookatfoundchain",
    "springs/settings#settings": "springsettings springbone",
    "springs/settings#settings-along-the-chain": "lookatcurvepoint",
    "springs/settings#collisions": "collidersettings",
    "transitions/cuts#a-library-of-actions": "librarysettings librarypair",
    "transitions/methods#profiles-bones-that-blend-differently": "profilerowitem",
    "transitions/cuts": "transitioncut",
    "transitions/visual-pose": "visualpopitem",
    "transitions/joining": "transitionsettings",
    "transitions/travel": "travelsettings",
    "ik/dragging#joints": "ikjoint",
    "ik/solvers": "iksettings",
    "ik/effectors": "ikeffector ikbody",
    "dynamics/mass#mass": "bonebodysettings bodysettings",
    "dynamics/reaching": "reachvia",
    "dynamics/keys": "dynamicssettings",
    "dynamics/hits": "hititem hitsettings",
    "look-at/display#preferences": "lookat_pd_preferences sessionpreferences",
}
"""The same for groups of settings."""

_SETTINGS = {
    "look-at/settings#release": "lookatsettings.let_go_* lookatsettings.release_*",
    "look-at/settings#limits": "lookatchainbone.*_limit",
    "look-at/settings#more": "lookatsettings.stabilize lookatsettings.level_head lookatsettings.head_roll",
    "look-at/settings#gestures": "lookatsettings.glance_* lookatsettings.nod lookatsettings.tilt "
    "lookatsettings.gesture_* lookatsettings.stance lookatsettings.eyes_closed",
    "look-at/settings#advanced": "lookatsettings.aim_* lookatsettings.world_up* lookatsettings.k_? "
    "lookatsettings.integrator lookatsettings.method",
    "look-at/switching": "lookatsettings.use lookatsettings.influence",
    "look-at/switching#the-settle-time": "lookatsettings.settle_time lookatsettings.damping*",
    "directing/targets#mixing-targets": "lookatsettings.use_mix lookattarget.weight",
    "springs/settings#force-fields": "springsettings.wind springsettings.fields springsettings.turbulence",
    "transitions/feet#locking-the-feet": "transitionsettings.lock_feet*",
    "transitions/methods": "transitionsettings.method transitionsettings.blend transitionsettings.damping_ratio",
    "ik/reach#soft-reach": "iksettings.soft_reach ikbody.soft_reach",
    "ik/contacts": "iksettings.contact_*",
}
"""The same for single settings, before those of their groups."""

_OF_BLENDER = {
    "look-at/settings": "posebone.lookat_pd action.lookat_pd armature.lookat_pd_shot key.lookat_pd_blinks",
    "look-at/display#preferences": "windowmanager.lookat_pd_session windowmanager.lookat_pd_use_advanced",
    "look-at/baking": "windowmanager.lookat_pd_action",
    "look-at/display#viewport-display": "scene.lookat_pd_overlay",
    "directing/conversations": "scene.lookat_pd_conversation",
    "pd-follow/settings": "*.lookat_pd_follow",
    "springs/settings": "posebone.lookat_pd_springs",
    "springs/settings#collisions": "*.lookat_pd_collider",
    "transitions/joining": "scene.lookat_pd_transition",
    "transitions/cuts#a-library-of-actions": "scene.lookat_pd_library",
    "transitions/travel": "scene.lookat_pd_travel",
    "ik/dragging#joints": "posebone.lookat_pd_ik_joint",
    "ik/effectors": "posebone.lookat_pd_ik_pin object.lookat_pd_ik_body",
    "ik/dragging": "scene.lookat_pd_ik",
    "dynamics/mass#mass": "*.lookat_pd_body",
    "dynamics/hits": "object.lookat_pd_hits",
    "dynamics/keys": "scene.lookat_pd_dynamics",
}
"""What the extension adds to Blender's own data."""


def targets() -> Iterator[tuple[str, str]]:
    """Patterns of what Blender may ask about, in its words, and the page for each."""
    for begin, table, end in (
        ("bpy.ops.lookat_pd.", _OPERATORS, ""),
        ("bpy.types.", _SETTINGS, ""),
        ("bpy.types.", _GROUPS, ".*"),
        ("bpy.types.", _OF_BLENDER, ""),
    ):
        for page, names in table.items():
            yield from ((f"{begin}{name}{end}", page) for name in names.split())


def _manual() -> tuple[str, tuple[tuple[str, str], ...]]:
    """For Blender: where the pages are, in the language of the interface, and which is whose."""
    return project.pages(_language()), tuple((pattern, project.file_of(page)) for pattern, page in targets())


def _language() -> str:
    return bpy.app.translations.locale or ""


def address(page: str) -> str:
    """The address of a page of `docs/`, in the language of the interface."""
    return f"{project.pages(_language())}{project.file_of(page)}"


def register() -> None:
    bpy.utils.register_manual_map(_manual)


def unregister() -> None:
    bpy.utils.unregister_manual_map(_manual)
