"""The best cut from one clip to another: pairs of frames with similar poses and velocities.

Source: L. Kovar, M. Gleicher, F. Pighin, "Motion Graphs", SIGGRAPH 2002: two frames are compared as point clouds of
joints after the best rotation of one of them about the vertical. Here the best rotation for poses and velocities is
computed for all pairs of frames at once: with horizontal positions as complex numbers it is the argument of one matrix
product.

Positions are global, Z up, in any unit of length. The position and heading of a clip on the ground do not matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks
from ..body.contacts import touching
from ..errors import InvalidArgument
from ..message import Message
from ..rotation import Array

Mask = NDArray[np.bool_]


class Cut(NamedTuple):
    """Frame i of the source and frame j of the destination are similar: j + 1 after i continues smoothly."""

    i: int
    j: int
    cost: float


@dataclass(frozen=True)
class Weights:
    """Weights of the comparison. A cost of 1 means that joints differ by the body's size on average, 0.01 by a tenth of
    it."""

    velocity: float = 0.15
    """A difference in velocity counts as the distance covered in this time [s]."""
    contact: float = 0.02
    """Cost if the ground contacts of all feet differ."""
    joints: ArrayLike | None = None
    """(J,) weights of the joints, of any sum; None for equal ones."""


@dataclass(frozen=True)
class CutSearch:
    """The comparison of all pairs of frames."""

    cost: Array
    """(F1, F2), 0 for equal ones."""
    across: NDArray[np.complexfloating]
    """(F1, F2) complex numbers whose argument is that of the best rotation of the source to the destination."""

    @property
    def turn(self) -> Array:
        """(F1, F2) the angle [rad] about the vertical of the best rotation of the destination to the source."""
        return -np.angle(self.across)

    def repeated(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> "CutSearch":
        """The comparison of these frames of the source with these of the destination, such as those of two cycles.

        Raises InvalidArgument.
        """
        for frames, most in ((rows, len(self.cost)), (columns, self.cost.shape[1])):
            checks.numbers("frames of a comparison", frames)
            if not np.issubdtype(np.asarray(frames).dtype, np.integer) or np.ndim(frames) != 1:
                raise InvalidArgument("The frames of a comparison must be a list of whole numbers.")
            if not len(frames) or np.min(frames) < 0 or np.max(frames) >= most:
                raise InvalidArgument("The frames of a comparison must be from 0 to {last}.", last=most - 1)
        chosen = np.ix_(rows, columns)
        return CutSearch(self.cost[chosen], self.across[chosen])

    def best(
        self,
        n: int = 10,
        *,
        spacing: int = 5,
        history: int = 1,
        room: int = 0,
        source: slice = slice(None),
        destination: slice = slice(None),
        extra: tuple[ArrayLike, ArrayLike] = (0.0, 0.0),
    ) -> list[Cut]:
        """Up to n cuts, best first: local minima of the cost, with a distance of more than `spacing` frames in at least
        one clip. Cuts that are only beside a better one are left out, which spreads the cuts over the clips.

        history: number of frames of the source before i; a transition needs one for its velocity. room: number of
        frames of the destination after j, such as the length of the blend. source, destination: the frames that i and j
        may be. extra: costs (F1,) and (F2,) of leaving the source after each frame, and of entering the destination
        after each. Fewer cuts are returned if there are no more. Raises InvalidArgument for negative numbers.
        """
        for name, value in (("number of cuts", n), ("spacing", spacing), ("history", history), ("room", room)):
            checks.whole(name, value, 0, 2**31)
        left = np.full_like(self.cost, np.inf)
        more = np.asarray(extra[0], dtype=float)[..., None] + np.asarray(extra[1], dtype=float)
        left[source, destination] = (self.cost + more)[source, destination]
        left[:history] = np.inf
        left[:, max(left.shape[1] - room, 0) :] = np.inf
        np.putmask(left, left > _lowest(_lowest(left, spacing).T, spacing).T, np.inf)
        cuts: list[Cut] = []
        while len(cuts) < n and left.size:
            i, j = (int(index) for index in np.unravel_index(np.argmin(left), left.shape))
            if left[i, j] == np.inf:
                break
            cuts.append(Cut(i, j, float(left[i, j])))
            left[max(i - spacing, 0) : i + spacing + 1, max(j - spacing, 0) : j + spacing + 1] = np.inf
        return cuts


def _lowest(values: Array, reach: int) -> Array:
    """The smallest value (n, m) of the rows up to `reach` away."""
    reach = min(reach, len(values))
    rest = np.full((reach, values.shape[1]), np.inf, dtype=values.dtype)
    lowest, span, width = np.concatenate((rest, values, rest)), 1, 2 * reach + 1
    while 2 * span <= width:
        lowest = np.minimum(lowest[:-span], lowest[span:])
        span *= 2
    return np.minimum(lowest[: len(values)], lowest[width - span : width - span + len(values)])


def search(
    source: ArrayLike,
    destination: ArrayLike,
    dt: float,
    *,
    root: int = 0,
    contacts: tuple[ArrayLike, ArrayLike] | None = None,
    weights: Weights | None = None,
) -> CutSearch:
    """Compare every frame of one clip with every frame of another.

    source (F1, J, 3), destination (F2, J, 3): global positions of the same J joints, Z up; dt: their time step [s].
    root: the joint whose ground position is subtracted, usually the hips. contacts: of the feet with the ground for
    both clips, (F1, K) and (F2, K) booleans, see `foot_contacts`. weights: default `Weights()`.

    The cost is the mean squared distance of the joints relative to the ground position of the root, after the best
    rotation about the vertical, plus the weighted one of their velocities, divided by the squared size of the body;
    plus the weighted fraction of feet with different contacts. The size is the root mean square distance of the joints
    from the root over both clips. Raises InvalidArgument.
    """
    weights = weights or Weights()
    first, second = features((source, destination), dt, root=root, weights=weights)
    checks.check_memory(12.0 * len(first) * len(second))
    cost, across = _apart(first, second)
    if contacts is not None:
        cost += weights.contact * mismatch(contacts, len(first), len(second))
    return CutSearch(cost, across)


def features(clips: Sequence[ArrayLike], dt: float, *, root: int, weights: Weights) -> list[Array]:
    """What is compared of each clip: points (F, 2 J, 3) whose squared distances, after the best rotation of one clip
    about Z, are the costs without contacts.

    Arguments and errors as for `search`; the size of the body is that in all clips.
    """
    names = ("source", "destination") if len(clips) == 2 else ("clip",) * len(clips)
    known = [_positions(name, clip) for name, clip in zip(names, clips, strict=True)]
    joints = known[0].shape[1]
    for clip in known:
        if clip.shape[1] != joints:
            raise InvalidArgument(
                "Both clips must have the same joints, not {joints} and {shape}.", joints=joints, shape=clip.shape[1]
            )
    if not isinstance(root, int | np.integer) or not -joints <= root < joints:
        raise InvalidArgument(
            "There is no root joint {root} among the {joints} joints; choose another.",
            root=checks.shown(root),
            joints=joints,
        )
    dt = checks.time_step(dt)
    checks.number("weight of velocities", weights.velocity, 0.0)
    checks.number("weight of contacts", weights.contact, 0.0)
    share = _shares(weights.joints, joints)
    scale = np.sqrt(_twice(share)) / _size(known, root, share)
    level = float(np.mean(known[0][:, root, 2]))
    return [
        scale * np.concatenate((_about(clip, root, level), weights.velocity * _velocity(clip, dt)), axis=1)
        for clip in known
    ]


def foot_contacts(
    feet: ArrayLike,
    dt: float,
    *,
    size: float = 1.0,
    height: float = 0.05,
    speed: float = 0.5,
    ground: float | None = None,
) -> Mask:
    """Whether feet touch the ground (F, K): low and slow.

    feet: global positions (F, K, 3) of joints at the feet, Z up; dt [s]. Low is less than `height` times `size` above
    the ground, slow is less than `speed` times `size` a second; size: of the body, such as the length of a leg. ground:
    its height, default for each joint: the 5th percentile of its heights, which ignores a few lower frames. Raises
    InvalidArgument.
    """
    feet = _positions("feet", feet)
    dt = checks.time_step(dt)
    for name, value in (("size", size), ("height", height), ("speed", speed)):
        checks.number(name, value, 1e-9)
    floor = np.quantile(feet[..., 2], 0.05, axis=0) if ground is None else ground
    return touching(feet, dt, speed * size, height * size, floor)


def _positions(name: str, positions: ArrayLike) -> Array:
    positions = checks.animated(name, positions)
    if positions.ndim != 3 or positions.shape[-1] != 3 or not positions.size:
        raise InvalidArgument(
            "The shape of the {name} must be (frames, joints, 3) with at least one of each, not {shape}.",
            shape=positions.shape,
            name=Message(name),
        )
    return positions


def _shares(joints: ArrayLike | None, count: int) -> Array:
    """Weights (J,) of sum 1."""
    share = np.ones(count) if joints is None else checks.array("weights of the joints", joints)
    if share.shape != (count,) or not np.all(share >= 0.0) or not np.any(share):
        raise InvalidArgument(
            "The weights of the joints must be {count} numbers of 0 or more, with at least one above 0.", count=count
        )
    return share / np.sum(share)


def _size(clips: Sequence[Array], root: int, share: Array) -> float:
    """Distance of the joints from the root, root mean square; 1 if all are at one point."""
    squares = np.concatenate([np.sum((clip - clip[:, root, None]) ** 2, axis=-1) for clip in clips])
    return float(np.sqrt(np.mean(squares @ share))) or 1.0


def _about(positions: Array, root: int, level: float) -> Array:
    """Positions relative to the ground position of the root and to the height `level`."""
    origin = positions[:, root, None].copy()
    origin[..., 2] = level
    return positions - origin


def _velocity(positions: Array, dt: float) -> Array:
    """Central differences, one-sided at the ends; zero for a single frame."""
    return np.gradient(positions, dt, axis=0) if len(positions) > 1 else np.zeros_like(positions)


def _twice(share: Array) -> Array:
    return np.concatenate((share, share))[:, None]


def _apart(a: Array, b: Array) -> tuple[Array, NDArray[np.complex128]]:
    """Squared distances (F1, F2) of points (F, N, 3), after the best rotation of b about Z, and numbers whose argument
    is the inverse of that rotation.

    |a - e b|² = |a|² + |b|² - 2 Re(e conj(a) b) for horizontal positions as complex numbers and e = exp(i turn).
    """
    across = (a[..., 0] - 1j * a[..., 1]) @ (b[..., 0] + 1j * b[..., 1]).T
    along = a[..., 2] @ b[..., 2].T
    squares = np.sum(a * a, axis=(1, 2))[:, None] + np.sum(b * b, axis=(1, 2))
    length = np.sqrt(across.real**2 + across.imag**2)
    length += along
    squares -= np.multiply(length, 2.0, out=length)
    return np.maximum(squares, 0.0, out=squares), across


def mismatch(contacts: tuple[ArrayLike, ArrayLike], first: int, second: int) -> Array:
    """Fraction of feet (F1, F2) that touch the ground in only one of the clips."""
    a, b = (checks.numbers("contacts", feet) for feet in contacts)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1] or not a.shape[1] or (len(a), len(b)) != (first, second):
        raise InvalidArgument(
            "Contacts {shape} and {b_shape} must be ({first}, feet) and ({second}, feet).",
            shape=a.shape,
            b_shape=b.shape,
            first=first,
            second=second,
        )
    a, b = a.astype(bool).astype(float), b.astype(bool).astype(float)
    return (a @ (1.0 - b).T + (1.0 - a) @ b.T) / a.shape[1]
