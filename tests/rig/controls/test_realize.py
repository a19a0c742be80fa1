"""From a wanted pose to controls: what the passes promise, on controls that respond as they like."""

from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np
import pytest

from extension import load

realizing = load("rig.controls.realize")
Tolerance, Correction, Realization = realizing.Tolerance, realizing.Correction, realizing.Realization
drain = load("lookat_pd.progress").drain

Array = np.ndarray


@dataclass(frozen=True)
class Amounts:
    """Of one control at each frame."""

    of: Array

    def where(self, chosen: Array, other: "Amounts") -> "Amounts":
        return Amounts(np.where(chosen, self.of, other.of))

    def halfway(self, other: "Amounts") -> "Amounts":
        return Amounts(0.5 * (self.of + other.of))


class Rig(Realization):
    """Shows a function of the amounts; corrections expect that it shows them as they are."""

    def __init__(self, wanted: Array, shows: Callable[[Array], Array], *, damped: bool = False) -> None:
        self.wanted, self.shows, self.damped = wanted, shows, damped
        self.written: list[Array] = []
        self.trusts, self.noted = False, np.zeros(len(wanted))

    def write(self, values: Amounts) -> None:
        self.written.append(values.of)

    def evaluate(self) -> Generator[float, None, Array]:
        yield 0.5
        yield 1.0
        return self.shows(self.written[-1])

    def compare(self, seen: Array) -> Array:
        return np.abs(self.wanted - seen)

    def note(self, seen: Array, better: Array) -> None:
        self.noted = np.where(better, seen, self.noted)

    def correct(self, values: Amounts, seen: Array) -> Generator[float, None, Correction]:
        yield 1.0
        return Correction(Amounts(values.of + self.wanted - seen), self.trusts)


WANTED = np.array([0.0, 1.0, -2.0, 0.5])


LONG = Tolerance(1e-9, corrections=60)


def run(rig: Rig, tolerance: Tolerance = LONG):
    return drain(realizing.realize(rig, Amounts(np.zeros(len(rig.wanted))), tolerance))


def test_corrects_until_all_frames_are_within_the_tolerance() -> None:
    rig = Rig(WANTED, lambda amounts: 0.7 * amounts)
    found = run(rig)
    assert np.allclose(found.values.of, WANTED / 0.7, atol=1e-8)
    assert found.reached.all() and found.error.max() <= 1e-9
    assert np.array_equal(rig.written[-1], found.values.of)
    # Nothing is evaluated that is as wanted already.
    assert run(Rig(np.zeros(3), lambda amounts: amounts)).evaluations == 1


@pytest.mark.parametrize("corrections", [0, 1, 5])
def test_the_number_of_corrections_is_bounded(corrections: int) -> None:
    found = run(Rig(WANTED, lambda amounts: 0.1 * amounts), Tolerance(0.0, corrections))
    assert found.evaluations == corrections + 1
    assert found.reached.tolist() == [True, False, False, False]


def test_of_all_passes_the_best_of_each_frame_stays() -> None:
    """Whatever the corrections do, the rig has the values with the least error in the end."""
    rig = Rig(WANTED, lambda amounts: 2.6 * amounts)
    found = run(rig, Tolerance(1e-9, corrections=4))
    tried = np.abs(WANTED - 2.6 * np.array(rig.written))
    assert np.array_equal(found.error, tried.min(axis=0))
    assert np.array_equal(rig.written[-1], found.values.of)
    assert np.array_equal(rig.noted, 2.6 * found.values.of)


def test_smaller_steps_reach_what_whole_ones_overshoot() -> None:
    assert not run(Rig(WANTED, lambda amounts: 2.6 * amounts)).reached.all()
    assert run(Rig(WANTED, lambda amounts: 2.6 * amounts, damped=True)).reached.all()


def test_a_trusted_correction_is_written_and_not_evaluated() -> None:
    rig = Rig(WANTED, lambda amounts: amounts)
    rig.trusts = True
    found = run(rig)
    assert found.evaluations == 1 and np.array_equal(rig.written[-1], WANTED)


def test_passes_end_where_they_gain_too_little() -> None:
    assert run(Rig(WANTED, lambda amounts: 0.1 * amounts), Tolerance(1e-9, 60, gain=0.8)).evaluations == 2
    assert run(Rig(WANTED, lambda amounts: 0.5 * amounts), Tolerance(1e-9, 60, gain=0.8)).reached.all()


def test_the_tolerance_applies_to_what_a_correction_could_remove() -> None:
    class Short(Rig):
        def excess(self, seen: Array, error: Array) -> Array:
            return np.maximum(error - 0.4, 0.0)

    found = run(Short(WANTED, lambda amounts: np.clip(amounts, -1.6, 0.6)), Tolerance(1e-6))
    assert found.reached.all() and np.allclose(found.error, [0.0, 0.4, 0.4, 0.0])


def test_frames_that_depend_on_each_other_are_compared_together() -> None:
    class Whole(Rig):
        def compare(self, seen: Array) -> Array:
            return np.abs(self.wanted - seen).max(keepdims=True)

    rig = Whole(WANTED, lambda amounts: 2.6 * amounts)
    found = run(rig, Tolerance(1e-9, corrections=3))
    assert any(np.array_equal(found.values.of, written) for written in rig.written[:-1])
    assert found.error == pytest.approx(np.abs(WANTED - 2.6 * found.values.of).max())


def test_the_completed_fraction_grows_to_one() -> None:
    steps = realizing.realize(
        Rig(WANTED, lambda amounts: 0.5 * amounts), Amounts(np.zeros(4)), Tolerance(0.0, corrections=3)
    )
    fractions = list(steps)
    assert np.all(np.diff(fractions) >= 0.0) and fractions[0] > 0.0 and fractions[-1] <= 1.0


def test_what_was_begun_ends_with_it() -> None:
    """Esc closes the generator: an evaluation that is under way is closed before the writer rolls back."""
    ended = []

    class Open(Rig):
        def evaluate(self) -> Generator[float, None, Array]:
            try:
                yield 0.5
            finally:
                ended.append(True)
            return self.written[-1]

    steps = realizing.realize(Open(WANTED, lambda amounts: amounts), Amounts(np.zeros(4)), Tolerance(0.0))
    next(steps)
    steps.close()
    assert ended == [True]
