"""Which segment of a human body each bone belongs to: by name if possible, else by shape, position and parent."""

from collections.abc import Sequence

import numpy as np

from ...lookat_pd.dynamics.segments import PAIRED
from ...lookat_pd.rotation import Array
from . import limb_chains
from . import vocabulary as words
from .anatomy import Anatomy
from .names import BoneName

Segment = tuple[str, str]
"""Name and side: "L", "R" or ""."""
_HEAD = words.HEAD | words.NECK | words.FACE
# The cuts of the trunk between hips (0) and shoulders (1), and the start of the neck.
_NAVEL, _BREASTBONE, _NECK = 0.28, 0.62, 1.03
_UPRIGHT = 0.7
_LEGS, _ARMS = (0.38, 0.66), (0.22, 0.5)
"""Lengths of a human's legs to the ankle and arms to the wrist, of its stature, where no name says what is a limb."""
_LANDMARKS = tuple((name, side) for name in ("thigh", "upper_arm") for side in ("L", "R"))


def human(anatomy: Anatomy, bones: Sequence[int]) -> dict[int, Segment] | None:
    """Segments of the bones of a human; None if arms or legs are not found.

    bones: parents first.
    """
    nameless = not anatomy.legs and not anatomy.arms
    limbs = _limbs_by_shape(anatomy) if nameless else {}
    segments: dict[int, Segment] = {}
    for bone in bones:
        above = _above(anatomy, bone, segments)
        segment = limbs.get(bone) or _limb(anatomy.names[bone], above)
        if segment is not None:
            segments[bone] = segment
        elif above is not None and above[0] in PAIRED:
            segments[bone] = above
    for landmark in _LANDMARKS:
        if landmark not in segments.values():
            top = _named_by_joint(anatomy, bones, segments, landmark)
            if top is None:
                return None
            segments[top] = landmark
    low, high = middle(anatomy, segments, "thigh"), middle(anatomy, segments, "upper_arm")
    if not _stands(anatomy, segments, high - low):
        return None
    for bone in bones:
        if bone not in segments:
            segment = _trunk(anatomy, bone, low, high, _above(anatomy, bone, segments))
            if segment is not None:
                segments[bone] = segment
    return None if nameless and not _has_proportions(anatomy, segments) else segments


def _limbs_by_shape(anatomy: Anatomy) -> dict[int, Segment]:
    """The segments of the bones of two legs and two arms that symmetry shows; none of a body with more or fewer."""
    lines = limb_chains.find(anatomy.skeleton, anatomy.deform, anatomy.vertical)
    if len(lines.legs) != 2 or len(lines.arms) != 2:
        return {}
    segments: dict[int, Segment] = {}
    for side, leg, arm in zip("LR", lines.legs, lines.arms, strict=True):
        collar, *below = arm
        for names, parts in ((leg, ("thigh", "shank", "foot")), (below, ("upper_arm", "forearm", "hand"))):
            for name, part in zip(names, parts, strict=False):
                segments[anatomy.skeleton.index(name)] = part, side
        if collar:
            segments[anatomy.skeleton.index(collar)] = "upper_trunk", ""
    return segments


def _has_proportions(anatomy: Anatomy, found: dict[int, Segment]) -> bool:
    """Whether limbs are as long as a human's, unlike those of a bird or of most machines."""
    tall = stature(anatomy, found)
    for (first, last), (least, most) in ((("thigh", "foot"), _LEGS), (("upper_arm", "hand"), _ARMS)):
        if (last, "L") not in found.values() or (last, "R") not in found.values():
            continue
        ends = [_top(anatomy, found, (name, "L")) for name in (first, last)]
        if not least * tall < float(np.linalg.norm(ends[1] - ends[0])) < most * tall:
            return False
    return True


