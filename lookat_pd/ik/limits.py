"""How far each joint may turn, and the one clamp that every solver goes through.

The angles are those of Blender's own solver (intern/iksolver, IK_QSegment.cpp): a joint's rotation from rest is split
into q = swing twist, the twist about Y, which lies along a bone; the swing is cos(a/2) + sin(a/2) (nx, 0, nz). The
angle about Y is the twist's, those about X and Z are 2 asin(sin(a/2) nx) and 2 asin(sin(a/2) nz). Where X and Z are
both limited the swing stays inside the ellipse through the four limits. Beside that, ranges of Euler angles as the
constraint Limit Rotation has them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..errors import InvalidArgument
from ..rotation import Array
from . import arithmetic
from .arithmetic import BATCH, SINGLE, Arithmetic, Number, Quaternion, Vector
from .batches import batch_front, batch_last, packed, unpacked

STIFFEST = 0.99
"""More stiffness than this counts as this, as in Blender: a joint that shall not turn is locked."""
_SHORT_OF_HALF_TURN = 1e-8
"""Square of the cosine of the half angle that a limited swing keeps: in a half turn the twist cannot be told."""
_UPRIGHT = 0.5 * math.pi - 1e-7
"""Middle Euler angle beyond which the outer two cannot be told apart."""
_INSIDE = 1e-9
"""Angle [rad] by which both kinds of limits together may be missed before the joint stays as it was."""
_ALTERNATIONS = 12
_AXES = "XYZ"
_UNITS = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Limits:
    """What n joints are allowed; what is left out allows everything.

    locks: (n, 3) bool, angles about x, y, z that keep the value of the start. minimum, maximum: (n, 3) [rad], range of
    the angles, infinite where there is none; beyond half a turn they count as half a turn. stiffness: (n, 3), 0 to
    0.99, the part of its turning that a joint leaves to the others. rest: (n, 4), the rotation relative to the parent
    from which angles count, identity if left out. euler_minimum, euler_maximum: (n, 3) [rad], range of the Euler
    angles in `euler_order`, one order or one a joint, as the constraint Limit Rotation has it in local space. names:
    what error messages call the joints.

    Raises InvalidArgument where shapes differ, a number is wrong, or a minimum is above its maximum.
    """

    locks: ArrayLike | None = None
    minimum: ArrayLike | None = None
    maximum: ArrayLike | None = None
    stiffness: ArrayLike | None = None
    rest: ArrayLike | None = None
    euler_minimum: ArrayLike | None = None
    euler_maximum: ArrayLike | None = None
    euler_order: str | Sequence[str] = "XYZ"
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        n = self._count()
        for name, default in (
            ("locks", False),
            ("minimum", -np.inf),
            ("maximum", np.inf),
            ("stiffness", 0.0),
            ("rest", rotation.IDENTITY),
            ("euler_minimum", -np.inf),
            ("euler_maximum", np.inf),
        ):
            given = getattr(self, name)
            shape = (n, 4 if name == "rest" else 3)
            kind = bool if name == "locks" else float
            value = np.full(shape, default, dtype=kind) if given is None else np.array(given, dtype=kind)
            if value.shape != shape:
                raise InvalidArgument(f"Limits of {n} joints need {name} of shape {shape}, not {value.shape}.")
            if np.any(np.isnan(value)):
                raise InvalidArgument(f"The {name} of joint {self._name(value)} is not a number; give it one.")
            object.__setattr__(self, name, value)
        object.__setattr__(self, "rest", rotation.normalize(self.rest))
        orders = (self.euler_order,) * n if isinstance(self.euler_order, str) else tuple(self.euler_order)
        if len(orders) != n:
            raise InvalidArgument(f"Limits of {n} joints need an Euler order for each, not {len(orders)}.")
        for order in orders:
            if order not in rotation.EULER_ORDERS:
                raise InvalidArgument(
                    f"Euler order {order!r} is unknown; use one of {', '.join(rotation.EULER_ORDERS)}."
                )
        object.__setattr__(self, "euler_order", orders)
        self._check_ranges(np.asarray(self.minimum), np.asarray(self.maximum))
        self._check_ranges(np.asarray(self.euler_minimum), np.asarray(self.euler_maximum))

    def _count(self) -> int:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and not isinstance(value, str):
                return len(np.asarray(value))
        raise InvalidArgument("Limits without a single array limit nothing; leave the limits out.")

    def _name(self, at: Array) -> str:
        """What the joint with the first true or NaN element of an array (n, ...) is called."""
        wrong = at if at.dtype == bool else np.isnan(at)
        joint = int(np.argmax(wrong.reshape(len(wrong), -1).any(axis=1)))
        return str(joint) if self.names is None else repr(self.names[joint])

    def _check_ranges(self, minimum: Array, maximum: Array) -> None:
        wrong = minimum > maximum
        if np.any(wrong):
            axis = int(np.argmax(wrong.any(axis=0)))
            wrong[:, :axis] = wrong[:, axis + 1 :] = False
            joint = int(np.argmax(wrong[:, axis]))
            low, high = np.degrees([minimum[joint, axis], maximum[joint, axis]])
            raise InvalidArgument(
                f"The limits of joint {self._name(wrong)} about {_AXES[axis]} leave nothing: the minimum {low:.6g}° is "
                f"above the maximum {high:.6g}°; exchange them."
            )

    def __len__(self) -> int:
        return len(np.asarray(self.locks))

    @property
    def all_locked(self) -> bool:
        """Whether no joint may turn about any axis."""
        return bool(np.all(np.asarray(self.locks)))

    @cached_property
    def joints(self) -> "list[JointLimits | None]":
        """The limits of each joint for the solvers; None where it is free."""
        return [self._joint(n) for n in range(len(self))]

    def _joint(self, n: int) -> "JointLimits | None":
        locks, rest = np.asarray(self.locks)[n], np.asarray(self.rest)[n]
        low, high = (np.clip(np.asarray(a)[n], -np.pi, np.pi) for a in (self.minimum, self.maximum))
        given = np.isfinite(np.asarray(self.minimum)[n]) | np.isfinite(np.asarray(self.maximum)[n])
        euler = np.asarray(self.euler_minimum)[n], np.asarray(self.euler_maximum)[n]
        stiffness = np.clip(np.asarray(self.stiffness)[n], 0.0, STIFFEST)
        has_euler = bool(np.any(np.isfinite(euler)))
        if not (np.any(locks) or np.any(given) or has_euler or np.any(stiffness)):
            return None
        swing = np.sin(0.5 * low), np.sin(0.5 * high)
        return JointLimits(
            locks=tuple(locks.tolist()),
            low=(float(swing[0][0]), float(low[1]), float(swing[0][2])),
            high=(float(swing[1][0]), float(high[1]), float(swing[1][2])),
            limited=tuple(given.tolist()),
            weights=tuple((1.0 - stiffness).tolist()) if np.any(stiffness) else None,
            rest=None if abs(rest[0]) > 1.0 - 1e-15 else tuple(rest.tolist()),
            euler=(tuple(euler[0].tolist()), tuple(euler[1].tolist())) if has_euler else None,
            order=_order(self.euler_order[n]),
        )

    def parameters(self, poses: Array) -> Array:
        """What locked axes of these poses (n, 4, m) keep (n, 3, m); see JointLimits."""
        found = np.zeros((len(self), 3, poses.shape[-1]))
        for n, limits in enumerate(self.joints):
            if limits is not None:
                found[n] = np.stack(limits.parameters(BATCH, tuple(poses[n])))
        return found

    def angles(self, rotations: ArrayLike) -> Array:
        """Angles (..., n, 3) about x, y, z [rad] of local rotations (..., n, 4), as Blender's solver reads them."""
        q = np.asarray(rotations, dtype=float)
        from_rest = rotation.multiply(rotation.inverse(self.rest), q)
        x, y, z = _parameters(BATCH, tuple(np.moveaxis(from_rest, -1, 0)))
        swing = (2.0 * np.arcsin(np.clip(a, -1.0, 1.0)) for a in (x, z))
        across, along = swing
        return np.stack((across, y, along), axis=-1)

    def clamp(self, rotations: ArrayLike, start: ArrayLike | None = None) -> Array:
        """The allowed rotations (..., n, 4) near these; locked angles are those of `start`, else they stay."""
        q = np.asarray(rotations, dtype=float)
        batch = q.shape[:-2]
        whole, single = batch_last(q, batch, 2), q.size == 4 * len(self)
        xp, pose = SINGLE if single else BATCH, unpacked(whole, single)
        begin = pose if start is None else unpacked(batch_last(np.asarray(start, dtype=float), batch, 2), single)
        for n, limits in enumerate(self.joints):
            if limits is not None:
                pose[n] = limits.clamp(xp, pose[n], limits.parameters(xp, begin[n]))
        return batch_front(packed(pose, whole.shape[-1])).reshape(q.shape)

    def excess(self, rotations: ArrayLike) -> Array:
        """How far (..., n) [rad] local rotations (..., n, 4) are from what is allowed; locks do not count."""
        q = np.asarray(rotations, dtype=float)
        return rotation.angle(rotation.multiply(rotation.inverse(q), self.clamp(q)))


