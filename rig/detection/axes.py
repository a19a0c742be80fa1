"""Where the character's forward and up are, read from the rest pose.

Left and right bones give the sideways axis, legs and spine give up, and forward = left x up. Names may be on the wrong
side, so toes, face, tail, knees and elbows vote on which of the two ways is forward.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.message import Message
from ...lookat_pd.rotation import Array
from . import vocabulary as words
from .anatomy import Anatomy

# Characters are built upright on the armature's axes: what is off by less is posture, or an uneven rest pose.
_UPRIGHT = np.cos(np.radians(10.0))
_SQUARE = np.sin(np.radians(2.5))
_STRAIGHT = np.cos(np.radians(3.0))
_BENT = np.radians(3.0)  # a straighter joint does not show its direction of bending
_HORIZONTAL = np.cos(np.radians(45.0))
_AGREEING = np.cos(np.radians(12.0))  # votes on up closer than this leave no doubt
_SAME_WAY = np.cos(np.radians(30.0))
_NO_STANCE = np.cos(np.radians(120.0))
_ALONG = np.cos(np.radians(8.0))
_DOUBT = 0.7
"""The weight of votes that leaves a confidence of one half where no vote is against."""
VERTICAL = (0.0, 0.0, 1.0)
CERTAIN = 0.5
"""A confidence below this is reported."""

NAMES, FACE, EARS, TOES = Message("left and right"), Message("face"), Message("ears"), Message("toes")
SOLES, TAIL, SPINE, KNEES = Message("feet"), Message("tail"), Message("spine"), Message("knees")
ELBOWS, CLIP, LEGS = Message("elbows"), Message("animation"), Message("legs")
FRONT_LEGS, EYES_OVER_MOUTH = Message("front legs"), Message("eyes above the mouth")
SOURCES = (NAMES, FACE, EARS, TOES, SOLES, TAIL, SPINE, KNEES, ELBOWS, CLIP, LEGS, FRONT_LEGS, EYES_OVER_MOUTH)
"""The parts of a rig that vote, as users see them."""


@dataclass(frozen=True)
class Vote:
    """What one part of a rig says. source: one of `SOURCES`. direction: (3,) unit, in armature space."""

    source: str
    direction: Array
    weight: float


@dataclass(frozen=True)
class Axes:
    """forward, up: unit vectors (3,) in armature space. confidence: 0 to 1. forward_votes, up_votes: what they were
    read from. other: the forward and up that are next in question."""

    forward: Array
    up: Array
    confidence: float
    forward_votes: tuple[Vote, ...] = ()
    up_votes: tuple[Vote, ...] = ()
    other: tuple[Array, Array] | None = None

    @property
    def candidates(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Forward and up as read, and the other possibility."""
        return (self.forward, self.up), self.other or (-self.forward, self.up)

    @property
    def against(self) -> tuple[str, ...]:
        """The sources that say otherwise."""
        votes = [vote.source for vote in self.forward_votes if vote.direction @ self.forward < 0.0]
        return tuple(dict.fromkeys([*votes, *(v.source for v in self.up_votes if v.direction @ self.up < _HORIZONTAL)]))


def read(
    anatomy: Anatomy,
    line: list[int],
    vertical: Array | None = None,
    mesh_normal: Callable[[], Array | None] = lambda: None,
) -> Axes:
    """Forward and up with the votes for them. line: the head and its ancestors, head first.

    vertical: the armature's axis (3,) that points up in the world. mesh_normal: gives the normal (3,) of the plane in
    which the character's mesh is symmetric; used only where neither names nor bones distinguish left from right.
    """
    vertical = np.array(VERTICAL) if vertical is None else vertical
    left, paired = _sideways(anatomy, mesh_normal)
    votes_up = _up_votes(anatomy, line, left)
    if votes_up:
        up, trust = _up(votes_up, left, vertical)
    else:
        along = _along(anatomy, line)
        if along is None:
            return Axes(np.array([0.0, -1.0, 0.0]), np.array(VERTICAL), 0.0)
        if _swims(anatomy, line, along):
            return _swimmer(anatomy, line, along, left if paired else None)
        up = _upright(along, left if paired else _square(left, along))
        trust = 0.9 if up @ vertical > _HORIZONTAL else 0.4
    forward = _straight(rotation.cross(_square(left, up), up), up)
    votes = _votes(anatomy, line, up)
    if paired:
        votes.insert(0, Vote(NAMES, forward, 1.0))
    elif not votes:
        return Axes(default_forward(up), up, 0.1, (), tuple(votes_up), (forward, up))
    if sum(vote.weight * float(vote.direction @ forward) for vote in votes) < 0.0:
        forward = -forward
    other = None
    if trust < 0.5 and up @ vertical < _HORIZONTAL:
        other = _square(forward, vertical), vertical
    return Axes(forward, up, trust * _certainty(votes, forward), tuple(votes), tuple(votes_up), other)


