"""The frame rate that a glTF file's keys were made at: glTF itself knows only seconds."""

import base64
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from ..lookat_pd.errors import FileError
from ..lookat_pd.rotation import Array

RATES = (24, 25, 30, 50, 60, 120, 48, 100, 240)
USUAL = 30
_WHOLE = 0.01
_NEARLY_ALL = 0.9
_MAGIC, _JSON, _BINARY = b"glTF", 0x4E4F534A, 0x004E4942
_FLOAT = 5126
_CURED = "export it again"


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
        document, binary = _read(path)
        inputs = sorted(set(_inputs(document)))
        found = [_accessor(document, binary, path.parent, index) for index in inputs]
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, struct.error) as error:
        raise FileError(
            "The glTF data is broken ({name}: {error}); {cured}.", name=type(error).__name__, error=error, cured=_CURED
        ) from None
    return np.concatenate(found) if found else np.empty(0)


def _inputs(document: dict[str, Any]) -> Iterator[int]:
    for animation in document.get("animations", ()):
        yield from (sampler["input"] for sampler in animation["samplers"])


def _read(path: Path) -> tuple[dict[str, Any], bytes]:
    """The JSON part and the binary part. Raises FileError."""
    content = path.read_bytes()
    if content[:4] == _MAGIC:
        return _binary(content)
    try:
        document = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or "asset" not in document:
        raise FileError("The content is not that of a glTF file; {cured}.", cured=_CURED)
    return document, b""


def _binary(content: bytes) -> tuple[dict[str, Any], bytes]:
    _, version, length = struct.unpack_from("<4sII", content.ljust(12, b"\0"))
    if version != 2:
        raise FileError(
            "This is glTF of version {version}, and only version 2 can be read; {cured}.", version=version, cured=_CURED
        )
    if len(content) < length or length < 20:
        raise FileError(
            "The file is truncated: {content_count} bytes of {length}; copy or {cured}.",
            content_count=len(content),
            length=length,
            cured=_CURED,
        )
    document, binary, place = b"", b"", 12
    while place + 8 <= length:
        size, kind = struct.unpack_from("<II", content, place)
        chunk = content[place + 8 : place + 8 + size]
        if len(chunk) < size:
            raise FileError("The file is truncated within a part of it; copy or {cured}.", cured=_CURED)
        if kind == _JSON and not document:
            document = chunk
        elif kind == _BINARY and not binary:
            binary = chunk
        place += 8 + size
    try:
        parsed = json.loads(document)
    except (ValueError, RecursionError):
        raise FileError("The file's JSON part is broken; {cured}.", cured=_CURED) from None
    return parsed, binary


def _accessor(document: dict[str, Any], binary: bytes, folder: Path, index: int) -> Array:
    """The numbers of a scalar accessor of floats; none where it is compressed in ways only the importer knows."""
    accessor = document["accessors"][index]
    if "bufferView" not in accessor or accessor["componentType"] != _FLOAT:
        return np.empty(0)
    view = document["bufferViews"][accessor["bufferView"]]
    buffer = _buffer(document["buffers"][view["buffer"]], binary, folder)
    if buffer is None:
        return np.empty(0)
    start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
    stride = view.get("byteStride", 4)
    end = start + (accessor["count"] - 1) * stride + 4
    if end > len(buffer):
        raise FileError(
            "The file's binary part is truncated: {buffer_count} bytes of {end}; copy or {cured}.",
            buffer_count=len(buffer),
            end=end,
            cured=_CURED,
        )
    return np.ndarray((accessor["count"],), "<f4", buffer, start, (stride,)).astype(float)


def _buffer(buffer: dict[str, Any], binary: bytes, folder: Path) -> bytes | None:
    uri = buffer.get("uri")
    if uri is None:
        return binary or None
    if uri.startswith("data:"):
        return base64.b64decode(uri.partition(",")[2])
    try:
        return (folder / unquote(uri)).read_bytes()
    except OSError as error:
        raise FileError(
            "The file {uri} of the glTF cannot be read ({reason}); place it in the same folder.",
            uri=uri,
            reason=error.strerror,
        ) from None
