"""The keys of clips in an action that was made of them: where their motion plays on unchanged, their keys are there.

A clip may play at another time, and each of its channels may be changed by one affine map of its numbers, also in
time: a root that is placed elsewhere or no longer travels, an angle that is a full turn further, a quaternion of the
other sign. Such a map takes Bezier segments to Bezier segments, so that the keys, mapped with their handles, are exact
at all times; where several numbers are mixed, those need keys and handles at the same times.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import add
from typing import Any, Protocol

import bpy
import numpy as np
from numpy.typing import NDArray

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ..animation import actions, changed_curves, curve_values
from ..animation.channels import AMOUNT
from ..animation.curve_values import CurveValues
from ..animation.key_writer import KEEP, ChannelMotion, KeyWriter
from ..animation.keys import BEZIER, CONSTANT, FREE, GENERATED, KEYFRAME, LINEAR, Keys
from . import animated
from .animated import Channel

_PRECISION = 2e-6
"""Of the largest number of a channel: single precision, at other times and after a map."""
_SHOWN = 1e-5
"""The same of curves that were written."""
_SMALLEST = 1e-3
_TIMES = 3
"""So many frames as unknowns are needed to find a map."""
_NEGLIGIBLE = 1e-5
_CHECKED = 0.9
"""The fraction that is done when what was written is looked at."""


class ClipInResult(Protocol):
    """A clip as it plays in a result: its frame `frame` at frame `at`; None as the action for what is no clip."""

    @property
    def action(self) -> bpy.types.Action | None: ...
    @property
    def slot(self) -> bpy.types.ActionSlot | None: ...
    @property
    def frame(self) -> float: ...
    @property
    def at(self) -> int: ...


def thin(
    armature: bpy.types.Object,
    action: bpy.types.Action,
    slot: bpy.types.ActionSlot,
    clips: Sequence[ClipInResult],
    writer: KeyWriter,
    *,
    is_cycle: bool = False,
) -> Generator[float, None, None]:
    """Let a writer choose the keys of a new action with a key at every frame. clips: of which it was made, in order.
    is_cycle: all curves have keys at its ends. Yields the completed fraction."""
    if not writer.is_sparse:
        return
    bag: Any = actions.channelbag(action, slot)
    ends = action.curve_frame_range[:]
    by_place = {(curve.data_path, curve.array_index): curve for curve in bag.fcurves}
    with ExitStack() as open_until_then:
        sources = [_Source(clip, open_until_then) for clip in clips]
        written = []
        channels = list(animated.channels_of(armature, action, slot))
        for done, channel in enumerate(channels):
            yield _CHECKED * done / len(channels)
            curves = [by_place.get((channel.path, place)) for place in _places(channel)]
            if all(curve is not None for curve in curves):
                motion = _thin(armature, channel, curves, sources, writer, is_cycle=is_cycle)
                written.append((curves, motion))
        if writer.mode == KEEP and written:
            yield from _checking(action, slot, written)
    _keep_length(action, bag, ends)


def _checking(
    action: bpy.types.Action, slot: bpy.types.ActionSlot, written: Sequence[tuple[list[Any], ChannelMotion]]
) -> Generator[float, None, None]:
    """Give curves that do not show what they are to show keys at every frame: where keys are so close to whole frames
    that Blender merges them with others. Yields where that may go on later."""
    wrong = []
    with ExitStack() as open_until_then:
        shown = _Shown(action, slot, open_until_then)
        for curves, motion in written:
            yield _CHECKED
            if not _shows([shown.of(curve, motion.frames) for curve in curves], motion):
                wrong.append((curves, motion))
    for curves, motion in wrong:
        for curve, made in zip(curves, KeyWriter().keys(motion), strict=True):
            made.write(curve)


def _places(channel: Channel) -> list[int]:
    """The indices of a channel's curves within their property."""
    return [n if channel.index < 0 else channel.index for n in range(channel.size)]


