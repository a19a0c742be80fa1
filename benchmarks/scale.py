"""Many files: what each part of a run takes, a trial of the model that these make, and what it says of a farm.

Each run is a process of its own, as a user starts it. Its time is that of the processor, which other programs lengthen
less; only two processes are compared with one by the clock. Nothing is repeated: the runs are long enough.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time, sleep

import bpy

from standalone import load

from . import scripted
from .extension import registered
from .rows import SPEEDUP, Goal, Row, duration
from .scenes import chain_character, empty_file

ROOT = Path(__file__).resolve().parent.parent
CLI = (sys.executable, str(ROOT / "cli"))
AIM = ("--point=0.5,-2,1.7",)
KINDS = (".blend", ".glb")
LIMBS, FRAMES, LONGER = 20, 60, 250
"""Of the character, and of the clips; those of the longer ones, whose time per file is many times that of a start."""
FEW, MORE = 10, 30
"""Files of the two runs whose difference is the time per file."""
TRIAL, COMPARED, FIRST = 1_000, 200, 100
"""Files of the trial, of the comparison of one process with two, and of the run whose memory the trial's is compared
with."""
MANY, WORKERS = 100_000, 200
_POLL = 0.05
ROWS = MANY // WORKERS

console, jobs, program = load("cli.console"), load("cli.jobs"), load("cli.program")
manifest = load("lookat_pd_batch.manifest")
whole_file = load("rig.whole_file")
words = load("cli.arguments")


@dataclass(frozen=True)
class Run:
    """Seconds of a run, by the processor and by the clock, the most memory [MB] that one of its processes took, and its
    report."""

    seconds: float
    clock: float
    memory: float
    rows: list[dict]


def run() -> Sequence[Row]:
    """The rows of all tables of the page: parts, trial and farm."""
    with tempfile.TemporaryDirectory() as name, _compiled(Path(name) / "compiled"):
        return tuple(_measure(Path(name)))


@contextlib.contextmanager
def _compiled(folder: Path) -> Iterator[None]:
    """Let Python keep there what it has compiled, as it does beside the modules unless it is told otherwise."""
    kept = dict(os.environ)
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder)
    os.environ["PYTHONDONTWRITEBYTECODE"] = ""
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)


def _measure(folder: Path) -> Iterator[Row]:
    sources = _characters(folder)
    # The first process compiles the modules.
    _call("bake", "--help")
    start = _bake(_copies(sources, folder / "one", 1), folder / "none", "--shard", "2/2").seconds
    yield Row("scale.parts.start", "Start of a process, until its end without a file", start)
    per_file = {}
    for kind in KINDS:
        few, more = (_bake(_copies(sources, folder / f"{n}", n, kind), folder / f"out {n}") for n in (FEW, MORE))
        per_file[kind] = (more.seconds - few.seconds) / (MORE - FEW)
        size = sources[kind].stat().st_size / 1e3
        what = f"A {kind} file, {FRAMES} frames of {LIMBS + 10} bones"
        also = f"most memory {more.memory:.0f} MB; the file has {size:.0f} kB"
        yield Row(f"scale.parts.{kind[1:]}", what, per_file[kind], also=also)
        for n in (FEW, MORE):
            shutil.rmtree(folder / f"{n}")
            shutil.rmtree(folder / f"out {n}")
    plan = _plan(folder / "many")
    yield Row("scale.parts.plan", f"Listing {MANY:,} inputs and taking a shard", plan)
    yield Row("scale.parts.check", f"Checking an output against {MANY:,} inputs, once a run", _check(folder / "many"))
    yield Row("scale.parts.write", f"Writing into a folder with {MANY:,} files, without the content", _write(folder))
    shutil.rmtree(folder / "many")
    merge = _merge(folder / "reports")
    yield Row(
        "scale.parts.merge",
        f"Merging {WORKERS} reports of {ROWS} files each",
        merge.seconds,
        also=f"{merge.memory:.0f} MB",
    )
    yield from _trial(sources, folder, start, per_file)
    yield from _farm(sources, start + plan, per_file, merge.seconds)
    yield from scripted.rows("scale.script")


def _trial(sources: dict[str, Path], folder: Path, start: float, per_file: dict[str, float]) -> Iterator[Row]:
    inputs = _copies(sources, folder / "trial", TRIAL)
    whole = _bake(inputs, folder / "out")
    predicted = start + TRIAL / len(KINDS) * sum(per_file.values())
    yield Row("scale.trial.predicted", f"{TRIAL:,} files, half of each kind: by the model", predicted)
    yield Row(
        "scale.trial.measured", f"{TRIAL:,} files: measured", whole.seconds, whole.seconds / predicted, "the model"
    )
    again = _bake(inputs, folder / "out")
    assert all(row["skipped"] for row in again.rows)
    skip = (again.seconds - start) / TRIAL
    yield Row("scale.trial.skip", "The same again, all left out by --skip-done", skip, per="a file")
    shutil.rmtree(inputs)
    shutil.rmtree(folder / "out")
    few = _bake(_copies(sources, folder / "first", FIRST), folder / "first out")
    inputs, load_before = _copies(sources, folder / "compared", COMPARED), _load()
    one, two = (_bake(inputs, folder / f"by {n}", "--jobs", f"{n}") for n in (1, 2))
    growth = (whole.seconds - one.seconds) / (TRIAL - COMPARED) / ((one.seconds - start) / COMPARED)
    first = f"one of the first {COMPARED}"
    yield Row("scale.trial.growth", f"A file of the last {TRIAL - COMPARED}", ratio=growth, peer=first)
    size = f"{whole.memory:.0f} MB"
    what, peer = f"Most memory of {TRIAL:,} files", f"that of {FIRST}"
    yield Row("scale.trial.memory", what, None, whole.memory / few.memory, peer, Goal(1.1), also=size)
    yield from _compared("short", FRAMES, one, two, None, load_before)
    longer = _copies(_characters(folder, LONGER), folder / "longer", COMPARED)
    load_before = _load()
    one, two = (_bake(longer, folder / f"longer by {n}", "--jobs", f"{n}") for n in (1, 2))
    yield from _compared("long", LONGER, one, two, Goal(1.8, SPEEDUP), load_before)


def _load() -> str:
    """How many programs want the processor now, this one among them."""
    return f"begun at a load of {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""


def _compared(name: str, frames: int, one: Run, two: Run, goal: Goal | None, also: str) -> Iterator[Row]:
    """The rows of one process and of two that do the same. also: of the machine as they began."""
    what = f"{COMPARED} files of {frames} frames"
    yield Row(f"scale.trial.one_{name}", f"{what} by one process, by the clock", one.clock, also=also)
    also, ratio = f"most memory {two.memory:.0f} MB each", two.clock / one.clock
    two_do = f"{what} by two processes, by the clock"
    yield Row(f"scale.trial.two_{name}", two_do, two.clock, ratio, "one", goal, faster=True, also=also)


def _farm(sources: dict[str, Path], start: float, per_file: dict[str, float], merge: float) -> Iterator[Row]:
    for kind in KINDS:
        shard = start + ROWS * per_file[kind]
        read = WORKERS * sources[kind].stat().st_size / per_file[kind] / 1e6
        also = f"{_minutes(MANY * per_file[kind])} of one core; {read:.0f} MB a second are read in all"
        what = f"{MANY:,} {kind} files on {WORKERS} workers, {ROWS} each, and the merge"
        yield Row(f"scale.farm.{kind[1:]}", what, also=f"{_minutes(shard + merge)}; {also}")
        alone = start + MANY * per_file[kind]
        yield Row(f"scale.farm.alone_{kind[1:]}", f"... on one worker with one process ({kind})", also=_minutes(alone))
        lost = start + per_file[kind]
        yield Row(
            f"scale.farm.lost_{kind[1:]}", f"... lost at most where a worker is killed ({kind})", also=duration(lost)
        )


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"


def _characters(folder: Path, frames: int = FRAMES) -> dict[str, Path]:
    """A file of each kind with the same character."""
    with registered():
        chain_character(empty_file(), frames, limbs=LIMBS)
        made = {kind: folder / f"character {frames}{kind}" for kind in KINDS}
        bpy.ops.export_scene.gltf(filepath=str(made[".glb"]), export_format="GLB")
        bpy.ops.wm.save_as_mainfile(filepath=str(made[".blend"]), copy=True, compress=False)
    return made


def _copies(sources: dict[str, Path], folder: Path, count: int, kind: str | None = None) -> Path:
    """A folder with copies of a kind, or of all kinds in turn."""
    folder.mkdir()
    for number in range(count):
        suffix = kind or KINDS[number % len(KINDS)]
        shutil.copyfile(sources[suffix], folder / f"shot_{number:06}{suffix}")
    return folder


def _bake(inputs: Path, output: Path, *more: str) -> Run:
    report = inputs.with_name("report.json")
    return _call("bake", str(inputs), "--output", str(output), *AIM, "--skip-done", *more, report=report)


def _call(*words: str, report: Path | None = None) -> Run:
    given = [*words, *(["--report", str(report), "--progress", "none"] if report else [])]
    begin = perf_counter()
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen([*CLI, *given], stdout=subprocess.DEVNULL, stderr=errors)
        memory, ended = 0.0, 0
        while not ended:
            memory = max(memory, _most_memory(process.pid))
            ended, status, used = os.wait4(process.pid, os.WNOHANG)
            sleep(_POLL)
        clock = perf_counter() - begin
        errors.seek(0)
        said = errors.read()
    memory = memory or used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(said)
    of_workers = [line.partition("at most ")[2].split(" ")[0] for line in said.splitlines() if "MB each" in line]
    rows = json.loads(report.read_text("utf-8")) if report else []
    return Run(used.ru_utime + used.ru_stime, clock, max(memory, *map(float, of_workers), 0.0), rows)


def _most_memory(process: int) -> float:
    """Megabytes. What the system counts for a process that has ended includes the process that has started it."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0.0
    found = re.search(r"^VmHWM:\s+(\d+)", status, re.MULTILINE)
    return int(found[1]) / 2**10 if found else 0.0


