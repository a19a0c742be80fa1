"""Batched rotation algebra: quaternions, rotation vectors, matrices and Blender's Euler angles.

Every function broadcasts over leading axes. Quaternions are (..., 4) arrays, w first. Angles are radians.
An Euler order such as "XYZ" is Blender's: the rotation about X is applied first, so the matrix is Rz Ry Rx.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InvalidArgument
from .message import shown

Array = NDArray[Any]
Number = Array | float

IDENTITY: Array = np.array([1.0, 0.0, 0.0, 0.0])
EULER_ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
_TINY = 1e-12
_FEW = 1000
"""Numbers that are too few for operations on one component after the other."""
_GIMBAL_LOCK = 1e-7
_NEXT, _AFTER = np.array([1, 2, 0]), np.array([2, 0, 1])
"""The components after each one of a vector, in turn."""
_FACTORS = np.array([[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]])
"""By which component of the second quaternion each of the first is multiplied in each component of a product."""
_SIGNS = np.array([[1.0, 1.0, 1.0, 1.0], [-1.0, 1.0, -1.0, 1.0], [-1.0, 1.0, 1.0, -1.0], [-1.0, -1.0, 1.0, 1.0]])
"""The sign of these products, for arrays of few dimensions."""
_SIGNS_OF = {ndim: _SIGNS.reshape(4, 4, *[1] * (ndim - 1)) for ndim in (2, 3)}
_CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])


def identity(*shape: int) -> Array:
    """Identity quaternions of shape (*shape, 4)."""
    return np.broadcast_to(IDENTITY, (*shape, 4)).copy()


def normalize(v: ArrayLike) -> Array:
    """Vectors or quaternions (..., n) scaled to length 1; zero stays zero."""
    v = np.asarray(v, dtype=float)
    norm = length(v)[..., None]
    return v / np.where(norm > 0.0, norm, 1.0)


def multiply(a: ArrayLike, b: ArrayLike) -> Array:
    """Hamilton product a b (..., 4): rotate by b first, then by a."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if _are_few(a, b):
        # The same sums in the same order, also of zeros, in a quarter of the operations.
        parts = b.T.take(_FACTORS, axis=0)
        parts *= _SIGNS_OF[b.ndim]
        return np.add.reduce(a.T[:, None] * parts, axis=0, initial=-0.0).T
    aw, ax, ay, az = _components(a)
    bw, bx, by, bz = _components(b)
    w = aw * bw
    if isinstance(w, float | int):
        return _stacked(
            w - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        )
    result, part, times = _empty(w, 4), np.empty_like(w), np.multiply
    x, y, z = result[..., 1], result[..., 2], result[..., 3]
    # Written into the result: new arrays for each product would take as long as the arithmetic.
    w -= times(ax, bx, out=part)
    w -= times(ay, by, out=part)
    np.subtract(w, times(az, bz, out=part), out=result[..., 0])
    times(aw, bx, out=x)
    x += times(ax, bw, out=part)
    x += times(ay, bz, out=part)
    x -= times(az, by, out=part)
    times(aw, by, out=y)
    y -= times(ax, bz, out=part)
    y += times(ay, bw, out=part)
    y += times(az, bx, out=part)
    times(aw, bz, out=z)
    z += times(ax, by, out=part)
    z -= times(ay, bx, out=part)
    z += times(az, bw, out=part)
    return result


def accumulate(start: Array, steps: Array) -> Array:
    """The products start, start steps[:, 0], start steps[:, 0] steps[:, 1], ... of quaternions: (F, n + 1, 4).

    start: (F, 4). steps: (F, n, 4).
    """
    frames, count = steps.shape[:2]
    result = np.empty((frames, count + 1, 4), order="F")
    result[:, 0] = start
    parts = _products(range(-1, count - 1), steps.transpose(1, 0, 2), start).transpose(2, 0, 1, 3)
    result.reshape(frames, count + 1, 2, 2)[:, 1:] = parts
    return result