def _order(order: str) -> tuple[int, int, int, float]:
    i, j, k = (_AXES.index(letter) for letter in order)
    return i, j, k, 1.0 if (j - i) % 3 == 1 else -1.0


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
    order: tuple[int, int, int, float]

    @property
    def hinge(self) -> int | None:
        """The one axis that is free, where there is only one."""
        return self.locks.index(False) if sum(self.locks) == 2 else None

    def parameters(self, xp: Arithmetic, q: Quaternion) -> Vector:
        """Sine of the half angle about x, angle about y, sine of the half angle about z."""
        return _parameters(xp, self._from_rest(q))

    def _from_rest(self, q: Quaternion) -> Quaternion:
        return q if self.rest is None else arithmetic.multiply(arithmetic.inverse(self.rest), q)

    def _to_parent(self, q: Quaternion) -> Quaternion:
        return q if self.rest is None else arithmetic.multiply(self.rest, q)

    def turned(self, xp: Arithmetic, q: Quaternion, locked: Vector | None, arrow: Vector, goal: Vector) -> Quaternion:
        """q after the turn, as far as it is allowed, of `arrow` to `goal`, both directions in the parent's frame."""
        turn = arithmetic.arc(xp, arrow, goal) if self.hinge is None else self._hinged(xp, q, arrow, goal)
        return self.eased(xp, q, arithmetic.multiply(turn, q), locked)

    def _hinged(self, xp: Arithmetic, q: Quaternion, arrow: Vector, goal: Vector) -> Quaternion:
        """The turn about the free axis alone. Swing axes stand still in the parent, the twist axis turns with it."""
        axis: Vector = _UNITS[self.hinge or 0]
        if self.hinge == 1:
            axis = arithmetic.rotate(q, axis)
        elif self.rest is not None:
            axis = arithmetic.rotate(self.rest, axis)
        along = arithmetic.dot(axis, arrow) * arithmetic.dot(axis, goal)
        sine = arithmetic.dot(axis, arithmetic.cross(arrow, goal))
        return arithmetic.about(xp, axis, xp.arctan2(sine, arithmetic.dot(arrow, goal) - along))

    def eased(self, xp: Arithmetic, q: Quaternion, wanted: Quaternion, locked: Vector | None) -> Quaternion:
        """From q towards `wanted`: as far as stiffness and limits let it."""
        if self.weights is not None:
            way = arithmetic.rotation_vector(xp, arithmetic.multiply(arithmetic.inverse(q), wanted))
            part = tuple(w * v for w, v in zip(self.weights, way, strict=True))
            wanted = arithmetic.multiply(q, arithmetic.turn(xp, part))
        return self.clamp(xp, wanted, locked, q)

    def clamp(
        self, xp: Arithmetic, q: Quaternion, locked: Vector | None, previous: Quaternion | None = None
    ) -> Quaternion:
        """The allowed rotation near q, with the locked angles as given.

        Each kind of limits has a nearest rotation of its own. Where there are both, they take turns; what is not
        inside both in the end stays as it was in `previous`.
        """
        q = self._from_rest(q)
        swings = any(self.locks) or any(self.limited)
        if self.euler is None:
            return self._to_parent(self._swung(xp, q, locked)) if swings else self._to_parent(q)
        if not swings:
            return self._to_parent(self._eulered(xp, q))
        for _ in range(_ALTERNATIONS):
            q = self._swung(xp, self._eulered(xp, q), locked)
        way = arithmetic.rotation_vector(xp, arithmetic.multiply(arithmetic.inverse(q), self._eulered(xp, q)))
        outside = arithmetic.length(xp, way) > _INSIDE
        if previous is not None:
            back = self._from_rest(previous)
            q = tuple(xp.where(outside, b, a) for a, b in zip(q, back, strict=True))
        return self._to_parent(q)

    def _swung(self, xp: Arithmetic, q: Quaternion, locked: Vector | None) -> Quaternion:
        x, y, z = _parameters(xp, q)
        if self.limited[1]:
            y = _into(xp, y, self.low[1], self.high[1])
        if self.limited[0] and self.limited[2] and not (self.locks[0] or self.locks[2]):
            x, z = self._inside_ellipse(xp, x, z)
        else:
            x = xp.minimum(xp.maximum(x, self.low[0]), self.high[0]) if self.limited[0] else x
            z = xp.minimum(xp.maximum(z, self.low[2]), self.high[2]) if self.limited[2] else z
        if locked is not None:
            x, y, z = (k if lock else a for k, lock, a in zip(locked, self.locks, (x, y, z), strict=True))
        x, z = self._short_of_half_turn(xp, x, z)
        return _composed(xp, x, y, z)

    def _inside_ellipse(self, xp: Arithmetic, x: Number, z: Number) -> tuple[Number, Number]:
        """Drawn towards the middle onto the ellipse; a range without width or without the middle makes it a box."""
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
        """A locked angle keeps its value: the other one gives way."""
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
        """Inside the Euler ranges. A rotation has two sets of angles: the one that is less outside is clamped."""
        low, high = self.euler or ((), ())
        one, two = _euler_angles(xp, q, self.order)
        first, second = ([_into(xp, e, low[n], high[n]) for n, e in enumerate(angles)] for angles in (one, two))
        miss = _apart(xp, one, first) - _apart(xp, two, second)
        e = [xp.where(miss > 1e-12, b, a) for a, b in zip(first, second, strict=True)]
        return _from_euler(xp, e, self.order, low, high)


