"""Laws of the time left: what is told is within 1.3 times of what it takes, or nothing is told."""

from itertools import accumulate

import numpy as np
import pytest

from extension import load

TimeLeft = load("rig.layers.time_left").TimeLeft

WITHIN = 1.3


def worked(left, steps, kind: int = 1, begin: float = 100.0) -> list[tuple[float, float]]:
    """Do work whose steps are a fraction done and the seconds that it took each; after each the share of the time
    that has gone by, and the time left as a multiple of what it was."""
    times = list(accumulate((seconds for _, seconds in steps), initial=begin))
    left.begin(kind)
    left.note(0.0, begin)
    found = []
    for (fraction, _), now in zip(steps, times[1:], strict=True):
        left.note(fraction, now)
        if now < times[-1]:
            found.append(((now - begin) / (times[-1] - begin), left.remaining(now) / (times[-1] - now)))
    left.finish(times[-1])
    return found


def even(count: int, seconds: float, begin: float = 0.0, end: float = 1.0) -> list[tuple[float, float]]:
    return [(begin + (end - begin) * (k + 1) / count, seconds) for k in range(count)]


def told(found, begin: float = 0.0, end: float = 1.0) -> list[float]:
    """The times left that are told between two shares of the time."""
    return [ratio for share, ratio in found if begin <= share <= end and np.isfinite(ratio)]


def off(found, begin: float = 0.0, end: float = 1.0) -> float:
    """The largest factor by which one of these is wrong."""
    return max((max(ratio, 1.0 / ratio) if ratio else np.inf for ratio in told(found, begin, end)), default=1.0)


def test_unknown_before_anything_is_done() -> None:
    left = TimeLeft()
    assert np.isnan(left.remaining(3.0))
    left.begin(1)
    left.note(0.25, 3.0)
    assert np.isnan(left.remaining(4.0))


def test_the_first_steps_say_nothing() -> None:
    """They may take seconds for a thousandth of the work, and no panel should promise two hours for that."""
    left = TimeLeft()
    left.begin(1)
    left.note(0.0, 3.0)
    left.note(0.001, 8.0)
    assert np.isnan(left.remaining(8.0))


def test_the_first_work_of_an_uneven_kind_is_unknown() -> None:
    left = TimeLeft()
    for kind, known in ((1, False), (2, False), (1, True)):
        left.begin(kind, even=False)
        left.note(0.0, 3.0)
        left.note(0.5, 4.0)
        assert np.isfinite(left.remaining(4.0)) == known
        left.finish(5.0)


@pytest.mark.parametrize("seconds", [0.001, 2.0])
def test_work_at_a_constant_rate(seconds) -> None:
    assert off(worked(TimeLeft(), even(40, seconds))) < 1.0 + 1e-6


def test_what_was_known_before_took_no_time() -> None:
    left = TimeLeft()
    left.begin(1)
    for k, fraction in enumerate((0.6, 0.7, 0.8)):
        left.note(fraction, 10.0 + k)
    assert left.remaining(12.0) == pytest.approx(2.0)


@pytest.mark.parametrize("second", [0.02, 0.5, 20.0])
@pytest.mark.parametrize("pace", [0.3, 1.0, 4.0])
def test_two_phases_that_go_at_rates_of_their_own(second, pace) -> None:
    """As they went the last time, on a machine that is busy or not."""
    left = TimeLeft()
    worked(left, even(30, 0.5, 0.0, 0.6) + even(30, second, 0.6, 1.0))
    assert off(worked(left, even(30, pace * 0.5, 0.0, 0.6) + even(30, pace * second, 0.6, 1.0))) < WITHIN


def test_work_that_is_done_sooner_than_it_might_have_been() -> None:
    """A verification that needs one pass of three."""
    left, steps = TimeLeft(), even(30, 0.1, 0.0, 0.4)
    assert off(worked(left, steps)) > WITHIN
    assert off(worked(left, steps)) < WITHIN


@pytest.mark.parametrize("pace", [0.8, 1.0, 1.2])
def test_work_that_stands_at_a_fraction_for_a_while(pace) -> None:
    """As the coupling of controls is measured, of which nobody knows how far it is; the window is drawn meanwhile."""
    left = TimeLeft()
    for now in (1.0, pace):
        parts = even(10, 0.1, 0.0, 0.3), [(0.3, 0.2)] * 20, even(10, 0.1, 0.3, 1.0)
        found = worked(left, [(fraction, now * seconds) for part in parts for fraction, seconds in part])
    assert off(found) < WITHIN and told(found)


