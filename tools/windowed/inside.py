"""What the Blender with a window is started with: installs the extension, runs scripts one after another, and leaves.

    blender … --python inside.py -- TASK.json

The task names the zip, the modules, the scripts in them that shall be run, and the folder for what comes out:
results.jsonl with a line a script, and pictures. A script is a generator function marked with `script`; it gets the
`Hands` and yields seconds to wait. A plain function named `prepare` in a module's neighbour `character` makes the file
that each script begins with.
"""

import importlib
import json
import os
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import bpy

TOOLS = Path(__file__).resolve().parent.parent
ROOT = TOOLS.parent
sys.path[:0] = [str(ROOT), str(TOOLS), str(ROOT / "tests")]

from windowed.hands import Hands  # noqa: E402

_LONG, _TURNS = 0.1, 5
"""Seconds from which a wait is for what Blender does meanwhile, and how often it turns then, at least."""


class _Run:
    def __init__(self, task: dict) -> None:
        self._task = task
        self._folder = Path(task["folder"])
        self._results = self._folder / "results.jsonl"
        self._hands = Hands(self._folder)

    def all(self) -> Iterator[float]:
        yield 0.3
        yield from self._script("start", self._start())
        for place in self._task["scripts"]:
            module, name = place.split(":")
            function = getattr(importlib.import_module(module), name)
            missing = function.script.missing()
            if missing:
                self._write(place, "skipped", missing, time.perf_counter())
                continue
            yield from self._open()
            yield from self._script(place, _seen(function(self._hands), self._hands))

    def _start(self) -> Iterator[float]:
        preferences = bpy.context.preferences
        # One pixel a unit, whatever the screen says of itself.
        preferences.view.ui_scale /= preferences.system.ui_scale
        preferences.view.show_developer_ui = True
        preferences.filepaths.use_auto_save_temporary_files = False
        preferences.filepaths.save_version = 0
        bpy.context.window_manager.windows[0].screen.show_statusbar = True
        if self._task["zip"]:
            yield from self._install(self._task["zip"])
        sys.path.append(self._task["path"])
        prepare = importlib.import_module(self._task["prepare"]).prepare
        with self._hands.override():
            bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True, load_ui=False)
        yield 0.2
        with self._hands.override():
            prepare(self._hands)
            bpy.ops.wm.save_as_mainfile(filepath=self._task["start"], compress=False)
        yield 0.1
        view = self._view()
        self._seen = {name: getattr(view, name).copy() for name in ("view_rotation", "view_location")}
        self._seen |= {name: getattr(view, name) for name in ("view_distance", "view_perspective")}
        space = self._hands.area("VIEW_3D").spaces.active
        self._drawn = {name: value for name, value in _switches(space) if name.startswith("show_gizmo")}
        self._over = dict(_switches(space.overlay))

    def _install(self, path: str) -> Iterator[float]:
        with self._hands.override():
            bpy.ops.extensions.package_install_files(
                filepath=path, repo="user_default", enable_on_install=True, overwrite=True
            )
        yield 0.2
        addons = bpy.context.preferences.addons
        assert any(name.endswith(".lookat_pd") for name in addons.keys()), "the zip is not enabled"

    def _view(self) -> bpy.types.RegionView3D:
        return self._hands.area("VIEW_3D").spaces.active.region_3d

    def _open(self) -> Iterator[float]:
        """The beginning of every script: the file and what the viewport shows as prepared, the window as Blender
        comes."""
        self._hands.camera = None
        window = self._hands.window
        if window.screen.is_animation_playing:
            with self._hands.override():
                bpy.ops.screen.animation_cancel(restore_frame=False)
        with self._hands.override():
            bpy.ops.wm.open_mainfile(filepath=self._task["start"], load_ui=False)
        space = self._hands.area("VIEW_3D").spaces.active
        for item, values in ((self._view(), self._seen), (space, self._drawn), (space.overlay, self._over)):
            for name, value in values.items():
                setattr(item, name, value)
        yield 0.2

    def _script(self, name: str, steps: Iterator[float]) -> Iterator[float]:
        started = time.perf_counter()
        self._say("begin", name)
        try:
            yield from steps
        except GeneratorExit:
            raise
        except BaseException as error:
            outcome, text = "failed", self._story(error)
        else:
            outcome, text = "passed", ""
        try:
            self._hands.look(name.split(":")[-1] + ("-failed" if text else ""))
        except OSError as error:
            outcome, text = "failed", text or f"no picture of the window: {error}"
        self._say("end", name)
        self._write(name, outcome, text, started)

    @staticmethod
    def _story(error: BaseException) -> str:
        """Where a script stood when it failed: only its own lines, not those of what it is run by."""
        frames = traceback.extract_tb(error.__traceback__)
        lines = [
            f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}: {frame.line}"
            for frame in frames
            if Path(frame.filename) != Path(__file__)
        ]
        return "\n".join([*lines, f"{type(error).__name__}: {error}"])

    @staticmethod
    def _say(what: str, name: str) -> None:
        """A mark in the output, so that what Blender prints can be dealt out to the scripts."""
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os.write(1, f"\n@@ {what} {name}\n".encode())

    def _write(self, name: str, outcome: str, text: str, started: float) -> None:
        row = {"name": name, "outcome": outcome, "text": text, "seconds": round(time.perf_counter() - started, 2)}
        with self._results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def _switches(item: bpy.types.bpy_struct) -> Iterator[tuple[str, bool]]:
    """What can be switched on and off there, and whether it is on."""
    for prop in item.bl_rna.properties:
        if prop.type == "BOOLEAN" and not prop.is_readonly and not prop.is_array:
            yield prop.identifier, getattr(item, prop.identifier)


def _seen(steps: Iterator[float], hands: Hands) -> Iterator[float]:
    """The same waits; while a long one lasts Blender turns several times, however slow the machine: handles events,
    draws, and works on what is live."""
    for seconds in steps:
        turns = _TURNS if seconds >= _LONG else 1
        for _ in range(turns):
            hands.filmed()
            yield seconds / turns


def _drive(steps: Iterator[float]) -> float | None:
    try:
        return next(steps)
    except StopIteration:
        code = 0
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    bpy.context.preferences.view.show_splash = False
    run = _Run(json.loads(Path(sys.argv[sys.argv.index("--") + 1]).read_text("utf-8"))).all()
    bpy.app.timers.register(lambda: _drive(run), first_interval=0.5, persistent=True)
