"""A reach: the effector moves from its position to a goal with the least change of torque.

`start` returns a generator, so that an operator can show progress and stop at any step: it yields the completed
fraction. However it ends, by return, error or `close`, either everything is baked or nothing has changed.
"""

import itertools
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...lookat_pd import dynamics, rotation
from ...lookat_pd.checks import repeated
from ...lookat_pd.errors import LookAtError, OutOfReach, RigError
from ...lookat_pd.message import Message
from ...lookat_pd.progress import subrange
from ...lookat_pd.rotation import Array
from ..animation import actions
from ..animation.bake_options import check_frames
from ..animation.bake_transaction import BakeTransaction
from ..detection import body_joints, joint_chain, limb_controls, limbs, palms
from ..detection.joint_chain import JointChain
from ..sampling import suspend, targets
from ..sampling.sampler import Sampler, Samples, run, sample_frames
from ..sampling.scene_time import key_range, seconds_per_frame
from ..sampling.targets import Target
from . import articulation as tree
from . import body_obstacles, bone_attachment, masses, meshes, reach_hands
from .articulation import Articulation
from .body_obstacles import Ball, BodyPart
from .goal_limbs import GoalLimb
from .kept_results import KeptResults
from .reach_hands import ReachingHand
from .reach_on_controls import ReachOnControls, ReachWriter
from .reach_request import ReachRequest
from .reach_solving import AROUND, BEFORE, TOUCHED, Collisions, ReachSolving

REACHED = " reach"
_WEIGHED, _SAMPLED, _BUILT, _SOLVED = 0.1, 0.2, 0.25, 0.9
"""Completed fractions after measuring masses, sampling and solving."""
_MISSED = 1e-3
"""Distance [m] from its goal at which it is said that a hand misses it."""


@dataclass(frozen=True)
class ReachResult:
    """The result of a bake of a reach."""

    tree: Articulation
    action: bpy.types.Action
    frames: Array
    """(F,) frames of the reach."""
    keyed: Array
    """(K,) keyed frames: these, and those after the arrival."""
    paths: tuple[Array, ...]
    """(F, 3) path of each hand in the world."""
    straights: tuple[Array, ...]
    """(F, 3) path of each hand in the initial minimum-jerk reach."""
    costs: Array
    """Costs of each pass, starting with the minimum-jerk reach."""
    cost: float
    """Cost of the result."""
    misses: Array
    """Distances (k,) of the hands from their goals in the world, as Blender evaluates them."""
    clearance: float | None
    """Smallest distance [m] from an obstacle, negative within one; None without obstacles. That of the reach and of the
    one back."""
    crossed: tuple[int, ...] = ()
    """Frames in which two arms are within each other, of the reach and of the one back."""
    scale: float = 1.0
    """Metres of a unit of the scene."""
    softened: float = 0.0
    """Largest distance by which a soft reach leaves a hand before its goal."""

    @property
    def path(self) -> Array:
        return self.paths[0]

    @property
    def straight(self) -> Array:
        return self.straights[0]

    @property
    def missed(self) -> float:
        return float(self.misses.max())

    @property
    def warnings(self) -> list[Message]:
        """What the animator should know."""
        found = (self.held_back, self.before_goal, self.collision, self.crossing)
        return [warning for warning in found if warning is not None]

    @property
    def held_back(self) -> Message | None:
        """What the animator should know if a hand does not come to its goal."""
        if (self.missed - self.softened) * self.scale < _MISSED:
            return None
        return Message(
            "The hand comes no nearer to its goal than {distance:.1f} mm, because constraints or limits of its limb "
            "hold it back; mute them, or move the goal.",
            distance=1000.0 * self.missed * self.scale,
        )

    @property
    def before_goal(self) -> Message | None:
        """What the animator should know if an arm would have to become straight."""
        if self.softened * self.scale < _MISSED:
            return None
        return Message(
            "The hand stays {distance:.1f} mm before its goal so that the arm does not become straight; move the goal "
            "closer, allow more bones, or set Soft Reach to 0.",
            distance=1000.0 * self.softened * self.scale,
        )

    @property
    def collision(self) -> Message | None:
        """What the animator should know if the arm touches an obstacle."""
        if self.clearance is None or self.clearance > -TOUCHED:
            return None
        return Message(
            "The arm comes {depth:.0f} mm too close to the body or an obstacle; add a waypoint, or allow more bones.",
            depth=-1000.0 * self.clearance,
        )

    @property
    def crossing(self) -> Message | None:
        """What the animator should know if the arms pass through each other."""
        if not self.crossed:
            return None
        return Message(
            "The arms come through each other at frames {first} to {last}; add a waypoint for one hand, or exchange "
            "the goals.",
            first=self.crossed[0],
            last=self.crossed[-1],
        )

    @property
    def saved(self) -> float:
        """Fraction by which the cost is below that of the straight path."""
        return 1.0 - self.cost / float(self.costs[0]) if self.costs[0] > 0.0 else 0.0


