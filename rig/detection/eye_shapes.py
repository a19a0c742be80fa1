"""Which shape keys turn the eyes, read from their names, and how far they turn them, measured on the mesh.

Names come as `eyeLookInLeft`, `eyeLookUp_R`, `CTRL_expressions_eyeLookLeftL`, `lookDown`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from . import shape_keys
from . import vocabulary as words

_LEAST = 8
"""Vertices that a part of a mesh needs to be an eye."""
_STIFF = 0.08
"""Largest part of the movement of an eyeball that is not a rotation."""
_SMALLEST, _LARGEST = np.radians(3.0), np.radians(100.0)
_STILL = 1e-3


@dataclass(frozen=True)
class ShapeTurn:
    """How a shape key turns an eye at value 1: axis (3,) and angle [rad]; place (3,) of the eye."""

    axis: tuple[float, float, float]
    angle: float
    place: tuple[float, float, float]


def looking(names: Sequence[str]) -> dict[tuple[str, str], str]:
    """Of one mesh's shape keys those that turn an eye, "L", "R" or "" for both, "LEFT", "RIGHT", "UP" or "DOWN"."""
    keys: dict[tuple[str, str], str] = {}
    for name in sorted(names, key=len):
        role = _role(name)
        if role is not None:
            keys.setdefault(role, name)
    return keys


def _role(name: str) -> tuple[str, str] | None:
    said = shape_keys.words_in_order(name)
    if not set(said) & words.KEY_LOOK or set(said) & words.KEY_NO_LOOK:
        return None
    at = next(n for n, word in enumerate(said) if word in words.KEY_LOOK)
    where = next((word for word in said[at + 1 :] if word in words.KEY_WHERE), None)
    if where is None:
        return None
    # Where both are said, the direction is the first and the side the last: eyeLookLeftRight.
    rest = [*said[:at], *said[at + 1 :]]
    rest.remove(where)
    rest.reverse()
    sides = words.KEY_LEFT | words.KEY_RIGHT
    side = next(("L" if word in words.KEY_LEFT else "R" for word in rest if word in sides), "")
    if where in words.KEY_UP_DOWN:
        return side, where.upper()
    if where in words.KEY_IN_OUT:
        if not side:
            return None
        return side, "RIGHT" if (where == "in") == (side == "L") else "LEFT"
    return side, where.upper()


def measured(points: Array, moved: Array, edges: Array, *, side: Array | None = None) -> ShapeTurn | None:
    """How a shape key turns the eyeball of a mesh; None where no part of the mesh turns as a whole.

    points, moved: (n, 3) vertices without and with the shape key, edges: (e, 2). side: (n,) whether vertices count.
    """
    far = np.linalg.norm(moved - points, axis=-1)
    most = far.max(initial=0.0)
    if most <= 0.0:
        return None
    moves = far > _STILL * most
    best: tuple[int, ShapeTurn] | None = None
    for part in _parts(moves, edges, len(points)):
        if side is not None and not side[part].mean() > 0.5:
            continue
        turn = _turn(points[part], moved[part]) if len(part) >= _LEAST else None
        if turn is not None and (best is None or len(part) > best[0]):
            best = len(part), turn
    return best[1] if best is not None else None


def place(points: Array, moved: Array, *, side: Array | None = None) -> Array | None:
    """The mean position (3,) of what a shape key moves; None where it moves nothing."""
    far = np.linalg.norm(moved - points, axis=-1)
    if side is not None:
        far = np.where(side, far, 0.0)
    return (far @ points) / far.sum() if far.sum() > 0.0 else None


def _parts(moves: Array, edges: Array, count: int) -> list[Array]:
    """The connected parts of a mesh of which any vertex moves."""
    label = np.arange(count)
    while len(edges):
        low = np.minimum(label[edges[:, 0]], label[edges[:, 1]])
        new = label.copy()
        np.minimum.at(new, edges[:, 0], low)
        np.minimum.at(new, edges[:, 1], low)
        new = new[new]
        if np.array_equal(new, label):
            break
        label = new
    return [np.flatnonzero(label == name) for name in np.unique(label[moves])]


def _turn(points: Array, moved: Array) -> ShapeTurn | None:
    """The rotation that moves points (n, 3), if it is one."""
    middle, there = points.mean(axis=0), moved.mean(axis=0)
    u, _, vt = np.linalg.svd((points - middle).T @ (moved - there))
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(vt.T @ u.T))])
    matrix = vt.T @ flip @ u.T
    off = moved - there - (points - middle) @ matrix.T
    if np.linalg.norm(off) > _STIFF * np.linalg.norm(moved - points):
        return None
    axis, angle = rotation.log(rotation.from_matrix(matrix)), 0.0
    angle = float(np.linalg.norm(axis))
    if not _SMALLEST < angle < _LARGEST:
        return None
    axis = axis / angle
    # The point that stays, nearest to the middle: (1 - R) p = there - R middle.
    still, *_ = np.linalg.lstsq(np.eye(3) - matrix, there - middle, rcond=1e-6)
    where = middle + still
    return ShapeTurn(tuple(axis.tolist()), angle, tuple(where.tolist()))


@lru_cache(maxsize=64)
def cached(points: bytes, moved: bytes, edges: bytes, side: bytes) -> tuple[ShapeTurn | None, tuple[float, ...] | None]:
    """`measured` and `place` of the bytes of their arrays in double precision."""
    here, there = (np.frombuffer(part).reshape(-1, 3) for part in (points, moved))
    counts = np.frombuffer(side, dtype=bool) if side else None
    lines = np.frombuffer(edges, dtype=np.int32).reshape(-1, 2)
    where = place(here, there, side=counts)
    return measured(here, there, lines, side=counts), None if where is None else tuple(where.tolist())
