"""Rotation vectors that change: the angular velocities and accelerations of the rotations they stand for."""

import numpy as np

from .. import rotation
from ..rotation import Array

_SMALL = 0.02
"""Angle below which the coefficients of a rotation vector's derivatives are taken from their series."""


def spinning(e: Array, de: Array) -> Array:
    """Angular velocity (..., 3) of exp(e), in its own frame, from e and its derivative."""
    square, a, b = _series(e)[:3]
    along = b * rotation.dot(e, de)
    return (1.0 - b * square)[..., None] * de - a[..., None] * rotation.cross(e, de) + along[..., None] * e


def turning(e: Array, de: Array, dde: Array) -> tuple[Array, Array]:
    """Angular velocity and acceleration (..., 3) of exp(e), in its own frame, from e and its two derivatives.

    w = e' - a e x e' + b e x (e x e') and its derivative, with the double products written as e x (e x v) =
    (e v) e - (e e) v.
    """
    square, a, b, a_rate, b_rate = _series(e)
    along = rotation.dot(e, de)
    bend = rotation.dot(de, de) + rotation.dot(e, dde)
    da, db, ahead = along * a_rate, along * b_rate, along * b
    first, second, straight = rotation.cross(e, de), rotation.cross(e, dde), 1.0 - b * square
    w = straight[..., None] * de
    w -= a[..., None] * first
    w += ahead[..., None] * e
    dw = straight[..., None] * dde
    dw -= (db * square + ahead)[..., None] * de
    dw += (db * along + b * bend)[..., None] * e
    first *= da[..., None]
    second *= a[..., None]
    dw -= first
    dw -= second
    return w, dw


def _series(e: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Of rotation vectors (..., 3): the squared angle, the factors a and b of the vector products in the derivative of
    exp(e), and the rates of these factors for half of the squared angle."""
    square = rotation.dot(e, e)
    angle = np.maximum(np.sqrt(square), _SMALL)
    inverse = 1.0 / (angle * angle)
    sine = np.sin(angle) / angle
    a, b = (1.0 - np.cos(angle)) * inverse, (1.0 - sine) * inverse
    a_rate, b_rate = (sine - 2.0 * a) * inverse, (a - 3.0 * b) * inverse
    small = np.nonzero(square < _SMALL * _SMALL)
    if len(small[0]):
        few = square[small]
        a[small], b[small] = 0.5 - few / 24.0, 1.0 / 6.0 - few / 120.0
        a_rate[small], b_rate[small] = few / 180.0 - 1.0 / 12.0, few / 1260.0 - 1.0 / 60.0
    return square, a, b, a_rate, b_rate
