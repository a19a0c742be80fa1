"""`report`: what several runs reported, as one report."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...lookat_pd_batch import journal, manifest, merging
from .. import arguments as words
from .. import jobs, json_list, report
from ..console import Console
from ..report import Row

NAME = "report"
SUMMARY = "merge the reports of shards into one"
EPILOG = """\
Exit code 0: all files of all reports succeeded, or no more failed than --tolerate-failures has it. 1: more failed, or
reports are missing or are not of one run; then nothing is written."""
_DONE, _FAILED = 0, 1
_NAMED = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("merge",), help="what to do with the reports")
    parser.add_argument("reports", nargs="+", type=Path, metavar="REPORT", help="reports, or folders with them")
    parser.add_argument(
        "--output", type=Path, required=True, metavar="FILE.json", help="the report to write; - for standard output"
    )
    parser.add_argument(
        "--allow-missing", action="store_true", help="merge what there is; files that are missing count as failed"
    )
    words.add_tolerance(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    paths = _expand(options.reports)
    jobs.check_report(argparse.Namespace(report=options.output, reports=paths))
    merged = merging.merge([_read(path) for path in paths])
    if merged.conflict is not None:
        console.complain(merged.conflict)
        return _FAILED
    if merged.gaps and not options.allow_missing:
        _name_some(merged.gaps, "reports are missing", console)
        return _FAILED
    for gap in merged.gaps:
        console.complain(f"note: {gap}")
    rows = sorted(
        (*merged.rows, *(_lost(row, merged.rows) for row in merged.lost)),
        key=lambda row: (Path(row["input"] or "").name, row["input"] or ""),
    )
    with console.interruption.held():
        report.write(options.output, rows)
    failed = [row for row in rows if not row["ok"]]
    if options.output != report.STANDARD_OUTPUT:
        console.say(f"{len(rows)} files, {len(failed)} failed -> {options.output}")
    for row in failed[:_NAMED]:
        console.complain("failed, see its error in the report.", Path(row["input"] or "a file"), row.get("code"))
    if len(failed) > _NAMED:
        console.complain(f"{len(failed) - _NAMED} more files failed, see the report.")
    return _DONE if options.tolerate_failures.holds(len(failed), len(rows)) else _FAILED


def _name_some(sentences: Sequence[str], what: str, console: Console) -> None:
    for sentence in sentences[:_NAMED]:
        console.complain(sentence)
    if len(sentences) > _NAMED:
        console.complain(f"{len(sentences) - _NAMED} more {what}.")


def _lost(known: Row, rows: Sequence[Row]) -> Row:
    """A row for a file that nobody has reported, with the fields of the others."""
    return {**report.new_row(Path(), tuple(rows[0]) if rows else ()), **known}


def _expand(named: Sequence[Path]) -> list[Path]:
    """The reports, those in a folder in its place. Raises Misuse."""
    paths: list[Path] = []
    for path in named:
        if not path.is_dir():
            paths.append(path)
            continue
        names = {item.name for item in path.iterdir() if item.is_file() and not item.name.startswith(".")}
        inside = sorted(name for name in names if name.endswith(".json"))
        # What a run that was killed has left; it is newer than a report of the same name.
        left = sorted(name for name in names if name.endswith(journal.SUFFIX))
        if not inside and not left:
            raise words.Misuse(f"there is no report in the folder {path}; run the shards with --report first")
        replaced = {name.removesuffix(journal.SUFFIX) + ".json" for name in left}
        paths += [path / name for name in sorted({*inside, *left} - replaced)]
    return list(dict.fromkeys(paths))


def _read(path: Path) -> merging.Report:
    """Raises Misuse."""
    if path.suffix == journal.SUFFIX:
        run, rows = journal.read(path) or (None, [])
        for row in rows:
            row[manifest.FIELD] = run
        return merging.Report(path, rows, run, is_over=False)
    return merging.Report(path, json_list.read(path, "report", _rows))


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
