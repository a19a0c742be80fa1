"""Several effectors of one body on the command line: the flags of `ik` about them, and the bake."""

import argparse
from collections.abc import Sequence
from dataclasses import replace

import bpy
import numpy as np

from ..lookat_pd.checks import shown
from ..rig.animation.bake_options import BakeOptions
from ..rig.detection import limb_controls
from ..rig.ik import body_bake, body_settings
from ..rig.ik.body import PRIORITIES, BodyEffector
from ..rig.ik.body_goals import BodyTuning
from ..rig.ik.body_settings import IKBody
from ..rig.ik.settings import BodySolving
from ..rig.sampling.targets import Target
from . import arguments as words
from . import baking, rigs, setting_flags
from .arguments import Misuse
from .console import Console
from .report import Row

FIELDS = ("effectors", "unbalanced")
"""What a report of several effectors has beside the fields of `ik`."""


def _priority(word: str) -> str:
    if word.upper() not in PRIORITIES:
        raise argparse.ArgumentTypeError(f"{shown(word)!r} is none of {', '.join(PRIORITIES).lower()}")
    return word.upper()


_placed = words.pair("NAME=TARGET", "hand.L=Cup")
_bent = words.pair("EFFECTOR=NAME", "hand.L=Elbow")
_weight = words.pair("NAME=W", "hand.L=0.5", words.number(0.0, 1.0))
_prior = words.pair("NAME=P", "foot.L=high", _priority)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("several effectors")
    group.add_argument(
        "--effector",
        action="append",
        type=_placed,
        metavar="NAME=TARGET",
        help="place bone NAME on an object NAME[:BONE] or a point X,Y,Z; repeatable",
    )
    group.add_argument(
        "--pin",
        action="append",
        metavar="NAME",
        help="keep bone NAME where it is animated; feet have a high priority; repeatable",
    )
    group.add_argument(
        "--look", action="append", type=_placed, metavar="NAME=TARGET", help="point bone NAME at a target; repeatable"
    )
    group.add_argument("--listed", action="store_true", help="take the effectors of the panel, as saved in the file")
    group.add_argument(
        "--weight", action="append", type=_weight, metavar="NAME=W", help="weight of an effector, 0 to 1; repeatable"
    )
    group.add_argument(
        "--priority",
        action="append",
        type=_prior,
        metavar="NAME=P",
        help="priority of an effector: high, normal or low; repeatable",
    )
    help = "keep the centre of mass above the feet, 0 to 1; feet are pinned"
    setting_flags.add(group, "--balance", IKBody, "balance", "W", help=help, stored=True)
    setting_flags.add(group, "--ease", IKBody, "ease", "S", stored=True)
    setting_flags.add(group, "--soft-reach", IKBody, "soft_reach", "S", stored=True)
    help = "do not change the location of the hips"
    setting_flags.add(group, "--keep-hips", IKBody, "move_hips", help=help, stored=True)


def moves_hips(options: argparse.Namespace) -> bool:
    """Whether the hips may change their location."""
    return options.move_hips is not False


def wanted(options: argparse.Namespace) -> bool:
    """Whether several effectors are asked for."""
    return bool(options.effector or options.pin or options.look or options.listed)


def check_unused(options: argparse.Namespace) -> None:
    """Raises Misuse where flags of several effectors are given without any of these."""
    for flag in ("weight", "priority", "balance"):
        if getattr(options, flag) is not None:
            raise Misuse(f"--{flag} is for several effectors; give them with --effector, --pin, --look or --listed")


def check(options: argparse.Namespace, alone: Sequence[str]) -> None:
    """Raises Misuse. alone: names of flags for one effector that are given."""
    if alone:
        raise Misuse(
            f"--{alone[0]} is for one effector; leave it out, or leave out --effector, --pin, --look, --listed"
        )
    for flag in ("base", "length"):
        if getattr(options, flag) is not None:
            raise Misuse(f"--{flag} is for one effector; leave it out")
    if options.tip:
        raise Misuse("--tip is for one effector; leave it out")
    if options.listed and (options.effector or options.pin or options.look):
        raise Misuse("--listed takes the effectors of the file; leave out --effector, --pin and --look")
    names = [name for name, _ in (*(options.effector or ()), *(options.look or ()))] + (options.pin or [])
    words.check_once(names, "--effector", "give it once")
    given = {"weight": options.weight or (), "priority": options.priority or (), "pole": _poles(options).items()}
    for flag, pairs in given.items():
        for name, _ in pairs:
            if options.listed or name not in names:
                raise Misuse(f"--{flag} {name}: there is no such --effector, --pin or --look")


