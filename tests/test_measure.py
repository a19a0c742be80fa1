"""The figures of `make measure`: every walk arrives, and passes the files that it must, and none of other features."""

import subprocess
import sys
from pathlib import Path

import bpy
import pytest

ROOT = Path(__file__).resolve().parent.parent
ON_THE_WAY = {
    "live": "rig/layers/layer_action.py",
    "bake": "rig/animation/bake_transaction.py",
    "ik": "rig/animation/bake_transaction.py",
    "join": "rig/transitions/join.py",
    "dynamics": "rig/animation/bake_transaction.py",
}
BELOW = ("guards", "animation", "sampling", "detection", "controls", "layers")
"""Packages of the bridge that are no features."""
USED = {
    # Whether feet have to be planted is asked of a body by default.
    "live": {"look_at"},
    "bake": {"look_at", "look_at/body/layers.py", "look_at/body/body_rig.py", "look_at/body/body_limbs.py"},
    "ik": {"ik"},
    # Feet stay where they are by default.
    "join": {"transitions", "feet"},
    "dynamics": {"dynamics"},
}
"""Features, and files of optional ones, that are in use on a walk."""
OPTIONAL = ("look_at/body", "look_at/directing", "look_at/live_follow", "transitions/visual")
"""Features within others."""


@pytest.mark.thorough
def test_every_package_is_counted() -> None:
    """Of the product: those at the root, and `rig`, which only gathers packages."""
    run = [
        sys.executable,
        "-c",
        "import measure; print(*measure.PACKAGES, *measure.OTHERS); measure.print_imports(measure.Path('..'))",
    ]
    printed = subprocess.run(run, capture_output=True, text=True, cwd=ROOT / "tools", check=True).stdout
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages <= set(printed.splitlines()[0].split())
    assert "longest chain of imports" in printed


@pytest.mark.slow
@pytest.mark.parametrize("name", ON_THE_WAY)
def test_a_walk_arrives(name: str) -> None:
    if bpy.app.binary_path:
        pytest.skip("the walks run on the checkout, by Blender's Python module")
    command = [sys.executable, str(ROOT / "tools/walks.py"), name, str(ROOT)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    passed = {line.split("\t")[1].replace("\\", "/") for line in run.stdout.splitlines() if line.startswith("@walk")}
    assert ON_THE_WAY[name] in passed, run.stderr
    inner = [
        Path(file).relative_to("rig").as_posix() for file in passed if file.startswith("rig/") and file.count("/") > 1
    ]
    assert not [file for file in inner if not {file, _feature(file)} & {*BELOW, *USED[name]}]


def _feature(file: str) -> str:
    """The feature to which a file of the bridge belongs."""
    return next((feature for feature in OPTIONAL if file.startswith(feature)), file.split("/")[0])
