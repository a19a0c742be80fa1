"""`reach`: an effector reaches for a goal with as little change of torque as there is, as keys."""

import argparse
from functools import partial

import bpy
import numpy as np

from ...rig.dynamics import body_obstacles, reach_hands, reaching
from ...rig.dynamics.reach_request import ReachRequest, Waypoint
from ...rig.dynamics.reaching import ReachResult
from ...rig.dynamics.settings import DynamicsSettings, ReachSettings
from ...rig.sampling.targets import Target
from .. import arguments as words
from .. import baking, chain_arguments, dynamics_arguments, key_arguments, rigs, setting_flags
from ..arguments import Misuse
from ..console import Console
from ..jobs import FileJob
from ..report import Row

NAME = "reach"
SUMMARY = "bake a reach for a target with the least change of torque"
FIELDS = ("cost", "minimum_jerk_cost", "costs", "effector_error", "hand_errors", "softened", "clearance", "plots")
"""What its report has beside the fields of every verb."""
EPILOG = "The reach starts at the first frame of --range, or of the action of the rig, from the pose at that frame."


_POINTS = {"palm": "HAND", "fingertips": "FINGERTIPS", "wrist": "HEAD"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words.add_inputs(parser)
    words.add_conversion(parser)
    _add_goals(parser)
    _add_arm(parser)
    _add_motion(parser)
    help = "let the arm pass through the head and the trunk"
    setting_flags.add(parser, "--no-avoid-body", DynamicsSettings, "avoid_body", help=help)
    parser.add_argument(
        "--obstacle",
        metavar="NAME",
        action="append",
        default=[],
        help="object to go around, as a sphere around its origin; can be repeated",
    )
    dynamics_arguments.add_body(parser)
    baking.add_into(parser)


def _add_goals(parser: argparse.ArgumentParser) -> None:
    """What reaches for what, by which way, and how long that takes."""
    chain_arguments.add_effector(parser, required=True)
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
    help = "duration in seconds (default: that of --range, otherwise 1)"
    setting_flags.add(parser, "--duration", DynamicsSettings, "duration", "S", help=help, stored=True)
    parser.add_argument(
        "--via",
        type=_via,
        action="append",
        default=[],
        metavar="[NAME=]X,Y,Z@T",
        help="waypoint and its time as a fraction of the duration, such as 0.4,-0.3,1.2@0.5, for an effector NAME; "
        "without a name for --bone or, with --hand, for the middle between the effectors; can be repeated",
    )


def _add_arm(parser: argparse.ArgumentParser) -> None:
    """The bones that turn, and what of the hand comes how near to the goal."""
    add = partial(setting_flags.add, parser)
    help = "bring the tip of the effector to the goal instead of its head"
    chain_arguments.add_arguments(parser, DynamicsSettings, help)
    parser.add_argument(
        "--reach-with",
        choices=_POINTS,
        default="palm",
        help="what of a hand comes to the target (default: palm); of other bones it is the head",
    )
    parser.add_argument(
        "--palm",
        action="store_true",
        help="bring the palm to the side of the target's mesh and turn it to that side, with optimal",
    )
    add("--gap", DynamicsSettings, "palm_gap", "D")
    help = "refuse a goal that the arm cannot reach, instead of leaning for it"
    add("--no-lean", DynamicsSettings, "lean", help=help)
    add("--soft-reach", DynamicsSettings, "soft_reach", "S")


def _add_motion(parser: argparse.ArgumentParser) -> None:
    """How the motion is found, how it begins and arrives, and what comes after."""
    add = partial(setting_flags.add, parser)
    add("--method", DynamicsSettings, "method")
    add("--timing", DynamicsSettings, "timing")
    add("--passes", DynamicsSettings, "passes", "N")
    add("--damping", DynamicsSettings, "joint_damping", "D")
    add("--after", DynamicsSettings, "after")
    add("--hold", DynamicsSettings, "hold", "S")
    add("--blend", DynamicsSettings, "blend", "S")
    help = "turn the effector as the target is turned, with optimal"
    add("--match-orientation", DynamicsSettings, "match_orientation", help=help)
    help = "come to the goal from above, or along one of its axes, with optimal (default: free)"
    add("--approach", DynamicsSettings, "approach", help=help)
    add("--approach-distance", DynamicsSettings, "approach_distance", "D")
    help = "begin at rest, not at the speed of the animation"
    add("--from-rest", DynamicsSettings, "keep_velocity", help=help)
    help = "keep the pose after the arrival even if the goal moves on"
    add("--no-follow", DynamicsSettings, "follow_goal", help=help)


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
    words.check_plots(options)
    if options.match_orientation and options.target is None:
        raise Misuse("--match-orientation needs --target, whose orientation it is")
    if options.method == "SMOOTHING" and (options.match_orientation or options.approach != "FREE"):
        raise Misuse("--match-orientation and --approach need --method optimal")
    words.check_once([options.bone, *(name for name, _ in options.hand)], "--hand", "give it once")
    if options.hand and options.method == "SMOOTHING":
        raise Misuse("--hand needs --method optimal")
    if options.palm and (options.tip or options.method == "SMOOTHING"):
        raise Misuse("--palm needs --method optimal and no --tip")
    bones = [options.bone, *(name for name, _ in options.hand)]
    unknown = next((name for name, _, _ in options.via if name and name not in bones), None)
    if unknown is not None:
        raise Misuse(f"--via names {unknown!r}, which does not reach; use one of {', '.join(bones)}")
    return dynamics_arguments.convert(options, console, FIELDS, reaching.REACHED, _reach, bone=options.bone)


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
    faces = reach_hands.faces(rig, bones, goals, options.palm_gap if options.palm else None)
    chosen = setting_flags.given(options, ReachSettings)
    if options.duration is None and options.range:
        chosen["duration"] = reaching.seconds(scene, last - first)
    request = ReachRequest(
        options.bone,
        faces[0].goal,
        first,
        options.base or "",
        options.tip,
        _POINTS[options.reach_with],
        vias=tuple(
            Waypoint(share, place, _hand(bones, name)) for name, share, place in sorted(options.via, key=_share)
        ),
        obstacles=body_obstacles.of_objects(rigs.find_target(scene, name)[0] for name in options.obstacle),
        others=tuple(zip(bones[1:], (face.goal for face in faces[1:]), strict=True)),
        normals=tuple(face.normal for face in faces) if options.palm else (),
        writer=key_arguments.writer(options),
        **chosen,
    )
    result = baking.work(reaching.start(scene, rig, request, baking.INTO[options.into]), console, "reaching")
    if job.output.suffix.lower() == ".glb":
        plays = extent if rigs.plays(rig) else (first, last)
        baking.trim(result.action, plays, int(result.keyed[0]), int(result.keyed[-1]))
    _fill(row, result)
    key_arguments.fill(row, request.writer)
    dynamics_arguments.plot(options, job, row, result.action, lambda: _curves(result))
    return result.action


def _curves(result: ReachResult) -> dict[str, np.ndarray]:
    """What plots show."""
    curves = {"frames": result.frames, "costs": result.costs, "path": result.path, "straight": result.straight}
    if len(result.paths) > 1:
        curves |= {"other_paths": np.array(result.paths[1:]), "other_straights": np.array(result.straights[1:])}
    return curves


def _fill(row: Row, result: ReachResult) -> None:
    row["frames"] = [int(result.keyed[0]), int(result.keyed[-1])]
    row["action"], row["chain"] = result.action.name, list(reversed(result.tree.bones))
    row["cost"], row["minimum_jerk_cost"] = result.cost, float(result.costs[0])
    row["costs"], row["effector_error"] = result.costs.tolist(), result.missed
    row["clearance"], row["softened"] = result.clearance, result.softened
    row["hand_errors"] = result.misses.tolist()
    row["warnings"] += [str(problem) for problem in result.warnings]
