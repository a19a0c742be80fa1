"""Dynamics: motion between keys against the engine's bare steps, reaching, and how both grow."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lookat_pd import dynamics, rotation
from lookat_pd.dynamics import Body
from lookat_pd.dynamics.engine import Engine
from lookat_pd.rotation import Array

from .rows import SECONDS, Goal, Row
from .timing import clocked, shortest

RATE = 240.0
DURATION = 2.0
BONES = 20
REACH = 1.0
REPEATS = 7
FEW = 3
LOOSE = np.arange(BONES) >= BONES - 5
PEER = f"the bare steps of {BONES} bones at {RATE:g} Hz"
A_FIFTH = 0.1
"""A fifth of the seconds that 50 passes of a reach of 3 joints took its authors."""


def rods(n: int) -> Body:
    """A chain of rods of 20 cm and 1 kg along Y."""
    inertias = np.tile(np.diag([3.4e-3, 2e-4, 3.4e-3]), (n, 1, 1))
    offsets = np.tile([0.0, 0.2, 0.0], (n, 1))
    return Body(np.arange(n) - 1, offsets, np.ones(n), np.tile([0.0, 0.1, 0.0], (n, 1)), inertias)


def keys(n: int, turn: float = 0.3) -> tuple[Array, Array]:
    """A key every half second; `turn` [rad] is the standard deviation of their angles."""
    count = int(DURATION / 0.5) + 1
    turns = np.random.default_rng(1).normal(scale=turn, size=(count, n, 3))
    return rotation.exp(turns), 0.5 * np.arange(count)


def interpolated(n: int, rate: float = RATE, turn: float = 0.3, **given: Any) -> Callable[[], float]:
    """Time of a motion through the keys."""
    body, (poses, times) = rods(n), keys(n, turn)
    return clocked(lambda: dynamics.interpolate(body, poses, times, 1.0 / rate, **given))


def bare_steps(n: int) -> Callable[[], float]:
    """Time that the engine takes for as many steps of its own, and nothing else."""
    engine = Engine(rods(n), np.zeros(3))
    engine.q[:] = keys(n)[0][0]
    mujoco, model, data = engine.bare(1.0 / RATE)

    def work() -> None:
        for _ in range(int(DURATION * RATE)):
            mujoco.mj_step(model, data)

    return clocked(work)


def reached(n: int, steps: int, method: str) -> Callable[[], float]:
    """Time of a reach of so many joints and frames in 50 passes."""
    start = rotation.exp(np.tile([0.0, 0.0, 0.4], (n, 1)))
    body, end = rods(n), (n - 1, (0.0, 0.2, 0.0))
    goal = (0.3, 0.35, 0.1) if n == 3 else (0.2 * n * 0.4, 0.2 * n * 0.5, 0.1)
    return clocked(lambda: dynamics.reach(body, start, goal, REACH, REACH / steps, effector=end, method=method))


def run() -> list[Row]:
    """The tables of dynamics; all ratios are to the engine's bare steps."""
    if not dynamics.available():
        return [Row("dynamics", "Dynamics", also="the physics engine is not installed: pip install mujoco-core")]
    return [*_between_keys(), *_growth(), *_reaches()]


def _between_keys() -> list[Row]:
    kinds = {
        "plain": ("plain", {}),
        "loose_limits": ("torque limits that are not met", {"torque_limit": 1e6}),
        "limits": ("torque limits that are met", {"torque_limit": 20.0}),
        "passive": ("five loose bones", {"passive": LOOSE, "damping": 0.5 * LOOSE, "turn": 0.1}),
        "reference": ("reference inertia", {"inertia": "reference"}),
    }
    works = {"bare": bare_steps(BONES), **{name: interpolated(BONES, **given) for name, (_, given) in kinds.items()}}
    times = shortest(works, REPEATS)
    group = f"Between keys, {BONES} bones, {DURATION:g} s at {RATE:g} Hz"
    rows = [Row("dynamics.bare", "the engine's bare steps, as many", times["bare"], group=group)]
    for name, (what, _) in kinds.items():
        ratio = times[name] / times["bare"]
        rows.append(Row(f"dynamics.{name}", what, times[name], ratio, "the bare steps", Goal(2), group))
    return rows


def _growth() -> list[Row]:
    works = {"bare": bare_steps(BONES)}
    sizes = {f"{n} bones, {RATE:g} Hz": (n, RATE) for n in (5, 20, 70)}
    sizes |= {f"{BONES} bones, {rate:g} Hz": (BONES, rate) for rate in (24.0, 2400.0)}
    works |= {what: interpolated(*size) for what, size in sizes.items()}
    times = shortest(works, REPEATS)
    group = f"Between keys, {DURATION:g} s"
    return [
        Row(f"dynamics.growth.{n}.{rate:g}", what, times[what], times[what] / times["bare"], PEER, group=group)
        for what, (n, rate) in sizes.items()
    ]


def _reaches() -> list[Row]:
    sizes = [(3, 60), *[(n, 24) for n in (2, 3, 6, 12)], *[(3, n) for n in (40, 240)]]
    rows = []
    for n, steps in sizes:
        works = {"bare": bare_steps(BONES), **{method: reached(n, steps, method) for method in dynamics.METHODS}}
        times = shortest(works, REPEATS if steps == 60 else FEW)
        group = f"Reach of 1 s, {n} joints, {steps} frames, 50 passes"
        for method in dynamics.METHODS:
            goal = Goal(A_FIFTH, SECONDS) if steps == 60 and method == "smoothing" else None
            ratio = times[method] / times["bare"]
            rows.append(Row(f"dynamics.reach.{n}.{steps}.{method}", method, times[method], ratio, PEER, goal, group))
    return rows
