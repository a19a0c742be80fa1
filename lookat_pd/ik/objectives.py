"""Objectives of the solvers, as objects in a list: positions, orientations, a pole, soft goals of joints.

Each objective is checked when it is created. It provides its values in the frame of the base, its remaining error, its
residuals for least squares, and a change of the pose after each iteration. Objectives of a chain are `Position`, which
`solve` creates from its target, `Orientation`, `Pole` and `JointGoal`; those of a body are in `body_objectives`.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation
from ..errors import InvalidArgument
from ..rotation import Array
from . import arithmetic, bend
from .arithmetic import Arithmetic, Number, Vector
from .published.least_squares import OrientationResidual, PositionResidual, Residual
from .task import Pose, Task, last_orientation


class Objective:
    """An objective of a chain.

    name: key of its values in a task; a chain has at most one objective of each name. is_soft: applies only in the
    first half of the iterations, with decreasing weight. is_bend: also changes a pose whose effector is at its target.
    """

    name: ClassVar[str]
    weight: ClassVar[float] = 1.0
    is_soft: ClassVar[bool] = False
    is_bend: ClassVar[bool] = False

    def check(self, joints: int) -> None:
        """Raise InvalidArgument if a chain with this number of joints cannot have it."""

    @property
    def values(self) -> Array:
        """Its point (..., 3) or quaternion (..., 4), in the space of the target."""
        return np.asarray(getattr(self, "target"))  # noqa: B009 - all but one objective are about a point

    def error(self, task: Task, pose: Pose) -> Number | None:
        """The remaining error as a length; None if it has none."""
        return None

    def residuals(self, task: Task, offsets: Array, bone: Array) -> list[Residual]:
        """The residuals for least squares. offsets: (m, n, 3) of the chains. bone: (m,) mean lengths of their bones."""
        return []

    def finished(self, task: Task, pose: Pose, before: Pose) -> Pose:
        """The pose after an iteration that started with the pose `before`."""
        return pose


@dataclass(frozen=True, eq=False)
class Position(Objective):
    """The position of the effector."""

    target: ArrayLike
    """(..., 3) position."""
    name = "target"

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", checks.array("target", self.target, 3))

    def error(self, task: Task, pose: Pose) -> Number:
        return arithmetic.length(task.xp, arithmetic.subtract(task.effector(pose), task.target))

    def residuals(self, task: Task, offsets: Array, bone: Array) -> list[Residual]:
        return [PositionResidual(len(task) - 1, offsets[:, -1], task.data[self.name].T)]


@dataclass(frozen=True, eq=False)
class Orientation(Objective):
    """The orientation of the last joint, in the space of the target; a radian counts as a mean bone's length."""

    orientation: ArrayLike
    """(..., 4) orientation."""
    weight: float = 1.0
    """0 to 1, interpolation from the orientation without the objective."""
    name = "orientation"

    def __post_init__(self) -> None:
        object.__setattr__(self, "orientation", checks.quaternions("orientation", self.orientation))
        checks.fraction("weight of the orientation", self.weight)

    @property
    def values(self) -> Array:
        return np.asarray(self.orientation)

    def error(self, task: Task, pose: Pose) -> Number:
        assert task.orientation is not None
        remaining = arithmetic.multiply(arithmetic.inverse(last_orientation(pose)), task.orientation)
        return task.turn_length * arithmetic.length(task.xp, arithmetic.rotation_vector(task.xp, remaining))

    def residuals(self, task: Task, offsets: Array, bone: Array) -> list[Residual]:
        return [OrientationResidual(len(task) - 1, task.data[self.name].T, bone)]


@dataclass(frozen=True, eq=False)
class Pole(Objective):
    """A point towards which the chain bends."""

    target: ArrayLike
    """(..., 3) position."""
    name = "pole"
    is_bend = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", checks.array("pole", self.target, 3))

    def finished(self, task: Task, pose: Pose, before: Pose) -> Pose:
        """The chain rotated about the line from root to effector so that it bends towards the pole."""
        xp, places = task.xp, task.places(pose)
        axis = places[-1]
        size = arithmetic.length(xp, axis)
        axis = arithmetic.scaled(axis, 1.0 / (size + (size == 0.0)))
        side = bend.bend(xp, axis, size / xp.maximum(sum(task.lengths), 1e-300), places, task.bend_axis(pose))
        angle = _angle_about(xp, axis, side, task.numbers[self.name])
        wanted = arithmetic.multiply(arithmetic.about(xp, axis, angle), pose[0])
        limits = task.limits[0]
        if limits is not None:
            wanted = limits.clamp(xp, wanted, task.locked[0], before[0])
        return [wanted, *pose[1:]]


@dataclass(frozen=True, eq=False)
class JointGoal(Objective):
    """A preferred position of a joint, for methods that support goals of joints."""

    joint: int
    """1 or more; joint 0 is fixed to the base."""
    target: ArrayLike
    """(..., 3) position."""
    weight: float = 1.0
    """0 to 1. Its effect decreases; the second half of the iterations brings the effector to its target."""
    is_soft = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", checks.array("goal of a joint", self.target, 3))
        checks.fraction("weight of a joint's goal", self.weight)

    @property
    def name(self) -> str:
        return f"goal of joint {self.joint}"

    def check(self, joints: int) -> None:
        if not (isinstance(self.joint, int | np.integer) and 1 <= self.joint < joints):
            raise InvalidArgument(
                "Joint {joint} can have no goal; joints 1 to {joints} of this chain can.",
                joint=self.joint,
                joints=joints - 1,
            )

    def residuals(self, task: Task, offsets: Array, bone: Array) -> list[Residual]:
        if not task.pull:
            return []
        joint = np.zeros((task.count, 3))
        return [PositionResidual(self.joint, joint, task.data[self.name].T, task.pull * self.weight)]


def in_base(values: Array, position: Array, frame: Array) -> Array:
    """Points (..., 3) or quaternions (..., 4) relative to a base with a position (..., 3) and a rotation (..., 4)."""
    back = rotation.inverse(frame)
    return rotation.multiply(back, values) if values.shape[-1] == 4 else rotation.rotate(back, values - position)


def _angle_about(xp: Arithmetic, axis: Vector, a: Vector, b: Vector) -> Number:
    """The angle about a unit axis from a to b, as seen along it."""
    a, b = bend.beside(axis, a), bend.beside(axis, b)
    return xp.arctan2(arithmetic.dot(axis, arithmetic.cross(a, b)), arithmetic.dot(a, b))
