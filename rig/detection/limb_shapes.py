"""Pairs of legs of a skeleton whose names say nothing of limbs: symmetrical lines of bones that reach the ground."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from .anatomy import Anatomy
from .limb_pairs import HORIZONTAL, end_of_limb

_FALL = 0.15
"""Of the skeleton's height: how far at least legs go down, and how far from the ground they may end."""
_STEEP = np.cos(np.radians(30.0))


@dataclass(frozen=True)
class LegPair:
    """Two legs that mirror each other."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    """`left`, `right`: the bones of two legs, from the body outwards."""
    begin: Array
    end: Array
    """`begin`, `end`: (3,) in the middle between both."""

    @property
    def legs(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return self.left, self.right


def find(anatomy: Anatomy) -> list[LegPair]:
    """The pairs of legs, where names tell neither legs nor arms.

    Which side is left is known only if names say so.
    """
    if anatomy.legs or anatomy.arms:
        return []
    skeleton, images, vertical = anatomy.skeleton, anatomy.counterparts, np.array(anatomy.vertical)
    points = np.concatenate((skeleton.heads, skeleton.tails)) @ vertical
    ground, fall = float(points.min()), _FALL * float(np.ptp(points))
    legs = []
    for left in sorted(images):
        right = images[left]
        if left > right and not anatomy.names[left].side:
            continue
        if anatomy.names[left].side == "R" or int(skeleton.parents[left]) in images:
            continue
        lines = _line(anatomy, left, images), _line(anatomy, right, images)
        begin = 0.5 * (skeleton.heads[left] + skeleton.heads[right])
        ends = [_lowest(anatomy, line, vertical) for line in lines]
        end = 0.5 * (ends[0] + ends[1])
        down = float((begin - end) @ vertical)
        if min(map(len, lines)) > 1 and down > fall and float(end @ vertical) - ground < fall:
            legs.append(LegPair(*lines, begin, end))
    return legs


def feet(anatomy: Anatomy, pairs: list[LegPair]) -> Array | None:
    """Where level ends of steep legs point to (3,), as feet do; None without any."""
    heads = anatomy.skeleton.heads
    total = np.zeros(3)
    for pair in pairs:
        down = pair.end - pair.begin
        for leg in pair.legs:
            points = [*heads[list(leg)], end_of_limb(anatomy, leg[0], leg[-1])]
            steps = [b - a for a, b in pairwise(points) if np.linalg.norm(b - a) > 1e-6]
            if len(steps) < 3:
                continue
            last, so_far = rotation.normalize(steps[-1]), rotation.normalize(sum(steps[:-1]))
            axis = rotation.normalize(down)
            if so_far @ axis > _STEEP and abs(last @ axis) < HORIZONTAL:
                total += last
    return total if np.any(total) else None


def _lowest(anatomy: Anatomy, line: tuple[int, ...], vertical: Array) -> Array:
    """Where the last bone of a limb ends (3,), or its tail if that is lower: knees of two bones may bend sharply."""
    ends = end_of_limb(anatomy, line[0], line[-1]), anatomy.skeleton.tails[line[-1]]
    return min(ends, key=lambda end: float(end @ vertical))


def _line(anatomy: Anatomy, bone: int, images: Mapping[int, int]) -> tuple[int, ...]:
    """From a bone outwards, the longest line of those with a counterpart."""
    below = [_line(anatomy, child, images) for child in anatomy.skeleton.children[bone] if child in images]
    return (bone, *max(below, key=len, default=()))
