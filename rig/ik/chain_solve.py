"""From the objectives of a chain to offsets of its bones.

The bake, the drag and the contact clean-up all use this module, so they agree.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from ...lookat_pd import ik, rotation
from ...lookat_pd.ik import bend, methods
from ...lookat_pd.ik.methods import Method
from ...lookat_pd.progress import drained, subrange
from ...lookat_pd.rotation import Array
from ..animation import channels
from ..detection.joint_chain import JointChain
from ..settings import plain
from . import continuation
from .pose import Seen
from .settings import ChainSolving

_NEARLY_NOTHING = 1e-7
"""A rotation [rad] below which a bone keeps its raw values: the precision of Blender's numbers."""
_NEAR = 0.1
"""A target that moves by more of the chain's length jumps, and its pose does not depend on the one before."""
_IN_REACH = 0.999
"""Fraction of its length up to which a chain counts as long enough: there it is almost straight."""


@dataclass(frozen=True)
class IKTuning(plain(ChainSolving)):
    """How a chain is solved, with the settings of `ChainSolving` under their names."""

    tolerance: float = 1e-5
    """Largest error of the effector, as a fraction of the chain's length."""

    @property
    def solver(self) -> Method:
        """The method of solving."""
        return methods.METHODS[self.method.lower()]

    @property
    def is_continuous(self) -> bool:
        """Whether no joint turns much faster than animation and target need: as published, some methods leap where
        another pose is as near, and so they do without a soft reach, as in files of earlier versions."""
        return self.solver.settles or (self.solver.leaps and self.soft_reach > 0.0 and not self.as_published)


@dataclass(frozen=True)
class Objectives:
    """Objectives of a chain over F frames, in armature space: target (F, 3) and orientation (F, 4) of the tip, pole (F,
    3)."""

    target: Array
    orientation: Array | None = None
    pole: Array | None = None
    asked: Array | None = None
    """(F, 3), what the target was before it was moved for a soft reach; None where it is the same."""

    @property
    def wanted(self) -> Array:
        """(F, 3), where the effector is asked to be."""
        return self.target if self.asked is None else self.asked

    def take(self, chosen: Array) -> "Objectives":
        """Some of the frames."""
        others = (self.orientation, self.pole, self.asked)
        return Objectives(self.target[chosen], *(None if part is None else part[chosen] for part in others))

    def then(self, other: "Objectives") -> "Objectives":
        """These frames and those of another one with the same objectives."""
        pairs = ((self.orientation, other.orientation), (self.pole, other.pole), (self.asked, other.asked))
        further = (None if one is None or two is None else np.concatenate((one, two)) for one, two in pairs)
        return Objectives(np.concatenate((self.target, other.target)), *further)

    def beside_target(self, chain: JointChain) -> list[ik.Objective]:
        """The objectives for the solver; without the orientation if the effector rotates itself."""
        objectives: list[ik.Objective] = []
        if self.orientation is not None and chain.at_tip:
            objectives.append(ik.Orientation(self.orientation))
        if self.pole is not None:
            objectives.append(ik.Pole(self.pole))
        return objectives


def in_reach(seen: Seen, objectives: Objectives) -> Array:
    """(F,) whether the chain is long enough for its target, and not too long."""
    far = np.linalg.norm(objectives.wanted - seen.positions[:, 0], axis=-1)
    lengths = np.linalg.norm(seen.offsets, axis=-1)
    nearest = 2.0 * lengths.max(axis=-1) - lengths.sum(axis=-1)
    return (far <= _IN_REACH * lengths.sum(axis=-1)) & (far >= nearest)


@dataclass(frozen=True)
class Turns:
    """The result: local offsets (F, b, 4) of the bones, distances (F,) of the effector from the target that is solved
    for, numbers of iterations (F,), the rotations (F, n, 4) of the joints relative to the one before, the distances
    (F,) from where the effector is asked to be, and, if requested, the errors (1 + iterations, F) after each."""

    offsets: Array
    error: Array
    iterations: Array
    rotations: Array
    missed: Array
    history: Array | None = None


