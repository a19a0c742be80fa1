"""The limits of one joint: the clamp that all solvers use.

If X and Z of the swing are both limited, it stays inside the ellipse through the four limits, as in Blender's own
solver. Also ranges of Euler angles, as in the constraint Limit Rotation.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import rotation
from ..rotation import Array
from . import arithmetic
from .angles import (
    UNITS,
    EulerAxes,
    distance,
    euler_angles,
    from_euler,
    from_swing_and_twist,
    nearest_within,
    smaller_angles,
    swing_and_twist,
    turning_axes,
)
from .arithmetic import BATCH, Arithmetic, Number, Quaternion, Vector
from .batches import batch_front

_SHORT_OF_HALF_TURN = 1e-8
"""Square of the cosine of the half angle that a limited swing keeps: for half a turn the twist is undefined."""
_INSIDE = 1e-9
"""Angle [rad] by which both kinds of limits together may be exceeded before the joint keeps its pose."""
_EULER_ROUNDS = 4
"""Times that Euler angles are clamped at most."""
_ALTERNATIONS = 12


@dataclass(frozen=True)
class JointLimits:
    """The limits of one joint, in plain numbers: swing limits are sines of half angles."""

    locks: tuple[bool, bool, bool]
    low: tuple[float, float, float]
    high: tuple[float, float, float]
    limited: tuple[bool, bool, bool]
    weights: tuple[float, float, float] | None
    rest: Quaternion | None
    euler: tuple[tuple[float, float, float], tuple[float, float, float]] | None
    order: EulerAxes

    @property
    def hinge(self) -> int | None:
        """The free axis, if there is only one."""
        return self.locks.index(False) if sum(self.locks) == 2 else None

    def parameters(self, xp: Arithmetic, q: Quaternion) -> Vector:
        """The values that locked axes keep, for a rotation relative to the parent: see `swing_and_twist`."""
        return swing_and_twist(xp, self._from_rest(q))

    def free_basis(self, q: Array) -> Array:
        """For locked angles: orthonormal axes (m, 3, 3) as columns, in the frame of a joint with rotations (m, 4).

        Those with the numbers of the angles that are free span the rotations that keep the locked ones; if the joint is
        not swung, they are its own axes.
        """
        turning = turning_axes(BATCH, *self.parameters(BATCH, tuple(q.T)))
        axes = [np.stack(axis, axis=-1) for axis in turning]
        free = [n for n in range(3) if not self.locks[n]]
        basis = np.broadcast_to(np.eye(3), (len(q), 3, 3)).copy()
        if len(free) == 1:
            first, second, third = free[0], (free[0] + 1) % 3, (free[0] + 2) % 3
            basis[..., first] = rotation.normalize(axes[first])
            basis[..., third] = rotation.normalize(rotation.cross(basis[..., first], basis[..., second]))
            basis[..., second] = rotation.cross(basis[..., third], basis[..., first])
        elif len(free) == 2:
            locked = self.locks.index(True)
            first, second = (locked + 1) % 3, (locked + 2) % 3
            basis[..., locked] = rotation.normalize(rotation.cross(axes[first], axes[second]))
            basis[..., second] = rotation.normalize(rotation.cross(basis[..., locked], basis[..., first]))
            basis[..., first] = rotation.cross(basis[..., second], basis[..., locked])
        return basis

    def _from_rest(self, q: Quaternion) -> Quaternion:
        return q if self.rest is None else arithmetic.multiply(arithmetic.inverse(self.rest), q)

    def _to_parent(self, q: Quaternion) -> Quaternion:
        return q if self.rest is None else arithmetic.multiply(self.rest, q)

    def turned(self, xp: Arithmetic, q: Quaternion, locked: Vector | None, arrow: Vector, goal: Vector) -> Quaternion:
        """q after the rotation, within the limits, of `arrow` to `goal`, both directions in the parent's frame."""
        turn = arithmetic.arc(xp, arrow, goal) if self.hinge is None else self._hinged(xp, q, arrow, goal)
        return self.eased(xp, q, arithmetic.multiply(turn, q), locked)

    def _hinged(self, xp: Arithmetic, q: Quaternion, arrow: Vector, goal: Vector) -> Quaternion:
        """The rotation about the free axis only. Swing axes are fixed in the parent, the twist axis rotates with the
        joint."""
        axis: Vector = UNITS[self.hinge or 0]
        if self.hinge == 1:
            axis = arithmetic.rotate(q, axis)
        elif self.rest is not None:
            axis = arithmetic.rotate(self.rest, axis)
        along = arithmetic.dot(axis, arrow) * arithmetic.dot(axis, goal)
        sine = arithmetic.dot(axis, arithmetic.cross(arrow, goal))
        return arithmetic.about(xp, axis, xp.arctan2(sine, arithmetic.dot(arrow, goal) - along))

    def eased(self, xp: Arithmetic, q: Quaternion, wanted: Quaternion, locked: Vector | None) -> Quaternion:
        """From q towards `wanted`, with stiffness and limits."""
        if self.weights is not None:
            turn = arithmetic.rotation_vector(xp, arithmetic.multiply(arithmetic.inverse(q), wanted))
            part = tuple(w * v for w, v in zip(self.weights, turn, strict=True))
            wanted = arithmetic.multiply(q, arithmetic.turn(xp, part))
        return self.clamp(xp, wanted, locked, q)

    def clamp(
        self, xp: Arithmetic, q: Quaternion, locked: Vector | None, previous: Quaternion | None = None
    ) -> Quaternion:
        """The allowed rotation near q, with the locked angles as given.

        The nearest rotation is computed for each kind of limits, alternating if there are both; a result outside either
        of them is replaced by `previous`.
        """
        q = self._from_rest(q)
        swings = any(self.locks) or any(self.limited)
        if self.euler is None:
            return self._to_parent(self._swung(xp, q, locked)) if swings else self._to_parent(q)
        if not swings:
            return self._to_parent(self._eulered(xp, q))
        for _ in range(_ALTERNATIONS):
            q = self._swung(xp, self._eulered(xp, q), locked)
        turn = arithmetic.rotation_vector(xp, arithmetic.multiply(arithmetic.inverse(q), self._eulered(xp, q)))
        outside = arithmetic.length(xp, turn) > _INSIDE
        if previous is not None:
            back = self._from_rest(previous)
            q = tuple(xp.where(outside, b, a) for a, b in zip(q, back, strict=True))
        return self._to_parent(q)

    def _swung(self, xp: Arithmetic, q: Quaternion, locked: Vector | None) -> Quaternion:
        x, y, z = swing_and_twist(xp, q)
        if self.limited[1]:
            y = nearest_within(xp, y, self.low[1], self.high[1])
        if self.limited[0] and self.limited[2] and not (self.locks[0] or self.locks[2]):
            x, z = self._inside_ellipse(xp, x, z)
        else:
            x = xp.minimum(xp.maximum(x, self.low[0]), self.high[0]) if self.limited[0] else x
            z = xp.minimum(xp.maximum(z, self.low[2]), self.high[2]) if self.limited[2] else z
        if locked is not None:
            x, y, z = (k if lock else a for k, lock, a in zip(locked, self.locks, (x, y, z), strict=True))
        x, z = self._short_of_half_turn(xp, x, z)
        return from_swing_and_twist(xp, x, y, z)

    def _inside_ellipse(self, xp: Arithmetic, x: Number, z: Number) -> tuple[Number, Number]:
        """Scaled towards the center onto the ellipse; a range without width or without the center gives a box
        instead."""
        (x0, _, z0), (x1, _, z1) = self.low, self.high
        if not (x0 < 0.0 < x1 and z0 < 0.0 < z1):
            one_sided = x0 <= 0.0 <= x1 and z0 <= 0.0 <= z1 and x0 < x1 and z0 < z1
            box = xp.minimum(xp.maximum(x, x0), x1), xp.minimum(xp.maximum(z, z0), z1)
            if not one_sided:
                return box
            x, z = box
        rx, rz = xp.where(x < 0.0, x0, x1), xp.where(z < 0.0, z0, z1)
        rx, rz = rx + (rx == 0.0), rz + (rz == 0.0)
        size = xp.sqrt((x / rx) * (x / rx) + (z / rz) * (z / rz))
        factor = 1.0 / xp.maximum(size, 1.0)
        return x * factor, z * factor

    def _short_of_half_turn(self, xp: Arithmetic, x: Number, z: Number) -> tuple[Number, Number]:
        """A locked angle keeps its value: the other one is reduced."""
        most = 1.0 - _SHORT_OF_HALF_TURN
        if self.locks[0] and not self.locks[2]:
            room = xp.sqrt(xp.maximum(most - x * x, 0.0))
            return x, xp.minimum(xp.maximum(z, -room), room)
        if self.locks[2] and not self.locks[0]:
            room = xp.sqrt(xp.maximum(most - z * z, 0.0))
            return xp.minimum(xp.maximum(x, -room), room), z
        factor = 1.0 / xp.sqrt(xp.maximum((x * x + z * z) / most, 1.0))
        return x * factor, z * factor

    def _eulered(self, xp: Arithmetic, q: Quaternion) -> Quaternion:
        """Within the Euler ranges. A rotation has two sets of angles: as in Blender, the one with smaller angles is
        clamped. Where that makes the other one smaller, the result is clamped again."""
        low, high = self.euler or ((), ())
        for _ in range(_EULER_ROUNDS):
            angles = smaller_angles(xp, *euler_angles(xp, q, self.order))
            e = [nearest_within(xp, angle, low[n], high[n]) for n, angle in enumerate(angles)]
            changed = distance(angles, e) > _INSIDE
            clamped = from_euler(xp, e, self.order, low, high)
            q = tuple(xp.where(changed, b, a) for a, b in zip(q, clamped, strict=True))
            if not xp.some(changed):
                break
        return q


def freedom(limits: Sequence[JointLimits | None]) -> Array:
    """The weight (n, 3) of each joint axis: 1 minus the stiffness, 0 if locked."""
    free = np.ones((len(limits), 3))
    for n, joint in enumerate(limits):
        if joint is not None:
            free[n] = joint.weights or 1.0
            free[n, np.array(joint.locks)] = 0.0
    return free


def clamped(limits: Sequence[JointLimits | None], pose: Array, before: Array, locked: Array | None) -> Array:
    """The allowed rotations (m, n, 4) near a pose, joint by joint."""
    result = pose.copy()
    for n, joint in enumerate(limits):
        if joint is not None:
            here, back = (tuple(batch_front(q[:, n])) for q in (pose, before))
            kept = None if locked is None else tuple(locked[n])
            result[:, n] = np.stack(joint.clamp(BATCH, here, kept, back), axis=-1)
    return result
