"""Recording what is shown while a look-at follows in real time: uneven ticks, resampled at whole frames."""

import numpy as np

from ....lookat_pd import rotation
from ....lookat_pd.rotation import Array
from ....lookat_pd.transitions import transition
from .live_follow_body import Shown

_LEAST_FRAMES = 2


class LiveFollowRecording:
    """What is shown from tick to tick, beginning with what is shown when it starts."""

    def __init__(self, shown: Shown) -> None:
        self._times, self._ticks = [0.0], [shown]

    def add(self, dt: float, shown: Shown) -> None:
        """Record what is shown dt seconds after the last tick."""
        self._times.append(self._times[-1] + dt)
        self._ticks.append(shown)

    def frame_count(self, dt: float) -> int:
        """How many whole frames of dt seconds it covers."""
        return int(np.floor(self._times[-1] / dt + 1e-6)) + 1

    def at_frames(self, dt: float, fade: float = 0.0) -> Shown:
        """What is shown at all whole frames of dt seconds that it covers: each array has a first axis of frames.

        fade: time [s] in which it begins from the animation and, after its end, returns to it, by inertialization.
        """
        times = np.array(self._times)
        at = np.minimum(dt * np.arange(self.frame_count(dt)), times[-1])
        ticks = self._ticks
        offsets = rotation.align_hemisphere(np.array([tick.offsets for tick in ticks]))
        shown = Shown(
            rotation.normalize(_curve(times, offsets, at)),
            _curve(times, np.array([tick.moves for tick in ticks]), at),
            _curve(times, np.array([tick.shapes for tick in ticks]), at),
        )
        return _faded(shown, dt, fade) if fade > 0.0 and len(at) >= _LEAST_FRAMES else shown


def _faded(shown: Shown, dt: float, fade: float) -> Shown:
    return Shown(
        _with_ends(shown.offsets, np.array(rotation.IDENTITY), dt, fade, "rotation"),
        _with_ends(shown.moves, np.zeros(3), dt, fade, "vector"),
        _with_ends(shown.shapes[..., None], np.zeros(1), dt, fade, "vector")[..., 0],
    )


def _with_ends(values: Array, still: Array, dt: float, fade: float, kind: str) -> Array:
    """Values (F, n, ...) that begin with nothing, `still`, and return to it within `fade` [s] after the last one."""
    if not values.shape[1]:
        return np.zeros((len(values) + _more(dt, fade), *values.shape[1:]))
    nothing = np.broadcast_to(still, (2, *values.shape[1:]))
    # The first frame is the last one of the animation alone.
    begun = np.concatenate((nothing[:1], transition(nothing, values[1:], dt, fade, kind=kind)))
    after = np.broadcast_to(still, (_more(dt, fade), *values.shape[1:]))
    ended = transition(begun[-2:], after, dt, fade, kind=kind)
    return np.concatenate((begun, ended))


def _more(dt: float, fade: float) -> int:
    """Frames of dt seconds in which a recording returns to the animation."""
    return int(np.ceil(fade / dt - 1e-6))


def _curve(times: Array, values: Array, at: Array) -> Array:
    """Values (n, ...) at rising times (n,), on a smooth curve through them, at other times (F,).

    A slow machine has fewer ticks than frames: straight lines would have corners at the ticks. `curves.curve` does not
    do here: its samples are evenly spaced, ticks are not.
    """
    if len(times) < _LEAST_FRAMES:
        return np.repeat(values, len(at), axis=0)
    slopes = np.gradient(values, times, axis=0)
    k = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
    span = (times[k + 1] - times[k]).reshape(-1, *(1,) * (values.ndim - 1))
    u = (at - times[k]).reshape(span.shape) / span
    rise, enter, leave = values[k + 1] - values[k], span * slopes[k], span * slopes[k + 1]
    return values[k] + u * (enter + u * (3.0 * rise - 2.0 * enter - leave + u * (enter + leave - 2.0 * rise)))
