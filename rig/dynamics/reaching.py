"""A reach: the effector goes from where it is to a goal, as an arm does that changes its torques as little as it can.

`start` hands out a generator, so that an operator can show progress and stop at any step: it yields the fraction done,
and however it ends, by return, error or `close`, either everything is baked or nothing has changed.
"""

import itertools
from collections.abc import Callable, Generator
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import dynamics, rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from .. import actions, live, targets
from ..ik import chain as ik_chain
from ..ik import limits
from ..ik.chain import Chain
from ..sample import Sampler, Samples, Target, run, seconds_per_frame
from ..working import Working
from . import masses, parts, strength, tree
from .parts import part
from .tree import Tree

_REACHED = " reach"
_WEIGHED, _SAMPLED, _SOLVED = 0.1, 0.2, 0.9
"""Fractions done after weighing, sampling and solving."""
_FAR = 1e12


@dataclass(frozen=True)
class Wish:
    """What reaches for what. first: frame at which it sets out. duration: [s]. vias: places on the way, each with its
    part of the duration. damping: [N m s/rad] of every joint. limits: whether Blender's joint limits are kept."""

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
class Result:
    """What was baked. frames: (F,). path, straight: (F, 3) of the effector in the world, as found and as the
    minimum-jerk reach goes that it began with. costs: one a pass, the minimum-jerk reach first. cost: of the one that
    was kept. missed: distance from the goal in the world, as Blender evaluates it."""

    tree: Tree
    action: bpy.types.Action
    frames: Array
    path: Array
    straight: Array
    costs: Array
    cost: float
    missed: float

    @property
    def saved(self) -> float:
        """Part of the cost of the straight way that is not spent."""
        return 1.0 - self.cost / float(self.costs[0]) if self.costs[0] > 0.0 else 0.0


@dataclass(frozen=True)
class Plotted:
    """What a panel shows of the last reach; number: another for each. costs, path, straight: as in `Result`."""

    number: int
    costs: Array
    path: Array
    straight: Array


_last: dict[int, Plotted] = {}
"""By armature; may be thrown away at any time."""
_numbers = itertools.count()


def seconds(scene: bpy.types.Scene, frames: float) -> float:
    """How long so many frames take."""
    return frames * seconds_per_frame(scene)


def last(armature: bpy.types.Object) -> Plotted | None:
    """The last reach of this armature; None where there was none since Blender was started."""
    return _last.get(armature.session_uid)


def forget() -> None:
    """Throw away what panels show."""
    _last.clear()


def start(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    wish: Wish,
    into: str = "NEW",
    name: str = "",
    enough: Callable[[], bool] = lambda: False,
) -> Generator[float, None, Result]:
    """Check everything that can be checked at once, then hand out the work. Raises LookAtError.

    enough: asked between two passes; from when it says so on the best pass so far is taken.
    """
    if not wish.duration > 0.0:
        raise RigError(f"A reach takes time, but its duration is {wish.duration:g} s; make it longer.")
    actions.check(armature, into)
    chain = ik_chain.resolve(armature, wish.effector, length=wish.length, base=wish.base, at_tip=wish.at_tip)
    modes = {bone: armature.pose.bones[bone].rotation_mode for bone in chain.joints}
    actions.check_curves(armature, modes, into)
    for target in (wish.goal, *(target for _, target in wish.vias)):
        _check_goal(chain, target)
    return _work(scene, chain, wish, into, name, enough)


def _check_goal(chain: Chain, goal: Target) -> None:
    item = goal.object
    if item is None:
        if not np.all(np.abs(goal.point or np.nan) < _FAR):
            raise RigError(f"The point to reach, {goal.point}, is not finite; give three numbers.")
        return
    targets.check_exists(chain.armature, item, goal.bone)
    if targets.rides_on(item, goal.bone, chain.armature, (*chain.joints, chain.effector)):
        raise RigError(f"The goal '{goal.label}' moves with the chain that reaches for it; choose one outside it.")


