"""The articulated body: rigid bones on ball joints, and its equations of motion tau = M(q) dw + C(q, w) + g(q).

All computations are vectorized over batches of poses. The only loop is along the tree, for orientations; sums over the
ancestors or descendants of a bone are products with the matrix of ancestors. Source: Featherstone, Rigid Body Dynamics
Algorithms, 2008 (composite rigid bodies; recursive Newton-Euler).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation, skeleton
from ..errors import InvalidArgument
from ..message import Message
from ..rotation import Array
from . import body_checks


class RootMotion(NamedTuple):
    """Motion of the frame of the root joints, over leading axes; None stands for 0."""

    rotation: Array | None = None
    """(..., 4) orientation."""
    acceleration: Array | None = None
    """(..., 3) linear [m/s^2], in the world."""
    turn: Array | None = None
    """(..., 3) angular velocity [rad/s], in the world."""
    turn_acceleration: Array | None = None
    """(..., 3) angular acceleration [rad/s^2], in the world."""


STILL = RootMotion()
_MANY = 2000
"""Number of numbers from which on it is worth while to have each component in one piece of memory."""
LIGHTEST, LARGEST = 1e-9, 1e12
"""Least mass [kg], and the largest of all that a body is given, in its units."""


@dataclass(frozen=True)
class Body:
    """n rigid bones, each on a ball joint at its origin; the frame of the root joints is fixed.

    A pose is local quaternions (..., n, 4): each bone's frame in its parent's, independent of the rest pose.
    Velocities, accelerations and torques are (..., n, 3): relative to the parent's motion, in the frame of the bone
    itself, as for ball joints in MuJoCo. Raises InvalidArgument.
    """

    parents: ArrayLike
    """(n,), -1 for a root; parents are listed before their children."""
    offsets: ArrayLike
    """(n, 3) [m], each joint in its parent's frame."""
    masses: ArrayLike
    """(n,) [kg]."""
    centers: ArrayLike
    """(n, 3) [m], centers of mass."""
    inertias: ArrayLike
    """(n, 3, 3) [kg m^2] about the center of mass, along the axes of the bone's frame."""
    names: Sequence[str] | None = None
    """Names of the joints, for error messages."""

    def __post_init__(self) -> None:
        checks.numbers("parents", self.parents)
        parents = np.asarray(self.parents)
        n = len(parents) if parents.ndim == 1 else 0
        if not n or not np.issubdtype(parents.dtype, np.integer):
            raise InvalidArgument(
                "The parents must be whole numbers, one for each of at least one joint, -1 for a root."
            )
        called = [str(joint) for joint in range(n)] if self.names is None else [repr(name) for name in self.names]
        if len(called) != n:
            raise InvalidArgument(
                "A body of {count} joints needs {count} names, not {names}.", count=n, names=len(called)
            )
        checks.check_order(parents.tolist(), called)
        object.__setattr__(self, "parents", parents.copy())
        object.__setattr__(self, "names", tuple(called))
        for name, shape in (("offsets", (n, 3)), ("masses", (n,)), ("centers", (n, 3)), ("inertias", (n, 3, 3))):
            values = checks.numbers(name, getattr(self, name)).copy()
            if values.shape != shape:
                raise InvalidArgument(
                    "A body of {count} joints needs {name} of shape {shape}, not {values_shape}.",
                    count=n,
                    name=Message(name),
                    shape=shape,
                    values_shape=values.shape,
                )
            wrong = ~np.isfinite(values.reshape(n, -1)).all(axis=1)
            if np.any(wrong):
                raise InvalidArgument(
                    "The {name} of joint {joint} contain a value that is not a number; enter numbers.",
                    name=Message(name),
                    joint=called[int(np.argmax(wrong))],
                )
            wrong = np.abs(values.reshape(n, -1)).max(axis=1) > LARGEST
            if np.any(wrong):
                raise InvalidArgument(
                    "The {name} of joint {joint} must be at most {largest:g}.",
                    name=Message(name),
                    joint=called[int(np.argmax(wrong))],
                    largest=LARGEST,
                )
            object.__setattr__(self, name, values)
        self._check_masses(called)

    def _check_masses(self, called: Sequence[str]) -> None:
        masses, inertias = np.asarray(self.masses), np.asarray(self.inertias)
        if np.any(masses < LIGHTEST):
            joint = int(np.argmax(masses < LIGHTEST))
            raise InvalidArgument(
                "The mass of joint {joint} must be at least {lightest:g} kg, not {mass:g}.",
                joint=called[joint],
                lightest=LIGHTEST,
                mass=masses[joint],
            )
        size = np.abs(inertias).max(axis=(1, 2))
        skew = np.abs(inertias - np.swapaxes(inertias, 1, 2)).max(axis=(1, 2))
        wrong = (skew > 1e-6 * size) | (np.linalg.eigvalsh(inertias)[:, 0] <= 1e-12 * size)
        if np.any(wrong):
            joint = int(np.argmax(wrong))
            raise InvalidArgument(
                "The inertia of joint {joint} must be symmetric and positive about every axis; "
                "increase the thickness of the bone.",
                joint=called[joint],
            )
        object.__setattr__(self, "inertias", 0.5 * (inertias + np.swapaxes(inertias, 1, 2)))

    def __len__(self) -> int:
        return len(np.asarray(self.parents))

    @cached_property
    def called(self) -> Sequence[str]:
        """Names of the joints in messages."""
        return tuple(self.names or ())

    @cached_property
    def ancestors(self) -> Array:
        """(n, n): 1 where the joint of the column is that of the row or one of its ancestors, else 0."""
        result = np.eye(len(self))
        for joint, parent in enumerate(np.asarray(self.parents).tolist()):
            if parent >= 0:
                result[joint] += result[parent]
        return result

    @cached_property
    def principal(self) -> tuple[Array, Array]:
        """Principal moments of inertia (n, 3), and the rotations (n, 4) of their axes."""
        return principal(np.asarray(self.inertias))

    def chain(self, joint: int) -> list[int]:
        """The joint and its ancestors, root first."""
        return np.flatnonzero(self.ancestors[joint]).tolist()

    def forward(self, q: ArrayLike) -> tuple[Array, Array]:
        """Orientations (..., n, 4) and positions (..., n, 3) of the joints in a pose (..., n, 4)."""
        q = body_checks.quaternions("pose", q, len(self))
        return skeleton.forward(np.asarray(self.parents).tolist(), np.asarray(self.offsets), q)

    def mass_matrix(self, q: ArrayLike) -> Array:
        """The joint-space inertia matrix (..., 3 n, 3 n) [kg m^2] in a pose (..., n, 4)."""
        n, q = len(self), body_checks.quaternions("pose", q, len(self))
        batch = q.shape[:-2]
        orientations, places = self.forward(q.reshape(-1, n, 4))
        turned = matrices(orientations)
        centers = places + (turned @ np.asarray(self.centers)[..., None])[..., 0]
        spread = turned @ self._covariances @ np.swapaxes(turned, -1, -2)
        below, masses = self.ancestors.T, np.asarray(self.masses)
        # First and second moments about each joint of the joint and its descendants.
        arms = centers[:, None] - places[:, :, None]
        weights = below * masses
        first = np.einsum("jk,fjki->fji", weights, arms)
        second = np.einsum("jk,fjki,fjkl->fjil", weights, arms, arms, optimize=True)
        second += np.einsum("jk,fkil->fjil", below, spread)
        separation = places[:, None] - places[:, :, None]
        # Rows are ancestors (or the joint itself), columns descendants: moments of the subtree of the descendant.
        moments = second[:, None] + first[:, None, :, :, None] * separation[..., None, :]
        moments = np.trace(moments, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - moments
        blocks = np.swapaxes(turned, -1, -2)[:, :, None] @ moments @ turned[:, None]
        blocks *= below[:, :, None, None]
        upper = blocks.transpose(0, 1, 3, 2, 4).reshape(-1, 3 * n, 3 * n)
        own = np.kron(np.eye(n), np.ones((3, 3)))
        whole = upper + np.swapaxes(upper * (1.0 - own), -1, -2)
        return whole.reshape(*batch, 3 * n, 3 * n)

    def inverse(
        self,
        q: ArrayLike,
        w: ArrayLike,
        dw: ArrayLike,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        *,
        root: RootMotion | None = None,
    ) -> Array:
        """Inverse dynamics: the torques (..., n, 3) [N m] for accelerations dw (..., n, 3) at velocities w (..., n, 3).

        q: (..., n, 4), pose. gravity: (3,) [m/s^2], in the world. root: motion of the frame of the root joints
        (default: none). Leading axes broadcast. Raises InvalidArgument.
        """
        n = len(self)
        q = body_checks.quaternions("pose", q, n)
        w, dw = checks.array("velocities", w, n, 3), checks.array("accelerations", dw, n, 3)
        gravity = body_checks.gravity(gravity)
        try:
            batch = np.broadcast_shapes(q.shape[:-2], w.shape[:-2], dw.shape[:-2])
        except ValueError:
            raise InvalidArgument("Pose, velocities and accelerations need the same leading axes.") from None
        q, w, dw = (np.moveaxis(np.broadcast_to(a, (*batch, *a.shape[-2:])), -2, 0) for a in (q, w, dw))
        return np.moveaxis(self.torques(q, w, dw, gravity, _checked(root or STILL, batch)), 0, -2)

    def torques(self, q: Array, w: Array, dw: Array, gravity: Array, root: RootMotion) -> Array:
        """`inverse` for arrays with the joints first, (n, ...), without body_checks."""
        apart = q.size > _MANY
        if apart:
            q, w, dw = _apart(q), _apart(w), _apart(dw)
        orientations = self._orientations(q, root.rotation)
        turned = matrices(orientations, apart=apart)
        base = turned[:0] if root.rotation is None else matrices(root.rotation)
        own = _turned(turned, w)
        turn = self._above(own, root.turn)
        acceleration = self._above(_turned(turned, dw) + rotation.cross(turn, own), root.turn_acceleration)
        arms = self._arms(turned, base if root.rotation is not None else None)
        linear = _end_acceleration(
            self._of_parents(turn, root.turn), self._of_parents(acceleration, root.turn_acceleration), arms
        )
        places, linear = self._above(arms), self._above(linear, root.acceleration)
        masses, shape = np.asarray(self.masses), (len(self), *(1,) * (turn.ndim - 1))
        reach = _turned(turned, np.asarray(self.centers).reshape(len(self), *(1,) * (turn.ndim - 2), 3))
        force = masses.reshape(shape) * (linear + _end_acceleration(turn, acceleration, reach) - gravity)
        # In the axes of the bone, where its inertia is constant.
        inertias = np.asarray(self.inertias).reshape(len(self), *(1,) * (turn.ndim - 2), 3, 3)
        spin, change = _turned_back(turned, turn), _turned_back(turned, acceleration)
        moment = _turned(inertias, change) + rotation.cross(spin, _turned(inertias, spin))
        moment = _turned(turned, moment) + rotation.cross(places + reach, force)
        total = self._below(moment) - rotation.cross(places, self._below(force))
        return _turned_back(turned, total)

    @cached_property
    def _covariances(self) -> Array:
        """Second moments (n, 3, 3) [kg m^2] of the bones about their centers."""
        inertias = np.asarray(self.inertias)
        return 0.5 * np.trace(inertias, axis1=1, axis2=2)[:, None, None] * np.eye(3) - inertias

    def placed(self, q: Array) -> tuple[Array, Array]:
        """Matrices (n, ..., 3, 3) and positions (n, ..., 3) of the joints in the world in a pose (n, ..., 4)."""
        turned = matrices(self._orientations(q))
        return turned, self._above(self._arms(turned))

    def _orientations(self, q: Array, base: Array | None = None) -> Array:
        """Orientations in the world (n, ..., 4) from a pose (n, ..., 4)."""
        return rotation.accumulate_tree(np.asarray(self.parents).tolist(), q, base)

    def _of_parents(self, values: Array, base: Array | None = None) -> Array:
        """The values of the parents (n, ..., 3); for roots those of the base, or 0."""
        parents = np.asarray(self.parents)
        result = _last(_first(values)[:, parents])
        result[parents < 0] = 0.0 if base is None else base
        return result

    def _arms(self, turned: Array, base: Array | None = None) -> Array:
        """Each joint's offset in the world (n, ..., 3), from the bones' matrices (n, ..., 3, 3)."""
        parents = np.asarray(self.parents)
        above = _last(_last(_first(_first(turned))[:, :, parents]))
        above[parents < 0] = np.eye(3) if base is None else base
        return _turned(above, np.asarray(self.offsets).reshape(len(self), *(1,) * (turned.ndim - 3), 3))

    def _above(self, values: Array, base: Array | None = None) -> Array:
        """Sums (n, ..., 3) over each joint, its ancestors and the base."""
        total = _summed(self.ancestors, values)
        return total if base is None else total + base

    def _below(self, values: Array) -> Array:
        """Sums (n, ..., 3) over each joint and its descendants."""
        return _summed(self.ancestors.T, values)


def _summed(weights: Array, values: Array) -> Array:
    """Sums (n, ..., 3) of values (n, ..., 3) with weights (n, n); of many, each component in one piece of memory."""
    if values.size <= _MANY:
        return (weights @ values.reshape(len(values), -1)).reshape(values.shape)
    parts = _first(values)
    return _last((weights @ parts.reshape(3, len(weights), -1)).reshape(parts.shape))


def _first(values: Array) -> Array:
    """The last axis as the first one; np.moveaxis takes ten times as long."""
    return values.transpose(values.ndim - 1, *range(values.ndim - 1))


def _last(values: Array) -> Array:
    """The first axis as the last one."""
    return values.transpose(*range(1, values.ndim), 0)


def principal(inertias: Array) -> tuple[Array, Array]:
    """Principal moments (n, 3) of inertias (n, 3, 3), and the rotations (n, 4) of their axes."""
    moments, axes = np.linalg.eigh(inertias)
    return moments, rotation.from_matrix(np.where(np.linalg.det(axes)[:, None, None] < 0.0, -axes, axes))


def _checked(root: RootMotion, batch: tuple[int, ...]) -> RootMotion:
    """The motion of the root over these leading axes."""
    turned = None if root.rotation is None else body_checks.quaternions("rotation of the root", root.rotation)
    motion = (
        None if values is None else checks.like(name, values, *batch, 3)
        for name, values in (
            ("acceleration of the root", root.acceleration),
            ("angular velocity of the root", root.turn),
            ("angular acceleration of the root", root.turn_acceleration),
        )
    )
    return RootMotion(None if turned is None else checks.like("rotation of the root", turned, *batch, 4), *motion)


def _apart(values: Array) -> Array:
    """Values (..., m) with each component in one piece of memory."""
    return _last(np.ascontiguousarray(_first(values)))


def _turned(matrix: Array, v: Array) -> Array:
    return np.einsum("...ij,...j->...i", matrix, v)


def _turned_back(matrix: Array, v: Array) -> Array:
    return np.einsum("...ij,...i->...j", matrix, v)


def matrices(q: Array, *, apart: bool = False) -> Array:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4); `rotation.to_matrix` takes several times as long.

    apart: each component in one piece of memory, with which einsum is several times as fast, but matmul slower.
    """
    w, x, y, z = (q[..., n] for n in range(4))
    result = _last(_last(np.empty((3, 3, *q.shape[:-1])))) if apart else np.empty((*q.shape[:-1], 3, 3))
    x2, y2, z2 = 2.0 * x, 2.0 * y, 2.0 * z
    xx, yy, zz = x * x2, y * y2, z * z2
    xy, xz, yz, wx, wy, wz = x * y2, x * z2, y * z2, w * x2, w * y2, w * z2
    result[..., 0, 0], result[..., 0, 1], result[..., 0, 2] = 1.0 - yy - zz, xy - wz, xz + wy
    result[..., 1, 0], result[..., 1, 1], result[..., 1, 2] = xy + wz, 1.0 - xx - zz, yz - wx
    result[..., 2, 0], result[..., 2, 1], result[..., 2, 2] = xz - wy, yz + wx, 1.0 - xx - yy
    return result


def _end_acceleration(turn: Array, acceleration: Array, arm: Array) -> Array:
    """Acceleration of the end of an arm (..., 3) on a rotating body, relative to its start."""
    return rotation.cross(acceleration, arm) + rotation.cross(turn, rotation.cross(turn, arm))
