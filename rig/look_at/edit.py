"""Changing look-ats: adding one with its chain, removing it, keying its settings."""

from collections.abc import Sequence
from contextlib import suppress

import bpy

from ...lookat_pd.errors import RigError
from ..animation import actions, unkeyed_pose
from ..animation.editable import check_armature, check_exists
from ..detection import detect, rest, stance
from ..sampling import targets
from ..sampling.targets import Target
from . import constraint_sync, made_target
from .directing import setting_keys, shot_home, shot_items, shot_keys
from .resolve import check_free, exists_on, face
from .saved_settings import VERSION
from .setting_paths import settings_path


def add(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    bone: str,
    target: bpy.types.Object | None,
    *,
    make_target: bool = False,
) -> None:
    """Give a bone a look-at with the detected chain. Raises RigError, and then changes nothing.

    make_target: without a target, put an empty in front of the face.
    """
    check_armature(armature)
    check_exists(armature, bone)
    owner = armature.pose.bones[bone]
    if exists_on(owner):
        raise RigError("Bone '{bone}' already has a look-at; change its settings, or remove it first.", bone=bone)
    check_free(armature, (bone,))
    links = detect.find_chain(stance.skeleton(armature), bone, rest.hints(armature))
    if target is not None and target.type != "ARMATURE":
        targets.check(armature, [link.bone for link in links], Target(target))
    settings = owner.lookat_pd
    settings.exists, settings.version = True, VERSION
    write_chain(settings, links)
    if target is None and make_target:
        target = made_target.make(scene, armature, bone)
    settings.target = target
    if target is not None and target.type == "ARMATURE" and target != armature:
        settings.subtarget = face(target).bone


def remove(armature: bpy.types.Object, bone: str) -> None:
    """Take a look-at away with its settings and their keys, as if it had never been there, and the target that was made
    with it, if nobody has changed or used that."""
    target = armature.pose.bones[bone].lookat_pd.target
    constraint_sync.follow_renames(armature)
    unkeyed_pose.bring_back(armature, bone)
    actions.remove_curves(armature, f"{settings_path(bone)}.")
    unset(armature.pose.bones[bone].lookat_pd)
    shot_keys.tidy(armature)
    constraint_sync.sync(armature)
    made_target.remove_unused(target)


def unset(settings) -> None:
    """Give all settings of a look-at their defaults.

    One by one: unsetting a group as a whole would leave scripts that hold it with a dead pointer.
    """
    for name in settings.bl_rna.properties.keys():
        if name == "rna_type":
            continue
        value = getattr(settings, name)
        if isinstance(value, bpy.types.PropertyGroup):
            unset(value)
        else:
            settings.property_unset(name)


def key_state(armature: bpy.types.Object, bone: str, setting: str, frame: int) -> str:
    """Whether a setting is "KEYED" at this frame, "ANIMATED" elsewhere, or neither ("NONE")."""
    home = shot_keys.home(armature, bone, setting)
    return actions.key_state(home.owner, home.path, frame)


def toggle_key(armature: bpy.types.Object, bone: str, setting: str, frame: int) -> None:
    """Key a setting at a frame, or delete the key that is there. Raises RigError."""
    setting_keys.check(armature, bone)
    try:
        armature.pose.bones[bone].lookat_pd.path_resolve(setting)
    except ValueError:
        raise RigError(
            "A look-at has no setting '{setting}'; use a name such as use, influence or active_target.", setting=setting
        ) from None
    shot_items.own(armature, bone)
    if key_state(armature, bone, setting, frame) == "KEYED":
        home = shot_keys.home(armature, bone, setting)
        home.owner.keyframe_delete(home.path, frame=frame)
        shot_keys.tidy(armature)
        return
    place = shot_keys.home(armature, bone, setting)
    if place.owner != armature:
        # What a script or a slider has set is shown by the setting itself.
        place.set(shot_home.in_object(armature, bone, setting).value)
    if setting in setting_keys.CONVERSED:
        setting_keys.insert(armature, bone, setting, frame)
    else:
        setting_keys.key(armature, bone, setting, frame)


def activate(armature: bpy.types.Object, bone: str) -> None:
    """Make a bone the active one, so that panels show it."""
    armature.data.bones.active = armature.data.bones[bone]


def fill_chain(armature: bpy.types.Object, bone: str) -> None:
    """Write the detected chain into the settings of a look-at, replacing what is there."""
    links = detect.find_chain(stance.skeleton(armature), bone, rest.hints(armature))
    write_chain(armature.pose.bones[bone].lookat_pd, links)


def write_chain(settings, links: Sequence[detect.ChainDefault]) -> None:
    """Let a look-at's settings name these bones, and no others."""
    settings.chain_index = 0
    # Items that a library override has from its library can be changed, not removed.
    for n, link in enumerate(links):
        item = settings.chain[n] if n < len(settings.chain) else settings.chain.add()
        item.bone, item.share, item.settle_factor = link.bone, link.share, link.settle_factor
        item.yaw_limit, item.makes_up = link.yaw_limit, link.compensates_lag
        item.pitch_up_limit, item.pitch_down_limit = link.pitch_up_limit, link.pitch_down_limit
    for n in range(len(settings.chain) - 1, len(links) - 1, -1):
        take_link(settings, n)


def take_link(settings, place: int) -> None:
    """Take a bone out of a chain; a line that a library override has from its library is emptied."""
    settings.chain[place].bone = ""
    with suppress(TypeError):
        settings.chain.remove(place)
