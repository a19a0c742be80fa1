"""The commands of docs/farm.md, as they stand there."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import bpy
import pytest

from extension import load

from ..cli import conftest as character

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "farm.md").read_text("utf-8")


def commands(heading: str) -> str:
    """The first block of commands below a heading of the page."""
    return re.search(rf"^## {heading}$.*?^```$\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[1]


@pytest.fixture
def shots(tmp_path) -> Path:
    character.make_character()
    (tmp_path / "in").mkdir()
    first = character.export(tmp_path / "in" / "a.glb")
    shutil.copy(first, first.with_name("b.glb"))
    return tmp_path


@pytest.mark.skipif(bool(bpy.app.binary_path), reason="in a real Blender there is --command")
@pytest.mark.skipif(shutil.which("parallel") is None, reason="needs GNU parallel")
@pytest.mark.slow
def test_gnu_parallel(shots) -> None:
    cli = shlex.join([sys.executable, str(ROOT / "cli")])
    environment = {**os.environ, "CLI": cli, "N": "2"}
    script = f"set -e\n{commands('GNU parallel')}"
    subprocess.run(["bash", "-c", script], cwd=shots, env=environment, check=True, timeout=300)
    rows = json.loads((shots / "out" / "report.json").read_text("utf-8"))
    assert [(row["ok"], row["shard"]) for row in rows] == [(True, "1/2"), (True, "2/2")]
    assert sorted(path.name for path in (shots / "out").iterdir()) == ["a.glb", "b.glb", "report.json", "reports"]


SBATCH = """#!/bin/sh
for word; do
  case $word in
  --array=*) tasks=${word#--array=1-} ;;
  --dependency=*) echo "$word" >> dependencies ;;
  esac
  last=$word
done
for SLURM_ARRAY_TASK_ID in $(seq ${tasks:-1}); do
  export SLURM_ARRAY_TASK_ID
  sh -c "$last" >/dev/null || exit 1
done
echo 7
"""


@pytest.mark.skipif(os.name == "nt", reason="sbatch is a shell script here")
def test_slurm(shots, monkeypatch) -> None:
    """sbatch and the command line are stand-ins; a cluster has run the lines by hand."""
    for name, body in (("sbatch", SBATCH), ("cli", '#!/bin/sh\necho "$*" >> called\n')):
        (shots / name).write_text(body)
        (shots / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{shots}:{os.environ['PATH']}", "CLI": str(shots / "cli"), "N": "2"}
    subprocess.run(["bash", "-ec", commands("Slurm")], cwd=shots, env=environment, check=True, timeout=60)
    assert (shots / "dependencies").read_text() == "--dependency=afterany:7\n"
    monkeypatch.chdir(shots)
    main = load("cli.program").main
    called = [shlex.split(line) for line in (shots / "called").read_text().splitlines()]
    assert [words[:2] for words in called] == [["bake", "in"], ["bake", "in"], ["report", "merge"]]
    assert [main(words, "test") for words in called] == [0, 0, 0]
    assert len(json.loads((shots / "out" / "report.json").read_text("utf-8"))) == 2
