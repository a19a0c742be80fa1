"""A generated Rigify human in Blender's window: how long each change takes until it is seen, and until it is verified.

Runs the scripts of `in_window` in the Blender that BLENDER names, with the zip installed, as tests of the window do.
"""

import json
import sys
from pathlib import Path

from .rows import SECONDS, Goal, Row

_TOOLS = str(Path(__file__).resolve().parent.parent / "tools")
if _TOOLS not in sys.path:
    sys.path.append(_TOOLS)

from windowed import blender  # noqa: E402

HERE = Path(__file__).resolve().parent / "in_window"
SCRIPTS = tuple(f"answers:{name}" for name in blender.scripts_in(HERE / "answers.py"))
_MARK = "@figures "
_LIMIT = 240.0
"""Seconds that a script may take."""
_FIGURES = (
    ("drag", "settle time dragged, the correct pose at a step of the mouse, without drawing", 60e-3),
    ("drag_verified", "settle time dragged, verified after the last step", 0.5),
    ("target_seen", "key of the target moved, the correct pose", 0.15),
    ("target", "key of the target moved, verified", 0.5),
    ("chest_seen", "key of the chest edited, the correct pose", 0.15),
    ("chest", "key of the chest edited, verified", 0.5),
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
    results = blender.run(SCRIPTS, path=HERE, prepare="answers", folder=blender.ROOT / "build/benchmarks", limit=_LIMIT)
    for result in results:
        if result.outcome != "passed":
            raise RuntimeError(f"{result.name} {result.outcome}: {result.text}\n{result.output}")
        for line in result.output.splitlines():
            if line.startswith(_MARK):
                figures |= json.loads(line.removeprefix(_MARK))
    return rows(figures)


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
