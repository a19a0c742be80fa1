"""A solved pose of a body put on controls, which is evaluated and corrected until it is as solved."""

from collections.abc import Generator

import numpy as np

from ...lookat_pd import ik
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation.bake_together import BakeTogether
from ..animation.bake_transaction import BakeTransaction
from ..sampling import outside_samples
from ..sampling.sampler import Sampler, Samples
from .body_controls import BodyControls
from .body_errors import AS_SOLVED, Objectives, measured, score, settled
from .body_pose import BodyPose, SolvedBody
from .body_work import NEARLY_NOTHING, BodyWork

_PASSES, _PASSES_OF_HEELS = 6, 16
"""How often a pose on controls is corrected at most, and where there are heels."""
_TURNED_ROUND = 0.01
"""How much worse than solved, as a score, a pose is at least whose mirrored constraints turn it round."""


class Verified:
    """A solved pose on controls, and what is evaluated of it."""

    def __init__(
        self,
        work: BodyWork,
        sampler: Sampler,
        samples: Samples,
        pose: BodyPose,
        objectives: Objectives,
        balance: ik.Balance | None,
        found: SolvedBody,
    ) -> None:
        self.work, self.sampler, self.objectives, self.balance = work, sampler, objectives, balance
        self.found, self.pose, self.samples = found, pose, samples
        self.controls = BodyControls(work.body, samples, work.ik)
        self.changing = np.ones(len(samples.frames), dtype=bool)
        if work.tuning.still:
            # All other frames stay as animated to the bit.
            self.changing = np.any(measured(objectives, pose) > NEARLY_NOTHING, axis=-1) | np.any(
                work.lowering != 0.0, axis=-1
            )

    def steps(self, transaction: BakeTogether) -> Generator[float, None, tuple[Array, Array, list[str]]]:
        """The errors (F, objectives) as measured, the distances (F,) from balance, and the bones with keys."""
        controls, pose, found, size = self.controls, self.pose, self.found, self.pose.size
        # Solved again from what the controls made of a pose, a weight below 1 would go further to its target.
        aims, soft = settled(self.objectives, self.work.body.parents, *pose.solved(found))
        expected = np.where(soft, 0.0, found.errors)
        moves = best = controls.none
        seen, written = self.samples, []
        errors, unbalanced = measured(self.objectives, BodyPose(self.work.body, seen)), found.unbalanced
        least, nearest = np.full(len(errors), np.inf), errors
        passes = _PASSES_OF_HEELS if self.work.body.has_heels else _PASSES
        for turn in range(passes):
            moves = controls.realize(moves, seen, *pose.solved(found)).where(self.changing, controls.none)
            written = controls.write(transaction, moves, size)
            if not written:
                return errors, unbalanced, written
            seen = yield from self._sampled(0.5 + 0.4 * turn / passes)
            pose = self.work.pose(seen)
            there = BodyPose(self.work.body, seen)
            now = measured(aims, there)
            total = score(aims, now, self.pose.size)
            better = total < least
            best, least = moves.where(better, best), np.where(better, total, least)
            nearest = np.where(better[:, None], now, nearest)
            errors = np.where(better[:, None], measured(self.objectives, there), errors)
            worse = np.maximum(nearest - expected, 0.0)
            if np.all(score(aims, worse, self.pose.size) < AS_SOLVED) or turn == passes - 1:
                break
            found = yield from self.work.solve_all(pose, aims, self.balance, 0.3)
            expected, unbalanced = found.errors, found.unbalanced
        self._check_mirrored(score(aims, worse, size))
        written = controls.write(transaction, best, size)
        return errors, unbalanced, written

    def _check_mirrored(self, missed: Array) -> None:
        """Raise RigError if the constraints of a mirrored rig turn it round. missed: (F,), the score by which its pose
        is worse than solved."""
        if np.any(np.linalg.det(self.samples.worlds[:, :3, :3]) < 0.0) and np.any(missed > _TURNED_ROUND):
            raise RigError(
                "'{armature}' is mirrored by a negative scale, with which Blender evaluates the constraints of its "
                "controls differently, so that several effectors cannot be solved together; make the scale positive, "
                "or bake one effector at a time.",
                armature=self.work.body.armature.name,
            )

    def measure(self) -> Generator[float, None, None]:
        """Measure how the controls turn each other; nothing of it stays."""
        for joints, moves in self.controls.probes():
            with BakeTransaction(self.work.body.armature) as probe:
                self.controls.write(probe, moves, self.pose.size)
                seen = yield from self._sampled(0.4)
                probe.rollback()
            self.controls.learn(joints, moves, seen)
        self.controls.forget()

    def _sampled(self, share: float) -> Generator[float, None, Samples]:
        frames = self.work.frames.tolist()
        return (yield from outside_samples.sample(self.sampler, frames, self.work.outside, lambda *_: share))
