"""Properties of eyes: axes, range and speed."""

from dataclasses import dataclass

import numpy as np

from .. import checks, rotation
from ..errors import InvalidArgument
from ..gaze.turn_distribution import soft_limit
from ..rotation import Array

_LIMITS = ("yaw_limit", "pitch_up_limit", "pitch_down_limit")
_POSITIVE = ("vergence", "vergence_limit", "saccade_start", "saccade_rate", "blink_from", "micro", "soft_edge")
_SHORTEST, _MOST = 1e-3, 1e6
"""No saccade or blink is shorter [s]; no angle or time is beyond."""


@dataclass(frozen=True)
class Eyes:
    """Properties of k eyes; angles in radians, times in seconds.

    A saccade lasts saccade_start + saccade_rate [s/rad] times the rotation of the eyes in the head. Gaze shifts of
    blink_from or more include a blink of blink_close and blink_open. Raises InvalidArgument.
    """

    forward: Array
    """(k, 3) aim axes in each eye bone's own frame."""
    head_forward: Array
    head_up: Array
    """`head_forward`, `head_up`: (3,) axes of the head in its own frame; the ocular range, yaw_limit to either side,
    pitch_up_limit and pitch_down_limit, is about them."""
    yaw_limit: float = np.radians(45.0)
    pitch_up_limit: float = np.radians(35.0)
    pitch_down_limit: float = np.radians(35.0)
    soft_edge: float = np.radians(2.0)
    """Width of the smooth limit, half of it inside the range."""
    vergence: float = 1.0
    """Fraction of the true vergence, up to vergence_limit."""
    vergence_limit: float = np.radians(12.0)
    saccade_start: float = 0.025
    saccade_rate: float = 0.0024 / np.radians(1.0)
    blink_from: float = np.radians(33.0)
    blink_close: float = 0.07
    blink_open: float = 0.15
    micro: float = 0.0
    """Size of the largest microsaccades, 0 for none."""
    micro_rate: float = 1.5
    """Number per second."""
    seed: int = 0
    """Seed of their random numbers."""
    repeat: float = 0.0
    """Time after which they repeat, with a rate that fits; 0 for never."""

    def __post_init__(self) -> None:
        forward = checks.array("forward axes of the eyes", self.forward)
        ahead, up = (checks.exactly("axes of the head", axis, 3) for axis in (self.head_forward, self.head_up))
        if forward.ndim != 2 or forward.shape[1] != 3 or not len(forward):
            raise InvalidArgument(
                "The eyes' forward axes must be an array (eyes, 3), not {shape}.", shape=forward.shape
            )
        forward, ahead, up = map(rotation.normalize, (forward, ahead, up))
        up = up - np.sum(up * ahead) * ahead
        if not all(np.all(np.linalg.norm(a, axis=-1) > 1e-9) for a in (forward, ahead, up)):
            raise InvalidArgument(
                "The axes of the eyes and the head must not be zero, and the two axes of the head must not be parallel."
            )
        object.__setattr__(self, "forward", rotation.normalize(forward))
        object.__setattr__(self, "head_forward", rotation.normalize(ahead))
        object.__setattr__(self, "head_up", rotation.normalize(up))
        for name in (*_LIMITS, *_POSITIVE):
            checks.number(name.replace("_", " "), getattr(self, name), 0.0, _MOST)
        for name in ("saccade_start", "blink_close", "blink_open"):
            checks.number(name.replace("_", " "), getattr(self, name), _SHORTEST, _MOST)
        checks.whole("seed", self.seed, -(2**63), 2**63)
        checks.number("time of a cycle", self.repeat, 0.0)
        checks.number("rate of microsaccades", self.micro_rate)
        if not 0.0 < self.micro_rate * self.saccade_time(self.micro) < 1.0:
            raise InvalidArgument("The rate of microsaccades must be above 0 and leave time for each; reduce the rate.")

    def __len__(self) -> int:
        return len(self.forward)

    @property
    def micro_cells(self) -> tuple[float, int]:
        """The number of microsaccades per second, and after how many they repeat; 0 for never."""
        count = round(self.repeat * self.micro_rate)
        return (count / self.repeat, count) if count else (self.micro_rate, 0)

    @property
    def head_right(self) -> Array:
        """(3,) the axis about which the eyes pitch up."""
        return rotation.cross(self.head_forward, self.head_up)

    @property
    def range(self) -> Array:
        """(3,) range of the eyes to either side, up and down."""
        return np.array([self.yaw_limit, self.pitch_up_limit, self.pitch_down_limit])

    def saccade_time(self, angle: float) -> float:
        """Duration of a rotation by an angle [rad] in the head."""
        return self.saccade_start + self.saccade_rate * angle

    def direction(self, angles: Array) -> Array:
        """Unit vectors (..., 3) in the head's frame of yaws to the left and pitches up, (..., 2)."""
        yaw, pitch = angles[..., :1], angles[..., 1:]
        level = np.cos(yaw) * self.head_forward - np.sin(yaw) * self.head_right
        return np.cos(pitch) * level + np.sin(pitch) * self.head_up


def bounded(angles: Array, limits: Array, edge: float) -> Array:
    """Yaws and pitches (..., 2) within limits (..., 3) to either side, up and down; slopes are continuous.

    Unchanged up to limit - edge; the limit is reached at limit + edge.
    """
    yaw, pitch = angles[..., 0], angles[..., 1]
    result = np.empty(np.broadcast_shapes(angles.shape, (*limits.shape[:-1], 2)))
    result[..., 0] = np.sign(yaw) * soft_limit(np.abs(yaw), limits[..., 0], edge)
    vertical = np.where(pitch > 0.0, limits[..., 1], limits[..., 2])
    result[..., 1] = np.sign(pitch) * soft_limit(np.abs(pitch), vertical, edge)
    return result
