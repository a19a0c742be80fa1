"""Following a single rotation step by step in plain numbers: on one quaternion numpy takes ten times as long."""

from collections.abc import Iterator
from math import atan2, cos, sin, sqrt

from .. import rotation
from ..rotation import Array
from .second_order import Step

_TINY = 1e-12
"""Half an angle [rad] below which a turn has no axis."""


def follow(
    target: Array, q: Array, w: Array, one: Step, length: float, count: int, max_speed: float | None
) -> Iterator[tuple[list[float], list[float]]]:
    """Drive q (4,) with the angular velocity w (3,) along the rotations `target` (F, 4); what they are at each sample.

    one: a step of `length` seconds, of which `count` lead from one sample to the next. max_speed: [rad/s].
    """
    # How a turn and its velocity go on from the velocity, the error and the goal's rate: each step begins unturned.
    (_, turn_v), (_, speed_v) = one.transition.tolist()
    (turn_e, turn_r), (speed_e, speed_r) = one.response.tolist()
    rates = rotation.log(rotation.multiply(rotation.inverse(target[:-1]), target[1:])) / (length * count)
    goals = [rotation.multiply(target[:-1], rotation.exp(rates * n * length)).tolist() for n in range(count)]
    at, speed = q.tolist(), w.tolist()
    yield at, speed
    for rate, *on_the_way in zip(rates.tolist(), *goals, strict=True):
        for goal in on_the_way:
            moves = list(zip(speed, _turn_to(at, goal), rate, strict=True))
            turn = [turn_v * v + (turn_e * e + turn_r * r) for v, e, r in moves]
            speed = [speed_v * v + (speed_e * e + speed_r * r) for v, e, r in moves]
            if max_speed is not None and (fast := sqrt(sum(v * v for v in speed))) > max_speed:
                speed = [v * (max_speed / fast) for v in speed]
                turn = [length * v for v in speed]
            at = _turned(at, turn)
        yield at, speed


def _turn_to(q: list[float], goal: list[float]) -> tuple[float, float, float]:
    """The rotation vector of q^-1 goal, along the shorter arc."""
    (aw, ax, ay, az), (bw, bx, by, bz) = q, goal
    w = aw * bw + ax * bx + ay * by + az * bz
    x = aw * bx - ax * bw - ay * bz + az * by
    y = aw * by + ax * bz - ay * bw - az * bx
    z = aw * bz - ax * by + ay * bx - az * bw
    sine = sqrt(x * x + y * y + z * z)
    scale = 2.0 if sine < _TINY else 2.0 * atan2(sine, abs(w)) / sine
    scale = -scale if w < 0.0 else scale
    return x * scale, y * scale, z * scale


def _turned(q: list[float], turn: list[float]) -> list[float]:
    """q, turned in its own frame by a rotation vector; of length 1."""
    (aw, ax, ay, az), (x, y, z) = q, turn
    half = 0.5 * sqrt(x * x + y * y + z * z)
    sine = 0.5 * sin(half) / half if half > _TINY else 0.5
    bw, bx, by, bz = cos(half), sine * x, sine * y, sine * z
    w = aw * bw - ax * bx - ay * by - az * bz
    x = aw * bx + ax * bw + ay * bz - az * by
    y = aw * by - ax * bz + ay * bw + az * bx
    z = aw * bz + ax * by - ay * bx + az * bw
    size = sqrt(w * w + x * x + y * y + z * z)
    return [w / size, x / size, y / size, z / size]
