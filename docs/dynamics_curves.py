"""The pictures of motion between keys and of reaching, docs/images/dynamics_*.png, and a table of docs/methods.md.

    python docs/dynamics_curves.py

Rods 30 cm long and 4 cm thick stand for upper arm and forearm.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

import numpy as np  # noqa: E402

from lookat_pd import dynamics, rotation  # noqa: E402
from lookat_pd.dynamics import Body  # noqa: E402
from lookat_pd.rotation import Array  # noqa: E402
from tools.figures import chains  # noqa: E402
from tools.figures.plots import describe, plt, run, save  # noqa: E402

COLORS = ("#0072b2", "#e69f00", "#d1495b", "#009e73")
DT = 1.0 / 120.0
KEYS = np.radians([0.0, 60.0, -30.0, 20.0])
TIMES = np.array([0.0, 0.5, 1.0, 1.5])
LENGTH, THICKNESS = 0.3, 0.04


def rods(*masses: float) -> Body:
    """A chain of rods along Y."""
    across, along = LENGTH**2 / 12.0 + THICKNESS**2 / 16.0, THICKNESS**2 / 8.0
    return chains.rods(masses, LENGTH, np.multiply.outer(masses, (across, along, across)))


def keys(n: int) -> Array:
    """The first joint turns about Z, the others keep straight."""
    turns = np.zeros((len(KEYS), n, 3))
    turns[:, 0, 2] = KEYS
    return rotation.exp(turns)


def angle(motion: dynamics.Interpolation, joint: int) -> Array:
    return np.degrees(np.unwrap(2.0 * np.arctan2(motion.rotations[:, joint, 3], motion.rotations[:, joint, 0])))


def between_keys() -> None:
    figure, axes = plt.subplots(2, 2, figsize=(12.0, 7.5), sharex=True, layout="constrained")
    given = {"dt": DT, "settle": 0.75}
    for color, residual in zip(COLORS, (0.0001, 0.001, 0.05, 0.3), strict=True):
        motion = dynamics.interpolate(rods(2.0), keys(1), TIMES, residual=residual, **given)
        axes[0, 0].plot(motion.times, angle(motion, 0), color=color, label=f"residual {100.0 * residual:g} %")
    for color, mass in zip(COLORS, (1.0, 3.0, 10.0), strict=False):
        label = f"{mass:g} kg"
        weak = dynamics.interpolate(rods(mass), keys(1), TIMES, torque_limit=6.0, **given)
        axes[0, 1].plot(weak.times, angle(weak, 0), color=color, label=label)
        body, reference = rods(mass), rods(1.0)
        heavy = dynamics.interpolate(body, keys(1), TIMES, inertia="reference", reference=reference, **given)
        axes[1, 0].plot(heavy.times, angle(heavy, 0), color=color, label=label)
        tail = dynamics.interpolate(
            rods(2.0, mass),
            keys(2),
            TIMES,
            passive=[False, True],
            stiffness=20.0,
            damping=[0.0, 0.5],
            residual=0.05,
            **given,
        )
        axes[1, 1].plot(tail.times, angle(tail, 1), color=color, label=label)
    titles = (
        "Tension: what the law leaves undone at the key",
        "A torque limit of 6 N m",
        "Torques made for 1 kg",
        "A loose bone on a spring, behind a driven one",
    )
    for axis, title in zip(axes.flat, titles, strict=True):
        describe(axis, title, y="angle [°]")
        axis.legend(loc="upper right")
        if axis is not axes[1, 1]:
            axis.plot(TIMES, np.degrees(KEYS), "ko", markersize=6)
    for axis in axes[1]:
        axis.set_xlabel("time [s]")
    save(figure, "dynamics_keys.png")


def through_keys() -> None:
    angles, times = np.radians([0.0, 40.0, 80.0, 60.0, 120.0]), 0.5 * np.arange(5.0)
    poses = rotation.exp(np.stack((0.0 * angles, 0.0 * angles, angles), axis=-1)[:, None])
    shown = (
        ("all stop, as published", None, 0.001),
        ("by key type: all Keyframe", ["auto"] * 5, 5.0 * np.exp(-4.0)),
        ("second Extreme, fourth Breakdown", ["auto", "stop", "auto", "pass", "auto"], 5.0 * np.exp(-4.0)),
    )
    figure, axes = plt.subplots(2, 1, figsize=(9.0, 6.5), sharex=True, layout="constrained")
    for color, (label, kinds, residual) in zip(COLORS, shown, strict=False):
        velocities = None if kinds is None else dynamics.key_velocities(poses, times, kinds)
        swing = 0.0 if kinds is None else 0.1
        motion = dynamics.interpolate(
            rods(2.0), poses, times, DT, residual=residual, velocities=velocities, settle=0.75, swing_past=swing
        )
        axes[0].plot(motion.times, angle(motion, 0), color=color, label=label)
        axes[1].plot(motion.times[1:] - 0.5 * DT, np.diff(angle(motion, 0)) / DT, color=color)
    axes[0].plot(times, np.degrees(angles), "ko", markersize=6)
    axes[0].legend(loc="upper left")
    for axis, label in zip(axes, ("angle [°]", "speed [°/s]"), strict=True):
        axis.set_ylabel(label)
        axis.grid(alpha=0.25)
    axes[1].set_xlabel("time [s]")
    save(figure, "dynamics_through.png")


def weight() -> None:
    """A heavy swing of an arm of three links: up, held, and let fall."""
    arm = chains.rods([2.0, 1.2, 5.45], 0.27, np.multiply.outer([2.0, 1.2, 5.45], [6.2e-3, 2e-4, 6.2e-3]))
    degrees, times = np.array([[-170.0, 0, 0], [-60.0, 60, 30], [-60.0, 60, 30], [-170.0, 10, 0]]), 0.6 * np.arange(4.0)
    turns = np.zeros((4, 3, 3))
    turns[..., 2] = np.radians(degrees)
    poses = rotation.exp(turns)
    given = {"residual": 5.0 * np.exp(-4.0), "velocities": dynamics.key_velocities(poses, times), "settle": 0.8}
    figure, axes = plt.subplots(2, 4, figsize=(18.0, 8.0), sharex=True, layout="constrained")
    for column, rate in enumerate((24.0, 60.0)):
        for row, (label, keeps) in enumerate((("as published", None), ("mass", np.ones((4, 3))))):
            motion = dynamics.interpolate(
                arm, poses, times, 1.0 / rate, gravity=(0.0, -9.81, 0.0), keeps=keeps, **given
            )
            for joint, (color, name) in enumerate(zip(COLORS, ("shoulder", "elbow", "wrist"), strict=False)):
                start = degrees[0, joint]
                turned = angle(motion, joint)
                turned = turned - turned[0]
                axes[row, column].plot(motion.times, turned, ".-", color=color, label=name, markersize=3)
                axes[row, column].plot(times, degrees[:, joint] - start, "ko", markersize=5)
                axes[row, column + 2].plot(motion.times[1:] - 0.5 / rate, np.diff(turned) * rate, color=color)
            describe(axes[row, column], f"{label}, {rate:g} frames a second", y="angle [°]")
            describe(axes[row, column + 2], f"{label}, {rate:g} frames a second", y="speed [°/s]")
    axes[0, 0].legend(loc="upper right")
    for axis in axes[1]:
        axis.set_xlabel("time [s]")
    save(figure, "dynamics_weight.png")
    successions(arm)


def successions(arm: dynamics.Body) -> None:
    """Print how long after each other joints are fastest, for docs/dynamics/mass.md."""
    for duration in (0.4, 0.7, 1.0):
        behind = []
        for seed in range(20):
            keys = rotation.exp(np.random.default_rng(seed).uniform(-0.8, 0.8, (2, 3, 3)))
            motion = dynamics.interpolate(
                arm,
                keys,
                np.array([0.0, duration]),
                1e-3,
                residual=float(5.0 * np.exp(-4.0)),
                gravity=(0.0, -9.81, 0.0),
                keeps=np.ones((2, 3)),
            )
            speeds = rotation.distance(motion.rotations[1:], motion.rotations[:-1])
            behind.append(np.diff(np.argmax(speeds, axis=0)))
        elbow, wrist = np.median(behind, axis=0)
        print(f"{duration:g} s: elbow {elbow:.0f} ms after the shoulder, wrist {wrist:.0f} ms after the elbow")


START = rotation.exp([[0.0, 0.0, -0.4], [0.0, 0.0, 1.2]])
HAND = (1, (0.0, LENGTH, 0.0))


def reach(start: Array, goal: Array, method: str, gravity: float = 0.0, **given: object) -> dynamics.Reach:
    """In the plane of X and Y, where gravity pulls along -Y."""
    return dynamics.reach(
        rods(2.0, 1.5), start, goal, 0.6, DT, effector=HAND, method=method, gravity=(0.0, gravity, 0.0), **given
    )


def reaching() -> None:
    figure, axes = plt.subplots(1, 3, figsize=(15.0, 4.8), layout="constrained")
    goal = np.array([0.3, 0.3, 0.0])
    paths, speeds, costs = axes
    for color, method in zip(COLORS, ("smoothing", "optimal"), strict=False):
        solved = reach(START, goal, method)
        paths.plot(*solved.path[:, :2].T, color=color, label=method)
        speed = np.linalg.norm(np.diff(solved.path, axis=0), axis=1) / DT
        speeds.plot(solved.times[1:] - 0.5 * DT, speed, color=color, label=method)
        costs.plot(np.minimum.accumulate(solved.costs), color=color, label=f"{method}, best so far")
        if method == "smoothing":
            paths.plot(*solved.minimum_jerk[:, :2].T, color="black", linestyle=":", label="minimum jerk")
    up = reach(START, goal, "optimal", -9.81)
    down = reach(up.rotations[-1], up.path[0], "optimal", -9.81)
    paths.plot(*up.path[:, :2].T, color=COLORS[2], label="optimal under gravity")
    paths.plot(*down.path[:, :2].T, color=COLORS[3], linestyle="--", label="... and back")
    rough = reach(START, goal, "optimal", -9.81, damping=0.5)
    back = reach(rough.rotations[-1], rough.path[0], "optimal", -9.81, damping=0.5)
    for solved, style in ((rough, "-"), (back, "--")):
        speed = np.linalg.norm(np.diff(solved.path, axis=0), axis=1) / DT
        speeds.plot(solved.times[1:] - 0.5 * DT, speed, color=COLORS[2], linestyle=style)
    speeds.plot([], [], color=COLORS[2], label="gravity and friction, there")
    speeds.plot([], [], color=COLORS[2], linestyle="--", label="... and back")
    paths.set_aspect("equal")
    labels = (("x [m]", "y [m]"), ("time [s]", "speed of the hand [m/s]"), ("pass", "cost [N²m²/s]"))
    for axis, title, (x, y) in zip(axes, ("The hand's path", "Its speed", "The cost"), labels, strict=True):
        describe(axis, title, x, y)
        axis.legend(fontsize=8)
    save(figure, "dynamics_reach.png")


def smoothed() -> None:
    """Print how close smoothing gets to the optimum, for docs/methods.md."""
    random = np.random.default_rng(0)
    straight, smooth = [], []
    for _ in range(40):
        pose = rotation.exp([[0.0, 0.0, random.uniform(-1.0, 1.0)], [0.0, 0.0, random.uniform(0.3, 2.0)]])
        direction, far = random.uniform(0.3, 2.8), random.uniform(0.4, 0.9) * 2.0 * LENGTH
        goal = far * np.array([np.cos(direction), np.sin(direction), 0.0])
        least = reach(pose, goal, "optimal").cost
        solved = reach(pose, goal, "smoothing")
        straight.append(solved.costs[0] / least)
        smooth.append(solved.cost / least)
    for name, ratios in (("minimum jerk", straight), ("smoothing", smooth)):
        low, middle, high = np.percentile(ratios, (25, 50, 75))
        near = np.mean(np.array(ratios) < 1.15)
        print(f"| {name} | {low:.2f} | {middle:.2f} | {high:.2f} | {near:.0%} |")


if __name__ == "__main__":
    run(between_keys, through_keys, weight, reaching, smoothed)
