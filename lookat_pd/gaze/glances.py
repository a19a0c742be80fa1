"""Glances beside a target, by the eyes alone or with a part of the head; nods and gestures of the head.

The head takes part in glances of the eyes beyond 15°: people move the head little for gaze shifts below 20° (Freedman
and Sparks 1997; Fuller 1992).
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from .. import curves, rotation
from ..pd.followers import Tuning
from ..rotation import Array
from .chain import Event

_EYES_ALONE, _HEAD_SHARE = np.radians(15.0), 0.5
"""Angle [rad] up to which the eyes glance alone, and the share of the head in the rest."""
CYCLE = 0.6
"""Time [s] of one nod."""
_SHRINKS = 0.75
"""Size of a nod relative to the one before it in a row."""
_MOST_GAIN = 3.0
_GESTURE, _FURTHER = 0.25, 2.0
"""Time [s] of a gesture, and by how much [s/rad] it is longer for a larger one."""
_SLOWEST = 1.0
"""Settle time [s] beyond which gestures become smaller, rather than the goal ever larger."""
_ROWS = 3
"""Virtual targets, in turn: that of a glance is still there while the next one begins."""


def beside(targets: Array, seen_from: Array, up: Array, yaw: Array, pitch: Array) -> Array:
    """Targets (m, n, 3) turned to the left by yaw and up by pitch (n,) [rad], as seen from (n, 3).

    up: (3,) or (n, 3) the vertical axis.
    """
    direction = targets - seen_from
    side = rotation.cross(np.broadcast_to(up, direction.shape), direction)
    above = rotation.normalize(rotation.cross(direction, side))
    # Both have the length of the distance to the target, unless it is straight above.
    return (
        targets
        + np.tan(yaw)[:, None] * side
        + np.tan(pitch)[:, None] * above * np.linalg.norm(direction, axis=-1, keepdims=True)
    )


def of_head(yaw: Array, pitch: Array) -> tuple[Array, Array]:
    """The part of glances of the eyes that the head takes, each (n,)."""
    size = np.hypot(yaw, pitch)
    share = _HEAD_SHARE * np.maximum(size - _EYES_ALONE, 0.0) / np.maximum(size, _EYES_ALONE)
    return share * yaw, share * pitch


def applied(
    targets: Array,
    events: Sequence[Event],
    yaw: Array,
    pitch: Array,
    dt: float,
    seen_from: Array,
    up: Array,
) -> tuple[Array, list[Event]]:
    """Targets (m + 3, n, 3) and events with the glances yaw and pitch (F,) [rad] that begin at frames.

    targets: (m, n, 3) at n = F or a multiple of F samples. events: in order of time, the first before the first frame.
    dt: seconds a frame. seen_from, up: (n, 3). Without glances the same are returned.
    """
    if not (np.any(yaw) or np.any(pitch)):
        return targets, list(events)
    frames, count = len(yaw), len(targets)
    # Of the last frame there is one sample.
    fine = max(1, (targets.shape[1] - 1) // max(frames - 1, 1))
    changes = np.flatnonzero((np.diff(yaw) != 0.0) | (np.diff(pitch) != 0.0)) + 1
    times = sorted({*(event.time for event in events), *(changes * dt)})
    goals = [(time, *_at(time, events, yaw, pitch, dt)) for time in times]
    bounds = [max(round(time / dt), 0) * fine for time in times]
    virtual = np.repeat(targets[:1], _ROWS, axis=0)
    result, number = [], 0
    for n, (time, target, left, above) in enumerate(goals):
        if target is None or (left == 0.0 and above == 0.0):
            result.append(Event(time, target))
            continue
        row = number % _ROWS
        number += 1
        first = bounds[n - 1] if n else 0
        last = bounds[n + 2] if n + 2 < len(bounds) else targets.shape[1]
        window = slice(first, last)
        size = last - first
        virtual[row, window] = beside(
            targets[target : target + 1, window],
            seen_from[window],
            up[window],
            np.full(size, left),
            np.full(size, above),
        )[0]
        result.append(Event(time, count + row))
    return np.concatenate((targets, virtual)), result


def _at(time: float, events: Sequence[Event], yaw: Array, pitch: Array, dt: float) -> tuple[int | None, float, float]:
    """Target and glance from a time on."""
    k = min(max(round(time / dt), 0), len(yaw) - 1)
    target = next((event.target for event in reversed(events) if event.time <= time), None)
    return target, float(yaw[k]), float(pitch[k])


def nodding(nod: Array, dt: float, count: int, settle_time: float, damping_ratio: float) -> Array:
    """Pitch (n,) [rad] of the goal of a head that nods while `nod` (F,) [rad] is above 0, at `count` samples a frame.

    The goal is larger than the nod, by what a controller of this settle time [s] and damping ratio takes from it.
    """
    pitch = np.zeros((len(nod) - 1) * count + 1)
    edges = np.flatnonzero(np.diff(nod, prepend=0.0, append=0.0))
    ratio = settle_time / CYCLE
    gain = min(float(np.hypot(1.0 - ratio**2, 2.0 * damping_ratio * ratio)), _MOST_GAIN)
    for first, last in pairwise(edges):
        if nod[first] <= 0.0:
            continue
        cycles = max(1, round((last - first) * dt / CYCLE))
        samples = np.arange(first * count, min(len(pitch), first * count + int(cycles * CYCLE / dt * count) + 1))
        since = (samples - first * count) * dt / count / CYCLE
        wave = 0.5 * (1.0 - np.cos(2.0 * np.pi * np.minimum(since, cycles)))
        pitch[samples] -= max(gain, 1.0) * nod[first] * wave * _SHRINKS ** np.floor(np.minimum(since, cycles - 1e-6))
    return pitch


def gesturing(angles: Array, dt: float, count: int, tuning: Tuning) -> Array:
    """Angles (n, 2) [rad] of the goal of a head that goes to keyed angles (F, 2) [rad], at `count` samples a frame.

    The head goes from one to the next along a quintic, at rest at both ends. The goal is ahead of it by what the
    controller, x'' = omega² (goal - x) - 2 zeta omega x', needs for that.
    """
    fine = dt / count
    goal = np.repeat(angles, count, axis=0)[: (len(angles) - 1) * count + 1].astype(float)
    lag = min(tuning.settle_time, _SLOWEST) / (2.0 * np.pi)
    drag = 2.0 * tuning.damping_ratio * (1.0 - tuning.feed_forward) * lag
    steps = np.diff(angles, axis=0)
    for frame in np.flatnonzero(np.any(steps != 0.0, axis=1)) + 1:
        step, first = steps[frame - 1], frame * count
        duration = _GESTURE + _FURTHER * float(np.hypot(*step))
        u = np.arange(1 + int(duration / fine)) * fine / duration
        u = u[: len(goal) - first]
        done, speed, acceleration = curves.smooth_step(u)
        ahead = drag * speed / duration + acceleration * (lag / duration) ** 2
        goal[first : first + len(u)] += (done - 1.0 + ahead)[:, None] * step
    return goal


def real(looked_at: Array, count: int, original: Array) -> Array:
    """Numbers (n,) of what is looked at with those of glances replaced by the targets beside which these are."""
    return np.where(looked_at >= count, original, looked_at)


def delayed(events: Sequence[Event], delay: float) -> list[Event]:
    """Events that the head follows later by a delay [s]."""
    return [replace(event, time=event.time + delay if event.time >= 0.0 else event.time) for event in events]
