"""What F-curves show at many frames."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from ...lookat_pd.rotation import Array
from . import actions

_COPIED = 6
"""So many values of a curve take about as long as a copy of it."""
_Values = dict[tuple[str, int], Array]
_known: dict[int, list[tuple[int, Array, _Values]]] = {}
"""Of each action whose values are kept, the slots and frames that were asked for, and the values of curves there."""


@contextmanager
def kept(unchanged: Iterable[bpy.types.Action]) -> Iterator[None]:
    """Keep what is asked of these actions, which nothing changes meanwhile: it need not be found again."""
    new = {action.session_uid for action in unchanged} - _known.keys()
    _known.update((uid, []) for uid in new)
    try:
        yield
    finally:
        for uid in new:
            del _known[uid]


def at_frames(curves: Sequence[Any], frames: Array) -> Array:
    """The values (F, n) of F-curves at frames (F,)."""
    times = frames.tolist()
    return np.array([[*map(curve.evaluate, times)] for curve in curves]).reshape(len(curves), len(times)).T


class CurveValues:
    """The values of the F-curves of an action at frames (F,), a context.

    Blender gives those at all whole frames of a curve at once where it turns the curve into samples: that is done to a
    copy of the action, if many are asked for, which is removed at the end.
    """

    def __init__(
        self, action: bpy.types.Action, slot: bpy.types.ActionSlot, frames: Array, asked: int | None = None
    ) -> None:
        """asked: of about how many curves the values will be asked, None for all."""
        self._action, self._slot, self._frames, self._asked = action, slot, frames, asked
        self._copy: bpy.types.Action | None = None
        self._curves: dict[tuple[str, int], Any] | None = None
        self._known, self._rows = self._kept()

    def _kept(self) -> tuple[_Values, slice]:
        """Values that are known or will be, and which of them are those at the frames."""
        frames = self._frames
        kept = _known.get(self._action.session_uid)
        for handle, known, values in kept or ():
            first = int(known.searchsorted(frames[0])) if len(frames) else 0
            rows = slice(first, first + len(frames))
            if handle == self._slot.handle and np.array_equal(known[rows], frames):
                return values, rows
        values: _Values = {}
        if kept is not None:
            kept.append((self._slot.handle, frames, values))
        return values, slice(None)

    def __enter__(self) -> "CurveValues":
        return self

    def __exit__(self, *_: object) -> None:
        self._curves = None
        if self._copy is not None:
            bpy.data.actions.remove(self._copy)
            self._copy = None

    def of(self, curve: Any) -> Array:
        """The values (F,) of one of the curves."""
        place = curve.data_path, curve.array_index
        if (known := self._known.get(place)) is not None:
            return known[self._rows].copy()
        copied = self._copied().pop(place, None)
        if copied is None or not len(copied.keyframe_points):
            return self._keeping(place, at_frames([curve], self._frames)[:, 0])
        first = int(self._frames[0])
        copied.convert_to_samples(first, first + len(self._frames))
        samples = np.empty((len(self._frames), 2), dtype=np.float32)
        copied.sampled_points.foreach_get("co", samples.reshape(-1))
        return self._keeping(place, samples[:, 1].astype(float))

    def _keeping(self, place: tuple[str, int], values: Array) -> Array:
        """The values (F,) of a curve, which are kept where they are all that is kept of it."""
        if self._rows == slice(None):
            self._known[place] = values
            return values.copy()
        return values

    def _copied(self) -> dict[tuple[str, int], Any]:
        """The curves of the copy, none where it is not worth it."""
        if self._curves is None:
            self._curves = {}
            frames = self._frames
            curves = actions.curves(self._action, self._slot)
            asked = len(curves) if self._asked is None else self._asked
            whole = len(frames) > 1 and frames[0] == np.round(frames[0]) and bool(np.all(np.diff(frames) == 1.0))
            if whole and asked * len(frames) > _COPIED * len(curves):
                self._copy = self._action.copy()
                slot = next(own for own in self._copy.slots if own.handle == self._slot.handle)
                self._curves = {(c.data_path, c.array_index): c for c in actions.curves(self._copy, slot)}
        return self._curves
