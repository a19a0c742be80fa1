"""`ik`: an effector follows a target or a path, or stays where it touches, and that becomes keys."""

import argparse
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...rig.bake import Options
from ...rig.ik import bake as ik_bake
from ...rig.ik import contacts
from ...rig.ik.chain import Chain, resolve
from ...rig.ik.goals import Goal
from ...rig.ik.solving import METHODS, Tuning
from ...rig.sample import Target
from .. import arguments as words
from .. import baking, each_file, gaze_file, retime, rigs
from ..arguments import Misuse
from ..console import Console
from ..gaze_file import Event
from ..jobs import Job
from ..report import Row

NAME = "ik"
SUMMARY = "let a hand, foot or tail follow something, or stay where it touches, as keys"
EPILOG = """\
With --target, --point or --path the effector is brought there at every frame; with --contacts it is kept fixed in the
world. A path file lists places of the world; between them the way is straight:
  [{"frame": 1, "point": [0.4, -0.3, 1.2]}, {"frame": 30, "point": [0.1, -0.5, 1.6]}]"""

_FOUND = "found"


@dataclass(frozen=True)
class _Wish:
    """What the command line asks for, checked."""

    options: argparse.Namespace
    path: tuple[Event, ...] = ()
    intervals: tuple[tuple[int, int], ...] = ()

    @property
    def into(self) -> str:
        return baking.INTO[self.options.into]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words.add_inputs(parser)
    words.add_conversion(parser)
    parser.add_argument("--bone", metavar="NAME", required=True, help="effector: the hand, foot or last bone of a tail")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--target", metavar="NAME[:BONE]", help="object, or bone of an armature, to follow")
    what.add_argument("--point", type=words.point, metavar="X,Y,Z", help="point of the world to hold")
    what.add_argument("--path", type=Path, metavar="FILE.json", help="places of the world to follow, see below")
    what.add_argument(
        "--contacts",
        metavar="found|A-B,A-B...",
        help="keep the effector fixed in the world: over contacts that are found, or from frame A to B",
    )
    parser.add_argument("--base", metavar="NAME", help="first bone of the chain (default: by --length)")
    parser.add_argument(
        "--length",
        type=words.whole,
        metavar="N",
        default=2,
        help="bones that turn, 0 for all up to the root (default: 2)",
    )
    parser.add_argument("--tip", action="store_true", help="bring the effector's tip there instead of its head")
    parser.add_argument(
        "--orientation",
        choices=("free", "keep", "target"),
        default="free",
        help="the effector turns with the chain (default), keeps its orientation, or takes the target's",
    )
    parser.add_argument("--keep-offset", action="store_true", help="stay as far from the target as at the first frame")
    parser.add_argument("--pole", metavar="NAME[:BONE]", help="object towards which the chain bends")
    parser.add_argument(
        "--method",
        choices=[method.replace("_", "-") for method in METHODS],
        default="ccd-root",
        help="solver (default: ccd-root)",
    )
    parser.add_argument(
        "--iterations", type=words.whole, metavar="N", default=100, help="at most so many (default: 100)"
    )
    parser.add_argument(
        "--smoothness", type=words.number(0.0, 60.0), metavar="S", default=0.0, help="seconds to even the turns out"
    )
    parser.add_argument(
        "--blend",
        type=words.number(0.0, 60.0),
        metavar="S",
        default=0.15,
        help="seconds of the way into a contact and out of it (default: 0.15)",
    )
    parser.add_argument(
        "--contact-speed",
        type=words.number(0.0, 1000.0),
        metavar="V",
        default=contacts.Detection.speed,
        help="slower than so many chain lengths a second is a contact (default: %(default)s)",
    )
    parser.add_argument(
        "--contact-height",
        type=words.number(0.0, 1000.0),
        metavar="H",
        default=contacts.Detection.height,
        help="in chain lengths above the lowest place, 0 for any height (default: %(default)s)",
    )
    baking.add_into(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    wish = _check(options)
    return each_file.convert(options, console, lambda scene, job, row: _work(wish, scene, job, row, console))


def _check(options: argparse.Namespace) -> _Wish:
    baking.check_range(options)
    if options.orientation == "target" and options.target is None:
        raise Misuse("--orientation target needs --target, whose orientation it is")
    if options.contacts is not None and options.tip:
        raise Misuse("--contacts keeps the effector's head where it is; leave --tip out")
    path = gaze_file.read(options.path) if options.path is not None else ()
    if any(event.point is None for event in path):
        raise Misuse(f"{options.path}: every place of a path needs a point")
    return _Wish(options, path, _intervals(options.contacts))


def _intervals(word: str | None) -> tuple[tuple[int, int], ...]:
    """Frames of "A-B,A-B"; none where contacts are to be found."""
    if word is None or word == _FOUND:
        return ()
    found = []
    for part in word.split(","):
        first, _, last = part.strip().rpartition("-")
        try:
            found.append((int(first), int(last)))
        except ValueError:
            raise Misuse(f"--contacts: {part!r} is neither {_FOUND!r} nor two frames such as 12-30") from None
    return tuple(found)


def _work(wish: _Wish, scene: bpy.types.Scene, job: Job, row: Row, console: Console) -> None:
    options = wish.options
    baking.check_output(wish.into, job)
    row["fps"] = retime.reported(scene)
    rig = rigs.choose(scene, options.rig, row["warnings"])
    row["rig"], row["bone"] = rig.name, options.bone
    if options.action is not None:
        rigs.use_action(rig, options.action, wish.into)
    first, last = options.range or rigs.frame_range(scene, [rig])
    row["frames"] = [first, last]
    chain = resolve(
        rig,
        options.bone,
        length=options.length,
        base=options.base or "",
        at_tip=options.tip,
        hand=options.orientation != "free" or options.contacts is not None,
    )
    row["chain"] = list(reversed(chain.bones))
    extent = rigs.frame_range(scene, [rig]) if rigs.plays(rig) else (first, last)
    tuning = Tuning(options.method.replace("-", "_"), options.iterations, smoothness=options.smoothness)
    result = baking.follow(
        _steps(wish, scene, chain, tuning, Options(first, last, wish.into)),
        lambda fraction: console.progress(0.1 + 0.85 * fraction, "baking"),
    )
    if isinstance(result, contacts.Result):
        row["contacts"] = [list(interval) for interval in result.intervals]
        result = result.baked
    if job.output.suffix.lower() == ".glb":
        baking.trim(result.action, extent, first, last)
    _fill(row, result)


def _steps(
    wish: _Wish, scene: bpy.types.Scene, chain: Chain, tuning: Tuning, range_: Options
) -> Generator[float, None, Any]:
    options = wish.options
    if options.contacts is not None:
        what = wish.intervals or contacts.Detection(options.contact_speed, options.contact_height)
        return contacts.clean_up(scene, chain, what, options.blend, tuning, range_, verify=True)
    goal = Goal(
        target=_target(scene, options),
        path=_path(wish.path) if wish.path else None,
        offset=options.keep_offset,
        orientation=options.orientation.upper(),
        pole=Target(*rigs.find_target(scene, options.pole)) if options.pole is not None else None,
    )
    return ik_bake.bake_goal(scene, chain, goal, tuning, range_, verify=True)


def _target(scene: bpy.types.Scene, options: argparse.Namespace) -> Target | None:
    if options.target is not None:
        return Target(*rigs.find_target(scene, options.target))
    return Target(point=options.point) if options.point is not None else None


def _path(events: Sequence[Event]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([event.frame for event in events]), np.array([event.point for event in events])


def _fill(row: Row, result: ik_bake.Result) -> None:
    row["action"], row["passes"] = result.action.name, result.passes
    row["effector_error"], row["largest_effector_error"] = result.median_error, result.largest_error
    row["frames_in_reach"] = int(result.in_reach.sum())
    if not result.in_reach.any():
        row["warnings"].append("The target is out of reach at every frame; the chain is stretched towards it.")
