"""Which springs and colliders of an armature come from a VRM file, so that others of a file are left alone."""

import json
from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from . import colliders, vrm_data
from .vrm_data import VrmCollider

MADE = "lookat_pd_vrm_collider"
"""ID property of an empty: it was made for a collider of a file, so another file replaces it."""
_STATES = "lookat_pd_vrm_states"
"""ID property of an empty: how files have it."""
_TAKEN = "lookat_pd_vrm_taken"
"""ID property of an armature object: the bones and colliders that were taken from a file, or written into one."""
_MOST = 16
"""How many states of a collider are kept."""

_Item = tuple[colliders.Collider, VrmCollider]


def note_taken(armature: bpy.types.Object, bones: Sequence[str], taken: Sequence[VrmCollider]) -> None:
    """Note what has been taken from a file."""
    armature[_TAKEN] = json.dumps({"bones": list(bones), "colliders": [_row(collider) for collider in taken]})


def note_written(armature: bpy.types.Object, bones: Sequence[str], every: Sequence[_Item]) -> None:
    """Note what has been written into a file, so that it is known there when it is written once more."""
    known = _taken(armature)
    rows = [_row(now) for _, now in every]
    armature[_TAKEN] = json.dumps(
        {
            "bones": list(dict.fromkeys([*known["bones"], *bones])),
            "colliders": [*known["colliders"], *(row for row in rows if row not in known["colliders"])],
        }
    )
    for item, now in every:
        if not item.bone:
            mark(item.object, now)


def bones(armature: bpy.types.Object) -> set[str]:
    """The bones that got springs from a file."""
    return set(_taken(armature)["bones"])


def has_taken(armature: bpy.types.Object, collider: VrmCollider) -> bool:
    """Whether a collider of a file was taken from it."""
    return any(collider.is_like(_collider(row)) for row in _taken(armature)["colliders"])


def mark(item: bpy.types.Object, collider: VrmCollider) -> None:
    """Note that an empty is this collider of a file."""
    states = [row for row in _states(item) if not _collider(row).is_like(collider)]
    item[_STATES] = json.dumps([*states[1 - _MOST :], _row(collider)])


def matched(found: Sequence[_Item], known: Sequence[VrmCollider]) -> list[VrmCollider | None]:
    """What a file has of colliders: those that are as they are here, then those that were."""
    free = list(known)
    result: dict[int, VrmCollider] = {}
    for is_same in (_is_now, _was):
        for n, (item, now) in enumerate(found):
            same = next((collider for collider in free if is_same(item, now, collider)), None)
            if n not in result and same is not None:
                result[n] = same
                free.remove(same)
    return [result.get(n) for n in range(len(found))]


def _is_now(item: colliders.Collider, now: VrmCollider, known: VrmCollider) -> bool:
    return now.is_like(known)


def _was(item: colliders.Collider, now: VrmCollider, known: VrmCollider) -> bool:
    return not item.bone and any(_collider(row).is_like(known) for row in _states(item.object))


def as_in_file(armature: bpy.types.Object, item: colliders.Collider) -> VrmCollider | None:
    """A collider on a bone of an armature in the frame of the bone, None for another one."""
    first, last = (np.array(end) for end in item.line())
    groups = tuple(sorted(colliders.names_of(item.settings.groups)))
    if item.bone:
        if item.object != armature:
            return None
        return VrmCollider(
            item.bone, "CAPSULE", vrm_data.three(first), vrm_data.three(last), item.thickness, groups, ""
        )
    owner = item.object
    if owner.parent != armature or owner.parent_type != "BONE" or owner.parent_bone not in armature.data.bones:
        return None
    lifted = on_bone(armature, owner)
    begin, end = (lifted[:3, :3] @ point + lifted[:3, 3] for point in (first, last))
    size = float(np.linalg.norm(end - begin) / np.linalg.norm(last - first))
    if item.shape == "SPHERE":
        end = begin
    return VrmCollider(
        owner.parent_bone, item.shape, vrm_data.three(begin), vrm_data.three(end), item.thickness * size, groups, ""
    )


def on_bone(armature: bpy.types.Object, item: bpy.types.Object) -> np.ndarray:
    """(4, 4) of an object that hangs on a bone of an armature, in the frame of the bone."""
    lifted = np.array(item.matrix_parent_inverse @ item.matrix_basis)
    # What hangs on a bone hangs on its tail.
    lifted[1, 3] += armature.data.bones[item.parent_bone].length
    return lifted


def _row(collider: VrmCollider) -> list:
    return [collider.bone, collider.shape, list(collider.begin), list(collider.end), collider.radius]


def _collider(row: list) -> VrmCollider:
    bone, shape, begin, end, radius = row
    return VrmCollider(bone, shape, tuple(begin), tuple(end), radius, (), "")


def _taken(armature: bpy.types.Object) -> dict[str, list]:
    found = _read(armature, _TAKEN)
    return {"bones": [], "colliders": [], **(found if isinstance(found, dict) else {})}


def _states(item: bpy.types.Object) -> list[list]:
    found = _read(item, _STATES)
    return found if isinstance(found, list) else []


def _read(item: bpy.types.Object, name: str) -> Any:
    """What a property of the extension says; nothing where somebody has written something else into it."""
    try:
        return json.loads(str(item.get(name, "null")))
    except ValueError:
        return None
