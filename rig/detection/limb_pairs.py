"""Pairs of legs and arms in the rest pose: where they begin and end, and whether the trunk between them is level."""

import numpy as np

from ...lookat_pd.rotation import Array
from . import vocabulary as words
from .anatomy import Anatomy

HORIZONTAL = np.cos(np.radians(45.0))
"""Cosine of the largest angle from a direction within which something counts as along it."""


def hind_legs(anatomy: Anatomy) -> tuple[Array, Array] | None:
    """Where the hind legs, all legs of a biped, begin and end (3,) each, between both sides; None without legs."""
    return mean_limb(hind_pairs(anatomy))


def front_legs(anatomy: Anatomy) -> tuple[Array, Array] | None:
    return mean_limb(front_pairs(anatomy))


def hind_pairs(anatomy: Anatomy) -> list[tuple[Array, Array]]:
    return _pairs(anatomy, anatomy.legs, words.LEG - words.FOOT - words.TOE, words.FOOT | words.TOE)


def front_pairs(anatomy: Anatomy) -> list[tuple[Array, Array]]:
    ends = words.FOOT | words.TOE | words.HAND
    return _pairs(anatomy, anatomy.arms, (words.ARM | words.THIGH) - ends, ends)


def is_level(anatomy: Anatomy) -> bool:
    """Whether the trunk from the hind limbs to the front limbs runs along the ground rather than up."""
    hind, front = hind_legs(anatomy), front_legs(anatomy)
    if hind is None or front is None:
        return False
    trunk, legs = front[0] - hind[0], hind[0] - hind[1]
    return bool(abs(trunk @ legs) < HORIZONTAL * np.linalg.norm(trunk) * np.linalg.norm(legs))


def on_all_fours(anatomy: Anatomy) -> bool:
    """Whether the character stands on its arms too: their ends are down, and the trunk between the limbs is level."""
    hind, front = hind_legs(anatomy), front_legs(anatomy)
    if hind is None or front is None or not is_level(anatomy):
        return False
    length = float(np.linalg.norm(hind[0] - hind[1]))
    up = (hind[0] - hind[1]) / length
    return float((front[1] - hind[1]) @ up) < 0.4 * length < float((front[0] - front[1]) @ up)


def mean_limb(pairs: list[tuple[Array, Array]]) -> tuple[Array, Array] | None:
    if not pairs:
        return None
    return np.mean([begin for begin, _ in pairs], axis=0), np.mean([end for _, end in pairs], axis=0)


def _pairs(
    anatomy: Anatomy, bones: list[int], upper: frozenset[str], ends: frozenset[str]
) -> list[tuple[Array, Array]]:
    """Where each pair of limbs begins and ends (3,) each, in the middle between both sides.

    A body with one pair has its feet wherever they hang; of several pairs each has its own.
    """
    sides = [_limbs(anatomy, [b for b in bones if anatomy.names[b].side == side], upper, ends) for side in "LR"]
    if not all(sides):
        return []
    if len(sides[0]) != len(sides[1]):
        sides = [[(np.mean([b for b, _ in s], axis=0), np.mean([e for _, e in s], axis=0))] for s in sides]
    pairs = [
        (0.5 * (one[0] + other[0]), 0.5 * (one[1] + other[1]))
        for one, other in zip(*(_in_order(side) for side in sides), strict=True)
    ]
    return [(begin, end) for begin, end in pairs if np.linalg.norm(begin - end) > 1e-6 * anatomy.size]


def _in_order(limbs: list[tuple[Array, Array]]) -> list[tuple[Array, Array]]:
    """Limbs of one side from one end of the body to the other, so that those of both sides correspond."""
    if len(limbs) < 2:
        return limbs
    begins = np.array([begin for begin, _ in limbs])
    ends = np.array([end for _, end in limbs])
    spread = begins if np.ptp(begins, axis=0).max() > 0.1 * np.ptp(ends, axis=0).max() else ends
    axis = int(np.argmax(np.ptp(spread, axis=0)))
    return [limbs[n] for n in np.argsort(spread[:, axis], kind="stable")]


def _limbs(anatomy: Anatomy, mine: list[int], upper: frozenset[str], ends: frozenset[str]) -> list[tuple[Array, Array]]:
    """Where each limb of one side begins and ends (3,) each."""
    skeleton, names = anatomy.skeleton, anatomy.names
    depth = {bone: len(skeleton.ancestors(bone)) for bone in mine}
    begins = [b for b in mine if names[b].has(upper) and not names[b].has(ends)] or mine
    tops = [bone for bone in begins if not set(skeleton.ancestors(bone)) & set(begins)]
    distinct: list[int] = []
    for top in sorted(tops, key=depth.__getitem__):
        near = (np.linalg.norm(skeleton.heads[top] - skeleton.heads[other]) for other in distinct)
        if all(distance > 0.01 * anatomy.size for distance in near):
            distinct.append(top)
    if not distinct:
        return []
    feet = [bone for bone in mine if names[bone].has(ends)]
    below = {top: set(anatomy.below(top)) for top in distinct}
    if len(distinct) == 1 or not all(below[top] & set(mine) for top in distinct):
        # One limb, or layers of bones and loose parts of one: what ends it may hang anywhere.
        top = distinct[0]
        if feet:
            return [(skeleton.heads[top], np.mean(skeleton.heads[feet], axis=0))]
        deepest = max(mine, key=depth.__getitem__)
        return [(skeleton.heads[top], end_of_limb(anatomy, top, deepest))]
    limbs = []
    for top in distinct:
        deepest = max((bone for bone in mine if bone in below[top]), key=depth.__getitem__)
        limbs.append((skeleton.heads[top], end_of_limb(anatomy, top, deepest)))
    return limbs


def end_of_limb(anatomy: Anatomy, top: int, bone: int) -> Array:
    """Where the last bone of a limb ends (3,): its furthest child or its own tail, unless that leads elsewhere."""
    skeleton = anatomy.skeleton
    head, below = skeleton.heads[bone], anatomy.below(bone)
    so_far = head - skeleton.heads[top]
    tail = skeleton.tails[bone] if anatomy.has_tails else head
    ends = [*skeleton.heads[below], *([] if below else [tail])]
    end = max(ends, key=lambda place: float(np.linalg.norm(place - head)))
    onward = (end - head) @ so_far > 0.25 * np.linalg.norm(end - head) * np.linalg.norm(so_far)
    return end if onward or not np.any(so_far) else head
