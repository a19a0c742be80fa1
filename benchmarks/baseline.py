"""The committed figures, and what a new run says against them.

Machines differ, and one machine has slow days: only ratios are compared, each of two times from the same run.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .rows import Row, times

FILE = Path(__file__).with_name("baseline.json")
WORSE = 1.3
"""A ratio that is worse by more than this factor fails a check."""


@dataclass(frozen=True)
class Baseline:
    """Figures of one run of all benchmarks."""

    date: str
    machine: str
    tables: Mapping[str, tuple[Row, ...]]
    """Rows by the benchmark's name, in the order of the run."""

    def write(self, path: Path = FILE) -> None:
        data = {
            "date": self.date,
            "machine": self.machine,
            "tables": {name: [row.as_data() for row in rows] for name, rows in self.tables.items()},
        }
        path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", "utf-8")

    @classmethod
    def read(cls, path: Path = FILE) -> "Baseline":
        """Raises OSError where there is no such file."""
        data = json.loads(path.read_text("utf-8"))
        tables = {name: tuple(map(Row.from_data, rows)) for name, rows in data["tables"].items()}
        return cls(data["date"], data["machine"], tables)


def worse(then: Iterable[Row], now: Iterable[Row]) -> Iterator[tuple[str, str]]:
    """Key and one line for each ratio of `then` that is worse now by more than WORSE, or that is not measured now.

    A row without any figure says that all rows whose keys begin with its own cannot be measured here; these are left
    out. Rows that only `now` has are new, and nothing is said about them.
    """
    by_key = {row.key: row for row in now}
    excused = tuple(f"{row.key}." for row in by_key.values() if row.seconds is None and row.ratio is None)
    for old in then:
        if old.ratio is None:
            continue
        new = by_key.get(old.key)
        if new is None or new.ratio is None:
            if not old.key.startswith(excused):
                yield old.key, f"{old.title}: in the committed table, but not measured."
        elif new.ratio > WORSE * old.ratio:
            factor = times(new.ratio / old.ratio)
            yield old.key, f"{new.title}: {new.comparison}, committed {old.comparison}; {factor} as long."


def better(first: Iterable[Row], second: Iterable[Row]) -> list[Row]:
    """The rows of the second of two runs, with a row of the first wherever that had the better ratio."""
    before = {row.key: row for row in first}
    return [min(row, before.get(row.key, row), key=_ratio) for row in second]


def _ratio(row: Row) -> float:
    return float("inf") if row.ratio is None else row.ratio
