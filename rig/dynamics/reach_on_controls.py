"""A solved reach on the rig. Where constraints act, which the body of the solver does not have, hands miss their goals:
the goals are displaced by that, and the reach is solved again, as long as it helps."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from ...lookat_pd import dynamics
from ...lookat_pd.errors import InvalidArgument
from ...lookat_pd.progress import subrange
from ...lookat_pd.rotation import Array
from ..animation.bake_transaction import BakeTransaction
from ..controls.realize import Correction, Realization, Tolerance, realize
from ..sampling.sampler import Sampler, Samples, run, sample_frames
from .articulation import Articulation
from .goal_limbs import GoalLimb
from .reach_solving import Collisions, ReachSolving

_NEAR = 1e-4
"""Distance [m] from a goal that counts as none."""
_CORRECTIONS, _RECENT, _HELPS = 9, 3, 0.5
"""How often a reach is solved again at most, and by which factor the error must shrink in so many attempts."""
_REMEMBERED = 3
"""How many attempts the next one is extrapolated from."""


@dataclass(frozen=True)
class ReachWriter:
    """Poses of a body on its way to keys, and what the rig makes of them."""

    work: BakeTransaction
    sampler: Sampler
    samples: Samples
    """Of the animation, at the frames that are keyed."""
    body: Articulation
    limbs: Sequence[GoalLimb]
    keyed: Array
    are_posed: bool
    """Whether the limbs take all of the pose, so that nothing else moves them."""

    def write(self, rotations: Array) -> None:
        """Put the body in these poses (K, n, 4)."""
        for bone, (mode, values, raw) in self.body.values(self.samples, rotations).items():
            self.work.write(bone, mode, self.keyed, values, raw)
        if self.limbs:
            wanted = self.body.in_armature(rotations, self.body.hangs_from(self.samples))
            moved = self.samples if self.are_posed else run(self.sampler.sample(self.keyed.tolist()))
            for limb in self.limbs:
                limb.write(self.work, self.samples, moved, self.body.bones, wanted, wholly=True)

    def sample(self, frames: Array) -> Generator[float, None, Samples]:
        """The rig at some frames."""
        return sample_frames(self.sampler, frames)


@dataclass(frozen=True)
class _Attempt:
    """A reach for displaced goals."""

    offsets: Array
    """(k, c, 3) [m] of the goals, in the frames in which the hands are checked."""
    motion: dynamics.Reach
    held: Array
    """(m, n, 4), the poses that are held after it."""


class ReachOnControls(Realization[_Attempt, Samples]):
    """What is seen of an attempt is the rig in the frames in which the hands should be at their goals."""

    def __init__(self, solving: ReachSolving, writer: ReachWriter) -> None:
        self._solving, self._writer = solving, writer
        self._frames = solving.samples.frames[solving.checked]
        self._tried: list[tuple[Array, Array]] = []
        self._errors: list[float] = []
        self._best: _Attempt | None = None

    def solve(self, *, plain: bool) -> Generator[float, None, tuple[dynamics.Reach, Array, Collisions]]:
        """The reach with paths (F, k, 3), the distances (k,) in the world of the hands from their goals on arrival, and
        what the arms touch. plain: whether no constraints act."""
        solving, writer = self._solving, self._writer
        begun = 0.8 if plain else 0.4
        found = yield from subrange(self._attempt(np.zeros((len(solving.hands), len(self._frames), 3))), 0.0, begun)
        if not plain:
            correcting = realize(self, found, Tolerance(_NEAR, _CORRECTIONS))
            found = (yield from subrange(correcting, begun, 0.8)).values
        rotations, back = yield from subrange(solving.afterwards(found.motion, found.held), 0.8, 1.0)
        writer.write(rotations)
        seen = yield from subrange(writer.sample(self._frames[:1]), 1.0, 1.0)
        world = seen.worlds[0, :3, :3]
        misses = np.array([np.linalg.norm(world @ hand.missed(seen)[0]) for hand in solving.hands])
        returns = solving.count + len(found.held) - 1
        return found.motion, misses, solving.collisions(found.motion, back, returns)

    def _attempt(self, offsets: Array) -> Generator[float, None, _Attempt]:
        return _Attempt(offsets, *(yield from self._solving.there(offsets)))

    def write(self, values: _Attempt) -> None:
        made = np.concatenate((values.motion.rotations, values.held))
        rest = np.repeat(made[-1:], len(self._solving.samples.frames) - len(made), axis=0)
        self._writer.write(np.concatenate((made, rest)))

    def evaluate(self) -> Generator[float, None, Samples]:
        return self._writer.sample(self._frames)

    def compare(self, seen: Samples) -> Array:
        return np.array([np.linalg.norm(self._solving.missed(seen), axis=-1).max()])

    def correct(self, values: _Attempt, seen: Samples) -> Generator[float, None, Correction[_Attempt]]:
        missed = self._solving.missed(seen)
        error = float(np.linalg.norm(missed, axis=-1).max())
        if self._best is None or error < min(self._errors):
            self._best = values
        self._errors.append(error)
        if _stalls(self._errors) or self._solving.enough():
            return Correction(self._best, trusted=True)
        self._tried = [*self._tried[-_REMEMBERED:], (values.offsets, -missed)]
        try:
            return Correction((yield from self._attempt(_extrapolated(self._tried))))
        except InvalidArgument:
            # The displaced goal may be out of reach.
            return Correction(self._best, trusted=True)


def _stalls(errors: Sequence[float]) -> bool:
    """Whether the last attempts did not help."""
    return len(errors) > _RECENT and min(errors[-_RECENT:]) > _HELPS * min(errors[:-_RECENT])


def _extrapolated(tried: Sequence[tuple[Array, Array]]) -> Array:
    """The next offsets (k, c, 3) from those tried, each with what is missing after it, the last try last.

    Source: Anderson, Iterative procedures for nonlinear integral equations, Journal of the ACM 12, 1965.
    """
    points, residuals = (np.stack([item[n].ravel() for item in tried]) for n in (0, 1))
    moved, changed = np.diff(points, axis=0).T, np.diff(residuals, axis=0).T
    shares = np.linalg.lstsq(changed, residuals[-1], rcond=1e-8)[0]
    found = points[-1] + residuals[-1] - (moved + changed) @ shares
    return found.reshape(tried[-1][0].shape)
