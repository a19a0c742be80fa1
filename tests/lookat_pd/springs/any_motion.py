"""Chains and motions of any kind, on which springs are tried."""

import numpy as np

from lookat_pd import rotation
from lookat_pd.rotation import Array

LINKS = 3
"""Bones of a chain."""


def chains(random: np.random.Generator, count: int, frames: int) -> tuple[Array, ...]:
    """`count` bones that spin, jump and may have no length: positions, rotations, tips and parents."""
    parents = np.where(np.arange(count) % LINKS, np.arange(count) - 1, -1)
    places = np.cumsum(random.normal(size=(frames, count, 3)) * 10.0 ** random.uniform(-4, 1, count)[:, None], axis=0)
    turned = rotation.normalize(random.normal(size=(frames, count, 4)))
    tips = random.normal(size=(count, 3)) * 10.0 ** random.uniform(-3, 0, count)[:, None]
    tips[random.random(count) < 0.1] = 0.0
    return places, turned, tips, parents
