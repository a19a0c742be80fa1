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
from .settings import BLEND, DAMPING, DISTANCE

REACHED = " reach"
AFTER = ("animation", "return", "hold")
_WEIGHED, _SAMPLED, _SOLVED = 0.1, 0.2, 0.9
"""Completed fractions after measuring masses, sampling and solving."""
_BEFORE, _AROUND = np.array([2.0, 1.0]), np.array([-1.0, 1.0])
"""Frames before the first one of a reach, and around the last one, that show how fast the bones and the goal are."""
_STILL = 1e-4
"""Speed [m/s] below which the goal is at rest."""
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
    APPROACH_ITEMS; distance: length of that line, in units of the scene. Both need the method "optimal".

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


@dataclass(frozen=True)
class ReachResult:
    """The result of a bake. frames: (F,) of the reach. keyed: (K,), these and what follows the arrival. path, straight:
    (F, 3) of the effector in the world, in the result and in the initial minimum-jerk reach. costs: of each pass,
    starting with the minimum-jerk reach. cost: of the result. missed: distance from the goal in the world, as Blender
    evaluates it. clearance: smallest distance [m] from an obstacle, negative within one; None without obstacles.
    """

    tree: Articulation
    action: bpy.types.Action
    frames: Array
    keyed: Array
    path: Array
    straight: Array
    costs: Array
    cost: float
    missed: float
    clearance: float | None

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
    """The last reach for display in a panel; number: a unique one for each. costs, path, straight: as in
    `ReachResult`."""

    number: int
    costs: Array
    path: Array
    straight: Array


_last: dict[int, Plotted] = {}
"""A cache by armature."""
_numbers = itertools.count()


def seconds(scene: bpy.types.Scene, frames: float) -> float:
    """The duration [s] of a number of frames."""
    return frames * seconds_per_frame(scene)


def last(armature: bpy.types.Object) -> Plotted | None:
    """The last reach of this armature; None if there was none since Blender was started."""
    return _last.get(armature.session_uid)


def forget() -> None:
    """Clear the cache."""
    _last.clear()


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
    chain = ik_chain.resolve(
        armature,
        request.effector,
        length=request.length,
        base=request.base,
        at_tip=request.at_tip,
        turn_effector=request.matches,
    )
    if request.matches and request.goal.object is None:
        raise RigError("The goal is a point, which has no orientation; choose an object as the goal.")
    modes = {bone: armature.pose.bones[bone].rotation_mode for bone in chain.bones}
    actions.check_curves(armature, modes, into)
    for target in (request.goal, *(target for _, target in request.vias)):
        _check_goal(chain, target)
    for ball in request.obstacles:
        _check_obstacle(chain, ball)
    return _work(scene, chain, request, into, enough)


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
    scene: bpy.types.Scene, chain: JointChain, request: ReachRequest, into: str, enough: Callable[[], bool]
) -> Generator[float, None, ReachResult]:
    armature, dt = chain.armature, seconds_per_frame(scene)
    frames = request.first + np.arange(max(round(request.duration / dt), 2) + 1)
    keyed = np.concatenate((frames, _following(scene, armature, request, frames, into)))
    check_frames(request.first, float(keyed[-1]))
    weights = yield from subrange(meshes.weights(scene, armature), 0.0, _WEIGHED)
    unit = masses.metres(scene, armature)
    bones = dict.fromkeys((*tree.seen(armature, chain.bones, weights.bones), chain.effector))
    parts = body_obstacles.of_body(armature, chain.bones) if request.avoids_body else ()
    bones |= dict.fromkeys(part.bone for part in parts)
    balls = request.obstacles
    goal = request.goal
    if _needs_axes(request) and goal.object is not None:
        # The sampler has the axes of a target with a point.
        goal = replace(goal, point=(0.0, 0.0, 0.0))
    followed = [goal, *(target for _, target in request.vias), *(ball.target for ball in balls)]
    with suspend.suspend_live(), ExitStack() as baking:
        with Sampler(scene, armature, tuple(bones), followed) as sampler:
            samples = yield from subrange(sample_frames(sampler, keyed), _WEIGHED, _SAMPLED)
            beside = run(sampler.sample([*(frames[0] - _BEFORE), *(frames[-1] + _AROUND)]))
            axes = _axes(sampler, request, samples, len(frames)) if _needs_axes(request) else None
            body = tree.build(armature, sampler, samples, chain.bones, weights, unit)
            solving = _solving(scene, chain, request, samples, beside, axes, len(frames), body, parts, enough)
            motion, rotations = yield from subrange(solving, _SAMPLED, _SOLVED)
            work = baking.enter_context(BakeTransaction(armature))
            for bone, (mode, values, raw) in body.values(samples, rotations).items():
                work.write(bone, mode, keyed, values, raw)
            seen = run(sampler.sample(frames[-1:].tolist()))
        action = work.commit(into, actions.baked_name(armature, into, REACHED))
    effector = seen.rotations[0, seen.bones.index(chain.effector)], seen.positions[0, seen.bones.index(chain.effector)]
    end = effector[1] + rotation.rotate(effector[0], _tip(chain))
    missed = seen.worlds[0, :3, :3] @ (end - seen.targets[0, 0])
    path, straight = (_in_world(body, samples, line) for line in (motion.path, motion.minimum_jerk))
    costs = np.asarray(motion.costs)
    _last[armature.session_uid] = Plotted(next(_numbers), costs, path, straight)
    error = float(np.linalg.norm(missed))
    return ReachResult(body, action, frames, keyed, path, straight, costs, motion.cost, error, motion.clearance)


