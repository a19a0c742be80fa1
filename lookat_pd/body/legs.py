"""Feet that stay where the animation has them while the hips turn and shift: two-bone inverse kinematics for each leg.

The hips are lowered where a leg would be too short, so that no knee snaps straight. A leg is three bones: upper, lower
and foot; the bones below follow the foot. On a four-legged animal the caller chooses the third bone. Everything is in
the armature's space; offsets are local and multiply on the right.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike

from .. import checks, curves, rotation
from ..errors import InvalidArgument
from ..pd.second_order import substeps
from ..rotation import Array

FULL_STRETCH = 0.995
"""Largest stretch of a leg as a factor of its length, unless the animation stretches it further."""
SOFT_STRETCH = 0.96
"""Stretch of a leg as a factor of its length below which nothing is done for the acceleration of its knee."""
_STEEPEST = 2.0
"""Largest lowering for one leg as a factor of the hips' displacement; a leg that needs more is too horizontal to be
planted."""
_NOTHING, _UNCLEAR = 1e-9, 1e-6
_STRAIGHT, _BENT = np.radians(3.0), np.radians(12.0)
"""Between these values the animated bend becomes the only source of the knee's direction."""
_PULL = 4.0
_EVEN, _STEP = 30.0, 1.0 / 30.0
"""Angular acceleration [rad/s^2] of a knee, over steps of this time [s], below which no snap is seen: 2 degrees from
each step to the next."""
_HALVINGS, _PASSES = 12, 6
_LONGEST_SMOOTHING = 60.0


@dataclass(frozen=True)
class Leg:
    """A pose of l legs over n frames. Raises InvalidArgument if the shapes do not match."""

    hip: Array
    knee: Array
    ankle: Array
    """`hip`, `knee`, `ankle`: (n, l, 3) joints [m]."""
    upper: Array
    lower: Array
    foot: Array
    """`upper`, `lower`, `foot`: (n, l, 4) orientations of the bones that start there."""

    def __post_init__(self) -> None:
        shape = checks.numbers("hip", self.hip).shape[:2]
        for place, field in enumerate(fields(self)):
            value = checks.animated(field.name, getattr(self, field.name))
            wanted = (*shape, 3 if place < 3 else 4)
            if len(shape) < 2 or value.shape != wanted:
                raise InvalidArgument(
                    "The legs' {field} must be of shape (frames, legs, {wanted}).", field=field.name, wanted=wanted[-1]
                )
            if place >= 3:
                checks.check_lengths(field.name, value)
            object.__setattr__(self, field.name, value)

    @property
    def lengths(self) -> tuple[Array, Array]:
        """Lengths of the upper and the lower bone, (n, l) each [m]."""
        return np.linalg.norm(self.knee - self.hip, axis=-1), np.linalg.norm(self.ankle - self.knee, axis=-1)

    def part(self, which: ArrayLike) -> "Leg":
        """Only these legs (l,)."""
        return Leg(*(getattr(self, field.name)[:, which] for field in fields(self)))

    def shifted(self, by: Array) -> "Leg":
        """Displaced by (n, 3), or each leg by (n, l, 3)."""
        by = by if by.ndim == 3 else by[:, None]
        return replace(self, hip=self.hip + by, knee=self.knee + by, ankle=self.ankle + by)


