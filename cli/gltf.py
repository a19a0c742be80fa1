"""glTF files as documents: reading the JSON part, finding the files it names, and adding a note to a written one."""

import json
import struct
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ..lookat_pd.errors import FileError

CURED = "export it again"
_MAGIC, _JSON, _BINARY = b"glTF", 0x4E4F534A, 0x004E4942
_HEADER = 12


def read(path: Path) -> tuple[dict[str, Any], bytes]:
    """The JSON part and the binary part. Raises FileError."""
    content = path.read_bytes()
    if content[:4] == _MAGIC:
        return _binary(content)
    try:
        document = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or "asset" not in document:
        raise FileError("The content is not that of a glTF file; {cured}.", cured=CURED)
    return document, b""


def _binary(content: bytes) -> tuple[dict[str, Any], bytes]:
    _, version, length = struct.unpack_from("<4sII", content.ljust(12, b"\0"))
    if version != 2:
        raise FileError(
            "This is glTF of version {version}, and only version 2 can be read; {cured}.", version=version, cured=CURED
        )
    if len(content) < length or length < 20:
        raise FileError(
            "The file is truncated: {content_count} bytes of {length}; copy or {cured}.",
            content_count=len(content),
            length=length,
            cured=CURED,
        )
    document, binary, place = b"", b"", 12
    while place + 8 <= length:
        size, kind = struct.unpack_from("<II", content, place)
        chunk = content[place + 8 : place + 8 + size]
        if len(chunk) < size:
            raise FileError("The file is truncated within a part of it; copy or {cured}.", cured=CURED)
        if kind == _JSON and not document:
            document = chunk
        elif kind == _BINARY and not binary:
            binary = chunk
        place += 8 + size
    try:
        parsed = json.loads(document)
    except (ValueError, RecursionError):
        raise FileError("The file's JSON part is broken; {cured}.", cured=CURED) from None
    return parsed, binary


def files(path: Path) -> list[Path]:
    """The files beside a glTF file that it names: buffers and images. Raises FileError on a broken file."""
    document, _ = read(path)
    named = [part.get("uri") for kind in ("buffers", "images") for part in document.get(kind, ())]
    return [path.parent / unquote(uri) for uri in named if uri is not None and not uri.startswith("data:")]


def extras(path: Path) -> dict[str, Any]:
    """What stands under `asset.extras` of a file. Raises FileError on a broken file."""
    found = read(path)[0].get("asset", {}).get("extras")
    return found if isinstance(found, dict) else {}


def add_extras(path: Path, key: str, value: Any) -> None:
    """Put a value under `asset.extras` of a .glb; everything else of it stays as it is."""
    content = path.read_bytes()
    size, _ = struct.unpack_from("<II", content, _HEADER)
    start = _HEADER + 8
    document = json.loads(content[start : start + size])
    document["asset"].setdefault("extras", {})[key] = value
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
    text += b" " * (-len(text) % 4)
    rest = content[start + size :]
    length = start + len(text) + len(rest)
    path.write_bytes(
        struct.pack("<4sIIII", _MAGIC, 2, length, len(text), _JSON) + text + rest,
    )
