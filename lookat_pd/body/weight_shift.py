"""What the body does while the head turns: the hips shift its weight, and the arms lag behind the rib cage.

Source: the body's answer of the look-at of FINAL FANTASY XVI (Kawachi et al., Square Enix, CEDEC 2024), layered on top
of the look-at in this order, each through a PD controller of its own. What drives them is at rest, exactly, wherever
the look-at is; then they come to rest too, exactly.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from . import rotation
from .chain import Chain
from .errors import InvalidArgument
from .follow import Follower, Tuning
from .rotation import Array
from .second_order import check_tuning
from .sharing import soft_limit

_CLAVICLE = 0.25
"""The part of an arm's swing that the collar bone takes."""
_WIDEST_SWING = np.radians(40.0)


@dataclass(frozen=True)
class WeightShift:
    """How the hips answer the head. side, back: way [m] that they go, against a head turned by 90 degrees and back.

    settle_time [s] and damping_ratio of their controller.
    """

    side: float
    back: float
    settle_time: float
    damping_ratio: float = 1.0

    def __post_init__(self) -> None:
        check_tuning(self.settle_time, self.damping_ratio)
        if not np.all(np.isfinite((self.side, self.back))):
            raise InvalidArgument("How far the hips shift must be finite numbers.")


@dataclass(frozen=True)
class Recoil:
    """How the arms answer the rib cage. amount: how much of their lag shows, 0 none, 1 all of it.

    settle_time [s] and damping_ratio of each arm's controller; below 1 arms swing out.
    """

    amount: float
    settle_time: float
    damping_ratio: float = 0.5

    def __post_init__(self) -> None:
        check_tuning(self.settle_time, self.damping_ratio)
        if not (np.isfinite(self.amount) and self.amount >= 0.0):
            raise InvalidArgument(f"The amount of arm recoil must be 0 or more, not {self.amount}.")


@dataclass(frozen=True)
class Carrying:
    """Where a look-at's chain carries what hangs on it, over F frames.

    turns: (F, b, 4) rotations of what hangs on each bone, head first, in the space of the input; places: (F, b, 3)
    where the bones are then, and before: (F, b, 3) where they were; shift: (F, 3) of all.
    """

    turns: Array
    places: Array
    before: Array
    shift: Array

    @classmethod
    def of(cls, rotations: Array, positions: Array, offsets: Array, shift: Array) -> "Carrying":
        """rotations (F, b, 4), positions (F, b, 3): the chain as animated. offsets: (F, b, 4) local. shift: (F, 3)."""
        frames, bones = rotations.shape[:2]
        turns, places = np.empty((frames, bones, 4)), np.empty((frames, bones, 3))
        turn, place = rotation.identity(frames), positions[:, -1] + shift
        for bone in range(bones - 1, -1, -1):
            if bone < bones - 1:
                place = place + rotation.rotate(turn, positions[:, bone] - positions[:, bone + 1])
            here = rotations[:, bone]
            added = rotation.multiply(here, rotation.multiply(offsets[:, bone], rotation.inverse(here)))
            still = np.all(offsets[:, bone] == rotation.IDENTITY, axis=-1)
            turn = np.where(still[:, None], turn, rotation.multiply(turn, added))
            turns[:, bone], places[:, bone] = turn, place
        return cls(turns, places, positions, shift)

    def carry(self, anchors: Sequence[int], rotations: Array, positions: Array) -> tuple[Array, Array]:
        """Orientations (F, k, 4) and positions (F, k, 3) of k things, each carried by a bone of the chain; -1: by none.

        Where nothing has moved they are the same numbers.
        """
        anchors = list(anchors)
        # Behind the last bone stands what carries those that none does.
        turns = np.concatenate((self.turns, rotation.identity(len(self.turns), 1)), axis=1)[:, anchors]
        there = np.concatenate((self.places, self.shift[:, None]), axis=1)[:, anchors]
        before = np.concatenate((self.before, np.zeros_like(self.shift[:, None])), axis=1)[:, anchors]
        still = np.all(self.shift == 0.0, axis=-1)[:, None] & np.all(turns == rotation.IDENTITY, axis=-1)
        still = still[..., None]
        moved = there + rotation.rotate(turns, positions - before)
        return np.where(still, rotations, rotation.multiply(turns, rotations)), np.where(still, positions, moved)