def lowering(
    animated: Leg, moved: Leg, up: ArrayLike, dt: float, *, smooth: float = 0.12, acceleration: float | None = None
) -> Array:
    """The distance (n,) [m] by which the hips must be lowered so that every foot can reach its animated position.

    animated: the legs as animated; moved: as the rotated and displaced pelvis moves them. up: unit (3,) or (n, 3).
    dt: seconds per frame. smooth [s]: the hips are lowered this long before it is necessary and stay low this long
    afterwards, never less than necessary; at twice this distance from any need the result is exactly 0.
    acceleration: largest angular acceleration of a knee as a factor of the largest animated one. Where that of a leg
    nearer to straight than SOFT_STRETCH would be larger, the hips are lowered further: at most to that stretch, and by
    no more of the leg's length than that leaves. That a knee is bent backwards and passes the straight pose is no
    corner of the animation. None: no limit.

    A leg is stretched no further than in the animation or than FULL_STRETCH, and slightly less where the hips have
    moved away, because the speed of a knee that passes through the straight pose is not continuous. A nearly horizontal
    leg, which lowering the hips hardly helps, requests at most twice the displacement of its hip joint.
    """
    frames, dt = len(animated.hip), checks.time_step(dt)
    smooth = checks.number("smoothing time", smooth, 0.0, _LONGEST_SMOOTHING)
    if moved.hip.shape != animated.hip.shape:
        raise checks.shape_error("hip", animated.hip.shape, moved.hip.shape)
    if acceleration is not None:
        acceleration = checks.number("factor of the acceleration", acceleration, 0.0)
    length = np.sum(animated.lengths, axis=0)
    if not length.size:
        return np.zeros(frames)
    up = rotation.normalize(checks.like("up axis", up, frames, 3))
    far, here = moved.hip - animated.ankle, animated.hip - animated.ankle
    moves = np.maximum(*(np.linalg.norm(np.diff(v, axis=0), axis=-1) for v in (far, here)))
    jumps = np.any(curves.sudden(moves / np.maximum(length[1:], _NOTHING)), axis=-1)
    count = substeps(dt, curves.FINEST_STEP)
    radius = int(smooth * count / dt + _NOTHING)
    checks.check_memory(20.0 * (frames * count + 4.0 * radius) + 4.0 * radius)
    apart, at_home, whole, upward = (curves.curve(v, jumps, count) for v in (far, here, length, up))
    need = np.max(_need(apart, at_home, whole, rotation.normalize(upward)), axis=-1)
    low = _never_less(need, radius)[::count]
    if acceleration is None:
        return low
    knees = _Knees.of(animated.lengths, far, up, jumps, dt)
    if not len(knees.whole):
        return low
    most = np.maximum(acceleration * knees.sudden(knees.around(_signed(animated))).max(axis=0), _EVEN)
    lowest = low + (1.0 - SOFT_STRETCH) * np.max(length, axis=-1)
    for _ in range(_PASSES):
        further = knees.further(low, most)
        if not np.any(further):
            break
        wanted = np.where(further > 0.0, np.minimum(low + further, lowest), 0.0)
        need = np.maximum(need, np.interp(np.arange(len(need)) / count, np.arange(frames), wanted))
        low = _never_less(need, radius)[::count]
    return low


def _need(far: Array, here: Array, length: Array, up: Array) -> Array:
    """The lowering (m, l) that each leg alone needs.

    far, here: (m, l, 3) from the ankle to the hip joint, moved and animated. length: (m, l). up: (m, 3)."""
    distance, at_home = np.linalg.norm(far, axis=-1), np.linalg.norm(here, axis=-1)
    # A leg that is stretched further than usual loses the excess with the square of the pull beyond it: the bend then
    # follows the pull, and its speed stays continuous when the pull changes sides.
    most = FULL_STRETCH * length
    spare, beyond = np.maximum(at_home - most, 0.0), np.maximum(distance - at_home, 0.0)
    given = spare * beyond**2 / np.maximum(beyond**2 + spare**2, _NOTHING**2)
    reach = np.maximum(at_home, most) - given
    height = np.sum(far * up[:, None], axis=-1)
    aside = distance**2 - height**2
    down = height - np.sqrt(np.maximum(reach**2 - aside, 0.0))
    displaced = np.linalg.norm(far - here, axis=-1)
    return np.where(distance > reach + _NOTHING * length, np.clip(down, 0.0, _STEEPEST * displaced), 0.0)


