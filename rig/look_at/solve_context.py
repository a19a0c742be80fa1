"""What the solve of one look-at needs from the scene solve that orders it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import ArrayLike

from ...lookat_pd.rotation import Array
from ..layers.track import Track
from ..sampling.sampler import Alike, CutDown, Sampler
from . import look_at_layer as offsets
from .resolve import LookAt

Playing = Sequence[tuple[bpy.types.Object, Track]]
"""Armatures, and the tracks of look-ats already solved that are put on them while another one is sampled."""


@dataclass(frozen=True)
class SolveContext:
    """The scene and the frames over which look-ats are solved."""

    scene: bpy.types.Scene
    frames: Array
    """(F,) consecutive whole frames."""
    dt: float
    """Seconds per frame."""
    install: Callable[[LookAt, int], None]
    """Gives a look-at of a number its constraints for as long as the scene solve lasts."""
    playing: Playing = ()
    """The look-ats on which the one being solved depends."""
    cycle: tuple[int, int] | None = None
    """First and last frame of a cycle: frames before and after it are sampled in it. None where nothing repeats."""
    in_all: int = 0
    """As `Sampler` has it."""

    @property
    def begin(self) -> float:
        """Time of the first frame [s]: random values depend on the time alone."""
        return float(self.frames[0]) * self.dt

    def sampled(self, moments: ArrayLike) -> Array:
        """The frames (n,) at which the animation is as at moments (n,), which may be between frames."""
        times = np.asarray(moments)
        if self.cycle is None:
            return times
        first, last = self.cycle
        return np.where((times < first) | (times > last), first + (times - first) % (last - first), times)

    def sampler(
        self,
        look_at: LookAt,
        aim: Array | None,
        bones: Sequence[str] | None = None,
        cut_down: CutDown | None = None,
        alike: Alike | None = None,
    ) -> Sampler:
        """A sampler of a look-at's chain and body, or of `bones`, and of its targets.

        aim, cut_down, alike: as for `Sampler`.
        """
        if bones is None:
            beyond = look_at.body.sampled if look_at.body is not None else ()
            bones = tuple(dict.fromkeys((*look_at.bones, *beyond)))
        located = bool(bones) and bool(look_at.moved)
        known = {"cut_down": cut_down, "alike": alike, "in_all": self.in_all}
        return Sampler(self.scene, look_at.armature, bones, look_at.watched, aim, located=located, **known)

    def play(self, sampler: Sampler) -> None:
        """Let the look-ats `playing` move their rigs while these are sampled."""
        for armature, track in self.playing:
            offsets.show(sampler.stand_in(armature), track)
