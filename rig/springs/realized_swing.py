"""Springs on bones that constraints move, such as the controls of a generated rig: corrected where they are seen."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ..controls.realize import Correction, Realization, Realized, Tolerance, realize
from ..layers.kinds import SolveRange
from ..layers.track import Track
from ..sampling.sampler import CutDown, Samples, sample_frames
from .springs_layer import SpringLayer

_GOOD = np.radians(0.02)
"""Largest angle that a bone may be off."""


def steps(
    owner: bpy.types.Object,
    bones: Sequence[str],
    offsets: Array,
    wanted: Array,
    over: SolveRange,
    *,
    cut_down: CutDown | None,
) -> Generator[float, None, Realized[Array, Samples]]:
    """Find the offsets (F, n, 4) with which bones have the orientations that are wanted (F, n, 4), in the armature's
    space; yields the fraction done. cut_down: as for `Sampler`."""
    with _kept(owner):
        return (yield from realize(_Swinging(owner, bones, wanted, over, cut_down), offsets, Tolerance(_GOOD)))


class _Swinging(Realization[Array, Samples]):
    def __init__(
        self,
        owner: bpy.types.Object,
        bones: Sequence[str],
        wanted: Array,
        over: SolveRange,
        cut_down: CutDown | None,
    ) -> None:
        self.owner, self.bones, self.wanted, self.over = owner, tuple(bones), wanted, over
        self.offsets = rotation.identity(0)
        self._cut_down = cut_down

    def write(self, values: Array) -> None:
        self.offsets = values

    def evaluate(self) -> Generator[float, None, Samples]:
        track = Track(1, self.bones, int(self.over.frames[0]), self.offsets)
        with self.over.sampler(self.owner, self.bones, cut_down=self._cut_down) as work:

            def before() -> None:
                layer = SpringLayer(work.stand_in(self.owner))
                layer.install([(bone, "ROTATION") for bone in self.bones])
                layer.show(track.first, track.rows())

            return (yield from sample_frames(work, self.over.frames, before=before))

    def compare(self, seen: Samples) -> Array:
        return np.array([rotation.distance(seen.rotations, self.wanted).max()])

    def correct(self, values: Array, seen: Samples) -> Generator[float, None, Correction[Array]]:
        yield 0.0
        missing = rotation.multiply(rotation.inverse(seen.rotations), self.wanted)
        return Correction(rotation.normalize(rotation.multiply(values, missing)))


@contextmanager
def _kept(owner: bpy.types.Object) -> Iterator[None]:
    """Leave the layer as it is."""
    layer = SpringLayer(owner)
    held = layer.written()
    try:
        yield
    finally:
        if held:
            layer.write_back(held)
        else:
            layer.remove()
