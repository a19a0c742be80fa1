"""A tail, hair and an antenna on a run, bare and with springs, until everything is at rest."""

from collections.abc import Iterator

import numpy as np
from PIL import Image

from docs import springs_filmstrip as strip
from tools.figures.plots import plt

FPS = strip.FPS
SIZE, DOTS = (6.4, 4.2), 80
REST = 0.9
"""Seconds shown after the run."""


def picture(pair: list, frame: int) -> Image.Image:
    """One frame: bare to the left, with springs to the right, seen from the side on which it runs."""
    sheet, axes = plt.subplots(1, 2, figsize=SIZE, dpi=DOTS, layout="constrained")
    for axis, title, found, color in zip(axes, ("bare", "with springs"), pair, (strip.BARE, strip.SWUNG), strict=True):
        origin = pair[0]["hips"][frame, 0, 1]
        axis.axhline(0.0, color="#d0d0d0", linewidth=1.0)
        marks = np.arange(np.ceil((origin - 1.0) / 0.5), (origin + 1.2) / 0.5) * 0.5
        axis.plot(marks - origin, 0.0 * marks, "|", color="#a0a0a0", markersize=8)
        for name, ends in found.items():
            is_chain = name.split(".")[0] in strip.CHAINS
            line = ends[frame][:, 1] - origin, ends[frame][:, 2]
            axis.plot(*line, color=color if is_chain else "#d0c8b8", linewidth=3.0 if is_chain else 9.0)
        axis.set(xlim=(-0.8, 1.0), ylim=(-0.1, 2.3), title=title)
        axis.set_aspect("equal")
        axis.axis("off")
    sheet.canvas.draw()
    pixels = np.asarray(sheet.canvas.buffer_rgba())[..., :3].copy()
    plt.close(sheet)
    return Image.fromarray(pixels)


def pictures() -> Iterator[Image.Image]:
    pair, over, _ = strip.take(strip.runs)
    for frame in range(round((over + REST) * strip.FPS)):
        yield picture(pair, frame)
