"""The goal of an effector, and the resulting objectives for each frame."""

from dataclasses import dataclass

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.curves import smooth_step
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..detection.joint_chain import JointChain
from ..sampling import targets
from ..sampling.sampler import Samples, seen_from
from ..sampling.targets import Target
from ..settings import plain
from . import chain_solve, soft_goals
from .chain_solve import IKTuning, Objectives
from .pose import Seen
from .settings import GoalFollowing


@dataclass(frozen=True)
class Goal(plain(GoalFollowing)):
    """What an effector follows: a target or a path, with the settings of `GoalFollowing` under their names."""

    target: Target | None = None
    """What it follows."""
    path: tuple[Array, Array] | None = None
    """Instead of the target, frames (F,) and points (F, 3) of the world."""
    pole: Target | None = None
    """The point towards which the chain bends."""


def ease_in_and_out(frames: int, length: float) -> Array:
    """A weight (F,): 0 at both ends of a range and 1 from `length` [frames] on; 1 if that is less than a frame."""
    if length < 1.0:
        return np.ones(frames)
    t = np.clip(np.minimum(np.arange(frames), np.arange(frames)[::-1]) / length, 0.0, 1.0)
    return smooth_step(t)[0]


def check(chain: JointChain, goal: Goal) -> None:
    """Raise RigError if there is nothing to follow, or if the target depends on the chain."""
    if goal.target is None and goal.path is None:
        raise no_target()
    if goal.path is not None:
        frames, points = goal.path
        if not len(frames) or not np.all(np.isfinite(frames)) or not np.all(np.abs(points) < targets.FARTHEST):
            raise RigError("The path has no points, or a point that is not finite; record the path again.")
        if goal.orientation == "TARGET" and goal.target is None:
            raise RigError("A path has no orientation; set the orientation to that of the effector.")
    for item in (goal.target, goal.pole):
        if item is not None:
            _check_target(chain, item)


def check_point(target: Target) -> None:
    """Raise RigError if a target without an object has no finite point."""
    if not np.all(np.abs(target.point or np.nan) < targets.FARTHEST):
        raise RigError(
            "The target point {point} of the effector is not finite; enter three numbers.", point=target.point
        )


def no_target() -> RigError:
    """The error about a goal with nothing to follow."""
    return RigError("The effector has no target; choose an object for it to follow.")


def _check_target(chain: JointChain, target: Target) -> None:
    item, armature = target.object, chain.armature
    if item is None:
        check_point(target)
        return
    targets.check_exists(armature, item, target.bone)
    # The first is the ancestor of all others.
    if targets.rides_on(item, target.bone, armature, (*chain.joints, chain.effector)):
        raise RigError(
            "The target '{target}' moves with the IK chain; choose a target outside the chain.", target=target.label
        )


class Following:
    """The objectives of a goal for each frame."""

    def __init__(self, chain: JointChain, goal: Goal, tuning: IKTuning, dt: float) -> None:
        """dt: [s] per frame."""
        self.chain, self.goal, self.tuning = chain, goal, tuning
        self._ease = goal.ease / dt
        self._animated: Seen | None = None

    def __call__(self, seen: Seen, samples: Samples, orientations: Array) -> tuple[Objectives, Array]:
        """orientations: (F, 3, 3) the target's axes in the world."""
        goal, worlds = self.goal, samples.worlds
        if goal.path is None:
            target = samples.targets[0]
        else:
            frames, points = goal.path
            places = np.stack([np.interp(samples.frames, frames, points[:, n]) for n in range(3)], axis=-1)
            target = seen_from(worlds, places[None])[0]
        if self._animated is None:
            # As animated, not after a first pass.
            self._animated = seen
            self._away = (worlds[0, :3, :3] @ (seen.end[0] - target[0])) if goal.use_offset else np.zeros(3)
        if goal.use_offset:
            target = (
                target
                + np.linalg.solve(worlds[:, :3, :3], np.broadcast_to(self._away, target.shape)[..., None])[..., 0]
            )
        orientation = None
        if goal.orientation == "KEEP":
            orientation = self._animated.effector_rotation
        elif goal.orientation == "TARGET":
            orientation = rotation.from_matrix(np.linalg.solve(worlds[:, :3, :3], orientations))
        pole = None if goal.pole is None else samples.targets[-1]
        weight = ease_in_and_out(len(target), self._ease)
        if np.any(weight < 1.0):
            target, orientation, pole = self._eased(weight[:, None], target, orientation, pole)
        objectives, softness = Objectives(target, orientation, pole), self.tuning.soft_reach
        if goal.path is not None:
            # Where the effector was once, it is to be again.
            every, base = np.ones(len(target), dtype=bool), seen.positions[:, 0]
            softness = soft_goals.as_far_as_needed(base, seen.reachable_distance, target, every, softness)
        softened = soft_goals.softened(self.chain, seen, objectives, self._animated, softness)
        return softened, np.ones(len(target), dtype=bool)

    def _eased(
        self, weight: Array, target: Array, orientation: Array | None, pole: Array | None
    ) -> tuple[Array, Array | None, Array | None]:
        """Target (F, 3), orientation (F, 4) and pole (F, 3) between the animation and themselves, by weight (F, 1)."""
        seen = self._animated
        assert seen is not None
        target = seen.end + weight * (target - seen.end)
        if orientation is not None:
            orientation = rotation.slerp(seen.effector_rotation, orientation, weight[:, 0])
        if pole is not None:
            side = chain_solve.bent_to(self.chain, seen, self.tuning)
            pole = _turned_pole(seen.positions[:, 0], seen.end, side, target, pole, weight[:, 0])
        return target, orientation, pole


def _turned_pole(base: Array, end: Array, side: Array, target: Array, pole: Array, weight: Array) -> Array:
    """Poles (F, 3) turned about the lines from the bases (F, 3) to the targets (F, 3) towards the animated bend.

    A pole that moved there in a line would pass near the line of the chain, where its direction changes fast.
    end: (F, 3), as animated. side: (F, 3), unit directions of the animated bend. weight: (F,), 0 for the animated bend.
    """
    line = rotation.normalize(target - base)
    start = rotation.rotate(rotation.shortest_arc(end - base, line), side)
    away = pole - base
    beside = away - np.sum(away * line, axis=-1, keepdims=True) * line
    sine = np.sum(line * rotation.cross(start, beside), axis=-1)
    angle = np.arctan2(sine, np.sum(start * beside, axis=-1))
    # From the middle of the range to both ends, so that both directions are those of the shorter way.
    middle = len(angle) // 2
    angle = np.concatenate((np.unwrap(angle[: middle + 1][::-1])[::-1], np.unwrap(angle[middle:])[1:]))
    back = rotation.exp(((weight - 1.0) * angle)[:, None] * line)
    return base + rotation.rotate(back, away)
