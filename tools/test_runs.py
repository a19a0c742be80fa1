"""The runs of the test suite: tools/test calls this.

python tools/test_runs.py PYTHON... -- [--all] [ARGUMENT OF PYTEST]...

The quick tests run with the first Python, in as many processes as there are cores, and the thorough ones of those that
are named. With --all all do, and then the other Pythons and a real Blender run what may differ there (`AGAIN`), and its
window what needs a window.

LOOKAT_PD_MINUTES=N: tests marked `slow` that have not begun by then are skipped, as a machine that stops a run after
some time needs it.
"""

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

NOTHING_CHOSEN = 5
"""What pytest ends with where no test was chosen: of a part of the runs, with arguments that name few tests."""

COMPILED = Path(__file__).resolve().parent.parent / "build" / "compiled"
"""Where all runs, and the many processes that tests start, share what Python has compiled."""

CORES = os.cpu_count() or 1

QUICK = "not slow and not thorough"

AGAIN = {
    "Python": "every_blender or (solvers and not slow)",
    "Blender": "every_blender",
}
"""What runs again, beside all tests on the newest Blender: in another version of Blender as a Python module, which has
another Python and numpy too, and in a real Blender. tests/conftest.py says what these markers are."""


@dataclass(frozen=True)
class Run:
    """One process of pytest, and those that it starts."""

    name: str
    command: list[str]
    about: str = "all tests"
    """Which tests it runs."""


@dataclass(frozen=True)
class Result:
    """How a run ended."""

    run: Run
    passed: bool
    output: str
    """Empty where it was shown at once."""
    seconds: float


def side_by_side(processes: int) -> list[str]:
    """Arguments of pytest for so many processes. Each begins with a part of the files in their order, so that tests of
    one file mostly share their fixtures, and takes from the others when it is done."""
    return ["-n", str(processes), "--dist", "worksteal"] if processes > 1 else []


def in_python(python: str, processes: int, arguments: list[str], about: str = "all tests") -> Run:
    name = f"with {Path(python).parents[1].name}"
    return Run(name, [python, "-m", "pytest", *side_by_side(processes), *arguments], about)


def stages(pythons: list[str], arguments: list[str], blender: str, everything: bool) -> list[list[Run]]:
    """The runs that go side by side, one such list after the other."""
    newest, *others = pythons
    named = any(Path(word.split("::")[0]).exists() for word in arguments)
    if not everything:
        chosen, about = ("not slow", "the tests that were named") if named else (QUICK, "the quick tests")
        return [[in_python(newest, CORES, ["-m", chosen, *arguments], about)]]
    # Whoever names tests wants just these, everywhere.
    chosen = {kind: [] if named else ["-m", words] for kind, words in AGAIN.items()}
    about = {kind: "the tests that were named" if named else words for kind, words in AGAIN.items()}
    again = [in_python(python, CORES, [*chosen["Python"], *arguments], about["Python"]) for python in others]
    if blender:
        command = ["tools/test-in-blender", newest, *chosen["Blender"], *arguments]
        again.insert(0, Run(f"in {blender}", command, about["Blender"]))
    return [[in_python(newest, CORES, arguments)], again]


def ended(run: Run, kept: str, until: float, show: bool) -> Result:
    """The result of a run.

    kept: the folder of the scenes that the runs share (tests/kept.py). until: time [s] as of `time.time` at which the
    last slow test begins. show: its output as it comes, instead of keeping it.
    """
    begin = time.perf_counter()
    environment = os.environ | {"PYTHONPYCACHEPREFIX": str(COMPILED), "LOOKAT_PD_KEPT": kept}
    environment["LOOKAT_PD_UNTIL"] = str(until)
    # There is a process for each core already; more threads in each of them only wait for one another.
    environment.setdefault("OPENBLAS_NUM_THREADS", "1")
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        done = subprocess.run(
            run.command,
            stdin=subprocess.DEVNULL,
            stdout=None if show else output,
            stderr=None if show else subprocess.STDOUT,
            env=environment,
        )
        output.seek(0)
        return Result(run, done.returncode in (0, NOTHING_CHOSEN), output.read(), time.perf_counter() - begin)


def main(words: list[str]) -> int:
    split = words.index("--")
    pythons, arguments = words[:split], words[split + 1 :]
    everything = "--all" in arguments
    arguments = [word for word in arguments if word != "--all"]
    until = time.time() + 60.0 * float(os.environ.get("LOOKAT_PD_MINUTES", "inf"))
    blender = os.environ.get("BLENDER", "")
    failed = []

    def tell(runs: list[Future[Result]]) -> None:
        for done in as_completed(runs):
            result = done.result()
            outcome = "passed" if result.passed else "FAILED"
            print(f"=== {result.run.name}, {result.run.about}: {outcome} in {result.seconds / 60:.1f} minutes")
            print(result.output, flush=True)
            failed.extend([] if result.passed else [result.run.name])

    with tempfile.TemporaryDirectory() as kept, ThreadPoolExecutor() as pool:
        beside = []
        if everything and blender:
            # Mostly waits for the screen: beside all the others.
            window = Run(f"in the window of {blender}", ["tools/test-in-window", pythons[0], *arguments], "window")
            beside = [pool.submit(ended, window, kept, until, False)]
        for stage in stages(pythons, arguments, blender, everything):
            tell([pool.submit(ended, run, kept, until, show=not everything) for run in stage])
        tell(beside)
    for name in failed:
        print(f"FAILED: the tests {name}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
