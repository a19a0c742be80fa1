"""No text of a panel is cut in a sidebar as Blender opens it, in English and in Japanese."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import pytest

import kept
from extension import load

from ..rig import scenes
from . import layouts
from .layouts import Layout

TABLE = json.loads((Path(__file__).resolve().parents[2] / "translations/ja.json").read_text("utf-8"))["interface"]


def english(text: str, context: str) -> str:
    return text


def japanese(text: str, context: str) -> str:
    """Blender's own words stay English: not every Blender is built with them."""
    return TABLE.get(context, {}).get(text) or TABLE["*"].get(text, text)


class Drawn:
    """A panel with a layout of our own: Blender makes no panels for scripts."""

    def __init__(self, kind: type, layout: Layout) -> None:
        self._kind, self.layout = kind, layout

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._kind, name)
        return found.__get__(self) if type(found).__name__ == "function" and not _is_static(self._kind, name) else found


def _is_static(kind: type, name: str) -> bool:
    return any(isinstance(vars(one).get(name), staticmethod) for one in kind.__mro__)


class Context:
    """The context of a 3D viewport."""

    region = SimpleNamespace(width=280)
    space_data = SimpleNamespace(overlay=SimpleNamespace(show_overlays=True))
    area = None

    def __getattr__(self, name: str) -> Any:
        return getattr(bpy.context, name)


def panels() -> Iterator[type]:
    for name in sorted(dir(bpy.types)):
        kind = getattr(bpy.types, name)
        if name.startswith("LOOKAT_PD_PT_") and "draw" in dir(kind) and not name.endswith("presets"):
            yield kind


@pytest.fixture
def everything(monkeypatch) -> bpy.types.Object:
    """A Rigify human with all that a panel can show."""
    armature = kept.human()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.lookat_pd.add(target="Ball")
    settings = armature.pose.bones["head"].lookat_pd
    settings.damping = "CUSTOM"
    settings.targets.add().object = bpy.data.objects["Bird"]
    settings.eyes.use = True
    settings.level_head, settings.world_up = 1.0, "OBJECT"
    scene = bpy.context.scene
    scene.lookat_pd_transition.use_cut_range = True
    scene.lookat_pd_transition.use_profile = True
    bpy.ops.lookat_pd.hit_add()
    load("rig.springs.springs_edit").add(armature, [["ear.L"]], ["EAR"])
    bpy.context.window_manager.lookat_pd_use_advanced = True
    yield armature
    bpy.context.window_manager.lookat_pd_use_advanced = False


@pytest.mark.every_blender
@pytest.mark.parametrize("language", [english, japanese], ids=["english", "japanese"])
def test_no_text_is_cut(language: Callable[[str, str], str], everything, monkeypatch) -> None:
    cut, drawn, context = [], 0, Context()
    for kind in panels():
        if hasattr(kind, "poll") and not kind.poll(context):
            continue
        layout = Layout(language)
        panel = Drawn(kind, layout)
        panel.draw(context)
        drawn += 1
        for scale in (1.0, 2.0):
            monkeypatch.setattr(layouts, "scale", scale)
            cut += [f"{kind.__name__} at {scale}: {text}" for text in layout.cut()]
    assert drawn > 20
    assert not cut, "\n".join(cut)


STATES: dict[str, Callable[[bpy.types.Object], object]] = {
    "baked": lambda rig: None,
    "added twice": lambda rig: setattr(rig.pose.bones["head"].lookat_pd, "mute", False),
    "no way back": lambda rig: bpy.data.actions.remove(bpy.data.actions["Sway"]),
    "target selected": lambda rig: setattr(bpy.context.view_layer.objects, "active", bpy.data.objects["Ball"]),
    "live again": lambda rig: bpy.ops.lookat_pd.edit_live(),
}


@pytest.mark.parametrize("language", [english, japanese], ids=["english", "japanese"])
@pytest.mark.parametrize("state", STATES)
def test_no_text_is_cut_after_a_bake(language, state, monkeypatch) -> None:
    rig = scenes.figure()
    scenes.animate(rig)
    scenes.aim(rig, scenes.ball())
    scenes.run_bake(rig)
    STATES[state](rig)
    cut, context = [], Context()
    layout = Layout(language)
    Drawn(bpy.types.LOOKAT_PD_PT_sidebar, layout).draw(context)
    for scale in (1.0, 2.0):
        monkeypatch.setattr(layouts, "scale", scale)
        cut += [f"{state} at {scale}: {text}" for text in layout.cut()]
    assert not cut, "\n".join(cut)
