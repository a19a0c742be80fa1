"""Idle drift: small random movement of a gaze at rest, repeatable by a seed.

The drift depends only on time, so it is the same at any frame rate and over any range of frames.
"""

import numpy as np

from ..rotation import Array
from .glances import beside

_FREQUENCIES = np.array([0.07, 0.13, 0.23, 0.41, 0.71])
"""Frequencies of the waves of the drift [Hz], chosen without a noticeable common period."""


def drift(times: Array, amplitude: float, seed: int, repeat: float = 0.0) -> Array:
    """Yaw and pitch (n, 2) [rad] at `times` (n,) [s], with `amplitude` [rad] as their root mean square.

    repeat: time [s] after which they are the same again, 0 for never.
    """
    random = np.random.default_rng(seed)
    frequencies = _FREQUENCIES * random.uniform(0.85, 1.15, (2, len(_FREQUENCIES)))
    if repeat:
        frequencies = np.round(frequencies * repeat) / repeat
    phases = random.uniform(0.0, 2.0 * np.pi, (2, len(_FREQUENCIES)))
    # Slow waves have a larger amplitude.
    sizes = _FREQUENCIES**-0.5
    sizes *= np.sqrt(2.0 / np.sum(sizes**2))
    waves = np.sin(2.0 * np.pi * frequencies * times[:, None, None] + phases)
    return amplitude * (sizes * waves).sum(axis=-1) * (1.0, 0.6)


def wander(
    targets: Array, eyes: Array, up: Array, times: Array, amplitude: float, seed: int, repeat: float = 0.0
) -> Array:
    """Targets (m, n, 3) that drift as seen from `eyes` (n, 3), with the vertical axis `up` (3,).

    Source of the idea: fixational drift of the human eye, here large enough to be visible.
    """
    yaw, pitch = drift(times, amplitude, seed, repeat).T
    return beside(targets, eyes, up, yaw, pitch)
