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


@pytest.mark.slow
@pytest.mark.parametrize("name", ON_THE_WAY)
def test_a_walk_arrives(name: str) -> None:
    if bpy.app.binary_path:
        pytest.skip("the walks run on the checkout, by Blender's Python module")
    command = [sys.executable, str(ROOT / "tools/walks.py"), name, str(ROOT)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    passed = {line.split("\t")[1].replace("\\", "/") for line in run.stdout.splitlines() if line.startswith("@walk")}
    assert ON_THE_WAY[name] in passed, run.stderr
