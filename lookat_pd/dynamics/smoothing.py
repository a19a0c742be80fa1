"""Reaching with little change of torque, by smoothing the torques again and again.

Source: Satoh, Mitake, Hasegawa, after Uno, Kawato, Suzuki, Formation and control of optimal trajectory in human
multijoint arm movement, 1989.
"""

from collections.abc import Generator

import numpy as np

from .. import rotation
from ..rotation import Array
from .arm import Arm
from .engine import Engine
from .law import smooth_step

_FREQUENCY = 4.0
"""Of the weak control along the path, times the duration [rad]."""


def smoothed(
    arm: Arm, motion: Array, h: float, fixed: list[tuple[int, Array]], passes: int
) -> Generator[tuple[Array, float], bool | None, None]:
    """Motion (N + 1, a, 4) and cost of each pass.

    fixed: samples and the places (3,) where the point is to be then, the last of them the goal.
    """
    joints = np.zeros(len(arm.body), dtype=bool)
    joints[arm.joints] = True
    engine = Engine(arm.body, arm.gravity, joints=joints, pose=arm.start)
    runner = _Runner(arm, engine, h)
    still = np.zeros((len(arm.joints), 3))

    def holding(motion: Array) -> list[Array]:
        return [arm.inverse(motion[sample], still, still)[None, arm.joints] for sample in (0, -1)]

    for _ in range(passes):
        torques = arm.torques(motion, h, forward=True)[:, arm.joints]
        motion = runner.run(motion, _averaged(torques, *holding(motion)))
        path, _ = arm.place(motion)
        led, off = arm.follow(motion, _fitted(path, fixed))
        if off > 1e-5 * arm.length:
            return
        motion = led
        yield motion, arm.cost(motion, h)


def _averaged(torques: Array, before: Array, after: Array) -> Array:
    """The moving average of three, with what is before and after (1, a, 3)."""
    padded = np.concatenate((before, torques, after))
    return (padded[:-2] + padded[1:-1] + padded[2:]) / 3.0


def _fitted(path: Array, fixed: list[tuple[int, Array]]) -> Array:
    """The path turned and stretched about its beginning so that it ends where it shall; in between, pushed."""
    sample, goal = fixed[-1]
    start, made, wanted = path[0], path[sample] - path[0], goal - path[0]
    size = np.linalg.norm(made)
    if size > 1e-9:
        turn = rotation.shortest_arc(made, wanted)
        path = start + np.linalg.norm(wanted) / size * rotation.rotate(turn, path - start)
    samples = np.arange(len(path), dtype=float)
    begin, before = 0, np.zeros(3)
    push = np.zeros(path.shape)
    for sample, place in fixed:
        apart = place - path[sample]
        part = smooth_step((samples[begin : sample + 1] - begin) / (sample - begin))[0][:, None]
        push[begin : sample + 1] = before + part * (apart - before)
        begin, before = sample, apart
    return path + push


class _Runner:
    """Forward simulation of an arm under torques, held weakly to a motion."""

    def __init__(self, arm: Arm, engine: Engine, h: float) -> None:
        self._arm, self._engine, self._h = arm, engine, h
        # The engine's joints in the order of the arm's.
        self._order = np.argsort([arm.joints.index(joint) for joint in engine.order])
        self._back = np.argsort(self._order)
        self._extra = h * np.repeat(arm.damping[engine.order], 3)

    def run(self, motion: Array, torques: Array) -> Array:
        """The motion (N + 1, a, 4) that torques (N + 1, a, 3) make of one that is held to."""
        engine, h, steps = self._engine, self._h, len(motion) - 1
        frequency = _FREQUENCY / (steps * h)
        wanted = motion[:, self._back].reshape(steps + 1, -1)
        given = torques[:, self._back].reshape(steps + 1, -1)
        way = self._arm.speeds(motion, h)[:, self._back].reshape(steps + 2, -1)
        pull, drag = frequency**2, 2.0 * frequency
        found = np.empty(wanted.shape)
        engine.q[:] = wanted[0].reshape(-1, 4)
        v, q = engine.w, engine.data.qpos
        v[:] = 0.0
        nothing = np.zeros(len(v))
        for step in range(steps):
            found[step] = q
            engine.place()
            held = pull * engine.apart(wanted[step]) + drag * (way[step] - v)
            engine.factor(self._extra)
            loose = given[step] - engine.inverse(nothing) - self._extra / h * v
            v += h * (held + engine.solve(loose[None])[0])
            engine.advance(h)
        found[steps] = q
        return found.reshape(steps + 1, -1, 4)[:, self._order]
