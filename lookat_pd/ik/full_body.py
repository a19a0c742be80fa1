"""Inverse kinematics of a whole body: any number of objectives at once, by priority, with the smallest rotations.

All poses of a batch are solved together. An iteration is a Gauss-Newton step in the coordinates z, the rotation vectors
of the joints divided by their compliance. The residuals of each priority are reduced in the null space of those before
it, and the way back to the initial pose is projected onto the null space of all of them, so that the result has the
smallest rotations, weighted by the stiffness, that reach the objectives. All matrices that are inverted are as large as
the number of residuals, not of joints: a step is a combination of the rows of the Jacobian. The damping is proportional
to the remaining error, so that poses out of reach do not shake and others converge quadratically. What is left near the
objectives is the way back, an iteration to a fixed point: its relaxation is adapted to its last two steps. Sources:
Liegeois 1977; Nakamura and Hanafusa 1986; Siciliano and Slotine 1991; Sugihara 2011; the relaxation, Irons and Tuck
1969.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..rotation import Array
from . import body_reach, joint_checks
from .body_motion import BodyInTime
from .body_objectives import Balance, BodyObjective
from .body_problem import Problem
from .limits import Limits
from .posture import Posture


@dataclass(frozen=True)
class BodySolution:
    """The solution for a body."""

    rotations: Array
    """(..., n, 4) local rotations."""
    displacement: Array
    """(..., 3) displacement of the root, in the space of the base."""
    errors: Array
    """(..., k) error of each objective: lengths of positions, [rad] of orientations and directions."""
    unbalanced: Array
    """(...), distance of the centre of mass from the support polygon, 0 without a `Balance`."""
    iterations: Array
    """(...) numbers of iterations."""
    behind: Array
    """(..., k) how far the limb of each position stays behind its target by a soft reach, 0 where it does not."""
    softened: Array
    """(..., k) the part of this that a limb which becomes straight at once would not stay behind."""


def solve_body(
    parents: Sequence[int],
    offsets: ArrayLike,
    rotations: ArrayLike,
    objectives: Sequence[BodyObjective],
    *,
    balance: Balance | None = None,
    posture: Posture | None = None,
    limits: Limits | None = None,
    base: ArrayLike | None = None,
    move_root: bool = False,
    iterations: int = 80,
    tolerance: float = 1e-4,
    in_time: bool = False,
) -> BodySolution:
    """Local rotations that meet all objectives, or those of higher priority where they contradict each other.

    parents: (n,), -1 for a root; parents are listed before their children. offsets: (..., n, 3), each joint in its
    parent's frame, a root in the base's. rotations: (..., n, 4), each relative to its parent: the initial pose, to
    which the result is as near as the objectives allow. Leading axes are a batch, each of which is solved for itself.
    posture: stiffness and hinges. limits, base: as for `solve`. move_root: let the root change its position as well.
    tolerance: the largest rotation [rad] of a joint in the last iteration. in_time: the poses along the last axis of
    the batch follow each other in time: where initial poses and objectives are smooth, most poses are solved from a
    guess between others, see `body_motion`. The result is the same within the tolerance. Raises InvalidArgument.
    """
    iterations, tolerance = joint_checks.bounds(iterations, tolerance)
    problem = Problem(parents, offsets, rotations, objectives, balance, posture, limits, base, move_root)
    limbs = body_reach.soft_limbs(problem)
    body_reach.hold_back(problem, limbs)
    motion, (behind, softened) = BodyInTime(problem), np.zeros((2, problem.count, len(objectives)))
    if iterations and problem.count:
        motion.solve(iterations, tolerance, in_time=in_time)
        motion.pose, behind, softened = body_reach.soften(
            problem, limbs, motion.pose, motion.displacement, posture, limits
        )
        if behind.any():
            motion.errors, motion.unbalanced = problem.errors(
                np.arange(problem.count), motion.pose, motion.displacement
            )
    rotations = problem.whole.copy()
    rotations[:, problem.used] = motion.pose.T
    batch, bone = problem.batch, problem.bone[:, None]
    sizes = np.where([item.moves_with_root for item in objectives], bone, 1.0)
    return BodySolution(
        rotations.reshape(*batch, *rotations.shape[1:]),
        (bone * motion.displacement.T).reshape(*batch, 3),
        (motion.errors * sizes).reshape(*batch, len(objectives)),
        (problem.bone * motion.unbalanced).reshape(batch),
        motion.iterations.reshape(batch),
        (bone * behind).reshape(*batch, len(objectives)),
        (bone * softened).reshape(*batch, len(objectives)),
    )
