"""The conversation's filmstrip: moments of it, rendered by Cycles, side by side."""

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import addon_utils
import bpy
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

WIDTH, HEIGHT, COLUMNS = 360, 270, 4
SAMPLES, SHADES = 6, 64


def draw(
    scene: bpy.types.Scene,
    moments: Sequence[tuple[int, str]],
    path: Path,
    before: Callable[[int], None] = lambda number: None,
) -> None:
    """moments: frames with what is to be seen there. before: called with the number of each moment before it is
    rendered. The scene's render settings are not as before."""
    _prepare(scene)
    rows = -(-len(moments) // COLUMNS)
    dpi = 100
    figure, places = plt.subplots(
        rows, COLUMNS, figsize=(COLUMNS * WIDTH / dpi, rows * (HEIGHT + 30) / dpi), dpi=dpi, squeeze=False
    )
    figure.subplots_adjust(0.002, 0.005, 0.998, 0.953, wspace=0.01, hspace=0.1)
    with TemporaryDirectory() as folder:
        for number, ((frame, words), axes) in enumerate(zip(moments, places.flat, strict=True)):
            before(number)
            scene.frame_set(frame)
            scene.render.filepath = str(Path(folder) / f"{frame}.png")
            bpy.ops.render.render(write_still=True, scene=scene.name)
            axes.imshow(plt.imread(scene.render.filepath))
            axes.set_title(
                f"{(frame - scene.frame_start) / scene.render.fps:.2f} s   {words}", fontsize=12, loc="left", pad=4
            )
            axes.axis("off")
    figure.canvas.draw()
    # With all shades, noise that nobody sees would make the file twice as large.
    levels = (SHADES - 1) / 255.0
    plt.imsave(path, np.round(np.round(np.asarray(figure.canvas.buffer_rgba())[..., :3] * levels) / levels) / 255.0)
    plt.close(figure)


def _prepare(scene: bpy.types.Scene) -> None:
    """Quick and good enough for pictures of this size; no graphics card is needed."""
    addon_utils.enable("cycles")
    render, cycles = scene.render, scene.cycles
    render.engine = "CYCLES"
    render.resolution_x, render.resolution_y, render.resolution_percentage = WIDTH, HEIGHT, 100
    render.dither_intensity = 0.0
    scene.view_settings.view_transform = "Standard"
    cycles.device, cycles.samples, cycles.use_adaptive_sampling, cycles.max_bounces = "CPU", SAMPLES, False, 1
    cycles.use_denoising, cycles.denoising_quality, cycles.denoising_prefilter = True, "FAST", "NONE"
