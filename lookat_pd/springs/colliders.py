"""What springs collide with: spheres, capsules and planes that move."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation
from ..errors import InvalidArgument
from ..rotation import Array

TRUE = b"\x01"
"""What is among the bytes of truth values of which one is true."""
_MOST_FRICTION = 10.0
_UP = np.array([0.0, 0.0, 1.0])
"""The way out where a bone lies right on the axis of a collider."""


@dataclass(frozen=True)
class Colliders:
    """c solids over F frames. A capsule is all within its radius of a line, a sphere one whose line has no length; a
    plane stops what comes from its front."""

    begins: Array
    """(F, c, 3) where the line begins, or a point of the plane [m]."""
    ends: Array
    """(F, c, 3) where it ends, or a point in front of the plane, straight off its first point."""
    radii: Array
    """(c,) [m]; 0 for planes."""
    friction: Array
    """(c,) coefficients."""
    is_plane: Array
    """(c,)"""

    @classmethod
    def made(
        cls,
        begins: ArrayLike,
        ends: ArrayLike,
        radii: ArrayLike,
        friction: ArrayLike = 0.0,
        is_plane: ArrayLike = False,
    ) -> "Colliders":
        """begins, ends: (F, c, 3), or (c, 3) for those that stand still. Raises InvalidArgument."""
        first = checks.array("begins of colliders", begins, 3)
        last = checks.array("ends of colliders", ends, 3)
        if first.ndim == 2:
            first, last = first[None], last[None] if last.ndim == 2 else last
        if first.ndim != 3 or first.shape != last.shape:
            raise checks.shape_error("ends of colliders", first.shape, last.shape)
        count = first.shape[1]
        planes = checks.like("planes", np.asarray(is_plane, dtype=float), count) != 0.0
        sizes = np.where(planes, 0.0, checks.like("radii of colliders", radii, count))
        rough = checks.like("friction", friction, count)
        if np.any(sizes < 0.0) or np.any((rough < 0.0) | (rough > _MOST_FRICTION)):
            raise InvalidArgument(
                "The radius of a collider must be 0 or more, and its friction from 0 to {most:g}.", most=_MOST_FRICTION
            )
        return cls(first, last, sizes, rough, planes)

    @classmethod
    def none(cls) -> "Colliders":
        nothing = np.zeros(0)
        return cls(np.zeros((1, 0, 3)), np.zeros((1, 0, 3)), nothing, nothing, nothing != 0.0)

    def over(self, frames: int) -> "Colliders":
        """The same at so many frames. Raises InvalidArgument."""
        if len(self.begins) == frames:
            return self
        if len(self.begins) != 1:
            raise checks.shape_error("begins of colliders", (frames, *self.begins.shape[1:]), self.begins.shape)
        shape = frames, *self.begins.shape[1:]
        first, last = np.broadcast_to(self.begins, shape), np.broadcast_to(self.ends, shape)
        return Colliders(first, last, self.radii, self.friction, self.is_plane)

    def at(self, frames: slice) -> "Colliders":
        """The same at some of the frames."""
        return Colliders(self.begins[frames], self.ends[frames], self.radii, self.friction, self.is_plane)

    def __len__(self) -> int:
        return len(self.radii)


@dataclass(frozen=True)
class Nearest:
    """Where bones are nearest to colliders."""

    along: Array
    """(...) the part of the way from joint to tip."""
    across: Array
    """(...) the part of the way along the collider."""
    normal: Array
    """(..., 3) out of the collider."""
    distance: Array
    """(...) from line to line, or before the plane [m]."""


def nearest(joints: Array, tips: Array, begins: Array, ends: Array, is_plane: Array, at_tip: Array) -> Nearest:
    """Where the lines from joints to tips (..., 3) are nearest to colliders.

    at_tip: whether only the tip counts.
    """
    bone, line, apart = tips - joints, ends - begins, joints - begins
    long, ahead = np.maximum(rotation.dot(bone, bone), 1e-30), rotation.dot(bone, apart)
    planes, thick = TRUE in is_plane.tobytes(), rotation.dot(line, line) if line.any() else None
    only, across = at_tip | is_plane if planes else at_tip, None
    if thick is None or (is_plane | (thick <= 1e-24)).all():
        along = np.minimum(np.maximum(ahead / -long, 0.0), 1.0)
        if TRUE in only.tobytes():
            along[only] = 1.0
        away = apart + along[..., None] * bone
    else:
        along, across = _of_lines(long, thick, rotation.dot(bone, line), ahead, rotation.dot(line, apart), only)
        across = np.where(is_plane, 0.0, across)
        away = apart + along[..., None] * bone - across[..., None] * line
    distance = rotation.length(away)
    out = away / np.maximum(distance, 1e-12)[..., None]
    if distance.min(initial=1.0) <= 1e-12:
        out[distance <= 1e-12] = _UP
    if planes and thick is not None:
        front = line / np.sqrt(np.maximum(thick, 1e-30))[..., None]
        distance = np.where(is_plane, rotation.dot(away, front), distance)
        out = np.where(is_plane[..., None], front, out)
    return Nearest(along, np.zeros(along.shape) if across is None else across, out, distance)


def _of_lines(
    long: Array, thick: Array, shared: Array, ahead: Array, behind: Array, at_tip: Array
) -> tuple[Array, Array]:
    """See `Nearest.along` and `across`, from the products of the lines and what is between their beginnings."""
    flat, safe = long * thick - shared**2, np.maximum(thick, 1e-30)
    along = np.where(
        flat > 1e-9 * long * thick,
        (shared * behind - ahead * thick) / np.maximum(flat, 1e-30),
        (0.5 * shared - ahead) / long,
    )
    along = np.where(at_tip, 1.0, np.clip(along, 0.0, 1.0))
    across = np.where(thick > 1e-24, (shared * along + behind) / safe, 0.0)
    outside = ((across < 0.0) | (across > 1.0) | (thick <= 1e-24)) & ~at_tip
    across = np.clip(across, 0.0, 1.0)
    return np.where(outside, np.clip((across * shared - ahead) / long, 0.0, 1.0), along), across


@dataclass(frozen=True)
class Borders:
    """How near each of n bones may come to each of c colliders."""

    reach: Array
    """(n, c) sum of the radii [m]."""
    left: Array
    """(n, c) whether a bone is animated inside a collider, from its root on, and left there."""
    at_tip: Array
    """(n, c) whether a bone comes out of a collider, so that only its tip counts."""
    is_first: Array
    """(n,) whether a bone hangs on the animation, which may have its joint in a collider."""

    @classmethod
    def of(cls, colliders: Colliders, radius: Array, joints: Array, tips: Array, parents: Array) -> "Borders":
        """joints, tips: (n, 3) as animated at the first frame."""
        reach = radius[:, None] + colliders.radii
        begins, ends, is_plane = colliders.begins[0], colliders.ends[0], colliders.is_plane
        none = np.zeros(reach.shape, dtype=bool)

        def inside(points: Array) -> Array:
            here = np.broadcast_to(points[:, None], (*reach.shape, 3))
            return nearest(here, here, begins, ends, np.broadcast_to(is_plane, reach.shape), none).distance < reach

        joint_in, tip_in = inside(joints), inside(tips)
        left, at_tip = none.copy(), none.copy()
        for bone, above in enumerate(parents.tolist()):
            begun = joint_in[bone] if above < 0 else left[above]
            left[bone], at_tip[bone] = begun & tip_in[bone], begun & ~tip_in[bone]
        return cls(reach, left, at_tip, parents < 0)

    def of_bones(self, bones: Array) -> "Borders":
        return Borders(self.reach[bones], self.left[bones], self.at_tip[bones], self.is_first[bones])


def depths(colliders: Colliders, borders: Borders, joints: Array, tips: Array) -> tuple[Array, Array]:
    """How deep bones (F, n, 3) are in a collider, (F, n) [m], 0 for outside, and in which, -1 for none."""
    deepest, which = np.zeros(joints.shape[:2]), np.full(joints.shape[:2], -1)
    for n in range(len(colliders)):
        gap = gaps(colliders, borders, joints, tips, n)
        depth = np.where(borders.left[:, n], 0.0, -gap)
        deeper = depth > deepest
        deepest, which = np.where(deeper, depth, deepest), np.where(deeper, n, which)
    return deepest, which


def gaps(colliders: Colliders, borders: Borders, joints: Array, tips: Array, n: int) -> Array:
    """(F, n) how far bones (F, n, 3) are from a collider [m]."""
    begins, ends = colliders.begins[:, None, n], colliders.ends[:, None, n]
    reach, plane = borders.reach[:, n], np.full(joints.shape[:2], colliders.is_plane[n])
    every = np.ones(plane.shape, dtype=bool)
    held = borders.is_first & (nearest(joints, joints, begins, ends, plane, every).distance < reach)
    return nearest(joints, tips, begins, ends, plane, borders.at_tip[:, n] | held).distance - reach
