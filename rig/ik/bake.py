"""Baking inverse kinematics: sample the animation, solve every frame from its own pose, write keys.

If constraints act on the chain, the result is sampled again and corrected. `bake` is a generator, so that an operator
can show progress and stop at any step: it yields the completed fraction. However it ends, by return, error or `close`,
either everything is baked or nothing has changed.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation import actions, bake_options, channels
from ..animation.bake_options import BakeOptions
from ..animation.bake_transaction import BakeTransaction
from ..detection.joint_chain import JointChain
from ..sampling import bone_response, suspend
from ..sampling.sampler import Sampler, Samples
from ..sampling.scene_time import seconds_per_frame
from ..sampling.targets import Target, world_matrix
from . import chain_solve
from .chain_solve import IKTuning, Objectives, Turns
from .goals import Following, Goal, check
from .pose import Seen

BAKED = " IK"
_PASSES = 8
_TURNED = np.radians(1.0)
_GOOD_ENOUGH = 10.0
"""Largest error of a verified result, as a factor of the tolerance."""
_MISSES = 1e-2
"""As a fraction of the chain's length: a larger error on a reachable target means that the chain does not respond."""
_FAR = 1e12


@dataclass(frozen=True)
class IKBakeResult:
    """The result of a bake. error: (F,) distance of the effector from its target in the world, measured on the
    evaluated rig if `measured`, else predicted. in_reach: (F,) whether the chain is long enough."""

    chain: JointChain
    action: bpy.types.Action
    frames: Array
    error: Array
    in_reach: Array
    measured: bool
    passes: int

    @property
    def median_error(self) -> float:
        """The largest error of the frames with the target in reach; nan if there are none."""
        return float(np.median(self.error[self.in_reach])) if self.in_reach.any() else np.nan

    @property
    def largest_error(self) -> float:
        return float(self.error[self.in_reach].max()) if self.in_reach.any() else np.nan


Request = Callable[[Seen, Samples, Array], tuple[Objectives, Array]]
"""A function from the animated chain, its samples and the orientations of the target to objectives and the frames (F,)
at which they apply."""


def bake_goal(
    scene: bpy.types.Scene,
    chain: JointChain,
    goal: Goal,
    tuning: IKTuning,
    options: BakeOptions,
    *,
    verify: bool = False,
) -> Generator[float, None, IKBakeResult]:
    """Make the effector follow a goal over the range; yields the completed fraction. Raises RigError.

    verify: measure the result on the evaluated rig even if it can be predicted.
    """
    check(chain, goal)
    followed = [item for item in (goal.target, goal.pole) if item is not None]
    request = Following(chain, goal, tuning, seconds_per_frame(scene))
    return (yield from bake_request(scene, chain, followed, request, tuning, options, goal.target, verify=verify))


def bake_request(
    scene: bpy.types.Scene,
    chain: JointChain,
    followed: Sequence[Target],
    request: Request,
    tuning: IKTuning,
    options: BakeOptions,
    oriented: Target | None = None,
    *,
    called: str = BAKED,
    verify: bool = False,
) -> Generator[float, None, IKBakeResult]:
    """Solve a chain for the objectives of `request` over the range; yields the completed fraction. Raises RigError.

    oriented: the target whose axes are required. called: suffix of the name of the action.
    """
    bake_options.check_range(options.first, options.last)
    actions.check(chain.armature, options.into)
    modes = {name: chain.armature.pose.bones[name].rotation_mode for name in chain.bones}
    actions.check_curves(chain.armature, modes, options.into)
    work = _Work(scene, chain, followed, request, tuning, options, oriented, called, verify)
    with suspend.suspend_live():
        return (yield from work.steps())


