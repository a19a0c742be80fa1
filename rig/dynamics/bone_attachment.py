"""Who carries whom: which joint each bone hangs on, told by parents, or where constraints act by turning each joint."""

from collections.abc import Sequence

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ..animation import channels
from ..animation.bake_transaction import BakeTransaction
from ..sampling import plain_chain
from ..sampling import sampler as sample
from ..sampling.sampler import Sampler, Samples

_TURN = np.radians(10.0)
_FOLLOWS = 0.5
"""Part of a joint's turn from which on a bone counts as carried by it."""
_HARMLESS = ("LIMIT_ROTATION", "LIMIT_LOCATION", "LIMIT_SCALE", "LIMIT_DISTANCE")


def is_plain(armature: bpy.types.Object, bones: Sequence[str]) -> bool:
    """Whether parents alone say what carries these bones: no constraint on them, nor on what is above them."""
    line = (link for name in bones for link in plain_chain.line(armature, name))
    return plain_chain.is_plain(armature, line, harmless=lambda constraint: constraint.type in _HARMLESS)


def by_parents(armature: bpy.types.Object, joints: Sequence[str], bones: Sequence[str]) -> Array:
    """(b, n) whether each bone moves with each joint; a joint moves with itself."""
    pose, found = armature.pose.bones, np.zeros((len(bones), len(joints)), dtype=bool)
    places = {name: n for n, name in enumerate(joints)}
    for k, name in enumerate(bones):
        for bone in (pose[name], *pose[name].parent_recursive):
            if bone.name in places:
                found[k, places[bone.name]] = True
    return found


def by_turning(
    sampler: Sampler, armature: bpy.types.Object, joints: Sequence[str], bones: Sequence[str], samples: Samples
) -> Array:
    """The same, seen on the evaluated rig: at the first frame of `samples` each joint is turned a little, in a working
    action of which nothing is left."""
    rows = {name: n for n, name in enumerate(samples.bones)}
    chosen, frame = [rows[name] for name in bones], samples.frames[:1]
    before, found = samples.rotations[0, chosen], np.zeros((len(bones), len(joints)), dtype=bool)
    work = BakeTransaction(armature)
    try:
        for n, name in enumerate(joints):
            mode, raw = samples.channel(name)
            for axis in np.eye(3):
                turned = channels.turned(raw[:1], mode, rotation.exp(_TURN * axis)[None])
                work.write(name, mode, frame, turned, raw[:1])
                seen = sample.run(sampler.sample(frame.tolist()))
                angle = rotation.angle(rotation.multiply(rotation.inverse(before), seen.rotations[0, chosen]))
                found[:, n] |= angle > _FOLLOWS * _TURN
            work.write(name, mode, frame, raw[:1], raw[:1])
    finally:
        work.rollback()
    for n, name in enumerate(joints):
        found[list(bones).index(name), n] = True
    return found


def nearest(moves: Array) -> Array:
    """(b,) of the joints that each bone moves with the one farthest from the root, -1 where there is none.

    moves: (b, n), the joints' own rows first, in their order; a joint's own place does not count for it.
    """
    moves = moves.copy()
    count = moves.shape[1]
    np.fill_diagonal(moves[:count], False)
    depth = moves[:count].sum(axis=1)
    ranked = np.where(moves, depth, -1)
    return np.where(moves.any(axis=1), np.argmax(ranked, axis=1), -1)
