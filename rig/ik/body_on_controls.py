"""A solved pose of a body put on controls: its evaluated pose is corrected, and solved again, until it is as solved."""

from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

from ...lookat_pd import ik
from ...lookat_pd.errors import RigError
from ...lookat_pd.rotation import Array
from ..animation.bake_together import BakeTogether
from ..animation.bake_transaction import BakeTransaction
from ..controls.changes import Changes, ChannelWriter
from ..controls.realize import Correction, Realization, Tolerance, realize
from ..sampling import outside_samples
from ..sampling.sampler import Sampler, Samples
from .body_controls import BodyControls
from .body_errors import AS_SOLVED, Objectives, measured, score, settled
from .body_pose import BodyPose
from .body_work import NEARLY_NOTHING, BodyWork

_CORRECTIONS, _CORRECTIONS_OF_HEELS = 5, 15
"""How often a pose is corrected at most, and where there are heels: they turn as the paws move."""
_TURNED_ROUND = 0.01
"""How much worse than solved, as a score, a pose is at least whose mirrored constraints turn it round."""


class BodyOnControls(Realization[Changes, Samples]):
    """Errors are scores of `body_errors`, and count from what the solver leaves.

    errors: (F, objectives) of the best pose, nothing before one is evaluated. worse: (F,), by which it is worse than
    solved.
    """

    def __init__(
        self, work: BodyWork, controls: BodyControls, objectives: Objectives, pose: BodyPose, solved: ik.BodySolution
    ) -> None:
        """objectives: those that the solved pose meets."""
        self.work, self.controls, self.pose, self.solved = work, controls, pose, solved
        self.objectives, self.expected = objectives, solved.errors
        self.errors, self.worse = solved.errors, np.zeros(len(solved.errors))
        self._last: tuple[Samples, Array] | None = None

    def first(self, before: Changes, seen: Samples) -> Changes:
        """The changes to begin with. seen: the rig with those before."""
        return self.controls.realized(before, seen, *self.pose.solved(self.solved))

    def compare(self, seen: Samples) -> Array:
        return score(self.objectives, self._measured(seen), self.pose.size)

    def excess(self, seen: Samples, error: Array) -> Array:
        worse = np.maximum(self._measured(seen) - self.expected, 0.0)
        return score(self.objectives, worse, self.pose.size)

    def note(self, seen: Samples, better: NDArray[np.bool_]) -> None:
        self.errors = np.where(better[:, None], self._measured(seen), self.errors)
        self.worse = np.where(better, self.excess(seen, self.worse), self.worse)

    def correct(self, values: Changes, seen: Samples) -> Generator[float, None, Correction[Changes]]:
        yield 1.0
        return Correction(self.first(values, seen))

    def _measured(self, seen: Samples) -> Array:
        """(F, objectives), the errors of what was evaluated."""
        if self._last is None or self._last[0] is not seen:
            self._last = seen, measured(self.objectives, BodyPose(self.work.body, seen))
        return self._last[1]


class BakedBody(BodyOnControls):
    """A body keyed over the range. reported: (F, objectives), errors of the best pose as they are asked for."""

    def __init__(
        self,
        work: BodyWork,
        sampler: Sampler,
        samples: Samples,
        pose: BodyPose,
        objectives: Objectives,
        balance: ik.Balance | None,
        solved: ik.BodySolution,
    ) -> None:
        # Solved again from what the controls made of a pose, a weight below 1 would go further to its target.
        aims, soft = settled(objectives, work.body.parents, *pose.solved(solved), solved.behind)
        super().__init__(work, BodyControls(work.body, samples, work.ik, pose.size), aims, pose, solved)
        self.expected = np.where(soft, 0.0, solved.errors)
        self._sampler, self._samples, self._asked, self._balance = sampler, samples, objectives, balance
        self._writer: ChannelWriter | None = None
        self.reported = measured(objectives, BodyPose(work.body, samples))
        self._changing = np.ones(len(samples.frames), dtype=bool)
        if work.tuning.still:
            # All other frames stay as animated to the bit.
            self._changing = np.any(measured(objectives, pose) > NEARLY_NOTHING, axis=-1) | np.any(
                work.lowering != 0.0, axis=-1
            )

    def measure(self) -> Generator[float, None, None]:
        """Measure how the controls turn each other; nothing of it stays."""
        probe = BakeTransaction(self.work.body.armature)
        try:
            yield from self.controls.measure(
                lambda changes, frames: self.controls.write(probe, changes, slice(frames)), self._sampled
            )
        finally:
            probe.rollback()

    def steps(self, transaction: BakeTogether) -> Generator[float, None, list[str]]:
        """Key the controls; yields the completed fraction and returns the bones with keys. Raises RigError."""
        self._writer, first = transaction, self.first(Changes(), self._samples)
        if not self.controls.are_changed(first):
            return []
        corrections = _CORRECTIONS_OF_HEELS if self.work.body.has_heels else _CORRECTIONS
        yield from realize(self, first, Tolerance(AS_SOLVED, corrections))
        self._check_mirrored()
        return self.controls.written

    def first(self, before: Changes, seen: Samples) -> Changes:
        return super().first(before, seen).where(self._changing, Changes())

    def write(self, values: Changes) -> None:
        assert self._writer is not None
        self.controls.write(self._writer, values)

    def evaluate(self) -> Generator[float, None, Samples]:
        return self._sampled(len(self.work.frames))

    def note(self, seen: Samples, better: NDArray[np.bool_]) -> None:
        super().note(seen, better)
        now = measured(self._asked, BodyPose(self.work.body, seen))
        self.reported = np.where(better[:, None], now, self.reported)

    def correct(self, values: Changes, seen: Samples) -> Generator[float, None, Correction[Changes]]:
        self.pose = self.work.pose(seen)
        self.solved = yield from self.work.solve_all(self.pose, self.objectives, self._balance)
        self.expected = self.solved.errors
        return Correction(self.first(values, seen))

    def _check_mirrored(self) -> None:
        """Raise RigError if the constraints of a mirrored rig turn it round."""
        if np.any(np.linalg.det(self._samples.worlds[:, :3, :3]) < 0.0) and np.any(self.worse > _TURNED_ROUND):
            raise RigError(
                "'{armature}' is mirrored by a negative scale, with which Blender evaluates the constraints of its "
                "controls differently, so that several effectors cannot be solved together; make the scale positive, "
                "or bake one effector at a time.",
                armature=self.work.body.armature.name,
            )

    def _sampled(self, count: int) -> Generator[float, None, Samples]:
        return (yield from outside_samples.sample(self._sampler, self.work.frames[:count], self.work.outside))
