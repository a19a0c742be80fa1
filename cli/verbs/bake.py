"""`bake`: look-ats become keys."""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy

from ...lookat_pd.errors import RigError
from ...rig import bake, look_at
from ...rig.body import layers as body
from ...rig.body import shifts
from ...rig.look_at import LookAt, Schedule
from ...rig.presets import apply as apply_preset
from ...rig.sample import Target
from .. import arguments as words
from .. import baking, each_file, gaze_file, measure, presets, retime, rigs
from ..console import Console
from ..gaze_file import Event
from ..jobs import Job
from ..report import Row

NAME = "bake"
SUMMARY = "turn look-ats into keys"
EPILOG = """\
The look-ats of a .blend are baked as they are stored in it. With --target, --point or --gaze one is made on the
head, or on --bone, and is in force all the time, or as the gaze file says:
  [{"frame": 10, "point": [0, -2, 1.6]}, {"frame": 40, "target": "Ball"}, {"frame": 90, "off": true}]
Points are in world space; a target may also be "Armature:Bone". Events need not be in order."""

_ALWAYS: Schedule = ((float("-inf"), 0),)
_DAMPING = ("critical", "responsive")


@dataclass(frozen=True)
class _Wish:
    """What the command line asks for, checked."""

    options: argparse.Namespace
    preset: dict[str, Any] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    always: Event | None = None
    """What to look at all the time."""

    @property
    def makes_one(self) -> bool:
        return bool(self.events) or self.always is not None

    @property
    def into(self) -> str:
        return baking.INTO[self.options.into]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words.add_inputs(parser)
    words.add_conversion(parser)
    parser.add_argument("--bone", metavar="NAME", help="bone that aims (default: the detected head)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--target", metavar="NAME[:BONE]", help="object, or bone of an armature, to look at")
    what.add_argument("--point", type=words.point, metavar="X,Y,Z", help="point of the world to look at")
    what.add_argument("--gaze", type=Path, metavar="FILE.json", help="what to look at from which frame on, see below")
    parser.add_argument(
        "--settle-time",
        type=words.number(0.01, 60.0),
        metavar="S",
        help="seconds until the head has arrived; also for look-ats of the file",
    )
    parser.add_argument(
        "--damping",
        type=_damping,
        metavar="critical|responsive|NUMBER",
        help="no overshoot, a slight one, or a damping ratio; also for look-ats of the file",
    )
    known = ", ".join(presets.available()).replace("%", "%%") or "none yet"
    parser.add_argument("--preset", metavar="NAME", help=f"settings by name: {known}")
    parser.add_argument(
        "--body",
        type=_layers,
        default=(),
        metavar="all|LAYER,...",
        help=f"what answers besides the chain, of {', '.join(body.LAYERS)}; also for look-ats of the file",
    )
    baking.add_into(parser)


def _layers(word: str) -> tuple[str, ...]:
    layers = tuple(body.LAYERS) if word == "all" else tuple(part.strip() for part in word.split(","))
    for layer in layers:
        if layer not in body.LAYERS:
            raise argparse.ArgumentTypeError(f"{layer!r} is no layer of the body: {', '.join(body.LAYERS)} or all")
    return layers


def _damping(word: str) -> str | float:
    if word.lower() in _DAMPING:
        return word.upper()
    try:
        float(word)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{word!r} is neither critical, responsive nor a number") from None
    return words.number(0.0, 20.0)(word)


def run(options: argparse.Namespace, console: Console) -> int:
    wish = _check(options)
    return each_file.convert(options, console, lambda scene, job, row: _bake_file(wish, scene, job, row, console))


def _check(options: argparse.Namespace) -> _Wish:
    baking.check_range(options)
    always = None
    if options.target is not None:
        always = Event(0.0, target=options.target)
    elif options.point is not None:
        always = Event(0.0, point=options.point)
    return _Wish(
        options,
        presets.read(options.preset) if options.preset is not None else {},
        gaze_file.read(options.gaze) if options.gaze is not None else (),
        always,
    )


def _bake_file(wish: _Wish, scene: bpy.types.Scene, job: Job, row: Row, console: Console) -> None:
    _check_job(wish, job, row)
    row["fps"] = retime.reported(scene)
    places = _places(wish, scene, row)
    rig, bone = places[0]
    row["rig"], row["bone"] = rig.name, bone
    if wish.options.action is not None:
        rigs.use_action(rig, wish.options.action, wish.into)
    first, last = wish.options.range or rigs.frame_range(scene, [rig for rig, _ in places])
    row["frames"] = [first, last]
    look_ats = [_resolve(wish, scene, rig, bone) for rig, bone in places]
    row["aim_axis"], row["chain"] = list(look_ats[0].aim_axis), list(look_ats[0].bones)
    extents = {rig.name: rigs.frame_range(scene, [rig]) if rigs.plays(rig) else (first, last) for rig, _ in places}
    steps = bake.bake(scene, look_ats, bake.Options(first, last, wish.into))
    results = baking.follow(steps, lambda fraction: console.progress(0.1 + 0.65 * fraction, "baking"))
    steps = measure.settled_errors(scene, results)
    errors = baking.follow(steps, lambda fraction: console.progress(0.75 + 0.2 * fraction, "verifying"))
    if job.output.suffix.lower() == ".glb":
        for result in results:
            baking.trim(result.action, extents[result.look_at.armature.name], first, last)
    fill(row, results, errors)


def _check_job(wish: _Wish, job: Job, row: Row) -> None:
    baking.check_output(wish.into, job)
    if job.input.suffix.lower() == ".vrm" and job.output.suffix.lower() == ".glb":
        row["warnings"].append("The output is plain glTF: what VRM adds to it is lost.")


