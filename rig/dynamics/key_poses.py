"""The keys that a motion must reach: those of the rotation channels of some bones, with all errors about keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...lookat_pd.errors import RigError
from ...lookat_pd.message import Message
from ...lookat_pd.rotation import Array
from ..animation import actions
from ..animation.channels import channel

_SAME = 1e-3
"""Distance in frames within which two keys are at the same time."""


@dataclass(frozen=True)
class KeyPoses:
    """bones: those with keys. frames: (k,) of their keys, in order. owned: (k, b) whether a bone has the key."""

    bones: tuple[str, ...]
    frames: Array
    owned: NDArray[np.bool_]


def find(
    armature: bpy.types.Object,
    bones: Sequence[str],
    *,
    first: float = -np.inf,
    last: float = np.inf,
    selected: bool = True,
) -> KeyPoses:
    """The keys of the bones' rotations from `first` to `last`, all or the selected ones. Raises RigError."""
    data = armature.animation_data
    if data is None or data.action is None or data.action_slot is None:
        raise RigError("'{armature}' has no action; key at least two poses first.", armature=armature.name)
    found, frames = [], []
    for name in bones:
        own = np.concatenate([_frames(curve, name, selected) for curve in _curves(armature, name)] or [np.zeros(0)])
        own = own[(own >= first - _SAME) & (own <= last + _SAME)]
        if len(own):
            _check_unlocked(armature.pose.bones[name])
            found.append(name)
            frames.append(own)
    kind = "selected keys" if selected else "keys"
    if not found:
        raise RigError(
            "The rotation of the selected bones has no {kind} in the frame range; key at least two "
            "poses and select their keys.",
            kind=Message(kind),
        )
    together = np.unique(np.concatenate(frames))
    together = together[np.concatenate(([True], np.diff(together) > _SAME))]
    if len(together) < 2:
        raise RigError(
            "Bone '{bone}' has only one key, at frame {frame:g}; key at least two poses.",
            bone=found[0],
            frame=together[0],
        )
    owned = [(np.abs(together[:, None] - own) <= _SAME).any(axis=1) for own in frames]
    return KeyPoses(tuple(found), together, np.stack(owned, axis=1))


def at(armature: bpy.types.Object, bones: Sequence[str], frames: Sequence[float]) -> KeyPoses:
    """The poses at these frames, in order, of the bones whose rotation is animated. Raises RigError."""
    found = [name for name in bones if has_keys(armature, name)]
    if not found:
        raise RigError("The chosen bones of '{armature}' have no keys; key at least two poses.", armature=armature.name)
    for name in found:
        _check_unlocked(armature.pose.bones[name])
    return KeyPoses(tuple(found), np.array(frames, dtype=float), np.ones((len(frames), len(found)), dtype=bool))


def has_keys(armature: bpy.types.Object, bone: str) -> bool:
    """Whether the current action has keys for a bone's rotation."""
    data = armature.animation_data
    if data is None or data.action is None or data.action_slot is None:
        return False
    return any(len(curve.keyframe_points) for curve in _curves(armature, bone))


def _curves(armature: bpy.types.Object, bone: str) -> list[Any]:
    """The F-curves of a bone's rotation in the mode in use."""
    data, mode = armature.animation_data, armature.pose.bones[bone].rotation_mode
    path, size = actions.rotation_path(bone, mode), channel(mode)[1]
    return [curve for curve in actions.curves_at(data.action, data.action_slot, path, size) if curve is not None]


def _frames(curve: Any, bone: str, selected: bool) -> Array:
    """Frames of the keys of an F-curve. Raises RigError if they are not in order."""
    points = curve.keyframe_points
    co = np.empty(2 * len(points), dtype=np.float32)
    points.foreach_get("co", co)
    frames, values = co.reshape(-1, 2).astype(float).T
    if not np.isfinite(frames).all() or not np.isfinite(values).all():
        raise RigError("A key of bone '{bone}' is not a number; delete it and key the pose again.", bone=bone)
    steps = np.diff(frames)
    if np.any(steps < -_SAME):
        at = frames[int(np.argmin(steps)) + 1]
        raise RigError(
            "The keys of bone '{bone}' are out of order at frame {frame:g}; move a key in the "
            "Graph editor to sort them.",
            bone=bone,
            frame=at,
        )
    if np.any(steps <= _SAME):
        at = frames[int(np.argmin(steps))]
        raise RigError("Bone '{bone}' has two keys at frame {frame:g}; delete one of them.", bone=bone, frame=at)
    if curve.lock or (curve.group is not None and curve.group.lock):
        raise RigError(
            "The F-curves of bone '{bone}' are locked; unlock them in the Graph editor, or deselect the bone.",
            bone=bone,
        )
    if not actions.plays(curve):
        raise RigError("An F-curve of bone '{bone}' is muted; unmute it, or deselect the bone.", bone=bone)
    if not selected:
        return frames
    chosen = np.empty(len(points), dtype=bool)
    points.foreach_get("select_control_point", chosen)
    return frames[chosen]


def _check_unlocked(bone: bpy.types.PoseBone) -> None:
    if any(bone.lock_rotation) or (bone.lock_rotations_4d and bone.lock_rotation_w):
        raise RigError(
            "The rotation of bone '{bone}' is locked; unlock it in the Item tab of the sidebar, or deselect the bone.",
            bone=bone.name,
        )
