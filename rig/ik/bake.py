"""Baking inverse kinematics: sample the animation, solve every frame from its own pose, write keys.

Where constraints act on the chain, the result is sampled again and corrected. `bake` is a generator, so that an
operator can show progress and stop at any step: it yields the fraction done, and however it ends, by return, error or
`close`, either everything is baked or nothing has changed.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from .. import actions, bake, channels, live
from ..bake import Options
from ..sample import Sampler, Samples, Target, seconds_per_frame
from ..working import Working
from . import solving
from .chain import Chain
from .goals import Following, Goal, check
from .pose import Seen
from .solving import Tuning, Turns, Wanted

_BAKED = " IK"
_PASSES = 8
_DEAF, _TURNED = 0.02, np.radians(1.0)
_GOOD_ENOUGH = 10.0
"""Times the tolerance that a verified result may miss by."""
_MISSES = 1e-2
"""Part of the chain's length; more than this on a reachable target, and the chain does not answer."""
_FAR = 1e12


@dataclass(frozen=True)
class Result:
    """What was baked. error: (F,) how far the effector is from its target in the world, measured on the evaluated rig
    where `measured`, else predicted. in_reach: (F,) whether the chain is long enough."""

    chain: Chain
    action: bpy.types.Action
    frames: Array
    error: Array
    in_reach: Array
    measured: bool
    passes: int

    @property
    def median_error(self) -> float:
        """Of the frames with the target in reach, nan where there is none."""
        return float(np.median(self.error[self.in_reach])) if self.in_reach.any() else np.nan

    @property
    def largest_error(self) -> float:
        return float(self.error[self.in_reach].max()) if self.in_reach.any() else np.nan


Wish = Callable[[Seen, Samples, Array], tuple[Wanted, Array]]
"""From the chain as animated, with the samples it comes from and the effector's and target's extra matrices, to what
is wanted and at which frames (F,) anything is to be turned."""


def bake_goal(
    scene: bpy.types.Scene, chain: Chain, goal: Goal, tuning: Tuning, options: Options, *, verify: bool = False
) -> Generator[float, None, Result]:
    """Let the effector follow a goal over the range, yielding the fraction done. Raises RigError.

    verify: measure the result on the evaluated rig also where it can be predicted.
    """
    check(chain, goal)
    followed = [item for item in (goal.target, goal.pole) if item is not None]
    wish = Following(chain, goal)
    return (yield from bake_wish(scene, chain, followed, wish, tuning, options, goal.target, verify=verify))


def bake_wish(
    scene: bpy.types.Scene,
    chain: Chain,
    followed: Sequence[Target],
    wish: Wish,
    tuning: Tuning,
    options: Options,
    oriented: Target | None = None,
    *,
    called: str = _BAKED,
    verify: bool = False,
) -> Generator[float, None, Result]:
    """Turn a chain as `wish` wants it over the range, yielding the fraction done. Raises RigError.

    oriented: the target whose axes are wanted. called: what is added to an action's name.
    """
    bake.check_range(options.first, options.last)
    actions.check(chain.armature, options.into)
    modes = {name: chain.armature.pose.bones[name].rotation_mode for name in chain.bones}
    actions.check_curves(chain.armature, modes, options.into)
    work = _Work(scene, chain, followed, wish, tuning, options, oriented, called, verify)
    with live.paused():
        return (yield from work.steps())


