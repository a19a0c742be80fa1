"""How much somebody sees after *Add*, with Blender's settings as it is installed."""

from types import SimpleNamespace

import bpy
import pytest

import kept
from extension import load

from ..rig import scenes
from .drawn import Context, Drawn, panels
from .layouts import Layout, Valued

advanced = load("panels.advanced")
live = load("rig.layers.live")
status = load("panels.status")
suspend = load("rig.sampling.suspend")

_TAB = "Look-at PD"


@pytest.mark.thorough
def test_after_add_there_is_little() -> None:
    bpy.context.view_layer.objects.active = kept.human()
    bpy.ops.lookat_pd.add(target="Ball")
    context = Context()
    seen = {kind for kind in panels() if not hasattr(kind, "poll") or kind.poll(context)}
    top = {kind.__name__ for kind in seen if getattr(kind, "bl_category", "") == _TAB and not _parent(kind)}
    below = [kind for kind in seen if _parent(kind) in top]
    assert len(top - {"LOOKAT_PD_PT_sidebar"}) <= 5, sorted(top)
    within = [kind for kind in below if _parent(kind) == "LOOKAT_PD_PT_sidebar"]
    assert len(within) <= 10, sorted(kind.bl_label for kind in within)
    # All but the first are closed.
    assert all("DEFAULT_CLOSED" in kind.bl_options for kind in within)
    layout = Layout(lambda text, _: text)
    Drawn(bpy.types.LOOKAT_PD_PT_sidebar, layout).draw(context)
    controls = [item for item, _ in layout.seen() if isinstance(item, Valued) or (item.icon is None and item.text)]
    assert len(controls) <= 14, controls


def test_whether_advanced_is_on_is_seen_in_the_switch() -> None:
    """Blender draws the icon alike otherwise."""
    manager, drawn = bpy.context.window_manager, []
    layout = SimpleNamespace(prop=lambda *_, emboss=True, **__: drawn.append(emboss))
    for manager.lookat_pd_use_advanced in (True, False):
        advanced.draw_switch(layout, bpy.context)
    assert drawn == [True, False]


def test_what_was_found_stays_while_a_slider_is_dragged(empty_file) -> None:
    """What is below it in the panel would move at each step otherwise."""
    scene = scenes.swaying()
    live.finish(bpy.context.scene)
    before = _status(scene.armature)
    assert any("of the target" in text for text in before)
    with suspend.suspend_live():
        scene.armature.pose.bones["head"].lookat_pd.settle_time = 1.7
        state = live._scenes[bpy.context.scene.session_uid]
        state.refresh(bpy.context.scene, live._structure, now=True)
        assert live.status(bpy.context.scene, scene.armature, "head").state == "SOLVING"
        assert _status(scene.armature)[1:] == before[1:]


def _status(armature: bpy.types.Object) -> list[str]:
    layout = Layout(lambda text, _: text)
    status.draw(layout, Context(), armature, "head")
    return [item.text for item, _ in layout.seen() if item.text]


def _parent(kind: type) -> str:
    return getattr(kind, "bl_parent_id", "")
