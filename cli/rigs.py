"""Choosing in a file what to work on: the armature, its action, the frames."""

import argparse
import difflib
import math
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

import bpy

from ..lookat_pd.errors import RigError
from ..lookat_pd.message import Message
from ..rig.animation import actions
from ..rig.detection import moving_actions
from ..rig.look_at import resolve as look_at
from ..rig.sampling.targets import Target
from . import arguments as words

_NAMED_AT_MOST = 12


def armatures(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    return [item for item in scene.objects if item.type == "ARMATURE"]


def choose(scene: bpy.types.Scene, names: Sequence[str] | None, notes: list[str]) -> bpy.types.Object:
    """The first armature called so, or the likeliest character; a choice between several is added to `notes`."""
    candidates = armatures(scene)
    if names:
        return named(scene, names)[0]
    if not candidates:
        raise RigError("There is no armature in the file's scene; export it with its skeleton.", code="no-armature")
    if len(candidates) == 1:
        # Detection takes a fifth of the time of a small file.
        return candidates[0]
    best = max(candidates, key=_likeliness)
    notes.append(_choice([best], candidates))
    return best


def _choice(found: Sequence[bpy.types.Object], others: Sequence[bpy.types.Object]) -> Message:
    return Message(
        "Worked on {best} of the armatures {value}; choose with --rig.",
        best=_listed(item.name for item in found),
        value=_listed(item.name for item in others),
        code="one-of-several-rigs",
    )


def chosen(
    scene: bpy.types.Scene,
    options: argparse.Namespace,
    notes: list[str],
    bones: Sequence[str] = (),
    besides: Sequence[bpy.types.Object] = (),
    among: Sequence[bpy.types.Object] | None = None,
) -> list[bpy.types.Object]:
    """The armatures to work on: those of --rig, else all characters that have the bones and play what --action names.

    among: these, if any, in place of all characters. Raises RigError.
    """
    candidates = armatures(scene)
    if options.rig:
        return named(scene, options.rig)
    if len(candidates) < 2:
        return [choose(scene, None, notes)]
    others = without_sources(candidates)
    here = characters(candidates) if among is None else [one for one in others if one in among]
    found = [one for one in here if one not in besides and _suits(one, options, bones)]
    if not found:
        return [choose(scene, None, notes)]
    if len(found) < len(others):
        notes.append(_choice(found, others))
    return found


def named(scene: bpy.types.Scene, patterns: Sequence[str]) -> list[bpy.types.Object]:
    """The armatures of these names, which may be patterns. Raises RigError for one that no armature has."""
    # An override has the name of what it is of.
    candidates = without_sources(armatures(scene))
    found: dict[bpy.types.Object, None] = {}
    for pattern in patterns:
        alike = [one for one in candidates if one.name == pattern]
        alike = alike or [one for one in candidates if fnmatchcase(one.name, pattern)]
        if not alike:
            raise RigError(
                "There is no armature '{name}' {name_2}.",
                name=pattern,
                name_2=instead(pattern, [one.name for one in candidates]),
                code="rig-missing",
            )
        found |= dict.fromkeys(alike)
    return [*found]


def characters(candidates: Sequence[bpy.types.Object]) -> list[bpy.types.Object]:
    """Those with a head that no other one moves: not the source of an override, a metarig, or a copy for deforming."""
    with_head = [one for one in without_sources(candidates) if head(one) is not None]
    generated = {target for one in candidates if (target := getattr(one.data, "rigify_target_rig", None)) is not None}
    return [
        one
        for one in with_head
        if not (generated and getattr(one.data, "rigify_target_rig", None) in with_head)
        and not _follows(one, with_head)
    ]


def without_sources(candidates: Sequence[bpy.types.Object]) -> list[bpy.types.Object]:
    """An override and the linked object that it is of are one character."""
    sources = {one.override_library.reference for one in candidates if one.override_library is not None}
    return [one for one in candidates if one not in sources]


def _follows(armature: bpy.types.Object, others: Sequence[bpy.types.Object]) -> bool:
    """Whether most bones are moved by constraints to another armature."""
    moved = sum(
        any(
            getattr(constraint, "target", None) in others and constraint.target != armature
            for constraint in bone.constraints
        )
        for bone in armature.pose.bones
    )
    return 2 * moved > len(armature.pose.bones)


def _suits(armature: bpy.types.Object, options: argparse.Namespace, bones: Sequence[str]) -> bool:
    if any(bone not in armature.pose.bones for bone in bones):
        return False
    names = getattr(options, "action", None)
    if not names:
        return True
    own = moving(armature)
    return any(fnmatchcase(name, pattern) for pattern in names for name in own)


def _likeliness(armature: bpy.types.Object) -> tuple[bool, bool, int]:
    bones = len(armature.pose.bones) if armature.pose else 0
    return head(armature) is not None, armature.library is None, bones


def head(armature: bpy.types.Object) -> str | None:
    """The detected head, None where there is none."""
    if not armature.pose or not len(armature.pose.bones):
        return None
    try:
        return look_at.find_head(armature)
    except RigError:
        return None


def use_action(armature: bpy.types.Object, name: str, into: str) -> None:
    """Make the rig play the action of that name, with the slot made for it. Raises RigError."""
    action = bpy.data.actions.get(name)
    if action is None:
        raise no_action(armature, name)
    moving_actions.play(armature, action, into)


def no_action(armature: bpy.types.Object, name: str) -> RigError:
    """The complaint about a name, or a pattern of names, that no action of the rig has."""
    return RigError(
        "There is no action '{name}' {name_2}.",
        name=name,
        name_2=instead(name, moving(armature) or bpy.data.actions.keys()),
        code="action-missing",
    )


def moving(armature: bpy.types.Object) -> list[str]:
    """Names of the actions that move bones of the armature, sorted."""
    return [action.name for action in moving_actions.moving(armature)]


def check_moves(armature: bpy.types.Object, action: bpy.types.Action) -> None:
    """Raise RigError where an action has keys, but neither for bones of the armature nor for itself."""
    slot = moving_actions.suitable_slot(armature, action)
    if slot is None or actions.is_empty(action, slot) or moving_actions.moves_bones(armature, action, slot):
        return
    if slot.name_display != armature.name:
        raise RigError(
            "Action '{action}' does not move '{armature}' {instead}.",
            action=action.name,
            armature=armature.name,
            instead=instead(action.name, moving(armature)),
            code="action-moves-nothing",
        )


def is_animated(data: bpy.types.AnimData) -> bool:
    """Whether an action is assigned, or the NLA plays one."""
    strips = any(track.strips for track in data.nla_tracks if not track.mute)
    return data.action is not None or (data.use_nla and strips)


def plays(rig: bpy.types.Object) -> bool:
    """Whether the rig has an action that lasts."""
    action = rig.animation_data.action if rig.animation_data else None
    return action is not None and action.frame_range[1] > action.frame_range[0]


def frame_range(scene: bpy.types.Scene, rigs: Sequence[bpy.types.Object]) -> tuple[int, int]:
    """First and last frame of what the rigs play, else of the scene."""
    extents = [rig.animation_data.action.frame_range for rig in rigs if plays(rig)]
    ranges = [(math.floor(first), math.ceil(last)) for first, last in extents]
    if not ranges:
        return scene.frame_start, scene.frame_end
    return min(first for first, _ in ranges), max(last for _, last in ranges)


def find_target(scene: bpy.types.Scene, name: str) -> tuple[bpy.types.Object, str]:
    """Object and bone ("" for none) of NAME or NAME:BONE; either may have colons of its own. Raises RigError."""
    objects = scene.objects
    if name in objects:
        return objects[name], ""
    places = [place for place, letter in enumerate(name) if letter == ":"]
    owners = [(name[:place], name[place + 1 :]) for place in places if name[:place] in objects]
    for owner, bone in owners:
        if objects[owner].type == "ARMATURE" and bone in objects[owner].pose.bones:
            return objects[owner], bone
    if owners:
        owner, bone = owners[-1]
        bones = objects[owner].pose.bones.keys() if objects[owner].type == "ARMATURE" else []
        raise RigError(
            "The target '{owner}' has no bone '{bone}' {bone_2}.",
            owner=owner,
            bone=bone,
            bone_2=instead(bone, bones),
            code="target-missing",
        )
    raise RigError(
        "There is no target '{name}' in the scene {name_2}.",
        name=name,
        name_2=instead(name, objects.keys()),
        code="target-missing",
    )


def place(scene: bpy.types.Scene, word: str) -> Target:
    """The target of a word: a point X,Y,Z, or what `find_target` finds. Raises RigError."""
    try:
        return Target(point=words.point(word))
    except argparse.ArgumentTypeError:
        return Target(*find_target(scene, word))


def check_bones(rig: bpy.types.Object, names: Iterable[str]) -> None:
    """Raise RigError if the armature does not have all of these bones."""
    for name in names:
        if len(rig.pose.bones) and name not in rig.pose.bones:
            raise RigError(
                "Armature '{armature}' has no bone '{name}' {name_2}.",
                armature=rig.name,
                name=name,
                name_2=instead(name, rig.pose.bones.keys()),
                code="bone-missing",
            )


def instead(name: str, names: Iterable[str]) -> str:
    """What there is in place of a name that there is not, the most alike first."""
    names = list(names)
    if not names:
        return "nor any other; check that this is the right file"
    alike = difflib.get_close_matches(name, names, n=_NAMED_AT_MOST, cutoff=0.6)
    return f"(there is {_listed([*alike, *(other for other in names if other not in alike)])}); choose one of these"


def _listed(names: Iterable[str]) -> str:
    names = [f"'{name}'" for name in names]
    shown = ", ".join(names[:_NAMED_AT_MOST])
    return shown if len(names) <= _NAMED_AT_MOST else f"{shown} and {len(names) - _NAMED_AT_MOST} more"
