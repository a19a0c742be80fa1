"""Which tests run in every version of Blender without saying so by the mark `every_blender`."""

from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parent
PLACES = ("rig/animation", "rig/layers", "rig/sampling", "test_structure.py", "test_registries.py")
"""Tests of what is closest to Blender's API: all of them that are quick."""


@cache
def is_close(path: Path) -> bool:
    """Whether a file of tests is in one of these places."""
    return any(path.is_relative_to(TESTS / place) for place in PLACES)
