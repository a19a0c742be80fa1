"""Chains of any settings that move in any way, then stand still, among solids that do."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lookat_pd import rotation, springs
from lookat_pd.rotation import Array
from lookat_pd.springs import Colliders, SpringMotion

MOVES, STANDS, SETTLED = 0.5, 1.0, 0.75
"""Seconds in which a scene moves, in which it stands, and of these those in which it comes to rest."""
_RATES = (24, 24, 30, 60, 120, 1)


@dataclass(frozen=True)
class Scene:
    """What `springs.solve` takes, and what is known of it."""

    motion: tuple[Array, ...]
    """Places, rotations, tips and parents."""
    dt: float
    settings: dict[str, Any]
    radius: float
    """Of the bones, or of the smallest solid where they have none [m]."""
    settled: int
    """The frame from which on all that is damped is at rest."""

    @property
    def is_damped(self) -> bool:
        return self.settings["damping_ratio"] > 0.2 and self.settings["settle_time"] < 0.4 and self.dt < 1.0

    @property
    def is_free(self) -> bool:
        """Whether the joint of the chain is out of all solids in the end, so that the bones can be."""
        solids = self.settings["colliders"]
        if solids is None:
            return True
        begins, lines = solids.begins[-1], solids.ends[-1] - solids.begins[-1]
        apart = self.motion[0][-1, 0] - begins
        squares = np.maximum((lines**2).sum(axis=-1), 1e-12)
        along = (apart * lines).sum(axis=-1) / squares
        round_about = np.linalg.norm(apart - np.clip(along, 0.0, 1.0)[:, None] * lines, axis=-1)
        distance = np.where(solids.is_plane, along * np.sqrt(squares), round_about - solids.radii)
        return bool((distance > self.settings["radius"]).all())

    def solved(self) -> SpringMotion:
        return springs.solve(*self.motion, self.dt, **self.settings)


def scene(number: int) -> Scene:
    """The same for the same number."""
    random = np.random.default_rng([39, number])
    links, rate = int(random.integers(1, 6)), int(random.choice(_RATES))
    # Six frames at one a second.
    moves, stands = (MOVES, STANDS) if rate > 1 else (3.0, 3.0)
    frames, begin = int((moves + stands) * rate) + 1, int(moves * rate)
    base, turn = _motion(random, frames, begin)
    lengths = random.uniform(0.05, 0.15, links)
    lengths[1:][random.random(links - 1) < 0.1] = 0.0
    tips = lengths[:, None] * [[0.0, 1.0, 0.0]]
    along = np.cumsum(tips, axis=0) - tips
    turned = rotation.exp(turn)[:, None]
    places = rotation.rotate(turned, along[None]) + base[:, None]
    pull = random.normal(size=3)
    down = pull / np.linalg.norm(pull)
    middle = base[-1] + rotation.rotate(turned[-1, 0], np.array([0.0, random.uniform(0.05, lengths.sum()), 0.0]))
    radius = float(random.choice([0.0, 0.01, 0.02, 0.04]))
    solids = _solids(random, middle, down, np.linspace(1.0, 0.0, begin + 1), frames)
    settings = {
        "settle_time": 10.0 ** random.uniform(-1.2, 0.4),
        "damping_ratio": random.choice([0.0, 0.1, 0.3, 0.5, 1.0, 3.0]),
        "gravity": down * random.choice([0.0, random.uniform(1.0, 15.0)], p=[0.1, 0.9]),
        "drag": random.choice([0.0, 0.5, 5.0]),
        "stretch": random.choice([0.0, 0.5]),
        "limit": random.choice([np.pi, np.radians(random.uniform(2.0, 60.0))]),
        "colliders": solids,
        "radius": radius,
    }
    if random.random() < 0.3:
        settings |= {"inertia": random.random(), "center": (base, turned[:, 0])}
    motion = places, np.repeat(turned, links, axis=1), tips, np.arange(links) - 1
    round_ones = [] if solids is None else solids.radii[~solids.is_plane]
    settled = begin + (int(SETTLED * rate) if rate > 1 else 2)
    return Scene(motion, 1.0 / rate, settings, radius or min(round_ones, default=0.02), settled)


def _motion(random: np.random.Generator, frames: int, begin: int) -> tuple[Array, Array]:
    """Where a base is (F, 3) and how it is turned (F, 3), which both stay the same from a frame on."""
    part = np.minimum(np.arange(frames) / begin, 1.0)[:, None]
    kind, axis = random.integers(5), random.normal(size=3)
    if kind == 0:
        return np.zeros((frames, 3)), np.zeros((frames, 3))
    if kind == 1:
        return 0.1 * axis * np.sin(2.0 * np.pi * part), 0.5 * axis * np.sin(4.0 * np.pi * part)
    if kind == 2:
        return 0.0 * axis * part, axis * random.uniform(3.0, 40.0) * part**2 * (3.0 - 2.0 * part)
    if kind == 3:
        jumped = part > 0.5
        return jumped * axis * 10.0 ** random.uniform(-1.0, 2.0), jumped * random.normal(size=3)
    steps = random.normal(size=(2, frames, 3)) * (part < 1.0)
    return 0.02 * np.cumsum(steps[0], axis=0), 0.1 * np.cumsum(steps[1], axis=0)


def _solids(random: np.random.Generator, middle: Array, down: Array, apart: Array, frames: int) -> Colliders | None:
    """Up to three solids below a point, some of which come from elsewhere. apart: (k,) how far they are, from 1 to 0,
    at the first frames."""
    kinds = random.choice(["sphere", "capsule", "plane"], int(random.integers(0, 4)))
    if not len(kinds):
        return None
    lines = {"sphere": 0.0 * down, "capsule": 0.1 * random.normal(size=3), "plane": -down}
    places = middle + down * random.uniform(0.08, 0.16, (len(kinds), 1)) + 0.01 * random.normal(size=(len(kinds), 3))
    begins = np.tile(places, (frames, 1, 1))
    if random.random() < 0.3:
        begins[: len(apart)] += 0.3 * random.normal(size=3) * apart[:, None, None]
    ends = begins + np.array([lines[kind] for kind in kinds])
    sizes, friction = random.uniform(0.03, 0.1, len(kinds)), random.choice([0.0, 0.3, 1.0])
    return Colliders.made(begins, ends, sizes, friction, kinds == "plane")
