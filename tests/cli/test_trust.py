"""What a run never does: hang, run what it was not asked to, or touch what is not its own."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import bpy
import pytest
from attack import FACTOR, IS_RANDOM, attack
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kept
from extension import load

from . import conftest

ROOT = Path(__file__).resolve().parent.parent.parent
DIGITS = "9" * 4000
AIM = "--point=0.5,-2,1.7"
CODES = {0, 1, 2}
METHODS = [
    *load("lookat_pd.ik").METHODS,
    *load("lookat_pd.transitions.methods").METHODS,
    "optimal",
    "smoothing",
    "mass",
    "tension",
    "torque-change",
]
VERBS = {
    "bake": ["--point=0.5,-2,1.7"],
    "ik": ["--bone", "foot.L", "--point=0.2,-0.2,0.2"],
    "inertialize": ["--loop"],
    "interpolate": ["--keys", "1,11,31", "--bone", "head"],
    "reach": ["--bone", "foot.L", "--point=0.2,-0.3,0.3", "--duration", "0.5"],
    "hit": ["--hit", "5,head,0,10,0"],
    "follow": ["--bone", "head", "--target", "Ball"],
    "springs": ["--bones", "head"],
    "inspect": [],
}

needs_module = pytest.mark.skipif(bool(bpy.app.binary_path), reason="in a real Blender there is --command")


# Numbers without bound


@pytest.mark.parametrize(
    "words",
    [
        ["--range", "1", "99999999999"],
        ["--range", "1", DIGITS],
        ["--range", "-900000", "900000"],
        ["--fps", "1e-9"],
        ["--fps", "nan"],
        ["--point", "1e308,0,0"],
        ["--point", "1e30,0,0"],
        ["--settle-time", DIGITS],
        ["--damping", DIGITS],
        ["--body", "x" * 4000],
        ["--preset", "x" * 4000],
    ],
    ids=lambda words: " ".join(words)[:30],
)
def test_a_number_without_bound_gets_one_sentence(words, walk, call, tmp_path) -> None:
    aim = [] if "--point" in words else [AIM]
    outcome = call("bake", walk, *aim, *words, "--output", tmp_path / "out.blend")
    assert outcome.code == 2
    assert (
        len(outcome.errors) == 1
        and len(outcome.errors[0]) < 400
        and words[0] in outcome.errors[0].replace("there is no preset", "--preset")
    )
    assert not (tmp_path / "out.blend").exists()


@pytest.mark.parametrize(
    ("words", "content"),
    [
        ("--gaze", f'[{{"frame": {DIGITS}, "target": "Ball"}}]'),
        ("--gaze", '[{"frame": %s, "target": "Ball"}]' % ("9" * 400)),
        ("--gaze", '[{"frame": 1e9, "target": "Ball"}]'),
        ("--gaze", '[{"frame": 1, "point": [1e30, 0, 0]}]'),
        ("--gaze", '[{"frame": 1, "target": %s}]' % ("[" * 200 + "]" * 200)),
        ("--list", '[{"clip": "Walk", "at": -1000000000}, {"clip": "Walk"}]'),
        ("--list", '[{"clip": "Walk", "at": %s}, {"clip": "Walk"}]' % ("9" * 400)),
    ],
)
def test_a_file_with_a_number_without_bound_gets_one_sentence(words, content, walk, call, tmp_path) -> None:
    path = tmp_path / "given.json"
    path.write_text(content)
    outcome = call("bake" if words == "--gaze" else "inertialize", walk, words, path, "--output", tmp_path / "o.blend")
    assert outcome.code == 2
    assert len(outcome.errors) == 1 and len(outcome.errors[0]) < 400


def test_a_clip_list_over_a_million_frames_is_refused_at_once(walk, call, tmp_path) -> None:
    path = tmp_path / "list.json"
    path.write_text('[{"clip": "Walk", "at": -1000000}, {"clip": "Walk", "at": 10}]')
    outcome = call("inertialize", walk, "--list", path, "--output", tmp_path / "out.blend")
    assert outcome.code == 1
    assert "250000" in outcome.row["error"] and not (tmp_path / "out.blend").exists()


def test_an_action_over_a_million_frames_is_refused_at_once(call, tmp_path) -> None:
    hero = conftest.make_character()
    bone = hero.pose.bones["head"]
    bone.keyframe_insert("rotation_quaternion", frame=1_000_000)
    path = conftest.save(tmp_path / "long.blend")
    for verb, words in VERBS.items():
        if verb not in ("inspect", "interpolate", "reach", "hit"):
            outcome = call(verb, path, *words, "--output", tmp_path / "out.blend")
            assert outcome.code == 1
            assert "250000" in outcome.row["error"]


# Scripts


def with_scripts(folder: Path) -> tuple[Path, Path]:
    """A file whose text and driver make another file when they run, and that file."""
    hero, made = conftest.make_character(), folder / "made by a script"
    text = bpy.data.texts.new("evil.py")
    text.write(f"open({str(made)!r}, 'a').close()\n")
    text.use_module = True
    curve = hero.driver_add("location", 0)
    curve.driver.type = "SCRIPTED"
    curve.driver.expression = f"(open({str(made)!r}, 'a').close(), 0.25)[1]"
    path = conftest.save(folder / "evil.blend")
    made.unlink(missing_ok=True)
    return path, made


@pytest.mark.thorough
@pytest.mark.parametrize("prefers_scripts", [False, True])
def test_no_script_runs_without_trust(prefers_scripts, call, tmp_path) -> None:
    path, made = with_scripts(tmp_path)
    paths = bpy.context.preferences.filepaths
    before = paths.use_scripts_auto_execute
    paths.use_scripts_auto_execute = prefers_scripts
    try:
        for verb, words in VERBS.items():
            output = [] if verb == "inspect" else ["--output", tmp_path / f"{verb}.blend"]
            outcome = call(verb, path, *words, *output)
            assert not made.exists(), verb
            assert any("'location' of 'Hero'" in note and "--trust-scripts" in note for note in outcome.row["warnings"])
    finally:
        paths.use_scripts_auto_execute = before


def test_scripts_run_where_the_file_is_trusted(call, tmp_path) -> None:
    path, made = with_scripts(tmp_path)
    outcome = call("bake", path, AIM, "--output", tmp_path / "out.blend", "--trust-scripts")
    assert outcome.code == 0 and made.exists()
    assert not any("--trust-scripts" in note for note in outcome.row["warnings"])


def test_a_simple_expression_needs_no_trust(call, tmp_path) -> None:
    hero = conftest.make_character()
    curve = hero.driver_add("location", 0)
    curve.driver.type, curve.driver.expression = "SCRIPTED", "0.25 * frame"
    path = conftest.save(tmp_path / "simple.blend")
    outputs = [tmp_path / "out.glb", tmp_path / "trusted.glb"]
    plain = call("bake", path, AIM, "--output", outputs[0])
    trusted = call("bake", path, AIM, "--output", outputs[1], "--trust-scripts")
    assert plain.code == trusted.code == 0
    # The character moves all the time.
    assert not [text for text in plain.row["warnings"] if "settled" not in text]
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


@pytest.mark.slow
def test_rigify_needs_no_trust(call, tmp_path) -> None:
    kept.human()
    drivers = [
        curve.driver for owner in bpy.data.objects if owner.animation_data for curve in owner.animation_data.drivers
    ]
    assert len(drivers) > 50
    path = conftest.save(tmp_path / "human.blend")
    outcome = call("inspect", path)
    assert outcome.code == 0
    assert not any("--trust-scripts" in note for note in outcome.row["warnings"])
    assert not bpy.app.autoexec_fail or "Driver" not in bpy.app.autoexec_fail_message


# References


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("key", ["buffers", "images"])
@pytest.mark.parametrize("words", [[], ["--fps", "24"]], ids=["rate of the file", "another rate"])
def test_a_gltf_that_refers_to_a_pipe_is_refused(key, words, walk_glb, call, tmp_path) -> None:
    """As one that refers to a device, which never ends."""
    gltf = load("cli.gltf")
    document, binary = gltf.read(walk_glb)
    os.mkfifo(tmp_path / "a pipe.png")
    (tmp_path / "walk.bin").write_bytes(binary)
    document["buffers"][0]["uri"] = "walk.bin"
    if key == "buffers":
        document["buffers"][0]["uri"] = "a%20pipe.png"
    else:
        document["images"] = [{"uri": "a%20pipe.png"}]
    path = tmp_path / "walk.gltf"
    path.write_text(json.dumps(document), "utf-8")
    for output in ("out.glb", "out.blend"):
        outcome = call("bake", path, AIM, *words, "--output", tmp_path / output)
        assert outcome.code == 1 and "a%20pipe.png" in outcome.row["error"]
        assert not (tmp_path / output).exists()


# Any arguments, any files


def tree(folder: Path) -> dict[str, bytes | None]:
    """Every file below a folder with its content, and every folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


