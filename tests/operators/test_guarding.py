"""A fault that nobody foresaw leaves one sentence for the animator, and the traceback for Report a Problem."""

import json
import re

import bpy
import pytest

from extension import load

from ..rig import scenes

guarding = load("operators.guarding")
faults = load("rig.guards.faults")
report_problem = load("operators.report_problem")
project = load("rig.project")
edit = load("rig.look_at.edit")
operators = load("operators")


SECRET = "D:/alice/Secret Show/shot.blend"


@pytest.fixture(autouse=True)
def no_fault():
    faults.forget()
    yield
    faults.forget()


def fail(*_: object, **__: object) -> None:
    {}[SECRET]


@pytest.fixture
def failing(monkeypatch) -> bpy.types.Object:
    """A character, and a fault planted where a look-at is added."""
    armature = scenes.figure()
    monkeypatch.setattr(edit, "add", fail)
    return armature


@pytest.mark.every_blender
def test_a_fault_is_one_sentence(failing, capsys) -> None:
    with pytest.raises(RuntimeError) as raised:
        bpy.ops.lookat_pd.add()
    said = str(raised.value)
    assert "'Add Look-at PD' failed because of a fault in Look-at PD (KeyError:" in said
    assert "use Report a Problem in its tab." in said
    assert "Traceback" not in said and len(said.strip().splitlines()) == 1
    assert isinstance(faults.last(), KeyError)
    assert "Traceback" in capsys.readouterr().err, "developers look at the console"


def test_it_is_reported_without_names_and_paths(failing) -> None:
    with pytest.raises(RuntimeError):
        bpy.ops.lookat_pd.add()
    text = report_problem.text(bpy.context.scene)
    assert "KeyError: '…'" in text
    assert re.search(r"^operators/look_at\.py:\d+ in execute: ", text, re.MULTILINE)
    for private in ("alice", "Secret", "shot.blend", failing.name):
        assert private not in text, private


def test_the_panel_says_so_until_it_is_reported_or_dismissed(failing) -> None:
    with pytest.raises(RuntimeError):
        bpy.ops.lookat_pd.add()
    assert faults.is_new()
    bpy.ops.lookat_pd.dismiss_problem()
    assert not faults.is_new()
    assert "KeyError" in report_problem.text(bpy.context.scene), "it can still be reported"
    with pytest.raises(RuntimeError):
        bpy.ops.lookat_pd.add()
    assert faults.is_new()
    bpy.ops.lookat_pd.report_problem(open_form=False)
    assert not faults.is_new()


def test_every_operator_is_guarded() -> None:
    found = [kind for module in operators.MODULES for kind in guarding.operators(module)]
    assert {f"lookat_pd.{name}" for name in dir(bpy.ops.lookat_pd)} == {kind.bl_idname for kind in found}
    for kind in found:
        for name in ("execute", "invoke", "modal"):
            assert hasattr(getattr(kind, name, guarding.guard), "guards") or not hasattr(kind, name), kind


def test_one_that_was_running_puts_back_what_it_changed() -> None:
    class Running:
        bl_label = "Running"

        def __init__(self) -> None:
            self.said, self.canceled = [], 0

        def modal(self, context, event):
            raise ZeroDivisionError

        def cancel(self, context):
            self.canceled += 1

        def report(self, kind, text):
            self.said.append(text)

    guarding.guard(Running)
    one = Running()
    assert one.modal(None, None) == {"CANCELLED"}
    assert one.canceled == 1
    assert len(one.said) == 1


def test_names_of_the_file_are_not_in_the_report() -> None:
    own = [(f"Zorro:{name}", parent and f"Zorro:{parent}", *places) for name, parent, *places in scenes.FIGURE]
    armature = scenes.figure("Agent Orange", own)
    armature.animation_data_create().action = bpy.data.actions.new("Secret Walk")
    ball = scenes.ball(name="Maguffin")
    bpy.ops.lookat_pd.add(target=ball.name)
    load("rig.layers.live").finish(bpy.context.scene)
    text = report_problem.text(bpy.context.scene)
    for private in ("Zorro", "Agent", "Secret", "Maguffin"):
        assert private not in text, private
    assert "status of LOOK_AT: SOLVED" in text
    data = json.loads(text.partition("```json")[2].strip().strip("`"))
    assert data["rigs"][0]["bones"] == len(armature.pose.bones)
    assert data["rigs"][0]["look_ats"][0]["settle_time"] == 0.6


def test_the_form_gets_only_what_is_not_of_the_file() -> None:
    address = report_problem.address()
    assert address.startswith(f"{project.REPOSITORY}/issues/new?template=problem.yml&")
    assert f"version={project.version()}" in address
    assert set(report_problem.fields()) == {"version", "blender", "platform", "engine", "language"}


def test_reporting_copies_and_opens(monkeypatch) -> None:
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda url, *_, **__: opened.append(url))
    assert bpy.ops.lookat_pd.report_problem() == {"FINISHED"}
    assert opened == [report_problem.address()]
    assert bpy.ops.lookat_pd.report_problem(open_form=False) == {"FINISHED"}
    assert len(opened) == 1
