"""What a body is to do, as residuals of `full_body`: one class for each kind of objective."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..errors import InvalidArgument
from ..rotation import Array
from . import checks

HIGH, BALANCE, NORMAL, LOW = range(4)
"""Priorities: where targets contradict each other, those of a smaller number are reached."""
_NEAR_LINE = 0.05
"""Distance of a bend or a pole from the line of the limb, in lengths of that, below which the pole counts less."""
Linear = tuple[Array, Array, Array]
"""Residuals (m, 3), indices of the joints (a,) that change them, and the change (m, a, 3, 3) of the residual for each
coordinate of these joints, which are counted by the third axis."""


@dataclass(frozen=True)
class BodyState:
    """A body in m poses: orientations (m, n, 4), positions (m, n, 3), and axes (m, n, 3, 3), the rotation vectors of
    the three coordinates of each joint. lines: the ancestors of each joint and itself."""

    orientations: Array
    positions: Array
    axes: Array
    lines: Sequence[Array]

    def point(self, joint: int, offset: Array) -> Array:
        """A point (m, 3) in the frame of a joint."""
        return self.positions[:, joint] + rotation.rotate(self.orientations[:, joint], offset)


@dataclass(frozen=True, eq=False)
class BodyObjective:
    """An objective of a joint.

    weight: (...), 0 to 1. At 1 the objective is reached if possible; below, it gives way to all that have a weight of
    1, and the result is between the initial pose and the objective. priority: HIGH, NORMAL or LOW. Raises
    InvalidArgument.
    """

    joint: int
    weight: ArrayLike = field(default=1.0, kw_only=True)
    priority: int = field(default=NORMAL, kw_only=True)
    sizes: ClassVar[dict[str, int]] = {}
    """Its arrays that may differ from pose to pose, and their last axis."""
    moves_with_root: ClassVar[bool] = False
    """Whether it changes with the position of the root."""

    def __post_init__(self) -> None:
        weight = checks.numbers("weight", self.weight).astype(float)
        if not np.all((weight >= 0.0) & (weight <= 1.0)):
            raise InvalidArgument("The weight of joint {joint} must be from 0 to 1.", joint=checks.shown(self.joint))
        object.__setattr__(self, "weight", weight)
        checks.whole("priority", self.priority, HIGH, LOW)
        for name, size in self.sizes.items():
            check = checks.quaternions if size == 4 else checks.array
            found = check(name, getattr(self, name), *(() if size == 4 else (size,)))
            object.__setattr__(self, name, found)

    @property
    def batch(self) -> tuple[int, ...]:
        """The leading axes of its arrays."""
        shapes = {name: np.shape(getattr(self, name))[:-1] for name in self.sizes}
        return checks.leading(weight=np.shape(self.weight), **shapes)

    def linear(self, state: BodyState, joint: int, arrays: dict[str, Array]) -> Linear:
        """The residuals and their changes.

        joint: its index in the state. arrays: those of `sizes`, (m, size), in lengths of a mean bone.
        """
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class BodyPosition(BodyObjective):
    """The position (..., 3) of a point, `offset` (..., 3) in the frame of the joint."""

    target: ArrayLike = (0.0, 0.0, 0.0)
    offset: ArrayLike = (0.0, 0.0, 0.0)
    sizes: ClassVar = {"target": 3, "offset": 3}
    moves_with_root = True

    def linear(self, state: BodyState, joint: int, arrays: dict[str, Array]) -> Linear:
        line = state.lines[joint]
        point = state.point(joint, arrays["offset"])
        arm = point[:, None] - state.positions[:, line]
        return arrays["target"] - point, line, rotation.cross(state.axes[:, line], arm[:, :, None])


@dataclass(frozen=True, eq=False)
class BodyOrientation(BodyObjective):
    """The orientation (..., 4) of a joint; a radian counts as the length of a mean bone."""

    orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0)
    sizes: ClassVar = {"orientation": 4}

    def linear(self, state: BodyState, joint: int, arrays: dict[str, Array]) -> Linear:
        line = state.lines[joint]
        remaining = rotation.multiply(arrays["orientation"], rotation.inverse(state.orientations[:, joint]))
        return rotation.log(remaining), line, state.axes[:, line]


@dataclass(frozen=True, eq=False)
class BodyAim(BodyObjective):
    """A direction, `axis` (..., 3) in the frame of the joint, that points at a target (..., 3)."""

    target: ArrayLike = (0.0, 0.0, 0.0)
    axis: ArrayLike = (0.0, 1.0, 0.0)
    sizes: ClassVar = {"target": 3, "axis": 3}

    def linear(self, state: BodyState, joint: int, arrays: dict[str, Array]) -> Linear:
        line = state.lines[joint]
        now = rotation.rotate(state.orientations[:, joint], arrays["axis"])
        away = arrays["target"] - state.positions[:, joint]
        axes = state.axes[:, line]
        along = now / np.maximum(np.linalg.norm(now, axis=-1, keepdims=True), 1e-300)
        # A rotation about the direction itself changes nothing.
        across = axes - np.sum(axes * along[:, None, None], axis=-1, keepdims=True) * along[:, None, None]
        return rotation.log(rotation.shortest_arc(now, away)), line, across


@dataclass(frozen=True, eq=False)
class BodyPole(BodyObjective):
    """The direction in which the limb of `bones` bones that ends with the joint bends: towards a target (..., 3), seen
    along the line from its base to the joint. Its base turns about this line; where limb or target are almost on the
    line, the objective counts less."""

    target: ArrayLike = (0.0, 0.0, 0.0)
    bones: int = 2
    sizes: ClassVar = {"target": 3}

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.whole("bones", self.bones, 2, 1000)

    def linear(self, state: BodyState, joint: int, arrays: dict[str, Array]) -> Linear:
        line = state.lines[joint]
        count = min(self.bones, len(line) - 1)
        if count < 2:
            # Between base and joint there is nothing that bends.
            return np.zeros((len(state.positions), 3)), line[:1], np.zeros((len(state.positions), 1, 3, 3))
        base = state.positions[:, line[count]]
        along = state.positions[:, joint] - base
        length = np.maximum(np.linalg.norm(along, axis=-1), 1e-12)
        along = along / length[:, None]
        bend = _beside(along, state.positions[:, line[1:count]].mean(axis=1) - base)
        away = _beside(along, arrays["target"] - base)
        sizes = np.linalg.norm(bend, axis=-1), np.linalg.norm(away, axis=-1)
        share = np.minimum(np.minimum(*sizes) / (_NEAR_LINE * length), 1.0)
        angle = np.arctan2(np.sum(along * rotation.cross(bend, away), axis=-1), np.sum(bend * away, axis=-1))
        change = np.zeros((len(along), 1, 3, 3))
        change[..., 0] = share[:, None, None] * (state.axes[:, line[count]] @ along[..., None])[..., 0][:, None]
        return (share * angle)[:, None] * np.array([1.0, 0.0, 0.0]), line[count : count + 1], change


@dataclass(frozen=True, eq=False)
class Balance:
    """The centre of mass above the support polygon.

    masses: (n,) of the joints, in any unit. centers: (..., n, 3), centre of each mass in the frame of its joint.
    polygon: (..., k, 3), points whose convex hull along `up` is the polygon. up: (..., 3). weight: (...), 0 to 1, as of
    `BodyObjective`. Its priority is below HIGH. Raises InvalidArgument.
    """

    masses: ArrayLike
    centers: ArrayLike
    polygon: ArrayLike
    up: ArrayLike = (0.0, 0.0, 1.0)
    weight: ArrayLike = 1.0

    def __post_init__(self) -> None:
        masses = checks.array("masses", self.masses, None)
        if np.any(masses < 0.0) or not np.any(masses > 0.0):
            raise InvalidArgument("The masses of a body must be 0 or more, and one of them above 0.")
        object.__setattr__(self, "masses", masses / masses.sum())
        object.__setattr__(self, "centers", checks.array("centers", self.centers, len(masses), 3))
        object.__setattr__(self, "polygon", checks.array("polygon", self.polygon, None, 3))
        if not np.shape(self.polygon)[-2]:
            raise InvalidArgument("The support polygon has no points; give at least one.")
        up = checks.array("up", self.up, 3)
        if not np.all(np.linalg.norm(up, axis=-1) > 1e-9):
            raise InvalidArgument("The direction up must not be zero.")
        object.__setattr__(self, "up", rotation.normalize(up))
        weight = checks.numbers("weight", self.weight).astype(float)
        if not np.all((weight >= 0.0) & (weight <= 1.0)):
            raise InvalidArgument("The weight of the balance must be from 0 to 1.")
        object.__setattr__(self, "weight", weight)

    @property
    def batch(self) -> tuple[int, ...]:
        """The leading axes of its arrays."""
        return checks.leading(
            weight=np.shape(self.weight),
            centers=np.shape(self.centers)[:-2],
            polygon=np.shape(self.polygon)[:-2],
            up=np.shape(self.up)[:-1],
        )

    @staticmethod
    def center(state: BodyState, masses: Array, centers: Array) -> Array:
        """The centre of mass (m, 3)."""
        return np.einsum("j,mjc->mc", masses, _places(state, centers))

    @staticmethod
    def linear(state: BodyState, masses: Array, centers: Array, parents: Sequence[int]) -> tuple[Array, Array]:
        """The centre of mass (m, 3), and its change (m, n, 3, 3) for the coordinates of the joints."""
        moments = masses[:, None] * _places(state, centers)
        center = moments.sum(axis=1)
        total = masses.copy()
        for joint in range(len(parents) - 1, -1, -1):
            if parents[joint] >= 0:
                moments[:, parents[joint]] += moments[:, joint]
                total[parents[joint]] += total[joint]
        arms = moments - total[:, None] * state.positions
        return center, rotation.cross(state.axes, arms[:, :, None])


def _beside(axis: Array, vector: Array) -> Array:
    """The part of vectors (m, 3) perpendicular to unit axes."""
    return vector - np.sum(axis * vector, axis=-1, keepdims=True) * axis


def _places(state: BodyState, centers: Array) -> Array:
    """Centres (m, n, 3) of the masses."""
    return state.positions + rotation.rotate(state.orientations, centers)