def _parameters(xp: Arithmetic, q: Quaternion) -> Vector:
    w, x, y, z = q
    sign = xp.where(w < 0.0, -1.0, 1.0)
    w, x, y, z = sign * w, sign * x, sign * y, sign * z
    n = xp.sqrt(w * w + y * y)
    lost = n < 1e-9
    c, s = xp.where(lost, 1.0, w / (n + lost)), xp.where(lost, 0.0, y / (n + lost))
    return x * c + z * s, 2.0 * xp.arctan2(s, c), z * c - x * s


def _composed(xp: Arithmetic, x: Number, y: Number, z: Number) -> Quaternion:
    w = xp.sqrt(xp.maximum(1.0 - x * x - z * z, 0.0))
    c, s = xp.cos(0.5 * y), xp.sin(0.5 * y)
    return w * c, x * c - z * s, w * s, x * s + z * c


def _into(xp: Arithmetic, angle: Number, low: float, high: float) -> Number:
    """The angle, or whole turns more or less, nearest to the range and clamped into it."""
    if low == -math.inf and high == math.inf:
        return angle
    if high - low >= 2.0 * math.pi:
        return angle
    if low == -math.inf or high == math.inf:
        return xp.minimum(xp.maximum(angle, low), high)
    middle = 0.5 * (low + high)
    near = middle + (angle - middle + math.pi) % (2.0 * math.pi) - math.pi
    return xp.minimum(xp.maximum(near, low), high)


