"""Work that is done step by step: generators that yield the fraction done and return the result."""

from collections.abc import Callable, Generator
from typing import TypeVar

Step = TypeVar("Step")
Returned = TypeVar("Returned")


def drain(steps: Generator[Step, None, Returned], show: Callable[[Step], object] = lambda step: None) -> Returned:
    """Run a generator to its end and return what it returns; `show` is given each step, such as the fraction done."""
    while True:
        try:
            step = next(steps)
        except StopIteration as done:
            return done.value
        show(step)


def subrange(steps: Generator[float, None, Returned], begin: float, end: float) -> Generator[float, None, Returned]:
    """Run the steps of one piece of work as fractions between `begin` and `end`; return what it returns."""
    while True:
        try:
            yield begin + (end - begin) * next(steps)
        except StopIteration as done:
            return done.value
