"""`report`: what several runs reported, as one report."""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import arguments as words
from .. import jobs, json_list, report
from ..console import Console
from ..report import Row

NAME = "report"
SUMMARY = "merge the reports of shards into one"
EPILOG = """\
Exit code 0: all files of all reports succeeded. 1: at least one failed, or reports are missing or do not fit together;
then nothing is written."""
_DONE, _FAILED = 0, 1
_NAMED = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("merge",), help="what to do with the reports")
    parser.add_argument("reports", nargs="+", type=Path, metavar="REPORT", help="reports, or folders with them")
    parser.add_argument(
        "--output", type=Path, required=True, metavar="FILE.json", help="the report to write; - for standard output"
    )


def run(options: argparse.Namespace, console: Console) -> int:
    paths = _expand(options.reports)
    jobs.check_report(argparse.Namespace(report=options.output, reports=paths))
    read = {path: _read(path) for path in paths}
    problem = _problem(read)
    if problem is not None:
        console.complain(problem)
        return _FAILED
    rows = sorted(
        (row for rows in read.values() for row in rows), key=lambda row: (Path(row["input"]).name, row["input"])
    )
    with console.interruption.held():
        report.write(options.output, rows)
    failed = [row["input"] for row in rows if not row["ok"]]
    if options.output != report.STANDARD_OUTPUT:
        console.say(f"{len(rows)} files, {len(failed)} failed -> {options.output}")
    for path in failed[:_NAMED]:
        console.complain("failed, see its error in the report.", path)
    if len(failed) > _NAMED:
        console.complain(f"{len(failed) - _NAMED} more files failed, see the report.")
    return _FAILED if failed else _DONE


def _expand(named: Sequence[Path]) -> list[Path]:
    """The reports, those in a folder in its place. Raises Misuse."""
    paths: list[Path] = []
    for path in named:
        if not path.is_dir():
            paths.append(path)
            continue
        inside = sorted(item for item in path.glob("*.json") if item.is_file() and not item.name.startswith("."))
        if not inside:
            raise words.Misuse(f"there is no report in the folder {path}; run the shards with --report first")
        paths += inside
    return list(dict.fromkeys(paths))


def _read(path: Path) -> list[Row]:
    """Raises Misuse."""
    return json_list.read(path, "report", _rows)


def _rows(entries: Any) -> list[Row]:
    if not isinstance(entries, list):
        raise ValueError("it is not a list of reported files; name reports that --report has written")
    for number, row in enumerate(entries, 1):
        if (
            not isinstance(row, dict)
            or not {"input", "ok", "version"} <= row.keys()
            or not isinstance(row["input"], str)
        ):
            raise ValueError(f"entry {number} is not a reported file; name reports that --report has written")
    return entries


def _problem(read: dict[Path, list[Row]]) -> str | None:
    """Why reports do not belong together, a sentence; None where they do."""
    versions: dict[str, Path] = {}
    inputs: dict[str, Path] = {}
    for path, rows in read.items():
        for row in rows:
            versions.setdefault(row["version"], path)
            if row["input"] in inputs and inputs[row["input"]] != path:
                return (
                    f"{row['input']} is in {inputs[row['input']]} and in {path}; give each shard a report of its own."
                )
            inputs[row["input"]] = path
    if len(versions) > 1:
        (one, first), (other, second) = list(versions.items())[:2]
        return f"{first} is of version {one}, {second} of version {other}; run the shards with one version."
    return _missing([row for rows in read.values() for row in rows])


def _missing(rows: Sequence[Row]) -> str | None:
    """Which shards have no report; known from their numbers of files, since the inputs are dealt out in turn."""
    shards = Counter(row.get("shard") for row in rows)
    counts = {name.partition("/")[2] for name in shards if name is not None}
    if not counts:
        return None
    if len(counts) > 1 or None in shards:
        return "The reports are of runs with different numbers of shards; name those of one run."
    total = int(counts.pop())
    sizes = [shards[f"{number}/{total}"] for number in range(1, total + 1)]
    most = max(sizes)
    # Each shard has as many files as the first, or from some shard on one less.
    wrong = [number for number, size in enumerate(sizes, 1) if size < most - 1 or size < max(sizes[number:], default=0)]
    if wrong:
        return f"The report of shard {wrong[0]} of {total} is missing or incomplete; run that shard again."
    return None
