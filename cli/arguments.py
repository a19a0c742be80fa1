"""The flags that all verbs share, and what they may hold."""

import argparse
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..lookat_pd.checks import shown
from ..rig.animation.bake_options import LAST_FRAME
from ..rig.layers.controller_settings import HIGHEST_RATIO

INPUTS = (".blend", ".glb", ".gltf", ".vrm", ".fbx", ".bvh")
OUTPUTS = (".blend", ".glb")
_SLOWEST, _FASTEST = 0.1, 32767.0
_DIGITS = 12
_SHARDS = re.compile("([0-9]{1,12})(?:-([0-9]{1,12}))?/([0-9]{1,12})")
MOST_JOBS = 256
PROGRESS = ("auto", "json", "openjd", "none")
_DAMPING = ("critical", "responsive")
TO_FOLLOW = "object or bone of an armature to follow"
"""The help of targets."""
FARTHEST = 1e12
"""Largest coordinate [m] with which Blender's single precision resolves directions."""


class Misuse(Exception):
    """Arguments that do not fit together, found after parsing and before any work."""


def join_negative_numbers(words: Sequence[str]) -> list[str]:
    """Arguments with values that may begin with a minus tied to their flags, and those of --range apart from it.

    argparse takes "-1,2,3" for a flag, and "--range=-10 20" for a single value.
    """
    joined: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return [*joined, word, *rest]
        if word in ("--point", "--via", "--keys", "--hit") and rest:
            word = f"{word}={rest.pop(0)}"
        if word.startswith("--range="):
            joined.append("--range")
            word = word.removeprefix("--range=")
        joined.append(word)
    return joined


def add_inputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "inputs", nargs="+", type=Path, metavar="INPUT", help=f"one or more files to read: {', '.join(INPUTS)}"
    )
    parser.add_argument("--rig", metavar="NAME", help="armature object (default: the only one, or the most likely one)")
    parser.add_argument(
        "--fps",
        type=frame_rate,
        metavar="N",
        help="frames per second; imported motion keeps its duration in seconds (default: the rate of the file)",
    )
    parser.add_argument(
        "--trust-scripts",
        action="store_true",
        help="run the Python in .blend files: drivers that need it and registered texts; only for files that you trust",
    )
    parser.add_argument(
        "--report",
        type=Path,
        metavar="FILE.json",
        help="write a JSON list with one object per input; - for standard output",
    )
    batch = parser.add_argument_group("many files")
    batch.add_argument(
        "--jobs", type=jobs, metavar="N", default=1, help="number of processes, one file each at a time (default: 1)"
    )
    batch.add_argument(
        "--shard",
        type=shards,
        metavar="I/N",
        help="the I-th of N parts of the inputs, sorted by name: for N machines, each with its own I from 1 to N; "
        "I-J/N for several parts at once",
    )
    batch.add_argument(
        "--progress",
        choices=PROGRESS,
        default="auto",
        help="a line for people (auto), one JSON object a line on stderr (json), lines for OpenJD (openjd), or none",
    )


def add_conversion(parser: argparse.ArgumentParser) -> None:
    """The flags of verbs that change animation and write files."""
    parser.add_argument(
        "--output",
        type=Path,
        required=True,
        metavar="PATH",
        help="output file, .blend or .glb; a folder if there are several inputs or no suffix",
    )
    parser.add_argument(
        "--skip-done",
        action="store_true",
        help="leave out outputs that were made by --skip-done from the same input, arguments and versions",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--action",
        action="append",
        metavar="NAME",
        help=(
            "action to process, or a pattern such as 'Walk*'; can be repeated, each gets a result of its own (default: "
            "the action assigned to the rig, or the only one)"
        ),
    )
    which.add_argument("--all-actions", action="store_true", help="process every action that moves the rig")
    parser.add_argument(
        "--range",
        nargs=2,
        type=frame,
        metavar=("A", "B"),
        help="first and last frame (default: range of the action, otherwise of the scene)",
    )


def jobs(word: str) -> int:
    count = whole(word)
    if not 1 <= count <= MOST_JOBS:
        raise argparse.ArgumentTypeError(
            f"{shown(word)} is out of range; give a number of processes from 1 to {MOST_JOBS}"
        )
    return count


@dataclass(frozen=True)
class Shards:
    """Some of the parts into which the inputs are divided."""

    first: int
    """Number of the first part, counted from 1."""
    last: int
    """Number of the last part, which is among them."""
    count: int
    """Number of all parts."""