def rest_axes(anatomy: Anatomy, line: list[int]) -> tuple[Array, Array]:
    """Unit forward and up (3,) in armature space. line: the head and its ancestors, head first."""
    found = read(anatomy, line)
    return found.forward, found.up


def _certainty(votes: list[Vote], forward: Array) -> float:
    """How sure a direction is, 0 to 1: by how much more weight is for it than against it."""
    said = [vote.weight * float(vote.direction @ forward) for vote in votes]
    spread = sum(vote.weight for vote in votes)
    lead = max(sum(said), 0.0)
    return lead / (lead + _DOUBT) * lead / spread


def is_stance(anatomy: Anatomy, line: list[int]) -> bool:
    """Whether limbs and spine of a skeleton stand as those of a body do.

    In the zero pose of some motion-capture skeletons all bones are along one axis, and legs point where the spine does.
    """
    if not anatomy.pairs:
        return True
    skeleton = anatomy.skeleton
    joints = [b for b in range(len(skeleton)) if skeleton.parents[b] >= 0]
    steps = np.array([skeleton.heads[b] - skeleton.heads[int(skeleton.parents[b])] for b in joints]).reshape(-1, 3)
    steps = steps[np.linalg.norm(steps, axis=-1) > 1e-3 * anatomy.size]
    if len(steps) > 4:
        directions = rotation.normalize(steps)
        axis = np.linalg.svd(directions)[2][0]
        if np.mean(np.abs(directions @ axis) > _ALONG) > 0.85:
            return False
    hind = hind_legs(anatomy)
    if hind is None:
        return True
    spine, legs = skeleton.heads[line[0]] - hind[0], hind[0] - hind[1]
    size = np.linalg.norm(spine) * np.linalg.norm(legs)
    return bool(size < 1e-9 * anatomy.size**2 or spine @ legs > _NO_STANCE * size)


def is_horizontal(anatomy: Anatomy, line: list[int]) -> bool:
    """Whether the spine is horizontal: that of a quadruped, or of a body without legs, a fish or a snake."""
    if hind_legs(anatomy) is not None:
        return _on_all_fours(anatomy)
    along = _along(anatomy, line)
    return along is not None and _swims(anatomy, line, along)


def _on_all_fours(anatomy: Anatomy) -> bool:
    """Whether the character stands on its arms too: their ends are down, and the trunk between the limbs is level."""
    hind, front = hind_legs(anatomy), _front_legs(anatomy)
    if hind is None or front is None or not is_level(anatomy):
        return False
    length = float(np.linalg.norm(hind[0] - hind[1]))
    up = (hind[0] - hind[1]) / length
    return float((front[1] - hind[1]) @ up) < 0.4 * length < float((front[0] - front[1]) @ up)


def is_level(anatomy: Anatomy) -> bool:
    """Whether the trunk from the hind limbs to the front limbs runs along the ground rather than up."""
    hind, front = hind_legs(anatomy), _front_legs(anatomy)
    if hind is None or front is None:
        return False
    trunk, legs = front[0] - hind[0], hind[0] - hind[1]
    return bool(abs(trunk @ legs) < _HORIZONTAL * np.linalg.norm(trunk) * np.linalg.norm(legs))


def _square(v: Array, axis: Array) -> Array:
    """The part of v that is square to the unit axis, at length 1; always the same one if v is parallel to the axis."""
    square = v - (v @ axis) * axis
    if np.linalg.norm(square) < 1e-9 * np.linalg.norm(v) or not np.any(v):
        return _square(np.eye(3)[int(np.argmin(np.abs(axis)))], axis)
    return rotation.normalize(square)


def _sideways(anatomy: Anatomy, mesh_normal: Callable[[], Array | None]) -> tuple[Array, bool]:
    """Unit axis to the character's left and whether names say so; without names its sign means nothing."""
    heads = anatomy.skeleton.heads
    across = _across(anatomy)
    if len(across):
        return rotation.normalize(_agreed(across)), True
    axis, images = anatomy.mirror
    if len(images) >= 4:
        return np.eye(3)[axis], False
    normal = mesh_normal()
    if normal is not None:
        return normal, False
    # All bones of a snake or a crane are in one plane.
    points = np.concatenate((heads, anatomy.skeleton.tails))
    return np.linalg.svd(points - np.mean(points, axis=0))[2][2], False


