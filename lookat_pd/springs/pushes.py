"""What a push in one direction does to a bone that is swung, by its torques across the animated bone and along it."""

import numpy as np

from ..rotation import Array

WIDEST = 2.4
"""Swings beyond this [rad] are held there: the sphere's other pole is near."""


def pushed(across: Array, along: Array, z: Array) -> Array:
    """What a push does to a swing z: its part across the bone as that stands, carried back to the tangent plane."""
    return across + bent(across, along, z)


def bent(across: Array, along: Array, z: Array) -> Array:
    """The difference between what a push does to a swing z and what it does to none."""
    angle = np.abs(z)
    unit = z / np.maximum(angle, 1e-9)
    outward = (across * unit.conj()).real
    return -unit * ((1.0 - np.cos(angle)) * outward + np.sin(angle) * along)


def slopes(across: Array, along: Array, z: Array) -> Array:
    """(..., 2, 2) how that changes with the real and imaginary parts of z."""
    angle = np.abs(z)
    safe = np.maximum(angle, 1e-9)
    unit = z / safe
    outward, aside = (across * unit.conj()).real, (across * unit.conj()).imag
    sine, less = np.sin(angle), 1.0 - np.cos(angle)
    farther = -(sine * outward + np.where(angle > 1e-9, np.cos(angle), 1.0) * along)
    # Round about, both the direction outward and the part of the push along it change.
    about = -np.where(angle > 1e-9, (less * outward + sine * along) / safe, along)
    turned = -less * aside / safe
    x, y = unit.real, unit.imag
    still = angle <= 1e-9
    x, y = np.where(still, 1.0, x), np.where(still, 0.0, y)
    to = np.stack((np.stack((x, y), axis=-1), np.stack((-y, x), axis=-1)), axis=-2)
    own = np.stack((np.stack((farther, turned), axis=-1), np.stack((0.0 * angle, about), axis=-1)), axis=-2)
    return np.swapaxes(to, -1, -2) @ own @ to
