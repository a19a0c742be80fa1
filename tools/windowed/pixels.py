"""What the window shows, as an array, and arrays as PNG files, with nothing but numpy and the X server's own library.

Blender's own screenshot reads the front buffer, which is black under software OpenGL.
"""

import ctypes
import struct
import zlib
from ctypes import POINTER, Structure, c_char_p, c_int, c_uint, c_ulong, c_void_p
from pathlib import Path

import numpy as np

_ALL_PLANES, _Z_PIXMAP = 0xFFFFFFFF, 2


class _XImage(Structure):
    _fields_ = (
        ("width", c_int),
        ("height", c_int),
        ("xoffset", c_int),
        ("format", c_int),
        ("data", c_void_p),
        ("byte_order", c_int),
        ("bitmap_unit", c_int),
        ("bitmap_bit_order", c_int),
        ("bitmap_pad", c_int),
        ("depth", c_int),
        ("bytes_per_line", c_int),
        ("bits_per_pixel", c_int),
    )


def _library() -> ctypes.CDLL:
    library = ctypes.CDLL("libX11.so.6")
    for name, result, arguments in (
        ("XOpenDisplay", c_void_p, (c_char_p,)),
        ("XCloseDisplay", c_int, (c_void_p,)),
        ("XDefaultScreen", c_int, (c_void_p,)),
        ("XDisplayHeight", c_int, (c_void_p, c_int)),
        ("XDefaultRootWindow", c_ulong, (c_void_p,)),
        ("XGetImage", POINTER(_XImage), (c_void_p, c_ulong, c_int, c_int, c_uint, c_uint, c_ulong, c_int)),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def grab(x: int, y: int, width: int, height: int) -> np.ndarray:
    """Pixels (height, width, 3) of the screen, 0 to 255, rows from the top down.

    x, y: the lower left corner, counted from the lower left of the screen, as Blender does.
    """
    library = _library()
    display = library.XOpenDisplay(None)
    if not display:
        raise OSError("the X server does not answer")
    try:
        top = library.XDisplayHeight(display, library.XDefaultScreen(display)) - y - height
        root = library.XDefaultRootWindow(display)
        image_of_screen = library.XGetImage(display, root, x, top, width, height, _ALL_PLANES, _Z_PIXMAP)
        if not image_of_screen or image_of_screen.contents.bits_per_pixel != 32:
            raise OSError("the X server gives no picture of 24 bits")
        image = image_of_screen.contents
        raw = np.frombuffer(ctypes.string_at(image.data, image.bytes_per_line * height), np.uint8)
    finally:
        library.XCloseDisplay(display)
    return raw.reshape(height, -1, 4)[:, :width, 2::-1].copy()


def save(path: Path, pixels: np.ndarray, *, small: bool = True) -> None:
    """Write pixels (height, width, 3) as a PNG. small: as small as it gets, which takes a second."""
    height, width, _ = pixels.shape
    if small:
        filtered = _filtered(pixels)
        best = abs(filtered.view(np.int8).astype(np.int16)).sum(axis=(2, 3)).argmin(axis=0).tolist()
        rows = b"".join(bytes((kind,)) + filtered[kind, row].tobytes() for row, kind in enumerate(best))
    else:
        rows = b"".join(b"\2" + row.tobytes() for row in np.diff(pixels, axis=0, prepend=np.uint8(0)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        + _chunk(b"IDAT", zlib.compress(rows, 9 if small else 1))
        + _chunk(b"IEND", b"")
    )


def _filtered(pixels: np.ndarray) -> np.ndarray:
    """Rows under PNG's five filters: (5, height, width, 3)."""
    here = pixels.astype(np.int16)
    up, left, corner = (np.zeros_like(here) for _ in range(3))
    up[1:], left[:, 1:], corner[1:, 1:] = here[:-1], here[:, :-1], here[:-1, :-1]
    guess = up + left - corner
    to_left, to_up, to_corner = abs(guess - left), abs(guess - up), abs(guess - corner)
    nearest = np.where((to_left <= to_up) & (to_left <= to_corner), left, np.where(to_up <= to_corner, up, corner))
    guesses = (np.zeros_like(here), left, up, (left + up) // 2, nearest)
    return np.stack([(here - value).astype(np.uint8) for value in guesses])


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
