"""`interpolate`: in-betweens of keys by a body that has weight, and hits them."""

import argparse
import math
from collections.abc import Sequence
from functools import partial

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...rig.dynamics import interpolation
from ...rig.dynamics.interpolation import InterpolationRequest, InterpolationResult
from ...rig.dynamics.settings import DynamicsSettings, InterpolationSettings
from .. import arguments as words
from .. import baking, dynamics_arguments, key_arguments, rigs, setting_flags
from ..arguments import Misuse
from ..console import Console
from ..jobs import FileJob
from ..report import Row

NAME = "interpolate"
SUMMARY = "interpolate keys as the motion of limbs with mass that pass through the keys"
FIELDS = ("keys", "missed", "masses", "peak_torques", "plots")
"""What its report has beside the fields of every verb."""
EPILOG = "Clips of .glb files have a key at every frame; use --keys to select those that are poses."
_NAMED = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words.add_inputs(parser)
    words.add_conversion(parser)
    parser.add_argument(
        "--bone", metavar="NAME", action="append", default=[], help="bone to move; can be repeated (default: all)"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--keys", type=_frames, metavar="A,B,...", help="frames that are poses, regardless of keys")
    which.add_argument("--selected", action="store_true", help="use only the keys that are selected in the file")
    add = partial(setting_flags.add, parser)
    add("--method", DynamicsSettings, "between", stored=True)
    add("--tension", DynamicsSettings, "tension", "N", stored=True)
    add("--inertia", DynamicsSettings, "inertia")
    parser.add_argument(
        "--passive", metavar="NAME", action="append", default=[], help="passive bone, without muscles; can be repeated"
    )
    add("--stiffness", DynamicsSettings, "stiffness", "F", stored=True)
    add("--damping", DynamicsSettings, "damping", "Z", stored=True)
    add("--friction", DynamicsSettings, "friction", "D", stored=True)
    add("--settle", DynamicsSettings, "settle", "S")
    add("--at-keys", DynamicsSettings, "at_keys")
    add("--swing-past", DynamicsSettings, "swing_past", "F")
    add("--weight", DynamicsSettings, "weight", "F", stored=True)
    dynamics_arguments.add_body(parser)
    baking.add_into(parser)


def _frames(word: str) -> tuple[float, ...]:
    try:
        frames = tuple(float(part) for part in word.split(","))
        if not all(abs(frame) <= words.LAST_FRAME for frame in frames):
            raise ValueError
    except ValueError:
        raise argparse.ArgumentTypeError(f"{words.shown(word)!r} is not a list of frames; give A,B,...") from None
    return frames


def run(options: argparse.Namespace, console: Console) -> int:
    baking.check(options)
    words.check_plots(options)
    if options.keys is not None and sorted(set(options.keys)) != list(options.keys):
        raise Misuse("--keys: the frames must be in order, each only once")
    if options.swing_past and options.at_keys == "STOP":
        raise Misuse("--swing-past needs --at-keys pass")
    if options.between == "TORQUE_CHANGE" and (options.swing_past or options.settle or options.friction):
        raise Misuse("--swing-past, --settle and --friction need --method mass or tension")
    if options.keys is not None and len(options.keys) < 2:
        raise Misuse("--keys: in-betweens need at least two poses")
    return dynamics_arguments.convert(options, console, FIELDS, interpolation.BAKED, _interpolate, use=_use)


def _interpolate(
    options: argparse.Namespace, scene: bpy.types.Scene, job: FileJob, rig: bpy.types.Object, row: Row, console: Console
) -> bpy.types.Action:
    """Interpolate the keys of what the rig plays."""
    extent = rigs.frame_range(scene, [rig])
    first, last = options.range or extent
    settings = scene.lookat_pd_dynamics
    chosen = setting_flags.given(options, InterpolationSettings)
    chosen |= {"weight": settings.weight, "between": settings.between}
    writer = key_arguments.writer(options)
    request = InterpolationRequest(
        _bones(options, scene, rig),
        first,
        last,
        selected=options.selected,
        poses=options.keys or (),
        writer=writer,
        **chosen,
    )
    result = baking.work(interpolation.start(scene, rig, request, baking.INTO[options.into]), console, "interpolating")
    if job.output.suffix.lower() == ".glb":
        baking.trim(result.action, extent, math.ceil(result.frames[0]), math.floor(result.frames[-1]))
    _fill(row, result)
    key_arguments.fill(row, writer)
    dynamics_arguments.plot(options, job, row, result.action, lambda: _curves(result))
    return result.action


def _bones(options: argparse.Namespace, scene: bpy.types.Scene, rig: bpy.types.Object) -> tuple[str, ...]:
    """The bones that were named, else all that have keys. Raises RigError."""
    rigs.check_bones(rig, (*options.bone, *options.passive))
    if options.bone:
        return tuple(dict.fromkeys((*options.bone, *options.passive)))
    return tuple(dict.fromkeys((*interpolation.keyed_bones(scene, rig), *options.passive)))


def _use(options: argparse.Namespace, scene: bpy.types.Scene, rig: bpy.types.Object) -> None:
    """Give the scene and the passive bones what the command line says of them."""
    settings = scene.lookat_pd_dynamics
    bones = [rig.pose.bones[name].lookat_pd_body for name in options.passive if name in rig.pose.bones]
    for own in bones:
        own.use_own = own.passive = True
    setting_flags.apply(options, settings, ("between", "tension", "weight", "friction"))
    for item in (settings, *bones):
        setting_flags.apply(options, item, ("stiffness", "damping"))


def _fill(row: Row, result: InterpolationResult) -> None:
    bones = result.tree.bones
    row["bone"], row["chain"] = bones[0], list(bones)
    row["frames"] = [math.floor(result.frames[0]), math.ceil(result.frames[-1])]
    row["action"], row["keys"] = result.action.name, result.keys.tolist()
    row["masses"] = dict(zip(bones, np.asarray(result.tree.body.masses).tolist(), strict=True))
    peaks = np.linalg.norm(result.motion.torques, axis=-1).max(axis=0)
    row["peak_torques"] = dict(zip(bones, peaks.tolist(), strict=True))
    row["missed"] = [
        {"frame": miss.frame, "bone": miss.bone, "degrees": float(np.degrees(miss.angle))} for miss in result.misses
    ]
    if result.misses:
        named = ", ".join(
            f"'{miss.bone}' at frame {miss.frame:g} by {np.degrees(miss.angle):.1f}°" for miss in result.misses[:_NAMED]
        )
        row["warnings"].append(
            f"The joints are too weak for {len(result.misses)} of the keys: {named}{_more(result.misses)}."
        )


def _more(misses: Sequence[interpolation.Miss]) -> str:
    return " and others" if len(misses) > _NAMED else ""


def _curves(result: InterpolationResult) -> dict:
    """What plots show, at the frames of the motion."""
    motion, bones = result.motion, result.tree.bones
    step = motion.times[1] - motion.times[0]
    turns = rotation.multiply(rotation.inverse(motion.rotations[:-1]), motion.rotations[1:])
    speeds = np.degrees(rotation.angle(turns)) / step
    torques = np.linalg.norm(motion.torques, axis=-1)
    return {
        "frames": result.keys[0] + motion.times / result.dt,
        "keys": result.keys,
        "missed": {bone: np.degrees(motion.missed_joints[:, n]) for n, bone in enumerate(bones)},
        "speed": {bone: np.append(speeds[:, n], speeds[-1, n]) for n, bone in enumerate(bones)},
        "torque": {bone: torques[:, n] for n, bone in enumerate(bones)},
    }
