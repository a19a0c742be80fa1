"""A reach: the effector moves from its position to a goal with the least change of torque.

`start` returns a generator, so that an operator can show progress and stop at any step: it yields the completed
fraction. However it ends, by return, error or `close`, either everything is baked or nothing has changed.
"""

import itertools
from collections.abc import Callable, Generator
from contextlib import ExitStack
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import dynamics, rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.progress import subrange
from ...lookat_pd.rotation import Array
from ..animation import actions
from ..animation.bake_options import check_frames
from ..animation.bake_transaction import BakeTransaction
from ..detection import bone_limits as limits
from ..detection import joint_chain as ik_chain
from ..detection.joint_chain import JointChain
from ..sampling import suspend, targets
from ..sampling.sampler import Sampler, Samples, run, sample_frames
from ..sampling.scene_time import seconds_per_frame
from ..sampling.targets import Target
from . import actuation, masses, meshes
from . import articulation as tree
from .articulation import Articulation

REACHED = " reach"
_WEIGHED, _SAMPLED, _SOLVED = 0.1, 0.2, 0.9
"""Completed fractions after measuring masses, sampling and solving."""
_FAR = 1e12


@dataclass(frozen=True)
class ReachRequest:
    """The settings of a reach. first: its first frame. duration: [s]. vias: waypoints, each with its fraction of the
    duration. damping: [N m s/rad] of every joint. limits: whether Blender's joint limits apply."""

    effector: str
    goal: Target
    first: int
    duration: float
    length: int = 2
    base: str = ""
    at_tip: bool = False
    method: str = "smoothing"
    passes: int = 50
    damping: float = 0.0
    gravity: bool = True
    limits: bool = True
    vias: tuple[tuple[float, Target], ...] = ()


@dataclass(frozen=True)
class ReachResult:
    """The result of a bake. frames: (F,). path, straight: (F, 3) of the effector in the world, in the result and in the
    initial minimum-jerk reach. costs: of each pass, starting with the minimum-jerk reach. cost: of the result. missed:
    distance from the goal in the world, as Blender evaluates it."""

    tree: Articulation
    action: bpy.types.Action
    frames: Array
    path: Array
    straight: Array
    costs: Array
    cost: float
    missed: float

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
        armature, request.effector, length=request.length, base=request.base, at_tip=request.at_tip
    )
    modes = {bone: armature.pose.bones[bone].rotation_mode for bone in chain.joints}
    actions.check_curves(armature, modes, into)
    for target in (request.goal, *(target for _, target in request.vias)):
        _check_goal(chain, target)
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


def _work(
    scene: bpy.types.Scene, chain: JointChain, request: ReachRequest, into: str, enough: Callable[[], bool]
) -> Generator[float, None, ReachResult]:
    armature, dt = chain.armature, seconds_per_frame(scene)
    check_frames(request.first, request.first + request.duration / dt)
    frames = request.first + np.arange(max(round(request.duration / dt), 2) + 1)
    weights = yield from subrange(meshes.weights(scene, armature), 0.0, _WEIGHED)
    unit = masses.metres(scene, armature)
    bones = dict.fromkeys((*tree.seen(armature, chain.joints, weights.bones), chain.effector))
    followed = [request.goal, *(target for _, target in request.vias)]
    with suspend.suspend_live(), ExitStack() as baking:
        with Sampler(scene, armature, tuple(bones), followed) as sampler:
            samples = yield from subrange(sample_frames(sampler, frames), _WEIGHED, _SAMPLED)
            body = tree.build(armature, sampler, samples, chain.joints, weights, unit)
            motion = yield from subrange(_solving(scene, chain, request, samples, body, enough), _SAMPLED, _SOLVED)
            work = baking.enter_context(BakeTransaction(armature))
            for bone, (mode, values, raw) in body.values(samples, motion.rotations).items():
                work.write(bone, mode, frames, values, raw)
            seen = run(sampler.sample(frames[-1:].tolist()))
        action = work.commit(into, actions.baked_name(armature, into, REACHED))
    effector = seen.rotations[0, seen.bones.index(chain.effector)], seen.positions[0, seen.bones.index(chain.effector)]
    end = effector[1] + rotation.rotate(effector[0], _tip(chain))
    missed = seen.worlds[0, :3, :3] @ (end - seen.targets[0, 0])
    path, straight = (_in_world(body, samples, line) for line in (motion.path, motion.minimum_jerk))
    costs = np.asarray(motion.costs)
    _last[armature.session_uid] = Plotted(next(_numbers), costs, path, straight)
    return ReachResult(body, action, frames, path, straight, costs, motion.cost, float(np.linalg.norm(missed)))


def _solving(
    scene: bpy.types.Scene,
    chain: JointChain,
    request: ReachRequest,
    samples: Samples,
    body: Articulation,
    enough: Callable[[], bool],
) -> Generator[float, None, dynamics.Reach]:
    dt, frames = seconds_per_frame(scene), samples.frames
    duration = dt * (len(frames) - 1)
    pose = body.poses(samples)[0]
    last = samples.bones.index(body.bones[-1])
    row = samples.bones.index(chain.effector)
    point = samples.positions[0, row] + rotation.rotate(samples.rotations[0, row], _tip(chain))
    arm = rotation.rotate(rotation.inverse(samples.rotations[0, last]), point - samples.positions[0, last])
    vias = []
    for n, (share, _) in enumerate(request.vias):
        k = round(share * (len(frames) - 1))
        vias.append((k * dt, body.in_base(samples, samples.targets[n + 1, k], k)))
    steps = dynamics.reaching(
        body.body,
        pose,
        body.in_base(samples, samples.targets[0, -1], -1),
        duration,
        dt,
        effector=(len(body.bones) - 1, body.unit * arm),
        method=request.method,
        passes=request.passes,
        gravity=body.gravity(scene, samples) if request.gravity else (0.0, 0.0, 0.0),
        damping=request.damping,
        via=vias,
        limits=limits.read(chain.armature, body.bones, body.fixed) if request.limits else None,
        strength=actuation.shares(scene, body),
    )
    return (yield from _until(steps, enough))


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
    """Points (F, 3) [m] in the frame of the base, one for each frame, in world space."""
    orientations, at = body.base_pose(samples)
    local = at + rotation.rotate(orientations, path / body.unit)
    return (samples.worlds[:, :3, :3] @ local[..., None])[..., 0] + samples.worlds[:, :3, 3]
