"""The motion of limbs that show their mass, in closed form: joints break one after the other, from the root to the tip.

Each joint starts late, and is still moving when the others have arrived, by a lag that its moment of inertia I gives it
in addition to that of the joint before it: LAG (sqrt(I J) / 1 kg m^2)^(1/5), with J that of the first joint, since
limbs of one shape have an inertia of the fifth power of their length and take times in proportion to it. The time of
the whole limb counts as much as that of the joint: a wrist is behind its elbow by 30 to 60 ms, as in a throw, and not
by a third of that, as its own small inertia would have it. Between two keys the joint follows a quintic, as a
movement of least jerk, of a time that is warped: the lag puts its middle later. What falls is later still, and what is
lifted earlier. At keys at which a joint turns around or holds, it still has the speed that its lag leaves it; that dies
away critically damped while the next movement begins. Keys are hit exactly, and the motion has two continuous
derivatives.

Sources: Flash, Hogan, The coordination of arm movements, 1985, for the quintic; Putnam, Sequential motions of body
segments in striking and throwing skills, 1993, for the order of the joints; Papaxanthis, Pozzo, Stapley, Effects of
movement direction upon kinematic characteristics of vertical arm pointing movements in man, 1998, for up and down.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .. import rotation
from ..curves import late_slope, smooth_step
from ..rotation import Array
from . import law
from .body import Body
from .rotation_rates import turning

LAG = 0.09
"""The lag [s] of a joint of 1 kg m^2 behind the one before it, at the tension `USUAL`."""
USUAL = 4.0
"""Sharpness of the law at which the lag is that."""
_POWER = 0.2
_MIDDLE = 0.4
"""The fraction of its time at which a movement without lag is halfway."""
_LATEST = 0.42
"""What lags add to it at most."""
_FALL = 0.08
"""What falling adds to it, and lifting takes away, at most."""
_CARRIED = 0.4
"""Largest speed that is left at a key, in mean speeds of the movement to it."""
_RETURN = 2.0
"""Frequency of the return to a key, times the lag."""
_BRAKES = 0.5
"""How much of the return's brake acts at the key already: of 1 the speed dies away as after an impulse, and of 0 it is
constant at the key."""
_OVERSHOOT = 0.5869
"""The way beyond a key, times the frequency of the return, over the speed there: the maximum of (x + x^2 / 2) e^-x."""
_SETTLED = 8.0
"""Time times frequency after which less than a hundredth of the way beyond a key is left."""
_MOST_SWING = 1.7
"""Largest speed at the last key for a swing past it, in mean speeds."""
_SLOWEST = 1e-12
_LOOKS = 65
"""Number of times after a key at which the limits of joints are looked at."""
_WITHIN = 1e-5
"""Angle [rad] beyond a limit that counts as within."""
_MORE = 1.1
"""How much more than what is beyond a limit is taken away, since the speed acts a little longer than it is seen."""
_AT_ONCE = 4096
"""Number of joints times keys of which the inertia is computed at once."""


class Bound(Protocol):
    """What joints do not leave."""

    def clamp(self, rotations: Array) -> Array:
        """The nearest allowed rotations (..., n, 4)."""
        ...


@dataclass(frozen=True)
class Succession:
    """The motion through k keys of n joints. Interval i ends at key i + 1; the last one follows the last key."""

    times: Array
    """(k,) times of the keys [s]."""
    lengths: Array
    """(k,) [s] of the intervals."""
    goals: Array
    """(k, n, 4), the key at the end of each interval."""
    way: Array
    """(k, n, 3), rotation vectors from the start of each interval to its goal, in the frame of the goal."""
    early: Array
    """(k, n, 3), what passing the key at the start adds, as a rotation vector of the slope, times the length."""
    late: Array
    """(k, n, 3), the same of the key at the end."""
    carried: Array
    """(k, n, 3) [rad/s], the speed that is left at the start and dies away."""
    leaves: Array
    """(k, n, 3), the speed that is left at the end, times the length."""
    bent: Array
    """(k, n, 3), the second derivative that the acceleration at the start asks for, times the square of the length."""
    warped: Array
    """(k, n), the part of the way that the lag acts on."""
    warp: Array
    """(k, n), how the time is warped: the middle of the movement is at the time of warp / (1 + warp)."""
    back: Array
    """(k, n) [rad/s], frequency at which the carried speed dies away."""
    stop: Array
    """(k, n) [rad/s], that of the end of each interval."""
    frequency: Array
    """(k, n) [rad/s], with which a body that is disturbed returns to the motion."""

    @property
    def left(self) -> Array:
        """(k, n, 3): nothing is left at a key to be corrected."""
        return np.zeros(self.way.shape)

    def at(self, t: Array, interval: Array | None = None) -> tuple[Array, Array, Array]:
        """Poses (m, n, 4), velocities and accelerations (m, n, 3) at times (m,); at a key those after it."""
        if interval is None:
            interval = np.clip(np.searchsorted(self.times, t + 1e-9, side="right") - 1, 0, len(self.times) - 1)
        e, de, dde = self._vectors(t, interval)
        w, dw = turning(e, de, dde)
        return rotation.multiply(self.goals[interval], rotation.exp(e)), w, dw

    def poses(self, t: Array, interval: Array | None = None) -> Array:
        """The poses (m, n, 4) of `at` alone."""
        return self.at(t, interval)[0]

    def _vectors(self, t: Array, interval: Array) -> tuple[Array, Array, Array]:
        """Rotation vectors (m, n, 3) from the goals of intervals (m,) at times (m,), and their two derivatives."""
        length = self.lengths[interval][:, None]
        since = np.clip(t[:, None] - self.times[interval][:, None], 0.0, length)
        x = since / length
        step, first, last = smooth_step(x), _early(x), late_slope(x)
        beyond = np.zeros((3, *self.way[interval].shape))
        warped = _warped(x, self.warp[interval])
        moved = _composed(smooth_step(warped[0]), warped)
        out = _leaving(x, warped, self.warp[interval], length * self.stop[interval])
        share = self.warped[interval]
        bend = _bend(1.0 - x)
        bends = bend[0], -bend[1], bend[2]
        falls = _dying(since, self.back[interval], x, length)
        for order in range(3):
            size = length**-order
            mix = step[order] + (moved[order] - step[order]) * share - (order == 0)
            beyond[order] += (size * mix)[..., None] * self.way[interval]
            beyond[order] += (size * first[order])[..., None] * self.early[interval]
            beyond[order] += (size * last[order])[..., None] * self.late[interval]
            beyond[order] += (size * out[order])[..., None] * self.leaves[interval]
            beyond[order] += (size * bends[order])[..., None] * self.bent[interval]
            beyond[order] += falls[order][..., None] * self.carried[interval]
        return beyond[0], beyond[1], beyond[2]


def through(
    body: Body,
    keys: Array,
    times: Array,
    residual: Array,
    velocities: Array,
    keeps: Array,
    gravity: Array,
    settle: float = 0.0,
    swing_past: float = 0.0,
) -> Succession:
    """The motion of a body through keys (k, n, 4) at times (k,) for residuals (n,), of which less makes lags shorter.

    velocities: (k, n, 3) [rad/s] with which the joints pass the keys. keeps: (k, n), from 0 to 1, how much of the speed
    that its lag leaves it a joint keeps at a key at which it would stop. gravity: (3,) [m/s^2]. settle: [s] after the
    last key, without which all speed ends there. swing_past: how far the joints go beyond the last key before they
    return, as a fraction of the last distance.
    """
    lengths, sharp = np.diff(times), law.sharpness(residual)
    goals = np.concatenate((keys[1:], keys[-1:]))
    way = rotation.log(rotation.multiply(rotation.inverse(keys), goals))
    # Seen from the goal the way is the same vector.
    lags = _lags(body, keys) * (USUAL / sharp)
    whole = np.append(lengths, settle if settle > 0.0 else law.LONG)
    lag = np.concatenate((0.5 * (lags[:-1] + lags[1:]), lags[-1:]))
    share = lag / whole[:, None]
    late = _LATEST * share / (share + _LATEST)
    middle = _MIDDLE + late + _FALL * _falling(body, keys, way, whole, gravity)
    warp = middle / (1.0 - middle)
    back = _return(lags)
    kept = _kept(way[:-1], lengths, share[:-1], velocities[1:], keeps[1:])
    if swing_past:
        back[-1] = _slow(back[-1], float(lengths[-1]), swing_past)
        size, went = np.linalg.norm(kept[-1], axis=-1), np.linalg.norm(way[-2], axis=-1)
        # At least the speed that lags leave.
        speed = np.maximum(swing_past / _farthest(back[-1], settle), size / np.maximum(went, _SLOWEST))
        kept[-1] = speed[:, None] * way[-2]
    if settle <= 0.0:
        kept[-1] = 0.0
    carried = np.zeros((*keys.shape[:2], 3))
    carried[1:] = rotation.log_rate(way[1:], kept)
    early = rotation.log_rate(way, velocities) * whole[:, None, None]
    late_part = np.zeros(early.shape)
    late_part[:-1] = velocities[1:] * lengths[:, None, None]
    leaves = np.zeros(early.shape)
    leaves[:-1] = kept * lengths[:, None, None]
    carried[-1] += velocities[-1]
    early[-1] = 0.0
    bent = _bent(way, velocities, carried, kept, back) * whole[:, None, None] ** 2
    bent[-1] = 0.0
    along = rotation.dot(early + late_part, way) / np.maximum(2.0 * rotation.dot(way, way), _SLOWEST)
    warped = np.clip(1.0 - along, 0.0, 1.0)
    stop = np.concatenate((back[1:], back[-1:]))
    frequency = sharp / np.append(lengths, lengths[-1])[:, None]
    return Succession(
        times, whole, goals, way, early, late_part, carried, leaves, bent, warped, warp, back, stop, frequency
    )


def within(
    bounds: Sequence[Bound],
    body: Body,
    keys: Array,
    times: Array,
    residual: Array,
    velocities: Array,
    keeps: Array,
    gravity: Array,
    settle: float = 0.0,
    swing_past: float = 0.0,
) -> Succession:
    """As `through`, with joints that keep no more speed at a key than their limits leave room for behind it."""
    for last in (False, False, True):
        motion = through(body, keys, times, residual, velocities, keeps, gravity, settle, swing_past)
        if not bounds:
            return motion
        spans = np.minimum(motion.lengths, _SETTLED / motion.back.min())
        after = (times + np.linspace(0.0, 1.0, _LOOKS)[:, None] * spans).ravel()
        went = motion.poses(after, np.tile(np.arange(len(times)), _LOOKS))
        clamped = went
        for bound in bounds:
            clamped = bound.clamp(clamped)
        beyond = rotation.distance(clamped, went).reshape(_LOOKS, *keeps.shape).max(axis=0)
        if beyond.max() < _WITHIN:
            return motion
        way = rotation.distance(went.reshape(_LOOKS, *keys.shape), keys).max(axis=0)
        less = 0.0 if last else np.clip(1.0 - _MORE * beyond / np.maximum(way, _WITHIN), 0.0, 1.0)
        keeps = np.where(beyond < _WITHIN, keeps, less * keeps)
    return through(body, keys, times, residual, velocities, keeps, gravity, settle, swing_past)


def _bent(way: Array, velocities: Array, carried: Array, kept: Array, back: Array) -> Array:
    """The second derivatives (k, n, 3) of rotation vectors at the starts of the ways (k, n, 3), beside those of the
    carried speeds, with which the accelerations are those at the ends of the intervals before."""
    brake = -2.0 * _BRAKES * back[..., None]
    ended = np.concatenate((np.zeros((1, *kept.shape[1:])), brake[1:] * kept))
    begun = turning(-way, rotation.log_rate(way, velocities) + carried, brake * carried)[1]
    return rotation.log_rate(way, ended - begun)


def settle_time(body: Body, pose: Array, residual: Array, length: float = np.inf, swing_past: float = 0.0) -> float:
    """The time [s] in which all joints settle at a key (n, 4). length: of the interval before it [s]. swing_past: as of
    `through`."""
    back = _return(_lags(body, pose[None]) * (USUAL / law.sharpness(residual)))[0]
    return float((_SETTLED / (_slow(back, length, swing_past) if swing_past else back)).max())


def _return(lags: Array) -> Array:
    """The frequencies (k, n) [rad/s] of the return to keys. Joints before the tip wait for those after them."""
    return _RETURN / np.maximum(lags, lags.mean(axis=-1, keepdims=True))


def _slow(back: Array, length: float, swing_past: float) -> Array:
    """The frequencies (n,) of a return from a swing that is not drawn back for before, after an interval [s]."""
    return np.minimum(back, _MOST_SWING * _OVERSHOOT / (swing_past * length))


def _farthest(back: Array, settle: float) -> Array:
    """How far joints (n,) come in so many seconds after a key by a speed of 1 at it, with these frequencies of the
    return."""
    if settle <= 0.0:
        return _OVERSHOOT / back
    since = settle * np.linspace(0.0, 1.0, _LOOKS)[:, None]
    return _dying(since, back, since / settle, np.full(1, settle))[0].max(axis=0)


def _kept(way: Array, lengths: Array, share: Array, velocities: Array, keeps: Array) -> Array:
    """The speeds (k - 1, n, 3) [rad/s] that joints keep at the ends of their ways (k - 1, n, 3)."""
    u = np.minimum(share, 0.5)
    speed = 30.0 * u * u * (1.0 - u) ** 2
    speed = _CARRIED * (1.0 - np.exp(-speed / _CARRIED))
    mean = way / lengths[:, None, None]
    size = np.linalg.norm(mean, axis=-1)
    passed = np.linalg.norm(velocities, axis=-1) / np.maximum(size, _SLOWEST)
    return (keeps * speed * np.clip(1.0 - passed, 0.0, 1.0))[..., None] * mean


def _lags(body: Body, keys: Array) -> Array:
    """The lags (k, n) [s] of joints in poses (k, n, 4), each with those of the joints before it."""
    k, n = keys.shape[:2]
    inertia = np.empty((k, n))
    for some in np.array_split(np.arange(k), max(1, k * n * n // _AT_ONCE)):
        if len(some):
            inertia[some] = np.diagonal(body.mass_matrix(keys[some]), axis1=-2, axis2=-1).reshape(-1, n, 3).max(axis=-1)
    first = inertia @ (body.ancestors * (np.asarray(body.parents) < 0)).T
    return LAG * np.sqrt(inertia * first) ** _POWER @ (body.ancestors - 0.5 * np.eye(n)).T


def _falling(body: Body, keys: Array, way: Array, lengths: Array, gravity: Array) -> Array:
    """How far each tree of joints falls (k, n) on the ways after keys (k, n, 4), from -1 to 1: the work of gravity
    relative to what it is at most, and to the energy of the motion."""
    orientations, places = body.forward(keys)
    centers = places + rotation.rotate(orientations, np.asarray(body.centers))
    masses, below = np.asarray(body.masses), body.ancestors.T
    total, first = below @ masses, np.einsum("jm,m,kmi->kji", below, masses, centers)
    second = np.einsum("jm,m,km->kj", below, masses, rotation.dot(centers, centers))
    moments = first - total[:, None] * places
    inertia = second - 2.0 * rotation.dot(first, places) + total * rotation.dot(places, places)
    tree = body.ancestors[:, np.asarray(body.parents) < 0] > 0.0
    height = np.einsum("m,kmi,i->km", masses, centers, gravity)
    work = np.concatenate((np.diff(height, axis=0), np.zeros((1, len(body))))) @ tree
    turned = np.linalg.norm(way, axis=-1)
    most = (np.linalg.norm(gravity) * np.linalg.norm(moments, axis=-1) * turned) @ tree
    motion = (inertia * (turned / lengths[:, None]) ** 2) @ tree
    return (work / np.maximum(most + motion, _SLOWEST)) @ tree.T


def _warped(x: Array, warp: Array) -> tuple[Array, Array, Array]:
    """x / (x + warp (1 - x)) and its two derivatives."""
    below = 1.0 / (x + warp * (1.0 - x))
    rate = warp * below * below
    return x * below, rate, 2.0 * (warp - 1.0) * rate * below


def _composed(outer: tuple[Array, Array, Array], inner: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    """A function of a function, and its two derivatives."""
    return outer[0], outer[1] * inner[1], outer[2] * inner[1] ** 2 + outer[1] * inner[2]


def _early(x: Array) -> tuple[Array, Array, Array]:
    """`early_slope` and its two derivatives."""
    value, slope, bend = late_slope(1.0 - x)
    return -value, slope, -bend


def _bend(x: Array) -> tuple[Array, Array, Array]:
    """The quintic that with two derivatives is 0 at both ends, except for a second derivative of 1 at 1, and its two
    derivatives."""
    return (
        0.5 * x**3 * (1.0 - x) ** 2,
        0.5 * x * x * (1.0 - x) * (3.0 - 5.0 * x),
        x * (3.0 + x * (10.0 * x - 12.0)),
    )


def _leaving(x: Array, warped: tuple[Array, Array, Array], warp: Array, stop: Array) -> tuple[Array, Array, Array]:
    """How a slope of 1 at the end comes about late in the warped time, with two derivatives, and with the brake of a
    return of this frequency in times of the interval."""
    slope = _composed(late_slope(warped[0]), warped)
    # What the warp bends at the end is taken back.
    bent = 2.0 * (warp - 1.0) + 2.0 * _BRAKES * stop
    value, rate, rise = (part / warp - bent * own for part, own in zip(slope, _bend(x), strict=True))
    return value, rate, rise


def _dying(since: Array, rate: Array, x: Array, length: Array) -> tuple[Array, Array, Array]:
    """What comes of a speed of 1 after a time, with two derivatives: it returns critically damped, and ends
    with the interval."""
    part, more = rate * since, 1.0 - _BRAKES
    fade = np.exp(-part)
    value = since * (1.0 + more * part) * fade
    slope = (1.0 + part * (2.0 * more - 1.0) - more * part * part) * fade
    bend = rate * (2.0 * (more - 1.0) + part * (1.0 - 4.0 * more) + more * part * part) * fade
    down, fall, dip = smooth_step(x)
    down, fall, dip = 1.0 - down, -fall / length, -dip / length**2
    return value * down, slope * down + value * fall, bend * down + 2.0 * slope * fall + value * dip
