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
from ..animation import actions, keys
from ..animation.channels import channel
from . import joint_ranges

_SAME = 1e-3
"""Distance in frames within which two keys are at the same time."""
_KINDS = np.array(["auto", "stop", "pass", "auto", "stop", "auto"])
"""For each key type: keyframe, extreme, breakdown, jitter, moving hold, generated."""


@dataclass(frozen=True)
class KeyPoses:
    """Poses that an animator has keyed."""

    bones: tuple[str, ...]
    """Bones with keys."""
    frames: Array
    """(k,) frames of the keys, in order."""
    owned: NDArray[np.bool_]
    """(k, b) whether a bone has the key."""
    types: NDArray[np.int32]
    """(k, b) types of the keys, as Blender numbers them; *Generated* where a bone has none."""

    @property
    def kinds(self) -> NDArray:
        """How the bones pass the keys (k, b), as the solver names it."""
        return _KINDS[self.types]

    def of(self, bones: Sequence[str]) -> "KeyPoses":
        """The same keys of `bones`, in their order; bones that have none have all of them."""
        places = [self.bones.index(name) if name in self.bones else -1 for name in bones]
        owned = np.concatenate((self.owned, np.ones((len(self.frames), 1), dtype=bool)), axis=1)
        types = np.concatenate((self.types, np.full((len(self.frames), 1), keys.GENERATED, dtype=np.int32)), axis=1)
        return KeyPoses(tuple(bones), self.frames, owned[:, places], types[:, places])


def find(
    armature: bpy.types.Object,
    bones: Sequence[str],
    *,
    first: float = -np.inf,
    last: float = np.inf,
    selected: bool = True,
) -> KeyPoses:
    """The keys of the bones' rotations from `first` to `last`, all or the selected ones. Raises RigError.

    Keys of type *Generated* do not count if there are others: they are what a former bake has put between poses.
    """
    data = armature.animation_data
    if data is None or data.action is None or data.action_slot is None:
        raise RigError("'{armature}' has no action; key at least two poses first.", armature=armature.name)
    columns = {}
    for name in bones:
        read = [_frames(curve, name, selected) for curve in _curves(armature, name)] or [np.zeros((2, 0))]
        own = np.concatenate(read, axis=1)
        columns[name] = own[:, (own[0] >= first - _SAME) & (own[0] <= last + _SAME)]
    poses = {name: own[:, own[1] != keys.GENERATED] for name, own in columns.items()}
    placed = np.concatenate([own[0] for own in poses.values()] or [np.zeros(0)])
    if len(placed) and np.ptp(placed) > _SAME:
        columns = poses
    columns = {name: own for name, own in columns.items() if own.size}
    for name in columns:
        joint_ranges.check(armature.pose.bones[name])
    keyed, frames = list(columns), [own[0] for own in columns.values()]
    kind = "selected keys" if selected else "keys"
    if not keyed:
        raise RigError(
            "The rotation of the selected bones has no {kind} in the frame range; key at least two "
            "poses and select their keys.",
            kind=Message(kind),
        )
    together = np.unique(np.concatenate(frames))
    together = together[np.concatenate(([True], np.diff(together) > _SAME))]
    if len(together) < 2:
        raise RigError(
            "Bone '{bone}' has only one key in the frame range, at frame {frame:g}; key or select at least two poses, "
            "or extend the range.",
            bone=keyed[0],
            frame=together[0],
        )
    near = [np.abs(together[:, None] - own) <= _SAME for own in frames]
    owned = np.stack([there.any(axis=1) for there in near], axis=1)
    # Of the keys of several channels the type that says most.
    types = np.full(owned.shape, keys.GENERATED, dtype=np.int32)
    for kind in (keys.JITTER, keys.KEYFRAME, keys.BREAKDOWN, keys.MOVING_HOLD, keys.EXTREME):
        for n, (there, own) in enumerate(zip(near, columns.values(), strict=True)):
            types[(there & (own[1] == kind)).any(axis=1), n] = kind
    return KeyPoses(tuple(keyed), together, owned, types)


def at(armature: bpy.types.Object, bones: Sequence[str], frames: Sequence[float]) -> KeyPoses:
    """The poses at these frames, in order, of the bones whose rotation is animated. Raises RigError."""
    animated = [name for name in bones if has_keys(armature, name)]
    if not animated:
        raise RigError("The chosen bones of '{armature}' have no keys; key at least two poses.", armature=armature.name)
    for name in animated:
        joint_ranges.check(armature.pose.bones[name])
    shape = len(frames), len(animated)
    return KeyPoses(
        tuple(animated), np.array(frames, dtype=float), np.ones(shape, dtype=bool), np.zeros(shape, dtype=np.int32)
    )


def has_keys(armature: bpy.types.Object, bone: str) -> bool:
    """Whether the current action has keys for a bone's rotation."""
    data = armature.animation_data
    if data is None or data.action is None or data.action_slot is None:
        return False
    return any(len(curve.keyframe_points) for curve in _curves(armature, bone))


def goes_on(armature: bpy.types.Object, bones: Sequence[str], frame: float) -> bool:
    """Whether the action moves the rotations of bones after a frame: by later keys, or without end."""
    action = armature.animation_data.action
    if action.use_frame_range and action.use_cyclic:
        return True
    curves = [curve for name in bones for curve in _curves(armature, name) if len(curve.keyframe_points)]
    return any(
        curve.keyframe_points[-1].co[0] > frame + _SAME
        or curve.extrapolation == "LINEAR"
        or any(modifier.type == "CYCLES" and not modifier.mute for modifier in curve.modifiers)
        for curve in curves
    )


def _curves(armature: bpy.types.Object, bone: str) -> list[Any]:
    """The F-curves of a bone's rotation in the mode in use."""
    data, mode = armature.animation_data, armature.pose.bones[bone].rotation_mode
    path, size = actions.rotation_path(bone, mode), channel(mode)[1]
    return [curve for curve in actions.curves_at(data.action, data.action_slot, path, size) if curve is not None]


def _frames(curve: Any, bone: str, selected: bool) -> Array:
    """Frames and types (2, n) of the keys of an F-curve. Raises RigError if they are not in order."""
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
    if actions.is_locked(curve):
        raise RigError(
            "The F-curves of bone '{bone}' are locked; unlock them in the Graph editor, or deselect the bone.",
            bone=bone,
        )
    if not actions.plays(curve):
        raise RigError("An F-curve of bone '{bone}' is muted; unmute it, or deselect the bone.", bone=bone)
    types = np.empty(len(points), dtype=np.int32)
    points.foreach_get("type", types)
    columns = np.stack((frames, types))
    if not selected:
        return columns
    chosen = np.empty(len(points), dtype=bool)
    points.foreach_get("select_control_point", chosen)
    return columns[:, chosen]
