"""Baking inverse kinematics: sample the animation, solve every frame from its own pose, write keys.

If constraints act on the chain, the result is sampled again and corrected. `bake` is a generator, so that an operator
can show progress and stop at any step: it yields the completed fraction. However it ends, by return, error or `close`,
either everything is baked or nothing has changed.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.progress import subrange
from ...lookat_pd.rotation import Array
from ..animation import actions, bake_options, channels
from ..animation.bake_options import BakeOptions
from ..animation.bake_transaction import BakeTransaction
from ..controls.changes import Changes
from ..controls.realize import CORRECTIONS, realize
from ..detection.joint_chain import JointChain
from ..sampling import bone_response, suspend
from ..sampling.sampler import Sampler, Samples, sample_frames
from ..sampling.scene_time import seconds_per_frame
from ..sampling.targets import FARTHEST, Target, world_matrix
from . import chain_solve, soft_goals
from .chain_on_controls import ChainOnControls, ShownChain, solving_chosen
from .chain_solve import IKTuning, Objectives, Turns
from .effector_goal import Following, Goal, check
from .pose import Seen
from .reached import Reached

BAKED = " IK"
_TURNED = np.radians(1.0)
_MISSES = 1e-2
"""As a fraction of the chain's length: a larger error on a reachable target means that the chain does not respond."""


@dataclass(frozen=True)
class IKBakeResult(Reached):
    """The result of a bake."""

    chain: JointChain
    action: bpy.types.Action
    frames: Array
    error: Array
    """(F,) distance of the effector from its target in the world, measured on the evaluated rig if `measured`, else
    predicted."""
    in_reach: Array
    """(F,) whether the chain is long enough."""
    softened: Array
    """(F,) distance in the world by which a soft reach leaves the effector before its target."""
    measured: bool
    passes: int

    @property
    def distances(self) -> Array:
        return self.error


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

    def __post_init__(self) -> None:
        self.frames = np.arange(self.options.first, self.options.last + 1)

    def steps(self) -> Generator[float, None, IKBakeResult]:
        chain, armature, into = self.chain, self.chain.armature, self.options.into
        share = 1.0 if chain.plain and not self.verify else 0.3
        with ExitStack() as baking:
            with Sampler(self.scene, armature, chain.seen, self.followed) as sampler:
                shown, samples = yield from subrange(self.sample(sampler), 0.0, 0.5 * share)
                solving = solving_chosen(chain, shown, self.tuning, dt=seconds_per_frame(self.scene))
                solved = yield from subrange(solving, 0.5 * share, share)
                work = baking.enter_context(BakeTransaction(armature))
                on_controls = _BakedChain(self, sampler, work, shown, samples, solved)
                passes = 1
                doubtful = not chain.plain or samples.sheared
                measured = doubtful or self.verify
                if measured:
                    tolerance = on_controls.tolerance(CORRECTIONS if doubtful else 0)
                    realized = yield from subrange(realize(on_controls, on_controls.solved, tolerance), share, 1.0)
                    passes += realized.evaluations
                    self._check(on_controls, realized.error)
                else:
                    on_controls.write(on_controls.solved)
            name = self.options.name or actions.baked_name(armature, into, self.called)
            action = work.commit(into, name, self.options.writer)
        error = np.where(shown.chosen, on_controls.error, 0.0)
        softened = in_world(soft_goals.missing(shown.objectives) * shown.chosen, samples)
        return IKBakeResult(chain, action, self.frames, error, on_controls.in_reach, softened, measured, passes)

    def _check(self, on_controls: "_BakedChain", missing: Array) -> None:
        """Raise RigError if constraints hold the chain. missing: (F,), in lengths of the chain."""
        in_reach = on_controls.in_reach
        if in_reach.any() and np.median(missing[in_reach]) > _MISSES and self.chain.limits is None:
            raise RigError(
                "The chain of '{effector}' does not reach its target because constraints or a "
                "non-uniform scale change '{joint}' or the bones below it; mute the constraints, or "
                "choose other bones.",
                effector=self.chain.effector,
                joint=self.chain.joints[0],
            )

    # Sampling

    def sample(self, sampler: Sampler) -> Generator[float, None, tuple[ShownChain, Samples]]:
        """The chain over all frames with its objectives; yields the completed fraction."""
        chain, count = self.chain, len(self.frames)
        # The axes of the target in the world.
        ends, orientations = np.empty((count, 3)), np.tile(np.eye(3), (count, 1, 1))

        def take(k: int, depsgraph: bpy.types.Depsgraph) -> None:
            bone = sampler.stand_in(chain.armature).evaluated_get(depsgraph).pose.bones[chain.effector]
            ends[k] = bone.tail if chain.at_tip else bone.head
            if self.oriented is not None and self.oriented.object is not None:
                orientations[k] = axes_of(sampler.stand_in(self.oriented.object), self.oriented.bone, depsgraph)

        samples = yield from sample_frames(sampler, self.frames, take=take)
        check_near(self.followed, samples)
        seen = self._seen(samples, ends)
        return ShownChain(seen, *self.request(seen, samples, orientations)), samples

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


