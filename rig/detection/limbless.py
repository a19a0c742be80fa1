"""Forward and up of bodies without legs: busts and ghosts, fish and snakes, lamps and cranes."""

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from . import axis_votes
from . import vocabulary as words
from .anatomy import Anatomy
from .axis_votes import SPINE, Vote
from .directions import default_forward, perpendicular, straight, upright
from .left_axis import NAMED
from .limb_pairs import HORIZONTAL

_ACROSS = np.sin(np.radians(30.0))
_LAST_BONE, _USUAL = 0.04, 0.06
"""Evidence for looking along the last bone, and for looking where most figures in Blender do."""


def along_spine(anatomy: Anatomy, line: list[int]) -> Array | None:
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


def lies(anatomy: Anatomy, line: list[int], along: Array) -> bool:
    """Whether the spine of a body without legs lies, as of a fish or a snake, rather than stands as of a bust."""
    return uprightness(anatomy, line[0], along) < 0.0


def standing(anatomy: Anatomy, line: list[int], along: Array, left: Array, known: str) -> tuple[Array, float, Array]:
    """Up, how far it is trusted and forward of a body without legs if its spine stands."""
    up = upright(along, left if known == NAMED else perpendicular(left, along))
    trust = 0.9 if up @ np.array(anatomy.vertical) > HORIZONTAL else 0.4
    sure = min(0.5 + 0.3 * max(uprightness(anatomy, line[0], along), 0.0), 1.0)
    forward = straight(rotation.cross(perpendicular(left, up), up), up)
    return up, trust * sure, forward


def lying(anatomy: Anatomy, line: list[int], along: Array, side: Array, known: str) -> tuple[Array, Array, float, Vote]:
    """Forward, up, how far that is trusted and the vote of the spine, of a body without legs whose spine lies.

    Where its sides and the vertical differ about what is up, the sides were named the wrong way round.
    """
    head, vertical = line[0], np.array(anatomy.vertical)
    left = side if known == NAMED else None
    level = min(-uprightness(anatomy, head, along), 1.5)
    vote = Vote(SPINE, along, max(level, 0.3) * (0.5 if axis_votes.is_called(anatomy, head) else 0.25))
    stands = perpendicular(vertical, along) if abs(along @ vertical) < HORIZONTAL else None
    mouth = anatomy.center(anatomy.named(words.MOUTH))
    said = [(2.0, stands)]
    if left is not None:
        said.append((1.0, rotation.cross(along, left)))
    if mouth is not None and np.linalg.norm(anatomy.skeleton.heads[head] - mouth) > 1e-4 * anatomy.size:
        said.append((1.0, perpendicular(anatomy.skeleton.heads[head] - mouth, along)))
    shown = [(weight, perpendicular(v, along)) for weight, v in said if v is not None]
    up = perpendicular(default_forward(along), along)
    if shown:
        up = rotation.normalize(np.sum([weight * v for weight, v in shown], axis=0))
    if left is not None:
        side = perpendicular(rotation.cross(along, left), along)
        up = side if side @ up > 0.0 else -side
        left = rotation.cross(up, along)
    up = upright(up, rotation.normalize(left if left is not None else rotation.cross(up, along)))
    trust = sum(weight * max(float(v @ up), 0.0) for weight, v in shown) / max(sum(weight for weight, _ in shown), 1.0)
    return perpendicular(along, up), up, trust, vote


def uprightness(anatomy: Anatomy, head: int, along: Array) -> float:
    """What speaks for a body that stands along `along` (3,), from its base to its head, and against one that lies so,
    1 for a part that shows it: -1 and below, it lies for sure.

    Eyes are above a mouth and before ears in both; where the eyes are beside the spine or before it tells them apart.
    """
    said = 1.0 if abs(float(along @ np.array(anatomy.vertical))) > HORIZONTAL else -1.0
    arms = [bone for bone in anatomy.arms if not anatomy.names[bone].has(words.WING, words.FIN)]
    said += 1.0 if arms else 0.0
    said -= 1.0 if anatomy.named(words.FIN) else 0.0
    said -= 0.5 if anatomy.named(words.TAIL) else 0.0
    return said + sum(weight * _sign(along, v) for v, weight in _of_face(anatomy, head))


def _of_face(anatomy: Anatomy, head: int) -> list[tuple[Array, float]]:
    """Directions (3,) of a face: weights above zero for those that are up, below zero for those that are forward."""
    face = set(anatomy.below(head))

    def center(vocabulary: frozenset[str]) -> Array | None:
        found = anatomy.named(vocabulary)
        return anatomy.center([bone for bone in found if bone in face] or found)

    eyes, mouth, nose, ears = (center(part) for part in (words.EYE, words.MOUTH, words.NOSE, words.EAR))
    brows, base = center(words.BROW), anatomy.skeleton.heads[head]
    front = eyes if eyes is not None else nose
    pairs = [
        (mouth, eyes if eyes is not None else ears, 1.0),
        (mouth if mouth is not None else nose, brows, 0.7),
        (ears, eyes if eyes is not None else nose, -1.0),
        (base, front, -0.4),
    ]
    found = [(end - start, weight) for start, end, weight in pairs if start is not None and end is not None]
    least = 1e-3 * anatomy.size
    found = [(v, weight) for v, weight in found if float(np.linalg.norm(v)) > least]
    if anatomy.has_tails:
        found += [(_ways(anatomy, part), -weight) for part, weight in ((words.EYE, 0.7), (words.MOUTH, 0.7))]
    return [(v, weight) for v, weight in found if np.any(v)]


def _ways(anatomy: Anatomy, vocabulary: frozenset[str]) -> Array:
    """Where bones of the face point together (3,), zeros if they do not."""
    skeleton = anatomy.skeleton
    found = [bone for bone in anatomy.named(vocabulary) if not skeleton.children[bone]]
    if not found:
        return np.zeros(3)
    mean = np.mean(rotation.normalize(skeleton.tails[found] - skeleton.heads[found]), axis=0)
    return mean if np.linalg.norm(mean) > HORIZONTAL else np.zeros(3)


def _sign(along: Array, v: Array) -> float:
    """1 for a direction along the spine, -1 for one across it, 0 between."""
    cosine = abs(float(along @ v)) / float(np.linalg.norm(v))
    return 1.0 if cosine > HORIZONTAL else -1.0 if cosine < _ACROSS else 0.0


def machine(
    anatomy: Anatomy, head: int, up: Array, across: Array, *, has_legs: bool, is_symmetric: bool
) -> tuple[Array, Array, float, tuple[Array, Array]]:
    """Forward, up, evidence and the other candidate of what has neither sides nor a face, such as a lamp or a crane.

    If it stands rather than lies it does so along the vertical, and it looks along its last bone where that is level.
    across: the forward that is next in question; it or its opposite is forward where the body is symmetric.
    """
    vertical = np.array(anatomy.vertical)
    if not has_legs and up @ vertical > HORIZONTAL:
        up = vertical
    along = anatomy.skeleton.tails[head] - anatomy.skeleton.heads[head]
    level = along - (along @ up) * up
    across = perpendicular(across, up)
    if np.linalg.norm(level) > HORIZONTAL * np.linalg.norm(along) and anatomy.has_tails:
        forward = straight(rotation.normalize(level), up)
        return forward, up, _LAST_BONE, (-forward, up)
    usual = default_forward(up)
    if is_symmetric:
        forward = -across if across @ usual < 0.0 else across
        return forward, up, _USUAL, (-forward, up)
    return usual, up, 0.0, (across, up)
