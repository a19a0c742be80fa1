"""Curves of a motion: their numbers as JSON, and a picture where matplotlib is installed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import motion_plots

_VIEWS = (("front", "x", "z"), ("side", "y", "z"), ("top", "x", "y"))


def write(folder: Path, stem: str, curves: Mapping[str, Any]) -> list[str]:
    """Write `stem`.json, and `stem`.png where that can be drawn; the paths written. Raises FileError.

    curves: "frames" (F,), "missed" or "costs", and by bone (F,) "torque" [N m] and "speed" [deg/s], or "path" and
    "straight" (F, 3) and, with several hands, "other_paths" and "other_straights" (k, F, 3), or of hits only "angles"
    [deg] by bone (F,).
    """
    draw = _draw_reach if "path" in curves else _draw_hits if "angles" in curves else _draw_interpolation
    return motion_plots.write(folder, stem, curves, draw)


def _draw_interpolation(curves: Mapping[str, Any], path: Path) -> None:
    figure, (speeds, torques), plt = motion_plots.plots(2, 1, (11, 6.5))
    for kind, axes, label in (("speed", speeds, "speed [°/s]"), ("torque", torques, "torque [N m]")):
        for bone, values in curves[kind].items():
            axes.plot(curves["frames"], values, label=bone, linewidth=1.5)
        axes.set_ylabel(label)
        for key in curves["keys"]:
            axes.axvline(key, color="#66717e", linewidth=0.8, linestyle=":")
        axes.margins(x=0)
    torques.set_xlabel("frame")
    speeds.legend(loc="upper right", ncols=4)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _draw_hits(curves: Mapping[str, Any], path: Path) -> None:
    figure, (axes,), plt = motion_plots.plots(1, 1, (11, 4.5))
    for bone, values in curves["angles"].items():
        axes.plot(curves["frames"], values, label=bone, linewidth=1.5)
    axes.set_ylabel("deviation [°]")
    axes.set_xlabel("frame")
    axes.margins(x=0)
    axes.legend(loc="upper right", ncols=3)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _draw_reach(curves: Mapping[str, Any], path: Path) -> None:
    figure, (costs, *views), plt = motion_plots.plots(2, 2, (9, 8))
    costs.plot(curves["costs"], marker=".", color="#d1495b")
    costs.set_xlabel("pass (0: minimum jerk)")
    costs.set_ylabel("cost [N²m²/s]")
    for axes, (name, across, up) in zip(views, _VIEWS, strict=True):
        chosen = ["xyz".index(across), "xyz".index(up)]
        axes.plot(*np.asarray(curves["straight"])[:, chosen].T, color="#66717e", linestyle="--", label="minimum jerk")
        axes.plot(*np.asarray(curves["path"])[:, chosen].T, color="#d1495b", label="found")
        for line in curves.get("other_straights", ()):
            axes.plot(*np.asarray(line)[:, chosen].T, color="#66717e", linestyle="--")
        for line in curves.get("other_paths", ()):
            axes.plot(*np.asarray(line)[:, chosen].T, color="#00798c", label="other hand")
        axes.set_title(name)
        axes.set_xlabel(across)
        axes.set_ylabel(up)
        axes.set_aspect("equal", adjustable="datalim")
    views[0].legend()
    figure.savefig(path, dpi=110)
    plt.close(figure)
