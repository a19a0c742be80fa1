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
_THIN, _MOST_CAPSULES = 0.05, 6
"""Smallest thickness of the capsules of a box, as a fraction of its length, and how many they are at most."""
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
    end: Target | None = None
    """The other end of its axis, if it is a capsule."""
    taken: bool = False
    """Whether hands take it, and touch it."""

    @property
    def targets(self) -> tuple[Target, ...]:
        """All places that are sampled."""
        return (self.target,) if self.end is None else (self.target, self.end)


def thickness(chains: Iterable[JointChain]) -> float:
    """The radius of the arms of several hands in units of the armature, from the length of their last bones."""
    radii = []
    for chain in chains:
        before, last = (
            np.array(chain.armature.data.bones[name].head_local) for name in (chain.joints[-1], chain.effector)
        )
        radii.append(_THICK * float(np.linalg.norm(last - before)))
    return min(radii)


def of_objects(items: Iterable[bpy.types.Object]) -> tuple[Ball, ...]:
    """A sphere around the origin of each object, as large as its largest dimension; of empties, as large as they are
    shown."""
    balls = []
    for item in items:
        size = max(item.dimensions)
        if item.type == "EMPTY":
            size = 2.0 * item.empty_display_size * max(abs(s) for s in item.matrix_world.to_scale())
        if size > 0.0:
            balls.append(Ball(Target(item), 0.5 * size))
    return tuple(balls)


def of_box(item: bpy.types.Object, low: Array, high: Array) -> tuple[Ball, ...]:
    """Capsules side by side that fill the box between two corners (3,), in its own space, of an object that hands
    take."""
    scale = np.array(item.matrix_world.to_scale(), dtype=float)
    sizes = np.abs(scale) * (high - low)
    short, middle, long = np.argsort(sizes)
    radius = 0.5 * max(float(sizes[short]), _THIN * float(sizes[long]))
    count = int(np.clip(np.ceil(sizes[middle] / (2.0 * radius)), 1, _MOST_CAPSULES))
    capsules = []
    for beside in np.linspace(-0.5, 0.5, count) * max(float(sizes[middle]) - 2.0 * radius, 0.0):
        ends = np.zeros((2, 3))
        ends[:, middle] = beside
        ends[:, long] = np.array((-1.0, 1.0)) * max(0.5 * float(sizes[long]) - radius, 0.0)
        points = 0.5 * (low + high) + ends / np.where(scale == 0.0, 1.0, np.abs(scale))
        start, end = (Target(item, point=tuple(point.tolist())) for point in points)
        capsules.append(Ball(start, radius, end, taken=True))
    return tuple(capsules)


def of_body(armature: bpy.types.Object, moving: Sequence[str]) -> tuple[BodyPart, ...]:
    """Head, neck, chest and pelvis of a human; none of other bodies, or if they move with the bones `moving`."""
    skeleton = with_ends(rest.skeleton(armature))
    anatomy = Anatomy(skeleton, vertical=rest.vertical(armature))
    segments = body_segments.human(anatomy, masses.heavy_rows(armature, skeleton))
    if segments is None:
        return ()
    low, high = (body_segments.middle(anatomy, segments, name) for name in ("thigh", "upper_arm"))
    size, spine = body_segments.stature(anatomy, segments), high - low
    up = spine / max(float(np.linalg.norm(spine)), 1e-12)
    middle = [bone for bone in segments if not anatomy.names[bone].side]

    def one(segment: str) -> list[int]:
        return [bone for bone in middle if segments[bone] == (segment, "")]

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
    row = first
    for ball in balls:
        starts.append(samples.targets[row, frames])
        row += len(ball.targets)
        ends.append(samples.targets[row - 1, frames])
        radii.append(ball.radius / max(scale, 1e-12))
    orientations, base = (values[frames] for values in body.base_pose(samples))
    back = rotation.inverse(orientations)[:, None]

    def local(points: list[Array]) -> Array:
        return body.unit * rotation.rotate(back, np.stack(points, axis=1) - base[:, None])

    taken = [*(False for _ in parts), *(ball.taken for ball in balls)]
    return Obstacles(local(starts), local(ends), body.unit * np.array(radii), taken)
