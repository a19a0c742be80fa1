"""From what is wanted of a chain to offsets of its bones.

The bake, the drag and the contact clean-up all solve here, so that they cannot disagree.
"""

from dataclasses import dataclass

import numpy as np

from ...lookat_pd import ik, rotation
from ...lookat_pd.rotation import Array
from .. import channels
from .chain import Chain
from .pose import Seen

METHODS = ik.METHODS
_NEARLY_NOTHING = 1e-7
"""A turn [rad] below which a bone keeps its raw values: less than Blender's numbers can hold."""
_IN_REACH = 0.999
"""Part of its length to which a chain counts as long enough: there it is all but straight."""


@dataclass(frozen=True)
class Tuning:
    """How to solve. tolerance: part of the chain's length by which the effector may miss. smoothness: [s], over which
    the turns of a bake are evened out, 0 for not at all. orientation_weight: 0 to 1, where an orientation is wanted."""

    method: str = "ccd_root"
    iterations: int = 100
    tolerance: float = 1e-5
    smoothness: float = 0.0
    orientation_weight: float = 1.0


@dataclass(frozen=True)
class Wanted:
    """What is wanted of a chain over F frames, in armature space. orientation: (F, 4) of the effector. pole: (F, 3)."""

    target: Array
    orientation: Array | None = None
    pole: Array | None = None

    def take(self, chosen: Array) -> "Wanted":
        """Some of the frames."""
        orientation, pole = (None if part is None else part[chosen] for part in (self.orientation, self.pole))
        return Wanted(self.target[chosen], orientation, pole)


def in_reach(seen: Seen, wanted: Wanted) -> Array:
    """(F,) whether the chain is long enough for its target, and not too long."""
    far = np.linalg.norm(wanted.target - seen.positions[:, 0], axis=-1)
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


def solve(chain: Chain, seen: Seen, wanted: Wanted, tuning: Tuning, *, dt: float = 0.0, history: bool = False) -> Turns:
    """Turn the chain so that its effector comes to the target, every frame from the pose that it has."""
    start = seen.local
    found = _solve(chain, seen, wanted, tuning, start, history=history)
    if tuning.smoothness > 0.0 and dt > 0.0 and len(start) > 1:
        # The way that the turns take over time is evened out, and from there the target is found again, nearby.
        turns = rotation.align_hemisphere(rotation.multiply(rotation.inverse(start), found.rotations))
        evened = rotation.normalize(_evened(turns, tuning.smoothness / dt))
        found = _solve(chain, seen, wanted, tuning, rotation.multiply(start, evened), history=history)
    offsets = _in_channels(chain, seen, wanted, tuning, start, found.rotations)
    return Turns(offsets, found.error, found.iterations, found.history)


def _solve(
    chain: Chain, seen: Seen, wanted: Wanted, tuning: Tuning, start: Array, *, history: bool = False
) -> ik.Solution:
    base = np.concatenate((seen.positions[:, 0], seen.parent), axis=-1)
    lengths = seen.offsets
    scale = float(np.linalg.norm(lengths[0], axis=-1).sum()) or 1.0
    return ik.solve(
        lengths,
        start,
        wanted.target,
        method=tuning.method,
        iterations=tuning.iterations,
        tolerance=tuning.tolerance * scale,
        limits=chain.limits,
        base=base,
        orientation=wanted.orientation if chain.at_tip else None,
        orientation_weight=tuning.orientation_weight,
        pole=wanted.pole,
        history=history,
    )


def _evened(turns: Array, width: float) -> Array:
    """Means over time of (F, n, 4), weighted by a bell of that width in frames; ends count as going on."""
    half = int(np.ceil(1.5 * width))
    bell = np.exp(-0.5 * (np.arange(-half, half + 1) / max(0.5 * width, 1e-6)) ** 2)
    padded = np.concatenate((np.repeat(turns[:1], half, 0), turns, np.repeat(turns[-1:], half, 0)))
    result = np.zeros_like(turns)
    for k, weight in enumerate(bell / bell.sum()):
        result += weight * padded[k : k + len(turns)]
    return result


def _in_channels(chain: Chain, seen: Seen, wanted: Wanted, tuning: Tuning, start: Array, found: Array) -> Array:
    """Offsets (F, b, 4) of the bones' own channels."""
    turns = rotation.multiply(rotation.inverse(start), found)
    if chain.hand:
        turns = np.concatenate((turns, _hand_turn(chain, seen, wanted, tuning, found)[:, None]), axis=1)
    turns[rotation.angle(turns) < _NEARLY_NOTHING] = rotation.IDENTITY
    for n, name in enumerate(chain.bones):
        limits = chain.limits if n < len(chain.joints) else chain.hand_limits
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


def _hand_local(chain: Chain, seen: Seen) -> Array:
    return rotation.multiply(rotation.inverse(seen.rotations[:, -1]), seen.hand)


def _hand_turn(chain: Chain, seen: Seen, wanted: Wanted, tuning: Tuning, found: Array) -> Array:
    """(F, 4), what the effector turns itself by: to the wanted orientation, as far as its limits let it."""
    above = seen.parent
    for n in range(found.shape[1]):
        above = rotation.multiply(above, found[:, n])
    local = _hand_local(chain, seen)
    goal = rotation.multiply(rotation.inverse(above), seen.hand if wanted.orientation is None else wanted.orientation)
    if tuning.orientation_weight < 1.0:
        goal = rotation.slerp(local, goal, np.full(len(goal), tuning.orientation_weight))
    if chain.hand_limits is not None:
        goal = chain.hand_limits.clamp(goal[:, None], local[:, None])[:, 0]
    return rotation.multiply(rotation.inverse(local), goal)
