"""What a live look-at is solved from, in values that are equal as long as it need not be solved again."""

from dataclasses import fields, is_dataclass
from typing import Any

import bpy
import numpy as np

from ...sampling import fingerprint
from .. import eye_origin, mixing, settings
from ..body import settings as body_settings
from ..body import shape_table
from ..resolve import LookAt
from ..setting_paths import KEYABLE, setting_path


def clip(armature: bpy.types.Object) -> tuple[int, int]:
    """What tells the action that an armature plays from others."""
    data = armature.animation_data
    if data is None or data.action is None:
        return 0, 0
    return data.action.session_uid, data.action_slot_handle


def keyed(armature: bpy.types.Object, bone: str) -> frozenset[str]:
    """Those of the settings that may be keyed that change with the frame."""
    moving = fingerprint.animated_paths(armature)
    names = {name for name in KEYABLE if setting_path(bone, name) in moving}
    return frozenset(names | {mixing.KEYED} if mixing.is_keyed(armature, bone) else names)


def settings_key(armature: bpy.types.Object, bone: str, keyed: frozenset[str]) -> tuple:
    """All settings of a look-at; first those that the chain and the samples do not depend on."""
    s = armature.pose.bones[bone].lookat_pd
    tuning = tuple(getattr(s, name) for name in settings.TUNING if name not in keyed)
    others = tuple(getattr(getattr(s, group), name) for group, names in body_settings.TUNING.items() for name in names)
    bones = tuple(getattr(getattr(s, group), name) for group, names in body_settings.BONES.items() for name in names)
    further = tuple((item.object.session_uid if item.object else 0, item.bone) for item in s.targets)
    weights = tuple(mixing.weights(s)) if s.use_mix and mixing.KEYED not in keyed else ()
    chain = settings.chain_values(s)
    shapes = _shapes(s.eyes)
    target = (s.target.session_uid, _is_in_scene(s.target)) if s.target is not None else None
    return (
        (tuning, others, weights, fingerprint.settings_keys(armature.data)),
        s.use_mix and mixing.KEYED not in keyed and not any(weights),
        chain,
        target,
        s.subtarget,
        s.aim_axis,
        (s.aim_from, eye_origin.is_between_eyes(armature, s)),
        *s.facing,
        s.soft_edge,
        bones,
        shapes,
        further,
        bool(s.eyes.drift),
        s.let_go_behind.session_uid if s.let_go_behind is not None else 0,
        (s.world_up, s.world_up_object.session_uid if s.world_up_object is not None else 0),
    )


def _is_in_scene(item: bpy.types.Object) -> bool:
    """Whether a scene has an object: one that was deleted may stay in the file, with those who point to it."""
    return any(item.name in scene.objects for scene in bpy.data.scenes)


def saved(armature: bpy.types.Object, bone: str, keyed: frozenset[str]) -> tuple:
    """All settings of a look-at that are not keyed, with names where they point to something."""
    s = armature.pose.bones[bone].lookat_pd
    groups = {**body_settings.TUNING, **body_settings.BONES}
    others = tuple(getattr(getattr(s, group), name) for group in groups for name in _names(group))
    chain = settings.chain_values(s)
    targets = tuple((item.name_full if item else "", name) for item, name in _targets(s))
    still = tuple(getattr(s, name) for name in settings.TUNING if name not in keyed)
    shapes = _shapes(s.eyes)
    others = (others, shapes) if shapes else others
    weights = tuple(mixing.weights(s)) if mixing.KEYED not in keyed else ()
    behind = s.let_go_behind.all_objects.keys() if s.let_go_behind is not None else []
    up = s.world_up, s.world_up_object.name_full if s.world_up_object is not None else ""
    still = still, fingerprint.settings_keys(armature.data)
    aimed = s.aim_axis, s.aim_from, *s.facing, s.soft_edge
    return still, others, chain, targets, *aimed, bool(s.eyes.drift), up, weights, behind


def _shapes(eyes) -> tuple:
    """The table of shape keys and control bones."""
    return shape_table.rows(eyes) if len(eyes.shapes) else ()


def _names(group: str) -> list[str]:
    return [*body_settings.TUNING.get(group, ()), *body_settings.BONES.get(group, ())]


def _targets(s) -> list[tuple[bpy.types.Object | None, str]]:
    return [(s.target, s.subtarget), *((item.object, item.bone) for item in s.targets)]


def place(look_at: LookAt) -> tuple:
    """What the samples of a look-at were taken of."""
    targets = tuple((t.object.session_uid if t.object else 0, t.bone, t.point) for t in look_at.watched)
    axes = look_at.chain.forward.tobytes() + look_at.chain.up.tobytes()
    body = look_at.body and (look_at.body.sampled, look_at.body.anchors, look_at.body.plain)
    occluders = tuple(item.session_uid for item in look_at.occluders)
    return look_at.written, look_at.plain, targets, axes, look_at.armature.data.session_uid, body, occluders


def occluders(look_at: LookAt) -> list[str]:
    """Names of the objects that are in the collection of occluders now."""
    chosen = look_at.armature.pose.bones[look_at.bone].lookat_pd.let_go_behind
    return [] if chosen is None else chosen.all_objects.keys()


def blinks(look_at: LookAt) -> bool:
    """Whether shape keys may be asked to close or turn its eyes."""
    return look_at.armature.pose.bones[look_at.bone].lookat_pd.eyes.use


def same(one: LookAt, other: LookAt) -> bool:
    """Whether two look-ats at the same place would be solved alike."""
    if one.tuning != other.tuning or (one.body is None) != (other.body is None):
        return False
    if one.world_up != other.world_up:
        return False
    return _alike(one.chain, other.chain) and (one.body is None or _alike(one.body, other.body))


def _alike(one: Any, other: Any) -> bool:
    """Whether two dataclasses of one kind hold the same, arrays and further dataclasses in them included."""
    if type(one) is not type(other):
        return False
    if is_dataclass(one):
        return all(_alike(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    return np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other
