"""What parts of a rig show about its forward and up axes: legs, spine, face, toes, feet, tail, knees, elbows vote."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.message import Message
from ...lookat_pd.rotation import Array
from . import limb_shapes
from . import vocabulary as words
from .anatomy import Anatomy
from .bone_ends import SAME_PLACE
from .directions import perpendicular
from .limb_pairs import HORIZONTAL, front_pairs, hind_pairs, mean_limb, on_all_fours
from .limb_shapes import LegPair

_BENT = np.radians(3.0)  # a straighter joint does not show its direction of bending
_BENT_KNEE, _BENT_ELBOW = 0.02, 0.08
"""Of the length of a limb: a joint that is less far from the line between its ends weighs less. Knees are bent on
purpose, for inverse kinematics, and elbows of arms held straight by chance."""

NAMES, FACE, EARS, TOES = Message("left and right"), Message("face"), Message("ears"), Message("toes")
SOLES, TAIL, SPINE, KNEES = Message("feet"), Message("tail"), Message("spine"), Message("knees")
ELBOWS, CLIP, LEGS = Message("elbows"), Message("animation"), Message("legs")
TRAVEL, MESH = Message("steps"), Message("mesh")
FRONT_LEGS, EYES_OVER_MOUTH = Message("front legs"), Message("eyes above the mouth")
SOURCES = (
    NAMES,
    FACE,
    EARS,
    TOES,
    SOLES,
    TAIL,
    SPINE,
    KNEES,
    ELBOWS,
    CLIP,
    TRAVEL,
    MESH,
    LEGS,
    FRONT_LEGS,
    EYES_OVER_MOUTH,
)
"""The parts of a rig that vote, as users see them."""


@dataclass(frozen=True)
class Vote:
    """What one part of a rig shows."""

    source: str
    """One of `SOURCES`."""
    direction: Array
    """(3,) unit, in armature space."""
    weight: float


def up_votes(anatomy: Anatomy, line: list[int], left: Array) -> list[Vote]:
    """What a body with legs shows about up, perpendicular to its left: each pair of legs, a biped's spine to a
    lesser part, the face to a small one."""
    hind = hind_pairs(anatomy)
    if not hind:
        return []
    votes = [(LEGS, begin - end, 2.0 / len(hind)) for begin, end in hind]
    if on_all_fours(anatomy):
        front = front_pairs(anatomy)
        votes += [(FRONT_LEGS, begin - end, 2.0 / len(front)) for begin, end in front]
    leg_votes = [
        Vote(source, perpendicular(v, left), weight)
        for source, v, weight in votes
        if np.linalg.norm(v - (v @ left) * left) > 0.2 * np.linalg.norm(v)
    ]
    if not leg_votes:
        return []
    legs = rotation.normalize(sum(vote.weight * vote.direction for vote in leg_votes))
    base = mean_limb(hind)
    assert base is not None
    spine = anatomy.skeleton.heads[line[0]] - base[0]
    if np.linalg.norm(spine) > 1e-6 * anatomy.size and not on_all_fours(anatomy):
        spine = perpendicular(spine, left)
        if spine @ legs > HORIZONTAL:
            leg_votes.append(Vote(SPINE, spine, 1.0))
    mouth = anatomy.center(anatomy.named(words.MOUTH))
    eyes = anatomy.center(anatomy.named(words.EYE, words.EAR))
    if mouth is not None and eyes is not None and np.linalg.norm(eyes - mouth) > 1e-4 * anatomy.size:
        face = perpendicular(eyes - mouth, left)
        if abs(face @ legs) > HORIZONTAL:
            leg_votes.append(Vote(EYES_OVER_MOUTH, face, 0.3))
    return leg_votes


def forward_votes(anatomy: Anatomy, line: list[int], up: Array) -> list[Vote]:
    """What parts of the body show about forward, perpendicular to up."""
    heads = anatomy.skeleton.heads
    head, pairs = heads[line[0]], hind_pairs(anatomy)
    hind = mean_limb(pairs)
    fours = on_all_fours(anatomy)
    spine = None if hind is None else head - hind[0]
    low = fours or (spine is not None and len(pairs) > 1 and spine @ up < HORIZONTAL * np.linalg.norm(spine))
    face = _middle(anatomy, _face(anatomy, line[0]))
    found: list[tuple[str, Array | None, float]] = [
        (FACE, _from(face, head), 1.5),
        (EARS, _from(face, anatomy.center(anatomy.named(words.EAR))), 0.5),
        (TOES, _toes(anatomy), 1.5),
        (SOLES, _soles(anatomy, up), 0.6),
        (TAIL, _from(None if hind is None else hind[0], anatomy.center(_tail(anatomy, line, low))), 1.5),
        (SPINE, spine, 2.0 if low else 0.7),
    ]
    if fours or not low:
        found.append((KNEES, *_bend(anatomy, anatomy.legs, _BENT_KNEE, 0.7)))
    if not fours:
        elbows, weight = _bend(anatomy, anatomy.arms, _BENT_ELBOW, 0.5)
        found.append((ELBOWS, _from(np.zeros(3), elbows), weight))
    return _doubting_knees(_level_votes(found, up))


def mesh_votes(anatomy: Anatomy, head: int, up: Array, face: Array | None) -> list[Vote]:
    """What shows where the meshes of the face are, if there are some. face: in the middle of them (3,)."""
    return _level_votes([(MESH, _from(face, anatomy.skeleton.heads[head]), 1.0)], up)


def shape_up_votes(anatomy: Anatomy, line: list[int], left: Array, legs: list[LegPair]) -> list[Vote]:
    """What a body whose names say nothing of limbs shows about up, perpendicular to its left: its legs, its spine."""
    votes = [(LEGS, pair.begin - pair.end, 2.0 / len(legs)) for pair in legs]
    mean = sum(begin for begin in (pair.begin for pair in legs)) / len(legs)
    spine = anatomy.skeleton.heads[line[0]] - mean
    down = sum(pair.begin - pair.end for pair in legs)
    if len(legs) == 1 and spine @ down > HORIZONTAL * np.linalg.norm(spine) * np.linalg.norm(down):
        votes.append((SPINE, spine, 1.0))
    return [
        Vote(source, perpendicular(v, left), weight)
        for source, v, weight in votes
        if np.linalg.norm(v - (v @ left) * left) > 0.2 * np.linalg.norm(v)
    ]


def shape_forward_votes(anatomy: Anatomy, line: list[int], up: Array, legs: list[LegPair]) -> list[Vote]:
    """What a body whose names say nothing of limbs shows about forward: feet, its knees, the head before its legs.

    Which end of a level body is the head is known by its name, or shown by bones in pairs on it.
    """
    head = line[0]
    called = is_called(anatomy, head)
    paired = sum(bool(anatomy.names[bone].side) or bone in anatomy.mirror[1] for bone in anatomy.below(head)) > 1
    spine = anatomy.skeleton.heads[head] - sum(pair.begin for pair in legs) / len(legs)
    low = len(legs) > 1 or spine @ up < HORIZONTAL * np.linalg.norm(spine)
    bones = [bone for pair in legs for leg in pair.legs for bone in leg]
    shown: list[tuple[str, Array | None, float]] = [
        (SOLES, limb_shapes.feet(anatomy, legs), 1.2),
        (SPINE, spine if low else None, 1.5 if called else 1.2 if paired else 0.5),
    ]
    if len(legs) == 1 and not low:
        shown.append((KNEES, *_bend(anatomy, bones, _BENT_KNEE, 0.5)))
    return _doubting_knees(_level_votes(shown, up))


def is_called(anatomy: Anatomy, head: int) -> bool:
    """Whether names show which bone is the head, rather than the shape of the skeleton."""
    return anatomy.names[head].has(words.HEAD | words.NECK | words.CHEST | words.SPINE)


def _level_votes(shown: list[tuple[str, Array | None, float]], up: Array) -> list[Vote]:
    """Votes of the directions that are not all but vertical."""
    votes = []
    for source, direction, weight in shown:
        if direction is None or not np.any(direction):
            continue
        direction = rotation.normalize(direction)
        level = direction - (direction @ up) * up
        if np.linalg.norm(level) > 0.2:
            votes.append(Vote(source, rotation.normalize(level), weight))
    return votes


def _doubting_knees(votes: list[Vote]) -> list[Vote]:
    """Knees bend forward, but not those of birds and of many machines, whose feet are used instead."""
    feet = [vote.direction for vote in votes if vote.source in (TOES, SOLES)]
    return [
        replace(vote, weight=0.2) if vote.source == KNEES and any(d @ vote.direction < 0.0 for d in feet) else vote
        for vote in votes
    ]


def _from(end: Array | None, start: Array | None) -> Array | None:
    return None if end is None or start is None else end - start


def _face(anatomy: Anatomy, head: int) -> list[int]:
    """Eyes, brows, nose and mouth; descendants of the head, if it has any."""
    face = anatomy.named(words.EYE, words.BROW, words.NOSE, words.MOUTH)
    below = set(anatomy.below(head))
    return [bone for bone in face if bone in below] or face


def _middle(anatomy: Anatomy, face: list[int]) -> Array | None:
    """The middle (3,) of parts of a face: of a jaw the chin, since it turns at the ears."""
    tips = [bone for bone in face if anatomy.names[bone].has(words.MOUTH) and anatomy.has_tails]
    if not tips:
        return anatomy.center(face)
    others = anatomy.center([bone for bone in face if bone not in tips])
    chin = np.mean(anatomy.skeleton.tails[tips], axis=0)
    return chin if others is None else 0.5 * (others + chin)


def _tail(anatomy: Anatomy, line: list[int], low: bool) -> list[int]:
    """The tail; of a low body without one what is called spine but leads to no head, the abdomen of an insect."""
    tail = [bone for bone in anatomy.named(words.TAIL) if not anatomy.names[bone].side]
    if tail or not low:
        return tail
    trunk = {*line, *_resting_in(anatomy, line)}
    behind = [bone for bone in anatomy.named(words.SPINE) if bone not in trunk and not anatomy.names[bone].side]
    return [bone for bone in behind if not anatomy.below(bone) or set(anatomy.below(bone)) <= set(behind)]


def _resting_in(anatomy: Anatomy, line: list[int]) -> set[int]:
    """The bones of the body that rest where the head does, and those above them: the line of the head in a control rig,
    whose controls are not the parents of what they deform."""
    skeleton = anatomy.skeleton
    away = np.linalg.norm(skeleton.heads - skeleton.heads[line[0]], axis=-1)
    alike = [bone for bone in anatomy.flesh if away[bone] < SAME_PLACE * anatomy.size]
    return {above for bone in alike for above in (bone, *skeleton.ancestors(bone))}


def _toes(anatomy: Anatomy) -> Array | None:
    """From ankles to toes."""
    skeleton = anatomy.skeleton
    total = np.zeros(3)
    for bone in anatomy.legs + anatomy.arms:
        parent = int(skeleton.parents[bone])
        if not anatomy.names[bone].has(words.FOOT, words.TOE) or parent < 0:
            continue
        if anatomy.names[parent].has(words.FOOT) and anatomy.names[parent].side == anatomy.names[bone].side:
            total += skeleton.heads[bone] - skeleton.heads[parent]
    return total if np.any(total) else None


def _soles(anatomy: Anatomy, up: Array) -> Array | None:
    """Along feet without a bone for the toes, where they are level."""
    skeleton = anatomy.skeleton
    total = np.zeros(3)
    for foot in anatomy.legs if anatomy.has_tails else ():
        if anatomy.names[foot].has(words.FOOT) and not skeleton.children[foot]:
            along = rotation.normalize(skeleton.tails[foot] - skeleton.heads[foot])
            total += along if abs(along @ up) < HORIZONTAL else 0.0
    return total if np.any(total) else None


def _bend(anatomy: Anatomy, bones: Sequence[int], much: float, weight: float) -> tuple[Array | None, float]:
    """The direction in which elbows or knees are off the lines between the ends of their limbs, and its weight, the
    given one where they are off by `much` of the lengths of these: knees bend forward."""
    heads = anatomy.skeleton.heads
    found = []
    for line in _lines(anatomy, bones):
        joint = _middle_joint(anatomy, line)
        if joint is None:
            continue
        start, middle, end = (heads[bone] for bone in joint)
        first, second = middle - start, end - middle
        span = float(np.linalg.norm(first) * np.linalg.norm(second))
        if span and np.linalg.norm(rotation.cross(first, second)) > np.sin(_BENT) * span:
            chord = rotation.normalize(first + second)
            found.append((first - (first @ chord) * chord) / float(np.linalg.norm(first) + np.linalg.norm(second)))
    if not found:
        return None, 0.0
    mean = np.mean(found, axis=0)
    return mean, weight * min(float(np.linalg.norm(mean)) / much, 1.0)


def _lines(anatomy: Anatomy, bones: Sequence[int]) -> list[list[int]]:
    """The bones of each limb, from the body outwards; what stands between two of them is left out."""
    skeleton, among = anatomy.skeleton, set(bones)
    below: dict[int, list[int]] = {}
    for bone in bones:
        side = anatomy.names[bone].side
        above = (b for b in skeleton.ancestors(bone) if b in among and anatomy.names[b].side == side)
        below.setdefault(next(above, -1), []).append(bone)

    def down(bone: int) -> list[int]:
        return [bone, *max((down(child) for child in below.get(bone, [])), key=len, default=[])]

    return [down(top) for top in below.get(-1, [])]


def _middle_joint(anatomy: Anatomy, line: Sequence[int]) -> tuple[int, int, int] | None:
    """The bones that begin at the shoulder, the elbow and the wrist of an arm, or at those of a leg: by name, else the
    joint that divides the limb most evenly."""
    names, heads = anatomy.names, anatomy.skeleton.heads
    ends = words.PALM | words.FOOT
    last = next((n for n, bone in enumerate(line) if names[bone].has(ends)), None)
    upper = line[: len(line) if last is None else last]
    middle = next((n for n, bone in enumerate(upper) if n and names[bone].has(words.FOREARM, words.SHANK)), None)
    if middle is None:
        begin = 1 if len(line) > 3 and names[line[0]].has(words.COLLAR, words.BUTTOCK) else 0
        far = len(line) - 1 if last is None else last
        inner = range(begin + 1, far)
        if not inner:
            return None
        middle = max(inner, key=lambda n: _shorter(heads[[line[begin], line[n], line[far]]]))
        return line[begin], line[middle], line[middle + 1] if last is None else line[last]
    begin = middle - 1
    while begin and names[line[begin - 1]].words == names[line[middle - 1]].words:
        begin -= 1
    if last is None:
        last = min(middle + 1, len(line) - 1)
    return (line[begin], line[middle], line[last]) if last > middle else None


def _shorter(points: Array) -> float:
    """The shorter of two steps between points (3, 3)."""
    return float(np.linalg.norm(np.diff(points, axis=0), axis=-1).min())