def _apart(xp: Arithmetic, a: Sequence[Number], b: Sequence[Number]) -> Number:
    """How far two sets of angles are apart, whole turns aside."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + abs((x - y + math.pi) % (2.0 * math.pi) - math.pi)
    return total


def _euler_angles(
    xp: Arithmetic, q: Quaternion, order: tuple[int, int, int, float]
) -> tuple[list[Number], list[Number]]:
    """Both sets of Euler angles, each stored as x, y, z."""
    i, j, k, sign = order
    m = _matrix(q)
    cosine = xp.sqrt(m[i][i] * m[i][i] + m[j][i] * m[j][i])
    locked = cosine < 1e-9
    first = xp.where(locked, xp.arctan2(-sign * m[j][k], m[j][j]), xp.arctan2(sign * m[k][j], m[k][k]))
    middle = xp.arctan2(-sign * m[k][i], cosine)
    last = xp.where(locked, 0.0, xp.arctan2(sign * m[j][i], m[i][i]))
    one, two = [0.0] * 3, [0.0] * 3
    one[i], one[j], one[k] = first, middle, last
    two[i], two[j], two[k] = first + math.pi, math.pi - middle, last + math.pi
    return one, two


def _matrix(q: Quaternion) -> list[list[Number]]:
    """The rotation matrix, by rows."""
    w, x, y, z = q
    return [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]


def _from_euler(
    xp: Arithmetic, e: list[Number], order: tuple[int, int, int, float], low: Sequence[float], high: Sequence[float]
) -> Quaternion:
    i, j, k, _ = order
    if low[j] < _UPRIGHT and high[j] > -_UPRIGHT:
        e[j] = _clear_of_upright(xp, e[j])
    first, second, third = (arithmetic.about(xp, _UNITS[n], e[n]) for n in (i, j, k))
    return arithmetic.multiply(third, arithmetic.multiply(second, first))


def _clear_of_upright(xp: Arithmetic, middle: Number) -> Number:
    """A hair short of gimbal lock, where the outer angles could not be read back."""
    return xp.where(abs(abs(middle) - 0.5 * math.pi) < 1e-7, xp.where(middle < 0.0, -_UPRIGHT, _UPRIGHT), middle)
