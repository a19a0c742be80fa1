"""Gaze of the eyes: goals that they hold, and saccades between them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from .. import checks, rotation
from ..errors import InvalidArgument
from ..gaze.chain import Event
from ..gaze.solver import check_frames, pieces
from ..rotation import Array
from . import blink, saccade
from .ability import Eyes, bounded
from .gaze_goals import GazePath, Goals, Scene
from .micro import Twitches
from .saccade import Decay, Shift

_SMALLEST_SHIFT = np.radians(0.1)
_INSTANT = 1e-9
_STILL = 1e-9
_LONGEST_STEP = 100.0
"""Time [s] between samples beyond which microsaccades would be too many."""


@dataclass(frozen=True)
class EyeSolution:
    """What `solve` found, over n samples and k eyes."""

    offsets: Array
    """(n, k, 4) local rotations to multiply on the right of the eyes' orientations; where the look-at is off, no
    saccade is running and no parent is rotated, they are exactly the identity."""
    gaze: Array
    """(n, 3) unit direction of the gaze from the point between the eyes."""
    error: Array
    """(n,) angle [rad] to the target, nan if there is none."""
    blink: Array
    """(n,) how far the lids are closed, 0 to 1."""
    shifts: list[Shift]
    """Shifts in order of time."""
    looked_at: Array
    """(n,) index of the target, -1 for none."""


def solve(
    eyes: Eyes,
    head: ArrayLike,
    orientations: ArrayLike,
    centers: ArrayLike,
    animated: ArrayLike,
    targets: ArrayLike,
    dt: float,
    events: Sequence[Event],
    *,
    time: float = 0.0,
) -> EyeSolution:
    """Offsets of the eyes for n samples at intervals of dt [s], all in one space.

    head: (n, 4) orientation of the head with the look-at. orientations: (n, k, 4) and centers: (n, k, 3) of the eyes on
    this head before their own rotation. animated: (n, k, 4) orientations of the eyes in the animation. targets: (m, n,
    3) positions. events: targets and times as for `gaze.solve`, with sample 0 at 0 s. time: of sample 0 [s], so that
    random numbers are the same over any range. Microsaccades occur only between shifts, while there is a target. Raises
    InvalidArgument.

    Eyes hold their goal without delay while the head moves, within their range. When the goal changes or jumps, the
    difference decays in a saccade that starts with the current position and velocity of the eyes. Its duration depends
    on the motion of the head, for which samples at intervals of at most `curves.FINEST_STEP` are sufficient.
    """
    scene = _scene(eyes, head, orientations, centers, animated, targets, dt)
    time = checks.number("time of the first sample", time, -checks.LATEST, checks.LATEST)
    run = _Run(eyes, scene, time)
    parts = pieces(events, dt * (len(scene) - 1), len(scene.targets))
    for number, (event, end) in enumerate(parts):
        settled = event.time < -_INSTANT
        run.piece(event.target, max(event.time, 0.0), end, settled=settled, final=number == len(parts) - 1)
    return run.result()


def _scene(eyes: Eyes, *arrays_and_step) -> Scene:
    *arrays, dt = arrays_and_step
    head, orientations, centers, animated = (checks.animated("pose", values) for values in arrays[:4])
    targets = checks.animated("target", arrays[4])
    if not head.ndim or not targets.ndim:
        raise checks.shape_error("head", ("n", 4), head.shape)
    count, k = len(head), len(eyes)
    shapes = (count, 4), (count, k, 4), (count, k, 3), (count, k, 4), (len(targets), count, 3)
    given = head.shape, orientations.shape, centers.shape, animated.shape, targets.shape
    if given != shapes:
        raise InvalidArgument(
            "Head, eyes and targets must be arrays {shapes}, not {found}.", shapes=shapes, found=given
        )
    check_frames(count)
    for values in (head, orientations, animated):
        checks.check_lengths("pose", values)
    dt = checks.number("time step", checks.time_step(dt), checks.SHORTEST_STEP, _LONGEST_STEP)
    return Scene(head, orientations, centers, animated, targets, dt)


@dataclass(frozen=True)
class _Part:
    """The motion of the eyes from `start` [s]: a stretch of a path, and until `landed` [s] the saccade to it."""

    path: GazePath
    stretch: tuple[int, int]
    start: float
    landed: float
    decay: Decay
    twitches: Twitches

    def at(self, time: float) -> tuple[Array, Array]:
        """State (c,) and its slope [1/s] at a time [s] between the samples, without microsaccades."""
        goal, slope = self.path.at(self.path.goal, time, self.stretch)
        since = time - self.start
        return goal + self.decay.at(np.array([since]))[0], slope + self.decay.slope_at(since)


class _Run:
    """One solve in progress. state: (n, c) angles of the cyclopean eye and the others, and the extension of the
    range."""

    def __init__(self, eyes: Eyes, scene: Scene, time: float) -> None:
        self.eyes, self.scene, self.time = eyes, scene, time
        self.goals = Goals(eyes, scene)
        self.times = scene.dt * np.arange(len(scene))
        self.state = np.zeros((len(scene), 2 * len(eyes) + 3))
        self.none = Decay(np.zeros(self.state.shape[1]), np.zeros(self.state.shape[1]), eyes.saccade_start)
        self.looked_at = np.full(len(scene), -1)
        self.resting = np.zeros(len(scene), dtype=bool)
        self.shifts: list[Shift] = []
        self.latest: _Part | None = None

    def piece(self, target: int | None, start: float, end: float, *, settled: bool, final: bool) -> None:
        """Solve from start to end [s] with one target, or off; settled: the eyes start at their goal."""
        path = self.goals.path(target, start, end)
        # The last piece includes the last sample, even if the goal jumps there.
        for begin, stop, stretch in path.parts(start, end + self.scene.dt if final else end):
            stop = np.inf if final and stop > end else stop
            if target is None and self.latest and self.latest.path is path:
                # Eyes without a target follow jumps of the animation.
                self.latest = replace(self.latest, stretch=stretch)
            else:
                decay = self.none if settled else self._shift(target, path, stretch, begin)
                landed = begin if settled else begin + decay.duration
                twitches = self._twitches(target, landed, stop, settled=settled)
                self.latest = _Part(path, stretch, begin, landed, decay, twitches)
            self._keep(self.latest, target, begin, stop)
            settled = False

    def _shift(self, target: int | None, path: GazePath, stretch: tuple[int, int], time: float) -> Decay:
        """The saccade that starts at `time` [s], towards a stretch of a path."""
        eyes, before = self.eyes, self.latest or self._off(time)
        value, slope = before.at(time)
        value[:-1] += np.tile(before.twitches.at(np.array([self.time + time]))[0], len(eyes) + 1)
        goal, goal_slope = path.at(path.goal, time, stretch)
        last = path.time(stretch[1])

        def end(after: float) -> Array:
            there = max(min(time + after, last), time)
            return self._looking(path.at(path.goal, there, stretch)[0], there)[1:]

        middle, start = np.split(self._looking(value, time), [1])
        decay = Decay(value - goal, slope - goal_slope, saccade.duration(eyes, start, end))
        seen = eyes.direction(path.at(path.seen[:, 0], time, stretch)[0])
        amplitude = saccade.turn(start, end(decay.duration))
        gaze_amplitude = float(rotation.angle_between(middle[0], seen))
        if max(amplitude, gaze_amplitude) > _SMALLEST_SHIFT:
            landing = path.at(path.goal, max(min(time + decay.duration, last), time), stretch)
            speed = saccade.peak_speed(self._looking(decay.onto((goal, goal_slope), landing), time)[:, 1:], decay)
            self.shifts.append(Shift(time, target, amplitude, decay.duration, gaze_amplitude, speed))
        return decay

    def _off(self, time: float) -> _Part:
        """The motion before the first event."""
        path = self.goals.path(None, time, time)
        stretch = path.parts(time, time + self.scene.dt)[0][2]
        return _Part(path, stretch, time, time, self.none, self._twitches(None, time, time, settled=True))

    def _looking(self, state: Array, time: float) -> Array:
        """Directions (..., 1 + k, 3) in the head for states (..., c) at one time [s]."""
        sample = min(int(time / self.scene.dt + _INSTANT), len(self.scene) - 1)
        widened = state[..., -1:, None] * (self.goals.wide[sample] - self.eyes.range)
        angles = state[..., :-1].reshape(*state.shape[:-1], -1, 2)
        return self.eyes.direction(bounded(angles, self.eyes.range + widened, self.goals.edge))

    def _twitches(self, target: int | None, start: float, stop: float, *, settled: bool) -> Twitches:
        if target is None:
            stop = start
        return Twitches.between(
            self.eyes, self.time + start, self.time + stop, self.time + self.times[-1], settled=settled
        )

    def _keep(self, part: _Part, target: int | None, begin: float, stop: float) -> None:
        """Store the result of a part for the samples of its stretch from begin to stop [s]."""
        dt, path = self.scene.dt, part.path
        first, last = int(np.ceil(begin / dt - _INSTANT)), path.first + part.stretch[1]
        if np.isfinite(stop):
            last = min(last, int(np.floor(stop / dt + _INSTANT)))
        samples = slice(first, last + 1)
        since = self.times[samples] - part.start
        self.state[samples] = path.goal[first - path.first : last + 1 - path.first] + part.decay.at(since)
        twitch = part.twitches.at(self.time + self.times[samples])
        self.state[samples, :-1] += np.tile(twitch, len(self.eyes) + 1)
        self.looked_at[samples] = -1 if target is None else target
        self.resting[samples] = (target is None) & (self.times[samples] >= part.landed - _INSTANT)

    def result(self) -> EyeSolution:
        eyes, scene = self.eyes, self.scene
        angles = self.state[:, :-1].reshape(len(scene), -1, 2)
        angles = bounded(angles, self.goals.limits(self.state[:, -1]), self.goals.edge)
        looking = rotation.rotate(scene.head[:, None], eyes.direction(angles))
        wanted = rotation.rotate(rotation.inverse(scene.orientations), looking[:, 1:])
        offsets = rotation.shortest_arc(eyes.forward, wanted)
        turned = rotation.distance(scene.orientations, scene.animated)
        offsets[self.resting[:, None] & (turned < _STILL)] = rotation.IDENTITY
        error = np.full(len(scene), np.nan)
        on = np.flatnonzero(self.looked_at >= 0)
        direction = scene.targets[self.looked_at[on], on] - scene.centers[on].mean(axis=1)
        error[on] = rotation.angle_between(looking[on, 0], direction)
        return EyeSolution(
            offsets, looking[:, 0], error, blink.closing(eyes, self.shifts, self.times), self.shifts, self.looked_at
        )