def accumulate_tree(parents: Sequence[int], steps: Array, base: Array | None = None) -> Array:
    """The products (n, ..., 4) of each quaternion (n, ..., 4) after those of its ancestors; parents: (n,), each before
    its children, -1 for those after `base` (..., 4), the identity by default."""
    frames = math.prod(steps.shape[1:-1])
    many = steps.reshape(len(steps), frames, 4)
    start = None if base is None else np.broadcast_to(base, steps.shape[1:]).reshape(frames, 4)
    result = _empty(many[..., 0], 4)
    result.reshape(*many.shape[:2], 2, 2)[:] = _products(parents, many, start).transpose(0, 2, 1, 3)
    return result.reshape(steps.shape)


def _products(parents: Sequence[int], steps: Array, base: Array | None) -> Array:
    """`accumulate_tree` of (n, F, 4) as pairs of complex numbers, (n, 2, F, 2) numbers.

    One product leads to the next, so each is of few numbers: a quaternion as a pair of complex numbers, a + b j, takes
    a quarter of the operations of `multiply`.
    """
    count, frames = steps.shape[:2]
    one, other, both = (np.empty((count, 2, frames), complex) for _ in range(3))
    one.view(float).reshape(count, 2, frames, 2)[:] = steps.reshape(count, frames, 2, 2).transpose(0, 2, 1, 3)
    # (a + b j) (c + d j) = (a c - b d*) + (a d + b c*) j
    np.conjugate(one[:, ::-1], out=other)
    np.negative(other[:, 0], out=other[:, 0])
    first = np.empty((2, frames), complex)
    if base is not None:
        first.view(float).reshape(2, frames, 2)[:] = base.reshape(frames, 2, 2).transpose(1, 0, 2)
    for joint, parent in enumerate(parents):
        if parent < 0 and base is None:
            both[joint] = one[joint]
            continue
        a, b = first if parent < 0 else both[parent]
        np.multiply(a, one[joint], out=both[joint])
        both[joint] += b * other[joint]
    return both.view(float).reshape(count, 2, frames, 2)


def _are_few(a: Array, b: Array) -> bool:
    """Whether vectors or quaternions are so few that each operation takes as long as it takes to begin; those whose
    components would be in another order in memory are not."""
    if a.size + b.size > _FEW or a.ndim != b.ndim:
        return False
    if a.ndim != 3:
        return a.ndim == 2
    return a.shape[1] == b.shape[1] and (a.shape[0] == b.shape[0] == 1 or (a.flags.fnc and b.flags.fnc))


def _components(a: ArrayLike) -> tuple[Any, ...]:
    """The elements along the last axis, each (...), those of one vector as plain numbers; moveaxis and unpacking are
    slower than the arithmetic."""
    a = np.asarray(a, dtype=float)
    if a.ndim == 1:
        return tuple(a.tolist())
    size = a.shape[-1]
    # Written out for vectors and quaternions: a loop would take as long as the rest.
    if size == 3:
        return a[..., 0], a[..., 1], a[..., 2]
    if size == 4:
        return a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    return tuple(a[..., n] for n in range(size))


def _empty(like: Array, size: int) -> Array:
    """Room for (..., size) elements with each component in one piece of memory, in the order of `like` (...).

    The arithmetic is on one component after the other: it is twice as fast where they are not interleaved.
    """
    if like.ndim < 2:
        return np.empty((size, *like.shape)).T
    if like.flags.fnc:
        return np.empty((*like.shape, size), order="F")
    return np.empty((size, *like.shape)).transpose(*range(1, like.ndim + 1), 0)


def _stacked(first: Number, second: Number, third: Number, fourth: Number | None = None) -> Array:
    """Equal shapes (...), or plain numbers, to one array (..., 3 or 4), like np.stack along the last axis, which is
    slow on small arrays."""
    if isinstance(first, float | int):
        return np.array((first, second, third) if fourth is None else (first, second, third, fourth))
    result = _empty(first, 3 if fourth is None else 4)
    result[..., 0], result[..., 1], result[..., 2] = first, second, third
    if fourth is not None:
        result[..., 3] = fourth
    return result


def inverse(q: ArrayLike) -> Array:
    """Inverse of unit quaternions (..., 4)."""
    return np.asarray(q, dtype=float) * _CONJUGATE


