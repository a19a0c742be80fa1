"""The sampled pose of a body, as arrays for the solver, and its solution."""

import numpy as np

from ...lookat_pd import ik, rotation
from ...lookat_pd.rotation import Array
from ..sampling.sampler import Samples
from .body import JointTree


class BodyPose:
    """A body over F frames in armature space: rotations (F, n, 4), positions (F, n, 3), base (F, 7), local rotations
    (F, n, 4) and offsets (F, n, 3) in the frame of the parent. size: the mean length of all offsets together."""

    def __init__(self, body: JointTree, samples: Samples, mixed: Array | None = None) -> None:
        """mixed: (F, n), where the pose is that of the joint itself rather than of the bone that shows it."""
        rows = [samples.bones.index(name) for name in body.shown]
        self.parents = body.parents
        self.rotations, self.positions = samples.rotations[:, rows], samples.positions[:, rows]
        if mixed is not None and mixed.any():
            rows = [samples.bones.index(name) for name in body.joints]
            self.rotations = np.where(mixed[..., None], samples.rotations[:, rows], self.rotations)
            self.positions = np.where(mixed[..., None], samples.positions[:, rows], self.positions)
        above = rotation.identity(len(samples.frames))
        if body.parent:
            above = samples.rotations[:, samples.bones.index(body.parent)]
        self.base = np.concatenate((np.zeros((len(above), 3)), above), axis=-1)
        parents = np.array(body.parents)
        first = parents < 0
        turns = np.where(first[:, None], above[:, None], self.rotations[:, parents])
        places = np.where(first[:, None], 0.0, self.positions[:, parents])
        self.local = rotation.multiply(rotation.inverse(turns), self.rotations)
        self.offsets = rotation.rotate(rotation.inverse(turns), self.positions - places)
        self.size = float(np.linalg.norm(self.offsets[:, ~first], axis=-1).sum(axis=-1).mean()) or 1.0
        after = np.zeros(self.offsets.shape)
        for joint, parent in reversed(list(enumerate(body.parents))):
            if parent >= 0:
                after[:, parent] = self.offsets[:, joint]
        self.posture = body.posture.as_bent(after, self.local, self.offsets)

    def solved(self, solution: ik.BodySolution) -> tuple[Array, Array]:
        """Orientations (F, n, 4) and positions (F, n, 3) of a solution in armature space."""
        turns, places = np.empty(self.rotations.shape), np.empty(self.positions.shape)
        for joint, parent in enumerate(self.parents):
            if parent < 0:
                above, origin, offset = self.base[:, 3:], 0.0, self.offsets[:, joint] + solution.displacement
            else:
                above, origin, offset = turns[:, parent], places[:, parent], self.offsets[:, joint]
            turns[:, joint] = rotation.multiply(above, solution.rotations[:, joint])
            places[:, joint] = origin + rotation.rotate(above, offset)
        return turns, places
