"""The bones of each leg and arm, one behind the other from the body outwards."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ...lookat_pd.skeleton import Skeleton
from . import anatomy as anatomies
from . import axes, detect, kept, limb_pairs
from . import vocabulary as words
from .anatomy import VERTICAL, Anatomy

_IN_LINE = np.cos(np.radians(5.0))
_STUB = 0.5  # of the bone after it
_LEVEL, _SAME = 0.15, 0.01  # of the skeleton's size


@dataclass(frozen=True)
class Lines:
    """Names of the bones of each leg and of each arm; left before right, hind legs before front legs.

    A leg is its upper and lower bone, its foot and, where there is one, its toe. An arm is its collar bone or "", then
    all from the upper bone to the hand, or to the last bone there is.
    """

    legs: list[list[str]]
    arms: list[list[str]]
    begins: list[str]
    """Where legs begin, or what could be some."""
    footless: list[list[str]]
    """Upper and lower bone of legs on which no foot hangs."""


@kept.by_content
def find(
    skeleton: Skeleton, deform: frozenset[str] = frozenset(), vertical: tuple[float, float, float] = VERTICAL
) -> Lines:
    """The limbs of a skeleton. deform, vertical: as of `Anatomy`."""
    whole = anatomies.of(skeleton, deform, vertical)
    anatomy = Anatomy(only(whole.skeleton, whole.flesh), vertical=whole.vertical)
    known = bool(anatomy.legs or anatomy.arms)
    hind, front = (_distinct(anatomy, lines) for lines in (_named(anatomy) if known else _nameless(anatomy)))
    standing = [line for line in hind if _leg(anatomy, line)]
    # Arms are legs only where the trunk between them and the legs is horizontal.
    low = standing and (not known or limb_pairs.is_level(anatomy))
    grounded = [line for line in front if low and _stands(anatomy, line, standing)]
    arms = [_arm(anatomy, line) for line in front if line not in grounded]
    legs = [_leg(anatomy, line) for line in hind + grounded]

    def called(lines: list[list[int]]) -> list[list[str]]:
        names = anatomy.skeleton.names
        return [["" if bone < 0 else names[bone] for bone in line] for line in lines if line]

    begins = [anatomy.skeleton.names[line[0]] for line in standing or hind if len(line) > 1]
    return Lines(called(legs), called(arms), begins, called([line for line in hind if len(line) == 2]))


def only(skeleton: Skeleton, bones: Sequence[int]) -> Skeleton:
    """The skeleton of these bones alone, each on the nearest of its ancestors that is left."""
    place = {bone: n for n, bone in enumerate(bones)}
    parents = [next((place[b] for b in skeleton.ancestors(bone) if b in place), -1) for bone in bones]
    names = [skeleton.names[bone] for bone in bones]
    return Skeleton(names, np.array(parents), skeleton.rotations[bones], skeleton.heads[bones], skeleton.tails[bones])


def _named(anatomy: Anatomy) -> tuple[list[list[int]], list[list[int]]]:
    """Hind and front limbs by their names."""
    arms = set(anatomy.arms)
    limbs = arms | set(anatomy.legs)
    limbs |= {bone for end in limbs for bone in _between(anatomy, end, limbs)}
    begin = [bone for bone in limbs if int(anatomy.skeleton.parents[bone]) not in limbs]
    begin.sort(key=lambda bone: (anatomy.names[bone].side, bone))
    lines = [_down(anatomy, bone, limbs) for bone in begin]
    return [line for line in lines if line[0] not in arms], [line for line in lines if line[0] in arms]


def _between(anatomy: Anatomy, end: int, limbs: set[int]) -> list[int]:
    """Bones of the same side, whatever they are called, from a bone up to the next of its limb."""
    path: list[int] = []
    for bone in anatomy.skeleton.ancestors(end):
        if bone in limbs:
            return path
        if anatomy.names[bone].side != anatomy.names[end].side:
            break
        path.append(bone)
    return []


def _down(anatomy: Anatomy, bone: int, limbs: set[int]) -> list[int]:
    """From a bone to the end of its limb, the path that has most bones of the limb."""
    paths = [_down(anatomy, child, limbs) for child in anatomy.skeleton.children[bone] if child in limbs]
    ends = words.FOOT | words.TOE | words.PALM
    paths.sort(key=lambda path: (any(anatomy.names[b].has(ends) for b in path), len(path)), reverse=True)
    return [bone, *(paths[0] if paths else [])]


def _distinct(anatomy: Anatomy, lines: list[list[int]]) -> list[list[int]]:
    """The lines without duplicates: of several layers of bones the one with the plainest names."""
    heads, names = anatomy.skeleton.heads, anatomy.skeleton.names
    kept: list[list[int]] = []
    for line in sorted(lines, key=lambda line: (-len(line), sum(len(names[bone]) for bone in line))):
        apart = (np.linalg.norm(heads[line] - heads[other[: len(line)]], axis=-1).max() for other in kept)
        if all(distance > _SAME * anatomy.size for distance in apart):
            kept.append(line)
    return [line for line in lines if line in kept]


def _nameless(anatomy: Anatomy) -> tuple[list[list[int]], list[list[int]]]:
    """Hind and front limbs by symmetry: the longest pairs on the pelvis that stand, and the longest on the chest."""
    skeleton, head = anatomy.skeleton, head_of(anatomy)
    if head is None:
        return [], []
    images = anatomy.mirror[1]
    spine = [head, *skeleton.ancestors(head)]
    forward, up = axes.rest_axes(anatomy, spine)
    left, ground = rotation.cross(up, forward), float(np.min(skeleton.heads @ up))
    arms, legs = anatomy.limbs(spine)

    def pairs(place: int | None, fewest: int) -> list[list[int]]:
        begin = [] if not place else [bone for bone in skeleton.children[spine[place]] if bone in images]
        paths = [path for path in (_down(anatomy, bone, set(images)) for bone in begin) if len(path) >= fewest]
        longest = max(map(len, paths), default=0)
        paths = [path for path in paths if len(path) == longest]
        if len(paths) % 2:
            return []
        return sorted(paths, key=lambda path: -float(skeleton.heads[path[0]] @ left))

    hind = []
    for path in pairs(legs, fewest=2):
        end = skeleton.heads[path[-1]] if len(path) > 2 else limb_pairs.end_of_limb(anatomy, path[0], path[-1])
        if float(end @ up) - ground < _LEVEL * anatomy.size:
            hind.append(path)
    front = pairs(arms, fewest=3) if hind else []
    return hind, front if len(front) == 2 else []


def _leg(anatomy: Anatomy, line: Sequence[int]) -> list[int]:
    """Upper, lower, foot and toe of a leg; [] where the line has no such."""
    line = list(line)
    named = anatomy.names
    foot = next((n for n, bone in enumerate(line) if named[bone].has(words.FOOT | words.PALM)), None)
    if foot is not None and foot < 2:
        return []
    while len(line) > 3 and (foot is None or foot > 2):
        shorter = _without_collar(anatomy, line) or _without_stub(anatomy, line)
        shorter = shorter or (_joined(anatomy, line[: foot + 1], line[foot + 1 :]) if foot else None)
        if shorter is None:
            break
        foot, line = foot and foot - 1, shorter
    if len(line) < 3 or _has_no_length(anatomy, line):
        return []
    return line[:4]


def _without_collar(anatomy: Anatomy, line: list[int]) -> list[int] | None:
    return line[1:] if anatomy.names[line[0]].has(words.COLLAR, words.BUTTOCK) else None


def _without_stub(anatomy: Anatomy, line: list[int]) -> list[int] | None:
    """Without a short bone that leads from the spine to the hip joint."""
    first, second = (_along(anatomy, line, n) for n in (0, 1))
    return line[1:] if np.linalg.norm(first) < _STUB * np.linalg.norm(second) else None


def _joined(anatomy: Anatomy, leg: list[int], toes: list[int]) -> list[int] | None:
    """With two pieces of one straight bone as one."""
    for n in range(len(leg) - 2):
        alike = anatomy.names[leg[n]].words == anatomy.names[leg[n + 1]].words
        if alike and _direction(anatomy, leg, n) @ _direction(anatomy, leg, n + 1) > _IN_LINE:
            return leg[: n + 1] + leg[n + 2 :] + toes
    return None


def _along(anatomy: Anatomy, line: Sequence[int], n: int) -> Array:
    return anatomy.skeleton.heads[line[n + 1]] - anatomy.skeleton.heads[line[n]]


def _direction(anatomy: Anatomy, line: Sequence[int], n: int) -> Array:
    return rotation.normalize(_along(anatomy, line, n))


def _has_no_length(anatomy: Anatomy, line: Sequence[int]) -> bool:
    return any(np.linalg.norm(_along(anatomy, line, n)) < 1e-4 * anatomy.size for n in (0, 1))


def _arm(anatomy: Anatomy, line: list[int]) -> list[int]:
    """Collar bone or -1, then upper bone to hand or last bone of an arm; [] where the line has no such."""
    named = anatomy.names
    hand = next((n for n, bone in enumerate(line) if named[bone].has(words.PALM)), None)
    line = line if hand is None else line[: hand + 1]
    before = len(line) if hand is None else hand
    speechless = not any(named[bone].has(words.ARM) for bone in line)
    # What stands before the elbow is the upper arm, even if it is called shoulder.
    has_collar = before > 2 or (before == 2 and not named[line[1]].has(words.ELBOW))
    if has_collar and (named[line[0]].has(words.COLLAR) or (speechless and len(line) > 3)):
        return line
    return [-1, *line] if len(line) > 1 else []


def _stands(anatomy: Anatomy, line: Sequence[int], hind: Sequence[Sequence[int]]) -> bool:
    """Whether a limb beside the hind legs reaches down to where they stand."""
    heads = anatomy.skeleton.heads
    begin, end = (np.mean(heads[[leg[n] for leg in hind]], axis=0) for n in (0, -1))
    up = begin - end
    near, far = ((heads[line[n]] - end) @ up / (up @ up) for n in (0, -1))
    return bool(far < 0.4 < near)


def head_of(anatomy: Anatomy) -> int | None:
    """The bone that looks; None where there is none."""
    try:
        return anatomy.skeleton.index(
            detect.find_head(anatomy.skeleton, detect.RigHints(deform=anatomy.deform, vertical=anatomy.vertical))
        )
    except RigError:
        return None
