"""Recording what is shown while a look-at follows in real time: offsets at uneven ticks, resampled at whole frames."""

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array


class FollowRecording:
    """Offsets (b, 4) of a chain from tick to tick, beginning with those shown when it starts."""

    def __init__(self, shown: Array) -> None:
        self._times, self._ticks = [0.0], [shown]

    def add(self, dt: float, shown: Array) -> None:
        """Record what is shown dt seconds after the last tick."""
        self._times.append(self._times[-1] + dt)
        self._ticks.append(shown)

    def frame_count(self, dt: float) -> int:
        """How many whole frames of dt seconds it covers."""
        return int(np.floor(self._times[-1] / dt + 1e-6)) + 1

    def at_frames(self, dt: float) -> Array:
        """The offsets (F, b, 4) at all whole frames of dt seconds that it covers."""
        times, ticks = np.array(self._times), rotation.align_hemisphere(np.array(self._ticks))
        at = np.minimum(dt * np.arange(self.frame_count(dt)), times[-1])
        return rotation.normalize(_curve(times, ticks, at))


def _curve(times: Array, values: Array, at: Array) -> Array:
    """Values (n, ...) at rising times (n,), on a smooth curve through them, at other times (F,).

    A slow machine has fewer ticks than frames: straight lines would have corners at the ticks. `curves.curve` does not
    do here: its samples are evenly spaced, ticks are not.
    """
    slopes = np.gradient(values, times, axis=0)
    k = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
    span = (times[k + 1] - times[k]).reshape(-1, *(1,) * (values.ndim - 1))
    u = (at - times[k]).reshape(span.shape) / span
    rise, enter, leave = values[k + 1] - values[k], span * slopes[k], span * slopes[k + 1]
    return values[k] + u * (enter + u * (3.0 * rise - 2.0 * enter - leave + u * (enter + leave - 2.0 * rise)))
