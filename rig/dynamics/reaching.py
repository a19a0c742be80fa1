"""A reach: the effector moves from its position to a goal with the least change of torque.

`start` returns a generator, so that an operator can show progress and stop at any step: it yields the completed
fraction. However it ends, by return, error or `close`, either everything is baked or nothing has changed.
"""

import itertools
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ...lookat_pd import dynamics, rotation
from ...lookat_pd.dynamics.law import smooth_step
from ...lookat_pd.errors import RigError
from ...lookat_pd.message import Message
from ...lookat_pd.progress import subrange
from ...lookat_pd.rotation import Array
from ...lookat_pd.transitions import transition
from ..animation import actions
from ..animation.bake_options import check_frames
from ..animation.bake_transaction import BakeTransaction
from ..detection import bone_limits as limits
from ..detection import joint_chain as ik_chain
from ..detection.joint_chain import JointChain
from ..sampling import suspend, targets
from ..sampling.sampler import Sampler, Samples, run, sample_frames
from ..sampling.scene_time import key_range, seconds_per_frame
from ..sampling.targets import Target
from . import actuation, body_obstacles, masses, meshes
from . import articulation as tree
from .articulation import Articulation
from .body_obstacles import Ball, BodyPart
from .kept_results import KeptResults
from .reach_hands import ReachingHand
from .settings import BLEND, DAMPING, DISTANCE

REACHED = " reach"
AFTER = ("animation", "return", "hold")
_WEIGHED, _SAMPLED, _SOLVED = 0.1, 0.2, 0.9
"""Completed fractions after measuring masses, sampling and solving."""
_BEFORE, _AROUND = np.array([2.0, 1.0]), np.array([-1.0, 1.0])
"""Frames before the first one of a reach, and around the last one, that show how fast the bones and the goal are."""
_FAR = 1e12
_TOUCHED = 0.01
"""Depth [m] within an obstacle, which includes the thickness of the arm, above which it is reported."""


@dataclass(frozen=True)
class ReachRequest:
    """The settings of a reach. first: its first frame. duration: [s]. vias: waypoints, each with its fraction of the
    duration. damping: [N m s/rad] of every joint. limits: whether Blender's joint limits apply. keeps_velocity: whether
    the reach begins with the velocity of the animation, with the method "optimal". follows: whether the effector stays
    on the goal while its pose is held, where the goal moves relative to the body, and arrives with its velocity.
    matches: whether the effector takes the orientation of the goal. approach: from where it comes to the goal, one of
    APPROACH_ITEMS; distance: length of that line, in units of the scene. Both need the method "optimal". others:
    further effectors and their goals, which are reached at the same time, with the method "optimal" and no waypoints.

    What follows the arrival, if the animation goes on: after `hold` [s], for `after` "animation" a transition of
    `blend` [s] to the animation, for "return" a reach back to the pose at the start and then that transition; for
    "hold" the effector stays to the end of the animation.
    """

    effector: str
    goal: Target
    first: int
    duration: float
    length: int = 2
    base: str = ""
    at_tip: bool = False
    method: str = "optimal"
    passes: int = 50
    damping: float = DAMPING
    gravity: bool = True
    limits: bool = True
    vias: tuple[tuple[float, Target], ...] = ()
    after: str = "animation"
    hold: float = 0.0
    blend: float = BLEND
    avoids_body: bool = True
    obstacles: tuple[Ball, ...] = ()
    keeps_velocity: bool = True
    follows: bool = True
    matches: bool = False
    approach: str = "FREE"
    distance: float = DISTANCE
    others: tuple[tuple[str, Target], ...] = ()

    @property
    def hands(self) -> tuple[tuple[str, Target], ...]:
        """All hands and their goals."""
        return (self.effector, self.goal), *self.others


@dataclass(frozen=True)
class ReachResult:
    """The result of a bake. frames: (F,) of the reach. keyed: (K,), these and what follows the arrival. paths,
    straights: (F, 3) of each hand in the world, in the result and in the initial minimum-jerk reach; path, straight: of
    the first. costs: of each pass, starting with the minimum-jerk reach. cost: of the result. misses: distances (k,) of
    the hands from their goals in the world, as Blender evaluates them; missed: the largest. clearance: smallest
    distance [m] from an obstacle, negative within one; None without obstacles.
    """

    tree: Articulation
    action: bpy.types.Action
    frames: Array
    keyed: Array
    paths: tuple[Array, ...]
    straights: tuple[Array, ...]
    costs: Array
    cost: float
    misses: Array
    clearance: float | None

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
    def collision(self) -> Message | None:
        """What the animator should know if the arm touches an obstacle."""
        if self.clearance is None or self.clearance > -_TOUCHED:
            return None
        return Message(
            "The arm comes {depth:.0f} mm too close to the body or an obstacle; add a waypoint, or allow more bones.",
            depth=-1000.0 * self.clearance,
        )

    @property
    def saved(self) -> float:
        """Fraction by which the cost is below that of the straight path."""
        return 1.0 - self.cost / float(self.costs[0]) if self.costs[0] > 0.0 else 0.0


