"""Work in parts: what the generators of this room share."""

from collections.abc import Generator
from typing import TypeVar

import bpy
import numpy as np

from ..sample import Sampler, Samples
from . import masses, meshes
from .masses import Masses

Returned = TypeVar("Returned")


def part(steps: Generator[float, None, Returned], begin: float, end: float) -> Generator[float, None, Returned]:
    """All steps of a part of the work, as fractions between `begin` and `end`; what it returns."""
    while True:
        try:
            yield begin + (end - begin) * next(steps)
        except StopIteration as done:
            return done.value


def weights(scene: bpy.types.Scene, armature: bpy.types.Object) -> Generator[float, None, Masses]:
    """What the bones weigh, meshes measured where they are to be. Raises LookAtError."""
    measured = None
    if armature.lookat_pd_body.shape == "MESHES":
        measured = yield from meshes.measure(scene, armature)
    return masses.of(scene, armature, measured)


def sampled(sampler: Sampler, frames: np.ndarray) -> Generator[float, None, Samples]:
    """The rig at these frames. Raises RigError."""
    samples = None
    for k, samples in enumerate(sampler.sample(frames.tolist())):  # noqa: B007
        yield (k + 1) / len(frames)
    assert samples is not None, "there is at least one frame"
    return samples
