"""Which bones are the eyes and the lids of a face."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from . import vocabulary as words
from .anatomy import Anatomy
from .axes import rest_axes
from .names import read_names


@dataclass(frozen=True)
class EyeControlName:
    """A bone whose name says that it turns an eye or, where it `closes`, closes one."""

    bone: str
    side: str
    """"L", "R" or "" for both."""
    closes: bool


def eye_controls(names: Sequence[str]) -> list[EyeControlName]:
    """Of all bones of a rig the controls of a face that turn or close eyes, such as `CTRL_L_eye`,
    `CTRL_L_eye_blink`, `eyes_ctrl`."""
    controls = []
    for bone, name in zip(names, read_names(names), strict=True):
        said = set(name.words)
        if not (said & words.CONTROL and said & (words.EYE | words.LID)):
            continue
        closes = bool(said & words.CLOSES)
        if not closes and said & words.LID:
            continue
        if said <= words.CONTROL | words.EYE | words.LID | words.CLOSES | words.FACE_BOARD:
            controls.append(EyeControlName(bone, name.side, closes))
    return controls


def eyes(anatomy: Anatomy, head: int | None) -> list[int]:
    """Bones of the eyes, left before right; one, where there is one. head: the bone that looks, if there is one."""
    named = [bone for bone in _spoken(anatomy, words.EYE) if not anatomy.names[bone].has(words.BESIDE_EYE)]
    below = set() if head is None else set(anatomy.below(head))
    return _pair(anatomy, [bone for bone in named if bone in below] or named, head)


def upper_lids(anatomy: Anatomy) -> list[int]:
    """Bones that close the eyes, left before right; none, where it takes several to close one."""
    lids = [bone for bone in _spoken(anatomy, words.LID) if not anatomy.names[bone].has(words.LOWER_LID)]
    upper = [bone for bone in lids if anatomy.names[bone].has(words.UPPER_LID)] or lids
    sides = [[bone for bone in upper if anatomy.names[bone].side == side] for side in "LR"]
    return [side[0] for side in sides] if all(len(side) == 1 for side in sides) else []


def lid_points(anatomy: Anatomy) -> list[tuple[list[int], list[int]]]:
    """The bones along the upper and along the lower lid of each eye, left before right; none where an eye has no
    upper or no lower ones."""
    lids = [bone for bone in _spoken(anatomy, words.LID) if anatomy.names[bone].side]
    points = []
    for side in "LR":
        own = [bone for bone in lids if anatomy.names[bone].side == side]
        lower = [bone for bone in own if anatomy.names[bone].has(words.LOWER_LID)]
        upper = [bone for bone in own if anatomy.names[bone].has(words.UPPER_LID) and bone not in lower]
        if upper and lower:
            points.append((upper, lower))
    return points


def _spoken(anatomy: Anatomy, vocabulary: frozenset[str]) -> list[int]:
    """Bones with a word from the vocabulary that are no controls; those that deform, where any do."""
    beside = words.HELPER | words.CONTROL | words.LEAF
    found = [bone for bone, name in enumerate(anatomy.names) if name.has(vocabulary) and not name.has(beside)]
    deform = [bone for bone in found if anatomy.skeleton.names[bone] in anatomy.deform]
    return deform or found


def _pair(anatomy: Anatomy, candidates: list[int], head: int | None) -> list[int]:
    """The left and right bone of these with the plainest names, else the single one."""

    def plain(bone: int) -> tuple[int, int]:
        return len(anatomy.names[bone].words), len(anatomy.skeleton.names[bone])

    left, right, middle = (
        sorted((bone for bone in candidates if anatomy.names[bone].side == side), key=plain) for side in ("L", "R", "")
    )
    for bone in left:
        other = [b for b in right if anatomy.names[b].key == anatomy.names[bone].key]
        if other:
            return [bone, other[0]]
    if left and right:
        return [left[0], right[0]]
    if len(middle) == 2 and head is not None and not left and not right:
        return sorted(middle, key=lambda bone: -float(anatomy.skeleton.heads[bone] @ _left(anatomy, head)))
    alone = left or right or middle
    return alone[:1] if len(alone) == 1 else []


def _left(anatomy: Anatomy, head: int) -> Array:
    forward, up = rest_axes(anatomy, [head, *anatomy.skeleton.ancestors(head)])
    return rotation.cross(up, forward)
