"""Which of several bones at one place is the control that an animator keys: the one that moves the others."""

from collections.abc import Collection

import numpy as np

from . import vocabulary as words
from .anatomy import Anatomy

_HERE = 0.005
"""Of a skeleton's size: bones that begin no farther apart are at one place."""
_PARTS = (words.HEAD, words.NECK, words.CHEST, words.SPINE, words.HIPS)


def at_one_place(anatomy: Anatomy, bone: int, other: int) -> bool:
    """Whether two bones begin at one place."""
    heads = anatomy.skeleton.heads
    return float(np.linalg.norm(heads[bone] - heads[other])) < _HERE * anatomy.size


def of_one_part(anatomy: Anatomy, bone: int, other: int) -> bool:
    """Whether the names of two bones say that they are the same part of the trunk."""
    one, two = ([name.has(part) for part in _PARTS] for name in (anatomy.names[bone], anatomy.names[other]))
    return one == two and any(one)


def of(anatomy: Anatomy, bone: int, shaped: Collection[str], carried: Collection[str]) -> int:
    """The control at the place of a bone that turns it, or that it turns if it is a mechanism; itself where none is.

    shaped: names of bones that are drawn with a shape. carried: names of bones that constraints move.
    """
    skeleton, deform = anatomy.skeleton, anatomy.deform

    def merit(candidate: int) -> tuple[bool, ...]:
        name, read = skeleton.names[candidate], anatomy.names[candidate]
        return (
            name in shaped,
            not read.has(words.HELPER, words.LEAF),
            name not in deform and not read.has(words.DEFORM),
            read.has(words.CONTROL) or read.words[:1] == ("c",),
            name not in carried,
        )

    candidates = [bone]
    for above in skeleton.ancestors(bone):
        if not (at_one_place(anatomy, bone, above) and of_one_part(anatomy, bone, above)):
            break
        candidates.append(above)
    mechanism = skeleton.names[bone] in carried or anatomy.names[bone].has(words.HELPER)
    if mechanism and skeleton.names[bone] not in shaped:
        below = (child for child in anatomy.below(bone) if skeleton.names[child] not in deform)
        candidates += [b for b in below if at_one_place(anatomy, bone, b) and of_one_part(anatomy, bone, b)]
    return max(candidates, key=merit)
