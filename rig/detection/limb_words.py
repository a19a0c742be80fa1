"""What the bones of a limb are where names tell only some of them: hierarchy and length say the rest.

A language that is not known may share a word with one that is. Then the hand has a name and the rest of the arm is
known by it, and legs that have none are the longest pair of bones below the arms.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ...lookat_pd.skeleton import Skeleton
from . import vocabulary as words
from .names import BoneName

_LEG = ("buttock", "thigh", "shin", "foot", "toe")
_ARM = ("clavicle", "upperarm", "forearm", "hand")
_SAID = words.HEAD | words.TORSO | words.ROOT | words.ARM | words.LEG | words.DIGIT | words.FACE | words.TAIL
_SAID |= words.HELPER | words.CONTROL | words.LEAF | words.BUTTOCK | words.ATTACHED
_STUB = 0.5
"""Of the bone after it: a shorter first bone of a leg leads to the hip."""
_REACH = 0.15
"""Of the skeleton's size: no limb is shorter."""
_ALIKE = 0.7
"""Of the longest pair: how long others are that are limbs too."""


@dataclass(frozen=True)
class _Tree:
    """The bones of one side that hang on the trunk in one place."""

    line: tuple[int, ...]
    """From the trunk outwards, to the end of the limb."""
    side: str
    base: int
    """The bone of the trunk, -1 for none."""
    length: float


def completed(skeleton: Skeleton, names: Sequence[BoneName]) -> list[BoneName]:
    """The names with words added to those of bones that say nothing themselves."""
    trees = _trees(skeleton, names)
    added: dict[int, str] = {}
    for tree in trees:
        added |= _around(names, tree)
    arms, legs = (_told(names, trees, added, kind) for kind in (words.ARM, words.LEG - words.HIPS))
    silent = [tree for tree in trees if all(is_silent(names[bone]) for bone in tree.line) and len(tree.line) > 2]
    silent = [tree for tree in silent if tree.length > _REACH * skeleton.size and not _on_head(skeleton, names, tree)]
    if arms and not legs:
        above = {tree.base for tree in arms}
        low = [tree for tree in silent if not above & set(_upwards(skeleton, tree.base))]
        for tree in _pairs(names, low or [tree for tree in silent if tree.base in above]):
            added |= _as_leg(skeleton, tree)
    elif legs and not arms:
        below = {bone for tree in legs for bone in _upwards(skeleton, tree.base)}
        for tree in _pairs(names, [tree for tree in silent if tree.base not in below]):
            added |= _as_arm(skeleton, names, tree)
    return [replace(name, words=(*name.words, added[n])) if n in added else name for n, name in enumerate(names)]


def _upwards(skeleton: Skeleton, bone: int) -> list[int]:
    """A bone and its ancestors; none for -1."""
    return [] if bone < 0 else [bone, *skeleton.ancestors(bone)]


def _trees(skeleton: Skeleton, names: Sequence[BoneName]) -> list[_Tree]:
    found = []
    for bone, name in enumerate(names):
        above = int(skeleton.parents[bone])
        if name.side and (above < 0 or names[above].side != name.side):
            line = _down(skeleton, names, bone)
            points = skeleton.heads[list(line)]
            length = float(sum(np.linalg.norm(b - a) for a, b in pairwise(points)))
            found.append(_Tree(line, name.side, above, length))
    return found


def _down(skeleton: Skeleton, names: Sequence[BoneName], bone: int) -> tuple[int, ...]:
    """The path outwards with most bones that say what they are, of these the longest."""
    below = [
        _down(skeleton, names, child)
        for child in skeleton.children[bone]
        if names[child].side == names[bone].side and not names[child].has(words.DIGIT, words.HELPER, words.LEAF)
    ]

    def merit(path: tuple[int, ...]) -> tuple[int, int]:
        return sum(names[b].has(words.ARM, words.LEG) for b in path), len(path)

    return (bone, *max(below, key=merit, default=()))


