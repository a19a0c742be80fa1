"""The angles of joint limits: swing and twist as in Blender's own solver, and Euler angles.

Blender's (intern/iksolver, IK_QSegment.cpp): a rotation is split into q = swing twist, the twist about Y, the axis of a
bone; the swing is cos(a/2) + sin(a/2) (nx, 0, nz). The angle about Y is the twist's, those about X and Z are 2
asin(sin(a/2) nx) and 2 asin(sin(a/2) nz).
"""

import math
from collections.abc import Sequence

from . import arithmetic
from .arithmetic import Arithmetic, Number, Quaternion, Vector

UNITS = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
EulerAxes = tuple[int, int, int, float]
"""The axes of an Euler order, and 1 where they are cyclic, else -1."""
_LEAST_COSINE = 1e-8
"""Square of the smallest cosine of half a swing that is not taken for half a turn."""
_UPRIGHT = 0.5 * math.pi - 1e-7
"""Middle Euler angle beyond which the outer two are ambiguous."""


def swing_and_twist(xp: Arithmetic, q: Quaternion) -> Vector:
    """Sine of the half angle about x, angle about y [rad], sine of the half angle about z."""
    w, x, y, z = q
    sign = xp.where(w < 0.0, -1.0, 1.0)
    w, x, y, z = sign * w, sign * x, sign * y, sign * z
    n = xp.sqrt(w * w + y * y)
    lost = n < 1e-9
    c, s = xp.where(lost, 1.0, w / (n + lost)), xp.where(lost, 0.0, y / (n + lost))
    return x * c + z * s, 2.0 * xp.arctan2(s, c), z * c - x * s


def from_swing_and_twist(xp: Arithmetic, x: Number, y: Number, z: Number) -> Quaternion:
    """The inverse of `swing_and_twist`."""
    w = xp.sqrt(xp.maximum(1.0 - x * x - z * z, 0.0))
    c, s = xp.cos(0.5 * y), xp.sin(0.5 * y)
    return w * c, x * c - z * s, w * s, x * s + z * c


def turning_axes(xp: Arithmetic, x: Number, y: Number, z: Number) -> tuple[Vector, Vector, Vector]:
    """The axes, in the rotated frame and of any lengths, about which `from_swing_and_twist(x, y, z)` turns when only
    one of the three changes: the vector parts of q^-1 dq."""
    w = xp.sqrt(xp.maximum(1.0 - x * x - z * z, _LEAST_COSINE))
    c, s = xp.cos(0.5 * y), xp.sin(0.5 * y)
    back = arithmetic.inverse((w * c, x * c - z * s, w * s, x * s + z * c))
    across = arithmetic.multiply(back, (-x / w * c, c, -x / w * s, s))
    along = arithmetic.multiply(back, (-z / w * c, -s, -z / w * s, c))
    return across[1:], (0.0 * w, 0.0 * w + 1.0, 0.0 * w), along[1:]


def nearest_within(xp: Arithmetic, angle: Number, low: float, high: float) -> Number:
    """The angle, plus the multiple of 2 pi that is nearest to the range, clamped to it."""
    if low == -math.inf and high == math.inf:
        return angle
    if high - low >= 2.0 * math.pi:
        return angle
    if low == -math.inf or high == math.inf:
        return xp.minimum(xp.maximum(angle, low), high)
    middle = 0.5 * (low + high)
    near = middle + (angle - middle + math.pi) % (2.0 * math.pi) - math.pi
    return xp.minimum(xp.maximum(near, low), high)


def distance(a: Sequence[Number], b: Sequence[Number]) -> Number:
    """The distance of two sets of angles, modulo 2 pi."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + abs((x - y + math.pi) % (2.0 * math.pi) - math.pi)
    return total


def euler_axes(order: str) -> EulerAxes:
    i, j, k = ("XYZ".index(letter) for letter in order)
    return i, j, k, 1.0 if (j - i) % 3 == 1 else -1.0


def euler_angles(xp: Arithmetic, q: Quaternion, order: EulerAxes) -> tuple[list[Number], list[Number]]:
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


def smaller_angles(xp: Arithmetic, one: list[Number], two: list[Number]) -> list[Number]:
    """Of two sets of Euler angles the one with the smaller sum of angles, as Blender chooses, from -pi to pi."""
    short = [[(angle + math.pi) % (2.0 * math.pi) - math.pi for angle in angles] for angles in (one, two)]
    sums = [abs(x) + abs(y) + abs(z) for x, y, z in short]
    return [xp.where(sums[0] > sums[1], b, a) for a, b in zip(*short, strict=True)]


def _matrix(q: Quaternion) -> list[list[Number]]:
    """The rotation matrix, by rows."""
    w, x, y, z = q
    return [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]


def from_euler(
    xp: Arithmetic, e: list[Number], order: EulerAxes, low: Sequence[float], high: Sequence[float]
) -> Quaternion:
    """The rotation with angles e, stored as x, y, z, slightly changed where the ranges `low` to `high` come near gimbal
    lock."""
    i, j, k, _ = order
    if low[j] < _UPRIGHT and high[j] > -_UPRIGHT:
        e[j] = _clear_of_upright(xp, e[j])
    first, second, third = (arithmetic.about(xp, UNITS[n], e[n]) for n in (i, j, k))
    return arithmetic.multiply(third, arithmetic.multiply(second, first))


def _clear_of_upright(xp: Arithmetic, middle: Number) -> Number:
    """Slightly less than gimbal lock, where the outer angles could not be recovered."""
    return xp.where(abs(abs(middle) - 0.5 * math.pi) < 1e-7, xp.where(middle < 0.0, -_UPRIGHT, _UPRIGHT), middle)
