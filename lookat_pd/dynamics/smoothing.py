"""Reaching with little change of torque, by smoothing the torques repeatedly.

Source: Satoh, Mitake, Hasegawa, after Uno, Kawato, Suzuki, Formation and control of optimal trajectory in human
multijoint arm movement, 1989.
"""

from collections.abc import Generator

import numpy as np

from .. import rotation
from ..curves import smooth_step
from ..rotation import Array
from . import effort
from .arm import Arm
from .engine import Engine

_FREQUENCY = 8.0
"""Frequency of the weak control along the path, times the duration [rad]."""
_FIRMER = 1.4
"""Factor of the frequency after a pass without improvement; the next pass continues from the best motion."""
_FASTER, _SLOWER = 3.0, 0.3
"""Factors of the extrapolation after a pass with and without improvement."""
_SAMPLES = 28
"""Number of samples for which one moving average of three is sufficient."""


def smoothed(
    arm: Arm, motion: Array, h: float, fixed: list[tuple[int, Array]], passes: int
) -> Generator[tuple[Array, float], bool | None, None]:
    """Motion (N + 1, a, 4) and cost of each pass.

    fixed: samples and the positions (3,) of the point at them, the last of them the goal.
    """
    joints = np.zeros(len(arm.body), dtype=bool)
    joints[arm.joints] = True
    engine = Engine(arm.body, arm.gravity, joints=joints, pose=arm.start)
    runner = _Runner(arm, engine, h)
    best, frequency, pace = motion, _FREQUENCY, 1.0
    least, torques = effort.cost(arm, motion, h, rough=True), effort.later(arm, motion, h)
    path = arm.points(motion)
    for _ in range(passes):
        made = runner.run(best, _averaged(torques), frequency)
        led = _arriving(fitted(arm.points(made), fixed), path, fixed)
        ahead = rotation.exp(pace * rotation.log(rotation.multiply(rotation.inverse(best), made)))
        motion, off = arm.follow(rotation.multiply(best, ahead), path + pace * (led - path))
        cost = effort.cost(arm, motion, h, rough=True) if off <= arm.near else np.inf
        yield motion, cost
        if cost < least:
            best, least, torques, path = motion, cost, effort.later(arm, motion, h), arm.points(motion)
            pace *= _FASTER
        elif pace > 1.0:
            pace = max(1.0, _SLOWER * pace)
        else:
            frequency *= _FIRMER


def _averaged(torques: Array) -> Array:
    """The moving average of three (N + 1, a, 3) of torques (N + 3, a, 3), repeated for dense samples.

    The width in time is thus independent of the sampling.
    """
    middle = torques.copy()
    for _ in range(max(1, round((len(torques) / _SAMPLES) ** 2))):
        middle[2:-2] = (middle[1:-3] + middle[2:-2] + middle[3:-1]) / 3.0
    return middle[1:-1]


def fitted(path: Array, fixed: list[tuple[int, Array]]) -> Array:
    """The path (N + 1, 3 k) of k hands, each rotated and scaled about its start so that it ends at its goal, and
    displaced to pass its waypoints, which are not numbers where it has none."""
    parts = [slice(3 * n, 3 * n + 3) for n in range(path.shape[1] // 3)]
    own = [[(sample, place[part]) for sample, place in fixed if not np.isnan(place[part]).any()] for part in parts]
    each = [_fitted(path[:, part], passed) for part, passed in zip(parts, own, strict=True)]
    return np.concatenate(each, axis=1)


def _fitted(path: Array, fixed: list[tuple[int, Array]]) -> Array:
    sample, goal = fixed[-1]
    start, made, wanted = path[0], path[sample] - path[0], goal - path[0]
    size, needed = (float(np.linalg.norm(vector)) for vector in (made, wanted))
    if min(size, needed) > 1e-9:
        turn = rotation.shortest_arc(made, wanted)
        path = start + needed / size * rotation.rotate(turn, path - start)
    samples = np.arange(len(path), dtype=float)
    begin, before = 0, np.zeros(3)
    push = np.zeros(path.shape)
    for sample, place in fixed:
        deviation = place - path[sample]
        part = smooth_step((samples[begin : sample + 1] - begin) / (sample - begin))[0][:, None]
        push[begin : sample + 1] = before + part * (deviation - before)
        begin, before = sample, deviation
    return path + push


def _arriving(path: Array, before: Array, fixed: list[tuple[int, Array]]) -> Array:
    """The path with its former speed at the end, where the hand comes to rest."""
    begin = fixed[-2][0] if len(fixed) > 1 else 0
    part = np.linspace(0.0, 1.0, len(path) - begin)[:, None]
    # 0 at both ends with two derivatives, except for a slope of 1 at the end.
    slope = part**3 * (-4.0 + part * (7.0 - 3.0 * part))
    result = path.copy()
    result[begin:] += ((before[-1] - before[-2]) - (path[-1] - path[-2])) / -slope[-2] * slope
    return result


class _Runner:
    """Forward simulation of an arm under torques, weakly controlled towards a motion."""

    def __init__(self, arm: Arm, engine: Engine, h: float) -> None:
        self._arm, self._engine, self._h = arm, engine, h
        # The engine's joints in the order of the arm's.
        self._order = np.argsort([arm.joints.index(joint) for joint in engine.order])
        self._back = np.argsort(self._order)
        self._friction = np.repeat(arm.damping[engine.order], 3)
        engine.q[:] = arm.start[engine.order]
        engine.place()
        # The same about all axes of a joint: about its length, where an arm has almost no inertia, the control is
        # stiff.
        own = np.diagonal(engine.mass_matrix()).reshape(-1, 3)
        self._inertia = np.repeat(own.max(axis=1), 3)

    def run(self, motion: Array, torques: Array, frequency: float) -> Array:
        """The motion (N + 1, a, 4) under torques (N + 1, a, 3), controlled towards another one."""
        engine, h, steps = self._engine, self._h, len(motion) - 1
        wanted = motion[:, self._back].reshape(steps + 1, -1)
        given = torques[:, self._back].reshape(steps + 1, -1)
        velocity = self._arm.speeds(motion, h)[1:, self._back].reshape(steps + 1, -1)
        frequency = frequency / (steps * h)
        pull = frequency**2 * self._inertia
        drag = 2.0 * frequency * self._inertia + h * pull
        extra = h * (drag + self._friction)
        # The part that does not depend on the state, and the damping by the velocity.
        driven, lost = given[:-1] + drag * velocity[:-1], drag + self._friction
        poses = np.empty(wanted.shape)
        engine.q[:] = wanted[0].reshape(-1, 4)
        v, q = engine.w, engine.data.qpos
        v[:] = 0.0
        engine.factor(extra)
        for step in range(steps):
            poses[step] = q
            engine.push(driven[step] + pull * engine.difference(wanted[step]) - lost * v, h)
        poses[steps] = q
        return poses.reshape(steps + 1, -1, 4)[:, self._order]
