"""Inverse dynamics and its derivatives in closed form, for many samples at once.

Source: Singh, Russo, Wensing, Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra,
IEEE Robotics and Automation Letters 7, 2022. Motions and forces are spatial vectors in the world, the angular part
first; the sums over ancestors and descendants are products with the matrix of ancestors, as in `Body`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..rotation import Array
from .body import Body


@dataclass(frozen=True)
class Derivatives:
    """Torques and their derivatives by the motion of a joints; (s, 3 n, 3 a), each in the frame of its bone."""

    torques: Array
    """(s, n, 3) torques."""
    by_pose: Array
    """Derivatives by rotations."""
    by_velocity: Array
    """Derivatives by velocities."""
    by_acceleration: Array
    """Derivatives by accelerations, which are the mass matrix."""


def differentiated(
    body: Body, joints: NDArray[np.int_], pose: Array, w: Array, dw: Array, gravity: Array
) -> Derivatives:
    """Torques for poses (s, n, 4), and their derivatives by the motion of `joints` (a,), the only ones that move: at
    velocities w (s, a, 3) with accelerations dw (s, a, 3). gravity: (3,)."""
    turned, place = body.placed(np.moveaxis(pose, 1, 0))
    above = body.ancestors
    over = above[:, joints]
    # The motion of each bone if its joint rotates about its own axes.
    axes = np.concatenate((turned, _across(place) @ turned), axis=-2)
    own = axes[joints]
    spin = _applied(own, np.moveaxis(w, 1, 0))
    velocity = _summed(over, spin)
    moving = _motion_cross(velocity)
    rise = _applied(own, np.moveaxis(dw, 1, 0)) + _applied(moving[joints], spin)
    fall = np.concatenate((np.zeros(3), -gravity))
    acceleration = _summed(over, rise) + fall

    inertia = _inertias(body, turned, place)
    twisted = inertia @ moving
    momentum = _applied(inertia, velocity)
    force = _applied(inertia, acceleration) - _applied(np.swapaxes(moving, -1, -2), momentum)
    coriolis = _force_cross(momentum) - twisted - np.swapaxes(twisted, -1, -2)
    both = _summed(above.T, np.concatenate((inertia, coriolis), axis=-1))
    force = _summed(above.T, force)

    parents = np.asarray(body.parents)[joints]
    is_root = (parents < 0)[:, None, None]
    base = _motion_cross(np.where(is_root, 0.0, velocity[parents]))
    push = _motion_cross(np.where(is_root, fall, acceleration[parents]))
    first = base @ own
    second = push @ own + base @ first
    change = first + moving[joints] @ own
    heavy, slow = both[joints, ..., :6], both[joints, ..., 6:]
    carried = heavy @ np.concatenate((second, change, own), axis=-1)
    dragged = slow @ np.concatenate((first, own), axis=-1)
    bent = carried[..., :3] + dragged[..., :3] + _force_cross(force[joints]) @ own
    # The torques of descendants by the motion of a joint, and those of its ancestors.
    across = np.swapaxes(axes, -1, -2)
    lower, upper = _rows(across @ both), _rows(across)
    is_below = np.kron(over, np.ones((3, 3)))
    is_above = np.kron(above.T[:, joints], np.ones((3, 3))) * (1.0 - is_below)

    def block(of_descendants: Array, of_ancestors: Array) -> Array:
        derivatives = lower[..., : of_descendants.shape[-2]] @ _columns(of_descendants)
        derivatives *= is_below
        other = upper @ _columns(of_ancestors)
        other *= is_above
        derivatives += other
        return derivatives

    return Derivatives(
        np.moveaxis(_applied(across, force), 0, 1),
        block(np.concatenate((second, first), axis=-2), bent),
        block(np.concatenate((change, own), axis=-2), carried[..., 3:6] + dragged[..., 3:]),
        block(own, carried[..., 6:]),
    )


def _applied(matrix: Array, v: Array) -> Array:
    return (matrix @ v[..., None])[..., 0]


def _summed(matrix: Array, values: Array) -> Array:
    """Sums (m, ...) of values (k, ...), weighted by a matrix (m, k)."""
    return (matrix @ values.reshape(len(values), -1)).reshape(len(matrix), *values.shape[1:])


def _rows(values: Array) -> Array:
    """(n, s, 3, k) as (s, 3 n, k)."""
    return np.moveaxis(values, 0, 1).reshape(values.shape[1], -1, values.shape[-1])


def _columns(values: Array) -> Array:
    """(a, s, k, 3) as (s, k, 3 a)."""
    return values.transpose(1, 2, 0, 3).reshape(values.shape[1], values.shape[2], -1)


def _across(v: Array) -> Array:
    """The matrices (..., 3, 3) of cross products with v (..., 3)."""
    found = np.zeros((*v.shape, 3))
    found[..., 2, 1], found[..., 1, 2] = v[..., 0], -v[..., 0]
    found[..., 0, 2], found[..., 2, 0] = v[..., 1], -v[..., 1]
    found[..., 1, 0], found[..., 0, 1] = v[..., 2], -v[..., 2]
    return found


def _motion_cross(v: Array) -> Array:
    """The matrices (..., 6, 6) of cross products of motions v (..., 6) with others."""
    found = np.zeros((*v.shape, 6))
    found[..., :3, :3] = found[..., 3:, 3:] = _across(v[..., :3])
    found[..., 3:, :3] = _across(v[..., 3:])
    return found


def _force_cross(f: Array) -> Array:
    """The matrices (..., 6, 6) that give the cross products of motions with forces f (..., 6)."""
    found = np.zeros((*f.shape, 6))
    found[..., :3, :3] = -_across(f[..., :3])
    found[..., :3, 3:] = found[..., 3:, :3] = -_across(f[..., 3:])
    return found


def _inertias(body: Body, turned: Array, place: Array) -> Array:
    """The spatial inertias (n, s, 6, 6) of bones with orientations (n, s, 3, 3) and joints at places (n, s, 3)."""
    masses = np.asarray(body.masses)[:, None, None, None]
    centers = place + (turned @ np.asarray(body.centers)[:, None, :, None])[..., 0]
    arm = masses * _across(centers)
    inertias = np.empty((*place.shape[:2], 6, 6))
    own = turned @ np.asarray(body.inertias)[:, None] @ np.swapaxes(turned, -1, -2)
    inertias[..., :3, :3] = own - arm @ _across(centers)
    inertias[..., :3, 3:], inertias[..., 3:, :3] = arm, -arm
    inertias[..., 3:, 3:] = masses * np.eye(3)
    return inertias
