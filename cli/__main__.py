"""`python cli VERB …` from the root of the checkout, with PyPI's bpy: the same code as Blender's own command."""

import signal

_came: list[int] = []
"""Signals that came before there was a run to end."""


def _note_signals() -> None:
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, _: _came.append(number))


if __name__ == "__main__":
    # Before all else: what is imported below takes as long as Python's own start.
    _note_signals()

import contextlib  # noqa: E402
import os  # noqa: E402
import shutil  # noqa: E402
import sys  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402


def _take_stdout() -> None:
    """Keep stdout for results: what Blender prints there, from its loading on, goes nowhere."""
    if sys.stdout is None:
        return
    sys.stdout.flush()
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    sys.stdout = os.fdopen(kept, "w", encoding=sys.stdout.encoding, errors="backslashreplace")


@contextlib.contextmanager
def _on_few_cores(wanted: int) -> Iterator[None]:
    """Let Blender, which looks at its cores when it loads, make as many threads as a worker among others should have.

    With the threads of several processes on each core, they hold each other up.
    """
    if not wanted or not hasattr(os, "sched_setaffinity"):
        yield
        return
    own = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(own)[:wanted])
    try:
        yield
    finally:
        os.sched_setaffinity(0, own)


def run() -> int:
    _take_stdout()
    # A folder given to Python stands first in its path: the add-on is a package, and its parent belongs there instead.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    from standalone import load

    interruption = load("cli.console").Interruption
    for number in interruption.SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            # While Blender loads, nothing is begun: the run begins, ends at once, and writes its report.
            signal.signal(number, lambda number, _: setattr(interruption, "early", number))
    if _came:
        interruption.early = _came[0]
    worker_pool = load("cli.worker_pool")
    words = sys.argv[1:]
    # They take as long to load Blender as this process.
    pool = worker_pool.early(words)
    try:
        return _with_blender(words, pool, int(os.environ.get(worker_pool.CORES, "0")))
    finally:
        if pool is not None:
            pool.close()


def _with_blender(words: list[str], pool: Any, cores: int) -> int:
    try:
        with _on_few_cores(cores):
            import bpy  # noqa: F401
    except ImportError as reason:
        why = " ".join(str(reason).split())
        print(f"lookat_pd: Blender's Python module does not load ({why}); pip install bpy==5.2.*", file=sys.stderr)
        return 1
    from standalone import load

    load().register()
    return load("cli.program").main(words, "python cli", pool)


if __name__ == "__main__":
    code = run()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that was closed takes nothing any more.
        with contextlib.suppress(OSError):
            if stream is not None:
                stream.flush()
    if sys.modules.get("bpy") is not None:
        # Blender removes its folder for temporary files at an exit of its own only.
        shutil.rmtree(sys.modules["bpy"].app.tempdir, ignore_errors=True)
    # bpy 4.5 can hang when the interpreter exits.
    os._exit(code)