class _Shown:
    """The values of an action's curves."""

    def __init__(self, action: bpy.types.Action, slot: bpy.types.ActionSlot, open_until_then: ExitStack) -> None:
        self._action, self._slot, self._open = action, slot, open_until_then
        self._values: dict[tuple[float, int], CurveValues] = {}

    def of(self, curve: Any, frames: Array) -> Array:
        """Those (F,) of a curve at frames (F,) that follow each other."""
        span = float(frames[0]), len(frames)
        if span not in self._values:
            self._values[span] = self._open.enter_context(CurveValues(self._action, self._slot, frames))
        return self._values[span].of(curve)


class _Source:
    """A clip that plays in a result, with its curves."""

    def __init__(self, clip: ClipInResult, open_until_then: ExitStack) -> None:
        self.at, self.frame = clip.at, clip.frame
        self._curves: dict[tuple[str, int], Any] = {}
        if clip.action is not None and clip.slot is not None:
            curves = actions.curves(clip.action, clip.slot)
            self._curves = {(curve.data_path, curve.array_index): curve for curve in curves}
            self.shown = _Shown(clip.action, clip.slot, open_until_then)

    def curves(self, channel: Channel) -> list[Any]:
        """The F-curves for a channel, None where there is none that plays, or one without keys."""
        found = [self._curves.get((channel.path, place)) for place in _places(channel)]
        return [c if c is not None and actions.plays(c) and len(c.keyframe_points) else None for c in found]


def _keep_length(action: bpy.types.Action, bag: Any, ends: Sequence[float]) -> None:
    """Let an action begin and end with a key, as it did with one at every frame: clips may end between frames."""
    for end, now in zip(ends, action.curve_frame_range, strict=True):
        if end != now and len(bag.fcurves):
            curve = bag.fcurves[0]
            Keys.read(curve).split(end, curve.evaluate(end)).write_as_is(curve)


def _thin(
    armature: bpy.types.Object,
    channel: Channel,
    curves: Sequence[Any],
    sources: Sequence[_Source],
    writer: KeyWriter,
    *,
    is_cycle: bool,
) -> ChannelMotion:
    """Let a writer choose the keys of a channel; returns what they are to show."""
    frames, values = _written(curves)
    parts = [
        _Part.of(channel, clip, frames, values, begin, end, is_cycle=is_cycle)
        for clip, begin, end in _spans(sources, frames)
    ]
    old = [_together([part.keys[n] for part in parts], channel) for n in range(channel.size)]
    before = np.concatenate([part.values for part in parts])
    kinds = {"rotation": channel.mode, "vector": changed_curves.mode_of(armature, channel.path)}
    motion = ChannelMotion(
        kinds.get(channel.kind, AMOUNT),
        frames,
        values,
        old,
        [_looked_up(frames, before[:, n]) for n in range(channel.size)],
        [(False, False)] * channel.size,
        np.full(len(frames), KEYFRAME if channel.is_setting else GENERATED, dtype=np.int32),
        is_held=channel.kind == "switch",
        metre=changed_curves.metre(armature, channel.bone),
        before=before,
    )
    for curve, made, n in zip(curves, writer.keys(motion), range(channel.size), strict=True):
        like = next((source for part in parts if (source := part.curves[n]) is not None), None)
        if like is not None and curve.auto_smoothing != like.auto_smoothing:
            # To set it is to place all handles.
            curve.auto_smoothing = like.auto_smoothing
        made.write_as_is(curve)
    return motion


def _written(curves: Sequence[Any]) -> tuple[Array, Array]:
    """The whole frames (F,) of F-curves with a key at each of them, and their values (F, n) there."""
    keys = [_coordinates(curve) for curve in curves]
    first, last = keys[0][[0, -1], 0]
    frames = np.arange(np.ceil(first), np.floor(last) + 1.0)
    if all(len(own) == len(frames) and np.array_equal(own[:, 0], frames) for own in keys):
        return frames, np.stack([own[:, 1] for own in keys], axis=1).astype(float)
    return frames, curve_values.at_frames(curves, frames)


def _coordinates(curve: Any) -> Array:
    points = curve.keyframe_points
    found = np.empty((len(points), 2), dtype=np.float32)
    points.foreach_get("co", found.reshape(-1))
    return found


