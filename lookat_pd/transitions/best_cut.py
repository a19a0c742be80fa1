"""Where to cut from one clip to another: the pairs of frames in which bodies are posed and move alike.

Source: L. Kovar, M. Gleicher, F. Pighin, "Motion Graphs", SIGGRAPH 2002: two frames are compared as clouds of joints,
one of them first turned about the vertical as fits best. Here the turn that fits poses and velocities best is found for
all pairs of frames at once: with horizontal positions as complex numbers it is the argument of one matrix product.

Positions are global, Z up, in any unit of length. Where a clip lies on the ground and which way it heads plays no part.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidArgument
from ..message import Message
from ..rotation import Array

Mask = NDArray[np.bool_]


class Cut(NamedTuple):
    """Frame i of the source and frame j of the destination show nearly the same: i, then j + 1, plays smoothly on."""

    i: int
    j: int
    cost: float


@dataclass(frozen=True)
class Weights:
    """What counts for how much. A cost of 1 is joints apart by the body's size on average, so 0.01 is a tenth of it.

    velocity: a difference in velocity counts as the way it makes in this time [s]. contact: cost of all feet differing
    in whether they touch the ground. joints: (J,) shares of the joints, of any sum; None for equal ones.
    """

    velocity: float = 0.15
    contact: float = 0.02
    joints: ArrayLike | None = None


@dataclass(frozen=True)
class CutSearch:
    """All pairs of frames compared. cost: (F1, F2), 0 for alike.

    turn: (F1, F2) the angle [rad] about the vertical by which the destination is turned to fit the source best.
    """

    cost: Array
    turn: Array

    def best(self, n: int = 10, *, apart: int = 5, history: int = 1, room: int = 0) -> list[Cut]:
        """Up to n cuts, best first, any two of them more than `apart` frames from each other in one clip or both.

        history: frames of the source that must lie before i; a transition wants one for its velocity. room: frames of
        the destination that must lie after j, such as the length of the blend. Fewer come back where there are no more.
        Raises InvalidArgument for negative numbers.
        """
        for name, value in (("number of cuts", n), ("distance", apart), ("history", history), ("room", room)):
            if value < 0:
                raise InvalidArgument("The {name} must be 0 or more, not {value}.", name=Message(name), value=value)
        left = self.cost.copy()
        left[:history] = np.inf
        left[:, max(left.shape[1] - room, 0) :] = np.inf
        found: list[Cut] = []
        while len(found) < n and left.size:
            i, j = (int(index) for index in np.unravel_index(np.argmin(left), left.shape))
            if left[i, j] == np.inf:
                break
            found.append(Cut(i, j, float(left[i, j])))
            left[max(i - apart, 0) : i + apart + 1, max(j - apart, 0) : j + apart + 1] = np.inf
        return found


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
    root: the joint whose place on the ground is taken out, usually the hips. contacts: for both clips which feet touch
    the ground, (F1, K) and (F2, K) booleans, see `foot_contacts`. weights: default `Weights()`.

    The cost is the mean squared distance of the joints about the root's place on the ground, after the turn about the
    vertical that fits best, plus that of their velocities by weight, over the squared size of the body; plus the share
    of feet whose contacts differ by weight. The size is how far joints are from the root, root mean square over both
    clips. Raises InvalidArgument.
    """
    weights = weights or Weights()
    source, destination = _positions("source", source), _positions("destination", destination)
    joints = source.shape[1]
    if destination.shape[1] != joints:
        raise InvalidArgument(
            "Both clips must have the same joints, not {joints} and {shape}.", joints=joints, shape=destination.shape[1]
        )
    if not -joints <= root < joints:
        raise InvalidArgument(
            "There is no root joint {root} among the {joints} joints; choose another.", root=root, joints=joints
        )
    if not (np.isfinite(dt) and dt > 0.0):
        raise InvalidArgument("The time step must be longer than 0 seconds, not {dt}.", dt=dt)
    for name, value in (("velocities", weights.velocity), ("contacts", weights.contact)):
        if not (np.isfinite(value) and value >= 0.0):
            raise InvalidArgument(
                "The weight of {name} must be 0 or more, not {value}.", name=Message(name), value=value
            )
    share = _shares(weights.joints, joints)
    scale = np.sqrt(_twice(share)) / _size((source, destination), root, share)
    level = np.mean(source[:, root, 2])
    features = [
        scale * np.concatenate((_about(clip, root, level), weights.velocity * _velocity(clip, dt)), axis=1)
        for clip in (source, destination)
    ]
    cost, turn = _apart(*features)
    if contacts is not None:
        cost += weights.contact * _mismatch(contacts, len(source), len(destination))
    return CutSearch(cost, turn)


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
    its height, default for each joint: that of the lowest twentieth of its frames, so that a few frames below it do not
    spoil it. Raises InvalidArgument.
    """
    feet = _positions("feet", feet)
    for name, value in (("time step", dt), ("size", size), ("height", height), ("speed", speed)):
        if not (np.isfinite(value) and value > 0.0):
            raise InvalidArgument("The {name} must be more than 0, not {value}.", name=Message(name), value=value)
    floor = np.quantile(feet[..., 2], 0.05, axis=0) if ground is None else ground
    low = feet[..., 2] - floor < height * size
    return low & (np.linalg.norm(_velocity(feet, dt), axis=-1) < speed * size)


def _positions(name: str, positions: ArrayLike) -> Array:
    positions = np.asarray(positions, dtype=float)
    if positions.ndim != 3 or positions.shape[-1] != 3 or not positions.size:
        raise InvalidArgument(
            "The shape of the {name} must be (frames, joints, 3) with at least one of each, not {shape}.",
            shape=positions.shape,
            name=Message(name),
        )
    if not np.all(np.isfinite(positions)):
        raise InvalidArgument(
            "The positions of the {name} are not all finite; fix the keys of the animation.", name=Message(name)
        )
    return positions


def _shares(joints: ArrayLike | None, count: int) -> Array:
    """Weights (J,) of sum 1."""
    share = np.ones(count) if joints is None else np.asarray(joints, dtype=float)
    if share.shape != (count,) or not np.all(np.isfinite(share) & (share >= 0.0)) or not np.any(share):
        raise InvalidArgument(
            "The weights of the joints must be {count} numbers of 0 or more, with at least one above 0.", count=count
        )
    return share / np.sum(share)


def _size(clips: tuple[Array, Array], root: int, share: Array) -> float:
    """Distance of the joints from the root, root mean square; 1 where all are at one point and cannot differ."""
    squares = np.concatenate([np.sum((clip - clip[:, root, None]) ** 2, axis=-1) for clip in clips])
    return float(np.sqrt(np.mean(squares @ share))) or 1.0


def _about(positions: Array, root: int, level: float) -> Array:
    """Positions with the root's place on the ground taken out, and the same height `level` from all."""
    origin = positions[:, root, None].copy()
    origin[..., 2] = level
    return positions - origin


