"""Forward dynamics: how a body moves under given torques, or none."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import SHORTEST_STEP, check_memory, number, time_step
from ..errors import InvalidArgument
from ..ik import Limits
from ..ik.joint_checks import same_joints
from ..rotation import Array
from . import body_checks
from .body import Body
from .engine import Engine, finished
from .stops import Stops

_STEP = 1.0 / 1000.0
"""Longest step [s] of the Runge-Kutta method."""
_TURN = 0.01
"""Largest rotation [rad] of a joint in one step."""
_SHORTEST = 1e-5
"""Shortest step [s]."""
_LONGEST, _MOST_FRAMES = 3600.0, 100_000
"""Longest time [s] that is simulated, and in how many frames."""
_PART = 0.01
"""Interval [s] at which the speed of the joints determines the step."""


@dataclass(frozen=True)
class Trajectory:
    """The motion of a body under given torques."""

    times: Array
    """(F,) times [s]."""
    rotations: Array
    """(F, n, 4) local rotations."""
    velocities: Array
    """(F, n, 3) [rad/s]."""


def simulate(
    body: Body,
    start: ArrayLike,
    duration: float,
    dt: float,
    *,
    velocity: ArrayLike | None = None,
    torques: ArrayLike | None = None,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    damping: ArrayLike | None = None,
    limits: Limits | None = None,
) -> Trajectory:
    """The motion from a pose start (n, 4), in frames `dt` seconds apart from 0 to `duration` [s].

    velocity: (n, 3) [rad/s] at the start. torques: (n, 3), or (F, n, 3), each held until the next frame [N m]. gravity:
    (3,) [m/s^2]. damping: (n,) or one number [N m s/rad]. limits: where joints stop, without bounce. Fourth-order
    Runge-Kutta of the engine. Raises InvalidArgument; EngineMissing.
    """
    n = len(body)
    duration, dt = body_checks.positive("duration", duration, "s"), body_checks.positive("time between frames", dt, "s")
    duration, dt = number("duration", duration, SHORTEST_STEP, _LONGEST), time_step(dt)
    check_memory(20.0 * n * (duration / dt + 1.0))
    number("number of frames", duration / dt, 0.0, _MOST_FRAMES)
    times = dt * np.arange(int(np.floor(duration / dt + 1e-6)) + 1)
    start = body_checks.quaternions("start", checks.exactly("start", start, n, 4))
    velocity = np.zeros((n, 3)) if velocity is None else checks.exactly("velocity", velocity, n, 3)
    given = np.zeros((n, 3)) if torques is None else checks.array("torques", torques, n, 3)
    if given.ndim > 2 and given.shape[:-2] != times.shape:
        raise InvalidArgument(
            "Torques must be of shape ({count}, 3) or ({time_count}, {count}, 3), not {shape}.",
            count=n,
            time_count=len(times),
            shape=given.shape,
        )
    pushes = np.broadcast_to(given, (len(times), n, 3))
    friction = body_checks.not_negative("damping", damping, n, body.called)
    same_joints(limits, n)
    engine = Engine(body, body_checks.gravity(gravity))
    order = engine.order
    engine.q[:], engine.w[:] = start[order], velocity[order].ravel()
    stops = None if limits is None else Stops(limits, engine, 0)
    parts = int(np.ceil(dt / _PART - 1e-9))
    rotations, velocities = np.empty((len(times), n, 4)), np.empty((len(times), n, 3))
    for frame, push in enumerate(pushes):
        rotations[frame, order], velocities[frame, order] = engine.q, engine.w.reshape(-1, 3)
        for _ in range(parts if frame + 1 < len(times) else 0):
            steps = _steps(dt / parts, float(np.abs(engine.w).max()))
            for _ in range(steps):
                engine.run(dt / parts / steps, push[order].ravel(), np.repeat(friction[order], 3))
                if stops is not None:
                    stops.hold(np.zeros(3 * n))
    return finished(Trajectory(times, rotations, velocities))


def _steps(duration: float, speed: float) -> int:
    """Number of steps in `duration` seconds for joints that rotate at up to `speed` [rad/s]."""
    return int(np.ceil(duration * min(max(1.0 / _STEP, speed / _TURN), 1.0 / _SHORTEST) - 1e-9))
