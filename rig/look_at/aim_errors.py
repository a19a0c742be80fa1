"""How well a look-at aims over all frames at which it looks: on the way to the target, out of reach, or settled."""

from dataclasses import dataclass

import numpy as np

from ...lookat_pd.message import Message
from ...lookat_pd.rotation import Array


@dataclass(frozen=True)
class AimErrors:
    """Angles [rad] between the aim and the target over some frames."""

    median: float
    most: float
    """What nine tenths of the frames do not exceed."""
    largest: float
    frame: int
    """Where the largest is."""
    frames: int
    """How many frames these are."""
    in_reach: int
    """At how many of them the target is within the limits of the chain."""

    @property
    def message(self) -> Message:
        """One line of it, in degrees."""
        most, largest = np.degrees((self.most, self.largest))
        return Message(
            "Within {most:.1f}° of the target in 9 of 10 frames; farthest off, {largest:.1f}°, at frame {frame}",
            most=most,
            largest=largest,
            frame=self.frame,
        )


def over(error: Array, looks: Array, reachable: Array, frames: Array) -> AimErrors | None:
    """Of errors (F,) [rad] at the `frames` (F,) at which it looks, None where it never does.

    looks: (F,) whether it should aim at the target there. reachable: (F,) as of a solution. An error that is nan is one
    of a gaze that is meant to be beside the target.
    """
    chosen = np.flatnonzero(looks & np.isfinite(error))
    if not len(chosen):
        return None
    found = error[chosen]
    return AimErrors(
        float(np.median(found)),
        float(np.percentile(found, 90.0)),
        float(found.max()),
        int(frames[chosen[np.argmax(found)]]),
        len(chosen),
        int(np.count_nonzero(reachable[chosen])),
    )
