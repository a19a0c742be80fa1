"""Small plots for panels: curves drawn by numpy into a preview icon when their data has changed."""

from collections.abc import Callable, Hashable, Mapping, Sequence

import bpy
import bpy.utils.previews
import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT = 320, 320
COLOURS = ((0.90, 0.25, 0.25), (0.97, 0.55, 0.20), (0.45, 0.75, 0.25), (0.25, 0.65, 0.75))
ICONS = ("COLORSET_01_VEC", "COLORSET_02_VEC", "COLORSET_03_VEC", "COLORSET_04_VEC")
"""Icons of Blender in similar colors as the first, second, third and fourth curve."""
_GRID = (0.5, 0.5, 0.5)
_FAINT = 0.55
"""Opacity of what is there to be compared with."""
_DASH = 12
"""Length of a dash and of a gap, in pixels."""
_MARK = 4
"""Width of a vertical line, in pixels."""
_shown: dict[str, tuple[Hashable, bpy.types.ImagePreview]] = {}
_previews: list[bpy.utils.previews.ImagePreviewCollection] = []


Curves = Callable[[], Mapping[str, NDArray]]


def icon(
    name: str,
    key: Hashable,
    curves: Curves,
    *,
    marks: Sequence[float] = (),
    dashed: Curves = dict,
    faint: Callable[[], Sequence[NDArray]] = list,
) -> int:
    """Icon number of the plot called `name`, drawn when `key` has changed.

    curves: values (n,) by name, all over the same time; they share one scale that includes zero. marks: positions in
    [0, 1] along the time of vertical lines. dashed: further curves, in the same colors. faint:
    curves to compare with, in grey.
    """
    return _icon(name, key, lambda: _draw(list(curves().values()), marks, list(dashed().values()), faint()))


def _icon(name: str, key: Hashable, draw: Callable[[], NDArray]) -> int:
    if not _previews:
        return 0
    if name not in _shown or _shown[name][0] != key:
        collection = _previews[0]
        preview = _shown[name][1] if name in _shown else collection.new(name)
        preview.image_size = WIDTH, HEIGHT
        preview.image_pixels_float.foreach_set(draw().ravel())
        _shown[name] = key, preview
    return _shown[name][1].icon_id


def path_icon(
    name: str,
    key: Hashable,
    paths: Callable[[], Sequence[NDArray]],
    beside: Callable[[], Sequence[NDArray]],
    faint: Callable[[], Sequence[NDArray]],
) -> int:
    """Icon number of the plot called `name`, drawn when `key` has changed: paths (n, 2) in a plane with a common scale,
    in the colors of curves, each with a dot at its end. beside: further ones in grey; faint: fainter ones without a
    dot."""
    return _icon(name, key, lambda: _draw_paths(paths(), beside(), faint()))


def equally_long(curves: Sequence[NDArray]) -> list[NDArray]:
    """Curves of one value a pass over the same passes: those of fewer keep their last value."""
    most = max((len(curve) for curve in curves), default=0)
    return [np.concatenate((curve, np.repeat(curve[-1:], most - len(curve)))) for curve in curves]


Arrow = tuple[int, int]
"""From one node of a graph to another, by number."""


def graph_icon(
    name: str,
    key: Hashable,
    places: NDArray,
    arrows: Sequence[tuple[Arrow, float]],
    marked: Sequence[Sequence[Arrow]],
) -> int:
    """Icon number of the graph called `name`, drawn when `key` has changed: nodes at places (n, 2) on the unit circle,
    and arrows between them with their strengths, 0 to 1. marked: arrows in the colors of curves, the first on top."""
    return _icon(name, key, lambda: _draw_graph(places, arrows, marked))


