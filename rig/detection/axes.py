"""Where the character's forward and up are, read from the rest pose.

Left and right bones give the sideways axis, legs and spine give up, and forward = left x up. Names may be on the wrong
side, so toes, face, tail, knees and elbows vote on which of the two ways is forward.
"""

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from . import vocabulary as words
from .anatomy import Anatomy

# Characters are built upright on the armature's axes: what is off by less is posture, or an uneven rest pose.
_UPRIGHT = np.cos(np.radians(10.0))
_SQUARE = np.sin(np.radians(2.5))
_STRAIGHT = np.cos(np.radians(3.0))
_BENT = np.radians(3.0)  # a joint straighter than this does not tell which way it bends
_HORIZONTAL = np.cos(np.radians(45.0))


def rest_axes(anatomy: Anatomy, line: list[int]) -> tuple[Array, Array]:
    """Unit forward and up (3,) in armature space. line: the head and its ancestors, head first."""
    left, paired = _sideways(anatomy)
    if hind_legs(anatomy) is not None:
        up = _upright(_up_from_legs(anatomy, line, left), left)
    else:
        along = _along(anatomy, line)
        if along is None:
            return np.array([0.0, -1.0, 0.0]), np.array([0.0, 0.0, 1.0])
        if _swims(anatomy, line, along):
            return _swimmer(anatomy, line, along, left if paired else None)
        up = _upright(along, left if paired else _square(left, along))
    forward = _straight(rotation.cross(_square(left, up), up), up)
    votes = _votes(anatomy, line, up)
    if paired:
        votes.append((forward, 1.0))
    elif not votes:
        return _default_forward(up), up
    return (forward if sum(weight * float(v @ forward) for v, weight in votes) >= 0.0 else -forward), up


def is_horizontal(anatomy: Anatomy, line: list[int]) -> bool:
    """Whether the spine lies along the ground: that of a quadruped, or of a body without legs, a fish or a snake."""
    if hind_legs(anatomy) is not None:
        return _on_all_fours(anatomy)
    along = _along(anatomy, line)
    return along is not None and _swims(anatomy, line, along)


def _on_all_fours(anatomy: Anatomy) -> bool:
    """Whether the character stands on its arms too."""
    hind, front = hind_legs(anatomy), _front_legs(anatomy)
    if hind is None or front is None:
        return False
    length = float(np.linalg.norm(hind[0] - hind[1]))
    up = (hind[0] - hind[1]) / length
    return float((front[1] - hind[1]) @ up) < 0.4 * length < float((front[0] - front[1]) @ up)


def _square(v: Array, axis: Array) -> Array:
    """The part of v that is square to the unit axis, at length 1; always the same one where v lies along the axis."""
    square = v - (v @ axis) * axis
    if np.linalg.norm(square) < 1e-9 * np.linalg.norm(v) or not np.any(v):
        return _square(np.eye(3)[int(np.argmin(np.abs(axis)))], axis)
    return rotation.normalize(square)


def _sideways(anatomy: Anatomy) -> tuple[Array, bool]:
    """Unit axis to the character's left and whether names say so; without names its sign means nothing."""
    heads = anatomy.skeleton.heads
    across = _across(anatomy)
    if len(across):
        return rotation.normalize(_agreed(across)), True
    axis, images = anatomy.mirror
    if len(images) >= 4:
        return np.eye(3)[axis], False
    # All bones of a snake or a crane lie in one plane.
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
    return _limb(anatomy, anatomy.legs, words.LEG - words.FOOT - words.TOE, words.FOOT | words.TOE)


def _front_legs(anatomy: Anatomy) -> tuple[Array, Array] | None:
    return _limb(anatomy, anatomy.arms, words.ARM | words.THIGH, words.FOOT | words.TOE)


def _limb(
    anatomy: Anatomy, bones: list[int], upper: frozenset[str], ends: frozenset[str]
) -> tuple[Array, Array] | None:
    """Where a pair of limbs begins and ends (3,) each, in the middle between both sides; None without both."""
    depth = {bone: len(anatomy.skeleton.ancestors(bone)) for bone in bones}
    top: list[int] = []
    low: list[int] = []
    for side in "LR":
        mine = [bone for bone in bones if anatomy.names[bone].side == side]
        begins = [b for b in mine if anatomy.names[b].has(upper) and not anatomy.names[b].has(ends)] or mine
        if not begins:
            return None
        top.append(min(begins, key=depth.__getitem__))
        low += [bone for bone in mine if anatomy.names[bone].has(ends)] or [max(mine, key=depth.__getitem__)]
    begin, end = anatomy.center(top), anatomy.center(low)
    if begin is None or end is None or np.linalg.norm(begin - end) < 1e-6 * anatomy.size:
        return None
    return begin, end


