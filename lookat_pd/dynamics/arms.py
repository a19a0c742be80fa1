"""Several hands of one body that reach together: a tree of joints, of which the shared ones move all hands behind
them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation
from ..ik import BodyObjective, Limits, solve_body
from ..ik.joint_checks import check_effector
from ..rotation import Array
from .arm import POSED, Arm

NUMBERS = 200
"""For each joint at each frame a motion of arms holds at most so many numbers at a time."""


@dataclass(frozen=True)
class Arms(Arm):
    """All joints that move one of several hands. Positions of the k hands are (..., 3 k), one after another."""

    hands: tuple[Arm, ...] = ()
    """The arm of each. The effector, point and orientation of its own are those of the first and have no meaning."""

    @classmethod
    def of(cls, hands: Sequence[Arm]) -> "Arms":
        """The arms of hands of the same body."""
        one = hands[0]
        settled = one.body, one.start, one.effector, one.point, one.gravity, one.damping, one.weights, one.limits
        return cls(*settled, hands=tuple(hands))

    @cached_property
    def joints(self) -> list[int]:
        # Parents have lower numbers.
        return sorted({joint for hand in self.hands for joint in hand.joints})

    @cached_property
    def _columns(self) -> list[list[int]]:
        """The places of the joints of each hand among all."""
        return [[self.joints.index(joint) for joint in hand.joints] for hand in self.hands]

    @cached_property
    def directions(self) -> Array:
        # A bone of several arms points to the first of them.
        directions = np.zeros((len(self.joints), 3))
        for hand, own in zip(reversed(self.hands), reversed(self._columns), strict=True):
            directions[own] = hand.directions
        return directions

    @property
    def count(self) -> int:
        return len(self.hands)

    @property
    def arms(self) -> tuple[Arm, ...]:
        return self.hands

    @cached_property
    def hand_of_bone(self) -> list[int]:
        return [n for n, chosen in enumerate(self._new) for _ in chosen]

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        owners = [
            (n, hand.joints[number])
            for n, (hand, chosen) in enumerate(zip(self.hands, self._new, strict=True))
            for number in chosen
        ]
        shared = [sum(joint in hand.joints for hand in self.hands) > 1 for _, joint in owners]
        own = [n for n, is_shared in enumerate(shared) if not is_shared]
        return [(one, other) for one in own for other in own if owners[one][0] < owners[other][0]]

    @cached_property
    def length(self) -> float:
        return max(hand.length for hand in self.hands)

    def beyond(self, place: Array) -> Array:
        parts = place.reshape(len(self.hands), 3)
        return np.concatenate([hand.beyond(part) for hand, part in zip(self.hands, parts, strict=True)])

    def _each(self, motion: Array) -> list[tuple[Arm, Array]]:
        """Each hand and the motion (..., b, 4) of its own joints."""
        return [(hand, motion[..., own, :]) for hand, own in zip(self.hands, self._columns, strict=True)]

    def points(self, motion: Array) -> Array:
        return np.concatenate([hand.points(own) for hand, own in self._each(motion)], axis=-1)

    def place(self, motion: Array) -> tuple[Array, Array]:
        places, width = [], 3 * len(self.joints)
        jacobian = np.zeros((*motion.shape[:-2], 3 * len(self.hands), width))
        for n, (hand, own) in enumerate(self._each(motion)):
            place, part = hand.place(own)
            columns = (3 * np.array(self._columns[n])[:, None] + np.arange(3)).ravel()
            jacobian[..., 3 * n : 3 * n + 3, columns] = part
            places.append(place)
        return np.concatenate(places, axis=-1), jacobian

    @cached_property
    def _new(self) -> list[list[int]]:
        """The bones of each arm that are of no arm before it, by number."""
        taken: set[int] = set()
        found = []
        for hand in self.hands:
            # The last bone ends at the hand itself.
            last = len(hand.joints) - 1
            found.append([n for n, joint in enumerate(hand.joints) if joint not in taken or n == last])
            taken |= set(hand.joints[:-1])
        return found

    def bones(self, motion: Array) -> tuple[Array, Array]:
        begins, ends = [], []
        for (hand, own), chosen in zip(self._each(motion), self._new, strict=True):
            begin, end = hand.bones(own)
            begins.append(begin[..., chosen, :])
            ends.append(end[..., chosen, :])
        return np.concatenate(begins, axis=-2), np.concatenate(ends, axis=-2)

    @cached_property
    def tips(self) -> list[int]:
        return (np.cumsum([len(chosen) for chosen in self._new]) - 1).tolist()

    def swivelled(self, pose: Array, place: Array, angles: Sequence[float]) -> Array:
        pose = pose.copy()
        for n, (hand, own) in enumerate(zip(self.hands, self._columns, strict=True)):
            shared = [any(joint in other.joints for other in self.hands if other is not hand) for joint in hand.joints]
            if angles[n] and not all(shared):
                pose[own] = hand._rotated(pose[own], place[3 * n : 3 * n + 3], angles[n], shared.index(False))
        return pose

    @property
    def is_oriented(self) -> bool:
        return any(hand.is_oriented for hand in self.hands)

    def oriented(self, orientation: Array | None) -> "Arms":
        turned = [None] * len(self.hands) if orientation is None else list(orientation)
        return replace(
            self,
            hands=tuple(hand.oriented(own) for hand, own in zip(self.hands, turned, strict=True)),
        )

    def misaligned(self, pose: Array) -> float:
        return max(hand.misaligned(own) for hand, own in self._each(pose))

    def posed(self, pose: Array, place: Array, limits: Limits, *, oriented: bool) -> Array:
        return solve_body(
            np.asarray(self.body.parents).tolist(),
            np.asarray(self.body.offsets),
            self.whole(pose),
            self.effectors(place, oriented=oriented),
            tolerance=POSED,
            limits=limits,
        ).rotations

    def effectors(self, place: Array, *, oriented: bool) -> list[BodyObjective]:
        parts = place.reshape(len(self.hands), 3)
        each = zip(self.hands, parts, strict=True)
        return [effector for hand, part in each for effector in hand.effectors(part, oriented=oriented)]

    def held(self, pose: Array, place: Array, iterations: int = 12) -> Array:
        if not self.is_oriented:
            return self.follow(pose[None], place[None], iterations)[0][0]
        there, wrists = place.reshape(len(self.hands), 3).copy(), list(self.hands)
        for n, hand in enumerate(self.hands):
            if hand.orientation is not None:
                there[n] -= rotation.rotate(hand.orientation, hand.point)
                wrists[n] = replace(hand, point=np.zeros(3))
        pose = replace(self, hands=tuple(wrists)).follow(pose[None], there.reshape(1, -1), iterations)[0][0].copy()
        for hand, own in zip(self.hands, self._columns, strict=True):
            if hand.orientation is not None:
                pose[own[-1]] = hand.aligned(pose[own])
        return self.clamped(pose)


def together(arms: Sequence[Arm]) -> Arm:
    """The arms of one or of several hands of a body."""
    return arms[0] if len(arms) == 1 else Arms.of(arms)


def effector_point(effector: int | tuple[int, ArrayLike], n: int) -> tuple[int, Array]:
    """The joint of an effector and the point (3,) in its frame. Raises InvalidArgument."""
    joint, point = effector if isinstance(effector, tuple) and len(effector) == 2 else (effector, np.zeros(3))
    check_effector(joint, n)
    return int(joint), checks.exactly("effector's point", point, 3)