@dataclass(frozen=True)
class Plotted:
    """A reach for display in a panel; number: a unique one for each. cost, costs, paths, straights: as in
    `ReachResult`."""

    number: int
    cost: float
    costs: Array
    paths: tuple[Array, ...]
    straights: tuple[Array, ...]


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
    if not request.duration > 0.0:
        raise RigError(
            "The duration of the reach is {duration:g} s; set a duration above 0 s.", duration=request.duration
        )
    actions.check(armature, into)
    _check_hands(request)
    hands = []
    for bone, goal in request.hands:
        chain = ik_chain.resolve(
            armature,
            bone,
            length=request.length,
            base=request.base,
            at_tip=request.at_tip,
            turn_effector=request.matches,
        )
        if request.matches and goal.object is None:
            raise RigError("The goal is a point, which has no orientation; choose an object as the goal.")
        hands.append(ReachingHand(chain, goal, len(hands)))
    bones = _bones(hands)
    modes = {bone: armature.pose.bones[bone].rotation_mode for bone in bones}
    actions.check_curves(armature, modes, into)
    for hand in hands:
        for target in (*(hand.goal for hand in hands), *(target for _, target in request.vias)):
            _check_goal(hand.chain, target)
        for ball in request.obstacles:
            _check_obstacle(hand.chain, ball)
    return _work(scene, armature, hands, bones, request, into, enough)


def _check_hands(request: ReachRequest) -> None:
    """Raise RigError where several hands cannot reach together."""
    if not request.others:
        return
    names = [bone for bone, _ in request.hands]
    double = next((name for n, name in enumerate(names) if name in names[:n]), None)
    if double is not None:
        raise RigError("Bone '{bone}' is given twice as a hand of the reach; give it once.", bone=double)
    if request.method != "optimal":
        raise RigError("Several hands reach together with the method Optimal only; choose Optimal.")
    if request.vias:
        raise RigError("Waypoints guide one hand only; remove them, or let one hand reach.")


def _bones(hands: Sequence[ReachingHand]) -> tuple[str, ...]:
    """The bones that turn, those of the first hand first."""
    return tuple(dict.fromkeys(bone for hand in hands for bone in hand.chain.bones))


def _check_goal(chain: JointChain, goal: Target) -> None:
    item = goal.object
    if item is None:
        if not np.all(np.abs(goal.point or np.nan) < _FAR):
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
    request: ReachRequest,
    into: str,
    enough: Callable[[], bool],
) -> Generator[float, None, ReachResult]:
    dt = seconds_per_frame(scene)
    frames = request.first + np.arange(max(round(request.duration / dt), 2) + 1)
    keyed = np.concatenate((frames, _following(scene, armature, request, frames, into)))
    check_frames(request.first, float(keyed[-1]))
    weights = yield from subrange(meshes.weights(scene, armature), 0.0, _WEIGHED)
    unit = masses.metres(scene, armature)
    effectors = [hand.chain.effector for hand in hands]
    bones = dict.fromkeys((*tree.seen(armature, turning, weights.bones), *effectors))
    parts = body_obstacles.of_body(armature, turning) if request.avoids_body else ()
    bones |= dict.fromkeys(part.bone for part in parts)
    followed = [
        *(_with_axes(hand.goal) if _needs_axes(request) else hand.goal for hand in hands),
        *(target for _, target in request.vias),
        *(ball.target for ball in request.obstacles),
    ]
    with suspend.suspend_live(), ExitStack() as baking:
        with Sampler(scene, armature, tuple(bones), followed) as sampler:
            samples = yield from subrange(sample_frames(sampler, keyed), _WEIGHED, _SAMPLED)
            beside = run(sampler.sample([*(frames[0] - _BEFORE), *(frames[-1] + _AROUND)]))
            axes = _axes(sampler, request, hands, samples, len(frames)) if _needs_axes(request) else None
            body = tree.build(armature, sampler, samples, turning, weights, unit)
            solving = _solving(scene, hands, request, samples, beside, axes, len(frames), body, parts, enough)
            motion, rotations = yield from subrange(solving, _SAMPLED, _SOLVED)
            work = baking.enter_context(BakeTransaction(armature))
            for bone, (mode, values, raw) in body.values(samples, rotations).items():
                work.write(bone, mode, keyed, values, raw)
            seen = run(sampler.sample(frames[-1:].tolist()))
        action = work.commit(into, actions.baked_name(armature, into, REACHED))
    paths, straights = (
        tuple(hand.in_world(body, samples, lines[:, n]) for n, hand in enumerate(hands))
        for lines in (motion.path, motion.minimum_jerk)
    )
    costs = np.asarray(motion.costs)
    kept.add(armature, Plotted(next(_numbers), motion.cost, _finite(costs), paths, straights))
    misses = np.array([hand.missed(seen) for hand in hands])
    return ReachResult(body, action, frames, keyed, paths, straights, costs, motion.cost, misses, motion.clearance)


