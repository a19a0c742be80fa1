"""Shortest times, since other programs can only lengthen one. Works that are compared take turns."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter

Times = dict[str, float]


def seconds(work: Callable[[], object], repeats: int = 15) -> float:
    """Shortest time [s] of one call, after one that warms up."""
    return shortest({"work": clocked(work)}, repeats)["work"]


def clocked(work: Callable[[], object], clock: Callable[[], float] = perf_counter) -> Callable[[], float]:
    """The work, returning the seconds that it took. clock: such as `process_time`, for those of the processor."""

    def timed() -> float:
        begin = clock()
        work()
        return clock() - begin

    return timed


def shortest(works: Mapping[str, Callable[[], float | Times]], repeats: int) -> Times:
    """Shortest seconds of each work, which returns its own; they take turns, after a round that warms up.

    A work that returns several times by name counts as one work for each.
    """
    best: Times = {}
    for turn in range(repeats + 1):
        for name, work in works.items():
            times = work()
            for key, time in times.items() if isinstance(times, dict) else [(name, times)]:
                if turn:
                    best[key] = min(time, best.get(key, time))
    return best


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing on standard output, not even what Blender itself or an operator prints."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
