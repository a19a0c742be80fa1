"""Starts a real Blender with a window, has scripts run in it, watches it, and ends it; under any Python.

Blender is the one that BLENDER names. It opens on a screen of its own where there is Xvfb, otherwise on DISPLAY.
LOOKAT_PD_WINDOW_COMMAND, if set, is the whole command that opens a Blender on a screen, in place of both.
"""

import ast
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
_TROUBLE = re.compile(r"Traceback \(most recent call last\)|rna_ui|^Error: Python|Segmentation fault", re.MULTILINE)
_START = 180.0
"""Seconds until Blender must have started and installed the extension."""


class NoWindow(Exception):
    """There is no Blender here that could open a window."""


@dataclass(frozen=True)
class Result:
    """The result of one script."""

    name: str
    outcome: str
    """Passed, failed or skipped."""
    text: str
    seconds: float
    output: str = ""
    """What Blender printed meanwhile."""


def why_no_window() -> str | None:
    """Why no Blender can be opened in a window here, as a sentence; None where one can."""
    if os.environ.get("LOOKAT_PD_WINDOW_COMMAND"):
        return None
    blender = os.environ.get("BLENDER")
    if not blender:
        return "BLENDER names no Blender"
    if shutil.which(blender) is None:
        return f"BLENDER names no program: {blender}"
    if sys.platform != "linux":
        return "pictures of the window are taken from an X server"
    if not (shutil.which("Xvfb") or os.environ.get("DISPLAY")):
        return "there is no screen: neither Xvfb nor DISPLAY"
    return None


def scripts_in(path: Path) -> Iterator[str]:
    """Names of the scripts in a file, without importing it: it needs Blender's window."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef) and any("script" in ast.unparse(mark) for mark in node.decorator_list):
            yield node.name


def run(
    scripts: Sequence[str],
    *,
    path: Path,
    prepare: str,
    folder: Path,
    limit: float = 480.0,
    size: tuple[int, int] = (1200, 800),
    corner: tuple[int, int] = (0, 0),
    install: bool = True,
) -> Iterator[Result]:
    """Run scripts, named "module:function", one after another; results as they come, one for each.

    path: folder of the modules. prepare: the module whose `prepare` makes the file that each script begins with.
    limit: seconds that one script may take. size: of the window. corner: where its lower left one is on
    the screen. install: the extension, before anything else. Where Blender crashes or hangs, the rest is done in
    another one.
    """
    left = list(scripts)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    zip_file = _build(folder) if install else None
    while left:
        done = 0
        for result in _once(left, path, prepare, folder, zip_file, limit, (*corner, *size)):
            yield result
            done += 1
        left = left[done:]


def _build(folder: Path) -> Path:
    """The extension's zip, a copy of our own: others may build at the same time."""
    quiet = {name: value for name, value in os.environ.items() if name != "BLENDER"}
    made = subprocess.run([ROOT / "tools/build"], env=quiet, capture_output=True, text=True)
    if made.returncode:
        raise NoWindow(f"the extension cannot be built: {made.stderr.strip()}")
    return Path(shutil.copy(ROOT / made.stdout.strip().splitlines()[-1], folder))


