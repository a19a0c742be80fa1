"""The job for OpenJD: the template, a run of it, what it looks for on a worker, and the bundle for Deadline Cloud."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from extension import load

from ..cli import conftest as character

model = pytest.importorskip("openjd.model", reason="needs openjd-cli, which is not beside a real Blender's Python")
yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parent.parent.parent
BUNDLE = ROOT / "farm" / "openjd"
needs_shell = pytest.mark.skipif(os.name == "nt", reason="the programs that stand for Blender are shell scripts")


def openjd(*words: object) -> subprocess.CompletedProcess[str]:
    start = [sys.executable, "-m", "openjd", *map(str, words)]
    return subprocess.run(start, capture_output=True, text=True, timeout=300)


def parameters(**values: object) -> list[str]:
    return [word for name, value in values.items() for word in ("-p", f"{name}={value}")]


def test_the_template_is_valid() -> None:
    done = openjd("check", BUNDLE / "template.yaml", "--output", "json")
    assert done.returncode == 0 and json.loads(done.stdout)["status"] == "success", done.stdout


def test_there_is_a_task_for_each_shard_and_one_that_merges(tmp_path) -> None:
    words = parameters(InputFolder=tmp_path, OutputFolder=tmp_path / "out", Shards=6)
    done = openjd("summary", BUNDLE / "template.yaml", *words, "--output", "json")
    assert done.returncode == 0, done.stdout
    found = json.loads(done.stdout)
    steps = {step["name"]: step for step in found["steps"]}
    assert [(name, step["total_tasks"]) for name, step in steps.items()] == [("Process", 6), ("Merge", 1)]
    assert [one["step_name"] for one in steps["Merge"]["dependencies"]] == ["Process"]


def test_its_verbs_are_those_that_write_files() -> None:
    content = yaml.safe_load((BUNDLE / "template.yaml").read_text("utf-8"))
    template = model.decode_job_template(template=content, supported_extensions=["TASK_CHUNKING"])
    verb = next(one for one in template.parameterDefinitions if one.name == "Verb")
    writing = [verb.NAME for verb in load("cli.verbs").VERBS if verb.NAME not in ("inspect", "job", "report")]
    assert sorted(verb.allowedValues) == sorted(writing)


@pytest.mark.slow
def test_a_run_makes_what_the_plain_command_makes(tmp_path) -> None:
    """Two tasks for three shards, an option that names a file, a quote and a space in names; then the same again."""
    shots, plain, out = tmp_path / "the sh'ots", tmp_path / "plain", tmp_path / "o ut"
    shots.mkdir()
    character.make_character()
    first = character.export(shots / "a.glb")
    for name in ("it's b.glb", "c.glb"):
        shutil.copy(first, shots / name)
    (shots / "gaze.json").write_text('[{"frame": 1, "point": [0.5, -2, 1.7]}]')
    program = shlex.join([sys.executable, str(ROOT / "cli")])
    words = ["bake", shots, "--gaze", shots / "gaze.json", "--skip-done", "--output", plain]
    subprocess.run([*shlex.split(program), *map(str, words)], check=True, capture_output=True)
    given = parameters(
        InputFolder=shots,
        OutputFolder=out,
        Shards=3,
        ShardsPerTask=2,
        Options="--gaze gaze.json",
        Program=program,
        Python=sys.executable,
    )
    run = ["run", BUNDLE / "template.yaml", "--step", "Merge", "--run-dependencies", *given]
    for is_done in (False, True):
        done = openjd(*run)
        assert done.returncode == 0, done.stdout
        assert "openjd_progress: 100.0" in done.stdout and "openjd_status: 2 of 2 files, 0 failed" in done.stdout
        for path in plain.iterdir():
            assert (out / path.name).read_bytes() == path.read_bytes()
        rows = json.loads((out / "report.json").read_text("utf-8"))
        assert [(row["ok"], row["skipped"]) for row in rows] == [(True, is_done)] * 3
        assert {row["shard"] for row in rows} == {"1/3", "2/3", "3/3"}
    assert sorted(path.name for path in out.iterdir()) == sorted([*os.listdir(plain), "report.json", "reports"])


@pytest.mark.slow
@pytest.mark.parametrize(("tolerated", "code"), [("0", 1), ("1", 0)])
def test_a_truncated_file_leaves_the_others_and_the_exit_code_that_is_asked_for(tolerated, code, tmp_path) -> None:
    shots, out = tmp_path / "shots", tmp_path / "out"
    shots.mkdir()
    character.make_character()
    first = character.export(shots / "a.glb")
    shutil.copy(first, shots / "c.glb")
    (shots / "b.glb").write_bytes(first.read_bytes()[:5000])
    given = parameters(
        InputFolder=shots,
        OutputFolder=out,
        Shards=2,
        Options="--point 0.5,-2,1.7",
        TolerateFailures=tolerated,
        Program=shlex.join([sys.executable, str(ROOT / "cli")]),
        Python=sys.executable,
    )
    done = openjd("run", BUNDLE / "template.yaml", "--step", "Merge", "--run-dependencies", *given)
    assert done.returncode == code, done.stdout
    rows = json.loads((out / "report.json").read_text("utf-8"))
    assert [(row["ok"], row["code"]) for row in rows] == [(True, None), (False, "input-broken"), (True, None)]
    assert sorted(path.name for path in out.glob("*.glb")) == ["a.glb", "c.glb"]


# What it looks for on a worker


def write_program(path: Path, body: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def enter(folder: Path, path: Path, *words: str) -> tuple[int, dict[str, str], str]:
    """Exit code, variables that are set, and why it fails, of the search on a worker with such programs on its path."""
    start = [sys.executable, "-I", str(BUNDLE / "worker.py"), "enter", f"--folder={folder}", *words]
    done = subprocess.run(start, capture_output=True, text=True, env={"PATH": str(path)}, timeout=60)
    lines = [line.partition(": ") for line in done.stdout.splitlines()]
    known = dict(rest.split("=", 1) for kind, _, rest in lines if kind == "openjd_env")
    return done.returncode, known, "".join(rest for kind, _, rest in lines if kind == "openjd_fail")


@needs_shell
def test_a_blender_with_the_extension_is_found(tmp_path) -> None:
    blender = write_program(tmp_path / "my bin" / "blender", 'test "$3" = lookat_pd')
    for words in ([], [f"--program={blender}"], ["--program=blender"]):
        code, known, _ = enter(tmp_path, blender.parent, *words)
        assert code == 0
        assert json.loads(known["LOOKAT_PD_COMMAND"]) == [str(blender), "--offline-mode", "--command", "lookat_pd"]


@needs_shell
def test_the_extension_is_installed_for_the_session_alone(tmp_path) -> None:
    log, package = tmp_path / "log", tmp_path / "package.zip"
    package.touch()
    blender = write_program(tmp_path / "bin" / "blender", f'echo "$BLENDER_USER_RESOURCES|$*" >> "{log}"')
    code, known, _ = enter(tmp_path / "session", blender.parent, f"--extension={package}")
    assert code == 0 and known["BLENDER_USER_RESOURCES"] == str(tmp_path / "session" / "blender")
    first = log.read_text().splitlines()[0]
    assert first.startswith(known["BLENDER_USER_RESOURCES"]) and f"--enable {package}" in first


@needs_shell
@pytest.mark.parametrize(
    ("program", "words", "expected"),
    [
        (None, ["--program=nowhere"], "nowhere"),
        (None, ["--extension=nowhere.zip"], "nowhere.zip"),
        ("exit 1", [], "install the extension"),
        ('test "$2" != --command || test "$3" != extension', ["--extension=package.zip"], "cannot install package.zip"),
    ],
)
def test_what_a_worker_lacks_is_reported_in_one_sentence(program, words, expected, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("package.zip").touch()
    if program is not None:
        write_program(tmp_path / "bin" / "blender", program)
    code, known, why = enter(tmp_path / "session", tmp_path / "bin", *words)
    assert code == 1 and "LOOKAT_PD_COMMAND" not in known
    assert expected in why and why.endswith(".")


@pytest.mark.slow
def test_the_source_is_a_python_with_bpy_and_the_zip(tmp_path) -> None:
    """The zip is unpacked; a stand-in for its command line suffices."""
    package = tmp_path / "package.zip"
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr("cli/__main__.py", "")
    code, known, why = enter(tmp_path / "session", tmp_path, f"--program={sys.executable}", f"--extension={package}")
    assert code == 0, why
    command = json.loads(known["LOOKAT_PD_COMMAND"])
    assert command[0] == sys.executable and (Path(command[1]) / "__main__.py").is_file()


# AWS Deadline Cloud


def test_the_bundle_is_one_for_deadline_cloud(tmp_path) -> None:
    """What `deadline bundle submit` does before it calls AWS."""
    loader = pytest.importorskip("deadline.client.job_bundle.loader", reason="needs deadline")
    from deadline.client.job_bundle import parameters as bundles
    from deadline.client.job_bundle.submission import AssetReferences, split_parameter_args

    loader.validate_directory_symlink_containment(str(BUNDLE))
    loader.read_yaml_or_json_object(str(BUNDLE), "template", True)
    known = bundles.read_job_bundle_parameters(str(BUNDLE))
    references = AssetReferences.from_dict(loader.read_yaml_or_json_object(str(BUNDLE), "asset_references", False))
    given = [{"name": "InputFolder", "value": str(tmp_path)}, {"name": "OutputFolder", "value": str(tmp_path / "out")}]
    bundles.apply_job_parameters(given, str(BUNDLE), known, references)
    of_queue, of_job = split_parameter_args(known, str(BUNDLE))
    assert of_queue == {"maxRetriesPerTask": 1}
    assert of_job["InputFolder"] == {"path": str(tmp_path)} and of_job["OutputFolder"] == {
        "path": str(tmp_path / "out")
    }
    assert references.input_directories == {str(tmp_path)} and references.output_directories == {str(tmp_path / "out")}
    assert references.input_filenames == {str(BUNDLE / "worker.py")}
    for one in known:
        assert one["name"].startswith("deadline:") or bundles.get_ui_control_for_parameter_definition(one)