@dataclass(frozen=True)
class Plotted:
    """A reach for display in a panel."""

    number: int
    """A unique number for each."""
    cost: float
    """As in `ReachResult`."""
    costs: Array
    """As in `ReachResult`."""
    paths: tuple[Array, ...]
    """As in `ReachResult`."""
    straights: tuple[Array, ...]
    """As in `ReachResult`."""


kept: KeptResults[Plotted] = KeptResults()
_numbers = itertools.count()


def seconds(scene: bpy.types.Scene, frames: float) -> float:
    """The duration [s] of a number of frames."""
    return frames * seconds_per_frame(scene)


def start(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    request: ReachRequest,
    into: str = "NEW",
    enough: Callable[[], bool] = lambda: False,
) -> Generator[float, None, ReachResult]:
    """Check the request and return the generator. Raises LookAtError.

    enough: called between two passes; once it returns True, the best pass so far is used.
    """
    leans = request.lean and not request.base and request.length != joint_chain.WHOLE
    work = _started(scene, armature, request, into, enough, may_lean=leans)
    return _leaning(work, scene, armature, request, into, enough) if leans else work


def _leaning(
    work: Generator[float, None, ReachResult],
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    request: ReachRequest,
    into: str,
    enough: Callable[[], bool],
) -> Generator[float, None, ReachResult]:
    """The reach of the arms alone or, if they are too short, with the torso."""
    try:
        return (yield from work)
    except OutOfReach:
        torso = _torso(armature, request)
    if torso:
        try:
            return (yield from _started(scene, armature, request, into, enough, torso=torso))
        except OutOfReach:
            raise
        except LookAtError:
            # The torso of this rig cannot turn with the arm.
            pass
    return (yield from _started(scene, armature, request, into, enough))


def _torso(armature: bpy.types.Object, request: ReachRequest) -> str:
    """The lowest bone of the trunk above the hips on which all arms of a reach hang; "" if there is none."""
    try:
        legs = {name for line in limbs.limb_lines(armature)[1] for name in line}
    except LookAtError:
        return ""
    lines = []
    for bone, _ in request.hands:
        hand = armature.pose.bones[reach_hands.hand_of(armature, bone)]
        above = [item.name for item in hand.parent_recursive if not joint_chain.is_mechanism(item)]
        lines.append([name for name in above if body_joints.detected(armature, name).part.id == "spine"])
    # What the legs hang on does not lean.
    leans = [name for name in lines[0] if all(name in line for line in lines)]
    leans = [name for name in leans if not legs & {bone.name for bone in armature.pose.bones[name].children_recursive}]
    return leans[-1] if leans else ""


def _tweaks(armature: bpy.types.Object, hand: str) -> list[str]:
    """The bones of a generated rig above a hand that bend what is drawn and do not turn the trunk."""
    if not limb_controls.is_generated(armature):
        return []
    turning = limb_controls.line(armature, hand)
    return [bone.name for bone in armature.pose.bones[hand].parent_recursive if bone.name not in turning]


def _started(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    request: ReachRequest,
    into: str,
    enough: Callable[[], bool],
    *,
    torso: str = "",
    may_lean: bool = False,
) -> Generator[float, None, ReachResult]:
    """As `start`, with the chains that the request names, or with those that begin with `torso`. may_lean: raise
    OutOfReach where the chains come to their goals only if they become straight."""
    if not request.duration > 0.0:
        raise RigError(
            "The duration of the reach is {duration:g} s; set a duration above 0 s.", duration=request.duration
        )
    actions.check(armature, into)
    hands = []
    for bone, goal in request.hands:
        chain = reach_hands.chain(
            armature,
            bone,
            length=request.length,
            base=torso or request.base,
            at_tip=request.at_tip,
            turn_effector=request.match_orientation or bool(request.normals),
            skipped=_tweaks(armature, reach_hands.hand_of(armature, bone)) if torso else (),
        )
        if request.match_orientation and goal.object is None:
            raise RigError("The goal is a point, which has no orientation; choose an object as the goal.")
        hand = chain.effector
        palm = palms.find(armature, hand, reach_hands.counterpart(armature, hand)) if request.normals else None
        end = None
        if palm is None and not chain.at_tip:
            end = reach_hands.end_of(armature, hand, request.point)
        hands.append(ReachingHand(chain, goal, len(hands), palm, end))
    _check_hands(request, [hand.chain.effector for hand in hands])
    bones = _bones(hands)
    modes = {bone: armature.pose.bones[bone].rotation_mode for bone in bones}
    actions.check_curves(armature, modes, into)
    limbs = reach_hands.limbs_of(armature, bones)
    for limb in limbs:
        limb.check(armature, into)
    for hand in hands:
        for target in (*(hand.goal for hand in hands), *(via.target for via in request.waypoints)):
            _check_goal(hand.chain, target)
        for ball in request.obstacles:
            _check_obstacle(hand.chain, ball)
    return _work(scene, armature, hands, bones, limbs, request, into, enough, may_lean=may_lean, leans=bool(torso))


