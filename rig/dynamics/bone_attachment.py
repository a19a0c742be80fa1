"""The joint with which each bone moves: from parents or, with constraints, by rotating each joint."""

from collections.abc import Collection, Generator, Sequence

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ..animation.bake_transaction import BakeTransaction
from ..controls import coupling
from ..controls.changes import AnimatedChannels, Changes
from ..controls.kept_probe import KeptProbe, RigState
from ..sampling import plain_chain
from ..sampling.sampler import Sampler, Samples, sample_frames

_FOLLOWS = 0.5
"""Fraction of a joint's rotation above which a bone counts as moving with it."""
_kept: KeptProbe[Array] = KeptProbe()
_HARMLESS = ("LIMIT_ROTATION", "LIMIT_LOCATION", "LIMIT_SCALE", "LIMIT_DISTANCE")


def is_plain(armature: bpy.types.Object, bones: Sequence[str]) -> bool:
    """Whether these bones move only with their parents: no constraints on them or their ancestors."""
    line = (link for name in bones for link in plain_chain.line(armature, name))
    return plain_chain.is_plain(armature, line, harmless=lambda constraint: constraint.type in _HARMLESS)


def by_parents(armature: bpy.types.Object, joints: Sequence[str], bones: Sequence[str]) -> Array:
    """(b, n) whether each bone moves with each joint; a joint moves with itself."""
    pose, attached = armature.pose.bones, np.zeros((len(bones), len(joints)), dtype=bool)
    places = {name: n for n, name in enumerate(joints)}
    for k, name in enumerate(bones):
        for bone in (pose[name], *pose[name].parent_recursive):
            if bone.name in places:
                attached[k, places[bone.name]] = True
    return attached


def by_turning(
    sampler: Sampler,
    armature: bpy.types.Object,
    joints: Sequence[str],
    bones: Sequence[str],
    samples: Samples,
    posed: Collection[str] = (),
) -> Generator[float, None, Array]:
    """The same, measured on the evaluated rig: each joint is rotated a little at the first frame of `samples`, in a
    working action that is discarded; yields the completed fraction. Joints of `posed`, which a constraint poses, and
    what is below them move with their parents. What was measured before will do as long as the rig is the same.
    """
    yield 0.0
    rig = sampler.stand_in(armature).evaluated_get(sampler.step(float(samples.frames[0])))
    state, question = RigState.of(sampler.scene, armature, rig), (tuple(joints), tuple(bones), tuple(sorted(posed)))
    yield 0.0
    known = _kept.get(state, question)
    if known is None:
        known = yield from _turned(sampler, armature, joints, bones, samples, posed)
        _kept.keep(state, question, known)
    return known.copy()


def _turned(
    sampler: Sampler,
    armature: bpy.types.Object,
    joints: Sequence[str],
    bones: Sequence[str],
    samples: Samples,
    posed: Collection[str],
) -> Generator[float, None, Array]:
    rows = {name: n for n, name in enumerate(samples.bones)}
    chosen, frame = [rows[name] for name in bones], samples.frames[:1]
    before, found = samples.rotations[0, chosen], np.zeros((len(bones), len(joints)), dtype=bool)
    probes = [(n, axis) for n, name in enumerate(joints) if name not in posed for axis in np.eye(3)]
    work, animated = BakeTransaction(armature), AnimatedChannels(samples)

    def show(part: Sequence[tuple[int, Array]]) -> None:
        turns = {joints[n]: rotation.exp(coupling.TURN * axis)[None] for n, axis in part}
        animated.write(work, Changes(turns), slice(1))

    try:
        shown = yield from coupling.probing(probes, 1, show, lambda _: sample_frames(sampler, frame))
    finally:
        work.rollback()
    for (n, _), _, seen in shown:
        found[:, n] |= rotation.distance(before, seen.rotations[0, chosen]) > _FOLLOWS * coupling.TURN
    for n, name in enumerate(joints):
        found[list(bones).index(name), n] = True
    if posed:
        parents = by_parents(armature, joints, bones)
        below = parents[:, [name in posed for name in joints]].any(axis=1)
        found[below] = parents[below]
    return found


def nearest(moves: Array) -> Array:
    """(b,) the joint farthest from the root with which each bone moves, -1 if there is none.

    moves: (b, n), with the rows of the joints first, in their order; a joint's own position is excluded.
    """
    moves = moves.copy()
    count = moves.shape[1]
    np.fill_diagonal(moves[:count], False)
    depth = moves[:count].sum(axis=1)
    ranked = np.where(moves, depth, -1)
    return np.where(moves.any(axis=1), np.argmax(ranked, axis=1), -1)