@dataclass(frozen=True)
class _Knees:
    """How suddenly l knees turn while the hips are lowered over n frames."""

    height: Array
    aside: Array
    """`height`, `aside`: (n, l), how high the hip joint that is not lowered is above the ankle, and the square of its
    distance to the side."""
    lengths: Array
    """Lengths (2, n, l) of the bones."""
    whole: Array
    """(n - 2 step, 1), around which nothing jumps. Accelerations are measured over `step` frames of `seconds` in
    all."""
    step: int
    seconds: float

    @classmethod
    def of(cls, lengths: Sequence[Array], far: Array, up: Array, jumps: Array, dt: float) -> "_Knees":
        """far: (n, l, 3) from the ankle to the hip joint. jumps: (n - 1,) of the legs."""
        step = max(1, round(_STEP / dt))
        height = np.sum(far * up[:, None], axis=-1)
        aside = np.maximum(np.sum(far * far, axis=-1) - height**2, 0.0)
        whole = np.ones((max(len(far) - 2 * step, 0), 1), dtype=bool)
        if len(whole):
            whole &= ~sliding_window_view(jumps, 2 * step).any(axis=-1)[:, None]
        return cls(height, aside, np.array(lengths), whole, step, step * dt)

    def sudden(self, bends: Array) -> Array:
        """Angular accelerations (n - 2 step, l) [rad/s^2] of knees bent by three angles (3, n - 2 step, l), which
        follow each other in time; 0 where something jumps."""
        return self.whole * np.abs(bends[0] - 2.0 * bends[1] + bends[2]) / self.seconds**2

    def around(self, values: Array) -> Array:
        """Values (n, ...) before, at and after each frame: (3, n - 2 step, ...)."""
        return np.stack((values[: -2 * self.step], values[self.step : -self.step], values[2 * self.step :]))

    def further(self, low: Array, most: Array) -> Array:
        """How much further (n,) than by low (n,) the hips must be lowered so that no knee turns more suddenly than
        `most` (l,). Around each frame they are taken to go further down by the same distance."""
        further = np.zeros(len(low))
        upper, lower, aside, height = map(self.around, (*self.lengths, self.aside, self.height - low[:, None]))

        def snaps(down: Array) -> Array:
            distance = np.sqrt(aside + (height - down) ** 2)
            reached = np.clip(distance, np.abs(upper - lower), upper + lower)
            return self.sudden(np.pi - _corner(upper, lower, reached)) > most

        distance, soft = np.sqrt(aside[1] + height[1] ** 2), SOFT_STRETCH * (upper + lower)[1]
        down = height[1] - np.sqrt(np.maximum(soft**2 - aside[1], 0.0))
        enough = np.clip(down, 0.0, _STEEPEST * np.maximum(distance - soft, 0.0))
        needed, less = snaps(np.zeros_like(enough)), np.zeros_like(enough)
        for _ in range(_HALVINGS):
            middle = 0.5 * (less + enough)
            more = snaps(middle)
            less, enough = np.where(more, middle, less), np.where(more, enough, middle)
        further[self.step : -self.step] = np.where(needed, enough, 0.0).max(axis=-1)
        return further


def _signed(leg: Leg) -> Array:
    """Bends of the knees (n, l) [rad], negative where a knee is bent backwards."""
    own = _bends(leg)
    usual = rotation.rotate(leg.upper, np.broadcast_to(_hinges(leg, own), own.shape))
    size = 2.0 * np.arcsin(np.minimum(0.5 * np.linalg.norm(own, axis=-1), 1.0))
    return np.where(rotation.dot(own, usual) < 0.0, -size, size)


def _never_less(need: Array, radius: int) -> Array:
    """A smooth curve (m,) above need (m,), within twice `radius` samples of it."""
    if not radius or not np.any(need):
        return need
    largest = np.max(sliding_window_view(np.pad(need, 2 * radius, mode="edge"), 2 * radius + 1), axis=-1)
    kernel = (1.0 - (np.arange(-radius, radius + 1) / (radius + 1.0)) ** 2) ** 3
    # Rounding must not put the sum below the need, nor leave a remainder where there is no need.
    return np.maximum(np.convolve(largest, kernel / np.sum(kernel), mode="valid"), need)


