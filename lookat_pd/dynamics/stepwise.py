"""Solvers that work step by step: generators that yield the fraction done and return what they found."""

from collections.abc import Callable, Generator
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar, get_args

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


def drain(steps: Generator[Any, Any, Returned]) -> Returned:
    """Run all steps; what the generator returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def drained(name: str, solver: Callable[Arguments, Generator[Any, Any, Returned]]) -> Callable[Arguments, Returned]:
    """A solver with the same arguments, called `name`, that runs all steps at once."""

    @wraps(solver)
    def work(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
        return drain(solver(*args, **kwargs))

    work.__name__ = work.__qualname__ = name
    taken = signature(solver)
    setattr(work, "__signature__", taken.replace(return_annotation=get_args(taken.return_annotation)[-1]))  # noqa: B010
    return work