def test_one_more_round_than_the_last_time() -> None:
    """Nobody knows before it begins that another one follows, nor how long that takes."""
    left, once = TimeLeft(), even(30, 0.1, 0.0, 0.5)
    for _ in range(2):
        worked(left, once)
    more = once + even(15, 0.1, 0.5, 0.75)
    assert off(worked(left, more), begin=0.7) < WITHIN
    assert told(worked(left, more), end=0.7)


def test_a_machine_that_becomes_busy() -> None:
    """What is told before that is wrong, and then nothing is told that says more of before than of now."""
    for pace in (0.3, 3.0):
        left = TimeLeft()
        worked(left, even(100, 0.1))
        found = worked(left, even(50, 0.1, 0.0, 0.5) + even(50, 0.1 * pace, 0.5, 1.0))
        assert off(found, begin=1.0 / (1.0 + pace) + 0.03) < WITHIN


def test_steps_of_which_some_take_longer() -> None:
    numbers = np.random.default_rng(4)
    for pace in (0.5, 1.0, 2.0):
        left = TimeLeft()
        for now in (1.0, pace):
            steps = [(fraction, now * numbers.uniform(0.075, 0.125)) for fraction, _ in even(120, 1.0)]
            found = worked(left, steps)
        assert off(found, end=0.95) < WITHIN and len(told(found)) > 60


@pytest.mark.parametrize("pace", [0.7, 1.0, 2.0])
def test_what_is_solved_is_seen_after_a_turn_of_the_window(pace) -> None:
    """That turn belongs to the time left. Turns are drawn after every fifth step, and twice as long after one of them,
    at the same fraction in each work."""
    numbers, left = np.random.default_rng(5), TimeLeft()
    for now in (1.0, 1.0, pace):
        begin, found = 10.0, []
        left.begin(1)
        left.note(0.0, begin)
        for n, (fraction, _) in enumerate(even(60, 1.0)):
            begin += now * numbers.uniform(0.04, 0.06)
            left.note(fraction, begin)
            if n % 5 == 4 and n < 59:
                begin += now * (1.6 if n == 24 else 0.2)
                found.append((begin, left.remaining(begin)))
        left.finish(begin)
        begin += now
        left.seen(begin)
    ratios = [seconds / (begin - at) for at, seconds in found if np.isfinite(seconds)]
    assert len(ratios) > 2 and max(max(ratios), 1.0 / min(ratios)) < WITHIN


def test_a_machine_whose_pace_wanders_says_little_of_what_comes() -> None:
    """Of random works beside others that come and go: what is told is right within 1.3 times, as a rule."""
    numbers, found = np.random.default_rng(6), []
    for _ in range(30):
        left = TimeLeft()
        for n in range(3):
            pace = np.exp(np.cumsum(numbers.normal(0.0, 0.02, 100)) + numbers.normal(0.0, 0.3))
            seen = worked(left, [(0.01 * (k + 1), 0.1 * now) for k, now in enumerate(pace)])
            found += told(seen, end=0.9) if n else []
    wrong = np.mean([not 1.0 / WITHIN < ratio < WITHIN for ratio in found])
    assert len(found) > 500 and wrong < 0.08


def test_work_of_another_kind_goes_its_own_way() -> None:
    left = TimeLeft()
    worked(left, even(30, 0.5, 0.0, 0.1) + even(30, 0.01, 0.1, 1.0), kind=2)
    assert off(worked(left, even(40, 1.0), kind=3)) < 1.0 + 1e-6


def test_a_work_that_was_slowed_down_in_one_part_says_little_of_the_next() -> None:
    """The machine was busy beside a part of the last one: half of what that says of the parts is forgotten."""
    left, usual = TimeLeft(), even(30, 0.5, 0.0, 0.5) + even(30, 0.5, 0.5, 1.0)
    worked(left, usual)
    worked(left, even(30, 0.5, 0.0, 0.5) + even(30, 1.0, 0.5, 1.0))
    slowed = off(worked(left, usual))
    alone = TimeLeft()
    worked(alone, even(30, 0.5, 0.0, 0.5) + even(30, 1.0, 0.5, 1.0))
    assert slowed - 1.0 < 0.7 * (off(worked(alone, usual)) - 1.0)


def test_work_that_was_given_up_teaches_nothing() -> None:
    left = TimeLeft()
    left.begin(1)
    left.note(0.0, 0.0)
    left.note(0.01, 50.0)
    assert off(worked(left, even(40, 1.0))) < 1.0 + 1e-6
