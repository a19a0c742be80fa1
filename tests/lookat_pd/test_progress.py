"""Solvers that work in steps, and the calls that run all their steps."""

from collections.abc import Generator
from inspect import signature

from lookat_pd import dynamics
from lookat_pd.progress import drain, drained


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


def test_the_public_calls_are_called_as_they_are_named() -> None:
    for call, found in ((dynamics.interpolate, dynamics.Interpolation), (dynamics.reach, dynamics.Reach)):
        assert getattr(dynamics, call.__name__) is call
        assert signature(call).return_annotation is found
