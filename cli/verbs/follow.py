"""`follow`: objects and bones follow a target, or lag behind their own animation, as keys."""

import argparse
from collections.abc import Sequence
from functools import partial

import bpy

from ...lookat_pd.errors import RigError
from ...rig.animation.bake_options import BakeOptions
from ...rig.layers import layer_bake
from ...rig.pd_follow import follow_chains, follow_edit, owners
from ...rig.pd_follow.follow_kind import FollowKind, instance_of
from ...rig.pd_follow.owners import Owner
from ...rig.pd_follow.settings import PDFollowSettings
from .. import arguments as words
from .. import baking, each_action, each_file, each_rig, key_arguments, retime, rigs, setting_flags
from ..arguments import Misuse
from ..console import Console
from ..jobs import FileJob
from ..report import Row

NAME = "follow"
SUMMARY = "bake PD Follow: objects, cameras and bones that follow a target with lag"
FIELDS = ("follows",)
"""What its report has beside the fields of every verb."""
EPILOG = (
    "Bakes all PD Follow of the file that is not muted. With --bone or --object that of these bones or this object, "
    "which get PD Follow if they have none; without --target they then lag behind their own animation. Several bones "
    "are solved from root to tip: each follows the result of its parent, the first of each chain the target."
)
_SET = ("turn", "use_location", "keep_offset", "max_speed", "max_turn", "feed_forward")
"""Settings that have flags."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words.add_inputs(parser)
    words.add_conversion(parser)
    who = parser.add_mutually_exclusive_group()
    help = "bone of the rig that follows; repeat it for a chain, in which each bone follows the result of its parent"
    who.add_argument("--bone", metavar="NAME", action="append", help=help)
    who.add_argument("--object", metavar="NAME", help="object that follows, such as a camera")
    parser.add_argument("--target", metavar="NAME[:BONE]", help=words.TO_FOLLOW)
    baking.add_controller(parser, PDFollowSettings, "PD Follow of the file")
    add = partial(setting_flags.add, parser, stored=True)
    help = (
        "keep the rotation, turn as the target does, or point an axis at the target (default: aim for cameras and "
        "lights, otherwise none with a target and follow without)"
    )
    add("--turn", PDFollowSettings, "turn", help=help)
    help = "follow in rotation only, as bones do that hang on another one"
    add("--no-location", PDFollowSettings, "use_location", help=help)
    help = "follow in location, too, even if that moves a bone away from the one that it hangs on"
    parser.add_argument("--location", dest="use_location", action="store_const", const=True, help=help)
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
    for name in options.bone or ():
        if options.bone.count(name) > 1:
            raise Misuse(f"--bone {name} is given {options.bone.count(name)} times; give each bone once")

    def work(scene: bpy.types.Scene, job: FileJob, row: Row) -> None:
        def one(own: Row) -> None:
            _work(options, scene, job, own, console)

        if options.bone is None:
            one(row)
        else:
            each_rig.run(options, scene, job, row, console, one, options.bone)

    return each_file.convert(options, console, work, FIELDS)


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
        named = _named(options, scene, row)
        _target(options, scene, named)
        return named
    followers = follow_chains.in_scene(scene)
    if options.rig is not None:
        chosen = rigs.named(scene, options.rig)
        followers = [owner for owner in followers if owner.object in chosen]
    awake = [owner for owner in followers if not owner.settings.mute]
    if not awake and followers:
        raise RigError("All PD Follow of the file is muted, as after a bake; unmute it, or give --bone or --object.")
    if not awake:
        raise RigError("There is no PD Follow in the file; choose what follows with --bone or --object.")
    return awake


def _named(options: argparse.Namespace, scene: bpy.types.Scene, row: Row) -> list[Owner]:
    """The bones, from root to tip, or the object of the arguments. Raises RigError."""
    if options.bone is not None:
        rig = rigs.choose(scene, options.rig, row["warnings"])
        rigs.check_bones(rig, options.bone)
        return follow_chains.by_rig([Owner(rig, bone) for bone in options.bone])
    item = scene.objects.get(options.object)
    if item is None:
        raise RigError(
            "There is no object '{name}' {name_2}.",
            name=options.object,
            name_2=rigs.instead(options.object, scene.objects.keys()),
        )
    return [Owner(item)]


def _target(options: argparse.Namespace, scene: bpy.types.Scene, named: Sequence[Owner]) -> None:
    """Let what is named follow the target of the arguments, or what it follows in the file. Raises RigError.

    The target of several bones is that of the first of each chain.
    """
    item, bone = (None, "") if options.target is None else rigs.find_target(scene, options.target)
    # The distance to the target is that of the first frame.
    scene.frame_set(options.range[0] if options.range else rigs.frame_range(scene, [named[0].object])[0])
    known = [owner for owner in named if owner.follows]
    follow_edit.add([owner for owner in named if owner not in known], item, bone, chain=named)
    for owner in known if item is not None else ():
        if follow_chains.parent_in(named, owner) is None:
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
    for owner in followers:
        owner.settings.mute = False
    how = BakeOptions(first, last, baking.INTO[options.into], writer=key_arguments.writer(options))
    steps = layer_bake.bake(scene, FollowKind, list(map(instance_of, followers)), how)
    baked = baking.work(steps, console, "baking")
    if job.output.suffix.lower() == ".glb":
        for item, action in baked.items():
            baking.trim(action, extents[item.name], first, last)
    row["rig"], row["bone"], row["frames"] = followers[0].object.name, followers[0].label, [first, last]
    action = baked[followers[0].object]
    row["action"] = action.name
    key_arguments.fill(row, how.writer)
    row["follows"] = [_summary(owner, baked[owner.object]) for owner in followers]
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
