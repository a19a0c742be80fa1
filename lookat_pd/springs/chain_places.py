"""Where chains of bones among colliders are: what moves them, the geometry at one sample, and what is near."""

from dataclasses import dataclass

import numpy as np

from ..rotation import Array
from .colliders import Borders, Colliders
from .swing import Drive


@dataclass(frozen=True)
class Surroundings:
    """What c chains of s bones collide with: e colliders over S samples, in the bones' frames."""

    begins: Array
    """(S, c s or 1, e, 3)"""
    ends: Array
    solids: Colliders
    borders: Borders
    """Of the c s bones."""


@dataclass(frozen=True)
class DrivenChains:
    """What moves c chains of s bones at S fine samples."""

    driven: Array
    """(S - 1, c, 2 s, 2) what a step adds to swings and rates."""
    spans: Array
    """(T, c, 2 s, 2) what all steps from one look at the geometry to the next add, if nothing touches."""
    drive: Drive
    roots: Array
    """(S, c, 3) joints of the chains [m]."""
    own: Array
    """(S, c, s, 3) animated directions."""
    across: Array
    """(S, c, s, 2, 3) directions of the two parts of a swing."""
    begins: Array
    """(S, c s or 1, e, 3) the colliders."""
    ends: Array
    move: bool
    """Whether colliders move."""
    offsets: Array | None = None
    """(S, c, s, 3) from the end of what a bone hangs on to its joint, if they are apart, in the frame of directions
    across and along the former."""

    def at_first(self, samples: int, drive: Drive, driven: Array, spans: Array) -> "DrivenChains":
        """The first sample as long as that."""

        def still(values: Array, count: int = samples) -> Array:
            return np.broadcast_to(values[:1], (count, *values.shape[1:]))

        offsets = None if self.offsets is None else still(self.offsets)
        return DrivenChains(
            still(driven, samples - 1),
            still(spans, samples - 1),
            drive,
            still(self.roots),
            still(self.own),
            still(self.across),
            still(self.begins),
            still(self.ends),
            False,
            offsets,
        )


@dataclass
class ChainPlace:
    """Where the c chains of s bones are."""

    directions: Array
    """(c, s, 3)"""
    unit: Array
    """(c, s, 2) directions of the swings."""
    cosine: Array
    """(c, s, 1)"""
    sine: Array
    slope: Array
    """(c, s, 1) sine by angle."""
    outward: Array
    """(c, s, 3) where each swings to from its animated direction."""
    tips: Array = None  # type: ignore[assignment]
    joints: Array = None  # type: ignore[assignment]

    def later(self, own: Array, across: Array) -> Array:
        """(c, s, 3) the directions with the same swings when the animation has turned."""
        return own * self.cosine + (self.unit[..., None, :] @ across)[..., 0, :] * self.sine

    def turned(self, own: Array, across: Array) -> Array:
        """(c, s, 2, 3) how the directions change with the swings."""
        more = (self.cosine - self.slope) * self.outward - self.sine * own
        return self.slope[..., None] * across + self.unit[..., None] * more[..., None, :]

    def carried(self, own: Array, across: Array) -> Array:
        """(c, s, 2, 3) directions across, turned with the bones."""
        more = (self.cosine - 1.0) * self.outward - self.sine * own
        return across + self.unit[..., None] * more[..., None, :]


@dataclass
class NearPairs:
    """p pairs of bones and colliders."""

    chain: Array
    """(p,) numbers of the chains, of the bones in them, and of the colliders."""
    bone: Array
    solid: Array
    of_bone: Array
    """(p,) which of the bones' colliders it is; 0 if these are the same for all."""
    reach: Array
    radii: Array
    """(p,) sum of the radii, the length of the bone where they have none [m]."""
    lengths: Array
    at_tip: Array
    is_plane: Array
    friction: Array
    to_tips: Array
    """(p, s)"""
    own: Array
    """(p, s) their own parts of these, others 0."""
    may_root: bool
    """Whether one is a first bone near a round collider, in which its joint may be."""

    def __len__(self) -> int:
        return len(self.chain)

    def bones_of(self, values: Array) -> Array:
        """(p, 3) values of bones (c, s, 3)."""
        return values[0].take(self.bone, axis=0) if len(values) == 1 else values[self.chain, self.bone]

    def solids_of(self, values: Array) -> Array:
        """(p, 3) values of colliders (c s or 1, e, 3)."""
        return values[0].take(self.solid, axis=0) if len(values) == 1 else values[self.of_bone, self.solid]


@dataclass
class SeenPairs:
    """The geometry of p pairs of bones and colliders."""

    pairs: NearPairs
    place: ChainPlace
    along: Array
    across: Array
    normals: Array
    gaps: Array
    begins: Array
    """(p, 3) the lines of the colliders."""
    ends: Array
    apart: float = 0.0
    """How many times as far as they may move until the geometry is seen anew all are from touching; 0 if not known."""

    def nearest(self, chains: int) -> Array:
        """(c,) the least gap of each chain, in radii."""
        least = np.full(chains, np.inf)
        np.minimum.at(least, self.pairs.chain, self.gaps / self.pairs.radii)
        return least

    def inside(self, chains: int, part: float) -> Array:
        """(c,) how deep all pairs of each chain are that are deeper than a part of their radii, in these."""
        deep = np.maximum(-self.gaps / self.pairs.radii - part, 0.0)
        return np.bincount(self.pairs.chain, weights=deep, minlength=chains)
