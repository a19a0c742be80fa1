"""The same arithmetic for a single chain and for a batch.

A vector is a tuple of three components, a quaternion one of four, w first. A component is a float or, for a batch, an
array (m,). The solvers are written once with these: calls of numpy on small arrays cost more than the computation, so
plain floats solve a single chain several times faster.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Number = Any
Vector = tuple[Number, Number, Number]
Quaternion = tuple[Number, Number, Number, Number]

ORIGIN: Vector = (0.0, 0.0, 0.0)
NO_TURN: Quaternion = (1.0, 0.0, 0.0, 0.0)
_OPPOSITE = 1e-20
"""Square of the sine and cosine of the half angle below which two directions count as opposite."""


def _choose(condition: bool, a: float, b: float) -> float:
    return a if condition else b


@dataclass(frozen=True)
class Arithmetic:
    """The functions that differ between floats and arrays."""

    sqrt: Callable[..., Number]
    sin: Callable[..., Number]
    cos: Callable[..., Number]
    arcsin: Callable[..., Number]
    arctan2: Callable[..., Number]
    where: Callable[..., Number]
    some: Callable[..., bool]
    minimum: Callable[..., Number]
    maximum: Callable[..., Number]


SINGLE = Arithmetic(math.sqrt, math.sin, math.cos, math.asin, math.atan2, _choose, bool, min, max)
BATCH = Arithmetic(np.sqrt, np.sin, np.cos, np.arcsin, np.arctan2, np.where, np.any, np.minimum, np.maximum)


def add(a: Vector, b: Vector) -> Vector:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def subtract(a: Vector, b: Vector) -> Vector:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def scaled(a: Vector, factor: Number) -> Vector:
    return a[0] * factor, a[1] * factor, a[2] * factor


def dot(a: Vector, b: Vector) -> Number:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    ax, ay, az = a
    bx, by, bz = b
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


def length(xp: Arithmetic, a: Vector) -> Number:
    x, y, z = a
    return xp.sqrt(x * x + y * y + z * z)


def inverse(q: Quaternion) -> Quaternion:
    w, x, y, z = q
    return w, -x, -y, -z


def multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    """Rotate by b first, then by a."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def rotate(q: Quaternion, v: Vector) -> Vector:
    w, x, y, z = q
    a, b, c = v
    ta, tb, tc = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return a + w * ta + y * tc - z * tb, b + w * tb + z * ta - x * tc, c + w * tc + x * tb - y * ta


def rotate_back(q: Quaternion, v: Vector) -> Vector:
    w, x, y, z = q
    return rotate((w, -x, -y, -z), v)


def about(xp: Arithmetic, axis: Vector, angle: Number) -> Quaternion:
    """The rotation by an angle about a unit axis."""
    sine = xp.sin(0.5 * angle)
    return xp.cos(0.5 * angle), sine * axis[0], sine * axis[1], sine * axis[2]


def arc(xp: Arithmetic, a: Vector, b: Vector) -> Quaternion:
    """The shortest rotation of a onto b, of any lengths; none if one of them is zero.

    The components are |a||b| times cosine and sine of the half angle, so no angle is needed; this is as accurate as
    atan2(|a x b|, a . b), unlike an arccosine. For opposite directions the axis is a fixed one perpendicular to a.
    """
    ax, ay, az = a
    bx, by, bz = b
    product = xp.sqrt((ax * ax + ay * ay + az * az) * (bx * bx + by * by + bz * bz))
    w = product + (ax * bx + ay * by + az * bz)
    x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    square = w * w + x * x + y * y + z * z
    bad = square <= _OPPOSITE * product * product
    factor = 1.0 / xp.sqrt(square + bad)
    if not xp.some(bad):
        return w * factor, x * factor, y * factor, z * factor
    sx, sy, sz = _square_to(xp, a)
    sx, sy, sz = (xp.where(product > 0.0, s, 0.0) for s in (sx, sy, sz))
    return (
        xp.where(bad, xp.where(product > 0.0, 0.0, 1.0), w * factor),
        xp.where(bad, sx, x * factor),
        xp.where(bad, sy, y * factor),
        xp.where(bad, sz, z * factor),
    )


def _square_to(xp: Arithmetic, a: Vector) -> Vector:
    """A fixed unit vector perpendicular to a; zero if a is zero."""
    x, y, z = a
    flat = z * z < x * x + y * y
    sx, sy, sz = xp.where(flat, -y, 0.0), xp.where(flat, x, -z), xp.where(flat, 0.0, y)
    size = xp.sqrt(sx * sx + sy * sy + sz * sz)
    factor = 1.0 / (size + (size == 0.0))
    return sx * factor, sy * factor, sz * factor


def rotation_vector(xp: Arithmetic, q: Quaternion) -> Vector:
    """Axis times angle of a rotation, along the shorter arc."""
    w, x, y, z = q
    sign = xp.where(w < 0.0, -1.0, 1.0)
    sine = xp.sqrt(x * x + y * y + z * z)
    small = sine < 1e-12
    factor = sign * xp.where(small, 2.0, 2.0 * xp.arctan2(sine, sign * w) / (sine + small))
    return x * factor, y * factor, z * factor


def turn(xp: Arithmetic, v: Vector) -> Quaternion:
    """The rotation of a rotation vector: the inverse of `rotation_vector`."""
    x, y, z = v
    angle = xp.sqrt(x * x + y * y + z * z)
    small = angle < 1e-12
    factor = xp.where(small, 0.5, xp.sin(0.5 * angle) / (angle + small))
    return xp.cos(0.5 * angle), x * factor, y * factor, z * factor
