"""The hips give way to hits as well: they are displaced, and the feet stay where they are animated."""

from collections.abc import Generator, Iterable
from dataclasses import dataclass

import bpy
import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.body import foot_lock, legs
from ...lookat_pd.errors import LookAtError
from ...lookat_pd.rotation import Array
from ..animation.bake_transaction import BakeTransaction
from ..controls.changes import AnimatedChannels, Changes, in_channels
from ..feet import foot_bones
from ..feet.foot_bones import Footing
from ..sampling import sampler as sample
from ..sampling.sampler import Sampler, Samples

_LOWERED = 0.07
"""Time [s] in which the hips may be lowered after the first hit."""


@dataclass(frozen=True)
class HitHips:
    """The control of the hips and the legs below it."""

    footing: Footing

    @property
    def sampled(self) -> tuple[str, ...]:
        return self.footing.sampled

    def turns(self, bones: Iterable[str]) -> bool:
        """Whether one of these bones is one of the legs'."""
        own = {bone for foot in self.footing.feet for bone in foot.bones}
        return not own.isdisjoint(bones)

    def write(
        self, work: BakeTransaction, sampler: Sampler, samples: Samples, moves: Array, dt: float
    ) -> Generator[float, None, Array]:
        """Key the hips, displaced by `moves` (F, 3) in armature space, and the legs; returns the displacement (F, 3),
        lower where a leg is too short. Yields the completed fraction."""
        feet, hips = self.footing.feet, self.footing.hips
        animated = self.footing.legs(samples)
        up = rotation.normalize(np.linalg.inv(samples.worlds[:, :3, :3])[:, :, 2])
        low = legs.lowering(animated, animated.shifted(moves), up, dt) * foot_lock.onset(len(moves), 1, _LOWERED, dt)
        # Lowered hips return with the displacement.
        moves = np.where(np.any(moves != 0.0, axis=-1, keepdims=True), moves - low[:, None] * up, 0.0)
        offsets, _ = legs.replant(animated, animated.shifted(moves))
        turning = [(n, k, bone) for n, foot in enumerate(feet) if not foot.control for k, bone in enumerate(foot.bones)]
        turns = {bone: offsets[:, n, k] for n, k, bone in turning}
        AnimatedChannels(samples).write(work, in_channels(samples, Changes(turns, {hips: moves})))
        held = {n: foot.control for n, foot in enumerate(feet) if foot.control}
        if held:
            again = yield from sample.sample_frames(sampler, samples.frames)
            seen = self.footing.legs(again)
            missing = np.asarray(animated.ankle) - seen.ankle
            missing[np.linalg.norm(missing, axis=-1) < 0.02 * np.linalg.norm(moves, axis=-1).max()] = 0.0
            moved = {control: missing[:, n] for n, control in held.items()}
            AnimatedChannels(samples).write(work, in_channels(samples, Changes(moves=moved)))
        return moves


def find(armature: bpy.types.Object, bones: Iterable[str]) -> HitHips | None:
    """The hips, if the rig has a control for them and legs below it, none of which is among the `bones` that turn."""
    try:
        footing = foot_bones.find(armature)
    except LookAtError:
        return None
    hips = HitHips(footing)
    return None if not footing.hips or hips.turns(bones) else hips
