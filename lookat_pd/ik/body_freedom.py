"""What the coordinates of a body's joints turn: rotation vectors divided by the compliance, and the free axes of joints
with locked angles."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .. import rotation
from ..rotation import Array
from .batches import batch_back
from .joint_limits import JointLimits, freedom
from .posture import Posture


@dataclass(frozen=True)
class TurningAxes:
    """Axes about which n joints turn, in m poses."""

    turns: Array
    """(n, 3, 3) or (n, 3, 3, m), whose columns are the rotation vectors of the three coordinates of each joint in its
    own frame."""
    inverse: Array
    """As `turns`, 0 for what does not turn."""
    bases: dict[int, Array] | None = None
    """By the joints with locked angles, (3, 3, m), the directions of their coordinates."""

    def axes(self, matrices: Array) -> Array:
        """The rotation vectors (3, 3, m, n) of the coordinates, for orientations of the joints as (3, 3, m, n)."""
        return np.einsum("idmn,ndc->icmn" if self.turns.ndim == 3 else "idmn,ndcm->icmn", matrices, self.turns)

    def vectors(self, coordinates: Array) -> Array:
        """The rotation vectors (3, n, m) of coordinates (3, n, m)."""
        return _applied(self.turns, coordinates)

    def coordinates(self, vectors: Array) -> Array:
        """The inverse of `vectors`."""
        return _applied(self.inverse, vectors)

    def directions(self, axes: Array, joints: Array) -> Array:
        """Axes (h, 3) in the frames of joints (h,), in the directions of their coordinates: (m or 1, h, 3)."""
        if not self.bases:
            return axes[None]
        directions = np.tile(axes, (self.turns.shape[-1], 1, 1))
        for h, joint in enumerate(joints.tolist()):
            if joint in self.bases:
                directions[:, h] = np.einsum("acm,a->mc", self.bases[joint], axes[h])
        return directions


@dataclass(frozen=True)
class Freedom:
    """Which coordinates of joints may change, and how easily."""

    turning: TurningAxes
    """Axes of joints without locked angles."""
    compliance: Array
    """(n, 3, 3) compliance of each joint."""
    weights: Array
    """(n, 3), 1 minus the stiffness of each axis, 0 if locked."""
    locked: Sequence[tuple[Array, Array, JointLimits]]
    """Joints with some locked angles, by their locks: indices (l,), rests (l, 4), and limits without rest."""

    @classmethod
    def of(cls, limits: Sequence[JointLimits | None], posture: Posture | None) -> "Freedom | None":
        """None if all coordinates are components of rotation vectors."""
        if posture is None and all(joint is None for joint in limits):
            return None
        n = len(limits)
        compliance = np.broadcast_to(np.eye(3), (n, 3, 3)) if posture is None else posture.compliance
        values, vectors = np.linalg.eigh(compliance)
        root = (vectors * np.sqrt(values)[:, None]) @ np.swapaxes(vectors, -1, -2)
        weights = freedom(limits)
        scale = weights[:, :, None] * root
        locked: dict[tuple[bool, ...], list[int]] = {}
        rests = np.tile(rotation.IDENTITY, (n, 1))
        for k, joint in enumerate(limits):
            if joint is not None and any(joint.locks) and not all(joint.locks):
                locked.setdefault(joint.locks, []).append(k)
                rests[k] = rotation.IDENTITY if joint.rest is None else joint.rest
        groups = []
        for joints in locked.values():
            first = limits[joints[0]]
            assert first is not None
            groups.append((np.array(joints), rests[joints], replace(first, rest=None)))
        return cls(TurningAxes(scale, np.linalg.pinv(scale)), compliance, weights, groups)

    def hinged(self, posture: Posture, joint: int, axes: Array) -> tuple[Array, Array]:
        """What the coordinates (3, 3, m) of a hinge turn that bends about axes (3, m), and the inverse."""
        along = (axes[:, None] * axes[None]).transpose(2, 0, 1)
        root = self.weights[joint, :, None] * posture.hinged(joint, along)
        return batch_back(root), batch_back(np.linalg.pinv(root))

    def at(self, pose: Array, hinge: tuple[int, Array, Array] | None = None) -> TurningAxes:
        """In poses (4, n, m). hinge: a joint that bends about another axis than that of the posture, as of
        `hinged`."""
        if not self.locked and hinge is None:
            return self.turning
        m = pose.shape[-1]
        turns, inverse = (
            np.broadcast_to(part[..., None], (*part.shape, m)).copy()
            for part in (self.turning.turns, self.turning.inverse)
        )
        if hinge is not None:
            joint = hinge[0]
            turns[joint], inverse[joint] = hinge[1:]
        bases: dict[int, Array] = {}
        for joints, rests, limits in self.locked:
            here = rotation.multiply(rotation.inverse(rests)[:, None], pose[:, joints].T.swapaxes(0, 1))
            basis = limits.free_basis(here.reshape(-1, 4)).reshape(len(joints), m, 3, 3).transpose(0, 2, 3, 1)
            # As large as the compliance allows along each of these directions.
            size = np.sqrt(np.einsum("lacm,lab,lbcm->lcm", basis, self.compliance[joints], basis))
            size = size * self.weights[joints][..., None]
            turns[joints] = basis * size[:, None]
            part = np.divide(1.0, size, out=np.zeros(size.shape), where=size > 0.0)
            inverse[joints] = (basis * part[:, None]).swapaxes(1, 2)
            bases.update(zip(joints.tolist(), basis, strict=True))
        return TurningAxes(turns, inverse, bases)


def _applied(matrices: Array, vectors: Array) -> Array:
    return np.einsum("ncd,dnm->cnm" if matrices.ndim == 3 else "ncdm,dnm->cnm", matrices, vectors)
