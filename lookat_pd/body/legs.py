"""Feet that stay where the animation has them while the hips turn and shift: two-bone inverse kinematics a leg.

The hips go down where a leg would have to be longer than it is, so that no knee snaps straight. A leg is three bones:
upper, lower and foot; all below the foot follows it. In a four-legged animal the foot is whichever third bone
the caller names. Everything is in the armature's space; offsets are local and multiply on the right.
"""

from dataclasses import dataclass, fields

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike

from .. import curves, rotation
from ..errors import InvalidArgument
from ..pd.second_order import substeps
from ..rotation import Array

FULL_STRETCH = 0.995
"""Of a leg's length: how far a leg is stretched that the animation does not stretch further itself."""
_STEEPEST = 2.0
"""A leg that would have the hips go down by more than this, times what they moved, lies too level to be kept."""
_NOTHING, _UNCLEAR = 1e-9, 1e-6
_STRAIGHT, _BENT = np.radians(3.0), np.radians(12.0)
"""Between these the animated bend gets to say alone where the knee points."""
_PULL = 4.0


@dataclass(frozen=True)
class Leg:
    """A pose of l legs over n frames. hip, knee, ankle: (n, l, 3) joints [m]; upper, lower, foot: (n, l, 4)
    orientations of the bones that begin there. Raises InvalidArgument where the shapes do not fit."""

    hip: Array
    knee: Array
    ankle: Array
    upper: Array
    lower: Array
    foot: Array

    def __post_init__(self) -> None:
        shape = np.shape(self.hip)[:2]
        for place, field in enumerate(fields(self)):
            value, wanted = np.asarray(getattr(self, field.name), dtype=float), (*shape, 3 if place < 3 else 4)
            if len(shape) < 2 or value.shape != wanted:
                raise InvalidArgument(
                    "The legs' {field} must be of shape (frames, legs, {wanted}).", field=field.name, wanted=wanted[-1]
                )
            object.__setattr__(self, field.name, value)

    @property
    def lengths(self) -> tuple[Array, Array]:
        """Of the upper and the lower bone, (n, l) each [m]."""
        return np.linalg.norm(self.knee - self.hip, axis=-1), np.linalg.norm(self.ankle - self.knee, axis=-1)


def lowering(animated: Leg, carried: Leg, up: ArrayLike, dt: float, *, smooth: float = 0.12) -> Array:
    """How far (n,) [m] the hips must go down so that every foot can be put back where the animation has it.

    animated: the legs as animated; carried: as the turned and shifted pelvis carries them. up: unit (3,) or (n, 3).
    dt: seconds a frame. smooth [s]: the hips go down this long before they have to and a while longer, never less
    than they have to; twice that long away from all need the answer is exactly 0.

    A leg is not stretched further than the animation does itself, or than FULL_STRETCH; not quite to the full where
    the hips have moved away, since a knee that passes through straight has no continuous speed. A leg so
    level that going down hardly brings the hips nearer asks for no more than twice what its hip joint has moved.
    """
    frames = len(animated.hip)
    length = np.sum(animated.lengths, axis=0)
    if not length.size:
        return np.zeros(frames)
    up = np.broadcast_to(np.asarray(up, dtype=float), (frames, 3))
    far, here = carried.hip - animated.ankle, animated.hip - animated.ankle
    moves = np.maximum(*(np.linalg.norm(np.diff(v, axis=0), axis=-1) for v in (far, here)))
    jumps = np.any(curves.sudden(moves / np.maximum(length[1:], _NOTHING)), axis=-1)
    count = substeps(dt, curves.FINEST_STEP)
    far, here, length, up = (curves.curve(v, jumps, count) for v in (far, here, length, up))
    need = np.max(_need(far, here, length, rotation.normalize(up)), axis=-1)
    return _never_less(need, int(smooth * count / dt + _NOTHING))[::count]


def _need(far: Array, here: Array, length: Array, up: Array) -> Array:
    """How far (m, l) the hips must go down for each leg alone.

    far, here: (m, l, 3) from the ankle to the hip joint, carried and animated. length: (m, l). up: (m, 3)."""
    distance, at_home = np.linalg.norm(far, axis=-1), np.linalg.norm(here, axis=-1)
    # A leg stretched further than usual gives up what it has more, with the square of how far it is pulled beyond: so
    # its bend goes with the pull, and its speed has no corner when the pull goes from one side to the other.
    most = FULL_STRETCH * length
    spare, beyond = np.maximum(at_home - most, 0.0), np.maximum(distance - at_home, 0.0)
    given = spare * beyond**2 / np.maximum(beyond**2 + spare**2, _NOTHING**2)
    reach = np.maximum(at_home, most) - given
    height = np.sum(far * up[:, None], axis=-1)
    aside = distance**2 - height**2
    down = height - np.sqrt(np.maximum(reach**2 - aside, 0.0))
    moved = np.linalg.norm(far - here, axis=-1)
    return np.where(distance > reach + _NOTHING * length, np.clip(down, 0.0, _STEEPEST * moved), 0.0)


def _never_less(need: Array, radius: int) -> Array:
    """A smooth curve (m,) above need (m,), within twice `radius` samples of it."""
    if not radius or not np.any(need):
        return need
    largest = np.max(sliding_window_view(np.pad(need, 2 * radius, mode="edge"), 2 * radius + 1), axis=-1)
    kernel = (1.0 - (np.arange(-radius, radius + 1) / (radius + 1.0)) ** 2) ** 3
    # Rounding must not take the sum below the need, nor leave anything where there is none.
    return np.maximum(np.convolve(largest, kernel / np.sum(kernel), mode="valid"), need)


