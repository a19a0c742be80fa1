"""Samples of sound files: WAV with whole numbers (PCM), as recorders write them."""

import wave
from pathlib import Path

import numpy as np

from ..errors import FileError
from ..rotation import Array

_MOST = 60_000_000
"""Samples of all channels: 20 minutes of one microphone at 48 kHz."""
_WIDTHS = (1, 2, 3, 4)


def load(path: Path) -> tuple[Array, float]:
    """The samples (n,) of a WAV file from -1 to 1, the mean of its channels, and their rate [1/s]. Raises FileError."""
    try:
        with wave.open(str(path), "rb") as file:
            channels, width, rate = file.getnchannels(), file.getsampwidth(), file.getframerate()
            if file.getnframes() * channels > _MOST:
                raise FileError("The sound '{path}' is too long; divide it.", path=path.name)
            if width not in _WIDTHS or not channels or rate <= 0:
                raise wave.Error
            data = file.readframes(file.getnframes())
    except (OSError, EOFError, wave.Error, ValueError):
        raise FileError(
            "The file '{path}' cannot be read as a sound; choose a WAV file with PCM samples.", path=path.name
        ) from None
    return _numbers(data[: len(data) - len(data) % (channels * width)], width).reshape(-1, channels).mean(axis=1), rate


def _numbers(data: bytes, width: int) -> Array:
    """Little-endian whole numbers of `width` bytes as fractions; those of one byte have no sign."""
    if width == 1:
        return np.frombuffer(data, dtype=np.uint8).astype(np.float32) / 128.0 - 1.0
    if width == 3:
        # As the upper bytes of four.
        wide = np.zeros((len(data) // 3, 4), dtype=np.uint8)
        wide[:, 1:] = np.frombuffer(data, dtype=np.uint8).reshape(-1, 3)
        return wide.view("<i4")[:, 0].astype(np.float32) / 2.0**31
    return np.frombuffer(data, dtype=f"<i{width}").astype(np.float32) / 2.0 ** (8 * width - 1)
