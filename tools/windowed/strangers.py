"""The path of a stranger, from the page on installation to baked keys: what its test and its film have in common."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from . import blender, published

_PLACE = blender.ROOT / "tests/window/installing"
_SCRIPT = "strangers_path:stranger"
_SIZE, _CORNER = (1160, 690), (0, 260)
"""The window; Blender opens its preferences and its list of files within."""


def walk(folder: Path) -> blender.Result:
    """Do it in a Blender with a fresh user folder; pictures, and stranger.json with what it took, are in the folder."""
    with tempfile.TemporaryDirectory() as temporary:
        own = Path(temporary) / "own.blend"
        made = subprocess.run([sys.executable, _PLACE / "own_character.py", own], capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        with published.served(Path(temporary) / "server") as address:
            os.environ |= {"LOOKAT_PD_ADDRESS": address, "LOOKAT_PD_OWN_FILE": str(own)}
            (result,) = blender.run(
                [_SCRIPT],
                path=_PLACE,
                prepare="strangers_path",
                folder=folder,
                install=False,
                size=_SIZE,
                corner=_CORNER,
            )
    return result
