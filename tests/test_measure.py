"""The figures of `make measure`: every walk arrives, and passes the files that it must."""

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