def _across(anatomy: Anatomy) -> Array:
    """Vectors (n, 3) from right to left where each pair of limbs begins: further out, limbs may be posed unevenly."""
    skeleton = anatomy.skeleton
    begun: set[int] = set()
    found = []
    for left, right in sorted(anatomy.pairs):
        vector = skeleton.heads[left] - skeleton.heads[right]
        if not begun & set(skeleton.ancestors(left)) and np.linalg.norm(vector) > 0.01 * anatomy.size:
            begun.add(left)
            found.append(vector)
    return np.array(found).reshape(-1, 3)


def _agreed(across: Array) -> Array:
    """Sum (3,) of vectors (n, 3) in which those that differ from the rest weigh little."""
    directions, total = rotation.normalize(across), np.sum(across, axis=0)
    for _ in range(10):
        off = np.linalg.norm(directions - rotation.normalize(total), axis=-1, keepdims=True)
        total = np.sum(across / (off + _SQUARE), axis=0)
    return total


def hind_legs(anatomy: Anatomy) -> tuple[Array, Array] | None:
    """Where the hind legs, all legs of a biped, begin and end (3,) each, between both sides; None without legs."""
    return _middle(_hind_pairs(anatomy))


def _front_legs(anatomy: Anatomy) -> tuple[Array, Array] | None:
    return _middle(_front_pairs(anatomy))


def _hind_pairs(anatomy: Anatomy) -> list[tuple[Array, Array]]:
    return _pairs(anatomy, anatomy.legs, words.LEG - words.FOOT - words.TOE, words.FOOT | words.TOE)


def _front_pairs(anatomy: Anatomy) -> list[tuple[Array, Array]]:
    ends = words.FOOT | words.TOE | words.HAND
    return _pairs(anatomy, anatomy.arms, (words.ARM | words.THIGH) - ends, ends)


def _middle(pairs: list[tuple[Array, Array]]) -> tuple[Array, Array] | None:
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
    found = [
        (0.5 * (one[0] + other[0]), 0.5 * (one[1] + other[1]))
        for one, other in zip(*(_in_order(side) for side in sides), strict=True)
    ]
    return [(begin, end) for begin, end in found if np.linalg.norm(begin - end) > 1e-6 * anatomy.size]


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
        return [(skeleton.heads[top], _end(anatomy, top, deepest))]
    limbs = []
    for top in distinct:
        deepest = max((bone for bone in mine if bone in below[top]), key=depth.__getitem__)
        limbs.append((skeleton.heads[top], _end(anatomy, top, deepest)))
    return limbs


def _end(anatomy: Anatomy, top: int, bone: int) -> Array:
    """Where the last bone of a limb ends (3,): its furthest child or its own tail, unless that leads elsewhere."""
    skeleton = anatomy.skeleton
    head, below = skeleton.heads[bone], anatomy.below(bone)
    so_far = head - skeleton.heads[top]
    ends = [*skeleton.heads[below], *([] if below else [skeleton.tails[bone]])]
    end = max(ends, key=lambda place: float(np.linalg.norm(place - head)))
    onward = (end - head) @ so_far > 0.25 * np.linalg.norm(end - head) * np.linalg.norm(so_far)
    return end if onward or not np.any(so_far) else head


def _up_votes(anatomy: Anatomy, line: list[int], left: Array) -> list[Vote]:
    """What the parts of a body with legs say about up, square to its left: every pair of legs, a biped's spine to a
    lesser part, the face to a small one."""
    hind = _hind_pairs(anatomy)
    if not hind:
        return []
    votes = [(LEGS, begin - end, 2.0 / len(hind)) for begin, end in hind]
    if _on_all_fours(anatomy):
        front = _front_pairs(anatomy)
        votes += [(FRONT_LEGS, begin - end, 2.0 / len(front)) for begin, end in front]
    found = [
        Vote(source, _square(v, left), weight)
        for source, v, weight in votes
        if np.linalg.norm(v - (v @ left) * left) > 0.2 * np.linalg.norm(v)
    ]
    if not found:
        return []
    legs = rotation.normalize(sum(vote.weight * vote.direction for vote in found))
    middle = _middle(hind)
    assert middle is not None
    spine = anatomy.skeleton.heads[line[0]] - middle[0]
    if np.linalg.norm(spine) > 1e-6 * anatomy.size and not _on_all_fours(anatomy):
        spine = _square(spine, left)
        if spine @ legs > _HORIZONTAL:
            found.append(Vote(SPINE, spine, 1.0))
    mouth = anatomy.center(anatomy.named(words.MOUTH))
    eyes = anatomy.center(anatomy.named(words.EYE, words.EAR))
    if mouth is not None and eyes is not None and np.linalg.norm(eyes - mouth) > 1e-4 * anatomy.size:
        face = _square(eyes - mouth, left)
        if abs(face @ legs) > _HORIZONTAL:
            found.append(Vote(EYES_OVER_MOUTH, face, 0.3))
    return found