def solving(
    chain: JointChain,
    seen: Seen,
    objectives: Objectives,
    tuning: IKTuning,
    *,
    dt: float = 0.0,
    history: bool = False,
    before: tuple[Objectives, Turns] | None = None,
) -> Generator[float, None, Turns]:
    """Rotate the chain so that its effector reaches the target, each frame starting from its own pose. Yields the
    completed fraction.

    before: of a single frame, what was solved before its target was moved; no joint snaps from there.
    """
    start = seen.local
    solution = _solve(chain, seen, objectives, tuning, start, history=history)
    if before is not None and tuning.is_continuous:
        solution = _continued(chain, seen, objectives, tuning, solution, before)
    if dt > 0.0 and tuning.is_continuous:
        yield 0.2
        course = _course(chain, seen, objectives, tuning)
        solution = yield from subrange(continuation.removing_snaps(course, solution), 0.2, 0.8)
    if tuning.smoothness > 0.0 and dt > 0.0 and len(start) > 1:
        # The rotations are smoothed over time, then solved again from there. A method that settles stays near the pose
        # that it starts from, so that this must be free of the noise of the animation as well.
        origin = rotation.identity(*start.shape[:2]) if tuning.solver.settles else start
        turns = rotation.align_hemisphere(rotation.multiply(rotation.inverse(origin), solution.rotations))
        evened = rotation.normalize(continuation.averaged(turns, tuning.smoothness / dt))
        evened = _allowed(chain, start, rotation.multiply(origin, evened))
        yield 0.8
        solution = _solve(chain, seen, objectives, tuning, evened, history=history)
    offsets = _in_channels(chain, seen, objectives, start, solution.rotations)
    missed = solution.error
    if objectives.asked is not None:
        _, places = bend.forward(solution.rotations, seen.offsets)
        asked = rotation.rotate(rotation.inverse(seen.parent), objectives.asked - seen.positions[:, 0])
        missed = np.linalg.norm(asked - places[:, -1], axis=-1)
    return Turns(offsets, solution.error, solution.iterations, solution.rotations, missed, solution.history)


solve = drained("solve", solving)


def _solve(
    chain: JointChain,
    seen: Seen,
    objectives: Objectives,
    tuning: IKTuning,
    start: Array,
    *,
    history: bool = False,
    posture: ik.Posture | None = None,
) -> ik.IKSolution:
    base = np.concatenate((seen.positions[:, 0], seen.parent), axis=-1)
    lengths = seen.offsets
    scale = float(np.linalg.norm(lengths[0], axis=-1).sum()) or 1.0
    return ik.solve(
        lengths,
        start,
        objectives.target,
        method=tuning.solver.id,
        iterations=tuning.iterations,
        tolerance=tuning.tolerance * scale,
        limits=chain.limits,
        base=base,
        objectives=objectives.beside_target(chain),
        posture=_posture(chain, seen) if posture is None else posture,
        history=history,
        published=tuning.as_published,
    )


def bent_to(chain: JointChain, seen: Seen, tuning: IKTuning) -> Array:
    """The unit directions (F, 3) to which the animated chain bends, as its pole measures them."""
    posture = _posture(chain, seen) if tuning.solver.settles else None
    return rotation.rotate(seen.parent, bend.sides(posture, seen.local, seen.offsets))


def _posture(chain: JointChain, seen: Seen) -> ik.Posture | None:
    """The posture of a chain, with hinges bent as in the animation."""
    return None if chain.posture is None else chain.posture.as_bent(seen.offsets, seen.local)


def _continued(
    chain: JointChain,
    seen: Seen,
    objectives: Objectives,
    tuning: IKTuning,
    solution: ik.IKSolution,
    before: tuple[Objectives, Turns],
) -> ik.IKSolution:
    """The solution of a single frame, continuous where its target was moved there from nearby, as by a mouse."""
    there, turns = before
    if np.linalg.norm(objectives.target - there.target) > _NEAR * float(seen.reachable_distance[0]):
        return solution
    both = ik.IKSolution(
        np.concatenate((turns.rotations, solution.rotations)),
        np.append(turns.error, solution.error),
        np.append(turns.iterations, solution.iterations),
    )
    course = _course(chain, seen.take(np.zeros(2, dtype=int)), there.then(objectives), tuning)
    found = continuation.continued_from_before(course, both)
    return replace(solution, rotations=found.rotations[1:], error=found.error[1:], iterations=found.iterations[1:])


def _course(chain: JointChain, seen: Seen, objectives: Objectives, tuning: IKTuning) -> continuation.Course:
    def solved(start: Array, frames: Array) -> ik.IKSolution:
        return _solve(chain, seen.take(frames), objectives.take(frames), tuning, start, posture=posture)

    posture = _posture(chain, seen)
    return continuation.Course(
        seen.local,
        _needed(seen, objectives, posture),
        solved,
        lambda pose, frames: _allowed(chain, seen.local[frames], pose),
    )


