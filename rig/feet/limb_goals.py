"""Limbs of an animation put where they are wanted: sample, write controls and bones, sample again, correct, write keys.

A generator, so that an operator can show progress and stop at any step: it yields the completed fraction. Either all is
written or nothing has changed.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import bpy
import numpy as np
from numpy.typing import NDArray

from ...lookat_pd.progress import subrange
from ...lookat_pd.rotation import Array
from ..animation import actions
from ..animation.bake_options import BakeOptions
from ..animation.bake_transaction import BakeTransaction
from ..controls.changes import AnimatedChannels, Changes, in_channels
from ..controls.realize import Correction, Realization, Tolerance, realize
from ..sampling import suspend
from ..sampling.sampler import Sampler, Samples, sample_frames

_TOLERANCE = Tolerance(1e-4, corrections=5)
"""Of the length of a limb."""


class LimbGoal(Protocol):
    """Where limbs are to be over F frames, and what moves them there."""

    size: Array
    """(l,) lengths of the limbs."""
    changing: NDArray[np.bool_]
    """(F,) when anything changes."""

    def pose(self) -> Changes:
        """The turns, and the displacements in armature space."""
        ...

    def missed(self, now: Samples) -> float:
        """The largest distance of the end of a limb from its goal, in lengths of the limb."""
        ...

    def correct(self, now: Samples) -> None:
        """Turn and move by what is missing."""
        ...

    def check(self, error: float) -> None:
        """Raise RigError if so much is missed at the end that the limbs do not go where they are brought."""
        ...


Goal = TypeVar("Goal", bound=LimbGoal)


@dataclass(frozen=True)
class Put(Generic[Goal]):
    """What was done."""

    action: bpy.types.Action
    goal: Goal
    first: Samples
    """The rig as it was."""
    best: Samples
    """The rig as it is."""


def put(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    sampled: Sequence[str],
    goal_of: Callable[[Samples], Goal],
    options: BakeOptions,
    *,
    called: str = "",
) -> Generator[float, None, Put[Goal]]:
    """Put limbs of what the armature plays on the goal that its samples give; yields the completed fraction.

    sampled: bones that have to be known. called: suffix of the name of a new action. Raises RigError.
    """
    with suspend.suspend_live():
        return (yield from _Work(scene, armature, sampled, goal_of, options, called).steps())


@dataclass
class _Work(Realization[Changes, Samples], Generic[Goal]):
    """A goal on the controls of a rig."""

    scene: bpy.types.Scene
    armature: bpy.types.Object
    sampled: Sequence[str]
    goal_of: Callable[[Samples], Goal]
    options: BakeOptions
    called: str

    def steps(self) -> Generator[float, None, Put[Goal]]:
        frames = np.arange(self.options.first, self.options.last + 1)
        armature, into = self.armature, self.options.into
        with ExitStack() as baking, Sampler(self.scene, armature, self.sampled, located=True) as self._sampler:
            self._first = self._best = first = yield from subrange(sample_frames(self._sampler, frames), 0.0, 0.4)
            self._goal: Any = self.goal_of(first)
            self._channels = AnimatedChannels(first, size=float(self._goal.size.max()))
            self._work = baking.enter_context(BakeTransaction(armature))
            if self._goal.changing.any():
                values = in_channels(first, self._goal.pose())
                done = yield from subrange(realize(self, values, _TOLERANCE), 0.4, 1.0)
                self._goal.check(float(done.error[0]))
            name = self.options.name or actions.baked_name(armature, into, self.called)
            action = self._work.commit(into, name, self.options.writer)
        return Put(action, self._goal, first, self._best)

    def write(self, values: Changes) -> None:
        changed = np.flatnonzero(self._goal.changing)
        part = slice(max(int(changed[0]) - 1, 0), min(int(changed[-1]) + 2, len(self._first.frames)))
        self._channels.write(self._work, values, part)

    def evaluate(self) -> Generator[float, None, Samples]:
        return (yield from sample_frames(self._sampler, self._first.frames))

    def compare(self, seen: Samples) -> Array:
        return np.array([self._goal.missed(seen)])

    def note(self, seen: Samples, better: NDArray[np.bool_]) -> None:
        self._best = seen if better.all() else self._best

    def correct(self, values: Changes, seen: Samples) -> Generator[float, None, Correction[Changes]]:
        yield 1.0
        self._goal.correct(seen)
        return Correction(in_channels(self._first, self._goal.pose()))
