"""The frame rate that a glTF file's keys were made at: glTF itself knows only seconds."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..lookat_pd.errors import FileError
from ..lookat_pd.rotation import Array
from . import gltf

RATES = (24, 25, 30, 50, 60, 120, 48, 100, 240)
USUAL = 30
_WHOLE = 0.01
_NEARLY_ALL = 0.9
_FLOAT = 5126


def frame_rate(path: Path) -> int:
    """The first usual rate at which nearly all keys are on whole frames. Raises FileError on a broken file."""
    return likeliest_rate(key_times(path))


def likeliest_rate(times: Array) -> int:
    """The first usual rate at which nearly all of the times [s] are whole frames, else 30."""
    moving = times[np.isfinite(times) & (times > 0.0)]
    if not len(moving):
        return USUAL
    for rate in RATES:
        frames = moving * rate
        # Times are 32-bit floats: what is left of a frame after minutes is worth less.
        allowed = _WHOLE + 2.0**-22 * frames
        if np.mean(np.abs(frames - np.round(frames)) <= allowed) >= _NEARLY_ALL:
            return rate
    return USUAL


def key_times(path: Path) -> Array:
    """All times [s] at which animation has keys. Raises FileError on a broken file."""
    try:
        document, binary = gltf.read(path)
        inputs = sorted(set(_inputs(document)))
        times = [_accessor(document, binary, path.parent, index) for index in inputs]
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, struct.error) as error:
        raise FileError(
            "The glTF data is broken ({name}: {error}); {cured}.",
            name=type(error).__name__,
            error=error,
            cured=gltf.CURED,
        ) from None
    return np.concatenate(times) if times else np.empty(0)


def _inputs(document: dict[str, Any]) -> Iterator[int]:
    for animation in document.get("animations", ()):
        yield from (sampler["input"] for sampler in animation["samplers"])


def _accessor(document: dict[str, Any], binary: bytes, folder: Path, index: int) -> Array:
    """The numbers of a scalar accessor of floats; none where it is compressed in ways only the importer knows."""
    accessor = document["accessors"][index]
    if "bufferView" not in accessor or accessor["componentType"] != _FLOAT:
        return np.empty(0)
    view = document["bufferViews"][accessor["bufferView"]]
    buffer = gltf.buffer_of(document["buffers"][view["buffer"]], binary, folder)
    if not buffer:
        return np.empty(0)
    start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
    stride = view.get("byteStride", 4)
    end = start + (accessor["count"] - 1) * stride + 4
    if end > len(buffer):
        raise FileError(
            "The file's binary part is truncated: {buffer_count} bytes of {end}; copy or {cured}.",
            buffer_count=len(buffer),
            end=end,
            cured=gltf.CURED,
        )
    return np.ndarray((accessor["count"],), "<f4", buffer, start, (stride,)).astype(float)
