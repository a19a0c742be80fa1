"""`follow`: objects and bones follow a target, or lag behind their own animation, as keys."""

import argparse
from collections.abc import Sequence
from functools import partial

import bpy

from ...lookat_pd.errors import RigError
from ...rig.animation.bake_options import BakeOptions
from ...rig.layers import layer_bake
from ...rig.pd_follow import follow_edit, owners
from ...rig.pd_follow.follow_kind import FollowKind, instance_of
from ...rig.pd_follow.owners import Owner
from ...rig.pd_follow.settings import PDFollowSettings
from .. import arguments as words
from .. import baking, each_action, each_file, retime, rigs, setting_flags
from ..arguments import Misuse
from ..console import Console
from ..jobs import FileJob
from ..report import Row

NAME = "follow"
SUMMARY = "bake PD Follow: objects, cameras and bones that follow a target with lag"
FIELDS = ("follows",)
"""What its report has beside the fields of every verb."""
EPILOG = (
    "Bakes all PD Follow of the file that is not muted. With --bone or --object that of one bone or object, which gets "
    "PD Follow if it has none; without --target it then lags behind its own animation."
)
_SET = ("turn", "use_location", "keep_offset", "max_speed", "max_turn", "feed_forward")
"""Settings that have flags."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words.add_inputs(parser)
    words.add_conversion(parser)
    who = parser.add_mutually_exclusive_group()
    who.add_argument("--bone", metavar="NAME", help="bone of the rig that follows")
    who.add_argument("--object", metavar="NAME", help="object that follows, such as a camera")
    parser.add_argument("--target", metavar="NAME[:BONE]", help=words.TO_FOLLOW)
    baking.add_controller(parser, PDFollowSettings, "PD Follow of the file")
    add = partial(setting_flags.add, parser, stored=True)
    help = (
        "keep the rotation, turn as the target does, or point an axis at the target (default: aim for cameras and "
        "lights, otherwise none with a target and follow without)"
    )
    add("--turn", PDFollowSettings, "turn", help=help)
    add("--no-location", PDFollowSettings, "use_location", help="follow in rotation only")
    help = "go to the target itself, not to the distance at the first frame"
    add("--no-offset", PDFollowSettings, "keep_offset", help=help)
    add("--max-speed", PDFollowSettings, "max_speed", "M")
    add("--max-turn", PDFollowSettings, "max_turn", "DEG")
    add("--lag-compensation", PDFollowSettings, "feed_forward", "X")
    baking.add_into(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    baking.check(options)
    if options.target is not None and options.bone is None and options.object is None:
        raise Misuse("--target needs --bone or --object, which follows it")
    if options.object is not None and (options.action or options.all_actions):
        raise Misuse("--action and --all-actions choose actions of a rig; leave them out with --object")
    return each_file.convert(options, console, lambda scene, job, row: _work(options, scene, job, row, console), FIELDS)


def _work(options: argparse.Namespace, scene: bpy.types.Scene, job: FileJob, row: Row, console: Console) -> None:
    into = baking.INTO[options.into]
    baking.check_output(into, job)
    row["fps"] = retime.reported(scene)
    followers = _followers(options, scene, row)
    row["rig"], row["bone"] = followers[0].object.name, followers[0].label
    _set(options, scene, followers)
    rig = followers[0].object
    if all(owner.bone and owner.object == rig for owner in followers):
        task = each_action.ActionTask(
            options, job, row, console, [rig], into, baking.named(layer_bake.ending(FollowKind))
        )
        each_action.run(task, lambda own: _bake(options, scene, job, followers, own, console))
        return
    if options.action or options.all_actions:
        raise RigError("Not only bones of one armature follow; leave out --action and --all-actions, or give --bone.")
    if job.source is not None:
        raise RigError("The keys of objects are written with the whole file.")
    _bake(options, scene, job, followers, row, console)


def _followers(options: argparse.Namespace, scene: bpy.types.Scene, row: Row) -> list[Owner]:
    """What follows, each after those that it depends on. Raises RigError."""
    if options.object is not None or options.bone is not None:
        owner = _named(options, scene, row)
        _target(options, scene, owner)
        return [owner]
    followers = owners.in_scene(scene)
    if options.rig is not None:
        rig = rigs.choose(scene, options.rig, row["warnings"])
        followers = [owner for owner in followers if owner.object == rig]
    awake = [owner for owner in followers if not owner.settings.mute]
    if not awake and followers:
        raise RigError("All PD Follow of the file is muted, as after a bake; unmute it, or give --bone or --object.")
    if not awake:
        raise RigError("There is no PD Follow in the file; choose what follows with --bone or --object.")
    return awake


def _named(options: argparse.Namespace, scene: bpy.types.Scene, row: Row) -> Owner:
    """The bone or the object of the arguments. Raises RigError."""
    if options.bone is not None:
        owner = Owner(rigs.choose(scene, options.rig, row["warnings"]), options.bone)
    else:
        item = scene.objects.get(options.object)
        if item is None:
            raise RigError(
                "There is no object '{name}' {name_2}.",
                name=options.object,
                name_2=rigs.instead(options.object, scene.objects.keys()),
            )
        owner = Owner(item)
    owners.check_owner(owner)
    return owner


def _target(options: argparse.Namespace, scene: bpy.types.Scene, owner: Owner) -> None:
    """Let an owner follow the target of the arguments, or what it follows in the file. Raises RigError."""
    item, bone = (None, "") if options.target is None else rigs.find_target(scene, options.target)
    # The distance to the target is that of the first frame.
    scene.frame_set(options.range[0] if options.range else rigs.frame_range(scene, [owner.object])[0])
    if not owner.settings.exists:
        follow_edit.add(owner, item, bone)
    elif item is not None:
        owners.check_target(owner, item, bone)
        owner.settings.target, owner.settings.subtarget = item, bone
        follow_edit.set_offset(owner)


def _set(options: argparse.Namespace, scene: bpy.types.Scene, found: Sequence[Owner]) -> None:
    """Give what follows the settings of the arguments; others stay as they are."""
    for owner in found:
        s: PDFollowSettings = owner.settings
        s.mute = False
        baking.use_controller(options, s)
        setting_flags.apply(options, s, _SET)
        owners.check(owner)


def _bake(
    options: argparse.Namespace,
    scene: bpy.types.Scene,
    job: FileJob,
    followers: Sequence[Owner],
    row: Row,
    console: Console,
) -> bpy.types.Action:
    """Bake what follows into what it plays; the action of the first."""
    moved = {owner.object for owner in followers}
    targets = {owner.settings.target for owner in followers if owner.settings.target is not None}
    first, last = options.range or rigs.frame_range(scene, [*moved, *targets])
    extents = {item.name: rigs.frame_range(scene, [item]) if rigs.plays(item) else (first, last) for item in moved}
    results = []
    for number, owner in enumerate(followers):
        owner.settings.mute = False
        with console.portion(number, len(followers)):
            how = BakeOptions(first, last, baking.INTO[options.into])
            steps = layer_bake.bake(scene, FollowKind, [instance_of(owner)], how)
            results.append((owner, baking.work(steps, console, "baking")[owner.object]))
    if job.output.suffix.lower() == ".glb":
        for owner, action in results:
            baking.trim(action, extents[owner.object.name], first, last)
    row["rig"], row["bone"], row["frames"] = followers[0].object.name, followers[0].label, [first, last]
    action = results[0][1]
    row["action"] = action.name
    row["follows"] = [_summary(*result) for result in results]
    return action


def _summary(owner: Owner, action: bpy.types.Action) -> dict[str, object]:
    s, target = owner.settings, owner.target
    return {
        "name": owner.label,
        "target": None if target is None else target.label,
        "location": s.use_location,
        "turn": s.turn,
        "settle_time": round(s.settle_time, 6),
        "action": action.name,
    }