NUMBERS = ["0", "1", "-1", "7", "1e-9", "1e9", "1e308", "nan", "inf", "", "x", "9" * 30]
GIVEN = ["gaze.json", "path.json", "list.json", "walk.glb", "text.bvh", "missing.json", "report.json", "."]
"""Files that flags name."""
FLAGS = {
    "--rig": ["Hero", "Nobody", "", "Ball"],
    "--fps": [*NUMBERS, "24", "29.97"],
    "--jobs": ["1", "2", "0", "-1", "9" * 30, "x"],
    "--shard": ["1/1", "1/2", "2-3/3", "3-2/3", "0/2", "1/0", "9/2", "1-9/3", "9" * 30 + "/1", "x", "1/2/3", ""],
    "--tolerate-failures": ["0", "1", "5%", "x", "-1", "101%", "9" * 30],
    "--retry": ["0", "1", "-1", "x", "9" * 30],
    "--timeout": [*NUMBERS, "60"],
    "--format": ["blend", "glb", "fbx", "usd", "mov"],
    "--file-name": ["{stem}", "{version:999999999999}", "{stem.real}", "{0}"],
    "--dry-run": ["table", "json", "x"],
    "--key-mode": ["every", "fitted", "x", ""],
    "--fit-error": [*NUMBERS, "0.1"],
    "--fit-distance": [*NUMBERS, "0.01"],
    "--influence": [*NUMBERS, "0.5"],
    "--reach-with": ["arm", "palm", "x", ""],
    "--export-bones": ["all", "deform", "x"],
    "--export-actions": ["all", "new", "x"],
    "--set": ["bo.settle_time=1", "x", "=", "show.output=1"],
    "--progress": ["json", "openjd", "none", "auto", "x"],
    "--action": ["Walk", "Walk*", "*", "[", "?" * 200, "Nothing", ""],
    "--bone": ["head", "foot.L", "nobody", ""],
    "--target": ["Ball", "Hero:head", "Hero", "Nothing", ":"],
    "--point": ["0,-2,1", "1,2", "1e308,0,0", "nan,0,0", ""],
    "--gaze": GIVEN,
    "--path": GIVEN,
    "--list": GIVEN,
    "--profile": ["Arms Later", "fingers cut", "nobody", *GIVEN],
    "--clips": GIVEN,
    "--settle-time": [*NUMBERS, "0.3"],
    "--damping": [*NUMBERS, "critical"],
    "--damping-ratio": [*NUMBERS, "0.5"],
    "--level-head": [*NUMBERS, "0.5"],
    "--head-roll": [*NUMBERS, "15"],
    "--aim-from": ["eyes", "bone", "nose", ""],
    "--stabilize": [*NUMBERS, "0.5"],
    "--preset": ["Bird", "Nothing", "../Bird"],
    "--body": ["all", "weight,eyes", "nothing", ""],
    "--into": ["new", "current", "layer", "nowhere"],
    "--base": ["thigh.L", "head", "nobody", ""],
    "--length": NUMBERS,
    "--orientation": ["free", "keep", "target", "x"],
    "--pole": ["Ball", "Hero:head", "foot.L=Ball", "foot.R=Nothing", "Nothing", ""],
    "--iterations": [*NUMBERS[:4], "30"],
    "--method": [*METHODS, "nothing"],
    "--smoothness": NUMBERS,
    "--soft-reach": NUMBERS,
    "--contacts": ["found", "1-20", "20-1", "x"],
    "--contact": ["foot.L=found", "foot.R=1-20", "foot.L=20-1", "hand.L=x", "nobody=found", "foot.L", ""],
    "--surface": ["foot.L=Ball", "foot.R=Hero:head", "foot.L=Nothing", "hand.L", ""],
    "--contact-speed": NUMBERS,
    "--contact-height": NUMBERS,
    "--duration": [*NUMBERS, "0.4"],
    "--obstacle": ["Ball", "Hero", "Nothing", ""],
    "--via": ["0,-2,1@0.5", "0,0,0@2", "0,0,0", "nan,0,0@0.5", "x"],
    "--hit": ["10,head,0,9,0", "-5,neck,3,0,0", "1,nobody,0,1,0", "1,head,0,0,0", "1,head,nan,0,0", "head,0,1,0", ""],
    "--hips": [*NUMBERS, "0.5"],
    "--joints": ["succession", "published", "x"],
    "--largest-angle": [*NUMBERS, "20"],
    "--passes": ["0", "2", "-1", "x"],
    "--mass": NUMBERS,
    "--shape": ["capsules", "meshes", "x"],
    "--torque-limit": [*NUMBERS, "20"],
    "--strength": [*NUMBERS, "2"],
    "--plots": ["plots", "walk.blend", "new/plots"],
    "--in-place": ["even", "smooth", "all", "x"],
    "--travel": ["feet", "1.4", "x", *NUMBERS],
    "--along": ["Ball", "Hero", "Nothing", ""],
    "--direction": NUMBERS,
    "--turning": NUMBERS,
    "--speed": [*NUMBERS, "2"],
    "--library": ["*", "Walk*", "Nothing", ""],
    "--cut-cost": [*NUMBERS, "0.1"],
    "--keys": ["1,11,31", "1", "1,1", "31,1", "1e9,2e9", "x"],
    "--tension": NUMBERS,
    "--at-keys": ["pass", "stop", "x"],
    "--swing-past": [*NUMBERS, "0.2"],
    "--bone-mass": ["neck=5", "nobody=5", "neck=nan", "neck", ""],
    "--after": ["animation", "return", "hold", "x"],
    "--timing": ["people", "cost", "x"],
    "--approach": ["above", "neg-x", "free", "x"],
    "--approach-distance": [*NUMBERS, "0.05"],
    "--hold": [*NUMBERS[:4], "0.2"],
    "--inertia": ["true", "reference", "x"],
    "--passive": ["neck", "nobody", ""],
    "--stiffness": NUMBERS,
    "--friction": NUMBERS,
    "--settle": [*NUMBERS[:4], "0.2"],
    "--blend": [*NUMBERS, "0.2", "auto"],
    "--to": ["Walk", "Nothing"],
    "--source-frame": [*NUMBERS, "20"],
    "--destination-frame": [*NUMBERS, "20"],
    "--root": ["none", "heading", "x"],
    "--name": ["Walk", "{stem}_v{version:03}", "{stem}_{action}", "{who}", "{", "", "a/b"],
    "--repeat": ["1", "3", "0", "x", "9" * 30],
    "--until": [*NUMBERS[:4], "40", "9" * 30],
    "--write-to": ["constraints", "layer", "new", "current", "x"],
    "--loop-ends": ["both", "start", "end", "x"],
    "--conversation": [*GIVEN, "talk.csv"],
    "--speaker": ["Anna=Hero", "Anna=Nobody", "Anna", "=", ""],
    "--amount": ["gestures=0.5", "nods=3", "glances", "=1", "tilts=nan", "x=1"],
    "--seed": ["0", "7", "-1", "x", "9" * 30],
    "--switch": ["fk", "ik", "x", ""],
    "--limb": ["foot.L", "hand_ik.L", "nobody", ""],
    "--effector": ["foot.L=Ball", "head=0,-1,1.6", "head=Nothing", "head=nan,0,0", "nobody=Ball", "head", ""],
    "--gap": [*NUMBERS, "0.05"],
    "--hand": ["foot.R=0.1,-0.3,0.3", "foot.R=Ball", "foot.L=Ball", "foot.R=nan,0,0", "nobody=Ball", "foot.R", ""],
    "--pin": ["foot.R", "nobody", ""],
    "--look": ["head=Ball", "head=0,-3,1.6", "head", "nobody=Ball"],
    "--weight": ["0.5", "foot.L=0.5", "foot.L=2", "head=nan", "head", "x=y"],
    "--priority": ["foot.L=high", "foot.L=x", "head"],
    "--balance": [*NUMBERS, "0.5"],
    "--ease": [*NUMBERS, "0.2"],
    "--object": ["Ball", "Hero", "Nothing", ""],
    "--turn": ["none", "follow", "aim", "x"],
    "--max-speed": [*NUMBERS, "2"],
    "--max-turn": [*NUMBERS, "90"],
    "--lag-compensation": [*NUMBERS, "0.5"],
    "--bones": ["head", "spine*", "nobody", "", "["],
    "--gravity": [*NUMBERS, "0.5"],
    "--tip-factor": [*NUMBERS, "1.5"],
    "--drag": [*NUMBERS, "2"],
    "--limit": [*NUMBERS, "30"],
    "--stretch": [*NUMBERS, "0.2"],
    "--wind": [*NUMBERS, "1"],
    "--turbulence": [*NUMBERS, "0.5"],
    "--radius": [*NUMBERS, "0.05"],
    "--from-vrm": ["walk.vrm", "walk.glb", "missing.vrm", ".", ""],
    "--collider": ["floor", "mesh", "spine*", "nobody", "", "["],
}
BARE = [
    *(
        "--absolute",
        "--all-actions",
        "--all-rigs",
        "--allow-empty",
        "--allow-missing",
        "--as-published",
        "--as-seen",
        "--visual",
        "--best-cut",
        "--clean-feet",
        "--cyclic",
    ),
    *("--keep-hips", "--keep-offset", "--listed", "--lock-feet", "--loop", "--markers", "--move-keys", "--no-follow"),
    *(
        "--json",
        "--no-avoid-body",
        "--no-cyclic",
        "--no-lock-feet",
        "--no-gravity",
        "--no-lean",
        "--no-limits",
        "--location",
        "--no-location",
        "--no-offset",
        "--no-switch",
        "--selected",
        "--verify",
    ),
    *("--no-clobber", "--overwrite", "--quiet", "--verbose", "--warnings-as-errors"),
    *("--from-rest", "--match-orientation", "--palm", "--skip-done", "--smooth-pops", "--tip", "--trust-scripts"),
]
PAIRS = [("1", "20"), ("20", "1"), ("5", "5"), ("-30", "10"), ("1", "9" * 20), ("x", "1")]
TWO_NUMBERS = {"--range", "--source-range", "--destination-range"}
ALWAYS = {"--help", "--debug", "--worker", "--output", "--report", "--range"}
"""Flags that the attack gives to every run or that are of no interest to it."""

