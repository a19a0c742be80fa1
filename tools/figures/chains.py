"""Chains that figures are measured on: rods with masses, and targets all over the ball that a chain reaches."""

from collections.abc import Sequence

import numpy as np

from lookat_pd import rotation
from lookat_pd.dynamics import Body
from lookat_pd.rotation import Array


def rods(masses: Sequence[float] | Array, length: float, inertias: Array) -> Body:
    """A chain of rods along Y. inertias: (3,) or (n, 3) about the axes of each rod [kg m²]."""
    n = len(masses)
    offsets = np.tile([0.0, length, 0.0], (n, 1))
    offsets[0] = 0.0
    moments = np.broadcast_to(inertias, (n, 3))[:, None] * np.eye(3)
    return Body(np.arange(n) - 1, offsets, masses, np.tile([0.0, 0.5 * length, 0.0], (n, 1)), moments)


def scattered_targets(bones: int, count: int) -> tuple[Array, Array, Array]:
    """Offsets (n, 3) and start (n, 4) of a nearly straight chain of bones of length 1, and targets (count, 3) all over
    the ball that it reaches."""
    random = np.random.default_rng(1)
    towards = rotation.normalize(random.normal(size=(count, 3)))
    targets = towards * bones * random.uniform(size=(count, 1)) ** (1.0 / 3.0)
    return np.tile([0.0, 1.0, 0.0], (bones, 1)), rotation.exp(random.normal(scale=0.01, size=(bones, 3))), targets
