"""`ik`: effectors follow targets or a path, or stay where they touch, or limbs switch between IK and FK; all of it
becomes keys."""

import argparse
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...lookat_pd.ik import methods
from ...lookat_pd.message import Message
from ...rig.animation.bake_options import BakeOptions
from ...rig.controls import limb_fit
from ...rig.detection.joint_chain import UNDETECTED, WHOLE, JointChain, limb, resolve
from ...rig.ik import chain_bake, contacts
from ...rig.ik import settings as ik_settings
from ...rig.ik.chain_solve import IKTuning
from ...rig.ik.effector_goal import Goal
from ...rig.sampling.targets import Target
from .. import arguments as words
from .. import (
    baking,
    chain_arguments,
    contact_arguments,
    each_action,
    each_file,
    each_rig,
    effectors,
    gaze_file,
    key_arguments,
    rigs,
    setting_flags,
    switch_arguments,
)
from ..arguments import Misuse
from ..console import Console
from ..gaze_file import GazeEntry
from ..jobs import FileJob
from ..report import Row

NAME = "ik"
SUMMARY = "make a hand, foot or tail follow a target or keep its contacts, or switch limbs to IK or FK, in keys"
FIELDS = (
    "effector_error",
    "largest_effector_error",
    "frames_in_reach",
    "soft_reach",
    *contact_arguments.FIELDS,
    *effectors.FIELDS,
    *switch_arguments.FIELDS,
)
"""What its report has beside the fields of every verb."""
EPILOG = """\
With --target, --point or --path the effector is placed on the target at every frame; with --contacts it is kept
fixed in world space. A path file lists points in world space, which are connected by straight lines:
  [{"frame": 1, "point": [0.4, -0.3, 1.2]}, {"frame": 30, "point": [0.1, -0.5, 1.6]}]
With --contact, several bones are held in one action, and --surface names what they touch instead of the world:
  --contact foot.L=found --contact foot.R=found --contact hand.L=12-40 --surface hand.L=Cup
With --effector, --pin, --look or --listed, several effectors are solved together:
  --effector hand.L=Cup --effector hand.R=Bag --pin foot.L --pin foot.R --look head=Cup --balance 1
With --switch, limbs of a rig with controls change between IK and FK over the range and keep their pose:
  --switch fk --range 20 60 --limb hand_ik.L --limb foot_ik.R"""