def _work(
    scene: bpy.types.Scene, chain: Chain, wish: Wish, into: str, name: str, enough: Callable[[], bool]
) -> Generator[float, None, Result]:
    armature, dt = chain.armature, seconds_per_frame(scene)
    frames = wish.first + np.arange(max(round(wish.duration / dt), 2) + 1)
    weights = yield from part(parts.weights(scene, armature), 0.0, _WEIGHED)
    unit = masses.metres(scene, armature)
    bones = dict.fromkeys((*tree.seen(armature, chain.joints, weights.bones), chain.effector))
    followed = [wish.goal, *(target for _, target in wish.vias)]
    work = None
    with live.paused():
        try:
            with Sampler(scene, armature, tuple(bones), followed) as sampler:
                samples = yield from part(parts.sampled(sampler, frames), _WEIGHED, _SAMPLED)
                body = tree.build(armature, sampler, samples, chain.joints, weights, unit)
                motion = yield from part(_solving(scene, chain, wish, samples, body, enough), _SAMPLED, _SOLVED)
                work = Working(armature)
                for bone, (mode, values, raw) in body.values(samples, motion.rotations).items():
                    work.write(bone, mode, frames, values, raw)
                seen = run(sampler.sample(frames[-1:].tolist()))
            action = work.commit(into, name or actions.baked_name(armature, into, _REACHED))
        except BaseException:
            if work is not None:
                work.rollback()
            raise
    effector = seen.rotations[0, seen.bones.index(chain.effector)], seen.positions[0, seen.bones.index(chain.effector)]
    end = effector[1] + rotation.rotate(effector[0], _tip(chain))
    missed = seen.worlds[0, :3, :3] @ (end - seen.targets[0, 0])
    path, straight = (_in_world(body, samples, line) for line in (motion.path, motion.minimum_jerk))
    costs = np.asarray(motion.costs)
    _last[armature.session_uid] = Plotted(next(_numbers), costs, path, straight)
    return Result(body, action, frames, path, straight, costs, motion.cost, float(np.linalg.norm(missed)))


def _solving(
    scene: bpy.types.Scene, chain: Chain, wish: Wish, samples: Samples, body: Tree, enough: Callable[[], bool]
) -> Generator[float, None, dynamics.Reach]:
    dt, frames = seconds_per_frame(scene), samples.frames
    duration = dt * (len(frames) - 1)
    pose = body.poses(samples)[0]
    last = samples.bones.index(body.bones[-1])
    row = samples.bones.index(chain.effector)
    point = samples.positions[0, row] + rotation.rotate(samples.rotations[0, row], _tip(chain))
    arm = rotation.rotate(rotation.inverse(samples.rotations[0, last]), point - samples.positions[0, last])
    vias = []
    for n, (share, _) in enumerate(wish.vias):
        k = round(share * (len(frames) - 1))
        vias.append((k * dt, body.in_base(samples, samples.targets[n + 1, k], k)))
    steps = dynamics.reaching(
        body.body,
        pose,
        body.in_base(samples, samples.targets[0, -1], -1),
        duration,
        dt,
        effector=(len(body.bones) - 1, body.unit * arm),
        method=wish.method,
        passes=wish.passes,
        gravity=body.gravity(scene, samples) if wish.gravity else (0.0, 0.0, 0.0),
        damping=wish.damping,
        via=vias,
        limits=limits.read(chain.armature, body.bones, body.fixed) if wish.limits else None,
        strength=strength.shares(scene, body),
    )
    return (yield from _until(steps, enough))


def _until(
    steps: Generator[float, bool | None, dynamics.Reach], enough: Callable[[], bool]
) -> Generator[float, None, dynamics.Reach]:
    """All steps, or as many as are enough."""
    stop = None
    while True:
        try:
            yield steps.send(stop)
        except StopIteration as end:
            return end.value
        stop = True if enough() else None


def _tip(chain: Chain) -> Array:
    """The effector's point in its own frame, in the armature's units."""
    length = chain.armature.data.bones[chain.effector].length if chain.at_tip else 0.0
    return np.array((0.0, length, 0.0))


def _in_world(body: Tree, samples: Samples, path: Array) -> Array:
    """Points (F, 3) [m], one a frame, of the base's frame in the world."""
    lies, at = body.base_pose(samples)
    local = at + rotation.rotate(lies, path / body.unit)
    return (samples.worlds[:, :3, :3] @ local[..., None])[..., 0] + samples.worlds[:, :3, 3]
