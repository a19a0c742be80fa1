"""What a body is to do, as residuals of `full_body`: one class for each kind of objective."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation
from ..errors import InvalidArgument
from ..rotation import Array
from . import joint_checks, soft_reach

HIGH, BALANCE, NORMAL, LOW = range(4)
"""Priorities: where targets contradict each other, those of a smaller number are reached."""
_NEAR_LINE = 0.05
"""Distance of a bend or a pole from the line of the limb, in lengths of that, below which the pole counts less."""


@dataclass(frozen=True)
class BodyState:
    """A body in m poses: orientations (4, n, m), positions (3, n, m), and axes (3, 3, m, n): the components of the
    rotation vectors of the three coordinates of each joint, which are counted by the second axis."""

    orientations: Array
    positions: Array
    axes: Array

    @cached_property
    def places(self) -> Array:
        """The positions as (3, m, n)."""
        return np.ascontiguousarray(self.positions.transpose(0, 2, 1))


@dataclass(frozen=True)
class Members:
    """Objectives of one kind, which are computed together."""

    objectives: Sequence["BodyObjective"]
    joints: Array
    """(p,) indices of the joints in the state."""
    lines: Sequence[Array]
    """The ancestors of each joint after itself."""
    mask: Array
    """(p, 1, n), 1 for these joints."""
    rows: slice
    """Rows of the equations."""
    key: str
    """Ending of the names of their arrays."""

    def add(self, state: BodyState, data: dict[str, Array], values: Array, matrix: Array | None) -> None:
        """Write their rows of the equations: residuals (m, r), and the Jacobian (m, r, 3, n + 1) but for the root."""
        first, changes, size = self.objectives[0], None, (len(values), len(self.objectives), 3)
        if matrix is not None:
            changes = matrix[:, self.rows, :, :-1].reshape(*size, 3, matrix.shape[-1] - 1)
            changes = changes.transpose(2, 1, 3, 0, 4)
        arrays = {name: data[name + self.key] for name in first.sizes}
        residuals = first.linear(state, self, arrays, changes)
        values[:, self.rows] = residuals.T.reshape(len(values), 3 * len(self.objectives))


@dataclass(frozen=True, eq=False)
class BodyObjective:
    """An objective of a joint. Raises InvalidArgument."""

    joint: int
    weight: ArrayLike = field(default=1.0, kw_only=True)
    """(...), 0 to 1. At 1 the objective is reached if possible; below, it gives way to all that have a weight of 1, and
    the result is between the initial pose and the objective."""
    priority: int = field(default=NORMAL, kw_only=True)
    """HIGH, NORMAL or LOW."""
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
        return joint_checks.leading(weight=np.shape(self.weight), **shapes)

    @staticmethod
    def linear(state: BodyState, members: Members, arrays: dict[str, Array], changes: Array | None) -> Array:
        """The residuals (3, p, m) of members with arrays (size, p, m), those of `sizes`, in lengths of a mean bone.

        Their changes for the coordinates of all joints are written into `changes` (3, p, 3, m, n): by component,
        member, coordinate, pose and joint.
        """
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class BodyPosition(BodyObjective):
    """The position (..., 3) of a point, `offset` (..., 3) in the frame of the joint.

    The limb of `bones` bones that ends with the joint, if it bends at a hinge, comes to its full length softly, in the
    last part `softness` of that, see `body_reach`.
    """

    target: ArrayLike = (0.0, 0.0, 0.0)
    offset: ArrayLike = (0.0, 0.0, 0.0)
    bones: int = 0
    softness: float = 0.0
    sizes: ClassVar = {"target": 3, "offset": 3}
    moves_with_root = True

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.whole("bones", self.bones, 0, 1000)
        checks.number("softness", self.softness, 0.0, soft_reach.MOST)

    @staticmethod
    def linear(state: BodyState, members: Members, arrays: dict[str, Array], changes: Array | None) -> Array:
        points = state.positions.take(members.joints, axis=1)
        if arrays["offset"].any():
            points += rotation.rotate(state.orientations.take(members.joints, axis=1).T, arrays["offset"].T).T
        if changes is not None:
            arms = (points[..., None] - state.places[:, None]) * members.mask
            _write_cross(state.axes[:, None], arms[:, :, None], changes)
        return arrays["target"] - points


@dataclass(frozen=True, eq=False)
class BodyOrientation(BodyObjective):
    """The orientation (..., 4) of a joint; a radian counts as the length of a mean bone."""

    orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0)
    sizes: ClassVar = {"orientation": 4}

    @staticmethod
    def linear(state: BodyState, members: Members, arrays: dict[str, Array], changes: Array | None) -> Array:
        turns = state.orientations.take(members.joints, axis=1).T
        if changes is not None:
            np.multiply(state.axes[:, None], members.mask[:, None], out=changes)
        return rotation.log(rotation.multiply(arrays["orientation"].T, rotation.inverse(turns))).T


@dataclass(frozen=True, eq=False)
class BodyAim(BodyObjective):
    """A direction, `axis` (..., 3) in the frame of the joint, that points at a target (..., 3)."""

    target: ArrayLike = (0.0, 0.0, 0.0)
    axis: ArrayLike = (0.0, 1.0, 0.0)
    sizes: ClassVar = {"target": 3, "axis": 3}

    @staticmethod
    def linear(state: BodyState, members: Members, arrays: dict[str, Array], changes: Array | None) -> Array:
        axes = rotation.rotate(state.orientations.take(members.joints, axis=1).T, arrays["axis"].T).T
        away = arrays["target"] - state.positions.take(members.joints, axis=1)
        if changes is not None:
            # A rotation about the direction itself changes nothing.
            along = (axes / np.maximum(np.sqrt(np.sum(axes * axes, axis=0)), 1e-300))[..., None]
            twist = np.sum(state.axes[:, None] * along[:, :, None], axis=0)
            across = state.axes[:, None] - along[:, :, None] * twist
            np.multiply(across, members.mask[:, None], out=changes)
        return rotation.log(rotation.shortest_arc(axes.T, away.T)).T


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

    @staticmethod
    def linear(state: BodyState, members: Members, arrays: dict[str, Array], changes: Array | None) -> Array:
        values = np.zeros(arrays["target"].shape)
        if changes is not None:
            changes[:] = 0.0
        for k, (objective, line) in enumerate(zip(members.objectives, members.lines, strict=True)):
            assert isinstance(objective, BodyPole)
            count = min(objective.bones, len(line) - 1)
            if count < 2:
                # Between base and joint there is nothing that bends.
                continue
            base = state.positions[:, line[count]]
            along = state.positions[:, line[0]] - base
            length = np.maximum(np.linalg.norm(along, axis=0), 1e-12)
            along = along / length
            bend = _beside(along, state.positions[:, line[1:count]].mean(axis=1) - base)
            away = _beside(along, arrays["target"][:, k] - base)
            sizes = np.linalg.norm(bend, axis=0), np.linalg.norm(away, axis=0)
            share = np.minimum(np.minimum(*sizes) / (_NEAR_LINE * length), 1.0)
            sine = np.sum(along * np.cross(bend, away, axis=0), axis=0)
            values[0, k] = share * np.arctan2(sine, np.sum(bend * away, axis=0))
            if changes is not None:
                turned = np.sum(along[:, None] * state.axes[..., line[count]], axis=0)
                changes[0, k, ..., line[count]] = share * turned
        return values


@dataclass(frozen=True, eq=False)
class Balance:
    """The centre of mass above the support polygon; where it would leave that, it moves along its edge. Raises
    InvalidArgument."""

    masses: ArrayLike
    """(n,) masses of the joints, in any unit."""
    centers: ArrayLike
    """(..., n, 3), centre of each mass in the frame of its joint."""
    polygon: ArrayLike
    """(..., k, 3), points whose convex hull along `up` is the polygon."""
    up: ArrayLike = (0.0, 0.0, 1.0)
    """(..., 3) direction."""
    weight: ArrayLike = 1.0
    """(...), 0 to 1, as in `BodyObjective`. The priority of the balance is below HIGH."""

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
        return joint_checks.leading(
            weight=np.shape(self.weight),
            centers=np.shape(self.centers)[:-2],
            polygon=np.shape(self.polygon)[:-2],
            up=np.shape(self.up)[:-1],
        )

    @staticmethod
    def center(state: BodyState, masses: Array, centers: Array) -> Array:
        """The centre of mass (3, m). masses: (n,). centers: (3, n, m)."""
        return np.sum(masses[:, None] * _places(state, centers), axis=1)

    @staticmethod
    def linear(state: BodyState, masses: Array, centers: Array, below: Array) -> tuple[Array, Array]:
        """The centre of mass (3, m), and its change (m, 3, 3, n) for the coordinates of the joints. below: (n, n), 1
        where the second joint is the first or below it."""
        moments = masses[:, None] * _places(state, centers)
        arms = below @ moments - (below @ masses)[:, None] * state.positions
        changes = np.empty((arms.shape[-1], 3, 3, len(masses)))
        place = changes.transpose(1, 2, 0, 3)[:, None]
        _write_cross(state.axes[:, None], np.ascontiguousarray(arms.transpose(0, 2, 1))[:, None, None], place)
        return moments.sum(axis=1), changes


def _write_cross(a: Array, b: Array, place: Array) -> None:
    """The cross products of vectors (3, p, 3, m, n), or what broadcasts to these, into their place."""
    for n in range(3):
        one, other = (n + 1) % 3, (n + 2) % 3
        np.subtract(a[one] * b[other], a[other] * b[one], out=place[n])


def _beside(axis: Array, vector: Array) -> Array:
    """The part of vectors (3, m) perpendicular to unit axes."""
    return vector - np.sum(axis * vector, axis=0) * axis


def _places(state: BodyState, centers: Array) -> Array:
    """Centres (3, n, m) of the masses."""
    return state.positions + rotation.rotate(state.orientations.T, centers.T).T
