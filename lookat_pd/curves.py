"""Curves in time: samples between the frames, and the quintics with which transitions begin and end smoothly.

The solver works at 120 samples per second at any frame rate. A smooth curve runs through the frames of the animation. A
value that jumps from one frame to the next is held until the next frame, as with constant interpolation.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from . import rotation
from .rotation import Array

FINEST_STEP = 1.0 / 120.0
"""Longest time [s] between samples, so that the result does not depend on the frame rate."""
CATMULL_ROM = np.array([[0.0, 1.0, 0.0, 0.0], [-0.5, 0.0, 0.5, 0.0], [1.0, -2.5, 2.0, -0.5], [-0.5, 1.5, -1.5, 0.5]])
"""From four samples in a row to the cubic between the middle two, time in samples."""
_DOUBT = np.radians(0.2)
_JUMP_ANGLE, _JUMP_RATIO = np.radians(5.0), 5.0
_SURELY_SMALL = np.cos(0.49 * _JUMP_ANGLE)
"""Quaternions with a larger inner product are nearer to each other than a jump."""


def sudden(changes: Array) -> Array:
    """Which changes [rad] from sample to sample, (n, ...), are jumps: large, and much larger than their neighbours."""
    none = np.zeros_like(changes[:1])
    beside = np.maximum(np.concatenate((none, changes[:-1])), np.concatenate((changes[1:], none)))
    return (changes > _JUMP_ANGLE) & (changes > _JUMP_RATIO * beside)


def cubic_step(t: Array) -> Array:
    """3 t^2 - 2 t^3, constant outside of [0, 1]: level at both ends, where `smooth_step` has no acceleration either."""
    t = np.clip(t, 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def smooth_step(t: Array) -> tuple[Array, Array, Array]:
    """10 t^3 - 15 t^4 + 6 t^5 and its two derivatives, constant outside of [0, 1]."""
    t = np.clip(t, 0.0, 1.0)
    return (
        t * t * t * (10.0 + t * (6.0 * t - 15.0)),
        30.0 * t * t * (1.0 - t) ** 2,
        60.0 * t * (1.0 - t) * (1.0 - 2.0 * t),
    )


def early_slope(t: Array) -> Array:
    """The quintic on [0, 1] that with two derivatives is 0 at both ends, except for a slope of 1 at 0."""
    return t + t**3 * (-6.0 + t * (8.0 - 3.0 * t))


def late_slope(t: Array) -> tuple[Array, Array, Array]:
    """The quintic on [0, 1] that with two derivatives is 0 at both ends, except for a slope of 1 at 1, and its two
    derivatives."""
    return (
        t * t * t * (t * (7.0 - 3.0 * t) - 4.0),
        t * t * (t * (28.0 - 15.0 * t) - 12.0),
        t * (t * (84.0 - 60.0 * t) - 24.0),
    )


def quintic_time(distance: ArrayLike, speed: ArrayLike, acceleration: float) -> Array:
    """The time T [s] in which a difference with this speed can decay with about this acceleration at most.

    a T² = 10/√3 x + 2 v T, the first the peak acceleration of a minimum-jerk motion over x, the second the deceleration
    of v.
    """
    x, v = np.asarray(distance, dtype=float), np.asarray(speed, dtype=float)
    return (v + np.sqrt(v * v + acceleration * 10.0 / np.sqrt(3.0) * x)) / acceleration


@dataclass(frozen=True)
class Between:
    """Samples at m times between the frames, where a curve through the frames would be wrong."""

    indices: Array
    """(m,) indices of the samples that `refined` makes."""
    rotations: Array
    """(m, b, 4) as in `GazeSamples`."""
    positions: Array
    """(m, b, 3) as in `GazeSamples`."""
    targets: Array
    """(n, m, 3) as in `GazeSamples`."""
    worlds: Array | None = None
    """(m, 4, 4) from their space to the world, None where it does not matter."""

    def within(self, begin: int, end: int) -> "Between":
        """Those of the samples from `begin` to before `end` alone, which begin there."""
        some = slice(*np.searchsorted(self.indices, (begin, end)).tolist())
        return Between(
            self.indices[some] - begin,
            self.rotations[some],
            self.positions[some],
            self.targets[:, some],
            None if self.worlds is None else self.worlds[some],
        )


def doubtful(rotations: Array, positions: Array, targets: Array) -> Array:
    """The intervals between frames (F - 1,) in which the motion may differ from the smooth curve through the frames.

    Arguments as for `refined`. These are the intervals with a large fourth difference: it is near zero in smooth motion
    and large at corners, such as the linear interpolation between the keys of motion capture.
    """
    frames = len(rotations)
    if frames < 5:
        return np.zeros(max(frames - 1, 0), dtype=bool)
    directions = rotation.normalize(targets - positions[:, 0])
    corner = np.zeros(frames)
    for path, radians in ((rotation.align_hemisphere(rotations), 2.0), (np.swapaxes(directions, 0, 1), 1.0)):
        fourth = np.linalg.norm(np.diff(path, n=4, axis=0), axis=-1)
        if fourth.shape[-1]:
            corner[2:-2] = np.maximum(corner[2:-2], radians / 16.0 * fourth.max(axis=-1))
    beside = corner > _DOUBT
    return beside[1:] | beside[:-1]


def refined(
    rotations: Array, positions: Array, targets: Array, shift: Array, count: int
) -> tuple[Array, Array, Array, Array]:
    """Samples (rotations (F, b, 4), positions (F, b, 3), targets (n, F, 3), shift (F, 3)) with `count` samples a frame.

    Returns the same four with (F - 1) count + 1 samples.
    """
    distance = np.linalg.norm(targets - positions[:, 0], axis=-1)
    distance = np.maximum(np.minimum(distance[:, 1:], distance[:, :-1]), 1e-12)
    moves = np.linalg.norm(np.diff(positions[:, 0], axis=0), axis=-1) / distance.min(axis=0, initial=np.inf)
    body = sudden(moves)
    if np.any(np.abs(rotation.dot(rotations[:-1], rotations[1:])) < _SURELY_SMALL):
        body |= np.any(sudden(rotation.distance(rotations[:-1], rotations[1:])), axis=-1)
    target_moves = np.linalg.norm(np.diff(targets, axis=1), axis=-1) / distance
    target_jumps = [sudden(change) for change in target_moves]
    if np.any(target_jumps):
        finer_targets = [curve(path, jumps, count) for path, jumps in zip(targets, target_jumps, strict=True)]
    else:
        finer_targets = _curves(list(targets), np.zeros_like(body), count)
    finer_rotations, finer_positions, finer_shift = _curves(
        (rotation.align_hemisphere(rotations), positions, shift), body, count
    )
    return (
        rotation.normalize(finer_rotations),
        finer_positions,
        np.stack(finer_targets) if len(targets) else np.empty((0, (len(rotations) - 1) * count + 1, 3)),
        finer_shift,
    )


def curve(values: Array, jumps: Array, count: int) -> Array:
    """Values (F, ...) with `count` samples a frame on a Catmull-Rom curve; in the intervals (F - 1,) with a jump they
    are held.

    Each column of the result is in one piece of memory.
    """
    return _curves((values,), jumps, count)[0]


def _curves(values: Sequence[Array], jumps: Array, count: int) -> list[Array]:
    """As `curve`, of several arrays over the same frames with the same jumps."""
    frames = len(jumps) + 1
    if frames < 2:
        return list(values)
    columns = np.concatenate([some.T.reshape(-1, frames) for some in values])
    weights, rows = _with_jumps(columns, jumps, count) if jumps.any() else _smooth(columns, count)
    result = np.empty((len(columns), (frames - 1) * count + 1))
    # Column by column, since BLAS divides large products among threads, which costs more than it saves here.
    result[:, :-1].reshape(-1, frames - 1, count)[:] = (weights @ rows).swapaxes(1, 2)
    result[:, -1] = columns[:, -1]
    ends = np.cumsum([some[0].size for some in values])[:-1]
    parts = zip(values, np.split(result, ends), strict=True)
    return [part.reshape(*some.shape[:0:-1], -1).T for some, part in parts]


def _smooth(columns: Array, count: int) -> tuple[Array, Array]:
    """Weights (count, 4) of four samples in a row, and those samples (n, 4, F - 1), for curves without a jump."""
    frames = columns.shape[1]
    rows = np.empty((len(columns), 4, frames - 1))
    rows[:, 0, 1:], rows[:, 1], rows[:, 2], rows[:, 3, :-1] = (
        columns[:, :-2],
        columns[:, :-1],
        columns[:, 1:],
        columns[:, 2:],
    )
    rows[:, 0, 0], rows[:, 3, -1] = beyond(columns.T), beyond(columns.T[::-1])
    return _powers(count) @ CATMULL_ROM, rows


def beyond(values: Array) -> Array:
    """The sample (...) before the first one of values (F, ...), F > 1, that gives a Catmull-Rom curve its slope there.

    It is the slope of the parabola through the first three samples.
    """
    if len(values) == 2:
        return 2.0 * values[0] - values[1]
    return 3.0 * (values[0] - values[1]) + values[2]


def _powers(count: int) -> Array:
    """Powers 0 to 3 of the times of `count` samples in an interval, (count, 4)."""
    return np.vander(np.arange(count) / count, 4, increasing=True)


def _with_jumps(columns: Array, jumps: Array, count: int) -> tuple[Array, Array]:
    """Powers of time (count, 4), and coefficients of cubics (n, 4, F - 1), which are held in intervals with a jump."""
    frames = columns.shape[1]
    rise = np.where(jumps, 0.0, np.diff(columns))
    before, after = np.concatenate((rise[:, :1], rise), axis=1), np.concatenate((rise, rise[:, -1:]), axis=1)
    # Next to a jump, the slope is that of the other side.
    before[:, 1:] = np.where(jumps, after[:, 1:], before[:, 1:])
    after[:, :-1] = np.where(jumps, before[:, :-1], after[:, :-1])
    slopes = 0.5 * (before + after)
    if frames > 2:
        slopes[:, 0], slopes[:, -1] = 1.5 * rise[:, 0] - 0.5 * rise[:, 1], 1.5 * rise[:, -1] - 0.5 * rise[:, -2]
    enter, leave = np.where(jumps, 0.0, slopes[:, :-1]), np.where(jumps, 0.0, slopes[:, 1:])
    rows = np.stack((columns[:, :-1], enter, 3.0 * rise - 2.0 * enter - leave, enter + leave - 2.0 * rise), axis=1)
    return _powers(count), rows


def runs(mask: Array | Sequence[bool]) -> list[tuple[int, int]]:
    """First and last index of each run of true values (F,)."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(int)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2] - 1, strict=True)]
