"""What a clean-up of contacts has done: how far feet and hands are from their places, before and after."""

from collections.abc import Mapping
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd.body.contacts import Interval
from ...lookat_pd.rotation import Array


@dataclass(frozen=True)
class ContactReport:
    """Of k effectors over F frames; distances are those of the world."""

    action: bpy.types.Action
    """That holds the keys."""
    frames: Array
    """(F,)"""
    contacts: Mapping[str, tuple[Interval, ...]]
    """First and last frame of the contacts of each effector."""
    slips: Array
    """(k, F) how far an effector is from its place, 0 without a contact."""
    slipped: Array
    """(k, F) the same as animated."""
    lengths: Array
    """(k,) of the limbs."""
    lowered: Array
    """(F,) how much lower the hips are."""

    @property
    def drift(self) -> float:
        """The largest distance of any effector from its place."""
        return float(self.slips.max(initial=0.0))

    @property
    def before(self) -> float:
        """The same as animated."""
        return float(self.slipped.max(initial=0.0))

    @property
    def stances(self) -> int:
        """The number of contacts."""
        return sum(map(len, self.contacts.values()))

    @property
    def intervals(self) -> tuple[Interval, ...]:
        """All contacts in order."""
        return tuple(sorted({interval for own in self.contacts.values() for interval in own}))

    @property
    def worst(self) -> tuple[str, int, float, float]:
        """The effector that slips most, the frame, the distance, and as a fraction of its limb."""
        k, frame = np.unravel_index(int(np.argmax(self.slips / self.lengths[:, None])), self.slips.shape)
        slip = float(self.slips[k, frame])
        return tuple(self.contacts)[k], int(self.frames[frame]), slip, slip / float(self.lengths[k])
