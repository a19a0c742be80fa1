"""How partners of a conversation see each other's faces: how large a face looks, and where in it the target is."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ....lookat_pd.conversation import Fixation, Look
from ....lookat_pd.progress import drain
from ....lookat_pd.rotation import Array
from ...detection import rest
from ...sampling.sampler import Sampler
from ...sampling.targets import Target

_WIDTH, _MOUTH = 0.036, 0.04
"""Distances between the eyes of people and from these to the mouth, as parts of their height."""
_RADIUS, _PAST = 1.6, 1.25
"""Radius of a head as seen from the front, in distances from its eyes to its mouth, and how many radii a glance past it
is beside it."""
_NEAREST = 2.5
"""A face that is nearer than so many times its distance between the eyes looks as large as there."""
_MOST = np.radians(35.0)


@dataclass(frozen=True)
class SeenFace:
    """A face at one frame."""

    place: Array
    """(3,) at which others look, in the world."""
    width: float
    """Distance between the eyes, in the world."""
    mouth: float
    """How far the mouth is below the eyes, in the world."""
    beside: float
    """How far the middle between the eyes is to the left of that place for who looks, in distances between them."""


def face(scene: bpy.types.Scene, target: Target, eyes: Sequence[str], frame: float) -> SeenFace:
    """The face of a character at whose bone others look. eyes: its eye bones. Raises RigError."""
    armature = target.object
    assert armature is not None
    bones = list(dict.fromkeys((target.bone, *eyes)))
    with Sampler(scene, armature, bones) as sampler:
        seen = drain(sampler.sample([round(frame)]))
    world = seen.worlds[0]
    places = seen.positions[0] @ world[:3, :3].T + world[:3, 3]
    size = float(np.cbrt(abs(np.linalg.det(world[:3, :3]))))
    height = size * float(np.ptp(rest.skeleton(armature).heads, axis=0).max())
    if len(eyes) == 2:
        left, right = (places[bones.index(name)] for name in eyes)
        between = float(np.linalg.norm(left - right))
        # The left eye is on the right for who looks.
        at_eye = target.bone == eyes[0]
        place = places[0] if at_eye else 0.5 * (left + right)
        return SeenFace(place, between, min(between, _MOUTH * height), 0.5 * at_eye)
    return SeenFace(places[0], _WIDTH * height, _MOUTH * height, 0.0)


def angles(one: SeenFace, other: SeenFace) -> tuple[float, float]:
    """The angles [rad] between the eyes, and from these to the mouth, of the other face as seen by one."""
    away = max(float(np.linalg.norm(other.place - one.place)), _NEAREST * other.width, 1e-9)
    return float(np.arctan(other.width / away)), float(np.arctan(other.mouth / away))


def past(look: Look, mouth: float) -> tuple[float, float]:
    """Yaw and pitch [rad] of a look: one that is away goes past the head, however near that is.

    mouth: angle [rad] between eyes and mouth of the face.
    """
    size = float(np.hypot(look.yaw, look.pitch))
    if not look.away:
        return 0.0, 0.0
    most = max(_MOST, size)
    factor = max(1.0, min(_PAST * float(np.arctan(_RADIUS * np.tan(mouth))), most) / size)
    return factor * look.yaw, factor * look.pitch


def merged(
    looks: Sequence[Look], fixations: Sequence[Fixation], faces: Sequence[SeenFace], person: int
) -> list[tuple[float, int, float, float]]:
    """Times [s] from which someone looks at what, with yaw and pitch [rad] beside it, in order.

    looks, fixations: of the person with this number. faces: of all.
    """
    result, known, n = [], [fixation.time for fixation in fixations], 0
    for k, look in enumerate(looks):
        until = looks[k + 1].time if k + 1 < len(looks) else np.inf
        seen = faces[look.at] if look.at < len(faces) else None
        across, down = angles(faces[person], seen) if seen is not None else (0.0, 0.0)
        if n >= len(known) or known[n] != look.time:
            yaw, pitch = past(look, down)
            # Beside the middle of the face, not beside the bone in it.
            aside = seen.beside if seen is not None and look.away else 0.0
            result.append((look.time, look.at, yaw + across * aside, pitch - 0.5 * down * look.away))
        while n < len(known) and known[n] < until:
            place, beside = fixations[n], seen.beside if seen is not None else 0.0
            result.append((place.time, look.at, across * (place.side + beside), down * place.up))
            n += 1
    return result
