"""Bones that the rig's own inverse kinematics poses after all of their constraints, so that no constraint offsets them.

What moves them is the bone that the IK constraint reaches for, and what the chain hangs on.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ....lookat_pd.rotation import Array
from ....lookat_pd.transitions import pose_tree
from ...sampling import posed_bones
from .evaluated_pose import EvaluatedPoses, PoseReader, deforming

_ON = 0.5
"""Influence from which on IK poses its chain rather than keys do."""


@dataclass(frozen=True)
class PosedChain:
    """An IK constraint."""

    owner: str
    """Name of the bone that has the constraint."""
    constraint: str
    """Name of the constraint."""
    bones: tuple[str, ...]
    """Bones that it poses, the end first."""
    handle: str
    """The bone of the armature that it reaches for; "" for none."""

    def is_on(self, evaluated: bpy.types.Object) -> bool:
        """Whether it poses its chain on the evaluated armature."""
        constraint = evaluated.pose.bones[self.owner].constraints[self.constraint]
        return not constraint.mute and constraint.influence >= _ON


def find(armature: bpy.types.Object) -> list[PosedChain]:
    """Those that pose bones which deform, except where they are muted."""
    return list(_chains(armature, set(deforming(armature))))


def _chains(armature: bpy.types.Object, seen: set[str]) -> Iterator[PosedChain]:
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            if constraint.type not in posed_bones.TYPES or constraint.mute:
                continue
            posed = posed_bones.posed_bones(bone, constraint)
            handle = constraint.subtarget if constraint.type == "IK" and constraint.target == armature else ""
            if seen & set(posed):
                yield PosedChain(bone.name, constraint.name, tuple(posed), handle)


def handles(reader: PoseReader, frame: int) -> list[str]:
    """The bones that must be seen as well, because they move what IK poses at this frame."""
    chains = [chain for chain in find(reader.armature) if chain.handle in reader.armature.pose.bones]
    if not chains:
        return []
    evaluated = reader.step(frame)
    return [chain.handle for chain in chains if chain.is_on(evaluated)]


class IKPosed:
    """What IK poses from the first frame of a transition on. reached: whether the ends of the chains are brought where
    they are wanted, rather than their handles."""

    def __init__(self, reader: PoseReader, poses: EvaluatedPoses, frame: int, *, reached: bool) -> None:
        self._anchors = poses.anchors
        rows = {name: row for row, name in enumerate(poses.bones)}
        chains = find(poses.armature)
        # Evaluated poses are valid until the next step.
        before = [chain.is_on(item) for item in (reader.step(frame - 1),) for chain in chains]
        after = [chain.is_on(item) for item in (reader.step(frame),) for chain in chains]
        on = [(chain, was_on) for chain, was_on, is_on in zip(chains, before, after, strict=True) if is_on]
        self.rows = np.array(sorted({rows[name] for chain, _ in on for name in chain.bones if name in rows}), dtype=int)
        self._ends = [
            (rows[chain.handle], rows[chain.bones[0]])
            for chain, was_on in on
            if (reached or not was_on) and chain.handle in rows and chain.bones and chain.bones[0] in rows
        ]

    def __bool__(self) -> bool:
        return bool(len(self.rows))

    def with_handles(self, wanted: Array, shown: Array) -> Array:
        """Wanted matrices (F, B, 4, 4) with the handles that bring the ends of their chains there."""
        wanted = wanted.copy()
        for handle, end in self._ends:
            wanted[:, handle] = wanted[:, end] @ np.linalg.inv(shown[:, end]) @ shown[:, handle]
        return wanted

    def attainable(self, wanted: Array, measured: Array) -> Array:
        """Wanted matrices with the posed bones where they are measured, and what hangs on them as wanted from there."""
        if not self:
            return wanted
        matrices = wanted.copy()
        moved = set(self.rows.tolist())
        matrices[:, self.rows] = measured[:, self.rows]
        for row in pose_tree.order(self._anchors):
            above = int(self._anchors[row])
            if row not in moved and above in moved:
                moved.add(row)
                matrices[:, row] = matrices[:, above] @ np.linalg.inv(wanted[:, above]) @ wanted[:, row]
        return matrices

    def leave(self, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which bones get offsets (B,), without the posed ones."""
        kept = used.copy()
        kept[self.rows] = False
        return kept