def _places(wish: _Wish, scene: bpy.types.Scene, row: Row) -> list[tuple[bpy.types.Object, str]]:
    """Armatures and bones whose look-ats are to be baked. Raises RigError."""
    notes: list[str] = row["warnings"]
    if wish.makes_one:
        rig = look_at.check_armature(rigs.choose(scene, wish.options.rig, notes))
        row["rig"] = rig.name
        return [(rig, wish.options.bone or _only_look_at(rig) or look_at.find_head(rig))]
    chosen = rigs.armatures(scene)
    if wish.options.rig is not None or not chosen:
        chosen = [rigs.choose(scene, wish.options.rig, notes)]
    stored = [(rig, bone) for rig in chosen if rig.pose for bone in look_at.bones_with_look_at(rig)]
    if wish.options.bone is not None:
        stored = [(rig, bone) for rig, bone in stored if bone == wish.options.bone]
    awake = [(rig, bone) for rig, bone in stored if not rig.pose.bones[bone].lookat_pd.mute]
    if awake:
        return awake
    if stored:
        raise RigError("All look-ats of the file are muted; unmute them, or give --target, --point or --gaze.")
    for rig in chosen[:1]:
        row["rig"] = rig.name
        look_at.check_armature(rig)
    where = f"on the bone '{wish.options.bone}'" if wish.options.bone is not None else "in the file"
    raise RigError(f"There is no look-at {where}; say what to look at with --target, --point or --gaze.")


def _only_look_at(rig: bpy.types.Object) -> str | None:
    """A file's own look-at knows better than detection which bone aims."""
    bones = look_at.bones_with_look_at(rig)
    return bones[0] if len(bones) == 1 else None


def _resolve(wish: _Wish, scene: bpy.types.Scene, rig: bpy.types.Object, bone: str) -> LookAt:
    if bone in rig.pose.bones:
        _set(wish, rig.pose.bones[bone].lookat_pd)
    if wish.always is not None:
        return look_at.resolve(rig, bone, [_target(scene, wish.always)], _ALWAYS)
    if wish.events:
        return look_at.resolve(rig, bone, *_timeline(scene, wish.events))
    return look_at.resolve(rig, bone)


def _set(wish: _Wish, settings: Any) -> None:
    apply_preset(wish.preset, settings)
    body.switch_on(settings, wish.options.body)
    if wish.options.settle_time is not None:
        settings.settle_time = wish.options.settle_time
    if isinstance(wish.options.damping, str):
        settings.damping = wish.options.damping
    elif wish.options.damping is not None:
        settings.damping, settings.damping_ratio = "CUSTOM", wish.options.damping


def _timeline(scene: bpy.types.Scene, events: Sequence[Event]) -> tuple[list[Target], Schedule]:
    """The different targets of the events, and which is looked at from when. Raises RigError."""
    wanted = [None if event.point is None and event.target is None else _target(scene, event) for event in events]
    targets = list(dict.fromkeys(target for target in wanted if target is not None))
    if not targets:
        raise RigError("The gaze file only switches off; give it something to look at.")
    pairs = zip(events, wanted, strict=True)
    return targets, tuple((event.frame, None if target is None else targets.index(target)) for event, target in pairs)


def _target(scene: bpy.types.Scene, event: Event) -> Target:
    if event.point is not None:
        return Target(point=event.point)
    assert event.target is not None
    return Target(*rigs.find_target(scene, event.target))


def fill(row: Row, results: Sequence[bake.Result], errors: Sequence[float | None]) -> None:
    """Put into a row what was baked, and how well."""
    first = results[0]
    for result in results:
        row["warnings"] += result.look_at.body.notes if result.look_at.body is not None else ()
    row["settled_error_deg"] = errors[0]
    row["settled_frames"] = len(measure.settled_frames(first))
    row["action"], row["passes"] = first.action.name, first.passes
    row |= _body_of(first)
    if len(results) > 1:
        row["look_ats"] = [_summary(result, error) for result, error in zip(results, errors, strict=True)]
    if any(error is None for error in errors):
        row["warnings"].append(
            "No frame is settled with the target in reach, as is usual where character or target keep moving, so there "
            "is no aim error to tell."
        )


def _summary(result: bake.Result, error: float | None) -> dict[str, Any]:
    one = result.look_at
    return {
        "rig": one.armature.name,
        "bone": one.bone,
        "aim_axis": list(one.aim_axis),
        "chain": list(one.bones),
        "settled_error_deg": error,
        "action": result.action.name,
        "passes": result.passes,
        **_body_of(result),
    }


def _body_of(result: bake.Result) -> dict[str, Any]:
    """What answers besides the chain, and how the gaze shifts; nothing where only the chain turns."""
    answering = result.look_at.body
    if answering is None:
        return {}
    return {
        "body": {
            "hips": answering.mover or None,
            "arms": [arm.upper for arm in answering.arms],
            "legs": [leg.upper for leg in answering.legs],
            "eyes": [eye.bone for eye in answering.eyes],
            "lids": [*answering.lids, *dict.fromkeys(lid.name for lid in answering.shapes)],
        },
        "gaze_shifts": [
            {
                "seconds": shift.time,
                "eye_onset": shift.eyes,
                "head_onset": shift.head,
                "torso_onset": shift.torso,
                "saccade_seconds": shift.duration,
                "eye_turn_deg": math.degrees(shift.amplitude),
                "on_target": shift.arrival,
                "gaze_error_deg": math.degrees(shift.error),
            }
            for shift in shifts.onsets(result)
        ],
    }
