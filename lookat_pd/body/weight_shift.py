"""Weight shift: the hips move opposite to the turn of the head; and the bodies that move with the chain of a look-at.

Below a head that looks up they move forward, below one that looks down back. They also move to the leg that carries
more weight.

Source: the body response of the look-at of FINAL FANTASY XVI (Kawachi et al., Square Enix, CEDEC 2024), with a separate
PD controller. The motion that drives the hips is exactly at rest when the look-at is, so the hips come to rest exactly,
too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .. import curves, rotation
from ..errors import InvalidArgument
from ..gaze.chain import Chain
from ..gaze.target_angles import ForwardKinematics
from ..pd.followers import Follower, Tuning
from ..pd.second_order import check_tuning
from ..rotation import Array

_EASE = 0.5
"""Time [s] in which the weight goes to the other leg, before the hips follow."""


@dataclass(frozen=True)
class WeightShift:
    """How the hips respond to the head.

    settle_time [s] and damping_ratio of their controller.
    """

    side: float
    back: float
    """`side`, `back`: displacement [m] to the opposite side and backwards for a head turned by 90 degrees."""
    settle_time: float
    damping_ratio: float = 1.0
    pitch: float = 0.0
    """Displacement [m] forward for a head that looks up by 90 degrees, and back for one that looks down as far."""

    def __post_init__(self) -> None:
        check_tuning(self.settle_time, self.damping_ratio)
        if not np.all(np.isfinite((self.side, self.back, self.pitch))):
            raise InvalidArgument("The displacements of the weight shift must be finite; enter numbers.")


@dataclass(frozen=True)
class ChainMotion:
    """How the chain of a look-at moves its children, over F frames."""

    turns: Array
    """(F, b, 4) rotations of the children of each bone, head first, in the space of the input."""
    places: Array
    before: Array
    """`places`, `before`: (F, b, 3) positions of the bones after and before."""
    shift: Array
    """Shift (F, 3) of all."""

    @classmethod
    def of(cls, rotations: Array, positions: Array, offsets: Array, shift: Array) -> "ChainMotion":
        """rotations (F, b, 4), positions (F, b, 3): the chain as animated. offsets: (F, b, 4) local. shift: (F, 3)."""
        chain, places = ForwardKinematics(rotations[:, ::-1], positions[:, ::-1]), []
        chain.move_head(shift)
        for bone in range(rotations.shape[1]):
            chain.turn(slice(bone, bone + 1), offsets[:, -1 - bone, None])
            places.append(chain.origin)
        return cls(chain.deltas[:, ::-1], np.stack(places[::-1], axis=1), positions, shift)

    def propagate(self, anchors: Sequence[int], rotations: Array, positions: Array) -> tuple[Array, Array]:
        """Orientations (F, k, 4) and positions (F, k, 3) of k bodies, each a child of a bone of the chain; -1: of none.

        Where nothing has moved, the numbers are unchanged.
        """
        anchors = list(anchors)
        # The row after the last bone is for bodies without a parent in the chain.
        turns = np.concatenate((self.turns, rotation.identity(len(self.turns), 1)), axis=1)[:, anchors]
        there = np.concatenate((self.places, self.shift[:, None]), axis=1)[:, anchors]
        before = np.concatenate((self.before, np.zeros_like(self.shift[:, None])), axis=1)[:, anchors]
        still = np.all(self.shift == 0.0, axis=-1)[:, None] & np.all(turns == rotation.IDENTITY, axis=-1)
        still = still[..., None]
        moved = there + rotation.rotate(turns, positions - before)
        return np.where(still, rotations, rotation.multiply(turns, rotations)), np.where(still, positions, moved)


def followed(goals: Array, resting: Array, dt: float, tuning: Tuning) -> Array:
    """Deviations (F, m, 3) of controllers that follow goals (F, m, 3), sampled every `dt` seconds.

    resting: (F,) frames at which the source of the goals is at rest. The goals are then zero, and the controllers
    become exactly zero once they are within the release thresholds of the tuning. At the first frame they have arrived.
    """
    follower = Follower(tuning, np.full(goals.shape[1], tuning.settle_time), dt)
    result = np.zeros_like(goals)
    state = np.stack((goals[0], np.zeros_like(goals[0])), axis=-1) if not resting[0] else follower.rest
    result[0] = state[..., 0]
    for first, last, still in _stretches(resting):
        # From the previous frame, whose state is known.
        begin = max(first - 1, 0)
        length = (last - begin) * dt
        if still:
            states, state = follower.release(last - begin + 1, 0.0, length, state)
        else:
            states, state = follower.run(goals[begin : last + 1], 0.0, length, state)
        result[begin + 1 : last + 1] = states[1:, ..., 0]
    return result


def _stretches(resting: Array) -> Iterator[tuple[int, int, bool]]:
    """First and last frames of the intervals at rest and in motion."""
    edges = [0, *(np.flatnonzero(np.diff(resting)) + 1).tolist(), len(resting)]
    for first, end in pairwise(edges):
        yield first, end - 1, bool(resting[first])


def eased(values: Array, dt: float) -> Array:
    """Values (F,) that are held from each frame to the next change, with changes that take a moment."""
    result = values.astype(float)
    for frame in np.flatnonzero(np.diff(values)) + 1:
        u = np.arange(1 + int(_EASE / dt)) * dt / _EASE
        u = u[: len(values) - frame]
        result[frame : frame + len(u)] += (curves.smooth_step(u)[0] - 1.0) * (values[frame] - values[frame - 1])
    return result


def head_turn(chain: Chain, offsets: Array) -> Array:
    """The angle (F,) [rad] to the left by which all offsets (F, b, 4) of a chain together turn the head."""
    return rotation.dot(rotation.log(offsets), chain.up).sum(axis=-1)


def head_pitch(chain: Chain, offsets: Array) -> Array:
    """The angle (F,) [rad] upwards by which all offsets (F, b, 4) of a chain together turn the head."""
    return rotation.dot(rotation.log(offsets), chain.right).sum(axis=-1)


def weight_shift(
    shift: WeightShift,
    turn: Array,
    left: Array,
    back: Array,
    dt: float,
    pitch: Array | float = 0.0,
    stance: Array | float = 0.0,
) -> Array:
    """Displacement (F, 3) of the hips for a head turned by `turn` (F,) [rad] to the left and `pitch` (F,) [rad] up.

    left, back: (F, 3) unit vectors of the character at each frame, level with the ground. The head is heavy: what leans
    back with it is balanced by hips that go forward. stance: (F,) part of the weight that is on the left leg, -1 to 1:
    at 1 the hips are as far to the left as below a head that is turned by 90 degrees.
    """
    angle = np.clip(turn, -0.5 * np.pi, 0.5 * np.pi)
    up = (
        np.broadcast_to(np.clip(pitch, -0.5 * np.pi, 0.5 * np.pi), angle.shape) if shift.pitch else np.zeros_like(angle)
    )
    # One unit is the reference distance: the release thresholds are fractions of it.
    aside = eased(np.clip(np.broadcast_to(stance, angle.shape), -1.0, 1.0), dt) - np.sin(angle)
    wanted = np.stack((aside, np.sin(angle) ** 2, np.sin(up)), axis=-1)
    tuning = Tuning(shift.settle_time, shift.damping_ratio, release_angle=0.02, release_speed=0.08)
    states = followed(wanted[:, None], (turn == 0.0) & (up == 0.0) & (aside == 0.0), dt, tuning)[:, 0]
    return shift.side * states[:, :1] * left + (shift.back * states[:, 1:2] - shift.pitch * states[:, 2:]) * back
