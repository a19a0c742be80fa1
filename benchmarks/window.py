"""A generated Rigify human in Blender's window: how long each change takes until it is seen, and until it is verified.

Runs the scripts of `in_window` in the Blender that BLENDER names, with the zip installed, as tests of the window do.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .rows import SECONDS, Goal, Row

_TOOLS = str(Path(__file__).resolve().parent.parent / "tools")
if _TOOLS not in sys.path:
    sys.path.append(_TOOLS)

from windowed import blender  # noqa: E402

HERE = Path(__file__).resolve().parent / "in_window"
SCRIPTS = tuple(f"answers:{name}" for name in blender.scripts_in(HERE / "answers.py"))
SCENARIOS = blender.ROOT / "tests/window/scenarios"
EDITS = tuple(
    f"{module}:{name}"
    for module in ("gaps", "measured.edits")
    for name in blender.scripts_in(SCENARIOS.joinpath(*module.split(".")).with_suffix(".py"))
)
"""The scenarios that make each kind of edit; the first are tests too."""
_MARK = "@figures "
_LIMIT, _EDITING = 240.0, 1800.0
"""Seconds that a script may take, and one that makes all kinds of edits."""
_FIGURES = (
    ("drag", "settle time dragged, the correct pose at a step of the mouse, without drawing", 60e-3),
    ("drag_verified", "settle time dragged, verified after the last step", 0.5),
    ("target_seen", "key of the target moved, the correct pose", 0.15),
    ("target", "key of the target moved, verified", 0.5),
    ("target_worked", "key of the target moved, verified, without drawing", 0.5),
    ("chest_seen", "key of the chest edited, the correct pose", 0.15),
    ("chest", "key of the chest edited, verified", 0.5),
    ("chest_worked", "key of the chest edited, verified, without drawing", 0.5),
    ("long_first_seen", "1,000 frames, all of Body and Eyes switched on, the correct pose", 1.0),
    ("long_first", "1,000 frames, all of Body and Eyes switched on, verified", 4.0),
    ("long_seen", "1,000 frames, all of Body and Eyes, settle time moved, the correct pose", 1.0),
    ("long", "1,000 frames, all of Body and Eyes, settle time moved, verified", 4.0),
    ("opened", "file opened, until what is seen is right", 1e-3),
)
"""Figure, what it is, and the goal [s]."""
_WORK = {"drag", "long_first", "long"}
"""Figures that have a ratio: in the others the window waits for a hand to rest, on any machine as long."""


def run() -> list[Row]:
    """The table of the window; a row without figures where there is none."""
    if reason := blender.why_no_window():
        return [Row("window", "A generated Rigify rig in Blender's window", also=f"not measured: {reason}")]
    figures: dict[str, float] = {}
    edits: list[dict[str, Any]] = []
    folder = blender.ROOT / "build/benchmarks"
    for result in blender.run(SCRIPTS, path=HERE, prepare="answers", folder=folder, limit=_LIMIT):
        if result.outcome != "passed":
            raise RuntimeError(f"{result.name} {result.outcome}: {result.text}\n{result.output}")
        for found in _printed(result):
            figures |= found
    for result in blender.run(EDITS, path=SCENARIOS, prepare="character", folder=folder, limit=_EDITING):
        # One that takes longer than it may is a figure, too.
        edits += _printed(result)
    return [*rows(figures), *turns(edits)]


def _printed(result: blender.Result) -> list[dict[str, Any]]:
    lines = result.output.splitlines()
    return [json.loads(line.removeprefix(_MARK)) for line in lines if line.startswith(_MARK)]


def turns(edits: Sequence[dict[str, Any]]) -> list[Row]:
    """A row for each rig: how long the edit that does so longest holds a turn of the window's loop up, beyond what
    Blender needs for it; and one of what shows progress.

    edits: "edit", the name of the rig and of the edit; "added" [s]; "most" [s], which it may add.
    """
    by_kind: dict[tuple[str, float], list[dict[str, Any]]] = {}
    for edit in edits:
        by_kind.setdefault((edit["edit"].split(", ")[0], edit["most"]), []).append(edit)
    made = []
    for (rig, most), some in by_kind.items():
        longest = max(some, key=lambda edit: edit["added"])
        kind = "of edits" if most == min(edit["most"] for edit in edits) else "of bakes and joins"
        name = longest["edit"].removeprefix(f"{rig}, ")
        key = f"window.turns.{rig.replace(' ', '_')}.{kind.split()[-1]}"
        what, also = f"{rig}: added to a turn, the longest {kind}", f"{name}, of {len(some)}"
        made.append(Row(key, what, longest["added"], goal=Goal(most, SECONDS), group="Turns of the window", also=also))
    return made


def rows(figures: dict[str, float]) -> list[Row]:
    """The rows of what the scripts have measured [s], as ratios to one pass over the frames of the whole rig."""
    base = figures["stepping"]
    group = f"A generated Rigify rig of {figures['bones']} bones in Blender's window"
    made = [Row("window.stepping", "stepping the whole rig once over 250 frames", base, group=group)]
    for key, what, goal in _FIGURES:
        seconds = figures[key]
        limit = Goal(goal, SECONDS) if goal is not None else None
        ratio, peer = (seconds / base, "stepping") if key in _WORK else (None, "")
        made.append(Row(f"window.{key}", what, seconds, ratio, peer, limit, group))
    if "time_left" in figures:
        what = "time left that the panel shows meanwhile, where it is furthest off"
        made.append(Row("window.time_left", what, None, figures["time_left"], "what it took", Goal(1.3), group))
    return made
