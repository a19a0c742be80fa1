"""Goals of the bones that are solved together: their parts of the turn towards a target, and of a roll of the head."""

import numpy as np

from .. import rotation
from ..rotation import Array
from .chain import Chain
from .leveling import Leveling
from .target_angles import TargetAngles, nearest_turn
from .turn_distribution import TurnDistribution, TurnLimits, soft_limit, turn_axes, turn_vectors


class StageGoals:
    """The goals of one stage of a chain. Bones are listed root first here.

    stage: its bones. compensates: whether they compensate the lag of those below. distribution: of yaw, pitch up and
    pitch down over the bones from the first of them to the head.
    """

    def __init__(self, chain: Chain, limits: TurnLimits, stage: slice) -> None:
        """limits: of all bones."""
        self.chain, self.stage = chain, stage
        self.shares, self.compensating = chain.shares[::-1], chain.compensates_lag[::-1]
        self.forward, self.up, self.right = chain.forward[::-1], chain.up[::-1], chain.right[::-1]
        self.axes = turn_axes(self.up, self.right)
        self.compensates = bool(self.compensating[stage.start])
        yaw, up, down = (
            TurnDistribution.of(self.shares[stage.start :], limits.goal * limit[stage.start :], chain.soft_edge)
            for limit in (limits.yaw, limits.pitch_up, limits.pitch_down)
        )
        self.distribution = yaw, up, down

    def turn(self, angles: TargetAngles, for_eyes: tuple[Array, Array], reference: Array) -> tuple[Array, Array]:
        """Yaw and pitch (n,) that remain for these bones and those above.

        angles: of the target, as the bones below turn the head. for_eyes: yaw and pitch (n,) of the eyes. reference:
        yaw (n,) of about the same, with its multiple of 2 pi.
        """
        yaw = (nearest_turn(angles.yaw, reference) - for_eyes[0]) * angles.weight(self.distribution)
        pitch = (angles.pitch - for_eyes[1]) * angles.near
        if self.compensates:
            return yaw, pitch
        further = self.chain.furthered_by_torso(yaw)
        return self.chain.joined_by_torso(yaw) + further, self.chain.joined_by_torso(pitch)

    def vectors(self, yaw: Array, pitch: Array, head: Array, leveling: Leveling | None) -> Array:
        """Goals (n, stage, 3) as rotation vectors for a yaw and pitch (n,).

        head: (n, 4) its orientation below this stage. leveling: the bones below the head take their part of that roll;
        None for none.
        """
        if not self.compensates or self.stage.stop == len(self.shares):
            leveling = None
        own = self.stage.stop - self.stage.start
        across, upward, downward = self.distribution
        # What the head will reach, and is leveled for, is the turn of all bones.
        size = len(self.shares) - self.stage.start if leveling is not None else own
        sign, is_up = np.sign(yaw), pitch > 0.0
        aside = across.divide(np.abs(yaw), size)
        up = down = upward.divide(np.maximum(pitch, 0.0), size)
        pitches = up[:, :own]
        if not is_up.all():
            down = downward.divide(np.maximum(-pitch, 0.0), size)
            pitches = np.where(is_up[:, None], pitches, -down[:, :own])
        vectors = turn_vectors(sign[:, None] * aside[:, :own], pitches, self.axes[self.stage])
        if leveling is None:
            return vectors
        lowered = 0.0 if down is up else down.sum(axis=-1)
        return self._leveled(vectors, (sign * aside.sum(axis=-1), up.sum(axis=-1) - lowered), head, leveling)

    def smoothed(self, yaw: Array, pitch: Array) -> tuple[Array, Array]:
        """Yaw and pitch (n,) as they approach the largest turn smoothly, for what no controller follows."""
        across, up, down = (part.largest_turn for part in self.distribution)
        edge = self.chain.soft_edge
        vertical = soft_limit(np.abs(pitch), np.where(pitch > 0.0, up, down), edge)
        return np.sign(yaw) * soft_limit(np.abs(yaw), across, edge), np.sign(pitch) * vertical

    def _leveled(self, vectors: Array, turned: tuple[Array, Array], head: Array, leveling: Leveling) -> Array:
        """Goals (n, 1, 3) with the part of the bone in the roll that levels the head.

        turned: yaw and pitch (n,) still to be added. head, leveling: as for `vectors`.
        """
        yaw, pitch = (angle[:, None] for angle in turned)
        turn = rotation.exp(turn_vectors(yaw, pitch, self.axes[-1:]))[:, 0]
        roll = leveling.roll(rotation.multiply(head, turn), self.up[-1], self.right[-1])
        if not roll.any():
            return vectors
        remaining = np.arange(len(self.chain)) >= self.stage.start
        return self._rolled(vectors, self._part(remaining) * roll, self.forward[self.stage])

    def tilted(self, vectors: Array, tilt: Array, angles: TargetAngles) -> Array:
        """Goals (n, 1, 3) with the part of the bone in a tilt (n,) of the head to its left. angles: of the target."""
        forward = self.forward[self.stage]
        if self.stage.stop == len(self.shares):
            forward = angles.ahead(self.forward[-1], self.up[-1])[0]
        # Which is against the sense of rotation about the axis ahead.
        return self._rolled(vectors, -self._part(self.compensating) * tilt, forward)

    def _part(self, among: Array) -> float:
        """The part of the bone in the roll of the bones `among` (b,); all of it where it is alone."""
        shares = np.where(among, self.shares, 0.0)
        alone = np.count_nonzero(among) == 1
        return 1.0 if alone else float(shares[self.stage.start] / shares.sum())

    def _rolled(self, vectors: Array, roll: Array, forward: Array) -> Array:
        """Goals (n, 1, 3) with a roll (n,) about an axis ahead of the bone, (3,) or (n, 3)."""
        own = rotation.exp(roll[:, None] * forward)[:, None]
        return rotation.log(rotation.multiply(rotation.exp(vectors), own))
