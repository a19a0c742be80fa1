"""Joint limits of a chain. The angles are those of Blender's own solver, see `angles`."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation
from ..errors import InvalidArgument
from ..message import Message
from ..rotation import Array
from .angles import euler_axes, swing_and_twist
from .arithmetic import BATCH, SINGLE
from .batches import batch_front, batch_last, packed, unpacked
from .joint_limits import JointLimits

STIFFEST = 0.99
"""Largest stiffness, as in Blender: to prevent rotation, lock the joint."""
_AXES = "XYZ"


@dataclass(frozen=True)
class Limits:
    """Limits of n joints; fields that are omitted do not limit.

    Raises InvalidArgument if shapes differ, a number is invalid, or a minimum is above its maximum.
    """

    locks: ArrayLike | None = None
    """(n, 3) bool, angles about x, y, z that keep their initial values."""
    minimum: ArrayLike | None = None
    """(n, 3) [rad], least angles, minus infinity for none; clamped to half a turn."""
    maximum: ArrayLike | None = None
    """(n, 3) [rad], largest angles, infinity for none; clamped to half a turn."""
    stiffness: ArrayLike | None = None
    """(n, 3), 0 to 0.99, the fraction of its rotation that a joint leaves to the others."""
    rest: ArrayLike | None = None
    """(n, 4), the rotation relative to the parent at which the angles are 0, default identity."""
    euler_minimum: ArrayLike | None = None
    """(n, 3) [rad], least Euler angles in `euler_order`, as in the constraint Limit Rotation in local space."""
    euler_maximum: ArrayLike | None = None
    """(n, 3) [rad], the largest ones."""
    euler_order: str | Sequence[str] = "XYZ"
    """One order, or one for each joint."""
    names: Sequence[str] | None = None
    """Names of the joints, for error messages."""

    def __post_init__(self) -> None:
        n = self._count()
        for name, default in (
            ("locks", False),
            ("minimum", -np.inf),
            ("maximum", np.inf),
            ("stiffness", 0.0),
            ("rest", rotation.IDENTITY),
            ("euler_minimum", -np.inf),
            ("euler_maximum", np.inf),
        ):
            given = getattr(self, name)
            shape = (n, 4 if name == "rest" else 3)
            kind = bool if name == "locks" else float
            numbers = None if given is None else checks.numbers(name.replace("_", " "), given)
            value = np.full(shape, default, dtype=kind) if numbers is None else numbers.astype(kind)
            if value.shape != shape:
                raise InvalidArgument(
                    "Limits of {count} joints need {name} of shape {shape}, not {value_shape}.",
                    count=n,
                    name=Message(name),
                    shape=shape,
                    value_shape=value.shape,
                )
            if np.any(np.isnan(value)):
                raise InvalidArgument(
                    "The {name} of joint {joint} is not a number; enter a number.",
                    name=Message(name),
                    joint=self._name(value),
                )
            object.__setattr__(self, name, value)
        object.__setattr__(self, "rest", checks.quaternions("rest", self.rest))
        orders = (self.euler_order,) * n if isinstance(self.euler_order, str) else self._orders()
        if len(orders) != n:
            raise InvalidArgument(
                "Limits of {count} joints need an Euler order for each, not {order_count}.",
                count=n,
                order_count=len(orders),
            )
        for order in orders:
            rotation.check_euler_order(order)
        object.__setattr__(self, "euler_order", orders)
        self._check_ranges(np.asarray(self.minimum), np.asarray(self.maximum))
        self._check_ranges(np.asarray(self.euler_minimum), np.asarray(self.euler_maximum))

    def _orders(self) -> tuple[object, ...]:
        """The Euler orders, if they are several."""
        orders = self.euler_order
        return tuple(orders) if isinstance(orders, Sequence) or np.ndim(orders) == 1 else (orders,)

    def _count(self) -> int:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and not isinstance(value, str):
                found = checks.numbers("limits", value) if field.name != "names" else np.asarray(value)
                if found.ndim:
                    return len(found)
        raise InvalidArgument("The limits contain no arrays; set at least one, or omit the limits.")

    def _name(self, at: Array) -> str:
        """The name of the joint with the first true or NaN element of an array (n, ...)."""
        wrong = at if at.dtype == bool else np.isnan(at)
        joint = int(np.argmax(wrong.reshape(len(wrong), -1).any(axis=1)))
        return str(joint) if self.names is None else repr(self.names[joint])

    def _check_ranges(self, minimum: Array, maximum: Array) -> None:
        wrong = minimum > maximum
        if np.any(wrong):
            axis = int(np.argmax(wrong.any(axis=0)))
            wrong[:, :axis] = wrong[:, axis + 1 :] = False
            joint = int(np.argmax(wrong[:, axis]))
            low, high = np.degrees([minimum[joint, axis], maximum[joint, axis]])
            raise InvalidArgument(
                "The minimum {low:.6g}° of joint {joint} about {axis} is above the maximum "
                "{high:.6g}°; swap the limits.",
                joint=self._name(wrong),
                axis=_AXES[axis],
                low=low,
                high=high,
            )

    def __len__(self) -> int:
        return len(np.asarray(self.locks))

    @property
    def all_locked(self) -> bool:
        """Whether all axes of all joints are locked."""
        return bool(np.all(np.asarray(self.locks)))

    @cached_property
    def are_none(self) -> bool:
        """Whether no joint is limited."""
        return all(joint is None for joint in self.joints)

    @cached_property
    def joints(self) -> list[JointLimits | None]:
        """The limits of each joint for the solvers; None if it is free."""
        return [self._joint(n) for n in range(len(self))]

    def take(self, joints: Sequence[int]) -> "Limits":
        """The limits of some of the joints."""
        names = [field.name for field in fields(self) if field.name not in ("euler_order", "names")]
        parts: dict[str, Any] = {name: np.asarray(getattr(self, name))[list(joints)] for name in names}
        return Limits(**parts, euler_order=[self.euler_order[joint] for joint in joints])

    def _joint(self, n: int) -> JointLimits | None:
        locks, rest = np.asarray(self.locks)[n], np.asarray(self.rest)[n]
        low, high = (np.clip(np.asarray(a)[n], -np.pi, np.pi) for a in (self.minimum, self.maximum))
        given = np.isfinite(np.asarray(self.minimum)[n]) | np.isfinite(np.asarray(self.maximum)[n])
        euler = np.asarray(self.euler_minimum)[n], np.asarray(self.euler_maximum)[n]
        stiffness = np.clip(np.asarray(self.stiffness)[n], 0.0, STIFFEST)
        has_euler = bool(np.any(np.isfinite(euler)))
        if not (np.any(locks) or np.any(given) or has_euler or np.any(stiffness)):
            return None
        swing = np.sin(0.5 * low), np.sin(0.5 * high)
        return JointLimits(
            locks=tuple(locks.tolist()),
            low=(float(swing[0][0]), float(low[1]), float(swing[0][2])),
            high=(float(swing[1][0]), float(high[1]), float(swing[1][2])),
            limited=tuple(given.tolist()),
            weights=tuple((1.0 - stiffness).tolist()) if np.any(stiffness) else None,
            rest=None if abs(rest[0]) > 1.0 - 1e-15 else tuple(rest.tolist()),
            euler=(tuple(euler[0].tolist()), tuple(euler[1].tolist())) if has_euler else None,
            order=euler_axes(self.euler_order[n]),
        )

    def parameters(self, poses: Array) -> Array:
        """The values (n, 3, m) that locked axes keep in poses (n, 4, m); see JointLimits."""
        values = np.zeros((len(self), 3, poses.shape[-1]))
        for n, limits in enumerate(self.joints):
            if limits is not None:
                values[n] = np.stack(limits.parameters(BATCH, tuple(poses[n])))
        return values

    def angles(self, rotations: ArrayLike) -> Array:
        """Angles (..., n, 3) about x, y, z [rad] of local rotations (..., n, 4), as in Blender's solver.

        Raises InvalidArgument, as `clamp` and `excess` do.
        """
        q = checks.array("rotations", rotations, len(self), 4)
        from_rest = rotation.multiply(rotation.inverse(self.rest), q)
        x, y, z = swing_and_twist(BATCH, tuple(np.moveaxis(from_rest, -1, 0)))
        swing = (2.0 * np.arcsin(np.clip(a, -1.0, 1.0)) for a in (x, z))
        across, along = swing
        return np.stack((across, y, along), axis=-1)

    def clamp(self, rotations: ArrayLike, start: ArrayLike | None = None) -> Array:
        """The nearest allowed rotations (..., n, 4); locked angles are those of `start`, by default unchanged."""
        q = checks.array("rotations", rotations, len(self), 4)
        batch = q.shape[:-2]
        whole, single = batch_last(q, batch, 2), q.size == 4 * len(self)
        xp, pose = SINGLE if single else BATCH, unpacked(whole, single)
        begin = pose if start is None else unpacked(batch_last(np.asarray(start, dtype=float), batch, 2), single)
        for n, limits in enumerate(self.joints):
            if limits is not None:
                pose[n] = limits.clamp(xp, pose[n], limits.parameters(xp, begin[n]))
        return batch_front(packed(pose, whole.shape[-1])).reshape(q.shape)

    def excess(self, rotations: ArrayLike) -> Array:
        """The angle (..., n) [rad] by which local rotations (..., n, 4) exceed the limits; locks do not count."""
        q = checks.array("rotations", rotations, len(self), 4)
        return rotation.distance(q, self.clamp(q))
