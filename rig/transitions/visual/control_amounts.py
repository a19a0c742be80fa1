"""Amounts of controls with which the visual pose is as wanted, on rigs of which only the visual pose is known.

Each frame is a least-squares problem of its own (`lookat_pd/transitions/control_fit`). What each amount changes is
measured, and controls of second choice take part only in what the others cannot do.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....lookat_pd import rotation
from ....lookat_pd.errors import RigError
from ....lookat_pd.progress import subrange
from ....lookat_pd.rotation import Array
from ....lookat_pd.transitions import pose_tree
from ....lookat_pd.transitions.control_fit import ControlFit
from ...animation.bake_transaction import BakeTransaction
from ...controls import coupling
from ...controls.changes import AnimatedChannels, Changes
from ...controls.realize import Correction, Realization, Tolerance, realize
from .. import pops
from .evaluated_pose import EvaluatedPoses, PoseReader

_PROBE = 0.02
"""Amount of a control by which its effect is measured: radians, or of `_UNIT`."""
_UNIT = 0.1
"""The distance that counts as much as a radian, as a part of the size of the skeleton."""
_RESPONDS = 0.01
"""Least effect of an amount, as a part of what it would do to the bone itself."""
_LONGEST = 0.4
_ENOUGH = 5e-5
"""Largest number of the pose that may be missing: radians, or of `_UNIT`."""
_WORST = 5e-4
"""The same, from which on the controls cannot make the pose."""
_LEAST = 5e-6
"""Change of a channel that is not worth a key."""
_IDLE = 5e-5, 2e-5
"""The same where it is measured that no more is missing without them. New keys divide the curve that they are in, whose
values then change in their last digit, and some rigs answer to this with a hundred times as much."""
_NUMBERS = 6
"""Of each bone: three of its rotation, three of its location."""
_PASSES, _FEWEST, _STALLED = 40, 8, 0.7
"""With the same controls: the largest number of passes, the smallest, and the part of the squared error before half as
many passes from which on more controls are needed."""


@dataclass(frozen=True)
class Candidate:
    """A bone that may be keyed."""

    bone: str
    turns: NDArray[np.bool_]
    """(3,) the axes about which it may turn."""
    moves: NDArray[np.bool_]
    """(3,) the axes along which it may move."""
    weight: float
    """Preference: 1 or, of second choice, less."""


class _Amount(NamedTuple):
    """One number of a candidate: a rotation about an axis of the bone [rad], or a displacement along it [units]."""

    candidate: Candidate
    turns: bool
    axis: int


def _amounts(candidates: Sequence[Candidate]) -> Iterator[_Amount]:
    for item in candidates:
        for turns, free in ((True, item.turns), (False, item.moves)):
            for axis in np.flatnonzero(free).tolist():
                yield _Amount(item, turns, axis)


@dataclass(frozen=True)
class _Seen:
    """Rotations (F, B, 4) and displacements (F, B, 3) of bones from their anchors, in the frames of these."""

    turns: Array
    moves: Array

    @classmethod
    def of(cls, poses: EvaluatedPoses) -> "_Seen":
        # A length without the scale of the anchor: controls may stretch a bone otherwise than the transition does.
        places, turns, _ = pose_tree.parts(poses.matrices)
        above, has = np.maximum(poses.anchors, 0), (poses.anchors >= 0)[:, None]
        frames = np.where(has, rotation.inverse(turns[:, above]), rotation.IDENTITY)
        away = places - np.where(has, places[:, above], 0.0)
        return cls(rotation.multiply(frames, turns), rotation.rotate(frames, away))

    def missing(self, wanted: "_Seen", unit: float) -> Array:
        """(F, m) what leads to wanted poses: rotations, and displacements in units."""
        turns = rotation.log(rotation.multiply(rotation.inverse(self.turns), wanted.turns))
        rows = np.concatenate((turns, (wanted.moves - self.moves) / unit), axis=-1)
        return rows.reshape(len(rows), -1)


class ControlAmounts(Realization[Changes, Array]):
    """Candidates over F frames that give the rig a pose. What is seen of it is what is missing (F, m)."""

    def __init__(self, reader: PoseReader, wanted: EvaluatedPoses, candidates: Sequence[Candidate]) -> None:
        self._reader, self._wanted, self._bones = reader, _Seen.of(wanted), wanted.bones
        self._armature, self._frames = wanted.armature, wanted.frames
        self._unit = _UNIT * pops.skeleton_size(wanted.armature)
        self._animated = reader.channels([item.bone for item in candidates], wanted.frames)
        self._channels = AnimatedChannels(self._animated, size=self._unit)
        first = [item for item in candidates if item.weight >= 1.0]
        self._stages = [(first, True), (candidates, True), (candidates, False)]
        """The candidates that take part next, and whether alone those that move no bone but what must move."""
        self._values = self._best = Changes()
        self._fit: ControlFit | None = None
        self._history: list[float] = []
        """The squared error of all frames after each pass with the same controls, that before them first."""

    def solve(self) -> Generator[float, None, float]:
        """Find the amounts; yields the completed fraction and returns what is missing at most. Raises RigError."""
        with BakeTransaction(self._armature) as self._work:
            try:
                most = len(self._stages) * (_PASSES + 1)
                yield from subrange(realize(self, self._best, Tolerance(_ENOUGH, most)), 0.0, 0.9)
                error = float(np.abs(self._missing).max())
                idle = _WithoutIdle(self, self._best, self._unit)
                released = realize(idle, idle.without(), Tolerance(max(error, _ENOUGH), len(_IDLE)))
                done = yield from subrange(released, 0.9, 1.0)
            finally:
                self._work.rollback()
        if done.reached.all():
            error = float(done.error.max())
        self._best = done.values
        if error > _WORST:
            # Where something is missing, the bone that jumps most: others have been moved to make up for it.
            left = _of_bones(self._missing) > _WORST
            worst = self._bones[int(np.argmax(np.where(left, _of_bones(self._jump), 0.0)))]
            text = "No controls that can be keyed pose '{bone}' as the transition does; leave it in constraints."
            raise RigError(text, bone=worst)
        return error

    def key(self, work: BakeTransaction) -> tuple[str, ...]:
        """Key the controls that move or turn; returns their names."""
        changes = _without(self._best, _LEAST, self._unit)
        return tuple(AnimatedChannels(self._animated, size=self._unit).write(work, changes))

    def write(self, values: Changes) -> None:
        self._values = values
        self._channels.write(self._work, values)

    def evaluate(self) -> Generator[float, None, Array]:
        yield 1.0
        return self._seen().missing(self._wanted, self._unit)

    def compare(self, seen: Array) -> Array:
        return np.linalg.norm(seen, axis=-1)

    def excess(self, seen: Array, error: Array) -> Array:
        return np.abs(seen).max(axis=-1)

    def note(self, seen: Array, better: NDArray[np.bool_]) -> None:
        if not self._history:
            self._jump = self._missing = seen
        if self._fit is not None:
            self._fit.learn(self._step, (self._missing - seen)[:, self._used])
            self._fit.judge(better)
        self._best = self._values.where(better, self._best)
        self._missing = np.where(better[:, None], seen, self._missing)
        self._history.append(float(np.sum(self._missing**2)))

    def correct(self, values: Changes, seen: Array) -> Generator[float, None, Correction[Changes]]:
        yield 0.0
        if self._fit is None or self._is_stalled:
            if not self._stages:
                return Correction(self._best, trusted=True)
            yield from self._take_part(*self._stages.pop(0))
        if self._fit is None:
            return Correction(self._best)
        self._step = self._fit.step(self._missing[:, self._used])
        return Correction(self._changed(self._amounts, self._step))

    @property
    def _is_stalled(self) -> bool:
        passes = len(self._history) - 1
        slow = passes > _FEWEST and self._history[-1] > _STALLED * self._history[-1 - _FEWEST // 2]
        return slow or passes >= _PASSES

    def _take_part(self, candidates: Sequence[Candidate], alone: bool) -> Generator[float, None, None]:
        """Go on with the amounts of these candidates that have an effect; yields the completed fraction.

        They are the more welcome, the fewer bones they move from which nothing is missing. alone: only those that move
        none of these, relative to the bone above.
        """
        amounts = list(_amounts(candidates))
        self.write(self._best)
        base, count = self._seen(), len(self._frames)

        def show(part: Sequence[_Amount]) -> None:
            self._channels.write(self._work, self._changed(part, _PROBE * np.eye(count, len(part))))

        def evaluate(_: int) -> Generator[float, None, Array]:
            yield 1.0
            return base.missing(self._seen(), self._unit)

        shown = yield from coupling.probing(amounts, count, show, evaluate)
        every = np.array([seen[frame] for _, frame, seen in shown]).reshape(-1, self._missing.shape[1]) / _PROBE
        moved = np.abs(every).reshape(len(every), -1, _NUMBERS).max(axis=-1) > _RESPONDS
        others = moved[:, _of_bones(self._missing) < _ENOUGH].sum(axis=1)
        acts = moved.any(axis=1) & ~(alone & (others > 0))
        weights = np.array([amount.candidate.weight for amount in amounts]) / (1.0 + others)
        self._amounts = [amount for amount, has in zip(amounts, acts, strict=True) if has]
        self._used = np.abs(every[acts]).max(axis=0, initial=0.0) > 0.1 * _RESPONDS
        self._history = self._history[-1:]
        self._fit = None
        if self._amounts:
            self._fit = ControlFit(every[acts][:, self._used].T, weights[acts], _LONGEST, count)

    def _changed(self, amounts: Sequence[_Amount], steps: Array) -> Changes:
        """The best changes with steps (F, n) of amounts added."""
        added: dict[tuple[str, bool], Array] = {}
        for n, (candidate, turns, axis) in enumerate(amounts):
            added.setdefault((candidate.bone, turns), np.zeros((len(steps), 3)))[:, axis] = steps[:, n]
        changes = Changes(dict(self._best.turns), dict(self._best.moves))
        for (bone, turns), step in added.items():
            if turns:
                changes.turns[bone] = rotation.multiply(self._best.turn(bone, len(step)), rotation.exp(step))
            else:
                changes.moves[bone] = self._best.move(bone, len(step)) + self._unit * step
        return changes

    def _seen(self) -> _Seen:
        return _Seen.of(self._reader.read(self._frames.tolist()))


class _WithoutIdle(Realization[Changes, Array]):
    """Leaves channels that hardly change as they were, unless they are needed."""

    def __init__(self, amounts: ControlAmounts, found: Changes, unit: float) -> None:
        self._amounts, self._found, self._unit = amounts, found, unit
        self._least = list(_IDLE)

    def without(self) -> Changes:
        """The next changes to try."""
        return _without(self._found, self._least.pop(0), self._unit)

    def write(self, values: Changes) -> None:
        self._amounts.write(values)

    def evaluate(self) -> Generator[float, None, Array]:
        return self._amounts.evaluate()

    def compare(self, seen: Array) -> Array:
        return np.array([np.abs(seen).max()])

    def correct(self, values: Changes, seen: Array) -> Generator[float, None, Correction[Changes]]:
        yield 1.0
        return Correction(self.without()) if self._least else Correction(self._found, trusted=True)


def _without(changes: Changes, least: float, unit: float) -> Changes:
    """Changes without the channels that change by less at all frames."""
    return Changes(
        {bone: turn for bone, turn in changes.turns.items() if rotation.angle(turn).max() >= least},
        {bone: move for bone, move in changes.moves.items() if np.abs(move).max() >= least * unit},
    )


def _of_bones(missing: Array) -> Array:
    """What is missing at most of each bone (B,), of what is missing (F, m)."""
    return np.abs(missing).max(axis=0).reshape(-1, _NUMBERS).max(axis=-1)