def dot(a: ArrayLike, b: ArrayLike) -> Array:
    """Inner product (...) of vectors or quaternions (..., n); of many, faster than a sum over so short an axis."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.size + b.size < _FEW:
        return np.add.reduce(a * b, axis=-1)
    first, *others = zip(_components(a), _components(b), strict=True)
    total = first[0] * first[1]
    for x, y in others:
        total = total + x * y
    return total


def length(v: ArrayLike) -> Array:
    """Length (...) of vectors or quaternions (..., n)."""
    return np.sqrt(dot(v, v))


def cross(a: ArrayLike, b: ArrayLike) -> Array:
    """Cross product of (..., 3) vectors; numpy's own is several times slower on small arrays."""
    ax, ay, az = _components(a)
    bx, by, bz = _components(b)
    part, times = az * by, np.multiply
    if isinstance(part, float | int):
        return np.array((ay * bz - part, az * bx - ax * bz, ax * by - ay * bx))
    result = _empty(part, 3)
    x, y, z = result[..., 0], result[..., 1], result[..., 2]
    times(ay, bz, out=x)
    x -= part
    times(az, bx, out=y)
    y -= times(ax, bz, out=part)
    times(ax, by, out=z)
    z -= times(ay, bx, out=part)
    return result


def rotate(q: ArrayLike, v: ArrayLike) -> Array:
    """Vectors v (..., 3) rotated by unit quaternions q (..., 4)."""
    q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
    if _are_few(q, v):
        return _few_rotated(q.T, v.T).T
    w, x, y, z = _components(q)
    a, b, c = _components(v)
    ta, tb, tc = y * c, z * a, x * b
    if isinstance(ta, float | int):
        ta, tb, tc = 2.0 * (ta - z * b), 2.0 * (tb - x * c), 2.0 * (tc - y * a)
        return _stacked(a + w * ta + y * tc - z * tb, b + w * tb + z * ta - x * tc, c + w * tc + x * tb - y * ta)
    result, part, times = _empty(ta, 3), np.empty_like(ta), np.multiply
    i, j, k = result[..., 0], result[..., 1], result[..., 2]
    ta -= times(z, b, out=part)
    tb -= times(x, c, out=part)
    tc -= times(y, a, out=part)
    ta += ta
    tb += tb
    tc += tc
    np.add(a, times(w, ta, out=part), out=i)
    i += times(y, tc, out=part)
    i -= times(z, tb, out=part)
    np.add(b, times(w, tb, out=part), out=j)
    j += times(z, ta, out=part)
    j -= times(x, tc, out=part)
    np.add(c, times(w, tc, out=part), out=k)
    k += times(x, tb, out=part)
    k -= times(y, ta, out=part)
    return result


def _few_rotated(q: Array, v: Array) -> Array:
    """`rotate` with the components first, in the same order of operations."""
    scalar, vector = q[0], q[1:]
    after, before = vector.take(_NEXT, axis=0), vector.take(_AFTER, axis=0)
    twice = after * v.take(_AFTER, axis=0) - before * v.take(_NEXT, axis=0)
    twice += twice
    return v + scalar * twice + after * twice.take(_AFTER, axis=0) - before * twice.take(_NEXT, axis=0)


def exp(v: ArrayLike) -> Array:
    """Rotation vectors (..., 3), axis times angle, to quaternions (..., 4)."""
    v = np.asarray(v, dtype=float)
    half = 0.5 * np.sqrt(dot(v, v))
    sine = 0.5 * np.sin(half) / np.where(half > _TINY, half, 1.0)
    sine = np.where(half > _TINY, sine, 0.5)
    result = _empty(half, 4)
    result[..., 0] = np.cos(half)
    np.multiply(sine[..., None], v, out=result[..., 1:])
    return result


def about(axis: ArrayLike, angle: ArrayLike) -> Array:
    """Unit axis (..., 3) and angle (...) to quaternions (..., 4)."""
    axis, half = np.asarray(axis, dtype=float), 0.5 * np.asarray(angle, dtype=float)
    result = np.empty((*np.broadcast_shapes(half.shape, axis.shape[:-1]), 4))
    result[..., 0] = np.cos(half)
    np.multiply(np.sin(half)[..., None], axis, out=result[..., 1:])
    return result