def is_silent(name: BoneName) -> bool:
    """Whether a name says nothing that is known."""
    return not name.has(_SAID)


def _told(
    names: Sequence[BoneName], trees: Sequence[_Tree], added: dict[int, str], kind: frozenset[str]
) -> list[_Tree]:
    """The trees with bones of a kind of limb."""
    return [
        tree
        for tree in trees
        if any(names[b].has(kind) and not names[b].has(words.HELPER, words.CONTROL, words.DIGIT) for b in tree.line)
        or any(added.get(bone) in kind for bone in tree.line)
    ]


def _around(names: Sequence[BoneName], tree: _Tree) -> dict[int, str]:
    """Words for the bones of a limb before the first that is called something, and behind the last."""
    called = [n for n, bone in enumerate(tree.line) if not is_silent(names[bone])]
    if not called or len(called) == len(tree.line):
        return {}
    found: dict[int, str] = {}
    for parts, kind, ends in ((_LEG, words.LEG, _LEG_PLACES), (_ARM, words.ARM, _ARM_PLACES)):
        first, last = names[tree.line[called[0]]], names[tree.line[called[-1]]]
        if not all(names[tree.line[n]].has(kind) for n in called):
            continue
        place, before = _place(first, ends), tree.line[: called[0]]
        if place and len(before) <= place:
            found |= dict(zip(reversed(before), reversed(parts[:place]), strict=False))
        place, behind = _place(last, ends), tree.line[called[-1] + 1 :]
        if place is not None:
            # A shoulder is a collar bone, or an upper arm if only an elbow and a wrist follow.
            skipped = parts is _ARM and place == 0 and len(behind) < 3
            found |= dict(zip(behind, parts[place + 1 + skipped :], strict=False))
    return found


_LEG_PLACES = (words.BUTTOCK, words.THIGH, words.SHANK, words.FOOT, words.TOE)
_ARM_PLACES = (words.SHOULDER, words.UPPER_ARM, words.FOREARM, words.HAND)


def _place(name: BoneName, places: Sequence[frozenset[str]]) -> int | None:
    return next((n for n, vocabulary in reversed([*enumerate(places)]) if name.has(vocabulary)), None)


def _on_head(skeleton: Skeleton, names: Sequence[BoneName], tree: _Tree) -> bool:
    line = _upwards(skeleton, tree.base)
    return not line or any(names[bone].has(words.HEAD, words.FACE, words.TAIL) for bone in line)


def _pairs(names: Sequence[BoneName], trees: Sequence[_Tree]) -> list[_Tree]:
    """The trees that have one like them on the other side, and are about as long as the longest of these."""
    keys = [(tree.base, len(tree.line), names[tree.line[0]].key) for tree in trees]
    paired = [
        tree
        for tree, key in zip(trees, keys, strict=True)
        if any(other == key and there.side != tree.side for there, other in zip(trees, keys, strict=True))
    ]
    longest = max((tree.length for tree in paired), default=0.0)
    return [tree for tree in paired if tree.length > _ALIKE * longest]


def _as_leg(skeleton: Skeleton, tree: _Tree) -> dict[int, str]:
    steps = np.linalg.norm(np.diff(skeleton.heads[list(tree.line)], axis=0), axis=-1)
    stub = int(len(tree.line) > 3 and steps[0] < _STUB * steps[1])
    return dict(zip(tree.line[stub:], _LEG[1:], strict=False))


def _as_arm(skeleton: Skeleton, names: Sequence[BoneName], tree: _Tree) -> dict[int, str]:
    """Words up to the hand, the first bone on which fingers hang."""
    hand = len(tree.line) - 1
    for n, bone in enumerate(tree.line[:4]):
        if n > 1 and sum(names[child].side == tree.side for child in skeleton.children[bone]) > 1:
            hand = n
            break
    hand = min(hand, 3)
    return dict(zip(tree.line, _ARM[3 - hand :], strict=False))
