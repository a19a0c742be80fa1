"""What the verbs about limbs that have weight share: the body, its strength, gravity, curves."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import bpy

from ..rig.animation.stored_settings import read
from ..rig.dynamics import display, masses
from ..rig.dynamics.settings import HEAVIEST, BodySettings, DynamicsSettings
from . import arguments as words
from . import baking, dynamics_plots, each_action, each_file, each_rig, rigs, setting_flags
from .console import Console
from .jobs import FileJob
from .report import Row

_mass = words.number(0.0, HEAVIEST, open_below=True)
"""Not 0, with which the settings mean an estimate."""


def add_mass(parser: argparse.ArgumentParser) -> None:
    """The mass of the body, the limits of its joints, and plots."""
    help = "mass of the whole body in kilograms (default: estimated from its size)"
    setting_flags.add(parser, "--mass", BodySettings, "total_mass", "KG", help=help, stored=True, type=_mass)
    parser.add_argument(
        "--bone-mass",
        type=words.pair("NAME=KG", "hand.R=5.5", _mass),
        metavar="NAME=KG",
        action="append",
        default=[],
        help="mass of a single bone, such as a hand with what it holds; can be repeated",
    )
    help = "source of the volume of the bones (default: the setting of the file, otherwise capsules)"
    setting_flags.add(parser, "--shape", BodySettings, "shape", help=help, stored=True)
    help = "ignore the joint limits of the rig"
    setting_flags.add(parser, "--no-limits", DynamicsSettings, "use_limits", help=help)
    parser.add_argument(
        "--plots",
        type=Path,
        metavar="FOLDER",
        help="folder for plots of the curves: JSON, and PNG if matplotlib is installed",
    )


def add_body(parser: argparse.ArgumentParser) -> None:
    """What moves the body as well."""
    add_mass(parser)
    help = "ignore the gravity of the scene"
    setting_flags.add(parser, "--no-gravity", DynamicsSettings, "use_gravity", help=help)
    limits = parser.add_mutually_exclusive_group()
    help = "largest torque of each joint, in newton metres (default: the limit of the file, otherwise none)"
    setting_flags.add(limits, "--torque-limit", DynamicsSettings, "torque", "NM", help=help, stored=True)
    help = "largest torque as a multiple of the torque that holds the limb horizontal (default: as --torque-limit)"
    setting_flags.add(limits, "--strength", DynamicsSettings, "strength", "N", help=help, stored=True)


Bake = Callable[[argparse.Namespace, bpy.types.Scene, FileJob, bpy.types.Object, Row, Console], bpy.types.Action]
"""Bakes into what the rig plays, fills the row, and returns the action."""


def convert(
    options: argparse.Namespace,
    console: Console,
    fields: Sequence[str],
    suffix: str,
    bake: Bake,
    *,
    bone: str | None = None,
    use: Callable[[argparse.Namespace, bpy.types.Scene, bpy.types.Object], None] | None = None,
) -> int:
    """Bake all chosen actions of all inputs, and return the exit code.

    fields: of the report. suffix: of the names of results. bone: one that the rig has. use: gives scene and rig further
    settings of the command line.
    """

    def work(scene: bpy.types.Scene, job: FileJob, row: Row) -> None:
        bones = [bone] if bone is not None else []
        each_rig.run(options, scene, job, row, console, lambda own: of_rig(scene, job, own), bones)

    def of_rig(scene: bpy.types.Scene, job: FileJob, row: Row) -> None:
        rig = prepare(options, scene, job, row, bone)
        if use is not None:
            use(options, scene, rig)
        into = baking.INTO[options.into]
        task = each_action.ActionTask(options, job, row, console, [rig], into, baking.named(suffix))
        each_action.run(task, lambda own: bake(options, scene, job, rig, own, console))

    return each_file.convert(options, console, work, fields)


def prepare(
    options: argparse.Namespace, scene: bpy.types.Scene, job: FileJob, row: Row, bone: str | None = None
) -> bpy.types.Object:
    """The rig, with the body of the arguments. Raises LookAtError."""
    baking.check_output(baking.INTO[options.into], job)
    rig = baking.choose_rig(options, scene, row, bone)
    _use_body(options, scene, rig)
    body, _ = display.summary(scene, rig)
    warning = None if body is None else masses.warning(rig, body)
    if warning is not None:
        row["warnings"].append(str(warning))
    if job.source is not None:
        job.source.check_meshes(read(rig, "lookat_pd_body").shape == "MESHES")
    return rig


def plot(
    options: argparse.Namespace,
    job: FileJob,
    row: Row,
    action: bpy.types.Action,
    curves: Callable[[], Mapping[str, Any]],
) -> None:
    """Write the plots of an action, where they are asked for. curves: makes what they show. Raises FileError."""
    if options.plots is None:
        return
    stem = job.output.stem
    if options.all_actions or len(options.action or ()) > 1:
        stem = f"{stem} {bpy.path.clean_name(action.name)}"
    row["plots"] = dynamics_plots.write(options.plots, stem, curves())


def _use_body(options: argparse.Namespace, scene: bpy.types.Scene, rig: bpy.types.Object) -> None:
    """Give the rig and the scene what the command line says of the body; what it does not say stays as in the file.
    Raises RigError."""
    body, settings = rig.lookat_pd_body, scene.lookat_pd_dynamics
    setting_flags.apply(options, body, ("total_mass", "shape"))
    for name, kilograms in options.bone_mass:
        rigs.check_bones(rig, [name])
        rig.pose.bones[name].lookat_pd_body.mass = kilograms
    for name in ("torque", "strength"):
        if getattr(options, name, None) is not None:
            settings.limit = name.upper()
            setting_flags.apply(options, settings, [name])