def log(q: ArrayLike) -> Array:
    """Quaternions (..., 4) to rotation vectors (..., 3), along the shorter arc: length in [0, pi]."""
    q = np.asarray(q, dtype=float)
    w, vector = q[..., 0], q[..., 1:]
    return vector * vector_scale(w, np.sqrt(dot(vector, vector)))[..., None]


def log_rate(v: ArrayLike, angular_velocity: ArrayLike) -> Array:
    """The rate of the rotation vector v (..., 3), shorter than 2 pi, of a rotation with this angular velocity (..., 3).

    Both in the space in which it rotates; units as given. Inverse of the left Jacobian of the rotation group.
    """
    v, w = np.asarray(v, float), np.asarray(angular_velocity, float)
    angle = np.linalg.norm(v, axis=-1)
    small = angle < 1e-3
    safe = np.where(small, 1.0, angle)
    factor = np.where(small, 1.0 / 12.0 + angle**2 / 720.0, 1.0 / safe**2 - 0.5 / (safe * np.tan(0.5 * safe)))
    turned = cross(v, w)
    return w - 0.5 * turned + factor[..., None] * cross(v, turned)


def vector_scale(w: Array, sine: Array) -> Array:
    """What turns the vector parts of quaternions into rotation vectors (...), from w and their lengths (...)."""
    angle = 2.0 * np.arctan2(sine, np.abs(w))
    small = sine < _TINY
    scale = np.where(small, 2.0, angle / np.where(small, 1.0, sine))
    return np.where(w < 0.0, -scale, scale)


def angle(q: ArrayLike) -> Array:
    """Angle (...) in [0, pi] of the rotations q (..., 4)."""
    q = np.asarray(q, dtype=float)
    return 2.0 * np.arctan2(length(q[..., 1:]), np.abs(q[..., 0]))


def distance(a: ArrayLike, b: ArrayLike) -> Array:
    """Angle (...) in [0, pi] of the rotation from a to b (..., 4)."""
    return angle(multiply(inverse(a), b))


def angle_between(a: ArrayLike, b: ArrayLike) -> Array:
    """Angle (...) in [0, pi] between directions a and b (..., 3) of any length."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return np.arctan2(length(cross(a, b)), dot(a, b))


def from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> Array:
    """Axis (..., 3), of any length but zero, and angle (...) to quaternions (..., 4)."""
    half = 0.5 * np.asarray(angle, dtype=float)[..., None]
    return _join(np.cos(half), np.sin(half) * normalize(axis))


def _join(w: Array, xyz: Array) -> Array:
    return np.concatenate((np.broadcast_to(w, (*xyz.shape[:-1], 1)), xyz), axis=-1)


def shortest_arc(a: ArrayLike, b: ArrayLike, up: ArrayLike | None = None) -> Array:
    """Smallest rotations (..., 4) that turn the direction a (..., 3) onto b (..., 3).

    Opposite directions have no shortest arc: the axis is then the component of `up` (..., 3) perpendicular to a or, if
    it is missing or parallel to a, a fixed axis perpendicular to a.
    """
    a, b = np.broadcast_arrays(normalize(a), normalize(b))
    w = 1.0 + np.sum(a * b, axis=-1, keepdims=True)
    opposite = w < 1e-10
    arc = normalize(np.concatenate((w, cross(a, b)), axis=-1))
    if not np.any(opposite):
        return arc
    fallback = np.where(np.abs(a[..., 2:]) < 0.9, np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0]))
    axis = fallback if up is None else np.broadcast_to(np.asarray(up, dtype=float), a.shape)
    square = axis - np.sum(axis * a, axis=-1, keepdims=True) * a
    bad = np.linalg.norm(square, axis=-1, keepdims=True) < 1e-9
    square = np.where(bad, fallback - np.sum(fallback * a, axis=-1, keepdims=True) * a, square)
    return np.where(opposite, _join(np.zeros_like(w), normalize(square)), arc)


def swing_twist(q: ArrayLike, axis: ArrayLike) -> tuple[Array, Array]:
    """Split q (..., 4) into swing and twist (..., 4 each), q = swing twist, the twist about axis (..., 3)."""
    q, axis = np.asarray(q, dtype=float), normalize(axis)
    along = np.sum(q[..., 1:] * axis, axis=-1, keepdims=True)
    twist = np.concatenate((q[..., :1], along * axis), axis=-1)
    size = length(twist)[..., None]
    twist = np.where(size > _TINY, twist / np.where(size > _TINY, size, 1.0), IDENTITY)
    return multiply(q, inverse(twist)), twist


def slerp(a: ArrayLike, b: ArrayLike, t: ArrayLike) -> Array:
    """Point t (...) in [0, 1] of the short great arc from a to b (..., 4)."""
    return multiply(a, exp(np.asarray(t, dtype=float)[..., None] * log(multiply(inverse(a), b))))


def align_hemisphere(q: ArrayLike) -> Array:
    """The same rotations (F, ..., 4) with signs such that neighbours along the first axis are in the same
    hemisphere."""
    q = np.asarray(q, dtype=float)
    if len(q) < 2:
        return q
    opposite = dot(q[1:], q[:-1]) < 0.0
    return np.where(_changed_so_far(opposite)[..., None], -q, q) if opposite.any() else q


def _changed_so_far(changes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For each of the F frames, whether the number of changes (F - 1, ...) before it is odd."""
    return np.concatenate((np.zeros((1, *changes.shape[1:]), dtype=bool), np.cumsum(changes, axis=0) % 2 == 1))