def _shows(values: Sequence[Array], motion: ChannelMotion) -> bool:
    """Whether the values (F,) of F-curves are those that they are to show."""
    seen, wanted = np.stack(values, axis=1), motion.values
    if motion.mode == "QUATERNION":
        seen, wanted = rotation.normalize(seen), rotation.normalize(wanted)
    near = _SHOWN * max(float(np.abs(wanted).max()), _SMALLEST)
    return bool(np.all(np.abs(seen - wanted) <= near))


def _spans(clips: Sequence[_Source], frames: Array) -> list[tuple[_Source | None, int, int]]:
    """Each clip with the first and last index of the frames at which it plays."""
    begins = [max(int(clip.at - frames[0]), 0) for clip in clips]
    if not begins or begins[0] > 0:
        clips, begins = [None, *clips], [0, *begins]  # type: ignore[list-item]
    ends = [*(begin - 1 for begin in begins[1:]), len(frames) - 1]
    spans = zip(clips, begins, ends, strict=True)
    return [(clip, begin, end) for clip, begin, end in spans if begin <= end < len(frames)]


def _looked_up(frames: Array, values: Array) -> Callable[[float], float]:
    last = len(frames) - 1
    return lambda frame: values[min(max(int(frame - frames[0]), 0), last)]


def _together(parts: Sequence[Keys], channel: Channel) -> Keys:
    """The keys of several parts in order."""
    if channel.kind == "switch":
        for part in parts[:-1]:
            part.attributes["interpolation"][-1:] = CONSTANT
    return reduce(add, parts)


@dataclass
class _Part:
    """What a clip has for one channel at F frames of the result: keys of each curve, and their values (F, n) there,
    which are no numbers where the keys cannot have them."""

    curves: Sequence[Any]
    """The F-curves of the clip, None where it has none."""
    keys: list[Keys]
    values: Array

    @classmethod
    def of(
        cls,
        channel: Channel,
        clip: _Source | None,
        frames: Array,
        values: Array,
        begin: int,
        end: int,
        *,
        is_cycle: bool,
    ) -> "_Part":
        """values: (F, n) of the result, of which those from index begin to end are the clip's."""
        wanted, here = values[begin : end + 1], frames[begin : end + 1]
        curves = [None] * channel.size if clip is None else clip.curves(channel)
        if clip is None or not any(curve is not None for curve in curves):
            return cls(curves, *_standing(here, wanted))
        source = here - clip.at + clip.frame
        ends = is_cycle or begin > 0, is_cycle or end < len(frames) - 1
        cut = [_cut(curve, clip.shown, source, ends) for curve in curves]
        known = np.stack([values for _, values in cut], axis=1)
        found = _map_between(known, wanted, here - here[0], is_quaternion=channel.mode == "QUATERNION")
        for keys, _ in cut:
            keys.shift(clip.at - clip.frame)
        moved = found.keys([keys for keys, _ in cut], here[0]) if found is not None else None
        if moved is None or found is None:
            return cls(curves, _standing(here, wanted)[0], np.full(wanted.shape, np.nan))
        return cls(curves, moved, found(known, here - here[0]))


def _standing(frames: Array, values: Array) -> tuple[list[Keys], Array]:
    """Keys and values where the clip has none: it stands as it is at the end."""
    ends = frames[[0, -1]] if len(frames) > 1 else frames
    keys = [Keys.dense(ends, np.full(len(ends), value)) for value in values[-1]]
    return keys, np.broadcast_to(values[-1], values.shape)


