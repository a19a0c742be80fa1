"""The point that the mouse drags, as in Blender's own move operator.

In the plane of the view, along an axis or in a plane of two axes; snapped, precise, or by a typed number.
"""

from collections.abc import Sequence

import numpy as np

from ...lookat_pd.rotation import Array

PRECISION = 0.1
_AXES = "XYZ"
_PARALLEL = 1e-4


def magnitude(length: float) -> int:
    """The exponent of the largest power of ten not above a length."""
    return int(np.floor(np.log10(max(length, 1e-9))))


class Handle:
    """A point with the initial position `start`. place: (3,), its current position.

    axis: "", "X", "Y" or "Z"; excluded: whether the other two are used; local: axes (3, 3) as columns, None for those
    of the world. number: the typed text.
    """

    def __init__(self, start: Sequence[float], normal: Sequence[float], step: float) -> None:
        """normal: the view's direction. step: [length] of snapping."""
        self.start, self.normal, self.step = np.array(start, dtype=float), np.array(normal, dtype=float), step
        self.place = self.start.copy()
        self.axis, self.excluded, self.local = "", False, None
        self.number, self.is_precise, self.snaps = "", False, False
        self._ray: tuple[Array, Array] | None = None
        self._taken: tuple[Array, Array] | None = None
        self._anchor, self._held = None, self.start.copy()

    # Input

    def constrain(self, axis: str, axes: Array, *, excluded: bool = False) -> None:
        """Constrain to one axis, or to all but one: of the world, of `axes` (3, 3) the second time, and none the third
        time."""
        if self.axis != axis or self.excluded != excluded:
            self.axis, self.excluded, self.local = axis, excluded, None
        elif self.local is None:
            self.local = np.array(axes, dtype=float)
        else:
            self.axis, self.excluded, self.local = "", False, None
        if not self.axis:
            self.number = ""
        self._begin_again()

    def type(self, sign: str) -> None:
        """Append a character to the number; "" removes the last one. Without an axis this has no effect."""
        if not self.takes_numbers:
            return
        if sign == "":
            self.number = self.number[:-1]
        elif sign == "-":
            self.number = self.number[1:] if self.number.startswith("-") else "-" + self.number
        elif sign != "." or "." not in self.number:
            self.number += sign
        self._update()

    @property
    def takes_numbers(self) -> bool:
        """Whether digits are part of a number: if an axis is set."""
        return bool(self.axis)

    def be(self, *, precise: bool, snaps: bool) -> None:
        """Set whether to move by a tenth, and in steps."""
        if precise != self.is_precise:
            # Keep the current displacement.
            raw = self._raw()
            self._held = self._unsnapped()
            self._anchor = raw
            self.is_precise = precise
        self.snaps = snaps
        self._update()

    def move(self, origin: Sequence[float], direction: Sequence[float]) -> None:
        """Move to the mouse, which is over this ray of the world."""
        ray = np.array(direction, dtype=float)
        self._ray = np.array(origin, dtype=float), ray / np.linalg.norm(ray)
        if self._taken is None:
            self._taken, self._anchor = self._ray, self._raw()
        self._update()

    # Result

    @property
    def directions(self) -> Array:
        """(n, 3) unit vectors of the allowed directions; none for the plane of the view."""
        axes = np.eye(3) if self.local is None else self.local / np.linalg.norm(self.local, axis=0)
        if not self.axis:
            return np.zeros((0, 3))
        n = _AXES.index(self.axis)
        return np.delete(axes.T, n, axis=0) if self.excluded else axes.T[n : n + 1]

    def _begin_again(self) -> None:
        """Recompute the displacement after a change of directions."""
        self._held = self.start.copy()
        self._anchor = None if self._taken is None else self._seen_by(*self._taken)
        self._update()

    def _raw(self) -> Array | None:
        """The point (3,) of the plane or axis under the mouse."""
        if self._ray is None:
            return None
        return self._seen_by(*self._ray)

    def _seen_by(self, origin: Array, ray: Array) -> Array:
        directions = self.directions
        if len(directions) == 1:
            return self._on_line(origin, ray, directions[0])
        normal = np.cross(*directions) if len(directions) == 2 else self.normal
        along = float(ray @ normal)
        if abs(along) < _PARALLEL:
            return self.start
        return origin + ray * float((self.start - origin) @ normal) / along

    def _on_line(self, origin: Array, ray: Array, axis: Array) -> Array:
        """The point of the axis that is nearest to the ray."""
        across = 1.0 - float(ray @ axis) ** 2
        if across < _PARALLEL:
            return self.start
        apart = origin - self.start
        return self.start + axis * float(apart @ axis - (apart @ ray) * (ray @ axis)) / across

    def _unsnapped(self) -> Array:
        raw = self._raw()
        if raw is None or self._anchor is None:
            return self._held
        return self._held + (PRECISION if self.is_precise else 1.0) * (raw - self._anchor)

    def _update(self) -> None:
        typed = self._typed()
        if typed is not None:
            self.place = self.start + typed * self.directions[0]
            return
        place = self._unsnapped()
        if self.snaps:
            step = self.step * (PRECISION if self.is_precise else 1.0)
            axes = np.eye(3) if self.local is None else self.local / np.linalg.norm(self.local, axis=0)
            place = self.start + axes @ (np.round(np.linalg.solve(axes, place - self.start) / step) * step)
        self.place = place

    def _typed(self) -> float | None:
        try:
            return float(self.number)
        except ValueError:
            return None
