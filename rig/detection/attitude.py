"""Whether the spine of a body without legs stands, as that of a bust, or lies, as that of a fish or a bee."""

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from . import vocabulary as words
from .anatomy import Anatomy
from .limb_pairs import HORIZONTAL

_ACROSS = np.sin(np.radians(30.0))


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
