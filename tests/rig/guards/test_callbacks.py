"""Whatever Blender calls by itself may fail: the file can be worked with, the panel says it, and it is said once."""

import ast
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, SimpleNamespace

import bpy
import pytest

from extension import load

from .. import scenes

ROOT = Path(__file__).resolve().parents[3]
callbacks = load("rig.guards.callbacks")
faults = load("rig.guards.faults")
live = load("rig.layers.live")
panels, operators = load("panels"), load("operators")
viewport, menus = load("panels.viewport"), load("panels.menus")
PACKAGE = callbacks.__name__.removesuffix(".rig.guards.callbacks")


@pytest.fixture(autouse=True)
def no_fault() -> Iterator[None]:
    faults.forget()
    yield
    faults.forget()


def fail(*_: object, **__: object) -> None:
    raise ZeroDivisionError("planted")


def handlers() -> list[Callable]:
    """All that the extension has in Blender's lists."""
    lists = [value for name in dir(bpy.app.handlers) if isinstance(value := getattr(bpy.app.handlers, name), list)]
    return [call for calls in lists for call in calls if call.__module__.startswith(PACKAGE)]


def of_classes() -> Iterator[tuple[type, str, Callable]]:
    """All that Blender calls of the extension's classes: class, name and function."""
    for kind in {kind for module in panels.MODULES for kind in panels.drawn(module)} | {
        kind for module in operators.MODULES for kind in operators.guarding.operators(module)
    }:
        for name in callbacks._calls(kind):
            found = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
            plain = found.__func__ if isinstance(found, classmethod) else found
            if isinstance(plain, FunctionType):
                yield kind, name, plain


def planted(call: Callable, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch, *arguments: object):
    """What a guarded function gives where it fails, twice; it must say so once."""
    faults.forget()
    monkeypatch.setattr(call, "__wrapped__", fail)
    capsys.readouterr()
    given = [call(*arguments), call(*arguments)]
    assert isinstance(faults.last(), ZeroDivisionError), call
    assert faults.is_new()
    assert capsys.readouterr().err.count("Traceback") == 1, f"{call} is printed at each call"
    return given[0]


@pytest.mark.every_blender
def test_handlers_keep_still_where_they_fail(capsys, monkeypatch, subtests) -> None:
    assert len(handlers()) > 20
    for call in handlers():
        with subtests.test(call=call.__qualname__):
            assert callbacks.is_guarded(call)
            assert planted(call, capsys, monkeypatch, None, None) is None


def test_timers_end_where_they_fail(capsys, monkeypatch) -> None:
    calls = []

    def soon() -> float:
        calls.append(1)
        return 0.1

    guard = callbacks.timer(soon)
    assert guard is callbacks.timer(soon)
    assert guard() == 0.1
    assert planted(guard, capsys, monkeypatch) is None, "it would be called again"
    callbacks.start_timer(soon, 10.0)
    assert callbacks.is_timed(soon)
    callbacks.stop_timer(soon)
    assert not callbacks.is_timed(soon)
    callbacks.stop_timer(soon)


def test_drawing_in_the_viewport_goes_on(capsys, monkeypatch, subtests) -> None:
    # Without a window there is nothing that could be cleared.
    monkeypatch.setattr(viewport.gpu.state, "blend_set", lambda _: None)
    monkeypatch.setattr(viewport.gpu.state, "depth_test_set", lambda _: None)
    guard = viewport.guarded(fail)
    assert planted(guard, capsys, monkeypatch) is None


def test_classes_are_drawn_with_a_sentence_where_they_fail(capsys, monkeypatch, subtests) -> None:
    drawn = []
    monkeypatch.setattr(load("panels.newcomer").status, "draw_long", lambda *said: drawn.append(said[2]))
    for kind, name, call in of_classes():
        with subtests.test(of=kind.__name__, call=name):
            assert callbacks.is_guarded(call), f"{kind.__name__}.{name}"
            count = call.__code__.co_argcount
            given = planted(call, capsys, monkeypatch, _Self(), *(None for _ in range(count - 1)))
            assert name != "poll" or given is False
    assert any("cannot be drawn because of a fault" in text for text in drawn)


class _Self:
    """A panel that draws nothing."""

    layout = SimpleNamespace(operator=lambda *_, **__: None)


def test_entries_of_menus_are_guarded() -> None:
    assert callbacks.is_guarded(menus._in_menu)
    assert callbacks.is_guarded(menus._beside_constraints)


def test_settings_that_are_changed_are_guarded(capsys, monkeypatch) -> None:
    def noted(self, context) -> None: ...

    made = load("rig.settings").number("Number", update=noted)
    assert callbacks.is_guarded(made.keywords["update"])
    assert planted(made.keywords["update"], capsys, monkeypatch, None, None) is None


@pytest.mark.thorough
def test_nothing_is_registered_without_a_guard() -> None:
    """There is one place for each kind of call."""
    found = []
    rooms = "rig", "operators", "panels", "cli", "translations"
    for path in (path for room in rooms for path in (ROOT / room).rglob("*.py")):
        name = str(path.relative_to(ROOT))
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            text = ast.unparse(node) if isinstance(node, ast.Attribute | ast.ImportFrom) else ""
            if text.endswith(("timers.register", "timers.unregister")) or "import persistent" in text:
                if name != "rig/guards/callbacks.py":
                    found.append(f"{name}: {text}")
            elif text.endswith("draw_handler_add") and name != "panels/viewport.py":
                found.append(f"{name}: {text}")
    assert not found


def test_blender_counts_the_same_arguments() -> None:
    for kind, name, call in of_classes():
        plain = inspect.unwrap(call)
        assert call.__code__.co_argcount == plain.__code__.co_argcount, f"{kind.__name__}.{name}"


# In the live loop


@pytest.fixture
def looking() -> bpy.types.Object:
    armature = scenes.figure()
    scenes.animate(armature)
    scenes.ball((1.0, -1.5, 1.9))
    bpy.context.view_layer.objects.active = armature
    bpy.ops.lookat_pd.add(bone="head", target="Ball")
    live.finish(bpy.context.scene)
    return armature


def test_a_fault_while_solving_is_the_status_of_the_look_at(looking, monkeypatch, capsys) -> None:
    """In a window, where it is solved in slices, and in what is called before a frame."""
    scene, settings = bpy.context.scene, looking.pose.bones["head"].lookat_pd
    with monkeypatch.context() as broken:
        broken.setattr(load("rig.look_at.look_at_solve").LookAtSolve, "steps", fail)
        settings.settle_time = 1.1
        capsys.readouterr()
        for frame in (1, 10, 20, 30):
            scene.frame_set(frame)
        status = live.status(scene, looking, "head")
        assert status.state == "ERROR"
        assert "fault in Look-at PD (ZeroDivisionError: planted)" in status.error
        assert capsys.readouterr().err.count("Traceback") == 1
    settings.settle_time = 0.4
    scene.frame_set(5)
    live.finish(scene)
    assert live.status(scene, looking, "head").state == "SOLVED", "it does not recover"
