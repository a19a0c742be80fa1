"""The problem for a solver: one chain, or a batch of chains with the same joints."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from ..rotation import Array
from . import arithmetic
from .arithmetic import BATCH, SINGLE, Arithmetic, Number, Quaternion, Vector
from .batches import unpacked
from .joint_limits import JointLimits
from .limits import Limits
from .posture import Posture

Pose = list[Quaternion]
"""Local rotations of the joints, root first."""


@dataclass
class Task:
    """Chains to solve, in the frame of the first joint's rotation, with that joint at the origin."""

    single: bool
    data: dict[str, Array]
    """Values that differ between chains, arrays with the batch as the last axis: the values of each objective by name,
    and optionally "locked" (n, 3, m), "offsets" (n, 3, m) and "bend axis" (3, m). Solvers may add their own state."""
    limits: list[JointLimits | None]
    shared_offsets: list[Vector] | None
    """Offsets of the chain, if they are the same for all."""
    objectives: Sequence[Any] = ()
    """Objectives, which include a position."""
    pull: float = 0.0
    """Factor of the weights of soft objectives in this iteration."""
    iteration: int = 0
    """The number of this iteration, from 1."""
    posture: Posture | None = None
    bend_joint: int = 0
    """The joint in whose frame "bend axis" is."""
    all_limits: Limits | None = None
    body: Any = None
    """The chains as bodies, once a solver needs them."""

    def __post_init__(self) -> None:
        self.xp: Arithmetic = SINGLE if self.single else BATCH
        self.read()

    def read(self) -> None:
        """Unpack `data`."""
        self._seen: tuple[Pose, Vector] | None = None
        names = {"offsets", "locked", "bend axis", *(objective.name for objective in self.objectives)}
        self.numbers: dict[str, Any] = {
            name: unpacked(values, self.single) for name, values in self.data.items() if name in names
        }
        self.target: Vector = tuple(self.numbers.get("target", arithmetic.ORIGIN))
        self.offsets: list[Vector] = self.shared_offsets or self.numbers.get("offsets", [])
        self.locked: list[Vector | None] = self.numbers.get("locked") or [None] * len(self.limits)
        self.orientation: Quaternion | None = self.numbers.get("orientation")
        self.lengths = [arithmetic.length(self.xp, offset) for offset in self.offsets]
        self.turn_length: Number = sum(self.lengths) / max(len(self.lengths), 1)
        """The length that a radian of orientation error counts as."""

    def __len__(self) -> int:
        return len(self.limits)

    @property
    def limited(self) -> bool:
        """Whether any joint has limits."""
        return any(limits is not None for limits in self.limits)

    @property
    def count(self) -> int:
        return self.data["target"].shape[-1]

    @property
    def goals(self) -> list[Any]:
        """Soft goals of joints, while they apply."""
        if not self.pull:
            return []
        return [objective for objective in self.objectives if objective.is_soft]

    def displacement(self, pose: Pose) -> Vector:
        """From the effector to its target."""
        return arithmetic.subtract(self.target, self.effector(pose))

    def take(self, keep: Array) -> None:
        """Keep only these chains of the batch."""
        self.data = {name: values[..., keep] for name, values in self.data.items()}
        self.read()

    def without_last(self, target: Vector) -> "Task":
        """The chain up to the last joint, which becomes the effector."""
        shorter = Task.__new__(Task)
        shorter.__dict__.update(self.__dict__)
        shorter.limits, shorter.offsets, shorter.target = self.limits[:-1], self.offsets[:-1], target
        shorter.lengths = self.lengths[:-1]
        return shorter

    def turned(self, n: int, q: Quaternion, arrow: Vector, goal: Vector) -> Quaternion:
        """The rotation q of joint n after the rotation, within its limits, of `arrow` onto `goal`, both directions in
        the frame of its parent."""
        limits = self.limits[n]
        if limits is None:
            return arithmetic.multiply(arithmetic.arc(self.xp, arrow, goal), q)
        return limits.turned(self.xp, q, self.locked[n], arrow, goal)

    def eased(self, n: int, q: Quaternion, wanted: Quaternion) -> Quaternion:
        """The rotation q of joint n moved towards `wanted`, with stiffness and limits."""
        limits = self.limits[n]
        return wanted if limits is None else limits.eased(self.xp, q, wanted, self.locked[n])

    def cost(self, pose: Pose) -> Number:
        """The value that a solver minimizes: the norm of the errors of the objectives."""
        first, *others = [error for objective in self.objectives if (error := objective.error(self, pose)) is not None]
        return self.xp.sqrt(sum((error * error for error in others), first * first)) if others else first

    def least_cost(self) -> Array:
        """The smallest possible cost (m,): for targets beyond the reach, or nearer than the longest bone allows."""
        most, far = self.xp.maximum, arithmetic.length(self.xp, self.target)
        reach, longest = sum(self.lengths), reduce(most, self.lengths)
        least = most(most(far - reach, 2.0 * longest - reach - far), 0.0)
        return np.broadcast_to(np.asarray(least, dtype=float), (self.count,))

    def finished(self, pose: Pose, before: Pose) -> Pose:
        """The pose after the changes by the objectives at the end of an iteration that started with `before`."""
        for objective in self.objectives:
            pose = objective.finished(self, pose, before)
        return pose

    def effector(self, pose: Pose) -> Vector:
        """Position of the effector; that of the last pose is kept."""
        if self._seen is not None and self._seen[0] is pose:
            return self._seen[1]
        arm = arithmetic.rotate(pose[-1], self.offsets[-1])
        for n in range(len(pose) - 2, -1, -1):
            arm = arithmetic.rotate(pose[n], arithmetic.add(self.offsets[n], arm))
        self._seen = pose, arm
        return arm

    def bend_axis(self, pose: Pose) -> Vector:
        """The axis about which the chain bends if it does, see `bend`."""
        axis: Vector = tuple(self.numbers["bend axis"])
        for q in reversed(pose[: self.bend_joint + 1]):
            axis = arithmetic.rotate(q, axis)
        return axis

    def places(self, pose: Pose) -> list[Vector]:
        """Positions of joints 1 to n, the last of which is the effector."""
        turn, place, result = arithmetic.NO_TURN, arithmetic.ORIGIN, []
        for q, offset in zip(pose, self.offsets, strict=True):
            turn = arithmetic.multiply(turn, q)
            place = arithmetic.add(place, arithmetic.rotate(turn, offset))
            result.append(place)
        return result

    def fit(self, pose: Pose, places: list[Vector]) -> Pose:
        """The pose with each bone, root first, pointed within its limits at the desired position of its end."""
        result: Pose = []
        accumulated, place = arithmetic.NO_TURN, (0.0, 0.0, 0.0)
        for n, q in enumerate(pose):
            # From the actual position of the joint, which limits may have changed.
            goal = arithmetic.rotate_back(accumulated, arithmetic.subtract(places[n], place))
            q = self.turned(n, q, arithmetic.rotate(q, self.offsets[n]), goal)
            result.append(q)
            accumulated = arithmetic.multiply(accumulated, q)
            place = arithmetic.add(place, arithmetic.rotate(accumulated, self.offsets[n]))
        return result


def last_orientation(pose: Pose) -> Quaternion:
    """Orientation of the last joint."""
    accumulated = pose[0]
    for q in pose[1:]:
        accumulated = arithmetic.multiply(accumulated, q)
    return accumulated
