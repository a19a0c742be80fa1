"""Goals of the eyes in the frame of the head: at a target, with vergence, or as in the animation.

Angles are yaw to the left and pitch up in the head's frame, first of the cyclopean eye, the mean of all, then of each
eye: (n, 1 + k, 2).
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .. import curves, rotation
from ..gaze.target_angles import TargetAngles, nearest_turn
from ..gaze.timeline_parts import BEHIND_MARGIN
from ..gaze.turn_distribution import soft_limit
from ..rotation import Array
from .ability import Eyes, bounded

_POLE = np.radians(60.0), np.radians(75.0), np.radians(80.0)
"""Yaw starts to fade out at the pitch limit, clamped between the first two, and is zero at a distance from straight up
and down at which the pole cannot be between converging eyes."""
_AHEAD, _BESIDE = 0.3, 3
"""A path extends by this time [s] beyond its piece, for the end of saccades, and by so many samples before it."""
_INSTANT = 1e-9


@dataclass(frozen=True)
class Scene:
    """Head, eyes before their rotation, and targets over n samples; see `solve`."""

    head: Array
    orientations: Array
    centers: Array
    animated: Array
    targets: Array
    dt: float

    def __len__(self) -> int:
        return len(self.head)


@dataclass(frozen=True)
class GazePath:
    """The directions to one target over w samples at intervals of dt, from sample `first`."""

    seen: Array
    """Angles (w, 1 + k, 2) without limits."""
    goal: Array
    """(w, c) the angles of the eyes within their range and, last, the extension of the range for eyes that are beyond
    it in the animation."""
    first: int
    dt: float
    stretches: list[tuple[int, int]]
    """First and last samples between the jumps."""

    def parts(self, start: float, end: float) -> list[tuple[float, float, tuple[int, int]]]:
        """The piece from start to end [s], divided at the jumps: start, end and stretch of each part."""
        parts = []
        for stretch in self.stretches:
            begin, until = self.time(stretch[0]), self.time(stretch[1] + 1)
            if stretch == self.stretches[0]:
                begin = start
            if stretch == self.stretches[-1]:
                until = end
            if until > start + _INSTANT and begin < end - _INSTANT:
                parts.append((max(begin, start), min(until, end), stretch))
        return parts

    def time(self, sample: int) -> float:
        return (self.first + sample) * self.dt

    def at(self, values: Array, time: float, stretch: tuple[int, int]) -> tuple[Array, Array]:
        """Value and slope at a time [s] of values (w, ...), from the adjacent samples of one stretch."""
        begin, end = stretch
        place = time / self.dt - self.first
        # A cubic would extrapolate too far beyond the last sample.
        count = min(4 if place <= end + _INSTANT else 3, end - begin + 1)
        start = int(np.clip(np.floor(place + _INSTANT) - 2, begin, end + 1 - count))
        powers = np.vander(np.arange(start, start + count) - place, increasing=True)
        coefficients = np.linalg.solve(powers, values[start : start + count].reshape(count, -1))
        slope = coefficients[1] / self.dt if count > 1 else np.zeros_like(coefficients[0])
        return coefficients[0].reshape(values.shape[1:]), slope.reshape(values.shape[1:])


class Goals:
    """The paths of all targets of the eyes in a scene."""

    def __init__(self, eyes: Eyes, scene: Scene) -> None:
        self.eyes, self.scene = eyes, scene
        self.axes = eyes.head_forward, eyes.head_up, eyes.head_right
        self.edge = 0.5 * eyes.soft_edge
        self.wide = self._wide()

    def limits(self, widened: Array) -> Array:
        """The ocular range (n, 1 + k, 3) at every sample, extended by (n,) for the animation."""
        return self.eyes.range + widened[:, None, None] * (self.wide - self.eyes.range)

    def _wide(self) -> Array:
        """The range (n, 1 + k, 3), extended so that it contains the animated angles of the eyes."""
        natural, _ = self._angles(slice(None), self._with_middle(self.scene.orientations))
        reached = np.stack((np.abs(natural[..., 0]), natural[..., 1], -natural[..., 1]), axis=-1)
        lacking = reached + self.edge - self.eyes.range
        # The extension starts smoothly, no later than needed.
        early = np.clip(lacking + self.edge, 0.0, 2.0 * self.edge) ** 2 / (4.0 * max(self.edge, 1e-12))
        return self.eyes.range + np.where(lacking > self.edge, lacking, early)

    def _with_middle(self, orientations: Array) -> Array:
        """Gaze directions (n, 1 + k, 3) of eyes with orientations (n, k, 4)."""
        directions = rotation.rotate(orientations, self.eyes.forward)
        middle = directions.sum(axis=1, keepdims=True)
        lost = np.linalg.norm(middle, axis=-1, keepdims=True) < 1e-6
        return np.concatenate((np.where(lost, directions[:, :1], rotation.normalize(middle)), directions), axis=1)

    def _angles(
        self, window: slice, directions: Array, anchor: int = 0, near: float = 0.0, *, fades: bool = False
    ) -> tuple[Array, Array]:
        """Yaws and pitches (w, 1 + k, 2) of directions (w, 1 + k, 3), the yaw of sample `anchor` within half a turn.

        Also returns (w - 1,) between which samples the target changes sides.

        near: distance within which they fade out. fades: whether yaw fades out near straight up and down, where it is
        undefined.
        """
        seen = TargetAngles.of(self.scene.head[window, None], directions, self.axes, near)
        weight = np.ones_like(seen.yaw)
        if fades:
            limit = np.where(seen.pitch > 0.0, self.eyes.pitch_up_limit, self.eyes.pitch_down_limit)
            begin = np.clip(limit, *_POLE[:2])
            weight = 1.0 - curves.cubic_step((np.abs(seen.pitch) - begin) / (_POLE[2] - begin))
        yaw = _on_one_side(seen.yaw, anchor)
        angles = np.stack((yaw * weight * seen.near, seen.pitch * seen.near), axis=-1)
        return angles, np.abs(np.diff(yaw[:, 0])) > np.pi

    def path(self, target: int | None, start: float, end: float) -> GazePath:
        """The path from `start` to `end` [s], of a target or, if it is None, of the animation."""
        scene = self.scene
        anchor = int(np.floor(start / scene.dt + _INSTANT))
        first = max(anchor - _BESIDE, 0)
        window = slice(first, min(int(np.ceil((end + _AHEAD) / scene.dt)) + 1, len(scene)))
        if target is None:
            seen, sides = self._angles(window, self._with_middle(scene.animated[window]), anchor - first)
            # Only animated eyes can be beyond the range.
            goal = bounded(seen, self.wide[window] + self.edge, self.edge)
        else:
            directions, near = self._towards(target, window)
            seen, sides = self._angles(window, directions, anchor - first, near, fades=True)
            goal = bounded(seen, self.eyes.range + self.edge, self.edge)
        jumps = curves.sudden(np.linalg.norm(np.diff(goal, axis=0), axis=-1))
        edges = [0, *(np.flatnonzero(jumps.any(axis=1) | sides) + 1).tolist(), len(goal)]
        stretches = [(a, b - 1) for a, b in pairwise(edges)]
        widened = np.full((len(goal), 1), float(target is None))
        return GazePath(
            seen, np.concatenate((goal.reshape(len(goal), -1), widened), axis=1), first, scene.dt, stretches
        )

    def _towards(self, target: int, window: slice) -> tuple[Array, float]:
        """Directions (w, 1 + k, 3) to a target, and the distance within which it is too near."""
        centers = self.scene.centers[window]
        middle = centers.mean(axis=1, keepdims=True)
        beside = centers - middle
        half = np.linalg.norm(beside, axis=-1, keepdims=True).mean(axis=1, keepdims=True)
        ahead = self.scene.targets[target, window][:, None] - middle
        distance = np.linalg.norm(ahead, axis=-1, keepdims=True)
        vergence = soft_limit(
            2.0 * self.eyes.vergence * np.arctan2(half, distance), self.eyes.vergence_limit, self.edge
        )
        # All eyes converge at one point ahead of the cyclopean eye, no nearer than the vergence allows.
        share = distance * np.tan(0.5 * vergence) / np.where(half > 0.0, half, 1.0)
        return np.concatenate((ahead, ahead - share * beside), axis=1), float(half.mean())


def _on_one_side(yaws: Array, anchor: int) -> Array:
    """Yaws (w, 1 + k) unwrapped over time from sample `anchor` on, each eye's beside the cyclopean one.

    A target that passes behind keeps its side until it is well past, as for the head, so that both turn the same way.
    """
    yaw = np.unwrap(yaws[:, 0])
    jumps = np.flatnonzero(curves.sudden(np.abs(np.diff(yaw)))) + 1
    for stretch in np.split(yaw, jumps):
        reference = int(np.clip(anchor, 0, len(stretch) - 1))
        anchor -= len(stretch)
        stretch -= 2.0 * np.pi * np.round(stretch[reference] / (2.0 * np.pi))
        ahead = stretch[reference:]
        while np.any(past := np.abs(ahead) > np.pi + BEHIND_MARGIN):
            crossing = int(np.argmax(past))
            ahead[crossing:] -= np.sign(ahead[crossing]) * 2.0 * np.pi
    return np.concatenate((yaw[:, None], nearest_turn(yaws[:, 1:], yaw[:, None])), axis=1)