def _busy(work: Callable[[], object]) -> float:
    """Seconds of the processor that a call takes."""
    begin = process_time()
    work()
    return process_time() - begin


def _plan(folder: Path) -> float:
    """Seconds to list many inputs and take a shard of them."""
    folder.mkdir()
    for number in range(MANY):
        (folder / f"shot_{number:06}.glb").touch()

    given = ["bake", str(folder), "--output", str(folder.with_name("new")), "--point=0,-2,1.6"]
    with registered():
        options = program.parser("benchmark").parse_args(given)

    def plan() -> None:
        with console.Console() as shown:
            jobs.expand(options, shown)
        planned = jobs.plan(options)
        sharded = jobs.in_shards(planned, lambda job: job.input, words.Shards(1, 1, WORKERS), options.inputs)
        assert len(sharded) == ROWS

    return _busy(plan)


def _check(folder: Path) -> float:
    """Seconds to find out that an output is none of many inputs."""
    inputs = sorted(folder.iterdir())
    return _busy(lambda: jobs.FilesRead(inputs[1:]).at(inputs[0]))


def _write(folder: Path) -> float:
    """Seconds to write a small file among many, after the first."""

    def write() -> None:
        with whole_file.writing(folder / "many" / "new.glb") as temporary:
            temporary.write_bytes(b"glTF")

    write()
    return _busy(write)


def _merge(folder: Path) -> Run:
    folder.mkdir()
    row = _row(folder)
    for number in range(1, WORKERS + 1):
        shard = f"{number}/{WORKERS}"
        rows = [{**row, "input": f"/in/{number}/{n}.glb", "shard": shard} for n in range(ROWS)]
        of_all = manifest.of_run([], ["bake"], "command", f"{number}-{shard}")
        manifest.put({**of_all, "total": WORKERS * ROWS, "inputs": None}, rows)
        (folder / f"{number}.json").write_text(json.dumps(rows, indent=2), "utf-8")
    return _call("report", "merge", str(folder), "--output", str(folder.with_name("all.json")))


def _row(folder: Path) -> dict:
    """What a report says of one file."""
    report = load("cli.report")
    known = {"ok": True, "rig": "Chain 0", "chain": [f"bone {n}" for n in range(10)], "frames": [1, FRAMES]}
    return {**report.new_row(folder), **known, "aim_axis": [0.0, 1.0, 0.0], "seconds": 0.3, "settled_error_deg": 0.01}
