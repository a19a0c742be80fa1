"""Baking layers: what they add to bones becomes keys of these bones, at any destination of a bake."""

from collections.abc import Callable, Generator, Sequence

import bpy
import numpy as np

from ...lookat_pd.rotation import Array
from ..animation import actions
from ..animation.bake_options import BakeOptions, check_range
from ..animation.bake_transaction import BakeTransaction
from ..animation.channels import LOCATION
from ..animation.unkeyed_pose import Channels
from ..sampling import suspend
from ..sampling.scene_time import seconds_per_frame
from .kinds import Instance, Kind, LayerSolve, SolveRange
from .layer import ROTATION


def bake(
    scene: bpy.types.Scene,
    kind: type[Kind],
    instances: Sequence[Instance],
    options: BakeOptions,
    report: Callable[[Sequence[LayerSolve]], None] | None = None,
) -> Generator[float, None, dict[bpy.types.Object, bpy.types.Action]]:
    """Bake layers of a kind in order and mute them, yielding the fraction done. Raises LookAtError.

    However it ends, by return, error or `close`, either everything is baked or nothing has changed. Returns the actions
    by their objects. report: is given what was solved, once all is.
    """
    check_range(options.first, options.last)
    work = kind()
    for instance in instances:
        actions.check(instance.owner, options.into)
        for bone, what in work.baked(instance):
            item = instance.owner.pose.bones[bone] if bone else instance.owner
            mode = item.rotation_mode if what == ROTATION else LOCATION
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
            if report is not None:
                report(solves)
            yield 0.999
            for owner in dict.fromkeys(instance.owner for instance in instances):
                works[owner] = BakeTransaction(owner)
                chosen = [solve for solve in solves if solve.owner == owner]
                write(works[owner], np.arange(options.first, options.last + 1), chosen, options.weights())
                yield 0.999
            for owner, transaction in works.items():
                label = options.name or actions.baked_name(owner, options.into, ending(kind))
                baked[owner] = transaction.commit(options.into, label, options.writer)
        except BaseException:
            for transaction in works.values():
                transaction.rollback()
            raise
        for instance in instances:
            # Its motion is in the keys now and must not be added once more.
            work.mute(instance)
            work.layer_of(instance).remove()
    return baked


def ending(kind: type[Kind]) -> str:
    """With what the names of actions end that hold baked layers of a kind."""
    return f" {kind.name.lower().replace('_', '-')}"


def write(work: BakeTransaction, frames: Array, solves: Sequence[LayerSolve], weights: Array) -> None:
    """Key what the layers of one rig do; a bone that several of them turn is turned by one after the other.

    frames: (n,) consecutive ones of those solved. weights: (n,) how much of it.
    """
    done: dict[Channels, Array] = {}
    for solve in solves:
        keys = solve.track.channels(solve.samples, frames, done, weights)
        for (bone, mode), (values, base) in keys.items():
            work.write(bone, mode, frames, values, base)
            done[bone, mode] = values
