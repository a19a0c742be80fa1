"""Runs all scenarios that were asked for in one Blender with a window, before the first of them is looked at."""

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))

from windowed import blender  # noqa: E402

FOLDER = blender.ROOT / "build/window"
SCENARIOS = [
    f"{path.stem}:{name}" for path in sorted((HERE / "scenarios").glob("*.py")) for name in blender.scripts_in(path)
]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "window: a test in a Blender with a window")


@pytest.fixture(autouse=True)
def empty_file() -> None:
    """These tests do not touch the Blender they run beside."""


@pytest.fixture(scope="session")
def window() -> None:
    """A Blender with a window, or no test."""
    if not os.environ.get("LOOKAT_PD_WINDOW"):
        pytest.skip("tools/test-in-window runs these")
    if reason := blender.why_no_window():
        pytest.skip(reason)


@pytest.fixture(scope="session")
def results(request: pytest.FixtureRequest, window) -> dict[str, blender.Result]:
    """What became of each scenario that was asked for."""
    wanted = [item.callspec.params["scenario"] for item in request.session.items if item.path.name == "test_window.py"]
    found = blender.run(wanted, path=HERE / "scenarios", prepare="character", folder=FOLDER)
    return {result.name: result for result in found}
