"""Where an effector is held during its contacts: with the world, a prop or another character, at each frame."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.body.contacts import Detection, Interval, detect, within_reach
from ...lookat_pd.body.foot_lock import coming_and_going
from ...lookat_pd.body.legs import SOFT_STRETCH
from ...lookat_pd.curves import runs, smooth_step, sudden
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array

_GENTLE = 2.5
"""Largest acceleration due to a transition, in limb lengths / s^2: that of a foot in a walk is about ten times that."""
_MARGIN = 0.32
"""Time [s] at the ends of the range that longer transitions leave free: that in which hips are lowered."""
_LEAVING = 0.5
"""Speed at which an effector has begun to leave a contact, as a fraction of the largest one of detection."""
_STEEPEST = 10.0 / 3.0**0.5
"""Largest second derivative of the smooth step of fifth order."""


@dataclass(frozen=True)
class Contact:
    """The contacts of an effector."""

    frames: Sequence[Interval] | Detection
    """First and last frame of each, or how they are detected."""
    blend: float = 0.15
    """Shortest time [s] of the transitions into and out of a contact, which take longer where the effector is displaced
    far; 0 for none."""

    @property
    def marked(self) -> list[Interval]:
        """The contacts that are given; none if they are detected."""
        return [] if isinstance(self.frames, Detection) else list(self.frames)

    def checked(self, first: int, last: int) -> "Contact":
        """The contact with its intervals in order. first, last: the baked frames. Raises RigError."""
        return self if isinstance(self.frames, Detection) else replace(self, frames=_checked(self.frames, first, last))


@dataclass(frozen=True)
class Held:
    """Where an effector is held over F frames, in the world."""

    place: Array
    """(F, 3)"""
    orientation: Array
    """(F, 4)"""
    weight: Array
    """(F,) of the contact, 1 during one."""
    intervals: tuple[Interval, ...]
    """The contacts."""
    slipped: Array
    """(F,) how far the animation is from the place of a contact, 0 without one."""


@dataclass(frozen=True)
class Surface:
    """What is touched over F frames in the world: places (F, 3) and orientations (F, 4)."""

    places: Array
    orientations: Array
    rides: Array
    """(F,) whether it moves with the effector itself, as a prop that the hand has taken."""


def held(
    contact: Contact,
    place: Array,
    lying: Array,
    size: float,
    dt: float,
    first: int,
    surface: Surface | None = None,
    base: Array | None = None,
) -> Held:
    """Where an effector is held that is animated at place (F, 3) with orientation `lying` (F, 4) in the world.

    size: length of its limb in the world. dt: [s] per frame. first: the first frame. surface: what is touched, None for
    the world. base: (F, 3) where the limb begins in the world; without a surface, contacts that are detected lack the
    frames at which the effector comes or goes where the limb would be almost straight to hold it.

    During a contact the effector keeps its mean place and orientation relative to that; next to frames at which the
    surface moves with the effector those of the last frame before or the first one after them, so that nothing jumps
    there.
    """
    detection = contact.frames if isinstance(contact.frames, Detection) else None
    if surface is None:
        surface = Surface(np.zeros(place.shape), rotation.identity(len(place)), np.zeros(len(place), dtype=bool))
    else:
        # The height above the ground says nothing about what else is touched.
        detection, base = detection and replace(detection, height=0.0), None
    back = rotation.inverse(surface.orientations)
    seen = rotation.rotate(back, place - surface.places)
    turned = rotation.align_hemisphere(rotation.multiply(back, lying))
    intervals = contact.marked
    if detection is not None:
        contacts = detect(seen, dt, size, detection)
        if base is not None:
            contacts = within_reach(contacts, seen, base, SOFT_STRETCH * size, dt, _LEAVING * detection.speed * size)
        intervals = [(first + a, first + b) for n, m in contacts for a, b in _parts(n, m, surface.rides)]
    total, kept, kept_turn = np.zeros(len(place)), seen.copy(), turned.copy()
    anchors = [_anchor(a - first, b - first, surface.rides) for a, b in intervals]
    spots = [seen[inside].mean(axis=0) for inside in anchors]
    ends = [[np.linalg.norm(spot - seen[n - first]) for n in ab] for spot, ab in zip(spots, intervals, strict=True)]
    room = np.array([(a - first, first + len(place) - 1 - b) for a, b in intervals]) - 1 - _MARGIN / dt
    fades = _fades(contact.blend / dt, np.array(ends), room, _GENTLE * size * dt**2)
    weights = _weights(intervals, fades, first, len(place))
    for (a, b), inside, spot, weight in zip(intervals, anchors, spots, weights, strict=True):
        turn = rotation.normalize(turned[inside].mean(axis=0))
        span = slice(a - first, b - first + 1)
        beside = _transitions(span, weight > 0.0, contact.blend / dt)
        kept += _shift(seen, spot, span, beside, size)
        kept_turn = rotation.multiply(_turn(turned, turn, span, beside), kept_turn)
        total += weight
    touches = total > 0.0
    held_at = np.where(touches[:, None], surface.places + rotation.rotate(surface.orientations, kept), place)
    return Held(
        held_at,
        np.where(touches[:, None], rotation.multiply(surface.orientations, kept_turn), lying),
        total,
        tuple(intervals),
        np.where(total >= 1.0, np.linalg.norm(held_at - place, axis=-1), 0.0),
    )


def _parts(first: int, last: int, rides: Array) -> list[Interval]:
    """The frames of a contact at which the surface does not move with the effector."""
    return [(first + a, first + b) for a, b in runs(~rides[first : last + 1])]


def _anchor(a: int, b: int, rides: Array) -> slice:
    """The frames of a contact from index a to b that say how the effector touches the surface."""
    if b + 1 < len(rides) and rides[b + 1]:
        return slice(b, b + 1)
    if a > 0 and rides[a - 1]:
        return slice(a, a + 1)
    return slice(a, b + 1)


def _fades(blend: float, displaced: Array, room: Array, gentle: float) -> Array:
    """The transitions (n, 2) [frames] into and out of contacts that displace an effector by (n, 2): at least `blend`,
    and as long as the smooth step takes with this acceleration if there is room (n, 2) [frames] for it."""
    if blend <= 0.0:
        return np.zeros(displaced.shape)
    return np.maximum(blend, np.minimum(np.sqrt(_STEEPEST * displaced / gentle), room))


def _weights(intervals: Sequence[Interval], fades: Array, first: int, count: int) -> list[Array]:
    """The weight of each contact at each frame (F,): 1 inside, 0 inside others. fades: (n, 2) [frames]."""
    frames = first + np.arange(count)
    weights = []
    for n, (a, b) in enumerate(intervals):
        before = intervals[n - 1][1] if n else -np.inf
        after = intervals[n + 1][0] if n + 1 < len(intervals) else np.inf
        # Between two contacts the transition out of the first one may last as long as that into the second one.
        fade_in, fade_out = (
            min(max(fade, 0.0), gap - 1.0) for fade, gap in zip(fades[n], (a - before, after - b), strict=True)
        )
        t = np.where(frames < a, 1.0 - (a - frames) / (fade_in + 1.0), 1.0 - (frames - b) / (fade_out + 1.0))
        t = np.where((frames >= a) & (frames <= b), 1.0, np.clip(t, 0.0, 1.0))
        weights.append(smooth_step(t)[0])
    return weights


@dataclass(frozen=True)
class _Transition:
    """The frames beyond one border of a contact at which it has an influence."""

    edge: int
    """Index of the border."""
    frames: Array
    """(c,) frames, outwards."""
    left: Array
    """(c, 1), how much of the displacement at the border is left."""
    late: Array
    """(c, 1), by how many frames of the animated speed at the border the effector is late."""


def _transitions(span: slice, at: Array, blend: float) -> list[_Transition]:
    """The transitions into and out of a contact that has an influence at some frames (F,).

    The effector starts at rest and returns to its animation by quintic polynomials: of the displacement, and over at
    most `blend` frames of the speed.
    """
    a, b = span.start, span.stop - 1
    where, around = np.flatnonzero(at), []
    for edge, count, step in ((a, a - where[0], -1), (b, where[-1] - b, 1)):
        if count:
            around.append(_Transition(edge, edge + step * np.arange(1, count + 1), *coming_and_going(count, blend)))
    return around


def _shift(seen: Array, spot: Array, span: slice, beside: Sequence[_Transition], size: float) -> Array:
    """What is added (F, 3) to the path `seen` (F, 3) of an effector that is held at `spot` during a contact.

    Where the animation jumps, the path does too."""
    shift = np.zeros(seen.shape)
    shift[span] = spot - seen[span]
    jumps = sudden(np.linalg.norm(np.diff(seen, axis=0), axis=-1) / size)
    for part in beside:
        back = seen[part.edge] - seen[part.frames[0]]
        goes_on = not jumps[min(part.edge, part.frames[0])]
        shift[part.frames] = part.left * (spot - seen[part.edge]) + part.late * back * goes_on
    return shift


def _turn(seen: Array, held: Array, span: slice, beside: Sequence[_Transition]) -> Array:
    """The rotations (F, 4) that are added to the orientations `seen` (F, 4), as `_shift` adds to the path."""
    turn = rotation.identity(len(seen))
    turn[span] = rotation.multiply(held, rotation.inverse(seen[span]))
    jumps = sudden(rotation.distance(seen[1:], seen[:-1]))
    for part in beside:
        away = rotation.log(turn[part.edge])
        back = rotation.log(rotation.multiply(seen[part.edge], rotation.inverse(seen[part.frames[0]])))
        goes_on = not jumps[min(part.edge, part.frames[0])]
        turn[part.frames] = rotation.multiply(rotation.exp(part.left * away), rotation.exp(part.late * back * goes_on))
    return turn


def check_surface(contact: Contact, surface: Surface, first: int, effector: str, label: str) -> None:
    """Raise RigError if a marked contact includes frames at which the surface moves with the effector."""
    for a, b in contact.marked:
        riding = np.flatnonzero(surface.rides[a - first : b - first + 1])
        if len(riding):
            raise RigError(
                "'{target}' moves with '{effector}' at frame {frame}; end the contact before that frame, or start it "
                "after that.",
                target=label,
                effector=effector,
                frame=a + int(riding[0]),
            )


def no_contact(effectors: Sequence[str], first: int, last: int) -> RigError:
    """The error if none of these effectors has a contact."""
    return RigError(
        "No contact of '{effector}' was found from frame {first} to {last}; increase Speed or Height, or mark the "
        "contact.",
        effector="', '".join(effectors),
        first=first,
        last=last,
    )


def _checked(intervals: Sequence[Interval], range_first: int, range_last: int) -> list[Interval]:
    checked: list[Interval] = []
    for first, last in sorted(intervals):
        if last < first:
            raise RigError(
                "The contact from frame {first} to {last} is reversed; enter the smaller frame first.",
                first=first,
                last=last,
            )
        if first < range_first or last > range_last:
            raise RigError(
                "The contact from frame {first} to {last} is outside frames {range_first} to "
                "{range_last}; extend the frame range.",
                first=first,
                last=last,
                range_first=range_first,
                range_last=range_last,
            )
        if checked and first <= checked[-1][1]:
            raise RigError("Two contacts overlap at frame {first}; end one before the other starts.", first=first)
        checked.append((first, last))
    if not checked:
        raise RigError("There is no contact to clean up; mark a contact, or use detection.")
    return checked