FILES = ["walk.blend", "walk.glb"] * 6 + ["cut.blend", "text.bvh", "empty.glb", "missing.blend", ".", "in put.blend"]
OUTPUTS = ["out.blend", "out.glb"] * 4 + ["new/out.glb", "new", "walk.blend", "text.bvh", "out.obj"]
REPORTS = ["report.json"] * 6 + ["walk.blend", "deep/report.json", "."]
"""What can be worked with is chosen more often, so that runs get far."""


@cache
def flags_of_verbs() -> dict[str, set[str]]:
    program = load("cli.program").parser("test")
    verbs = next(action.choices for action in program._actions if isinstance(action.choices, dict))
    found = {name: {flag for action in verb._actions for flag in action.option_strings} for name, verb in verbs.items()}
    return {name: {flag for flag in flags if flag.startswith("--")} for name, flags in found.items()}


def words_of(flag: str) -> st.SearchStrategy[list[str]]:
    if flag in TWO_NUMBERS:
        return st.sampled_from(PAIRS).map(lambda pair: [flag, *pair])
    return st.just([flag]) if flag in BARE else st.sampled_from(FLAGS[flag]).map(lambda word: [flag, word])


@st.composite
def runs(draw: st.DrawFn) -> tuple:
    """Verb, input, whether with its usual arguments, flags with their words, output and report."""
    verb = draw(st.sampled_from(sorted(flags_of_verbs())))
    able = sorted(flags_of_verbs()[verb] & {*FLAGS, *BARE, *TWO_NUMBERS})
    given = st.sampled_from(able).flatmap(words_of) if able else st.just(["--range", "1", "2"])
    chosen = [draw(st.sampled_from(words)) for words in (FILES, OUTPUTS, REPORTS)]
    # Flags of another verb now and then.
    foreign = [["--nothing"]] if draw(st.integers(0, 20)) == 20 else []
    return (
        verb,
        chosen[0],
        draw(st.sampled_from([True, True, True, False])),
        draw(st.lists(given, max_size=3)) + foreign,
        *chosen[1:],
    )