class _Work:
    def __init__(
        self,
        scene: bpy.types.Scene,
        chain: Chain,
        followed: Sequence[Target],
        wish: Wish,
        tuning: Tuning,
        options: Options,
        oriented: Target | None,
        called: str,
        verify: bool,
    ) -> None:
        self.scene, self.chain, self.followed, self.wish = scene, chain, followed, wish
        self.tuning, self.options, self.oriented, self.called = tuning, options, oriented, called
        self.verify = verify
        self.frames = np.arange(options.first, options.last + 1)
        self.passes = 0

    def steps(self) -> Generator[float, None, Result]:
        chain, work = self.chain, None
        sampler = Sampler(self.scene, chain.armature, chain.seen, self.followed)
        share = 1.0 if chain.plain and not self.verify else 0.3
        try:
            with sampler:
                seen, samples, lies = yield from self._sample(sampler, 0.0, share)
                self._first = seen
                wanted, chosen = self.wish(seen, samples, lies)
                found = self._solve(seen, wanted, chosen, self.tuning)
                in_reach = solving.in_reach(seen, wanted) & chosen
                work = Working(chain.armature)
                self._write(work, found.offsets)
                error, measured = _in_world(found.error, samples), False
                doubtful = not chain.plain or samples.sheared
                if doubtful or self.verify:
                    passes = _PASSES if doubtful else 1
                    error, in_reach = yield from self._verify(sampler, work, found, share, passes)
                    measured = True
            into, armature = self.options.into, chain.armature
            action = work.commit(into, self.options.name or actions.baked_name(armature, into, self.called))
        except BaseException:
            if work is not None:
                work.rollback()
            raise
        return Result(chain, action, self.frames, np.where(chosen, error, 0.0), in_reach, measured, self.passes)

    # Sampling

    def _sample(
        self, sampler: Sampler, begin: float, share: float
    ) -> Generator[float, None, tuple[Seen, Samples, Array]]:
        """The chain over all frames, and the axes (F, 3, 3) of the target in the world."""
        self.passes += 1
        chain, count = self.chain, len(self.frames)
        ends, lies = np.empty((count, 3)), np.tile(np.eye(3), (count, 1, 1))
        samples = None
        for k, samples in enumerate(sampler.sample(self.frames.tolist())):  # noqa: B007
            depsgraph = sampler.scene.view_layers[0].depsgraph
            bone = chain.armature.evaluated_get(depsgraph).pose.bones[chain.effector]
            ends[k] = bone.tail if chain.at_tip else bone.head
            if self.oriented is not None and self.oriented.object is not None:
                lies[k] = _axes(self.oriented, depsgraph)
            yield min(begin + share * (k + 1) / count, 0.99)
        assert samples is not None
        self._check_targets(samples)
        return self._seen(samples, ends), samples, lies

    def _seen(self, samples: Samples, ends: Array) -> Seen:
        chain, rows = self.chain, {name: n for n, name in enumerate(samples.bones)}
        joints = [rows[name] for name in chain.joints]
        raw = {}
        for name in chain.bones:
            mode = samples.modes[rows[name]]
            raw[name] = mode, samples.raw[mode if mode in samples.raw else "EULER"][:, rows[name]]
        parent = rotation.identity(len(ends))
        return Seen(
            samples.rotations[:, rows[chain.parent]] if chain.parent else parent,
            samples.rotations[:, joints],
            samples.positions[:, joints],
            ends,
            samples.rotations[:, rows[chain.effector]],
            raw,
        )

    def _check_targets(self, samples: Samples) -> None:
        for target, points in zip(self.followed, samples.targets, strict=True):
            far = np.abs(points).max(axis=-1) > _FAR
            if far.any():
                frame = samples.frames[int(np.argmax(far))]
                raise RigError(f"Target '{target.label}' is infinitely far away at frame {frame}; mend its animation.")

    # Solving and writing

    def _solve(self, seen: Seen, wanted: Wanted, chosen: Array, tuning: Tuning) -> Turns:
        """Solve the frames that are chosen; at the others nothing turns."""
        if chosen.all():
            return solving.solve(self.chain, seen, wanted, tuning, dt=seconds_per_frame(self.scene))
        offsets, error = rotation.identity(len(chosen), len(self.chain.bones)), np.zeros(len(chosen))
        iterations = np.zeros(len(chosen), dtype=int)
        if chosen.any():
            # Evening out would see frames beside each other that are not.
            found = solving.solve(self.chain, seen.take(chosen), wanted.take(chosen), replace(tuning, smoothness=0.0))
            offsets[chosen], error[chosen], iterations[chosen] = found.offsets, found.error, found.iterations
        return Turns(offsets, error, iterations)

    def _write(self, work: Working, offsets: Array) -> None:
        for n, (name, (mode, raw)) in enumerate(self._first.raw.items()):
            work.write(name, mode, self.frames, channels.turned(raw, mode, offsets[:, n]), raw)

    # Controls that act through constraints

    def _verify(
        self, sampler: Sampler, work: Working, found: Turns, share: float, passes: int
    ) -> Generator[float, None, tuple[Array, Array]]:
        """Evaluate the result and correct it until it is right; the errors (F,) in the world, as seen, and whether the
        target is in reach (F,). Frames are corrected each by itself, with smaller steps where one led away."""
        chain, tuning = self.chain, replace(self.tuning, smoothness=0.0)
        count = len(self.frames)
        offsets, expected = found.offsets, np.zeros(count)
        best, least, error = offsets, np.full(count, np.inf), np.zeros(count)
        in_reach, step = np.zeros(count, dtype=bool), rotation.identity(*offsets.shape[:2])
        for turn in range(passes):
            seen, samples, lies = yield from self._sample(sampler, share + (1.0 - share) * turn / passes, 0.1)
            wanted, chosen = self.wish(seen, samples, lies)
            away = wanted.target - seen.end
            missing = np.where(chosen, np.linalg.norm(away, axis=-1) / seen.reach, 0.0)
            if turn == 0:
                self._check_answers(seen, offsets)
            better = missing < least
            world = np.linalg.norm((samples.worlds[:, :3, :3] @ away[..., None])[..., 0], axis=-1)
            best = np.where(better[:, None, None], offsets, best)
            least, error = np.where(better, missing, least), np.where(better, world, error)
            in_reach = np.where(better, solving.in_reach(seen, wanted) & chosen, in_reach)
            if turn == passes - 1:
                break
            found = self._solve(seen, wanted, chosen, tuning)
            # Limits and reach may leave what no correction can mend.
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
                f"The chain of '{chain.effector}' does not come to its target: constraints, or a bone scaled unevenly, "
                f"move '{chain.joints[0]}' and the bones below it otherwise; mute those constraints, or choose other "
                "bones."
            )
        return error, in_reach

    def _check_answers(self, seen: Seen, offsets: Array) -> None:
        """Raise RigError where a bone was turned and did not turn."""
        before, after = self._first.local, seen.local
        for n, name in enumerate(self.chain.joints):
            wanted = rotation.angle(offsets[:, n])
            turned = rotation.angle(rotation.multiply(rotation.inverse(before[:, n]), after[:, n]))
            told = wanted > _TURNED
            if told.any() and np.median(turned[told] / wanted[told]) < _DEAF:
                raise RigError(
                    f"Bone '{name}' does not answer to an offset, a constraint overrides it; take it out of the chain "
                    "or put the bone that drives it in."
                )


def _in_world(error: Array, samples: Samples) -> Array:
    """Errors (F,) of the armature's space as long as they are in the world."""
    return error * np.abs(np.linalg.det(samples.worlds[:, :3, :3])) ** (1.0 / 3.0)


def _axes(target: Target, depsgraph: bpy.types.Depsgraph) -> Array:
    """The axes (3, 3) of a target in the world."""
    item = target.object
    assert item is not None
    seen = item.evaluated_get(depsgraph)
    matrix = seen.matrix_world
    if target.bone:
        matrix = matrix @ seen.pose.bones[target.bone].matrix
    return np.array(matrix.to_3x3())
