"""From a wanted pose to the rig: write it to controls, evaluate the rig, compare it with what is wanted, and correct.

Constraints and drivers lead from controls to bones, so only the evaluated rig shows what the controls have done. What a
feature wants, what it writes to and how it corrects an error is a `Realization`; everything else about these passes is
decided here, once for all features.
"""

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...lookat_pd.progress import subrange
from ...lookat_pd.rotation import Array

Values = TypeVar("Values", bound=Any)
"""Values of controls. With errors by frame they have `where(chosen, other)` and, if damped, `halfway(other)`, as
`Changes` has them."""
Seen = TypeVar("Seen")
"""What an evaluation shows."""

CORRECTIONS = 7
"""How often a pose is corrected at most."""

_EVALUATING = 0.8
"""Share of a pass in which the rig is evaluated; the rest is solving."""


@dataclass(frozen=True)
class Tolerance:
    """When the passes end."""

    error: float
    """Largest error that is not corrected, in the unit of the comparison."""
    corrections: int = CORRECTIONS
    """Largest number of corrections. A drag makes do with fewer than a bake."""
    gain: float = np.inf
    """Part of the error before that a pass must fall below to be followed by another one."""


@dataclass(frozen=True)
class Correction(Generic[Values]):
    """Values that should be nearer."""

    values: Values
    trusted: bool = False
    """Whether they are right without being evaluated. This ends the passes."""


@dataclass(frozen=True)
class Realized(Generic[Values, Seen]):
    """What was written, and how near it is."""

    values: Values
    """The best, which the rig has now."""
    seen: Seen
    """The last evaluation."""
    error: Array
    """(F,) or (1,), the errors of the best values that were evaluated."""
    reached: NDArray[np.bool_]
    """The same frames, whether the error is within the tolerance."""
    evaluations: int


class Realization(ABC, Generic[Values, Seen]):
    """How one feature puts a pose on controls. Frames that do not depend on each other are compared one by one."""

    damped = False
    """Whether a frame that has become worse gets half of the last correction, instead of one from where it is now."""

    @abstractmethod
    def write(self, values: Values) -> None:
        """Put values on the controls, in place of those before."""

    @abstractmethod
    def evaluate(self) -> Generator[float, None, Seen]:
        """Evaluate the rig; yields the completed fraction."""

    @abstractmethod
    def compare(self, seen: Seen) -> Array:
        """The error of each frame (F,), or (1,) for all frames together."""

    def prepare(self, seen: Seen) -> Generator[float, None, None]:
        """Find out what `excess` and `correct` need; yields the completed fraction. Not asked after the last
        evaluation."""
        yield from ()

    def excess(self, seen: Seen, error: Array) -> Array:
        """The part of the error that a correction could remove, (F,) or (1,): the tolerance applies to it. Limits and
        reach may leave a rest. Not asked after the last evaluation."""
        return error

    def note(self, seen: Seen, better: NDArray[np.bool_]) -> None:
        """Keep what is to be reported of the frames (F,) or (1,) that are the best so far."""

    @abstractmethod
    def correct(self, values: Values, seen: Seen) -> Generator[float, None, Correction[Values]]:
        """Values with which the rig should be nearer than with these; yields the completed fraction."""


def realize(
    realization: Realization[Values, Seen], values: Values, tolerance: Tolerance
) -> Generator[float, None, Realized[Values, Seen]]:
    """Write values and correct them until the rig is as wanted; yields the completed fraction.

    Of all passes the best values of each frame stay. What is written is rolled back by its writer: a bake transaction,
    or the pose of a drag.
    """
    best, least, excess = values, np.array([np.inf]), np.array([np.inf])
    evaluations, begin = 0, 0.0
    while True:
        # As a rule few passes are enough: each counts for half of what is left.
        end = 0.5 * (begin + 1.0)
        evaluated = begin + _EVALUATING * (end - begin)
        realization.write(values)
        seen = yield from subrange(realization.evaluate(), begin, evaluated)
        evaluations += 1
        error, before = realization.compare(seen), float(least.max())
        better = error < least
        realization.note(seen, better)
        best, least = _where(better, values, best), np.where(better, error, least)
        is_last = evaluations > tolerance.corrections
        if not is_last:
            yield from subrange(realization.prepare(seen), evaluated, evaluated)
        excess = np.where(better, error if is_last else realization.excess(seen, error), excess)
        if is_last or np.all(excess <= tolerance.error) or least.max() > tolerance.gain * before:
            break
        correction = yield from subrange(realization.correct(values, seen), evaluated, end)
        if correction.trusted:
            best = correction.values
            break
        corrected = correction.values
        if realization.damped and not better.all():
            corrected = _where(better, corrected, best.halfway(values))
        values, begin = corrected, end
    if best is not values:
        realization.write(best)
    return Realized(best, seen, least, excess <= tolerance.error, evaluations)


def _where(chosen: NDArray[np.bool_], values: Values, other: Values) -> Values:
    if chosen.all():
        return values
    return values.where(chosen, other) if chosen.any() else other