def _cut(curve: Any, shown: _Shown, frames: Array, ends: tuple[bool, bool]) -> tuple[Keys, Array]:
    """The keys of an F-curve from the first of the frames (F,) to the last one, and its values there, no numbers where
    the keys do not have them. ends: whether something else plays before and after."""
    if curve is None:
        both = frames[[0, -1]] if len(frames) > 1 else frames
        return Keys.dense(both, np.zeros(len(both))), np.zeros(len(frames))
    values = shown.of(curve, frames)
    keys = Keys.read(curve)
    if (away := _without_keys(curve, keys, frames)) is not None:
        values[away] = np.nan
    for frame, is_beyond, is_cut in (
        (float(frames[0]), keys.frames[0] < frames[0], ends[0]),
        (float(frames[-1]), keys.frames[-1] > frames[-1], ends[1]),
    ):
        if not (is_cut or is_beyond or curve.extrapolation == "LINEAR"):
            continue
        n = int(keys.frames.searchsorted(frame))
        if 0 < n < len(keys) and keys.frames[n] != frame and keys.attributes["interpolation"][n - 1] > BEZIER:
            # An easing segment is divided.
            values[(frames > keys.frames[n - 1]) & (frames < keys.frames[n])] = np.nan
        keys = keys.split(frame, float(curve.evaluate(frame)))
        at = int(np.abs(keys.frames - frame).argmin())
        # Other keys will be beside it.
        keys.attributes["handle_left_type"][at] = keys.attributes["handle_right_type"][at] = FREE
    first, last = _down(float(frames[0])), _up(float(frames[-1]))
    chosen = keys[keys.frames.searchsorted(first) : keys.frames.searchsorted(last, "right")]
    if ends[1] and chosen.attributes["interpolation"][-1] != CONSTANT:
        # Within the one frame until something else plays.
        chosen.attributes["interpolation"][-1] = LINEAR
    return chosen, values


@lru_cache(maxsize=64)
def _down(frame: float) -> float:
    return float(np.nextafter(np.float32(frame), np.float32(-np.inf)))


@lru_cache(maxsize=64)
def _up(frame: float) -> float:
    return float(np.nextafter(np.float32(frame), np.float32(np.inf)))


def _without_keys(curve: Any, keys: Keys, frames: Array) -> NDArray[np.bool_] | None:
    """At which frames an F-curve has not the value of its keys, because of its modifiers; None if at none."""
    active = [modifier.type for modifier in curve.modifiers if not modifier.mute]
    if not active:
        return None
    if any(kind != "CYCLES" for kind in active):
        return np.ones(len(frames), dtype=bool)
    return (frames < keys.frames[0]) | (frames > keys.frames[-1])


@dataclass(frozen=True)
class _Map:
    """An affine map of the n numbers of a channel."""

    mixing: Array
    """(n, n)"""
    offset: Array
    """(n,)"""
    by_frame: Array
    """(n,) what is added by frame."""

    def __call__(self, values: Array, frames: Array) -> Array:
        return values @ self.mixing.T + self.offset + frames[:, None] * self.by_frame

    @property
    def is_identity(self) -> bool:
        return (
            not np.any(self.offset)
            and not np.any(self.by_frame)
            and np.array_equal(self.mixing, np.eye(len(self.offset)))
        )

    def keys(self, curves: list[Keys], first: float) -> list[Keys] | None:
        """The keys of all curves, mapped; None where no keys have the mapped motion. first: frame from which time
        counts."""
        if self.is_identity:
            return curves
        mixes = np.any(self.mixing - np.diag(np.diag(self.mixing)))
        varying = [n for n, keys in enumerate(curves) if np.ptp(keys.attributes["co"][:, 1]) > 0.0]
        if mixes and not _are_aligned([curves[n] for n in varying]):
            return None
        if np.any(self.by_frame) and not all(_is_polynomial(keys) for keys in curves):
            return None
        return [self._mapped(curves, n, varying, first, mixes=bool(mixes)) for n in range(len(curves))]

    def _mapped(self, curves: list[Keys], n: int, varying: list[int], first: float, *, mixes: bool) -> Keys:
        like = curves[varying[0]] if mixes and varying else curves[n]
        made = like[:]
        for name in ("co", "handle_left", "handle_right"):
            times = like.attributes[name][:, 0].astype(float)
            value = self.offset[n] + self.by_frame[n] * (times - first)
            for k, keys in enumerate(curves):
                if not self.mixing[n, k]:
                    continue
                own = keys.attributes[name][:, 1] if k in varying or not mixes else keys.attributes["co"][0, 1]
                value = value + self.mixing[n, k] * own
            made.attributes[name][:, 1] = value
        return made


def _is_polynomial(keys: Keys) -> bool:
    return bool(np.isin(keys.attributes["interpolation"], (LINEAR, BEZIER)).all())