def _once(
    scripts: list[str],
    path: Path,
    prepare: str,
    folder: Path,
    zip_file: Path | None,
    limit: float,
    geometry: tuple[int, int, int, int],
) -> Iterator[Result]:
    """Run scripts in one Blender, as far as it comes; at least one result."""
    rows, log = folder / "results.jsonl", folder / "blender.log"
    rows.unlink(missing_ok=True)
    task = folder / "task.json"
    with ExitStack() as stack:
        user = stack.enter_context(tempfile.TemporaryDirectory(prefix="user-", dir=folder, ignore_cleanup_errors=True))
        task.write_text(
            json.dumps(
                {
                    "zip": str(zip_file.resolve()) if zip_file else None,
                    "path": str(path.resolve()),
                    "prepare": prepare,
                    "start": str((folder / "start.blend").resolve()),
                    "folder": str(folder.resolve()),
                    "scripts": scripts,
                }
            ),
            "utf-8",
        )
        process = stack.enter_context(_blender(task, user, log, geometry))
        waiting, seen, since = ["start", *scripts], 0, time.monotonic()
        while seen < len(waiting):
            ended = process.poll() is not None
            fresh = rows.read_text("utf-8").splitlines()[seen:] if rows.exists() else []
            for line in fresh:
                row, since = json.loads(line), time.monotonic()
                seen += 1
                result = _judged(Result(**row), log)
                if row["name"] != "start":
                    yield result
                elif result.outcome == "failed":
                    yield Result(scripts[0], "failed", f"Blender did not get ready:\n{result.text}", 0.0, result.output)
                    return
            late = time.monotonic() - since > (limit if seen else _START)
            if not fresh and (ended or late):
                name = scripts[max(seen - 1, 0)]
                why = f"Blender ended with code {process.returncode}" if ended else "Blender hung, or was too slow"
                yield Result(name, "failed", why, time.monotonic() - since, _output(log, name) or _tail(log))
                return
            time.sleep(0.1)


def _judged(result: Result, log: Path) -> Result:
    """A script that passed has failed nevertheless if Blender complained meanwhile."""
    output = _output(log, result.name)
    text, outcome = result.text, result.outcome
    if outcome != "skipped" and _TROUBLE.search(output):
        outcome, text = "failed", text or "Blender printed an error"
    return Result(result.name, outcome, text, result.seconds, output)


def _output(log: Path, name: str) -> str:
    text = log.read_text("utf-8", "replace")
    return text.partition(f"@@ begin {name}\n")[2].partition("\n@@ end")[0].strip()


def _tail(log: Path) -> str:
    return "\n".join(log.read_text("utf-8", "replace").splitlines()[-20:])


@contextmanager
def _blender(task: Path, user: str, log: Path, geometry: tuple[int, int, int, int]) -> Iterator[subprocess.Popen]:
    with ExitStack() as stack:
        # Nothing of the tester's own, and nothing of the Python that starts it.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        environment |= {"BLENDER_USER_RESOURCES": user, "XDG_CACHE_HOME": user, "TMPDIR": user, "LANG": "C.UTF-8"}
        environment.pop("WAYLAND_DISPLAY", None)
        command = shlex.split(environment.get("LOOKAT_PD_WINDOW_COMMAND", ""))
        if not command:
            command = [environment["BLENDER"]]
            if shutil.which("Xvfb"):
                environment["DISPLAY"] = stack.enter_context(_screen(geometry))
                environment["LIBGL_ALWAYS_SOFTWARE"] = "1"
        output = stack.enter_context(log.open("wb"))
        process = subprocess.Popen(
            [
                *command,
                *("--factory-startup", "--enable-autoexec", "--enable-event-simulate", "--no-window-focus"),
                *("--window-geometry", *map(str, geometry)),
                *("--python", str(Path(__file__).with_name("inside.py")), "--", str(task)),
            ],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=ROOT,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            _end(process)


@contextmanager
def _screen(geometry: tuple[int, int, int, int]) -> Iterator[str]:
    """A screen that nobody sees; its name."""
    left, low, width, height = geometry
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", f"{left + width}x{low + height}x24", "+extension", "GLX"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(writer,),
        start_new_session=True,
    )
    os.close(writer)
    try:
        with os.fdopen(reader) as number:
            name = number.readline().strip()
        if not name:
            raise NoWindow("Xvfb does not start")
        yield f":{name}"
    finally:
        _end(server)


def _end(process: subprocess.Popen) -> None:
    """End a program with all that it has started."""
    for kind, seconds in ((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0)):
        try:
            os.killpg(process.pid, kind)
            process.wait(seconds)
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue
    if process.poll() is None:
        process.wait(5.0)