def _poles(options: argparse.Namespace) -> dict[str, str]:
    """The target of each effector with a pole. Raises Misuse."""
    try:
        found = [_bent(word) for word in options.pole or ()]
    except argparse.ArgumentTypeError as error:
        raise Misuse(f"--pole: {error}") from None
    words.check_once([name for name, _ in found], "--pole", "give it once")
    return dict(found)


def bake(
    options: argparse.Namespace,
    scene: bpy.types.Scene,
    rig: bpy.types.Object,
    range_: BakeOptions,
    row: Row,
    console: Console,
) -> bpy.types.Action:
    """Bake onto what the rig plays."""
    frames = np.arange(range_.first, range_.last + 1)
    effectors = body_settings.effectors(rig, frames) if options.listed else _effectors(options, scene, rig)
    tuning = body_settings.tuning(rig) if options.listed else BodyTuning()
    tuning = replace(tuning, iterations=options.iterations, **setting_flags.given(options, BodySolving))
    steps = body_bake.bake(scene, rig, effectors, tuning, range_)
    result = baking.work(steps, console, "baking")
    _fill(row, result)
    return result.action


def _effectors(options: argparse.Namespace, scene: bpy.types.Scene, rig: bpy.types.Object) -> list[BodyEffector]:
    """The effectors of the flags."""
    placed, looking = options.effector or (), options.look or ()
    rigs.check_bones(rig, [*(name for name, _ in (*placed, *looking)), *(options.pin or ())])
    weights, priorities = dict(options.weight or ()), dict(options.priority or ())
    feet, poles = body_settings.feet(rig), _poles(options)

    def common(name: str) -> dict:
        usual = "HIGH" if limb_controls.control_of(rig, name) in feet else "NORMAL"
        pole = Target(*rigs.find_target(scene, poles[name])) if name in poles else None
        return {"weight": weights.get(name, 1.0), "priority": priorities.get(name, usual), "pole": pole}

    wanted, of_goals = [], {name: getattr(options, name) for name in ("orientation", "use_offset")}
    for name, target in placed:
        wanted.append(BodyEffector(name, rigs.place(scene, target), **common(name), **of_goals))
    wanted += [BodyEffector(name, **common(name)) for name in options.pin or ()]
    for name, target in looking:
        aim = {"use_position": False, "orientation": "AIM"}
        wanted.append(BodyEffector(name, rigs.place(scene, target), **common(name), **aim))
    return wanted


def _fill(row: Row, result: body_bake.BodyBakeResult) -> None:
    row["action"], row["chain"] = result.action.name, list(result.bones)
    row["unbalanced"] = float(result.unbalanced.max())
    rows, missing = [], result.missing
    for n, effector in enumerate(result.effectors):
        reached = result.in_reach[n]
        rows.append(
            {
                "bone": effector.bone,
                "largest_error": float(result.errors[n].max()),
                "largest_angle_deg": float(np.degrees(result.turned[n].max())),
                "frames_in_reach": int(reached.sum()),
            }
        )
    row["effectors"] = rows
    row["soft_reach"] = {"frames": result.soft_frames, "largest": result.largest_softened}
    row["effector_error"], row["largest_effector_error"] = result.median_error, result.largest_error
    row["frames_in_reach"] = int(result.in_reach.all(axis=0).sum())
    for bone, control in result.redirected.items():
        row["warnings"].append(body_bake.redirection(bone, control))
    for bone, count in missing.items():
        row["warnings"].append(f"'{bone}' does not reach its target at {count} of {len(result.frames)} frames.")
