"""`bake`: look-ats become keys."""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import bpy

from ...lookat_pd.errors import LookAtError, RigError
from ...lookat_pd.progress import drain
from ...rig.animation import bake_options, editable
from ...rig.detection import vrm
from ...rig.look_at import look_at_bake
from ...rig.look_at import resolve as look_at
from ...rig.look_at.body import face_controls, gaze_shifts, layers, vrm_eyes
from ...rig.look_at.directing import shot_keys
from ...rig.look_at.directing.conversation import looking_bone
from ...rig.look_at.presets import apply as apply_preset
from ...rig.look_at.resolve import LookAt, Schedule
from ...rig.look_at.settings import ORIGINS, LookAtSettings
from ...rig.sampling import scene_time
from ...rig.sampling.targets import Target
from .. import arguments as words
from .. import (
    baked_aim,
    baking,
    conversation_file,
    each_action,
    each_file,
    each_rig,
    gaze_file,
    key_arguments,
    presets,
    retime,
    rigs,
    setting_flags,
)
from ..console import Console
from ..conversation_file import Talk
from ..gaze_file import GazeEntry
from ..gltf_source import WholeFileNeeded
from ..jobs import FileJob
from ..report import Row

NAME = "bake"
SUMMARY = "bake look-ats to keys"
EPILOG = """\
Without a target, the look-ats stored in a .blend are baked. With --target, --point or --gaze a look-at is added to
the head, or to --bone. It is on at all frames, or as given by the events of the gaze file:
  [{"frame": 10, "point": [0, -2, 1.6]}, {"frame": 40, "target": "Ball"}, {"frame": 90, "off": true}]
Points are in world space; a target can also be "Armature:Bone". Events can be in any order.
With --conversation, all speakers of the file look at each other, glance away, blink, nod and breathe, and are baked
together:
  1.5 Anna: where were you?
  3.2 Bo"""

_ALWAYS: Schedule = ((float("-inf"), 0),)


@dataclass(frozen=True)
class _Request:
    """What the command line asks for, checked."""

    options: argparse.Namespace
    preset: dict[str, Any] = field(default_factory=dict)
    """Settings of the preset."""
    events: tuple[GazeEntry, ...] = ()
    """What to look at from when on."""
    always: GazeEntry | None = None
    """What to look at all the time."""
    talk: Talk | None = None
    """The conversation."""

    @property
    def makes_one(self) -> bool:
        return bool(self.events) or self.always is not None

    @property
    def into(self) -> str:
        return baking.INTO[self.options.into]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words.add_inputs(parser)
    words.add_conversion(parser)
    parser.add_argument("--bone", metavar="NAME", help="bone that aims at the target (default: the detected head)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--target", metavar="NAME[:BONE]", help="object or bone of an armature to look at")
    what.add_argument("--point", type=words.point, metavar="X,Y,Z", help="point in world space to look at")
    what.add_argument(
        "--gaze", type=Path, metavar="FILE.json", help="targets and the frames from which they are looked at, see below"
    )
    conversation_file.add_arguments(parser, what)
    what.add_argument(
        "--move-keys",
        action="store_true",
        help="first move the keys of the file's look-ats from the current action to the shot, so that all actions "
        "follow them",
    )
    baking.add_controller(parser, LookAtSettings, "look-ats of the file")
    help = "how far the head is rolled upright on a leaning body, 0 to 1; also applied to look-ats of the file"
    setting_flags.add(parser, "--level-head", LookAtSettings, "level_head", "SHARE", help=help, stored=True)
    help = (
        "largest roll of the head, in degrees, that a look adds to that of the animation; 180 for any; also applied to "
    )
    help += "look-ats of the file"
    setting_flags.add(parser, "--head-roll", LookAtSettings, "head_roll", "DEG", help=help, stored=True)
    help = (
        "part of the body's own motion that neck and head cancel at once, 0 to 1; also applied to look-ats of the file"
    )
    setting_flags.add(parser, "--stabilize", LookAtSettings, "stabilize", "SHARE", help=help, stored=True)
    help = "what is brought in line with the target; also applied to look-ats of the file: "
    help += "; ".join(f"{item[0].lower()}, {item[2][0].lower()}{item[2][1:]}" for item in ORIGINS)
    setting_flags.add(parser, "--aim-from", LookAtSettings, "aim_from", help=help, stored=True)
    known = ", ".join(presets.available()).replace("%", "%%") or "none yet"
    parser.add_argument("--preset", metavar="NAME", help=f"preset for the settings: {known}")
    parser.add_argument(
        "--body",
        type=_layers,
        default=(),
        metavar="all|LAYER,...",
        help=f"parts of the body response, out of {', '.join(layers.LAYERS)}; also applied to look-ats of the file",
    )
    parser.add_argument(
        "--cyclic",
        action=argparse.BooleanOptionalAction,
        help="solve to the motion that returns to itself, so that a baked cycle has no seam (default: where the action "
        "is cyclic)",
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="measure the aim errors of the report on the evaluated rig, also where they follow from the solution",
    )
    baking.add_into(parser)


