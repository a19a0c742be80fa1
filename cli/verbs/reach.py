"""`reach`: an effector reaches for a goal with as little change of torque as there is, as keys."""

import argparse

import bpy
import numpy as np

from ...rig.dynamics import body_obstacles, reach_hands, reaching, settings
from ...rig.dynamics.reach_request import AFTER, ReachRequest, Waypoint
from ...rig.dynamics.reaching import ReachResult
from ...rig.sampling.targets import Target
from .. import arguments as words
from .. import baking, dynamics_arguments, dynamics_plots, each_action, each_file, rigs
from ..arguments import Misuse
from ..console import Console
from ..jobs import FileJob
from ..report import Row

NAME = "reach"
SUMMARY = "bake a reach for a target with the least change of torque"
FIELDS = ("cost", "minimum_jerk_cost", "costs", "effector_error", "hand_errors", "clearance", "plots")
"""What its report has beside the fields of every verb."""
EPILOG = "The reach starts at the first frame of --range, or of the action of the rig, from the pose at that frame."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words.add_inputs(parser)
    words.add_conversion(parser)
    parser.add_argument("--bone", metavar="NAME", required=True, help="effector: hand, foot or last bone of a tail")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--target", metavar="NAME[:BONE]", help="object or bone of an armature to reach for")
    what.add_argument("--point", type=words.point, metavar="X,Y,Z", help="point in world space to reach for")
    parser.add_argument(
        "--hand",
        type=words.pair("NAME=TARGET", "hand.R=Cup"),
        action="append",
        default=[],
        metavar="NAME=TARGET",
        help="another effector that reaches at the same time, for an object NAME[:BONE] or a point X,Y,Z; one object "
        "for two hands is taken on both sides; can be repeated",
    )
    parser.add_argument(
        "--duration",
        type=words.number(0.0, settings.LONGEST, open_below=True),
        metavar="S",
        help="duration in seconds (default: that of --range, otherwise 1)",
    )
    parser.add_argument(
        "--via",
        type=_via,
        action="append",
        default=[],
        metavar="[NAME=]X,Y,Z@T",
        help="waypoint and its time as a fraction of the duration, such as 0.4,-0.3,1.2@0.5, for an effector NAME; "
        "without a name for --bone or, with --hand, for the middle between the effectors; can be repeated",
    )
    words.add_chain(parser, "bring the tip of the effector to the goal instead of its head")
    parser.add_argument(
        "--palm",
        action="store_true",
        help="bring the palm to the side of the target's mesh and turn it to that side, with optimal",
    )
    parser.add_argument(
        "--gap",
        type=words.number(0.0, 1e6),
        metavar="D",
        default=settings.GAP,
        help="distance of the bone of the hand from that side, in the file's units (default: 0.02)",
    )
    parser.add_argument(
        "--method",
        choices=("smoothing", "optimal"),
        default="optimal",
        help="find the least change of torque directly (default), or smooth the torques of a minimum-jerk reach",
    )
    parser.add_argument(
        "--passes", type=words.whole, metavar="N", default=50, help="maximum number of smoothing passes (default: 50)"
    )
    parser.add_argument(
        "--damping",
        type=words.number(0.0, 1e6),
        metavar="D",
        default=settings.DAMPING,
        help="damping of the joints in N m s/rad",
    )
    parser.add_argument(
        "--after",
        choices=AFTER,
        default="animation",
        help="after the arrival: a transition to the animation (default), reach back first, or hold the pose",
    )
    parser.add_argument(
        "--hold",
        type=words.number(0.0, settings.LONGEST),
        metavar="S",
        default=0.0,
        help="seconds for which the pose is held after the arrival",
    )
    parser.add_argument(
        "--blend",
        type=words.number(0.0, settings.LONGEST),
        metavar="S",
        default=settings.BLEND,
        help="seconds of the transition to the animation",
    )
    parser.add_argument(
        "--match-orientation", action="store_true", help="turn the effector as the target is turned, with optimal"
    )
    parser.add_argument(
        "--approach",
        choices=tuple(item[0].lower().replace("_", "-") for item in settings.APPROACH_ITEMS),
        default="free",
        help="come to the goal from above, or along one of its axes, with optimal (default: free)",
    )
    parser.add_argument(
        "--approach-distance",
        type=words.number(0.0, 1e6, open_below=True),
        metavar="D",
        default=settings.DISTANCE,
        help="length of the straight line of --approach, in the file's units (default: 0.1)",
    )
    parser.add_argument("--from-rest", action="store_true", help="begin at rest, not at the speed of the animation")
    parser.add_argument(
        "--no-follow", action="store_true", help="keep the pose after the arrival even if the goal moves on"
    )
    parser.add_argument("--no-avoid-body", action="store_true", help="let the arm pass through the head and the trunk")
    parser.add_argument(
        "--obstacle",
        metavar="NAME",
        action="append",
        default=[],
        help="object to go around, as a sphere around its origin; can be repeated",
    )
    dynamics_arguments.add_body(parser)
    baking.add_into(parser)


