"""No text of a panel is cut in a sidebar as Blender opens it, in English and in Japanese."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import bpy
import pytest

import kept
from extension import load

from . import layouts
from .drawn import Context, Drawn, panels
from .layouts import Item, Layout, Valued
from .states import STATES

_TEXTS = json.loads((Path(__file__).resolve().parents[2] / "translations/ja.json").read_text("utf-8"))
TABLE, MESSAGES = _TEXTS["interface"], _TEXTS["messages"]


def english(text: str, context: str) -> str:
    return text


def japanese(text: str, context: str) -> str:
    """Blender's own words stay English: not every Blender is built with them."""
    return TABLE.get(context, {}).get(text) or TABLE["*"].get(text, text)


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


@pytest.mark.thorough
@pytest.mark.parametrize("state", STATES)
def test_no_text_is_cut_in_any_state(state: str, monkeypatch) -> None:
    STATES[state]()
    cut, context = [], Context()
    for kind in panels():
        if hasattr(kind, "poll") and not kind.poll(context):
            continue
        for language in (english, japanese):
            layout = Layout(language)
            Drawn(kind, layout).draw(context)
            for scale in (1.0, 2.0):
                monkeypatch.setattr(layouts, "scale", scale)
                cut += [f"{kind.__name__} at {scale}: {text}" for text in layout.cut()]
    assert not cut, "\n".join(cut)


def test_what_differs_in_english_differs_in_japanese(everything) -> None:
    """In one panel, two settings or buttons are never called the same."""
    same, count_of_all, context = [], 0, Context()
    for kind in panels():
        if hasattr(kind, "poll") and not kind.poll(context):
            continue
        shown = []
        for language in (english, japanese):
            layout = Layout(language)
            Drawn(kind, layout).draw(context)
            shown.append([named(item) for item, _ in layout.seen()])
        pairs = {(there, here) for here, there in zip(*shown, strict=True) if here}
        count = Counter(there for there, _ in pairs)
        count_of_all += len(pairs)
        same += [f"{kind.__name__}: {there} ({here})" for there, here in sorted(pairs) if count[there] > 1]
    assert count_of_all > 100
    assert not same, "\n".join(same)


def test_the_preset_is_called_as_in_its_menu() -> None:
    """Blender translates the names in the menu of presets."""
    STATES["animated"]()
    layout = Layout(japanese)
    Drawn(load("panels.dynamics").LOOKAT_PD_PT_dynamics, layout).draw(Context())
    shown = [item.text for item, _ in layout.seen() if isinstance(item, Item)]
    assert japanese("Natural", "*") in shown and "Natural" not in shown


def test_a_dialog_is_as_wide_as_its_question() -> None:
    """At any frame."""
    text = "There is no pop at frame {here}; the nearest one is at frame {nearest}."
    for sentence in (text, MESSAGES[text]):
        asked = sentence.format(here=104857, nearest=-104858)
        room = load("operators.smooth_pop").dialog_width(bpy.context, asked) - 2 * layouts.PAD
        assert not [*Item(asked, layouts.ICON).cut(room)]


def test_japanese_lines_begin_and_end_as_they_should() -> None:
    """A bracket is on the line of what it is around, and no line begins with a stop, a small letter or a long vowel."""
    text = "「head」のチェーンにはボーンが「thorax」の1つしかありません（78 %）。チェーンを長くするか、もっと先を選択。"
    for room in range(9, 30):
        broken = list(load("panels.status").lines(text, room, len))
        assert "".join(broken).replace(" ", "") == text.replace(" ", "") and max(map(len, broken)) <= room
        assert not [line for line in broken if line[0] in "」）。、ェー" or line[-1] in "「（"], broken


def named(item: Item | Valued) -> str:
    """What a setting or button is called; empty for labels."""
    if isinstance(item, Valued):
        return item.label.text or item.value.text
    return item.text if item.icon is None else ""