def _are_aligned(curves: list[Keys]) -> bool:
    """Whether keys and handles of all curves are at the same times, and nothing between them eases."""
    if not curves:
        return True
    first = curves[0]
    for keys in curves:
        if len(keys) != len(first) or not np.array_equal(
            keys.attributes["interpolation"], first.attributes["interpolation"]
        ):
            return False
        curved = keys.attributes["interpolation"] == BEZIER
        if np.any(keys.attributes["interpolation"] > BEZIER):
            return False
        times = [("co", np.ones(len(keys), dtype=bool)), ("handle_right", curved), ("handle_left", np.roll(curved, 1))]
        for name, counts in times:
            away = np.abs(keys.attributes[name][counts, 0] - first.attributes[name][counts, 0])
            if np.any(away > _NEGLIGIBLE * np.maximum(np.abs(first.attributes[name][counts, 0]), 1.0)):
                return False
    return True


def _map_between(known: Array, wanted: Array, times: Array, *, is_quaternion: bool) -> _Map | None:
    """The simplest map from the clip (F, n) to the result (F, n) that holds at the most frames; None if none does."""
    usable = np.flatnonzero(np.isfinite(known).all(axis=1))
    if not len(usable):
        return None
    size = known.shape[1]
    same, none = np.eye(size), np.zeros(size)
    unchanged = np.all(known[usable] == wanted[usable], axis=1)
    if unchanged[len(unchanged) // 2 :].all():
        # Before, a transition may run.
        return _Map(same, none, none)
    found = [_Map(same, none, none), _Map(-same, none, none)]
    last = usable[-1]
    found += [_Map(sign * same, wanted[last] - sign * known[last], none) for sign in (1.0, -1.0)]
    near = _PRECISION * max(float(np.abs(wanted).max()), _SMALLEST)

    def holds(one: _Map) -> int:
        """At how many frames."""
        seen = one(known, times)
        if is_quaternion:
            # Blender normalizes them; between keys they are shorter.
            seen = rotation.normalize(seen)
        return int(np.sum(np.all(np.abs(seen - wanted) <= near, axis=1)))

    best = max(found, key=holds)
    if holds(best) == len(usable):
        return best
    for rows in (usable, usable[len(usable) // 2 :], *np.array_split(usable, 3)):
        if is_quaternion and len(rows):
            best = max(best, _turn(known[rows], wanted[rows]), key=holds)
        elif len(rows) >= _TIMES * (size + 2):
            best = max(best, _fitted(known[rows], wanted[rows], times[rows]), key=holds)
    return best if holds(best) > 1 else None


def _turn(known: Array, wanted: Array) -> _Map:
    """The rotation that turns quaternions (F, 4) of the clip to those of the result."""
    turns = rotation.multiply(wanted, rotation.inverse(rotation.normalize(known)))
    turn = rotation.normalize(turns.mean(axis=0))
    return _Map(rotation.multiply(turn, np.eye(4)).T, np.zeros(4), np.zeros(4))


def _fitted(known: Array, wanted: Array, times: Array) -> _Map:
    """The map of least squares."""
    center, middle, when = known.mean(axis=0), wanted.mean(axis=0), times.mean()
    columns = np.column_stack((known - center, (times - when) / max(float(np.ptp(times)), 1.0)))
    size = np.abs(columns).max(axis=0)
    # What hardly moves says nothing about a map.
    used = size > _NEGLIGIBLE * max(float(np.abs(known).max()), _SMALLEST)
    solved = np.zeros((columns.shape[1], wanted.shape[1]))
    solved[used] = np.linalg.lstsq(columns[:, used] / size[used], wanted - middle, rcond=1e-6)[0] / size[used, None]
    by_frame = solved[-1] / max(float(np.ptp(times)), 1.0)
    mixing = solved[:-1].T
    mixing[np.abs(mixing) < _NEGLIGIBLE] = 0.0
    by_frame = np.where(np.abs(by_frame) * np.ptp(times) < _NEGLIGIBLE * np.abs(wanted).max(initial=1.0), 0.0, by_frame)
    return _Map(mixing, middle - mixing @ center - by_frame * when, by_frame)
