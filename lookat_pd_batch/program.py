"""The words that call the command line from within any Blender or Python that has it."""

import sys
from collections.abc import Sequence
from pathlib import Path

NAME = "lookat_pd"
"""Of Blender's command."""


def words(more: Sequence[str] = ()) -> list[str]:
    """more: options of Blender's own; a Python without a Blender around it has none."""
    blender = sys.modules.get("bpy")
    if blender is None or not blender.app.binary_path:
        return [sys.executable, str(Path(__file__).resolve().parent.parent / "cli")]
    before = sys.argv[1 : sys.argv.index("--command")] if "--command" in sys.argv else []
    return [blender.app.binary_path, *before, *more, "--command", NAME]