def _solving(
    scene: bpy.types.Scene,
    chain: JointChain,
    request: ReachRequest,
    samples: Samples,
    beside: Samples,
    axes: Array | None,
    count: int,
    body: Articulation,
    parts: Sequence[BodyPart],
    enough: Callable[[], bool],
) -> Generator[float, None, tuple[dynamics.Reach, Array]]:
    """The reach in the first `count` of the sampled frames, and the local rotations (K, n, 4) in all of them.

    beside: samples of the frames _BEFORE its first and _AROUND its last one. axes: (K, 3, 3) of the goal in the world.
    """
    dt = seconds_per_frame(scene)
    duration = dt * (count - 1)
    pose = body.poses(samples)[0]
    last = samples.bones.index(body.bones[-1])
    row = samples.bones.index(chain.effector)
    point = samples.positions[0, row] + rotation.rotate(samples.rotations[0, row], _tip(chain))
    arm = rotation.rotate(rotation.inverse(samples.rotations[0, last]), point - samples.positions[0, last])
    vias = []
    for n, (share, _) in enumerate(request.vias):
        k = round(share * (count - 1))
        vias.append((k * dt, body.in_base(samples, samples.targets[n + 1, k], k)))
    given: dict[str, Any] = {
        "effector": (len(body.bones) - 1, body.unit * arm),
        "method": request.method,
        "passes": request.passes,
        "gravity": body.gravity(scene, samples) if request.gravity else (0.0, 0.0, 0.0),
        "damping": request.damping,
        "limits": limits.read(chain.armature, body.bones, body.fixed) if request.limits else None,
        "strength": actuation.shares(scene, body),
    }
    goal = body.in_base(samples, samples.targets[0, count - 1], count - 1)
    returns = request.after == "return" and len(samples.frames) > count

    def around(first: int) -> dynamics.Obstacles | None:
        frames = slice(first, first + count)
        return body_obstacles.sampled(body, samples, parts, request.obstacles, frames, 1 + len(request.vias))

    optimal = request.method == "optimal"
    before = _velocities(body.poses(beside)[: len(_BEFORE)], pose, dt) if request.keeps_velocity and optimal else None
    chased = _relative_speed(body, beside, dt) if request.follows and optimal else None
    turned = body.turned_in_base(samples, axes) if axes is not None and request.matches else None
    along = _approach(body, samples, request, axes, count - 1) if request.approach != "FREE" else None
    there = dynamics.reaching(
        body.body,
        pose,
        goal,
        duration,
        dt,
        via=vias,
        obstacles=around(0),
        velocities=before,
        goal_velocity=chased,
        orientation=None if turned is None else turned[count - 1],
        approach=along,
        **given,
    )
    motion = yield from subrange(_until(there, enough), 0.0, 0.5 if returns else 1.0)
    left = len(samples.frames) - count
    number = left if request.after == "hold" else min(round(request.hold / dt), left)
    held = np.repeat(motion.rotations[-1:], number, axis=0)
    if request.follows:
        path = [body.in_base(samples, samples.targets[0, k], k) for k in range(count, count + number)]
        held = dynamics.follow(
            body.body,
            motion.rotations[-1],
            np.reshape(path, (-1, 3)),
            effector=given["effector"],
            limits=given["limits"],
            orientations=None if turned is None else turned[count : count + number],
        )
    moved = [motion.rotations, held]
    if returns:
        begin = np.concatenate(moved)[-3:]
        obstacles = around(count + len(held) - 1)
        back = dynamics.reaching(
            body.body,
            begin[-1],
            motion.path[0],
            duration,
            dt,
            obstacles=obstacles,
            velocities=_velocities(begin[:-1], begin[-1], dt) if chased is not None else None,
            **given,
        )
        found = yield from subrange(_until(back, enough), 0.5, 1.0)
        moved.append(_ending(found.rotations, pose)[1:])
    made = np.concatenate(moved)[: len(samples.frames)]
    return motion, _joined(made, body.poses(samples), dt, request)