def replant(animated: Leg, moved: Leg, hinge: ArrayLike | None = None) -> tuple[Array, Array]:
    """Offsets that put each ankle and foot back where the animation has them.

    animated, moved: as for `lowering`, the hips lowered. hinge: (l, 3) axes in the upper bones' frames about which
    knees bend, from the upper towards the lower bone, for legs that are straight; default: taken from the frames in
    which the leg is bent.

    Returns the offsets (n, l, 3, 4) of upper, lower and foot, and the distances [m] by which the ankles are missed (n,
    l): leg bones keep their lengths, and a leg that is too short points at its ankle. The knee stays in its animated
    plane, which rotates with the line from hip to ankle by the smallest arc. Where the pelvis has not moved the legs,
    the offsets are exactly the identity. Offsets apply from the top down: the lower bones inherit the rotation of the
    upper one.
    """
    chord = _chord(animated)
    wanted = animated.ankle - moved.hip
    upper, lower = moved.lengths
    distance = np.linalg.norm(wanted, axis=-1)
    reached = np.clip(distance, np.abs(upper - lower), upper + lower)
    swing = rotation.shortest_arc(chord, wanted)
    at_hip, at_ankle = _corner(upper, reached, lower), _corner(lower, reached, upper)
    axis = rotation.rotate(swing, _axis(animated, chord, at_hip + at_ankle, hinge))
    turned = [
        rotation.multiply(rotation.about(axis, bend), rotation.multiply(swing, rotation.shortest_arc(bone, chord)))
        for bone, bend in ((animated.knee - animated.hip, -at_hip), (animated.ankle - animated.knee, at_ankle))
    ]
    goals = [*map(rotation.multiply, turned, (animated.upper, animated.lower)), animated.foot]
    offsets = _offsets([moved.upper, moved.lower, moved.foot], goals)
    offsets[_untouched(animated, moved)] = rotation.IDENTITY
    return offsets, np.abs(distance - reached)


def bent_forwards(leg: Leg, which: ArrayLike = True) -> tuple[Leg, Array]:
    """The legs with no knee bent backwards, and where (n, l) one was: hip, ankle and foot stay, the bend is mirrored.

    which: (l,) the legs that have knees; others stay. Captured legs are often straightened beyond the straight pose.
    Forwards is where a leg is bent most.
    """
    own = _bends(leg)
    usual = rotation.rotate(leg.upper, np.broadcast_to(_hinges(leg, own), own.shape))
    backwards = (rotation.dot(own, usual) < 0.0) & np.asarray(which, dtype=bool)
    along = rotation.normalize(_chord(leg))
    thigh = leg.knee - leg.hip
    knee = leg.hip + 2.0 * rotation.dot(thigh, along)[..., None] * along - thigh
    arcs = (thigh, knee - leg.hip), (leg.ankle - leg.knee, leg.ankle - knee)
    turned = [
        rotation.multiply(rotation.shortest_arc(*arc), bone)
        for arc, bone in zip(arcs, (leg.upper, leg.lower), strict=True)
    ]
    knee, upper, lower = (
        np.where(backwards[..., None], new, old)
        for new, old in ((knee, leg.knee), (turned[0], leg.upper), (turned[1], leg.lower))
    )
    return replace(leg, knee=knee, upper=upper, lower=lower), backwards


def _chord(leg: Leg) -> Array:
    """From hip to ankle (n, l, 3); along the upper bone where a folded leg has its ankle at the hip."""
    chord = leg.ankle - leg.hip
    folded = np.linalg.norm(chord, axis=-1) <= 1e-6 * np.sum(leg.lengths, axis=0)
    return np.where(folded[..., None], leg.knee - leg.hip, chord)


