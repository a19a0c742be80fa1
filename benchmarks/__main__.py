"""The speed figures: prints them, writes them down, or compares them with those that were written down.

`python benchmarks [NAME...]` prints one table; `--check [NAME...]` compares ratios with the committed ones;
`--write` runs all and writes benchmarks/baseline.json and docs/benchmarks.md. Those that take long are run only where
they are named, and `--write NAME` writes their own page.
"""

import os
import platform
import sys
import traceback
from collections.abc import Callable, Sequence
from datetime import date
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

# `python benchmarks` puts this folder on the path; the solvers are beside it.
ROOT = str(Path(__file__).resolve().parent.parent)
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

from benchmarks import page  # noqa: E402
from benchmarks.baseline import WORSE, Baseline, better, worse  # noqa: E402
from benchmarks.rows import HEADER, Row, lines  # noqa: E402

MODULES = (
    "solver",
    "scene_solve",
    "bake",
    "live",
    "linked",
    "many_clips",
    "window",
    "body",
    "inertialize",
    "join",
    "ik",
    "ik_bake",
    "dynamics",
    "control_bakes",
    "springs",
    "gltf",
    # Each further module stands here, and has a place in page.md; its run() returns rows.
)
LONG = ("scale",)
"""Benchmarks with a page of their own, docs/NAME.md, made from the prose NAME.md; they are compared with nothing."""
BESIDE = ("jiggle",)
"""Benchmarks beside a program that is not installed here: run only where they are named, written nowhere. A flag of
that name says where its source is."""
ATTEMPTS = 3
"""How often a benchmark is run before one of its ratios is called worse: a disturbance does not come back."""
PATIENCE = 900.0
"""Seconds after which a check runs no benchmark again: beside other programs all ratios are worse, and to run all
of it three times would take an hour."""

USAGE = (
    "usage: python benchmarks [--check] [NAME...] | --write | [--write] LONG | BESIDE [--BESIDE FOLDER]\n\n"
    f"NAME: {', '.join(MODULES)}\nLONG: {', '.join(LONG)}\nBESIDE: {', '.join(BESIDE)}"
)

Run = Callable[[str], Sequence[Row]]


class UsageError(Exception):
    """The arguments make no sense; the message is one sentence."""


def processor() -> str:
    """The processor's name as the system knows it."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def machine() -> str:
    parts = [f"{processor()}, {os.cpu_count()} cores", f"Python {platform.python_version()}"]
    for package in ("numpy", "mujoco-core"):
        try:
            parts.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    if find_spec("bpy"):
        import bpy

        parts.append(f"Blender {bpy.app.version_string}")
    return ", ".join(parts)


def run(name: str) -> Sequence[Row]:
    """The rows of one benchmark."""
    return import_module(f"benchmarks.{name}").run()


def parse(arguments: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """What to do, one of "print", "check" and "write", and the benchmarks to do it with. Raises UsageError."""
    flags = [one for one in arguments if one.startswith("-")]
    names = tuple(one for one in arguments if not one.startswith("-"))
    for flag in flags:
        if flag not in ("--check", "--write"):
            raise UsageError(f"There is no argument {flag}; there are --check and --write.")
    if len(set(flags)) > 1:
        raise UsageError("--check and --write exclude each other.")
    if len(names) == 1 and names[0] in BESIDE and not flags:
        return "print", names
    if len(names) == 1 and names[0] in LONG and "--check" not in flags:
        return flags[0].removeprefix("--") if flags else "print", names
    for name in names:
        if name not in MODULES:
            raise UsageError(f"No benchmark is called {name}; there are {', '.join(MODULES)}.")
    if "--write" in flags and names:
        raise UsageError("--write takes no names: all tables of the page come from one run.")
    return flags[0].removeprefix("--") if flags else "print", names or MODULES


def show(rows: Sequence[Row]) -> None:
    for line in lines(rows):
        print(line, flush=True)


def measure(names: Sequence[str], run: Run) -> dict[str, tuple[Row, ...]]:
    """Run benchmarks and print one table as they are done; the rows by benchmark."""
    print(f"{machine()}\n\n{HEADER}", flush=True)
    tables = {}
    for name in names:
        begin = perf_counter()
        tables[name] = tuple(run(name))
        show(tables[name])
        print(f"{name} took {perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
    return tables


def check(names: Sequence[str], committed: Baseline, run: Run) -> list[str]:
    """A line for each ratio that is worse than the committed one in every one of several attempts, as far as there is
    time for these."""
    complaints, end = [], perf_counter() + PATIENCE
    for name, rows in measure(names, run).items():
        then = committed.tables.get(name, ())
        for _ in range(ATTEMPTS - 1):
            if perf_counter() > end or not list(worse(then, rows)):
                break
            again = run(name)
            show(again)
            rows = better(rows, again)
        complaints += [line for _, line in worse(then, rows)]
    return complaints


def main(arguments: Sequence[str], run: Run = run) -> int:
    """Do what the arguments say; the exit code: 0, 1 where a ratio is worse, 2 for arguments that make no sense."""
    if {"-h", "--help"} & set(arguments):
        print(USAGE)
        return 0
    try:
        action, names = parse(_without_folders(arguments))
        committed = _committed() if action == "check" else None
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    if committed:
        complaints = check(names, committed, run)
        print("\n".join(complaints) or f"\nNo ratio is worse than the committed one by more than {WORSE:g}.")
        return 1 if complaints else 0
    tables = measure(names, run)
    if action == "write" and names[0] in LONG:
        page.write_own(names[0], Baseline(date.today().isoformat(), machine(), tables))
    elif action == "write":
        written = Baseline(date.today().isoformat(), machine(), tables)
        written.write()
        page.FILE.write_text(page.render(written), "utf-8")
    return 0


def _without_folders(arguments: Sequence[str]) -> list[str]:
    """The arguments without the folders of programs to measure beside, which are noted. Raises UsageError."""
    rest = list(arguments)
    for name in BESIDE:
        if (flag := f"--{name}") in rest:
            at = rest.index(flag)
            folder = Path(rest[at + 1]) if at + 1 < len(rest) else None
            if folder is None or not (folder / "__init__.py").exists():
                raise UsageError(f"After {flag} comes the folder of its source, with its __init__.py.")
            import_module(f"benchmarks.{name}").folder = folder.resolve()
            del rest[at : at + 2]
    return rest


def _committed() -> Baseline:
    try:
        return Baseline.read()
    except OSError:
        raise UsageError("There are no figures to compare with: write them with make bench ARGS=--write.") from None


if __name__ == "__main__":
    code = 1
    try:
        code = main(sys.argv[1:])
    except Exception:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    # bpy 4.5 from PyPI can hang when the interpreter exits.
    os._exit(code)
