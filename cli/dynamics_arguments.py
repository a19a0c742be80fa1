"""What the verbs about limbs that have weight share: the body, its strength, gravity, curves."""

import argparse
from pathlib import Path

import bpy

from ..rig.dynamics import display, masses
from ..rig.dynamics import settings as body_settings
from . import arguments as words
from . import baking, rigs
from .arguments import Misuse
from .jobs import FileJob
from .report import Row


def add_mass(parser: argparse.ArgumentParser) -> None:
    """The mass of the body, the limits of its joints, and plots."""
    parser.add_argument(
        "--mass",
        type=words.number(0.0, body_settings.HEAVIEST, open_below=True),
        metavar="KG",
        help="mass of the whole body in kilograms (default: estimated from its size)",
    )
    parser.add_argument(
        "--bone-mass",
        type=words.pair("NAME=KG", "hand.R=5.5", words.number(0.0, body_settings.HEAVIEST, open_below=True)),
        metavar="NAME=KG",
        action="append",
        default=[],
        help="mass of a single bone, such as a hand with what it holds; can be repeated",
    )
    parser.add_argument(
        "--shape",
        choices=("capsules", "meshes"),
        help="source of the volume of the bones (default: the setting of the file, otherwise capsules)",
    )
    parser.add_argument("--no-limits", action="store_true", help="ignore the joint limits of the rig")
    parser.add_argument(
        "--plots",
        type=Path,
        metavar="FOLDER",
        help="folder for plots of the curves: JSON, and PNG if matplotlib is installed",
    )


def add_body(parser: argparse.ArgumentParser) -> None:
    """What moves the body as well."""
    add_mass(parser)
    parser.add_argument("--no-gravity", action="store_true", help="ignore the gravity of the scene")
    limits = parser.add_mutually_exclusive_group()
    limits.add_argument(
        "--torque-limit",
        type=words.number(0.0, body_settings.HEAVIEST, open_below=True),
        metavar="NM",
        help="largest torque of each joint, in newton metres",
    )
    limits.add_argument(
        "--strength",
        type=words.number(0.0, body_settings.STRONGEST, open_below=True),
        metavar="N",
        help="largest torque as a multiple of the torque that holds the limb horizontal",
    )


def check(options: argparse.Namespace) -> None:
    """Raises Misuse."""
    if options.plots is not None and options.plots.exists() and not options.plots.is_dir():
        raise Misuse(f"--plots {options.plots} is a file; name a folder")


def prepare(
    options: argparse.Namespace, scene: bpy.types.Scene, job: FileJob, row: Row, bone: str | None = None
) -> bpy.types.Object:
    """The rig, with the body of the arguments. Raises LookAtError."""
    baking.check_output(baking.INTO[options.into], job)
    rig = baking.choose_rig(options, scene, row, bone)
    _use_body(options, scene, rig)
    found, _ = display.summary(scene, rig)
    warning = None if found is None else masses.warning(rig, found)
    if warning is not None:
        row["warnings"].append(str(warning))
    if job.source is not None:
        job.source.check_meshes(rig.lookat_pd_body.shape == "MESHES")
    return rig


def plots_name(options: argparse.Namespace, job: FileJob, action: bpy.types.Action) -> str:
    """The name of plots without suffix: that of the output and, where several actions may have some, of the action."""
    if not options.all_actions and len(options.action or ()) <= 1:
        return job.output.stem
    return f"{job.output.stem} {bpy.path.clean_name(action.name)}"


def _use_body(options: argparse.Namespace, scene: bpy.types.Scene, rig: bpy.types.Object) -> None:
    """Give the rig and the scene what the command line says of the body; what it does not say stays as in the file.
    Raises RigError."""
    body, settings = rig.lookat_pd_body, scene.lookat_pd_dynamics
    if options.mass is not None:
        body.total_mass = options.mass
    for name, kilograms in options.bone_mass:
        rigs.check_bones(rig, [name])
        rig.pose.bones[name].lookat_pd_body.mass = kilograms
    if options.shape is not None:
        body.shape = options.shape.upper()
    if getattr(options, "torque_limit", None) is not None:
        settings.limit, settings.torque = "TORQUE", options.torque_limit
    if getattr(options, "strength", None) is not None:
        settings.limit, settings.strength = "STRENGTH", options.strength
