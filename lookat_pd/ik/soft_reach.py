"""Soft reach, also called soft IK: the goal of a limb, moved so that the limb comes gradually to its full length.

The angular speed of an elbow grows as 1/√(L² - d²) while the distance d of its goal comes to the length L of the limb:
the elbow snaps straight. So from d = L(1 - s) on, the slack L - d falls exponentially instead of linearly, and the limb
is never quite straight. The goal is moved before it is solved for, so that this works with every method; of a goal in
reach at most L s/e is missing.

The animation may have the limb straighter than that. A goal where the animation has the end of the limb stays there,
whatever the slack, and so does the limb for goals from there to the one that softly leads to this place: what was
solved once stays as it is. Farther from these goals this counts less, and from `_LET_GO` on nothing. So a straight limb
bends with a finite speed too, when its goal comes nearer: it follows late by at most half of the soft part.
"""

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import InvalidArgument
from ..rotation import Array

SOFTNESS = 0.03
"""The usual softness. From 0.02 to 0.04 neither the snap nor the missing distance is seen."""
MOST = 0.5
"""Largest softness."""
_LET_GO = 2.0
"""Distance of a goal from the animated end, in lengths of the soft part, from which on the animated slack does not
count."""

_LEAST = 1e-9
"""Least slack, in lengths of the soft part, that is told from none."""


def soft_goal(
    target: ArrayLike,
    base: ArrayLike,
    length: ArrayLike,
    *,
    softness: ArrayLike = SOFTNESS,
    initial: ArrayLike | None = None,
) -> Array:
    """The points (..., 3) to solve for instead of targets (..., 3), so that limbs become straight gradually.

    base: (..., 3), where the limb begins. length: (...), that of its bones together. softness: (...), the part of the
    length in which the limb becomes straight, from 0, for the targets themselves, to `MOST`. initial: (..., 3), the end
    of the limb in its initial pose: a target there stays as it is, and one whose point this is has it again.

    The points are on the lines from the bases to the targets, and continuous in all of these. A target nearer than
    length · (1 - softness), with an initial pose that is not straighter than this, stays as it is to the bit. Raises
    InvalidArgument.
    """
    target, base = checks.array("target", target, 3), checks.array("base", base, 3)
    length, softness = checks.array("length", length), checks.array("softness", softness)
    if not np.all((softness >= 0.0) & (softness <= MOST)):
        raise InvalidArgument("The softness of a limb must be from 0 to {most:g}.", most=MOST)
    away = target - base
    far, zone = np.linalg.norm(away, axis=-1), softness * length
    slack, stays = _slack(far, length, zone), (far <= length - zone) | (zone <= 0.0)
    if initial is not None:
        initial = checks.array("initial pose", initial, 3)
        kept = _kept(initial - base, away, length, zone)
        slack = kept * slack
        stays = stays & ((kept >= 1.0) | (zone <= 0.0)) | np.all(target == initial, axis=-1)
    factor = np.where(stays, 1.0, (length - slack) / np.where(far > 0.0, far, 1.0))[..., None]
    return np.where(stays[..., None], target, base + factor * away)


def _slack(far: Array, length: Array, zone: Array) -> Array:
    """The slack (...) that is left of a length for goals at a distance (...): C1, and never nothing."""
    beyond = np.maximum(far - (length - zone), 0.0)
    soft = zone * np.exp(-beyond / np.where(zone > 0.0, zone, 1.0))
    return np.where(beyond > 0.0, soft, length - far)


def _kept(initial: Array, away: Array, length: Array, zone: Array) -> Array:
    """The part (...) of the slack that goals at (..., 3) have, which are near those for which the end of the limb stays
    where it is initially (..., 3)."""
    own, goal, near = _near(initial, away, length, zone)
    # The bend of an elbow is as the root of the slack.
    least = _LEAST * np.where(zone > 0.0, zone, 1.0)
    part = np.sqrt(np.clip((length - own) / np.maximum(_slack(goal, length, zone), least), 0.0, 1.0))
    straighter = np.linalg.norm(initial, axis=-1) > length - zone
    return np.where(straighter, (1.0 - (1.0 - part) * near) ** 2, 1.0)


def _near(initial: Array, away: Array, length: Array, zone: Array) -> tuple[Array, Array, Array]:
    """For ends of limbs that are initially at (..., 3): how far (...) these are, at least to the soft part; how far the
    goal is for which they stay there and which is the nearest to (..., 3); and how near that is, from 0 to 1."""
    own, soft = np.linalg.norm(initial, axis=-1), np.where(zone > 0.0, zone, 1.0)
    # These goals are on a line, up to the one whose slack is that of the initial pose.
    line = initial / np.where(own > 0.0, own, 1.0)[..., None]
    straight = np.maximum(own, length - zone)
    last = length - zone - soft * np.log(np.maximum(length - straight, _LEAST * soft) / soft)
    goal = np.clip(np.sum(away * line, axis=-1), own, np.where(own > length - zone, np.maximum(last, own), own))
    aside = np.linalg.norm(away - goal[..., None] * line, axis=-1) / (_LET_GO * soft)
    return straight, goal, np.maximum(1.0 - aside, 0.0) ** 2


def soft_start(away: Array, length: Array, softness: Array | float, initial: Array) -> tuple[Array, Array]:
    """The distance (...) from which on limbs become straight softly: nearer by a fraction `softness` of their lengths
    (...), or where they are initially (..., 3), for goals (..., 3) that are near that; and how near, from 0 to 1. From
    their bases."""
    zone = softness * length
    own, _, near = _near(initial, away, length, zone)
    return length - zone + near * (np.minimum(own, length) - (length - zone)), near
