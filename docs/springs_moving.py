"""The moving picture of docs/springs.md: a tail, hair and an antenna on a run, docs/images/springs_run.webp.

    python docs/springs_moving.py

The run of docs/springs_filmstrip.py, bare and with springs, until everything is at rest. Prints how large the file is.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

import numpy as np  # noqa: E402
from PIL import Image  # noqa: E402

from docs import springs_filmstrip as strip  # noqa: E402
from standalone import load  # noqa: E402
from tools.figures.plots import plt, run  # noqa: E402

PICTURE = ROOT / "docs" / "images" / "springs_run.webp"
SIZE, DOTS = (6.4, 4.2), 80
REST = 0.9
"""Seconds shown after the run."""
LARGEST = 600_000
"""Bytes that it may have."""


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


def draw() -> None:
    load().register()
    pair, over, _ = strip.take(strip.runs)
    frames = [picture(pair, frame) for frame in range(round((over + REST) * strip.FPS))]
    times = [round(1000 * (n + 1) / strip.FPS) - round(1000 * n / strip.FPS) for n in range(len(frames))]
    frames[0].save(PICTURE, save_all=True, append_images=frames[1:], duration=times, loop=0, quality=55, method=6)
    size = PICTURE.stat().st_size
    print(f"{PICTURE.name}: {len(frames)} frames, {size / 1000:.0f} kB")
    assert size < LARGEST, "a picture for a page that opens at once"


if __name__ == "__main__":
    run(draw)
