"""Baking layers: what they add to bones becomes keys of these bones, at any destination of a bake."""

from collections.abc import Generator, Sequence
from typing import Protocol

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ..animation import actions, channels
from ..animation.bake_options import BakeOptions, check_range
from ..animation.bake_transaction import BakeTransaction
from ..animation.channels import LOCATION
from ..animation.unkeyed_pose import Channels
from ..sampling import suspend
from ..sampling.sampler import Samples
from ..sampling.scene_time import seconds_per_frame
from .kinds import Instance, Kind, SolveRange
from .layer import ROTATION
from .track import Track


class Solved(Protocol):
    """A layer with its samples, among them the channels of the bones to which its track adds something."""

    @property
    def samples(self) -> Samples | None: ...

    track: Track | None


def bake(
    scene: bpy.types.Scene, kind: type[Kind], instances: Sequence[Instance], options: BakeOptions
) -> Generator[float, None, dict[bpy.types.Object, bpy.types.Action]]:
    """Bake layers of a kind in order and mute them, yielding the fraction done. Raises LookAtError.

    However it ends, by return, error or `close`, either everything is baked or nothing has changed. Returns the actions
    by their objects.
    """
    check_range(options.first, options.last)
    work, name = kind(), f" {kind.name.lower().replace('_', ' ')}"
    for instance in instances:
        actions.check(instance.owner, options.into)
        bones = instance.owner.pose.bones
        for bone, what in work.places(instance):
            mode = bones[bone].rotation_mode if what == ROTATION else LOCATION
            actions.check_curves(instance.owner, {bone: mode}, options.into)
    first, last = options.solved
    over = SolveRange(scene, np.arange(first, last + 1), seconds_per_frame(scene), kind.layer.order)
    works: dict[bpy.types.Object, BakeTransaction] = {}
    baked = {}
    with suspend.suspend_live():
        try:
            solves = [work.make(instance) for instance in instances]
            for fraction in work.steps(solves, over):
                yield 0.999 * fraction
            for owner in dict.fromkeys(instance.owner for instance in instances):
                works[owner] = BakeTransaction(owner)
                chosen = [solve for solve in solves if solve.owner == owner]
                write(works[owner], np.arange(options.first, options.last + 1), chosen, options.weights())
            for owner, transaction in works.items():
                label = options.name or actions.baked_name(owner, options.into, name)
                baked[owner] = transaction.commit(options.into, label)
        except BaseException:
            for transaction in works.values():
                transaction.rollback()
            raise
        for instance in instances:
            # Its motion is in the keys now and must not be added once more.
            work.mute(instance)
            work.layer_of(instance).remove()
    return baked


def write(work: BakeTransaction, frames: Array, solves: Sequence[Solved], weights: Array) -> None:
    """Key what the layers of one rig do; a bone that several of them turn is turned by one after the other.

    frames: (n,) consecutive ones of those solved. weights: (n,) how much of it.
    """
    done: dict[Channels, Array] = {}
    for solve in solves:
        assert solve.samples is not None and solve.track is not None
        for (bone, mode), (values, base) in _channels(solve.samples, solve.track, frames, done, weights).items():
            work.write(bone, mode, frames, values, base)
            done[bone, mode] = values


def _channels(
    s: Samples, track: Track, frames: Array, baked: dict[Channels, Array], weights: Array
) -> dict[Channels, tuple[Array, Array]]:
    """What to key: a bone and the kind of its channels to their values (n, 3 or 4), and to their values before.

    baked: channels to which layers baked before have added.
    """
    first = int(frames[0] - track.first)
    chosen = slice(first, first + len(frames))
    rows = {bone: n for n, bone in enumerate(s.bones)}
    result = {}
    for n, bone in enumerate(track.turned):
        mode = s.modes[rows[bone]]
        before = baked.get((bone, mode))
        if before is None:
            before = s.raw[mode if mode in s.raw else "EULER"][chosen, rows[bone]]
        result[bone, mode] = channels.turned(before, mode, _part(track.offsets[chosen, n], weights)), before
    for n, bone in enumerate(track.moved):
        before = baked.get((bone, LOCATION))
        if before is None:
            before = s.raw[LOCATION][chosen, rows[bone]]
        result[bone, LOCATION] = before + weights[:, None] * track.moves[chosen, n], before
    return result


def _part(offsets: Array, weights: Array) -> Array:
    """Parts of rotations (n, 4), those with a weight of 1 to the last bit."""
    blended = weights < 1.0
    if not blended.any():
        return offsets
    result = offsets.copy()
    result[blended] = rotation.slerp(rotation.IDENTITY, offsets[blended], weights[blended])
    return result
