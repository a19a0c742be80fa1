"""The keys of what was computed at each frame: one at every frame, few that fit it, or the animator's own if unchanged.

Every bake and every transition gives its channels to a `KeyWriter`, which knows no feature.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import radians

import numpy as np
from numpy.typing import NDArray

from ...lookat_pd import curve_fit, rotation
from ...lookat_pd.curves import runs
from ...lookat_pd.message import Message
from ...lookat_pd.rotation import Array
from . import channels, keys
from .channels import LOCATION, SCALE
from .keys import Keys

EVERY_FRAME, KEEP, FITTED = "EVERY_FRAME", "KEEP", "FITTED"
MODE_ITEMS = (
    (EVERY_FRAME, "Every Frame", "A key at every frame, with linear interpolation"),
    (
        KEEP,
        "Keep Keys",
        "Keep the keys of the animation where the motion does not change, and key every frame where it does",
    ),
    (FITTED, "Fitted", "As few keys, with handles, as follow the motion within the largest errors"),
)
ANGLE, DISTANCE = 0.1, 0.001
"""The largest errors [degrees, m] of fitted keys, unless others are given."""
_PRECISION = 1e-6
"""Of a channel's largest value, and of 1 in rotations: Blender's numbers have 24 bits."""
_SMALLEST = 1e-3
_APART = 2
"""Unchanged frames between changed ones that are not worth keys of their own."""


@dataclass
class KeyCount:
    """How many keys were written, and how far they are from the motion."""

    keys: int = 0
    every_frame: int = 0
    """How many there would be with one at every frame."""
    angle: float = 0.0
    """The largest error of a rotation [rad]."""
    distance: float = 0.0
    """The largest error of a location [m]."""
    amount: float = 0.0
    """The largest error of anything else."""

    def told(self) -> Message:
        """As a part of a sentence."""
        values = {"keys": f"{self.keys:,}", "every": f"{self.every_frame:,}"}
        if not (self.angle or self.distance):
            return Message("{keys} keys instead of {every}", **values)
        return Message(
            "{keys} keys instead of {every}, largest errors {angle:.3g}° and {distance:.2g} mm",
            angle=np.degrees(self.angle),
            distance=1000.0 * self.distance,
            **values,
        )


@dataclass(frozen=True)
class ChannelMotion:
    """What is to be in the n F-curves of a channel at F frames, and what is in them."""

    mode: str
    """A rotation mode, `LOCATION`, `SCALE` or, of any other number, one with brackets."""
    frames: Array
    values: Array
    """(F, n) what is to be there."""
    old: Sequence[Keys]
    """The keys of each curve, of which those outside the frames stay; without keys, it has the value of `evaluate`."""
    evaluate: Sequence[Callable[[float], float]]
    """The value of each curve at a frame."""
    edges: Sequence[tuple[bool, bool]]
    """Whether the animation of each curve continues to the left and right of the frames, where it must not change."""
    types: NDArray | None = None
    """The types of the keys (F,), else *Generated*; fitted curves have keys at all others, with their values."""
    is_replaced: bool = False
    """Whether more than those keys moves the curves, so that all frames change."""
    is_held: bool = False
    """Whether the values are held until the next key."""
    metre: float = 1.0
    """Metres in a unit of the location."""
    before: Array | None = None
    """(F, n) what `evaluate` gives at the frames, where that is known."""


def keeping() -> "KeyWriter":
    """The writer of transitions, unless another one is given: most of what they join is unchanged."""
    return KeyWriter(KEEP)


@dataclass
class KeyWriter:
    """Which keys are written."""

    mode: str = EVERY_FRAME
    angle: float = radians(ANGLE)
    """Largest error of fitted rotations [rad]."""
    distance: float = DISTANCE
    """Largest error of fitted locations [m]."""
    amount: float = 1e-3
    """Largest error of other fitted values, of their range."""
    count: KeyCount = field(default_factory=KeyCount)
    """What was written so far."""

    @property
    def is_sparse(self) -> bool:
        return self.mode != EVERY_FRAME

    def keys(self, motion: ChannelMotion) -> list[Keys]:
        """The keys of each curve of the channel, outside the frames those that it has."""
        if not self.is_sparse:
            return _dense(motion)
        made = [new.merged() for new in (self._fitted(motion) if self.mode == FITTED else _kept(motion))]
        # Where nothing is beyond the frames, those with a key at each need not be made to be counted.
        goes_on = any(map(any, motion.edges))
        every_frame = sum(map(len, _dense(motion))) if goes_on else len(motion.frames) * len(motion.old)
        if self.mode == FITTED and sum(map(len, made)) >= every_frame:
            made = _dense(motion)
        self.count.keys += sum(map(len, made))
        self.count.every_frame += every_frame
        return made

    def _fitted(self, motion: ChannelMotion) -> list[Keys]:
        if motion.is_held:
            return _kept(motion)
        errors = _errors(motion)
        allowed = self._allowed(motion)
        held = None if motion.types is None else motion.types != keys.GENERATED
        curve = curve_fit.fit(
            motion.frames,
            motion.values,
            lambda fitted: np.max([error / allowed[kind] for kind, error in errors(fitted)], axis=0),
            held,
            closed=curve_fit.is_closed(motion.values),
        )
        for kind, error in errors(curve.at_samples()):
            setattr(self.count, kind, max(getattr(self.count, kind), float(error.max())))
        frames = np.asarray(motion.frames)[curve.knots]
        types = None if motion.types is None else motion.types[curve.knots]
        made = (
            Keys.curved(frames, curve.values[:, n], curve.slopes[:, n], types) for n in range(motion.values.shape[1])
        )
        return [
            keys.put_between(old, new, evaluate, edges)
            for old, new, evaluate, edges in zip(motion.old, made, motion.evaluate, motion.edges, strict=True)
        ]

    def _allowed(self, motion: ChannelMotion) -> dict[str, float]:
        """The largest error of each kind."""
        extent = float(np.ptp(motion.values, axis=0).max(initial=0.0))
        return {
            "angle": max(self.angle, _PRECISION),
            "distance": max(self.distance, _PRECISION * motion.metre),
            "amount": max(self.amount * max(extent, _SMALLEST), _PRECISION),
        }


def _errors(motion: ChannelMotion) -> Callable[[Array], list[tuple[str, Array]]]:
    """From fitted values (F, n) to their errors (F,) in radians, metres, or units of the property."""
    if motion.mode == LOCATION:
        return lambda fitted: [("distance", motion.metre * np.linalg.norm(fitted - motion.values, axis=-1))]
    if motion.mode == SCALE or channels.is_amount(motion.mode):
        return lambda fitted: [("amount", np.abs(fitted - motion.values).max(axis=-1))]
    wanted = channels.to_quaternion(motion.values, motion.mode)

    def of_rotation(fitted: Array) -> list[tuple[str, Array]]:
        turned = rotation.distance(channels.to_quaternion(fitted, motion.mode), wanted)
        # Between the frames the numbers count too, near gimbal lock.
        numbers = np.abs(fitted - motion.values).max(axis=-1)
        return [("angle", np.maximum(turned, numbers))]

    return of_rotation


def _dense(motion: ChannelMotion) -> list[Keys]:
    """A key at every frame."""
    made = []
    for n, (old, evaluate, edges) in enumerate(zip(motion.old, motion.evaluate, motion.edges, strict=True)):
        # Of a curve with nothing beyond the frames no key stays.
        before = old if any(edges) else Keys.read(None)
        new = keys.replace(before, motion.frames, motion.values[:, n], evaluate, edges, motion.types)
        if motion.is_held:
            new.attributes["interpolation"] = keys.CONSTANT
        made.append(new)
    return made


def _kept(motion: ChannelMotion) -> list[Keys]:
    """The keys that are there, with one at every frame at which the value changes."""
    frames = np.asarray(motion.frames, dtype=float)
    before = motion.before
    if before is None:
        before = np.array([[evaluate(frame) for evaluate in motion.evaluate] for frame in frames])
    was, now = (_seen(numbers, motion.mode) for numbers in (before, motion.values))
    changed = np.any(~(np.abs(now - was) <= _tolerance(motion)), axis=-1)
    changed |= motion.is_replaced
    # What is between whole frames is keyed with those beside it.
    apart = np.diff(frames) != 1.0
    changed[1:] |= apart
    changed[:-1] |= apart
    spans = _joined(changed)
    return [_kept_curve(motion, n, before[:, n], spans) for n in range(len(motion.old))]


def _kept_curve(motion: ChannelMotion, n: int, before: Array, spans: Sequence[tuple[int, int]]) -> Keys:
    """The keys of curve n with values `before` (F,) that change in spans, first and last index each."""
    frames, last_row = motion.frames, len(motion.frames) - 1
    # Without keys it stands still.
    new = motion.old[n] if len(motion.old[n]) else Keys.dense(frames[[0, -1]], before[[0, -1]])
    goes_on = motion.edges[n]
    begin = -np.inf if goes_on[0] else min(new.frames[0], frames[0])
    end = np.inf if goes_on[1] else max(new.frames[-1], frames[-1])

    for first, last in spans:
        rows = slice(first, last + 1)
        edges = first > 0 or goes_on[0], last < last_row or goes_on[1]
        types = None if motion.types is None else motion.types[rows]
        new = keys.replace(new, frames[rows], motion.values[rows, n], motion.evaluate[n], edges, types)
        if motion.is_held:
            inside = (new.frames >= frames[first] - 1.0) & (new.frames <= frames[last])
            new.attributes["interpolation"][inside] = keys.CONSTANT
    # What holds the slope beyond an end does not make the action longer.
    at = new.frames
    return new[int(at.searchsorted(begin)) : int(at.searchsorted(end, "right"))]


def _seen(numbers: Array, mode: str) -> Array:
    """What channels (F, n) show: the length of a quaternion does not count, which is less than 1 between keys."""
    return rotation.normalize(numbers) if mode == "QUATERNION" else numbers


def _tolerance(motion: ChannelMotion) -> float:
    least = _SMALLEST if motion.mode in (LOCATION, SCALE) else 1.0
    return _PRECISION * max(float(np.abs(motion.values).max(initial=0.0)), least)


def _joined(changed: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The first and last index of each run of changes, with few unchanged ones in it."""
    spans: list[tuple[int, int]] = []
    for first, last in runs(changed):
        if spans and first - spans[-1][1] - 1 <= _APART:
            first = spans.pop()[0]
        spans.append((first, last))
    return spans