@dataclass
class _Work:
    scene: bpy.types.Scene
    chain: JointChain
    followed: Sequence[Target]
    request: Request
    tuning: IKTuning
    options: BakeOptions
    oriented: Target | None
    called: str
    verify: bool
    passes: int = 0

    def __post_init__(self) -> None:
        self.frames = np.arange(self.options.first, self.options.last + 1)

    def steps(self) -> Generator[float, None, IKBakeResult]:
        chain, armature, into = self.chain, self.chain.armature, self.options.into
        share = 1.0 if chain.plain and not self.verify else 0.3
        with ExitStack() as baking:
            with Sampler(self.scene, armature, chain.seen, self.followed) as sampler:
                seen, samples, orientations = yield from self._sample(sampler, 0.0, share)
                self._first = seen
                objectives, chosen = self.request(seen, samples, orientations)
                found = self._solve(seen, objectives, chosen, self.tuning)
                in_reach = chain_solve.in_reach(seen, objectives) & chosen
                work = baking.enter_context(BakeTransaction(armature))
                self._write(work, found.offsets)
                error, measured = in_world(found.error, samples), False
                doubtful = not chain.plain or samples.sheared
                if doubtful or self.verify:
                    passes = _PASSES if doubtful else 1
                    error, in_reach = yield from self._verify(sampler, work, found, share, passes)
                    measured = True
            action = work.commit(into, self.options.name or actions.baked_name(armature, into, self.called))
        return IKBakeResult(chain, action, self.frames, np.where(chosen, error, 0.0), in_reach, measured, self.passes)

    # Sampling

    def _sample(
        self, sampler: Sampler, begin: float, share: float
    ) -> Generator[float, None, tuple[Seen, Samples, Array]]:
        """The chain over all frames, and the axes (F, 3, 3) of the target in the world."""
        self.passes += 1
        chain, count = self.chain, len(self.frames)
        ends, orientations = np.empty((count, 3)), np.tile(np.eye(3), (count, 1, 1))
        samples = None
        for k, samples in enumerate(sampler.sample(self.frames.tolist())):  # noqa: B007
            depsgraph = sampler.scene.view_layers[0].depsgraph
            bone = sampler.stand_in(chain.armature).evaluated_get(depsgraph).pose.bones[chain.effector]
            ends[k] = bone.tail if chain.at_tip else bone.head
            if self.oriented is not None and self.oriented.object is not None:
                orientations[k] = axes_of(sampler.stand_in(self.oriented.object), self.oriented.bone, depsgraph)
            yield min(begin + share * (k + 1) / count, 0.99)
        assert samples is not None
        self._check_targets(samples)
        return self._seen(samples, ends), samples, orientations

    def _seen(self, samples: Samples, ends: Array) -> Seen:
        chain, rows = self.chain, {name: n for n, name in enumerate(samples.bones)}
        joints = [rows[name] for name in chain.joints]
        parent = rotation.identity(len(ends))
        return Seen(
            samples.rotations[:, rows[chain.parent]] if chain.parent else parent,
            samples.rotations[:, joints],
            samples.positions[:, joints],
            ends,
            samples.rotations[:, rows[chain.effector]],
            {name: samples.channel(name) for name in chain.bones},
        )

    def _check_targets(self, samples: Samples) -> None:
        for target, points in zip(self.followed, samples.targets, strict=True):
            far = np.abs(points).max(axis=-1) > _FAR
            if far.any():
                frame = samples.frames[int(np.argmax(far))]
                raise RigError(
                    "The position of target '{target}' is infinite at frame {frame}; fix its animation.",
                    target=target.label,
                    frame=frame,
                )

    # Solving and writing

    def _solve(self, seen: Seen, objectives: Objectives, chosen: Array, tuning: IKTuning) -> Turns:
        """Solve the selected frames; the others do not change."""
        if chosen.all():
            return chain_solve.solve(self.chain, seen, objectives, tuning, dt=seconds_per_frame(self.scene))
        offsets, error = rotation.identity(len(chosen), len(self.chain.bones)), np.zeros(len(chosen))
        iterations, rotations = np.zeros(len(chosen), dtype=int), seen.local
        if chosen.any():
            # Smoothing would treat frames as adjacent that are not.
            found = chain_solve.solve(
                self.chain, seen.take(chosen), objectives.take(chosen), replace(tuning, smoothness=0.0)
            )
            offsets[chosen], error[chosen], iterations[chosen] = found.offsets, found.error, found.iterations
            rotations[chosen] = found.rotations
        return Turns(offsets, error, iterations, rotations)

    def _write(self, work: BakeTransaction, offsets: Array) -> None:
        for n, (name, (mode, raw)) in enumerate(self._first.raw.items()):
            work.write(name, mode, self.frames, channels.turned(raw, mode, offsets[:, n]), raw)

    # Controls that act through constraints

    def _verify(
        self, sampler: Sampler, work: BakeTransaction, found: Turns, share: float, passes: int
    ) -> Generator[float, None, tuple[Array, Array]]:
        """Evaluate the result and correct it until it is right; returns the measured errors (F,) in the world, and
        whether the target is in reach (F,). Each frame is corrected separately, with smaller steps after one that
        increased the error."""
        chain, tuning = self.chain, replace(self.tuning, smoothness=0.0)
        count = len(self.frames)
        offsets, expected = found.offsets, np.zeros(count)
        best, least, error = offsets, np.full(count, np.inf), np.zeros(count)
        in_reach, step = np.zeros(count, dtype=bool), rotation.identity(*offsets.shape[:2])
        for turn in range(passes):
            seen, samples, orientations = yield from self._sample(sampler, share + (1.0 - share) * turn / passes, 0.1)
            objectives, chosen = self.request(seen, samples, orientations)
            away = objectives.target - seen.end
            missing = np.where(chosen, np.linalg.norm(away, axis=-1) / seen.reach, 0.0)
            if turn == 0:
                self._check_answers(seen, offsets)
            better = missing < least
            world = np.linalg.norm((samples.worlds[:, :3, :3] @ away[..., None])[..., 0], axis=-1)
            best = np.where(better[:, None, None], offsets, best)
            least, error = np.where(better, missing, least), np.where(better, world, error)
            in_reach = np.where(better, chain_solve.in_reach(seen, objectives) & chosen, in_reach)
            if turn == passes - 1:
                break
            found = self._solve(seen, objectives, chosen, tuning)
            # Limits and reach may leave an error that no correction can remove.
            expected = np.where(better, found.error / seen.reach, expected)
            if not np.any(chosen & (least > expected + _GOOD_ENOUGH * tuning.tolerance)):
                break
            step = np.where(better[:, None, None], found.offsets, rotation.exp(0.5 * rotation.log(step)))
            offsets = rotation.multiply(best, step)
            self._write(work, offsets)
        if best is not offsets:
            self._write(work, best)
        if in_reach.any() and np.median(least[in_reach]) > _MISSES and chain.limits is None:
            raise RigError(
                "The chain of '{effector}' does not reach its target because constraints or a "
                "non-uniform scale change '{joint}' or the bones below it; mute the constraints, or "
                "choose other bones.",
                effector=chain.effector,
                joint=chain.joints[0],
            )
        return error, in_reach

    def _check_answers(self, seen: Seen, offsets: Array) -> None:
        """Raise RigError if a bone does not respond to rotation."""
        before, after = self._first.local, seen.local
        for n, name in enumerate(self.chain.joints):
            wanted = rotation.angle(offsets[:, n])
            turned = rotation.distance(before[:, n], after[:, n])
            moves = wanted > _TURNED
            if moves.any():
                bone_response.check(name, float(np.median(turned[moves] / wanted[moves])))


def from_armature(worlds: Array, points: Array) -> Array:
    """Points (F, 3) in armature space as points of the world. worlds: (F, 4, 4)."""
    return (worlds[:, :3, :3] @ points[..., None])[..., 0] + worlds[:, :3, 3]


def in_world(error: Array, samples: Samples) -> Array:
    """Errors (F,) in the armature's space as lengths in the world."""
    return error * np.abs(np.linalg.det(samples.worlds[:, :3, :3])) ** (1.0 / 3.0)


def axes_of(item: bpy.types.Object, bone: str, depsgraph: bpy.types.Depsgraph) -> Array:
    """The axes (3, 3) of an object or one of its bones in the world."""
    return np.array(world_matrix(item.evaluated_get(depsgraph), bone).to_3x3())
