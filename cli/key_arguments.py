"""Which keys a verb writes: flags, the writer that they choose, and what the report says of it."""

import argparse
import math

from ..rig.animation import key_writer
from ..rig.animation.key_writer import EVERY_FRAME, MODE_ITEMS, KeyWriter
from . import arguments as words
from .arguments import Misuse
from .report import Row

_WORDS = {mode.lower().replace("_", "-"): mode for mode, _, _ in MODE_ITEMS}
_FITTED = "--key-mode fitted"


def add(parser: argparse.ArgumentParser, usual: str = EVERY_FRAME) -> None:
    """usual: the mode without the flag."""
    meant = "; ".join(
        f"{word}{' (default)' if mode == usual else ''}, {text[:1].lower()}{text[1:]}"
        for (word, mode), (_, _, text) in zip(_WORDS.items(), MODE_ITEMS, strict=True)
    )
    parser.add_argument("--key-mode", choices=_WORDS, help=f"which keys the result has: {meant}")
    help = f"with {_FITTED}: largest angle to the motion (default: {key_writer.ANGLE:g})"
    parser.add_argument("--fit-error", type=words.number(0.001, 45.0), metavar="DEG", help=help)
    help = f"with {_FITTED}: largest distance of locations to the motion (default: {1000.0 * key_writer.DISTANCE:g})"
    parser.add_argument("--fit-distance", type=words.number(0.001, 10000.0), metavar="MM", help=help)


def check(options: argparse.Namespace) -> None:
    """Raises Misuse."""
    for name in ("fit_error", "fit_distance"):
        if getattr(options, name) is not None and options.key_mode != "fitted":
            raise Misuse(f"--{name.replace('_', '-')} is for fitted keys; add {_FITTED}")


def writer(options: argparse.Namespace, usual: str = EVERY_FRAME) -> KeyWriter:
    """What writes the keys. usual: as for `add`."""
    made = KeyWriter(_WORDS[options.key_mode] if options.key_mode else usual)
    if options.fit_error is not None:
        made.angle = math.radians(options.fit_error)
    if options.fit_distance is not None:
        made.distance = 0.001 * options.fit_distance
    return made


def fill(row: Row, made: KeyWriter) -> None:
    """Report what was written, where there is not simply a key at every frame."""
    count = made.count
    row["key_count"] = None
    if made.is_sparse and count.every_frame:
        row["key_count"] = {
            "mode": made.mode.lower().replace("_", "-"),
            "count": count.keys,
            "every_frame": count.every_frame,
            "largest_degrees": math.degrees(count.angle),
            "largest_mm": 1000.0 * count.distance,
        }
