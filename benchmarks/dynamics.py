"""Dynamics: motion between keys against the engine's bare steps, reaching, and how both grow."""

from time import perf_counter

import numpy as np
from solver import Row, seconds

from lookat_pd import dynamics, rotation
from lookat_pd.dynamics import Body
from lookat_pd.dynamics.engine import Engine
from lookat_pd.rotation import Array

RATE = 240.0
DURATION = 2.0
BONES = 20
REACH = 1.0
PUBLISHED = 0.5
"""Seconds that 50 passes of a reach of 3 joints took its authors."""


def rods(n: int) -> Body:
    """A chain of rods of 20 cm and 1 kg along Y."""
    inertias = np.tile(np.diag([3.4e-3, 2e-4, 3.4e-3]), (n, 1, 1))
    offsets = np.tile([0.0, 0.2, 0.0], (n, 1))
    return Body(np.arange(n) - 1, offsets, np.ones(n), np.tile([0.0, 0.1, 0.0], (n, 1)), inertias)


def keys(n: int) -> tuple[Array, Array]:
    """A key every half second."""
    count = int(DURATION / 0.5) + 1
    turns = np.random.default_rng(1).normal(scale=0.3, size=(count, n, 3))
    return rotation.exp(turns), 0.5 * np.arange(count)


def interpolated(n: int, rate: float = RATE, **given: object) -> float:
    """Seconds of a motion through the keys."""
    body, (poses, times) = rods(n), keys(n)
    return seconds(lambda: dynamics.interpolate(body, poses, times, 1.0 / rate, **given), 3)


def bare_steps(n: int) -> float:
    """Seconds that the engine takes for as many steps of its own, and nothing else."""
    engine = Engine(rods(n), np.zeros(3))
    engine.q[:] = keys(n)[0][0]
    mujoco, model, data = engine.bare(1.0 / RATE)

    def work() -> None:
        for _ in range(int(DURATION * RATE)):
            mujoco.mj_step(model, data)

    return seconds(work, 3)


def reached(n: int, steps: int, method: str) -> float:
    """Seconds of a reach of so many joints and frames in 50 passes."""
    start = rotation.exp(np.tile([0.0, 0.0, 0.4], (n, 1)))
    body, end = rods(n), (n - 1, (0.0, 0.2, 0.0))
    goal = (0.3, 0.35, 0.1) if n == 3 else (0.2 * n * 0.4, 0.2 * n * 0.5, 0.1)
    begin = perf_counter()
    dynamics.reach(body, start, goal, REACH, REACH / steps, effector=end, method=method)
    return perf_counter() - begin


def run() -> list[Row]:
    """Rows of (what, figure)."""
    if not dynamics.available():
        return [("Dynamics", "the physics engine is not installed: pip install mujoco-core")]
    bare, plain = bare_steps(BONES), interpolated(BONES)
    what = f"Between keys, {BONES} bones, {DURATION:g} s at {RATE:g} Hz"
    rows = [
        (f"The engine's bare steps, {BONES} bones, as many", f"{1e3 * bare:.1f} ms"),
        (what, f"{1e3 * plain:.1f} ms, {plain / bare:.2f} times the bare steps (goal: 2)"),
    ]
    for name, given in (
        ("torque limits that are not met", {"torque_limit": 1e6}),
        ("torque limits that are met", {"torque_limit": 20.0}),
        ("five loose bones", {"passive": np.arange(BONES) >= BONES - 5, "damping": 0.01}),
        ("reference inertia", {"inertia": "reference"}),
    ):
        took = interpolated(BONES, **given)
        rows.append((f"{what}, {name}", f"{1e3 * took:.0f} ms, {took / bare:.1f} times the bare steps"))
    growth = ", ".join(f"{n} bones {1e3 * interpolated(n):.1f} ms" for n in (5, 20, 70))
    rows.append((f"Between keys, {DURATION:g} s at {RATE:g} Hz", growth))
    growth = ", ".join(f"{rate:g} Hz {1e3 * interpolated(BONES, rate):.1f} ms" for rate in (24.0, 240.0, 2400.0))
    rows.append((f"Between keys, {BONES} bones, {DURATION:g} s", growth))
    reached(3, 25, "smoothing")
    took = min(reached(3, 60, "smoothing") for _ in range(5))
    rows.append(
        (
            "Reach of 3 joints and 1 s, 50 passes of smoothing, 60 frames a second",
            f"{1e3 * took:.0f} ms, a {PUBLISHED / took:.1f}th of the published 500 ms (goal: a fifth)",
        )
    )
    for name, sizes in (("joints", [(n, 24) for n in (2, 3, 6, 12)]), ("frames", [(3, n) for n in (24, 40, 240)])):
        parts = []
        for n, steps in sizes:
            each = ", ".join(f"{m} {1e3 * reached(n, steps, m):.0f} ms" for m in dynamics.METHODS)
            parts.append(f"{n if name == 'joints' else steps}: {each}")
        rows.append((f"Reach of 1 s by number of {name}", "; ".join(parts)))
    return rows
