"""Joints that clips bend about one axis only and to one side, as knees and elbows.

A joint that swings on over a cut must not become more than straight: a knee would bend backwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..rotation import Array

_ASIDE = np.radians(2.0)
"""Root mean square [rad] of what a hinge turns about other axes, at most."""
_LEAST = np.radians(20.0)
"""A smaller range [rad] does not show that a joint is a hinge."""
_ACROSS = 0.5
"""Sine of the angle between the axis of a hinge and its bones, at least."""
_SLACK = np.radians(6.0)
"""Angle [rad] by which a joint may be bent to the other side: captured legs are."""


@dataclass(frozen=True)
class BlendedHinges:
    """B joints, some of which are hinges."""

    reference: Array
    """(B, 4) the poses from which angles are measured."""
    axis: Array
    """(B, 3) their axes; of no use where a joint is no hinge."""
    low: Array
    high: Array
    """`low`, `high`: (B,) smallest and largest angle [rad], one of which is that of the straight joint; infinite where
    there is none."""

    @property
    def which(self) -> NDArray[np.intp]:
        """The joints that are hinges."""
        return np.flatnonzero(np.isfinite(self.low) | np.isfinite(self.high))

    def part(self, which: NDArray[np.intp]) -> "BlendedHinges":
        """Only these joints."""
        return BlendedHinges(self.reference[which], self.axis[which], self.low[which], self.high[which])

    def contain(self, poses: Array) -> NDArray[np.bool_]:
        """(B,) whether all poses (F, B, 4) of a joint are within its range."""
        angles = np.sum(_turned(poses, self.reference) * self.axis, axis=-1)
        return np.all((angles >= self.low - _SLACK) & (angles <= self.high + _SLACK), axis=0)


def find(clips: Sequence[Array], above: Array, along: Array) -> BlendedHinges:
    """The hinges among the joints of clips, each (F, B, 4) unit quaternions of the same joints.

    above, along: (B, 3) directions of the bone above each joint and of its own one at rest, zero where there is none.
    """
    poses = np.concatenate(list(clips))
    turned = _turned(poses, poses[0])
    _, axes = np.linalg.eigh(np.einsum("fbi,fbj->bij", turned, turned))
    axis = axes[..., -1]
    angles = np.sum(turned * axis, axis=-1)
    aside = np.sqrt(np.mean(np.sum((turned - angles[..., None] * axis) ** 2, axis=-1), axis=0))
    low, high = angles.min(axis=0), angles.max(axis=0)
    hinged = (aside < _ASIDE) & (high - low > _LEAST)
    straight = _angle(along, rotation.rotate(rotation.inverse(poses[0]), above), axis)
    return BlendedHinges(
        poses[0],
        axis,
        np.where(hinged & (low > straight - _SLACK), np.minimum(straight, low), -np.inf),
        np.where(hinged & (high < straight + _SLACK), np.maximum(straight, high), np.inf),
    )


def _angle(first: Array, second: Array, axis: Array) -> Array:
    """The angle (B,) about axes (B, 3) from directions (B, 3) to others; not a number where one of them is zero, or
    along the axis rather than across."""
    first, second = rotation.normalize(first), rotation.normalize(second)
    across = [way - rotation.dot(way, axis)[..., None] * axis for way in (first, second)]
    sine, cosine = rotation.dot(rotation.cross(*across), axis), rotation.dot(*across)
    clear = np.minimum(*(np.linalg.norm(way, axis=-1) for way in across)) > _ACROSS
    return np.where(clear, np.arctan2(sine, cosine), np.nan)


def _turned(poses: Array, reference: Array) -> Array:
    """Rotation vectors (F, B, 3) from the reference."""
    return rotation.log(rotation.multiply(rotation.inverse(reference), poses))