def _draw(
    curves: Sequence[NDArray], marks: Sequence[float], dashed: Sequence[NDArray], faint: Sequence[NDArray] = ()
) -> NDArray[np.float32]:
    """Pixels (HEIGHT, WIDTH, 4) from the bottom up."""
    pixels = np.zeros((HEIGHT, WIDTH, 4), dtype=np.float32)
    low = min([0.0, *(float(curve.min()) for curve in (*curves, *dashed, *faint))])
    high = max([1e-9, *(float(curve.max()) for curve in (*curves, *dashed, *faint))])
    margin = 0.06 * (high - low)
    low, high = low - margin, high + margin
    _line(pixels, np.full(WIDTH, (0.0 - low) / (high - low)), (*_GRID, 0.6), 0.8)
    for mark in marks:
        column = int(np.clip(mark, 0.0, 1.0) * (WIDTH - _MARK))
        # Dashes, so wide that they are seen in the smallest plot.
        pixels[np.arange(HEIGHT) % (2 * _DASH) < _DASH, column : column + _MARK] = (*_GRID, 0.9)
    across = np.linspace(0.0, 1.0, WIDTH)

    def heights(curve: NDArray) -> NDArray:
        return (np.interp(across, np.linspace(0.0, 1.0, len(curve)), curve) - low) / (high - low)

    for curve in faint:
        _line(pixels, heights(curve), (*_GRID, _FAINT), 1.0)
    for lines, is_dashed in ((curves, False), (dashed, True)):
        for n, curve in enumerate(lines):
            height = heights(curve)
            gaps = _gaps(height) if is_dashed else None
            _line(pixels, height, (*COLOURS[n % len(COLOURS)], 1.0), 1.6, gaps)
    return pixels


def _gaps(height: NDArray) -> NDArray[np.bool_]:
    """(WIDTH,) where a dashed curve is interrupted; dashes of steep parts are as long as those of flat ones."""
    along = np.cumsum(np.hypot(1.0, np.gradient(height * (HEIGHT - 1))))
    return along % (2 * _DASH) >= _DASH


def _line(
    pixels: NDArray,
    height: NDArray,
    colour: tuple[float, float, float, float],
    thickness: float,
    hidden: NDArray | None = None,
) -> None:
    """A curve with soft edges; height: (WIDTH,) in [0, 1]. hidden: (WIDTH,) where it is interrupted."""
    y = height * (HEIGHT - 1)
    rows = np.arange(HEIGHT)[:, None]
    # Steep curves have the same width as flat ones.
    slope = np.gradient(y)
    cover = np.clip(thickness + 0.5 - np.abs(rows - y) / np.sqrt(1.0 + slope**2), 0.0, 1.0) * colour[3]
    if hidden is not None:
        cover[:, hidden] = 0.0
    shown = cover > pixels[..., 3]
    pixels[..., :3] = np.where(shown[..., None], colour[:3], pixels[..., :3])
    pixels[..., 3] = np.maximum(pixels[..., 3], cover)


def _draw_paths(paths: Sequence[NDArray], beside: Sequence[NDArray], faint: Sequence[NDArray]) -> NDArray[np.float32]:
    """Pixels (HEIGHT, WIDTH, 4) from the bottom up."""
    pixels = np.zeros((HEIGHT, WIDTH, 4), dtype=np.float32)
    together = np.concatenate([*paths, *beside, *faint])
    low, high = together.min(axis=0), together.max(axis=0)
    scale = 0.86 * min(WIDTH, HEIGHT) / max(float((high - low).max()), 1e-9)

    def placed(line: NDArray) -> NDArray:
        return (line - 0.5 * (low + high)) * scale + 0.5 * np.array((WIDTH, HEIGHT))

    for line in faint:
        _paint(pixels, _stamped(_dense(placed(line)), 1.5), _GRID, _FAINT)
    colored = [(line, _GRID) for line in beside]
    colored += [(line, COLOURS[n % len(COLOURS)]) for n, line in reversed(list(enumerate(paths)))]
    for line, colour in colored:
        points = placed(line)
        _paint(pixels, np.maximum(_stamped(_dense(points), 3.0), _stamped(points[-1:], 9.0)), colour, 1.0)
    return pixels


