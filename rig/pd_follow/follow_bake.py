"""Baking PD Follow to keys on what follows; it is muted then, since its motion is in the keys."""

from collections.abc import Generator
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation import actions, channels
from ..animation.bake_options import BakeOptions, check_range
from ..animation.bake_transaction import BakeTransaction
from ..animation.channels import LOCATION, channel
from ..sampling import scene_time, suspend
from . import follow_solve, owners
from .follow_layer import FollowLayer
from .follow_solve import FollowMotion, FollowSamples
from .owners import Owner

BAKED = " follow"


@dataclass(frozen=True)
class FollowBake:
    """What was baked: the action with the keys of an owner."""

    owner: Owner
    action: bpy.types.Action


def bake(scene: bpy.types.Scene, owner: Owner, options: BakeOptions) -> Generator[float, None, FollowBake]:
    """Bake what an owner follows, yielding the fraction done; either all is baked or nothing changed. Raises
    LookAtError."""
    check_range(options.first, options.last)
    owners.check(owner)
    kinds = _kinds(owner)
    _check(owner, kinds, options.into)
    with suspend.suspend_live():
        samples = yield from follow_solve.sample(scene, owner, *options.solved)
        _check_frames(owner, samples)
        motion = follow_solve.solve(owner, samples, scene_time.seconds_per_frame(scene))
        frames = np.arange(options.first, options.last + 1)
        chosen = slice(options.first - motion.first, options.last + 1 - motion.first)
        with BakeTransaction(owner.object) as work:
            for kind in kinds:
                base = samples.raw[kind][chosen]
                work.write(owner.bone, kind, frames, _values(kind, samples, motion)[chosen], base)
            name = options.name or actions.baked_name(owner.object, options.into, BAKED)
            action = work.commit(options.into, name)
        owner.settings.mute = True
        FollowLayer(owner).hide()
    return FollowBake(owner, action)


def _kinds(owner: Owner) -> list[str]:
    """The channels that get keys: the rotation mode, and `LOCATION`."""
    s = owner.settings
    return [*([LOCATION] if s.use_location else []), *([owner.item.rotation_mode] if s.turn != "NONE" else [])]


def _values(kind: str, s: FollowSamples, motion: FollowMotion) -> Array:
    """The channels (F, 3 or 4) with the motion that is added."""
    if kind != LOCATION:
        return channels.turned(s.raw[kind], kind, motion.turns)
    added = np.linalg.solve(s.frames_of_location, motion.moves[..., None])[..., 0]
    return np.where(motion.moves == 0.0, s.raw[LOCATION], s.raw[LOCATION] + added)


def _check(owner: Owner, kinds: list[str], into: str) -> None:
    """Raise RigError where keys would not show what is seen, or cannot be written."""
    actions.check(owner.object, into)
    if others := FollowLayer(owner).others():
        raise RigError(
            "'{name}' also has the constraint '{constraint}', which keys cannot replace; apply it first (Object > "
            "Animation > Bake Action, with Visual Keying), or mute it.",
            name=owner.label,
            constraint=others[0].name,
        )
    data = owner.object.animation_data
    for kind in kinds:
        path = actions.rotation_path(owner.bone, kind)
        if data is not None and any(driver.data_path == path for driver in data.drivers):
            raise RigError(
                "'{name}' has a driver on '{channel}'; delete the driver, or follow without this channel.",
                name=owner.label,
                channel=channel(kind)[0],
            )
        if into == "CURRENT":
            for curve in actions.curves_at(data.action, data.action_slot, path, channel(kind)[1]):
                if curve is not None and (not actions.plays(curve) or any(not m.mute for m in curve.modifiers)):
                    raise RigError(
                        "An F-curve of '{name}' is muted or has a modifier; bake into a new action or a layer.",
                        name=owner.label,
                    )


def _check_frames(owner: Owner, s: FollowSamples) -> None:
    """Raise RigError where its parents or its own scale leave no room for the motion."""
    sizes = np.linalg.det(s.own[:, :3, :3])
    if np.any(np.abs(np.linalg.det(s.frames_of_location)) < 1e-18) or np.any(np.abs(sizes) < 1e-18):
        raise RigError("'{name}' or its parent has a scale of 0; set a scale above 0.", name=owner.label)
    if np.any(sizes < 0.0):
        raise RigError("'{name}' or its parent has a negative scale; set a positive scale.", name=owner.label)
