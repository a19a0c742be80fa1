"""What a reach goes around: the character's own head and trunk, and objects of a collection."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.dynamics import Obstacles
from ...lookat_pd.rotation import Array
from ...lookat_pd.skeleton import Skeleton
from ..detection import body_segments, rest
from ..detection import vocabulary as words
from ..detection.anatomy import Anatomy
from ..detection.bone_ends import with_ends
from ..detection.joint_chain import JointChain
from ..sampling.sampler import Samples
from ..sampling.targets import Target
from . import masses
from .articulation import Articulation

_HEAD, _HEAD_HEIGHT, _NECK, _TRUNK, _LIMB = 0.06, 0.05, 0.03, 0.065, 0.02
"""As fractions of the stature: the radius of the head, the height of its middle above its joint, the radii of neck and
trunk, and half of the thickness of an arm, which is added to all."""
_HEAD_BONE = 0.45
"""The radius of a head as a fraction of the length of its bone, if that is larger."""
_THICK = 0.14
"""Half of the thickness of a forearm, as a fraction of its length."""
_PELVIS, _CHEST = (0.0, 0.3), (0.3, 0.85)
"""The axes of pelvis and chest, as fractions of the way from the hips to the shoulders."""


@dataclass(frozen=True)
class BodyPart:
    """A capsule that moves with a bone: ends (3,) in the frame of the bone, and radius, in units of the armature."""

    bone: str
    start: Array
    end: Array
    radius: float


@dataclass(frozen=True)
class Ball:
    """A sphere around a target, with a radius in the world."""

    target: Target
    radius: float


def thickness(chains: Iterable[JointChain]) -> float:
    """The radius of the arms of several hands in units of the armature, from the length of their last bones."""
    found = []
    for chain in chains:
        before, last = (
            np.array(chain.armature.data.bones[name].head_local) for name in (chain.joints[-1], chain.effector)
        )
        found.append(_THICK * float(np.linalg.norm(last - before)))
    return min(found)


def of_objects(items: Iterable[bpy.types.Object]) -> tuple[Ball, ...]:
    """A sphere around the origin of each object, as large as its largest dimension; of empties, as large as they are
    shown."""
    found = []
    for item in items:
        size = max(item.dimensions)
        if item.type == "EMPTY":
            size = 2.0 * item.empty_display_size * max(abs(s) for s in item.matrix_world.to_scale())
        if size > 0.0:
            found.append(Ball(Target(item), 0.5 * size))
    return tuple(found)


def of_body(armature: bpy.types.Object, moving: Sequence[str]) -> tuple[BodyPart, ...]:
    """Head, neck, chest and pelvis of a human; none of other bodies, or if they move with the bones `moving`."""
    skeleton = with_ends(rest.skeleton(armature))
    anatomy = Anatomy(skeleton, vertical=rest.vertical(armature))
    found = body_segments.human(anatomy, masses.heavy_rows(armature, skeleton))
    if found is None:
        return ()
    low, high = (body_segments.middle(anatomy, found, name) for name in ("thigh", "upper_arm"))
    size, spine = body_segments.stature(anatomy, found), high - low
    up = spine / max(float(np.linalg.norm(spine)), 1e-12)
    middle = [bone for bone in found if not anatomy.names[bone].side]

    def one(segment: str) -> list[int]:
        return [bone for bone in middle if found[bone] == (segment, "")]

    head = next((bone for bone in one("head") if anatomy.names[bone].has(words.HEAD)), None)
    head = head if head is not None else next(iter(one("head")[-1:]), None)
    chest, pelvis = one("upper_trunk"), one("lower_trunk") or one("middle_trunk")
    parts: list[tuple[int, Array, Array, float]] = []
    if head is not None:
        # Heads of cartoon characters are large for their height, and so are their bones.
        large = max(1.0, _HEAD_BONE * float((skeleton.tails[head] - skeleton.heads[head]) @ up) / (_HEAD * size))
        center = skeleton.heads[head] + _HEAD_HEIGHT * large * size * up
        parts.append((head, center, center, _HEAD * large))
        parts.append((head, high + 0.02 * size * up, center, _NECK))
    for bones, (begin, end) in ((chest, _CHEST), (pelvis, _PELVIS)):
        if bones:
            parts.append((bones[-1], low + begin * spine, low + end * spine, _TRUNK))
    return tuple(
        BodyPart(
            skeleton.names[bone],
            _local(skeleton, bone, start),
            _local(skeleton, bone, end),
            (radius + _LIMB) * size,
        )
        for bone, start, end, radius in parts
        if not _moves(skeleton, bone, moving)
    )


def _local(skeleton: Skeleton, bone: int, point: Array) -> Array:
    return rotation.rotate(rotation.inverse(skeleton.rotations[bone]), point - skeleton.heads[bone])


def _moves(skeleton: Skeleton, bone: int, moving: Sequence[str]) -> bool:
    return any(skeleton.names[row] in moving for row in (bone, *skeleton.ancestors(bone)))


def sampled(
    body: Articulation, samples: Samples, parts: Sequence[BodyPart], balls: Sequence[Ball], frames: slice, first: int
) -> Obstacles | None:
    """All obstacles in these of the sampled frames, in the frame of the base; None if there are none.

    first: the row of the first ball among the targets of `samples`.
    """
    if not parts and not balls:
        return None
    starts, ends, radii = [], [], []
    for part in parts:
        row = samples.bones.index(part.bone)
        turns, places = samples.rotations[frames, row], samples.positions[frames, row]
        starts.append(places + rotation.rotate(turns, np.broadcast_to(part.start, places.shape)))
        ends.append(places + rotation.rotate(turns, np.broadcast_to(part.end, places.shape)))
        radii.append(part.radius)
    scale = np.cbrt(abs(float(np.linalg.det(samples.worlds[0, :3, :3]))))
    for n, ball in enumerate(balls):
        place = samples.targets[first + n, frames]
        starts.append(place)
        ends.append(place)
        radii.append(ball.radius / max(scale, 1e-12))
    orientations, base = (values[frames] for values in body.base_pose(samples))
    back = rotation.inverse(orientations)[:, None]

    def local(points: list[Array]) -> Array:
        return body.unit * rotation.rotate(back, np.stack(points, axis=1) - base[:, None])

    return Obstacles(local(starts), local(ends), body.unit * np.array(radii))
