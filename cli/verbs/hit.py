"""`hit`: bones give way to impulses and return to their animation, as keys."""

import argparse
from functools import partial
from typing import Any

import bpy
import numpy as np

from ...lookat_pd.checks import shown
from ...rig.dynamics import hitting
from ...rig.dynamics.hit_request import HitRequest, HitSpec
from ...rig.dynamics.hit_settings import STRONGEST, HitMotion, HitSettings
from ...rig.dynamics.hitting import HitResult
from .. import arguments as words
from .. import baking, dynamics_arguments, key_arguments, rigs, setting_flags
from ..console import Console
from ..jobs import FileJob
from ..report import Row

NAME = "hit"
SUMMARY = "bake hits, to which bones give way before they return to their animation"
FIELDS = ("hits", "hips_shift", "switched", "plots")
"""What its report has beside the fields of every verb."""
EPILOG = "The direction of X,Y,Z is that of the hit in world space, and its length the impulse in newton seconds."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words.add_inputs(parser)
    words.add_conversion(parser)
    parser.add_argument(
        "--hit",
        type=_hit,
        action="append",
        required=True,
        metavar="FRAME,BONE,X,Y,Z",
        help="frame, bone and impulse of a hit, such as 24,chest,0,30,0; can be repeated",
    )
    add = partial(setting_flags.add, parser)
    add("--settle-time", HitSettings, "settle_time", "S")
    add("--damping", HitSettings, "damping_ratio", "RATIO")
    add("--contact", HitSettings, "contact", "S")
    add("--stiffness", HitSettings, "stiffness", "N")
    add("--largest-angle", HitSettings, "largest_angle", "DEG")
    add("--joints", HitSettings, "joints")
    help = "number of bones that give way from the hit bone upwards (default: all up to the hips)"
    add("--length", HitSettings, "length", "N", help=help)
    add("--hips", HitSettings, "hips", "N")
    help = "keep head, arms, legs and tail still relative to what is hit"
    add("--no-follow", HitSettings, "use_follow", help=help)
    help = "do not switch limbs in IK to FK: a hit on them is an error"
    add("--no-switch", HitSettings, "use_switch", help=help)
    help = "do not scale the impulses with the mass and the height of the body"
    add("--absolute", HitSettings, "use_relative", help=help)
    dynamics_arguments.add_mass(parser)
    baking.add_into(parser)


def _hit(word: str) -> HitSpec:
    frame, _, rest = word.partition(",")
    bone, *vector = rest.rsplit(",", 3)
    if len(vector) != 3 or not bone:
        raise argparse.ArgumentTypeError(
            f"{words.shown(word)!r} is not a frame, a bone and an impulse; give FRAME,BONE,X,Y,Z"
        )
    x, y, z = words.point(",".join(vector))
    size = float(np.linalg.norm((x, y, z)))
    if size > STRONGEST:
        raise argparse.ArgumentTypeError(
            f"{words.shown(word)!r} has an impulse of {shown(size)} N s; give at most {STRONGEST:g}"
        )
    return HitSpec(words.frame(frame), bone, size, (x, y, z) if size else (0.0, 1.0, 0.0))


def run(options: argparse.Namespace, console: Console) -> int:
    baking.check(options)
    words.check_plots(options)
    if options.range is not None:
        raise words.Misuse(
            "--range is not for hits, which last from the first one until the bones are back; leave it out"
        )
    return dynamics_arguments.convert(options, console, FIELDS, hitting.BAKED, _bake, bone=options.hit[0].bone)


def _bake(
    options: argparse.Namespace, scene: bpy.types.Scene, job: FileJob, rig: bpy.types.Object, row: Row, console: Console
) -> bpy.types.Action:
    """Bake the hits into what the rig plays."""
    extent = rigs.frame_range(scene, [rig])
    request = HitRequest(
        tuple(options.hit), writer=key_arguments.writer(options), **setting_flags.given(options, HitMotion)
    )
    result = baking.work(hitting.start(scene, rig, request, baking.INTO[options.into]), console, "baking")
    first, last = int(result.frames[0]), int(result.frames[-1])
    if job.output.suffix.lower() == ".glb":
        plays = extent if rigs.plays(rig) else (first, last)
        baking.trim(result.action, plays, first, last)
    row["frames"], row["action"], row["chain"] = [first, last], result.action.name, list(result.bones)
    key_arguments.fill(row, request.writer)
    row["hits"] = [_reported(outcome) for outcome in result.outcomes]
    row["hips_shift"], row["switched"] = result.shift, list(result.switched)
    dynamics_arguments.plot(options, job, row, result.action, lambda: _curves(result))
    return result.action


def _reported(outcome: hitting.HitOutcome) -> dict[str, object]:
    return {
        "frame": outcome.frame,
        "bone": outcome.bone,
        "impulse": [float(value) for value in outcome.impulse],
        "factor": outcome.factor,
        "turned": outcome.joint,
        "degrees": float(np.degrees(outcome.angle)),
    }


def _curves(result: HitResult) -> dict[str, Any]:
    """What plots show."""
    angles = {bone: np.degrees(result.angles[:, n]) for n, bone in enumerate(result.tree.bones)}
    return {"frames": result.frames, "angles": angles}