def _draw_graph(
    places: NDArray, arrows: Sequence[tuple[Arrow, float]], marked: Sequence[Sequence[Arrow]]
) -> NDArray[np.float32]:
    """Pixels (HEIGHT, WIDTH, 4) from the bottom up."""
    pixels = np.zeros((HEIGHT, WIDTH, 4), dtype=np.float32)
    nodes = 0.45 * places * min(WIDTH, HEIGHT) + 0.5 * np.array((WIDTH, HEIGHT))
    for level in (0.25, 0.5, 0.75, 1.0):
        here = [arrow for arrow, strength in arrows if level - 0.25 < strength <= level or level == 0.25 >= strength]
        _paint(pixels, _arrows(nodes, here, 0.8), _GRID, 0.25 + 0.6 * level)
    _paint(pixels, _stamped(nodes, 5.0), _GRID, 1.0)
    for n in reversed(range(len(marked))):
        _paint(pixels, _arrows(nodes, marked[n], 2.5), COLOURS[n], 1.0)
        ends = sorted({node for arrow in marked[n] for node in arrow})
        if ends:
            _paint(pixels, _stamped(nodes[ends], 8.0), COLOURS[n], 1.0)
    return pixels


def _arrows(nodes: NDArray, arrows: Sequence[Arrow], radius: float) -> NDArray:
    """The coverage of each pixel by arrows, which bend to the left, so that those of both directions are seen."""
    cover = np.zeros((HEIGHT, WIDTH))
    lines, tips = [], []
    t = np.linspace(0.0, 1.0, 33)[:, None]
    for first, last in arrows:
        begin, end = nodes[first], nodes[last]
        along = end - begin
        middle = 0.5 * (begin + end) + 0.12 * np.array((-along[1], along[0]))
        line = (1.0 - t) ** 2 * begin + 2.0 * t * (1.0 - t) * middle + t**2 * end
        lines.append(_dense(line))
        heading = (end - middle) / max(float(np.linalg.norm(end - middle)), 1e-9)
        across = np.array((-heading[1], heading[0]))
        tip = end - 8.0 * heading
        size = 4.0 + 3.0 * radius
        tips += [_dense(np.stack((tip, tip - size * heading + side * 0.5 * size * across))) for side in (-1.0, 1.0)]
    if lines:
        cover = _stamped(np.concatenate((*lines, *tips)), radius)
    return cover


def _paint(pixels: NDArray, cover: NDArray, colour: tuple[float, float, float], strength: float) -> None:
    """Lay a color over pixels where it covers them."""
    shown = cover > 0.0
    pixels[..., :3] = np.where(shown[..., None], colour, pixels[..., :3])
    pixels[..., 3] = np.maximum(pixels[..., 3], strength * cover)


def _dense(line: NDArray) -> NDArray:
    """A line (n, 2) as points half a pixel apart."""
    along = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))))
    at = np.linspace(0.0, along[-1], int(2.0 * along[-1]) + 2)
    return np.stack([np.interp(at, along, line[:, k]) for k in range(2)], axis=1)


def _stamped(points: NDArray, radius: float) -> NDArray:
    """The coverage of each pixel by discs around points (n, 2)."""
    cover, reach = np.zeros((HEIGHT, WIDTH)), np.arange(-np.ceil(radius), np.ceil(radius) + 1.0)
    around = np.stack(np.meshgrid(reach, reach), axis=-1).reshape(-1, 2)
    places = np.round(points)[:, None] + around
    strength = np.clip(radius + 0.5 - np.linalg.norm(places - points[:, None], axis=-1), 0.0, 1.0)
    x, y = np.clip(places, 0, (WIDTH - 1, HEIGHT - 1)).astype(int).reshape(-1, 2).T
    np.maximum.at(cover, (y, x), strength.ravel())
    return cover


def register() -> None:
    _previews.append(bpy.utils.previews.new())


def unregister() -> None:
    _shown.clear()
    while _previews:
        bpy.utils.previews.remove(_previews.pop())
