"""Parts of the timeline, which end where a target teleports or goes on behind the head, and what is solved of one."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .. import curves
from ..rotation import Array
from .head_speed import NOTHING, Lateness
from .target_angles import ForwardKinematics, TargetAngles, unwrap

BEHIND_MARGIN = np.radians(30.0)
"""Angle beyond straight behind at which the head turns to the other side."""
INSTANT = 1e-9
"""Times closer than this [s] are equal."""
SolvedStage = tuple[slice, Array, Array, Array]
"""Bones, their states and goals, and the last state."""


class TimelinePart(NamedTuple):
    """From start to end [s]."""

    start: float
    end: float
    yaw: float
    """Yaw of the target at the frame at or before the start, with its multiple of 2 pi."""
    teleported: bool
    """Whether the target teleports at the end."""


def frames_of(start: float, end: float, dt: float) -> slice:
    """Frames from the one at or before `start` [s] to the one at or after `end` [s]."""
    first = int(np.floor(start / dt + INSTANT))
    return slice(first, max(int(np.ceil(end / dt - INSTANT)), first) + 1)


def split(angles: TargetAngles, start: float, end: float, dt: float) -> list[TimelinePart]:
    """Split a piece from start to end [s] where the target teleports or passes far enough behind to change sides.

    angles: the target at `frames_of` the piece.
    """
    parts: list[TimelinePart] = []
    window = frames_of(start, end, dt)
    origin = window.start * dt
    turn, begin = 0.0, start
    yaw, unwrapped = angles.yaw, unwrap(angles.yaw)
    teleports = curves.sudden(np.abs(np.diff(unwrapped))) | curves.sudden(np.abs(np.diff(angles.pitch)))
    limit = np.pi + BEHIND_MARGIN
    if not np.any(teleports) and np.all(np.abs(unwrapped) <= limit):
        return [TimelinePart(float(start), end, float(unwrapped[0]), False)]

    def part(until: float, teleported: bool) -> TimelinePart:
        first = frames_of(begin, until, dt).start - window.start
        return TimelinePart(float(begin), until, float(unwrapped[first] + turn), teleported)

    for k in range(1, len(yaw)):
        time = origin + k * dt
        if time <= begin + INSTANT:
            continue
        if teleports[k - 1]:
            if time >= end - INSTANT:
                return [*parts, part(end, True)]
            parts.append(part(time, True))
            # A new position is reached along the shorter arc, as after a switch of targets.
            begin, turn = time, yaw[k] - unwrapped[k]
            continue
        here, before = unwrapped[k] + turn, unwrapped[k - 1] + turn
        if abs(here) > limit:
            fraction = (limit - abs(before)) / (abs(here) - abs(before)) if abs(here) > abs(before) else 0.0
            crossing = max(origin + (k - 1 + np.clip(fraction, 0.0, 1.0)) * dt, begin)
            if begin + INSTANT < crossing < end - INSTANT:
                parts.append(part(crossing, False))
                begin = crossing
            turn -= np.sign(here) * 2.0 * np.pi
    return [*parts, part(end, False)]


@dataclass
class BelowHead:
    """A part of the timeline below the aiming bone, with all those bones solved."""

    state: Array
    """State of these bones at its start."""
    stages: list[SolvedStage]
    kinematics: ForwardKinematics
    remaining: Array
    """Yaw that remains for the bones above."""
    turning: Array
    """Rates of yaw and pitch of all of them."""
    places: tuple[Array, Array, Array]
    """Of the target (n, 3), as `stabilizing.beside` has them."""
    tilts: tuple[Array, Array, Array] | None
    """Of the head to its left (n,), likewise; None for no tilt."""
    left_out: list[tuple[Array, Array]]
    """For each of these the yaw and pitch that are left to the eyes, or to later."""
    is_late: bool
    """Whether some is left to later."""
    pitch: Array
    """(n,) of the target."""
    to_eyes: tuple[Array, Array]
    """The yaw and pitch (n,) of these that are left to the eyes."""

    @property
    def goals(self) -> Array:
        """(n, 2) yaw and pitch of the chain before any of it is turned."""
        yaw, pitch = self.left_out[0]
        return np.stack((self.remaining - yaw, self.pitch - pitch), axis=-1)

    def turn(self, held: Array, yaw: Array, turning: Array, stage: SolvedStage) -> None:
        """Add a solved stage: the offsets (n, b, 4) of its bones, the yaw (n,) that they make, and the rates (2, n) of
        yaw and pitch."""
        self.kinematics.turn(stage[0], held)
        self.remaining = self.remaining - yaw
        self.turning = self.turning + turning
        self.stages.append(stage)


@dataclass
class SolvedPiece:
    """A solved part of the timeline."""

    target: int | None
    """None for off. The other fields are those of `Timeline._on`."""
    start: float
    end: float
    yaw: float = 0.0
    teleported: bool = False
    settled: bool = False
    late: Lateness = NOTHING
    """At its start."""
    below: BelowHead | None = None
