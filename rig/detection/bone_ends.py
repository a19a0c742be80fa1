"""Where bones end in the body. In a file that has joints and no bones, importers let all bones point along one axis or
be of one length: then the tails say nothing."""

from dataclasses import replace

import numpy as np

from ...lookat_pd.rotation import Array
from ...lookat_pd.skeleton import Skeleton

SAME_PLACE = 1e-3
"""Of a skeleton's size: joints that are this near are in one place."""
_AT_TAIL, _MOST = 0.5, 0.5
"""A tail is at a child if it is not farther from it than this part of the longer of both; in a skeleton with bones so
many are."""
_ALIKE = 0.02
"""Of the distance of the farthest child: children that differ by less are a pair, such as two thighs."""
_DOT = 0.1
"""Of the distances between joints: bones that are mostly shorter are dots, as in a file in other units."""
_ANKLE = 0.25
"""Length of the last bone of a pair whose tail says nothing, as a part of the one above it."""
_SAME_LENGTH = 0.01
"""Of the longest bone: the difference up to which all bones are of one length."""
_LAST = 0.5
"""Longest last bone of a pair, as a part of the one above it: hands and feet are shorter than forearms and shins."""


def with_ends(skeleton: Skeleton) -> Skeleton:
    """The skeleton with the tail of each bone at its joint with the next one, unless most tails are there already.

    A bone with several children ends at the farthest one that is not one of a pair. One without children continues the
    bone above, at most as far as its own tail is and for the length of that bone, or half of it if it is one of a pair.
    Where all bones are dots or of one length, their tails say nothing about the last one, and one of a pair has a
    quarter of the length above it, as the height of an ankle.
    """
    own = np.linalg.norm(skeleton.tails - skeleton.heads, axis=-1)
    near = SAME_PLACE * skeleton.size
    below = [_apart(skeleton, bone, near) for bone in range(len(skeleton))]
    parents = [bone for bone, points in enumerate(below) if len(points)]
    if not parents or np.mean([_is_at_tail(skeleton, bone, below[bone]) for bone in parents]) >= _MOST:
        return skeleton
    along = skeleton.tails - skeleton.heads
    last = []
    for bone in range(len(skeleton)):
        if len(below[bone]):
            along[bone] = _farthest(below[bone])
        elif skeleton.parents[bone] >= 0 and len(below[int(skeleton.parents[bone])]):
            last.append(bone)
    above = along[[int(skeleton.parents[bone]) for bone in last]]
    lengths = np.linalg.norm(above, axis=-1)
    paired = (np.abs(lengths[:, None] - lengths) < _ALIKE * lengths).sum(axis=1) > 1
    most = np.where(paired, _LAST, 1.0)
    own_length = own[last] / lengths
    dots = np.median(own[parents] / np.linalg.norm(along[parents], axis=-1)) < _DOT
    if dots or np.ptp(own) < _SAME_LENGTH * own.max():
        ends = skeleton.heads[[int(skeleton.parents[bone]) for bone in last]] + above
        in_line = np.linalg.norm(skeleton.heads[last] - ends, axis=-1) < _AT_TAIL * lengths
        own_length[in_line] = np.where(paired, _ANKLE, 1.0)[in_line]
    along[last] = above * np.minimum(own_length, most)[:, None]
    return replace(skeleton, tails=skeleton.heads + along)


def _apart(skeleton: Skeleton, bone: int, near: float) -> Array:
    """The heads (c, 3) of children that are in another place, from that of the bone."""
    away = skeleton.heads[skeleton.children[bone]] - skeleton.heads[bone]
    return away[np.linalg.norm(away, axis=-1) > near]


def _is_at_tail(skeleton: Skeleton, bone: int, below: Array) -> bool:
    along = skeleton.tails[bone] - skeleton.heads[bone]
    longer = np.maximum(np.linalg.norm(below, axis=-1), np.linalg.norm(along))
    return bool(np.any(np.linalg.norm(below - along, axis=-1) < _AT_TAIL * longer))


def _farthest(below: Array) -> Array:
    """The farthest of some points (c, 3) that is not one of a pair, or the middle of the farthest pair."""
    away = np.linalg.norm(below, axis=-1)
    alike = np.abs(away[:, None] - away) < _ALIKE * away.max()
    alone = np.flatnonzero(alike.sum(axis=1) == 1)
    if len(alone):
        return below[alone[np.argmax(away[alone])]]
    return below[alike[np.argmax(away)]].mean(axis=0)