def to_matrix(q: ArrayLike) -> Array:
    """Quaternions (..., 4) to rotation matrices (..., 3, 3)."""
    w, x, y, z = np.moveaxis(normalize(q), -1, 0)
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def from_matrix(m: ArrayLike) -> Array:
    """Matrices (..., 3, 3) to quaternions (..., 4), w not negative.

    Scale and shear are removed: columns are orthogonalized in the order Y, X, Z, because Y is the axis of a Blender
    bone. A mirrored matrix gives the rotation of its negative.
    """
    m = np.asarray(m, dtype=float)
    x, y, z = (m[..., :, n] for n in range(3))
    mirrored = (dot(cross(x, y), z) < 0.0)[..., None]
    x, y = np.where(mirrored, -x, x), normalize(np.where(mirrored, -y, y))
    x = normalize(x - dot(x, y)[..., None] * y)
    z = cross(x, y)
    m00, m11, m22 = x[..., 0], y[..., 1], z[..., 2]
    # The largest of the four squared components is at least 1/4: dividing by it is accurate.
    squares = (1 + m00 + m11 + m22, 1 + m00 - m11 - m22, 1 - m00 + m11 - m22, 1 - m00 - m11 + m22)
    wx, wy, wz = y[..., 2] - z[..., 1], z[..., 0] - x[..., 2], x[..., 1] - y[..., 0]
    xy, xz, yz = y[..., 0] + x[..., 1], z[..., 0] + x[..., 2], z[..., 1] + y[..., 2]
    best = np.argmax(np.stack(squares), axis=0)
    candidates = (
        (squares[0], wx, wy, wz),
        (wx, squares[1], xy, xz),
        (wy, xy, squares[2], yz),
        (wz, xz, yz, squares[3]),
    )
    q = normalize(np.stack([np.choose(best, component) for component in candidates], axis=-1))
    return np.where(q[..., :1] < 0.0, -q, q)


def unevenness(m: ArrayLike) -> Array:
    """(...) by how much the scale of matrices (..., 3, 3) differs between their axes, as a part of the largest."""
    sizes = np.linalg.norm(np.asarray(m, dtype=float), axis=-2)
    return np.ptp(sizes, axis=-1) / np.maximum(sizes.max(axis=-1), np.finfo(float).tiny)


def shear(m: ArrayLike) -> Array:
    """(...) the largest cosine of two axes of matrices (..., 3, 3)."""
    m = np.asarray(m, dtype=float)
    unit = m / np.linalg.norm(m, axis=-2, keepdims=True)
    return np.abs(np.sum(unit * np.roll(unit, 1, axis=-1), axis=-2)).max(axis=-1)


def is_uneven(m: ArrayLike, tolerance: float = 1e-5) -> NDArray[np.bool_]:
    """(...) whether the `unevenness` of matrices (..., 3, 3) is above the tolerance."""
    return unevenness(m) > tolerance


