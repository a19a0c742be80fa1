"""The page docs/benchmarks.md, made from the committed figures and the prose of page.md."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from .baseline import WORSE, Baseline
from .rows import GOALS_LOOP, LOOP, SECONDS, Row, table

DOCS = Path(__file__).parent.parent / "docs"
FILE = DOCS / "benchmarks.md"
PROSE = Path(__file__).with_name("page.md")
_SLOT = re.compile(r"^<!-- ([a-z ]+): ?([a-z_ ]*) -->$|\{(date|machine|worse)\}", re.MULTILINE)


def render(baseline: Baseline, prose: str | None = None) -> str:
    """The page. prose: the text with a line `<!-- table: NAME... -->` where the tables of these benchmarks go, a line
    `<!-- goals: -->` for the table of goals, and {date}, {machine}, {worse} inside it.

    Raises KeyError for a benchmark that the baseline lacks or a slot that is unknown.
    """
    words = {"date": baseline.date, "machine": baseline.machine, "worse": f"{WORSE:g}"}

    def fill(slot: re.Match[str]) -> str:
        kind, names, word = slot.groups()
        if word:
            return words[word]
        if kind == "table":
            return table(row for name in names.split() for row in baseline.tables[name])
        if kind == "goals":
            return goals(baseline.tables)
        raise KeyError(kind)

    return _SLOT.sub(fill, PROSE.read_text("utf-8") if prose is None else prose)


def write_own(name: str, measured: Baseline) -> None:
    """The page of one benchmark by itself, docs/NAME.md from NAME.md. A slot names the second part of keys."""
    parts: dict[str, list[Row]] = {}
    for row in measured.tables[name]:
        parts.setdefault(row.key.split(".")[1], []).append(row)
    tables = {part: tuple(rows) for part, rows in parts.items()}
    prose = PROSE.with_name(f"{name}.md").read_text("utf-8")
    (DOCS / f"{name}.md").write_text(render(replace(measured, tables=tables), prose), "utf-8")


def goals(tables: Mapping[str, Iterable[Row]]) -> str:
    """The table of all goals, and whether they are met: those in seconds in proportion to the plain loop."""
    rows = [row for rows_of in tables.values() for row in rows_of]
    loop = next((row.seconds for row in rows if row.key == LOOP and row.seconds), GOALS_LOOP)
    lines = ["| what | goal | measured | in proportion | met |", "|---|---|---|---|---|"]
    for row in rows:
        if row.goal:
            there = row.at_pace(max(loop / GOALS_LOOP, 1.0))
            proportion = there.measured if row.goal.of == SECONDS else ""
            met = "yes" if there.is_met else "**no**"
            lines.append(f"| {row.title} | {row.goal} | {row.measured} | {proportion} | {met} |")
    return "\n".join(lines)


def shown(prose: str) -> list[str]:
    """The benchmarks whose tables the prose has a place for, in order."""
    return [name for kind, names, _ in _SLOT.findall(prose) if kind == "table" for name in names.split()]