@dataclass(frozen=True)
class _Wish:
    """What the command line asks for, checked."""

    options: argparse.Namespace
    path: tuple[GazeEntry, ...] = ()
    """Places of the effector, in order of time."""
    intervals: tuple[tuple[int, int], ...] = ()
    """Frames of contacts; none where they are detected."""

    @property
    def into(self) -> str:
        return baking.INTO[self.options.into]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words.add_inputs(parser)
    words.add_conversion(parser)
    chain_arguments.add_effector(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--target", metavar="NAME[:BONE]", help=words.TO_FOLLOW)
    what.add_argument(
        "--point", type=words.point, metavar="X,Y,Z", help="point in world space on which to keep the effector"
    )
    what.add_argument("--path", type=Path, metavar="FILE.json", help="path in world space to follow, see below")
    what.add_argument(
        "--contacts",
        metavar="found|A-B,A-B...",
        help="keep the effector fixed in world space during detected contacts, or from frame A to B",
    )
    help = "place the tip of the effector on the target instead of its head"
    chain_arguments.add_arguments(parser, ik_settings.IKSettings, help, limb=True)
    setting_flags.add(parser, "--orientation", ik_settings.IKSettings, "orientation")
    setting_flags.add(parser, "--keep-offset", ik_settings.IKSettings, "use_offset")
    parser.add_argument(
        "--pole",
        action="append",
        metavar="[EFFECTOR=]NAME[:BONE]",
        help="object towards which the chain bends; repeatable with several effectors, whose bone comes first",
    )
    help = f"solver (default: {methods.default().word})"
    setting_flags.add(parser, "--method", ik_settings.IKSettings, "method", help=help)
    setting_flags.add(parser, "--iterations", ik_settings.IKSettings, "iterations", "N")
    setting_flags.add(parser, "--as-published", ik_settings.IKSettings, "as_published")
    setting_flags.add(parser, "--smoothness", ik_settings.IKSettings, "smoothness", "S")
    contact_arguments.add_arguments(parser)
    effectors.add_arguments(parser)
    switch_arguments.add_arguments(parser)
    baking.add_into(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    request = _check(options)
    bones = [options.bone] if options.bone is not None else []

    def work(scene: bpy.types.Scene, job: FileJob, row: Row) -> None:
        each_rig.run(options, scene, job, row, console, lambda own: _work(request, scene, job, own, console), bones)

    return each_file.convert(options, console, work, FIELDS)


def _check(options: argparse.Namespace) -> _Wish:
    baking.check(options)
    alone = [flag for flag in ("bone", "target", "point", "path", "contacts") if getattr(options, flag) is not None]
    several = [flag for flag in ("effector", "pin", "look", "listed") if getattr(options, flag)]
    if not several:
        effectors.check_unused(options)
        if options.ease is not None and (options.contact or options.contacts is not None):
            raise Misuse("--ease is for targets; contacts have transitions of their own, see --blend")
    switch_arguments.check(options, [*alone, *several, *(["contact"] if options.contact else [])])
    if options.switch is not None:
        return _Wish(options)
    contact_arguments.check(options, [*alone, *several])
    if options.contact:
        return _Wish(options)
    if several:
        effectors.check(options, alone)
        return _Wish(options)
    if options.bone is None:
        raise Misuse("give the effector with --bone, or several with --effector NAME=TARGET or --contact NAME=found")
    if alone == ["bone"]:
        raise Misuse("give one of --target, --point, --path and --contacts")
    if options.orientation == "TARGET" and options.target is None:
        raise Misuse("--orientation target needs --target, whose orientation it is")
    if len(options.pole or ()) > 1:
        raise Misuse("--pole is given twice; one effector has one pole")
    if options.contacts is not None and options.tip:
        raise Misuse("--contacts keeps the effector's head where it is; leave --tip out")
    path = gaze_file.read(options.path) if options.path is not None else ()
    if any(event.point is None for event in path):
        raise Misuse(f"{options.path}: every place of a path needs a point")
    return _Wish(options, path, contact_arguments.intervals("--contacts", options.contacts))


def _work(request: _Wish, scene: bpy.types.Scene, job: FileJob, row: Row, console: Console) -> None:
    options = request.options
    baking.check_output(request.into, job)
    rig = baking.choose_rig(options, scene, row, options.bone)
    called = chain_bake.BAKED if options.switch is None else limb_fit.CALLED[options.switch.upper()]
    task = each_action.ActionTask(options, job, row, console, [rig], request.into, baking.named(called))
    each_action.run(task, lambda own: _bake_action(request, scene, job, rig, own, console))


def _bake_action(
    request: _Wish, scene: bpy.types.Scene, job: FileJob, rig: bpy.types.Object, row: Row, console: Console
) -> bpy.types.Action:
    """Bake onto what the rig plays."""
    options = request.options
    first, last = options.range or rigs.frame_range(scene, [rig])
    row["frames"] = [first, last]
    extent = rigs.frame_range(scene, [rig]) if rigs.plays(rig) else (first, last)
    range_ = BakeOptions(first, last, request.into, writer=key_arguments.writer(options))
    touches = _touches(request, scene, rig)
    if options.switch is not None:
        action = switch_arguments.bake(options, scene, rig, range_, row, console)
    elif effectors.wanted(options):
        action = effectors.bake(options, scene, rig, range_, row, console)
    elif touches:
        action = contact_arguments.bake(options, scene, rig, touches, range_, row, console)
    else:
        action = _bake_chain(request, scene, rig, range_, row, console)
    key_arguments.fill(row, range_.writer)
    if job.output.suffix.lower() == ".glb":
        baking.trim(action, extent, first, last)
    return action


def _bake_chain(
    request: _Wish, scene: bpy.types.Scene, rig: bpy.types.Object, range_: BakeOptions, row: Row, console: Console
) -> bpy.types.Action:
    """One effector."""
    options = request.options
    base, length = options.base or "", options.length
    rigs.check_bones(rig, [base] if base else [])
    if length is None and not base:
        base, length = limb(rig, options.bone, at_tip=options.tip), UNDETECTED
    chain = resolve(
        rig,
        options.bone,
        length=length or WHOLE,
        base=base,
        at_tip=options.tip,
        turn_effector=options.orientation != "FREE" or options.contacts is not None,
    )
    row["chain"] = list(reversed(chain.bones))
    result = baking.work(_steps(request, scene, chain, range_), console, "baking")
    if isinstance(result, contacts.ContactsResult):
        contact_arguments.fill(row, result)
        assert isinstance(result.baked, chain_bake.IKBakeResult)
        result = result.baked
    _fill(row, result)
    return result.action


def _touches(request: _Wish, scene: bpy.types.Scene, rig: bpy.types.Object) -> dict[str, contacts.Touch]:
    """The contacts that are cleaned up as those of a body; none for those of a chain. Raises LookAtError."""
    options = request.options
    if options.contact:
        return contact_arguments.given(options, scene, rig)
    if options.contacts is None or options.base is not None or options.length is not None:
        return {}
    lower_hips = effectors.moves_hips(options)
    if options.bone in rig.pose.bones and contacts.is_body(rig, [options.bone], lower_hips=lower_hips):
        return {options.bone: contact_arguments.touch(options, request.intervals)}
    return {}


def _steps(
    request: _Wish, scene: bpy.types.Scene, chain: JointChain, range_: BakeOptions
) -> Generator[float, None, Any]:
    options = request.options
    tuning = IKTuning(**setting_flags.given(options, ik_settings.ChainSolving))
    if options.contacts is not None:
        touch = contact_arguments.touch(options, request.intervals)
        return contacts.clean_up(scene, chain, touch, tuning, range_, verify=True)
    goal = Goal(
        target=_target(scene, options),
        path=_path(request.path) if request.path else None,
        pole=Target(*rigs.find_target(scene, options.pole[0])) if options.pole else None,
        **setting_flags.given(options, ik_settings.GoalFollowing),
    )
    return chain_bake.bake_goal(scene, chain, goal, tuning, range_, verify=True)


def _target(scene: bpy.types.Scene, options: argparse.Namespace) -> Target | None:
    if options.target is not None:
        return Target(*rigs.find_target(scene, options.target))
    return Target(point=options.point) if options.point is not None else None


def _path(events: Sequence[GazeEntry]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([event.frame for event in events]), np.array([event.point for event in events])


def _fill(row: Row, result: chain_bake.IKBakeResult) -> None:
    row["action"], row["passes"] = result.action.name, result.passes
    row["effector_error"], row["largest_effector_error"] = result.median_error, result.largest_error
    row["frames_in_reach"] = int(result.in_reach.sum())
    row["soft_reach"] = {"frames": result.soft_frames, "largest": result.largest_softened}
    if not result.in_reach.any():
        said = "The target is out of reach at every frame; the chain is stretched towards it."
        row["warnings"].append(Message(said, code="target-unreachable"))
