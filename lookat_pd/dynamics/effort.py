"""The torques of an arm in a sampled motion, and what the motion costs: the changes of these torques."""

import numpy as np

from .. import rotation
from ..rotation import Array
from .arm import Arm
from .body import STILL
from .splines import SmoothCurve

_JUMP = 11.0
"""Weight of the changes from and to rest. At a smooth start with jerk j the discrete torques of the first two samples
are j h / 6 and j h: with this weight, their squared changes are (25 + 11) / 36 of the (j h)^2 of the integral."""
_FINEST = 16
"""Into how many parts the steps of a motion are divided at most to integrate its cost."""
_ROUGH = 8
"""Into how many parts the steps of an uneven motion are divided at least: fewer are seldom enough."""
_INACCURATE = 0.01
"""Difference between two extrapolations of the cost, as a fraction, above which it is integrated with more parts."""


def torques(arm: Arm, motion: Array, h: float) -> Array:
    """Torques (..., N + 1, n, 3) of all joints at the samples.

    The velocity at a sample is the mean of those in the adjacent steps, so that a reversed motion has the same
    torques.
    """
    speeds = arm.speeds(motion, h)
    before, after = speeds[..., :-1, :, :], speeds[..., 1:, :, :]
    return inverse(arm, motion, 0.5 * (before + after), (after - before) / h)


def inverse(arm: Arm, motion: Array, w: Array, dw: Array) -> Array:
    """Torques (..., n, 3) of all joints for velocities and accelerations (..., a, 3) of the moving joints."""
    n, batch = len(arm.body), motion.shape[:-2]
    spin, change = np.zeros((2, n, *batch, 3))
    spin[arm.joints], change[arm.joints] = np.moveaxis(w, -2, 0), np.moveaxis(dw, -2, 0)
    pose = np.moveaxis(arm.whole(motion), -2, 0)
    torques = arm.body.torques(pose, spin, change, arm.gravity, STILL)
    return np.moveaxis(torques, 0, -2) + arm.damping[:, None] * np.moveaxis(spin, 0, -2)


def changes(arm: Arm, motion: Array, h: float) -> Array:
    """The weighted changes of torque (..., N + 2, 3 n); the cost is half the sum of their squares.

    The first starts from the torques of the body before the motion, at constant velocity or rest; the last ends at
    those afterwards.
    """
    return differences(arm, inverse(arm, *_states(arm, motion, h)), h)


def _states(arm: Arm, motion: Array, h: float) -> tuple[Array, Array, Array]:
    """Poses (..., N + 3, a, 4), velocities and accelerations (..., N + 3, a, 3) before, after and during a
    motion."""
    speeds = arm.speeds(motion, h)
    ends = motion[..., [0, -1], :, :]
    before, after = speeds[..., :-1, :, :], speeds[..., 1:, :, :]
    still = np.zeros((*ends.shape[:-1], 3))
    return (
        np.concatenate((ends, motion), axis=-3),
        np.concatenate((still + arm.outside, 0.5 * (before + after)), axis=-3),
        np.concatenate((still, (after - before) / h), axis=-3),
    )


def differences(arm: Arm, torques: Array, h: float) -> Array:
    """`changes` from the torques (..., N + 3, n, 3) before and after a motion, and those at its samples."""
    whole = np.concatenate((torques[..., :1, :, :], torques[..., 2:, :, :], torques[..., 1:2, :, :]), axis=-3)
    steps = np.diff(whole, axis=-3)
    return steps.reshape(*steps.shape[:-2], -1) * scales(arm, steps.shape[-3], h)


def scales(arm: Arm, count: int, h: float) -> Array:
    """The factors (count, 3 n) of changes of torque between samples h seconds apart in the residuals."""
    result = np.tile(np.repeat(arm.weights, 3) / np.sqrt(h), (count, 1))
    result[[0, -1]] *= np.sqrt(_JUMP)
    return result


def later(arm: Arm, motion: Array, h: float) -> Array:
    """The torques (N + 3, a, 3) of the joints that move, including the holding torques before and after, for steps
    of h seconds of a motion (N + 1, a, 4): velocities are those of the previous step."""
    speeds = arm.speeds(motion, h)
    before, after = speeds[:-1], speeds[1:]
    ends, still = motion[[0, -1]], np.zeros((2, *speeds.shape[1:]))
    poses = np.concatenate((ends[:1], motion, ends[1:]))
    w = np.concatenate((arm.outside[:1], before, arm.outside[1:]))
    dw = np.concatenate((still[:1], (after - before) / h, still[1:]))
    return inverse(arm, poses, w, dw)[:, arm.joints]


def cost(arm: Arm, motion: Array, h: float, *, rough: bool = False) -> float:
    """Half the integral of the squared, weighted rates of torque [N^2 m^2/s] of the smooth motion through the
    samples (N + 1, a, 4). rough: whether these may be uneven, so that more of the motion must be seen."""
    count, smooth = len(motion) - 1, curve(arm, motion, h)
    parts = 1 if count % 4 == 0 and not rough else _ROUGH
    while True:
        step = h / parts
        torques = inverse(arm, *_spinning(*smooth.divided(parts)))
        torques *= arm.weights[:, None]
        fine, coarse, coarsest = (_rate_integral(torques[::every], every * step) for every in (1, 2, 4))
        # Extrapolated from two lengths of steps to none (Richardson).
        best, before = fine + (fine - coarse) / 3.0, coarse + (coarse - coarsest) / 3.0
        if parts >= _FINEST or abs(best - before) <= _INACCURATE * best:
            return best
        parts *= 2


def curve(arm: Arm, motion: Array, h: float) -> SmoothCurve:
    """The smooth motion through samples (N + 1, a, 4), in quaternions that need not be normalized; without
    acceleration at its ends."""
    samples = rotation.align_hemisphere(motion)
    ends, w = samples[[0, -1]], arm.outside
    spins = np.concatenate((np.zeros((*w.shape[:-1], 1)), w), axis=-1)
    velocities = 0.5 * rotation.multiply(ends, spins)
    return SmoothCurve.through(h, samples, velocities, -0.25 * rotation.dot(w, w)[..., None] * ends)


def moving(curve: SmoothCurve, times: Array) -> tuple[Array, Array, Array]:
    """Poses (m, a, 4), velocities and accelerations (m, a, 3) at times (m,) of a curve."""
    return _spinning(*curve.at(times))


def _spinning(q: Array, slope: Array, bend: Array) -> tuple[Array, Array, Array]:
    """Poses (m, a, 4), velocities and accelerations (m, a, 3) of quaternions that need not be normalized, with their
    derivatives."""
    size = rotation.dot(q, q)[..., None]
    spun = 2.0 * rotation.multiply(rotation.inverse(q), np.stack((slope, bend)))[..., 1:] / size
    grows = 2.0 * rotation.dot(q, slope)[..., None] / size
    return rotation.normalize(q), spun[0], spun[1] - grows * spun[0]


def _rate_integral(torques: Array, step: float) -> float:
    """Half the integral of the squared rates of torques (m, n, 3) that many seconds apart."""
    return 0.5 * float(np.sum(np.diff(torques, axis=0) ** 2)) / step