def is_sheared(m: ArrayLike, tolerance: float = 1e-5) -> NDArray[np.bool_]:
    """(...) whether the `shear` of matrices (..., 3, 3) is above the tolerance."""
    return shear(m) > tolerance


def check_euler_order(order: object) -> None:
    """Raise InvalidArgument for an Euler order that is unknown."""
    if not isinstance(order, str) or order not in EULER_ORDERS:
        raise InvalidArgument(
            "Euler order {order!r} is unknown; use one of {euler_orders}.",
            order=shown(order),
            euler_orders=", ".join(EULER_ORDERS),
        )


def _order(order: str) -> tuple[int, int, int, float]:
    check_euler_order(order)
    i, j, k = ("XYZ".index(letter) for letter in order)
    return i, j, k, 1.0 if (j - i) % 3 == 1 else -1.0


def from_euler(e: ArrayLike, order: str = "XYZ") -> Array:
    """Euler angles (..., 3), stored as x, y, z in any order, to quaternions (..., 4)."""
    i, j, k, _ = _order(order)
    e, axes = np.asarray(e, dtype=float), np.eye(3)
    first, second, third = (from_axis_angle(axes[n], e[..., n]) for n in (i, j, k))
    return multiply(third, multiply(second, first))


def to_euler(q: ArrayLike, order: str = "XYZ") -> Array:
    """Quaternions (..., 4) to Euler angles (..., 3), the middle angle in [-pi/2, pi/2].

    In gimbal lock only the sum or difference of the outer angles is defined: the third is then 0.
    """
    i, j, k, sign = _order(order)
    m = to_matrix(q)
    cosine = np.hypot(m[..., i, i], m[..., j, i])
    locked = cosine < _GIMBAL_LOCK
    e = np.empty(m.shape[:-1])
    e[..., j] = np.arctan2(-sign * m[..., k, i], cosine)
    e[..., i] = np.where(
        locked, np.arctan2(-sign * m[..., j, k], m[..., j, j]), np.arctan2(sign * m[..., k, j], m[..., k, k])
    )
    e[..., k] = np.where(locked, 0.0, np.arctan2(sign * m[..., j, i], m[..., i, i]))
    return e


def continuous_euler(e: ArrayLike, order: str = "XYZ", start: ArrayLike | None = None) -> Array:
    """The same rotations as e (F, ..., 3) with angles that are continuous along the first axis.

    Each rotation has two sets of angles, modulo 2 pi: the one nearest to the previous angles is used. `start` (..., 3):
    angles near those of the first frame (default: itself).
    """
    i, j, k, sign = _order(order)
    e = np.array(e, dtype=float)
    if not len(e):
        return e
    if start is not None:
        e = np.concatenate((np.broadcast_to(np.asarray(start, dtype=float), (1, *e.shape[1:])), e))
    locked = np.abs(np.cos(e[..., j])) < _GIMBAL_LOCK
    locked[0] &= start is None
    if np.any(locked):
        # The third angle is arbitrary there: keep that of the previous frame, or of the next if all previous ones are
        # locked.
        frames = np.arange(len(e)).reshape(-1, *(1,) * (e.ndim - 2))
        source = np.maximum.accumulate(np.where(locked, -1, frames), axis=0)
        source = np.where(source < 0, np.argmin(locked, axis=0), source)
        turn = np.take_along_axis(e[..., k], source, axis=0) - e[..., k]
        e[..., k] += turn
        e[..., i] += sign * np.sign(np.sin(e[..., j])) * turn
    other = e.copy()
    other[..., [i, k]] += np.pi
    other[..., j] = np.pi - other[..., j]

    def distance(a: Array, b: Array) -> Array:
        return np.sum(np.abs(np.remainder(a - b + np.pi, 2.0 * np.pi) - np.pi), axis=-1)

    # The distance of two frames depends only on whether exactly one of them uses its other set.
    odd = _changed_so_far(distance(other[1:], e[:-1]) < distance(e[1:], e[:-1]))
    result = np.unwrap(np.where(odd[..., None], other, e), axis=0)
    return result if start is None else result[1:]
