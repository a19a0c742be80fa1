"""A solved chain on bones that act through constraints: what is evaluated of it is solved again until it is right."""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from ...lookat_pd import rotation
from ...lookat_pd.progress import steps_in_thread
from ...lookat_pd.rotation import Array
from ..controls.changes import Changes
from ..controls.realize import Correction, Realization, Tolerance
from ..detection.joint_chain import JointChain
from . import chain_solve
from .chain_solve import IKTuning, Objectives, Turns
from .pose import Seen

_GOOD_ENOUGH = 10.0
"""Largest error of an evaluated result, as a factor of the tolerance of the solver."""
_MANY = 20
"""Frames from which on a solve takes longer than a slice of the work may."""


@dataclass(frozen=True)
class ShownChain:
    """A chain as it is evaluated over F frames."""

    seen: Seen
    objectives: Objectives
    chosen: Array
    """(F,), the frames at which the objectives apply."""


class ChainOnControls(Realization[Changes, ShownChain]):
    """Errors are fractions of the chain's length, and count from what limits and reach leave."""

    damped = True

    def __init__(self, chain: JointChain, tuning: IKTuning, *, dt: float = 0.0) -> None:
        """dt: seconds per frame, 0 for a single one."""
        # Frames are corrected one by one, whatever was smoothed over them.
        self.chain, self.tuning, self._dt = chain, replace(tuning, smoothness=0.0), dt
        self._correction: Turns | None = None

    def tolerance(self, corrections: int) -> Tolerance:
        return Tolerance(_GOOD_ENOUGH * self.tuning.tolerance, corrections)

    def changes(self, offsets: Array) -> Changes:
        """Offsets (F, b, 4) of the bones of the chain."""
        return Changes({name: offsets[:, n] for n, name in enumerate(self.chain.bones)})

    def compare(self, seen: ShownChain) -> Array:
        away = np.linalg.norm(seen.objectives.target - seen.seen.end, axis=-1)
        return np.where(seen.chosen, away / seen.seen.reachable_distance, 0.0)

    def prepare(self, seen: ShownChain) -> Generator[float, None, None]:
        self._correction = yield from solving_chosen(self.chain, seen, self.tuning, dt=self._dt)

    def excess(self, seen: ShownChain, error: Array) -> Array:
        assert self._correction is not None
        return error - self._correction.error / seen.seen.reachable_distance

    def correct(self, values: Changes, seen: ShownChain) -> Generator[float, None, Correction[Changes]]:
        assert self._correction is not None
        yield 1.0
        turns = np.stack([values.turns[name] for name in self.chain.bones], axis=1)
        return Correction(self.changes(rotation.multiply(turns, self._correction.offsets)))


def solving_chosen(
    chain: JointChain, shown: ShownChain, tuning: IKTuning, *, dt: float = 0.0
) -> Generator[float, None, Turns]:
    """Solve the chosen frames; the others do not change. Yields the completed fraction. Where there are many frames it
    works in a thread: it is numpy only, and one iteration of all of them cannot be divided."""
    steps = _solving_chosen(chain, shown, tuning, dt)
    return (yield from steps if len(shown.chosen) < _MANY else steps_in_thread(steps))


def _solving_chosen(chain: JointChain, shown: ShownChain, tuning: IKTuning, dt: float) -> Generator[float, None, Turns]:
    seen, objectives, chosen = shown.seen, shown.objectives, shown.chosen
    if chosen.all():
        return (yield from chain_solve.solving(chain, seen, objectives, tuning, dt=dt))
    offsets, error = rotation.identity(len(chosen), len(chain.bones)), np.zeros(len(chosen))
    iterations, rotations, missed = np.zeros(len(chosen), dtype=int), seen.local, np.zeros(len(chosen))
    if chosen.any():
        # Smoothing would treat frames as adjacent that are not.
        own = seen.take(chosen), objectives.take(chosen), replace(tuning, smoothness=0.0)
        solved = yield from chain_solve.solving(chain, *own)
        offsets[chosen], error[chosen], iterations[chosen] = solved.offsets, solved.error, solved.iterations
        rotations[chosen], missed[chosen] = solved.rotations, solved.missed
    return Turns(offsets, error, iterations, rotations, missed)
