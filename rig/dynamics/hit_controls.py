"""From the poses of a body to the channels of the bones or controls that turn it.

Controls of generated rigs do not simply inherit each other's rotation: a head may keep its direction when the neck
turns. How much each passes on is measured once, and what remains is corrected by the evaluated result.
"""

from collections.abc import Generator, Sequence

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.rotation import Array
from ..animation.bake_transaction import BakeTransaction
from ..controls.changes import AnimatedChannels, Changes
from ..controls.realize import Correction, Realization, Tolerance, realize
from ..controls.turned_controls import TurnedControls
from ..sampling import sampler as sample
from ..sampling.sampler import Sampler, Samples, sample_frames
from . import bone_attachment, joint_ranges
from .articulation import Articulation
from .goal_limbs import GoalLimb

_NOTHING = 1e-7
"""A rotation [rad] below which a bone keeps its raw values: the precision of Blender's numbers."""


class HitControls(Realization[Changes, Samples]):
    """The bones of a body over F frames. local: (F, n, 4), rotations relative to the joint above, or to the base.

    goals: limbs that turn by their goals.
    """

    def __init__(self, sampler: Sampler, body: Articulation, samples: Samples, goals: Sequence[GoalLimb] = ()) -> None:
        self.body, self.samples, self._sampler, self._goals = body, samples, sampler, goals
        self._rows = [samples.bones.index(name) for name in body.bones]
        self._parents = np.asarray(body.body.parents).tolist()
        self._base = body.base_pose(samples)[0]
        own = samples.rotations[:, self._rows]
        above = np.stack([self._base if p < 0 else own[:, p] for p in self._parents], axis=1)
        self.local = self._wanted = rotation.multiply(rotation.inverse(above), own)
        self._plain = bone_attachment.is_plain(body.armature, body.bones) and all(
            body.armature.data.bones[name].use_inherit_rotation for name in body.bones
        )
        held = {name for limb in goals for name in limb.held}
        self._held = [n for n, name in enumerate(body.bones) if name in held]
        self._turned = TurnedControls(samples, body.bones)
        self._channels = AnimatedChannels(samples, adjust=self._with_locks)
        self._writer: BakeTransaction | None = None

    def measure(self) -> Generator[float, None, None]:
        """Measure which part of its rotation each control passes on, in a working action that is discarded; yields the
        completed fraction. Raises RigError if a bone does not respond."""
        if self._plain:
            return
        probe = BakeTransaction(self.body.armature)
        try:
            yield from self._turned.measure(
                lambda changes, frames: self._channels.write(probe, changes, slice(frames)),
                self._sampled,
                self._parents,
                self._held,
            )
        finally:
            probe.rollback()
            self._channels.forget()

    def steps(self, work: BakeTransaction, local: Array) -> Generator[float, None, tuple[str, ...]]:
        """Key the bones so that they have rotations `local` (F, n, 4); yields the completed fraction and returns the
        names of those with keys."""
        self._writer, self._wanted = work, local
        offsets = rotation.multiply(rotation.inverse(self.local), local)
        if self._plain:
            return tuple(self._channels.write(work, self._changes(offsets)))
        self._active = (rotation.angle(offsets) > _NOTHING).any(axis=1)
        first = self._changes(self._turned.realized(self._in_armature(local), active=self._active))
        if not self._channels.are_changed(first):
            return ()
        yield from realize(self, first, Tolerance(_NOTHING, corrections=1))
        return tuple(self._channels.written)

    def write(self, values: Changes) -> None:
        assert self._writer is not None
        self._channels.write(self._writer, values)

    def evaluate(self) -> Generator[float, None, Samples]:
        assert self._writer is not None
        self.follow(self._writer, self._wanted)
        return (yield from self._sampled(len(self.samples.frames)))

    def compare(self, seen: Samples) -> Array:
        free = [n for n in range(len(self._rows)) if n not in self._held]
        away = rotation.distance(seen.rotations[:, self._rows], self._in_armature(self._wanted))
        return away[:, free].max(axis=-1, initial=0.0)

    def correct(self, values: Changes, seen: Samples) -> Generator[float, None, Correction[Changes]]:
        yield 1.0
        wanted = self._in_armature(self._wanted)
        turns = self._turned.realized(wanted, self._turned.turns(values), seen, self._active)
        # What else turns the controls hardly depends on this small difference.
        return Correction(self._changes(turns), trusted=True)

    def follow(self, work: BakeTransaction, local: Array) -> tuple[str, ...]:
        """Key the goals of limbs so that these have rotations `local` (F, n, 4) where all other bones are now."""
        written: list[str] = []
        for limb in self._goals:
            seen = sample.run(self._sampler.sample(self.samples.frames.tolist()))
            written += limb.write(work, self.samples, seen, self.body.bones, self._in_armature(local))
        return tuple(written)

    def hold(self, work: BakeTransaction) -> None:
        """Key the first bone as it is animated."""
        mode, raw = self.samples.channel(self.body.bones[0])
        work.write(self.body.bones[0], mode, self.samples.frames, raw, raw)

    def _changes(self, turns: Array) -> Changes:
        """Rotations (F, n, 4) of the bones, without those that turn by their goals."""
        return Changes({name: turns[:, n] for n, name in enumerate(self.body.bones) if n not in self._held})

    def _with_locks(self, bone: str, values: Array, raw: Array) -> Array:
        return joint_ranges.with_locks(self.body.armature.pose.bones[bone], values, raw)

    def _sampled(self, count: int) -> Generator[float, None, Samples]:
        return sample_frames(self._sampler, self.samples.frames[:count])

    def _in_armature(self, local: Array) -> Array:
        """Rotations (F, n, 4) in armature space."""
        return self.body.in_armature(local, np.broadcast_to(self._base[:, None], local.shape))
