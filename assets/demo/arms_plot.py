"""The picture of the demo's arms: speeds of the swings, poses passed or stopped at, paths and costs of the reaches."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from .arms import ArmsDemo
from .human import FPS

_COLORS = ("#0072b2", "#e69f00", "#d1495b")
_VIEWS = (("front", 0, 2), ("side", 1, 2), ("above", 0, 1))


def draw(demo: ArmsDemo, path: Path) -> None:
    figure, places = plt.subplots(2, 4, figsize=(16.0, 7.5), layout="constrained")
    durations = sorted({swing.seconds for swing in demo.swings}, reverse=True)
    for axes, seconds in zip(places[0], durations, strict=False):
        same = (swing for swing in demo.swings if swing.seconds == seconds)
        for color, swing in zip(_COLORS, same, strict=False):
            _speed(axes, swing.path, color, f"{swing.load:g} kg")
        axes.set_title(f"Swing of {seconds:g} s, load in the hand")
    passed = places[0, 2]
    for color, swing in zip(_COLORS, demo.poses, strict=False):
        _speed(passed, swing.path, color, "stops, as published" if "stops" in swing.name else "passes")
    for frame in demo.poses[0].keys:
        passed.axvline((frame - 1.0) / FPS, color="#222222", linewidth=0.6, linestyle=":")
    passed.set_title("Poses 1 to 4 there and back")
    costs = places[0, 3]
    names = list(demo.reaches[0].costs)
    for n, (color, reach) in enumerate(zip(_COLORS, demo.reaches, strict=True)):
        bars = costs.bar(
            np.arange(len(names)) + 0.27 * (n - 1), reach.costs.values(), 0.25, color=color, label=reach.side
        )
        costs.bar_label(bars, fmt="%.0f", fontsize=7)
    costs.set_xticks(range(len(names)), names)
    costs.set_title("Cost of the reaches [N²m²/s]")
    for axes, (name, x, y) in zip(places[1], _VIEWS, strict=False):
        for color, reach in zip(_COLORS, demo.reaches, strict=True):
            axes.plot(reach.path[:, x], reach.path[:, y], color=color, label=reach.side)
            axes.plot(reach.straight[:, x], reach.straight[:, y], color=color, linestyle=":")
        axes.plot(0.0, 0.0, "ko", markersize=5)
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_title(f"The hand's path from the {name}" if name != "above" else "The hand's path from above")
        axes.set_xlabel("m")
    for color, reach in zip(_COLORS, demo.reaches, strict=True):
        places[1, 3].plot(np.minimum.accumulate(reach.passes), color=color, label=reach.side)
    places[1, 3].set_title("Cost after each pass, Optimal")
    places[1, 3].set_xlabel("pass")
    for axes in places.flat:
        axes.grid(alpha=0.25)
        axes.legend(fontsize=8)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def _speed(axes, path: np.ndarray, color: str, label: str) -> None:
    speed = np.linalg.norm(np.diff(path, axis=0), axis=1) * FPS
    axes.plot((np.arange(len(speed)) + 0.5) / FPS, speed, color=color, label=label)
    axes.set_xlabel("time [s]")
    axes.set_ylabel("speed of the hand [m/s]")
