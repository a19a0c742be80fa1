"""What a benchmark yields: rows of a table, each with its time and, where it has a peer, its ratio to that peer."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

SECONDS, RATIO, SPEEDUP = "seconds", "ratio", "speedup"
LOOP, GOALS_LOOP = "solver.loop", 0.05
"""The key of the plain loop's row, and its seconds on the machine for which goals in seconds are set."""


@dataclass(frozen=True)
class Goal:
    """A limit that a row should keep."""

    limit: float
    of: str = RATIO
    """SECONDS or RATIO, at most `limit`; SPEEDUP, at least `limit`."""

    def __str__(self) -> str:
        if self.of == SECONDS:
            return f"below {1e6 * self.limit:g} µs" if self.limit < 1e-3 else f"below {1e3 * self.limit:g} ms"
        return f"at {'least' if self.of == SPEEDUP else 'most'} {self.limit:g} times"


@dataclass(frozen=True)
class Row:
    """A figure of a table."""

    key: str
    """Unique among all benchmarks, and the same in every run: by it runs are compared."""
    what: str
    """What is measured."""
    seconds: float | None = None
    """The time, `per` what."""
    ratio: float | None = None
    """That time as a multiple of the time of `peer`, which was measured in the same run; `faster` shows it the other
    way round."""
    peer: str = ""
    goal: Goal | None = None
    group: str = ""
    """Rows of one group stand together."""
    per: str = ""
    faster: bool = False
    also: str = ""
    """Further figures."""

    @property
    def title(self) -> str:
        return f"{self.group}: {self.what}" if self.group else self.what

    @property
    def figure(self) -> str:
        """The right column of the table."""
        parts = []
        if self.seconds is not None:
            parts.append(f"{duration(self.seconds)} {self.per}".rstrip())
        if self.ratio is not None:
            parts.append(self.comparison)
        if self.also:
            parts.append(self.also)
        goal = f" (goal: {self.goal})" if self.goal else ""
        return ", ".join(parts) + goal

    @property
    def comparison(self) -> str:
        """The ratio in words."""
        if self.ratio is None:
            return ""
        if self.faster:
            return f"{times(1.0 / self.ratio)} faster than {self.peer}"
        return f"{times(self.ratio)} {self.peer}"

    @property
    def measured(self) -> str:
        """The figure that the goal limits."""
        if self.goal and self.goal.of == SECONDS and self.seconds is not None:
            return duration(self.seconds)
        return self.comparison

    def at_pace(self, pace: float) -> "Row":
        """The row with the time of the machine for which goals are set, where this one takes `pace` times as long."""
        return self if self.seconds is None else replace(self, seconds=self.seconds / pace)

    @property
    def is_met(self) -> bool:
        """Whether the goal is met; a row without a goal or figure meets it."""
        if self.goal is None:
            return True
        if self.goal.of == SECONDS:
            return self.seconds is None or self.seconds <= self.goal.limit
        if self.ratio is None:
            return True
        return 1.0 / self.ratio >= self.goal.limit if self.goal.of == SPEEDUP else self.ratio <= self.goal.limit

    def as_data(self) -> dict[str, Any]:
        """The row as JSON has it, without what is empty. A figure of 0 is not empty."""
        return {
            name: value for name, value in asdict(self).items() if not (value is None or value is False or value == "")
        }

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "Row":
        goal = data.get("goal")
        return cls(**{**data, "goal": Goal(**goal) if goal else None})


def duration(seconds: float) -> str:
    """A time with its unit, to three figures or so."""
    if seconds < 1e-4:
        return f"{1e6 * seconds:.1f} µs"
    milliseconds = 1e3 * seconds
    if milliseconds < 10_000.0:
        return f"{milliseconds:,.{3 if milliseconds < 1.0 else 1 if milliseconds < 100.0 else 0}f} ms"
    return f"{seconds:.1f} s"


def times(ratio: float) -> str:
    return f"{ratio:.{2 if ratio < 10.0 else 1 if ratio < 100.0 else 0}f} times"


HEADER = "| what | figure |\n|---|---|"


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """Lines of a Markdown table below its header; the group stands with the first of its rows."""
    group = ""
    for row in rows:
        what = f"... {row.what}" if row.group and row.group == group else row.title
        group = row.group
        yield f"| {what} | {row.figure} |"


def table(rows: Iterable[Row]) -> str:
    return "\n".join((HEADER, *lines(rows)))
