"""Measurement of gaze shifts: the onset of each body part, and the error on arrival."""

from dataclasses import dataclass

import numpy as np

from ....lookat_pd import rotation
from ....lookat_pd.rotation import Array
from ..look_at_bake import BakeResult

_UNDER_WAY = 0.02
"""Fraction of its turn that defines the onset of a bone."""
_ARRIVED, _STILL = np.radians(0.5), np.radians(0.1)


@dataclass(frozen=True)
class Onsets:
    """A gaze shift; all times in seconds from the first frame, nan for parts that do not move."""

    time: float
    """Time of the event."""
    eyes: float
    """Onset of the eyes."""
    head: float
    """Onset of the head."""
    torso: float
    """Onset of the torso."""
    duration: float
    """Duration of the saccade."""
    amplitude: float
    """Rotation of the eyes in it [rad]."""
    arrival: float
    """Time at which the gaze arrives at its target; nan without a target."""
    error: float
    """Largest error [rad] of the gaze after that; nan without a target."""


def onsets(result: BakeResult) -> list[Onsets]:
    """The gaze shifts of a look-at with eyes, in order; none without eyes."""
    body, response = result.look_at.body, result.response
    seen = response.gaze if response is not None else None
    if seen is None or body is None:
        return []
    offsets = result.solution.offsets
    times = result.dt * np.arange(len(offsets))
    torso = [
        number for number, compensates_lag in enumerate(result.look_at.chain.compensates_lag) if not compensates_lag
    ]
    shifts = []
    starts = [*(shift.time for shift in seen.shifts), np.inf]
    for shift, end in zip(seen.shifts, starts[1:], strict=True):
        chosen = (times >= shift.time - 1e-9) & (times < end - 1e-9)
        landed = chosen & (times >= shift.time + shift.duration)
        error = seen.error[landed]
        arrived = np.flatnonzero(error < _ARRIVED) if len(error) else []
        called = shift.time + body.head_delay
        shifts.append(
            Onsets(
                time=shift.time,
                eyes=shift.time,
                head=_onset(times, offsets[:, 0], called, end),
                torso=_onset(times, offsets[:, torso[0]], called, end) if torso else np.nan,
                duration=shift.duration,
                amplitude=shift.amplitude,
                arrival=float(times[landed][arrived[0]]) if len(arrived) else np.nan,
                error=float(error[arrived[0] :].max()) if len(arrived) else np.nan,
            )
        )
    return shifts


def _onset(times: Array, offsets: Array, called: float, end: float) -> float:
    """The onset of a bone with local offsets (n, 4) after the event at `called`; nan if not before `end`.

    A bone that is still moving starts where it leaves its previous path.
    """
    after = np.flatnonzero((times > called) & (times < end - 1e-9))
    first = after[0] - 1 if len(after) else 0
    if first < 1:
        return np.nan
    here, dt = offsets[first], times[1] - times[0]
    speed = rotation.log(rotation.multiply(rotation.inverse(offsets[first - 1]), here)) / dt
    on = rotation.multiply(here, rotation.exp(speed * (times[after] - times[first])[:, None]))
    left = np.append(0.0, rotation.distance(on, offsets[after]))
    whole = rotation.distance(here, offsets[after]).max()
    if whole < _STILL:
        return np.nan
    # A controller starts with a jump of its acceleration: the square root of the angle grows linearly.
    begin = np.append(called, times[after])
    return float(np.interp(np.sqrt(_UNDER_WAY * whole), np.sqrt(np.maximum.accumulate(left)), begin))
