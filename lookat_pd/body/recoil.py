"""Arm recoil: the arms lag behind the rib cage while the head turns.

Source: the body response of the look-at of FINAL FANTASY XVI (Kawachi et al., Square Enix, CEDEC 2024). The motion that
drives the arms is exactly at rest when the look-at is, so the arms come to rest exactly, too.
"""

from dataclasses import dataclass

import numpy as np

from .. import rotation
from ..errors import InvalidArgument
from ..gaze.turn_distribution import soft_limit
from ..pd.followers import Tuning
from ..pd.second_order import check_tuning
from ..rotation import Array
from .weight_shift import followed

_CLAVICLE = 0.25
"""The share of the collar bone in the swing of an arm."""
_WIDEST_SWING = np.radians(40.0)


@dataclass(frozen=True)
class Recoil:
    """How the arms respond to the rib cage.

    settle_time [s] and damping_ratio of each arm's controller; below 1 the arms overshoot.
    """

    amount: float
    """The visible fraction of their lag, 0 to 1."""
    settle_time: float
    damping_ratio: float = 0.5

    def __post_init__(self) -> None:
        check_tuning(self.settle_time, self.damping_ratio)
        if not (np.isfinite(self.amount) and self.amount >= 0.0):
            raise InvalidArgument("The amount of arm recoil must be 0 or more, not {amount}.", amount=self.amount)


def recoil(arms: Recoil, shoulders: Array, hands: Array, hands_before: Array, dt: float) -> Array:
    """Rotations (F, a, 4) of arms about their shoulders, in the space of the input.

    shoulders, hands: (F, a, 3) as the rotated body moves them; hands_before: (F, a, 3) as animated. The hands are
    heavy: each follows the displacement of the body through a controller, and the arm points at its hand.
    """
    displacement = hands - hands_before
    resting = np.all(displacement == 0.0, axis=(1, 2))
    reach = np.maximum(np.linalg.norm(hands - shoulders, axis=-1, keepdims=True), 1e-9)
    tuning = Tuning(arms.settle_time, arms.damping_ratio)
    # In arm lengths: the release thresholds are then angles of the arm.
    size = reach.mean(axis=0)
    lag = followed(displacement / size, resting, dt, tuning) * size - displacement
    swing = rotation.log(rotation.shortest_arc(hands - shoulders, hands - shoulders + arms.amount * lag))
    angle = np.linalg.norm(swing, axis=-1, keepdims=True)
    held = soft_limit(angle, _WIDEST_SWING, 0.5 * _WIDEST_SWING)
    return rotation.exp(swing * held / np.maximum(angle, 1e-300))


def swung(turns: Array, clavicle: Array | None, arm: Array) -> tuple[Array | None, Array]:
    """Local offsets (F, 4) of the collar bone, if any, and of the upper arm that rotate an arm by `turns` (F, 4).

    clavicle, arm: (F, 4) orientations as the rotated body moves them.
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
    """A rotation of the outer space as a local offset of something with that orientation."""
    return rotation.multiply(rotation.inverse(orientation), rotation.multiply(turn, orientation))