def _layers(word: str) -> tuple[str, ...]:
    chosen = tuple(layers.whole_body()) if word == "all" else tuple(part.strip() for part in word.split(","))
    for layer in chosen:
        if layer not in layers.LAYERS:
            raise argparse.ArgumentTypeError(
                f"{words.shown(layer)!r} is no layer of the body: {', '.join(layers.LAYERS)} or all"
            )
    return chosen


def run(options: argparse.Namespace, console: Console) -> int:
    request = _check(options)

    def work(scene: bpy.types.Scene, job: FileJob, row: Row) -> None:
        def one(own: Row) -> None:
            _bake_file(request, scene, job, own, console)

        if not request.makes_one:
            # The file says who looks.
            one(row)
            return
        bones = [options.bone] if options.bone is not None else []
        each_rig.run(options, scene, job, row, console, one, bones, _looked_at(request, scene))

    return each_file.convert(options, console, work)


def _looked_at(request: _Request, scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Characters that are targets do not look at themselves. Raises RigError."""
    events = [request.always] if request.always is not None else request.events
    targets = (rigs.find_target(scene, event.target)[0] for event in events if event.target is not None)
    return [target for target in targets if target.type == "ARMATURE"]


def _check(options: argparse.Namespace) -> _Request:
    baking.check(options)
    always = None
    if options.target is not None:
        always = GazeEntry(0.0, target=options.target)
    elif options.point is not None:
        always = GazeEntry(0.0, point=options.point)
    return _Request(
        options,
        presets.read(options.preset) if options.preset is not None else {},
        gaze_file.read(options.gaze) if options.gaze is not None else (),
        always,
        conversation_file.read(options),
    )


def _bake_file(request: _Request, scene: bpy.types.Scene, job: FileJob, row: Row, console: Console) -> None:
    _check_job(request, job, row)
    row["fps"] = retime.reported(scene)
    people = {} if request.talk is None else conversation_file.people(scene, request.talk)
    places = [(one, looking_bone(one)) for one in people] or _places(request, scene, row)
    rig, bone = places[0]
    row["rig"], row["bone"] = rig.name, bone
    armatures = list(dict.fromkeys(rig for rig, _ in places))
    if job.source is not None and len(armatures) > 1:
        raise WholeFileNeeded("Several armatures are baked.")
    if request.options.move_keys:
        row["moved_keys"] = shot_keys.move(places)
    looking = [rig.pose.bones[bone].lookat_pd for rig, bone in places if bone in rig.pose.bones]
    muted = [settings.mute for settings in looking]

    def one(own: Row) -> bpy.types.Action:
        # A bake mutes its look-ats.
        for settings, mute in zip(looking, muted, strict=True):
            if settings.mute != mute:
                settings.mute = mute
        # A conversation is of the shot, whatever is left of the characters' clips before and after it.
        of_shot = request.talk is not None and job.input.suffix.lower() == ".blend"
        default = scene_time.key_range(scene) if of_shot else rigs.frame_range(scene, armatures)
        frames = request.options.range or default
        if request.talk is not None:
            own[conversation_file.FIELD] = conversation_file.make(scene, request.talk, people, *frames)
        return _bake_action(request, scene, job, places, frames, own, console)

    task = each_action.ActionTask(
        request.options, job, row, console, armatures, request.into, baking.named(look_at_bake.BAKED)
    )
    each_action.run(task, one)


def _bake_action(
    request: _Request,
    scene: bpy.types.Scene,
    job: FileJob,
    places: Sequence[tuple[bpy.types.Object, str]],
    frames: tuple[int, int],
    row: Row,
    console: Console,
) -> bpy.types.Action:
    """Bake the look-ats onto what the rigs play."""
    first, last = frames
    row["frames"] = [first, last]
    for rig, bone in places:
        if bone in rig.pose.bones:
            _set(request, rig.pose.bones[bone].lookat_pd)
            _take_over_eyes(job, rig, bone, row)
            controls = face_controls.take_over(scene, rig, bone)
            row["warnings"] += controls.notes if controls is not None else ()
    look_ats = [_resolve(request, scene, rig, bone) for rig, bone in places]
    if job.source is not None:
        job.source.check_meshes(any(one.shapes for one in look_ats))
    row["aim_axis"], row["chain"] = list(look_ats[0].aim_axis), list(look_ats[0].bones)
    extents = {rig.name: rigs.frame_range(scene, [rig]) if rigs.plays(rig) else (first, last) for rig, _ in places}
    options = _options(request, first, last)
    steps = look_at_bake.bake(scene, look_ats, options)
    results = drain(steps, lambda fraction: console.progress(0.1 + 0.65 * fraction, "baking"))
    see = partial(_see, job) if job.output.suffix.lower() == ".glb" and job.source is None else None
    steps = baked_aim.find(scene, results, verify=request.options.verify, see=see)
    errors = drain(steps, lambda fraction: console.progress(0.75 + 0.2 * fraction, "verifying"))
    if job.output.suffix.lower() == ".glb":
        for result in results:
            baking.trim(result.action, extents[result.look_at.armature.name], first, last)
    fill(row, results, errors)
    key_arguments.fill(row, options.writer)
    return results[0].action


def _see(job: FileJob, result: look_at_bake.BakeResult, frame: int, evaluated: bpy.types.Object) -> None:
    job.seen.add(result.look_at.armature, result.action.name, frame, evaluated)


def _options(request: _Request, first: int, last: int) -> bake_options.BakeOptions:
    writer = key_arguments.writer(request.options)
    return bake_options.BakeOptions(first, last, request.into, cyclic=request.options.cyclic, writer=writer)


def _check_job(request: _Request, job: FileJob, row: Row) -> None:
    baking.check_output(request.into, job)
    row["warnings"] += job.losses


def _places(request: _Request, scene: bpy.types.Scene, row: Row) -> list[tuple[bpy.types.Object, str]]:
    """Armatures and bones whose look-ats are to be baked. Raises RigError."""
    notes: list[str] = row["warnings"]
    if request.makes_one:
        rig = editable.check_armature(rigs.choose(scene, request.options.rig, notes))
        row["rig"] = rig.name
        return [(rig, request.options.bone or _only_look_at(rig) or look_at.find_head(rig))]
    chosen = rigs.without_sources(rigs.armatures(scene))
    if request.options.rig:
        chosen = rigs.named(scene, request.options.rig)
    if not chosen:
        chosen = [rigs.choose(scene, None, notes)]
    stored = [(rig, bone) for rig in chosen if rig.pose for bone in look_at.bones_with_look_at(rig)]
    if request.options.bone is not None:
        stored = [(rig, bone) for rig, bone in stored if bone == request.options.bone]
    awake = [(rig, bone) for rig, bone in stored if not rig.pose.bones[bone].lookat_pd.mute]
    if awake:
        return awake
    if stored:
        raise RigError(
            "All look-ats of the file are muted; unmute them, or use --target, --point or --gaze.",
            code="look-ats-muted",
        )
    for rig in chosen[:1]:
        row["rig"] = rig.name
        editable.check_armature(rig)
    where = f"on the bone '{request.options.bone}'" if request.options.bone is not None else "in the file"
    raise RigError(
        "There is no look-at {where}; choose a target with --target, --point or --gaze.", where=where, code="no-look-at"
    )


def _only_look_at(rig: bpy.types.Object) -> str | None:
    """A file's own look-at knows better than detection which bone aims."""
    bones = look_at.bones_with_look_at(rig)
    return bones[0] if len(bones) == 1 else None


def _resolve(request: _Request, scene: bpy.types.Scene, rig: bpy.types.Object, bone: str) -> LookAt:
    if request.always is not None:
        return look_at.resolve(rig, bone, [_target(scene, request.always)], _ALWAYS)
    if request.events:
        return look_at.resolve(rig, bone, *_timeline(scene, request.events))
    return look_at.resolve(rig, bone)


def _set(request: _Request, settings: Any) -> None:
    apply_preset(request.preset, settings)
    layers.switch_on(settings, request.options.body)
    setting_flags.apply(request.options, settings, ["level_head", "head_roll", "stabilize", "aim_from"])
    baking.use_controller(request.options, settings)


def _take_over_eyes(job: FileJob, rig: bpy.types.Object, bone: str, row: Row) -> None:
    """Let the VRM data of the input say what turns the eyes, unless a preset or the file's own look-at does."""
    eyes = rig.pose.bones[bone].lookat_pd.eyes
    if not eyes.use or eyes.turned_by != "AUTO" or eyes.left or job.input.suffix.lower() not in (".vrm", ".glb"):
        return
    try:
        vrm_eyes_of_file = vrm.read_any(job.input)
        if vrm_eyes_of_file is not None:
            vrm_eyes.take_over(rig, bone, vrm_eyes_of_file)
    except LookAtError as error:
        row["warnings"].append(f"{error} The eyes are found by their names instead.")


def _timeline(scene: bpy.types.Scene, events: Sequence[GazeEntry]) -> tuple[list[Target], Schedule]:
    """The different targets of the events, and which is looked at from when. Raises RigError."""
    wanted = [None if event.point is None and event.target is None else _target(scene, event) for event in events]
    targets = list(dict.fromkeys(target for target in wanted if target is not None))
    if not targets:
        raise RigError("The gaze file has no target; add an event with a target or a point.")
    pairs = zip(events, wanted, strict=True)
    return targets, tuple((event.frame, None if target is None else targets.index(target)) for event, target in pairs)


def _target(scene: bpy.types.Scene, event: GazeEntry) -> Target:
    if event.point is not None:
        return Target(point=event.point)
    assert event.target is not None
    return Target(*rigs.find_target(scene, event.target))


def fill(row: Row, results: Sequence[look_at_bake.BakeResult], errors: Sequence[baked_aim.AimFigures]) -> None:
    """Put into a row what was baked, and how well."""
    first = results[0]
    for result in results:
        row["warnings"] += result.notes
    row |= _errors_of(errors[0])
    row["settled_frames"] = len(baked_aim.settled_frames(first))
    row["action"], row["passes"], row["cyclic"] = first.action.name, first.passes, first.cyclic
    row |= _body_of(first)
    if len(results) > 1:
        row["look_ats"] = [_summary(result, error) for result, error in zip(results, errors, strict=True)]
    missing = [result for result, error in zip(results, errors, strict=True) if error.settled is None]
    row["warnings"] += dict.fromkeys(baked_aim.why_no_error(result) for result in missing)


def _errors_of(error: baked_aim.AimFigures) -> dict[str, Any]:
    return {
        "settled_error_deg": error.settled,
        "aim_error_deg": baked_aim.in_degrees(error.aim),
        "eyes_error_deg": baked_aim.in_degrees(error.eyes),
    }


def _summary(result: look_at_bake.BakeResult, error: baked_aim.AimFigures) -> dict[str, Any]:
    one = result.look_at
    return {
        "rig": one.armature.name,
        "bone": one.bone,
        "aim_axis": list(one.aim_axis),
        "chain": list(one.bones),
        **_errors_of(error),
        "action": result.action.name,
        "passes": result.passes,
        **_body_of(result),
    }


def _body_of(result: look_at_bake.BakeResult) -> dict[str, Any]:
    """The bones of the body response, and how the gaze shifts; None where only the chain turns."""
    body = result.look_at.body
    if body is None:
        return {"body": None, "gaze_shifts": None}
    return {
        "body": layers.report(body),
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
            for shift in gaze_shifts.onsets(result)
        ],
    }