def _via(word: str) -> tuple[str, float, Target]:
    place, at, share = word.rpartition("@")
    if not at:
        raise argparse.ArgumentTypeError(
            f"{words.shown(word)!r} is not a place and a time; give X,Y,Z@T, T between 0 and 1"
        )
    name, _, place = place.rpartition("=")
    return name, words.number(0.01, 0.99)(share), Target(point=words.point(place))


def _share(via: tuple[str, float, Target]) -> float:
    return via[1]


def _hand(bones: list[str], name: str) -> int | None:
    """The number of the effector that passes a waypoint; None for the middle between all."""
    if name:
        return bones.index(name)
    return None if len(bones) > 1 else 0


def run(options: argparse.Namespace, console: Console) -> int:
    baking.check(options)
    dynamics_arguments.check(options)
    if options.match_orientation and options.target is None:
        raise Misuse("--match-orientation needs --target, whose orientation it is")
    if options.method == "smoothing" and (options.match_orientation or options.approach != "free"):
        raise Misuse("--match-orientation and --approach need --method optimal")
    words.check_once([options.bone, *(name for name, _ in options.hand)], "--hand", "give it once")
    if options.hand and options.method == "smoothing":
        raise Misuse("--hand needs --method optimal")
    if options.palm and (options.tip or options.method == "smoothing"):
        raise Misuse("--palm needs --method optimal and no --tip")
    bones = [options.bone, *(name for name, _ in options.hand)]
    unknown = next((name for name, _, _ in options.via if name and name not in bones), None)
    if unknown is not None:
        raise Misuse(f"--via names {unknown!r}, which does not reach; use one of {', '.join(bones)}")
    return each_file.convert(options, console, lambda scene, job, row: _work(options, scene, job, row, console), FIELDS)


def _work(options: argparse.Namespace, scene: bpy.types.Scene, job: FileJob, row: Row, console: Console) -> None:
    into, rig = baking.INTO[options.into], dynamics_arguments.prepare(options, scene, job, row, options.bone)
    task = each_action.ActionTask(options, job, row, console, [rig], into, baking.named(reaching.REACHED))
    each_action.run(task, lambda own: _reach(options, scene, job, rig, own, console))


def _reach(
    options: argparse.Namespace, scene: bpy.types.Scene, job: FileJob, rig: bpy.types.Object, row: Row, console: Console
) -> bpy.types.Action:
    """Bake a reach into what the rig plays."""
    extent = rigs.frame_range(scene, [rig])
    first, last = options.range or extent
    target = Target(point=options.point)
    if options.target is not None:
        target = Target(*rigs.find_target(scene, options.target))
    others = [(name, rigs.place(scene, word)) for name, word in options.hand]
    bones, goals = [options.bone, *(name for name, _ in others)], [target, *(goal for _, goal in others)]
    faces = reach_hands.faces(rig, bones, goals, options.gap if options.palm else None)
    request = ReachRequest(
        options.bone,
        faces[0].goal,
        first,
        options.duration or (reaching.seconds(scene, last - first) if options.range else 1.0),
        options.length,
        options.base or "",
        options.tip,
        options.method,
        options.passes,
        options.damping,
        gravity=not options.no_gravity,
        limits=not options.no_limits,
        vias=tuple(
            Waypoint(share, place, _hand(bones, name)) for name, share, place in sorted(options.via, key=_share)
        ),
        after=options.after,
        hold=options.hold,
        blend=options.blend,
        avoids_body=not options.no_avoid_body,
        obstacles=body_obstacles.of_objects(rigs.find_target(scene, name)[0] for name in options.obstacle),
        keeps_velocity=not options.from_rest,
        follows=not options.no_follow,
        matches=options.match_orientation,
        approach=options.approach.upper().replace("-", "_"),
        distance=options.approach_distance,
        others=tuple(zip(bones[1:], (face.goal for face in faces[1:]), strict=True)),
        normals=tuple(face.normal for face in faces) if options.palm else (),
    )
    result = baking.work(reaching.start(scene, rig, request, baking.INTO[options.into]), console, "reaching")
    if job.output.suffix.lower() == ".glb":
        plays = extent if rigs.plays(rig) else (first, last)
        baking.trim(result.action, plays, int(result.keyed[0]), int(result.keyed[-1]))
    _fill(row, result)
    if options.plots is not None:
        curves = {"frames": result.frames, "costs": result.costs, "path": result.path, "straight": result.straight}
        if len(result.paths) > 1:
            curves |= {"other_paths": np.array(result.paths[1:]), "other_straights": np.array(result.straights[1:])}
        row["plots"] = dynamics_plots.write(
            options.plots, dynamics_arguments.plots_name(options, job, result.action), curves
        )
    return result.action


def _fill(row: Row, result: ReachResult) -> None:
    row["frames"] = [int(result.keyed[0]), int(result.keyed[-1])]
    row["action"], row["chain"] = result.action.name, list(reversed(result.tree.bones))
    row["cost"], row["minimum_jerk_cost"] = result.cost, float(result.costs[0])
    row["costs"], row["effector_error"] = result.costs.tolist(), result.missed
    row["clearance"] = result.clearance
    row["hand_errors"] = result.misses.tolist()
    row["warnings"] += [str(problem) for problem in result.warnings]
