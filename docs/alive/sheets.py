"""A sheet: twelve frames of two takes of the same scene, and what was measured on them as curves."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import bpy
import numpy as np

from lookat_pd.rotation import Array
from standalone import load
from tools.figures import pages
from tools.figures.plots import describe, plt, save

COLORS = {"before": "#d1495b", "after": "#0072b2"}
MOMENTS = 12
WIDTH, HEIGHT, DPI = 150, 210, 90


@dataclass(frozen=True)
class Take:
    """One of the two: the scene is as it shall be rendered while the take is the newest."""

    label: str
    """Before or after."""
    scene: bpy.types.Scene
    curves: dict[str, tuple[Array, Array]]
    """Name with unit to times [s] and values."""


def draw(name: str, title: str, takes: Callable[[], Iterable[Take]]) -> Iterator[str]:
    """Draw a sheet; yields a row of the table for each curve: its median and its largest value, before and after."""
    rows: list[tuple[Take, list[Array]]] = []
    bpy.ops.wm.read_homefile(use_empty=True)
    for take in takes():
        rows.append((take, _frames(take.scene)))
    curves = list(rows[0][0].curves)
    for what in curves:
        values = [take.curves[what][1] for take, _ in rows]
        yield pages.row(name, what, *(f"{np.median(one):.1f}, at most {np.abs(one).max():.1f}" for one in values))
    width = MOMENTS * WIDTH / DPI
    heights = [HEIGHT / DPI] * len(rows) + [2.2] * len(curves)
    figure = plt.figure(figsize=(width, sum(heights) + 1.0), layout="constrained")
    figure.suptitle(title)
    parts = figure.subfigures(len(heights), 1, height_ratios=heights)
    for part, (take, pictures) in zip(parts, rows, strict=False):
        part.suptitle(take.label, x=0.005, ha="left", color=COLORS[take.label])
        for axis, picture in zip(part.subplots(1, MOMENTS, gridspec_kw={"wspace": 0.02}), pictures, strict=True):
            axis.imshow(picture)
            axis.axis("off")
    for part, what in zip(parts[len(rows) :], curves, strict=True):
        axis = part.subplots()
        for take, _ in rows:
            axis.plot(*take.curves[what], color=COLORS[take.label], label=take.label)
        describe(axis, "", "time [s]", what)
        axis.legend(loc="upper right")
        axis.margins(x=0.01)
    save(figure, f"alive_{name}.png", DPI)
    plt.close(figure)


def _frames(scene: bpy.types.Scene) -> list[Array]:
    """Twelve frames, spread evenly over the scene's range."""
    filmstrip = load("assets.demo.filmstrip")
    numbers = np.linspace(scene.frame_start, scene.frame_end, MOMENTS).round().astype(int).tolist()
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        return [plt.imread(path) for path in filmstrip.render(scene, numbers, Path(folder), (WIDTH, HEIGHT))]
