"""glTF files as documents: reading the JSON part, finding the files it names, and replacing parts of one."""

import base64
import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ..lookat_pd.errors import FileError
from ..rig.detection import glb

CURED = "export it again"
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")


def read(path: Path) -> tuple[dict[str, Any], bytes]:
    """The JSON part and the binary part. Raises FileError."""
    text, binary = parts(path)
    return json.loads(text), binary


def parts(path: Path) -> tuple[str, bytes]:
    """The text of the JSON part, which is an object, and the binary part. Raises FileError."""
    content = path.read_bytes()
    if content[:4] == glb.MAGIC:
        text, binary = _chunks(content)
        broken = FileError("The file's JSON part is broken; {cured}.", cured=CURED, code="input-broken")
    else:
        text, binary = content, b""
        broken = FileError("The content is not that of a glTF file; {cured}.", cured=CURED, code="input-broken")
    try:
        decoded = text.decode("utf-8-sig")
        document = json.loads(decoded)
    except (ValueError, RecursionError):
        raise broken from None
    if not isinstance(document, dict) or "asset" not in document:
        raise broken
    _check_references(document, path.parent)
    return decoded, binary


def _check_references(document: dict[str, Any], folder: Path) -> None:
    """Raise FileError where a glTF refers to a device or a pipe: reading that may never end."""
    for key in ("buffers", "images"):
        listed = document.get(key)
        for item in listed if isinstance(listed, list) else ():
            uri = item.get("uri") if isinstance(item, dict) else None
            if isinstance(uri, str) and not uri.startswith("data:"):
                place = folder / unquote(uri)
                if place.exists() and not place.is_file():
                    raise FileError(
                        "The glTF refers to {uri}, which is not a file; {cured}.",
                        uri=uri,
                        cured=CURED,
                        code="input-broken",
                    )


def _chunks(content: bytes) -> tuple[bytes, bytes]:
    _, version, length = struct.unpack_from("<4sII", content.ljust(12, b"\0"))
    if version != 2:
        raise FileError(
            "This is glTF of version {version}, and only version 2 can be read; {cured}.",
            version=version,
            cured=CURED,
            code="input-broken",
        )
    if len(content) < length or length < 20:
        raise FileError(
            "The file is truncated: {content_count} bytes of {length}; copy or {cured}.",
            content_count=len(content),
            length=length,
            cured=CURED,
            code="input-broken",
        )
    document, binary, place = b"", b"", 12
    while place + 8 <= length:
        size, kind = struct.unpack_from("<II", content, place)
        chunk = content[place + 8 : place + 8 + size]
        if len(chunk) < size:
            raise FileError(
                "The file is truncated within a part of it; copy or {cured}.", cured=CURED, code="input-broken"
            )
        if kind == glb.JSON and not document:
            document = chunk
        elif kind == glb.BINARY and not binary:
            binary = chunk
        place += 8 + size
    return document, binary


def assemble(text: str, binary: bytes) -> bytes:
    """The content of a .glb."""
    return glb.assembled(text, glb.part(glb.BINARY, binary) if binary else b"")


def buffer_of(buffer: dict[str, Any], binary: bytes, folder: Path) -> bytes:
    """The content of a buffer. Raises FileError where it is in a file that cannot be read."""
    uri = buffer.get("uri")
    return binary if uri is None else content_of(uri, folder)


def content_of(uri: str, folder: Path) -> bytes:
    """What a URI stands for, data or a file beside the document. Raises FileError."""
    if uri.startswith("data:"):
        return base64.b64decode(uri.partition(",")[2])
    try:
        return (folder / unquote(uri)).read_bytes()
    except OSError as error:
        raise FileError(
            "The file {uri} of the glTF cannot be read ({reason}); place it in the same folder.",
            uri=uri,
            reason=error.strerror,
            code="input-part-missing",
        ) from None


# Parts of a document as text, so that what is not replaced stays as it is to the byte


def sections(text: str) -> dict[str, str]:
    """The text of each value of a JSON object, by key."""
    texts = {}
    place = _after_space(text, 0) + 1
    while text[place := _after_space(text, place)] != "}":
        key, place = _DECODER.raw_decode(text, place)
        start = _after_space(text, _after_space(text, place) + 1)
        _, end = _DECODER.raw_decode(text, start)
        texts[key] = text[start:end]
        place = _after_space(text, end)
        place += text[place] == ","
    return texts


def items(text: str) -> Iterator[str]:
    """The text of each item of a JSON array."""
    place = _after_space(text, 0) + 1
    while text[place := _after_space(text, place)] != "]":
        _, end = _DECODER.raw_decode(text, place)
        yield text[place:end]
        place = _after_space(text, end)
        place += text[place] == ","


def joined(texts: dict[str, str]) -> str:
    """The text of a JSON object, from the texts of its values."""
    return "{" + ",".join(f"{json.dumps(key)}:{value}" for key, value in texts.items()) + "}"


def dumped(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    assert found is not None
    return found.end()


def files(path: Path) -> list[Path]:
    """The files beside a glTF file that it names: buffers and images. Raises FileError on a broken file."""
    document, _ = read(path)
    named = [part.get("uri") for kind in ("buffers", "images") for part in document.get(kind, ())]
    return [path.parent / unquote(uri) for uri in named if uri is not None and not uri.startswith("data:")]


def extras(path: Path) -> dict[str, Any]:
    """What stands under `asset.extras` of a file. Raises FileError on a broken file."""
    stored = read(path)[0].get("asset", {}).get("extras")
    return stored if isinstance(stored, dict) else {}


def add_extras(path: Path, key: str, value: Any) -> None:
    """Put a value under `asset.extras` of a .glb; everything else of it stays as it is."""
    text, binary = parts(path)
    texts = sections(text)
    asset = json.loads(texts["asset"])
    asset.setdefault("extras", {})[key] = value
    path.write_bytes(assemble(joined({**texts, "asset": dumped(asset)}), binary))
