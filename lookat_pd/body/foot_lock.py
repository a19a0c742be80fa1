"""Displacements that keep feet on their places while they are planted, and that come and go smoothly.

A foot has several points that may touch the ground, such as its ball and its heel. A *stance* is a time in which at
least one of them does: within it the displacement of the foot is known but for a constant, since the point that touches
stays. Between two stances, and from and to the animation, it goes along a polynomial of fifth degree with the position
and the velocity of both ends. The orientation of the foot stays as animated.

Source: L. Kovar, J. Schreiner, M. Gleicher, "Footskate Cleanup for Motion Capture Editing", SCA 2002, for the
constraints and their gradual release.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import checks
from ..curves import cubic_step, early_slope, runs, smooth_step
from ..errors import InvalidArgument
from ..rotation import Array
from .contacts import Interval

RELEASE = 0.25
"""Time [s] in which a displacement comes before a stance and goes after it."""
SMOOTH = 0.6
"""Time [s] over which the displacement of the body is smoothed."""
ONSET = 0.4
"""Time [s] from the first frame that may change until the body is fully displaced."""
FREE = -1
_SLOWER = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
_CALM = 1.05
"""Acceleration of the displaced hips as a factor of that of the animated ones, up to which it is not seen."""


@dataclass(frozen=True)
class FootStance:
    """Frames in which a foot is planted."""

    first: int
    last: int
    touching: Array
    """(last - first + 1,) the point that touches at each of the frames, FREE at none of them."""
    anchor: int | None = None
    """The frame at which the displacement is zero, None for the one that makes it smallest."""

    def cut(self, first: int, last: int, anchor: int | None = None) -> "FootStance":
        """The stance from frame first to last; there is none before and after its own ends."""
        first, last = max(first, self.first), min(last, self.last)
        return FootStance(first, last, self.touching[first - self.first : last - self.first + 1], anchor)


def stances(contacts: Sequence[Sequence[Interval]], frames: int) -> list[FootStance]:
    """The stances of a foot from the contacts of each of its points, over so many frames.

    Where several points touch, the first of them stays; the others are less exact.
    """
    touching = np.full(frames, FREE)
    for point in range(len(contacts) - 1, -1, -1):
        for a, b in contacts[point]:
            touching[a : b + 1] = point
    return [FootStance(a, b, touching[a : b + 1]) for a, b in runs(touching != FREE)]


def displacements(
    points: Array,
    planted: Sequence[FootStance],
    dt: float,
    *,
    release: float = RELEASE,
    begin: int = 0,
    unmoved: Sequence[int] = (),
) -> Array:
    """The displacement (F, 3) of a foot that keeps it on its place in each stance.

    points: (F, P, 3) places of the points of the foot in the world. planted: in order, without overlaps. dt: [s] per
    frame. release: [s] of the transitions. begin: the displacement is zero before this frame, and at the frames
    `unmoved` unless the foot is planted there. Raises InvalidArgument.
    """
    points, dt = checks.animated("points", points), checks.time_step(dt)
    release = checks.number("release", release, 0.0, 60.0)
    if points.ndim != 3 or points.shape[-1] != 3:
        raise InvalidArgument(
            "The points of a foot must be of shape (frames, points, 3), not {shape}.", shape=points.shape
        )
    result, known = np.zeros((len(points), 3)), np.zeros(len(points), dtype=bool)
    known[:begin] = True
    known[list(unmoved)] = True
    for stance in planted:
        inside = slice(stance.first, stance.last + 1)
        result[inside], known[inside] = _within(points, stance), True
    _bridge(result, known, max(round(release / dt), 1))
    return result


def support(planted: Sequence[FootStance], frames: int, dt: float, *, release: float = RELEASE) -> Array:
    """How much a foot supports the body (F,): 1 in a stance, 0 at a time of `release` before and after it."""
    amount, at = np.zeros(frames), np.arange(frames)
    for stance in planted:
        away = np.maximum(np.maximum(stance.first - at, at - stance.last), 0) * dt
        amount = np.maximum(amount, cubic_step(1.0 - away / max(release, dt)))
    return amount


def body_displacement(moved: Array, supports: Array, dt: float, *, begin: int = 0, slower: float = 1.0) -> Array:
    """The displacement (F, 3) of the body with its feet: what those that support it have in common, smoothed.

    moved: (F, K, 3) displacements of K feet. supports: (F, K) from `support`. begin: the body stays as animated before
    this frame. slower: factor of the times SMOOTH and ONSET; the body is back where the feet are with a factor of 1.
    """
    total = np.maximum(np.sum(supports, axis=1), 1.0)
    common = np.sum(supports[..., None] * moved, axis=1) / total[:, None]
    body = _smoothed(common, int(slower * SMOOTH / dt)) * onset(len(moved), begin, slower * ONSET, dt)[:, None]
    if slower > 1.0 and not np.any(common[-1]):
        body *= onset(len(moved), 1, SMOOTH, dt)[::-1, None]
    return body


def calm_body_displacement(hips: Array, moved: Array, supports: Array, dt: float, *, begin: int, least: float) -> Array:
    """As `body_displacement`, as much slower as it takes for the hips to accelerate no more than they do anyway.

    hips: (F, 3) as animated. least: acceleration [1/s²] that is calm in any case.
    """
    body = np.zeros_like(hips)
    for slower in _SLOWER:
        body = body_displacement(moved, supports, dt, begin=begin, slower=slower)
        if _acceleration(hips + body, dt) <= max(_CALM * _acceleration(hips, dt), least):
            break
    return body


def _acceleration(path: Array, dt: float) -> float:
    """The largest one (F, 3) [1/s²]."""
    return float(np.linalg.norm(np.diff(path, 2, axis=0), axis=-1).max(initial=0.0)) / dt**2


def _smoothed(values: Array, radius: int) -> Array:
    padded = np.pad(values, ((radius, radius), (0, 0)), mode="edge")
    return np.stack([np.convolve(column, _bell(radius), mode="valid") for column in padded.T], axis=-1)


def _bell(radius: int) -> Array:
    kernel = (1.0 - (np.arange(-radius, radius + 1) / (radius + 1.0)) ** 2) ** 3
    return kernel / kernel.sum()


def onset(frames: int, begin: int, length: float, dt: float) -> Array:
    """A weight (F,) that is 0 before frame `begin` and 1 after another `length` [s]; 1 throughout without a begin."""
    if not begin:
        return np.ones(frames)
    t = np.clip((np.arange(frames) - begin + 1) * dt / max(length, dt), 0.0, 1.0)
    return smooth_step(t)[0]


def _within(points: Array, stance: FootStance) -> Array:
    """The displacement (n, 3) in a stance."""
    frames = np.arange(stance.first, stance.last + 1)
    moved = np.diff(points[frames], axis=0)[np.arange(len(frames) - 1), stance.touching[:-1]]
    found = np.concatenate((np.zeros((1, 3)), -np.cumsum(moved, axis=0)))
    if stance.anchor is None:
        return found - found.mean(axis=0)
    return found - found[stance.anchor - stance.first]


def coming_and_going(count: int, catch: float) -> tuple[Array, Array]:
    """How a displacement goes within `count` frames from the border of a contact, or comes before it: the parts (count,
    1) that are left of it, and of its change per frame away from the border, in frames. Both are smooth at both ends.

    catch: frames within which its change ends, if fewer.
    """
    n = np.arange(1, count + 1)[:, None]
    length = min(count, catch) + 1.0
    return 1.0 - smooth_step(n / (count + 1.0))[0], length * early_slope(np.minimum(n / length, 1.0))


def _bridge(result: Array, known: Array, release: int) -> None:
    """Fill in the frames between those that are known; zero at a distance of `release` from them."""
    for a, b in runs(~known):
        ends = _end(result, known, a - 1, -1), _end(result, known, b + 1, 1)
        length = b - a + 2
        joined = None not in ends and length <= 2 * release
        count = (length if joined else min(release, length)) - 1
        left, late = coming_and_going(count, count)
        for end, frames in zip(ends, (np.arange(a, a + count), np.arange(b, b - count, -1)), strict=True):
            if end is not None:
                place, change = end
                result[frames] += left * place + late * change


def _end(result: Array, known: Array, at: int, inwards: int) -> tuple[Array, Array] | None:
    """Value, and change per frame away from there, (3,) each, at the end of known frames; None outside of all
    frames."""
    if not 0 <= at < len(known):
        return None
    beside = at + inwards
    if not 0 <= beside < len(known) or not known[beside]:
        return result[at], np.zeros(3)
    return result[at], result[at] - result[beside]