def _needs_axes(request: ReachRequest) -> bool:
    return request.matches or request.approach not in ("FREE", "ABOVE")


def _axes(sampler: Sampler, request: ReachRequest, samples: Samples, count: int) -> Array:
    """The axes (K, 3, 3) of the goal in the world, as columns, from its arrival on."""
    found = np.tile(np.eye(3), (len(samples.frames), 1, 1))
    if request.goal.object is None:
        return found
    held = len(found) if request.matches and request.follows else count
    for k in range(count - 1, held):
        matrix = sampler.matrices(sampler.step(float(samples.frames[k])))[0]
        found[k] = rotation.to_matrix(rotation.from_matrix(matrix[:3, :3]))
    return found


def _approach(body: Articulation, samples: Samples, request: ReachRequest, axes: Array | None, k: int) -> Array:
    """The vector (3,) [m] in the frame of the base along which the effector comes to the goal at frame `k`."""
    side = np.array((0.0, 0.0, 1.0))
    if axes is not None and request.approach != "ABOVE":
        side = axes[k, :, "XYZ".index(request.approach[-1])] * (-1.0 if request.approach.startswith("NEG") else 1.0)
    local = np.linalg.solve(samples.worlds[k, :3, :3], -request.distance * side)
    return body.unit * rotation.rotate(rotation.inverse(body.base_pose(samples)[0][k]), local)


def _velocities(before: Array, pose: Array, dt: float) -> Array:
    """The velocities (n, 3) [rad/s] in a pose (n, 4) from those (2, n, 4) in the two frames before it, of second order:
    what follows the pose is replaced, and does not count."""
    earlier, later = rotation.log(rotation.multiply(rotation.inverse(pose), before))
    return (-4.0 * later + earlier) / (2.0 * dt)


def _relative_speed(body: Articulation, beside: Samples, dt: float) -> Array | None:
    """The velocity (3,) [m/s] of the goal relative to the base on arrival; None where it is at rest."""
    places = [body.in_base(beside, beside.targets[0, k], k) for k in range(len(_BEFORE), len(beside.frames))]
    speed = (places[-1] - places[0]) / (dt * (_AROUND[-1] - _AROUND[0]))
    return speed if np.linalg.norm(speed) > _STILL else None


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


def _tip(chain: JointChain) -> Array:
    """The point of the effector in its own frame, in units of the armature."""
    length = chain.armature.data.bones[chain.effector].length if chain.at_tip else 0.0
    return np.array((0.0, length, 0.0))


def _in_world(body: Articulation, samples: Samples, path: Array) -> Array:
    """Points (F, 3) [m] in the frame of the base, at the first F frames, in world space."""
    orientations, at = (part[: len(path)] for part in body.base_pose(samples))
    local = at + rotation.rotate(orientations, path / body.unit)
    worlds = samples.worlds[: len(path)]
    return (worlds[:, :3, :3] @ local[..., None])[..., 0] + worlds[:, :3, 3]