def _up(votes: list[Vote], left: Array, vertical: Array) -> tuple[Array, float]:
    """Up (3,) from the votes for it, square to left, and how far it is trusted, 0 to 1.

    Votes that do not agree leave it to the armature's own axis, and so does one vote alone that is far from that.
    """
    body = [vote for vote in votes if vote.source != EYES_OVER_MOUTH]
    up = rotation.normalize(sum(vote.weight * vote.direction for vote in body))
    agreeing = len(body) > 1 and all(vote.direction @ up > _AGREEING for vote in body)
    stands = _square(vertical, left) if abs(vertical @ left) < _HORIZONTAL else up
    if up @ vertical > _HORIZONTAL:
        if agreeing:
            return _upright(up, left), 1.0
        return _upright(stands, left), 0.9
    # The armature's axis says otherwise.
    confirmed = sum(float(vote.direction @ up) > _SAME_WAY for vote in votes)
    if confirmed > 1:
        return _upright(up, left), 0.7
    return _upright(stands, left), 0.45


def _upright(up: Array, left: Array) -> Array:
    """up made square to left, and to the armature's axis where only the posture leans: rest poses stand on axes."""
    up = _square(up, left)
    axis = nearest_axis(up)
    return axis if axis @ up > _UPRIGHT and abs(axis @ left) < _SQUARE else up


def _straight(forward: Array, up: Array) -> Array:
    """forward, or the armature's axis square to up that it all but is."""
    axis = nearest_axis(forward)
    return axis if axis @ forward > _STRAIGHT and axis @ up == 0.0 else forward


def nearest_axis(v: Array) -> Array:
    """The armature axis (3,) that is nearest to a direction (3,)."""
    axes = np.concatenate((np.eye(3), -np.eye(3)))
    return axes[int(np.argmax(axes @ v))]


def _along(anatomy: Anatomy, line: list[int]) -> Array | None:
    """From the rest of the body to the head; None where the head is all there is."""
    heads = anatomy.skeleton.heads
    head = heads[line[0]]
    tail = anatomy.center(anatomy.named(words.TAIL))
    lower = [bone for bone in line[1:] if not anatomy.names[bone].has(words.ROOT)]
    base = tail if tail is not None else heads[lower[-1]] if lower else None
    if base is None or np.linalg.norm(head - base) < 1e-6 * anatomy.size:
        others = [bone for bone in range(len(heads)) if not anatomy.names[bone].has(words.ROOT)]
        base = np.mean(heads[others], axis=0) if others else head
    if np.linalg.norm(head - base) < 1e-6 * anatomy.size:
        return None
    return rotation.normalize(head - base)


def _swims(anatomy: Anatomy, line: list[int], along: Array) -> bool:
    """Whether the spine of a body without legs is horizontal, as of a fish or a snake, not upright as of a bust."""
    if anatomy.named(words.TAIL, words.FIN):
        return True
    if anatomy.arms:
        return False
    eyes = anatomy.center(anatomy.named(words.EYE, words.NOSE))
    if eyes is not None:
        face = rotation.normalize(eyes - anatomy.skeleton.heads[line[0]])
        return bool(face @ along > _HORIZONTAL)
    return bool(abs(along[2]) < _HORIZONTAL)


def _swimmer(anatomy: Anatomy, line: list[int], along: Array, left: Array | None) -> Axes:
    """Forward and up of a body without legs with a horizontal spine."""
    votes = (Vote(SPINE, along, 1.0),)
    mouth = anatomy.center(anatomy.named(words.MOUTH))
    if left is not None:
        up = rotation.cross(along, left)
    elif mouth is not None:
        up = anatomy.skeleton.heads[line[0]] - mouth
        left = rotation.cross(_square(up, along), -along)
    else:
        up = np.array([0.0, 0.0, 1.0]) if abs(along[2]) < 0.9 else np.array([0.0, -1.0, 0.0])
        return Axes(_square(along, up), up, _certainty(list(votes), along), votes)
    up = _upright(_square(up, along), rotation.normalize(left))
    return Axes(_square(along, up), up, _certainty(list(votes), along), votes)


