"""How a turn is shared out along the chain from the head to the pelvis, and how far each part of a body turns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...lookat_pd.rotation import Array

HEAD, NECK, CHEST, SPINE, HIPS = "head", "neck", "chest", "spine", "hips"
PARTS = (HEAD, NECK, CHEST, SPINE, HIPS)


@dataclass(frozen=True)
class ChainDefault:
    """One bone of the chain."""

    bone: str
    share: float
    """Its fraction of the turn, above 0; over the chain they sum to 1."""
    settle_factor: float
    """Multiplies the look-at's settle time. Limits: radians, yaw to each side."""
    yaw_limit: float
    pitch_up_limit: float
    pitch_down_limit: float
    compensates_lag: bool
    """Whether it turns by what the lagging torso has not turned yet; true for the head and the necks, which are first
    in the chain."""


@dataclass(frozen=True)
class _Part:
    """A part of the body: its share before all shares are brought to 1, how late it settles, its limits in degrees."""

    share: float
    settle: tuple[float, float]
    yaw: float
    up: float
    down: float


_UPRIGHT = {
    # Together 77 degrees aside, of which the joints of the skull make two thirds, as people do.
    HEAD: _Part(0.40, (1.0, 1.0), 52, 45, 45),
    NECK: _Part(0.25, (1.1, 1.4), 25, 25, 25),
    CHEST: _Part(0.16, (1.55, 1.85), 20, 15, 15),
    SPINE: _Part(0.12, (1.85, 2.15), 25, 14, 18),
    HIPS: _Part(0.07, (2.3, 2.3), 20, 8, 10),
}
# Four feet on the ground, or none: the neck does what the torso cannot.
_HORIZONTAL = {
    HEAD: _Part(0.40, (1.0, 1.0), 60, 45, 45),
    NECK: _Part(0.37, (1.1, 1.4), 60, 45, 45),
    CHEST: _Part(0.12, (1.55, 1.85), 15, 10, 10),
    SPINE: _Part(0.08, (1.85, 2.15), 20, 8, 8),
    HIPS: _Part(0.03, (2.3, 2.3), 8, 4, 4),
}
_STANDS_IN_FOR = {HEAD: NECK, CHEST: SPINE, SPINE: CHEST}


def share_out(chain: Sequence[tuple[str, str]], *, horizontal: bool = False) -> list[ChainDefault]:
    """Links of a chain of (bone, part), head first: each part's share, settling and limits, spread over its bones.

    horizontal: whether the spine is horizontal.
    """
    parts = _HORIZONTAL if horizontal else _UPRIGHT
    order = [part for _, part in chain]
    shares = [parts[part].share / order.count(part) for part in order]
    if order[-1] == HIPS and len(order) > 1:
        shares[-1] = min(shares[-1], 0.8 * shares[-2])
    links = []
    for place, (bone, part) in enumerate(chain):
        count, nth = order.count(part), order[:place].count(part)
        first, last = parts[part].settle
        yaw, up, down = _reach(part, order, parts) / count
        links.append(
            ChainDefault(
                bone=bone,
                share=shares[place] / sum(shares),
                settle_factor=first + (last - first) * (nth + 0.5) / count,
                yaw_limit=float(yaw),
                pitch_up_limit=float(up),
                pitch_down_limit=float(down),
                compensates_lag=part in (HEAD, NECK),
            )
        )
    return links


def _reach(part: str, order: Sequence[str], parts: Mapping[str, _Part]) -> Array:
    """Limits (3,) of a whole part: yaw, up, down [rad]. Half of what a missing part could do falls to the next; a head
    without a neck turns as far aside as both."""
    limits = np.array((parts[part].yaw, parts[part].up, parts[part].down), dtype=float)
    missing = _STANDS_IN_FOR.get(part)
    if missing and missing not in order and len(order) > 1:
        limits += 0.5 * np.array((parts[missing].yaw, parts[missing].up, parts[missing].down))
    if part == HEAD and NECK not in order and parts is _UPRIGHT:
        limits[0] = parts[HEAD].yaw + parts[NECK].yaw
    return np.radians(limits)