def _check_hands(request: ReachRequest, names: Sequence[str]) -> None:
    """Raise RigError where several hands, of these names, cannot reach together."""
    if not request.others:
        return
    double = repeated(names)
    if double is not None:
        raise RigError("Bone '{bone}' is given twice as a hand of the reach; give it once.", bone=names[double])
    if request.method != "OPTIMAL":
        raise RigError("Several hands reach together with the method Optimal only; choose Optimal.")


def _bones(hands: Sequence[ReachingHand]) -> tuple[str, ...]:
    """The bones that turn, those of the first hand first."""
    return tuple(dict.fromkeys(bone for hand in hands for bone in hand.chain.bones))


def _check_goal(chain: JointChain, goal: Target) -> None:
    item = goal.object
    if item is None:
        if not np.all(np.abs(goal.point or np.nan) < targets.FARTHEST):
            raise RigError("The goal {point} is not finite; enter three numbers.", point=goal.point)
        return
    targets.check_exists(chain.armature, item, goal.bone)
    if targets.rides_on(item, goal.bone, chain.armature, (*chain.joints, chain.effector)):
        raise RigError(
            "The goal '{goal}' moves with the chain of the reach; choose a goal outside the chain.", goal=goal.label
        )


def _check_obstacle(chain: JointChain, ball: Ball) -> None:
    item = ball.target.object
    if item is not None and targets.rides_on(item, "", chain.armature, (*chain.joints, chain.effector)):
        raise RigError(
            "Obstacle '{obstacle}' moves with the chain of the reach; remove it from the collection.",
            obstacle=item.name,
        )


def _work(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    hands: Sequence[ReachingHand],
    turning: tuple[str, ...],
    limbs: Sequence[GoalLimb],
    request: ReachRequest,
    into: str,
    enough: Callable[[], bool],
    *,
    may_lean: bool,
    leans: bool,
) -> Generator[float, None, ReachResult]:
    dt = seconds_per_frame(scene)
    frames = request.first + np.arange(max(round(request.duration / dt), 2) + 1)
    keyed = np.concatenate((frames, _following(scene, armature, request, frames, into)))
    check_frames(request.first, float(keyed[-1]))
    weights = yield from subrange(meshes.weights(scene, armature), 0.0, _WEIGHED)
    unit = masses.metres(scene, armature)
    effectors = [hand.chain.effector for hand in hands]
    posed = [name for limb in limbs for name in limb.held if name in turning]
    # Of a trunk that leans only the pelvis stays, in which its lowest bones are.
    parts = body_obstacles.of_body(armature, turning) if request.avoid_body and not leans else ()
    if request.avoid_body:
        request = replace(request, obstacles=(*request.obstacles, *reach_hands.taken([hand.goal for hand in hands])))
    seen = tree.seen(armature, turning, weights.bones, posed)
    bones = _sampled(seen, hands, limbs, parts)
    followed = _followed(request, hands)
    with suspend.suspend_live(), ExitStack() as baking:
        with Sampler(scene, armature, bones, followed, located=bool(limbs)) as sampler:
            samples = yield from subrange(sample_frames(sampler, keyed), _WEIGHED, _SAMPLED)
            beside = run(sampler.sample([*(frames[0] - BEFORE), *(frames[-1] + AROUND)]))
            axes = _axes(sampler, request, hands, samples, len(frames)) if _needs_axes(request) else None
            building = tree.building(armature, sampler, samples, turning, weights, unit, posed=posed)
            body = yield from subrange(building, _SAMPLED, _BUILT)
            work = baking.enter_context(BakeTransaction(armature))

            whole = len(posed) == len(turning)
            writer = ReachWriter(work, sampler, samples, body, limbs, keyed, are_posed=whole)
            parts = tuple(part for part in parts if part.bone not in body.moving)
            thickness = body.unit * body_obstacles.thickness([hand.chain for hand in hands])
            solving = ReachSolving(
                scene,
                hands,
                request,
                samples,
                beside,
                axes,
                len(frames),
                body,
                parts,
                thickness if request.avoid_body else 0.0,
                enough,
                may_lean,
                leans,
            )
            plain = bone_attachment.is_plain(armature, (*turning, *effectors))
            found = yield from subrange(ReachOnControls(solving, writer).solve(plain=plain), _BUILT, _SOLVED)
        action = work.commit(into, actions.baked_name(armature, into, REACHED), request.writer)
    return _result(solving, action, frames, *found)


