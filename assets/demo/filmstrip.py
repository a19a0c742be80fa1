"""The conversation's filmstrip: moments of it, rendered by Cycles, side by side."""

from collections.abc import Callable, Iterable, Iterator, Sequence
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
    rows = -(-len(moments) // COLUMNS)
    dpi = 100
    figure, places = plt.subplots(
        rows, COLUMNS, figsize=(COLUMNS * WIDTH / dpi, rows * (HEIGHT + 30) / dpi), dpi=dpi, squeeze=False
    )
    figure.subplots_adjust(0.002, 0.005, 0.998, 0.953, wspace=0.01, hspace=0.1)
    with TemporaryDirectory() as folder:
        rendered = render(scene, [frame for frame, _words in moments], Path(folder), before=before)
        for (frame, words), picture, axes in zip(moments, rendered, places.flat, strict=True):
            axes.imshow(plt.imread(picture))
            axes.set_title(
                f"{(frame - scene.frame_start) / scene.render.fps:.2f} s   {words}", fontsize=12, loc="left", pad=4
            )
            axes.axis("off")
    figure.canvas.draw()
    # With all shades, noise that nobody sees would make the file twice as large.
    levels = (SHADES - 1) / 255.0
    plt.imsave(path, np.round(np.round(np.asarray(figure.canvas.buffer_rgba())[..., :3] * levels) / levels) / 255.0)
    plt.close(figure)


def render(
    scene: bpy.types.Scene,
    frames: Iterable[int],
    folder: Path,
    size: tuple[int, int] = (WIDTH, HEIGHT),
    before: Callable[[int], None] = lambda number: None,
) -> Iterator[Path]:
    """Render frames into a folder, one after another; before, as `draw` has it. size: in pixels."""
    _prepare(scene, size)
    for number, frame in enumerate(frames):
        before(number)
        scene.frame_set(frame)
        scene.render.filepath = str(folder / f"{number}.png")
        bpy.ops.render.render(write_still=True, scene=scene.name)
        yield Path(scene.render.filepath)


def _prepare(scene: bpy.types.Scene, size: tuple[int, int]) -> None:
    """Quick and good enough for pictures of this size; no graphics card is needed."""
    addon_utils.enable("cycles")
    render, cycles = scene.render, scene.cycles
    render.engine = "CYCLES"
    render.resolution_x, render.resolution_y, render.resolution_percentage = *size, 100
    render.dither_intensity = 0.0
    scene.view_settings.view_transform = "Standard"
    cycles.device, cycles.samples, cycles.use_adaptive_sampling, cycles.max_bounces = "CPU", SAMPLES, False, 1
    cycles.use_denoising, cycles.denoising_quality, cycles.denoising_prefilter = True, "FAST", "NONE"
