"""Random batches with everything that goes wrong on a farm: what a rerun makes is what an undisturbed run makes.

LOOKAT_PD_BATCHES=200 .venv-5.2/bin/python -m pytest -m slow tests/cli/test_batch_fuzz.py
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import bpy
import pytest

from extension import load

ROOT = Path(__file__).resolve().parent.parent.parent
AIM = "--point=0.5,-2,1.7"
COUNT = int(os.environ.get("LOOKAT_PD_BATCHES", "2"))
SHARDS = 2

DEADLY = """
import os, signal, sys
sys.path.insert(0, {root!r})
from standalone import load
load().register()
replace, left = os.replace, [{count}]
def deadly(temporary, final):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    replace(temporary, final)
os.replace = deadly
os._exit(load("cli.program").main(sys.argv[1:], "test"))
"""


class Farm:
    """A tree of files, the outputs and reports of shards, and what they should be."""

    def __init__(self, folder: Path, walk: Path, walk_glb: Path, linking: Path, chance: random.Random) -> None:
        self.folder, self.chance = folder, chance
        self.inputs, self.out, self.reports = folder / "in", folder / "out", folder / "reports"
        self.settle = 0.5
        self.made: dict[int, object] = {}
        """By shard, what its report was made with."""
        for number in range(chance.randint(2, 5)):
            place = self.inputs / chance.choice(["", "anna", "bo/deep"])
            place.mkdir(parents=True, exist_ok=True)
            source = chance.choice([walk, walk_glb, linking])
            shutil.copy(source, place / f"{number}{source.suffix}")
            if chance.random() < 0.25:
                content = source.read_bytes()
                (place / f"bad{number}{source.suffix}").write_bytes(content[: len(content) // 3])
        self.names = ["--name", "{stem}_{action}"] if chance.random() < 0.3 else []

    def words(self, shard: int, out: Path | None = None) -> list[str]:
        words = ["bake", self.inputs, "--output", out or self.out, "--skip-done", "--shard", f"{shard}/{SHARDS}", AIM]
        words += ["--settle-time", self.settle, "--tolerate-failures", "--report", self.reports / f"{shard}.json"]
        words += self.names
        return [str(word) for word in words]

    def state(self) -> tuple[float, list[str]]:
        return self.settle, sorted(str(path) for path in self.inputs.rglob("*.*"))

    def run(self, shard: int) -> None:
        assert load("cli.program").main(self.words(shard), "test") == 0
        self.made[shard] = self.state()

    def kill(self, shard: int) -> None:
        """Run a shard that is killed as it has written some files."""
        script = self.folder / "deadly.py"
        script.write_text(DEADLY.format(root=str(ROOT), count=self.chance.randint(0, 3)))
        done = subprocess.run([sys.executable, str(script), *self.words(shard)], capture_output=True)
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        lines = self.reports / f"{shard}.jsonl"
        wanted = (len(self.state()[1]) - shard) // SHARDS + 1
        if not done.returncode or (lines.exists() and len(lines.read_text().splitlines()) == 1 + wanted):
            # It may have been killed as it wrote its report.
            self.made[shard] = self.state()
        else:
            self.made.pop(shard, None)

    def disturb(self) -> None:
        what = self.chance.choice(["run", "run", "kill", "texture", "library", "argument", "lose", "add"])
        shard = self.chance.randint(1, SHARDS)
        if what == "run":
            self.run(shard)
        elif what == "kill":
            self.kill(shard)
        elif what == "texture":
            write_texture(self.inputs.parent, self.chance.randbytes(20))
        elif what == "library":
            write_library(self.inputs.parent, self.chance.random())
        elif what == "argument":
            self.settle = self.chance.choice([0.4, 0.5, 0.6])
        elif what == "add":
            shutil.copy(self.folder / "walk.glb", self.inputs / f"new{self.chance.randint(0, 2)}.glb")
        else:
            (self.reports / f"{shard}.json").unlink(missing_ok=True)
            (self.reports / f"{shard}.jsonl").unlink(missing_ok=True)
            self.made.pop(shard, None)

    def merges(self) -> bool:
        if not self.reports.is_dir() or not list(self.reports.iterdir()):
            return False
        words = ["report", "merge", self.reports, "--output", self.folder / "all.json", "--tolerate-failures"]
        return load("cli.program").main([*map(str, words)], "test") == 0

    def is_whole(self) -> bool:
        """Whether all shards were reported, of one and the same run."""
        states = [self.made.get(shard) for shard in range(1, SHARDS + 1)]
        return None not in states and all(state == states[0] for state in states)


def write_library(folder: Path, place: float) -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    thing = bpy.data.objects.new("Thing", None)
    thing.location.x = place
    bpy.data.libraries.write(str(folder / "library.blend"), {thing})
    os.utime(folder / "library.blend", (1.0, 1.0))


def write_texture(folder: Path, content: bytes) -> None:
    (folder / "texture.png").write_bytes(content)
    os.utime(folder / "texture.png", (1.0, 1.0))


def content(path: Path) -> object:
    """What is in an output: all of a .glb, the keys and the note of a .blend."""
    if path.suffix == ".glb":
        return path.read_bytes()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    actions = load("rig.animation.actions")
    keys = {
        (action.name, curve.data_path, curve.array_index): [tuple(key.co) for key in curve.keyframe_points]
        for action in bpy.data.actions
        for slot in action.slots
        for curve in actions.curves(action, slot)
    }
    note = json.loads(bpy.data.texts[load("cli.provenance").NAME].as_string())
    return keys, note["digest"], note["files"], [item.name for item in bpy.data.objects]


@pytest.mark.slow
@pytest.mark.skipif(bool(bpy.app.binary_path) or os.name == "nt", reason="kills a Python with bpy")
@pytest.mark.parametrize("seed", range(COUNT))
def test_a_rerun_makes_what_an_undisturbed_run_makes(seed, walk, walk_glb, tools, tmp_path, capsys) -> None:
    chance = random.Random(seed)
    write_library(tmp_path, 0.0)
    write_texture(tmp_path, b"texture")
    tools.reopen(walk)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, here):
        here.objects = ["Thing"]
    bpy.context.scene.collection.objects.link(here.objects[0])
    image = bpy.data.images.new("texture", 4, 4)
    image.source, image.filepath, image.use_fake_user = "FILE", str(tmp_path / "texture.png"), True
    farm = Farm(tmp_path, walk, walk_glb, tools.save(tmp_path / "linking.blend"), chance)
    for _ in range(chance.randint(2, 6)):
        farm.disturb()
        assert farm.merges() == farm.is_whole(), capsys.readouterr().err
    for shard in range(1, SHARDS + 1):
        farm.run(shard)
    assert farm.merges()
    undisturbed = tmp_path / "undisturbed"
    for shard in range(1, SHARDS + 1):
        assert load("cli.program").main(farm.words(shard, undisturbed), "test") == 0
    places = sorted(path.relative_to(farm.out) for path in farm.out.rglob("*.*"))
    assert places == sorted(path.relative_to(undisturbed) for path in undisturbed.rglob("*.*"))
    for place in places:
        assert content(farm.out / place) == content(undisturbed / place), place