def _up_from_legs(anatomy: Anatomy, line: list[int], left: Array) -> Array:
    """From the feet up the legs; of a quadruped's front legs too, of a biped's spine to a lesser part."""
    hind = hind_legs(anatomy)
    assert hind is not None
    legs = _square(hind[0] - hind[1], left)
    front = _front_legs(anatomy)
    if front is not None and _on_all_fours(anatomy):
        return legs + _square(front[0] - front[1], left)
    spine = anatomy.skeleton.heads[line[0]] - hind[0]
    if np.linalg.norm(spine) < 1e-6 * anatomy.size:
        return legs
    return 2.0 * legs + _square(spine, left)


def _upright(up: Array, left: Array) -> Array:
    """up made square to left, and to the armature's axis where only the posture leans: rest poses stand on axes."""
    up = _square(up, left)
    axis = _nearest_axis(up)
    return axis if axis @ up > _UPRIGHT and abs(axis @ left) < _SQUARE else up


def _straight(forward: Array, up: Array) -> Array:
    """forward, or the armature's axis square to up that it all but is."""
    axis = _nearest_axis(forward)
    return axis if axis @ forward > _STRAIGHT and axis @ up == 0.0 else forward


def _nearest_axis(v: Array) -> Array:
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
    """Whether a body without legs lies along its spine, as a fish or a snake, rather than standing on it as a bust."""
    if anatomy.named(words.TAIL, words.FIN):
        return True
    if anatomy.arms:
        return False
    eyes = anatomy.center(anatomy.named(words.EYE, words.NOSE))
    if eyes is not None:
        face = rotation.normalize(eyes - anatomy.skeleton.heads[line[0]])
        return bool(face @ along > _HORIZONTAL)
    return bool(abs(along[2]) < _HORIZONTAL)


def _swimmer(anatomy: Anatomy, line: list[int], along: Array, left: Array | None) -> tuple[Array, Array]:
    """Forward and up of a body that lies along its spine."""
    mouth = anatomy.center(anatomy.named(words.MOUTH))
    if left is not None:
        up = rotation.cross(along, left)
    elif mouth is not None:
        up = anatomy.skeleton.heads[line[0]] - mouth
        left = rotation.cross(_square(up, along), -along)
    else:
        up = np.array([0.0, 0.0, 1.0]) if abs(along[2]) < 0.9 else np.array([0.0, -1.0, 0.0])
        return _square(along, up), up
    up = _upright(_square(up, along), rotation.normalize(left))
    return _square(along, up), up


def _default_forward(up: Array) -> Array:
    """Blender's own forward, -Y, or what it is where the armature's Y points up: +Z."""
    forward = np.array([0.0, -1.0, 0.0])
    return _square(forward, up) if abs(forward @ up) < 0.9 else _square(np.array([0.0, 0.0, 1.0]), up)


def _votes(anatomy: Anatomy, line: list[int], up: Array) -> list[tuple[Array, float]]:
    """Directions (3,) in which parts of the body say that forward is, each with a weight."""
    heads = anatomy.skeleton.heads
    head, hind = heads[line[0]], hind_legs(anatomy)
    spine = None if hind is None else head - hind[0]
    found: list[tuple[Array | None, float]] = [
        (_from(anatomy.center(_face(anatomy, line[0])), head), 1.5),
        (_toes(anatomy), 1.5),
        (_soles(anatomy, up), 0.6),
        (_from(None if hind is None else hind[0], anatomy.center(_tail(anatomy))), 1.5),
        (spine, 2.0 if _on_all_fours(anatomy) else 0.7),
        (_bend(anatomy, anatomy.legs), 0.7),
        (None if _on_all_fours(anatomy) else _from(np.zeros(3), _bend(anatomy, anatomy.arms)), 0.5),
    ]
    votes = []
    for direction, weight in found:
        if direction is None or not np.any(direction):
            continue
        direction = rotation.normalize(direction)
        level = direction - (direction @ up) * up
        if np.linalg.norm(level) > 0.2:
            votes.append((rotation.normalize(level), weight))
    return votes


def _from(end: Array | None, start: Array | None) -> Array | None:
    return None if end is None or start is None else end - start


def _face(anatomy: Anatomy, head: int) -> list[int]:
    """Eyes, nose and mouth; those the head carries, where it carries any."""
    face = anatomy.named(words.EYE, words.NOSE, words.MOUTH)
    below = set(anatomy.below(head))
    return [bone for bone in face if bone in below] or face


def _tail(anatomy: Anatomy) -> list[int]:
    return [bone for bone in anatomy.named(words.TAIL) if not anatomy.names[bone].side]


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
    """Along feet that carry no bone for the toes, where they lie level."""
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
