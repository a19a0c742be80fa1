"""Whether the reports of several shards are all of one run, and what is missing of it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .manifest import FIELD, Run

Row = dict[str, Any]
_NAMED = 3
_SAME = {
    "version": "run the shards with one version",
    "blender": "run the shards with one Blender",
}


@dataclass
class Report:
    """What one file has of a run."""

    path: Path
    rows: list[Row]
    run: Run | None = None
    """Of a run that has ended; else that of a journal."""
    is_over: bool = True
    """It is a report, not what a killed run has left."""


@dataclass
class Merged:
    """All rows, or why there are none."""

    rows: list[Row] = field(default_factory=list)
    conflict: str | None = None
    """Why the reports are not of one run, a sentence."""
    gaps: list[str] = field(default_factory=list)
    """What is missing, as sentences."""
    lost: list[Row] = field(default_factory=list)
    """Input, shard and error of what has no row."""


def merge(reports: Sequence[Report]) -> Merged:
    merged = Merged(rows=[row for report in reports for row in report.rows])
    merged.conflict = _conflict(reports)
    if merged.conflict is None:
        runs = {report.path: run for report in reports if (run := _run(report)) is not None}
        if any(run["shard"] is not None for run in runs.values()):
            _find_lost_shards(merged, reports, list(runs.values()))
        else:
            for report in reports:
                _find_lost_files(merged, report, runs.get(report.path))
    return merged


def _run(report: Report) -> Run | None:
    return report.run or next((row[FIELD] for row in report.rows if row.get(FIELD)), None)


def _conflict(reports: Sequence[Report]) -> str | None:
    inputs: dict[str, Path] = {}
    for report in reports:
        for row in report.rows:
            if inputs.setdefault(row["input"], report.path) != report.path:
                return (
                    f"{row['input']} is in {inputs[row['input']]} and in {report.path}; "
                    "give each shard a report of its own."
                )
            if report.is_over and not row.get(FIELD):
                return f"{report.path} does not say which run it is of; run that shard again with this version."
    for name, remedy in _SAME.items():
        known = {row.get(name): report.path for report in reversed(reports) for row in report.rows}
        if len(known) > 1:
            (one, first), (other, second) = sorted(known.items(), key=lambda item: str(item[1]))[:2]
            of = "Blender" if name == "blender" else "version"
            return f"{first} is of {of} {one}, {second} of {of} {other}; {remedy}."
    for report in reports:
        known = _run(report)
        if known is not None and known["inputs"]:
            double = Counter(row["input"] for row in report.rows) - Counter(known["inputs"])
            if double:
                return f"{report.path} has {next(iter(double))} twice; run that shard again."
    return _other_run([(report.path, run) for report in reports if (run := _run(report)) is not None])


def _other_run(runs: Sequence[tuple[Path, Run]]) -> str | None:
    if not runs:
        return None
    first, run = runs[0]
    for path, other in runs[1:]:
        if other["command"] != run["command"]:
            return (
                f"{path} was made with other arguments than {first} ({_difference(run, other)}); "
                "run the shards with the same ones."
            )
        if (_count(other), other["shard"] is None) != (_count(run), run["shard"] is None):
            return "The reports are of runs with different numbers of shards; name those of one run."
        if run["shard"] is not None and other["inputs_digest"] != run["inputs_digest"]:
            return f"{path} is of other inputs than {first} ({_inputs(run, other)}); run all shards with the same ones."
    return None


def _difference(run: Run, other: Run) -> str:
    """The first words that are in one command only."""
    one, two = _deciding(run), _deciding(other)
    left = [word for word in two if word not in one]
    gone = [word for word in one if word not in two]
    shown = " ".join(left[:_NAMED] or gone[:_NAMED])
    return f"'{shown[:60]}'" if shown else "a file that they name has changed"


def _deciding(run: Run) -> list[str]:
    """The words that may differ between commands, but not between shards of a run."""
    words = run["arguments"]
    return [
        word
        for before, word in zip(["", *words], words, strict=False)
        if not {before, word.partition("=")[0]} & {"--shard", "--report"}
    ]


def _inputs(run: Run, other: Run) -> str:
    one, two = set(run["inputs"] or ()), set(other["inputs"] or ())
    differ = sorted(one ^ two)
    return _listed(differ) if differ else f"{run['total']} and {other['total']} of them"


def _count(run: Run) -> int:
    return int(run["shard"].partition("/")[2]) if run["shard"] is not None else 1


def _find_lost_shards(merged: Merged, reports: Sequence[Report], runs: Sequence[Run]) -> None:
    """Inputs are dealt out in turn, so how many files each shard has follows from their number."""
    count, total = _count(runs[0]), runs[0]["total"]
    inputs = next((run["inputs"] for run in runs if run["inputs"]), None)
    found = Counter(row["shard"] for report in reports for row in report.rows)
    known = {row["input"] for row in merged.rows}
    left = {path.name: path for path in (report.path for report in reports if not report.is_over)}
    for number in range(1, min(count, total) + 1):
        shard, wanted = f"{number}/{count}", (total - number) // count + 1
        if found[shard] >= wanted:
            continue
        names = [name for name in inputs[number - 1 :: count] if name not in known] if inputs else []
        begun = f", as it was stopped after {found[shard]} of {wanted} files" if left and found[shard] else ""
        which = f" ({_listed(names)})" if names else ""
        merged.gaps.append(
            f"The report of shard {number} of {count} is missing or incomplete{begun}{which}; run that shard again."
        )
        error = f"Shard {number} of {count} has not reported this file; run that shard again."
        merged.lost += [_lost(name, shard, error) for name in names or [None] * (wanted - found[shard])]


def _find_lost_files(merged: Merged, report: Report, run: Run | None) -> None:
    if run is None or len(report.rows) >= run["total"]:
        return
    known = {row["input"] for row in report.rows}
    names = [name for name in run["inputs"] or () if name not in known]
    which = f" ({_listed(names)})" if names else ""
    merged.gaps.append(
        f"{report.path} has {len(report.rows)} of {run['total']} files{which}; run it again with --skip-done."
    )
    merged.lost += [_lost(name, None, "The run was stopped before this file was reported.") for name in names]


def _lost(name: str | None, shard: str | None, error: str) -> Row:
    return {"input": name, "shard": shard, "ok": False, "error": error, "code": "not-reported"}


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    shown = ", ".join(names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED} more"