def default_forward(up: Array) -> Array:
    """Blender's own forward, -Y, or what it is where the armature's Y points up: +Z."""
    forward = np.array([0.0, -1.0, 0.0])
    return _square(forward, up) if abs(forward @ up) < 0.9 else _square(np.array([0.0, 0.0, 1.0]), up)


def _votes(anatomy: Anatomy, line: list[int], up: Array) -> list[Vote]:
    """What parts of the body say about forward, square to up."""
    heads = anatomy.skeleton.heads
    head, pairs = heads[line[0]], _hind_pairs(anatomy)
    hind = _middle(pairs)
    fours = _on_all_fours(anatomy)
    spine = None if hind is None else head - hind[0]
    low = fours or (spine is not None and len(pairs) > 1 and spine @ up < _HORIZONTAL * np.linalg.norm(spine))
    face = anatomy.center(_face(anatomy, line[0]))
    found: list[tuple[str, Array | None, float]] = [
        (FACE, _from(face, head), 1.5),
        (EARS, _from(face, anatomy.center(anatomy.named(words.EAR))), 0.5),
        (TOES, _toes(anatomy), 1.5),
        (SOLES, _soles(anatomy, up), 0.6),
        (TAIL, _from(None if hind is None else hind[0], anatomy.center(_tail(anatomy, line, low))), 1.5),
        (SPINE, spine, 2.0 if low else 0.7),
        (KNEES, None if low and not fours else _bend(anatomy, anatomy.legs), 0.7),
        (ELBOWS, None if fours else _from(np.zeros(3), _bend(anatomy, anatomy.arms)), 0.5),
    ]
    votes = []
    for source, direction, weight in found:
        if direction is None or not np.any(direction):
            continue
        direction = rotation.normalize(direction)
        level = direction - (direction @ up) * up
        if np.linalg.norm(level) > 0.2:
            votes.append(Vote(source, rotation.normalize(level), weight))
    feet = [vote.direction for vote in votes if vote.source in (TOES, SOLES)]
    # Knees bend forward, but not those of birds and of many machines, whose feet are used instead.
    return [
        replace(vote, weight=0.2) if vote.source == KNEES and any(d @ vote.direction < 0.0 for d in feet) else vote
        for vote in votes
    ]


def _from(end: Array | None, start: Array | None) -> Array | None:
    return None if end is None or start is None else end - start


def _face(anatomy: Anatomy, head: int) -> list[int]:
    """Eyes, nose and mouth; descendants of the head, if it has any."""
    face = anatomy.named(words.EYE, words.NOSE, words.MOUTH)
    below = set(anatomy.below(head))
    return [bone for bone in face if bone in below] or face


def _tail(anatomy: Anatomy, line: list[int], low: bool) -> list[int]:
    """The tail; of a low body without one what is called spine but leads to no head, the abdomen of an insect."""
    tail = [bone for bone in anatomy.named(words.TAIL) if not anatomy.names[bone].side]
    if tail or not low:
        return tail
    behind = [bone for bone in anatomy.named(words.SPINE) if bone not in line and not anatomy.names[bone].side]
    return [bone for bone in behind if not anatomy.below(bone) or set(anatomy.below(bone)) <= set(behind)]


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
    for foot in anatomy.legs:
        if anatomy.names[foot].has(words.FOOT) and not skeleton.children[foot]:
            along = rotation.normalize(skeleton.tails[foot] - skeleton.heads[foot])
            total += along if abs(along @ up) < _HORIZONTAL else 0.0
    return total if np.any(total) else None


def _bend(anatomy: Anatomy, bones: list[int]) -> Array | None:
    """Which way the first joint of the limbs stands out from the line between their ends: a knee's way is forward."""
    skeleton = anatomy.skeleton
    total = np.zeros(3)
    for middle in bones:
        above = int(skeleton.parents[middle])
        if above not in bones or int(skeleton.parents[above]) in bones:
            continue
        for lower in skeleton.children[middle]:
            if lower not in bones:
                continue
            first, second = (
                skeleton.heads[middle] - skeleton.heads[above],
                skeleton.heads[lower] - skeleton.heads[middle],
            )
            span = float(np.linalg.norm(first) * np.linalg.norm(second))
            if span and np.linalg.norm(rotation.cross(first, second)) > np.sin(_BENT) * span:
                chord = rotation.normalize(first + second)
                total += first - (first @ chord) * chord
    return total if np.any(total) else None