def _needed(seen: Seen, objectives: Objectives, posture: ik.Posture | None) -> float:
    """The largest rotation [rad] of a joint from a frame to the next that animation and objectives need."""
    places = np.concatenate((seen.positions, seen.end[:, None]), axis=1)
    above = np.linalg.norm(places[:, 1:-1] - places[:, :1], axis=-1)
    below = np.linalg.norm(places[:, -1:] - places[:, 1:-1], axis=-1)
    if not above.shape[1]:
        above, below = seen.reachable_distance[:, None], np.zeros((len(places), 1))
    shorter = np.minimum(above, below)[0]
    if posture is not None and posture.is_hinge[1:].any():
        shorter = np.where(posture.is_hinge[1:], shorter, -1.0)
    middle = int(np.argmax(shorter))
    towards = rotation.rotate(rotation.inverse(seen.parent), objectives.target - places[:, 0])
    rotation_needed = continuation.needed(seen.local, towards, above[:, middle], below[:, middle])
    for wanted in (objectives.orientation, objectives.pole):
        if wanted is not None and len(wanted) > 1:
            rotation_needed += float(_turned(seen, wanted).max())
    return rotation_needed


def _turned(seen: Seen, wanted: Array) -> Array:
    """The angles (F - 1,) [rad] by which orientations (F, 4) or the directions of points (F, 3) turn."""
    back = rotation.inverse(seen.parent)
    if wanted.shape[-1] == 4:
        local = rotation.multiply(back, wanted)
        return rotation.distance(local[1:], local[:-1])
    seen_from_base = rotation.rotate(back, wanted - seen.positions[:, 0])
    return rotation.angle_between(seen_from_base[1:], seen_from_base[:-1])


def _allowed(chain: JointChain, start: Array, pose: Array) -> Array:
    """A smoothed pose (F, n, 4) within the limits; locked axes are as animated."""
    return pose if chain.limits is None else chain.limits.clamp(pose, start)


def _in_channels(chain: JointChain, seen: Seen, objectives: Objectives, start: Array, rotations: Array) -> Array:
    """Offsets (F, b, 4) for the channels of the bones."""
    turns = rotation.multiply(rotation.inverse(start), rotations)
    if chain.turn_effector:
        turns = np.concatenate((turns, _hand_turn(chain, seen, objectives, rotations)[:, None]), axis=1)
    turns[rotation.angle(turns) < _NEARLY_NOTHING] = rotation.IDENTITY
    for n, name in enumerate(chain.bones):
        limits = chain.limits if n < len(chain.joints) else chain.end_effector_limits
        above = start[:, n] if n < len(chain.joints) else _hand_local(seen)
        turns[:, n] = in_channels(turns[:, n], limits, above, chain.rests[n], seen.raw[name])
    return turns


def in_channels(turn: Array, limits: ik.Limits | None, local: Array, rest: Array, raw: tuple[str, Array]) -> Array:
    """The offsets (F, 4) of a bone's channels that turn what is evaluated by `turn` (F, 4).

    With a Limit Rotation constraint, which limits with Euler angles come from, the channels may exceed the evaluated
    rotation `local` (F, 4). rest: (4,). raw: the rotation mode and the channels.
    """
    if limits is None or not np.isfinite(limits.euler_minimum).any() | np.isfinite(limits.euler_maximum).any():
        return turn
    mode, values = raw
    shown = rotation.multiply(rotation.inverse(rest), local)
    hidden = rotation.multiply(rotation.inverse(channels.to_quaternion(values, mode)), shown)
    hidden[rotation.angle(hidden) < 1e-5] = rotation.IDENTITY
    return rotation.multiply(hidden, turn)


def _hand_local(seen: Seen) -> Array:
    return rotation.multiply(rotation.inverse(seen.rotations[:, -1]), seen.effector_rotation)


def _hand_turn(chain: JointChain, seen: Seen, objectives: Objectives, rotations: Array) -> Array:
    """The rotation (F, 4) of the effector itself to its target orientation, within its limits."""
    above = seen.parent
    for n in range(rotations.shape[1]):
        above = rotation.multiply(above, rotations[:, n])
    local = _hand_local(seen)
    goal = rotation.multiply(
        rotation.inverse(above), seen.effector_rotation if objectives.orientation is None else objectives.orientation
    )
    if chain.end_effector_limits is not None:
        goal = chain.end_effector_limits.clamp(goal[:, None], local[:, None])[:, 0]
    return rotation.multiply(rotation.inverse(local), goal)
