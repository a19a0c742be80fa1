"""The parts of a .glb file: a header, the JSON part as text, and what comes after it, such as the binary part.

Source: https://registry.khronos.org/glTF/specs/2.0/glTF-2.0.html#glb-file-format-specification.
"""

import struct

MAGIC, JSON, BINARY = b"glTF", 0x4E4F534A, 0x004E4942
HEADER = 12
"""Bytes before the first part."""
PART = 8
"""Bytes at the begin of a part."""


def part(kind: int, content: bytes, filler: bytes = b"\0") -> bytes:
    """A part with its size, filled up to a multiple of four bytes."""
    content += filler * (-len(content) % 4)
    return struct.pack("<II", len(content), kind) + content


def assembled(document: str, rest: bytes) -> bytes:
    """The content of a file. rest: the parts after the JSON part."""
    parts = part(JSON, document.encode(), b" ") + rest
    return struct.pack("<4sII", MAGIC, 2, HEADER + len(parts)) + parts


def after_document(content: bytes) -> bytes:
    """The parts after the JSON part of a file."""
    return content[HEADER + PART + struct.unpack_from("<I", content, HEADER)[0] :]
