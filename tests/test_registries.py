"""One place to add a thing: a row in its table is found wherever such things are listed.

The same for methods of inverse kinematics is in `operators/test_ik_drag.py`.
"""

import argparse
import importlib
import importlib.util
import inspect
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest

from extension import load

from .rig import scenes
from .rig.look_at.body import bodies
from .rig.transitions import motions

integrators = load("lookat_pd.pd.integrators")
layers = load("rig.look_at.body.layers")
methods = load("lookat_pd.transitions.methods")
ik_methods = load("lookat_pd.ik.methods")
InvalidArgument = load("lookat_pd.errors").InvalidArgument
program = load("cli.program")
rotation = load("lookat_pd.rotation")

PACKAGE = Path(load().__file__).parent
DOCS = Path(__file__).resolve().parent.parent / "docs"


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch):
    """Loads a module of the add-on as it would be after a start of Blender, with the tables as they are now."""

    def again(name: str) -> ModuleType:
        known = load(name)
        spec = importlib.util.spec_from_file_location(known.__name__, known.__file__)
        module = importlib.util.module_from_spec(spec)
        # What is loaded after it imports from it.
        monkeypatch.setitem(sys.modules, known.__name__, module)
        spec.loader.exec_module(module)
        return module

    return again


def registered(owner: type, name: str) -> Any:
    """A property of a class as Blender knows it once it is registered: its name, tooltip and items."""
    written = (inspect.get_annotations(kind) for kind in owner.__mro__)
    deferred = next(annotations[name] for annotations in written if name in annotations)
    holder = type("LookAtPDRegistered", (bpy.types.PropertyGroup,), {"__annotations__": {name: deferred}})
    bpy.utils.register_class(holder)
    try:
        found = holder.bl_rna.properties[name]
        items = getattr(found, "enum_items", ())
        return SimpleNamespace(
            name=found.name,
            description=found.description,
            items={item.identifier: (item.name, item.description) for item in items},
        )
    finally:
        bpy.utils.unregister_class(holder)


def parsed(*words: str) -> argparse.Namespace:
    return program.parser("test").parse_args(words)


def help_of(verb: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit):
        parsed(verb, "--help")
    return " ".join(capsys.readouterr().out.split())


def page(name: str) -> list[str]:
    return (DOCS / name).read_text("utf-8").splitlines()


def row_of(name: str, begin: str) -> str:
    """The line of a page that begins so."""
    return next(line for line in page(name) if line.startswith(begin))


def table(name: str, head: str) -> list[list[str]]:
    """The cells of the table of a page whose first line begins so, without its first two lines."""
    lines = page(name)
    begin = next(n for n, line in enumerate(lines) if line.startswith(head))
    rows = lines[begin + 2 :]
    end = next((n for n, line in enumerate(rows) if not line.startswith("|")), len(rows))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in rows[:end]]


def distinct(rows: dict[str, Any], *fields: str) -> None:
    """Every row stands under its own id, and differs from the others in these fields."""
    assert list(rows) == [row.id for row in rows.values()]
    for field in ("id", *fields):
        values = [getattr(row, field) for row in rows.values()]
        assert all(values) and len(set(values)) == len(values), field


# Integrators


def test_integrators_are_distinct_and_one_is_the_default() -> None:
    distinct(integrators.INTEGRATORS, "label", "description")
    assert [row.id for row in integrators.INTEGRATORS.values() if row.is_default] == ["exact"]


def test_an_integrator_is_one_row(monkeypatch: pytest.MonkeyPatch, fresh) -> None:
    pd = load("lookat_pd.pd")
    target = np.linspace(0.0, 1.0, 20)[:, None]
    with pytest.raises(InvalidArgument, match=r"use one of exact, stable, euler\."):
        pd.track(target, 0.02, 0.5, integrator="still")
    row = replace(
        integrators.INTEGRATORS["euler"], id="still", label="Still", description="As a test", limit=lambda z, o: 0.125
    )
    monkeypatch.setitem(integrators.INTEGRATORS, row.id, row)
    for found, wanted in zip(*(pd.track(target, 0.02, 0.5, integrator=n) for n in ("still", "euler")), strict=True):
        assert np.array_equal(found, wanted)
    assert pd.step_limit(0.5, 1.0, "still") == 0.125
    with pytest.raises(InvalidArgument, match="still"):
        pd.step_limit(0.5, 1.0, "unknown")
    followers = load("lookat_pd.pd.followers")
    assert not followers.Tuning(integrator="still").is_exact
    fresh("rig.layers.controller_settings")
    for owner in (fresh("rig.look_at.settings").LookAtSettings, fresh("rig.pd_follow.settings").PDFollowSettings):
        assert registered(owner, "integrator").items["STILL"] == ("Still", "As a test")