def followed(goals: Array, resting: Array, dt: float, tuning: Tuning) -> Array:
    """What controllers make of goals (F, m, 3), sampled every `dt` seconds: deviations (F, m, 3) that follow them.

    resting: (F,) frames at which what drives the goals is at rest. Then the goals are zero, and once the controllers
    are within the tuning's release thresholds so are they, exactly. At the first frame they have arrived.
    """
    follower = Follower(tuning, np.full(goals.shape[1], tuning.settle_time), dt)
    result = np.zeros_like(goals)
    state = np.stack((goals[0], np.zeros_like(goals[0])), axis=-1) if not resting[0] else follower.rest
    result[0] = state[..., 0]
    for first, last, still in _stretches(resting):
        # From the frame before, whose state is known.
        begin = max(first - 1, 0)
        length = (last - begin) * dt
        if still:
            states, state = follower.release(last - begin + 1, 0.0, length, state)
        else:
            states, state = follower.run(goals[begin : last + 1], 0.0, length, state)
        result[begin + 1 : last + 1] = states[1:, ..., 0]
    return result


def _stretches(resting: Array) -> Iterator[tuple[int, int, bool]]:
    """First and last frames of the stretches at rest and in motion."""
    edges = [0, *(np.flatnonzero(np.diff(resting)) + 1).tolist(), len(resting)]
    for first, end in pairwise(edges):
        yield first, end - 1, bool(resting[first])


def head_turn(chain: Chain, offsets: Array) -> Array:
    """How far to the left (F,) [rad] all offsets (F, b, 4) of a chain together turn the head."""
    return rotation.dot(rotation.log(offsets), chain.up).sum(axis=-1)


def weight_shift(shift: WeightShift, turn: Array, left: Array, back: Array, dt: float) -> Array:
    """Way (F, 3) of the hips for a head turned by `turn` (F,) [rad] to the left.

    left, back: (F, 3) unit vectors of the character at each frame, level with the ground.
    """
    angle = np.clip(turn, -0.5 * np.pi, 0.5 * np.pi)
    # One unit is the way that counts: the release thresholds are fractions of it.
    wanted = np.stack((-np.sin(angle), np.sin(angle) ** 2, np.zeros_like(angle)), axis=-1)
    tuning = Tuning(shift.settle_time, shift.damping_ratio, release_angle=0.02, release_speed=0.08)
    found = followed(wanted[:, None], turn == 0.0, dt, tuning)[:, 0]
    return shift.side * found[:, :1] * left + shift.back * found[:, 1:2] * back


def recoil(arms: Recoil, shoulders: Array, hands: Array, hands_before: Array, dt: float) -> Array:
    """Turns (F, a, 4) of arms about their shoulders, in the space of the input.

    shoulders, hands: (F, a, 3) as the turned body carries them; hands_before: (F, a, 3) as animated. The hands are
    heavy: each follows the way that the body takes it through a controller, and the arm turns to where its hand is.
    """
    way = hands - hands_before
    resting = np.all(way == 0.0, axis=(1, 2))
    reach = np.maximum(np.linalg.norm(hands - shoulders, axis=-1, keepdims=True), 1e-9)
    tuning = Tuning(arms.settle_time, arms.damping_ratio)
    # In arm lengths, so that the release thresholds are angles of the arm.
    size = reach.mean(axis=0)
    lag = followed(way / size, resting, dt, tuning) * size - way
    swing = rotation.log(rotation.shortest_arc(hands - shoulders, hands - shoulders + arms.amount * lag))
    angle = np.linalg.norm(swing, axis=-1, keepdims=True)
    held = soft_limit(angle, _WIDEST_SWING, 0.5 * _WIDEST_SWING)
    return rotation.exp(swing * held / np.maximum(angle, 1e-300))


def swung(turns: Array, clavicle: Array | None, arm: Array) -> tuple[Array | None, Array]:
    """Local offsets (F, 4) of a collar bone, if there is one, and of an upper arm that swing an arm by `turns` (F, 4).

    clavicle, arm: (F, 4) orientations as the turned body carries them.
    """
    still = np.all(turns == rotation.IDENTITY, axis=-1)[:, None]
    if clavicle is None:
        return None, np.where(still, rotation.IDENTITY, _local(turns, arm))
    first = rotation.exp(_CLAVICLE * rotation.log(turns))
    rest = rotation.multiply(rotation.inverse(first), turns)
    return (
        np.where(still, rotation.IDENTITY, _local(first, clavicle)),
        np.where(still, rotation.IDENTITY, _local(rest, arm)),
    )


def _local(turn: Array, orientation: Array) -> Array:
    """A turn seen from outside as a local offset of something with that orientation."""
    return rotation.multiply(rotation.inverse(orientation), rotation.multiply(turn, orientation))