def _finite(costs: Array) -> Array:
    """Costs (p,) of which those without end, of passes that miss the goal, are as high as the highest of the others."""
    return np.minimum(costs, costs[np.isfinite(costs)].max())


def _solving(
    scene: bpy.types.Scene,
    hands: Sequence[ReachingHand],
    request: ReachRequest,
    samples: Samples,
    beside: Samples,
    axes: Array | None,
    count: int,
    body: Articulation,
    parts: Sequence[BodyPart],
    enough: Callable[[], bool],
) -> Generator[float, None, tuple[dynamics.Reach, Array]]:
    """The reach in the first `count` of the sampled frames, with paths (F, k, 3), and the local rotations (K, n, 4) in
    all of them.

    beside: samples of the frames _BEFORE its first and _AROUND its last one. axes: (k, K, 3, 3) of the goals in the
    world.
    """
    dt = seconds_per_frame(scene)
    duration = dt * (count - 1)
    pose = body.poses(samples)[0]
    given: dict[str, Any] = {
        "passes": request.passes,
        "gravity": body.gravity(scene, samples) if request.gravity else (0.0, 0.0, 0.0),
        "damping": request.damping,
        "limits": limits.read(body.armature, body.bones, body.fixed) if request.limits else None,
        "strength": actuation.shares(scene, body),
    }
    returns = request.after == "return" and len(samples.frames) > count

    def around(first: int) -> dynamics.Obstacles | None:
        frames, targets_before = slice(first, first + count), len(hands) + len(request.vias)
        return body_obstacles.sampled(body, samples, parts, request.obstacles, frames, targets_before)

    optimal = request.method == "optimal"
    before = _velocities(body.poses(beside)[: len(_BEFORE)], pose, dt) if request.keeps_velocity and optimal else None
    goals = [hand.goals(body, samples) for hand in hands]
    turned = None
    if axes is not None and request.matches:
        turned = [hand.orientations(body, samples, own) for hand, own in zip(hands, axes, strict=True)]
    wanted = []
    for n, hand in enumerate(hands):
        chased = None
        if request.follows and optimal:
            chased = hand.goal_velocity(body, beside, dt * float(np.ptp(_AROUND)))
        along = None
        if request.approach != "FREE":
            line = _approach(request, None if axes is None else axes[n], count - 1)
            along = hand.approach(body, samples, count - 1, line)
        orientation = None if turned is None else turned[n][count - 1]
        wanted.append(dynamics.Hand(hand.effector(body, samples), goals[n][count - 1], chased, orientation, along))
    there = _reaching(
        request, hands, samples, body, wanted, pose, duration, dt, obstacles=around(0), velocities=before, **given
    )
    motion = yield from subrange(_until(there, enough), 0.0, 0.5 if returns else 1.0)
    left = len(samples.frames) - count
    number = left if request.after == "hold" else min(round(request.hold / dt), left)
    held = np.repeat(motion.rotations[-1:], number, axis=0)
    if request.follows:
        after = slice(count, count + number)
        held = dynamics.follow_together(
            body.body,
            motion.rotations[-1],
            np.stack([places[after] for places in goals], axis=1),
            effectors=[hand.effector for hand in wanted],
            limits=given["limits"],
            orientations=None if turned is None else np.stack([own[after] for own in turned], axis=1),
        )
    moved = [motion.rotations, held]
    if returns:
        begin = np.concatenate(moved)[-3:]
        moves_on = any(hand.goal_velocity is not None for hand in wanted)
        back = _reaching(
            replace(request, vias=()),
            hands,
            samples,
            body,
            [dynamics.Hand(hand.effector, place) for hand, place in zip(wanted, motion.path[0], strict=True)],
            begin[-1],
            duration,
            dt,
            obstacles=around(count + len(held) - 1),
            velocities=_velocities(begin[:-1], begin[-1], dt) if moves_on else None,
            **given,
        )
        found = yield from subrange(_until(back, enough), 0.5, 1.0)
        moved.append(_ending(found.rotations, pose)[1:])
    made = np.concatenate(moved)[: len(samples.frames)]
    return motion, _joined(made, body.poses(samples), dt, request)


