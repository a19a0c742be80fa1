"""Switching limbs between IK and FK on the command line: the flags of `ik` about it, and the bake."""

import argparse
from collections.abc import Sequence

import bpy
import numpy as np

from ..lookat_pd.errors import RigError
from ..rig.animation import editable
from ..rig.animation.bake_options import BakeOptions
from ..rig.controls import limb_switch, switch_property
from . import arguments as words
from . import baking, rigs
from .arguments import Misuse
from .console import Console
from .report import Row

FIELDS = ("limbs",)
"""What a report of switched limbs has beside the fields of `ik`."""


_IDLE = {name: name for name in ("base", "length", "tip", "pole", "surface")} | {"use_offset": "keep-offset"}
"""Flags of effectors and contacts, without a use here, by the names of their values."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("switching limbs of rigs with controls")
    group.add_argument(
        "--switch",
        choices=[state.lower() for state in switch_property.STATES],
        help="key IK-FK of limbs over the range, and the controls that take over, so that the pose stays",
    )
    group.add_argument(
        "--limb",
        action="append",
        metavar="NAME",
        help="control or bone of an arm or leg to switch; repeatable (default: all arms and legs)",
    )


def check(options: argparse.Namespace, others: Sequence[str]) -> None:
    """Raises Misuse. others: names of flags that are given and say what else to do."""
    if options.switch is None:
        if options.limb:
            raise Misuse("--limb names a limb for --switch; give --switch fk or --switch ik as well")
        return
    others = [*others, *(flag for name, flag in _IDLE.items() if getattr(options, name))]
    if others:
        raise Misuse(f"--switch keeps the pose; leave out --{others[0].replace('_', '-')}")
    if options.into == "layer":
        raise Misuse("--into layer cannot hold --switch, whose keys replace others; give --into new or current")
    words.check_once(options.limb or (), "--limb", "give it once")


def bake(
    options: argparse.Namespace,
    scene: bpy.types.Scene,
    rig: bpy.types.Object,
    range_: BakeOptions,
    row: Row,
    console: Console,
) -> bpy.types.Action:
    """Switch the limbs in what the rig plays. Raises RigError."""
    bones, state = _bones(rig, options.limb or ()), options.switch.upper()
    steps = limb_switch.switch(scene, rig, bones, state, range_, may_be_idle=True)
    result = baking.work(steps, console, "baking")
    row["action"] = result.action.name
    row["limbs"] = [
        {"bone": limb.goal, "largest_error": float(error.max()), "largest_angle_deg": float(np.degrees(turned.max()))}
        for limb, error, turned in zip(result.limbs, result.errors, result.turned, strict=True)
    ]
    for limb in result.skipped:
        row["warnings"].append(limb_switch.skipping(limb, state))
    return result.action


def _bones(rig: bpy.types.Object, names: Sequence[str]) -> list[str]:
    """One bone of each limb to switch, all limbs if none is named. Raises RigError."""
    rigs.check_bones(rig, names)
    editable.check_bones(rig, names)
    goals = [limb.goal for limb in limb_switch.check_switches(rig)]
    for name in names:
        if not limb_switch.belonging(rig, [name]):
            raise RigError(
                "Bone '{name}' is in no arm or leg that switches between IK and FK {name_2}.",
                name=name,
                name_2=rigs.instead(name, goals),
            )
    return [*names] or goals
