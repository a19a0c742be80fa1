"""From the poses of a body to the channels of the bones or controls that turn it.

Controls of generated rigs do not simply inherit each other's rotation: a head may keep its direction when the neck
turns. How much each passes on is measured once, and what remains is corrected by the evaluated result.
"""

from collections.abc import Sequence

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.gaze import control_coupling
from ...lookat_pd.rotation import Array
from ..animation import channels
from ..animation.bake_transaction import BakeTransaction
from ..sampling import bone_response
from ..sampling import sampler as sample
from ..sampling.sampler import Sampler, Samples
from . import bone_attachment, joint_ranges
from .articulation import Articulation
from .goal_limbs import GoalLimb

_PROBE = np.radians(10.0)
_NOTHING = 1e-7
"""A rotation [rad] below which a bone keeps its raw values: the precision of Blender's numbers."""
_UNCOUPLED = 0.02
"""Part of a rotation that counts as none."""


class HitControls:
    """The bones of a body over F frames. local: (F, n, 4), rotations relative to the joint above, or to the base.

    goals: limbs that turn by their goals.
    """

    def __init__(self, sampler: Sampler, body: Articulation, samples: Samples, goals: Sequence[GoalLimb] = ()) -> None:
        self.body, self.samples, self._sampler = body, samples, sampler
        self._rows = [samples.bones.index(name) for name in body.bones]
        self._parents = np.asarray(body.body.parents).tolist()
        self._base = body.base_pose(samples)[0]
        own = samples.rotations[:, self._rows]
        above = np.stack([self._base if p < 0 else own[:, p] for p in self._parents], axis=1)
        self.local = rotation.multiply(rotation.inverse(above), own)
        self._plain = bone_attachment.is_plain(body.armature, body.bones) and all(
            body.armature.data.bones[name].use_inherit_rotation for name in body.bones
        )
        self._coupling = np.eye(len(self._rows))
        self._goals, held = goals, {name for limb in goals for name in limb.held}
        self._held = [name in held for name in body.bones]

    def measure(self) -> None:
        """Measure which part of its rotation each control passes on, in a working action that is discarded. Raises
        RigError if a bone does not respond."""
        if self._plain:
            return
        joints, frames = len(self._rows), self.samples.frames
        probed = [n for n in range(joints) if not self._held[n]]
        for n in np.flatnonzero(self._held):
            # What hangs on such a bone turns with it.
            self._coupling[::-1, joints - 1 - n] = self.body.body.ancestors[:, n]
        with_probes = BakeTransaction(self.body.armature)
        try:
            for first in range(0, len(probed), len(frames)):
                chosen = probed[first : first + len(frames)]
                offsets = rotation.identity(len(frames), joints)
                for frame, joint in enumerate(chosen):
                    offsets[frame, joint] = rotation.exp(np.array([_PROBE, 0.0, 0.0]))
                self._key(with_probes, offsets)
                self._learn(chosen, offsets, self._seen())
        finally:
            with_probes.rollback()

    def write(self, work: BakeTransaction, local: Array) -> tuple[str, ...]:
        """Key the bones so that they have rotations `local` (F, n, 4); returns the names of those that turn."""
        offsets = rotation.multiply(rotation.inverse(self.local), local)
        turns = rotation.angle(offsets) > _NOTHING
        if not self._plain:
            active = turns.any(axis=1)
            wanted = self._in_armature(local)[:, ::-1]
            animated = self.samples.rotations[:, self._rows][:, ::-1]
            still = rotation.identity(*animated.shape[:2])
            offsets = control_coupling.realize(wanted, animated, self._coupling, still, active)
            if active.any():
                self._key(work, offsets[:, ::-1])
                self.follow(work, local)
                correction = control_coupling.correct(self._seen()[:, ::-1], animated, offsets, self._coupling)
                offsets = control_coupling.realize(wanted, animated, self._coupling, correction, active)
            offsets = offsets[:, ::-1]
            turns = rotation.angle(offsets) > _NOTHING
        offsets = np.where(turns[..., None], offsets, rotation.IDENTITY)
        return self._key(work, offsets)

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

    def _key(self, work: BakeTransaction, offsets: Array) -> tuple[str, ...]:
        """Key the channels with local offsets (F, n, 4); returns the names of the bones that these turn."""
        written = []
        for n, name in enumerate(self.body.bones):
            if self._held[n] or not np.any(offsets[:, n] != rotation.IDENTITY):
                continue
            mode, raw = self.samples.channel(name)
            values = channels.turned(raw, mode, offsets[:, n])
            values = joint_ranges.with_locks(self.body.armature.pose.bones[name], values, raw)
            work.write(name, mode, self.samples.frames, values, raw)
            written.append(name)
        return tuple(written)

    def _seen(self) -> Array:
        """The rotations (F, n, 4) of the bones in armature space, as evaluated now."""
        seen = sample.run(self._sampler.sample(self.samples.frames.tolist()))
        return seen.rotations[:, self._rows]

    def _learn(self, joints: list[int], offsets: Array, seen: Array) -> None:
        """Take the coupling of some joints from what their probes show, each at its own frame."""
        last = len(self._rows) - 1
        animated = self.samples.rotations[:, self._rows][:, ::-1]
        for frame, joint in enumerate(joints):
            column = control_coupling.measure(animated[frame], seen[frame, ::-1], offsets[frame, joint], last - joint)
            bone_response.check(self.body.bones[joint], abs(float(column[last - joint])))
            column[np.abs(column) < _UNCOUPLED] = 0.0
            # A control below another does not turn it, whatever follows from the constraints between them.
            column[last - joint + 1 :] = 0.0
            self._coupling[:, last - joint] = column

    def _in_armature(self, local: Array) -> Array:
        """Rotations (F, n, 4) in armature space."""
        return self.body.in_armature(local, np.broadcast_to(self._base[:, None], local.shape))
