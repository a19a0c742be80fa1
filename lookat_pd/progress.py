"""Work in steps: generators that yield the completed fraction and return the result."""

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor, wait
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar, get_args

Arguments = ParamSpec("Arguments")
Step = TypeVar("Step")
Returned = TypeVar("Returned")
_NAP = 0.01
"""Seconds to wait for a thread between two reports of progress."""


def drain(steps: Generator[Step, None, Returned], show: Callable[[Step], object] = lambda step: None) -> Returned:
    """Run a generator to its end and return its result; `show` receives each step, such as the completed fraction."""
    while True:
        try:
            step = next(steps)
        except StopIteration as done:
            return done.value
        show(step)


def subrange(steps: Generator[float, None, Returned], begin: float, end: float) -> Generator[float, None, Returned]:
    """Run the steps of one piece of work as fractions between `begin` and `end`; return its result."""
    try:
        while True:
            try:
                yield begin + (end - begin) * next(steps)
            except StopIteration as done:
                return done.value
    finally:
        # What it has begun is undone before whoever called it undoes the rest.
        steps.close()


def in_thread(work: Callable[[], Returned], done: float) -> Generator[float, None, Returned]:
    """Run work that is numpy only in a thread of its own, beside which Blender continues; return its result.

    done: the fraction that is yielded meanwhile.
    """

    def steps() -> Generator[float, None, Returned]:
        yield done
        return work()

    return (yield from steps_in_thread(steps()))


def steps_in_thread(steps: Generator[float, None, Returned]) -> Generator[float, None, Returned]:
    """The same for work in steps, which ends after the step that it is at where this is closed."""
    done, is_wanted = 0.0, True

    def work() -> Returned:
        nonlocal done
        while True:
            try:
                done = next(steps)
            except StopIteration as end:
                return end.value
            if not is_wanted:
                steps.close()

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        try:
            # Polling without a wait holds the interpreter lock, which the work needs.
            while not wait((future,), _NAP).done:
                yield done
        finally:
            is_wanted = False
        return future.result()


def drained(name: str, solver: Callable[Arguments, Generator[float, None, Returned]]) -> Callable[Arguments, Returned]:
    """A solver called `name` with the same arguments that runs all steps at once."""

    @wraps(solver)
    def work(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
        return drain(solver(*args, **kwargs))

    work.__name__ = work.__qualname__ = name
    taken = signature(solver)
    setattr(work, "__signature__", taken.replace(return_annotation=get_args(taken.return_annotation)[-1]))  # noqa: B010
    return work
