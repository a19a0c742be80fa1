"""What to bake, and its destination."""

from dataclasses import dataclass, field

import numpy as np

from ...lookat_pd.checks import shown
from ...lookat_pd.curves import smooth_step
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from .key_writer import KeyWriter

LAST_FRAME = 1_048_574
"""Blender knows no later one, and none before its negative."""
MOST_FRAMES = 250_000
"""Nearly three hours at 24 frames a second."""


@dataclass(frozen=True)
class BakeOptions:
    """What to bake, and its destination."""

    first: int
    """First frame."""
    last: int
    """Last frame, which is baked too."""
    into: str = "NEW"
    """"NEW", "CURRENT" or "LAYER"."""
    name: str = ""
    """Name of a new action; empty for that of the current action and what is baked."""
    played: tuple[int, int] | None = None
    """First and last frame of a longer range to solve, as it plays live; only first to last is baked."""
    blend_in: float = 0.0
    """Frames at the start of the range over which a look-at goes from the animation to itself."""
    blend_out: float = 0.0
    """Frames at its end over which it goes back."""

    cyclic: bool | None = None
    """Whether the range is one cycle of a motion that repeats, and look-ats return to where they begin; None: where the
    action does."""
    writer: KeyWriter = field(default_factory=KeyWriter, compare=False)
    """Which keys are written, and how many there were."""

    @property
    def solved(self) -> tuple[int, int]:
        """The range to solve."""
        first, last = self.played or (self.first, self.last)
        return min(first, self.first), max(last, self.last)

    def weights(self) -> Array:
        """How much of a look-at is baked at each frame (F,), 0 to 1, with no speed at the ends of the blends."""
        frames = np.arange(self.first, self.last + 1)
        result = np.ones(len(frames))
        for length, passed in ((self.blend_in, frames - self.first), (self.blend_out, self.last - frames)):
            if length > 0.0:
                t = np.clip(passed / length, 0.0, 1.0)
                result *= smooth_step(t)[0]
        return result


def check_frames(first: float, last: float) -> None:
    """Raise RigError where the frames are beyond Blender's, or so many that no machine has the memory."""
    for frame in (first, last):
        if not abs(frame) <= LAST_FRAME:
            raise RigError(
                "Frame {frame} is beyond the frames of Blender, {first} to {last}; choose a frame between them.",
                frame=shown(frame),
                first=-LAST_FRAME,
                last=LAST_FRAME,
            )
    if last - first >= MOST_FRAMES:
        raise RigError(
            "The frames {first:.0f} to {last:.0f} are more than {most}, the most that can be computed at once; choose "
            "a shorter range.",
            first=first,
            last=last,
            most=MOST_FRAMES,
        )


def check_range(first: int, last: int) -> None:
    """Raise RigError unless the frames are in order, more than one, and not too many."""
    check_frames(first, last)
    if last < first:
        raise RigError(
            "The frame range {first} to {last} is reversed; enter the smaller frame first.", first=first, last=last
        )
    if last == first:
        raise RigError("The frame range contains only frame {frame}; choose at least two frames.", frame=first)
