"""Keyframes as arrays: reading an F-curve, and replacing a range of it without changing the rest."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...lookat_pd.rotation import Array

CONSTANT, LINEAR, BEZIER = 0, 1, 2
KEYFRAME, EXTREME, BREAKDOWN, JITTER, MOVING_HOLD = 0, 1, 2, 3, 4
FREE, ALIGNED, AUTO_CLAMPED = 0, 3, 4
GENERATED = 5
"""Blender's number of the key type of what a bake adds, which animators can tell from their own keys."""
_HANDLES, _HANDLE_TYPES = ("handle_left", "handle_right"), ("handle_left_type", "handle_right_type")
_COORDINATES = ("co", *_HANDLES)
_WHOLE = {"interpolation": LINEAR, "handle_left_type": AUTO_CLAMPED, "handle_right_type": AUTO_CLAMPED}
_EXTRA_WHOLE = {"easing": 0, "type": 0}
_EXTRA_REAL = {"back": 1.70158, "amplitude": 0.0, "period": 0.0}
# Handles last: setting a handle's type moves it.
_LAYOUT = np.dtype(
    [(name, np.int32) for name in (*_WHOLE, *_EXTRA_WHOLE)]
    + [(name, np.float32) for name in _EXTRA_REAL]
    + [(name, np.float32, 2) for name in _COORDINATES]
)
_CLOSE = 1e-4  # frames
_EXACT = 1e-5
_MERGED = 0.01  # frames
# What a new key has; setting it again would take as long as the coordinates. All numbers are 32 bits wide, so keys are
# compared as plain integers, all columns at once.
_NEW = np.zeros((), dtype=_LAYOUT)
_NEW["interpolation"], _NEW["handle_left_type"], _NEW["handle_right_type"] = BEZIER, AUTO_CLAMPED, AUTO_CLAMPED
_COLUMN = {name: n for n, name in enumerate((*_WHOLE, *_EXTRA_WHOLE, *_EXTRA_REAL))}
_NAMES = (*_WHOLE, *_EXTRA_WHOLE, *_EXTRA_REAL, *_COORDINATES)
_FIELDS = [(name, _LAYOUT[name]) for name in _NAMES]
_WORDS = _LAYOUT.itemsize // 4
_ON_EVERY_FRAME = np.zeros((), dtype=_LAYOUT)
for _name, _value in {**_WHOLE, **_EXTRA_WHOLE, **_EXTRA_REAL}.items():
    _ON_EVERY_FRAME[_name] = _value
_ON_EVERY_FRAME["type"] = GENERATED
_ON_EVERY_FRAME_WORDS = _ON_EVERY_FRAME.reshape(1).view(np.int32)