def _named_by_joint(anatomy: Anatomy, bones: Sequence[int], found: dict[int, Segment], landmark: Segment) -> int | None:
    """The bone of an upper arm or thigh that is named after its joint, as shoulder or hip: the one above the elbow or
    the knee, on the same side."""
    name, side = landmark
    below = ("forearm" if name == "upper_arm" else "shank", side)
    first = next((bone for bone in bones if found.get(bone) == below), None)
    above = -1 if first is None else int(anatomy.skeleton.parents[first])
    return above if above in bones and anatomy.names[above].side == side else None


def _stands(anatomy: Anatomy, found: dict[int, Segment], up: Array) -> bool:
    """Whether the legs continue in the direction of the trunk, unlike those of a quadruped."""
    lower = [bone for bone, (name, _) in found.items() if name in ("shank", "foot")]
    if not lower:
        return False
    down = anatomy.skeleton.tails[lower].mean(axis=0) - middle(anatomy, found, "thigh")
    return float(down @ up) < -_UPRIGHT * float(np.linalg.norm(down) * np.linalg.norm(up))


def stature(anatomy: Anatomy, segments: dict[int, Segment]) -> float:
    """The height of the body, in units of the armature."""
    bones = list(segments)
    up = middle(anatomy, segments, "upper_arm") - middle(anatomy, segments, "thigh")
    up /= max(float(np.linalg.norm(up)), 1e-12)
    straight = [bone for bone in bones if segments[bone][0] not in ("upper_arm", "forearm", "hand")]
    ends = np.concatenate((anatomy.skeleton.heads[straight], anatomy.skeleton.tails[straight]))
    return float(np.ptp(ends @ up))


def _above(anatomy: Anatomy, bone: int, found: dict[int, Segment]) -> Segment | None:
    """The segment of the nearest ancestor that has one."""
    return next((found[above] for above in anatomy.skeleton.ancestors(bone) if above in found), None)


def _limb(name: BoneName, above: Segment | None) -> Segment | None:
    """The segment of an arm or leg by name; None if the name is not that of one."""
    side = name.side
    if not side or name.has(words.DIGIT, words.WING, words.FIN):
        return None
    lower, upper = name.has(words.LOWER), name.has(words.UPPER)
    if name.has(words.HAND):
        return "hand", side
    if name.has(words.SHOULDER):
        return "upper_trunk", ""
    if name.has(words.FOREARM) or (name.has(words.ARM) and (lower or (above == ("upper_arm", side) and not upper))):
        return "forearm", side
    if name.has(words.ARM):
        return "upper_arm", side
    if name.has(words.FOOT, words.TOE):
        return "foot", side
    if name.has(words.SHANK) or (name.has(words.LEG) and (lower or (above == ("thigh", side) and not upper))):
        return "shank", side
    if name.has(words.LEG) and not name.has(words.BUTTOCK):
        return "thigh", side
    return None


def middle(anatomy: Anatomy, segments: dict[int, Segment], name: str) -> Array:
    """The point (3,) between the topmost joints of a paired segment."""
    return np.mean([_top(anatomy, segments, (name, side)) for side in ("L", "R")], axis=0)


def _top(anatomy: Anatomy, found: dict[int, Segment], segment: Segment) -> Array:
    """The topmost joint (3,) of a segment."""
    return anatomy.skeleton.heads[next(bone for bone, other in found.items() if other == segment)]


def _trunk(anatomy: Anatomy, bone: int, low: Array, high: Array, above: Segment | None) -> Segment | None:
    """The segment of a bone of the trunk or head, by its height between hips and shoulders."""
    if anatomy.names[bone].has(_HEAD) or above == ("head", ""):
        return "head", ""
    if anatomy.names[bone].has(words.ROOT) and above is None:
        return None
    axis = high - low
    middle = 0.5 * (anatomy.skeleton.heads[bone] + anatomy.skeleton.tails[bone])
    height = float((middle - low) @ axis) / max(float(axis @ axis), 1e-24)
    if height > _NECK:
        return "head", ""
    name = "upper_trunk" if height > _BREASTBONE else "middle_trunk" if height > _NAVEL else "lower_trunk"
    return name, ""
