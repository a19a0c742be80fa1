"""Hinges: joints that rotate about one axis, as the X axis of a bone frame that is rotated for the simulation."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..ik import Limits
from ..rotation import Array
from .body import Body

_X = np.array([1.0, 0.0, 0.0])


@dataclass(frozen=True)
class Hinges:
    """Frames of n joints in which the axis of a hinge is X."""

    is_hinge: NDArray[np.bool_]
    """(n,)."""
    own: Array
    """(n, 4), the new frame of each joint in the frame of the bone."""
    parents: Array
    """(n, 4), the new frame of the parent of each joint in the frame of the parent's bone."""

    @classmethod
    def of(cls, body: Body, axes: Array) -> "Hinges":
        """axes: (n, 3), unit vectors in the frame of each bone; 0 for ball joints."""
        is_hinge = np.any(axes != 0.0, axis=1)
        own = np.tile(rotation.IDENTITY, (len(body), 1))
        for joint in np.flatnonzero(is_hinge):
            own[joint] = rotation.shortest_arc(_X, axes[joint])
        parents = np.asarray(body.parents)
        above = np.where(parents[:, None] < 0, rotation.IDENTITY, own[parents])
        return cls(is_hinge, own, above)

    @property
    def free(self) -> NDArray[np.bool_]:
        """The degrees of freedom (n, 3) in the new frames."""
        return np.stack((np.ones(len(self.own), dtype=bool), ~self.is_hinge, ~self.is_hinge), axis=1)

    def body(self, body: Body) -> Body:
        """The same body, described in the new frames."""
        if not np.any(self.is_hinge):
            return body
        matrix = rotation.to_matrix(self.own)
        return replace(
            body,
            offsets=self._back(np.asarray(body.offsets), self.parents),
            centers=self.vectors(np.asarray(body.centers)),
            inertias=np.swapaxes(matrix, 1, 2) @ np.asarray(body.inertias) @ matrix,
        )

    def poses(self, rotations: Array) -> Array:
        """Local rotations (..., n, 4) in the new frames."""
        if not np.any(self.is_hinge):
            return rotations
        return rotation.multiply(rotation.multiply(rotation.inverse(self.parents), rotations), self.own)

    def of_bones(self, rotations: Array) -> Array:
        """The inverse of `poses`."""
        if not np.any(self.is_hinge):
            return rotations
        return rotation.multiply(rotation.multiply(self.parents, rotations), rotation.inverse(self.own))

    def vectors(self, values: Array) -> Array:
        """Vectors (..., n, 3) of the bones' frames in the new frames."""
        return self._back(values, self.own) if np.any(self.is_hinge) else values

    def vectors_of_bones(self, values: Array) -> Array:
        """The inverse of `vectors`."""
        if not np.any(self.is_hinge):
            return values
        return rotation.rotate(np.broadcast_to(self.own, (*values.shape[:-1], 4)), values)

    def torque_limit(self, limit: Array | None) -> Array | None:
        """Limits (n, 1) or (n, 3) of torques; that of a hinge is the one about its axis."""
        if limit is None or limit.shape[1] == 1:
            return limit
        size = np.abs(self.vectors_of_bones(np.tile(_X, (len(self.own), 1))))
        about = np.min(np.where(size > 1e-6, limit / np.maximum(size, 1e-6), np.inf), axis=1, keepdims=True)
        return np.where(self.is_hinge[:, None], about, limit)

    def limits(self, limits: Limits | None) -> "HingedLimits | None":
        return None if limits is None else HingedLimits(limits, self)

    @staticmethod
    def _back(values: Array, frames: Array) -> Array:
        return rotation.rotate(np.broadcast_to(rotation.inverse(frames), (*values.shape[:-1], 4)), values)


@dataclass(frozen=True)
class HingedLimits:
    """Limits of joints for poses in the frames of hinges."""

    given: Any
    """The limits: `clamp`, and `joints` where stops are made of them."""
    hinges: Hinges

    @property
    def joints(self) -> list:
        return self.given.joints

    def clamp(self, rotations: Array) -> Array:
        """The nearest allowed rotations (..., n, 4)."""
        return self.hinges.poses(self.given.clamp(self.hinges.of_bones(rotations)))