def _velocity(positions: Array, dt: float) -> Array:
    """Central differences, one-sided at the ends; zero for a single frame."""
    return np.gradient(positions, dt, axis=0) if len(positions) > 1 else np.zeros_like(positions)


def _twice(share: Array) -> Array:
    return np.concatenate((share, share))[:, None]


def _apart(a: Array, b: Array) -> tuple[Array, Array]:
    """Squared distances (F1, F2) of points (F, N, 3), b turned about Z as fits best, and by how much it is.

    |a - e b|² = |a|² + |b|² - 2 Re(e conj(a) b) for horizontal places as complex numbers and e = exp(i turn).
    """
    across = (a[..., 0] - 1j * a[..., 1]) @ (b[..., 0] + 1j * b[..., 1]).T
    along = a[..., 2] @ b[..., 2].T
    squares = np.sum(a * a, axis=(1, 2))[:, None] + np.sum(b * b, axis=(1, 2))
    return np.maximum(squares - 2.0 * (np.abs(across) + along), 0.0), -np.angle(across)


def _mismatch(contacts: tuple[ArrayLike, ArrayLike], first: int, second: int) -> Array:
    """Share of feet (F1, F2) that touch the ground in one clip only."""
    a, b = (np.asarray(feet) for feet in contacts)
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
