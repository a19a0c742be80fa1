"""Solvers that work in steps, and the calls that run all their steps."""

from collections.abc import Generator
from inspect import signature
from time import sleep

from lookat_pd import dynamics
from lookat_pd.progress import drain, drained, steps_in_thread


def counting(steps: int, *, factor: float = 2.0) -> Generator[float, None, float]:
    """Counts."""
    for step in range(steps):
        yield step / steps
    return factor * steps


def test_all_steps_are_run() -> None:
    assert drain(counting(3)) == 6.0
    assert drain(counting(0, factor=5.0)) == 0.0


def test_the_call_has_the_arguments_of_the_steps() -> None:
    count = drained("count", counting)
    assert count(4, factor=0.5) == 2.0
    assert (count.__name__, count.__doc__) == ("count", "Counts.")
    assert str(signature(count)) == "(steps: int, *, factor: float = 2.0) -> float"


def test_steps_in_a_thread_end_where_nobody_waits_for_them() -> None:
    assert drain(steps_in_thread(counting(3))) == 6.0
    begun, ended = [], []

    def waiting() -> Generator[float, None, None]:
        try:
            for step in range(1000):
                begun.append(step)
                yield 0.5
                sleep(0.01)
        finally:
            ended.append(True)

    steps = steps_in_thread(waiting())
    assert next(steps) == 0.5
    steps.close()
    assert ended and len(begun) < 1000


def test_the_public_calls_are_called_as_they_are_named() -> None:
    for call, found in ((dynamics.interpolate, dynamics.Interpolation), (dynamics.reach, dynamics.Reach)):
        assert getattr(dynamics, call.__name__) is call
        assert signature(call).return_annotation is found
