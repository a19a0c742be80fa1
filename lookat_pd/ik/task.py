"""What a solver works on: one chain, or a batch of chains with the same joints."""

from dataclasses import dataclass, field

import numpy as np

from ..rotation import Array
from . import arithmetic
from .arithmetic import BATCH, SINGLE, Arithmetic, Number, Quaternion, Vector
from .batches import packed, unpacked
from .joint_limits import JointLimits

Pose = list[Quaternion]
"""Local rotations of the joints, from the root on."""


@dataclass
class Task:
    """Chains to solve, in the frame in which the first joint's rotation lives; that joint is at its origin.

    data: what differs from chain to chain, arrays with the batch as their last axis: "target" (3, m), and where they
    are asked for "locked" (n, 3, m), "orientation" (4, m), "pole" (3, m), "goals" (n, 3, m), "offsets" (n, 3, m).
    Solvers may keep memory of their own in it. offsets: the chain's, where all have the same.
    """

    single: bool
    data: dict[str, Array]
    limits: list[JointLimits | None]
    shared_offsets: list[Vector] | None
    strengths: list[float] = field(default_factory=list)
    movable: bool = False
    """Whether the base follows, so that nothing is out of reach."""
    pull: float = 0.0
    """How much of the soft goals' strengths counts in this iteration."""

    def __post_init__(self) -> None:
        self.xp: Arithmetic = SINGLE if self.single else BATCH
        self.read()

    def read(self) -> None:
        """Take what `data` has for use."""
        read = {name: unpacked(values, self.single) for name, values in self.data.items() if name in _READ}
        self.target: Vector = tuple(read["target"])
        self.offsets: list[Vector] = self.shared_offsets or read.get("offsets", [])
        self.locked: list[Vector | None] = read.get("locked") or [None] * len(self.limits)
        self.orientation: Quaternion | None = read.get("orientation")
        self.pole: Vector | None = read.get("pole")
        self.goals: list[Vector] | None = read.get("goals")
        self.lengths = [arithmetic.length(self.xp, offset) for offset in self.offsets]
        self.turn_length: Number = sum(self.lengths) / max(len(self.lengths), 1)
        """What a radian of a wrong orientation counts as."""

    def __len__(self) -> int:
        return len(self.limits)

    @property
    def limited(self) -> bool:
        """Whether any joint has limits."""
        return any(limits is not None for limits in self.limits)

    @property
    def count(self) -> int:
        return self.data["target"].shape[-1]

    def left(self, pose: Pose) -> Vector:
        """The way from the effector to its target."""
        return arithmetic.subtract(self.target, self.effector(pose))

    def take(self, keep: Array) -> None:
        """Only these chains of the batch from here on."""
        self.data = {name: values[..., keep] for name, values in self.data.items()}
        self.read()

    def shift(self, way: Vector) -> None:
        """Everything that is wanted comes nearer by `way`, which is how the base moves."""
        moved = packed(way, self.count)
        for name in ("target", "pole", "goals"):
            if name in self.data:
                self.data[name] = self.data[name] - moved
        self.read()

    def without_last(self, target: Vector) -> "Task":
        """The chain up to the last joint, which is now the effector."""
        shorter = Task.__new__(Task)
        shorter.__dict__.update(self.__dict__)
        shorter.limits, shorter.offsets, shorter.target = self.limits[:-1], self.offsets[:-1], target
        shorter.lengths = self.lengths[:-1]
        return shorter

    def turned(self, n: int, q: Quaternion, arrow: Vector, goal: Vector) -> Quaternion:
        """Joint n's rotation q after the turn, as far as it is allowed, of `arrow` onto `goal`; these are directions
        in its parent's frame."""
        limits = self.limits[n]
        if limits is None:
            return arithmetic.multiply(arithmetic.arc(self.xp, arrow, goal), q)
        return limits.turned(self.xp, q, self.locked[n], arrow, goal)

    def eased(self, n: int, q: Quaternion, wanted: Quaternion) -> Quaternion:
        """From joint n's rotation q towards `wanted`, as far as that is allowed."""
        limits = self.limits[n]
        return wanted if limits is None else limits.eased(self.xp, q, wanted, self.locked[n])

    def cost(self, pose: Pose) -> Number:
        """What a solver makes small: the effector's distance from the target, and the angle to the wanted orientation
        as the way on an arc of the radius `turn_length`."""
        error = distance(self.xp, self.effector(pose), self.target)
        if self.orientation is None:
            return error
        left = arithmetic.multiply(arithmetic.inverse(last_orientation(pose)), self.orientation)
        angle = arithmetic.length(self.xp, arithmetic.rotation_vector(self.xp, left))
        return self.xp.sqrt(error * error + (self.turn_length * angle) ** 2)

    def least_cost(self) -> Array:
        """What no pose can be below (m,): targets beyond the reach, or nearer than the longest bone allows."""
        if self.movable:
            return np.zeros(self.count)
        lengths = np.stack([np.broadcast_to(a, (self.count,)) for a in self.lengths])
        reach, longest = np.sum(lengths, axis=0), np.max(lengths, axis=0)
        far = np.linalg.norm(self.data["target"], axis=0)
        return np.maximum(np.maximum(far - reach, 2.0 * longest - reach - far), 0.0)

    def finished(self, pose: Pose, before: Pose) -> Pose:
        """The pose with the chain turned about the line from root to effector so that it bends towards the pole."""
        if self.pole is None:
            return pose
        xp, places = self.xp, self.places(pose)
        axis = places[-1]
        size = arithmetic.length(xp, axis)
        axis = arithmetic.scaled(axis, 1.0 / (size + (size == 0.0)))
        bend = (0.0, 0.0, 0.0)
        for place in places[:-1]:
            bend = arithmetic.add(bend, place)
        angle = _angle_about(xp, axis, bend, self.pole)
        wanted = arithmetic.multiply(arithmetic.about(xp, axis, angle), pose[0])
        limits = self.limits[0]
        if limits is not None:
            wanted = limits.clamp(xp, wanted, self.locked[0], before[0])
        return [wanted, *pose[1:]]

    def effector(self, pose: Pose) -> Vector:
        """Where the effector is."""
        arm = arithmetic.rotate(pose[-1], self.offsets[-1])
        for n in range(len(pose) - 2, -1, -1):
            arm = arithmetic.rotate(pose[n], arithmetic.add(self.offsets[n], arm))
        return arm

    def places(self, pose: Pose) -> list[Vector]:
        """Where joints 1 to n are, the last of which is the effector."""
        carried, place = arithmetic.NO_TURN, (0.0, 0.0, 0.0)
        found = []
        for n, q in enumerate(pose):
            carried = arithmetic.multiply(carried, q) if n else q
            place = arithmetic.add(place, arithmetic.rotate(carried, self.offsets[n]))
            found.append(place)
        return found

    def fit(self, pose: Pose, places: list[Vector]) -> Pose:
        """Each bone from the root on pointed, as far as it is allowed, at the place its end should have."""
        result: Pose = []
        carried, place = arithmetic.NO_TURN, (0.0, 0.0, 0.0)
        for n, q in enumerate(pose):
            # From where the joint really is: limits may have kept it from where it should be.
            goal = arithmetic.rotate_back(carried, arithmetic.subtract(places[n], place))
            q = self.turned(n, q, arithmetic.rotate(q, self.offsets[n]), goal)
            result.append(q)
            carried = arithmetic.multiply(carried, q)
            place = arithmetic.add(place, arithmetic.rotate(carried, self.offsets[n]))
        return result


def _angle_about(xp: Arithmetic, axis: Vector, a: Vector, b: Vector) -> Number:
    """The angle about a unit axis from a to b, as seen along it."""
    a, b = _beside(axis, a), _beside(axis, b)
    return xp.arctan2(arithmetic.dot(axis, arithmetic.cross(a, b)), arithmetic.dot(a, b))


def _beside(axis: Vector, v: Vector) -> Vector:
    """The part of v that is square to a unit axis."""
    return arithmetic.subtract(v, arithmetic.scaled(axis, arithmetic.dot(axis, v)))


_READ = ("target", "offsets", "locked", "orientation", "pole", "goals")


def last_orientation(pose: Pose) -> Quaternion:
    """Orientation of the last joint."""
    carried = pose[0]
    for q in pose[1:]:
        carried = arithmetic.multiply(carried, q)
    return carried


def distance(xp: Arithmetic, a: Vector, b: Vector) -> Number:
    return arithmetic.length(xp, arithmetic.subtract(a, b))
