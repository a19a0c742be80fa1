"""Keeping what a look-at showed while it followed: the pose in the bones' own channels, or a recording as keys."""

from typing import Any

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation import actions, auto_keying, channels, unkeyed_pose
from ..animation.bake_transaction import BakeTransaction
from ..look_at.resolve import LookAt
from ..offset_layer import constraints as offsets
from ..sampling import own_data, sampler

_RECORDED = " follow"


def check_recording(look_at: LookAt, into: str) -> None:
    """Raise RigError where a recording could not be keyed."""
    armature = look_at.armature
    actions.check(armature, into)
    actions.check_curves(armature, rotation_modes(look_at), into)


def rotation_modes(look_at: LookAt) -> dict[str, str]:
    """The rotation mode of each bone of the chain."""
    return {name: look_at.armature.pose.bones[name].rotation_mode for name in look_at.bones}


def key_pose(scene: bpy.types.Scene, look_at: LookAt, number: int, shown: Array) -> None:
    """Add the offsets (b, 4) shown by look-at `number` to the bones' channels, keyed where auto keying is on.

    Raises RigError; the channels are as before then.
    """
    bones = look_at.armature.pose.bones
    before: list[tuple[Any, str, tuple]] = []
    try:
        linked = auto_keying.linked_action(scene, look_at.armature)
        if linked is not None:
            raise RigError(
                "Action '{action}' is linked from a library; make a copy of it before keying the look-at.",
                action=linked.name,
            )
        own = _in_channels(look_at, number, shown[None], scene.frame_current_final)[0]
        for name, offset in zip(look_at.bones, own, strict=True):
            mode = bones[name].rotation_mode
            channel = channels.channel(mode)[0]
            raw = np.array(getattr(bones[name], channel), float)
            before.append((bones[name], channel, tuple(getattr(bones[name], channel))))
            setattr(bones[name], channel, channels.turned(raw[None], mode, offset[None])[0])
        auto_keying.key(scene, look_at.armature, look_at.bones)
    except BaseException:
        for bone, channel, values in before:
            setattr(bone, channel, values)
        raise


def key_recording(
    scene: bpy.types.Scene, look_at: LookAt, number: int, frames: Array, recorded: Array, into: str
) -> bpy.types.Action:
    """Key offsets (F, b, 4) shown by look-at `number` at frames (F,), on top of the animation; the action of the keys.

    into: "NEW", "CURRENT" or "LAYER". Raises RigError; nothing has changed then.
    """
    check_recording(look_at, into)
    armature, work, undone = look_at.armature, None, None
    try:
        undone = unkeyed_pose.bring_back(armature, look_at.bone)
        still = unkeyed_pose.standing(armature, look_at.bones, ())
        with sampler.Sampler(scene, armature, look_at.bones) as sampling:
            seen = sampler.run(sampling.sample(frames.tolist()))
        name = _action_name(armature, into)
        own = _in_channels(look_at, number, recorded, scene.frame_current_final)
        work = BakeTransaction(armature)
        for n, (bone, mode) in enumerate(zip(seen.bones, seen.modes, strict=True)):
            raw = seen.raw[mode if mode in seen.raw else "EULER"][:, n]
            work.write(bone, mode, frames, channels.turned(raw, mode, own[:, n]), raw)
        action = work.commit(into, name)
    except BaseException:
        if work is not None:
            work.rollback()
        if undone is not None:
            undone()
        raise
    unkeyed_pose.remember(armature, look_at.bone, still)
    return action


def _action_name(armature: bpy.types.Object, into: str) -> str:
    data = armature.animation_data
    source = data.action if data else None
    name = armature.name if into == "LAYER" or source is None else source.name
    return name.removesuffix(_RECORDED) + _RECORDED


def _in_channels(look_at: LookAt, number: int, shown: Array, frame: float) -> Array:
    """Offsets (F, b, 4) as the bones' channels need them: other look-ats' constraints stand in between.

    frame: at which what these add is taken.
    """
    shown = shown.copy()
    for n, name in enumerate(look_at.bones):
        between = rotation.identity()
        bone = look_at.armature.pose.bones[name]
        for constraint in bone.constraints:
            if not own_data.is_own_constraint(constraint) or offsets.number_of(constraint) == number:
                break
            offset = offsets.offset_at(bone, constraint, frame)
            if offset is not None:
                between = rotation.multiply(between, offset)
        if np.any(between != rotation.IDENTITY):
            own = rotation.multiply(shown[:, n], rotation.inverse(between))
            shown[:, n] = rotation.multiply(between, own)
    return shown