def test_integrators_are_documented() -> None:
    rows = integrators.INTEGRATORS.values()
    words = row_of("look-at/settings.md", "| **Integrator**").split("|")[2]
    assert re.findall(r"\*([^*]+)\*", words) == [row.label for row in rows]
    words = row_of("scripting.md", "| `integrator`").split("|")[2]
    assert re.findall(r'"(\w+)"', words) == [row.identifier for row in rows]


# Methods of transitions


@pytest.fixture
def jump(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """One more way to pass from one clip to another: the pose before stands still for the whole blend."""

    def blend(previous, target, source, dt, duration, kind):
        result = target.copy()
        result[: int(np.max(duration) / dt)] = previous[1]
        return result

    row = methods.TransitionMethod("jump", "Jump", "As a test", "a jump", blend)
    monkeypatch.setitem(methods.METHODS, row.id, row)
    return row


def test_methods_of_transitions_are_distinct_and_one_is_the_default() -> None:
    distinct(methods.METHODS, "label", "description", "summary")
    assert [row.id for row in methods.METHODS.values() if row.is_default] == ["auto"]


def test_a_method_of_transitions_is_one_row(jump) -> None:
    join, splice = load("rig.transitions.join"), load("rig.transitions.splice")
    armature = motions.character()
    run, walk = motions.walk(armature, "Run", seed=1), motions.walk(armature, "Walk", seed=2)
    bpy.context.scene.render.fps = 24
    made = join.join(armature, join.ClipRef(run, 21), join.ClipRef(walk, 9), splice.Blend(10 / 24, "JUMP"), root="NONE")
    held = motions.poses(armature, made.action, range(20, 30))
    assert np.allclose(held, held[:1], atol=1e-6)
    with pytest.raises(
        InvalidArgument, match="INERTIAL, DEAD, FADE, CUT, AUTO, SPRING, LINEAR, UNCLAMPED, SWING, JUMP"
    ):
        splice.Blend(0.1, "UNKNOWN")


def test_a_method_of_transitions_is_in_every_menu(jump, fresh) -> None:
    settings = fresh("rig.transitions.settings")
    owners = [settings.TransitionSettings]
    for name in ("inertialize", "chain_actions", "strip_transition"):
        operators = fresh(f"operators.{name}")
        owners += [kind for key, kind in vars(operators).items() if key == f"LOOKAT_PD_OT_{name}"]
    assert len(owners) == 4
    for owner in owners:
        assert registered(owner, "method").items["JUMP"] == ("Jump", "As a test"), owner
    # Between strips there is nothing to cut.
    assert "CUT" not in registered(owners[-1], "method").items


@pytest.fixture
def registered_jump(jump, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The same, while the settings are registered with it."""
    settings = load("rig.transitions.settings")

    def again() -> None:
        kept = settings.CURRENT_ACTION
        settings.unregister()
        importlib.reload(settings)
        # The operators stay as they are, and have put their names into the list that was there.
        settings.CURRENT_ACTION = kept
        settings.register()

    again()
    yield jump
    monkeypatch.undo()
    again()


def test_a_method_of_transitions_is_on_the_command_line(registered_jump, capsys: pytest.CaptureFixture[str]) -> None:
    options = parsed("inertialize", "a.blend", "--to", "Walk", "--output", "b.blend", "--method", "jump")
    assert load("cli.verbs.inertialize.mode_task").method(options) is registered_jump
    assert "cross-fade, none, automatic choice, a damped spring" in help_of("inertialize", capsys)
    assert "or a jump (default: auto)" in help_of("inertialize", capsys)


def test_methods_of_transitions_are_documented() -> None:
    rows = methods.METHODS.values()
    listed = [cells[0].strip("*") for cells in table("transitions/methods.md", "| method | what it does |")]
    assert listed == [row.label for row in rows]
    cell = row_of("command-line.md", "| `--method` | `inertial`").split("|")[2]
    assert re.findall(r"`(\w+)`", cell) == [row.id for row in rows]
    assert f"`{methods.default().id}` (default)" in cell


# Methods of inverse kinematics


def test_methods_of_inverse_kinematics_are_documented() -> None:
    rows = table("ik/solvers.md", "| solver | method |")
    listed = [label for cells in rows for label in re.findall(r"\*\*(.+?)\*\*", cells[0])]
    assert sorted(listed) == sorted(row.label for row in ik_methods.METHODS.values())


# Layers of the body


@pytest.fixture
def nod(monkeypatch: pytest.MonkeyPatch) -> Any:
    """One more layer, which turns a hand as long as the look-at is on."""

    def find(request, body):
        return replace(body, turned=(*body.turned, "hand.L"))

    def respond(motion):
        motion.offsets["hand.L"] = rotation.exp(motion.influence[:, None] * np.array([0.0, 0.0, 0.5]))

    row = layers.BodyLayer(
        "nod",
        "body",
        "use_nod",
        "Nod",
        "As a test",
        find=find,
        respond=(respond,),
        report="hand",
        reported=lambda body: [bone for bone in body.turned if bone == "hand.L"],
        amounts=("arm_recoil",),
    )
    monkeypatch.setitem(layers.LAYERS, row.id, row)
    # The registered settings know nothing of the switch until Blender starts again.
    monkeypatch.setattr(load("rig.look_at.body.settings").LookAtBody, "use_nod", False, raising=False)
    return row


def test_layers_are_distinct() -> None:
    distinct(layers.LAYERS, "label", "description", "report", "find", "respond")
    assert all(layer.needs in ("", *layers.LAYERS) for layer in layers.LAYERS.values())


def test_every_layer_can_be_set() -> None:
    """Its switch and its amounts are properties of its group, shown as the row says."""
    settings = load("rig.look_at.body.settings")
    groups = {"body": settings.LookAtBody, "eyes": settings.LookAtEyes}
    for layer in layers.LAYERS.values():
        properties = groups[layer.group].bl_rna.properties
        switch = properties[layer.switch]
        assert (switch.name, switch.description, switch.type) == (layer.label, layer.description, "BOOLEAN")
        assert set(layer.amounts) <= set(properties.keys())
        assert set(layer.amounts) <= set(settings.TUNING[layer.group])
        assert layer.switch in settings.BONES[layer.group]


def test_a_layer_is_one_row(nod, monkeypatch: pytest.MonkeyPatch) -> None:
    armature = bodies.person(moving=False)
    scenes.aim(armature, scenes.ball()).body.use_planted_feet = False
    look_at = load("rig.look_at.resolve")
    assert look_at.resolve(armature, "head").body is None
    monkeypatch.setattr(load("rig.look_at.body.settings").LookAtBody, "use_nod", True)
    (result,) = scenes.run_bake(armature, first=1, last=5)
    paths = keyed(result.action)
    assert 'pose.bones["hand.L"]' in paths
    turned = armature.pose.bones["hand.L"]
    scenes.goto(3)
    assert np.isclose(rotation.angle(quaternion(turned)), 0.5, atol=1e-5)
    body = result.look_at.body
    assert layers.report(body)["hand"] == ["hand.L"]
    assert load("cli.verbs.bake")._body_of(result)["body"]["hand"] == ["hand.L"]


def keyed(action: bpy.types.Action) -> set[str]:
    """What has keys in an action, without the names of the properties."""
    curves = [
        curve for layer in action.layers for strip in layer.strips for bag in strip.channelbags for curve in bag.fcurves
    ]
    return {curve.data_path.rpartition(".")[0] for curve in curves}


def quaternion(bone: bpy.types.PoseBone) -> np.ndarray:
    return np.array(bone.matrix_basis.to_quaternion())


def test_a_layer_has_a_switch_and_a_place_in_the_panel(nod, fresh) -> None:
    settings = fresh("rig.look_at.body.settings")
    shown = registered(settings.LookAtBody, "use_nod")
    assert (shown.name, shown.description) == ("Nod", "As a test")
    assert "use_nod" in settings.BONES["body"] and settings.TUNING["body"].count("arm_recoil") == 2
    drawn: list[str] = []
    armature = bodies.person(moving=False)
    load("panels.body_response").draw_body(Layout(drawn), scenes.aim(armature, scenes.ball()))
    assert "use_nod" in drawn and drawn[drawn.index("use_nod") + 1] == "arm_recoil"


class Layout:
    """Notes which properties are drawn."""

    def __init__(self, drawn: list[str]) -> None:
        self._drawn = drawn

    def prop(self, owner: Any, name: str, **options: Any) -> None:
        self._drawn.append(name)

    def prop_search(self, owner: Any, name: str, *rest: Any, **options: Any) -> None:
        self._drawn.append(name)

    def column(self, **options: Any) -> "Layout":
        return self


def test_a_layer_is_on_the_command_line(nod, capsys: pytest.CaptureFixture[str]) -> None:
    assert parsed("bake", "a.blend", "--output", "b.blend", "--body", "arms,nod").body == ("arms", "nod")
    assert "nod" in parsed("bake", "a.blend", "--output", "b.blend", "--body", "all").body
    assert "weight, arms, hands, breathing, feet, eyes, blink, lids, nod" in help_of("bake", capsys)


def test_layers_are_documented() -> None:
    rows = layers.LAYERS.values()
    listed = [tuple(cells) for cells in table("body.md", "| response |")]
    assert listed == [(f"**{row.label}**", row.group.capitalize(), f"`{row.id}`") for row in rows]
    words = re.findall(r"`(\w+)`", row_of("command-line.md", "| `--body`").split("|")[2])
    assert words == ["all", *(row.id for row in rows)]


# Naming conventions


def test_a_naming_convention_is_one_row(tmp_path: Path) -> None:
    """With a row for Latin, the limbs of a skeleton with Latin names are found."""
    for package in ("lookat_pd", "rig/detection"):
        shutil.copytree(PACKAGE / package, tmp_path / "latin" / package, ignore=shutil.ignore_patterns("__pycache__"))
    vocabulary = tmp_path / "latin" / "rig" / "detection" / "vocabulary.py"
    row = """    Convention(
        "Latin",
        "femur sinistrum",
        left="sinistrum",
        right="dextrum",
        parts={"head": "caput", "neck": "collum", "hips": "coxa", "upper_arm": "bracchium", "hand": "manus"},
    ),
"""
    text = vocabulary.read_text("utf-8")
    assert text.count("CONVENTIONS = (\n") == 1
    vocabulary.write_text(text.replace("CONVENTIONS = (\n", "CONVENTIONS = (\n" + row), "utf-8")
    said = subprocess.run([sys.executable, "-c", LATIN, str(tmp_path)], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    # Blender, which is imported, may warn in lines of its own.
    words = " ".join(said.stdout.splitlines()[-3:]).split()
    assert words == ["caput", "collum", "coxa", "L:bracchium", "R:manus", "ManusDextrum"]


LATIN = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from latin.lookat_pd.skeleton import Skeleton
from latin.rig.detection import detect, limb_chains, names
bones = {
    "coxa": (None, 0, 1.0), "collum": ("coxa", 0, 1.5), "caput": ("collum", 0, 1.6),
    "bracchium_sinistrum": ("collum", 0.2, 1.5), "ManusSinistrum": ("bracchium_sinistrum", 0.6, 1.5),
    "bracchium_dextrum": ("collum", -0.2, 1.5), "ManusDextrum": ("bracchium_dextrum", -0.6, 1.5),
}
called = list(bones)
heads = np.array([(x, 0.0, z) for _, x, z in bones.values()])
parents = np.array([-1 if above is None else called.index(above) for above, _, _ in bones.values()])
still = np.tile([1.0, 0.0, 0.0, 0.0], (len(bones), 1))
skeleton = Skeleton(called, parents, still, heads, heads + (0.0, 0.0, 0.1))
head = detect.find_head(skeleton)
print(*(link.bone for link in detect.find_chain(skeleton, head)))
upper, hand = names.read_names(["bracchium sinistrum", "manusdextrum"])
print(f"{upper.side}:{upper.words[0]}", f"{hand.side}:{hand.words[0]}")
print(limb_chains.find(skeleton).arms[1][-1])
"""


def test_word_lists_stand_in_the_vocabulary_only() -> None:
    """No module that reads names has words of its own."""
    modules = (PACKAGE / "rig" / "detection").glob("*.py")
    readers = [path for path in modules if path.name != "vocabulary.py"]
    wrong = [
        path.name for path in readers if re.search(r"frozenset\(\s*[({\[]\s*[({\[]?\s*\"", path.read_text("utf-8"))
    ]
    assert readers and not wrong
