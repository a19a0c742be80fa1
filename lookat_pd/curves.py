"""Samples between the frames: the solver works at 120 samples per second at any frame rate.

A smooth curve runs through the frames of the animation. A value that jumps from one frame to the next is held until the
next frame, as with constant interpolation.
"""

from dataclasses import dataclass

import numpy as np

from . import rotation
from .rotation import Array

FINEST_STEP = 1.0 / 120.0
"""Longest time [s] between samples, so that the result does not depend on the frame rate."""
_DOUBT = np.radians(0.2)
_JUMP_ANGLE, _JUMP_RATIO = np.radians(5.0), 5.0


def sudden(changes: Array) -> Array:
    """Which changes [rad] from sample to sample, (n, ...), are jumps: large, and much larger than their neighbours."""
    none = np.zeros_like(changes[:1])
    beside = np.maximum(np.concatenate((none, changes[:-1])), np.concatenate((changes[1:], none)))
    return (changes > _JUMP_ANGLE) & (changes > _JUMP_RATIO * beside)


@dataclass(frozen=True)
class Between:
    """Samples of a shot at m times between its frames, where a curve through the frames would be wrong.

    places: (m,) indices of the samples that `shot` makes. rotations: (m, b, 4), positions: (m, b, 3), targets:
    (n, m, 3), as in the shot.
    """

    places: Array
    rotations: Array
    positions: Array
    targets: Array


def doubtful(rotations: Array, positions: Array, targets: Array) -> Array:
    """The intervals between frames (F - 1,) in which the motion may differ from the smooth curve through the frames.

    Arguments as for `shot`. These are the intervals with a large fourth difference: it is near zero in smooth motion
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
    """A shot (rotations (F, b, 4), positions (F, b, 3), targets (n, F, 3), shift (F, 3)) with `count` samples a frame.

    Returns the same four with (F - 1) count + 1 samples.
    """
    distance = np.linalg.norm(targets - positions[:, 0], axis=-1)
    distance = np.maximum(np.minimum(distance[:, 1:], distance[:, :-1]), 1e-12)
    turns = rotation.distance(rotations[:-1], rotations[1:])
    moves = np.linalg.norm(np.diff(positions[:, 0], axis=0), axis=-1) / distance.min(axis=0, initial=np.inf)
    body = np.any(sudden(turns), axis=-1) | sudden(moves)
    target_moves = np.linalg.norm(np.diff(targets, axis=1), axis=-1) / distance
    finer_targets = [curve(path, sudden(change), count) for path, change in zip(targets, target_moves, strict=True)]
    return (
        rotation.normalize(curve(rotation.align_hemisphere(rotations), body, count)),
        curve(positions, body, count),
        np.stack(finer_targets) if len(targets) else np.empty((0, (len(rotations) - 1) * count + 1, 3)),
        curve(shift, body, count),
    )


def curve(values: Array, jumps: Array, count: int) -> Array:
    """Values (F, ...) with `count` samples a frame on a Catmull-Rom curve; in the intervals (F - 1,) with a jump they
    are held.

    Each column of the result is in one piece of memory.
    """
    frames, shape = len(values), values.shape[1:]
    if frames < 2:
        return values
    columns = np.ascontiguousarray(values.T).reshape(-1, frames)
    rise = np.where(jumps, 0.0, np.diff(columns))
    before, after = np.concatenate((rise[:, :1], rise), axis=1), np.concatenate((rise, rise[:, -1:]), axis=1)
    if jumps.any():
        # Next to a jump, the slope is that of the other side.
        before[:, 1:] = np.where(jumps, after[:, 1:], before[:, 1:])
        after[:, :-1] = np.where(jumps, before[:, :-1], after[:, :-1])
    slopes = 0.5 * (before + after)
    if frames > 2:
        slopes[:, 0], slopes[:, -1] = 1.5 * rise[:, 0] - 0.5 * rise[:, 1], 1.5 * rise[:, -1] - 0.5 * rise[:, -2]
    enter, leave = np.where(jumps, 0.0, slopes[:, :-1]), np.where(jumps, 0.0, slopes[:, 1:])
    cubics = np.stack((columns[:, :-1], enter, 3.0 * rise - 2.0 * enter - leave, enter + leave - 2.0 * rise), axis=-1)
    powers = np.vander(np.arange(count) / count, 4, increasing=True)
    result = np.empty((len(columns), (frames - 1) * count + 1))
    np.matmul(cubics, powers.T, out=result[:, :-1].reshape(-1, frames - 1, count))
    result[:, -1] = columns[:, -1]
    return result.reshape(*shape[::-1], -1).T
