"""Keeping what a look-at showed while it followed: the pose in the bones' own channels, or a recording as keys."""

from typing import Any

import bpy
import numpy as np

from ....lookat_pd import rotation
from ....lookat_pd.rotation import Array
from ...animation import actions, auto_keying, channels, unkeyed_pose
from ...animation.bake_transaction import BakeTransaction
from ...animation.channels import LOCATION
from ...animation.key_writer import KeyWriter
from ...layers import layer
from ...sampling import own_data, sampler
from ..body import blink, blink_bake
from ..directing import shot_keys
from ..resolve import LookAt
from .live_follow_body import Shown

_RECORDED = " live follow"


def check_recording(look_at: LookAt, into: str) -> None:
    """Raise RigError where a recording could not be keyed."""
    armature = look_at.armature
    actions.check(armature, into)
    check_curves(look_at, into)
    blink_bake.check(look_at.shapes, into)


def check_curves(look_at: LookAt, into: str) -> None:
    """Raise RigError where channels of the chain or of the body cannot be keyed."""
    armature = look_at.armature
    modes = {name: armature.pose.bones[name].rotation_mode for name in look_at.turned}
    actions.check_curves(armature, modes, into)
    actions.check_curves(armature, dict.fromkeys(look_at.moved, LOCATION), into)


def key_pose(scene: bpy.types.Scene, look_at: LookAt, number: int, shown: Shown) -> None:
    """Add what look-at `number` shows to the bones' channels and the shape keys, keyed where auto keying is on.

    Raises RigError; the channels are as before then.
    """
    bones = look_at.armature.pose.bones
    before: list[tuple[Any, str, tuple]] = []
    try:
        shot_keys.check_action(auto_keying.linked_action(scene, look_at.armature))
        own = _in_channels(look_at, number, shown.offsets[None], scene.frame_current_final)[0]
        for name, offset in zip(look_at.turned, own, strict=True):
            mode = bones[name].rotation_mode
            channel = channels.channel(mode)[0]
            raw = np.array(getattr(bones[name], channel), float)
            before.append((bones[name], channel, tuple(getattr(bones[name], channel))))
            setattr(bones[name], channel, channels.turned(raw[None], mode, offset[None])[0])
        for name, move in zip(look_at.moved, shown.moves, strict=True):
            before.append((bones[name], "location", tuple(bones[name].location)))
            bones[name].location = np.array(bones[name].location) + move
        auto_keying.key(scene, look_at.armature, look_at.turned, look_at.moved)
        auto_keying.key_shapes(scene, blink.keep(look_at.shapes))
    except BaseException:
        for bone, channel, values in before:
            setattr(bone, channel, values)
        raise


def key_recording(
    scene: bpy.types.Scene,
    look_at: LookAt,
    number: int,
    frames: Array,
    recorded: Shown,
    into: str,
    writer: KeyWriter | None = None,
) -> bpy.types.Action:
    """Key what look-at `number` showed at frames (F,), on top of the animation; the action of the keys.

    recorded: its arrays have a first axis of frames.

    into: "NEW", "CURRENT" or "LAYER". writer: which keys, by default one at every frame. Raises RigError; nothing has
    changed then.
    """
    check_recording(look_at, into)
    armature, work, undone = look_at.armature, None, None
    faces = blink_bake.BlinkBake(armature, _RECORDED)
    try:
        undone = unkeyed_pose.bring_back(armature, look_at.bone)
        still = unkeyed_pose.standing(armature, look_at.turned, look_at.moved)
        bones = tuple(dict.fromkeys(look_at.written))
        with sampler.Sampler(scene, armature, bones, located=bool(look_at.moved)) as sampling:
            seen = sampler.run(sampling.sample(frames.tolist()))
        name = _action_name(armature, into)
        own = _in_channels(look_at, number, recorded.offsets, scene.frame_current_final)
        work = BakeTransaction(armature)
        for n, bone in enumerate(look_at.turned):
            mode, raw = seen.channel(bone)
            work.write(bone, mode, frames, channels.turned(raw, mode, own[:, n]), raw)
        for n, bone in enumerate(look_at.moved):
            raw = seen.raw[LOCATION][:, seen.bones.index(bone)]
            work.write(bone, LOCATION, frames, raw + recorded.moves[:, n], raw)
        action = work.commit(into, name, writer)
        amounts = {lid: recorded.shapes[:, n] for n, lid in enumerate(look_at.shapes)}
        faces.write(frames, amounts, into, action, writer)
    except BaseException:
        faces.rollback()
        if work is not None:
            work.rollback()
        if undone is not None:
            undone()
        raise
    unkeyed_pose.remember(armature, look_at.bone, still)
    faces.finish()
    return action


def _action_name(armature: bpy.types.Object, into: str) -> str:
    data = armature.animation_data
    source = data.action if data else None
    name = armature.name if into == "LAYER" or source is None else source.name
    return name.removesuffix(_RECORDED) + _RECORDED


def _in_channels(look_at: LookAt, number: int, shown: Array, frame: float) -> Array:
    """Offsets (F, t, 4) as the bones' channels need them: other look-ats' constraints stand in between.

    frame: at which what these add is taken.
    """
    shown = shown.copy()
    for n, name in enumerate(look_at.turned):
        between = rotation.identity()
        bone = look_at.armature.pose.bones[name]
        for constraint in bone.constraints:
            if not own_data.is_own_constraint(constraint) or layer.number_of(constraint) == number:
                break
            offset = layer.offset_at(bone, constraint, frame)
            if offset is not None:
                between = rotation.multiply(between, offset)
        if np.any(between != rotation.IDENTITY):
            own = rotation.multiply(shown[:, n], rotation.inverse(between))
            shown[:, n] = rotation.multiply(between, own)
    return shown
