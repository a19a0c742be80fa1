"""The runs of the test suite, as many side by side as there are cores: tools/test calls this.

python tools/test_runs.py PYTHON... -- [--all] [ARGUMENT OF PYTEST]...

LOOKAT_PD_MINUTES=N: tests marked `slow` that have not begun by then are skipped, as a machine that stops a run after
some time needs it.
"""

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

NOTHING_CHOSEN = 5
"""What pytest ends with where no test was chosen: of a part of the runs, with arguments that name few tests."""

COMPILED = Path(__file__).resolve().parent.parent / "build" / "compiled"
"""Where all runs, and the many processes that tests start, share what Python has compiled."""

HALVES = {"rest": ["tests", "--ignore=tests/rig"], "bridge": ["tests/rig"]}
"""Two parts of the suite, the longer first, so that all cores have work to the end."""

SOLVERS = "--ignore-glob=tests/lookat_pd/*/*"
"""What a real Blender does not repeat: the laws of the solvers, which know nothing of Blender and run with two versions
of Python and numpy already. It does run those beside these rooms, which call every solver with any input."""


def commands(pythons: list[str], arguments: list[str], blender: str) -> dict[str, list[str]]:
    """The command of each run by its name, the longest first."""
    first = pythons[0]
    named = any(Path(word.split("::")[0]).exists() for word in arguments)
    runs = {}
    if blender:
        runs[f"in {blender}"] = ["tools/test-in-blender", first, *([] if named else [SOLVERS]), *arguments]
    for part, paths in ({"": []} if named else HALVES).items():
        for python in pythons:
            name = " ".join(["with", Path(python).parents[1].name, *([part] if part else [])])
            runs[name] = [python, "-m", "pytest", *arguments, *paths]
        if blender and part != "bridge":
            runs[f"in the window of {blender}"] = ["tools/test-in-window", first, *arguments]
    return runs


def run(command: list[str], kept: str, until: float) -> tuple[bool, str, float]:
    """Whether a run passed, what it printed, and how many seconds it took.

    kept: the folder of the scenes that the runs share (tests/kept.py). until: time [s] as of `time.time` at which the
    last slow test begins.
    """
    begin = time.perf_counter()
    environment = os.environ | {"PYTHONPYCACHEPREFIX": str(COMPILED), "LOOKAT_PD_KEPT": kept}
    environment["LOOKAT_PD_UNTIL"] = str(until)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=environment
        )
        output.seek(0)
        return done.returncode in (0, NOTHING_CHOSEN), output.read(), time.perf_counter() - begin


def main(words: list[str]) -> int:
    split = words.index("--")
    pythons, arguments = words[:split], words[split + 1 :]
    everything = "--all" in arguments
    arguments = [word for word in arguments if word != "--all"]
    if not everything:
        arguments = ["-m", "not slow", *arguments]
    until = time.time() + 60.0 * float(os.environ.get("LOOKAT_PD_MINUTES", "inf"))
    runs = commands(pythons, arguments, os.environ.get("BLENDER", ""))
    failed = []
    with tempfile.TemporaryDirectory() as kept, ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        waiting = {pool.submit(run, command, kept, until): name for name, command in runs.items()}
        for done in as_completed(waiting):
            passed, output, seconds = done.result()
            name = waiting[done]
            print(f"=== {name}: {'passed' if passed else 'FAILED'} in {seconds / 60:.1f} minutes", flush=True)
            print(output, flush=True)
            failed += [] if passed else [name]
    for name in failed:
        print(f"FAILED: the tests {name}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