@dataclass
class Keys:
    """The n keys of one F-curve: per attribute an array (n,) or, for coordinates, (n, 2) of frame and value."""

    attributes: NDArray

    @classmethod
    def read(cls, curve: Any) -> "Keys":
        """All keys of an F-curve; none without a curve."""
        points: Any = curve.keyframe_points if curve is not None else []
        count = len(points)
        attributes = np.zeros(count, dtype=_LAYOUT)
        if count:
            # A column after another, then all of them turned at once: field by field takes twice as long.
            columns = np.empty(count * _WORDS, dtype=np.int32)
            reals = columns.view(np.float32)
            at = 0
            for name, field in _FIELDS:
                size = count * field.itemsize // 4
                points.foreach_get(name, (columns if field == np.int32 else reals)[at : at + size])
                at += size
            numbers, single = attributes.view(np.int32).reshape(count, _WORDS), len(_COLUMN)
            numbers[:, :single] = columns[: single * count].reshape(single, count).T
            pairs = columns[single * count :].reshape(len(_COORDINATES), count, 2)
            numbers[:, single:] = pairs.transpose(1, 0, 2).reshape(count, -1)
        return cls(attributes)

    @classmethod
    def dense(cls, frames: Array, values: Array, types: NDArray | None = None) -> "Keys":
        """A key at every frame, with linear interpolation, of types (n,) or of type *Generated*."""
        numbers = np.empty((len(frames), _WORDS), dtype=np.int32)
        numbers[:] = _ON_EVERY_FRAME_WORDS
        places = numbers[:, len(_COLUMN) :].view(np.float32)
        places[:, ::2], places[:, 1::2] = np.reshape(frames, (-1, 1)), np.reshape(values, (-1, 1))
        attributes = numbers.view(_LAYOUT).reshape(-1)
        if types is not None:
            attributes["type"] = types
        return cls(attributes)

    @classmethod
    def curved(cls, frames: Array, values: Array, slopes: Array, types: NDArray | None = None) -> "Keys":
        """Bezier keys of a piecewise cubic curve with these slopes by frame; types as in `dense`."""
        keys = cls.dense(frames, values, types)
        made = keys.attributes
        made["interpolation"] = BEZIER
        made["handle_left_type"] = made["handle_right_type"] = ALIGNED
        third = np.diff(frames, prepend=frames[0] - 3.0, append=frames[-1] + 3.0) / 3.0
        for name, reach in (("handle_left", -third[:-1]), ("handle_right", third[1:])):
            made[name][:, 0], made[name][:, 1] = frames + reach, values + reach * slopes
        return keys

    def write(self, curve: Any) -> None:
        """Replace the keys of an F-curve."""
        points = curve.keyframe_points
        points.clear()
        points.add(len(self))
        numbers = self.attributes.view(np.int32).reshape(len(self), _LAYOUT.itemsize // 4)
        new = (numbers == _NEW.reshape(1).view(np.int32)).all(axis=0)
        # Handles of this type are placed by Blender when the curve is updated.
        automatic = all(new[_COLUMN[name]] for name in _HANDLE_TYPES)
        for name in _NAMES:
            if not (automatic if name in _HANDLES else name != "co" and new[_COLUMN[name]]):
                points.foreach_set(name, np.ascontiguousarray(self.attributes[name]).reshape(-1))
        curve.update()

    def write_as_is(self, curve: Any) -> None:
        """The same with the handles that the keys have, also where Blender places them among other keys differently."""
        self.write(curve)
        points, count = curve.keyframe_points, len(self)
        if len(points) != count:
            # Blender has merged some that are very close to each other.
            return
        found = False
        placed = np.empty((count, 2), dtype=np.float32)
        for name, kind in zip(_HANDLES, _HANDLE_TYPES, strict=True):
            points.foreach_get(name, placed.reshape(-1))
            wanted = self.attributes[name]
            moved = (np.abs(placed - wanted) > _EXACT * np.maximum(np.abs(wanted), 1.0)).any(axis=1)
            if moved.any():
                self.attributes[kind][moved] = FREE
                found = True
        if found:
            for name in (*_HANDLE_TYPES, *_HANDLES):
                points.foreach_set(name, np.ascontiguousarray(self.attributes[name]).reshape(-1))
            curve.update()

    def __len__(self) -> int:
        return len(self.attributes)

    def merged(self) -> "Keys":
        """The same with one key for two that are so close that Blender merges them: the first, which goes on as the
        second."""
        frames = self.frames.astype(float)
        close = np.flatnonzero(frames[1:] - frames[:-1] < _MERGED) + 1
        if not len(close):
            return self
        result = self[:]
        for n in close[::-1]:
            for name in ("interpolation", "easing", "back", "amplitude", "period", "handle_right", "handle_right_type"):
                result.attributes[name][n - 1] = result.attributes[name][n]
        return Keys(np.delete(result.attributes, close))

    @property
    def frames(self) -> NDArray:
        return self.attributes["co"][:, 0]

    def __getitem__(self, chosen: slice | NDArray) -> "Keys":
        if not isinstance(chosen, slice):
            return Keys(self.attributes[chosen])
        # As plain numbers, see `__add__`.
        return Keys(self.attributes[chosen].view(np.int32).copy().view(_LAYOUT))

    def shift(self, frames: float) -> None:
        """Move them by so many frames, with their handles."""
        for name in _COORDINATES:
            self.attributes[name][:, 0] += frames

    def until(self, frame: float) -> "Keys":
        """Those before a frame."""
        return self[: int(self.frames.searchsorted(frame))]

    def after(self, frame: float) -> "Keys":
        """Those after a frame."""
        return self[int(self.frames.searchsorted(frame, "right")) :]

    def __add__(self, other: "Keys") -> "Keys":
        if not len(self) or not len(other):
            return other if len(other) else self
        # As plain 32-bit numbers: numpy concatenates structured arrays field by field, ten times as slow.
        numbers = np.concatenate((self.attributes.view(np.int32), other.attributes.view(np.int32)))
        return Keys(numbers.view(_LAYOUT))

    def split(self, frame: float, value: float) -> "Keys":
        """The same curve with an additional key at `frame`, where its value is `value`; no value changes.

        Bezier segments are divided by de Casteljau's algorithm. An easing segment cannot be divided: the caller keys
        every frame of it instead.
        """
        n = int(self.frames.searchsorted(frame))
        if n < len(self) and self.frames[n] == frame:
            return self
        kind = self.attributes["interpolation"][n - 1] if 0 < n < len(self) else LINEAR
        levels = None
        if kind == BEZIER:
            points = _segment(self.attributes[n - 1], self.attributes[n])
            levels = _levels(points, _parameter(tuple(x for x, _ in points), frame))
            if not _fits(levels) and _fits(halves := _levels(points, 0.5)):
                halfway = halves[3][0]
                return self.split(float(np.float32(halfway[0])), halfway[1]).split(frame, value)
        result = self._with_row(n, frame, value)
        made = result.attributes
        if not 0 < n < len(self):
            _extend(made, n)
        else:
            made["interpolation"][n] = kind
        if levels is not None:
            _divide(made[n - 1 : n + 2], levels)
        return result

    def _with_row(self, n: int, frame: float, value: float) -> "Keys":
        """These keys and, before the one of that number, a linear one."""
        attributes = np.empty(len(self) + 1, dtype=_LAYOUT)
        # As plain numbers, see `__add__`.
        numbers, own = (items.view(np.int32).reshape(-1, _WORDS) for items in (attributes, self.attributes))
        numbers[:n], numbers[n + 1 :] = own[:n], own[n:]
        attributes[n] = _ON_EVERY_FRAME
        for name in _COORDINATES:
            attributes[name][n] = frame, value
        return Keys(attributes)


def _extend(made: NDArray, n: int) -> None:
    """Let the curve go on linearly to its key n, which is beyond the end of the others."""
    if len(made) == 1:
        return
    neighbour = n - 1 if n else 1
    # Automatic handles would follow the new key.
    for name in _HANDLE_TYPES:
        made[name][neighbour] = FREE
    if n and made["interpolation"][neighbour] != CONSTANT:
        made["interpolation"][neighbour] = LINEAR


Point = tuple[float, float]


def _segment(before: Any, after: Any) -> list[Point]:
    """The four control points of the Bezier segment between two keys, with handles that extend beyond the other key
    shortened, as in Blender's evaluation.

    In plain numbers, as all that divides a segment: on arrays it takes most of the time of replacing keys.
    """
    points = [
        before["co"].tolist(),
        before["handle_right"].tolist(),
        after["handle_left"].tolist(),
        after["co"].tolist(),
    ]
    length = points[3][0] - points[0][0]
    for key, handle in ((0, 1), (3, 2)):
        (x, y), (to_x, to_y) = points[key], points[handle]
        reach = abs(to_x - x)
        if reach > length:
            points[handle] = [x + length / reach * (to_x - x), y + length / reach * (to_y - y)]
    return [(x, y) for x, y in points]


@lru_cache(maxsize=256)
def _parameter(times: tuple[float, ...], frame: float) -> float:
    """The parameter in [0, 1] of a frame on a Bezier segment whose points have these times, as many curves do."""
    a, b, c, d = times
    low, high, t = 0.0, 1.0, 0.5
    for _ in range(60):
        t = 0.5 * (low + high)
        ab, bc, cd = a + t * (b - a), b + t * (c - b), c + t * (d - c)
        abc, bcd = ab + t * (bc - ab), bc + t * (cd - bc)
        low, high = (t, high) if abc + t * (bcd - abc) < frame else (low, t)
    return t


def _fits(levels: Sequence[Sequence[Point]]) -> bool:
    """Whether Blender does not shorten the handles of either part of a divided segment."""
    points, first, second, third = levels
    x0, x1, x = points[0][0], points[3][0], third[0][0]
    inner = (first[0][0] - x0, x - second[0][0]), (second[1][0] - x, x1 - first[2][0])
    return max(inner[0]) <= x - x0 + _CLOSE and max(inner[1]) <= x1 - x + _CLOSE


def _divide(made: NDArray, levels: Sequence[Sequence[Point]]) -> None:
    """Let three keys be those of a segment that the middle one divides."""
    _, first, second, third = levels
    left, right = made["handle_left"], made["handle_right"]
    right[0], left[1], right[1], left[2] = first[0], second[0], second[1], first[2]
    made["co"][1, 1] = third[0][1]
    # The other side of a key keeps its shape only if its handle does not move.
    made["handle_left_type"] = made["handle_right_type"] = FREE


def _levels(points: Sequence[Point], t: float) -> list[Sequence[Point]]:
    """The points of de Casteljau's algorithm, those of the segment first."""
    levels = [points]
    while len(levels[-1]) > 1:
        levels.append([(x + t * (u - x), y + t * (v - y)) for (x, y), (u, v) in pairwise(levels[-1])])
    return levels


def replace(
    keys: Keys,
    frames: Array,
    values: Array,
    evaluate: Any,
    edges: tuple[bool, bool] = (True, True),
    types: NDArray | None = None,
) -> Keys:
    """`keys` with those from frames[0] to frames[-1] replaced by a key at each of `frames`, as `put_between` does.

    types: of the keys at `frames`, else *Generated*.
    """
    return put_between(keys, Keys.dense(frames, values, types), evaluate, edges)


def put_between(keys: Keys, new: Keys, evaluate: Any, edges: tuple[bool, bool] = (True, True)) -> Keys:
    """`keys` with `new` ones in place of those from the first of them to the last.

    evaluate(frame) gives the old curve's value. Outside the replaced range the curve does not change at whole frames: a
    key is added on either side of it, except on sides where `edges` is False.
    """
    if not len(keys) and not any(edges):
        return new
    first, last = float(new.frames[0]), float(new.frames[-1])
    left = _edge(keys, first - 1.0, -1, evaluate) if edges[0] else keys
    right = _edge(keys, last + 1.0, 1, evaluate) if edges[1] else keys
    return left.until(first) + new + right.after(last)


def _edge(keys: Keys, frame: float, direction: int, evaluate: Any) -> Keys:
    """`keys` with a key at `frame`, beyond which nothing may change in that direction."""
    if not len(keys):
        return Keys.dense(np.array([frame]), np.array([evaluate(frame)]))
    is_beyond = keys.frames[0] < frame if direction < 0 else keys.frames[-1] > frame
    if not is_beyond:
        # Only the extrapolation of the curve is in that direction; two keys keep its slope.
        result = keys.split(frame, evaluate(frame)).split(frame + direction, evaluate(frame + direction))
        result.attributes["interpolation"][0 if direction < 0 else -1] = LINEAR
    else:
        n = int(keys.frames.searchsorted(frame))
        easing = 0 < n < len(keys) and keys.attributes["interpolation"][n - 1] > BEZIER
        result = keys.split(frame, evaluate(frame))
        if easing and len(result) > len(keys):
            low, high = float(keys.frames[n - 1]), float(keys.frames[n])
            span = np.arange(np.floor(low) + 1, frame + 1) if direction < 0 else np.arange(frame, np.ceil(high))
            dense = Keys.dense(span, np.array([evaluate(f) for f in span]))
            before, after = keys[:n], keys[n:]
            before.attributes["interpolation"][-1] = LINEAR
            result = before + dense + after
    at = int(result.frames.searchsorted(frame))
    # Its neighbor on the other side will change, and automatic handles would follow.
    result.attributes["handle_left_type"][at] = result.attributes["handle_right_type"][at] = FREE
    if direction < 0:
        result.attributes["interpolation"][at] = LINEAR
    return result