def shards(word: str) -> Shards:
    match = _SHARDS.fullmatch(word)
    if match is None:
        raise argparse.ArgumentTypeError(f"{shown(word)!r} is not a shard; give I/N, such as 1/4, or I-J/N")
    first, last, count = int(match[1]), int(match[2] or match[1]), int(match[3])
    if last < first:
        raise argparse.ArgumentTypeError(f"the shards {first} to {last} are reversed; give the smaller number first")
    for number in (first, last):
        if not 1 <= number <= count:
            raise argparse.ArgumentTypeError(
                f"there is no shard {number} of {count}; give a number from 1 to {max(count, 1)}"
            )
    return Shards(first, last, count)


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """A type for argparse: a whole number in that range, not negative."""

    def convert(word: str) -> int:
        count = whole(word)
        if not least <= count <= most:
            raise argparse.ArgumentTypeError(f"{shown(word)} is out of range; give a number from {least} to {most}")
        return count

    return convert


def whole(word: str) -> int:
    if not (word.isascii() and word.isdigit()):
        raise argparse.ArgumentTypeError(f"{shown(word)!r} is not a whole number, 0 or more")
    if len(word) > _DIGITS:
        raise argparse.ArgumentTypeError(f"{shown(word)} is out of range; give a whole number of fewer digits")
    return int(word)


def frame(word: str) -> int:
    try:
        number = int(word)
    except ValueError:
        number = None if len(word) < _DIGITS or not word.lstrip("-+").isdigit() else LAST_FRAME + 1
    if number is None:
        raise argparse.ArgumentTypeError(f"{shown(word)!r} is not a whole frame number")
    if abs(number) > LAST_FRAME:
        raise argparse.ArgumentTypeError(
            f"{shown(word)} is out of range; Blender's frames are {-LAST_FRAME} to {LAST_FRAME}"
        )
    return number


def number(least: float, most: float, *, open_below: bool = False) -> Callable[[str], float]:
    """A type for argparse: a number in that range, `least` itself left out if `open_below`."""

    def convert(word: str) -> float:
        try:
            value = float(word)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{shown(word)!r} is not a number") from None
        if not (least <= value <= most) or (open_below and value == least):
            wanted = f"above {least:g} and at most {most:g}" if open_below else f"from {least:g} to {most:g}"
            raise argparse.ArgumentTypeError(f"{shown(word)} is out of range; give a number {wanted}")
        return value

    return convert


def pair(form: str, example: str, value: Callable[[str], Any] = str) -> Callable[[str], tuple[str, Any]]:
    """A type for argparse: NAME=VALUE, where the name may have an equals sign of its own. value: the type of VALUE."""

    def convert(word: str) -> tuple[str, Any]:
        name, _, rest = word.rpartition("=")
        if not name or not rest:
            raise argparse.ArgumentTypeError(f"{shown(word)!r} is not {form}, such as {example}")
        return name, value(rest)

    return convert


def check_plots(options: argparse.Namespace) -> None:
    """Raises Misuse if the folder of --plots is a file."""
    if options.plots is not None and options.plots.exists() and not options.plots.is_dir():
        raise Misuse(f"--plots {options.plots} is a file; name a folder")


def check_once(names: Sequence[str], flag: str, remedy: str) -> None:
    """Raises Misuse if a bone is given twice."""
    double = next((name for n, name in enumerate(names) if name in names[:n]), None)
    if double is not None:
        raise Misuse(f"{flag}: bone {shown(double)!r} is given twice; {remedy}")


def damping(word: str) -> str | float:
    """A word for a damping, in upper case, or a damping ratio."""
    if word.lower() in _DAMPING:
        return word.upper()
    try:
        float(word)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{shown(word)!r} is neither critical, responsive nor a number") from None
    return number(0.0, HIGHEST_RATIO)(word)


frame_rate = number(_SLOWEST, _FASTEST)


def point(word: str) -> tuple[float, float, float]:
    try:
        x, y, z = (float(part) for part in word.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{shown(word)!r} is not a point; give X,Y,Z, three numbers with commas"
        ) from None
    if not all(map(math.isfinite, (x, y, z))):
        raise argparse.ArgumentTypeError(f"{shown(word)!r} is not a finite point; give three numbers")
    if not all(abs(part) <= FARTHEST for part in (x, y, z)):
        raise argparse.ArgumentTypeError(f"{shown(word)!r} is too far away; give numbers up to {FARTHEST:g}")
    return x, y, z