def replant(animated: Leg, carried: Leg, hinge: ArrayLike | None = None) -> tuple[Array, Array]:
    """Offsets that put each ankle and foot back where the animation has them.

    animated, carried: as for `lowering`, the hips lowered. hinge: (l, 3) axes in the upper bones' frames about which
    knees bend, from the upper towards the lower bone, for legs that are straight; default: what the bent frames tell.

    Returns the offsets (n, l, 3, 4) of upper, lower and foot, and by how much [m] the ankles are missed (n, l): leg
    bones keep their lengths, and a leg too short points at its ankle. The knee stays in its animated plane, turned
    with the line from hip to ankle by the smallest arc. Where nothing was carried away the offsets are the identity,
    exactly. Offsets apply from the top down: what turns the upper bone carries the others.
    """
    chord = _chord(animated)
    wanted = animated.ankle - carried.hip
    upper, lower = carried.lengths
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
    offsets = _offsets([carried.upper, carried.lower, carried.foot], goals)
    offsets[_untouched(animated, carried)] = rotation.IDENTITY
    return offsets, np.abs(distance - reached)


def _chord(leg: Leg) -> Array:
    """From hip to ankle (n, l, 3); along the upper bone where a folded leg has its ankle at the hip."""
    chord = leg.ankle - leg.hip
    folded = np.linalg.norm(chord, axis=-1) <= 1e-6 * np.sum(leg.lengths, axis=0)
    return np.where(folded[..., None], leg.knee - leg.hip, chord)


def _corner(beside: Array, base: Array, opposite: Array) -> Array:
    """A triangle's angle between the sides `beside` and `base`; exact also where it is small."""
    half = 0.5 * (beside + base + opposite)
    near, far = (half - beside) * (half - base), half * (half - opposite)
    return 2.0 * np.arctan2(np.sqrt(np.maximum(near, 0.0)), np.sqrt(np.maximum(far, 0.0)))


def _axis(animated: Leg, chord: Array, bend: Array, hinge: ArrayLike | None) -> Array:
    """Unit axes (n, l, 3), square to the chord, about which the legs bend by `bend` (n, l).

    The animated axis; the straighter the animated leg, and the more it has to bend beyond that, the more the hinge.
    """
    along, own = rotation.normalize(chord), _bends(animated)
    now, wanted = np.linalg.norm(own, axis=-1, keepdims=True), 2.0 * np.sin(0.5 * bend)[..., None]
    local = _hinges(animated, own) if hinge is None else rotation.normalize(hinge)
    usual = _square(rotation.rotate(animated.upper, np.broadcast_to(local, own.shape)), along)
    s = np.clip((now - _STRAIGHT) / (_BENT - _STRAIGHT), 0.0, 1.0)
    mixed = own + _PULL * (1.0 - s * s * (3.0 - 2.0 * s)) * np.maximum(wanted - now, 0.0) * usual
    return _square(np.where(np.linalg.norm(mixed, axis=-1, keepdims=True) > _NOTHING, mixed, usual), along)


def _bends(leg: Leg) -> Array:
    """Axes (n, l, 3) about which the knees are bent, as long as twice the sine of half the angle."""
    upper, lower = rotation.normalize(leg.knee - leg.hip), rotation.normalize(leg.ankle - leg.knee)
    middle = 0.5 * np.linalg.norm(upper + lower, axis=-1, keepdims=True)
    return rotation.cross(upper, lower) / np.maximum(middle, _NOTHING)


def _square(axis: Array, along: Array) -> Array:
    """The part of axis (..., 3) square to the unit vectors `along`, at length 1; any such where there is none."""
    other = np.eye(3)[np.argmin(np.abs(along), axis=-1)]
    square, other = (v - rotation.dot(v, along)[..., None] * along for v in (axis, other))
    return rotation.normalize(np.where(np.linalg.norm(square, axis=-1, keepdims=True) > _NOTHING, square, other))


def _hinges(animated: Leg, own: Array) -> Array:
    """In the upper bone's frame (l, 3): about what each knee bends, by the frames where it is bent most.

    A leg that is straight all the time bends as if its foot pointed forward."""
    local = rotation.rotate(rotation.inverse(animated.upper), own)
    total = np.sum(np.linalg.norm(own, axis=-1, keepdims=True) * local, axis=0)
    toes = rotation.rotate(animated.foot, np.array([0.0, 1.0, 0.0]))
    guess = rotation.rotate(rotation.inverse(animated.upper), rotation.cross(toes, animated.ankle - animated.hip))
    bent = np.linalg.norm(total, axis=-1, keepdims=True) > _UNCLEAR * len(own)
    return rotation.normalize(np.where(bent, total, np.sum(guess, axis=0)))


def _offsets(carried: list[Array], goals: list[Array]) -> Array:
    """Local offsets (n, l, 3, 4) that turn a line of bones (n, l, 4) each into their goals, from the top down."""
    turn = rotation.identity(*carried[0].shape[:-1])
    offsets = []
    for bone, goal in zip(carried, goals, strict=True):
        offset = rotation.multiply(rotation.inverse(rotation.multiply(turn, bone)), goal)
        offsets.append(np.where(offset[..., :1] < 0.0, -offset, offset))
        turn = rotation.multiply(goal, rotation.inverse(bone))
    return np.stack(offsets, axis=-2)


def _untouched(animated: Leg, carried: Leg) -> Array:
    """Where (n, l) both poses are the same to the last bit."""
    same = [np.all(getattr(animated, f.name) == getattr(carried, f.name), axis=-1) for f in fields(Leg)]
    return np.all(same, axis=0)
