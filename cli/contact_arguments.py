"""Contacts on the command line: the flags of `ik` about several bones, and the clean-up of a body."""

import argparse
from collections.abc import Mapping, Sequence

import bpy
import numpy as np

from ..lookat_pd.body.contacts import Interval
from ..lookat_pd.checks import shown
from ..rig.animation.bake_options import BakeOptions
from ..rig.ik import contacts
from ..rig.ik import settings as ik_settings
from ..rig.ik import setup as ik_setup
from ..rig.ik.body_bake import BodyBakeResult
from ..rig.ik.contacts import ContactsResult, Touch
from ..rig.sampling.targets import Target
from . import arguments as words
from . import baking, effectors, rigs, setting_flags
from .arguments import Misuse
from .console import Console
from .report import Row

FOUND = "found"
FIELDS = ("contacts", "touches", "slip", "lowered")
"""What a report of contacts has beside the fields of `ik`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("contacts of several bones")
    group.add_argument(
        "--contact",
        action="append",
        type=words.pair("NAME=found or NAME=A-B", "foot.L=12-30"),
        metavar="NAME=found|A-B,A-B...",
        help="hold bone NAME during detected contacts, or from frame A to B; all bones in one action; repeatable",
    )
    group.add_argument(
        "--surface",
        action="append",
        type=words.pair("NAME=TARGET", "hand.L=Cup"),
        metavar="NAME=TARGET",
        help="what bone NAME touches: an object NAME[:BONE], such as a prop or another character, rather than the "
        "world; repeatable",
    )
    setting_flags.add(parser, "--blend", ik_settings.IKSettings, "contact_blend", "S")
    setting_flags.add(parser, "--contact-speed", ik_settings.IKSettings, "contact_speed", "V")
    setting_flags.add(parser, "--contact-height", ik_settings.IKSettings, "contact_height", "H")


def check(options: argparse.Namespace, others: Sequence[str]) -> None:
    """Raises Misuse. others: names of flags that are given and say what else to do."""
    if options.contact and others:
        raise Misuse(f"--contact holds bones where they are; leave out --{others[0]}")
    held = [flag for flag in ("contact", "contacts") if getattr(options, flag) is not None]
    unused = {"pole": options.pole, "keep-offset": options.use_offset}
    if options.contact:
        unused |= {flag: getattr(options, flag) for flag in ("base", "length", "tip")}
    for flag, value in unused.items():
        if held and value is not None and value is not False:
            raise Misuse(f"--{held[0]} does not use --{flag}; leave it out")
    names = [name for name, _ in options.contact or ()]
    words.check_once(names, "--contact", "list its contacts as A-B,A-B")
    for name, _ in options.surface or ():
        if name not in names:
            raise Misuse(f"--surface {shown(name)}: there is no --contact of that bone")
    for _, word in options.contact or ():
        intervals("--contact", word)


def intervals(flag: str, word: str | None) -> tuple[Interval, ...]:
    """Frames of "A-B,A-B"; none where contacts are to be found. Raises Misuse."""
    if word is None or word == FOUND:
        return ()
    pairs = []
    for part in word.split(","):
        first, _, last = part.strip().rpartition("-")
        try:
            pairs.append((words.frame(first), words.frame(last)))
        except argparse.ArgumentTypeError:
            raise Misuse(f"{flag}: {words.shown(part)!r} is neither {FOUND!r} nor two frames such as 12-30") from None
    return tuple(pairs)


def given(options: argparse.Namespace, scene: bpy.types.Scene, rig: bpy.types.Object) -> dict[str, Touch]:
    """The contacts of all bones. Raises RigError."""
    rigs.check_bones(rig, [name for name, _ in options.contact])
    surfaces = dict(options.surface or ())
    touches = {}
    for name, word in options.contact:
        target = Target(*rigs.find_target(scene, surfaces[name])) if name in surfaces else None
        touches[name] = touch(options, intervals("--contact", word), target)
    return touches


def touch(options: argparse.Namespace, marked: Sequence[Interval], target: Target | None = None) -> Touch:
    """Contacts with the world or a target. marked: their frames; none where they are detected."""
    return Touch(ik_setup.contact(options, marked), target)


def bake(
    options: argparse.Namespace,
    scene: bpy.types.Scene,
    rig: bpy.types.Object,
    touches: Mapping[str, Touch],
    range_: BakeOptions,
    row: Row,
    console: Console,
) -> bpy.types.Action:
    """Clean up onto what the rig plays."""
    softness = {} if options.soft_reach is None else {"soft_reach": options.soft_reach}
    steps = contacts.clean_up_body(scene, rig, touches, range_, lower_hips=effectors.moves_hips(options), **softness)
    result = baking.work(steps, console, "baking")
    row["action"] = result.baked.action.name
    if isinstance(result.baked, BodyBakeResult):
        row["chain"] = list(result.baked.bones)
    row["frames_in_reach"] = int(result.baked.in_reach.all(axis=0).sum())
    row["effector_error"], row["largest_effector_error"] = float(np.median(result.slips)), float(result.slips.max())
    fill(row, result)
    return result.baked.action


def fill(row: Row, result: ContactsResult) -> None:
    """The report of contacts."""
    row["contacts"] = [list(interval) for interval in result.intervals]
    row["touches"] = {bone: [list(interval) for interval in spans] for bone, spans in result.contacts.items()}
    bone, frame, slip, share = result.worst
    row["slip"] = {"bone": bone, "frame": frame, "distance": slip, "of_limb": share}
    row["lowered"] = float(result.lowered.max())
