"""Idle drift: a gaze that is held wanders a little all the same, by chance that a seed decides.

The drift is a function of time alone, so that it is the same at any frame rate and over any range of frames.
"""

import numpy as np

from .. import rotation
from ..rotation import Array

_FREQUENCIES = np.array([0.07, 0.13, 0.23, 0.41, 0.71])
"""Of the waves that the drift is made of [Hz]; no two have a common beat that anybody would notice."""


def drift(times: Array, amplitude: float, seed: int) -> Array:
    """Yaw and pitch (n, 2) [rad] at `times` (n,) [s], with `amplitude` [rad] as their root mean square."""
    random = np.random.default_rng(seed)
    frequencies = _FREQUENCIES * random.uniform(0.85, 1.15, (2, len(_FREQUENCIES)))
    phases = random.uniform(0.0, 2.0 * np.pi, (2, len(_FREQUENCIES)))
    # Slow waves are wide ones, as in anything that drifts.
    sizes = _FREQUENCIES**-0.5
    sizes *= np.sqrt(2.0 / np.sum(sizes**2))
    waves = np.sin(2.0 * np.pi * frequencies * times[:, None, None] + phases)
    return amplitude * (sizes * waves).sum(axis=-1) * (1.0, 0.6)


def wander(targets: Array, eyes: Array, up: Array, times: Array, amplitude: float, seed: int) -> Array:
    """Targets (m, n, 3) that drift as seen from `eyes` (n, 3), with `up` (3,) for the upright.

    Source of the idea: fixational drift of the living eye, here wide enough to be seen.
    """
    yaw, pitch = drift(times, amplitude, seed).T
    direction = targets - eyes
    side = rotation.cross(np.broadcast_to(up, direction.shape), direction)
    above = rotation.normalize(rotation.cross(direction, side))
    # Both are as long as the target is far, but where it is straight above.
    return (
        targets
        + np.tan(yaw)[:, None] * side
        + np.tan(pitch)[:, None] * above * np.linalg.norm(direction, axis=-1, keepdims=True)
    )
