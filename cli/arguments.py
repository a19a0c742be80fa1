"""The flags that all verbs share, and what they may hold."""

import argparse
import math
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..lookat_pd.checks import repeated, shown
from ..lookat_pd_batch.errors import BatchError
from ..lookat_pd_batch.naming import Template
from ..lookat_pd_batch.tolerance import ALL, FailureLimit
from ..rig.animation.bake_options import LAST_FRAME
from ..rig.layers.controller_settings import HIGHEST_RATIO
from . import exporters

INPUTS = (".blend", ".glb", ".gltf", ".vrm", ".fbx", ".bvh")
FORMATS = {"blend": ".blend", "glb": ".glb", "fbx": ".fbx", "usd": ".usd"}
"""Kinds of outputs with the suffixes of their files."""
OUTPUTS = tuple(FORMATS.values())
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


_WITHOUT_VALUE = {
    "--tolerate-failures": (re.compile(r"[0-9.]+%?"), ALL),
    "--dry-run": (re.compile("table|json"), "table"),
}
"""Flags whose value may be left out: what a value looks like, and the usual one."""
LONGEST_TIME = 1e6


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
        if word in _WITHOUT_VALUE:
            # Nor does an input that follows belong to a flag that needs no value.
            wanted, usual = _WITHOUT_VALUE[word]
            word = f"{word}={rest.pop(0) if rest and wanted.fullmatch(rest[0]) else usual}"
        if word.startswith("--range="):
            joined.append("--range")
            word = word.removeprefix("--range=")
        joined.append(word)
    return joined


def add_inputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "inputs",
        nargs="+",
        type=Path,
        metavar="INPUT",
        help=f"files to read: {', '.join(INPUTS)}; a folder stands for all below it, @FILE for the names in a file, "
        "and - for those on standard input",
    )
    rig = parser.add_mutually_exclusive_group()
    rig.add_argument(
        "--rig",
        action="append",
        metavar="NAME",
        help="armature object, or a pattern such as 'Anna*'; can be repeated (default: all characters of the file)",
    )
    rig.add_argument("--all-rigs", action="store_true", help="all characters of the file, as by default")
    parser.add_argument(
        "--fps",
        type=frame_rate,
        metavar="N",
        help="frames per second; imported motion keeps its duration in seconds (default: the rate of the file)",
    )
    add_trust(parser)
    parser.add_argument(
        "--report",
        type=Path,
        metavar="FILE.json",
        help="write a JSON list with one object per input; - for standard output",
    )
    add_batch(parser)


def add_batch(parser: argparse.ArgumentParser) -> list[str]:
    """The flags of runs over many files; returns the names under which they are kept."""
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
    add_tolerance(batch)
    batch.add_argument(
        "--allow-empty", action="store_true", help="exit code 0 where a folder or list has no file to read"
    )
    batch.add_argument(
        "--retry",
        type=whole_number(0, 100),
        default=0,
        metavar="N",
        help="try a file again so often where a process ends, takes too long or cannot read or write (default: 0)",
    )
    batch.add_argument(
        "--timeout",
        type=number(0.0, LONGEST_TIME, open_below=True),
        metavar="S",
        help="seconds after which a file fails and its process is replaced",
    )
    batch.add_argument("--quiet", action="store_true", help="show nothing but errors")
    batch.add_argument("--verbose", action="store_true", help="show when each file and action is begun and done")
    batch.add_argument("--warnings-as-errors", action="store_true", help="a file with a note fails, and is not written")
    batch.add_argument(
        "--progress",
        choices=PROGRESS,
        default="auto",
        help="a line for people (auto), one JSON object a line on stderr (json), lines for OpenJD (openjd), or none",
    )
    return [action.dest for action in batch._group_actions]


def add_tolerance(parser: "argparse._ActionsContainer") -> None:
    parser.add_argument(
        "--tolerate-failures",
        type=tolerance,
        default=FailureLimit(),
        metavar="N|P%%",
        help="exit code 0 if at most so many files fail; without a number, however many do",
    )


def add_conversion(
    parser: argparse.ArgumentParser,
    named: Sequence[str] = ("--name", "--file-name"),
    further: Mapping[str, str] = types.MappingProxyType({}),
) -> None:
    """The flags of verbs that change animation and write files. named: those of the names of outputs. further: kinds of
    outputs besides those of all verbs."""
    parser.set_defaults(formats={**FORMATS, **further})
    parser.add_argument(
        "--output",
        type=Path,
        required=True,
        metavar="PATH",
        help="output file, .blend, .glb, .fbx or .usd; a folder if there are several inputs or no suffix",
    )
    parser.add_argument(
        "--format",
        choices=[*FORMATS, *further],
        help="kind of the outputs (default: as --output has it, else .glb for glTF and VRM, .blend for all others)",
    )
    parser.add_argument(
        *named,
        dest="template",
        type=template,
        metavar="TEMPLATE",
        help="name of each output, such as '{stem}_v{version:03}'; also {folder}, {rig}, {verb}, and {action}, which "
        "makes a file of each action",
    )
    parser.add_argument(
        "--export-bones",
        choices=exporters.BONES,
        help="bones of a .glb that is exported: those that deform (default), or all (default from glTF)",
    )
    parser.add_argument(
        "--export-actions",
        choices=exporters.ACTIONS,
        help="clips of a .glb that is exported: those that were made (default), or all (default from glTF)",
    )
    add_replacing(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--action",
        action="append",
        metavar="NAME",
        help=(
            "action to process, or a pattern such as 'Walk*'; can be repeated, each gets a result of its own, and with "
            "{action} in the name a file of its own (default: "
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


def add_trust(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--trust-scripts",
        action="store_true",
        help="run the Python in .blend files: drivers that need it and registered texts; only for files that you trust",
    )


def add_replacing(parser: argparse.ArgumentParser) -> None:
    """The flags that say what becomes of outputs that there are."""
    parser.add_argument(
        "--skip-done",
        action="store_true",
        help="leave out outputs that were made by --skip-done from the same input, arguments and versions",
    )
    existing = parser.add_mutually_exclusive_group()
    existing.add_argument("--no-clobber", action="store_true", help="leave outputs alone that exist")
    existing.add_argument(
        "--overwrite", action="store_true", help="replace outputs that Look-at PD has not written, too"
    )
    parser.add_argument(
        "--dry-run",
        choices=("table", "json"),
        metavar="table|json",
        help="only say what would be read, processed and written",
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

    def __str__(self) -> str:
        return f"{self.first}-{self.last}/{self.count}"


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


def tolerance(word: str) -> FailureLimit:
    try:
        return FailureLimit.read(word)
    except BatchError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def template(word: str) -> Template:
    try:
        return Template(word)
    except BatchError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


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
    double = repeated(names)
    if double is not None:
        raise Misuse(f"{flag}: bone {shown(names[double])!r} is given twice; {remedy}")


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
