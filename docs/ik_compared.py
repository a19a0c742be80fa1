"""Draws the picture and writes the tables of docs/ik-compared.md: all methods of IK on the same targets.

python docs/ik_compared.py
"""

import sys
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

import numpy as np  # noqa: E402

from lookat_pd import ik, rotation  # noqa: E402
from lookat_pd.rotation import Array  # noqa: E402
from tools.figures import pages  # noqa: E402
from tools.figures.chains import scattered_targets  # noqa: E402
from tools.figures.plots import plt, run, save  # noqa: E402

COLORS = dict(
    zip(
        ik.METHODS,
        ("#e69f00", "#d55e00", "#2a9d5c", "#56b4e9", "#0072b2", "#cc79a7", "#000000"),
        strict=True,
    )
)
BONES, TARGETS, ITERATIONS = 10, 1_000, 100
FPS, FRAMES = 24, 240
ARM = np.array([[0.0, 0.30, 0.0], [0.0, 0.27, 0.0], [0.0, 0.08, 0.0]])
"""Upper arm, forearm and hand [m]."""
POSTURE = ik.Posture(
    (0.0, 0.0, 0.8), [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [-np.pi, 0.0, -np.pi], [np.pi, 2.6, np.pi]
)
"""That of a detected arm: the elbow is a hinge, the wrist stiff."""


def convergence(method: str, *, published: bool) -> tuple[Array, Array, Array, float]:
    """Median errors after each iteration in lengths, errors, iterations, and seconds a target in a batch."""
    offsets, start, targets = scattered_targets(BONES, TARGETS)
    solution = ik.solve(offsets, start, targets, method=method, published=published, history=True)
    assert solution.history is not None
    times = []
    for _ in range(3):
        begin = perf_counter()
        ik.solve(offsets, start, targets, method=method, published=published)
        times.append(perf_counter() - begin)
    return (
        np.median(solution.history, axis=1) / BONES,
        solution.error / BONES,
        solution.iterations,
        min(times) / TARGETS,
    )


def path() -> Array:
    """A smooth closed path (F, 3) in front of the shoulder, in reach of the arm."""
    t = 2.0 * np.pi * np.arange(FRAMES) / FRAMES
    return np.stack((0.18 * np.sin(t) + 0.1, 0.38 + 0.12 * np.cos(2.0 * t), 0.15 * np.sin(2.0 * t + 1.0)), axis=-1)


def followed(method: str) -> tuple[Array, Array]:
    """The largest speed [°/s] of a joint at each step of the path, and the rotation [°] of the wrist at each frame."""
    start = np.broadcast_to(rotation.exp([[0.2, 0.0, 0.3], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0]]), (FRAMES, 3, 4))
    solution = ik.solve(ARM, start, path(), method=method, tolerance=1e-6, posture=POSTURE)
    speeds = np.degrees(rotation.distance(solution.rotations[1:], solution.rotations[:-1])).max(axis=-1) * FPS
    return speeds, np.degrees(rotation.distance(solution.rotations[:, 2], start[:, 2]))


def draw() -> None:
    """The picture: convergence as it is and as published, and the speed of the fastest joint on the path."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13.0, 4.0))
    for axes, published, title in ((left, False, "Convergence"), (middle, True, "Convergence, As Published")):
        for method, row in ik.METHODS.items():
            errors = convergence(method, published=published)[0]
            axes.semilogy(np.maximum(errors, 1e-7), color=COLORS[method], label=row.label)
        axes.set(title=title, xlabel="iteration", xlim=(0, 40), ylim=(1e-6, 2.0))
        axes.grid(alpha=0.3)
    left.set_ylabel("median distance from the target / length")
    for method in ik.METHODS:
        right.semilogy(np.arange(1, FRAMES) / FPS, followed(method)[0], color=COLORS[method])
    right.set(title="Fastest joint on a smooth path [°/s]", xlabel="seconds")
    right.grid(alpha=0.3)
    figure.legend(*left.get_legend_handles_labels(), loc="lower center", ncol=len(ik.METHODS), frameon=False)
    figure.tight_layout(rect=(0.0, 0.07, 1.0, 1.0))
    save(figure, "ik_compared.png", dpi=100)


def tables() -> tuple[str, str]:
    """The tables of the page: convergence and time, and smoothness."""
    fastest = min(convergence(method, published=False)[3] for method in ik.METHODS)
    first = pages.head("method", "iterations", "within 0.1 %", "time", "As Published: iterations", "within 0.1 %")
    second = pages.head(
        "method", "fastest joint", "largest change of speed between frames", "largest rotation of the wrist"
    )
    for method, row in ik.METHODS.items():
        _, errors, iterations, seconds = convergence(method, published=False)
        _, plain, more, _ = convergence(method, published=True)
        speeds, wrist = followed(method)
        first += (
            f"| {row.label} | {iterations.mean():.1f} | {100.0 * np.mean(errors < 1e-3):.1f} % "
            f"| {seconds / fastest:.1f} | {more.mean():.1f} | {100.0 * np.mean(plain < 1e-3):.1f} % |\n"
        )
        second += (
            f"| {row.label} | {speeds.max():.0f} °/s | {np.abs(np.diff(speeds)).max():.0f} °/s | {wrist.max():.0f}° |\n"
        )
    return first, second


def write() -> None:
    pages.replace_tables(pages.DOCS / "ik-compared.md", tables())


if __name__ == "__main__":
    run(write, draw)
