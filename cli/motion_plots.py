"""Plots of a result: its numbers as JSON, and a picture where matplotlib is installed."""

import json
import os
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..rig import whole_file


def write(folder: Path, stem: str, numbers: Mapping[str, Any], draw: Callable[[Any, Path], None]) -> list[str]:
    """Write `stem`.json, and `stem`.png where that can be drawn; the paths written. Raises FileError.

    draw: writes the picture of the numbers.
    """
    path = folder / f"{stem}.json"
    with whole_file.writing(path) as temporary:
        try:
            temporary.write_text(json.dumps(_plain(numbers), indent=1) + "\n", "utf-8")
        except OSError as error:
            raise whole_file.unwritable(path, error) from None
    if find_spec("matplotlib") is None:
        return [str(path)]
    picture = folder / f"{stem}.png"
    with whole_file.writing(picture) as temporary:
        draw(numbers, temporary)
    return [str(path), str(picture)]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return np.round(value, 6).tolist()
    return value


def plots(rows: int, columns: int, size: tuple[float, float]) -> tuple[Any, Any, Any]:
    """A figure of a size in inches with axes, and the module that closes it."""
    # It keeps a list of fonts, by default in the user's cache.
    os.environ.setdefault("MPLCONFIGDIR", bpy.app.tempdir)
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained")
    for item in np.ravel(axes):
        item.grid(alpha=0.25)
    return figure, np.ravel(axes), plt