def check_near(followed: Sequence[Target], samples: Samples) -> None:
    """Raise RigError where a target that was sampled is infinitely far away."""
    for target, points in zip(followed, samples.targets, strict=True):
        far = np.abs(points).max(axis=-1) > FARTHEST
        if far.any():
            raise RigError(
                "The position of target '{target}' is infinite at frame {frame}; fix its animation.",
                target=target.label,
                frame=samples.frames[int(np.argmax(far))],
            )


class _BakedChain(ChainOnControls):
    """The chain keyed over the range. solved: the solution as it is animated.

    error: (F,), distances of the effector from its target in the world. in_reach: (F,), whether the chain is long
    enough at the chosen frames. Both of the best pose that was evaluated; before that, of the solution.
    """

    def __init__(
        self,
        work: _Work,
        sampler: Sampler,
        writer: BakeTransaction,
        animated: ShownChain,
        samples: Samples,
        solved: Turns,
    ) -> None:
        super().__init__(work.chain, work.tuning, dt=seconds_per_frame(work.scene))
        self._work, self._sampler, self._writer, self._animated = work, sampler, writer, animated
        self._samples = samples
        self.error = in_world(solved.missed, samples)
        self.in_reach = chain_solve.in_reach(animated.seen, animated.objectives) & animated.chosen
        self.solved = self.changes(solved.offsets)
        self._is_checked = False

    def write(self, values: Changes) -> None:
        for name, (mode, raw) in self._animated.seen.raw.items():
            self._writer.write(name, mode, self._work.frames, channels.turned(raw, mode, values.turns[name]), raw)

    def evaluate(self) -> Generator[float, None, ShownChain]:
        shown, self._samples = yield from self._work.sample(self._sampler)
        if not self._is_checked:
            self._is_checked = True
            self._check_answers(shown.seen)
        return shown

    def note(self, seen: ShownChain, better: NDArray[np.bool_]) -> None:
        away = seen.objectives.wanted - seen.seen.end
        world = np.linalg.norm((self._samples.worlds[:, :3, :3] @ away[..., None])[..., 0], axis=-1)
        in_reach = chain_solve.in_reach(seen.seen, seen.objectives) & seen.chosen
        self.error, self.in_reach = np.where(better, world, self.error), np.where(better, in_reach, self.in_reach)

    def _check_answers(self, seen: Seen) -> None:
        """Raise RigError if a bone does not respond to the rotation of the solution."""
        before, after = self._animated.seen.local, seen.local
        for n, name in enumerate(self.chain.joints):
            wanted = rotation.angle(self.solved.turns[name])
            turns = rotation.distance(before[:, n], after[:, n])
            moves = wanted > _TURNED
            if moves.any():
                bone_response.check(name, float(np.median(turns[moves] / wanted[moves])))


def from_armature(worlds: Array, points: Array) -> Array:
    """Points (F, 3) in armature space as points of the world. worlds: (F, 4, 4)."""
    return (worlds[:, :3, :3] @ points[..., None])[..., 0] + worlds[:, :3, 3]


def in_world(error: Array, samples: Samples) -> Array:
    """Errors (F,) in the armature's space as lengths in the world."""
    return error * np.abs(np.linalg.det(samples.worlds[:, :3, :3])) ** (1.0 / 3.0)


def axes_of(item: bpy.types.Object, bone: str, depsgraph: bpy.types.Depsgraph) -> Array:
    """The axes (3, 3) of an object or one of its bones in the world."""
    return np.array(world_matrix(item.evaluated_get(depsgraph), bone).to_3x3())