def test_the_attack_knows_every_flag() -> None:
    """A new flag needs a row in FLAGS or BARE."""
    found = flags_of_verbs()
    assert set().union(*found.values()) == {*FLAGS, *BARE, *TWO_NUMBERS, *ALWAYS}
    assert set(found) == {*VERBS, "job", "report"}


def write_report(path: Path, report: Path) -> None:
    """The report of an inspection."""
    assert load("cli.program").main(["inspect", str(path), "--report", str(report)], "test") == 0


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files, good ones and bad ones."""
    folder = tmp_path_factory.mktemp("inputs")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    conftest.make_character()
    blend = conftest.save(folder / "walk.blend")
    conftest.export(folder / "walk.glb")
    shutil.copy(blend, folder / "in put.blend")
    (folder / "cut.blend").write_bytes(blend.read_bytes()[:5000])
    (folder / "text.bvh").write_text("HIERARCHY\nROOT x\n")
    (folder / "empty.glb").touch()
    (folder / "gaze.json").write_text('[{"frame": 5, "point": [0, -2, 1.6]}, {"frame": 20, "off": true}]')
    (folder / "talk.csv").write_text("time,speaker\n0,Anna\n")
    (folder / "path.json").write_text('[{"frame": 1, "point": [0, -1, 1]}, {"frame": 20, "point": [0.5, -1, 1]}]')
    (folder / "list.json").write_text('[{"clip": "Walk"}, {"clip": "Walk", "at": 20}]')
    (folder / "reports").mkdir()
    write_report(blend, folder / "reports/one.json")
    return folder


def check_run(inputs: Path, capsys: pytest.CaptureFixture[str], run: tuple) -> None:
    """One run of the command line: no traceback, a documented code, and nothing changed but its own."""
    verb, name, usual, words, output, report = run
    folder = inputs.with_name(f"{inputs.name}-run")
    shutil.copytree(inputs, folder)
    here = Path.cwd()
    try:
        os.chdir(folder)
        before = tree(folder)
        if verb == "report":
            # The verb that has no inputs to open: reports and their folders, one of them sometimes broken.
            name = name if usual else "reports"
            given = [verb, "merge", name, "--output", report]
        else:
            given = [verb, name, *(VERBS.get(verb, []) if usual else []), *(word for flag in words for word in flag)]
            given += ["--report", report, *([] if verb == "inspect" else ["--output", output])]
        capsys.readouterr()
        began = time.monotonic()
        code = load("cli.program").main(given, "test")
        assert time.monotonic() - began < 60.0
        out, err = capsys.readouterr()
        after = tree(folder)
    finally:
        os.chdir(here)
        shutil.rmtree(folder)
    assert code in CODES, given
    assert "Traceback" not in out + err and "unexpected" not in out + err, (given, err)
    assert all(len(line) < 1000 for line in err.splitlines())
    assert code == 0 or err
    # Of a folder, all files in it are inputs.
    stems = {Path(name).stem, *(Path(path).stem for path in before if Path(path).parent == Path(name))}
    own = {output, report, *(f"{output}/{stem}{suffix}" for stem in stems for suffix in (".blend", ".glb"))}
    plots = {word for flag, *rest in words for word in rest if flag == "--plots"}
    own |= {path for path in after if any(Path(path).is_relative_to(folder) for folder in plots)}
    flags = {flag for flag, *_ in words}
    if flags & {"--format", "--name", "--file-name"}:
        own |= {path for path in after if Path(path).is_relative_to(output) and path not in before}
    own.add(report.removesuffix(".json") + ".jsonl")
    if verb == "job":
        own = {report}
    own |= {str(parent) for path in own for parent in Path(path).parents}
    named = {name, *(word for flag, *rest in words for word in rest if FLAGS.get(flag) is GIVEN)}
    changed = {path for path in before.keys() | after.keys() if before.get(path, b"-") != after.get(path, b"-")}
    assert changed <= own - named, given
    if code == 2:
        assert not changed, given
    # One of several parts may have no files.
    may_do_nothing = {"--shard", "--dry-run", "--tolerate-failures", "--allow-empty", "--no-clobber", "--skip-done"}
    if code == 0 and verb not in ("inspect", "report") and not flags & may_do_nothing:
        assert changed
    assert "walk.blend" not in changed or output == "walk.blend", given
    if report in changed:
        assert all(row["ok"] is (row["error"] is None) for row in json.loads(after[report] or b"[]"))


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(runs())
def test_any_run_keeps_to_its_own(inputs: Path, capsys: pytest.CaptureFixture[str], run: tuple) -> None:
    check_run(inputs, capsys, run)


@pytest.mark.slow
@attack(290, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(runs())
def test_any_run_keeps_to_its_own_many_times(inputs: Path, capsys: pytest.CaptureFixture[str], run: tuple) -> None:
    check_run(inputs, capsys, run)


# What the system is asked for


def outside(trace: str, allowed: list[Path]) -> set[str]:
    """Paths outside of the folders that a traced run opened for writing, made, renamed or removed."""
    found = set()
    for line in trace.splitlines():
        call = re.search(r"(\w+)\((.*)\) += (\S+)", line)
        if call is None or call[3].startswith("-1"):
            continue
        name, words = call[1], call[2]
        if name in ("open", "openat", "creat") and not re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC)", words):
            continue
        if name in (
            "access",
            "faccessat",
            "faccessat2",
            "readlink",
            "readlinkat",
            "chdir",
            "execve",
            "getcwd",
            "statfs",
        ):
            continue
        if "stat" in name or "xattr" in name:
            continue
        # A path may be within a folder that is open, whose own path strace tells.
        for folder, path in re.findall(r'(?:(?:\d+|AT_FDCWD)<([^>]*)>, )?"((?:[^"\\\\]|\\\\.)*)"', words):
            whole = os.path.normpath(ROOT / folder / path)
            if not any(Path(whole).is_relative_to(folder) for folder in allowed):
                found.add(f"{name} {whole}")
    return found


def is_known(entry: str) -> bool:
    """Devices that everybody may write to, and the folders that Blender makes for thumbnails when it starts, which stay
    empty."""
    call, _, path = entry.partition(" ")
    is_thumbnails = call == "mkdir" and re.search(r"/\.cache(/thumbnails(/.*)?)?$", path) is not None
    return path.startswith(("/dev/null", "/dev/tty", "/dev/shm", "/proc/self")) or is_thumbnails


TRACED = {
    **{verb: [verb, *words] for verb, words in VERBS.items()},
    "two processes": ["bake", *VERBS["bake"], "--jobs", "2"],
    "all actions": ["bake", *VERBS["bake"], "--all-actions", "--skip-done"],
    "plots": ["interpolate", *VERBS["interpolate"], "--plots", "{out}/plots"],
    "clips": ["inertialize", "--clips", "{glb}", "--to", "Walk"],
    "report": ["report", "merge", "{reports}"],
}


@needs_module
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
@pytest.mark.parametrize("what", TRACED)
def test_the_system_is_asked_for_nothing_outside(what, walk, tmp_path) -> None:
    folders = {name: tmp_path / name for name in ("home", "out", "current", "reports")}
    for folder in folders.values():
        folder.mkdir()
    # Its name must leave room for that of a socket.
    folders["temporary"] = Path(tempfile.mkdtemp(prefix="t"))
    write_report(walk, folders["reports"] / "one.json")
    environment = os.environ | {"HOME": str(folders["home"]), "TMPDIR": str(folders["temporary"])}
    # Python writes what it compiles beside the source, or where the variable PYTHONPYCACHEPREFIX says.
    environment |= {"BLENDER_USER_RESOURCES": str(folders["home"]), "PYTHONDONTWRITEBYTECODE": "1"}
    log, report = tmp_path / "trace", folders["out"] / "report.json"
    glb = conftest.export(tmp_path / "other.glb")
    places = {"glb": str(glb), **{name: str(folder) for name, folder in folders.items()}}
    verb, *words = (word.format(**places) for word in TRACED[what])
    if verb == "report":
        words += ["--output", str(report)]
    else:
        output = [] if verb == "inspect" else ["--output", str(folders["out"])]
        words = [str(walk), str(glb), *words, *output, "--report", str(report)]
    strace = ["strace", "-f", "-y", "-qq", "-e", "trace=%file", "-s", "4096", "-o", str(log)]
    done = subprocess.run(
        [*strace, sys.executable, str(ROOT / "cli"), verb, *words],
        cwd=folders["current"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    allowed = [folders["out"], folders["temporary"]]
    found = {entry for entry in outside(log.read_text(errors="replace"), allowed) if not is_known(entry)}
    assert not found, sorted(found)
    assert not list(folders["current"].iterdir()) and not list(folders["temporary"].iterdir())
    folders["temporary"].rmdir()
    assert not [path for path in folders["home"].rglob("*") if path.is_file()]


# Kills


def start(*words: object, **options) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, str(ROOT / "cli"), *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **options,
    )


def kill_runs(count: int, walk_glb: Path, folder: Path) -> None:
    """Kill runs while they write, at random times; each time one more run leaves whole files only, always the same."""
    chance = random.Random(None if IS_RANDOM else count)
    inputs = [Path(shutil.copy(walk_glb, folder / f"{n}.glb")) for n in range(4)]
    wanted, out = folder / "wanted", folder / "out"
    words = ["bake", *inputs, AIM, "--report"]
    assert start(*words, wanted / "report.json", "--output", wanted).wait(120) == 0
    files = {path.name: path.read_bytes() for path in wanted.glob("*.glb")}
    assert len(files) == len(inputs)
    for _ in range(count):
        shutil.rmtree(out, ignore_errors=True)
        process = start(*words, out / "report.json", "--output", out)
        until = time.monotonic() + 60.0
        while not out.exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.001)
        # All four files take about a second.
        time.sleep(chance.uniform(0.0, 1.0))
        process.send_signal(chance.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM]))
        process.wait(60)
        for path in out.glob("[0-9].glb"):
            assert path.read_bytes() == files[path.name]
        assert start(*words, out / "report.json", "--output", out).wait(120) == 0
        assert {path.name: path.read_bytes() for path in out.iterdir() if path.suffix == ".glb"} == files
        assert sorted(path.name for path in out.iterdir()) == sorted([*files, "report.json"])
        assert all(row["ok"] for row in json.loads((out / "report.json").read_text("utf-8")))


@needs_module
@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows sends no such signals")
def test_killed_runs_leave_whole_files(walk_glb, tmp_path) -> None:
    kill_runs(6 * FACTOR, walk_glb, tmp_path)