def _result(
    solving: ReachSolving,
    action: bpy.types.Action,
    frames: Array,
    motion: dynamics.Reach,
    misses: Array,
    contact: Collisions,
) -> ReachResult:
    """What there is to report of a reach, which is kept for the plot."""
    body, samples = solving.body, solving.samples
    costs = np.asarray(motion.costs)
    paths, straights = (
        tuple(hand.in_world(body, samples, lines[:, n]) for n, hand in enumerate(solving.hands))
        for lines in (motion.path, motion.minimum_jerk)
    )
    kept.add(body.armature, Plotted(next(_numbers), motion.cost, _finite(costs), paths, straights))
    return ReachResult(
        body,
        action,
        frames,
        samples.frames,
        paths,
        straights,
        costs,
        motion.cost,
        misses,
        contact.clearance,
        contact.crossed,
        solving.scene.unit_settings.scale_length,
        float(solving.softened.max()),
    )


def _sampled(
    seen: Iterable[str], hands: Sequence[ReachingHand], limbs: Sequence[GoalLimb], parts: Sequence[BodyPart]
) -> tuple[str, ...]:
    """The bones that must be known. seen: those of the body that reaches."""
    of_hands = (*(hand.chain.effector for hand in hands), *(name for hand in hands for name in hand.seen))
    of_limbs = (name for limb in limbs for name in limb.sampled)
    return tuple(dict.fromkeys((*seen, *of_hands, *of_limbs, *(part.bone for part in parts))))


def _followed(request: ReachRequest, hands: Sequence[ReachingHand]) -> list[Target]:
    """What is sampled besides the bones: goals, waypoints and obstacles, in this order."""
    return [
        *(_with_axes(hand.goal) if _needs_axes(request) else hand.goal for hand in hands),
        *(via.target for via in request.waypoints),
        *(place for ball in request.obstacles for place in ball.targets),
    ]


def _finite(costs: Array) -> Array:
    """Costs (p,) of which those without end, of passes that miss the goal, are as high as the highest of the others."""
    return np.minimum(costs, costs[np.isfinite(costs)].max())


def _needs_axes(request: ReachRequest) -> bool:
    return request.turns or request.approach not in ("FREE", "ABOVE")


def _with_axes(goal: Target) -> Target:
    """A goal of which the sampler has the axes: one with a point."""
    return goal if goal.object is None or goal.point is not None else replace(goal, point=(0.0, 0.0, 0.0))


def _axes(
    sampler: Sampler, request: ReachRequest, hands: Sequence[ReachingHand], samples: Samples, count: int
) -> Array:
    """The axes (k, K, 3, 3) of the goals in the world, as columns, from their arrival on."""
    axes = np.tile(np.eye(3), (len(hands), len(samples.frames), 1, 1))
    turning = [hand for hand in hands if hand.goal.object is not None]
    if not turning:
        return axes
    held = len(samples.frames) if request.turns and request.follow_goal else count
    for k in range(count - 1, held):
        matrices = sampler.matrices(sampler.step(float(samples.frames[k])))
        for hand in turning:
            axes[hand.slot, k] = rotation.to_matrix(rotation.from_matrix(matrices[hand.slot, :3, :3]))
    return axes


def _following(
    scene: bpy.types.Scene, armature: bpy.types.Object, request: ReachRequest, frames: Array, into: str
) -> Array:
    """The frames after those of a reach that it changes as well: none if the animation ends before."""
    data, dt, arrival = armature.animation_data, seconds_per_frame(scene), float(frames[-1])
    action = None if data is None else data.action
    plays = data is not None and any(not track.mute and track.strips for track in data.nla_tracks)
    end = arrival if action is None else float(action.curve_frame_range[1])
    if into == "LAYER" or plays:
        # The layer below plays on.
        end = max(end, float(key_range(scene, scene.frame_start, scene.frame_end)[1]))
    if end <= arrival:
        return np.zeros(0)
    if request.after == "HOLD":
        # A clip may end between two frames: its last pose would come back after that.
        return np.arange(arrival + 1.0, np.ceil(end) + 1.0)
    count = round(request.hold / dt) + int(np.ceil(request.blend / dt - 1e-6))
    count += len(frames) - 1 if request.after == "RETURN" else 0
    return arrival + 1.0 + np.arange(max(count, 1))