def _reaching(
    request: ReachRequest,
    hands: Sequence[ReachingHand],
    samples: Samples,
    body: Articulation,
    wanted: Sequence[dynamics.Hand],
    pose: Array,
    duration: float,
    dt: float,
    **given: Any,
) -> Generator[float, bool | None, dynamics.Reach]:
    """The reach of one hand or several, with paths (F, k, 3)."""
    if len(wanted) > 1:
        return (yield from dynamics.reaching_together(body.body, pose, wanted, duration, dt, **given))
    [hand], vias, steps = wanted, [], round(duration / dt)
    for n, (share, _) in enumerate(request.vias):
        k = round(share * steps)
        vias.append((k * dt, hands[0].in_base(body, samples, 1 + n)[k]))
    found = yield from dynamics.reaching(
        body.body,
        pose,
        hand.goal,
        duration,
        dt,
        effector=hand.effector,
        method=request.method,
        via=vias,
        goal_velocity=hand.goal_velocity,
        orientation=hand.orientation,
        approach=hand.approach,
        **given,
    )
    return replace(found, path=found.path[:, None], minimum_jerk=found.minimum_jerk[:, None])


def _needs_axes(request: ReachRequest) -> bool:
    return request.matches or request.approach not in ("FREE", "ABOVE")


def _with_axes(goal: Target) -> Target:
    """A goal of which the sampler has the axes: one with a point."""
    return goal if goal.object is None or goal.point is not None else replace(goal, point=(0.0, 0.0, 0.0))


def _axes(
    sampler: Sampler, request: ReachRequest, hands: Sequence[ReachingHand], samples: Samples, count: int
) -> Array:
    """The axes (k, K, 3, 3) of the goals in the world, as columns, from their arrival on."""
    found = np.tile(np.eye(3), (len(hands), len(samples.frames), 1, 1))
    turning = [hand for hand in hands if hand.goal.object is not None]
    if not turning:
        return found
    held = len(samples.frames) if request.matches and request.follows else count
    for k in range(count - 1, held):
        matrices = sampler.matrices(sampler.step(float(samples.frames[k])))
        for hand in turning:
            found[hand.slot, k] = rotation.to_matrix(rotation.from_matrix(matrices[hand.slot, :3, :3]))
    return found


def _approach(request: ReachRequest, axes: Array | None, k: int) -> Array:
    """The vector (3,) in the world along which an effector comes to a goal with these axes (K, 3, 3) at frame `k`."""
    side = np.array((0.0, 0.0, 1.0))
    if axes is not None and request.approach != "ABOVE":
        side = axes[k, :, "XYZ".index(request.approach[-1])] * (-1.0 if request.approach.startswith("NEG") else 1.0)
    return -request.distance * side


def _velocities(before: Array, pose: Array, dt: float) -> Array:
    """The velocities (n, 3) [rad/s] in a pose (n, 4) from those (2, n, 4) in the two frames before it, of second order:
    what follows the pose is replaced, and does not count."""
    earlier, later = rotation.log(rotation.multiply(rotation.inverse(pose), before))
    return (-4.0 * later + earlier) / (2.0 * dt)


def _ending(motion: Array, pose: Array) -> Array:
    """A motion (F, n, 4) that ends in a pose (n, 4): the difference is distributed smoothly over it."""
    part = smooth_step(np.linspace(0.0, 1.0, len(motion)))[0][:, None, None]
    left = rotation.log(rotation.multiply(rotation.inverse(motion[-1]), pose))
    return rotation.multiply(motion, rotation.exp(part * left))


def _joined(made: Array, animated: Array, dt: float, request: ReachRequest) -> Array:
    """The rotations (K, n, 4) of a motion `made` (M, n, 4) and what follows it in those `animated` (K, n, 4)."""
    if len(made) == len(animated):
        return made
    return np.concatenate((made, transition(made[-2:], animated[len(made) :], dt, request.blend)))


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
    if request.after == "hold":
        return np.arange(arrival + 1.0, np.floor(end) + 1.0)
    count = round(request.hold / dt) + int(np.ceil(request.blend / dt - 1e-6))
    count += len(frames) - 1 if request.after == "return" else 0
    return arrival + 1.0 + np.arange(max(count, 1))


def _until(
    steps: Generator[float, bool | None, dynamics.Reach], enough: Callable[[], bool]
) -> Generator[float, None, dynamics.Reach]:
    """All steps, or until they are enough."""
    stop = None
    while True:
        try:
            yield steps.send(stop)
        except StopIteration as end:
            return end.value
        stop = True if enough() else None
