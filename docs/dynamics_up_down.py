"""What docs/dynamics/both-hands.md shows of gravity: the same reach up and down, docs/images/dynamics_up_down.png.

    python docs/dynamics_up_down.py

An arm with the mass of a human's, upper arm 30 cm and forearm with hand 40 cm, reaches 30 cm up or down in 0.6 s.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

import numpy as np  # noqa: E402

from lookat_pd import dynamics, rotation  # noqa: E402
from lookat_pd.dynamics import Body, mass  # noqa: E402
from tools.figures.plots import describe, plt, run, save  # noqa: E402

COLORS = {"up": "#d1495b", "down": "#0072b2"}
DT, DURATION = 1.0 / 120.0, 0.6
LENGTHS, MASSES, RADII = (0.3, 0.4), (1.9, 1.5), (0.045, 0.035)
HIGH, LOW = (0.35, 0.15, 0.0), (0.35, -0.15, 0.0)


def arm() -> Body:
    """Capsules along Y, the shoulder at the origin, gravity along -Y."""
    parts = mass.capsule(np.array(LENGTHS), np.array(RADII))
    factor = np.array(MASSES) / parts.mass
    inertias = parts.inertia * factor[:, None, None]
    return Body([-1, 0], [(0.0, 0.0, 0.0), (0.0, LENGTHS[0], 0.0)], MASSES, parts.center, inertias)


def bent(place: tuple[float, float, float]) -> np.ndarray:
    """The pose (2, 4) in which the end of the forearm is at a place."""
    far = np.hypot(*place[:2])
    first, second = LENGTHS
    elbow = np.arccos((far**2 - first**2 - second**2) / (2.0 * first * second))
    shoulder = (
        np.arctan2(place[1], place[0])
        - np.pi / 2.0
        - np.arctan2(second * np.sin(elbow), first + second * np.cos(elbow))
    )
    return rotation.exp([[0.0, 0.0, shoulder], [0.0, 0.0, elbow]])


def draw() -> None:
    figure, axes = plt.subplots(1, 3, figsize=(15.0, 4.8), layout="constrained")
    for (start, goal), name in (((LOW, HIGH), "up"), ((HIGH, LOW), "down")):
        for gravity, style in ((-9.81, "-"), (0.0, ":")):
            solved = dynamics.reach(
                arm(),
                bent(start),
                goal,
                DURATION,
                DT,
                effector=(1, (0.0, LENGTHS[1], 0.0)),
                method="optimal",
                gravity=(0.0, gravity, 0.0),
                damping=0.3,
            )
            label = name if gravity else f"{name}, without gravity"
            line = {"color": COLORS[name], "linestyle": style, "label": label}
            axes[0].plot(*solved.path[:, :2].T, **line)
            speed = np.linalg.norm(np.diff(solved.path, axis=0), axis=1) / DT
            axes[1].plot(solved.times[1:] - 0.5 * DT, speed, **line)
            axes[2].plot(solved.times, solved.torques[:, 0, 2], **line)
    labels = (("x [m]", "y [m]"), ("time [s]", "speed of the hand [m/s]"), ("time [s]", "torque of the shoulder [N m]"))
    titles = ("The hand's path, the shoulder at (0, 0)", "Its speed", "The shoulder's torque")
    for axis, title, (x, y) in zip(axes, titles, labels, strict=True):
        describe(axis, title, x, y)
    axes[0].set_aspect("equal", adjustable="datalim")
    axes[1].legend(fontsize=8)
    save(figure, "dynamics_up_down.png")


if __name__ == "__main__":
    run(draw)
