"""The motion of a body through one interval between keys, at the ends of steps and within each of them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..rotation import Array
from .keyed_motion import KeyedMotion
from .rotation_rates import turning

FEWEST = 8
"""Least number of steps in an interval."""
_NO_TIME = 1e-9
"""Length [s] of an interval that is rounding."""


class Stages(NamedTuple):
    """How a step is taken: a method of Runge and Kutta, implicit in each stage with the same weight."""

    weights: Array
    """(m, m + 1), the parts that the accelerations at the start of the step and at its m stages have in each stage. The
    last one is the end of the step."""
    ahead: Array
    """(m,), how far ahead of the last two accelerations the one of a stage is expected, in times between these two."""

    @property
    def times(self) -> Array:
        """(m,), fractions of the step."""
        return self.weights.sum(axis=1)

    @property
    def implicit(self) -> float:
        """The weight of a stage's own acceleration."""
        return float(self.weights[-1, -1])


_GAMMA = 1767732205903.0 / 4055673282236.0
_INNER = 2.0 * _GAMMA, 0.6
SMOOTH = Stages(
    np.array(
        [
            [_GAMMA, _GAMMA, 0.0, 0.0],
            [2746238789719.0 / 10658868560708.0, -640167445237.0 / 6845629431997.0, _GAMMA, 0.0],
            [
                1471266399579.0 / 7840856788654.0,
                -4482444167858.0 / 7529755066697.0,
                11266239266428.0 / 11593286722821.0,
                _GAMMA,
            ],
        ]
    ),
    np.array([_INNER[0] / 0.4, _INNER[1] / _INNER[0] - 1.0, 0.4 / (_INNER[1] - _INNER[0])]),
)
"""Of third order, and stable for any stiffness. Source: Kennedy, Carpenter, Additive Runge-Kutta schemes for
convection-diffusion-reaction equations, 2003, ESDIRK3(2)4L[2]SA."""


@dataclass(frozen=True)
class IntervalMotion:
    """The motion of n joints through an interval of s steps."""

    times: Array
    """(m s + 1,) [s], the first one and those of the m stages of each step, the last of which is its end."""
    poses: Array
    """(m s + 1, n, 4), local."""
    spins: Array
    """(m s + 1, n, 3) [rad/s], the angular velocities in the frames of the bones."""
    rises: Array
    """(m s + 1, n, 3) [rad/s^2], the angular accelerations."""
    stages: Stages

    @property
    def ends(self) -> slice:
        """Those of the samples that are at the ends of steps."""
        return slice(None, None, len(self.stages.weights))

    @property
    def h(self) -> float:
        """Length of a step [s]."""
        times = self.times[self.ends]
        return float(times[-1] - times[0]) / (len(times) - 1)

    def with_joints(self, other: "IntervalMotion", joints: NDArray[np.bool_]) -> "IntervalMotion":
        """The motion with these joints (n,) of another one at the same times."""
        which = joints[:, None]
        poses, spins, rises = (
            np.where(which, b, a)
            for a, b in ((self.poses, other.poses), (self.spins, other.spins), (self.rises, other.rises))
        )
        return IntervalMotion(self.times, poses, spins, rises, self.stages)

    @classmethod
    def of_law(
        cls, motion: KeyedMotion, interval: int, until: float, longest: float, stages: Stages
    ) -> "IntervalMotion":
        """An interval of the undisturbed motion, up to `until` [s], in steps of at most `longest` seconds."""
        begin = float(motion.times[interval])
        times = _times(begin, until, max(FEWEST, int(np.ceil((until - begin) / longest - 1e-9))), stages.times)
        return cls(times, *motion.at(times, np.full(len(times), interval)), stages)

    def turned(self, turn: Array, rate: Array, bend: Array) -> "IntervalMotion":
        """The motion followed by rotation vectors (m s + 1, n, 3) with these two derivatives."""
        return self.followed_by(rotation.exp(turn), *turning(turn, rate, bend))

    def followed_by(self, after: Array, spins: Array, rises: Array) -> "IntervalMotion":
        """The motion followed by rotations (m s + 1, n, 4) with their own angular velocities and accelerations."""
        back = rotation.inverse(after)
        before = rotation.rotate(back, self.spins)
        rises = rises + rotation.rotate(back, self.rises) + rotation.cross(before, spins)
        return IntervalMotion(
            self.times, rotation.normalize(rotation.multiply(self.poses, after)), before + spins, rises, self.stages
        )


def courses_of(motion: KeyedMotion, last: float, longest: float, stages: Stages) -> list[IntervalMotion]:
    """The undisturbed motion up to `last` [s], interval by interval, in steps of at most `longest` seconds."""
    ends = np.append(motion.times, last)
    chosen = np.flatnonzero(np.diff(ends) > _NO_TIME).tolist()
    return [IntervalMotion.of_law(motion, interval, float(ends[interval + 1]), longest, stages) for interval in chosen]


def _times(begin: float, until: float, steps: int, stages: Array) -> Array:
    """The times (m s + 1,) of a course."""
    times = (np.arange(steps)[:, None] + stages).ravel() * (until - begin) / steps
    return np.concatenate(([begin], begin + times[:-1], [until]))
