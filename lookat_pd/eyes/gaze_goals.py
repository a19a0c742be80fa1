"""Where eyes should look, seen from the head: at a target, converging, or where the animation has them look.

Angles are yaw to the left and pitch up in the head's frame, first of the cyclopean eye in the middle of all, then of
each eye: (n, 1 + k, 2).
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .. import curves, rotation
from ..gaze.target_angles import TargetAngles, nearest_turn
from ..gaze.timeline import BEHIND_MARGIN
from ..gaze.turn_distribution import soft_limit
from ..rotation import Array
from .ability import Eyes, bounded

_POLE = np.radians(60.0), np.radians(75.0), np.radians(80.0)
"""Yaw begins to fade out at the pitch limit, held between the first two, and is gone so far before straight up or down
that it does not matter when eyes that converge have the pole between them."""
_AHEAD, _BESIDE = 0.3, 3
"""A path is known this much [s] after its piece, for saccades to end in, and so many samples before."""
_INSTANT = 1e-9


@dataclass(frozen=True)
class Scene:
    """Where head and eyes are over n samples, the eyes not turned yet, and what there is to look at; see `solve`."""

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
    """Where one target is, from sample `first` on, w samples dt apart.

    seen: (w, 1 + k, 2) as it is; goal: (w, c) the eyes' angles within their range and, last, how much the range is
    widened for eyes that the animation has beyond it. stretches: first and last samples between the jumps.
    """

    seen: Array
    goal: Array
    first: int
    dt: float
    stretches: list[tuple[int, int]]

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
        """Value and slope at a time [s] of values (w, ...), from the samples of one stretch beside it."""
        begin, end = stretch
        place = time / self.dt - self.first
        # Looking beyond the last sample, a cubic would carry what it does not know too far.
        count = min(4 if place <= end + _INSTANT else 3, end - begin + 1)
        start = int(np.clip(np.floor(place + _INSTANT) - 2, begin, end + 1 - count))
        powers = np.vander(np.arange(start, start + count) - place, increasing=True)
        found = np.linalg.solve(powers, values[start : start + count].reshape(count, -1))
        slope = found[1] / self.dt if count > 1 else np.zeros_like(found[0])
        return found[0].reshape(values.shape[1:]), slope.reshape(values.shape[1:])


class Goals:
    """The paths of everything that eyes look at in a scene."""

    def __init__(self, eyes: Eyes, scene: Scene) -> None:
        self.eyes, self.scene = eyes, scene
        self.axes = eyes.head_forward, eyes.head_up, eyes.head_right
        self.edge = 0.5 * eyes.soft_edge
        self.wide = self._wide()

    def limits(self, widened: Array) -> Array:
        """The ocular range (n, 1 + k, 3) at every sample, where it is widened by (n,) for the animation's sake."""
        return self.eyes.range + widened[:, None, None] * (self.wide - self.eyes.range)

    def _wide(self) -> Array:
        """The range with room for what the animation does with the eyes, (n, 1 + k, 3)."""
        natural, _ = self._angles(slice(None), self._with_middle(self.scene.orientations))
        reached = np.stack((np.abs(natural[..., 0]), natural[..., 1], -natural[..., 1]), axis=-1)
        lacking = reached + self.edge - self.eyes.range
        # It sets in smoothly, no later than it is needed.
        early = np.clip(lacking + self.edge, 0.0, 2.0 * self.edge) ** 2 / (4.0 * max(self.edge, 1e-12))
        return self.eyes.range + np.where(lacking > self.edge, lacking, early)

    def _with_middle(self, orientations: Array) -> Array:
        """Directions (n, 1 + k, 3) in which eyes with these orientations (n, k, 4) look."""
        directions = rotation.rotate(orientations, self.eyes.forward)
        middle = directions.sum(axis=1, keepdims=True)
        lost = np.linalg.norm(middle, axis=-1, keepdims=True) < 1e-6
        return np.concatenate((np.where(lost, directions[:, :1], rotation.normalize(middle)), directions), axis=1)

    def _angles(
        self, window: slice, directions: Array, anchor: int = 0, near: float = 0.0, *, fades: bool = False
    ) -> tuple[Array, Array]:
        """Yaws and pitches (w, 1 + k, 2) of directions (w, 1 + k, 3), the yaw of sample `anchor` within half a turn.

        Beside them, (w - 1,), between which samples the side changes on which something is seen.

        near: distance within which they fade out. fades: yaw does, near straight up or down, where it means nothing.
        """
        view = TargetAngles.of(self.scene.head[window, None], directions, self.axes, near)
        weight = np.ones_like(view.yaw)
        if fades:
            limit = np.where(view.pitch > 0.0, self.eyes.pitch_up_limit, self.eyes.pitch_down_limit)
            begin = np.clip(limit, *_POLE[:2])
            fade = np.clip((np.abs(view.pitch) - begin) / (_POLE[2] - begin), 0.0, 1.0)
            weight = 1.0 - fade**2 * (3.0 - 2.0 * fade)
        yaw = _on_one_side(view.yaw, anchor)
        angles = np.stack((yaw * weight * view.near, view.pitch * view.near), axis=-1)
        return angles, np.abs(np.diff(yaw[:, 0])) > np.pi

    def path(self, target: int | None, start: float, end: float) -> GazePath:
        """From `start` to `end` [s], of a target or, where that is None, of the animation."""
        scene = self.scene
        anchor = int(np.floor(start / scene.dt + _INSTANT))
        first = max(anchor - _BESIDE, 0)
        window = slice(first, min(int(np.ceil((end + _AHEAD) / scene.dt)) + 1, len(scene)))
        if target is None:
            seen, sides = self._angles(window, self._with_middle(scene.animated[window]), anchor - first)
            # Beyond the eyes' range there are only those that the animation has there.
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
        """Directions (w, 1 + k, 3) to a target, as long as it is far, and from where on it is too near to look at."""
        centers = self.scene.centers[window]
        middle = centers.mean(axis=1, keepdims=True)
        beside = centers - middle
        half = np.linalg.norm(beside, axis=-1, keepdims=True).mean(axis=1, keepdims=True)
        ahead = self.scene.targets[target, window][:, None] - middle
        distance = np.linalg.norm(ahead, axis=-1, keepdims=True)
        vergence = soft_limit(
            2.0 * self.eyes.vergence * np.arctan2(half, distance), self.eyes.vergence_limit, self.edge
        )
        # All eyes meet in one point straight ahead of the middle, no nearer than the vergence allows.
        share = distance * np.tan(0.5 * vergence) / np.where(half > 0.0, half, 1.0)
        return np.concatenate((ahead, ahead - share * beside), axis=1), float(half.mean())


def _on_one_side(yaws: Array, anchor: int) -> Array:
    """Yaws (w, 1 + k) unwrapped over time from sample `anchor` on, each eye's beside the cyclopean one.

    What passes behind keeps its side until it is well past, as it does for the head, lest they turn opposite ways.
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
