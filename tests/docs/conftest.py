"""The demo, as the documents have it."""

import subprocess
import sys
from pathlib import Path

import pytest

from . import pages


@pytest.fixture(scope="session")
def demo() -> Path:
    """The folder of the demo, made again where the checkout is newer."""
    folder = pages.ROOT / "build/demo"
    report = folder / "report.json"
    sources = [
        path for package in ("assets", "rig", "lookat_pd", "cli") for path in (pages.ROOT / package).rglob("*.py")
    ]
    if not report.exists() or max(path.stat().st_mtime for path in sources) > report.stat().st_mtime:
        made = [sys.executable, str(pages.ROOT / "assets/demo"), "--output", "build/demo"]
        subprocess.run(made, cwd=pages.ROOT, check=True, stdout=subprocess.DEVNULL)
    return folder
