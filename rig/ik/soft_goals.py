"""Soft reach of a chain: its targets are moved, before they are solved for, so that it does not snap straight."""

from dataclasses import replace

import numpy as np

from ...lookat_pd import ik, rotation
from ...lookat_pd.curves import runs
from ...lookat_pd.rotation import Array
from ..detection.joint_chain import JointChain
from .chain_solve import Objectives
from .pose import Seen


def softened(
    chain: JointChain, seen: Seen, objectives: Objectives, animated: Seen, softness: float | Array
) -> Objectives:
    """The objectives of a chain with targets that it reaches softly.

    animated: the chain before anything was solved, whose effector stays where the target has not moved. softness: one
    number or (F,), 0 for none.
    """
    lengths, hand, ends = np.linalg.norm(seen.offsets, axis=-1), np.zeros(3), animated.end
    if objectives.orientation is not None and chain.at_tip:
        # The last bone has its orientation, so that the others have to reach the place of its joint.
        hand = rotation.rotate(objectives.orientation, seen.offsets[:, -1])
        lengths, ends = lengths[:, :-1], animated.positions[:, -1]
    if not np.any(softness) or lengths.shape[1] < 2:
        return objectives
    target = objectives.target - hand
    goal = ik.soft_goal(target, seen.positions[:, 0], lengths.sum(axis=-1), softness=softness, initial=ends)
    moved = np.any(goal != target, axis=-1, keepdims=True)
    if not moved.any():
        return objectives
    return replace(objectives, target=np.where(moved, goal + hand, objectives.target), asked=objectives.target)


def as_far_as_needed(base: Array, lengths: Array, target: Array, held: Array, softness: float) -> Array:
    """The softness (F,) of limbs for targets (F, 3) that they must not miss in reach, during runs of frames (F,).

    base: (F, 3), where they begin. lengths: (F,)

    Contacts do not slip while they are in reach, however straight the chain is. What goes out of reach is missed in any
    case: the chain may become straight as far before the end of its reach as the target goes beyond it.
    """
    result = np.zeros(len(target))
    beyond = np.linalg.norm(target - base, axis=-1) / np.maximum(lengths, 1e-300) - 1.0
    for first, last in runs(held):
        result[first : last + 1] = np.clip(beyond[first : last + 1].max(), 0.0, softness)
    return result


def missing(objectives: Objectives) -> Array:
    """How far (F,) the targets were moved."""
    return np.linalg.norm(objectives.wanted - objectives.target, axis=-1)
