"""Spring bones: tails, hair, ears and straps that swing as their bases move, over all frames at once.

Chains of bones are coupled damped pendulums with torsion springs on moving bases; each of their modes is the
second-order system of the look-at. All chains are solved together, in closed form (`swing`), where the
motion is too wild for that in steps (`stepping`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation
from ..errors import InvalidArgument
from ..rotation import Array
from . import colliding, stepping, swing, tuning
from .center import Felt
from .colliders import Borders, Colliders, depths, gaps
from .modes import Bodies
from .rigs import Rig
from .splines import Cycle
from .tuning import SpringTuning

_NEAR = 0.25
"""Distance from a collider, in lengths of a bone, within which it is stepped."""
_WIDE = 0.9
"""Part of its cone from which on a bone is stepped."""
_AT_ONCE = 60
"""Bones that are stepped at once, at most."""


@dataclass(frozen=True)
class SpringMotion:
    """How n bones swing over F frames."""

    offsets: Array
    """(F, n, 4) local rotations, to be multiplied on the right."""
    swings: Array
    """(F, n, 4) the same from where the animation alone has the bones, in their frames there."""
    tips: Array
    """(F, n, 3) where their tips are then, in the world [m]."""
    longer: Array
    """(F, n) part of its length by which a bone is longer."""
    stepped: Array
    """(n,) whether a bone was solved in steps."""
    depth: Array
    """(F, n) how deep a bone is in a collider [m], 0 outside. Bones that are animated inside of one from the root of
    their chain on are left there, and not counted."""
    collider: Array
    """(F, n) the collider that it is deepest in, -1 for none."""
    beyond: Array
    """(F, n) how far a bone is beyond its cone [rad], where a collider pushes it there; 0 within."""
    seam: float = 0.0
    """How far the end of a cycle is from its beginning [rad]; 0 for a motion that does not repeat itself."""


def solve(
    positions: ArrayLike,
    rotations: ArrayLike,
    tips: ArrayLike,
    parents: ArrayLike,
    dt: float,
    *,
    settle_time: ArrayLike,
    damping_ratio: ArrayLike = 0.5,
    inertia: ArrayLike = 1.0,
    center: tuple[ArrayLike, ArrayLike] | None = None,
    gravity: ArrayLike = (0.0, 0.0, 0.0),
    wind: ArrayLike = (0.0, 0.0, 0.0),
    drag: ArrayLike = 0.0,
    stretch: ArrayLike = 0.0,
    limit: ArrayLike = np.pi,
    cyclic: bool = False,
    restarts: ArrayLike | None = None,
    colliders: Colliders | None = None,
    radius: ArrayLike = 0.0,
    meets: ArrayLike | None = None,
    borders: Borders | None = None,
) -> SpringMotion:
    """Let n bones swing over F frames, dt seconds apart.

    positions (F, n, 3) [m] and rotations (F, n, 4) of the joints in the world, as animated; tips (n, 3) [m] in the
    frames of the bones; parents (n,), each before its children, -1 for bones that hang on the animation. A bone without
    a length does not swing.

    Numbers for all bones or (n,): settle_time [s] and damping_ratio, those of the slowest mode of a chain whose bones
    have the same; drag [1/s] against still air; stretch, the part of the swing along the bone that makes it longer;
    limit, the largest angle [rad] from what a bone hangs on, as animated, where chains that come to it are stepped, and
    that gives way to colliders;
    inertia, the part of the motion of the center that is felt, and center, its positions (F, 3) and rotations (F, 4),
    or those of each bone's (F, n, 3 and 4).
    gravity (3,) or (n, 3) [m/s²]; wind, an acceleration (3,), (F, 1, 3) or (F, n, 3) [m/s²]. cyclic: the last frame is
    the first one again, displaced by the same for all bones, and so is the motion. restarts: (F,) or (F, n) true where
    a bone that hangs on the animation starts at rest, as after a jump. colliders: what bones of this radius [m] do not
    go into; chains that may touch one are stepped, and do not stretch. meets: (n, c) which bones collide with which of
    them, None for all with all. borders: how near each comes to each, None for what `Borders.of` finds.

    Raises InvalidArgument. Source: the forces are those of VRM's springBone; coupled pendulums instead of its bones
    that do not pull at their parents, and the closed form of `lookat_pd.pd` instead of its steps.
    """
    rig = Rig.checked(positions, rotations, tips, parents, dt)
    frames, count = rig.turns.shape[:2]
    settings = tuning.checked(count, settle_time, damping_ratio, inertia, gravity, drag, stretch, limit)
    work = _Work(rig, settings, _pull(settings, wind, frames), Felt.checked(center, settings.inertia, frames))
    work.cyclic = bool(cyclic) and frames > 1
    if (colliders is not None and len(colliders)) or (settings.limit < np.pi).any():
        colliders = colliders or Colliders.none()
        work.meet(colliders.over(frames), checks.like("radius", radius, count), meets, borders)
    if work.cyclic:
        rig.check_cycle()
    for bones, first, last in _pieces(rig, None if work.cyclic else restarts):
        work.solve(bones, slice(first, last))
    return work.result()


def _pull(settings: SpringTuning, wind: ArrayLike, frames: int) -> Array:
    """Gravity and wind (F or 1, n, 3) [m/s²]. Raises InvalidArgument."""
    given, count = checks.array("wind", wind, 3), len(settings.gravity)
    wanted = frames, count, 3
    sizes = zip(given.shape[::-1], wanted[::-1], strict=False)
    if given.ndim > 3 or any(size not in (1, most) for size, most in sizes):
        raise checks.shape_error("wind", wanted, given.shape)
    return settings.gravity + given.reshape((1,) * (3 - given.ndim) + given.shape)


def _pieces(rig: Rig, restarts: ArrayLike | None) -> Iterator[tuple[Array, int, int]]:
    """Bones (m,) that start anew at the same frames, with the frames from one start to the next."""
    frames, count = rig.turns.shape[:2]
    if restarts is None:
        yield np.arange(count), 0, frames
        return
    given = checks.numbers("restarts", restarts)
    starts = checks.like("restarts", given[:, None] if given.ndim == 1 else given, frames, count) != 0.0
    starts[0] = True
    patterns, which = np.unique(starts[:, rig.roots], axis=1, return_inverse=True)
    for n, pattern in enumerate(patterns.T):
        bones = np.flatnonzero(np.ravel(which) == n)
        ends = [*np.flatnonzero(pattern).tolist(), frames]
        for first, last in pairwise(ends):
            yield bones, first, last


class _Work:
    """The motion of all bones, as it is found."""

    def __init__(self, rig: Rig, settings: SpringTuning, pull: Array, felt: Felt | None) -> None:
        self.rig, self.settings, self.pull, self.felt, self.cyclic = rig, settings, pull, felt, False
        frames, count = rig.turns.shape[:2]
        self.swings, self.longer = rotation.identity(frames, count), np.zeros((frames, count))
        """From where the animation alone has the bones."""
        self.stepped = np.zeros(count, dtype=bool)
        self.colliders: Colliders | None = None
        self.borders: Borders | None = None

    def meet(self, colliders: Colliders, radius: Array, meets: ArrayLike | None, borders: Borders | None) -> None:
        """Let bones collide. Raises InvalidArgument."""
        if np.any(radius < 0.0):
            raise InvalidArgument("The radius of a bone must be 0 or more, not {value}.", value=checks.shown(radius))
        r = self.rig
        tips = r.places[0] + rotation.rotate(r.turns[0], r.axes[:, 2] * r.lengths[:, None])
        self.colliders = colliders
        self.borders = borders or Borders.of(colliders, radius, r.places[0], tips, r.parents)
        if meets is not None:
            wanted = checks.like("colliders that bones meet", np.asarray(meets, dtype=float), *self.borders.left.shape)
            self.borders.left[wanted == 0.0] = True

    def solve(self, bones: Array, frames: slice) -> None:
        """Find the motion of these bones at these frames."""
        bones = bones[self.rig.lengths[bones] > 0.0]
        if not len(bones):
            return
        animated = self._animated(bones, frames)
        found = swing.solve(animated, self.settings.of(bones))
        self.swings[frames, bones] = swing.turns_of(found.z, animated.axes)
        self.longer[frames, bones] = found.longer
        again = bones[np.isin(self.rig.roots[bones], self.rig.roots[bones[~found.found]])]
        if len(again):
            animated = self._animated(again, frames)
            z = stepping.solve(animated, self.settings.of(again))
            self.swings[frames, again] = swing.turns_of(z, animated.axes)
            self.stepped[again] = True
        if self.colliders is not None:
            self._collide(self.colliders, bones, frames, found)

    def _collide(self, colliders: Colliders, bones: Array, frames: slice, found: swing.Swing) -> None:
        """Step the chains among these bones that may touch a collider, from shortly before they do."""
        near = self._near(colliders, bones, frames) | self._wide(bones, found)
        bodies = self._bodies(bones)
        for rows in bodies.chains():
            touching: Array = np.any(near[:, rows], axis=2)
            meets = np.flatnonzero(touching.any(axis=0))
            most = max(1, _AT_ONCE // rows.shape[1])
            for some in np.split(meets, range(most, len(meets), most)):
                if len(some):
                    first = int(np.argmax(touching[:, some].any(axis=1)))
                    self._step(colliders, bones, rows[some].ravel(), frames, found, first)

    def _step(
        self, colliders: Colliders, bones: Array, rows: Array, frames: slice, closed: swing.Swing, first: int
    ) -> None:
        """Step chains of one size, rows of the bones, which touch nothing before the first sample."""
        own = bones[rows]
        animated = self._animated(own, frames)
        begins, ends = colliders.begins[frames], colliders.ends[frames]
        felt = self.felt
        if felt is None:
            begins, ends = begins[:, None], ends[:, None]
        else:
            frame = felt.over(frames, own)
            begins, ends = frame.seen(begins), frame.seen(ends)
        assert self.borders is not None, "they come with the colliders"
        scene = colliding.Surroundings(begins, ends, colliders, self.borders.of_bones(own))
        before = None
        if first > 0 and not self.cyclic and closed.found[rows].all():
            before = first, closed.z[first, rows], closed.rate[first, rows]
        z = colliding.solve(animated, self.settings.of(own), scene, before)
        begin = frames.start + (first if before is not None else 0)
        self.swings[begin : frames.stop, own] = swing.turns_of(z, animated.axes)[begin - frames.start :]
        self.longer[frames, own] = 0.0
        self.stepped[own] = True

    def _wide(self, bones: Array, found: swing.Swing) -> Array:
        """(S, m) where bones come near the end of their cones."""
        parents, z = self._bodies(bones).parents, found.z
        bends = np.abs(z - np.where(parents >= 0, z[:, parents], 0.0))
        return (bends > _WIDE * self.settings.limit[bones]) | (~found.found & (self.settings.limit[bones] < np.pi))

    def _near(self, colliders: Colliders, bones: Array, frames: slice) -> Array:
        """(S, m) where bones come near a collider."""
        assert self.borders is not None, "they come with the colliders"
        r = self.rig
        joints, tips = (places[frames] for places in r.placed(r.whole(self.swings), self.longer))
        joints, tips = joints[:, bones], tips[:, bones]
        borders, near = self.borders.of_bones(bones), np.zeros(joints.shape[:2], dtype=bool)
        here = colliders.at(frames)
        for n in range(len(here)):
            gap = gaps(here, borders, joints, tips, n)
            # As far as it comes nearer in a frame.
            closer = np.abs(np.diff(gap, axis=0, prepend=gap[:1], append=gap[-1:]))
            margin = np.maximum(closer[:-1], closer[1:]) + _NEAR * r.lengths[bones]
            near |= (gap < margin) & ~borders.left[:, n]
        return near

    def _animated(self, bones: Array, frames: slice) -> swing.Animated:
        """These bones, without their swing, in frames that have what they do not feel of the center's motion."""
        r = self.rig
        turns, places = r.turns[frames, bones], r.places[frames, bones]
        pull = self.pull[:, bones] if len(self.pull) == 1 else self.pull[frames, bones]
        shift, turned = (r.places[-1] - r.places[0])[r.roots[bones]], rotation.identity(len(bones))
        if self.felt is not None:
            felt = self.felt.over(frames, bones)
            turns, places, pull = felt.turned(turns), felt.placed(places), felt.rotated(pull)
            turned, shift = felt.later(shift)
        cycle = Cycle(turned, shift) if self.cyclic else None
        return swing.Animated(self._bodies(bones), turns, places, r.axes[bones], pull, r.dt, cycle)

    def _bodies(self, bones: Array) -> Bodies:
        """Those of bones that have a length: each on the nearest other one that it hangs on."""
        row_of = {bone: row for row, bone in enumerate(bones.tolist())}
        parents = []
        for bone in bones.tolist():
            above = int(self.rig.parents[bone])
            while above >= 0 and above not in row_of:
                above = int(self.rig.parents[above])
            parents.append(row_of.get(above, -1))
        return Bodies.made(np.array(parents), self.rig.lengths[bones])

    def result(self) -> SpringMotion:
        whole = self.rig.whole(self.swings)
        offsets, (joints, tips) = self.rig.local(whole), self.rig.placed(whole, self.longer)
        seam = float(rotation.distance(offsets[0], offsets[-1]).max(initial=0.0)) if self.cyclic else 0.0
        depth, collider = np.zeros(joints.shape[:2]), np.full(joints.shape[:2], -1)
        if self.colliders is not None and self.borders is not None:
            depth, collider = depths(self.colliders, self.borders, joints, tips)
        beyond = np.maximum(rotation.angle(offsets) - self.settings.limit, 0.0)
        return SpringMotion(offsets, whole, tips, self.longer, self.stepped, depth, collider, beyond, seam)
