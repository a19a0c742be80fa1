"""From the objectives of a chain to offsets of its bones.

The bake, the drag and the contact clean-up all solve here, so that they cannot disagree.
"""

from dataclasses import dataclass

import numpy as np

from ...lookat_pd import ik, rotation
from ...lookat_pd.ik import methods
from ...lookat_pd.rotation import Array
from ..animation import channels
from ..detection.joint_chain import JointChain
from .pose import Seen

METHODS = ik.METHODS
_WIDEST = 100_000
"""Frames to each side beyond which evening out looks no farther."""
_NEARLY_NOTHING = 1e-7
"""A turn [rad] below which a bone keeps its raw values: less than Blender's numbers can hold."""
_IN_REACH = 0.999
"""Part of its length to which a chain counts as long enough: there it is all but straight."""


@dataclass(frozen=True)
class IKTuning:
    """How to solve. tolerance: part of the chain's length by which the effector may miss. smoothness: [s], over which
    the turns of a bake are evened out, 0 for not at all."""

    method: str = methods.default().id
    iterations: int = 100
    tolerance: float = 1e-5
    smoothness: float = 0.0


@dataclass(frozen=True)
class Objectives:
    """Of a chain over F frames, in armature space: target (F, 3) and orientation (F, 4) of the tip, pole (F, 3)."""

    target: Array
    orientation: Array | None = None
    pole: Array | None = None

    def take(self, chosen: Array) -> "Objectives":
        """Some of the frames."""
        orientation, pole = (None if part is None else part[chosen] for part in (self.orientation, self.pole))
        return Objectives(self.target[chosen], orientation, pole)

    def beside_target(self, chain: JointChain) -> list[ik.Objective]:
        """For the solver; an effector that turns itself leaves its orientation to itself."""
        found: list[ik.Objective] = []
        if self.orientation is not None and chain.at_tip:
            found.append(ik.Orientation(self.orientation))
        if self.pole is not None:
            found.append(ik.Pole(self.pole))
        return found


def in_reach(seen: Seen, objectives: Objectives) -> Array:
    """(F,) whether the chain is long enough for its target, and not too long."""
    far = np.linalg.norm(objectives.target - seen.positions[:, 0], axis=-1)
    lengths = np.linalg.norm(seen.offsets, axis=-1)
    nearest = 2.0 * lengths.max(axis=-1) - lengths.sum(axis=-1)
    return (far <= _IN_REACH * lengths.sum(axis=-1)) & (far >= nearest)


@dataclass(frozen=True)
class Turns:
    """What was found: local offsets (F, b, 4) of the bones that turn, by how much the effector misses (F,), how many
    iterations it took (F,), and the errors (1 + iterations, F) after each where they were asked for."""

    offsets: Array
    error: Array
    iterations: Array
    history: Array | None = None


def solve(
    chain: JointChain, seen: Seen, objectives: Objectives, tuning: IKTuning, *, dt: float = 0.0, history: bool = False
) -> Turns:
    """Turn the chain so that its effector comes to the target, every frame from the pose that it has."""
    start = seen.local
    found = _solve(chain, seen, objectives, tuning, start, history=history)
    if tuning.smoothness > 0.0 and dt > 0.0 and len(start) > 1:
        # The way that the turns take over time is evened out, and from there the target is found again, nearby.
        turns = rotation.align_hemisphere(rotation.multiply(rotation.inverse(start), found.rotations))
        evened = rotation.normalize(_evened(turns, tuning.smoothness / dt))
        found = _solve(chain, seen, objectives, tuning, rotation.multiply(start, evened), history=history)
    offsets = _in_channels(chain, seen, objectives, start, found.rotations)
    return Turns(offsets, found.error, found.iterations, found.history)


def _solve(
    chain: JointChain, seen: Seen, objectives: Objectives, tuning: IKTuning, start: Array, *, history: bool = False
) -> ik.IKSolution:
    base = np.concatenate((seen.positions[:, 0], seen.parent), axis=-1)
    lengths = seen.offsets
    scale = float(np.linalg.norm(lengths[0], axis=-1).sum()) or 1.0
    return ik.solve(
        lengths,
        start,
        objectives.target,
        method=tuning.method,
        iterations=tuning.iterations,
        tolerance=tuning.tolerance * scale,
        limits=chain.limits,
        base=base,
        objectives=objectives.beside_target(chain),
        history=history,
    )


def _evened(turns: Array, width: float) -> Array:
    """Means over time of (F, n, 4), weighted by a bell of that width in frames; ends count as going on."""
    whole = min(int(np.ceil(1.5 * width)), _WIDEST)
    bell = np.exp(-0.5 * (np.arange(-whole, whole + 1) / max(0.5 * width, 1e-6)) ** 2)
    bell /= bell.sum()
    # Farther away than the frames reach there are the ends alone.
    half = min(whole, len(turns))
    ends = float(bell[: whole - half].sum())
    padded = np.concatenate((np.repeat(turns[:1], half, 0), turns, np.repeat(turns[-1:], half, 0)))
    result = np.broadcast_to(ends * (turns[:1] + turns[-1:]), turns.shape).copy()
    for k, weight in enumerate(bell[whole - half : whole + half + 1]):
        result += weight * padded[k : k + len(turns)]
    return result


def _in_channels(chain: JointChain, seen: Seen, objectives: Objectives, start: Array, found: Array) -> Array:
    """Offsets (F, b, 4) of the bones' own channels."""
    turns = rotation.multiply(rotation.inverse(start), found)
    if chain.turn_effector:
        turns = np.concatenate((turns, _hand_turn(chain, seen, objectives, found)[:, None]), axis=1)
    turns[rotation.angle(turns) < _NEARLY_NOTHING] = rotation.IDENTITY
    for n, name in enumerate(chain.bones):
        limits = chain.limits if n < len(chain.joints) else chain.end_effector_limits
        mode, raw = seen.raw[name]
        if limits is None or not np.isfinite(limits.euler_minimum).any() | np.isfinite(limits.euler_maximum).any():
            continue
        # Behind a Limit Rotation the channels may hold more than is seen.
        above = start[:, n] if n < len(chain.joints) else _hand_local(chain, seen)
        shown = rotation.multiply(rotation.inverse(chain.rests[n]), above)
        hidden = rotation.multiply(rotation.inverse(channels.to_quaternion(raw, mode)), shown)
        hidden[rotation.angle(hidden) < 1e-5] = rotation.IDENTITY
        turns[:, n] = rotation.multiply(hidden, turns[:, n])
    return turns


def _hand_local(chain: JointChain, seen: Seen) -> Array:
    return rotation.multiply(rotation.inverse(seen.rotations[:, -1]), seen.effector_rotation)


def _hand_turn(chain: JointChain, seen: Seen, objectives: Objectives, found: Array) -> Array:
    """(F, 4), what the effector turns itself by: to the wanted orientation, as far as its limits let it."""
    above = seen.parent
    for n in range(found.shape[1]):
        above = rotation.multiply(above, found[:, n])
    local = _hand_local(chain, seen)
    goal = rotation.multiply(
        rotation.inverse(above), seen.effector_rotation if objectives.orientation is None else objectives.orientation
    )
    if chain.end_effector_limits is not None:
        goal = chain.end_effector_limits.clamp(goal[:, None], local[:, None])[:, 0]
    return rotation.multiply(rotation.inverse(local), goal)