def _corner(beside: Array, base: Array, opposite: Array) -> Array:
    """The angle of a triangle between the sides `beside` and `base`; exact also for small angles."""
    half = 0.5 * (beside + base + opposite)
    near, far = (half - beside) * (half - base), half * (half - opposite)
    return 2.0 * np.arctan2(np.sqrt(np.maximum(near, 0.0)), np.sqrt(np.maximum(far, 0.0)))


def _axis(animated: Leg, chord: Array, bend: Array, hinge: ArrayLike | None) -> Array:
    """Unit axes (n, l, 3), square to the chord, about which the legs bend by `bend` (n, l).

    The animated axis, blended towards the hinge the straighter the animated leg is and the more it must bend beyond
    that.
    """
    along, own = rotation.normalize(chord), _bends(animated)
    now, wanted = np.linalg.norm(own, axis=-1, keepdims=True), 2.0 * np.sin(0.5 * bend)[..., None]
    local = _hinges(animated, own) if hinge is None else rotation.normalize(hinge)
    usual = _square(rotation.rotate(animated.upper, np.broadcast_to(local, own.shape)), along)
    straight = 1.0 - curves.cubic_step((now - _STRAIGHT) / (_BENT - _STRAIGHT))
    mixed = own + _PULL * straight * np.maximum(wanted - now, 0.0) * usual
    return _square(np.where(np.linalg.norm(mixed, axis=-1, keepdims=True) > _NOTHING, mixed, usual), along)


def _bends(leg: Leg) -> Array:
    """Axes (n, l, 3) about which the knees are bent, of length twice the sine of half the angle."""
    upper, lower = rotation.normalize(leg.knee - leg.hip), rotation.normalize(leg.ankle - leg.knee)
    middle = 0.5 * np.linalg.norm(upper + lower, axis=-1, keepdims=True)
    return rotation.cross(upper, lower) / np.maximum(middle, _NOTHING)


def _square(axis: Array, along: Array) -> Array:
    """The component of axis (..., 3) perpendicular to the unit vectors `along`, normalized; an arbitrary perpendicular
    if it is zero."""
    other = np.eye(3)[np.argmin(np.abs(along), axis=-1)]
    square, other = (v - rotation.dot(v, along)[..., None] * along for v in (axis, other))
    return rotation.normalize(np.where(np.linalg.norm(square, axis=-1, keepdims=True) > _NOTHING, square, other))


def _hinges(animated: Leg, own: Array) -> Array:
    """The bend axis of each knee in the frame of the upper bone (l, 3), from the frames in which it is bent most.

    A leg that is always straight bends as if its foot pointed forward."""
    local = rotation.rotate(rotation.inverse(animated.upper), own)
    total = np.sum(np.linalg.norm(own, axis=-1, keepdims=True) * local, axis=0)
    toes = rotation.rotate(animated.foot, np.array([0.0, 1.0, 0.0]))
    guess = rotation.rotate(rotation.inverse(animated.upper), rotation.cross(toes, animated.ankle - animated.hip))
    bent = np.linalg.norm(total, axis=-1, keepdims=True) > _UNCLEAR * len(own)
    return rotation.normalize(np.where(bent, total, np.sum(guess, axis=0)))


def _offsets(moved: list[Array], goals: list[Array]) -> Array:
    """Local offsets (n, l, 3, 4) that rotate a chain of bones (n, l, 4) to their goals, from the top down."""
    turn = rotation.identity(*moved[0].shape[:-1])
    offsets = []
    for bone, goal in zip(moved, goals, strict=True):
        offset = rotation.multiply(rotation.inverse(rotation.multiply(turn, bone)), goal)
        offsets.append(np.where(offset[..., :1] < 0.0, -offset, offset))
        turn = rotation.multiply(goal, rotation.inverse(bone))
    return np.stack(offsets, axis=-2)


def _untouched(animated: Leg, moved: Leg) -> Array:
    """Where (n, l) both poses are bitwise equal."""
    same = [np.all(getattr(animated, f.name) == getattr(moved, f.name), axis=-1) for f in fields(Leg)]
    return np.all(same, axis=0)
